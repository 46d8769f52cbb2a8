"""Counts of the values' leading bits, from which quantiles are read.

A bin is an interval of doubles with equal sign, exponent and first 7 bits of the mantissa. The
middle of the bin differs from each value in it by at most 2^-8 of that value. Subnormal values,
which have fewer bits, have the bins of values 2^600 times as large. Counts do not depend on any
order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.statistics.moments import Array, State

SHIFT = 64 - 1 - 11 - 7  # bits of a double that a bin ignores
BINS_PER_VALUE = 4  # values are counted in a table unless it is much longer than they are
FEW = 128  # values of a cell, which are sorted sooner than those of all cells are compared
MAGNITUDE = np.int64(2**63 - 1)
FIRST_NORMAL = 2**7  # the bin of 2^-1022
LIFT = 2.0**600
# Added to the bins of lifted values, or subtracted from negative ones: no other bin has such a
# number. Divided by STEPS, they come between 0 and FIRST_NORMAL.
SUBNORMAL, STEPS = 2**19, 2**10


@dataclass(frozen=True)
class LeadingBits:
    """The number of values of each cell in each bin that has any: cells, bins, counts."""

    def of(self, xp: Any, values: Array, ok: Array, _first: int) -> State:
        """The state of some points of each cell; `values` and `ok` have shape (cells, points)."""
        bins, (cells, size) = leading(values), values.shape
        least = bins.min().item()
        with_zeros = least == 0
        if with_zeros:  # the bins between 0 and the next one are left out
            least = _least_above_zero(bins) - 1
        bins -= least
        if with_zeros:
            bins = xp.maximum(bins, 0)
        kept, span = None, bins.max().item() + 1
        if cells > 1 and span > BINS_PER_VALUE * size and size > FEW:
            (kept,) = xp.nonzero(xp.bincount(bins.ravel()) != 0)  # the bins that any cell has
            numbers = xp.empty(span, np.int64)
            numbers[kept] = xp.arange(kept.size)
            bins, span = numbers[bins], kept.size
        if cells > 1:
            bins += xp.arange(cells)[:, None] * span
        if cells == 1 or span <= BINS_PER_VALUE * size:
            counts = xp.bincount(bins.ravel() if bool(ok.all()) else bins[ok], minlength=1)
            (occupied,) = xp.nonzero(counts != 0)  # several times as fast as nonzero(counts)
            counts = counts[occupied]
        else:
            occupied, counts = _occurrences(xp, bins if bool(ok.all()) else xp.where(ok, bins, -1))
        own = occupied % span
        own = own if kept is None else kept[own]
        bins = xp.where(own > 0, own + least, 0) if with_zeros else own + least
        return {"cells": occupied // span, "bins": bins, "counts": counts}

    def merged(self, one: State, other: State) -> State:
        """The state of two stretches of points together."""
        names = ("cells", "bins", "counts")
        return summed(np, *(np.concatenate([one[name], other[name]]) for name in names))

    def read(self, _: State) -> State:
        """Nothing: `Kept.brackets` finds the bins that hold the quantiles."""
        return {}


def summed(xp: Any, cells: Array, bins: Array, counts: Array) -> State:
    """The counts in order of cells and bins, those of the same bin of a cell added."""
    order = xp.lexsort(xp.stack([bins, cells]))
    cells, bins, counts = cells[order], bins[order], counts[order]
    first, end = _runs(xp, len(cells), (cells[1:] != cells[:-1]) | (bins[1:] != bins[:-1]))
    totals = xp.cumsum(counts)
    return {
        "cells": cells[first],
        "bins": bins[first],
        "counts": totals[end - 1] - totals[first] + counts[first],
    }


def _least_above_zero(bins: Array) -> int:
    """The lowest nonzero bin of nonnegative bins; 1 if there is none."""
    least = (bins.view(np.uint64) - np.uint64(1)).min().item() + 1  # 0 - 1 is the greatest number
    return int(least) if least < 2**63 else 1


def _occurrences(xp: Any, rows: Array) -> tuple[Array, Array]:
    """The numbers from 0 on in rows, each of which exceeds those of earlier rows, and how many."""
    numbers = xp.sort(rows, axis=1).ravel()
    numbers = numbers[numbers >= 0]
    first, end = _runs(xp, len(numbers), numbers[1:] != numbers[:-1])
    return numbers[first], end - first


def _runs(xp: Any, size: int, differ: Array) -> tuple[Array, Array]:
    """Where runs of equal neighbours begin and end, as indices: faster than truth values."""
    edges = xp.ones(size + 1, np.bool_)
    edges[1:-1] = differ
    (at,) = xp.nonzero(edges)
    return at[:-1], at[1:]


def leading(values: Array) -> Array:
    """The bin of each value."""
    bins = ordered(values, SHIFT)
    if not bins.size or bins.min().item() >= FIRST_NORMAL:
        return bins
    is_small = (bins < FIRST_NORMAL) & (bins >= -FIRST_NORMAL) & (values != 0)
    if bool(is_small.any()):
        small = values[is_small]
        bins[is_small] = ordered(small * LIFT, SHIFT) + SUBNORMAL * (1 - 2 * (small < 0))
    return bins


def order_of(bins: NDArray[np.int64]) -> NDArray[np.float64]:
    """Numbers in the order of the values in bins of SHIFT."""
    is_lifted = abs(bins) >= SUBNORMAL
    return np.where(is_lifted, _without_mark(bins) / STEPS, bins)


def _without_mark(bins: NDArray[np.int64]) -> NDArray[np.int64]:
    return bins - SUBNORMAL * np.sign(bins)


def middle(bins: NDArray[np.int64], shift: int) -> NDArray[np.float64]:
    """The value in the middle of each bin; 0 for the two next to 0."""
    if shift == SHIFT and (is_lifted := abs(bins) >= SUBNORMAL).any():
        lifted = middle(np.where(is_lifted, _without_mark(bins), 0), shift)
        return np.where(is_lifted, lifted / LIFT, middle(np.where(is_lifted, 0, bins), shift))
    if shift == 0:
        return doubles(bins)
    low, high = doubles(bins << shift), doubles(((bins + 1) << shift) - 1)
    with np.errstate(invalid="ignore"):
        middles = low / 2 + high / 2
    middles = np.where((bins == 0) | (bins == -1), 0.0, middles)
    infinite = np.copysign(np.inf, np.where(np.isnan(low), high, low))
    return np.where(np.isfinite(middles), middles, infinite)


def ordered(values: Array, shift: int) -> Array:
    """Whole numbers in the order of the values, without the last bits."""
    bits = (values + 0.0).view(np.int64)
    if bool((values < 0).any()):
        bits ^= (bits >> 63) & MAGNITUDE
    bits >>= shift
    return bits


def doubles(ordered: NDArray[np.int64]) -> NDArray[np.float64]:
    """The values that have these numbers in order."""
    return (ordered ^ ((ordered >> 63) & MAGNITUDE)).view(np.float64)
