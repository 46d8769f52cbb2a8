"""`sweep run`: compute a sweep, or print what it needs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial

from sweep import api
from sweep.cli.actions.run_report import Ended
from sweep.cli.printing import print_object
from sweep.cli.stopping import StopRequest
from sweep.engine.ledger import Progress
from sweep.errors import SweepError
from sweep.file import load
from sweep.request.options import RunKeywords
from sweep.request.sweeps import Request
from sweep.results.progress import paced, shown
from sweep.store import is_in_memory

SECONDS_BETWEEN_OBJECTS = 0.25  # with --json


def run_sweep(
    config: str,
    store: str | None,
    overrides: Sequence[str],
    options: RunKeywords,
    stop: StopRequest,
    *,
    as_json: bool,
) -> Ended:
    """Compute a sweep, showing the progress, until it is done or a signal stops it."""
    api.finish_extension(config)
    request, place = _requested(config, overrides, options, store)
    print_line = partial(print, file=sys.stderr, flush=True)
    display = nullcontext(paced(_print_counts, SECONDS_BETWEEN_OBJECTS)) if as_json else shown()
    with display as show:

        def report(progress: Progress) -> None:
            stop.computing = True
            show(progress)

        computed_store, summary = api.compute(request, place, report, stop.event, print_line)
    wear = None if request.wear is None else api.store_of_wear(place)
    return Ended(computed_store, place, summary, request.options.shard, wear)


def print_needs(
    config: str,
    store: str | None,
    overrides: Sequence[str],
    options: RunKeywords,
    *,
    as_json: bool,
) -> None:
    """Print what a run of the sweep needs."""
    from sweep.cli.actions.dry_run import print_forecast

    request, place = _requested(config, overrides, options, store)
    api.refuse_suffix(place)
    print_forecast(request, place, as_json=as_json)


def _print_counts(progress: Progress) -> None:
    counts = {status.name: n for status, n in progress.counts.items()}
    print_object("progress", **{**vars(progress), "counts": counts})


def _requested(
    config: str, overrides: Sequence[str], options: RunKeywords, store: str | None
) -> tuple[Request, str]:
    """The request, and the path or URL of its store."""
    request = api.with_options(load(config, overrides), **options)
    place = store or str(api.default_store(request, config, overrides))
    if store is None and overrides and place != str(api.default_store(request)):
        print(f"results go into {place}", file=sys.stderr)
    if is_in_memory(place):
        raise SweepError(
            f"{place!r} would be lost when this command ends; give a path with -o (sweep.run in "
            "Python keeps it until the process ends)"
        )
    return request, place
