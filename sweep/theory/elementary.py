"""Elementary functions of arrays with the same bits on every machine.

They consist of + - * / sqrt and exact operations in a fixed order; NumPy's own exp and log have
other last bits on other processors. Errors are below 1 unit in the last place for `exp` and `log`,
below 2 for `log_of_rest`, `one_minus_exp` and `arc_tangent`, below 1e-15 relative for
`normal_quantile` where it is not near 0, and below 2.5 units plus 1e-20 for `sine_cosine`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from typing import cast

import numpy as np

from sweep.theory import Values

# Values computed at once: intermediate ones stay in the cache, and threads do not wait for the
# interpreter most of the time, as they do between operations on fewer.
BLOCK = 2**16
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
LOG2_E = 1.44269504088896338700

# Sun's fdlibm (1993), e_log.c: log((1 + s) / (1 - s)) = 2 s + s (LOG[0] s^2 + LOG[1] s^4 + ...).
LOG = (
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
    2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
    1.479819860511658591e-01,
)  # fmt: skip

# fdlibm, e_exp.c: r - r (exp(r) + 1) / (exp(r) - 1) + 2 = -(EXP[0] r^2 + EXP[1] r^4 + ...).
EXP = (
    1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05,
    -1.65339022054652515390e-06, 4.13813679705723846039e-08,
)  # fmt: skip

# fdlibm, e_rem_pio2.c: pi/2 in parts of 33 bits, and the rest.
HALF_PI = (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
TWO_OVER_PI = 0.63661977236758138
# Minimax fits on [0, pi^2/16], as in kernels/elementary.h: (sin r - r)/r^3 and (cos r - 1)/r^2.
SINE = (
    -0.1666666666666663, 0.0083333333333221182, -0.00019841269829589197, 2.7557313621279466e-06,
    -2.5050747747287571e-08, 1.5896229296201683e-10,
)  # fmt: skip
COSINE = (
    -0.5, 0.041666666666666595, -0.0013888888888873056, 2.4801587288851524e-05,
    -2.7557314179248205e-07, 2.0875700835751813e-09, -1.135853621389747e-11,
)  # fmt: skip

# Wichura, Algorithm AS 241, routine PPND16, Applied Statistics 37 (1988), pp. 477-484: numerators
# and denominators, in ascending powers.
CENTRE = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
     5.2264952788528545610e3),
)  # fmt: skip
TAIL = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9),
)  # fmt: skip
FAR_TAIL = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15),
)  # fmt: skip
HALF_CENTRE = 0.425  # the central approximation holds for |p - 1/2| up to this
FAR = 5.0  # sqrt(-log(p)) from which on the one for the far tail is used

# fdlibm, s_atan.c: atan(x) = x - x (ARC[0] x^2 + ARC[1] x^4 + ...) for x up to 7/16; the angles
# whose tangents are 1/2 and 1, and half and whole turns of pi/2, with their rests.
ARC = (
    3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01,
    -1.11111104054623557880e-01, 9.09088713343650656196e-02, -7.69187620504482999495e-02,
    6.66107313738753120669e-02, -5.83357013379057348645e-02, 4.97687799461593236017e-02,
    -3.65315727442169155270e-02, 1.62858201153657823623e-02,
)  # fmt: skip
ARC_OF_HALF = (4.63647609000806093515e-01, 2.26987774529616870924e-17)
ARC_OF_ONE = (7.85398163397448278999e-01, 3.06161699786838301793e-17)
QUARTER_TURN = (1.57079632679489655800e00, 6.12323399573676603587e-17)
SMALL_EXPONENT = 0.5  # up to which 1 - exp(-x) is a series
N_EXPONENT_TERMS = 16

DIGITS = 50  # of the decimal numbers that a scalar is computed with
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
SERIES_END = 4  # standard deviations up to which the series of the normal distribution is summed


def _in_blocks(function: Callable[[Values], Values]) -> Callable[[Values], Values]:
    """The function of arrays of any shape, computed BLOCK values at a time."""

    @functools.wraps(function)
    def whole(x: Values) -> Values:
        flat = x.ravel()
        result = np.empty_like(flat)
        with np.errstate(all="ignore"):
            for start in range(0, len(flat), BLOCK):
                result[start : start + BLOCK] = function(flat[start : start + BLOCK])
        return result.reshape(x.shape)

    return whole


def _polynomial(coefficients: Sequence[float], x: Values) -> Values:
    value = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value *= x
        value += coefficient
    return value


def _ratio(coefficients: tuple[Sequence[float], Sequence[float]], x: Values) -> Values:
    numerator, denominator = coefficients
    return _polynomial(numerator, x) / _polynomial(denominator, x)


@_in_blocks
def log(x: Values) -> Values:
    """The natural logarithm of positive numbers."""
    fraction, power = np.frexp(x)
    small = fraction < 0.70710678118654752
    fraction = np.where(small, 2 * fraction, fraction)
    k = (power - small).astype(np.float64)
    f = fraction - 1.0
    s = f / (2.0 + f)
    z = s * s
    rest = z * _polynomial(LOG, z)
    half = 0.5 * f * f
    return k * LN2_HIGH - ((half - (s * (half + rest) + k * LN2_LOW)) - f)


@_in_blocks
def exp(x: Values) -> Values:
    """The exponential function; 0 and inf beyond the range of doubles."""
    x = np.clip(x, -800.0, 800.0)
    k = np.rint(x * LOG2_E)
    high, low = x - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    t = r * r
    c = r - t * _polynomial(EXP, t)
    y = 1.0 - ((low - (r * c) / (2.0 - c)) - high)
    return cast("Values", np.ldexp(y, k.astype(np.int32)))


@_in_blocks
def one_minus_exp(x: Values) -> Values:
    """1 - exp(-x) for x >= 0, without cancellation where x is small."""
    small = np.minimum(x, SMALL_EXPONENT)
    series = np.ones_like(x)
    for k in range(N_EXPONENT_TERMS, 1, -1):
        series = 1.0 - small * series / k
    return np.where(x < SMALL_EXPONENT, small * series, 1.0 - exp(-x))


@_in_blocks
def log_of_rest(x: Values) -> Values:
    """log(1 - x) for x from 0 up to, but not including, 1."""
    rest = 1.0 - x
    return log(rest) + ((1.0 - rest) - x) / rest


@_in_blocks
def normal_quantile(p: Values) -> Values:
    """The standard normal distribution's quantiles at probabilities between 0 and 1."""
    from_middle = p - 0.5
    result = from_middle * _ratio(CENTRE, HALF_CENTRE * HALF_CENTRE - from_middle * from_middle)
    outer = np.flatnonzero(np.abs(from_middle) > HALF_CENTRE)
    side = p[outer]
    r = np.sqrt(-log(np.minimum(side, 1.0 - side)))
    far = np.where(r > FAR, _ratio(FAR_TAIL, r - FAR), _ratio(TAIL, r - 1.6))
    result[outer] = np.where(side < 0.5, -far, far)
    return result


