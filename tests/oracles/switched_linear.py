"""Motions that are linear between events: matrix exponentials, and roots by Brent's method.

The states end with what drives them, so that z' = A z: 1, cos and sin. An event is a row g with
g z = 0, looked for at many samples. It imports nothing of the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm
from scipy.optimize import brentq

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Crossing:
    """An event: in this mode, g z crosses zero in a direction, and the mode changes."""

    name: str
    mode: str
    row: Matrix
    direction: int
    then: str


@dataclass(frozen=True)
class Motion:
    """The last states, the names and times of events, and the time spent in each mode."""

    states: Matrix
    events: Sequence[tuple[str, float]]
    times: dict[str, float]
    square: float  # the integral of the square of the second state


def motion(
    matrices: dict[str, Matrix],
    crossings: Sequence[Crossing],
    mode: str,
    states: Matrix,
    end: float,
    sample: float,
) -> Motion:
    """The motion from t = 0 to the end; `sample` is shorter than half a time between events."""
    exponentials: dict[tuple[str, float], Matrix] = {}

    def moved(mode: str, time: float) -> Matrix:
        """The states after a time in a mode; most times recur."""
        if (mode, time) not in exponentials:
            exponentials[mode, time] = expm(matrices[mode] * time)
        return exponentials[mode, time] @ z

    t, z, square = 0.0, states, 0.0
    events: list[tuple[str, float]] = []
    times = dict.fromkeys(matrices, 0.0)
    nodes, weights = np.polynomial.legendre.leggauss(4)
    while t < end - 1e-15:
        step, happened = min(sample, end - t), None
        after, soon = moved(mode, step), moved(mode, 1e-9 * step)
        for each in (each for each in crossings if each.mode == mode):
            # An expression may begin at zero, where it has been in the event before.
            if each.row @ soon * each.direction < 0 <= each.row @ after * each.direction:
                root = _root(matrices[mode], z, each.row, step)
                if happened is None or root < happened[0]:
                    happened = root, each
        length = step if happened is None else happened[0]
        for x, weight in zip(nodes, weights, strict=True):
            inside = moved(mode, 0.5 * length * (1 + x))
            square += 0.5 * length * weight * inside[1] ** 2
        z, t = moved(mode, length), t + length
        times[mode] += length
        if happened is not None:
            mode = happened[1].then
            events.append((happened[1].name, t))
    return Motion(z, events, times, float(square))


def _root(matrix: Matrix, states: Matrix, row: Matrix, step: float) -> float:
    """When the row's expression is zero within a step, but not at its beginning."""

    def value(time: float) -> float:
        return float(row @ (expm(matrix * time) @ states))

    return float(brentq(value, 1e-9 * step, step, xtol=1e-18, rtol=1e-15))
