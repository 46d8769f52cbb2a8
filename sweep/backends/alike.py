"""The order in which points are computed: alike ones side by side in the lanes of a vector.

All lanes of a vector wait for the last of them, and every branch that one of them takes is computed
for all. Where neighbours differ, as in samples, points are sorted first. No bit depends on it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.equations.derived import inputs, value_of
from sweep.spec import Method
from sweep.work import Column, Points

Order = NDArray[np.intp]

COMPARISONS = {"==": operator.eq, ">": operator.gt}
LOOKED_AT = 2048  # points from which is judged whether neighbours differ
SORTED_AT_ONCE = 2**15  # points, of which all parameters are in memory; more gain nothing
FEWEST_TURNS = 0.2  # places where keys begin to rise or fall: two of three in random order


def parts(method: Method, points: Points) -> Iterator[tuple[slice, Points, Order | None]]:
    """Parts of the points, each with its place and with its points sorted by kind and cost.

    The order is that of the sorted points within the part, or None where neighbours are alike
    anyway: then there is one part.
    """
    kinds = [each for each in method.kinds if _varies(points, _names(each))]
    cost = next((each for each in method.cost if _varies(points, inputs(each))), "")
    some = np.arange(min(points.n_points, LOOKED_AT) if kinds or cost else 0)
    if not (_differ(_kind(kinds, points, some)) or _differ(_cost(cost, points, some))):
        yield slice(0, points.n_points), points, None
        return
    for first in range(0, points.n_points, SORTED_AT_ONCE):
        here = slice(first, min(first + SORTED_AT_ONCE, points.n_points))
        at = np.arange(here.start, here.stop)
        if cost:
            rough = _cost(cost, points, at).view(np.uint64) >> 47  # 32 steps in an octave
            at = at[np.argsort(rough.astype(np.uint16), kind="stable")]
        if kinds:
            at = at[np.argsort(_kind(kinds, points, at), kind="stable")]
        columns = {
            name: column if len(column.values) == 1 else Column(_values(column, at))
            for name, column in points.columns.items()
        }
        yield here, replace(points, n_points=len(at), columns=columns), at - first


def put_back(values: NDArray[Any], order: Order | None) -> None:
    """Undo the order in an array that was computed in it."""
    if order is not None:
        values[order] = values.copy()


def _varies(points: Points, names: Sequence[str]) -> bool:
    """Whether the points have these parameters, of which one has several values."""
    known = [points.columns[name] for name in names if name in points.columns]
    return len(known) == len(names) and any(len(column.values) > 1 for column in known)


def _names(condition: str) -> list[str]:
    left, _, right = condition.split()
    return [left] if right.isdecimal() else [left, right]


def _kind(conditions: Sequence[str], points: Points, at: Order) -> NDArray[np.uint8]:
    """A number for each kind of point."""
    found = np.zeros(len(at), np.uint8)
    for condition in conditions:
        left, sign, right = condition.split()
        bound = int(right) if right.isdecimal() else _values(points.columns[right], at)
        found = 2 * found + COMPARISONS[sign](_values(points.columns[left], at), bound)
    return found


def _cost(text: str, points: Points, at: Order) -> NDArray[np.float64]:
    values = {name: _values(points.columns[name], at) for name in inputs(text or "0")}
    return np.ascontiguousarray(np.broadcast_to(value_of(text or "0", values), len(at)))


def _differ(key: NDArray[Any]) -> bool:
    """Whether neighbours differ as in a sample, unlike along an axis."""
    rises = key[1:] > key[:-1]
    return int(np.count_nonzero(rises[1:] != rises[:-1])) > FEWEST_TURNS * len(key)


def _values(column: Column, at: Order) -> NDArray[np.float64]:
    if len(column.values) == 1:
        return np.broadcast_to(column.values[0], at.shape)
    if column.repeat > 1:
        at = at // column.repeat
    if at.max(initial=0) >= len(column.values):
        at = at % len(column.values)
    return column.values[at]
