"""A sweep from its file to its Dataset: what `sweep.run` does, and the command line too."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Literal

from sweep.backends import open_backend
from sweep.backends.visible import find_gpus
from sweep.config import checked_options, load
from sweep.config.wording import shown
from sweep.engine import (
    KeptCrew,
    Progress,
    Summary,
    consistent,
    needs_backend_here,
    own_chunks,
)
from sweep.engine import run as run_engine
from sweep.errors import StoreError, SweepError
from sweep.plan import chunk_at, chunk_shape, points
from sweep.refine.passes import Means, run_in_memory, run_in_stores
from sweep.source import kernel_digest
from sweep.spec import Request, Status
from sweep.store import MemoryResults, Store, anything_at, is_in_memory, refuse_no_path

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
    gpus: int | Literal["all"] | None = None,
    report: Report | None = None,
    stop: Event | None = None,
) -> xr.Dataset:
    """The results of a sweep: an xarray.Dataset with the sweep's dimensions, `status` included.

    `source` is a TOML file, the name of a shipped one, or a mapping of that shape; `overrides` are
    "name=value" texts. `store` is where results are kept, by default results/NAME.zarr: what is
    done there is not computed again, and the Dataset is lazy. With store=None it is in memory and
    nothing is written. Points that could not be computed carry their `status`; SweepError is
    raised where the request or the machine is at fault. `report` is called with the progress a few
    times a second; set `stop`, a threading.Event, to end early. `workers` are
    threads, or with cluster="local" processes; `cluster` may be a Dask scheduler's address, too.
    `gpus` is how many GPUs of this machine compute, in a process each. Processes of this machine
    import the script that calls this, which has to do so below `if __name__ == "__main__":`.
    Of a refined sweep that was stopped, the Dataset has the points of the pass it was in.
    """
    _refuse_no_listeners(stop, report=report)
    request = with_options(
        load(source, overrides), backend=backend, workers=workers, cluster=cluster, gpus=gpus
    )
    if store is None:
        return _in_memory(request, report, stop).dataset()
    path = default_store(request) if store == "auto" else store
    kept, _ = compute(request, path, report, stop)
    return kept.dataset()


def compute(
    request: Request,
    path: str | Path,
    report: Report | None = None,
    stop: Event | None = None,
    tell: Callable[[str], None] | None = None,
) -> tuple[Store, Summary]:
    """Whatever of the request is not done in the store at `path`; the store, and what was done.

    Of a refined sweep that was stopped in a pass, the store is that of the pass. SweepError as of
    `run`.
    """
    refuse_no_path(path)
    _refuse_no_listeners(stop, report=report, tell=tell)
    if request.refinement is None:
        kept = open_store(request, path)
        return kept, run_in_store(kept, request, report, stop, tell)

    with KeptCrew() as crew:  # a job of a cluster waits once, and not for every pass

        def run_pass(kept: Store, asked: Request, report: Report | None) -> Summary:
            return run_in_store(kept, asked, report, stop, tell, crew)

        means = Means(open_store, run_pass, provenance)
        return run_in_stores(request, str(path), means, report)


def _refuse_no_listeners(stop: object, **told: object) -> None:
    """SweepError for a `stop` that is no event, or what cannot be called with one argument."""
    if stop is not None and not _takes(getattr(stop, "is_set", None)):
        raise SweepError(f"stop={shown(stop)} is no event: give a threading.Event, or leave it out")
    for name, listener in told.items():
        if listener is not None and not _takes(listener, None):
            raise SweepError(
                f"{name}={shown(listener)} cannot be called with one argument: leave it out"
            )


def _takes(called: object, *arguments: object) -> bool:
    """Whether it can be called with these."""
    if not callable(called):
        return False
    try:
        inspect.signature(called).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # of what is written in C nothing may be known
        return True
    return True


def _in_memory(request: Request, report: Report | None, stop: Event | None) -> MemoryResults:
    if request.refinement is not None:
        return run_in_memory(request, provenance(request), report, stop)
    results = MemoryResults(
        request.sweep,
        chunk_points=request.options.chunk_points,
        provenance=provenance(request),
    )
    run_engine(results, request.options, report, stop)
    return results


def with_options(request: Request, **options: Any) -> Request:
    """The request with those run options that are not None.

    Workers asked for here are also the jobs of a run under SLURM, whatever its table says. Where
    GPUs are asked for, the threads that a file asks for are not. SweepError where options are not
    what a file may have under [run], or exclude each other.
    """
    given = checked_options({name: v for name, v in options.items() if v is not None})
    if "workers" in given:
        given["slurm"] = {**request.options.slurm, "jobs": given["workers"]}
    if "gpus" in given:
        given = {"workers": None, **given}
    return replace(request, options=consistent(replace(request.options, **given)))


def default_store(request: Request) -> Path:
    """Where results go if nothing else is said."""
    return RESULTS_FOLDER / f"{request.name}.zarr"


def open_store(request: Request, path: str | Path) -> Store:
    """The store of the request's sweep at `path`, made if there is none.

    StoreError if something else lies there, the differences named, or if workers would not see
    the place. What this machine cannot compute leaves no store behind.
    """
    _refuse_memory_of_one_process(request, path)
    if not anything_at(path):
        _check_machine(request)
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
    crew: KeptCrew | None = None,
) -> Summary:
    """Compute what is pending in the store, or in its shard; StoreError at once if that is held.

    Other SweepErrors are those of `run`. A whole run holds the store alone; shards share it, and
    each holds its own.
    """
    options = request.options
    with _held(store, options.shard) as alone:
        store.refuse_what_has_grown()
        if alone:
            store.clean()
        store.reopen(own_chunks(store, store.torn(), options.shard))
        if options.retry_failed:
            store.reopen(own_chunks(store, store.failed(), options.shard))
        return run_engine(store, options, report, stop, tell, crew)


def shard_counts(store: Store, shard: tuple[int, int]) -> Mapping[Status, int]:
    """The points of a shard that are done, by status, whenever they were computed.

    StoreError where a status is damaged.
    """
    return store.counts(own_chunks(store, store.done(), shard))


@contextmanager
def _held(store: Store, shard: tuple[int, int] | None) -> Generator[bool]:
    """Within, nobody else computes what this run does; whether nobody else computes at all."""
    if shard is None:
        with store.lock():
            yield True
        return
    with store.lock_shard(*shard, clean=store.clean):
        yield False


def _refuse_memory_of_one_process(request: Request, path: str | Path) -> None:
    options = request.options
    if is_in_memory(path) and (options.cluster is not None or options.gpus is not None):
        raise StoreError(
            f"{str(path)!r} is in the memory of this process, which no other process sees, and "
            "workers are processes; name a store that they see, or leave out cluster and gpus"
        )


def _check_machine(request: Request) -> None:
    """What the first chunk needs here is compiled; whatever is in the way of that is raised."""
    sweep = request.sweep
    if request.options.gpus is not None:
        find_gpus(request.options.gpus)
    if not needs_backend_here(request.options):
        return
    shape = chunk_shape(sweep, request.options.chunk_points)
    first = chunk_at((0,) * len(shape), sweep.shape, shape)
    open_backend(request.options.backend).prepare(sweep, points(sweep, first))


def provenance(request: Request) -> dict[str, object]:
    """What made a store, beyond its recipe: the same whenever and wherever it is made."""
    return {"kernel_digest": kernel_digest(request.sweep)}
