"""Methods of kind "array" on any array library: blocks of points in, NumPy arrays out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.arrays import Array, ArrayMethod, array_method
from sweep.backends.base import Computed, Stopped
from sweep.request import Sweep
from sweep.spec import DTYPES, MISSING, Status, array_types
from sweep.work import Points


def compute_arrays(
    xp: Any,
    sweep: Sweep,
    points: Points,
    stop: Event | None = None,
    *,
    block: int = 32,  # points that fit into processor caches
    to_host: Callable[[Array], NDArray[Any]] | None = None,
) -> Computed:
    """The sweep's outputs and "status" at every point, by the method's function on library `xp`.

    They are arrays of that library or, with `to_host`, which copies them, of NumPy.
    `block` points are computed at once, and a stop takes effect between blocks. The size of a block
    changes no bit. Where memory runs out it is halved; MemoryError if a single point does not fit.
    """
    method = array_method(sweep.model, sweep.method)
    arrays = empty_arrays(sweep, points.n_points, np.empty if to_host else xp.empty)
    began = time.perf_counter()
    first = 0
    while first < points.n_points:
        if stop is not None and stop.is_set():
            raise Stopped
        place = slice(first, min(first + block, points.n_points))
        index = np.arange(place.start, place.stop)
        parameters = {name: column.at(index) for name, column in points.columns.items()}
        try:
            outputs = _block(xp, sweep, method, parameters)
            for name, values in outputs.items():
                arrays[name][place] = values if to_host is None else to_host(values)
        except MemoryError:  # CuPy's too
            if block == 1:
                raise
            block //= 2
            continue
        first = place.stop
    return Computed(arrays, time.perf_counter() - began)


def empty_arrays(
    sweep: Sweep, n_points: int, empty: Callable[[int, Any], NDArray[Any]] = np.empty
) -> dict[str, NDArray[Any]]:
    """An array for each output of the sweep and for "status", not filled."""
    return {name: empty(n_points, dtype) for name, dtype in array_types(sweep.outputs).items()}


def _block(
    xp: Any, sweep: Sweep, method: ArrayMethod, parameters: Mapping[str, NDArray[np.float64]]
) -> dict[str, Array]:
    """The outputs of some points, with missing values where a point is not ok, and "status".

    Other memory of a device is freed on return.
    """
    with np.errstate(all="ignore"):  # such points get a status that is not ok
        outputs = method(xp, {name: xp.asarray(values) for name, values in parameters.items()})
    block = {"status": outputs["status"].astype(np.uint8)}
    ok = block["status"] == int(Status.ok)
    for output in sweep.outputs:
        missing, dtype = MISSING[output.kind], DTYPES[output.kind]
        if output.name in outputs:
            block[output.name] = xp.where(ok, outputs[output.name], missing).astype(dtype)
        else:
            block[output.name] = xp.full(ok.shape, missing, dtype)
    return block
