"""Running a request in a store: kernels compiled, the store made and held, its chunks computed."""

from __future__ import annotations

import json
import warnings
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Event

from sweep.engine.ledger import Summary
from sweep.engine.loop import More, Report, run
from sweep.engine.slurm import named
from sweep.engine.workers import Notify, OpenBackend, needs_backend_here
from sweep.errors import MachineError, StoreError
from sweep.kernel.gpu_discovery import find_gpus
from sweep.kernel.opening import open_backend as open_backend_by_name
from sweep.kernel.source import kernel_digest
from sweep.points.chunking import chunk_at, chunk_shape, work_shape
from sweep.points.columns import points, variant_sets
from sweep.request.chunk import Points
from sweep.request.sweeps import Request
from sweep.store import Store, anything_at, is_in_memory, target_of
from sweep.store.layout import WEAR
from sweep.store.upkeep import clean, failed, is_complete, make_ready


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
        provenance=provenance(request),
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
            if not is_complete(store) or (options.retry_failed and failed(store)):
                raise
        options = named(options, request.name)
        return run(target_of(store), options, report, stop, notify, open_backend, more=more)


def compile_kernels(request: Request) -> list[tuple[str, ...]]:
    """Compile every kernel that the chunks of a sweep need; the variants of each.

    Of a sweep that grows with its results, chunks to come may have points from everywhere.
    SweepError as of `sweep.run`.
    """
    sweep = request.sweep
    variants = variant_sets(sweep, chunk_shape(sweep, request.options.chunk_points))
    if sweep.grid.may_grow:
        variants = sorted({*variants, *variant_sets(sweep, sweep.grid.shape)})
    backend = open_backend_by_name(request.options.backend)
    for names in variants:
        backend.prepare(sweep.points, Points(n_points=0, columns={}, variants=names))
    return variants


def provenance(request: Request) -> dict[str, object]:
    """What a store was made with, beyond its recipe: the same at any time and on any machine."""
    wear = {WEAR: json.dumps(request.wear_table)} if request.wear_table else {}
    return {"kernel_digest": kernel_digest(request.sweep.points), **wear}


def _check_machine(request: Request) -> None:
    """Compile what the first chunk needs here, and raise whatever prevents that."""
    sweep = request.sweep
    if request.options.gpus is not None:
        find_gpus(request.options.gpus)
    if not needs_backend_here(request.options):
        return
    shape = work_shape(sweep, request.options.chunk_points)
    first = chunk_at((0,) * len(shape), sweep.computed_shape, shape)
    open_backend_by_name(request.options.backend).prepare(sweep.points, points(sweep, first))
