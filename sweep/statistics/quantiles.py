"""Quantiles: the ⌈qn⌉-th smallest of n values, within a bin or exactly.

A bin is an interval of doubles with equal sign, exponent and first bits of the mantissa: by default
7, so that its middle differs from each value in it by at most 2^-8 of that value. Subnormal values,
which have fewer bits, have the bins of values 2^600 times as large. Counts of values in bins do not
depend on any order. Exact quantiles follow from all values of a cell, sorted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sweep.statistics.moments import Array, State

QUANTILE_BITS = 8  # bins are as wide as 2^-7 of a value, unless other bits are given
BINS_PER_VALUE = 4  # values are counted in a table unless it is much longer than they are
FEW = 128  # values of a cell, which are sorted sooner than those of all cells are compared
MAGNITUDE = np.int64(2**63 - 1)
SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
LIFT = 2.0**600


@dataclass(frozen=True)
class LeadingBits:
    """The number of values of each cell in each bin that has any: cells, bins, counts.

    The middle of a bin differs from each value in it by at most 2^-bits of that value.
    """

    levels: tuple[float, ...]  # of the quantiles, in (0, 1]
    bits: int = QUANTILE_BITS

    def of(self, values: Array, ok: Array, _first: int) -> State:
        bins: Array = leading(values, self.bits)
        cells, size = values.shape
        least = int(bins.min())
        with_zeros = least == 0
        if with_zeros:  # the bins between 0 and the next one are left out
            least = _least_above_zero(bins) - 1
        bins -= least
        if with_zeros:
            bins = np.maximum(bins, 0)
        kept, span = None, int(bins.max()) + 1
        if cells > 1 and span > BINS_PER_VALUE * size and size > FEW:
            (kept,) = np.nonzero(np.bincount(bins.ravel()) != 0)  # the bins that any cell has
            numbers = np.empty(span, np.int64)
            numbers[kept] = np.arange(kept.size)
            bins, span = numbers[bins], int(kept.size)
        if cells > 1:
            starts = np.arange(cells, dtype=np.int64) * span
            bins += starts[:, None]
        if cells == 1 or span <= BINS_PER_VALUE * size:
            counts = np.bincount(bins.ravel() if bool(ok.all()) else bins[ok], minlength=1)
            (occupied,) = np.nonzero(counts != 0)  # several times as fast as nonzero(counts)
            counts = counts[occupied]
        else:
            occupied, counts = _occurrences(bins if bool(ok.all()) else np.where(ok, bins, -1))
        own = occupied % span
        own = own if kept is None else kept[own]
        bins = np.where(own > 0, own + least, 0) if with_zeros else own + least
        return {"cells": occupied // span, "bins": bins, "counts": counts}

    def merged(self, one: State, other: State) -> State:
        names = ("cells", "bins", "counts")
        return summed(*(np.concatenate([one[name], other[name]]) for name in names))

    def quantiles(self, state: State, n_cells: int) -> NDArray[np.float64]:
        """The middle of the bin that holds each quantile, (cells, levels); NaN without values."""
        order = np.lexsort([order_of(state["bins"], self.bits), state["cells"]])
        cells, bins = state["cells"][order], state["bins"][order]
        counts = state["counts"][order].astype(np.int64)
        if not len(counts):
            return np.full((n_cells, len(self.levels)), np.nan)
        ends = np.concatenate([[0], np.cumsum(counts)])
        first, last = (np.searchsorted(cells, np.arange(n_cells), side) for side in SIDES)
        before, ranks = ends[first][:, None], ranks_of(self.levels, ends[last] - ends[first])
        at = np.searchsorted(ends[1:], before + ranks).clip(max=len(counts) - 1)
        return np.where(ranks > 0, middle(bins[at], self.bits), np.nan)


@dataclass(frozen=True)
class Sorted:
    """The quantiles of each cell, of all of its points at once: exactly one of the values."""

    levels: tuple[float, ...]

    def of(self, values: Array, ok: Array, _first: int) -> State:
        """The quantiles of all points of each cell; `values` and `ok` are (cells, points)."""
        ascending = np.sort(np.where(ok, values + 0.0, np.nan), axis=1)  # NaN comes last
        ranks = ranks_of(self.levels, ok.sum(axis=1))
        at = np.take_along_axis(ascending, np.maximum(ranks - 1, 0), axis=1)
        return {"values": np.where(ranks > 0, at, np.nan)}

    def merged(self, one: State, other: State) -> State:
        """Impossible: all points of a cell are sorted at once."""
        raise TypeError(f"exact quantiles cannot be merged: {one}, {other}")

    def read(self, state: State) -> State:
        """quantile: (cells, levels); NaN where there is no value."""
        return {"quantile": state["values"]}


def ranks_of(levels: Sequence[float], numbers: NDArray[Any]) -> NDArray[np.int64]:
    """`rank` for each of these numbers of values and each level: (numbers, levels)."""
    distinct, own = np.unique(numbers, return_inverse=True)
    ranks = [[rank(level, n) for level in levels] for n in distinct.tolist()]
    return np.array(ranks, np.int64)[own]


def rank(level: float, number: int) -> int:
    """⌈qn⌉ for the decimal number q that `level` stands for, at least 1; 0 of no values."""
    return max(math.ceil(Fraction(repr(level)) * number), 1) if number else 0


def summed(cells: Array, bins: Array, counts: Array) -> State:
    """The counts in order of cells and bins, those of the same bin of a cell added."""
    order = np.lexsort(np.stack([bins, cells]))
    cells, bins, counts = cells[order], bins[order], counts[order]
    first, end = _runs(len(cells), (cells[1:] != cells[:-1]) | (bins[1:] != bins[:-1]))
    totals = np.cumsum(counts)
    return {
        "cells": cells[first],
        "bins": bins[first],
        "counts": totals[end - 1] - totals[first] + counts[first],
    }


def _least_above_zero(bins: Array) -> int:
    """The lowest nonzero bin of nonnegative bins; 1 if there is none."""
    least = (bins.view(np.uint64) - np.uint64(1)).min().item() + 1  # 0 - 1 is the greatest number
    return int(least) if least < 2**63 else 1


def _occurrences(rows: Array) -> tuple[Array, Array]:
    """The numbers from 0 on in rows, each of which exceeds those of earlier rows, and how many."""
    numbers = np.sort(rows, axis=1).ravel()
    numbers = numbers[numbers >= 0]
    first, end = _runs(len(numbers), numbers[1:] != numbers[:-1])
    return numbers[first], end - first


def _runs(size: int, differ: Array) -> tuple[Array, Array]:
    """Where runs of equal neighbours begin and end, as indices: faster than truth values."""
    edges = np.ones(size + 1, np.bool_)
    edges[1:-1] = differ
    (at,) = np.nonzero(edges)
    return at[:-1], at[1:]


def leading(values: Array, quantile_bits: int) -> Array:
    """The bin of each value."""
    shift, first_normal, subnormal, _ = bin_layout(quantile_bits)
    bins = ordered(values, shift)
    if not bins.size or bins.min().item() >= first_normal:
        return bins
    is_small = (bins < first_normal) & (bins >= -first_normal) & (values != 0)
    if bool(is_small.any()):
        small = values[is_small]
        bins[is_small] = ordered(small * LIFT, shift) + subnormal * (1 - 2 * (small < 0))
    return bins


def order_of(bins: NDArray[np.int64], quantile_bits: int) -> NDArray[np.float64]:
    """Numbers in the order of the values in these bins."""
    _, _, subnormal, steps = bin_layout(quantile_bits)
    without_mark = bins - subnormal * np.sign(bins)
    return np.where(abs(bins) >= subnormal, without_mark / steps, bins)


def middle(bins: NDArray[np.int64], quantile_bits: int) -> NDArray[np.float64]:
    """The value in the middle of each bin; 0 for the two next to 0."""
    shift, _, subnormal, _ = bin_layout(quantile_bits)
    is_lifted = abs(bins) >= subnormal
    usual = _middle(np.where(is_lifted, bins - subnormal * np.sign(bins), bins), shift)
    return np.where(is_lifted, usual / LIFT, usual)


def _middle(bins: NDArray[np.int64], shift: int) -> NDArray[np.float64]:
    low, high = doubles(bins << shift), doubles(((bins + 1) << shift) - 1)
    with np.errstate(invalid="ignore"):
        middles = low / 2 + high / 2
    middles = np.where((bins == 0) | (bins == -1), 0.0, middles)
    infinite = np.copysign(np.inf, np.where(np.isnan(low), high, low))
    return np.where(np.isfinite(middles), middles, infinite)


def bin_layout(quantile_bits: int) -> tuple[int, int, int, int]:
    """How many bits of a double bins ignore; the bin of 2^-1022; and two numbers for lifted values.

    The first of them is added to the bins of lifted values, or subtracted from negative ones: no
    other bin has such a number. Divided by the second, lifted bins come between 0 and the bin of
    2^-1022.
    """
    mantissa = quantile_bits - 1
    return 64 - 1 - 11 - mantissa, 2**mantissa, 2 ** (mantissa + 12), 2 ** (mantissa + 3)


def ordered(values: Array, shift: int) -> Array:
    """Whole numbers in the order of the values, without the last bits."""
    bits = (values + 0.0).view(np.int64)
    if bool((values < 0).any()):
        bits ^= (bits >> 63) & MAGNITUDE
    bits >>= shift
    return bits


def doubles(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """The values that have these numbers in order."""
    return (numbers ^ ((numbers >> 63) & MAGNITUDE)).view(np.float64)
