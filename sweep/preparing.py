"""What is done before a run: its kernels compiled, what it will take, how fast a machine is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from sweep.api import open_store
from sweep.backends import open_backend
from sweep.engine import needs_backend_here
from sweep.engine.ledger import of_shard
from sweep.forecast import Forecast, forecast, probe
from sweep.plan import chunk_counts, chunk_shape, chunks, variant_sets
from sweep.refine.passes import first_pass, refuse_shard
from sweep.refine.refiner import max_points
from sweep.spec import Points, Request
from sweep.store import anything_at


def compile_kernels(request: Request) -> list[tuple[str, ...]]:
    """Compile every kernel that the chunks of a sweep need; the variants of each.

    There are none of a method that nothing is compiled for. SweepError as of a run.
    """
    sweep = request.sweep
    if sweep.method.kind != "kernel":
        return []
    variants = variant_sets(sweep, chunk_shape(sweep, request.options.chunk_points))
    if request.refinement is not None:  # later passes have points from everywhere
        variants = sorted({*variants, *variant_sets(sweep, sweep.shape)})
    backend = open_backend(request.options.backend)
    for names in variants:
        backend.prepare(sweep, Points(n_points=0, columns={}, variants=names))
    return variants


def forecast_of(request: Request, path: str | Path) -> Forecast:
    """What running the request into the store at `path` will take; nothing is written.

    Of a store that is there, only what is still to do counts, and of a shard only its own chunks.
    Of a refined sweep that is not done it is what the coarse grid takes: the rest is known only
    pass by pass. SweepError as of a run.
    """
    if request.refinement is not None:
        return _forecast_of_refined(request, path)
    sweep, options = request.sweep, request.options
    if not needs_backend_here(options):
        options = replace(options, workers=None)  # which are elsewhere; this machine is probed
    is_made = anything_at(path)
    if is_made:
        store = open_store(request, path)
        sweep, shape = store.sweep, store.chunk_shape
        again = [*store.torn(), *(store.failed() if options.retry_failed else [])]
        pending = [*{chunk.index: chunk for chunk in (*store.pending(), *again)}.values()]
    else:
        shape = chunk_shape(sweep, options.chunk_points)
        pending = list(chunks(sweep.shape, shape))
    if options.shard is not None:
        pending = of_shard(pending, chunk_counts(sweep.shape, shape), *options.shard)
    return forecast(sweep, pending, shape, options, path, is_made=is_made)


@dataclass(frozen=True)
class Speed:
    """How fast a machine computes points from all over a sweep, storing left out."""

    name: str
    model: str
    method: str
    backend: str
    workers: int  # threads
    points_per_second: float | None  # of all threads; None: not one point was done in 10 s


def speed_of(request: Request, workers: int = 1) -> Speed:
    """What a second's probe finds, after the kernels are compiled. SweepError as of a run."""
    sweep = request.sweep
    backend = open_backend(request.options.backend)
    pace = probe(sweep, backend, workers)
    names = request.name, sweep.model.name, sweep.method.name
    return Speed(*names, backend.description, workers, pace)


def _forecast_of_refined(request: Request, path: str | Path) -> Forecast:
    """Of the coarse grid alone, with the most points there may be; unless all is there."""
    assert request.refinement is not None
    refuse_shard(request)
    known, place = first_pass(request, path)
    found = forecast_of(replace(known, refinement=None), place)
    if known is not request:
        return found
    return replace(found, points_at_most=max_points(request.sweep, request.refinement))
