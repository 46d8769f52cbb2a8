"""Minima, maxima and numbers of points: what no order of the points can change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.spec import Status
from sweep.statistics.moments import Array, State

SHORT = 16  # points of rows that are turned, at most
PIECE = 2**12  # points of a row that a device reduces at once

STATUSES = tuple(status for status in Status if status is not Status.pending)


def reduced_counts(numbers: NDArray[Any]) -> dict[Status, int]:
    """How many points have each status that occurs, from the numbers of cells, (..., statuses)."""
    total = numbers.reshape(-1, len(STATUSES)).sum(axis=0).tolist()
    return {status: n for status, n in zip(STATUSES, total, strict=True) if n}


@dataclass(frozen=True)
class Extremes:
    """Minimum and maximum of each cell; ±inf if it has no value."""

    def of(self, xp: Any, values: Array, ok: Array, _first: int) -> State:
        """The state of some points of each cell; `values` and `ok` have shape (cells, points)."""
        values, ok = _turned(xp, values, ok)
        low = high = values
        if not bool(ok.all()):
            low, high = xp.where(ok, values, np.inf), xp.where(ok, values, -np.inf)
        return {
            "minimum": by_row(xp, low, lambda part: part.min(axis=1)) + 0.0,
            "maximum": by_row(xp, high, lambda part: part.max(axis=1)) + 0.0,
        }

    def merged(self, one: State, other: State) -> State:
        """The state of two stretches of points together."""
        return {
            "minimum": np.minimum(one["minimum"], other["minimum"]),
            "maximum": np.maximum(one["maximum"], other["maximum"]),
        }

    def read(self, state: State) -> State:
        """minimum and maximum of each cell; NaN if it has no value."""
        is_empty = state["minimum"] > state["maximum"]
        return {name: np.where(is_empty, np.nan, values) for name, values in state.items()}


class Summed:
    """Numbers of points, which are added."""

    def merged(self, one: State, other: State) -> State:
        """The state of two stretches of points together."""
        return {name: one[name] + other[name] for name in one}


@dataclass(frozen=True)
class Shares(Summed):
    """The numbers of values, of those above and of those below each threshold."""

    thresholds: tuple[float, ...] = ()

    def of(self, xp: Any, values: Array, ok: Array, _first: int) -> State:
        """The state of some points of each cell; `values` and `ok` have shape (cells, points)."""
        values, ok = _turned(xp, values, ok)
        counts = {"number": _number(xp, ok)[:, None]}
        if self.thresholds:
            sides = [(values > limit, values < limit) for limit in self.thresholds]
            for name, masks in zip(("above", "below"), zip(*sides, strict=True), strict=True):
                counts[name] = xp.stack([_number(xp, mask & ok) for mask in masks], axis=1)
        return counts

    def read(self, state: State) -> State:
        """share_above and share_below of each threshold, (cells, thresholds)."""
        sides = state.keys() - {"number"}
        return {f"share_{side}": _share(state[side], state["number"]) for side in sides}


@dataclass(frozen=True)
class Classes(Summed):
    """The number of points in each class of a flag."""

    size: int

    def of(self, xp: Any, values: Array, ok: Array, _first: int) -> State:
        """The state of some points of each cell; `values` and `ok` have shape (cells, points)."""
        return {"classes": _occurrences(xp, values, ok, range(self.size))}

    def read(self, state: State) -> State:
        """The share of each class, (cells, classes)."""
        return {"share": _share(state["classes"], state["classes"].sum(axis=1, keepdims=True))}


def by_status(xp: Any, status: Array) -> Array:
    """The number of points by status, (cells, statuses), from the status of points of each cell."""
    if not bool(status.any()):  # the usual case, and counting is slow
        counts = xp.zeros((status.shape[0], len(STATUSES)), np.int64)
        counts[:, 0] = status.shape[1]
        return counts
    return _occurrences(xp, status, status == status, list(map(int, STATUSES)))


def _share(counts: NDArray[np.int64], number: NDArray[np.int64]) -> NDArray[np.float64]:
    """Counts (cells, n) as shares of a number (cells, 1); NaN of none."""
    return counts / np.where(number > 0, number, np.nan)


def status_of(counts: NDArray[np.int64]) -> NDArray[np.uint8]:
    """ok for cells with a point that is ok, otherwise the most frequent status of their points."""
    codes = np.array(STATUSES, np.uint8)
    return np.where(counts[:, 0] > 0, np.uint8(Status.ok), codes[counts.argmax(axis=1)])


def _turned(xp: Any, *arrays: Array) -> tuple[Array, ...]:
    """Arrays of short rows in Fortran's order: NumPy reduces such rows several times as fast."""
    return tuple(map(xp.asfortranarray, arrays)) if arrays[0].shape[1] <= SHORT else arrays


def by_row(xp: Any, array: Array, reduced: Callable[[Array], Array]) -> Array:
    """Each row of an array reduced, by a function for which order and grouping do not matter.

    A device reduces each row by one of its multiprocessors, so that long rows are cut first.
    """
    rows, columns = array.shape
    whole = columns // PIECE * PIECE
    if xp is np or whole < columns / 2:
        return reduced(array)
    pieces = reduced(array[:, :whole].reshape(-1, PIECE)).reshape(rows, -1)
    return reduced(xp.concatenate([pieces, array[:, whole:].astype(pieces.dtype)], axis=1))


def _number(xp: Any, mask: Array) -> Array:
    """How many are set in each row; sums of truth values would take three times as long."""
    if len(mask) == 1:
        return xp.asarray(xp.count_nonzero(mask)).reshape(1)
    bits = mask.view(np.uint8)
    return by_row(xp, bits, lambda part: part.sum(axis=1, dtype=np.uint32)).astype(np.int64)


def _occurrences(xp: Any, codes: Array, ok: Array, known: Any) -> Array:
    """How often each code occurs in each cell: (cells, codes)."""
    codes, ok = _turned(xp, codes, ok)
    return xp.stack([_number(xp, (codes == code) & ok) for code in known], axis=1)
