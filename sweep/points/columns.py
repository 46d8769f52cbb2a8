"""The parameters of a chunk's points as columns, and which variants of a method hold there.

Parameter values are only sliced and compared here, and others are derived from them. Code added
here must restrict itself to + − × ÷ √ on them, because other functions give different bits on
different machines.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sweep.equations.derived import in_order, inputs, value_of
from sweep.errors import FaultError, SweepError
from sweep.model.table import Variant
from sweep.points.chunking import work_shape
from sweep.request.chunk import Chunk, Column, Points
from sweep.request.sweeps import AnySweep, Axis, LongValues, Reduced, Sweep
from sweep.sampling.long_values import Drawn

FEW = 16  # values of a column that show in most cases that it has several


def points(sweep: AnySweep, chunk: Chunk) -> Points:
    """All parameters of the sweep at the points of a chunk of its grid, in C order."""
    if isinstance(sweep, Reduced):  # the same for the points of a cell as one axis
        first, count = chunk.start[-1], chunk.shape[-1]
        cell = Axis("points", _columns_of_cell(sweep.over, first, count), {})
        flat = sweep.points.with_axes([*sweep.cells, cell])
        flat_points = points(flat, replace(chunk, start=(*chunk.start[:-1], 0)))
        return replace(flat_points, cells=math.prod(chunk.shape[:-1]), first=first)
    columns = _constant_columns(sweep)
    for dimension, axis in enumerate(sweep.axes):
        repeat = math.prod(chunk.shape[dimension + 1 :])
        for name, values in axis.columns.items():
            columns[name] = Column(part_of(values, chunk.slices[dimension]), repeat)
    derived = derived_values(sweep, chunk.slices)
    if faults := derived_faults(sweep, derived):
        raise SweepError("; ".join(f"[derived] {name}: {why}" for name, why in faults.items()))
    columns |= {name: _column(values, chunk.shape) for name, values in derived.items()}
    columns |= {n: Column(np.array([value])) for n, value in sweep.replaced_by_table.items()}
    return Points(
        n_points=chunk.n_points,
        columns={each.name: columns[each.name] for each in (*sweep.parameters, *sweep.of_stage)},
        variants=tuple(v.name for v in _variants(sweep) if _holds(v, columns)),
    )


def variant_sets(sweep: AnySweep, chunk_shape: Sequence[int]) -> list[tuple[str, ...]]:
    """The distinct sets of variants that hold in the chunks of a sweep."""
    if isinstance(sweep, Reduced):
        steps = [axis.size for axis in sweep.over]
        if len(steps) == 1:
            steps = [work_shape(sweep)[-1]]
        return variant_sets(sweep.points, (*chunk_shape, *steps))
    variants = _variants(sweep)
    constants = _constant_columns(sweep)
    relevant = {name for variant in variants for name in variant.parameters}
    held = [{tuple(_holds(variant, constants) for variant in variants)}]
    for axis, step in zip(sweep.axes, chunk_shape, strict=True):
        parts = (
            {
                name: Column(part_of(values, slice(start, start + step)))
                for name, values in axis.columns.items()
                if name in relevant
            }
            for start in range(0, axis.size, step)
        )
        held.append({tuple(_holds(variant, part) for variant in variants) for part in parts})
    sets = {tuple(map(all, zip(*each, strict=True))) for each in itertools.product(*held)}
    return [
        tuple(v.name for v, there in zip(variants, each, strict=True) if there)
        for each in sorted(sets)
    ]


def variants_of(sweep: AnySweep, block: Chunk) -> tuple[str, ...]:
    """The names of the variants that hold in a block of the sweep's grid (of whole cells)."""
    slices = block.slices
    if isinstance(sweep, Reduced):
        slices = (*slices[:-1], *(slice(0, axis.size) for axis in sweep.over))
        sweep = sweep.points
    variants = _variants(sweep)
    relevant = {name for variant in variants for name in variant.parameters}
    columns = {n: column for n, column in _constant_columns(sweep).items() if n in relevant}
    for axis, part in zip(sweep.axes, slices, strict=True):
        along = relevant & axis.columns.keys()
        columns |= {name: Column(part_of(axis.columns[name], part)) for name in along}
    return tuple(variant.name for variant in variants if _holds(variant, columns))


