"""Borders known from theory, as short lines over two axes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.analysis.scales import evenly
from sweep.analysis.slices import boundaries_of
from sweep.explore.packing import packed, shuffled
from sweep.plan.point_columns import derived_values
from sweep.request import Axis, Sweep
from sweep.work import Values

Indices = NDArray[np.intp]
Dimensions = Mapping[str, Mapping[str, Values]]  # by axis, the values of every parameter along it
MAX_BORDER_VALUES = 256  # of an axis on which a border is looked for
MAX_SLICES = 16  # of the other axes that have borders
LAST = 2**16 - 1  # the number that stands for the last value of an axis


def segments(dimensions: Dimensions, sweep: Sweep) -> tuple[list[dict[str, Any]], list[str]]:
    """The borders over every two axes, and the pairs of axes whose borders are left out.

    A border has a label, the indices of the other axes (`at`, None for the two), and `lines`:
    packed whole numbers x0, y0, x1, y1 of one short line after another, where 0 is the index of an
    axis' first value and LAST that of its last. The borders of two axes are left out if the others
    have more than MAX_SLICES places; the pair is named if there is one at the middle place. An axis
    of several parameters, or of a sample, has no borders along it: its neighbours are unrelated.
    """
    borders: list[dict[str, Any]] = []
    left_out: list[str] = []
    sizes = [len(next(iter(columns.values()), ())) for columns in dimensions.values()]
    along = [d for d, name in enumerate(dimensions) if list(dimensions[name]) == [name]]
    for pair in itertools.combinations([d for d in along if sizes[d] > 1], 2):
        ranges = [[None] if d in pair else range(size) for d, size in enumerate(sizes)]
        if math.prod(map(len, ranges)) > MAX_SLICES:
            middle = [None if d in pair else size // 2 for d, size in enumerate(sizes)]
            if _fields(dimensions, sweep, middle):
                left_out.append(" and ".join(list(dimensions)[d] for d in pair))
            continue
        indices = [evenly(sizes[d], MAX_BORDER_VALUES) for d in pair]
        last = [sizes[d] - 1 for d in pair]
        for at in itertools.product(*ranges):
            for label, field in _fields(dimensions, sweep, at).items():
                ends = np.array([*_zero_lines(field, *indices)]).reshape(-1, 2)
                whole = np.round(ends / last * LAST).astype(np.uint16)
                borders.append({"label": label, "at": list(at), "lines": packed(shuffled(whole))})
    return borders, left_out


def _fields(dimensions: Dimensions, sweep: Sweep, at: Sequence[int | None]) -> dict[str, Values]:
    """The fields of `boundaries_of` over the axes without an index, thinned evenly."""
    axes: list[Axis] = []
    for (name, columns), index in zip(dimensions.items(), at, strict=True):
        size = len(next(iter(columns.values()), ()))
        kept = evenly(size, MAX_BORDER_VALUES) if index is None else [index]
        axes.append(Axis(name, {n: values[kept] for n, values in columns.items()}, {}))
    part = replace(sweep, axes=tuple(axes))
    values: dict[str, Any] = {**sweep.constants, **derived_values(part)}
    for d, axis in enumerate(axes):
        shape = [-1 if other == d else 1 for other in range(len(axes))]
        values |= {name: np.reshape(column[:], shape) for name, column in axis.columns.items()}
    drawn = [axis.size for axis, index in zip(axes, at, strict=True) if index is None]
    like = {n: np.broadcast_to(value, part.shape).reshape(drawn) for n, value in values.items()}
    return boundaries_of(sweep.model.name, like)


def _zero_lines(field: Values, columns: Indices, rows: Indices) -> Iterator[float]:
    """Marching squares: the ends of the line on which the field is 0 within each cell."""
    with np.errstate(invalid="ignore"):
        signs = field >= 0
    corners = (signs[:-1, :-1], signs[1:, :-1], signs[1:, 1:], signs[:-1, 1:])
    mixed = np.any([c != corners[0] for c in corners], axis=0)
    finite = np.isfinite(field)
    mixed &= finite[:-1, :-1] & finite[1:, :-1] & finite[1:, 1:] & finite[:-1, 1:]
    for i, j in np.argwhere(mixed).tolist():
        around = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
        ends: list[float] = []
        for a, b in zip(around, [*around[1:], around[0]], strict=True):
            if signs[a] == signs[b]:
                continue
            share = field[a] / (field[a] - field[b])
            for axis, values in enumerate((columns, rows)):
                start, end = values[a[axis]], values[b[axis]]
                ends.append(float(start + share * (end - start)))
        yield from ends[: len(ends) // 4 * 4]
