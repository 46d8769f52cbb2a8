"""One panel of a picture: a map, lines, bars or dots of one slice of a sweep."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sweep.analysis.class_borders import (
    draw_class_borders,
    draw_theory_borders,
    hyphenated,
    mark_classes,
    mark_theory_borders,
    name_classes,
)
from sweep.analysis.colours import colours, has_zeros_apart, visible
from sweep.analysis.figures import dot_size, shade
from sweep.analysis.labels import axis_label, in_words, quantities, quantity, values_of
from sweep.analysis.refined import geometric_axes
from sweep.analysis.scales import edges, evenly, scale, spans_decades, without_rounding
from sweep.analysis.slices import Slice
from sweep.analysis.statistics import draw_band, draw_bars
from sweep.analysis.ticks import plain_ticks
from sweep.errors import SweepError
from sweep.spec import Status
from sweep.work import Values

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

MAX_LINES = 8  # longest axis that is drawn as one line per value rather than as a map
MAX_DOTS = 5_000  # of a sample; more would run together
SAMPLE_AREA = 6e4  # points² that the dots of a sample cover
CELL_COLOUR = (1.0, 1.0, 1.0, 0.5)
NO_VALUE: dict[str, Any] = {"facecolor": "0.9", "edgecolor": "0.6", "hatch": "////"}


def draw_panel(axes: Axes, shown: Slice, label: str = "") -> ScalarMappable | None:
    """Draw a slice; what its colours stand for needs a bar, if it has colours.

    A single line is labelled, and is then drawn without borders and classes, as one of several.
    SweepError for a single point.
    """
    shape = tuple(axis.size for axis in shown.axes)
    mesh = None
    if not shape:
        value = f", {shown.name} = {quantity(shown.output)}" if shown.output.size == 1 else ""
        raise SweepError(f"nothing to draw: there is a single point{value}")
    if shown.has_several_values:
        _draw_several_values(axes, shown)
    elif len(shape) == 1 and shown.axes[0].name in shown.labels:
        _draw_bars(axes, shown)
    elif shown.over:
        mesh = _draw_sample(axes, shown)
    elif is_map(shown):
        mesh = _draw_map(axes, shown)
    else:
        _draw_lines(axes, shown, label)
    for axis in (axes.xaxis, axes.yaxis):
        plain_ticks(axis)
    return mesh


def is_map(shown: Slice) -> bool:
    """Whether two axes are drawn as a map rather than as lines."""
    if len(shown.axes) < 2 or shown.view.lines or shown.labels & set(shown.output.dims):
        return False
    return shown.view.y is not None or min(axis.size for axis in shown.axes) > MAX_LINES


def is_single_line(shown: Slice) -> bool:
    """Whether a slice is drawn as a single line."""
    return len(shown.axes) == 1 and not (
        shown.over or shown.has_several_values or shown.labels & set(shown.output.dims)
    )


def _set_axis(axes: Axes, side: str, shown: Slice, variable: xr.DataArray, kind: str) -> str:
    """Set label, scale and chosen limits of an axis; the scale, logarithmic if that is chosen."""
    name = str(variable.name)
    if name in shown.view.log:
        if not np.any(variable.values > 0) or np.any(variable.values < 0):
            raise SweepError(f"--log names {name}, which is not positive: leave it out")
        kind = "log"
    axes.set(**{f"{side}scale": kind, f"{side}label": axis_label(variable)})
    return kind


def _limit(axes: Axes, side: str, shown: Slice, variable: xr.DataArray) -> None:
    """Apply the limits that are chosen for an axis."""
    limits = shown.limits(str(variable.name), getattr(axes, f"get_{side}scale")())
    if limits is not None:
        axes.set(**{f"{side}lim": limits})


def _draw_map(axes: Axes, shown: Slice) -> ScalarMappable:
    """Draw the output in colour, over the first axis to the right and the second upwards."""
    x, y = (axis.values.astype(np.float64) for axis in shown.axes)
    scales = [
        _set_axis(axes, side, shown, axis, scale(values))
        for side, axis, values in zip("xy", shown.axes, (x, y), strict=True)
    ]
    axes.patch.set(**NO_VALUE)
    sides, heights = (edges(each, kind) for each, kind in zip((x, y), scales, strict=True))
    mesh = axes.pcolormesh(sides, heights, visible(shown).T, rasterized=True, **colours(shown))
    if shown.refined is not None:
        outlines = shown.refined.outlines
        names = [str(axis.name) for axis in shown.axes]
        _outline_cells(axes, *(outlines[name].T * shown.scales(name)[1] for name in names))
    draw_class_borders(axes, x, y, shown)
    draw_theory_borders(axes, x, y, shown)
    # Contours end in the middle of the outer cells; an axis would end there with them.
    axes.set(xlim=sides[[0, -1]], ylim=heights[[0, -1]])
    for side, axis in zip("xy", shown.axes, strict=True):
        _limit(axes, side, shown, axis)
    name_classes(axes, sides, heights, shown)
    return mesh


def _outline_cells(axes: Axes, x: Values, y: Values) -> None:
    """Outline the cells of a refined sweep, given where they begin and end: two (2, n_cells)."""
    from matplotlib.collections import PolyCollection

    (left, right), (lower, upper) = x, y
    corners = ((left, lower), (right, lower), (right, upper), (left, upper))
    boxes = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
    cells = PolyCollection(
        list(boxes), facecolors="none", edgecolors=[CELL_COLOUR], linewidths=0.2, rasterized=True
    )
    axes.add_collection(cells, autolim=False)


def _draw_sample(axes: Axes, shown: Slice) -> ScalarMappable:
    """Draw a coloured dot for points over two parameters, a cross where they have no value."""
    x, y = (shown.variable(name) for name in shown.over)
    for side, variable in (("x", x), ("y", y)):
        _set_axis(axes, side, shown, variable, _sample_scale(shown, variable))
    values = visible(shown)
    there, missing = (np.flatnonzero(known) for known in (np.isfinite(values), np.isnan(values)))
    some = there[evenly(there.size, MAX_DOTS)] if there.size else there
    dots = axes.scatter(
        x.values[some], y.values[some], s=dot_size(some.size, SAMPLE_AREA), c=values[some],
        linewidths=0, rasterized=True, **colours(shown),
    )  # fmt: skip
    if some.size < there.size:
        axes.plot([], [], " ", label=f"{some.size:,} of {there.size:,} points drawn")
    if missing.size:
        some = missing[evenly(missing.size, MAX_DOTS)]
        axes.scatter(x.values[some], y.values[some], s=20.0, c="0.6", marker="x")
    for side, variable in (("x", x), ("y", y)):
        _limit(axes, side, shown, variable)
    return dots


def _sample_scale(shown: Slice, parameter: xr.DataArray) -> str:
    """Logarithmic if the sample is log-uniform in the parameter, or if the values span decades."""
    axes = json.loads(str(shown.dataset.attrs.get("recipe", "{}"))).get("axes", [])
    distribution = next((axis["recipe"].get(parameter.name) for axis in axes), None)
    log_uniform = isinstance(distribution, dict) and "loguniform" in distribution
    return "log" if log_uniform or spans_decades(parameter.values) else "linear"


def _draw_lines(axes: Axes, shown: Slice, label: str = "") -> None:
    """Draw one line over the longest axis, or one for each value of a short second axis."""
    along = _along(shown)
    x = along.values.astype(np.float64)
    refined = along.name in geometric_axes(shown.dataset)
    _set_axis(axes, "x", shown, along, "log" if refined else scale(x))
    values, labels = _lines(shown, along)
    _set_axis(axes, "y", shown, shown.output, _line_scale(shown))
    style = _line_style(shown, along)
    for line, words in zip(values, labels, strict=True):
        (drawn,) = axes.plot(x, line, label=label or words, **style)
        if not (style["marker"] or shown.names):
            alone = _isolated(line, positive=has_zeros_apart(shown))
            if alone.any():
                axes.plot(x[alone], line[alone], ".", color=drawn.get_color())
    if names := shown.names:
        axes.set_yticks(list(names), labels=[hyphenated(name) for name in names.values()])
    elif axes.get_yscale() == "linear":
        _widen(axes, shown.scaled)
    if len(values) == 1 and along.name not in shown.numbered and not label:
        _mark_missing(axes, x, values[0])
        if not np.isfinite(values).any():
            axes.set(xlim=edges(x)[[0, -1]])
        draw_band(axes, x, shown.dataset, shown.name, shown.scales(shown.name)[1])
        mark_theory_borders(axes, x, shown)
        if not shown.names:
            mark_classes(axes, x, shown)
    _limit(axes, "x", shown, along)
    _limit(axes, "y", shown, shown.output)


def _along(shown: Slice) -> xr.DataArray:
    """The axis over which lines are drawn: `x` of the view if chosen, otherwise the longest."""
    if shown.view.x is not None:
        return shown.axes[0]
    others = [axis for axis in shown.axes if axis.name != shown.view.lines]
    return max(others or shown.axes, key=lambda axis: (axis.name not in shown.labels, axis.size))


def _line_scale(shown: Slice) -> str:
    finite = shown.scaled[np.isfinite(shown.scaled)]
    if has_zeros_apart(shown):  # without positive values there is no scale
        return "log" if np.any(finite > 0) else "linear"
    return "log" if not shown.names and spans_decades(finite) else "linear"


def _widen(axes: Axes, values: Values) -> None:
    """Draw values that differ by rounding as a constant, not over the height of the picture."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return
    low, high = without_rounding(finite)
    if low < finite.min():
        axes.set_ylim(low, high)


