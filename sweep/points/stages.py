"""Outputs that follow from those of a kernel, computed on the host behind any backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.model.table import MISSING, Stage, Status, planes
from sweep.points.columns import derived_dimensions
from sweep.request.chunk import Chunk, Column, Points
from sweep.request.sweeps import AnySweep, Sweep
from sweep.statistics.launches import Arrays, Launcher, Then

BLOCK = 2**12  # points computed at once, whose intermediate arrays stay in the cache


def chunk_of_kernel(sweep: AnySweep, chunk: Chunk) -> Chunk:
    """The chunk with one value along each axis that has parameters of a stage alone.

    A kernel would compute the same at all of its values.
    """
    own = {parameter.name for parameter in sweep.points.of_stage}
    if not own:
        return chunk
    derived = derived_dimensions(sweep.points).items()
    needed = {dimension for name, along in derived if name not in own for dimension in along}
    shape = list(chunk.shape)
    for dimension, axis in enumerate(sweep.grid.axes):
        if axis.columns.keys() <= own and axis.name not in needed:
            shape[dimension] = 1
    return replace(chunk, shape=tuple(shape))


def staged(
    sweep: Sweep,
    points: Points,
    then: Then | None = None,
    shapes: tuple[tuple[int, ...], tuple[int, ...]] | None = None,
) -> Then | None:
    """What is made of the kernel's arrays: the sweep's outputs, then what `then` makes of them.

    `shapes` are that of the chunk that the kernel computes and that of `points`, if they differ.
    """
    stage = sweep.model.stage
    if stage is None:
        return then
    few, whole = shapes or ((points.n_points,), (points.n_points,))

    def made(arrays: Mapping[str, Any], launcher: Launcher | None = None) -> Arrays:
        to_host = np.asarray if launcher is None else launcher.to_host
        on_host = {
            name: np.broadcast_to(to_host(values).reshape(few), whole).ravel()
            for name, values in arrays.items()
        }
        outputs = _outputs(stage, sweep, points, on_host)
        return outputs if then is None else then(outputs)

    return made


def _outputs(stage: Stage, sweep: Sweep, points: Points, arrays: Arrays) -> Arrays:
    """The planes of the sweep's outputs, and the status; missing where a point is not ok."""
    names, kinds = {each.name for each in sweep.outputs}, {p.name: p for p in planes(sweep.outputs)}
    needed = [plane.name for plane in planes(stage.needs)]
    columns = {each.name: points.columns[each.name] for each in stage.parameters}
    parts: dict[str, list[NDArray[Any]]] = {}
    invalid: list[NDArray[np.bool_]] = []
    for first in range(0, max(points.n_points, 1), BLOCK):
        here = slice(first, min(first + BLOCK, points.n_points))
        values = {name: _values(column, here) for name, column in columns.items()}
        computed, outside = stage.computed({n: arrays[n][here] for n in needed}, values, names)
        invalid.append(outside)
        for name, array in computed.items():
            parts.setdefault(name, []).append(array)
    status = arrays["status"]
    outside = np.concatenate(invalid) & (status == Status.ok)
    status = np.where(outside, np.uint8(Status.outside_validity), status)
    outputs = {**arrays, **{name: np.concatenate(each) for name, each in parts.items()}}
    ok = status == Status.ok
    filled = {
        n: np.where(ok, outputs[n], np.array(MISSING[p.kind])).astype(outputs[n].dtype)
        for n, p in kinds.items()
    }
    return {**filled, "status": status}


def _values(column: Column, here: slice) -> NDArray[np.float64]:
    """The values at adjacent points, or the one that all points share."""
    if len(column) == 1:
        return column.values
    return column.at(np.arange(here.start, here.stop, dtype=np.intp))
