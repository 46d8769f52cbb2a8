"""The equations of Hanisch, Richter, Li 2020 (Phys. Mesomech., DOI 10.24411/1683-805X-2020-12007).

All equations are for a sphere. They are approximations, given as published except for one restored
sign (eq. 25). The exact results are in `surface` and `limits`; the docstrings state the
differences.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.model.table import MISSING_FLAG
from sweep.theory import Values, values

REGION_I, REGION_II, REGION_III = 1, 2, 3  # complete slip, partial slip, complete stick


def partial_slip_energy(
    shear_modulus: ArrayLike,
    stiffness_ratio: ArrayLike,
    radius: ArrayLike,
    indentation: ArrayLike,
    tangential_amplitude: ArrayLike,
    friction: ArrayLike,
) -> Values:
    """W_M = (2/3)(G*/κ)√(R/d0) Δx³/μ [J] (eq. 8, Mindlin): constant load, small slip."""
    shape = np.sqrt(values(radius) / values(indentation))
    grip = values(stiffness_ratio) * values(friction)
    return 2 / 3 * values(shear_modulus) / grip * shape * values(tangential_amplitude) ** 3


def relaxation_energy(
    shear_modulus: ArrayLike,
    radius: ArrayLike,
    indentation: ArrayLike,
    normal_amplitude: ArrayLike,
    tangential_amplitude: ArrayLike,
    phase: ArrayLike,
) -> Values:
    """W_∞ = (8/3)G*√(R/d0) Δz Δx² sin²φ [J] (eq. 9, Popov et al.): infinite friction, δ → 0."""
    greatest = greatest_relaxation_energy(
        shear_modulus, radius, indentation, normal_amplitude, tangential_amplitude
    )
    return greatest * relaxation(phase)


def greatest_relaxation_energy(
    shear_modulus: ArrayLike,
    radius: ArrayLike,
    indentation: ArrayLike,
    normal_amplitude: ArrayLike,
    tangential_amplitude: ArrayLike,
) -> Values:
    """W_∞,max = (8/3)G*√(R/d0) Δz Δx² [J] (eq. 10), the paper's unit of energy."""
    shape = np.sqrt(values(radius) / values(indentation))
    squared = values(normal_amplitude) * values(tangential_amplitude) ** 2
    return 8 / 3 * values(shear_modulus) * shape * squared


def complete_slip_energy(
    friction: ArrayLike, normal_force: ArrayLike, tangential_amplitude: ArrayLike
) -> Values:
    """W_C = 4μF_nΔx [J] (eq. 11, Coulomb)."""
    return 4 * values(friction) * values(normal_force) * values(tangential_amplitude)


def hertzian_slip_energy(
    friction: ArrayLike,
    contact_modulus: ArrayLike,
    radius: ArrayLike,
    indentation: ArrayLike,
    tangential_amplitude: ArrayLike,
) -> Values:
    """W_C = (16/3)μE*√R d0^{3/2} Δx [J] (eq. 12): eq. 11 with the Hertzian load at d0."""
    load = 4 / 3 * values(contact_modulus) * np.sqrt(values(radius)) * values(indentation) ** 1.5
    return complete_slip_energy(friction, load, tangential_amplitude)


def partial_slip(beta: ArrayLike) -> Values:
    """W̄ = 1/(4β) (eq. 19)."""
    with np.errstate(divide="ignore"):
        return 0.25 / values(beta)


def complete_slip(beta: ArrayLike, delta: ArrayLike) -> Values:
    """W̄ = 2β/δ² (eq. 20)."""
    return 2 * values(beta) / values(delta) ** 2


def relaxation(phase: ArrayLike) -> Values:
    """W̄ = sin²φ (eq. 22)."""
    with np.errstate(invalid="ignore"):
        return np.sin(values(phase)) ** 2


def region(beta: ArrayLike, delta: ArrayLike, phase: ArrayLike) -> NDArray[np.uint8]:
    """The region of eq. 24: 1 complete slip, 2 partial slip, 3 complete stick; 255 for NaN.

    I ends at β = δ/√8 and II at β = 1/(4 sin²φ), where adjacent regions have equal energies.
    """
    beta, delta, phase = np.broadcast_arrays(*map(values, (beta, delta, phase)))
    codes = np.full(beta.shape, REGION_II, dtype=np.uint8)
    codes[4 * beta * relaxation(phase) > 1] = REGION_III
    codes[beta < delta / math.sqrt(8)] = REGION_I
    codes[np.isnan(beta + delta + relaxation(phase))] = MISSING_FLAG
    return codes


def three_regions(beta: ArrayLike, delta: ArrayLike, phase: ArrayLike) -> Values:
    """W̄ of eq. 24: eq. 20 in region I, 19 in II, 22 in III.

    Compared with the exact energies for small δ, it is up to 39 % too large at φ = π/2 (where I
    meets II) and 30 % too large for Fig. 2 of the paper. Away from 90° it is far worse: −55 % at φ
    = 153°, β = 1.2; 179 times too large at φ = 0.05, β = 1.07.
    """
    codes = region(beta, delta, phase)
    by_region = complete_slip(beta, delta), partial_slip(beta), relaxation(phase)
    chosen = np.choose(codes - 1, np.broadcast_arrays(*by_region), mode="clip")
    return np.where(codes == MISSING_FLAG, np.nan, chosen)


def slip_transition(xi: ArrayLike) -> Values:
    """W̄δ of eq. 25, between regions I and II, for 0 < ξ < 4; NaN elsewhere.

    The sign before 0.5866 is minus; it is missing in some copies of the paper, and plus would be
    wrong by 91 %. Differs from `constant_load_energy` by up to 9.3 %.
    """
    xi = values(xi)
    above = np.polyval([4.858e-4, 0.2203, -0.2226, -0.1252, 0.1836, 0.0], xi)
    below = np.polyval([1.0, -1.932, 1.482, -0.5866, 0.0779, 0.0889], xi)
    return np.where((xi > 0) & (xi < 4), above / below, np.nan)


def stick_transition(beta: ArrayLike) -> Values:
    """W̄ of eq. 27, between regions II and III at φ = π/2, for β > 0.1; NaN elsewhere.

    The constant −4.0017e-6 is hard to read in the paper; its effect is below 1e-4. Differs from
    `universal_surface` by up to 3.3 %.
    """
    beta = values(beta)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        inverse = 1 / beta  # powers of 1/β: no overflow, and 1 for infinite friction
        above = np.polyval([-4.0017e-6, 0.3342, 0.2668, 0.7169, 1.0], inverse)
        below = np.polyval([0.0, -5.079e-5, 1.335, 0.5979, 1.0], inverse)
        return np.where(beta > 0.1, above / below, np.nan)
