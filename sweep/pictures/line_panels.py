"""Panels of slices over one axis: lines, dots of several values, and bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import cycle
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.model.table import Status
from sweep.pictures import colours
from sweep.pictures.cuts import parameters_along
from sweep.pictures.labels import (
    axis_label,
    hyphenated,
    in_words,
    label_names,
    named,
    quantities,
    values_of,
)
from sweep.pictures.panels import (
    FREE,
    TEXT_ALONE,
    Limits,
    Mark,
    Note,
    Panel,
    PanelAxis,
    axis_of,
    class_ticks,
    dot_size,
    shade,
    theory_marks,
)
from sweep.pictures.scales import edges, evenly, scale, spans_decades, without_rounding
from sweep.pictures.slices import MAX_LINES, Slice
from sweep.request.chunk import Values
from sweep.results.refined import refined_axes
from sweep.results.summary import flag_names

DASHES = ("-", "--", ":", "-.")  # of slices in one panel, which may cover each other
ORDERS = ("first_order", "total_order")  # of Sobol' indices


def line_panel(slices: Mapping[str, Slice]) -> Panel:
    """One line over the longest axis, or one for each slice or each value of a short axis."""
    shown = next(iter(slices.values()))
    x = _abscissa(shown, shown.along)
    y = axis_of(shown, shown.output, _line_scale(shown), class_ticks(shown))
    if y.scale == "linear" and not shown.names and y.limits == FREE:
        y = replace(y, limits=_constant(shown.scaled))
    marks: list[Mark] = []
    notes: list[Note] = []
    for (label, each), dashes in zip(slices.items(), cycle(DASHES), strict=False):
        along, lines, labels = lines_of(each)
        is_numbered = along.name in each.numbered
        marks += [
            _line(each, along, line, label or words, dashes)
            for line, words in zip(lines, labels, strict=True)
        ]
        if len(lines) < (n_lines := each.output.size // max(along.size, 1)):
            (across,) = (axis for axis in each.axes if axis.name != along.name)
            text = f"{len(lines)} of {n_lines:,} values of {in_words(str(across.name))} drawn"
            notes.append((text, TEXT_ALONE))
        if len(lines) == 1 and not (is_numbered or label):
            marks = [*_band(each, along, marks), *_behind(each, along, x.scale)]
            if not np.isfinite(lines).any() and x.limits == FREE:
                first, *_, last = edges(along.values, x.scale).tolist()
                x = replace(x, limits=(first, last))
    return Panel(x, y, marks, notes=notes)


def lines_of(shown: Slice) -> tuple[xr.DataArray, Values, list[str]]:
    """The axis to the right, the lines over it, (n_lines, n_values), and the label of each."""
    along = shown.along
    if len(shown.axes) == 1:
        return along, shown.values[None, :], [""]
    (across,) = (axis for axis in shown.axes if axis.name != along.name)
    lines = shown.values if shown.axes[0].name == across.name else shown.values.T
    axis, some = str(across.name), np.arange(across.size)
    if axis not in shown.numbered:
        some = evenly(across.size, MAX_LINES)
    else:  # its values are only numbers of places, which have the values of parameters
        names = parameters_along(shown.dataset.drop_vars(axis), axis)
        if names:
            points = [shown.dataset.isel({axis: i}) for i in some]
            return along, lines, [values_of(point, names) for point in points]
    labels = [f"{named(across)} = {text}" for text in quantities(across[some])]
    return along, lines[some], labels


def _line(shown: Slice, along: xr.DataArray, line: Values, label: str, dashes: str) -> Mark:
    """Dots for a sample, steps for a flag; dots on lines of few points, and beside gaps."""
    is_numbered = along.name in shown.numbered
    style: dict[str, Any] = {
        "markersize": _marker_size(along.size),
        "linestyle": "none" if is_numbered else dashes,
        "drawstyle": "steps-mid" if shown.names else "default",
        "label": label,
    }
    alone = _isolated(line, positive=shown.has_zeros_apart)
    if along.size <= 64 or is_numbered:
        style["marker"] = "."
    elif alone.any() and not shown.names:
        style |= {"marker": ".", "markevery": np.flatnonzero(alone)}
    return Mark("plot", (along.values.astype(np.float64), line), style, hue=label)


def _behind(shown: Slice, along: xr.DataArray, kind: str) -> Iterator[Mark]:
    """Behind a line: points without a value, borders known from theory, classes of the flag."""
    borders = edges(along.values.astype(np.float64), kind)
    if (missing := ~np.isfinite(shown.values)).any():
        yield shade(borders, missing, **colours.NO_VALUE, zorder=1)
    yield from theory_marks(shown)
    flag = shown.flag
    if flag is None or shown.names:
        return
    for (code, name), colour in zip(
        flag_names(flag).items(), cycle(colours.CLASS_SHADES), strict=False
    ):
        if (inside := shown.classes == code).any():
            label = f"{in_words(shown.flag_words)}: {hyphenated(name)}"
            yield shade(borders, inside, color=colour, linewidth=0, label=label)


def _band(shown: Slice, along: xr.DataArray, lines: list[Mark]) -> list[Mark]:
    """A line, with the band between the lowest and the highest quantile if it is a mean."""
    dataset, quantile = shown.dataset, f"{shown.name.removesuffix('_mean')}_quantile"
    if not shown.name.endswith("_mean") or dataset.get("quantile", along[:0]).size < 2:
        return lines
    if quantile not in dataset:
        return lines
    (line,), levels = lines, dataset["quantile"].values
    share = shown.scales(shown.name)[1]
    low, high = (share * dataset[quantile].isel(quantile=i).values for i in (0, -1))
    label = f"{100 * levels[0]:g} % to {100 * levels[-1]:g} % of the points"
    style = {"alpha": 0.25, "linewidth": 0, "label": label}
    return [
        replace(line, style={**line.style, "label": "mean"}),
        Mark("fill_between", (along.values, low, high), style, hue=line.hue),
    ]


def values_panel(shown: Slice) -> Panel:
    """A bifurcation map: all values of each point as dots above its place on the axis."""
    (along,) = shown.axes
    x = along.values.astype(np.float64)
    places = np.broadcast_to(x[:, None], shown.values.shape)
    style = {"linestyle": "none", "marker": ".", "markersize": _marker_size(shown.values.size),
             "markeredgewidth": 0, "rasterized": True}  # fmt: skip
    marks = [Mark("plot", (places.ravel(), shown.values.ravel()), style)]
    across = _abscissa(shown, along)
    if along.name not in shown.numbered and "status" in shown.dataset:
        missing = shown.dataset["status"].values != Status.ok
        if missing.any():
            marks.append(shade(edges(x, across.scale), missing, **colours.NO_VALUE, zorder=1))
    return Panel(across, axis_of(shown, shown.output, "linear"), marks)


def bar_panel(shown: Slice) -> Panel:
    """A bar for each label or bin of a statistic of a single cell."""
    (along,), output = shown.axes, shown.output
    y = axis_of(shown, output, "linear")
    if y.scale == "log" and y.limits == FREE:  # beginning at the lowest bar would hide it
        positive = output.values[output.values > 0]
        y = replace(y, limits=(positive.min() / 2, None))
    if f"{shown.name}_width" in shown.dataset:
        width = float(shown.dataset[f"{shown.name}_width"]) * shown.scales(str(along.name))[1]
        bars = Mark("bar", (along.values, output.values, width), {"align": "edge"})
        return Panel(axis_of(shown, along, "linear"), y, [bars])
    label = str(along.name)
    for option in ("log", "limits"):
        if label in getattr(shown.view, option):
            raise SweepError(
                f"`{option}` names {label}, whose bars are evenly spaced: leave it out"
            )
    texts = label_names(along) or [f"{value:g}" for value in along.values]
    ticks = {float(place): hyphenated(text) for place, text in enumerate(texts)}
    return Panel(PanelAxis(axis_label(along), ticks=ticks), y, _bars_of_labels(shown, along))


def _bars_of_labels(shown: Slice, along: xr.DataArray) -> list[Mark]:
    """Evenly spaced bars; of Sobol' indices those of both orders, with errors if known."""
    dataset, name, share = shown.dataset, shown.name, shown.scales(shown.name)[1]
    bars = {name: ""}  # labels by name
    if suffix := next((order for order in ORDERS if name.endswith(order)), None):
        both = {f"{name.removesuffix(suffix)}{order}": in_words(order) for order in ORDERS}
        bars = {each: label for each, label in both.items() if each in dataset}
    width = 0.8 / len(bars)
    marks: list[Mark] = []
    for i, (each, label) in enumerate(bars.items()):
        places = np.arange(along.size) + (i - (len(bars) - 1) / 2) * width
        errors = share * dataset[f"{each}_error"].values if f"{each}_error" in dataset else None
        data = (places, share * dataset[each].values, width)
        marks.append(Mark("bar", data, {"yerr": errors, "label": label}))
    return marks


