"""Values that are the same but for rounding, and the one of them that is nearest."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

ALIKE = 1e-9  # relative difference of values that are the same, but for rounding
PERIODS = {"phase": math.pi}  # energies repeat with them


def merged(column: Values, period: float | None = None) -> Values:
    """The column, values of one group made one: the least of them in size.

    A group is what rounding, or whole periods, tell apart. NaN stays.
    """
    found, place = np.unique(column, return_inverse=True)
    size = float(np.max(np.abs(found[np.isfinite(found)]), initial=0.0))
    folded = apart(found, 0.0, period)
    least = 0.0 if period is None else 8 * np.finfo(float).eps * max(size, period)
    if period is not None:  # the ends of a period are one
        folded = np.where(folded < least - 0.5 * period, 0.5 * period, folded)
    order = np.argsort(folded, kind="stable")
    with np.errstate(invalid="ignore"):
        same = np.diff(folded[order]) <= np.maximum(ALIKE * np.abs(folded[order][1:]), least)
    group = np.concatenate([np.zeros(min(found.size, 1), dtype=int), np.cumsum(~same)])
    by_size = order[np.lexsort((np.abs(found[order]), group))]
    first = np.flatnonzero(np.diff(group, prepend=-1))
    found[order] = found[by_size][first][group]
    return found[place.reshape(-1)]


def apart(column: Values, value: float, period: float | None = None) -> Values:
    """How far above the value the column is; at most half a period, if it has one."""
    away = column - value
    return away if period is None else away - period * np.round(away / period)


def nearest_of(column: Values, name: str, value: float) -> tuple[float, str]:
    """The value of a column that is nearest, and a sentence if the grid's is not near; or "".

    It is not near if it is off by more than half the gap to its neighbour, or, where the column has
    no other, by more than rounding.
    """
    period = PERIODS.get(name)
    known = np.unique(column[~np.isnan(column)])
    off = np.abs(apart(known, value, period))
    best, away = float(known[np.argmin(off)]), float(off.min())
    others = np.abs(apart(known[known != best], best, period))
    allowed = 0.5 * float(others.min()) if others.size else 0.0
    if away <= max(allowed, ALIKE * abs(value)):
        return best, ""
    return best, (
        f"--at {name}={value:g} is not among the points: taken are those of {best:.10g}, the "
        f"nearest of {known.size}, from {known[0]:.4g} to {known[-1]:.4g}"
    )
