"""`sweep trace`: trace a point, save it, and print its ranges."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import xarray as xr

from sweep.cli.actions.contents import outputs_json, print_outputs, print_statuses
from sweep.cli.printing import print_json
from sweep.cli.stopping import interruptible
from sweep.file import load
from sweep.model.table import Status
from sweep.pictures.trace_files import SHOWN_CYCLES, refuse_end, save
from sweep.request.sweeps import Sweep
from sweep.results.summary import trace_contents
from sweep.results.tracing import as_point, trace_point


def print_trace(
    config: str,
    at: Sequence[str],
    overrides: Sequence[str],
    path: str | None,
    *,
    samples: int | None,
    start: float | None,
    end: float | None,
    cycles: float | None,
    as_json: bool,
) -> int:
    """Trace a point, save the trace if it has a path, and print it; return the exit status."""
    with interruptible("stopped by {cause}: nothing was written"):
        if path is not None:
            refuse_end(Path(path))
        sweep = as_point(load(config, overrides, at=at).sweep.points)
        dataset = trace_point(sweep, samples=samples, start=start, end=end, cycles=cycles)
        chosen = any(each is not None for each in (start, end, cycles))
        drawn = None if chosen else SHOWN_CYCLES
        written = None if path is None else save(dataset, path, drawn)
        return _print_ranges(sweep, dataset, written, as_json=as_json)


def _print_ranges(sweep: Sweep, dataset: xr.Dataset, written: Path | None, *, as_json: bool) -> int:
    """Print the ranges of the observables and return the exit status."""
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
