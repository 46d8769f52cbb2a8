"""A picture of any sweep: lines over one axis, or a colour map over two; others are cut."""

from __future__ import annotations

import json
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
from sweep.analysis.labels import axis_label, in_words, quantity, values_of
from sweep.analysis.refined import geometric_axes
from sweep.analysis.saving import save
from sweep.analysis.scales import (
    decades,
    edges,
    leaves_zeros_apart,
    scale,
    spans_decades,
)
from sweep.analysis.slices import Slice, cut
from sweep.analysis.statistics import draw_band, draw_bars
from sweep.errors import SweepError
from sweep.spec import Status, Values
from sweep.store import open_results

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

MAX_LINES = 8  # longest axis that is drawn as one line per value rather than as a map
CELL_COLOUR = (1.0, 1.0, 1.0, 0.5)
NO_VALUE: dict[str, Any] = {"facecolor": "0.9", "edgecolor": "0.6", "hatch": "////"}
ZERO: dict[str, Any] = {"facecolor": "0.97", "edgecolor": "0.6"}


def plot(
    dataset: xr.Dataset | str | Path,
    output: str | None = None,
    path: str | Path = "sweep.png",
    *,
    at: Mapping[str, float] | None = None,
    over: Sequence[str] = (),
) -> Path:
    """Save the picture that `draw` makes (.png, .pdf, .svg ...) and return the file's path.

    `dataset` may also be the path of a store. Missing folders are created; an existing file is
    replaced. SweepError as for `draw`, and if the file cannot be written.
    """
    results = open_results(dataset) if isinstance(dataset, str | Path) else dataset
    return save(draw(results, output, at=at, over=over), path)


def draw(
    dataset: xr.Dataset,
    output: str | None = None,
    *,
    at: Mapping[str, float] | None = None,
    over: Sequence[str] = (),
) -> Figure:
    """Draw one output of a sweep as a matplotlib Figure.

    `output` is any variable of the Dataset, by default the first real one; of the status the names
    are drawn. The two longest axes are drawn, on a logarithmic scale if their values are far more
    evenly spaced there. Other axes are cut at the value nearest to that in `at`, or at their
    middle, and the title says where. Borders between the classes of a flag are drawn and the
    classes named; the flag may be the output or another variable. Borders known from theory are
    dashed. Points without a value are hatched; points at infinity on an axis are left out; the
    legend counts both. A sample is drawn as dots over the two parameters in `over`, by default the
    first two; over a single parameter, it is drawn as an axis. Of an output with several values at
    each point, all are drawn as dots over one axis (a bifurcation map). A mean over one axis has
    the band between its lowest and highest quantile; a statistic with several values, such as
    quantiles, is drawn as lines over one axis, at one of them (in `at`) over two, and as bars for
    a single cell. Refined points are drawn
    as a grid (`analysis.refined.on_grid`), with their cells outlined. SweepError for a Dataset that
    is not that of a sweep, for unknown names, and if there is nothing to draw.
    """
    return draw_slice(cut(dataset, output, at or {}, over))


