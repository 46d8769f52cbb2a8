"""The progress of a run: a bar on a terminal, otherwise lines, or JSON lines."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from sweep.cli.printing import duration, finite, rate, share

if TYPE_CHECKING:
    from sweep.engine import Progress

    Report = Callable[[Progress], None]

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_OBJECTS = 0.25


def display(*, as_json: bool) -> AbstractContextManager[Report]:
    """A context whose value reports progress; JSON goes to stdout, everything else to stderr."""
    if as_json:
        return nullcontext(_paced(_print_counts, SECONDS_BETWEEN_OBJECTS))
    if sys.stderr.isatty():
        return _bar()
    return nullcontext(_paced(_print_line, SECONDS_BETWEEN_LINES))


def print_object(event: str, **entries: object) -> None:
    """Print one JSON object on one line."""
    print(json.dumps(finite({"event": event, **entries}), allow_nan=False), flush=True)


@contextmanager
def _bar() -> Generator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    text = TextColumn("{task.description}", markup=False)
    state = TextColumn("{task.fields[state]}", markup=False)
    with Bar(text, BarColumn(), state, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("compiling", total=None, state="")

        def report(progress: Progress) -> None:
            bar.update(
                task,
                description="computing",
                total=progress.points_total,
                completed=progress.points_done,
                state=_state(progress),
            )

        yield report


def _print_line(progress: Progress) -> None:
    done, total = progress.points_done, progress.points_total
    print(f"{done:,} of {total:,} points, {_state(progress)}", file=sys.stderr, flush=True)


def _print_counts(progress: Progress) -> None:
    counts = {status.name: n for status, n in progress.counts.items()}
    print_object("progress", **{**vars(progress), "counts": counts})


def _state(progress: Progress) -> str:
    part = share(progress.points_done / progress.points_total)
    if not progress.points_per_second:
        return part
    return f"{part}, {rate(progress.points_per_second)}, {duration(progress.seconds_left)} left"


def _paced(report: Report, seconds: float) -> Report:
    """The same report, called at most once in this many seconds."""
    last = float("-inf")

    def paced(progress: Progress) -> None:
        nonlocal last
        if progress.chunks_total and time.monotonic() - last >= seconds:
            last = time.monotonic()
            report(progress)

    return paced
