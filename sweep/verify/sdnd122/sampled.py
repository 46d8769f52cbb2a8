"""Newmark's monodromy matrix with the stiffness sampled at the points, as CALC_STABILITE takes it.

Average acceleration over the exact period. It shares nothing with the kernels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sweep.theory import impact_oscillator as theory

Values = NDArray[np.float64]


def multipliers(system: dict[str, float], energies: Values, points: int) -> Values:
    """The greatest multiplier's size for each energy (J), with the stiffness at the points."""
    free = theory.free_time(system["mass"], system["stiffness"], system["gap"], energies)
    pressed = theory.contact_time(**system, energy=energies)
    period = free + pressed
    step = period / points
    quarter = step * step / 4

    def stiffness(point: int) -> Values:
        apart = step * min(point, points - point)  # from the middle of the nearest contact
        wall = np.where(apart < pressed / 2, system["wall_stiffness"], 0.0)
        return (system["stiffness"] + wall) / system["mass"]

    place = np.stack([np.ones_like(period), np.zeros_like(period)])  # of two disturbances
    speed = np.stack([np.zeros_like(period), np.ones_like(period)])
    push = -stiffness(0) * place
    for point in range(1, points + 1):
        own = stiffness(point)
        predicted = place + step * speed + quarter * push
        then = -own / (1 + quarter * own) * predicted
        speed = speed + step / 2 * (push + then)
        place, push = predicted + quarter * then, then
    half = np.abs(place[0] + speed[1]) / 2
    return np.maximum(half, 1.0) + np.sqrt(np.maximum(half * half - 1, 0.0))
