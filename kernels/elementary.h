// Elementary functions of `real`, for every backend: sincos, circular, asin, acos, atan2, exp, log,
// pow.
//
// Each function is a fixed sequence of correctly rounded operations, so its bits are the same for
// every compiler and vector width and on every GPU. No function branches or calls a library.
//
// Errors are the largest found in comparisons with mpmath, in ulp (units in the last place of the
// true value). A NaN argument gives a NaN; an argument outside the stated range gives an arbitrary
// value or a NaN, never a trap. The coefficients are minimax fits made for this file (Remez exchange
// in mpmath with 50 digits, each coefficient then rounded to the nearest double); the comments give
// the error of the rounded fit.
#pragma once

#include "portable.h"

constexpr double half_pi_high = 1.5707963267948966;
constexpr double half_pi_low = 6.123233995736766e-17;

// c0 + c1 z + c2 z^2 + ..., evaluated from the highest power down.
HD real horner(real, double c0) { return c0; }
template <class... Rest>
HD real horner(real z, double c0, Rest... rest) {
    return fma(horner(z, rest...), z, c0);
}

// The number n of quarter turns nearest to x, so that x = n pi/2 + past_quarters(x, n).
HD real quarters(real x) {
    constexpr double whole = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves no fraction
    return fma(x, 0.63661977236758138, whole) - whole;
}
// The inner fma is exact and the outer one rounds once; the truncated pi/2 adds an error of 1.5e-33 n.
HD real past_quarters(real x, real n) { return fma(n, -half_pi_low, fma(n, -half_pi_high, x)); }

// The cosine and the sine of n quarter turns, each -1, 0 or 1, for integer n.
struct Quadrant {
    real even, odd;
};
HD Quadrant quadrant(real n) {
    constexpr double fours = 27021597764222976.0;  // 1.5 * 2^54: adding it leaves a multiple of 4
    real within = n - ((n + fours) - fours);       // -2, -1, 0, 1 or 2
    real even = 1.0 - abs(within);
    return {even, fma(within, even, within)};
}

// sin x and cos x without range reduction, |x| <= pi/4 (1 + 1e-7).
// Error: sine 0.8 ulp, cosine 0.9 ulp. Fits: 1.1e-17 of the sine, 1.1e-18 of the cosine.
HD void sincos_core(real x, real& sine, real& cosine) {
    real z = x * x;
    real sine_tail =
        horner(z, -0.1666666666666663, 0.0083333333333221182, -0.00019841269829589197,
               2.7557313621279466e-06, -2.5050747747287571e-08, 1.5896229296201683e-10);
    real cosine_tail =
        horner(z, -0.5, 0.041666666666666595, -0.0013888888888873056, 2.4801587288851524e-05,
               -2.7557314179248205e-07, 2.0875700835751813e-09, -1.135853621389747e-11);
    sine = fma(x * z, sine_tail, x);
    cosine = fma(z, cosine_tail, 1.0);
}

// sin x and cos x, |x| <= 1e9. Exactly odd and even; at 0 exactly 0 and 1.
// Error: sine 1.6 ulp, cosine 1.6 ulp, plus 1e-24 absolute (1e-28 for |x| <= 1e5), which matters
// only close to their zeros.
HD void sincos(real x, real& sine, real& cosine) {
    real n = quarters(x);
    real s, c;
    sincos_core(past_quarters(x, n), s, c);
    Quadrant turn = quadrant(n);
    sine = fma(turn.even, s, turn.odd * c);
    cosine = fma(turn.even, c, -(turn.odd * s));
}

// sincos for 0 <= x <= 2, with the same bits: the quarter turns are 0 or 1.
HD void sincos_short(real x, real& sine, real& cosine) {
    mask turned = fma(x, 0.63661977236758138, -0.5) > 0.0;
    real s, c;
    sincos_core(past_quarters(x, select(turned, 1.0, 0.0)), s, c);
    sine = select(turned, c, s);
    cosine = select(turned, -s, c);
}

