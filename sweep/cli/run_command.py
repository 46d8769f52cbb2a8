"""`sweep run`: compute a sweep, or resume it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from sweep.cli.app import command
from sweep.cli.endings import Ended, print_ending
from sweep.cli.parameters import ConfigPath, Json, Overrides, flag, store_option, takes_run_options
from sweep.cli.printing import print_object
from sweep.cli.stopping import StopRequest
from sweep.errors import SweepError
from sweep.options import OPTIONS, RunKeywords
from sweep.progress import paced, shown

if TYPE_CHECKING:
    from sweep.engine.ledger import Progress
    from sweep.request import Request


SECONDS_BETWEEN_OBJECTS = 0.25  # with --json


@command(
    "sweep run wear_power",
    "sweep run my.toml -o results/my.zarr --workers 4 --time-limit 55m",
    "sweep run my.toml --cluster tcp://node1:8786",
    "sweep run my.toml --gpus all",
    "sweep run my.toml --shard 3/8",
    "sweep run my.toml --set friction=0.2 --set 'mass={ linspace = [1, 2, 11] }'",
)
@takes_run_options(*(name for name, option in OPTIONS.items() if option.on_command_line))
def run(
    context: typer.Context,
    config: ConfigPath,
    store: Annotated[
        str | None,
        store_option("Path or URL of the store; default: results/NAME.zarr."),
    ] = None,
    overrides: Overrides = None,
    *,
    dry_run: Annotated[bool, flag("--dry-run", "Print an estimate and exit.")] = False,
    as_json: Json = False,
    **options: Unpack[RunKeywords],
) -> None:
    """Compute a sweep, or resume it.

    Results go into a zarr store, chunk by chunk. Finished chunks are not computed again: to resume
    an interrupted run, run the same command, or give the store as FILE. With --json, progress and
    summary are JSON lines. With --dry-run, the exit status is 3 if the disk is too small.

    Workers are threads by default. With --cluster they are Dask processes: on this machine, as
    SLURM jobs, or of a running scheduler ("tcp://HOST:PORT"). With --gpus there is one process for
    each GPU that CUDA_VISIBLE_DEVICES does not hide. Shards need no scheduler: each computes its
    own chunks of the same store, for example in a job array (--shard $SLURM_ARRAY_TASK_ID/8).
    """
    arguments: Sequence[str] = context.obj  # of the command line
    ended: Ended | None = None
    with StopRequest() as stop:
        request, place = _requested(config, overrides or (), options, store)
        if dry_run:
            from sweep.cli.dry_run import print_forecast
            from sweep.forecast import forecast_of

            print_forecast(forecast_of(request, place), place, request, as_json=as_json)
            return
        ended = _compute(request, place, stop, as_json=as_json)
    again = shlex.join(("sweep", *arguments))
    raise typer.Exit(print_ending(ended, stop, again, as_json=as_json))


def _compute(request: Request, place: str, stop: StopRequest, *, as_json: bool) -> Ended:
    from sweep.api import compute, store_of_wear

    print_line = partial(print, file=sys.stderr, flush=True)
    display = nullcontext(paced(_print_counts, SECONDS_BETWEEN_OBJECTS)) if as_json else shown()
    with display as show:

        def report(progress: Progress) -> None:
            stop.computing = True
            show(progress)

        computed_store, summary = compute(request, place, report, stop.event, print_line)
    is_pass = request.refinement is not None and summary.stopped
    wear = None if request.wear is None else store_of_wear(place)
    ended_at = computed_store.location if is_pass else place
    return Ended(computed_store, ended_at, summary, request.options.shard, wear)


def _print_counts(progress: Progress) -> None:
    counts = {status.name: n for status, n in progress.counts.items()}
    print_object("progress", **{**vars(progress), "counts": counts})


def _requested(
    config: str, overrides: Sequence[str], options: RunKeywords, store: str | None
) -> tuple[Request, str]:
    """The request, and the path or URL of its store."""
    from sweep.api import default_store, with_options
    from sweep.config import load
    from sweep.store import is_in_memory

    request = with_options(load(config, overrides), **options)
    place = store or str(default_store(request, config, overrides))
    if is_in_memory(place):
        raise SweepError(
            f"{place!r} would be lost when this command ends; give a path with -o (in Python, "
            f"sweep.run(..., store={place!r}) keeps it until the process ends)"
        )
    return request, place