def derived_values(
    sweep: Sweep, slices: Sequence[slice] | None = None
) -> dict[str, NDArray[np.float64]]:
    """The derived parameters in a block of the grid, by default all of it.

    Each array has all dimensions of the sweep, with size 1 where its values do not vary. Parameters
    are left out if they depend on others that this sweep has not.
    """
    values: dict[str, NDArray[np.float64]] = {
        name: np.full((1,) * len(sweep.axes), value) for name, value in sweep.constants.items()
    }
    needed = {name for text in sweep.derived.values() for name in inputs(text)}
    for dimension, axis in enumerate(sweep.axes):
        part = slices[dimension] if slices else slice(None)
        shape = [-1 if d == dimension else 1 for d in range(len(sweep.axes))]
        for name in needed & axis.columns.keys():
            values[name] = np.asarray(axis.columns[name][part], np.float64).reshape(shape)
    derived: dict[str, NDArray[np.float64]] = {}
    for name in in_order(sweep.derived):
        text = sweep.derived[name]
        if values.keys() >= set(inputs(text)):
            array = np.asarray(value_of(text, values) + 0.0)
            shape = array.shape if array.ndim == len(sweep.axes) else (1,) * len(sweep.axes)
            values[name] = derived[name] = array.reshape(shape)
    return derived


def derived_dimensions(sweep: Sweep) -> dict[str, tuple[str, ...]]:
    """The dimensions along which each derived parameter varies.

    Parameters are left out if they depend on others that this sweep has not.
    """
    dimensions: dict[str, tuple[str, ...]] = dict.fromkeys(sweep.constants, ())
    dimensions |= {name: (axis.name,) for axis in sweep.axes for name in axis.columns}
    derived: dict[str, tuple[str, ...]] = {}
    for name in in_order(sweep.derived):
        needed = inputs(sweep.derived[name])
        if dimensions.keys() >= set(needed):
            along = {dimension for each in needed for dimension in dimensions[each]}
            dimensions[name] = derived[name] = tuple(d for d in sweep.grid.dimensions if d in along)
    return derived


def derived_faults(
    sweep: Sweep, derived: Mapping[str, NDArray[np.float64]]
) -> dict[str, FaultError]:
    """What is wrong with the values of derived parameters, by parameter."""
    faults: dict[str, FaultError] = {}
    for parameter in sweep.inputs:
        if parameter.name not in derived:
            continue
        values = derived[parameter.name].ravel()
        if (index := parameter.first_outside(values)) is not None:
            what = f"{sweep.derived[parameter.name]} is {float(values[index])!r}"
            faults[parameter.name] = FaultError(what, f"it has to be {parameter.requirement}")
    return faults


def _columns_of_cell(axes: Sequence[Axis], first: int, count: int) -> dict[str, LongValues]:
    """The parameters along axes at `count` points of their grid, in C order."""
    columns: dict[str, LongValues] = {}
    for dimension, axis in enumerate(axes):
        repeat = math.prod(other.size for other in axes[dimension + 1 :])
        low, high = first // repeat, -(-(first + count) // repeat)
        for name, values in axis.columns.items():
            if high - low <= axis.size and high <= axis.size:  # a part of the axis
                part = part_of(values, slice(low, high))
            else:
                part = np.asarray(values[:], np.float64)[np.arange(low, high) % axis.size]
            if repeat > 1:
                part = np.repeat(part[:], repeat)[first - low * repeat :][:count]
            columns[name] = part
    return columns


def part_of(values: LongValues, part: slice) -> LongValues:
    """A part of the values, which a sample may draw when it is read."""
    if isinstance(values, Drawn):
        return values.part(part)
    return np.ascontiguousarray(values[part], np.float64)


def _constant_columns(sweep: Sweep) -> dict[str, Column]:
    """The constants as doubles, which defaults of whole numbers need not be."""
    return {n: Column(np.array([value], np.float64)) for n, value in sweep.constants.items()}


def _column(values: NDArray[np.float64], shape: Sequence[int]) -> Column:
    """A parameter in a chunk of this shape; the array has size 1 where its values do not vary."""
    varied = [d for d, size in enumerate(values.shape) if size > 1]
    if not varied:
        return Column(values.reshape(1))
    first, last = varied[0], varied[-1] + 1
    block = np.broadcast_to(
        values, (*values.shape[:first], *shape[first:last], *values.shape[last:])
    )
    return Column(np.ascontiguousarray(block).ravel(), math.prod(shape[last:]))


def _variants(sweep: Sweep) -> list[Variant]:
    """The method's variants, without those that depend on derived parameters."""
    return [v for v in sweep.method.variants if sweep.derived.keys().isdisjoint(v.parameters)]


def _holds(variant: Variant, columns: Mapping[str, Column]) -> bool:
    return all(
        _has_one_value(columns[name], variant.value)
        for name in variant.parameters
        if name in columns
    )


def _has_one_value(column: Column, value: float | None) -> bool:
    """Whether all values are this one, or else equal. A few are read first: others may be drawn."""
    first = column.source[:FEW]
    value = first[0] if value is None else value
    return bool(np.all(first == value)) and bool(np.all(column.values == value))
