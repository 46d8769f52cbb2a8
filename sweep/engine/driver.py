"""Running a request in a store: kernels compiled, the store made and held, its chunks computed."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from threading import Event

from sweep.backends import open_backend as open_backend_by_name
from sweep.backends.visible import find_gpus
from sweep.engine.crews import Crew, Notify, OpenBackend, needs_backend_here
from sweep.engine.ledger import Summary
from sweep.engine.loop import Report, own_chunks, run
from sweep.errors import MachineError, StoreError
from sweep.plan.chunking import chunk_at, chunk_shape, work_shape
from sweep.plan.point_columns import points, variant_sets
from sweep.request import Request
from sweep.source import kernel_digest
from sweep.spec import Status
from sweep.store import Remaining, Store, anything_at, in_stretches, is_in_memory
from sweep.store.extension import refuse_grown
from sweep.store.layout import WEAR
from sweep.store.upkeep import clean, failed, is_complete, keep_wear, rebuild_constants, reopen
from sweep.work import Points


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
    crew: Crew | None = None,
) -> Summary:
    """Compute what is pending in the store, or in the request's shard of it.

    StoreError at once if another run holds the store; other SweepErrors as of `sweep.run`. A whole
    run holds the store alone; shards share it, and each holds its own part.
    """
    options = request.options
    shard = options.shard
    try:
        with store.lock(shard, partial(clean, store)):
            refuse_grown(store.files, store.sweep.shape, store.attributes)
            if request.wear_table:
                keep_wear(store, request.wear_table)
            if shard is None:  # no other run can be at work
                clean(store)
            for place in rebuild_constants(store):
                (notify or warnings.warn)(f"rebuilt {place!r} from the recipe of the store")
            reopen(store, own_chunks(store, store.chunk_files.torn(), shard))
            if options.retry_failed:
                reopen(store, own_chunks(store, failed(store), shard))
            return run(store, options, report, stop, notify, open_backend, crew)
    except MachineError:  # a complete store need not be writable
        if not is_complete(store) or (options.retry_failed and failed(store)):
            raise
        return run(store, options, report, stop)


def shard_counts(store: Store, shard: tuple[int, int]) -> Mapping[Status, int]:
    """The finished points of a shard by status, in whichever run they were computed.

    StoreError if a status is damaged.
    """
    return store.counts(own_chunks(store, store.done(), shard))


def points_left_of_shard(store: Store, left: Remaining, shard: tuple[int, int]) -> int:
    """The points of a shard that are left; after its run, those of a pass that could not begin."""
    chunks = own_chunks(in_stretches(store), [*left.pending, *left.later], shard)
    return sum(chunk.n_points for chunk in chunks)


def compile_kernels(request: Request) -> list[tuple[str, ...]]:
    """Compile every kernel that the chunks of a sweep need; the variants of each.

    SweepError as of `sweep.run`.
    """
    sweep = request.sweep
    variants = variant_sets(sweep, chunk_shape(sweep, request.options.chunk_points))
    if request.refinement is not None:  # later passes have points from everywhere
        variants = sorted({*variants, *variant_sets(sweep, sweep.shape)})
    backend = open_backend_by_name(request.options.backend)
    for names in variants:
        backend.prepare(sweep, Points(n_points=0, columns={}, variants=names))
    return variants


def provenance(request: Request) -> dict[str, object]:
    """What a store was made with, beyond its recipe: the same at any time and on any machine."""
    wear = {WEAR: json.dumps(request.wear_table)} if request.wear_table else {}
    return {"kernel_digest": kernel_digest(request.sweep), **wear}


def _check_machine(request: Request) -> None:
    """Compile what the first chunk needs here, and raise whatever prevents that."""
    sweep = request.sweep
    if request.options.gpus is not None:
        find_gpus(request.options.gpus)
    if not needs_backend_here(request.options):
        return
    shape = work_shape(sweep, request.options.chunk_points)
    first = chunk_at((0,) * len(shape), sweep.grid, shape)
    open_backend_by_name(request.options.backend).prepare(sweep, points(sweep, first))
