"""The progress of a run where a person looks: a bar on a terminal or in a notebook, else lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from threading import Timer
from typing import TYPE_CHECKING

from sweep.text.wording import duration, rate, share

if TYPE_CHECKING:
    from sweep.engine.ledger import Progress
    from sweep.engine.loop import Report

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BEFORE_NOTE = 2.0  # until a line says that a kernel is being compiled


def shown() -> AbstractContextManager[Report]:
    """A context whose value reports progress: a bar where somebody looks, otherwise lines."""
    return _bar() if somebody_looks() else _lines()


def somebody_looks() -> bool:
    """Whether messages go to a terminal or into a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def paced(report: Report, seconds: float) -> Report:
    """The same report, called at most once in this many seconds."""
    last = float("-inf")

    def later(progress: Progress) -> None:
        nonlocal last
        if progress.chunks_total and time.monotonic() - last >= seconds:
            last = time.monotonic()
            report(progress)

    return later


@contextmanager
def _bar() -> Generator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    text = TextColumn("{task.description}", markup=False)
    state = TextColumn("{task.fields[state]}", markup=False)
    console = Console(stderr=True) if sys.stderr.isatty() else None  # None: rich finds the notebook
    with Bar(text, BarColumn(), state, console=console, transient=True) as bar:
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


@contextmanager
def _lines() -> Generator[Report]:
    note = Timer(SECONDS_BEFORE_NOTE, _print_note)
    note.daemon = True  # a process that ends does not wait for it
    note.start()
    print_line = paced(_print_line, SECONDS_BETWEEN_LINES)

    def report(progress: Progress) -> None:
        note.cancel()
        print_line(progress)

    try:
        yield report
    finally:
        note.cancel()


def _print_note() -> None:
    from sweep.kernel.compiler import is_compiling

    if is_compiling():
        print("compiling ...", file=sys.stderr, flush=True)


def _print_line(progress: Progress) -> None:
    done, total = progress.points_done, progress.points_total
    print(f"{done:,} of {total:,} points, {_state(progress)}", file=sys.stderr, flush=True)


def _state(progress: Progress) -> str:
    part = share(progress.points_done / progress.points_total)
    if not progress.points_per_second:
        return part
    return f"{part}, {rate(progress.points_per_second)}, {duration(progress.seconds_left)} left"
