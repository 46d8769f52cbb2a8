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
    real whole = nearest(y);
    real f = y - whole;
    return exp2_whole(whole) *
           fma(f, fma(f, fma(f, 0.055171662, 0.24261112), 0.69326099), 0.99992807);
}

// The mean square of the states' parts, each divided by what is tolerated.
template <int n>
HD real mean_square(Vector<n> const& part, Vector<n> const& a, Vector<n> const& b,
                    Vector<n> const& scales, real per_tolerance) {
    real sum = 0.0;
    each_state<n>([&](auto i) INLINED {
        real weight = scales[i] + greatest(abs(a[i]), abs(b[i]));
        real share = part[i] / weight;
        sum = fma(share, share, sum);
    });
    return sum * (per_tolerance * per_tolerance * (1.0 / n));
}

constexpr double whole_power(double x, int power) {
    return power == 0 ? 1.0 : x * whole_power(x, power - 1);
}

// The factor of the step length, from 0.2 to 5, that would make the error just tolerable, from the
// error's square, where the error grows as the step to the power of `order`. An error that is not a
// number is infinite.
template <int order> HD real step_factor(real square) {
    constexpr double least_square = whole_power(0.9 / 5.0, 2 * order);
    constexpr double most_square = whole_power(0.9 / 0.2, 2 * order);
    real bounded = greatest(least(square, most_square), least_square);
    return 0.9 * rough_power(bounded, -0.5 / order);
}

}  // namespace systems
