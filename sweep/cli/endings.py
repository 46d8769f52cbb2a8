"""What `sweep run` prints at its end: all done, a shard done, stopped, or failed."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sweep.cli.contents import (
    counts_json,
    look_command,
    outputs_json,
    print_errors,
    print_outputs,
    print_statuses,
)
from sweep.cli.printing import counted, duration, rate
from sweep.cli.progress import print_object
from sweep.cli.stopping import StopRequest

if TYPE_CHECKING:
    from sweep.engine import Summary
    from sweep.spec import Status
    from sweep.store import Store


@dataclass(frozen=True)
class Ended:
    """A run that has ended, and the store it wrote to, which the user calls `place`."""

    kept: Store
    place: str
    summary: Summary
    shard: tuple[int, int] | None = None

    @property
    def points_total(self) -> int:
        """In a refined sweep that was stopped, the points of all passes so far."""
        return self.summary.points_before + self.kept.sweep.n_points


def print_stopped(stop: StopRequest, ended: Ended | None, again: str, *, as_json: bool) -> None:
    """Print what is kept, and the command that resumes the run."""
    words = "nothing was computed"
    if ended is not None:
        before, total = ended.summary.points_before, ended.points_total
        done = total - sum(chunk.n_points for chunk in ended.kept.pending())
        kept = "are kept in" if not before else "of all passes are kept, those of the last one in"
        words = f"{done:,} of {counted(total, 'point')} {kept} {ended.place}"
        if as_json:
            print_object("summary", **_figures(ended), points_done=done, next=again)
    print(f"stopped by {stop.cause}: {words}\nresume with: {again}", file=sys.stderr)


def print_failure(ended: Ended, again: str, *, as_json: bool) -> int:
    """Print what is kept of a run that stopped at its first failed chunk; the exit status."""
    if as_json:
        print_object("summary", **_figures(ended), next=again)
    kept = ended.kept
    errors = [receipt for receipt in kept.done_receipts(kept.receipts()) if "error" in receipt]
    words = f": {errors[-1]['error']}" if errors else ""
    print(
        f"stopped by the first chunk that failed{words}\n"
        f"finished chunks are kept in {ended.place}; resume with: {again}",
        file=sys.stderr,
    )
    return 1


def print_shard(ended: Ended, shard: tuple[int, int], *, as_json: bool) -> int:
    """Print the summary of a finished shard; the exit status, 1 if any of its points failed."""
    from sweep.engine.driver import shard_counts
    from sweep.spec import Status

    i, n = shard
    counts, sentences = shard_counts(ended.kept, shard), ended.kept.sweep.model.sentences
    left = sum(chunk.n_points for chunk in ended.kept.pending())
    follow = f"sweep status {shlex.quote(ended.place)}"
    if as_json:
        status = counts_json(counts, sentences)
        figures = {**_figures(ended), "shard": [i, n], "points_pending": left}
        print_object("summary", **figures, status=status, next=follow)
    else:
        computed = f"{counted(ended.summary.points, 'point')} now"
        print(f"{ended.place}: shard {i} of {n} is done, {computed}; {left:,} are pending in all")
        if set(counts) - {Status.ok}:
            print_statuses(counts, sentences)
        print(f"next: {follow}")
    return 1 if counts.get(Status.failed) else 0


def print_done(ended: Ended, *, as_json: bool) -> int:
    """Print the summary of a complete run; the exit status."""
    from sweep.spec import Status
    from sweep.summary import contents

    sweep = ended.kept.sweep
    dataset = ended.kept.dataset()
    found = contents(dataset)
    any_ok = Status.ok in found.counts
    follow = look_command(ended.place, sweep, found.counts)
    if as_json:
        results = {
            "points_done": sweep.n_points,
            "outputs": outputs_json(dataset, found),
            "status": counts_json(found.counts, sweep.model.sentences),
            "next": follow,
        }
        print_object("summary", **_figures(ended), **results)
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
    """Print the number of points of each status, and the errors of those that failed."""
    from sweep.spec import Status
    from sweep.store.flow import errors

    print_statuses(counts, ended.kept.sweep.model.sentences)
    if counts.get(Status.failed):
        kept = ended.kept
        print_errors(errors(kept.done_receipts(kept.receipts())), kept.log)


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