def _abscissa(shown: Slice, along: xr.DataArray) -> PanelAxis:
    """The axis to the right of lines."""
    is_geometric = refined_axes(shown.dataset).get(str(along.name), False)
    return axis_of(shown, along, "log" if is_geometric else scale(along.values.astype(np.float64)))


def _line_scale(shown: Slice) -> str:
    finite = shown.scaled[np.isfinite(shown.scaled)]
    if shown.has_zeros_apart:  # without positive values there is no scale
        return "log" if np.any(finite > 0) else "linear"
    return "log" if not shown.names and spans_decades(finite) else "linear"


def _constant(values: Values) -> Limits:
    """Limits that draw values that differ by rounding as a constant; free for other values."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return FREE
    low, high = without_rounding(finite)
    return (low, high) if low < finite.min() else FREE


def _isolated(line: Values, *, positive: bool) -> NDArray[np.bool_]:
    """Whether neither neighbour of a value is drawn, so that no line would show it."""
    is_drawn = np.isfinite(line) & ((line > 0) if positive else True)
    beside = np.pad(is_drawn, 1)
    return is_drawn & ~beside[:-2] & ~beside[2:]


def _marker_size(number: int) -> float:
    """The size in points of one of a number of markers "."; each is half as wide as its size."""
    return min(2 * dot_size(number) ** 0.5, 6.0)
