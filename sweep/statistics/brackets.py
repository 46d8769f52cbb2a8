"""Quantiles: the ⌈qn⌉-th smallest of n values, within a bin or exactly.

Counts of the values' leading bits say which bin holds a quantile, and its rank among the values in
it. For exact quantiles the points are computed once more, and the values in that bin are counted in
finer bins: each value by itself unless there are too many, which takes another pass. No count
depends on any order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.statistics.moments import Array, State
from sweep.statistics.quantiles import SHIFT, leading, middle, order_of, ordered, summed

MAX_COUNTED_VALUES = 2**21  # that a pass counts one by one, at 24 bytes each

Table = NDArray[np.int64]  # (cells, levels)


@dataclass(frozen=True, eq=False)
class Brackets:
    """The bin that holds each quantile of each cell."""

    bins: Table
    ranks: Table  # of the quantile among the values in its bin, from 1; 0: there is none
    counts: Table  # of values in the bin
    shift: int  # bits of a double that bins ignore; 0: a bin is a single value

    @classmethod
    def of(cls, state: State, levels: Sequence[float], n_cells: int) -> Brackets:
        """From the counts of `LeadingBits`, for levels in (0, 1]."""
        numbers, number_of_cell = np.unique(_totals(state, n_cells), return_inverse=True)
        ranks = [[rank(level, n) for level in levels] for n in numbers.tolist()]
        cells = np.arange(n_cells)[:, None].repeat(len(levels), axis=1)
        order = np.lexsort([order_of(state["bins"]), state["cells"]])
        state = {name: state[name][order] for name in ("cells", "bins", "counts")}
        return _brackets_at(state, cells, np.array(ranks, np.int64)[number_of_cell], SHIFT)

    @classmethod
    def from_arrays(cls, arrays: State) -> Brackets:
        """The inverse of `to_arrays`."""
        return cls(arrays["bins"], arrays["ranks"], arrays["counts"], int(arrays["shift"]))

    def to_arrays(self) -> State:
        """As arrays, for a file."""
        shift = np.array(self.shift)
        return {"bins": self.bins, "ranks": self.ranks, "counts": self.counts, "shift": shift}

    @property
    def is_open(self) -> bool:
        """Whether another pass is needed for exact values."""
        return bool(self.shift and self.ranks.any())

    def values(self) -> NDArray[np.float64]:
        """(cells, levels): the middle of each bin; NaN where there is no value."""
        return np.where(self.ranks > 0, middle(self.bins, self.shift), np.nan)

    def finer(self, most: int) -> int:
        """The shift of the next pass, which then has at most that many bins.

        The bins next to 0 have all zeros, of which there may be many, and count as one value;
        other numbers in them are subnormal.
        """
        numbers, totals = self._distinct
        next_to_zero = (self.ranks > 0) & ((self.bins == 0) | (self.bins == -1))
        totals = totals.copy()
        totals[numbers[next_to_zero]] = 1
        if totals.sum() <= most:
            return 0
        return max(self.shift - max((most // len(totals)).bit_length() - 1, 1), 0)

    def count(self, xp: Any, values: Array, ok: Array, shift: int) -> State:
        """The values in these bins: (cells, points), of a device's library `xp`, too.

        In the result, `cells` is the number of the bin among those of all cells.
        """
        coarse = leading(values) if self.shift == SHIFT else ordered(values, self.shift)
        numbers = xp.full(values.shape, -1, np.int64)
        for bins, own in zip(self.bins.T, self._distinct[0].T, strict=True):
            in_bin = ok & (coarse == xp.asarray(bins)[:, None])
            numbers = xp.where(in_bin, xp.asarray(own)[:, None], numbers)
        in_bracket = numbers >= 0
        fine, numbers = ordered(values[in_bracket], shift), numbers[in_bracket]
        return summed(xp, numbers, fine, xp.ones(len(fine), np.int64))

    def narrowed(self, state: State, shift: int) -> Brackets:
        """The finer bins that hold the quantiles, from the counts of all points.

        Where the number of values in a bin is not what it was before, there is no quantile left.
        """
        numbers, totals = self._distinct
        same = np.append(_totals(state, len(totals)) == totals, False)  # -1: of no bin
        return _brackets_at(state, numbers, np.where(same[numbers], self.ranks, 0), shift)

    @functools.cached_property
    def _distinct(self) -> tuple[Table, NDArray[np.int64]]:
        """The number of each bin among the distinct ones, or -1, and their counts."""
        has_quantile = self.ranks > 0
        pairs = np.stack([np.nonzero(has_quantile)[0], self.bins[has_quantile]], axis=1)
        _, first, own = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
        numbers = np.full(has_quantile.shape, -1, np.int64)
        numbers[has_quantile] = own.ravel()
        return numbers, self.counts[has_quantile][first]


def rank(level: float, number: int) -> int:
    """⌈qn⌉ for the decimal number q that `level` stands for, at least 1; 0 of no values."""
    return max(math.ceil(Fraction(repr(level)) * number), 1) if number else 0


def _brackets_at(state: State, groups: Table, ranks: Table, shift: int) -> Brackets:
    """The bin in which each group of counts reaches a rank."""
    counts = state["counts"].astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(counts)])
    before = ends[np.searchsorted(state["cells"], groups)]
    if not len(counts):
        return Brackets(np.zeros_like(ranks), np.zeros_like(ranks), np.zeros_like(ranks), shift)
    at = np.searchsorted(ends[1:], before + ranks).clip(max=len(counts) - 1)
    own = np.where(ranks > 0, before + ranks - ends[at], 0)
    return Brackets(state["bins"][at], own, counts[at], shift)


def _totals(state: State, size: int) -> NDArray[np.int64]:
    """The sum of the counts of each cell."""
    totals = np.zeros(size, np.int64)
    np.add.at(totals, state["cells"], state["counts"].astype(np.int64))
    return totals
