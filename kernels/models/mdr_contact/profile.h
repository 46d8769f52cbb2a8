// The profile of the body, f(r) = A r^n, and its contact radius.
#pragma once

#include "elementary.h"

namespace mdr_contact {

constexpr double least_normal = 2.2250738585072014e-308;  // smaller numbers have fewer digits

// A number, or NaN if it lacks digits or overflows.
HD real resolved(real x) {
    return select((x >= least_normal) & (x <= 1.7976931348623157e308), x, missing());
}

// The exponent n; the contact radius goes with the indentation to the power b = 1/n. Sphere and cone need
// only roots and products, which are faster and more accurate than general powers.
struct Profile {
    real exponent, inverse;
    mask quadratic, cone, general;  // exactly one of them
};

HD Profile profile_of(real exponent) {
    return {exponent, 1.0 / exponent, exponent == 2.0, exponent == 1.0,
            (exponent != 2.0) & (exponent != 1.0)};
}

// x^(1/n), x >= 0.
HD real radius_at(Profile const& profile, real x) {
    real radius = select(profile.quadratic, sqrt(x), x);
    if (any(profile.general)) radius = select(profile.general, pow(x, profile.inverse), radius);
    return radius;
}

// Gamma(z)/Gamma(z + 1/2), 0.25 <= z <= 500. Relative error: 1.2e-15.
// Computed by recurrence from z + 12, where sqrt(w) times the ratio is a series in 1/w^2 with
// w = z + 12 - 1/4. Its coefficients follow from the Bernoulli polynomials; its error is below 1e-16.
HD real gamma_ratio(real z) {
    real above = 1.0, below = 1.0;
    for (int i = 0; i < 12; ++i) {
        above = above * (z + (i + 0.5));
        below = below * (z + (double)i);
    }
    real w = z + 11.75;
    real v = 1.0 / (w * w);
    real series = horner(v, 1.0, -0.015625, 0.0025634765625, -0.0012798309326171875,
                         0.0013435110449790955, -0.0024328966392204165, 0.0067542375336415716);
    return above / below * series / sqrt(w);
}

// kappa_n of the profile g(x) = kappa_n A |x|^n of the row of springs.
HD real spring_profile(real exponent) {
    constexpr double half_root_pi = 0.88622692545275801;
    return half_root_pi * exponent * gamma_ratio(0.5 * exponent);
}

// The contact radius at an indentation, in m.
HD real contact_radius(Profile const& profile, real coefficient, real indentation) {
    real scaled = indentation / (spring_profile(profile.exponent) * coefficient);
    return radius_at(profile, resolved(scaled));
}

}  // namespace mdr_contact
