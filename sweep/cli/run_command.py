"""`sweep run`: its options, and what it calls."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from sweep.cli.app import BackendName, ConfigPath, Json, Overrides, app, examples, filled
from sweep.cli.endings import Ended, tell_done, tell_failure, tell_shard, tell_stopped
from sweep.cli.progress import display
from sweep.cli.stopping import StopRequest
from sweep.errors import SweepError

if TYPE_CHECKING:
    from sweep.engine import Progress
    from sweep.spec import Request


def _time_limit(text: str) -> float:
    from sweep.config.quantities import UnreadableError, seconds

    try:
        return seconds(float(text) if text.replace(".", "", 1).isdecimal() else text)
    except UnreadableError as error:
        raise typer.BadParameter(str(error)) from None


def _gpus(text: str) -> int | str:
    count = text if text == "all" else _whole(text)
    if not count:
        raise typer.BadParameter(f'{text!r} is neither "all" nor a whole number from 1')
    return count


def _shard(text: str) -> tuple[int, int]:
    i, n = (_whole(part) for part in text.partition("/")[::2])
    if not 1 <= i <= n:
        raise typer.BadParameter(
            f"{text!r} is not I/N with whole numbers, I from 1 to N", param_hint="--shard"
        )
    return i, n


def _whole(text: str) -> int:
    """The whole number above 0 that a text is; 0 if it is none."""
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else 0


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
    backend: Annotated[BackendName | None, typer.Option(help="Where kernels run.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Default: every usable core.")
    ] = None,
    chunk_points: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Points a chunk of a new store.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="WHERE", help='"local" processes, "slurm", or a Dask scheduler.'),
    ] = None,
    gpus: Annotated[
        str | None,
        typer.Option(
            parser=_gpus, metavar="all|N", help="So many of this machine's GPUs, a process each."
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Every N-th chunk only, I from 1 to N."),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(parser=_time_limit, metavar="TIME", help='Stop after "90s", "55m", "1h30m".'),
    ] = None,
    accept_revision: Annotated[
        bool,
        typer.Option("--accept-revision", help="Continue a store of another revision or kernel."),
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Compute what has failed before once more.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what it will take, and compute nothing.")
    ] = False,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop at the first chunk that fails.")
    ] = False,
    as_json: Json = False,
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
    part = None if shard is None else _shard(shard)
    options = {
        "backend": backend.value if backend else None,
        "workers": workers,
        "chunk_points": chunk_points,
        "time_limit": time_limit,
        "accept_revision": accept_revision or None,
        "retry_failed": retry_failed or None,
        "fail_fast": fail_fast or None,
        "cluster": cluster,
        "gpus": gpus,
        "shard": part,
    }
    ended: Ended | None = None
    with StopRequest() as asked:
        if dry_run:
            _forecast(config, overrides or (), options, store, as_json=as_json)
            return
        ended = _compute(config, overrides or (), options, store, asked, as_json=as_json)
    again = shlex.join(("sweep", *context.obj))
    if ended is not None and ended.summary.stopped == "failure":
        raise typer.Exit(tell_failure(ended, again, as_json=as_json))
    if ended is None or ended.summary.stopped:
        tell_stopped(asked, ended, again, as_json=as_json)
        raise typer.Exit(asked.exit_status)
    if part is not None:
        raise typer.Exit(tell_shard(ended, part, as_json=as_json))
    raise typer.Exit(tell_done(ended, as_json=as_json))


def _compute(
    config: str,
    overrides: Sequence[str],
    options: Mapping[str, object],
    store: str | None,
    asked: StopRequest,
    *,
    as_json: bool,
) -> Ended:
    from sweep.api import compute

    request, place = _asked(config, overrides, options, store)
    with display(as_json=as_json) as show:

        def report(progress: Progress) -> None:
            asked.computing = True
            show(progress)

        kept, summary = compute(request, place, report, asked.event, _tell)
        unfinished = request.refinement is not None and summary.stopped
        return Ended(kept, kept.location if unfinished else place, summary)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _asked(
    config: str, overrides: Sequence[str], options: Mapping[str, object], store: str | None
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
    options: Mapping[str, object],
    store: str | None,
    *,
    as_json: bool,
) -> None:
    from sweep.cli.dry_run import jobs_of, tell_forecast
    from sweep.forecast import forecast_of

    request, place = _asked(config, overrides, options, store)
    jobs = jobs_of(request.options)
    tell_forecast(forecast_of(request, place), place, jobs, as_json=as_json)
