"""What a page is about: a store or a sweep that has not been run, and the values along its axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.pictures.scales import evenly
from sweep.request.sweeps import POINT, Axis, LongValues, Reduced, Request, Sweep, is_array
from sweep.results.refined import is_refined, on_grid

MAX_PAGE_VALUES = 4096  # of an axis in the page, if there is room for so many
MAX_SAMPLE = 2**14  # points of a sample, if it is an axis or not run
MAX_BEHIND = 64  # points of a sample behind each cell of statistics
Columns = dict[str, NDArray[np.float64]]  # by parameter


@dataclass(frozen=True, eq=False)
class Subject:
    """What is explored: a store, or a sweep that has not been run."""

    name: str
    command: str  # `sweep trace` of it, without the point; empty if that is not possible
    sweep: Sweep | None  # of points; None: this version cannot compute them
    stored: xr.Dataset | None  # None: not run
    outputs: tuple[str, ...]
    reduced: Reduced | None = None  # what is stored are statistics of points
    other_code: str = ""  # which other kernel made what is stored
    request: Request | None = None  # of a sweep file, which is not run
    most: Mapping[str, int] = field(default_factory=dict[str, int])  # of an axis, if less than that

    @cached_property
    def whole_grid(self) -> xr.Dataset | None:
        """The stored points, in ascending order; refined ones as a grid."""
        grid = self.stored
        if grid is None:
            return None
        if is_refined(grid):
            grid = on_grid(grid.load())
        inner = {str(d) for name in grid.data_vars for d in grid[name].dims} - set(_dims(grid))
        along = [d for d in map(str, grid.dims) if d in grid.coords and d not in inner]
        return grid.sortby([d for d in along if grid[d].dtype.kind in "iuf"])

    @cached_property
    def grid(self) -> xr.Dataset | None:
        """The stored points at the values that the page has; all points of a sample."""
        grid = self.whole_grid
        if grid is None or (_dims(grid) == [POINT] and POINT not in grid.coords):
            return grid
        return grid.isel({d: evenly(grid.sizes[d], self._most(d)) for d in _dims(grid)})

    @property
    def is_sample(self) -> bool:
        """Whether its points form no grid."""
        dims = self.dimensions
        return list(dims) == [POINT] and POINT not in dims[POINT]

    @cached_property
    def dimensions(self) -> dict[str, Columns]:
        """The values of every parameter along each dimension of the map."""
        if self.grid is None:
            assert self.sweep is not None
            behind = self.behind
            axes = [axis for axis in self.sweep.axes if axis.name not in behind]
            return {axis.name: _columns(axis, self._most(axis.name)) for axis in axes}
        derived = list(self.sweep.derived) if self.sweep else []
        return {
            dim: {
                str(name): self.grid[name].values.astype(np.float64)
                for name in self.grid.coords
                if self.grid[name].dims == (dim,)
                and self.grid[name].dtype.kind in "iuf"
                and name not in derived
            }
            for dim in _dims(self.grid)
        }

    @cached_property
    def behind(self) -> dict[str, Columns]:
        """The same along dimensions that were reduced: of a long sample, the first points."""
        if self.reduced is None:
            return {}
        most = min(MAX_BEHIND, self._most(POINT))
        step = self.reduced.row  # for Sobol' indices only these count for other statistics
        return {
            axis.name: {n: _first(v, most, step) for n, v in axis.columns.items()}
            if axis.name == POINT
            else _columns(axis, self._most(axis.name))
            for axis in self.reduced.over
        }

    def size(self, name: str) -> int:
        """The number of values along a dimension."""
        columns = {**self.dimensions, **self.behind}[name]
        if columns:
            return len(next(iter(columns.values())))
        assert self.grid is not None
        return self.grid.sizes[name]

    def whole_size(self, name: str) -> int:
        """The number of values along a dimension before long ones are thinned."""
        if self.whole_grid is not None and name in self.whole_grid.sizes:
            return self.whole_grid.sizes[name]
        axes = self.sweep.axes if self.sweep else ()
        return {axis.name: axis.size for axis in axes}[name]

    def _most(self, name: str) -> int:
        return self.most.get(name, MAX_SAMPLE if name == POINT else MAX_PAGE_VALUES)


def _columns(axis: Axis, most: int) -> Columns:
    return {name: _thinned(axis, values, most) for name, values in axis.columns.items()}


def _thinned(axis: Axis, values: LongValues, most: int) -> NDArray[np.float64]:
    """The values along an axis that is not run: `most` of a long one, or the first."""
    if is_array(values) and axis.name != POINT:
        return np.asarray(values[:], np.float64)[evenly(len(values), most)]
    return _first(values, most)


def _first(values: LongValues, most: int, step: int = 1) -> NDArray[np.float64]:
    return np.asarray(values[: most * step], np.float64)[::step]


def _dims(dataset: xr.Dataset) -> list[str]:
    """The dimensions of the points."""
    first = "status" if "status" in dataset else next(iter(dataset.data_vars))
    return [str(dim) for dim in dataset[first].dims]
