"""Points of the unit cube, and columns of a sample, drawn part by part when they are read.

A point depends only on its index, not on how many points are drawn or in which parts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sweep.request.chunk import Values
from sweep.request.sweeps import LongValues
from sweep.sampling.distributions import Margin

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


class SampleColumns:
    """The columns of a sample, drawn part by part; the last one stays for other columns."""

    def __init__(self, unit: Sequence, margins: Mapping[str, Margin]) -> None:
        """`margins` are in the order of the sequence's dimensions."""
        self.unit, self.margins = unit, margins
        self._last = threading.local()

    def column(self, name: str, start: int, stop: int) -> Values:
        if getattr(self._last, "place", None) != (start, stop):
            self._last.columns, self._last.place = self._drawn(start, stop), (start, stop)
        columns: Mapping[str, Values] = self._last.columns
        return columns[name]

    def _drawn(self, start: int, stop: int) -> dict[str, Values]:
        columns = {name: np.empty(stop - start) for name in self.margins}
        for first in range(start, stop, BLOCK):
            last = min(first + BLOCK, stop)
            rows = self.unit.rows(first, last)
            for i, (name, margin) in enumerate(self.margins.items()):
                column = np.ascontiguousarray(rows[:, i])
                part = slice(first - start, last - start)
                columns[name][part] = margin.values(column, self.unit.resolution)
        return columns


@dataclass(frozen=True, eq=False)
class Drawn:
    """A part of one column of a sample, from the point `first` on."""

    sample: SampleColumns
    name: str
    n_points: int
    first: int = 0

    def __len__(self) -> int:
        return self.n_points

    def part(self, part: slice) -> LongValues:
        """A part of the values; of random points it is drawn when it is read, or by a device."""
        if self.sample.unit.generator is None:
            return self[part]
        start, stop, _ = part.indices(self.n_points)
        return replace(self, n_points=max(stop - start, 0), first=self.first + start)

    def ends(self) -> Values:
        """The least and the greatest value that a point may have."""
        resolution = self.sample.unit.resolution
        return self.sample.margins[self.name].values(np.array([0.0, 1.0 - resolution]), resolution)

    def __getitem__(self, part: slice, /) -> Values:
        start, stop, _ = part.indices(self.n_points)
        return self.sample.column(self.name, self.first + start, self.first + max(start, stop))