// sin and cos of x + rest, |x| <= 1e9, where rest is the rounding error of x. If the cosine is not
// used, the sine costs two thirds of sincos.
// Error: sine 2.2 ulp plus 1e-24 absolute (1e-28 for |x| <= 1e5); cosine 3e-16 absolute. Taylor
// series on [-pi/2, pi/2], whose first omitted terms are below 2e-18.
HD void sincos_folded(real x, real rest, real& sine, real& cosine) {
    constexpr double whole = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves no fraction
    real turns = fma(x, 0.31830988618379067, whole);
    real n = turns - whole;
    real r = fma(n, -2.0 * half_pi_low, fma(n, -2.0 * half_pi_high, x)) + rest;
    real z = r * r;
    real sine_tail =
        horner(z, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0, -1.0 / 39916800.0,
               1.0 / 6227020800.0, -1.0 / 1307674368000.0, 1.0 / 355687428096000.0,
               -1.0 / 121645100408832000.0, 1.0 / 51090942171709440000.0);
    real cosine_tail = horner(z, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0,
                              -1.0 / 3628800.0, 1.0 / 479001600.0, -1.0 / 87178291200.0,
                              1.0 / 20922789888000.0, -1.0 / 6402373705728000.0,
                              1.0 / 2432902008176640000.0, -1.0 / 1124000727777607680000.0);
    sine = negate_if_odd(fma(r * z, sine_tail, r), turns);
    cosine = negate_if_odd(fma(z, cosine_tail, 1.0), turns);
}

// sin x, cos x, versine = 1 - cos x and defect = x - sin x, |x| <= 7. Versine and defect keep their
// relative accuracy as x -> 0, so arcs may be arbitrarily short. Exactly odd and even.
// Error: sine 1.6 ulp, cosine 1.6 ulp, versine 3.6 ulp, defect 4.0 ulp (3.3 ulp for |x| <= 1). That
// is a relative error of 4.5e-16 for the versine, and for the defect with |x| <= 1; for longer arcs
// the defect has the error of x - sine. Relative error of the fits on [-1, 1]: defect 6.3e-17 (nearly
// all from rounding 1/6), versine 4.2e-18.
HD void circular(real x, real& sine, real& cosine, real& versine, real& defect) {
    mask is_short = abs(x) <= 1.0;
    real n = select(is_short, 0.0, quarters(x));
    real r = past_quarters(x, n);
    real z = r * r;
    real sine_tail =
        (r * z) * horner(z, -0.16666666666666666, 0.0083333333333333003, -0.00019841269841215891,
                         2.7557319191723441e-06, -2.5052099189495954e-08, 1.6057697002551291e-10,
                         -7.5492078705667201e-13);
    real cosine_tail =
        horner(z, -0.5, 0.041666666666666664, -0.0013888888888888781, 2.4801587301494467e-05,
               -2.7557319186163554e-07, 2.0876748738466691e-09, -1.1469755784995588e-11,
               4.7178345941835407e-14);
    real s = r + sine_tail;
    real c = fma(z, cosine_tail, 1.0);
    Quadrant turn = quadrant(n);
    real across = turn.odd * s;
    sine = fma(turn.even, s, turn.odd * c);
    cosine = fma(turn.even, c, -across);
    versine = (1.0 - turn.even) + fma(-(z * cosine_tail), turn.even, across);
    defect = select(is_short, -sine_tail, x - sine);
}

// 1 - cos x, |x| <= 7, as in circular().
HD real one_minus_cos(real x) {
    real sine, cosine, versine, defect;
    circular(x, sine, cosine, versine, defect);
    return versine;
}

// x - sin x, |x| <= 7, as in circular().
HD real x_minus_sin(real x) {
    real sine, cosine, versine, defect;
    circular(x, sine, cosine, versine, defect);
    return defect;
}

// (asin(u) - u) / u^3 with z = u^2 <= 1/4. Error of the fit: 1.7e-17 relative to asin(u).
HD real asin_tail(real z) {
    return horner(z, 0.16666666666665408, 0.075000000003369843, 0.044642856828345755,
                  0.03038195913642068, 0.022371758061253723, 0.017359704618953472,
                  0.013885236791989978, 0.012169203310966374, 0.0065280100966919521,
                  0.019528173081429658, -0.016224113639223336, 0.031912178443018954);
}

