"""What `sweep run` prints at its end: all done, a shard done, stopped, or failed."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass

from sweep.cli.actions.contents import (
    counts_json,
    look_command,
    next_command,
    outputs_json,
    print_errors,
    print_outputs,
    print_statuses,
)
from sweep.cli.printing import counted, print_object
from sweep.cli.stopping import StopRequest
from sweep.engine.dask_threads import in_threads
from sweep.engine.ledger import Summary
from sweep.model.table import Status
from sweep.results.summary import contents
from sweep.store import Remaining, Store, remaining
from sweep.store.receipts import errors, of_done_chunks
from sweep.text.wording import duration, escaped, rate


@dataclass(frozen=True)
class Ended:
    """A run that has ended, and the store it wrote to, which the user calls `place`."""

    kept: Store
    place: str
    summary: Summary
    shard: tuple[int, int] | None = None
    wear: str | None = None  # the store of the wear, if the file has [wear]

    @property
    def points_total(self) -> int:
        """The points of the store, to which another run may add some."""
        return self.remaining.points_total

    @functools.cached_property
    def remaining(self) -> Remaining:
        """What is left in the store."""
        return remaining(self.kept)


def print_ending(ended: Ended | None, stop: StopRequest, again: str, *, as_json: bool) -> int:
    """Print how a run ended, or that it did not begin; return the exit status.

    `again` is the command that resumes the run.
    """
    if ended is None:
        words = f"stopped by {stop.cause}: nothing was computed\nresume with: {again}"
        print(words, file=sys.stderr)
        return stop.exit_status
    if ended.summary.stopped == "failure":
        _print_failure(ended, again, as_json=as_json)
        return 1
    if ended.summary.stopped:
        _print_stopped(ended, stop.cause, again, as_json=as_json)
        return stop.exit_status
    if ended.shard is not None:
        return _print_shard(ended, ended.shard, as_json=as_json)
    return _print_done(ended, as_json=as_json)


def _print_stopped(ended: Ended, cause: str, again: str, *, as_json: bool) -> None:
    total = ended.points_total
    done = total - ended.remaining.points_left
    if as_json:
        print_object("summary", **_figures(ended), points_done=done, next=again)
    words = f"{done:,} of {counted(total, 'point')} are kept in {ended.place}"
    print(f"stopped by {cause}: {words}\nresume with: {again}", file=sys.stderr)


def _print_failure(ended: Ended, again: str, *, as_json: bool) -> None:
    if as_json:
        print_object("summary", **_figures(ended), next=again)
    store = ended.kept
    errors = [
        receipt
        for receipt in of_done_chunks(store.receipts.read(), store.done())
        if "error" in receipt
    ]
    why = f": {escaped(str(errors[-1]['error']))}" if errors else ""
    print(f"error: stopped by the first chunk that failed{why}", file=sys.stderr)
    print(f"finished chunks are kept in {ended.place}; resume with: {again}", file=sys.stderr)


def _print_shard(ended: Ended, shard: tuple[int, int], *, as_json: bool) -> int:
    i, n = shard
    store, sentences = ended.kept, ended.kept.sweep.points.model.sentences
    counts = store.counts(store.own(store.done(), shard))
    points_left, next_step = ended.remaining.points_left, next_command("status", ended.place)
    if as_json:
        status = counts_json(counts, sentences)
        figures = {**_figures(ended), "shard": [i, n], "points_pending": points_left}
        print_object("summary", **figures, status=status, next=next_step)
    else:
        computed = f"{counted(ended.summary.points, 'point')} now"
        pending = f"{points_left:,} are pending in all"
        print(f"{ended.place}: shard {i} of {n} is done, {computed}; {pending}")
        if set(counts) - {Status.ok}:
            print_statuses(counts, sentences)
        print(f"next: {next_step}")
    return 1 if counts.get(Status.failed) else 0


def _print_done(ended: Ended, *, as_json: bool) -> int:
    store, sweep = ended.kept, ended.kept.sweep
    with in_threads():
        dataset = store.dataset()
        summary = contents(dataset)
    failed, any_ok = Status.failed in summary.counts, Status.ok in summary.counts
    next_step = look_command(ended.place, sweep, summary.counts)
    if as_json:
        results = {
            "points_done": ended.points_total,
            "outputs": outputs_json(dataset, summary),
            "weighted_by": summary.weighted_by,
            "status": counts_json(summary.counts, sweep.points.model.sentences, summary.causes),
            "next": next_step,
            **({"wear": ended.wear} if ended.wear else {}),
        }
        print_object("summary", **_figures(ended), **results)
    else:
        print(_headline(ended))
        if any_ok:
            print_outputs(dataset, summary)
        else:
            print("no point could be computed:")
        if set(summary.counts) != {Status.ok}:
            print_statuses(summary.counts, sweep.points.model.sentences, summary.causes)
        if failed:
            receipts = of_done_chunks(store.receipts.read(), store.done())
            print_errors(errors(receipts), store.receipts.location)
        if ended.wear:
            print(f"wear over years: {ended.wear}")
        print(f"next: {next_step}")
    return 1 if failed or not any_ok else 0


def _headline(ended: Ended) -> str:
    summary, total = ended.summary, counted(ended.points_total, "point")
    if not summary.chunks:
        all_there = "1 point is" if ended.points_total == 1 else f"all {total} are"
        return f"{ended.place}: nothing to do, {all_there} there"
    pace, crew = rate(summary.points / summary.wall_seconds), counted(summary.workers, "worker")
    time_text = f"{duration(summary.wall_seconds)} ({pace}; {crew} on {summary.backend})"
    return f"{ended.place}: {total}, {summary.points:,} of them now, in {time_text}"


def _figures(ended: Ended) -> dict[str, object]:
    summary = ended.summary
    return {
        "store": ended.place,
        "points_total": ended.points_total,
        **vars(summary),
        "counts": {status.name: count for status, count in summary.counts.items()},
        "points_per_second": summary.points / summary.wall_seconds if summary.points else 0.0,
    }
