"""`sweep trace`: one point of a sweep, observed while it advances."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sweep.cli.app import command
from sweep.cli.contents import outputs_json, print_outputs, print_statuses
from sweep.cli.parameters import ConfigPath, Json, Overrides, option, output_option
from sweep.cli.printing import print_json
from sweep.cli.stopping import interruptible

if TYPE_CHECKING:
    import xarray as xr

    from sweep.request import Sweep


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
        Path | None,
        output_option(
            "FILE", "Output file; its suffix sets the format: .nc, .zarr, .csv, .png, .pdf or .svg."
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

    The default range is the sweep's window. Means are those over time. A picture shows the
    observables, with events marked and every regime or mode shaded but the first (such as stick),
    and the loop of force over displacement. The exit status is 1 if the point's status is not ok.
    """  # fmt: skip
    from sweep.config import load
    from sweep.tracing import SHOWN_CYCLES, as_point, refuse_end, save, trace_point

    with interruptible("stopped by {cause}: nothing was written"):
        if path is not None:
            refuse_end(path)
        sweep = as_point(load(config, overrides or (), at=at or ()).sweep)
        dataset = trace_point(sweep, samples=samples, start=start, end=end, cycles=cycles)
        chosen = any(each is not None for each in (start, end, cycles))
        drawn = None if chosen else SHOWN_CYCLES
        written = None if path is None else save(dataset, path, drawn)
        raise typer.Exit(_print_trace(sweep, dataset, written, as_json=as_json))


def _print_trace(sweep: Sweep, dataset: xr.Dataset, written: Path | None, *, as_json: bool) -> int:
    """Print the ranges of the observables and return the exit status."""
    from sweep.spec import Status
    from sweep.summary import trace_contents

    summary = trace_contents(dataset)
    status = Status(int(dataset["status"]))
    if as_json:
        time = dataset["time"].values
        results = {
            "model": sweep.model.name,
            "method": sweep.method.name,
            "parameters": dict(sweep.constants),
            "samples": time.size,
            "from": float(time[0]),
            "to": float(time[-1]),
            "observables": outputs_json(dataset, summary),
            "events": json.loads(dataset.attrs.get("events", "[]")),
            "note": dataset.attrs.get("note"),
            "status": {"name": status.name, "sentence": sweep.model.sentences[status]},
            "file": None if written is None else str(written),
        }
        print_json(results)
    else:
        print_outputs(dataset, summary, "observable")
        if "note" in dataset.attrs:
            print(f"note: {dataset.attrs['note']}")
        if status is not Status.ok:
            print_statuses(summary.counts, sweep.model.sentences, summary.causes)
        if written is not None:
            print(written)
    return 0 if status is Status.ok else 1