// asin x in [-pi/2, pi/2] for |x| <= 1, otherwise NaN. Exactly odd.
// Error: 1.5 ulp. For |x| > 1/2 it is pi/2 - 2 asin(sqrt((1 - |x|)/2)).
HD real asin(real x) {
    real size = abs(x);
    mask steep = size > 0.5;
    real rest = fma(size, -0.5, 0.5);
    real z = select(steep, rest, x * x);
    real root = select(steep, -2.0 * sqrt(rest), size);
    real tail = fma(root * z, asin_tail(z), select(steep, half_pi_low, 0.0));
    real quarter = select(steep, 0.5 * half_pi_high,
                          0.0);  // added twice, because root + pi/4 fits in a double
    real angle = quarter + ((quarter + root) + tail);
    return select(x < 0.0, -angle, angle);
}

// acos x in [0, pi] for |x| <= 1, otherwise NaN. acos(1) = 0 exactly.
// Error: 1.3 ulp. From 2 asin(sqrt((1 - |x|)/2)) for |x| > 1/2, otherwise pi/2 - asin x.
HD real acos(real x) {
    real size = abs(x);
    mask steep = size > 0.5;
    mask negative = x < 0.0;
    real rest = fma(size, -0.5, 0.5);
    real z = select(steep, rest, x * x);
    real steep_root = 2.0 * sqrt(rest);
    real root = select(steep, select(negative, -steep_root, steep_root), -x);
    real base = select(steep, select(negative, 2.0 * half_pi_high, 0.0), half_pi_high);
    real base_low = base * (half_pi_low / half_pi_high);
    return base + (root + fma(root * z, asin_tail(z), base_low));
}

// The angle of the point (x, y) in [-pi, pi], |x|, |y| <= 8e307. Exactly odd in y except on the
// negative x axis, where it is pi; 0 at the origin. The sign of a zero is ignored.
// Error: 2.0 ulp. The angle is k pi/4 +- atan t with t = shorter/longer, or, if that exceeds 1/2,
// t = (shorter - longer)/(shorter + longer). Fit of atan on [-1/2, 1/2]: 4.2e-18.
HD real atan2(real y, real x) {
    real across = abs(x), up = abs(y);
    mask high = up > across;
    real longer = select(high, up, across);
    real shorter = select(high, across, up);
    mask wide = shorter > 0.5 * longer;
    real above = select(wide, shorter - longer, shorter);
    real below = select(wide, shorter + longer, longer);
    real t = above / select(below == 0.0, 1.0, below);
    real z = t * t;
    real tail = horner(z, -0.33333333333332982, 0.19999999999903142, -0.14285714276388645,
                       0.11111110659746998, -0.090908962472737595, 0.076920739489778331,
                       -0.066638109594559097, 0.058583010604865766, -0.051220146576711728,
                       0.041865275736208719, -0.027435300370140459, 0.01011707929885986);
    real angle = fma(t * z, tail, t);
    real eighths = select(wide, 1.0, 0.0);
    eighths = select(high, 2.0 - eighths, eighths);
    angle = select(high, -angle, angle);
    eighths = select(x < 0.0, 4.0 - eighths, eighths);
    angle = select(x < 0.0, -angle, angle);
    angle = fma(eighths, 0.5 * half_pi_high, fma(eighths, 0.5 * half_pi_low, angle));
    return select(y < 0.0, -angle, angle);
}

// e^x for every x: 0 below -708 (where e^x < 3.4e-308; the result is never subnormal), infinity
// above 709.78. exp(0) = 1 exactly.
// Error: 1.1 ulp. e^x = 2^n e^r with |r| <= ln(2)/2. Fit: 1.2e-17.
HD real exp(real x) {
    constexpr double ln2_high = 0.69314718055994529, ln2_low = 2.3190468138462996e-17;
    real bounded = select(x > 710.0, 710.0, x);
    real n = nearest(bounded * 1.4426950408889634);
    real r = fma(n, -ln2_low, fma(n, -ln2_high, bounded));
    real tail = horner(r, 0.50000000000000111, 0.16666666666666413, 0.041666666666530169,
                       0.0083333333334939339, 0.001388888894362445, 0.00019841269507835349,
                       2.4801493106527309e-05, 2.7557585154035289e-06, 2.7630245141562054e-07,
                       2.5000477665709394e-08);
    real power = 1.0 + fma(r * r, tail, r);
    // Half the power of two, so that it exists for n = 1024 and x = 710 overflows.
    return select(x < -708.0, 0.0, (power + power) * exp2_whole(n - 1.0));
}

