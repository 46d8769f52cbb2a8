"""Newmark's monodromy matrix with the stiffness sampled at the points, as in CALC_STABILITE.

Average acceleration over the exact period. It shares no code with the kernels.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from sweep.theory import impact_oscillator as theory
from sweep.work import Values


def multipliers(system: Mapping[str, float], energies: ArrayLike, points: int) -> Values:
    """The modulus of the greatest multiplier at each energy (J)."""
    free = theory.free_time(system["mass"], system["stiffness"], system["gap"], energies)
    contact = theory.contact_time(**system, energy=energies)
    period = free + contact
    step = period / points
    quarter = step * step / 4

    def stiffness(point: int) -> Values:
        from_middle = step * min(point, points - point)  # of the nearest contact
        wall = np.where(from_middle < contact / 2, system["wall_stiffness"], 0.0)
        return (system["stiffness"] + wall) / system["mass"]

    position = np.stack([np.ones_like(period), np.zeros_like(period)])  # of two disturbances
    velocity = np.stack([np.zeros_like(period), np.ones_like(period)])
    acceleration = -stiffness(0) * position
    for point in range(1, points + 1):
        rate = stiffness(point)
        predicted = position + step * velocity + quarter * acceleration
        following = -rate / (1 + quarter * rate) * predicted
        velocity = velocity + step / 2 * (acceleration + following)
        position, acceleration = predicted + quarter * following, following
    half = np.abs(position[0] + velocity[1]) / 2  # half the trace
    return np.maximum(half, 1.0) + np.sqrt(np.maximum(half * half - 1, 0.0))
