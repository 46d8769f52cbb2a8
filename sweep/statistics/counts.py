"""Minima, maxima, numbers of points and histograms: what no order of the points can change.

The width of a histogram's bins is a power of two and their edges are multiples of it: the smallest
such width at which N bins hold all values of the cell. So their ends need not be known beforehand:
bins of adjacent points lie inside those of all points, and counts can be merged in any order.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.model.table import Status
from sweep.statistics.moments import Array, State

SHORT = 16  # points of rows that are turned, at most
STATUSES = tuple(status for status in Status if status is not Status.pending)
MANTISSA_BITS = 53
LARGEST = sys.float_info.max
# Values below 2^SMALL are taken 2^LIFT times as large: a part of a subnormal number may be 0.
SMALL, LIFT = -400, 500


def reduced_counts(numbers: NDArray[Any]) -> dict[Status, int]:
    """How many points have each status that occurs, from the numbers of cells, (..., statuses)."""
    total = numbers.reshape(-1, len(STATUSES)).sum(axis=0).tolist()
    return {status: n for status, n in zip(STATUSES, total, strict=True) if n}


@dataclass(frozen=True)
class Extremes:
    """Minimum and maximum of each cell; ±inf if it has no value."""

    def of(self, values: Array, ok: Array, _first: int) -> State:
        values, ok = _turned(values, ok)
        low = high = values
        if not bool(ok.all()):
            low, high = np.where(ok, values, np.inf), np.where(ok, values, -np.inf)
        return {
            "minimum": low.min(axis=1) + 0.0,
            "maximum": high.max(axis=1) + 0.0,
        }

    def merged(self, one: State, other: State) -> State:
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
        return {name: one[name] + other[name] for name in one}


@dataclass(frozen=True)
class Shares(Summed):
    """The numbers of values, of those above and of those below each threshold."""

    thresholds: tuple[float, ...] = ()

    def of(self, values: Array, ok: Array, _first: int) -> State:
        values, ok = _turned(values, ok)
        counts = {"number": _number(ok)[:, None]}
        if self.thresholds:
            sides = [(values > limit, values < limit) for limit in self.thresholds]
            for name, masks in zip(("above", "below"), zip(*sides, strict=True), strict=True):
                counts[name] = np.stack([_number(mask & ok) for mask in masks], axis=1)
        return counts

    def read(self, state: State) -> State:
        """share_above and share_below of each threshold, (cells, thresholds)."""
        sides = state.keys() - {"number"}
        return {f"share_{side}": _share(state[side], state["number"]) for side in sides}


@dataclass(frozen=True)
class Classes(Summed):
    """The number of points in each class of a flag."""

    size: int

    def of(self, values: Array, ok: Array, _first: int) -> State:
        return {"classes": _occurrences(values, ok, range(self.size))}

    def read(self, state: State) -> State:
        """The share of each class, (cells, classes)."""
        return {"share": _share(state["classes"], state["classes"].sum(axis=1, keepdims=True))}


def by_status(status: Array) -> Array:
    """The number of points by status, (cells, statuses), from the status of points of each cell."""
    if not bool(status.any()):  # the usual case, and counting is slow
        counts = np.zeros((status.shape[0], len(STATUSES)), np.int64)
        counts[:, 0] = status.shape[1]
        return counts
    return _occurrences(status, status == status, list(map(int, STATUSES)))


def _share(counts: NDArray[np.int64], number: NDArray[np.int64]) -> NDArray[np.float64]:
    """Counts (cells, n) as shares of a number (cells, 1); NaN of none."""
    return counts / np.where(number > 0, number, np.nan)


def _turned(*arrays: Array) -> tuple[Array, ...]:
    """Arrays of short rows in Fortran's order: NumPy reduces such rows several times as fast."""
    return tuple(map(np.asfortranarray, arrays)) if arrays[0].shape[1] <= SHORT else arrays


def _number(mask: Array) -> Array:
    """How many are set in each row; sums of truth values would take three times as long."""
    if len(mask) == 1:
        return np.array([np.count_nonzero(mask)])
    return mask.view(np.uint8).sum(axis=1, dtype=np.uint32).astype(np.int64)