// k ln 2 = k ln2_coarse + k ln2_rest; the first product is exact for integers |k| < 2048.
constexpr double ln2_coarse = 0.6931471805598903, ln2_rest = 5.497923018708371e-14;

// x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2) and f exact, for normal x > 0.
struct Scientific {
    real k, f;
};
HD Scientific scientific(real x) {
    real k = exponent(x), m = significand(x);
    mask upper = m > 1.4142135623730951;
    return {select(upper, k + 1.0, k), select(upper, 0.5 * m, m) - 1.0};
}

// ln x for normal finite x > 0; -709.1 at 0.
// Error: 0.8 ulp. With s = f/(2 + f), ln x = k ln 2 + f - (f^2/2 - s (f^2/2 + R)), where
// R = 2 s^2/3 + 2 s^4/5 + ... Relative error of the fit: 2e-18.
HD real log(real x) {
    Scientific parts = scientific(x);
    real k = parts.k, f = parts.f;
    real s = f / (2.0 + f);
    real z = s * s;
    real half_square = 0.5 * f * f;
    real rest = z * horner(z, 0.6666666666666734, 0.39999999999414654, 0.28571428742391686,
                           0.22222198572830756, 0.18183564342762792, 0.1531405014752017,
                           0.14795953681018187);
    real tail = fma(s, half_square + rest, k * ln2_rest);
    real result = fma(k, ln2_coarse, f - (half_square - tail));
    return select(x == x, result, x);
}

// The unevaluated sum of two reals, which holds more digits than one of them.
struct Double {
    real high, low;
};
// The exact sum if |a| >= |b| or a = 0.
HD Double exact_sum(real a, real b) {
    real sum = a + b;
    return {sum, b - (sum - a)};
}

// ln x with a relative error of 3e-19 for normal finite x > 0: k ln 2 + 2 s + s^3 (2/3 + 2 s^2/5 + ...),
// s = f/(2 + f).
HD Double log_double(real x) {
    Scientific parts = scientific(x);
    real k = parts.k, f = parts.f;
    Double below = exact_sum(2.0, f);
    real s = f / below.high;
    real s_low = fma(-s, below.low, fma(-s, below.high, f)) / below.high;
    real z = s * s;
    real z_low = fma(2.0 * s, s_low, fma(s, s, -z));
    real tail = z * horner(z, 0.40000000000002256, 0.28571428570100127, 0.22222222519813895,
                           0.1818178437744371, 0.15386756823886932, 0.13256830223585578,
                           0.13196207362468818);
    Double series = exact_sum(0.6666666666666666, tail + 3.700743415417188e-17);
    real cubic = z * series.high;
    real cubic_low = fma(z, series.low, fma(z_low, series.high, fma(z, series.high, -cubic)));
    Double factor = exact_sum(2.0, cubic);
    factor.low = factor.low + cubic_low;
    real main = s * factor.high;
    real main_low = fma(s, factor.low, fma(s_low, factor.high, fma(s, factor.high, -main)));
    Double whole = exact_sum(k * ln2_coarse, main);
    return exact_sum(whole.high, whole.low + fma(k, ln2_rest, main_low));
}

// x^y for normal finite x > 0. For |y ln x| >= 708 the result is 0 or infinity; 0^y is 0.
// Error: 1.5 ulp.
HD real pow(real x, real y) {
    Double ln = log_double(x);
    real high = y * ln.high;
    real low = fma(y, ln.low, fma(y, ln.high, -high));
    real power = exp(high);
    power = select(abs(high) < 708.0, fma(power, low, power), power);
    power = select(x == 0.0, 0.0, power);
    return select(x == x, power, x);
}
