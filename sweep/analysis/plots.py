"""A picture of any sweep: lines over one axis, a colour map over two, slices of the rest."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
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
from sweep.analysis.outlines import draw_outlines, legend_of_cells
from sweep.analysis.refined import geometric_axes
from sweep.analysis.saving import save
from sweep.analysis.scales import (
    decades,
    edges,
    leaves_zeros_apart,
    scale,
    spans_decades,
)
from sweep.analysis.slices import Slice, cut, in_words, quantity, unit
from sweep.errors import SweepError

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

Values = NDArray[np.float64]

LABEL_WIDTH = 60  # characters: the least that an axis has room for
MAX_LINES = 8  # an axis this short is drawn as lines rather than as columns of a map
NO_VALUE: dict[str, Any] = {"facecolor": "0.9", "edgecolor": "0.6", "hatch": "////"}
ZERO: dict[str, Any] = {"facecolor": "0.97", "edgecolor": "0.6"}


def plot(
    dataset: xr.Dataset,
    output: str | None = None,
    path: str | Path = "sweep.png",
    *,
    at: Mapping[str, float] | None = None,
    over: Sequence[str] = (),
) -> Path:
    """Draw one output of a sweep into a file (.png, .pdf, .svg ...) and return the file's path.

    See `draw` for what is on it. Folders on the way to `path` are made; a file there is replaced.
    SweepError as of `draw`, and if the file cannot be written.
    """
    return save(draw(dataset, output, at=at, over=over), path)


def draw(
    dataset: xr.Dataset,
    output: str | None = None,
    *,
    at: Mapping[str, float] | None = None,
    over: Sequence[str] = (),
) -> Figure:
    """The picture as a matplotlib Figure, bound to no window.

    `output` is any variable of the Dataset, the status by its names; without it, the first real
    one. The two longest axes are drawn, logarithmic where their values lie far more evenly so; each
    other is cut at its middle, or at the value nearest to the one `at` gives, and the title says
    where. Borders between the classes of a flag are drawn and the classes named, whether the flag
    is the output or stands beside it; borders that theory knows for the model are dashed. Points
    without a value are hatched, and counted in the legend as are those at infinity on an axis,
    which are left out. A sample is drawn as dots over two of its parameters, the first ones or
    those of `over`; over one, as an axis is. Refined points are drawn as the grid that their cells
    make (`analysis.refined.on_grid`), cells outlined. SweepError for what is no Dataset of a sweep,
    for names it does not have, and where there is nothing to draw.
    """
    return draw_slice(cut(dataset, output, at or {}, over))


def draw_slice(shown: Slice) -> Figure:
    """What `draw` draws, of a slice that is there: of a sweep, or of its error.

    Errors are on a logarithmic scale, of a map its least part cut off; where there is none (an
    error of 0) the map is pale, and lines stop, unless there is none anywhere. The legend counts
    those points. So it is with other outputs whose positive values span decades. SweepError for a
    single point.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 5.6), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    shape = shown.output.shape
    if not shape:
        raise SweepError(
            f"nothing to draw: there is a single point, {shown.name} = {quantity(shown.output)}"
        )
    if shown.over:
        _draw_sample(figure, axes, shown)
    elif len(shape) == 2 and min(shape) > MAX_LINES:
        _draw_map(figure, axes, shown)
    else:
        _draw_lines(axes, shown)
    axes.set_title(_title(shown), loc="left", fontsize="medium")
    _draw_legend(figure, axes, shown)
    return figure


def _title(shown: Slice) -> str:
    title = f"{shown.dataset.attrs.get('model', 'sweep')}: {shown.name}"
    cuts = ", ".join(f"{axis} = {value}" for axis, value in shown.cuts.items())
    return f"{title} at {cuts}" if cuts else title


def _draw_legend(figure: Figure, axes: Axes, shown: Slice) -> None:
    from matplotlib.patches import Patch

    handles = axes.get_legend_handles_labels()[0]
    none = np.count_nonzero(shown.values == 0)
    if _leaves_zeros_apart(shown) and none:
        words = "no error" if _is_error(shown) else f"{shown.name} = 0"
        handles.append(Patch(**ZERO, label=f"{words}: {none} points"))
    if shown.missing:
        counts = ", ".join(f"{n} {in_words(status.name)}" for status, n in shown.missing.items())
        handles.append(Patch(**NO_VALUE, label=f"no value: {counts}"))
    for name, points in shown.infinite.items():
        handles.append(
            Patch(fill=False, linewidth=0, label=f"not drawn: {points} with {name} = inf")
        )
    if shown.refined is not None:
        handles.append(legend_of_cells(shown.refined.status.size))
    if handles:
        figure.legend(
            handles=handles, loc="outside lower center", ncols=3, fontsize="small", frameon=False
        )


