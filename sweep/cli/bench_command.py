"""`sweep bench`: the speed at which this machine computes sweeps."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from sweep.cli.app import command
from sweep.cli.parameters import Json, option, takes_run_options
from sweep.cli.printing import counted, print_json, print_table
from sweep.cli.stopping import interruptible
from sweep.options import RunKeywords
from sweep.wording import rate

if TYPE_CHECKING:
    from sweep.forecast import RecordedSpeed, Speed


@command(
    "sweep bench",
    "sweep bench wear_power --workers 2",
    "sweep bench my.toml --set method=euler",
)
@takes_run_options("backend")
def bench(
    configs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="Sweep files, or names of shipped ones; default: all shipped ones.",
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        option("NAME=VALUE", "Change one entry of every file; may be repeated.", "--set"),
    ] = None,
    threads: Annotated[
        int, typer.Option("--workers", min=1, metavar="N", help="Number of threads.")
    ] = 1,
    *,
    as_json: Json = False,
    **options: Unpack[RunKeywords],
) -> None:
    """Measure how many points per second this machine computes.

    For each sweep, kernels are compiled first; then points spread over the whole sweep are computed
    for one second, and nothing is stored. For a shipped sweep, the recorded speed of one core of
    another machine is printed as well.
    """
    from sweep.api import with_options
    from sweep.config import load
    from sweep.forecast import recorded_speeds, speed_of
    from sweep.shipped import shipped_configs

    names = configs or list(shipped_configs())
    speeds = {} if overrides else recorded_speeds()  # changed sweeps have no record
    recorded = [speeds.get(name) for name in names]
    with interruptible():
        requests = [with_options(load(name, overrides or ()), **options) for name in names]
        measured = [speed_of(request, threads) for request in requests]
        if as_json:
            entries = zip(measured, recorded, strict=True)
            print_json([{**asdict(own), "recorded": it and asdict(it)} for own, it in entries])
        else:
            _print(measured, recorded)


def _print(measured: list[Speed], recorded: list[RecordedSpeed | None]) -> None:
    slow = "unknown: the first points took more than 10 s"
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
