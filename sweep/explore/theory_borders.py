"""Borders known from theory, as short lines over the first two axes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.analysis.scales import evenly
from sweep.analysis.slices import boundaries_of
from sweep.explore.packing import packed, shuffled
from sweep.request import Sweep
from sweep.work import Values

Indices = NDArray[np.intp]
MAX_BORDER_VALUES = 256  # of an axis on which a border is looked for
MAX_SLICES = 16  # of the other axes that have borders
LAST = 2**16 - 1  # the number that stands for the last value of an axis


def segments(dimensions: Mapping[str, Mapping[str, Values]], sweep: Sweep) -> list[dict[str, Any]]:
    """The borders of each slice over the first two axes.

    Each has a label, the indices of the other axes (`at`), and `lines`: packed whole numbers x0,
    y0, x1, y1 of one short line after another, where 0 is the index of an axis' first value and
    LAST that of its last. Empty if the other axes have too many values, or parameters are derived.
    """
    names = list(dimensions)
    if sweep.derived or len(names) < 2 or any(list(dimensions[name]) != [name] for name in names):
        return []
    others = [range(len(dimensions[name][name])) for name in names[2:]]
    if np.prod([len(each) for each in others], initial=1) > MAX_SLICES:
        return []
    x, y = (dimensions[name][name] for name in names[:2])
    if min(x.size, y.size) < 2:
        return []
    columns, rows = (evenly(values.size, MAX_BORDER_VALUES) for values in (x, y))
    borders: list[dict[str, Any]] = []
    for at in itertools.product(*others):
        place = {n: dimensions[n][n][i] for n, i in zip(names[2:], at, strict=True)}
        grid = np.meshgrid(x[columns], y[rows], indexing="ij")
        fixed = {**sweep.constants, **place}
        like = {name: np.broadcast_to(value, grid[0].shape) for name, value in fixed.items()}
        values = {**like, names[0]: grid[0], names[1]: grid[1]}
        for label, field in boundaries_of(sweep.model.name, values).items():
            ends = np.array([*_zero_lines(field, columns, rows)]).reshape(-1, 2)
            whole = np.round(ends / (x.size - 1, y.size - 1) * LAST).astype(np.uint16)
            borders.append({"label": label, "at": list(at), "lines": packed(shuffled(whole))})
    return borders


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