def _label(variable: xr.DataArray) -> str:
    """What a variable means, up to the first ; or :, with its unit, on lines that fit a side."""
    told = str(variable.attrs.get("long_name", variable.name))
    name = re.split("[;:]", told, maxsplit=1)[0]
    symbol = unit(variable).replace(" ", "\N{NO-BREAK SPACE}")
    return textwrap.fill(f"{name} [{symbol}]" if symbol else name, LABEL_WIDTH)


def _draw_map(figure: Figure, axes: Axes, shown: Slice) -> None:
    """The first axis to the right, the second upwards, the output in colour."""
    x, y = (axis.values.astype(np.float64) for axis in shown.axes)
    for axis, name, values in zip(shown.axes, "xy", (x, y), strict=True):
        axes.set(**{f"{name}scale": scale(values), f"{name}label": _label(axis)})
    axes.patch.set(**NO_VALUE)
    values = _of_some_colour(shown.values) if _leaves_zeros_apart(shown) else shown.values
    sides, heights = edges(x), edges(y)
    mesh = axes.pcolormesh(sides, heights, values.T, rasterized=True, **_colours(shown))
    _colour_bar(figure, axes, mesh, shown)
    if shown.refined is not None:
        draw_outlines(axes, shown.refined.outlines, [str(axis.name) for axis in shown.axes])
    draw_class_borders(axes, x, y, shown)
    draw_theory_borders(axes, x, y, shown)
    name_classes(axes, x, y, shown)
    # Contours end at the middle of cells, where matplotlib would end an axis of many decades, too.
    axes.set(xlim=sides[[0, -1]], ylim=heights[[0, -1]])


def _draw_sample(figure: Figure, axes: Axes, shown: Slice) -> None:
    """A dot a point over two parameters, the output in colour; a cross where it has no value."""
    x, y = (shown.dataset[name] for name in shown.over)
    for axis, name in ((x, "x"), (y, "y")):
        axes.set(**{f"{name}scale": _sample_scale(shown, axis), f"{name}label": _label(axis)})
    values = _of_some_colour(shown.values) if _leaves_zeros_apart(shown) else shown.values
    there = np.isfinite(values)
    dots = axes.scatter(
        x.values[there], y.values[there], s=_dot(values.size), c=values[there], linewidths=0,
        rasterized=True, **_colours(shown),
    )  # fmt: skip
    _colour_bar(figure, axes, dots, shown)
    if not there.all():
        axes.scatter(x.values[~there], y.values[~there], s=20.0, c="0.6", marker="x")


def _dot(number: int) -> float:
    """The size in points² of each of so many dots: together half the page."""
    return float(np.clip(2e4 / max(number, 1), 1.0, 30.0))


def _sample_scale(shown: Slice, parameter: xr.DataArray) -> str:
    """Logarithmic where it was drawn so, or spans decades."""
    recipe = str(shown.dataset.attrs.get("recipe", "{}"))
    axes = json.loads(recipe).get("axes", [])
    asked = next((axis["recipe"].get(parameter.name) for axis in axes), None)
    drawn_so = isinstance(asked, dict) and "loguniform" in asked
    return "log" if drawn_so or spans_decades(parameter.values) else "linear"


def _colours(shown: Slice) -> dict[str, Any]:
    import matplotlib
    from matplotlib.colors import BoundaryNorm, LogNorm

    if _leaves_zeros_apart(shown):
        colours = matplotlib.colormaps["viridis"].with_extremes(under=ZERO["facecolor"])
        return {"cmap": colours, "norm": LogNorm(*decades(shown.values))}
    if not shown.names:
        return {"cmap": "viridis", "norm": _norm(shown.values)}
    codes = sorted(shown.names)
    between = [codes[0] - 0.5, *(code + 0.5 for code in codes)]
    colours = matplotlib.colormaps["viridis"].resampled(len(codes))
    return {"cmap": colours, "norm": BoundaryNorm(between, len(codes))}


