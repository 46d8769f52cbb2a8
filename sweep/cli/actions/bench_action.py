"""`sweep bench`: measure and print speeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sweep.api import with_options
from sweep.cli.printing import counted, print_json, print_table
from sweep.cli.stopping import interruptible
from sweep.file import load
from sweep.model.shipped import shipped_configs
from sweep.request.options import RunKeywords
from sweep.results.forecast import MAX_SECONDS, RecordedSpeed, Speed, recorded_speeds, speed_of
from sweep.text.wording import duration, rate


def print_speeds(
    configs: Sequence[str],
    overrides: Sequence[str],
    threads: int,
    options: RunKeywords,
    *,
    as_json: bool,
) -> None:
    """Measure the speed of each sweep and print it, with the recorded one if there is one."""
    names = configs or list(shipped_configs())
    speeds = {} if overrides else recorded_speeds()  # changed sweeps have no record
    recorded = [speeds.get(name) for name in names]
    with interruptible():
        requests = [with_options(load(name, overrides), **options) for name in names]
        measured = [speed_of(request, threads) for request in requests]
        if as_json:
            entries = zip(measured, recorded, strict=True)
            print_json([{**asdict(own), "recorded": it and asdict(it)} for own, it in entries])
        else:
            _print(measured, recorded)


def _print(measured: list[Speed], recorded: list[RecordedSpeed | None]) -> None:
    slow = f"unknown: a point takes more than {duration(MAX_SECONDS)}"
    rows: list[tuple[str, ...]] = []
    for speed, other in zip(measured, recorded, strict=True):
        pace = speed.points_per_second
        row = (speed.name, speed.model, speed.method, slow if pace is None else rate(pace))
        if other is not None:
            row += (rate(other.points_per_second),)
        rows.append(row)
    machines = {f"\nrecorded: {other.machine}" for other in recorded if other}
    header = ("sweep", "model", "method", "computes", "recorded")
    print_table(rows, header if machines else header[:4])
    print(f"\n{counted(measured[0].workers, 'thread')} on {measured[0].backend}", *machines, sep="")
