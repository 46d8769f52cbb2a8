"""Exact energies in limiting cases: constant load, infinite friction, vanishing friction."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from sweep.theory import Values, values

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_FINE_NODES, _FINE_WEIGHTS = np.polynomial.legendre.leggauss(96)


def constant_load_energy(xi: ArrayLike, profile_exponent: ArrayLike = 2.0) -> Values:
    """W/(G* a0 Δx²) per cycle under constant load (Δz = 0), as a function of ξ = μκd0/Δx.

    With w = (1 − 1/ξ)^{1/n}, or 0 for ξ < 1, where the whole contact slips:

        8 { ξ [(1 − w) − (1 − wⁿ⁺¹)/(n+1)] − ξ² [(1 − w) − 2(1 − wⁿ⁺¹)/(n+1) + (1 − w²ⁿ⁺¹)/(2n+1)] }

    For ξ ≤ 1: 8ξ n/(n+1) [1 − 2nξ/(2n+1)], for a sphere (16/3)ξ(1 − 4ξ/5). For ξ ≥ 1 a cone has
    4/(3ξ). Multiplied by 3n/16 it is W̄δ for small δ, which eq. 25 of Hanisch et al. 2020
    approximates; for a sphere the maximum is 5/8, at ξ = 5/8. A flat punch (n = ∞) has 8ξ(1 − ξ)
    for ξ ≤ 1, otherwise 0. Computed by quadrature over the bound for ξ > 2; relative error below
    1e-14.
    """
    xi, n = np.broadcast_arrays(values(xi), values(profile_exponent))
    low = np.minimum(xi, 2.0)
    stuck = 1 - 1 / np.maximum(low, 1.0)  # wⁿ
    slips = -np.expm1(np.log(np.where(stuck > 0, stuck, 1.0)) / n)  # 1 − w
    slips = np.where(stuck > 0, slips, 1.0)
    first = (1 - stuck * (1 - slips)) / (n + 1)
    second = (1 - stuck**2 * (1 - slips)) / (2 * n + 1)
    closed = 8 * low * ((1 - low) * slips + (2 * low - 1) * first - low * second)
    bound, weight = 0.5 * (1 + _NODES), 0.5 * _WEIGHTS
    high = np.maximum(xi, 2.0)[..., None]
    slope = (1 - bound / high) ** (1 / n[..., None] - 1)
    integral = np.sum(weight * bound * (1 - bound) * slope, axis=-1)
    return np.where(xi <= 2, closed, 8 / (n * high[..., 0]) * integral)


def infinite_friction_energy(
    delta: ArrayLike, phase: ArrayLike, profile_exponent: ArrayLike = 2.0
) -> Values:
    """W̄ at β = ∞, for any δ, jumping (δ > 1) included.

    (3/4) sin²φ ∫ (1 − c²)(1 + δc)^{1/n−1} dc over max(−1, −1/δ) < c < 1. For a sphere it is
    sin²φ (1 + 3δ²/40 + 3δ⁴/128 + …), for a cone sin²φ up to δ = 1; for δ → 0 it is eq. 22 of
    Hanisch et al. 2020. For δ → ∞ it is (3/2) sin²φ n²/(2n + 1) δ^{1/n−1}, which tends to 0, for a
    cone to sin²φ/2, and for n < 1 to infinity. Relative error below 3e-14 for n ≥ 0.02.
    """
    delta, n = np.broadcast_arrays(values(delta), values(profile_exponent))
    small = np.minimum(delta, 0.5)[..., None]
    slope = (1 + small * _NODES) ** (1 / n[..., None] - 1)
    quadrature = np.sum(_WEIGHTS * (1 - _NODES**2) * slope, axis=-1)
    integral = np.where(delta <= 0.5, quadrature, _wide_integral(np.maximum(delta, 0.5), 1 / n))
    share = 0.75 * np.sin(values(phase)) ** 2
    with np.errstate(invalid="ignore"):
        return np.where((share == 0) & np.isposinf(integral), 0.0, share * integral)


def _wide_integral(delta: Values, a: Values) -> Values:
    """∫ (1 − c²)(1 + δc)^{a−1} dc over max(−1, −1/δ) < c < 1, for δ that is not small.

    By powers of y = 1 + δc, in units of δ for δ ≥ 1. Infinite for a flat punch (a = 0) that loses
    contact.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        near = np.minimum(delta, 1.0)
        low, high = 1 - near, 1 + near
        span = np.log(high / low)
        part = low**a * np.expm1(a * span) / a  # (y₁ᵃ − y₀ᵃ)/a
        part = np.where(a * span < 1, part, (high**a - low**a) / a)
        part = np.where(a > 0, part, span)
        first, second = ((high ** (a + k) - low ** (a + k)) / (a + k) for k in (1, 2))
        kept = ((near**2 - 1) * part + 2 * first - second) / near**3
        z = 1 + 1 / delta
        gap = z * np.where(np.isinf(delta), 1.0, (delta - 1) / delta)
        least = np.where(gap > 0, gap * z**a / a, 0.0)
        lost = least + 2 / delta * z ** (a + 1) / (a + 1) - z ** (a + 2) / (a + 2)
        half = delta ** ((a - 1) / 2)  # half the exponent twice, to avoid premature overflow
        return np.where(delta < 1, kept, half * lost * half)


