"""Which points a refined sweep computes next, pass after pass, from what the passes before found.

The first pass is the coarse grid. Each later one halves the cells at whose edge points differ
(their corners, and those of finer neighbours between them), and but at the last level the cells
around them too; it has the corners that are new. So a border is followed into cells that did not
show it. What a pass computes follows from the sweep and from the passes before, and nothing else.

What lies within one coarse cell and touches no corner or known point of it is not seen: the coarse
grid has to be finer than the features that are sought. tests/benchmarks/refinement.py measures what
points between corners and the cells around find.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.plan import canonical
from sweep.refine.mesh import Found, Keys, Mesh, halved, is_geometric
from sweep.spec import POINT, Axis, Refinement, Status, Sweep, Values

if TYPE_CHECKING:
    import xarray as xr

MAX_REFINED_POINTS = 10**8  # of a refined sweep, which takes some 200 bytes of memory a point

Arrays = dict[str, NDArray[Any]]  # by output and "status": (n_points,)


class Refiner:
    """The passes of one refined sweep: `sweep` is the next, None when nothing is left to halve."""

    def __init__(self, coarse: Sweep, refinement: Refinement) -> None:
        self._coarse = coarse
        self._refinement = refinement
        self._mesh = Mesh(coarse.shape, refinement.levels)
        self._points = np.empty(0, np.int64)
        self._new = self._mesh.points()
        self._arrays: Arrays = {}
        self._lattice: dict[str, Values] = {}
        self.number = 0  # of the next pass
        self.sweep: Sweep | None = coarse

    def enter(self, results: xr.Dataset) -> None:
        """What the pass has found, every point of it done; after that comes the next one.

        SweepError if that would be of more points than can be held.
        """
        found = {str(name): results[name].values.ravel() for name in results.data_vars}
        if self.number == 0:
            self._lattice = self._values(results)
            self._spans = self._allowed(found)
        self._take(found)
        chosen = self._mesh.unlike(self._points, self._comparable())
        around = self._mesh.beside([*chosen[:-1], chosen[-1][:0]])
        self._mesh.halve([np.union1d(one, more) for one, more in zip(chosen, around, strict=True)])
        self._new = np.setdiff1d(self._mesh.points(), self._points, assume_unique=True)
        self.number += 1
        total = self._points.size + self._new.size
        if total > MAX_REFINED_POINTS:
            raise SweepError(
                f"pass {self.number} of the refinement would make it {total:,} points, of at most "
                f"{MAX_REFINED_POINTS:,}; give fewer levels, or a greater tolerance"
            )
        self.sweep = self._at(self._new, {"pass": self.number}) if self._new.size else None

    def result(self) -> tuple[Sweep, Arrays]:
        """All points of all passes as one sweep, level by level, each in the order of the axes."""
        order = np.lexsort((self._points, self._mesh.level_of(self._points)))
        arrays = {name: values[order] for name, values in self._arrays.items()}
        return self._at(self._points[order], {}), arrays

    def _at(self, points: Keys, told: Mapping[str, object]) -> Sweep:
        """The sweep of some points of the lattice."""
        positions = self._mesh.positions(points)
        names = self._lattice
        columns = {name: names[name][positions[:, i]] for i, name in enumerate(names)}
        recipe = {**refined_recipe(self._coarse, self._refinement), **told}
        axis = Axis(POINT, columns, recipe, self._mesh.level_of(points))
        return replace(self._coarse, axes=(axis,))

    def _values(self, results: xr.Dataset) -> dict[str, Values]:
        """Of each axis the values at the finest level, from those that were computed with."""
        return {
            axis.name: halved(
                results[axis.name].values.astype(np.float64),
                self._refinement.levels,
                geometric=is_geometric(axis.recipe),
            )
            for axis in self._coarse.axes
        }

    def _take(self, found: Arrays) -> None:
        points = np.concatenate((self._points, self._new))
        order = np.argsort(points)
        self._points = points[order]
        self._arrays = {
            name: np.concatenate((self._arrays.get(name, values[:0]), values))[order]
            for name, values in found.items()
        }

    def _measured(self) -> list[str]:
        kinds = {output.name: output.kind for output in self._coarse.outputs}
        return [name for name in self._refinement.outputs if kinds[name] != "flag"]

    def _allowed(self, found: Arrays) -> tuple[float, ...]:
        """What each output that is no flag may span in a cell."""
        share = self._refinement.tolerance or 0.0
        spans: list[float] = []
        for name in self._measured():
            values = _finite(found, name)
            there = values[~np.isnan(values)]
            spans.append(share * float(there.max() - there.min()) if there.size else 0.0)
        return tuple(spans)

    def _comparable(self) -> Found:
        """Classes as codes: of flags, of status, and of values without a bound, by their sign."""
        status = self._arrays["status"].astype(np.int64)
        measured = self._measured()
        flags = [name for name in self._refinement.outputs if name not in measured]
        codes = [status, *(self._arrays[name].astype(np.int64) for name in flags)]
        for name in measured:
            values = self._arrays[name]
            codes.append(np.isposinf(values).astype(np.int64) - np.isneginf(values))
        numbers = tuple(_finite(self._arrays, name) for name in measured)
        return Found(tuple(codes), numbers, self._spans)


def refined_recipe(coarse: Sweep, refinement: Refinement) -> dict[str, object]:
    """What a refined sweep asks for along its points."""
    asked: dict[str, object] = {"output": list(refinement.outputs), "levels": refinement.levels}
    if refinement.tolerance is not None:
        asked["tolerance"] = refinement.tolerance
    return {"refine": asked, "axes": [{"name": axis.name, **axis.recipe} for axis in coarse.axes]}


def as_stored(coarse: Sweep, refinement: Refinement, stored: Sweep) -> Sweep:
    """The refined sweep that is asked for, with the points of a stored one if that is refined."""
    recipe = refined_recipe(coarse, refinement)
    names = {axis.name for axis in coarse.axes}
    axis = next((each for each in stored.axes if names == set(each.columns)), None)
    if axis is None or axis.name != POINT:
        axis = Axis(POINT, {each.name: each.columns[each.name] for each in coarse.axes}, recipe)
    return replace(coarse, axes=(replace(axis, recipe=recipe),))


def max_points(coarse: Sweep, refinement: Refinement) -> int:
    """How many points there are if every cell is halved as often as it may be."""
    return math.prod(Mesh(coarse.shape, refinement.levels).shape)


def is_outdated(stored: Sweep, asked: Sweep) -> bool:
    """Whether a stored pass is the one that is asked for, but of other points."""
    if not any(axis.is_refined for axis in stored.axes):
        return False
    (there,), (here,) = stored.axes, asked.axes
    return canonical(there.recipe) == canonical(here.recipe) and not all(
        np.array_equal(values[:], there.columns[name][:]) for name, values in here.columns.items()
    )


def _finite(found: Arrays, name: str) -> Values:
    """The values that are ok and finite, NaN elsewhere."""
    values = found[name].astype(np.float64)
    return np.where((found["status"] == Status.ok) & np.isfinite(values), values, np.nan)
