"""A refined sweep from its coarse grid to its last point: results that grow pass by pass."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
import xarray as xr

from sweep.errors import MachineError, StoreError, SweepError
from sweep.refine.mesh import Mesh
from sweep.refine.next_points import Known, as_stored, first_points, next_points
from sweep.request import Grid, Refinement, Request
from sweep.store import Arrays, Store, Target, anything_at, is_url, target_of
from sweep.store.extension import refuse_grown
from sweep.store.place import local

Results = TypeVar("Results", Store, Arrays)


def with_points(request: Request, path: str | Path | None = None) -> Request:
    """The request with the points that a refined sweep has so far, in the store at a path.

    Without a store these are the points of the coarse grid. StoreError if an earlier version has
    begun to refine it. A request that is not refined is returned as it is.
    """
    if request.refinement is None:
        return request
    _refuse_shard(request)
    if path is None or not anything_at(path):
        if path is not None:
            _refuse_passes(str(path))
        return replace(request, sweep=first_points(request.sweep, request.refinement))
    stored = Store.open(path).sweep
    return replace(request, sweep=as_stored(request.sweep, request.refinement, stored))


def growing(request: Request, results: Results) -> Growing[Results] | None:
    """What makes the results of a refined request longer once they are done; None of others."""
    if request.refinement is None:
        return None
    return Growing(request.sweep.grid, request.refinement, results)


def max_points(request: Request, path: str | Path) -> int | None:
    """The number of points if every cell is halved `levels` times; None if no points follow."""
    if request.refinement is None or (anything_at(path) and not Store.open(path).may_grow):
        return None
    return math.prod(Mesh(request.sweep.grid.shape, request.refinement.levels).shape)


class Growing(Generic[Results]):
    """Results of a refined sweep: `results` are the present ones, longer after each call."""

    def __init__(self, coarse: Grid, refinement: Refinement, results: Results) -> None:
        self.results = results
        self._coarse, self._refinement = coarse, refinement

    def __call__(self) -> Target | None:
        """The target with the points to compute next; None if nothing is left to halve.

        StoreError if somebody else has extended the store, as is possible at a URL.
        """
        if not self.results.may_grow:
            return None
        if isinstance(self.results, Store):
            refuse_grown(self.results.files, self.results.sweep.grid.shape, self.results.attributes)
        (points,) = self.results.sweep.grid.axes
        known = _known(self.results.dataset(), self._coarse)
        longer = next_points(self._coarse, self._refinement, points, known)
        if longer is None:
            with suppress(MachineError):  # finished results need not be writable
                self.results.end_growth()
            return None
        self.results = self.results.grown(self.results.sweep.with_axes([longer]))
        return target_of(self.results)


def _known(dataset: xr.Dataset, coarse: Grid) -> Known:
    """The results at each point, by plane of each output, and the status."""
    known = {str(name): dataset[name].values for name in dataset.data_vars}
    for output in (each for each in coarse.outputs if each.inner_shape):
        planes = known.pop(output.name).reshape(-1, len(output.planes)).T
        known |= dict(zip(output.planes, planes, strict=True))
    return {name: np.ravel(values) for name, values in known.items()}


def _refuse_shard(request: Request) -> None:
    """SweepError if the request is for a shard: a refined sweep has none."""
    if request.options.shard is not None:
        raise SweepError(
            "`shard` excludes [refine], because each pass depends on all chunks of the one before; "
            "use `workers`, or `cluster` for several machines"
        )


def _refuse_passes(path: str) -> None:
    """StoreError if an earlier version has left passes of an unfinished store."""
    passes = f"{path.rstrip('/') if is_url(path) else local(path)}.passes"
    if anything_at(f"{passes}/0.zarr"):
        raise StoreError(
            f"{passes!r} has what an earlier version had computed of this sweep, which this one "
            "does not continue: remove it, or name another store, and run the sweep again"
        )
