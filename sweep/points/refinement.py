"""The points of a refined sweep, from its coarse grid to its last point, pass by pass.

The first pass is the coarse grid. Each later pass halves the cells whose points differ (corners,
and the corners of finer neighbours between them) and, except at the last level, the cells around
them; it computes the corners that are new. A border is thus followed into cells that did not show
it. What comes next depends on the points and their results alone: a cell that was halved has a
point at its centre.

A feature inside one coarse cell that touches none of its known points is not seen: the coarse grid
must be finer than the features sought. Of random wavy borders and of tongues thinner than a coarse
cell, corners alone get 1e-3 to 2e-3 of the points wrong, this way at most 6e-6.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.model.table import Status
from sweep.points.mesh import Keys, Mesh, halved, is_geometric
from sweep.request.chunk import Values
from sweep.request.sweeps import MAX_REFINED_POINTS, POINT, AnySweep, Axis, Grid, Refinement

Known = Mapping[str, NDArray[Any]]  # by plane of each output and "status": (n_points,)


def first_points(coarse: AnySweep, refinement: Refinement) -> AnySweep:
    """The refined sweep over the points of the coarse grid."""
    axes = coarse.grid.axes
    values = np.meshgrid(*(axis.columns[axis.name][:] for axis in axes), indexing="ij")
    columns = {axis.name: each.ravel() for axis, each in zip(axes, values, strict=True)}
    levels = np.zeros(math.prod(coarse.grid.shape), np.uint8)
    return coarse.with_axes([Axis(POINT, columns, _recipe(coarse, refinement), levels)])


def with_stored_points(coarse: AnySweep, refinement: Refinement, stored: AnySweep) -> AnySweep:
    """The requested refined sweep, with the points of a stored one if that is refined too."""
    recipe = _recipe(coarse, refinement)
    names = {axis.name for axis in coarse.grid.axes}
    axis = next((each for each in stored.grid.axes if names == set(each.columns)), None)
    if axis is None or axis.name != POINT:
        axis = Axis(
            POINT, {each.name: each.columns[each.name] for each in coarse.grid.axes}, recipe
        )
    return coarse.with_axes([replace(axis, recipe=recipe)])


def next_points(coarse: Grid, refinement: Refinement, points: Axis, known: Known) -> Axis | None:
    """The points followed by those to compute next; None if nothing is left to halve.

    `known` has the results at the points, of which those of level 0 are the coarse grid, in its
    order. SweepError if there would be more points than memory holds.
    """
    levels = np.asarray(points.levels)
    lattice = _lattice(coarse, refinement.levels, points)
    mesh = Mesh(coarse.shape, refinement.levels)
    keys = _keys(mesh, lattice, points)
    order = np.argsort(keys)
    there, ordered = keys[order], {name: values[order] for name, values in known.items()}
    mesh.halve_around(there)
    kinds = {output.name: output.kind for output in coarse.outputs}
    measured = [name for name in refinement.outputs if kinds[name] != "flag"]
    flags = [name for name in refinement.outputs if name not in measured]
    is_coarse = levels == 0
    spans = [_span(known, name, is_coarse, refinement.tolerance or 0.0) for name in measured]
    chosen = mesh.unlike(there, _compared(ordered, flags, measured, spans))
    around = mesh.beside([*chosen[:-1], chosen[-1][:0]])
    mesh.halve([np.union1d(one, more) for one, more in zip(chosen, around, strict=True)])
    new = np.setdiff1d(mesh.points(), there, assume_unique=True)
    if not new.size:
        return None
    if (total := keys.size + new.size) > MAX_REFINED_POINTS:
        raise SweepError(
            f"the refinement would need {total:,} points, and the limit is "
            f"{MAX_REFINED_POINTS:,}; use fewer levels or a larger tolerance"
        )
    places = mesh.positions(new)
    columns = {
        name: np.concatenate([points.columns[name][:], values[places[:, i]]])
        for i, (name, values) in enumerate(lattice.items())
    }
    return replace(points, columns=columns, levels=np.concatenate([levels, mesh.level_of(new)]))


def _lattice(coarse: Grid, levels: int, points: Axis) -> dict[str, Values]:
    """The values of each axis at the finest level, from the coarse ones that were computed."""
    is_coarse = np.asarray(points.levels) == 0
    lattice: dict[str, Values] = {}
    for dimension, axis in enumerate(coarse.axes):
        on_grid = points.columns[axis.name][:][is_coarse].reshape(coarse.shape)
        along = np.moveaxis(on_grid, dimension, 0).reshape(axis.size, -1)[:, 0]
        geometric = is_geometric(axis.recipe)
        lattice[axis.name] = halved(along.astype(np.float64), levels, geometric=geometric)
    return lattice


def _keys(mesh: Mesh, lattice: Mapping[str, Values], points: Axis) -> Keys:
    """The keys of points, whose values are on the lattice."""
    places: list[NDArray[np.intp]] = []
    for name, values in lattice.items():
        ascending = np.argsort(values)
        at = np.searchsorted(values, points.columns[name][:], sorter=ascending)
        places.append(ascending[np.minimum(at, len(values) - 1)])
    return mesh.flat(np.stack(places, axis=1))


def _span(known: Known, name: str, is_coarse: NDArray[np.bool_], share: float) -> float:
    """The span within a cell that an output may have: a share of its range on the coarse grid."""
    values = _finite(known, name)[is_coarse]
    values = values[~np.isnan(values)]
    return share * float(values.max() - values.min()) if values.size else 0.0


def _compared(
    known: Known, flags: Sequence[str], measured: Sequence[str], spans: Sequence[float]
) -> list[tuple[Values, float]]:
    """What may not differ in a cell: status, flags, signs of infinite values; then numbers."""
    codes = [known[name].astype(np.float64) for name in ("status", *flags)]
    for name in measured:
        values = known[name]
        codes.append(np.isposinf(values).astype(np.float64) - np.isneginf(values))
    numbers = [_finite(known, name) for name in measured]
    return [*((each, 0.0) for each in codes), *zip(numbers, spans, strict=True)]


def _finite(known: Known, name: str) -> Values:
    """The values that are ok and finite, NaN elsewhere."""
    values = known[name].astype(np.float64)
    return np.where((known["status"] == Status.ok) & np.isfinite(values), values, np.nan)


def _recipe(coarse: AnySweep, refinement: Refinement) -> dict[str, object]:
    """The recipe of a refined sweep's one axis, its points."""
    table: dict[str, object] = {"output": list(refinement.outputs), "levels": refinement.levels}
    if refinement.tolerance is not None:
        table["tolerance"] = refinement.tolerance
    return {
        "refine": table,
        "axes": [{"name": axis.name, **axis.recipe} for axis in coarse.grid.axes],
    }
