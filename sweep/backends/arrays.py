"""Methods of kind "array" on any array library: blocks of points in, arrays of NumPy out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.arrays import Array, array_method
from sweep.backends.base import Computed, Stopped
from sweep.spec import DTYPES, MISSING, Column, Points, Status, Sweep


def compute_arrays(
    xp: Any,
    sweep: Sweep,
    points: Points,
    stop: Event | None = None,
    *,
    block: int = 32,  # as many as caches hold
    to_host: Callable[[Array], NDArray[Any]] = np.asarray,
) -> Computed:
    """The asked outputs and "status" of every point, by the method's function on library `xp`.

    `block` points are computed at once, and a stop is heard between blocks; it changes no bit.
    """
    method = array_method(sweep.model, sweep.method)
    arrays = {
        output.name: np.empty(points.n_points, DTYPES[output.kind]) for output in sweep.outputs
    }
    arrays["status"] = np.empty(points.n_points, np.uint8)
    began = time.perf_counter()
    for first in range(0, points.n_points, block):
        if stop is not None and stop.is_set():
            raise Stopped
        here = slice(first, min(first + block, points.n_points))
        index = np.arange(here.start, here.stop)
        given = {name: xp.asarray(_at(column, index)) for name, column in points.columns.items()}
        with np.errstate(all="ignore"):  # what comes of it is a point's status
            found = method(xp, given)
        _enter(sweep, {name: to_host(values) for name, values in found.items()}, arrays, here)
    return Computed(arrays, time.perf_counter() - began)


def _at(column: Column, index: NDArray[np.int64]) -> NDArray[np.float64]:
    return column.values[(index // column.repeat) % len(column.values)]


def _enter(
    sweep: Sweep,
    found: Mapping[str, NDArray[Any]],
    arrays: Mapping[str, NDArray[Any]],
    here: slice,
) -> None:
    """A block's outputs put in their places, missing values where a point is not ok."""
    status = arrays["status"][here] = found["status"].astype(np.uint8)
    ok = status == Status.ok
    for output in sweep.outputs:
        arrays[output.name][here] = MISSING[output.kind]
        if ok.any():
            arrays[output.name][here][ok] = found[output.name][ok].astype(DTYPES[output.kind])
