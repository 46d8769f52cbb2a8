"""The universal surface F(β, φ), the core of the contact that never slips, and borders on maps.

Both sides of the friction law are sinusoids, with the amplitudes (in units of Δx)

    R_A = √(1 + β² − 2β cos φ)        R_B = √(1 + β² + 2β cos φ)

For small normal amplitudes, every profile has W̄ = F(β, φ) at any β. So there is a master curve
between regions II and III of the paper: this surface. It holds for a cone at any δ, as long as part
of the contact sticks. φ + π is equivalent to φ; −φ is not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from sweep.theory import Values, values
from sweep.theory.mdr_contact.body import physical_numbers

_LARGE = 1e8  # β above which 1/β² is below rounding


def universal_surface(beta: ArrayLike, phase: ArrayLike) -> Values:
    """F(β, φ) = W̄ for δ → 0; sin²φ for infinite β, infinite for β = 0, NaN for β < 0.

    With the angle ω in [0, π] given by R_A R_B cos ω = β² − 1 and R_A R_B sin ω = 2β|sin φ|:

        F = (R_A R_B/64β) { R_A [(1 − cos ω)(13 + 11 cos ω + 2 cos²ω) + 3ω sin ω]
                          + R_B [(1 − cos ω)(5 + cos ω) − 3ω sin ω] }

    Neither bracket is negative, so there is no cancellation; the relative error stays below 2e-15.
    F(1, 0) = 0. At φ = π/2 it is (1 + 2β²)²/(4β(1 + β²)^{3/2}), with the minimum 4/(3√3) at
    β = 1/√2; at φ = 0 it is (1 − β²)/(4β) for β < 1, otherwise 0.
    """
    beta, phase = np.broadcast_arrays(values(beta), values(phase))
    sine, cosine = _upper_half(phase)
    finite = np.where(beta < _LARGE, np.where(beta > 0, beta, 1.0), 1.0)
    radius_a, radius_b = _radii(finite, sine, cosine)
    omega = _angle(finite, sine)
    half_versine, turned = np.sin(omega / 2) ** 2, np.cos(omega)
    with_a = 2 * half_versine * (13 + turned * (11 + 2 * turned)) + 3 * omega * np.sin(omega)
    surface = radius_a * radius_b / (64 * finite) * (radius_a * with_a + radius_b * _rest(omega))
    with np.errstate(divide="ignore", invalid="ignore"):
        far = sine * sine * (1 - cosine / beta)
    near = np.where(beta > 0, surface, np.where(beta == 0, np.inf, np.nan))
    return np.where(beta < _LARGE, near, far)


def greatest_loss_phase(beta: ArrayLike) -> Values:
    """The phase in (π/2, π) at which F(β, φ) is largest; NaN unless β > 0.

    107–109° for β ≤ 1, and close to π/2 + 1/(2β) for large β. Computed by bisection of dF/dφ = 0;
    the error is about 1e-16 (β + 1/β), and 1e-16 for β ≥ 1e8.
    """
    beta = values(beta)
    finite = np.where((beta > 0) & (beta < _LARGE), beta, 1.0)
    low, high = np.full(beta.shape, math.pi / 2), np.full(beta.shape, math.pi)
    for _ in range(54):
        middle = 0.5 * (low + high)
        rises = _slope(finite, middle) > 0
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(beta > 0, math.pi / 2 + 0.5 / beta, np.nan)
    return np.where(beta == finite, 0.5 * (low + high), far)


def slip_depth(beta: ArrayLike, phase: ArrayLike) -> Values:
    """(R_A + R_B)/2: the ξ above which a core of the contact never slips.

    A spring slips at some time if and only if μκ(d0 − g) < Δx (R_A + R_B)/2. Eq. 15 of the paper
    has 1 instead of (R_A + R_B)/2, which is about β for large β and infinite for β = ∞.
    """
    radius_a, radius_b = _radii(values(beta), *_upper_half(values(phase)))
    return 0.5 * (radius_a + radius_b)


def stick_radius(
    beta: ArrayLike, delta: ArrayLike, phase: ArrayLike, profile_exponent: ArrayLike
) -> Values:
    """Radius of the core that is always in contact and never slips, over a0; 0 if there is none.

    g(c) = d0 − (Δx/μκ)(R_A + R_B)/2; with infinite friction g(c) = d0 − Δz.
    """
    beta, phase = np.broadcast_arrays(values(beta), values(phase))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(np.isinf(beta), 1.0, slip_depth(beta, phase) / beta)
    core_depth = np.maximum(1 - values(delta) * share, 0.0)
    return core_depth ** (1 / values(profile_exponent))


def boundaries(parameters: Mapping[str, ArrayLike]) -> dict[str, Values]:
    """The boundaries of the model's regimes and the paper's regions: arrays that change sign there.

    `parameters` maps names of model parameters, dimensionless or physical, to values that broadcast
    together; the result is empty if some are missing. The boundary between gross and partial slip
    is ξ = (R_A + R_B)/2, jumping begins at δ = 1, and regions I, II and III (Hanisch et al. 2020,
    eq. 24) meet at β = δ/√8 and β = 1/(4 sin²φ).
    """
    numbers = physical_numbers(parameters)
    if {"beta", "delta"} <= parameters.keys():
        beta, delta = values(parameters["beta"]), values(parameters["delta"])
        with np.errstate(divide="ignore", invalid="ignore"):
            numbers = beta, delta, beta / delta
    if numbers is None or "phase" not in parameters:
        return {}
    beta, delta, xi = numbers
    phase = values(parameters["phase"])
    with np.errstate(invalid="ignore"):
        core = np.where(np.isinf(beta), 1 - delta, xi - slip_depth(beta, phase))
        borders = {
            "border of jumping, δ = 1": delta - 1,
            "border of partial slip, ξ = (R_A + R_B)/2": np.where(delta < 1, core, np.nan),
            "regions I and II, β = δ/√8": beta - delta / math.sqrt(8),
            "regions II and III, 4β sin²φ = 1": 4 * beta * np.sin(phase) ** 2 - 1,
        }
    shape = np.broadcast_shapes(*(line.shape for line in borders.values()))
    return {label: np.broadcast_to(line, shape) for label, line in borders.items()}


def _upper_half(phase: Values) -> tuple[Values, Values]:
    """Sine and cosine of φ, or of φ + π if the sine of φ is negative."""
    sine, cosine = np.sin(phase), np.cos(phase)
    return np.abs(sine), np.where(sine < 0, -cosine, cosine)


def _radii(beta: Values, sine: Values, cosine: Values) -> tuple[Values, Values]:
    """R_A and R_B without cancellation: R² = (1 − β)² + 2β(1 ∓ cos φ)."""
    long = 1 + np.abs(cosine)
    short = sine * sine / long
    smaller, larger = (np.hypot(1 - beta, np.sqrt(2 * beta * side)) for side in (short, long))
    leads = cosine >= 0
    return np.where(leads, smaller, larger), np.where(leads, larger, smaller)


def _angle(beta: Values, sine: Values) -> Values:
    """ω = π − Ω."""
    return np.arctan2(2 * beta * sine, (beta - 1) * (beta + 1))


def _rest(omega: Values) -> Values:
    """(1 − cos ω)(5 + cos ω) − 3ω sin ω = ω⁶/40 − …, by its power series for ω < 2."""
    square, series = omega * omega, np.zeros_like(omega)
    for k in range(21, 2, -1):
        term = (-1) ** k * (6 * k - 4 - 2 ** (2 * k - 1)) / math.factorial(2 * k)
        series = series * square + term
    turned = np.cos(omega)
    plain = (1 - turned) * (5 + turned) - 3 * omega * np.sin(omega)
    return np.where(omega < 2, square**3 * series, plain)


def _slope(beta: Values, phase: Values) -> Values:
    """64 dF/dφ, with dω/dφ = 2β cos φ cos ω/(R_A R_B) and the brackets P, Q of F."""
    sine, cosine = np.sin(phase), np.cos(phase)
    radius_a, radius_b = _radii(beta, sine, cosine)
    omega = _angle(beta, sine)
    s, c = np.sin(omega), np.cos(omega)
    p = (1 - c) * (13 + c * (11 + 2 * c)) + 3 * omega * s
    q = _rest(omega)
    p_slope = s * (5 + c * (18 + 6 * c)) + 3 * omega * c
    q_slope = s * (1 + 2 * c) - 3 * omega * c
    turning = s * (radius_a * p + radius_b * q) + c * (radius_a * p_slope + radius_b * q_slope)
    return 2 * cosine * turning + sine * (radius_b * p - radius_a * q)
