"""The progress of a run: a bar on a terminal, otherwise lines, or JSON lines."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from sweep.cli.printing import finite
from sweep.progress import paced, shown

if TYPE_CHECKING:
    from sweep.engine import Progress
    from sweep.progress import Report

SECONDS_BETWEEN_OBJECTS = 0.25


def display(*, as_json: bool) -> AbstractContextManager[Report]:
    """A context whose value reports progress; JSON goes to stdout, everything else to stderr."""
    if as_json:
        return nullcontext(paced(_print_counts, SECONDS_BETWEEN_OBJECTS))
    return shown()


def print_object(event: str, **entries: object) -> None:
    """Print one JSON object on one line."""
    print(json.dumps(finite({"event": event, **entries}), allow_nan=False), flush=True)


def _print_counts(progress: Progress) -> None:
    counts = {status.name: n for status, n in progress.counts.items()}
    print_object("progress", **{**vars(progress), "counts": counts})
