"""Refined points as a grid, interpolated within the cells of which they are the corners."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, cast

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.points.mesh import Keys, Mesh, halved, is_geometric
from sweep.points.recipes import plain
from sweep.request.chunk import Values
from sweep.request.sweeps import LEVEL
from sweep.store.layout import as_stored, decoded, is_count
from sweep.text import wording

MAX_GRID_POINTS = 10**8  # of a grid, all of which is in memory
BATCH = 2**22  # positions in cells that are interpolated at once


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a refined sweep, reconstructed from its points."""

    axes: Mapping[str, Values]  # values of the finest grid along each axis, in the sweep's order
    mesh: Mesh
    points: Keys  # position of each point of the Dataset

    def areas(self) -> Values:
        """Share of the map that each point of the Dataset stands for, in its order; the sum is 1.

        The area of a cell counts in equal parts for its corners. Along each axis, the intervals of
        the coarse grid count the same, like the points of a full grid.
        """
        known, place = np.unique(self.points, return_inverse=True)
        areas = np.zeros(known.size)
        for level in range(len(self.mesh.cells)):
            corners = np.searchsorted(known, self.mesh.corners(level))
            part = 2.0 ** -((level + 1) * len(self.axes))  # of a coarse cell, for one corner
            areas += part * np.bincount(corners.ravel(), minlength=known.size)
        return (areas / areas.sum())[place]

    def outlines(self) -> dict[str, NDArray[np.float64]]:
        """Smallest and largest value of each cell along each axis, shape (n_cells, 2)."""
        ends: list[NDArray[np.int64]] = []
        for level, cells in enumerate(self.mesh.cells):
            size = 1 << (self.mesh.levels - level)
            first = self.mesh.places(cells, level) * size
            ends.append(np.stack((first, first + size), axis=2))
        every = np.concatenate(ends)
        return {name: values[every[:, i]] for i, (name, values) in enumerate(self.axes.items())}


def is_refined(dataset: xr.Dataset) -> bool:
    """Whether a Dataset holds all points of a refined sweep."""
    return _recipe(dataset) is not None and LEVEL in dataset.coords


def holds_refined_points(dataset: xr.Dataset) -> bool:
    """Whether a Dataset holds points of a refined sweep: all, some, or those of a pass."""
    return any("refine" in recipe for recipe in axis_recipes(dataset))


def axis_recipes(dataset: xr.Dataset) -> list[dict[str, Any]]:
    """The recipe of each axis of the sweep that a Dataset is of."""
    axes = json.loads(str(dataset.attrs.get("recipe", "{}"))).get("axes", [])
    return [plain(axis["recipe"]) for axis in axes]


def refined_axes(dataset: xr.Dataset) -> dict[str, bool]:
    """Whether intervals are halved at geometric means, by axis of a refined sweep's coarse grid.

    In order; empty for any other Dataset.
    """
    axes: list[dict[str, Any]] = (_recipe(dataset) or {}).get("axes", [])
    return {str(axis["name"]): is_geometric(axis) for axis in axes}


def cells_of(dataset: xr.Dataset) -> Cells:
    """The cells whose corners are the points of a refined sweep.

    SweepError if the Dataset does not hold all points of a refined sweep.
    """
    recipe = _recipe(dataset)
    if recipe is None or LEVEL not in dataset.coords:
        raise SweepError(
            "these are not the points of a refined sweep: give results of a sweep with [refine]"
        )
    levels, is_coarse = int(recipe["refine"]["levels"]), dataset[LEVEL].values == 0
    fine: dict[str, Values] = {}  # the values of the finest grid, ascending
    for name, geometric in refined_axes(dataset).items():
        coarse: Values = np.unique(np.asarray(dataset[name].values, np.float64)[is_coarse])
        fine[name] = halved(coarse, levels, geometric=geometric)
    mesh = Mesh([(values.size - 1 >> levels) + 1 for values in fine.values()], levels)
    places = [
        np.minimum(np.searchsorted(values, dataset[name].values), values.size - 1)
        for name, values in fine.items()
    ]
    points = mesh.flat(np.stack(places, axis=1))
    mesh.halve_around(np.sort(points))
    if not np.array_equal(np.sort(points), mesh.points()):
        raise SweepError(
            "some points of the refined sweep are missing, so its cells are unknown: draw the rest "
            "`over` two parameters"
        )
    return Cells(fine, mesh, points)


