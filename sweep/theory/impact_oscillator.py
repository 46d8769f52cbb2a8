"""Closed forms for a mass that strikes an elastic stop: frequency and energy of its free motion.

    m ü + k u = −K max(u − e, 0),   E = ½ m u̇² + ½ k u² + ½ K max(u − e, 0)²

Below the grazing energy k e²/2 the motion never reaches the stop and has the linear frequency.
Above it, the frequency increases with the energy towards a limit. All functions take numbers or
arrays that broadcast together, in SI units, and return float64 arrays of the broadcast shape.

Source: Code_Aster SDND122, with its contact time corrected.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.theory import Values, values

BISECTIONS = 60  # of an interval of π/2 for the angle at the stop; enough to reach rounding


def causes_outside_validity(parameters: Mapping[str, Values]) -> dict[str, NDArray[np.bool_]]:
    """Where points are outside validity and why, beyond what the table says: by cause, a mask."""
    stiff = parameters["wall_stiffness"] > 1e12 * parameters["stiffness"]
    newmark = np.broadcast_to("steps_per_period" in parameters, stiff.shape)
    return {
        "wall_stiffness is above 1e12 times stiffness": stiff,
        "steps too long for the contact (above √(m/(k+K))): raise steps_per_period": newmark,
    }


def grazing_energy(stiffness: ArrayLike, gap: ArrayLike) -> Values:
    """Energy [J] at which the motion just reaches the stop, k e²/2."""
    return values(stiffness) * values(gap) ** 2 / 2


def linear_frequency(mass: ArrayLike, stiffness: ArrayLike) -> Values:
    """Frequency [Hz] below the grazing energy, √(k/m)/2π."""
    return np.sqrt(values(stiffness) / values(mass)) / (2 * np.pi)


def frequency_limit(mass: ArrayLike, stiffness: ArrayLike, wall_stiffness: ArrayLike) -> Values:
    """Frequency [Hz] in the limit of high energy, and at every energy if the gap is 0.

    The motion is half a period with k and half a period with k + K. The frequency is 2ρ/(1 + ρ)
    times the linear one, with ρ² = 1 + K/k; for a rigid stop it is twice the linear one.
    """
    ratio = np.sqrt(1 + values(wall_stiffness) / values(stiffness))
    return linear_frequency(mass, stiffness) * 2 / (1 / ratio + 1)


def free_time(mass: ArrayLike, stiffness: ArrayLike, gap: ArrayLike, energy: ArrayLike) -> Values:
    """T1 [s]: time away from the stop per period; the whole period below grazing.

    2√(m/k) arccos(−e√(k/2E)), computed by an arctangent that loses no digits close to grazing.
    """
    across, along = _at_contact(stiffness, gap, energy)
    return 2 * np.sqrt(values(mass) / values(stiffness)) * (np.pi - np.arctan2(across, along))


def contact_time(
    mass: ArrayLike,
    stiffness: ArrayLike,
    wall_stiffness: ArrayLike,
    gap: ArrayLike,
    energy: ArrayLike,
) -> Values:
    """T2 [s]: time in contact with the stop per period; 0 below grazing.

    2√(m/(K+k)) arccos(e k/√(2E(K+k) − k K e²)), also computed by an arctangent.
    """
    across, along = _at_contact(stiffness, gap, energy)
    ratio = np.sqrt(1 + values(wall_stiffness) / values(stiffness))
    own = np.sqrt(values(mass) / (values(stiffness) + values(wall_stiffness)))
    return 2 * own * np.arctan2(ratio * across, along)


def frequency(
    mass: ArrayLike,
    stiffness: ArrayLike,
    wall_stiffness: ArrayLike,
    gap: ArrayLike,
    energy: ArrayLike,
) -> Values:
    """Frequency [Hz] of the periodic motion, 1/(T1 + T2)."""
    pressed = contact_time(mass, stiffness, wall_stiffness, gap, energy)
    return 1 / (free_time(mass, stiffness, gap, energy) + pressed)


def document_frequency(
    mass: ArrayLike,
    stiffness: ArrayLike,
    wall_stiffness: ArrayLike,
    gap: ArrayLike,
    energy: ArrayLike,
) -> Values:
    """Frequency [Hz] as printed in SDND122, for comparison only: its T2 is wrong.

    T2 has √(2E(K+k)) instead of √(2E(K+k) − k K e²), which makes the contact too long. The relative
    error of the frequency is 6e-4 at the energies of the document and grows towards grazing, where
    the frequency jumps.
    """
    m, k, K = values(mass), values(stiffness), values(wall_stiffness)
    e, E = values(gap), values(energy)
    has_contact = grazing_energy(k, e) < E
    ratio = np.where(has_contact, e * k / np.sqrt(2 * E * (K + k)), 1.0)
    wrong = 2 * np.sqrt(m / (K + k)) * np.arccos(ratio)
    return 1 / (free_time(m, k, e, E) + np.where(has_contact, wrong, 0.0))


def energy_at(
    mass: ArrayLike,
    stiffness: ArrayLike,
    wall_stiffness: ArrayLike,
    gap: ArrayLike,
    frequency: ArrayLike,
) -> Values:
    """Energy [J] of the motion with the given frequency [Hz], by bisection.

    NaN if there is no such motion or more than one: at or below the linear frequency, at or above
    the limit, without a gap, or without a stop. The period is a monotone function of the angle at
    which the body reaches the stop.
    """
    arguments = (mass, stiffness, wall_stiffness, gap, frequency)
    m, k, K, e, f = np.broadcast_arrays(*map(values, arguments))
    ratio = np.sqrt(1 + K / k)
    target = np.pi * (1 - linear_frequency(m, k) / np.where(f > 0, f, np.nan))
    low, high = np.zeros(f.shape), np.full(f.shape, np.pi / 2)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        gained = middle - np.arctan2(ratio * np.sin(middle), np.cos(middle)) / ratio
        low, high = np.where(gained < target, middle, low), np.where(gained < target, high, middle)
    # tan² of the angle is the relative excess over grazing: E = ½ k e² (1 + tan²).
    energy = grazing_energy(k, e) / np.cos((low + high) / 2) ** 2
    single = (target > 0) & (f < frequency_limit(m, k, K)) & (e > 0) & (K > 0)
    return np.where(single, energy, np.nan)


def extremes(
    stiffness: ArrayLike, wall_stiffness: ArrayLike, gap: ArrayLike, energy: ArrayLike
) -> tuple[Values, Values]:
    """Least and greatest displacement [m]; −inf and e + √(2E/K) without a spring."""
    k, K, e, E = np.broadcast_arrays(*map(values, (stiffness, wall_stiffness, gap, energy)))
    with np.errstate(divide="ignore", invalid="ignore"):
        across, along = _at_contact(k, e, E)
        amplitude, ratio = np.sqrt(2 * E / k), np.sqrt(1 + K / k)
        reach = along + np.hypot(along, ratio * across)
        depth = across**2 / np.where(reach == 0, 1.0, reach)
        depth = np.where(np.isposinf(across), np.sqrt(2 * E / (k + K)), depth)
    return -amplitude, np.where(across == 0, amplitude, e + depth)


def boundaries(parameters: Mapping[str, ArrayLike]) -> dict[str, Values]:
    """The boundary of contact with the stop: for its label, an array that changes sign there.

    `parameters` maps names of model parameters to values that broadcast together. The result is
    empty unless stiffness, gap and energy are given.
    """
    if not {"stiffness", "gap", "energy"} <= parameters.keys():
        return {}
    grazing = grazing_energy(parameters["stiffness"], parameters["gap"])
    return {"border of impacts, E = ke²/2": values(parameters["energy"]) - grazing}


def _at_contact(stiffness: ArrayLike, gap: ArrayLike, energy: ArrayLike) -> tuple[Values, Values]:
    """Speed over √(k/m), which is √(2E/k − e²), and position e, both at the stop [m].

    Below grazing, 0 and 1.
    """
    k, e, E = np.broadcast_arrays(values(stiffness), values(gap), values(energy))
    amplitude = np.sqrt(2 * E / k)
    across = np.sqrt(np.maximum((amplitude - e) * (amplitude + e), 0.0))
    return across, np.where(across > 0, e, 1.0)
