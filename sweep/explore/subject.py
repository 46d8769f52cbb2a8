"""What a page is about: a store or a sweep that has not been run, and the values along its axes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.analysis.refined import is_refined, on_grid
from sweep.analysis.scales import evenly
from sweep.request import POINT, Axis, LongValues, Reduction, Request, Sweep, is_array

MAX_PAGE_VALUES = 4096  # of an axis in the page
MAX_SAMPLE = 2**14  # points of a sample that is not run
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
    reduction: Reduction | None = None  # what is stored are statistics of points
    other_code: str = ""  # which other kernel made what is stored
    request: Request | None = None  # of a sweep file, which is not run

    @cached_property
    def grid(self) -> xr.Dataset | None:
        """The stored points; refined ones as a grid."""
        grid = self.stored
        if grid is None:
            return None
        if is_refined(grid):
            grid = on_grid(grid.load())
        inner = {str(d) for name in grid.data_vars for d in grid[name].dims} - set(_dims(grid))
        along = [d for d in map(str, grid.dims) if d in grid.coords and d not in inner]
        grid = grid.sortby([d for d in along if grid[d].dtype.kind in "iuf"])
        return grid.isel({d: evenly(grid.sizes[d], MAX_PAGE_VALUES) for d in along})

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
            return {axis.name: _columns(axis) for axis in axes}
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
        if self.reduction is None:
            return {}
        step = self.reduction.row  # for Sobol' indices only these count for other statistics
        return {
            axis.name: {n: _first(v, MAX_BEHIND, step) for n, v in axis.columns.items()}
            if axis.name == POINT
            else _columns(axis)
            for axis in self.reduction.axes
        }

    def size(self, name: str) -> int:
        """The number of values along a dimension."""
        columns = {**self.dimensions, **self.behind}[name]
        if columns:
            return len(next(iter(columns.values())))
        assert self.grid is not None
        return self.grid.sizes[name]


def whole_size(subject: Subject, name: str) -> int | None:
    """The number of values along a dimension before long ones are thinned, if known."""
    if subject.stored is not None and name in subject.stored.sizes:
        return subject.stored.sizes[name]
    axes = subject.sweep.axes if subject.sweep else ()
    return {axis.name: axis.size for axis in axes}.get(name)


def _columns(axis: Axis) -> Columns:
    return {name: _thinned(axis, values) for name, values in axis.columns.items()}


def _thinned(axis: Axis, values: LongValues) -> NDArray[np.float64]:
    """The values along an axis that is not run; MAX_PAGE_VALUES of a long one, or the first."""
    if is_array(values) and axis.name != POINT:
        return np.asarray(values[:], np.float64)[evenly(len(values), MAX_PAGE_VALUES)]
    return _first(values, MAX_SAMPLE if axis.name == POINT else MAX_PAGE_VALUES)


def _first(values: LongValues, most: int, step: int = 1) -> NDArray[np.float64]:
    return np.asarray(values[: most * step], np.float64)[::step]


def _dims(dataset: xr.Dataset) -> list[str]:
    """The dimensions of the points."""
    first = "status" if "status" in dataset else next(iter(dataset.data_vars))
    return [str(dim) for dim in dataset[first].dims]
