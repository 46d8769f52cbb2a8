"""The columns of a sample from the recipe of its axis; many points are drawn when they are read.

Parameters take the dimensions of the sequence in the order of their names, so that their order in a
file has no effect.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from sweep.request import FOR_INDICES, STRETCH, LongValues
from sweep.sampling.distributions import DISTRIBUTIONS, Margin
from sweep.sampling.sequences import BLOCK, Sequence, saltelli, sequence
from sweep.work import Values


def columns_of(
    recipe: Mapping[str, object], whole: Collection[str] = ()
) -> Mapping[str, LongValues]:
    """The columns of a sample that is drawn, by parameter; `whole` names those of whole numbers.

    The recipe has `method`, `points`, perhaps `seed`, `scramblings` and `sobol_indices`, and the
    distribution of each parameter: {"friction": {"uniform": [0.1, 0.2]}}.
    """
    entries = cast("Mapping[str, Any]", recipe)
    margins = {
        name: _margin(entries[name], is_whole=name in whole)
        for name in sorted(entries)
        if isinstance(entries[name], Mapping)
    }
    method, n_base, k = str(entries["method"]), int(entries["points"]), max(len(margins), 1)
    seed = int(entries["seed"]) if "seed" in entries else None
    for_indices = FOR_INDICES in entries
    n_points = n_base * (k + 2) if for_indices else n_base
    n_dimensions = 2 * k if for_indices else k
    unit = sequence(method, n_base, n_dimensions, seed, int(entries.get("scramblings", 1)))
    drawing = Drawing(saltelli(unit, k) if for_indices else unit, margins)
    columns = {name: Drawn(drawing, name, n_points) for name in margins}
    if n_points <= STRETCH or method == "latin_hypercube":
        return {name: column[:] for name, column in columns.items()}
    return columns


def _margin(entry: Mapping[str, Any], *, is_whole: bool) -> Margin:
    (form,) = (name for name in entry if name in DISTRIBUTIONS)
    return Margin(form, tuple(map(float, entry[form])), is_whole)


class Drawing:
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
    """A stretch of one column of a drawing, from the point `first` on."""

    drawing: Drawing
    name: str
    n_points: int
    first: int = 0

    def __len__(self) -> int:
        return self.n_points

    def ends(self) -> Values:
        """The least and the greatest value that a point may have."""
        resolution = self.drawing.unit.resolution
        return self.drawing.margins[self.name].values(np.array([0.0, 1.0 - resolution]), resolution)

    def __getitem__(self, part: slice, /) -> Values:
        start, stop, _ = part.indices(self.n_points)
        return self.drawing.column(self.name, self.first + start, self.first + max(start, stop))


def stretch(values: LongValues, part: slice) -> LongValues:
    """A stretch of the values; of random points it is drawn when it is read, or by a device."""
    if isinstance(values, Drawn) and values.drawing.unit.generator is not None:
        start, stop, _ = part.indices(len(values))
        return replace(values, n_points=max(stop - start, 0), first=values.first + start)
    return np.ascontiguousarray(values[part], np.float64)
