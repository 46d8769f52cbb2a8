"""One panel of a picture: a map, lines, bars or dots of one slice of a sweep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from sweep.analysis.class_borders import (
    draw_class_borders,
    draw_theory_borders,
    hyphenated,
    mark_classes,
    mark_theory_borders,
    name_classes,
)
from sweep.analysis.colours import NO_VALUE, colours, has_zeros_apart, visible
from sweep.analysis.figures import dot_size, plain_ticks, shade
from sweep.analysis.kept_axes import parameters_along
from sweep.analysis.labels import (
    axis_label,
    in_words,
    label_names,
    named,
    quantities,
    quantity,
    values_of,
)
from sweep.analysis.refined import axis_recipes, refined_axes
from sweep.analysis.scales import edges, evenly, scale, spans_decades, without_rounding
from sweep.analysis.slices import Slice
from sweep.errors import SweepError
from sweep.spec import Status
from sweep.work import Values

MAX_LINES = 8  # longest axis that is drawn as one line per value rather than as a map
MAX_DOTS = 5_000  # of a sample; more would run together
SAMPLE_AREA = 6e4  # points² that the dots of a sample cover
ORDERS = ("first_order", "total_order")  # of Sobol' indices
MISSING_DOTS: dict[str, Any] = {
    "linestyle": "none", "marker": "x", "color": "0.6", "markersize": 4.5,
}  # fmt: skip
CELL_COLOUR = (1.0, 1.0, 1.0, 0.5)


def draw_panel(axes: Axes, shown: Slice, label: str = "") -> ScalarMappable | None:
    """Draw a slice; what its colours stand for needs a bar, if it has colours.

    A single line is labelled, and is then drawn without borders and classes, as one of several.
    SweepError for a single point.
    """
    mesh = None
    if not shown.axes:
        value = f", {shown.name} = {quantity(shown.output)}" if shown.output.size == 1 else ""
        raise SweepError(
            f"nothing to draw: there is a single point{value}; give a store with an axis"
        )
    if shown.has_several_values:
        _draw_several_values(axes, shown)
    elif shown.has_bars:
        _draw_bars(axes, shown)
    elif shown.over:
        mesh = _draw_sample(axes, shown)
    elif is_map(shown):
        mesh = _draw_map(axes, shown)
    else:
        _draw_lines(axes, shown, label)
    for axis in (axes.xaxis, axes.yaxis):
        plain_ticks(axis)
    if np.isnan(shown.values).all():
        axes.text(
            0.5, 0.5, "no values", transform=axes.transAxes, ha="center", va="center",
            bbox={"facecolor": "white", "edgecolor": "none"},
        )  # fmt: skip
    if np.isnan(shown.scaled).all():  # in no panel: there is no scale
        mesh = None
        if not (shown.over or is_map(shown)):
            axes.set_yticks([])
    return mesh


def is_map(shown: Slice) -> bool:
    """Whether two axes are drawn as a map rather than as lines."""
    if len(shown.axes) < 2 or shown.view.hue or shown.labels & set(shown.output.dims):
        return False
    return shown.view.y is not None or min(axis.size for axis in shown.axes) > MAX_LINES


def is_single_line(shown: Slice) -> bool:
    """Whether a slice is drawn as a single line."""
    return len(shown.axes) == 1 and not (
        shown.over or shown.has_several_values or shown.labels & set(shown.output.dims)
    )


def missing_mark(shown: Slice, *, alone: bool = True) -> Callable[[str], Artist]:
    """Handles for the legend, by label, that look like the marks of points without a value.

    Crosses in a sample, hatched cells in a map and behind a line `alone`. Among several lines, and
    on axes without order, such points are gaps, which nothing marks.
    """
    if shown.over:
        return lambda label: Line2D([], [], label=label, **MISSING_DOTS)
    is_one = shown.has_several_values or (alone and is_single_line(shown))
    is_marked = is_map(shown) or (is_one and not shown.numbered)
    style: dict[str, Any] = NO_VALUE if is_marked else {"fill": False, "linewidth": 0}
    return lambda label: Patch(**style, label=label)


def _set_axis(axes: Axes, side: str, shown: Slice, variable: xr.DataArray, kind: str) -> str:
    """Set label and scale of an axis; returns the scale, which is logarithmic if that is chosen."""
    name = str(variable.name)
    if name in shown.view.log:
        if not np.any(variable.values > 0) or np.any(variable.values < 0):
            raise SweepError(f"`log` names {name}, which is not positive: leave it out")
        kind = "log"
    axes.set(**{f"{side}scale": kind, f"{side}label": axis_label(variable)})
    return kind


def _limit(axes: Axes, shown: Slice, *variables: xr.DataArray) -> None:
    """Apply the limits that are chosen for the variable to the right and the one upwards."""
    for side, variable in zip("xy", variables, strict=True):
        limits = shown.limits(str(variable.name), getattr(axes, f"get_{side}scale")())
        if limits is not None:
            axes.set(**{f"{side}lim": limits})


def _draw_map(axes: Axes, shown: Slice) -> ScalarMappable:
    """Draw the output in colour, over the first axis to the right and the second upwards."""
    x, y = (axis.values.astype(np.float64) for axis in shown.axes)
    kinds = [
        _set_axis(axes, side, shown, axis, scale(values))
        for side, axis, values in zip("xy", shown.axes, (x, y), strict=True)
    ]
    sides, heights = (edges(values, kind) for values, kind in zip((x, y), kinds, strict=True))
    axes.patch.set(**NO_VALUE)
    mesh = axes.pcolormesh(sides, heights, visible(shown).T, rasterized=True, **colours(shown))
    if shown.refined is not None:
        outlines = shown.refined.outlines
        names = [str(axis.name) for axis in shown.axes]
        _outline_cells(axes, *(outlines[name].T * shown.scales(name)[1] for name in names))
    draw_class_borders(axes, sides, heights, shown)
    draw_theory_borders(axes, shown)
    axes.set(xlim=sides[[0, -1]], ylim=heights[[0, -1]])
    _limit(axes, shown, *shown.axes)
    return mesh


def name_regions(axes: Axes, shown: Slice) -> None:
    """Write the names of classes in a map, once the limits of all panels are set."""
    if is_map(shown) and shown.axes and not (shown.over or shown.has_several_values):
        x, y = (axis.values.astype(np.float64) for axis in shown.axes)
        name_classes(axes, edges(x, axes.get_xscale()), edges(y, axes.get_yscale()), shown)


def line_labels(shown: Slice) -> list[str]:
    """The labels of several lines in a panel; none of other pictures."""
    is_lines = len(shown.axes) == 2 and not (shown.over or shown.has_several_values)
    return _lines(shown, _along(shown))[1] if is_lines and not is_map(shown) else []


def _outline_cells(axes: Axes, x: Values, y: Values) -> None:
    """Outline the cells of a refined sweep, given where they begin and end: two (2, n_cells)."""
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
    finite, missing = (np.flatnonzero(mask) for mask in (np.isfinite(values), np.isnan(values)))
    some = finite[evenly(finite.size, MAX_DOTS)] if finite.size else finite
    dots = axes.scatter(
        x.values[some], y.values[some], s=dot_size(some.size, SAMPLE_AREA), c=values[some],
        linewidths=0, rasterized=True, **colours(shown),
    )  # fmt: skip
    if some.size < finite.size:
        axes.plot([], [], " ", label=f"{some.size:,} of {finite.size:,} points drawn")
    if missing.size:
        some = missing[evenly(missing.size, MAX_DOTS)]
        axes.plot(x.values[some], y.values[some], **MISSING_DOTS)
    _limit(axes, shown, x, y)
    return dots


def _sample_scale(shown: Slice, parameter: xr.DataArray) -> str:
    """Logarithmic if the sample is log-uniform in the parameter, or if the values span decades."""
    recipes = [recipe.get(str(parameter.name)) for recipe in axis_recipes(shown.dataset)]
    log_uniform = any(isinstance(each, dict) and "loguniform" in each for each in recipes)
    return "log" if log_uniform or spans_decades(parameter.values) else "linear"


def _set_abscissa(axes: Axes, shown: Slice, along: xr.DataArray) -> Values:
    """Set the axis to the right, and return its values."""
    x = along.values.astype(np.float64)
    is_geometric = refined_axes(shown.dataset).get(str(along.name), False)
    _set_axis(axes, "x", shown, along, "log" if is_geometric else scale(x))
    return x


def _draw_lines(axes: Axes, shown: Slice, label: str = "") -> None:
    """Draw one line over the longest axis, or one for each value of a short second axis."""
    along = _along(shown)
    x = _set_abscissa(axes, shown, along)
    values, labels = _lines(shown, along)
    _set_axis(axes, "y", shown, shown.output, _line_scale(shown))
    style: dict[str, Any] = {  # dots for a sample, steps for a flag, dots on lines of few points
        "markersize": _marker_size(along.size),
        "linestyle": "none" if along.name in shown.numbered else "-",
        "marker": "." if along.size <= 64 or along.name in shown.numbered else "",
        "drawstyle": "steps-mid" if shown.names else "default",
    }
    for line, words in zip(values, labels, strict=True):
        (drawn,) = axes.plot(x, line, label=label or words, **style)
        if not (style["marker"] or shown.names):
            alone = _isolated(line, positive=has_zeros_apart(shown))
            if alone.any():
                axes.plot(x[alone], line[alone], ".", color=drawn.get_color())
    n_lines = shown.output.size // max(along.size, 1)
    if len(values) < n_lines:
        (across,) = (axis for axis in shown.axes if axis.name != along.name)
        words = f"{len(values)} of {n_lines:,} values of {in_words(str(across.name))} drawn"
        axes.plot([], [], " ", label=words)
    if names := shown.names:
        axes.set_yticks(list(names), labels=[hyphenated(name) for name in names.values()])
    elif axes.get_yscale() == "linear":
        _widen(axes, shown.scaled)
    if len(values) == 1 and along.name not in shown.numbered and not label:
        _mark_missing(axes, x, values[0])
        if not np.isfinite(values).any():
            axes.set(xlim=edges(x, axes.get_xscale())[[0, -1]])
        _draw_band(axes, x, shown.dataset, shown.name, shown.scales(shown.name)[1])
        mark_theory_borders(axes, shown)
        if not shown.names:
            mark_classes(axes, x, shown)
    _limit(axes, shown, along, shown.output)


def _along(shown: Slice) -> xr.DataArray:
    """The axis over which lines are drawn: `x` of the view if chosen, otherwise the longest."""
    if shown.view.x is not None:
        return shown.axes[0]
    others = [axis for axis in shown.axes if axis.name != shown.view.hue]
    return max(others or shown.axes, key=lambda axis: (axis.name not in shown.labels, axis.size))


def _line_scale(shown: Slice) -> str:
    finite = shown.scaled[np.isfinite(shown.scaled)]
    if has_zeros_apart(shown):  # without positive values there is no scale
        return "log" if np.any(finite > 0) else "linear"
    return "log" if not shown.names and spans_decades(finite) else "linear"


def _widen(axes: Axes, values: Values) -> None:
    """Draw values that differ by rounding as a constant, not over the height of the picture."""
    finite = values[np.isfinite(values)]
    if finite.size:
        low, high = without_rounding(finite)
        if low < finite.min():
            axes.set_ylim(low, high)


def _draw_band(axes: Axes, x: Values, dataset: xr.Dataset, name: str, share: float = 1.0) -> None:
    """Draw the band between the lowest and the highest quantile, times `share`, behind a mean."""
    quantile = f"{name.removesuffix('_mean')}_quantile"
    if not name.endswith("_mean") or quantile not in dataset or dataset["quantile"].size < 2:
        return
    levels = dataset["quantile"].values
    low, high = (share * dataset[quantile].isel(quantile=i).values for i in (0, -1))
    label = f"{100 * levels[0]:g} % to {100 * levels[-1]:g} % of the points"
    axes.fill_between(x, low, high, alpha=0.25, linewidth=0, label=label)
    axes.lines[0].set_label("mean")


def _draw_bars(axes: Axes, shown: Slice) -> None:
    """Draw a bar for each label or bin of a statistic of a single cell."""
    (along,), output = shown.axes, shown.output
    kind = _set_axis(axes, "y", shown, output, "linear")
    if f"{shown.name}_width" in shown.dataset:
        _set_axis(axes, "x", shown, along, "linear")
        width = float(shown.dataset[f"{shown.name}_width"]) * shown.scales(str(along.name))[1]
        axes.bar(along.values, output.values, width, align="edge")
    else:
        _draw_bars_of_labels(axes, shown, along)
    if kind == "log":  # a scale that begins at the lowest bar would hide it
        axes.set_ylim(bottom=output.values[output.values > 0].min() / 2)
    _limit(axes, shown, along, output)


def _draw_bars_of_labels(axes: Axes, shown: Slice, along: xr.DataArray) -> None:
    """Draw evenly spaced bars; of Sobol' indices those of both orders, with errors if known."""
    label = str(along.name)
    for option in ("log", "limits"):
        if label in getattr(shown.view, option):
            raise SweepError(
                f"`{option}` names {label}, whose bars are evenly spaced: leave it out"
            )
    dataset, name, share = shown.dataset, shown.name, shown.scales(shown.name)[1]
    places = np.arange(along.size)
    suffix = next((order for order in ORDERS if name.endswith(order)), None)
    bars = {name: ""}  # labels by name
    if suffix is not None:
        both = {f"{name.removesuffix(suffix)}{order}": in_words(order) for order in ORDERS}
        bars = {each: label for each, label in both.items() if each in dataset}
    width = 0.8 / len(bars)
    for i, (each, label) in enumerate(bars.items()):
        errors = f"{each}_error"
        axes.bar(
            places + (i - (len(bars) - 1) / 2) * width,
            share * dataset[each].values,
            width,
            yerr=share * dataset[errors].values if errors in dataset else None,
            label=label,
        )
    texts = label_names(along) or [f"{value:g}" for value in along.values]
    axes.set_xticks(places, labels=[hyphenated(text) for text in texts])
    axes.set_xlabel(axis_label(along))


