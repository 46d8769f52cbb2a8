"""`sweep trace`: one point of a sweep, observed while it advances."""

from __future__ import annotations

from typing import Annotated

import typer

from sweep.cli.app import command
from sweep.cli.parameters import ConfigPath, Json, Overrides, option, output_option


@command(
    "sweep trace sdnd104 --at base_acceleration=15",
    "sweep trace wear_power --at friction=0.1 --at base_acceleration=15 -o trace.png",
    "sweep trace my.toml --at friction=0.3 --at 'mass=2 kg' --from 0 --to 3 -o trace.nc",
)
def trace(
    config: ConfigPath,
    at: Annotated[
        list[str] | None,
        option(
            "NAME=VALUE",
            "The point: a value for each axis of the file (SI, or with a unit); the number, from "
            "0, of a case or of a point of a sample.",
        ),
    ] = None,
    path: Annotated[
        str | None,
        output_option(
            "FILE",
            "The motion or its picture; its suffix sets the format: .nc, .zarr, .csv, .png, .pdf "
            "or .svg. Default: none, and only ranges are printed.",
        ),
    ] = None,
    overrides: Overrides = None,
    samples: Annotated[
        int | None,
        typer.Option(min=2, metavar="N", help="Number of times at which the motion is sampled."),
    ] = None,
    start: Annotated[
        float | None, option("T", "First time, in s (rad for mdr_contact).", "--from")
    ] = None,
    end: Annotated[
        float | None, option("T", "Last time, in s (rad for mdr_contact).", "--to")
    ] = None,
    cycles: Annotated[
        float | None,
        option(
            "N",
            "Trace the last N cycles of the excitation. Default: all, of which a picture "
            "shows the last 5.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Trace the motion of one point over time.

    The default range is the sweep's window. Means are over time. A picture shows the
    observables, with events marked and every regime or mode shaded but the first (such as stick),
    and the loop of force over displacement. The exit status is 1 if the point's status is not ok.
    """  # fmt: skip
    from sweep.cli.actions.trace_action import print_trace

    times = {"start": start, "end": end, "cycles": cycles}
    status = print_trace(
        config, at or (), overrides or (), path, samples=samples, **times, as_json=as_json
    )
    raise typer.Exit(status)
