"""Running a request in a store: kernels compiled, the store made and held, its chunks computed.

The points of a refined sweep follow from the results of those before, and the results grow.
"""

from __future__ import annotations

import math
import warnings
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Generic, TypeVar

import numpy as np
import xarray as xr

from sweep.engine.ledger import Summary
from sweep.engine.loop import More, Report, run
from sweep.engine.slurm import named
from sweep.engine.workers import Notify, OpenBackend, needs_backend_here
from sweep.errors import MachineError, StoreError, SweepError
from sweep.kernel.gpu_discovery import find_gpus
from sweep.kernel.opening import open_backend as open_backend_by_name
from sweep.points.chunking import chunk_at, chunk_shape, work_shape
from sweep.points.columns import variant_sets, variants_of
from sweep.points.mesh import Mesh
from sweep.points.refinement import Known, first_points, next_points, with_stored_points
from sweep.request.sweeps import Grid, Request
from sweep.store import Arrays, Store, Target, anything_at, is_in_memory, is_url, target_of
from sweep.store.layout import of_wear
from sweep.store.location import local
from sweep.store.upkeep import clean, is_complete, make_ready

Results = TypeVar("Results", Store, Arrays)


def with_points(request: Request, path: str | Path | None = None) -> Request:
    """The request with the points that a refined sweep has so far, in the store at a path.

    Without a store these are the points of the coarse grid. StoreError if an earlier version has
    begun to refine it. A request that is not refined is returned as it is.
    """
    if request.refinement is None:
        return request
    if request.options.shard is not None:
        raise SweepError(
            "`shard` excludes [refine], because each pass depends on all chunks of the one before; "
            "use `workers`, or `cluster` for several machines"
        )
    if path is None or not anything_at(path):
        if path is not None:
            _refuse_passes(str(path))
        return replace(request, sweep=first_points(request.sweep, request.refinement))
    stored = Store.open(path).sweep
    return replace(request, sweep=with_stored_points(request.sweep, request.refinement, stored))


def open_store(request: Request, path: str | Path) -> Store:
    """The store of the request's sweep at `path`, created if nothing is there.

    StoreError, with the differences named, if something else is there, or if workers could not see
    the place. If this machine cannot compute the sweep, no store is left behind.
    """
    options = request.options
    if is_in_memory(path) and (options.cluster is not None or options.gpus is not None):
        raise StoreError(
            f"{str(path)!r} is in the memory of this process, and workers in other processes "
            "cannot see it: name a store on a disk, or leave out cluster and gpus"
        )
    if not anything_at(path):
        _check_machine(request)
    return Store.create(
        path,
        request.sweep,
        chunk_points=options.chunk_points,
        provenance=of_wear(request.wear_table),
        accept_revision=options.accept_revision,
        durable=options.durable,
    )


def run_in_store(
    store: Store,
    request: Request,
    report: Report | None = None,
    stop: Event | None = None,
    notify: Notify | None = None,
    open_backend: OpenBackend = open_backend_by_name,
    more: More | None = None,
) -> Summary:
    """Compute what is pending in the store, or in the request's shard of it, and then `more`.

    StoreError at once if another run holds the store; other SweepErrors as of `sweep.run`. A whole
    run holds the store alone; shards share it, and each holds its own part.
    """
    options = request.options
    with ExitStack() as held:
        try:
            held.enter_context(store.lock(options.shard, partial(clean, store)))
            make_ready(store, options, request.wear_table, notify or warnings.warn)
        except MachineError:  # a complete store need not be writable
            if not is_complete(store) or (options.retry_failed and store.failed()):
                raise
        options = named(options, request.name)
        return run(target_of(store), options, report, stop, notify, open_backend, more=more)


def run_in_memory(request: Request, report: Report | None, stop: Event | None) -> Arrays:
    """The results of the request in memory. SweepErrors as of `sweep.run`."""
    sweep, points = with_points(request).sweep, request.options.chunk_points
    results = Arrays(sweep, chunk_points=points, provenance=of_wear(request.wear_table))
    more = Growing(request, results)
    run(target_of(results), request.options, report, stop, more=more)
    return more.results


class Growing(Generic[Results]):
    """Results of a request: `results` are the present ones, those of refined sweeps grow."""

    def __init__(self, request: Request, results: Results) -> None:
        self.results = results
        self._coarse, self._refinement = request.sweep.grid, request.refinement

    def __call__(self) -> Target | None:
        """The target with the points to compute next; None if nothing is left to compute.

        StoreError if somebody else has extended the store, as is possible at a URL.
        """
        if self._refinement is None or not self.results.may_grow:
            return None
        if isinstance(self.results, Store):
            self.results.refuse_grown()
        (points,) = self.results.sweep.grid.axes
        known = _known(self.results.dataset(), self._coarse)
        longer = next_points(self._coarse, self._refinement, points, known)
        if longer is None:
            with suppress(MachineError):  # finished results need not be writable
                self.results.end_growth()
            return None
        self.results = self.results.grown(self.results.sweep.with_axes([longer]))
        return target_of(self.results)


def compile_kernels(request: Request) -> list[tuple[str, ...]]:
    """Compile every kernel that a run of the request needs; the variants of each.

    Of a sweep that grows with its results, chunks to come may have points from everywhere.
    SweepError as of `sweep.run`.
    """
    sweep = with_points(request).sweep
    variants = variant_sets(sweep, chunk_shape(sweep, request.options.chunk_points))
    if sweep.grid.may_grow:
        variants = sorted({*variants, *variant_sets(sweep, sweep.grid.shape)})
    backend = open_backend_by_name(request.options.backend)
    for names in variants:
        backend.prepare(sweep.points, names)
    return variants


def max_points(request: Request, path: str | Path) -> int | None:
    """The number of points if every cell is halved `levels` times; None if no points follow."""
    if request.refinement is None or (anything_at(path) and not Store.open(path).may_grow):
        return None
    return math.prod(Mesh(request.sweep.grid.shape, request.refinement.levels).shape)


def _check_machine(request: Request) -> None:
    """Compile what the first chunk needs here, and raise whatever prevents that."""
    sweep = request.sweep
    if request.options.gpus is not None:
        find_gpus(request.options.gpus)
    if not needs_backend_here(request.options):
        return
    shape = work_shape(sweep, request.options.chunk_points)
    first = chunk_at((0,) * len(shape), sweep.computed_shape, shape)
    backend = open_backend_by_name(request.options.backend)
    backend.prepare(sweep.points, variants_of(sweep, first))


def _known(dataset: xr.Dataset, coarse: Grid) -> Known:
    """The results at each point, by plane of each output, and the status."""
    known = {str(name): dataset[name].values for name in dataset.data_vars}
    for output in (each for each in coarse.outputs if each.inner_shape):
        planes = known.pop(output.name).reshape(-1, len(output.planes)).T
        known |= dict(zip(output.planes, planes, strict=True))
    return {name: np.ravel(values) for name, values in known.items()}


def _refuse_passes(path: str) -> None:
    """StoreError if an earlier version has left passes of an unfinished store."""
    passes = f"{path.rstrip('/') if is_url(path) else local(path)}.passes"
    if anything_at(f"{passes}/0.zarr"):
        raise StoreError(
            f"{passes!r} has results that an earlier version of the program left unfinished and "
            "this one cannot continue: remove it, or name another store, and run the sweep again"
        )