def draw_slice(shown: Slice) -> Figure:
    """Draw a slice of a sweep, or of its error, as `draw` does.

    Errors are drawn on a logarithmic scale; on a map its lowest part is cut off. Where the error is
    0, the map is pale and lines are interrupted, unless it is 0 everywhere; the legend counts those
    points. Other outputs whose positive values span decades are drawn in the same way. SweepError
    for a single point.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 5.6), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    shape = tuple(axis.size for axis in shown.axes)
    if not shape:
        value = f", {shown.name} = {quantity(shown.output)}" if shown.output.size == 1 else ""
        raise SweepError(f"nothing to draw: there is a single point{value}")
    if shown.has_several_values:
        _draw_several_values(axes, shown)
    elif len(shape) == 1 and shown.axes[0].name in shown.labels:
        _draw_bars(axes, shown)
    elif shown.over:
        _draw_sample(figure, axes, shown)
    elif len(shape) == 2 and min(shape) > MAX_LINES and not shown.labels & set(shown.output.dims):
        _draw_map(figure, axes, shown)
    else:
        _draw_lines(axes, shown)
    axes.set_title(shown.title(shown.name), loc="left", fontsize="medium")
    _draw_legend(figure, axes, shown)
    return figure


def _draw_legend(figure: Figure, axes: Axes, shown: Slice) -> None:
    from matplotlib.patches import Patch

    handles = axes.get_legend_handles_labels()[0]
    none = np.count_nonzero(shown.values == 0)
    of_drawn = f" of {shown.output.size:,} points drawn" if shown.thinned else " points"
    if _leaves_zeros_apart(shown) and none:
        words = "no error" if _is_error(shown) else f"{shown.name} = 0"
        handles.append(Patch(**ZERO, label=f"{words}: {none:,}{of_drawn}"))
    if shown.missing:
        counts = ", ".join(f"{n:,} {in_words(status.name)}" for status, n in shown.missing.items())
        whose = "" if shown.counts is not None else of_drawn.removeprefix(" points")
        handles.append(Patch(**NO_VALUE, label=f"no value: {counts}{whose}"))
    if shown.n_infinite:
        label = f"{shown.name} = inf: {shown.n_infinite:,}{of_drawn}"
        handles.append(Patch(**NO_VALUE, label=label))
    notes = [f"not drawn: {n:,} with {name} = inf" for name, n in shown.infinite.items()]
    notes += [f"instead of {name}, which is infinite" for name in shown.instead_of]
    handles += [Patch(fill=False, linewidth=0, label=note) for note in notes]
    if shown.refined is not None:
        label = f"cells of {shown.refined.status.size:,} points, interpolated within"
        handles.append(Patch(facecolor="none", edgecolor="0.6", label=label))
    if handles:
        figure.legend(
            handles=handles, loc="outside lower center", ncols=3, fontsize="small", frameon=False
        )


def _draw_map(figure: Figure, axes: Axes, shown: Slice) -> None:
    """Draw the output in colour, over the first axis to the right and the second upwards."""
    x, y = (axis.values.astype(np.float64) for axis in shown.axes)
    for axis, name, values in zip(shown.axes, "xy", (x, y), strict=True):
        axes.set(**{f"{name}scale": scale(values), f"{name}label": axis_label(axis)})
    axes.patch.set(**NO_VALUE)
    sides, heights = edges(x), edges(y)
    values = _visible(shown)
    mesh = axes.pcolormesh(sides, heights, values.T, rasterized=True, **_colours(shown))
    _colour_bar(figure, axes, mesh, shown)
    if shown.refined is not None:
        _outline_cells(axes, *(shown.refined.outlines[str(axis.name)].T for axis in shown.axes))
    draw_class_borders(axes, x, y, shown)
    draw_theory_borders(axes, x, y, shown)
    name_classes(axes, x, y, shown)
    # Contours end in the middle of the outer cells; an axis would end there with them.
    axes.set(xlim=sides[[0, -1]], ylim=heights[[0, -1]])


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


def _draw_sample(figure: Figure, axes: Axes, shown: Slice) -> None:
    """Draw a coloured dot for each point over two parameters, a cross where it has no value."""
    x, y = (shown.dataset[name] for name in shown.over)
    for axis, name in ((x, "x"), (y, "y")):
        axes.set(**{f"{name}scale": _sample_scale(shown, axis), f"{name}label": axis_label(axis)})
    values = _visible(shown)
    there = np.isfinite(values)
    dots = axes.scatter(
        x.values[there], y.values[there], s=_dot(values.size), c=values[there], linewidths=0,
        rasterized=True, **_colours(shown),
    )  # fmt: skip
    _colour_bar(figure, axes, dots, shown)
    if not there.all():
        axes.scatter(x.values[~there], y.values[~there], s=20.0, c="0.6", marker="x")


def _dot(number: int) -> float:
    """The size of one of a number of dots, in points²; all dots cover half the page."""
    return float(np.clip(2e4 / max(number, 1), 1.0, 30.0))


def _sample_scale(shown: Slice, parameter: xr.DataArray) -> str:
    """Logarithmic if the sample is log-uniform in the parameter, or if the values span decades."""
    axes = json.loads(str(shown.dataset.attrs.get("recipe", "{}"))).get("axes", [])
    distribution = next((axis["recipe"].get(parameter.name) for axis in axes), None)
    log_uniform = isinstance(distribution, dict) and "loguniform" in distribution
    return "log" if log_uniform or spans_decades(parameter.values) else "linear"


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
    """Whether a slice shows relative errors."""
    return "against" in shown.dataset.attrs and not shown.names


def _leaves_zeros_apart(shown: Slice) -> bool:
    """Whether positive values are drawn on a logarithmic scale and zeros apart from them."""
    if shown.names or shown.has_several_values:
        return False
    return _is_error(shown) or leaves_zeros_apart(shown.values)


def _visible(shown: Slice) -> Values:
    """The values as coloured: small ones at the end of the scale, zeros below it.

    Outside a logarithmic scale they would be masked, and hatched like missing values.
    """
    values = shown.values
    if not _leaves_zeros_apart(shown):
        return values
    low, _ = decades(values)
    return np.where(values == 0, 0.1 * low, np.maximum(values, low))


def _norm(values: Values) -> Normalize:
    from matplotlib.colors import LogNorm, Normalize

    finite = values[np.isfinite(values)]
    if not finite.size:
        return Normalize(0.0, 1.0)
    return (LogNorm if spans_decades(finite) else Normalize)(finite.min(), finite.max())


def _colour_bar(figure: Figure, axes: Axes, mesh: ScalarMappable, shown: Slice) -> None:
    bar = figure.colorbar(mesh, ax=axes, label=axis_label(shown.output))
    if names := shown.names:
        bar.set_ticks(list(names), labels=[hyphenated(name) for name in names.values()])
        bar.ax.tick_params(length=0)


def _draw_lines(axes: Axes, shown: Slice) -> None:
    """Draw one line over the longest axis, or one for each value of a short second axis."""
    along = max(shown.axes, key=lambda axis: (axis.name not in shown.labels, axis.size))
    x = along.values.astype(np.float64)
    refined = along.name in geometric_axes(shown.dataset)
    axes.set(xscale="log" if refined else scale(x), xlabel=axis_label(along))
    axes.set_ylabel(axis_label(shown.output))
    values, labels = _lines(shown, along)
    style = _line_style(shown, along)
    for line, label in zip(values, labels, strict=True):
        (drawn,) = axes.plot(x, line, label=label, **style)
        if not (style["marker"] or shown.names):
            alone = _isolated(line, positive=_leaves_zeros_apart(shown))
            if alone.any():
                axes.plot(x[alone], line[alone], ".", color=drawn.get_color())
    if _leaves_zeros_apart(shown):
        if np.any(np.isfinite(values) & (values > 0)):  # otherwise there is no scale
            axes.set_yscale("log", nonpositive="mask")
    elif spans_decades(values[np.isfinite(values)]):
        axes.set_yscale("log")
    if names := shown.names:
        axes.set_yticks(list(names), labels=[hyphenated(name) for name in names.values()])
    if len(values) == 1 and along.name not in shown.numbered:
        _mark_missing(axes, x, values[0])
        if not np.isfinite(values).any():
            axes.set(xlim=edges(x)[[0, -1]])
        draw_band(axes, x, shown.dataset, shown.name)
        mark_theory_borders(axes, x, shown)
        if not shown.names:
            mark_classes(axes, x, shown)


def _draw_bars(axes: Axes, shown: Slice) -> None:
    """Draw one bar for each label of a statistic of a single cell."""
    (along,) = shown.axes
    draw_bars(axes, shown.dataset, shown.name, str(along.name))
    is_histogram = shown.name.endswith("_histogram")
    axes.set(xlabel="" if is_histogram else axis_label(along), ylabel=axis_label(shown.output))


def _draw_several_values(axes: Axes, shown: Slice) -> None:
    """Draw a bifurcation map: all values of each point as dots above its place on the axis."""
    (along,) = shown.axes
    x = along.values.astype(np.float64)
    refined = along.name in geometric_axes(shown.dataset)
    axes.set(xscale="log" if refined else scale(x), xlabel=axis_label(along))
    axes.set_ylabel(axis_label(shown.output))
    places = np.broadcast_to(x[:, None], shown.values.shape)
    size = min(2 * _dot(shown.values.size) ** 0.5, 6.0)
    axes.plot(
        places.ravel(), shown.values.ravel(), ".", markersize=size, markeredgewidth=0,
        rasterized=True,
    )  # fmt: skip
    if along.name not in shown.numbered and "status" in shown.dataset:
        ok = shown.dataset["status"].values == Status.ok
        _mark_missing(axes, x, np.where(ok, 0.0, np.nan))


def _isolated(line: Values, *, positive: bool) -> NDArray[np.bool_]:
    """Whether neither neighbour of a value is drawn, so that no line would show it."""
    there = np.isfinite(line) & ((line > 0) if positive else True)
    beside = np.pad(there, 1)
    return there & ~beside[:-2] & ~beside[2:]


def _line_style(shown: Slice, along: xr.DataArray) -> dict[str, Any]:
    """Dots for a sample, steps for a flag, otherwise a line, with dots if points are few."""
    return {
        "markersize": min(2 * _dot(along.size) ** 0.5, 6.0),  # "." is half as wide
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
        return lines, [f"{in_words(str(across.name))} = {quantity(value)}" for value in across]
    names = [str(name) for name in shown.dataset.coords if name != across.name]
    names = [name for name in names if shown.dataset[name].dims == across.dims]
    places = (shown.dataset.isel({across.name: i}) for i in range(across.size))
    numbers = [f"{in_words(str(across.name))} = {quantity(value)}" for value in across]
    return lines, [values_of(place, names) for place in places] if names else numbers


def _mark_missing(axes: Axes, x: Values, line: Values) -> None:
    """Hatch the cells of points without a value, over the full height."""
    sides = np.repeat(edges(x), 2)[1:-1]
    missing = np.repeat(~np.isfinite(line), 2)
    if missing.any():
        upright = axes.get_xaxis_transform()
        axes.fill_between(sides, 0, 1, where=missing.tolist(), transform=upright, **NO_VALUE)
