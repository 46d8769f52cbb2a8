"""Counts of the values' leading bits, from which quantiles are read.

A bin is an interval of doubles with equal sign, exponent and first 7 bits of the mantissa. The
middle of the bin differs from each value in it by at most 2^-8 of that value, except for values
below 2^-1022, which count as 0. Counts do not depend on any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.statistics.moments import Array, State

SHIFT = 64 - 1 - 11 - 7  # bits of a double that a bin ignores
BINS_PER_VALUE = 4  # counts are kept in a table as long as it is not much longer than the values
MIN_TABLE = 2**20
MAGNITUDE = np.int64(2**63 - 1)


@dataclass(frozen=True)
class LeadingBits:
    """The number of values of each cell in each bin that has any: cells, bins, counts."""

    def of(self, xp: Any, values: Array, ok: Array, _first: int) -> State:
        """Of points: (cells, points)."""
        bins = ordered(values, SHIFT)
        cells = xp.arange(values.shape[0])[:, None]
        least, most = bins.min().item(), bins.max().item()
        span = most - least + 1
        size = span * values.shape[0]
        if size > max(MIN_TABLE, BINS_PER_VALUE * values.size):
            kept, which = xp.unique(bins, return_inverse=True)
            span, size = kept.size, kept.size * values.shape[0]
            places = cells * span + which.reshape(bins.shape)
        else:
            kept = None
            places = cells * span + (bins - least)
        places = places.ravel() if bool(ok.all()) else places[ok]
        counts = xp.bincount(places, minlength=1)
        (found,) = xp.nonzero(counts)
        own = found % span
        return {
            "cells": found // span,
            "bins": own + least if kept is None else kept[own],
            "counts": counts[found],
        }

    def merged(self, one: State, other: State) -> State:
        """Of two stretches of points."""
        names = ("cells", "bins", "counts")
        return summed(np, *(np.concatenate([one[name], other[name]]) for name in names))


def summed(xp: Any, cells: Array, bins: Array, counts: Array) -> State:
    """The counts in order of cells and bins, those of the same bin of a cell added."""
    order = xp.lexsort(xp.stack([bins, cells]))
    cells, bins, counts = cells[order], bins[order], counts[order]
    edges = xp.ones(len(cells) + 1, np.bool_)
    edges[1:-1] = (cells[1:] != cells[:-1]) | (bins[1:] != bins[:-1])
    first, last = edges[:-1], edges[1:]
    totals = xp.cumsum(counts)
    return {
        "cells": cells[first],
        "bins": bins[first],
        "counts": totals[last] - totals[first] + counts[first],
    }


def middle(bins: NDArray[np.int64], shift: int) -> NDArray[np.float64]:
    """The value in the middle of each bin; 0 for the two next to 0."""
    if shift == 0:
        return _doubles(bins)
    low, high = _doubles(bins << shift), _doubles(((bins + 1) << shift) - 1)
    with np.errstate(invalid="ignore"):
        found = low / 2 + high / 2
    found = np.where((bins == 0) | (bins == -1), 0.0, found)
    infinite = np.copysign(np.inf, np.where(np.isnan(low), high, low))
    return np.where(np.isfinite(found), found, infinite)


def ordered(values: Array, shift: int) -> Array:
    """Whole numbers in the order of the values, without the last bits."""
    bits = (values + 0.0).view(np.int64)
    if bool((values < 0).any()):
        bits ^= (bits >> 63) & MAGNITUDE
    bits >>= shift
    return bits


def _doubles(ordered: NDArray[np.int64]) -> NDArray[np.float64]:
    return (ordered ^ ((ordered >> 63) & MAGNITUDE)).view(np.float64)
