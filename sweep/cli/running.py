"""`sweep run` and the sweep files to begin with."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sweep.cli.app import ConfigPath, Json, app, chosen, examples, filled
from sweep.cli.contents import (
    counts_json,
    look_command,
    outputs_json,
    print_errors,
    print_outputs,
    print_statuses,
)
from sweep.cli.printing import counted, duration, print_json, print_table, rate
from sweep.cli.progress import display, print_object
from sweep.cli.stopping import StopRequest
from sweep.errors import SweepError

if TYPE_CHECKING:
    from sweep.engine import Progress, Summary
    from sweep.spec import Request, Status
    from sweep.store import Store


class BackendName(StrEnum):
    """Where kernels run."""

    auto = "auto"
    cpu = "cpu"
    gpu = "gpu"


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
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change one entry of the file."),
    ] = None,
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
        bool, typer.Option("--accept-revision", help="Go on with another revision of the method.")
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
        "shard": _shard(shard) if shard is not None else None,
    }
    ended: Ended | None = None
    with StopRequest() as asked:
        if dry_run:
            _forecast(config, overrides or (), options, store, as_json=as_json)
            return
        ended = _compute(config, overrides or (), options, store, asked, as_json=as_json)
    if ended is not None and ended.summary.stopped == "failure":
        again = shlex.join(("sweep", *context.obj))
        raise typer.Exit(_tell_failure(ended, again, as_json=as_json))
    if ended is None or ended.summary.stopped:
        _tell_stopped(asked, ended, shlex.join(("sweep", *context.obj)), as_json=as_json)
        raise typer.Exit(asked.exit_status)
    if shard is not None:
        raise typer.Exit(_tell_shard(ended, _shard(shard), as_json=as_json))
    raise typer.Exit(_tell_done(ended, as_json=as_json))


@dataclass(frozen=True)
class Ended:
    """A run that has ended, and the store it wrote to, which the user knows as `place`."""

    kept: Store
    place: str
    summary: Summary

    @property
    def points_total(self) -> int:
        """Of a refined sweep that was stopped, those of all passes begun."""
        return self.summary.points_before + self.kept.sweep.n_points


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
    from sweep.api import forecast_of
    from sweep.cli.preparing import jobs_of, tell_forecast

    request, place = _asked(config, overrides, options, store)
    jobs = jobs_of(request.options)
    tell_forecast(forecast_of(request, place), place, jobs, as_json=as_json)


def _tell_stopped(asked: StopRequest, ended: Ended | None, again: str, *, as_json: bool) -> None:
    """What is kept, and the command that goes on."""
    words = "nothing was computed"
    if ended is not None:
        before, total = ended.summary.points_before, ended.points_total
        done = total - sum(chunk.n_points for chunk in ended.kept.pending())
        kept = "are kept in" if not before else "of the passes begun are kept, those of the last in"
        words = f"{done:,} of {counted(total, 'point')} {kept} {ended.place}"
        if as_json:
            print_object("summary", **_figures(ended), points_done=done, next=again)
    print(f"stopped by {asked.cause}: {words}\ngo on with: {again}", file=sys.stderr)


def _tell_failure(ended: Ended, again: str, *, as_json: bool) -> int:
    """What is kept of a run that stopped at its first failed chunk; the exit status."""
    if as_json:
        print_object("summary", **_figures(ended), next=again)
    kept = ended.kept
    errors = [receipt for receipt in kept.of_done(kept.receipts()) if "error" in receipt]
    words = f": {errors[-1]['error']}" if errors else ""
    print(
        f"stopped by the first chunk that failed{words}\n"
        f"finished chunks are kept in {ended.place}; go on with: {again}",
        file=sys.stderr,
    )
    return 1


def _tell_shard(ended: Ended, shard: tuple[int, int], *, as_json: bool) -> int:
    """The summary of a shard that is done; the exit status, 1 for failed points of its own."""
    from sweep.api import shard_counts
    from sweep.spec import Status

    i, n = shard
    counts, sentences = shard_counts(ended.kept, shard), ended.kept.sweep.model.sentences
    left = sum(chunk.n_points for chunk in ended.kept.pending())
    follow = f"sweep status {shlex.quote(ended.place)}"
    if as_json:
        told = {"status": counts_json(counts, sentences), "next": follow}
        print_object("summary", **_figures(ended), shard=[i, n], points_pending=left, **told)
    else:
        computed = f"{counted(ended.summary.points, 'point')} now"
        print(f"{ended.place}: shard {i} of {n} is done, {computed}; {left:,} of all are pending")
        if set(counts) - {Status.ok}:
            print_statuses(counts, sentences)
        print(f"next: {follow}")
    return 1 if counts.get(Status.failed) else 0


def _tell_done(ended: Ended, *, as_json: bool) -> int:
    """The summary of a run that has done everything; the exit status."""
    from sweep.spec import Status
    from sweep.summary import contents

    sweep = ended.kept.sweep
    dataset = ended.kept.dataset()
    found = contents(dataset)
    any_ok = Status.ok in found.counts
    follow = look_command(ended.place, sweep, found.counts)
    if as_json:
        told = {
            "points_done": sweep.n_points,
            "outputs": outputs_json(dataset, found),
            "status": counts_json(found.counts, sweep.model.sentences),
            "next": follow,
        }
        print_object("summary", **_figures(ended), **told)
    else:
        print(_headline(ended))
        if any_ok:
            print_outputs(dataset, found)
        else:
            print("no point could be computed:")
        if set(found.counts) != {Status.ok}:
            _print_statuses(ended, found.counts)
        print(f"next: {follow}")
    return 1 if found.counts.get(Status.failed) or not any_ok else 0


def _print_statuses(ended: Ended, counts: Mapping[Status, int]) -> None:
    """The points of each status, and what went wrong with those that have failed."""
    from sweep.spec import Status
    from sweep.store.flow import errors

    print_statuses(counts, ended.kept.sweep.model.sentences)
    if counts.get(Status.failed):
        kept = ended.kept
        print_errors(errors(kept.of_done(kept.receipts())), kept.log)


def _headline(ended: Ended) -> str:
    summary, total = ended.summary, counted(ended.kept.sweep.n_points, "point")
    if not summary.chunks:
        all_there = "1 point is" if ended.kept.sweep.n_points == 1 else f"all {total} are"
        return f"{ended.place}: nothing to do, {all_there} there"
    pace, crew = rate(summary.points / summary.wall_seconds), counted(summary.workers, "worker")
    return (
        f"{ended.place}: {total}, {summary.points:,} of them now, in "
        f"{duration(summary.wall_seconds)} ({pace}; {crew} on {summary.backend})"
    )


def _figures(ended: Ended) -> dict[str, object]:
    summary = ended.summary
    return {
        "store": ended.place,
        "points_total": ended.points_total,
        **{name: value for name, value in vars(summary).items() if name != "points_before"},
        "counts": {status.name: count for status, count in summary.counts.items()},
        "points_per_second": summary.points / summary.wall_seconds if summary.points else 0.0,
    }


@app.command(epilog=examples("sweep example", "sweep example wear_power > my.toml"))
def example(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The one to print.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """List the sweep files that come with the program, or print one."""
    from sweep.shipped import shipped_configs

    configs = shipped_configs()
    texts = {stem: path.read_text(encoding="utf-8") for stem, path in configs.items()}
    if name is not None:
        texts = {name: chosen("sweep file", name, texts)}
    abouts = {stem: text.splitlines()[0].lstrip("# ") for stem, text in texts.items()}
    if as_json:
        print_json([{"name": n, "about": abouts[n], "text": text} for n, text in texts.items()])
    elif name is not None:
        sys.stdout.write(texts[name])
    else:
        print_table(abouts.items())
        print("\nsweep run NAME computes one, sweep example NAME prints it")
