"""Quantiles: the ⌈qn⌉-th smallest of n values, from counts of the values' leading bits.

A bin is an interval of doubles with equal sign, exponent and first 7 bits of the mantissa. The
middle of the bin differs from each value in it by at most 2^-8 of that value, except for values
below 2^-1022, which count as 0. Counts do not depend on any order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
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
    """The number of values of each cell in each bin that has any: cells, bins, counts.

    With `shift` 0 a bin is a single value.
    """

    shift: int = SHIFT

    def of(self, xp: Any, values: Array, ok: Array, _first: int) -> State:
        """Of points: (cells, points)."""
        bins = _ordered(values, self.shift)
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
        cells, bins, counts = (
            np.concatenate([one[name], other[name]]) for name in ("cells", "bins", "counts")
        )
        order = np.lexsort((bins, cells))
        cells, bins, counts = cells[order], bins[order], counts[order]
        begins = np.ones(len(cells), np.bool_)
        begins[1:] = (cells[1:] != cells[:-1]) | (bins[1:] != bins[:-1])
        starts = np.flatnonzero(begins)
        summed = np.add.reduceat(counts, starts) if len(starts) else counts
        return {"cells": cells[starts], "bins": bins[starts], "counts": summed}

    def read(self, state: State, levels: Sequence[float], n_cells: int) -> NDArray[np.float64]:
        """(cells, levels): the quantile of each level in (0, 1]; NaN in a cell without values."""
        counts = state["counts"].astype(np.int64)
        numbers = np.zeros(n_cells, np.int64)
        np.add.at(numbers, state["cells"], counts)
        cumulative = np.cumsum(counts)
        before = np.cumsum(numbers) - numbers
        quantiles = np.full((n_cells, len(levels)), np.nan)
        for column, level in enumerate(levels):
            wanted = np.array([rank(level, int(n)) for n in numbers], np.int64)
            at = np.searchsorted(cumulative, before + wanted)
            there = numbers > 0
            quantiles[there, column] = middle(state["bins"][at[there]], self.shift)
        return quantiles


def rank(level: float, number: int) -> int:
    """⌈qn⌉ for the decimal number q that `level` stands for, at least 1."""
    return max(math.ceil(Fraction(repr(level)) * number), 1)


def exact_quantiles(
    values: NDArray[np.float64], ok: NDArray[np.bool_], levels: Sequence[float]
) -> NDArray[np.float64]:
    """(cells, levels): the ⌈qn⌉-th smallest of the values (cells, points)."""
    ordered = np.sort(np.where(ok, values, np.inf) + 0.0, axis=1)
    numbers = ok.sum(axis=1)
    ranks = [[rank(level, int(n)) - 1 for level in levels] for n in numbers]
    found = np.take_along_axis(ordered, np.array(ranks, np.intp), axis=1)
    return np.where(numbers[:, None] > 0, found, np.nan)


def middle(bins: NDArray[np.int64], shift: int = SHIFT) -> NDArray[np.float64]:
    """The value in the middle of each bin; 0 for the two next to 0."""
    if shift == 0:
        return _doubles(bins)
    low, high = _doubles(bins << shift), _doubles(((bins + 1) << shift) - 1)
    with np.errstate(invalid="ignore"):
        found = low / 2 + high / 2
    found = np.where((bins == 0) | (bins == -1), 0.0, found)
    infinite = np.copysign(np.inf, np.where(np.isnan(low), high, low))
    return np.where(np.isfinite(found), found, infinite)


def _ordered(values: Array, shift: int) -> Array:
    """Whole numbers in the order of the values, without the last bits."""
    bits = (values + 0.0).view(np.int64)
    if bool((values < 0).any()):
        bits ^= (bits >> 63) & MAGNITUDE
    bits >>= shift
    return bits


def _doubles(ordered: NDArray[np.int64]) -> NDArray[np.float64]:
    return (ordered ^ ((ordered >> 63) & MAGNITUDE)).view(np.float64)
