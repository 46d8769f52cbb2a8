"""Points of the unit cube, of which any stretch can be drawn.

A point depends only on its index, not on how many points are drawn or in which stretches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BLOCK = 2**18  # points drawn at a time

Rows = NDArray[np.float64]  # (n_points, n_dimensions), in [0, 1]


@dataclass(frozen=True)
class Sequence:
    """A sequence that can be drawn from any index; safe to use from several threads."""

    resolution: float  # the numbers are multiples of this, or finer
    rows: Callable[[int, int], Rows]  # the points from an index up to, but not including, another
    generator: Generator | None = None  # of random points, whose numbers a device can make, too


@dataclass(frozen=True)
class Generator:
    """numpy.random.PCG64, of which each number of a point takes one step."""

    n_dimensions: int
    seed: int | None

    def at(self, index: int) -> np.random.PCG64:
        """The generator before the numbers of a point."""
        bits = np.random.PCG64(self.seed)  # not default_rng, which may change
        bits.advance(index * self.n_dimensions)
        return bits
