"""The stored map in the page: thinned evenly and rounded until it fits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.explorers.packing import packed, packed_values, plain, shuffled
from sweep.explorers.subject import Subject
from sweep.model.table import Status
from sweep.pictures.scales import evenly
from sweep.request.sweeps import POINT

MAX_PREVIEW_VALUES = 2**21  # of all outputs together, read at first
SHRINK = 0.85  # the longest axis, until the page fits
LEAST = 2  # values along an axis


def fitting(subject: Subject, room: int) -> dict[str, Any]:
    """The entries of the page with the stored map, in at most `room` bytes of text."""
    if subject.grid is None and not subject.is_sample:
        return {"preview": None}
    sizes = {name: subject.size(name) for name in subject.dimensions}
    outputs = 1
    if subject.grid is not None:
        inner = [subject.grid[n].size for n in subject.outputs if n in subject.grid]
        outputs = max(sum(inner) // max(math.prod(sizes.values()), 1), 1)
    while True:
        if math.prod(sizes.values()) * outputs <= MAX_PREVIEW_VALUES:
            kept = {name: evenly(subject.size(name), most) for name, most in sizes.items()}
            is_whole = all(len(kept[name]) == subject.size(name) for name in kept)
            for n_bytes in (4, 2) if is_whole else (2,):
                entries = _entries(subject, kept, n_bytes)
                if len(repr(entries)) <= room:
                    return entries
        longest = max(sizes, key=lambda name: sizes[name], default="")
        if sizes.get(longest, 0) <= LEAST:
            return {"preview": None}
        sizes[longest] = max(int(sizes[longest] * SHRINK), LEAST)


def _entries(subject: Subject, kept: dict[str, NDArray[np.intp]], n_bytes: int) -> dict[str, Any]:
    """The entries with values of `n_bytes` each: 4 have seven digits, 2 are rounded to 0.4 %."""
    grid = subject.grid
    entries: dict[str, Any] = {
        "preview": {
            "kept": [packed_values(indices.astype(np.float64)) for indices in kept.values()],
            "points": math.prod(len(indices) for indices in kept.values()),
            "bytes": n_bytes,
            "whole": all(len(kept[name]) == subject.whole_size(name) for name in kept),
        }
    }
    if subject.is_sample:
        columns = subject.dimensions[POINT]
        entries["sample_columns"] = {
            name: packed_values(values[kept[POINT]]) for name, values in columns.items()
        }
    if grid is None:
        return entries
    part, dims = grid.isel(kept).load(), tuple(kept)
    status = part["status"].transpose(*dims).values if "status" in part else None
    if status is not None:
        entries["preview"]["status"] = packed(status.tobytes())
    shown = [name for name in subject.outputs if name in part]
    entries["planes"] = {name: _plane(part[name], dims, status, n_bytes) for name in shown}
    return entries


def _plane(
    variable: xr.DataArray,
    dims: tuple[str, ...],
    status: NDArray[np.uint8] | None,
    n_bytes: int,
) -> dict[str, Any]:
    """The values of an output; NaN at points that are not ok."""
    inner = [dim for dim in variable.dims if dim not in dims]
    values = variable.transpose(*inner, *dims).values
    if "flag_meanings" in variable.attrs:
        return {"packed": packed(values.astype(np.uint8).tobytes())}
    real = values.astype(np.float64)
    if status is not None:
        real = np.where(status == Status.ok, real, np.nan)
    finite = real[np.isfinite(real)]
    least, greatest = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    return {
        "packed": packed(_rounded(real if dims else real[..., None], n_bytes)),
        "least": plain(float(least)),
        "greatest": plain(float(greatest)),
    }


def _rounded(values: NDArray[np.float64], n_bytes: int) -> bytes:
    """The leading 16 bits of float32 (8 of the significand) or all, as differences along rows."""
    with np.errstate(over="ignore"):
        bits = values.astype(np.float32).view(np.uint32).astype(np.int64)
    codes = np.where(np.isnan(values), 0x7FC00000, bits)
    if n_bytes == 2:
        codes = codes + 0x8000 >> 16
    codes[..., 1:] = np.diff(codes, axis=-1)
    return shuffled(codes.astype(f"u{n_bytes}").ravel())
