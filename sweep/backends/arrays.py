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
    library = xp if to_host is None else np
    arrays = empty_arrays(sweep, points.n_points, library.empty)
    began = time.perf_counter()
    first = 0
    while first < points.n_points:
        if stop is not None and stop.is_set():
            raise Stopped
        place = slice(first, min(first + block, points.n_points))
        index = np.arange(place.start, place.stop)
        parameters = {
            name: column.values[(index // column.repeat) % len(column.values)]
            for name, column in points.columns.items()
        }
        try:
            outputs = _block(xp, method, parameters, to_host or (lambda values: values))
        except MemoryError:  # CuPy's too
            if block == 1:
                raise
            block //= 2
            continue
        _store(library, sweep, outputs, arrays, place)
        first = place.stop
    return Computed(arrays, time.perf_counter() - began)


def empty_arrays(
    sweep: Sweep, n_points: int, empty: Callable[[int, Any], NDArray[Any]] = np.empty
) -> dict[str, NDArray[Any]]:
    """An array for each output of the sweep and for "status", not filled."""
    return {name: empty(n_points, dtype) for name, dtype in array_types(sweep.outputs).items()}


def _block(
    xp: Any,
    method: ArrayMethod,
    parameters: Mapping[str, NDArray[np.float64]],
    to_host: Callable[[Array], Array],
) -> dict[str, Array]:
    """The outputs of some points; other memory of a device is freed on return."""
    with np.errstate(all="ignore"):  # such points get a status that is not ok
        outputs = method(xp, {name: xp.asarray(values) for name, values in parameters.items()})
    return {name: to_host(values) for name, values in outputs.items()}


def _store(
    xp: Any,
    sweep: Sweep,
    outputs: Mapping[str, Array],
    arrays: Mapping[str, Array],
    here: slice,
) -> None:
    """Copy a block's outputs into `arrays`, with missing values where a point is not ok."""
    status = arrays["status"][here] = outputs["status"].astype(np.uint8)
    ok = status == int(Status.ok)
    for output in sweep.outputs:
        values = missing = MISSING[output.kind]
        if output.name in outputs:
            values = xp.where(ok, outputs[output.name], missing).astype(DTYPES[output.kind])
        arrays[output.name][here] = values
