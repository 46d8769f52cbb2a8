"""Stretches of the columns of a sample, drawn when they are read."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sweep.request import LongValues
from sweep.sampling.distributions import Margin
from sweep.sampling.unit_cube import BLOCK, Sequence
from sweep.work import Values


class SampleColumns:
    """The columns of a sample, drawn stretch by stretch; the last one stays for other columns."""

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
    """A stretch of one column of a sample, from the point `first` on."""

    sample: SampleColumns
    name: str
    n_points: int
    first: int = 0

    def __len__(self) -> int:
        return self.n_points

    def ends(self) -> Values:
        """The least and the greatest value that a point may have."""
        resolution = self.sample.unit.resolution
        return self.sample.margins[self.name].values(np.array([0.0, 1.0 - resolution]), resolution)

    def __getitem__(self, part: slice, /) -> Values:
        start, stop, _ = part.indices(self.n_points)
        return self.sample.column(self.name, self.first + start, self.first + max(start, stop))


def stretch(values: LongValues, part: slice) -> LongValues:
    """A stretch of the values; of random points it is drawn when it is read, or by a device."""
    if isinstance(values, Drawn) and values.sample.unit.generator is not None:
        start, stop, _ = part.indices(len(values))
        return replace(values, n_points=max(stop - start, 0), first=values.first + start)
    return np.ascontiguousarray(values[part], np.float64)
