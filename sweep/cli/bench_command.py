"""`sweep bench`: the speed at which this machine computes sweeps."""

from __future__ import annotations

from typing import Annotated, Unpack

import typer

from sweep.cli.app import command
from sweep.cli.parameters import Json, option, takes_run_options
from sweep.request.options import RunKeywords


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
        option("NAME=VALUE", "Override one entry of every file; may be repeated.", "--set"),
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
    for two seconds, and nothing is stored. For a shipped sweep, the recorded speed of one core of
    another machine is printed as well.
    """
    from sweep.cli.actions.bench_action import print_speeds

    print_speeds(configs or (), overrides or (), threads, options, as_json=as_json)