def sine_cosine(x: Values) -> tuple[Values, Values]:
    """sin(x) and cos(x) for |x| up to 1e5, of any shape."""
    quarter = np.rint(x * TWO_OVER_PI)
    first, second, third = HALF_PI
    r = ((x - quarter * first) - quarter * second) - quarter * third
    z = r * r
    sine = r + r * z * _polynomial(SINE, z)
    cosine = 1.0 + z * _polynomial(COSINE, z)
    turns = quarter.astype(np.int64) & 3
    is_odd, is_behind = turns % 2 == 1, turns >= 2
    one, other = np.where(is_odd, cosine, sine), np.where(is_odd, -sine, cosine)
    return np.where(is_behind, -one, one), np.where(is_behind, -other, other)


def arc_tangent(y: Values, x: Values) -> Values:
    """The angle from 0 to pi of the direction (x, y), for y >= 0, of any shape."""
    low, high = np.minimum(y, np.abs(x)), np.maximum(y, np.abs(x))
    near_half, near_one = low > 0.4375 * high, low > 0.6875 * high
    top = np.where(near_one, low - high, np.where(near_half, 2.0 * low - high, low))
    bottom = np.where(near_one, low + high, np.where(near_half, 2.0 * high + low, high))
    t = top / np.where(bottom > 0, bottom, 1.0)
    z = t * t
    (half, half_rest), (one, one_rest) = ARC_OF_HALF, ARC_OF_ONE
    angle = np.where(near_one, one, np.where(near_half, half, 0.0))
    rest = np.where(near_one, one_rest, np.where(near_half, half_rest, 0.0))
    angle = angle - ((t * (z * _polynomial(ARC, z)) - rest) - t)
    quarter, quarter_rest = QUARTER_TURN
    angle = np.where(y > np.abs(x), quarter - (angle - quarter_rest), angle)
    return np.where(x < 0, 2.0 * quarter - (angle - 2.0 * quarter_rest), angle)


def power(x: Values, y: Values) -> Values:
    """x**y of arrays of one shape, for positive x; relative error below (2 + 2 |y|) 2**-53."""
    ln = log(x.ravel())
    lower = x.ravel() / exp(ln) - 1.0  # the error of the logarithm
    high = y.ravel() * ln
    rest = product_error(y.ravel(), ln, high) + y.ravel() * lower
    exponential = exp(high)
    return (exponential + exponential * rest).reshape(x.shape)


def normal_beyond(x: float) -> Decimal:
    """The probability that a standard normal variable exceeds x >= 0, to 40 digits.

    Abramowitz and Stegun 26.2.11 up to SERIES_END, beyond it the continued fraction 26.2.14.
    """
    with localcontext(prec=DIGITS):
        z = Decimal(x)
        density = (-z * z / 2).exp() / (2 * PI).sqrt()
        if z > SERIES_END:
            rest = z
            for k in range(600, 0, -1):
                rest = z + k / rest
            return density / rest
        term = total = z
        for k in range(3, 400, 2):
            term = term * z * z / k
            total += term
        return Decimal("0.5") - density * total


def product_error(a: Values, b: Values, product: Values) -> Values:
    """a b minus the rounded product, exactly (Dekker 1971)."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(x: Values) -> tuple[Values, Values]:
    """Two numbers of half as many bits, of which x is the sum."""
    scaled = (2.0**27 + 1.0) * x
    high = scaled - (scaled - x)
    return high, x - high