def vanishing_friction_energy(
    delta: ArrayLike, phase: ArrayLike, profile_exponent: ArrayLike = 2.0
) -> Values:
    """W/(4μF_n0Δx) for μ → 0, where all springs slip all the time; F_n0 is the normal force at d0.

    ¼ ∫ (1 + δ cos t)^{1+1/n} |sin(t + φ)| dt over the time in contact. For a sphere it is
    1 + (3 − cos 2φ)δ²/16 + O(δ⁴), for a cone 1 + (½ − cos 2φ/6)δ² up to δ = 1. In units of W_ref,
    4μF_n0Δx is 3n²β/(2(n+1)δ²); for a sphere 2β/δ², eq. 20 of Hanisch et al. 2020. Infinite for
    infinite δ. Relative error below 1e-14; for δ > 1e10, a few rounding errors of ln δ.
    """
    delta, phase, n = np.broadcast_arrays(*map(values, (delta, phase, profile_exponent)))
    contact = np.where(delta > 1, np.arccos(-1 / np.maximum(delta, 1.0)), math.pi)
    # |sin| has kinks at −φ and π − φ; the load is 0 or smallest at the ends of contact.
    kinks = [np.remainder(-phase + shift, 2 * math.pi) - math.pi for shift in (0.0, math.pi)]
    inner = np.sort([np.clip(kink, -contact, contact) for kink in kinks], axis=0)
    total = np.zeros(delta.shape)
    ends = [-contact, inner[0], inner[1], contact]
    for begin, end in pairwise(ends):
        part = _slip_integral(begin, end, delta, phase, n)
        total += np.where(
            begin == end, 0.0, part
        )  # an empty interval adds 0, even if the load is infinite
    return 0.25 * total


def _slip_integral(begin: Values, end: Values, delta: Values, phase: Values, n: Values) -> Values:
    """∫ (1 + δ cos t)^{1+1/n} |sin(t + φ)| dt by Gauss in u, with t ∝ u³(10 − 15u + 6u²)."""
    u = 0.5 * (1 + _FINE_NODES)
    share, density = u**3 * (10 + u * (6 * u - 15)), 30 * (u * (1 - u)) ** 2
    time = begin[..., None] + (end - begin)[..., None] * share
    rate = np.abs(np.sin(time + phase[..., None]))
    with np.errstate(over="ignore", invalid="ignore"):  # infinite loads; empty intervals
        load = np.maximum(1 + delta[..., None] * np.cos(time), 0.0) ** (1 + 1 / n[..., None])
        return (end - begin) * np.sum(0.5 * _FINE_WEIGHTS * density * load * rate, axis=-1)
