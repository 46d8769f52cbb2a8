"""Methods of kind "array" on any array library: blocks of points in, arrays of NumPy out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.arrays import Array, ArrayMethod, array_method
from sweep.backends.base import Computed, Stopped
from sweep.spec import DTYPES, MISSING, Column, Points, Status, Sweep, array_types


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
    MemoryError halves it; it is raised where a single point does not fit.
    """
    method = array_method(sweep.model, sweep.method)
    types = array_types(sweep.outputs)
    arrays = {name: np.empty(points.n_points, dtype) for name, dtype in types.items()}
    began = time.perf_counter()
    first = 0
    while first < points.n_points:
        if stop is not None and stop.is_set():
            raise Stopped
        here = slice(first, min(first + block, points.n_points))
        index = np.arange(here.start, here.stop)
        given = {name: _at(column, index) for name, column in points.columns.items()}
        try:
            found = _block(xp, method, given, to_host)
        except MemoryError:  # CuPy's too
            if block == 1:
                raise
            block //= 2
            continue
        _enter(sweep, found, arrays, here)
        first = here.stop
    return Computed(arrays, time.perf_counter() - began)


def _block(
    xp: Any,
    method: ArrayMethod,
    given: Mapping[str, NDArray[np.float64]],
    to_host: Callable[[Array], NDArray[Any]],
) -> dict[str, NDArray[Any]]:
    """The outputs of some points; on a device, all that it takes is given back."""
    with np.errstate(all="ignore"):  # what comes of it is a point's status
        found = method(xp, {name: xp.asarray(values) for name, values in given.items()})
    return {name: to_host(values) for name, values in found.items()}


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
