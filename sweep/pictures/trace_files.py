"""Traces as files: a picture or data, by the suffix of the path."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from sweep.errors import SweepError
from sweep.results.exporting import TRACE_FORMATS, export_as
from sweep.text.wording import listed

PICTURES = (".png", ".pdf", ".svg")
SHOWN_CYCLES = 5.0  # in a picture; the lines of more would run together


def save(dataset: xr.Dataset, path: str | Path, cycles: float | None = SHOWN_CYCLES) -> Path:
    """Write a trace to a file in the format that its suffix names: see `refuse_end`.

    A picture shows at most so many `cycles`, the last ones; with None all.
    An existing file is replaced; an existing .zarr is refused. Raises SweepError and MachineError.
    """
    path = Path(path)
    refuse_end(path)
    if path.suffix.lower() in PICTURES:
        from sweep.pictures.traces import plot_trace

        plot_trace(dataset, path, cycles)
        return path
    return export_as(TRACE_FORMATS, dataset, path)


def refuse_end(path: Path) -> None:
    """SweepError if the suffix is not one of .nc, .zarr, .csv, .png, .pdf, .svg."""
    known = (*TRACE_FORMATS, *PICTURES)
    if path.suffix.lower() not in known:
        choices = listed(known)
        raise SweepError(f"{str(path)!r} has no suffix of a known format: use one of {choices}")