def _is_error(shown: Slice) -> bool:
    """Whether a slice shows the relative error of what another shows."""
    return "against" in shown.dataset.attrs and not shown.names


def _leaves_zeros_apart(shown: Slice) -> bool:
    """Whether positive values are on a logarithmic scale, and zeros apart from it."""
    return _is_error(shown) or (not shown.names and leaves_zeros_apart(shown.values))


def _of_some_colour(values: Values) -> Values:
    """Those below the scale at its least, those that are 0 below it: a NaN would be hatched."""
    low, _ = decades(values)
    return np.where(values == 0, 0.1 * low, np.maximum(values, low))


def _norm(values: Values) -> Normalize:
    from matplotlib.colors import LogNorm, Normalize

    finite = values[np.isfinite(values)]
    if not finite.size:
        return Normalize(0.0, 1.0)
    return (LogNorm if spans_decades(finite) else Normalize)(finite.min(), finite.max())


def _colour_bar(figure: Figure, axes: Axes, mesh: ScalarMappable, shown: Slice) -> None:
    bar = figure.colorbar(mesh, ax=axes, label=_label(shown.output))
    if shown.names:
        names = shown.names
        bar.set_ticks(list(names), labels=[hyphenated(name) for name in names.values()])
        bar.ax.tick_params(length=0)


def _draw_lines(axes: Axes, shown: Slice) -> None:
    """One line over the longest axis, or one for each value of a short second axis."""
    along = max(shown.axes, key=lambda axis: axis.size)
    x = along.values.astype(np.float64)
    refined = along.name in geometric_axes(shown.dataset)
    axes.set(xscale="log" if refined else scale(x), xlabel=_label(along))
    axes.set_ylabel(_label(shown.output))
    values, labels = _lines(shown, along)
    style = _line_style(shown, along)
    for line, label in zip(values, labels, strict=True):
        (drawn,) = axes.plot(x, line, label=label, **style)
        if not (style["marker"] or shown.names):
            alone = _alone(line, positive=_leaves_zeros_apart(shown))
            if alone.any():
                axes.plot(x[alone], line[alone], ".", color=drawn.get_color())
    if _leaves_zeros_apart(shown):
        if np.any(np.isfinite(values) & (values > 0)):  # else there is no scale to be had
            axes.set_yscale("log", nonpositive="mask")
    elif spans_decades(values[np.isfinite(values)]):
        axes.set_yscale("log")
    if shown.names:
        names = shown.names
        axes.set_yticks(list(names), labels=[hyphenated(name) for name in names.values()])
    if len(values) == 1 and along.name not in shown.numbered:
        _mark_missing(axes, x, values[0])
        mark_theory_borders(axes, x, shown)
        if not shown.names:
            mark_classes(axes, x, shown)


def _alone(line: Values, *, positive: bool) -> NDArray[np.bool_]:
    """Whether a value stands between two that are not drawn, so that no line leads to it."""
    there = np.isfinite(line) & ((line > 0) if positive else True)
    beside = np.pad(there, 1)
    return there & ~beside[:-2] & ~beside[2:]


def _line_style(shown: Slice, along: xr.DataArray) -> dict[str, Any]:
    """Dots for a sample, steps for a flag, else a line, with dots where they are few."""
    return {
        "markersize": min(2 * _dot(along.size) ** 0.5, 6.0),  # twice what "." is wide
        "linestyle": "none" if along.name in shown.numbered else "-",
        "marker": "." if along.size <= 64 or along.name in shown.numbered else "",
        "drawstyle": "steps-mid" if shown.names else "default",
    }


def _lines(shown: Slice, along: xr.DataArray) -> tuple[Values, list[str]]:
    """The lines, (n_lines, n_values), and what the legend calls each."""
    if len(shown.axes) == 1:
        return shown.values[None, :], [""]
    (across,) = (axis for axis in shown.axes if axis.name != along.name)
    lines = shown.values if shown.axes[0].name == across.name else shown.values.T
    return lines, [f"{in_words(str(across.name))} = {quantity(value)}" for value in across]


def _mark_missing(axes: Axes, x: Values, line: Values) -> None:
    """Hatch the cells of points without a value over the whole height."""
    sides = np.repeat(edges(x), 2)[1:-1]
    missing = np.repeat(np.isnan(line), 2)
    if missing.any():
        upright = axes.get_xaxis_transform()
        axes.fill_between(sides, 0, 1, where=missing.tolist(), transform=upright, **NO_VALUE)
