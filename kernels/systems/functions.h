// The functions of expressions in models from files. Outside their range they give NaN, so that a step
// that leads there is rejected. Errors of functions that elementary.h has are those stated there.
#pragma once

#include "elementary.h"
#include "systems/vectors.h"

namespace functions {

using ::abs;
using ::acos;
using ::asin;
using ::exp;
using ::sqrt;

constexpr double least_normal = 2.2250738585072014e-308;
constexpr double greatest_finite = 1.7976931348623157e308;

HD mask outside_sin(real x) { return ~(abs(x) <= 1e9); }
HD mask outside_cos(real x) { return outside_sin(x); }
HD mask outside_tan(real x) { return outside_sin(x); }
HD mask outside_asin(real x) { return ~(abs(x) <= 1.0); }
HD mask outside_acos(real x) { return outside_asin(x); }
HD mask outside_acosh(real x) { return ~(x >= 1.0); }
HD mask outside_atanh(real x) { return ~(abs(x) < 1.0); }
HD mask outside_sqrt(real x) { return ~(x >= 0.0); }
HD mask outside_log(real x) { return ~((x >= least_normal) & (x <= greatest_finite)); }
HD mask outside_pow(real x, real y) { return outside_log(x) & ~((x == 0.0) & (y > 0.0)); }
HD mask outside_even_pow(real x, real y) { return outside_pow(abs(x), y); }
HD mask outside_odd_pow(real x, real y) { return outside_pow(abs(x), y); }

HD real within(mask outside, real x) { return select(outside, missing(), x); }

SHARED void sincos(real const& x, real& sine, real& cosine) {
    ::sincos(x, sine, cosine);
    mask outside = outside_sin(x);
    sine = within(outside, sine);
    cosine = within(outside, cosine);
}
// Error: 2.6 ulp, and beside its zeros and poles that of sine and cosine.
HD real tan(real x) {
    real sine, cosine;
    functions::sincos(x, sine, cosine);
    return sine / cosine;
}
HD real log(real x) { return within(outside_log(x), ::log(x)); }
// Exponents that are parameters are often 1, 2 or 3: then a product.
SHARED real pow(real const& x, real const& y) {
    mask square = y == 2.0, cube = y == 3.0, other = ~((y == 1.0) | square | cube);
    real power = x * select(square | cube, x, 1.0) * select(cube, x, 1.0);
    if (any(other)) power = select(other, ::pow(x, y), power);
    return within(outside_pow(x, y), power);
}
// With a whole y, which is even or odd.
HD real even_pow(real x, real y) { return functions::pow(abs(x), y); }
HD real odd_pow(real x, real y) { return times_sign(functions::pow(abs(x), y), x); }
HD real atan2(real y, real x) { return ::atan2(y, x); }
HD real atan(real x) { return ::atan2(x, 1.0); }
HD real sign(real x) { return select(x > 0.0, 1.0, select(x < 0.0, -1.0, 0.0 * x)); }
HD real floor(real x) {
    constexpr double shift = 4503599627370496.0;  // 2^52: larger numbers are whole
    real nearest = times_sign((abs(x) + shift) - shift, x);
    real below = select(nearest > x, nearest - 1.0, nearest);
    return select(abs(x) < shift, below, x);
}

// NaN if one of them is, unlike greatest() and least().
HD real max(real a, real b) { return select((a > b) | ~(a == a), a, b); }
HD real min(real a, real b) { return select((a < b) | ~(a == a), a, b); }

// Without overflow of the squares. Error: 1.9 ulp.
HD real hypot(real x, real y) {
    real longer = greatest(abs(x), abs(y)), shorter = least(abs(x), abs(y));
    real share = shorter / select(longer == 0.0, 1.0, longer);
    return select((x == x) & (y == y), longer * sqrt(fma(share, share, 1.0)), missing());
}

// The Taylor series up to |x| = 1, whose first omitted term is below 1e-17 of the sum. Infinite beyond
// 709.78, as is cosh. Error: 1.5 ulp.
HD real sinh(real x) {
    real z = x * x;
    real tail = horner(z, 1.0 / 6.0, 1.0 / 120.0, 1.0 / 5040.0, 1.0 / 362880.0, 1.0 / 39916800.0,
                       1.0 / 6227020800.0, 1.0 / 1307674368000.0, 1.0 / 355687428096000.0);
    real power = ::exp(abs(x));
    real large = times_sign(0.5 * (power - 1.0 / power), x);
    return select(abs(x) <= 1.0, fma(x * z, tail, x), large);
}
// Error: 1.3 ulp.
HD real cosh(real x) {
    real power = ::exp(abs(x));
    return 0.5 * (power + 1.0 / power);
}
// 1 - 2/(e^2x + 1) for |x| > 1. Error: 2.5 ulp.
HD real tanh(real x) {
    real power = ::exp(2.0 * least(abs(x), 20.0));
    real large = times_sign(1.0 - 2.0 / (power + 1.0), x);
    real small = functions::sinh(x) / functions::cosh(x);
    return select(abs(x) <= 1.0, small, select(x == x, large, x));
}

// ln(1 + x) for 0 <= x <= 1e300. The rounding error of the sum, which matters where x is small, is added back.
HD real log_one_plus(real x) {
    real sum = 1.0 + x;
    return ::log(sum) + (x - (sum - 1.0)) / sum;
}
// ln(2x) for large x, whose double may overflow; infinity stays.
HD real log_twice(real x) { return select(x <= greatest_finite, ::log(x) + 0.6931471805599453, x); }
// ln(1 + x + (sqrt(1 + x^2) - 1)), without cancellation. Error: 2.0 ulp.
HD real asinh(real x) {
    real size = abs(x), z = size * size;
    real near = functions::log_one_plus(size + z / (1.0 + sqrt(1.0 + z)));
    return times_sign(select(size < 1e8, near, functions::log_twice(size)), x);
}
// ln(1 + y + sqrt(y (2 + y))) with y = x - 1. Error: 2.6 ulp.
HD real acosh(real x) {
    real y = x - 1.0;
    real near = functions::log_one_plus(y + sqrt(y * (2.0 + y)));
    return within(outside_acosh(x), select(x < 1e8, near, functions::log_twice(x)));
}
// ln(1 + 2x/(1 - x))/2. Error: 2.2 ulp.
HD real atanh(real x) {
    real size = abs(x);
    real half = 0.5 * functions::log_one_plus(2.0 * size / (1.0 - size));
    return within(outside_atanh(x), times_sign(half, x));
}

}  // namespace functions
