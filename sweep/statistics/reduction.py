"""What is kept of the points of each cell, as frozen data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from sweep.request import Axis
from sweep.spec import Output

FOR_INDICES = "sobol_indices"  # the key of a sample's recipe whose points are in rows


@dataclass(frozen=True, eq=False, kw_only=True)
class Reduction:
    """What is kept of the points of each cell: statistics, in place of the points."""

    axes: tuple[Axis, ...]  # along which points are reduced, in the order of the sweep
    outputs: tuple[Output, ...]  # of each point
    statistics: Mapping[str, tuple[str, ...]]  # by output, as `statistics.outputs` writes them
    exact_quantiles: bool = False

    @property
    def size(self) -> int:
        """The number of points of a cell."""
        return math.prod(axis.size for axis in self.axes)

    @property
    def scramblings(self) -> int:
        """Of the sample: a cell's point i belongs to scrambling i modulo this number."""
        return int(cast("Any", self.axes[-1].recipe.get("scramblings", 1)))

    @property
    def row(self) -> int:
        """The points of a row: for Sobol' indices A, B and one for each parameter; else 1."""
        last = self.axes[-1]
        return 2 + len(last.columns) if FOR_INDICES in last.recipe else 1

    @property
    def unit(self) -> int:
        """The number of points that a stretch has a multiple of, except the last."""
        return self.row * self.scramblings
