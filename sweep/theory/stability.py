"""Stability limits of the explicit schemes, for a mass that sticks or that slips on a spring.

During stick, the penalised friction law makes the mass a linear oscillator, ÿ = −Ω² y − 2ζΩ ẏ, and
a step of a scheme multiplies the state by a matrix. The step is stable if no eigenvalue of that
matrix exceeds 1 in modulus. The schemes treat the damper of the law explicitly, at the velocity at
which they evaluate the force. `devogelaere` treats any other viscous damper separately; for the
others it is included in ζ. Because friction is bounded, too long a step gives plausible but wrong
numbers instead of an overflow, so the limit must be known in advance.

With p = h²Ω², q = 2ζ hΩ, and g = 2ζ' hΩ for the separate damper of devogelaere, the limits are

    euler          p + 2q ≤ 4            λ = −1
    adapt_ordre2   p + 4q ≤ 4            λ = −1
    devogelaere    3p + 12q + 2g ≤ 24    λ = 1

For the Runge–Kutta pairs the matrix is R(hA) with the stability polynomial R (Dormand and Prince
1980, RK5(4)7M; Bogacki and Shampine 1989), and the limits are |det| ≤ 1 and |trace| ≤ 1 + det. All
limits are derived from the definitions of the schemes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]  # (states, states)
State = NDArray[np.float64]  # (states,)
Coefficients = NDArray[np.float64]  # (degree + 1,), from λ⁰ up to the leading 1

SLACK = 1e-12  # tolerance above 1 for eigenvalues on the unit circle
SCANNED = 0.01  # scan interval in natural units of the step, far below the width of a stable range
GREATEST = 20.0  # natural units; above the limit of every explicit scheme here

_POLYNOMIALS = {  # stability polynomials in hA of the Runge–Kutta schemes
    "rk54": (1.0, 1.0, 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 600),
    "rk32": (1.0, 1.0, 1 / 2, 1 / 6),
}

SCHEMES = ("euler", "devogelaere", "adapt_ordre2", *_POLYNOMIALS)


def amplification_matrix(scheme: str, x: float, zeta: float, apart: float = 0.0) -> Matrix:
    """The matrix by which a step x = hΩ multiplies the state; ζ belongs to the damper in the force.

    `apart` is the damping ratio of the separate damper of devogelaere. With the acceleration times
    h² as f and the velocity times h as u, the state is (y, u) for euler, rk54 and rk32; (y, u, f)
    with u half a step earlier for adapt_ordre2; and (y, u, f, f and u half a step earlier) for
    devogelaere.
    """
    return _matrix(_known(scheme), x * x, 2 * zeta * x, 2 * apart * x)


def characteristic_polynomial(
    scheme: str, x: float, zeta: float, apart: float = 0.0
) -> Coefficients:
    """The characteristic polynomial of the matrix, without the eigenvalues that are always 0.

    The degree is 2 for euler, rk54 and rk32, 3 for adapt_ordre2 and 4 for devogelaere (whose
    constant coefficient is 0 if `apart` is 0).
    """
    return _polynomial(_known(scheme), x * x, 2 * zeta * x, 2 * apart * x)


def spectral_radius(scheme: str, x: float, zeta: float, apart: float = 0.0) -> float:
    """The largest modulus of the eigenvalues of the matrix."""
    return _radius(amplification_matrix(scheme, x, zeta, apart))


def stability_limit(scheme: str, damping_ratio: float, apart: float = 0.0) -> float:
    """The longest hΩ up to which all steps are stable.

    Computed by bisection; relative error below 1e-9. NaN if a damping ratio
    is negative or not finite.
    """
    _known(scheme)
    if not all(0 <= ratio < math.inf for ratio in (damping_ratio, apart)):
        return math.nan
    unit = 1 / (1 + 2 * damping_ratio + 2 * apart)
    return unit * _first_crossing(
        lambda steps: amplification_matrix(scheme, steps * unit, damping_ratio, apart)
    )


def longest_step(
    scheme: str,
    mass: float,
    stiffness: float,
    tangential_stiffness: float,
    tangential_damping: float,
    damping: float = 0.0,
) -> float:
    """The longest step [s] that is stable both in stick and in slip; inf if there is no limit.

    NaN without a mass, or if a stiffness or damping is negative or not finite. During stick, K_T
    and C_T are added to the spring and the damper of the model; during slip only the latter act.
    Method `moreau` has no limit and is not covered.
    """
    _known(scheme)
    rates = (stiffness, tangential_stiffness, tangential_damping, damping)
    if not (0 < mass < math.inf and all(0 <= rate < math.inf for rate in rates)):
        return math.nan
    stuck = _longest(
        scheme, (stiffness + tangential_stiffness) / mass, tangential_damping / mass,
        damping / mass,
    )  # fmt: skip
    return min(stuck, _longest(scheme, stiffness / mass, 0.0, damping / mass))


def _known(scheme: str) -> str:
    if scheme not in SCHEMES:
        raise ValueError(
            f"{scheme!r} is not a scheme with a stability limit; use one of {', '.join(SCHEMES)}"
        )
    return scheme


def _longest(scheme: str, stiffness: float, damping: float, apart: float) -> float:
    """The longest step for ÿ = −stiffness y − (damping + apart) ẏ."""
    rate = math.sqrt(stiffness) + damping + apart
    if rate == 0:
        return math.inf

    def matrix(steps: float) -> Matrix:
        h = steps / rate
        return _matrix(scheme, h * h * stiffness, h * damping, h * apart)

    return _first_crossing(matrix) / rate


def _first_crossing(matrix: Callable[[float], Matrix]) -> float:
    """The end of the stable range of steps that begins at 0, at most GREATEST."""
    high = SCANNED
    while _is_stable(matrix(high)):
        if high > GREATEST:
            return GREATEST
        high += SCANNED
    low = high - SCANNED
    for _ in range(60):
        middle = (low + high) / 2
        if _is_stable(matrix(middle)):
            low = middle
        else:
            high = middle
    return low


def _is_stable(matrix: Matrix) -> bool:
    """Whether no eigenvalue exceeds 1 + SLACK in modulus.

    For a 2×2 matrix trace and determinant decide, also if both eigenvalues are equal.
    """
    if len(matrix) > 2:
        return _radius(matrix) <= 1 + SLACK
    (a, b), (c, d) = matrix.tolist()
    trace, determinant = a + d, a * d - b * c
    return abs(determinant) <= 1 + SLACK and abs(trace) <= 1 + determinant + SLACK


def _radius(matrix: Matrix) -> float:
    if not np.isfinite(matrix).all():
        return math.nan
    return float(np.abs(np.linalg.eigvals(matrix)).max())


# p = h²Ω², q = h C/m for the damper in the force, g = h c/m for the separate one: the force is
# −p y − q u for devogelaere, otherwise −p y − (q + g) u.


def _matrix(scheme: str, p: float, q: float, g: float) -> Matrix:
    if scheme == "devogelaere":
        return np.array([_devogelaere(unit, p, q, g) for unit in np.eye(5)]).T
    if scheme == "adapt_ordre2":
        return np.array([_adapt_ordre2(unit, p, q + g) for unit in np.eye(3)]).T
    if scheme == "euler":
        return np.array([_euler(unit, p, q + g) for unit in np.eye(2)]).T
    return _runge_kutta(_POLYNOMIALS[scheme], p, q + g)


def _runge_kutta(weights: tuple[float, ...], p: float, q: float) -> Matrix:
    linear = np.array([[0.0, 1.0], [-p, -q]])
    total = np.zeros((2, 2))
    for weight in reversed(weights):
        total = total @ linear + weight * np.eye(2)
    return total


def _euler(state: State, p: float, q: float) -> list[np.float64]:
    y, u = state
    u = u - p * y - q * u
    return [y + u, u]


def _adapt_ordre2(state: State, p: float, q: float) -> list[np.float64]:
    y, u_before, f = state
    u_half = u_before + f
    y = y + u_half
    return [y, u_half, -p * y - q * (u_half + f / 2)]


def _devogelaere(state: State, p: float, q: float, g: float) -> list[np.float64]:
    y, u, f, f_before, u_before = state
    y_half = y + u / 2 + (4 * f - f_before - g * (4 * u - u_before)) / 24
    f_half = -p * y_half - q * 2 * (y_half - y)
    u_half = (4 * u + f + f_half - g * u) / (4 + g)
    y_end = y + u + (f + 2 * f_half - g * (u + 2 * u_half)) / 6
    f_end = -p * y_end - q * 2 * (y_end - y_half)
    u_end = (6 * u + f + 4 * f_half + f_end - g * (u + 4 * u_half)) / (6 + g)
    return [y_end, u_end, f_end, f_half, u_half]


def _polynomial(scheme: str, p: float, q: float, g: float) -> Coefficients:
    if scheme == "devogelaere":
        return _devogelaere_polynomial(p, q, g)
    q += g
    if scheme == "adapt_ordre2":
        return np.array([q / 2, 1 - 2 * q, p + 1.5 * q - 2, 1])
    if scheme == "euler":
        return np.array([1 - q, p + q - 2, 1])
    return _runge_kutta_polynomial(_POLYNOMIALS[scheme], p, q)


def _runge_kutta_polynomial(weights: tuple[float, ...], p: float, q: float) -> Coefficients:
    """From R(z₁) + R(z₂) and R(z₁)R(z₂), where z₁ and z₂ are the roots of z² + qz + p.

    Both are sums over s_n = z₁ⁿ + z₂ⁿ with s_n = −q s_{n−1} − p s_{n−2}.
    """
    sums = [2.0, -q]
    while len(sums) < len(weights):
        sums.append(-q * sums[-1] - p * sums[-2])
    trace = sum(w * s for w, s in zip(weights, sums, strict=True))
    determinant = 0.0
    for i in reversed(range(len(weights))):
        crossed = sum(weights[j] * sums[j - i] for j in range(i + 1, len(weights)))
        determinant = determinant * p + weights[i] * (weights[i] + crossed)
    return np.array([determinant, -trace, 1])


def _devogelaere_polynomial(p: float, q: float, g: float) -> Coefficients:
    scale = 6 * (4 + g) * (6 + g)
    linear = g * p + 18 * g * q + 24 * q * q - 6 * p - 36 * q
    square = 18 * g * g + 4 * g * p + 51 * g * q - 84 * g
    square -= 6 * p * p + 24 * p * q - 24 * q * q - 12 * p + 72 * q - 144
    cube = 24 * g * g + 17 * g * p + 68 * g * q - 24 * g
    cube += 12 * p * p + 48 * p * q + 48 * q * q - 138 * p - 108 * q + 288
    return np.array([-g * q, linear, square, -cube, scale]) / scale
