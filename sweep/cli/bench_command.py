"""`sweep bench`: the speed at which this machine computes sweeps."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from sweep.cli.app import Json, app, examples, option
from sweep.cli.printing import counted, print_json, print_table, rate
from sweep.cli.run_options import takes_run_options
from sweep.cli.stopping import Interruptible
from sweep.options import RunKeywords

if TYPE_CHECKING:
    from sweep.forecast import Speed


@app.command(
    epilog=examples(
        "sweep bench",
        "sweep bench wear_power --workers 2",
        "sweep bench my.toml --set method=euler",
    )
)
@takes_run_options("backend")
def bench(
    configs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CONFIG]...",
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
    for one second, and nothing is stored.
    """
    from sweep.api import with_options
    from sweep.config import load
    from sweep.forecast import speed_of
    from sweep.shipped import shipped_configs

    names = configs or list(shipped_configs())
    with Interruptible():
        requests = [with_options(load(name, overrides or ()), **options) for name in names]
        measured = [speed_of(request, threads) for request in requests]
        if as_json:
            print_json([asdict(speed) for speed in measured])
        else:
            _print(measured)


def _print(measured: list[Speed]) -> None:
    slow = "unknown: the first points took more than 10 s"
    paces = (each.points_per_second for each in measured)
    rows = [
        (each.name, each.model, each.method, slow if pace is None else rate(pace))
        for each, pace in zip(measured, paces, strict=True)
    ]
    print_table(rows, ("sweep", "model", "method", "computes"))
    print(f"\n{counted(measured[0].workers, 'thread')} on {measured[0].backend}")
