"""A sweep from its file to its Dataset: what `sweep.run` does, and the command line too."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Literal

from sweep.backends import open_backend
from sweep.config import Request, load
from sweep.engine import Progress, Summary, needs_backend_here, own_chunks
from sweep.engine import run as run_engine
from sweep.forecast import Forecast, forecast
from sweep.plan import chunk_at, chunk_shape, chunks, points, variant_sets
from sweep.source import kernel_digest
from sweep.spec import Points
from sweep.store import MemoryResults, Store, anything_at

if TYPE_CHECKING:
    import xarray as xr

RESULTS_FOLDER = Path("results")

Source = str | Path | Mapping[str, object]
Report = Callable[[Progress], None]


def run(
    source: Source,
    overrides: Sequence[str] = (),
    *,
    store: str | Path | Literal["auto"] | None = "auto",
    backend: Literal["auto", "cpu", "gpu"] | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    report: Report | None = None,
    stop: Event | None = None,
) -> xr.Dataset:
    """The results of a sweep: an xarray.Dataset with the sweep's dimensions, `status` included.

    `source` is a TOML file, the name of a shipped one, or a mapping of that shape; `overrides` are
    "name=value" texts. `store` is where results are kept, by default results/NAME.zarr: what is
    done there is not computed again, and the Dataset is lazy. With store=None it is in memory and
    nothing is written. Points that could not be computed carry their `status`; SweepError is
    raised where the request or the machine is at fault. Set `stop` to end early. `workers` are
    threads, or with cluster="local" processes; `cluster` may be a Dask scheduler's address, too.
    """
    request = with_options(
        load(source, overrides), backend=backend, workers=workers, cluster=cluster
    )
    if store is None:
        results = MemoryResults(
            request.sweep,
            chunk_points=request.options.chunk_points,
            provenance=provenance(request),
        )
        run_engine(results, request.options, report, stop)
        return results.dataset()
    kept = open_store(request, default_store(request) if store == "auto" else store)
    run_in_store(kept, request, report, stop)
    return kept.dataset()


def with_options(request: Request, **options: Any) -> Request:
    """The request with those run options that are not None."""
    given = {name: value for name, value in options.items() if value is not None}
    return replace(request, options=replace(request.options, **given))


def default_store(request: Request) -> Path:
    """Where results go if nothing else is said."""
    return RESULTS_FOLDER / f"{request.name}.zarr"


def open_store(request: Request, path: str | Path) -> Store:
    """The store of the request's sweep at `path`, made if there is none.

    StoreError if something else lies there, the differences named. What this machine cannot
    compute leaves no store behind.
    """
    if not anything_at(path) and needs_backend_here(request.options):
        _compile(request)
    return Store.create(
        path,
        request.sweep,
        chunk_points=request.options.chunk_points,
        provenance=provenance(request),
        accept_revision=request.options.accept_revision,
        durable=request.options.durable,
    )


def run_in_store(
    store: Store,
    request: Request,
    report: Report | None = None,
    stop: Event | None = None,
    tell: Callable[[str], None] | None = None,
) -> Summary:
    """Compute what is pending in the store, or in its shard; StoreError at once if that is held.

    A whole run holds the store alone; shards share it, and each holds its own.
    """
    options = request.options
    with _held(store, options.shard) as alone:
        if alone:
            store.clean()
        store.reopen(own_chunks(store, store.torn(), options.shard))
        if options.retry_failed:
            store.reopen(own_chunks(store, store.failed(), options.shard))
        return run_engine(store, options, report, stop, tell)


@contextmanager
def _held(store: Store, shard: tuple[int, int] | None) -> Generator[bool]:
    """Within, nobody else computes what this run does; whether nobody else computes at all."""
    if shard is None:
        with store.lock():
            yield True
        return
    with store.lock_shard(*shard, clean=store.clean):
        yield False


def _compile(request: Request) -> None:
    """What the first chunk needs, compiled; whatever is in the way of that is raised."""
    sweep = request.sweep
    shape = chunk_shape(sweep, request.options.chunk_points)
    first = chunk_at((0,) * len(shape), sweep.shape, shape)
    open_backend(request.options.backend).prepare(sweep, points(sweep, first))


def compile_kernels(request: Request) -> list[tuple[str, ...]]:
    """Compile every kernel that the chunks of a sweep need; the variants of each.

    There are none of a method that nothing is compiled for. SweepError as of a run.
    """
    sweep = request.sweep
    if sweep.method.kind != "kernel":
        return []
    variants = variant_sets(sweep, chunk_shape(sweep, request.options.chunk_points))
    backend = open_backend(request.options.backend)
    for names in variants:
        backend.prepare(sweep, Points(n_points=0, columns={}, variants=names))
    return variants


def forecast_of(request: Request, path: str | Path) -> Forecast:
    """What running the request into the store at `path` will take; nothing is written.

    Of a store that is there, only what is still to do counts. SweepError as of a run.
    """
    sweep, options = request.sweep, request.options
    if not needs_backend_here(options):
        options = replace(options, workers=None)  # which are elsewhere; this machine is probed
    if not anything_at(path):
        shape = chunk_shape(sweep, options.chunk_points)
        pending = list(chunks(sweep.shape, shape))
        return forecast(sweep, pending, shape, options, path, is_made=False)
    store = open_store(request, path)
    again = [*store.torn(), *(store.failed() if options.retry_failed else [])]
    pending = {chunk.index: chunk for chunk in (*store.pending(), *again)}
    shape = store.chunk_shape
    return forecast(store.sweep, [*pending.values()], shape, options, path, is_made=True)


def provenance(request: Request) -> dict[str, object]:
    """What made a store, beyond its recipe: the same whenever and wherever it is made."""
    return {"kernel_digest": kernel_digest(request.sweep)}
