"""Panels of slices in colour: maps over two axes, and dots of a sample over two parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.collections import PolyCollection
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from sweep.pictures import colours
from sweep.pictures.class_names import outline
from sweep.pictures.labels import axis_label, in_words
from sweep.pictures.panels import (
    FREE,
    TEXT_ALONE,
    Mark,
    Note,
    Panel,
    PanelAxis,
    Regions,
    axis_of,
    class_ticks,
    dot_size,
    theory_marks,
)
from sweep.pictures.scales import (
    decades,
    edges,
    evenly,
    scale,
    spans_decades,
)
from sweep.pictures.slices import Slice
from sweep.request.chunk import Values
from sweep.results.refined import axis_recipes
from sweep.results.summary import flag_names

MAX_DOTS = 5_000  # of a sample; more would run together
SAMPLE_AREA = 6e4  # points² that the dots of a sample cover
CELL_COLOUR = (1.0, 1.0, 1.0, 0.5)


def map_panel(shown: Slice) -> Panel:
    """The output in colour, over the first axis to the right and the second upwards."""
    x, y = (axis.values.astype(np.float64) for axis in shown.axes)
    across, up = (
        axis_of(shown, axis, scale(values)) for axis, values in zip(shown.axes, (x, y), strict=True)
    )
    x, y = edges(x, across.scale), edges(y, up.scale)
    marks = [
        Mark("pcolormesh", (x, y, _visible(shown).T), {"rasterized": True, **colours.of_map(shown)})
    ]
    if shown.refined is not None:
        names = [str(axis.name) for axis in shown.axes]
        marks.append(
            _outlines(*(shown.refined.outlines[name].T * shown.scales(name)[1] for name in names))
        )
    marks += _class_borders(shown, x, y)
    marks += theory_marks(shown)
    if len(shown.contours):
        x_values, y_values = (axis.values.astype(np.float64) for axis in shown.axes)
        known = np.where(np.isfinite(shown.values), shown.values, np.nan)
        style = {"levels": list(shown.contours), "colors": "white", "linewidths": 0.8}
        marks.append(Mark("contour", (x_values, y_values, known.T), style))
    flag = shown.flag
    crossing = [line for lines in shown.theory_borders.values() for line in lines]
    names = {} if flag is None else flag_names(flag)
    return Panel(
        replace(across, limits=across.limits if across.limits != FREE else (x[0], x[-1])),
        replace(up, limits=up.limits if up.limits != FREE else (y[0], y[-1])),
        marks,
        _colour_axis(shown, marks[0]),
        Regions(x, y, shown.classes, names, crossing),
        background=colours.NO_VALUE,
    )


def _outlines(x: Values, y: Values) -> Mark:
    """The outlines of the cells of a refined sweep, which begin and end here: two (2, n_cells)."""
    (left, right), (lower, upper) = x, y
    corners = ((left, lower), (right, lower), (right, upper), (left, upper))
    boxes = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
    cells = PolyCollection(
        list(boxes), facecolors="none", edgecolors=[CELL_COLOUR], linewidths=0.2, rasterized=True
    )
    return Mark("add_collection", (cells,), {"autolim": False})


def _class_borders(shown: Slice, x: Values, y: Values) -> list[Mark]:
    """The edges between cells of different classes of the flag, as computed."""
    ends = class_edges(shown.classes, x, y)
    if not len(ends):
        return []
    style: dict[str, Any] = {"color": "white", "linewidth": 1.6, **outline(3.0)}
    codes = np.tile(np.array([Path.MOVETO, Path.LINETO], Path.code_type), len(ends))
    path = Path(ends.reshape(-1, 2), codes)  # all in one, so that no outline covers another line
    label = f"borders of {in_words(shown.flag_words)}, computed"
    return [
        Mark("add_patch", (PathPatch(path, fill=False, capstyle="projecting", **style),)),
        Mark("plot", ([], []), {**style, "label": label}),
    ]


def class_edges(classes: Values, x: Values, y: Values) -> Values:
    """The edges between neighbouring cells of different classes: their ends, (n_edges, 2, 2).

    `classes` has shape (n_x, n_y), NaN where unknown; `x` (n_x + 1,) and `y` (n_y + 1,) are the
    borders between cells.
    """
    columns, rows = np.nonzero(np.abs(np.diff(classes, axis=0)) > 0)
    upright = [(x[columns + 1], y[rows + end]) for end in (0, 1)]
    columns, rows = np.nonzero(np.abs(np.diff(classes, axis=1)) > 0)
    level = [(x[columns + end], y[rows + 1]) for end in (0, 1)]
    return np.concatenate([np.transpose(ends, (2, 0, 1)) for ends in (upright, level)])


def dot_panel(shown: Slice) -> Panel:
    """A coloured dot for points over two parameters, a cross where they have no value."""
    x, y = (shown.variable(name) for name in shown.over)
    values = _visible(shown)
    finite, missing = (np.flatnonzero(mask) for mask in (np.isfinite(values), np.isnan(values)))
    some = finite[evenly(finite.size, MAX_DOTS)] if finite.size else finite
    style: dict[str, Any] = {
        "s": dot_size(some.size, SAMPLE_AREA), "c": values[some], "linewidths": 0,
        "rasterized": True, **colours.of_map(shown),
    }  # fmt: skip
    marks = [Mark("scatter", (x.values[some], y.values[some]), style)]
    notes: list[Note] = []
    if some.size < finite.size:
        notes.append((f"{some.size:,} of {finite.size:,} points drawn", TEXT_ALONE))
    if missing.size:
        some = missing[evenly(missing.size, MAX_DOTS)]
        marks.append(Mark("plot", (x.values[some], y.values[some]), colours.MISSING_DOTS))
    across, up = (axis_of(shown, each, _sample_scale(shown, each)) for each in (x, y))
    return Panel(across, up, marks, _colour_axis(shown, marks[0]), notes=notes)


def _sample_scale(shown: Slice, parameter: xr.DataArray) -> str:
    """Logarithmic if the sample is log-uniform in the parameter, or if the values span decades."""
    recipes = [recipe.get(str(parameter.name)) for recipe in axis_recipes(shown.dataset)]
    log_uniform = any(isinstance(each, dict) and "loguniform" in each for each in recipes)
    return "log" if log_uniform or spans_decades(parameter.values) else "linear"


def _visible(shown: Slice) -> Values:
    """The values as coloured: small ones at the end of the scale, zeros below it.

    Outside a logarithmic scale they would be masked, and hatched like missing values.
    """
    if not shown.has_zeros_apart:
        return shown.values
    low, _ = shown.limits(shown.name, "log") or decades(shown.scaled)
    return np.where(shown.values == 0, 0.1 * low, np.maximum(shown.values, low))


def _colour_axis(shown: Slice, mesh: Mark) -> PanelAxis:
    """What the colours stand for, and at which ends of the scale values lie beyond it."""
    values, norm = shown.scaled[np.isfinite(shown.scaled)], mesh.style["norm"]
    beyond = bool(np.any(values < norm.vmin)), bool(np.any(values > norm.vmax))
    is_cut = not (shown.names or shown.has_zeros_apart)
    ends = {(True, False): "min", (False, True): "max", (True, True): "both"}
    extend = ends.get(beyond, "neither") if is_cut else "neither"
    return PanelAxis(axis_label(shown.output), ticks=class_ticks(shown), extend=extend)