def on_grid(dataset: xr.Dataset, levels: int | None = None) -> xr.Dataset:
    """A refined sweep as a grid over its axes, halved `levels` times, by default to the finest.

    Computed values are unchanged. Between them, real outputs are interpolated multilinearly within
    their cell; flags, counts and status are taken from the nearest corner. Outputs with several
    values at each point are left out. The values are in memory.
    Raises SweepError if the Dataset has no refined sweep, if the grid has too many points, or if
    `levels` is not a whole number of 0 or above.
    """
    if not (levels is None or (isinstance(cast(object, levels), Integral) and levels >= 0)):
        raise SweepError(f"levels={wording.shown(levels)} is not a whole number of 0 or above")
    cells = cells_of(dataset)
    mesh = cells.mesh
    levels = mesh.levels if levels is None else min(levels, mesh.levels)
    step = 1 << (mesh.levels - levels)
    axes = {name: values[::step] for name, values in cells.axes.items()}
    shape = tuple(values.size for values in axes.values())
    if math.prod(shape) > MAX_GRID_POINTS:
        raise SweepError(f"the grid would have {math.prod(shape):,} points; ask for fewer levels")
    order = np.argsort(cells.points)
    variables: dict[str, xr.Variable] = {}
    for name, variable in dataset.data_vars.items():
        if variable.ndim == 1:
            values = _spread(as_stored(variable)[order], cells, order, levels)
            values = decoded(values) if is_count(variable) else values
            encoding = variable.encoding if is_count(variable) else {}
            variables[str(name)] = xr.Variable(tuple(axes), values, variable.attrs, encoding)
    coordinates = {name: (name, axes[name], dataset[name].attrs) for name in axes}
    single = {str(name): dataset[name] for name in dataset.coords if not dataset[name].ndim}
    return xr.Dataset(variables, {**coordinates, **single}, dataset.attrs)


def _spread(
    values: NDArray[Any], cells: Cells, order: NDArray[np.intp], levels: int
) -> NDArray[Any]:
    """The values of points over the whole grid of a level; the finest cells are written last."""
    mesh, known = cells.mesh, cells.points[order]
    step = 1 << (mesh.levels - levels)
    grid = np.zeros(tuple((size - 1) // step + 1 for size in mesh.shape), values.dtype)
    for level in range(levels + 1):
        size = 1 << (levels - level)
        first = mesh.places(mesh.cells[level], level) * size
        corners = values[np.searchsorted(known, mesh.corners(level))]
        batch = max(BATCH // (size + 1) ** grid.ndim, 1)
        for start in range(0, len(first), batch):
            part = slice(start, start + batch)
            grid[_within(first[part], size)] = _between(corners[part], size, grid.ndim)
    positions = mesh.positions(known)
    on_step = np.all(positions % step == 0, axis=1)
    grid[tuple(positions[on_step].T // step)] = values[on_step]
    return grid


def _within(first: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], ...]:
    """Indices along each axis of all positions in cells; shape (n_cells, size + 1, ...)."""
    n_axes = first.shape[1]
    origins = first.T.reshape(n_axes, -1, *[1] * n_axes)
    inner = np.ix_(*[np.arange(size + 1)] * n_axes)
    return tuple(origin + steps for origin, steps in zip(origins, inner, strict=True))


def _between(corners: NDArray[Any], size: int, n_axes: int) -> NDArray[Any]:
    """Values at all positions in cells, (n_cells, size + 1, ...), from (n_cells, 2**n_axes)."""
    block = corners.reshape(-1, *[2] * n_axes)
    share = np.arange(size + 1) / size
    for axis in range(1, n_axes + 1):
        left, right = (block.take([side], axis) for side in (0, 1))
        along = share.reshape([-1 if i == axis else 1 for i in range(n_axes + 1)])
        if corners.dtype.kind == "f":
            with np.errstate(invalid="ignore"):  # inf - inf
                inside = left + along * (right - left)  # NaN at an end if the other end is NaN
            inside = np.where(np.isinf(left) | np.isinf(right), left + right, inside)
            block = np.where(along == 0, left, np.where(along == 1, right, inside))
        else:
            block = np.where(along < 0.5, left, right)
    return block


def _recipe(dataset: xr.Dataset) -> dict[str, Any] | None:
    """The recipe of a refined sweep's points; None for any other Dataset."""
    recipes = axis_recipes(dataset)
    return next((r for r in recipes if "refine" in r and "pass" not in r), None)