def _draw_several_values(axes: Axes, shown: Slice) -> None:
    """Draw a bifurcation map: all values of each point as dots above its place on the axis."""
    (along,) = shown.axes
    x = _set_abscissa(axes, shown, along)
    _set_axis(axes, "y", shown, shown.output, "linear")
    places = np.broadcast_to(x[:, None], shown.values.shape)
    axes.plot(
        places.ravel(), shown.values.ravel(), ".", markersize=_marker_size(shown.values.size),
        markeredgewidth=0, rasterized=True,
    )  # fmt: skip
    if along.name not in shown.numbered and "status" in shown.dataset:
        ok = shown.dataset["status"].values == Status.ok
        _mark_missing(axes, x, np.where(ok, 0.0, np.nan))
    _limit(axes, shown, along, shown.output)


def _isolated(line: Values, *, positive: bool) -> NDArray[np.bool_]:
    """Whether neither neighbour of a value is drawn, so that no line would show it."""
    is_drawn = np.isfinite(line) & ((line > 0) if positive else True)
    beside = np.pad(is_drawn, 1)
    return is_drawn & ~beside[:-2] & ~beside[2:]


def _marker_size(number: int) -> float:
    """The size in points of one of a number of markers "."; each is half as wide as its size."""
    return min(2 * dot_size(number) ** 0.5, 6.0)


def _lines(shown: Slice, along: xr.DataArray) -> tuple[Values, list[str]]:
    """The lines, shape (n_lines, n_values), and the label of each."""
    if len(shown.axes) == 1:
        return shown.values[None, :], [""]
    (across,) = (axis for axis in shown.axes if axis.name != along.name)
    lines = shown.values if shown.axes[0].name == across.name else shown.values.T
    axis, some = str(across.name), np.arange(across.size)
    if axis not in shown.numbered:
        some = evenly(across.size, MAX_LINES)
    else:  # its values are only numbers of places, which have the values of parameters
        names = parameters_along(shown.dataset.drop_vars(axis), axis)
        if names:
            return lines, [values_of(shown.dataset.isel({axis: i}), names) for i in some]
    return lines[some], [f"{named(across)} = {text}" for text in quantities(across[some])]


def _mark_missing(axes: Axes, x: Values, line: Values) -> None:
    """Hatch the cells of points without a value, over the full height."""
    missing = ~np.isfinite(line)
    if missing.any():
        shade(axes, edges(x, axes.get_xscale()), missing, **NO_VALUE)
