"""A sweep from its file to its Dataset: what `sweep.run` does, and the command line too."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Literal

from sweep.config import checked_options, load
from sweep.engine import Progress, Summary, consistent
from sweep.engine import run as run_engine
from sweep.engine.driver import open_store, provenance, run_in_store
from sweep.errors import SweepError
from sweep.refine.passes import run_in_memory, run_in_stores
from sweep.spec import Request
from sweep.store import MemoryResults, Store, refuse_no_path
from sweep.wording import shown

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
    return run_in_stores(request, str(path), report, stop, tell)


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
        return run_in_memory(request, report, stop)
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