def _draw_bars(axes: Axes, shown: Slice) -> None:
    """Draw one bar for each label of a statistic of a single cell."""
    (along,) = shown.axes
    draw_bars(axes, shown.dataset, shown.name, str(along.name))
    is_histogram = shown.name.endswith("_histogram")
    raw = shown.dataset[shown.name]  # bars are in SI units
    axes.set(xlabel="" if is_histogram else axis_label(along), ylabel=axis_label(raw))


def _draw_several_values(axes: Axes, shown: Slice) -> None:
    """Draw a bifurcation map: all values of each point as dots above its place on the axis."""
    (along,) = shown.axes
    x = along.values.astype(np.float64)
    refined = along.name in geometric_axes(shown.dataset)
    _set_axis(axes, "x", shown, along, "log" if refined else scale(x))
    _set_axis(axes, "y", shown, shown.output, "linear")
    places = np.broadcast_to(x[:, None], shown.values.shape)
    size = min(2 * dot_size(shown.values.size) ** 0.5, 6.0)
    axes.plot(
        places.ravel(), shown.values.ravel(), ".", markersize=size, markeredgewidth=0,
        rasterized=True,
    )  # fmt: skip
    if along.name not in shown.numbered and "status" in shown.dataset:
        ok = shown.dataset["status"].values == Status.ok
        _mark_missing(axes, x, np.where(ok, 0.0, np.nan))
    _limit(axes, "x", shown, along)
    _limit(axes, "y", shown, shown.output)


