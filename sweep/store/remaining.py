"""What is left to compute of a store, over all passes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sweep.store.in_stretches import InStretches, in_stretches, passes
from sweep.work import Chunk


@dataclass(frozen=True)
class Remaining:
    """What is left to compute, and how much there is in all.

    With exact quantiles of cells that are computed in stretches, each point counts once per pass.
    """

    pending: Sequence[Chunk]
    later: Sequence[Chunk]  # of a second pass, which cannot begin yet
    points_total: int
    chunks_total: int
    points_again: int = 0  # of points_total, those of passes after the first

    @property
    def points_left(self) -> int:
        return sum(chunk.n_points for chunk in (*self.pending, *self.later))

    @property
    def chunks_left(self) -> int:
        return len(self.pending) + len(self.later)


def remaining(store: Any) -> Remaining:
    """What is left to compute of a store, or of results in memory."""
    results = in_stretches(store)
    n_points, pending = results.sweep.n_points, results.pending()
    if not isinstance(results, InStretches):
        return Remaining(pending, (), n_points, results.n_chunks)
    times = passes(results.sweep, results.chunk_shape)
    again = (times - 1) * n_points + _further_passes(results, pending)
    total = n_points + again
    return Remaining(pending, results.later(), total, times * results.n_chunks, again)


def _further_passes(results: InStretches, pending: Sequence[Chunk]) -> int:
    """The points of passes after the second, as far as they have begun."""
    size, step = results.grid[-1], results.chunk_shape[-1]
    cells = {chunk.index[:-1]: chunk for chunk in pending}
    return sum(
        size * math.prod(chunk.shape[:-1]) * max(chunk.index[-1] // -(-size // step) - 1, 0)
        for chunk in cells.values()
    )
