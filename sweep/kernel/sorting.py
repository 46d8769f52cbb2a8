"""The order in which points are computed: alike ones side by side in a vector or a warp.

All lanes of a vector wait for the last of them, and every branch that one of them takes is computed
for all. Where neighbours differ, as in samples, points are sorted first. No bit depends on it. A
device sorts the points of a batch by its own array library.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.equations.derived import inputs, value_of
from sweep.kernel.device import Memory, Queue
from sweep.model.table import Method
from sweep.request.chunk import Column, Points

Order = NDArray[np.intp]

COMPARISONS = {"==": operator.eq, ">": operator.gt}
PREVIEW_POINTS = 2048  # points from which is judged whether neighbours differ
SORTED_AT_ONCE = 2**15  # points, of which a CPU has all parameters in memory; more gain nothing
MIN_TURN_SHARE = 0.2  # places where keys begin to rise or fall: two of three in random order
WARP = 32  # threads of a GPU that wait for each other
ORDER_BYTES = 8  # of a point, while it is computed
SORT_BYTES = 96  # of a point, while the order is made: rounded up from what CuPy takes
LEAST_SORT_BYTES = 1 << 14  # of a few points: each array of CuPy takes 512 bytes or more


@dataclass(frozen=True)
class Sorting:
    """By which of a method's conditions and costs points are sorted; there is at least one."""

    kinds: tuple[str, ...]
    cost: str  # or ""

    @property
    def names(self) -> list[str]:
        """The parameters that the order depends on."""
        named = [name for each in self.kinds for name in _names(each)]
        return list(dict.fromkeys([*named, *inputs(self.cost or "0")]))

    def order(self, values: Mapping[str, Any], n_points: int, xp: Any = np) -> Any:
        """The indices of the points by kind, and within a kind roughly by cost.

        `values` has `n_points` values of each of `names`, or one, as arrays of the library `xp`.
        """
        order = xp.arange(n_points)
        if self.cost:
            bits = value_of(self.cost, values, xp).view(np.uint64)
            rough = ((bits >> 42) + (1 << 15)).astype(np.uint16)  # ascending from 2⁻³¹ to 2³²
            order = xp.argsort(rough, kind="stable")
        if self.kinds:
            kind = _kind(self.kinds, values, n_points, xp)
            order = order[xp.argsort(kind[order], kind="stable")]
        return order

    def order_on_device(
        self, queue: Queue, uploaded: Mapping[str, Uploaded], first: int, count: int
    ) -> Memory:
        """The order of `count` points from `first` on, as int64; MemoryError if it does not fit."""
        order = queue.empty(ORDER_BYTES * count)
        # CuPy before 14.2 sorts wrongly if it gets no memory for that (its issue 9894). So what it
        # takes is allocated and freed here, and its pool has it then.
        queue.empty(max(SORT_BYTES * count, LEAST_SORT_BYTES))
        values = {name: uploaded[name].at(queue, first, count) for name in self.names}
        indices = self.order(values, count, queue.library)
        queue.array(order, count, np.int64)[:] = indices
        return order


def sorting(method: Method, points: Points) -> Sorting | None:
    """How points are sorted; None where neighbours are alike anyway, as the first points show.

    The items of a point have vectors or warps of their own, so that these points need no order.
    """
    if method.items:
        return None
    kinds = tuple(each for each in method.kinds if _varies(points, _names(each)))
    cost = next((each for each in method.cost if _varies(points, inputs(each))), "")
    if not (kinds or cost):
        return None
    criteria = Sorting(kinds, cost)
    n_first = min(points.n_points, PREVIEW_POINTS)
    values = _values_of(criteria.names, points, slice(0, n_first))
    if _differ(_kind(kinds, values, n_first)) or (cost and _differ(value_of(cost, values))):
        return criteria
    return None


def parts(method: Method, points: Points) -> Iterator[tuple[slice, Points, Order | None]]:
    """Parts of the points, each with its place and with its points sorted by kind and cost.

    The order is that of the sorted points within the part, or None where neighbours are alike
    anyway: then there is one part.
    """
    chosen = sorting(method, points)
    if chosen is None:
        yield slice(0, points.n_points), points, None
        return
    for first in range(0, points.n_points, SORTED_AT_ONCE):
        block = slice(first, min(first + SORTED_AT_ONCE, points.n_points))
        count = block.stop - block.start
        order = chosen.order(_values_of(chosen.names, points, block), count)
        columns = {
            name: column if len(column) == 1 else Column(_values(column, block)[order])
            for name, column in points.columns.items()
        }
        yield block, replace(points, n_points=count, columns=columns), order


@dataclass(frozen=True)
class Uploaded:
    """Values of a column in memory of the device."""

    column: Column
    memory: Memory
    place: int  # in the memory, of the first one
    start: int  # index in the column of the first one
    length: int  # number of values

    def at(self, queue: Queue, first: int, count: int) -> Any:
        """The values at `count` points from `first` on, or the one that all points share."""
        values = queue.array(self.memory, self.length, np.float64, 8 * self.place)
        repeat, n_values = self.column.repeat, len(self.column)
        if n_values == 1 or (repeat == 1 and (self.start, self.length) == (first, count)):
            return values
        at = queue.library.arange(first, first + count)
        return values[at // repeat % n_values - self.start]


def _varies(points: Points, names: Sequence[str]) -> bool:
    """Whether the points have these parameters, of which one has several values."""
    known = [points.columns[name] for name in names if name in points.columns]
    return len(known) == len(names) and any(len(column) > 1 for column in known)


def _names(condition: str) -> list[str]:
    left, _, right = condition.split()
    return [left] if right.isdecimal() else [left, right]


def _kind(conditions: Sequence[str], values: Mapping[str, Any], n_points: int, xp: Any = np) -> Any:
    """A number for each kind of point."""
    kind = xp.zeros(n_points, np.uint8)
    for condition in conditions:
        left, sign, right = condition.split()
        bound = int(right) if right.isdecimal() else values[right]
        kind = 2 * kind + COMPARISONS[sign](values[left], bound)
    return kind


def _differ(key: NDArray[Any]) -> bool:
    """Whether neighbours differ as in a sample, unlike along an axis."""
    rises = key[1:] > key[:-1]
    return int(np.count_nonzero(rises[1:] != rises[:-1])) > MIN_TURN_SHARE * len(key)


def _values_of(names: Sequence[str], points: Points, here: slice) -> dict[str, Any]:
    return {name: _values(points.columns[name], here) for name in names}


def _values(column: Column, here: slice) -> NDArray[np.float64]:
    """The values at adjacent points, or the one that all points share."""
    if len(column) == 1:
        return column.values
    if column.repeat == 1 and here.stop <= len(column):
        return column.source[here]
    return column.at(np.arange(here.start, here.stop, dtype=np.intp))
