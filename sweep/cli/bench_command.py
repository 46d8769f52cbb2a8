"""`sweep bench`: the speed at which this machine computes sweeps."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from sweep.cli.app import Json, app, examples
from sweep.cli.printing import print_json, print_table, rate
from sweep.cli.run_options import takes_run_options
from sweep.cli.stopping import StopRequest
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
            show_default=False,
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Change one entry of every file; may be repeated."
        ),
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
    with StopRequest() as stop:
        requests = [with_options(load(name, overrides or ()), **options) for name in names]
        measured = [speed_of(request, threads) for request in requests]
        if as_json:
            print_json([asdict(speed) for speed in measured])
        else:
            _print(measured)
        return
    raise typer.Exit(stop.exit_status)


def _print(measured: list[Speed]) -> None:
    rows = [
        (each.name, each.model, each.method, _pace(each.points_per_second)) for each in measured
    ]
    print_table(rows, ("sweep", "model", "method", "computes"))
    workers = measured[0].workers
    print(f"\n{workers} {'thread' if workers == 1 else 'threads'} on {measured[0].backend}")


def _pace(points_per_second: float | None) -> str:
    if points_per_second is None:
        return "unknown: the first points took more than 10 s"
    return rate(points_per_second)
