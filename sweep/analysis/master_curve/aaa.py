"""Fits by AAA (Nakatsukasa, Sète, Trefethen 2018), with the degrees that a tolerance needs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sweep.analysis.master_curve.least_squares import Values, smallest_direction
from sweep.analysis.master_curve.rational import Barycentric, Rational, Target

NO_SCATTER = 1e-4  # rms scatter over the largest value, up to which AAA is used
MAX_TERMS = 30  # of AAA
Ends = tuple[float, float]  # of the range of t


def adaptive(target: Target, tolerance: float, ends: Ends | None = None) -> Barycentric | None:
    """Fit by AAA with the degrees that the tolerance needs, relative to the largest g.

    Points of equal t count by their mean. Terms are removed until there is no pole between the ends
    (by default those of the points). None for points that scatter by more than the tolerance, as
    the curve goes through some of them: then every other point does not predict the rest.
    """
    t, place = np.unique(target.t, return_inverse=True)
    g = np.bincount(place, target.g) / np.bincount(place)
    ends = ends or (float(t[0]), float(t[-1]))
    shown = np.arange(t.size) % 2 == 0
    shown[-1] = True
    if not any(
        not half.poles_within(*ends) and is_near(half, t[~shown], g[~shown], tolerance)
        for half in _approximants(t[shown], g[shown])
    ):
        return None
    without_poles: Barycentric | None = None
    for found in _approximants(t, g):
        if not found.poles_within(*ends):
            without_poles = found
        if np.max(np.abs(found(t) - g)) <= tolerance * np.max(g):
            break
    return without_poles


def is_near(found: Rational, t: Values, g: Values, tolerance: float) -> bool:
    """Whether a function is as near to values as AAA has to be."""
    off = (found(t) - g) / np.max(g)
    return float(np.sqrt(np.mean(off * off))) <= max(tolerance, NO_SCATTER)


def _approximants(t: Values, g: Values) -> Iterator[Barycentric]:
    """Functions of 1, 2 ... terms through more points.

    Each interpolates where the one before is farthest off; its weights minimise the linearised
    error at the other points.
    """
    used = np.zeros(t.size, dtype=bool)
    support: list[int] = []
    values = np.full(t.size, np.mean(g))
    for _ in range(min(MAX_TERMS, t.size // 2)):
        support.append(int(np.argmax(np.where(used, -1.0, np.abs(g - values)))))
        used[support[-1]] = True
        rest = ~used
        columns = np.stack([(g[rest] - g[k]) / (t[rest] - t[k]) for k in support])
        weights = smallest_direction(columns)
        found = Barycentric(
            tuple(t[support].tolist()), tuple(g[support].tolist()), tuple(weights.tolist())
        )
        yield found
        values = found(t)
