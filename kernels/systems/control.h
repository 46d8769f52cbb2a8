// The length of steps.
#pragma once

#include "systems/vectors.h"

namespace systems {

// x^power within 0.1 % for normal x > 0 and |power| <= 1; only the length of steps depends on it.
HD real rough_power(real x, double power) {
    real m = significand(x);
    real log2 =
        exponent(x) + fma(m, fma(m, fma(m, 0.15824871, -1.05187502), 3.0478842), -2.1536207);
    real y = power * log2;
    real whole = floor(y);
    real f = y - whole;
    return exp2_whole(whole) *
           fma(f, fma(f, fma(f, 0.079204240, 0.22433902), 0.69606564), 0.99990126);
}

// The mean square of the states' parts, each divided by what is tolerated.
template <int n>
HD real mean_square(Vector<n> const& part, Vector<n> const& a, Vector<n> const& b,
                    Vector<n> const& scales, real per_tolerance) {
    real sum = 0.0;
    each<n>([&](auto i) {
        real weight = scales[i] + greatest(abs(a[i]), abs(b[i]));
        real share = part[i] / weight;
        sum = fma(share, share, sum);
    });
    return sum * (per_tolerance * per_tolerance * (1.0 / n));
}

// The factor of the step length that would make the error just tolerable, from the error's square, where
// the error grows as the step to the power of `order`.
HD real step_factor(real square, int order) {
    real bounded = least(greatest(square, 1e-20), 1e20);
    bounded = select(square == square, bounded, 1e20);
    real factor = 0.9 * rough_power(bounded, -0.5 / order);
    return least(greatest(factor, 0.2), 5.0);
}

}  // namespace systems
