"""Histograms of equal bins, whose ends need not be known beforehand.

The width of the bins is a power of two and their edges are multiples of it: the smallest such width
at which N bins hold all values of the cell. So bins of a stretch of points lie inside those of all
points, and counts can be merged in any order.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.statistics.counts import by_row
from sweep.statistics.moments import Array, State, on_host

MANTISSA_BITS = 53
LARGEST = sys.float_info.max
# Values below 2^SMALL are taken 2^LIFT times as large: a part of a subnormal number may be 0.
SMALL, LIFT = -400, 500


@dataclass(frozen=True)
class EqualBins:
    """The number of finite values in each of `size` bins of each cell, and where those are."""

    size: int

    def of(self, xp: Any, values: Array, ok: Array, _first: int) -> State:
        """The state of some points of each cell; `values` and `ok` have shape (cells, points)."""
        finite = ok & xp.isfinite(values)
        low = by_row(xp, xp.where(finite, values, np.inf), lambda part: part.min(axis=1))
        high = by_row(xp, xp.where(finite, values, -np.inf), lambda part: part.max(axis=1))
        exponent = xp.asarray(self._exponent(on_host(low), on_host(high)))
        start = _place(xp, xp.where(low <= high, low, 0.0), exponent)
        places = _place(xp, xp.where(finite, values, 0.0), exponent[:, None]) - start[:, None]
        places = places + xp.arange(values.shape[0])[:, None] * self.size
        counts = xp.bincount(places[finite], minlength=values.shape[0] * self.size)
        counts = counts.reshape(-1, self.size)
        return {"low": low, "high": high, "exponent": exponent, "start": start, "counts": counts}

    def merged(self, one: State, other: State) -> State:
        """The state of two stretches of points together."""
        low, high = np.minimum(one["low"], other["low"]), np.maximum(one["high"], other["high"])
        exponent = self._exponent(low, high)
        start = _place(np, np.where(low <= high, low, 0.0), exponent)
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
            wide = _place(np, high, exponent) - _place(np, low, exponent) >= self.size
            if not wide.any():
                return np.where(has_values, exponent, -1074)
            exponent = exponent + wide


def _place(xp: Any, values: Array, exponent: Array) -> Array:
    """⌊value/2^exponent⌋; in two steps, because the power itself may be infinite."""
    half = exponent // 2
    scaled = xp.ldexp(xp.ldexp(values, -half), half - exponent)
    underflows = (values < 0) & (scaled == 0)
    return xp.floor(scaled).astype(np.int64) - underflows
