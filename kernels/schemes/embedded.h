// The step control of embedded Runge-Kutta pairs.
#pragma once

#include "schemes/scheme.h"

namespace schemes {

// The difference between the two results of the pair over a step.
struct Difference {
    real y, v;
};

// x^(-1/3) to rounding, for x from 1e-3 to 1e3: x^(1/4 + 1/16 + 1/64) is within 4 % of x^(1/3), and four
// Newton iterations give full accuracy.
HD real inverse_cube_root(real x) {
    real fourth = sqrt(sqrt(x));
    real sixteenth = sqrt(sqrt(fourth));
    real root = 1.0 / (fourth * sixteenth * sqrt(sqrt(sixteenth)));
    for (int i = 0; i < 4; ++i) {
        real excess = fma(-x, root * root * root, 1.0);
        root = fma(root * (1.0 / 3.0), excess, root);
    }
    return root;
}

// The factor of the step length that would give an error of just 1: the error to the power
// -1/(order + 1), from its square.
template <int order> HD real step_factor(real square) {
    static_assert(order == 3 || order == 5, "the roots that are implemented here");
    real half = sqrt(sqrt(square));
    if constexpr (order == 3) return 1.0 / sqrt(half);
    return inverse_cube_root(half);
}

// `order` is that of the higher-order formula of the pair.
template <int order> struct EmbeddedControl {
    real h;  // length of the next steps

    // The requirements on steps.
    struct Demand {
        real per_tolerance, longest;
        HD Demand(real tolerance, real longest)
            : per_tolerance(1.0 / tolerance), longest(longest) {}
    };

    EmbeddedControl() = default;
    HD explicit EmbeddedControl(real h) : h(h) {}

    HD static EmbeddedControl choose(mask m, EmbeddedControl const& a, EmbeddedControl const& b) {
        return EmbeddedControl(select(m, a.h, b.h));
    }

    HD static real square_of_share(real difference, real before, real after) {
        real size = greatest(greatest(abs(before), abs(after - before)), 1e-30);
        real share = difference / size;
        return share * share;
    }

    // Whether a step of length `tried` is accepted. An accepted step that was shortened leaves h
    // unchanged.
    template <class State>
    HD mask accepts(State const& before, State const& after, Difference const& difference,
                    real tried, mask shortened, Demand const& demand) {
        real square = 0.5 * (square_of_share(difference.y, before.y, after.y) +
                             square_of_share(difference.v, before.v, after.v));
        square *= demand.per_tolerance * demand.per_tolerance;
        mask accepted = square < 1.0;
        mask kept = accepted & shortened;
        // With the longest step and so small an error the factor is above 1: the usual case.
        if (!any(~((square <= 0.25) & (tried == demand.longest)))) {
            h = select(kept, h, demand.longest);
            return accepted;
        }
        // Outside these bounds the factor is clipped to 0.2 or 5 anyway.
        real bounded = least(greatest(square, 1e-10), 1e10);
        bounded = select(square == square, bounded, 1e10);
        real factor = 0.9 * step_factor<order>(bounded);
        factor = least(greatest(factor, 0.2), 5.0);
        h = select(kept, h, least(tried * factor, demand.longest));
        return accepted;
    }
};

}  // namespace schemes
