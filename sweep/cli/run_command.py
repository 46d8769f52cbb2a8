"""`sweep run`: its options, and what it calls."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from sweep.cli.app import ConfigPath, Invocation, Json, Overrides, app, examples, filled
from sweep.cli.endings import Ended, tell_done, tell_failure, tell_shard, tell_stopped
from sweep.cli.progress import display
from sweep.cli.run_options import takes_run_options
from sweep.cli.stopping import StopRequest
from sweep.errors import SweepError
from sweep.options import OPTIONS, RunKeywords

if TYPE_CHECKING:
    from sweep.engine import OpenBackend, Progress
    from sweep.spec import Request


@app.command(
    epilog=examples(
        "sweep run wear_power",
        "sweep run my.toml -o results/my.zarr --workers 4 --time-limit 55m",
        "sweep run my.toml --cluster tcp://node1:8786",
        "sweep run my.toml --gpus all",
        "sweep run my.toml --shard 3/8",
        "sweep run my.toml --set friction=0.2 --set 'mass={ linspace = [1, 2, 11] }'",
    )
)
@takes_run_options(*(name for name, option in OPTIONS.items() if option.on_command_line))
def run(
    context: typer.Context,
    config: ConfigPath,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            "-o",
            metavar="STORE",
            help="Default: results/NAME.zarr.",
            callback=filled,
        ),
    ] = None,
    overrides: Overrides = None,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what it will take, and compute nothing.")
    ] = False,
    as_json: Json = False,
    **options: Unpack[RunKeywords],
) -> None:
    """Compute a sweep, or go on where it stopped.

    Results go into a zarr store, chunk by chunk. What is done there is not computed again, so that
    the same command goes on after any end. With --json, progress and summary are JSON lines. With
    --dry-run, the status is 3 if the disk is too small.

    Workers are threads; with --cluster, processes under Dask: here, as SLURM jobs, or where a
    scheduler runs already ("tcp://HOST:PORT"); with --gpus, a process for each GPU, of those that
    CUDA_VISIBLE_DEVICES does not hide. Shards need no scheduler: each computes its own chunks of
    the same store, from a job array (--shard $SLURM_ARRAY_TASK_ID/8).
    """
    invocation: Invocation = context.obj
    ended: Ended | None = None
    with StopRequest() as asked:
        if dry_run:
            _forecast(config, overrides or (), options, store, as_json=as_json)
            return
        request, place = _asked(config, overrides or (), options, store)
        ended = _compute(request, place, asked, invocation.open_backend, as_json=as_json)
    again = shlex.join(("sweep", *invocation.arguments))
    if ended is not None and ended.summary.stopped == "failure":
        raise typer.Exit(tell_failure(ended, again, as_json=as_json))
    if ended is None or ended.summary.stopped:
        tell_stopped(asked, ended, again, as_json=as_json)
        raise typer.Exit(asked.exit_status)
    if ended.shard is not None:
        raise typer.Exit(tell_shard(ended, ended.shard, as_json=as_json))
    raise typer.Exit(tell_done(ended, as_json=as_json))


def _compute(
    request: Request,
    place: str,
    asked: StopRequest,
    open_backend: OpenBackend | None,
    *,
    as_json: bool,
) -> Ended:
    from sweep.api import compute
    from sweep.backends import open_backend as open_backend_by_name

    with display(as_json=as_json) as show:

        def report(progress: Progress) -> None:
            asked.computing = True
            show(progress)

        opener = open_backend or open_backend_by_name
        kept, summary = compute(request, place, report, asked.event, _tell, opener)
        unfinished = request.refinement is not None and summary.stopped
        known_as = kept.location if unfinished else place
        return Ended(kept, known_as, summary, request.options.shard)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _asked(
    config: str, overrides: Sequence[str], options: RunKeywords, store: str | None
) -> tuple[Request, str]:
    """The request, and where its store is."""
    from sweep.api import default_store, with_options
    from sweep.config import load
    from sweep.store import is_in_memory

    request = with_options(load(config, overrides), **options)
    place = store or str(default_store(request))
    if is_in_memory(place):
        raise SweepError(
            f"what is kept in {place!r} would be gone when this command ends; name a path with -o "
            f"(within a process of Python, sweep.run(..., store={place!r}) keeps it)"
        )
    return request, place


def _forecast(
    config: str,
    overrides: Sequence[str],
    options: RunKeywords,
    store: str | None,
    *,
    as_json: bool,
) -> None:
    from sweep.cli.dry_run import jobs_of, tell_forecast
    from sweep.forecast import forecast_of

    request, place = _asked(config, overrides, options, store)
    jobs = jobs_of(request.options)
    tell_forecast(forecast_of(request, place), place, jobs, as_json=as_json)
