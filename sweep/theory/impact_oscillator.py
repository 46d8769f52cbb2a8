"""Closed forms of the mass that strikes an elastic stop: frequency and energy of its free motion.

    m ü + k u = −K max(u − e, 0),   E = ½ m u̇² + ½ k u² + ½ K max(u − e, 0)²

Below the grazing energy k e²/2 the motion never meets the stop and has the linear frequency; above
it the frequency rises with the energy, towards a limit. All functions take numbers or arrays that
broadcast together, in SI units, and return float64 of the broadcast shape.

Source: Code_Aster SDND122, its contact time corrected. Accuracies against 50-digit arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]  # of the broadcast shape

BISECTIONS = 60  # of the angle at the stop, an interval of π/2: down to rounding


def grazing_energy(stiffness: ArrayLike, gap: ArrayLike) -> Values:
    """Energy [J] at which the motion just reaches the stop, k e²/2."""
    return _float(stiffness) * _float(gap) ** 2 / 2


def linear_frequency(mass: ArrayLike, stiffness: ArrayLike) -> Values:
    """Frequency [Hz] below the grazing energy, √(k/m)/2π."""
    return np.sqrt(_float(stiffness) / _float(mass)) / (2 * np.pi)


def frequency_limit(mass: ArrayLike, stiffness: ArrayLike, wall_stiffness: ArrayLike) -> Values:
    """Frequency [Hz] that high energies tend to, and that of every energy where the gap is 0.

    Half a period is that of k, half that of k + K: 2ρ/(1 + ρ) times the linear one, with
    ρ² = 1 + K/k; twice it for a rigid stop.
    """
    ratio = np.sqrt(1 + _float(wall_stiffness) / _float(stiffness))
    return linear_frequency(mass, stiffness) * 2 / (1 / ratio + 1)


def free_time(mass: ArrayLike, stiffness: ArrayLike, gap: ArrayLike, energy: ArrayLike) -> Values:
    """T1 [s]: how long the body is off the stop, of a period; all of it below grazing.

    2√(m/k) arccos(−e√(k/2E)), with the arccosine taken as an arctangent that does not lose digits
    where the motion barely touches.
    """
    across, along = _at_contact(stiffness, gap, energy)
    return 2 * np.sqrt(_float(mass) / _float(stiffness)) * (np.pi - np.arctan2(across, along))


def contact_time(
    mass: ArrayLike,
    stiffness: ArrayLike,
    wall_stiffness: ArrayLike,
    gap: ArrayLike,
    energy: ArrayLike,
) -> Values:
    """T2 [s]: how long the body is at the stop, of a period; 0 below grazing.

    2√(m/(K+k)) arccos(e k/√(2E(K+k) − k K e²)), likewise as an arctangent.
    """
    across, along = _at_contact(stiffness, gap, energy)
    ratio = np.sqrt(1 + _float(wall_stiffness) / _float(stiffness))
    own = np.sqrt(_float(mass) / (_float(stiffness) + _float(wall_stiffness)))
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
    """Frequency [Hz] as SDND122 prints it, for comparison only: its T2 is wrong.

    It has √(2E(K+k)) in place of √(2E(K+k) − k K e²), which makes the contact too long: by 6e-4 of
    the frequency at its own energies, and by ever more towards grazing, where it jumps.
    """
    m, k, K = _float(mass), _float(stiffness), _float(wall_stiffness)
    e, E = _float(gap), _float(energy)
    touching = grazing_energy(k, e) < E
    ratio = np.where(touching, e * k / np.sqrt(2 * E * (K + k)), 1.0)
    wrong = 2 * np.sqrt(m / (K + k)) * np.arccos(ratio)
    return 1 / (free_time(m, k, e, E) + np.where(touching, wrong, 0.0))


def energy_at(
    mass: ArrayLike,
    stiffness: ArrayLike,
    wall_stiffness: ArrayLike,
    gap: ArrayLike,
    frequency: ArrayLike,
) -> Values:
    """Energy [J] of the motion that has a given frequency [Hz].

    NaN where none or no single one has: at or below the linear frequency, at or above the limit,
    without a gap or a stop. The period, as a function of the angle at which the stop is met, is
    monotone, and is bisected.
    """
    arguments = (mass, stiffness, wall_stiffness, gap, frequency)
    m, k, K, e, f = np.broadcast_arrays(*map(_float, arguments))
    ratio = np.sqrt(1 + K / k)
    wanted = np.pi * (1 - linear_frequency(m, k) / np.where(f > 0, f, np.nan))
    low, high = np.zeros(f.shape), np.full(f.shape, np.pi / 2)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        gained = middle - np.arctan2(ratio * np.sin(middle), np.cos(middle)) / ratio
        low, high = np.where(gained < wanted, middle, low), np.where(gained < wanted, high, middle)
    # tan² of the angle is the excess over grazing: E = ½ k e² (1 + tan²).
    found = grazing_energy(k, e) / np.cos((low + high) / 2) ** 2
    single = (wanted > 0) & (f < frequency_limit(m, k, K)) & (e > 0) & (K > 0)
    return np.where(single, found, np.nan)


def extremes(
    stiffness: ArrayLike, wall_stiffness: ArrayLike, gap: ArrayLike, energy: ArrayLike
) -> tuple[Values, Values]:
    """Least and greatest displacement [m]; without a spring −inf, and e + √(2E/K)."""
    k, K, e, E = np.broadcast_arrays(*map(_float, (stiffness, wall_stiffness, gap, energy)))
    with np.errstate(divide="ignore", invalid="ignore"):
        across, along = _at_contact(k, e, E)
        amplitude, ratio = np.sqrt(2 * E / k), np.sqrt(1 + K / k)
        reach = along + np.hypot(along, ratio * across)
        depth = across**2 / np.where(reach == 0, 1.0, reach)
        depth = np.where(np.isposinf(across), np.sqrt(2 * E / (k + K)), depth)
    return -amplitude, np.where(across == 0, amplitude, e + depth)


def boundaries(parameters: Mapping[str, ArrayLike]) -> dict[str, Values]:
    """The border of motion that touches the stop: by label, a number that changes its sign there.

    `parameters` are the model's, by name, broadcasting together. Empty unless stiffness, gap and
    energy are among them.
    """
    if not {"stiffness", "gap", "energy"} <= parameters.keys():
        return {}
    grazing = grazing_energy(parameters["stiffness"], parameters["gap"])
    return {"E = ke²/2": _float(parameters["energy"]) - grazing}


def _float(value: ArrayLike) -> Values:
    return np.asarray(value, dtype=np.float64)


def _at_contact(stiffness: ArrayLike, gap: ArrayLike, energy: ArrayLike) -> tuple[Values, Values]:
    """√(2E/k − e²), 0 below grazing, and e [m]: speed over √(k/m), and place, at the stop."""
    k, e, E = np.broadcast_arrays(_float(stiffness), _float(gap), _float(energy))
    amplitude = np.sqrt(2 * E / k)
    across = np.sqrt(np.maximum((amplitude - e) * (amplitude + e), 0.0))
    return across, np.where(across > 0, e, 1.0)