def _isolated(line: Values, *, positive: bool) -> NDArray[np.bool_]:
    """Whether neither neighbour of a value is drawn, so that no line would show it."""
    there = np.isfinite(line) & ((line > 0) if positive else True)
    beside = np.pad(there, 1)
    return there & ~beside[:-2] & ~beside[2:]


def _line_style(shown: Slice, along: xr.DataArray) -> dict[str, Any]:
    """Dots for a sample, steps for a flag, otherwise a line, with dots if points are few."""
    return {
        "markersize": min(2 * dot_size(along.size) ** 0.5, 6.0),  # "." is half as wide
        "linestyle": "none" if along.name in shown.numbered else "-",
        "marker": "." if along.size <= 64 or along.name in shown.numbered else "",
        "drawstyle": "steps-mid" if shown.names else "default",
    }


def _lines(shown: Slice, along: xr.DataArray) -> tuple[Values, list[str]]:
    """The lines, shape (n_lines, n_values), and the label of each."""
    if len(shown.axes) == 1:
        return shown.values[None, :], [""]
    (across,) = (axis for axis in shown.axes if axis.name != along.name)
    lines = shown.values if shown.axes[0].name == across.name else shown.values.T
    if across.name not in shown.numbered:
        some = evenly(across.size, MAX_LINES)
        words = in_words(str(across.name))
        return lines[some], [f"{words} = {text}" for text in quantities(across[some])]
    names = [str(name) for name in shown.dataset.coords if name != across.name]
    names = [name for name in names if shown.dataset[name].dims == across.dims]
    places = (shown.dataset.isel({across.name: i}) for i in range(across.size))
    numbers = [f"{in_words(str(across.name))} = {text}" for text in quantities(across)]
    return lines, [values_of(place, names) for place in places] if names else numbers


def _mark_missing(axes: Axes, x: Values, line: Values) -> None:
    """Hatch the cells of points without a value, over the full height."""
    missing = ~np.isfinite(line)
    if missing.any():
        shade(axes, edges(x), missing, **NO_VALUE)