def _occurrences(codes: Array, ok: Array, known: Any) -> Array:
    """How often each code occurs in each cell: (cells, codes)."""
    codes, ok = _turned(codes, ok)
    return np.stack([_number((codes == code) & ok) for code in known], axis=1)


@dataclass(frozen=True)
class EqualBins:
    """The number of finite values in each of `size` bins of each cell, and where those are."""

    size: int

    def of(self, values: Array, ok: Array, _first: int) -> State:
        finite = ok & np.isfinite(values)
        low = np.where(finite, values, np.inf).min(axis=1) + 0.0
        high = np.where(finite, values, -np.inf).max(axis=1) + 0.0
        exponent, start = self.places(low, high)
        places: Array = _place(np.where(finite, values, 0.0), exponent[:, None]) - start[:, None]
        places += np.arange(0, len(values) * self.size, self.size)[:, None]
        counts = np.bincount(places[finite], minlength=values.shape[0] * self.size)
        counts = counts.reshape(-1, self.size)
        return {"low": low, "high": high, "exponent": exponent, "start": start, "counts": counts}

    def merged(self, one: State, other: State) -> State:
        low, high = np.minimum(one["low"], other["low"]), np.maximum(one["high"], other["high"])
        exponent, start = self.places(low, high)
        counts = np.zeros_like(one["counts"])
        for each in (one, other):
            coarser = np.minimum(exponent - each["exponent"], 63)[:, None]
            places = (each["start"][:, None] + np.arange(self.size)) >> coarser
            cells, bins = np.nonzero(each["counts"])
            own = places[cells, bins] - start[cells]
            np.add.at(counts, (cells, own), each["counts"][cells, bins])
        return {"low": low, "high": high, "exponent": exponent, "start": start, "counts": counts}

    def read(self, state: State) -> dict[str, NDArray[Any]]:
        """Each cell's histogram, (cells, size), the start of its first bin, and the bin width."""
        empty = state["low"] > state["high"]
        edges = {
            "histogram_start": state["start"].astype(np.float64),
            "histogram_width": np.ones(len(empty)),
        }
        with np.errstate(over="ignore"):  # 2^1024, in whose place the largest double stands
            for name, multiples in edges.items():
                edge = np.ldexp(multiples, state["exponent"]).clip(-LARGEST, LARGEST)
                edges[name] = np.where(empty, np.nan, edge)
        return {"histogram": state["counts"], **edges}

    def places(
        self, low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The exponent of a bin's width, and the place of the first bin in multiples of it."""
        exponent = self._exponent(low, high)
        return exponent, _place(np.where(low <= high, low, 0.0), exponent)

    def _exponent(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.int64]:
        """The smallest binary exponent of a bin's width with which the values fit into the bins.

        It is large enough for the number of a bin to be exact as a double.
        """
        has_values = low <= high
        low, high = np.where(has_values, low, 0.0), np.where(has_values, high, 0.0)
        _, size = np.frexp(np.maximum(np.abs(low), np.abs(high)))
        least = np.maximum(size.astype(np.int64) - MANTISSA_BITS, -1074)
        lift = np.where(size < SMALL, LIFT, 0)
        above, below = (np.ldexp(each, lift) / self.size / 2 for each in (high, low))
        _, size = np.frexp(above - below)
        exponent = np.where(low < high, np.maximum(least, size.astype(np.int64) - 1 - lift), least)
        while True:
            wide = _place(high, exponent) - _place(low, exponent) >= self.size
            if not wide.any():
                return np.where(has_values, exponent, -1074)
            exponent = exponent + wide


def _place(values: Array, exponent: Array) -> Array:
    """⌊value/2^exponent⌋; in two steps, because the power itself may be infinite."""
    half = exponent // 2
    scaled = np.ldexp(np.ldexp(values, -half), half - exponent)
    underflows = (values < 0) & (scaled == 0)
    return np.floor(scaled).astype(np.int64) - underflows
