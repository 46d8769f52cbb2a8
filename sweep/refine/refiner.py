"""Which points a refined sweep computes next, pass by pass, from the results of earlier passes.

The first pass is the coarse grid. Each later pass halves the cells whose points differ (corners,
and the corners of finer neighbours between them) and, except at the last level, the cells around
them; it computes the corners that are new. A border is thus followed into cells that did not show
it. What a pass computes depends only on the sweep and on earlier passes.

A feature inside one coarse cell that touches none of its known points is not seen: the coarse grid
must be finer than the features sought. Of random wavy borders and of tongues thinner than a coarse
cell, corners alone get 1e-3 to 2e-3 of the points wrong, this way at most 6e-6.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.plan.recipes import canonical
from sweep.refine.mesh import Keys, Mesh, halved, is_geometric
from sweep.request import POINT, Axis, Refinement, Sweep
from sweep.spec import Status
from sweep.store.counts import as_stored as values_as_stored
from sweep.work import Values

if TYPE_CHECKING:
    import xarray as xr

MAX_REFINED_POINTS = 10**8  # of a refined sweep, which takes about 200 bytes of memory per point

Arrays = dict[str, NDArray[Any]]  # by plane of each output and "status": (n_points,)


class Refiner:
    """The passes of a refined sweep: `sweep` is the next pass, None if nothing is left to halve."""

    def __init__(self, coarse: Sweep, refinement: Refinement) -> None:
        self._coarse = coarse
        self._refinement = refinement
        self._mesh = Mesh(coarse.shape, refinement.levels)
        self._points = np.empty(0, np.int64)
        self._new = self._mesh.points()
        self._arrays: Arrays = {}
        kinds = {output.name: output.kind for output in coarse.outputs}
        self._measured = [name for name in refinement.outputs if kinds[name] != "flag"]
        self._lattice: dict[str, Values] = {}
        self.number = 0  # of the next pass
        self.sweep: Sweep | None = coarse

    def enter(self, results: xr.Dataset) -> None:
        """Take in the results of a pass, with every point done, and determine the next pass.

        SweepError if that would make more points than memory holds.
        """
        arrays = {
            str(n): values_as_stored(values).ravel() for n, values in results.data_vars.items()
        }
        for output in (each for each in self._coarse.outputs if each.inner_shape):
            planes = arrays.pop(output.name).reshape(-1, len(output.planes)).T
            arrays |= dict(zip(output.planes, planes, strict=True))
        if self.number == 0:
            self._lattice = self._values(results)
            self._spans = self._max_spans(arrays)
        self._take(arrays)
        chosen = self._mesh.unlike(self._points, self._compared())
        around = self._mesh.beside([*chosen[:-1], chosen[-1][:0]])
        self._mesh.halve([np.union1d(one, more) for one, more in zip(chosen, around, strict=True)])
        self._new = np.setdiff1d(self._mesh.points(), self._points, assume_unique=True)
        self.number += 1
        total = self._points.size + self._new.size
        if total > MAX_REFINED_POINTS:
            raise SweepError(
                f"pass {self.number} of the refinement would bring it to {total:,} points, and "
                f"the limit is {MAX_REFINED_POINTS:,}; use fewer levels or a larger tolerance"
            )
        self.sweep = self._at(self._new, {"pass": self.number}) if self._new.size else None

    def result(self) -> tuple[Sweep, Arrays]:
        """The points of all passes as one sweep: by level, and within a level in grid order."""
        order = np.lexsort((self._points, self._mesh.level_of(self._points)))
        arrays = {name: values[order] for name, values in self._arrays.items()}
        return self._at(self._points[order], {}), arrays

    def _at(self, points: Keys, more: Mapping[str, object]) -> Sweep:
        """The sweep over some points of the lattice, with more entries in its axis's recipe."""
        positions = self._mesh.positions(points)
        names = self._lattice
        columns = {name: names[name][positions[:, i]] for i, name in enumerate(names)}
        recipe = {**refined_recipe(self._coarse, self._refinement), **more}
        axis = Axis(POINT, columns, recipe, self._mesh.level_of(points))
        return replace(self._coarse, axes=(axis,))

    def _values(self, results: xr.Dataset) -> dict[str, Values]:
        """The values of each axis at the finest level, from the coarse ones used in pass 0."""
        return {
            axis.name: halved(
                results[axis.name].values.astype(np.float64),
                self._refinement.levels,
                geometric=is_geometric(axis.recipe),
            )
            for axis in self._coarse.axes
        }

    def _take(self, arrays: Arrays) -> None:
        points = np.concatenate((self._points, self._new))
        order = np.argsort(points)
        self._points = points[order]
        self._arrays = {
            name: np.concatenate((self._arrays.get(name, values[:0]), values))[order]
            for name, values in arrays.items()
        }

    def _max_spans(self, arrays: Arrays) -> tuple[float, ...]:
        """The span within a cell that each output other than a flag may have."""
        share = self._refinement.tolerance or 0.0
        spans: list[float] = []
        for name in self._measured:
            values = _finite(arrays, name)
            known = values[~np.isnan(values)]
            spans.append(share * float(known.max() - known.min()) if known.size else 0.0)
        return tuple(spans)

    def _compared(self) -> list[tuple[Values, float]]:
        """What may not differ in a cell: status, flags, signs of infinite values; then numbers."""
        flags = [name for name in self._refinement.outputs if name not in self._measured]
        codes = [self._arrays[name].astype(np.float64) for name in ("status", *flags)]
        for name in self._measured:
            values = self._arrays[name]
            codes.append(np.isposinf(values).astype(np.float64) - np.isneginf(values))
        numbers = [_finite(self._arrays, name) for name in self._measured]
        return [*((each, 0.0) for each in codes), *zip(numbers, self._spans, strict=True)]


def refined_recipe(coarse: Sweep, refinement: Refinement) -> dict[str, object]:
    """The recipe of a refined sweep's one axis, its points."""
    table: dict[str, object] = {"output": list(refinement.outputs), "levels": refinement.levels}
    if refinement.tolerance is not None:
        table["tolerance"] = refinement.tolerance
    return {"refine": table, "axes": [{"name": axis.name, **axis.recipe} for axis in coarse.axes]}


def as_stored(coarse: Sweep, refinement: Refinement, stored: Sweep) -> Sweep:
    """The requested refined sweep, with the points of a stored one if that is refined too."""
    recipe = refined_recipe(coarse, refinement)
    names = {axis.name for axis in coarse.axes}
    axis = next((each for each in stored.axes if names == set(each.columns)), None)
    if axis is None or axis.name != POINT:
        axis = Axis(POINT, {each.name: each.columns[each.name] for each in coarse.axes}, recipe)
    return replace(coarse, axes=(replace(axis, recipe=recipe),))


def max_points(coarse: Sweep, refinement: Refinement) -> int:
    """The number of points if every cell is halved `levels` times."""
    return math.prod(Mesh(coarse.shape, refinement.levels).shape)


def is_outdated(stored: Sweep, requested: Sweep) -> bool:
    """Whether a stored pass is the requested one, but over other points."""
    if not any(axis.is_refined for axis in stored.axes):
        return False
    (old,), (new,) = stored.axes, requested.axes
    return canonical(old.recipe) == canonical(new.recipe) and not all(
        np.array_equal(values[:], old.columns[name][:]) for name, values in new.columns.items()
    )


def _finite(arrays: Arrays, name: str) -> Values:
    """The values that are ok and finite, NaN elsewhere."""
    values = arrays[name].astype(np.float64)
    return np.where((arrays["status"] == Status.ok) & np.isfinite(values), values, np.nan)
