"""A picture of a trace: the observables over a common time axis, with the loop beside them."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from sweep.analysis.figures import WIDTH, draw_heading, new_figure, save, shade, styled
from sweep.analysis.labels import (
    in_words,
    point_text,
    readable,
    title_of,
    unit,
    with_symbols,
    with_unit,
)
from sweep.analysis.slices import is_flag
from sweep.errors import SweepError
from sweep.plan.recipes import model_in
from sweep.spec import Status
from sweep.summary import flag_names
from sweep.work import Values

MAX_SIZE_RATIO = 5.0  # largest ratio of observables that share a panel
LABEL_WIDTH = 20  # characters that fit along the shortest panel
NOTE_WIDTH = 52  # characters that fit along the loop
NOTE_PLACE = -0.25  # below the loop, in its heights
LOOP_TICKS = 5  # at most, below the loop: their numbers may be long
MAP_HEIGHT = 2.0  # of a map of items, in panels
MAP_COLOURS = ("#9ec1dd", "#c4503b", "#e0b04a", "#6b8f5e")  # of classes after the first
EVENT_COLOURS = ("#c4503b", "#6b8f5e", "#7d5ba6", "#e0b04a")
MAX_EVENTS = 200  # that are drawn; more would cover the lines
SHADES = ("0.88", "0.76", "0.64", "0.52")  # of classes after the first


def plot_trace(dataset: xr.Dataset, path: str | Path, cycles: float | None = None) -> Path:
    """Save the picture that `draw_trace` makes (.png, .pdf, .svg ...) and return the file's path.

    Missing folders are created; an existing file is replaced. SweepError if the Dataset is not a
    trace, or if the file cannot be written.
    """
    return save(draw_trace(dataset, cycles), path)


@styled
def draw_trace(dataset: xr.Dataset, cycles: float | None = None) -> Figure:
    """Draw a trace (see sweep.trace) as a matplotlib Figure.

    Only the last `cycles` of the excitation are drawn if the trace has more.
    Observables of one unit and similar size share a panel. Intervals in which a flag does not have
    its first class (a mass that sticks) are shaded, and up to 200 events are marked. The model's
    table defines the loop. If the point is not ok, the title says why, and the time axis covers the
    whole trace. SweepError if the Dataset is not a trace.
    """
    if "time" not in getattr(dataset, "dims", ()) or "status" not in dataset:
        raise SweepError("this is not a trace: give the Dataset that sweep.trace returns")
    dataset = _last_cycles(dataset, cycles)
    panels, loop = _panels(dataset), _loop_of(dataset)
    maps = [str(name) for name, v in dataset.data_vars.items() if is_flag(v) and v.ndim == 2]
    heights = [1.0] * len(panels) + [MAP_HEIGHT] * len(maps)
    figure = new_figure(WIDTH, 1.0 + 1.1 * sum(heights))
    grid = figure.add_gridspec(
        len(heights), 2 if loop else 1, width_ratios=[5, 3][: 1 + bool(loop)],
        height_ratios=heights,
    )  # fmt: skip
    stack: list[Axes] = []
    for row in range(len(heights)):
        stack.append(figure.add_subplot(grid[row, 0], sharex=stack[0] if stack else None))
        if row < len(panels):
            _draw_panel(stack[row], dataset, panels[row], is_first=row == 0)
        else:
            _draw_item_map(stack[row], dataset, maps[row - len(panels)])
    time = dataset["time"]
    for axes in stack[:-1]:
        axes.tick_params(labelbottom=False)
    stack[-1].set_xlabel(with_unit(time.attrs["long_name"], time))
    if _status(dataset) is not Status.ok and time.size > 1:
        stack[-1].set_xlim(float(time[0]), float(time[-1]))
    figure.align_ylabels(stack)
    if loop:
        _draw_loop(figure.add_subplot(grid[:, 1]), dataset, loop)
    draw_heading(figure, *_heading(dataset))
    return figure


def _last_cycles(dataset: xr.Dataset, cycles: float | None) -> xr.Dataset:
    """The last cycles of a trace; all of a point that is not ok, or if it has no more."""
    time, cycle = dataset["time"].values, dataset.attrs.get("cycle")
    if cycles is None or cycle is None or time.size < 2 or _status(dataset) is not Status.ok:
        return dataset
    first = time[-1] - cycles * cycle
    if time[0] >= first - 1e-6 * cycle:
        return dataset
    number = (time[-1] - time[0]) / cycle
    events = [e for e in json.loads(dataset.attrs.get("events", "[]")) if e[0] >= first]
    listed = {"events": json.dumps(events)} if "events" in dataset.attrs else {}
    part = dataset.isel(time=time >= first - 1e-9 * cycle)
    return part.assign_attrs(shown=f"last {cycles:g} of {number:.4g} cycles", **listed)


def _panels(dataset: xr.Dataset) -> list[list[str]]:
    """The observables of each panel, in the order of the Dataset."""
    panels: list[list[str]] = []
    for name, values in dataset.data_vars.items():
        if "time" not in values.dims or is_flag(values):
            continue
        fitting = (panel for panel in panels if _alike(dataset[panel[0]], values))
        panel = next(fitting, None)
        if panel is None:
            panels.append(panel := [])
        panel.append(str(name))
    return panels


def _alike(first: xr.DataArray, other: xr.DataArray) -> bool:
    """Whether two observables have the same unit and similar sizes."""
    small, large = sorted(np.nanmax(np.abs([0.0, *v.values.ravel()])) for v in (first, other))
    same = bool(unit(first)) and unit(first) == unit(other)
    return same and bool(large <= MAX_SIZE_RATIO * small)


def _draw_panel(axes: Axes, dataset: xr.Dataset, names: list[str], *, is_first: bool) -> None:
    """Draw observables; a legend of the shades and events is above the first panel."""
    marks: list[Line2D | Patch] = [*_shade(axes, dataset)]
    time = dataset["time"].values
    shown, share = _readable(dataset, names)
    lines = [
        axes.plot(time, share * dataset[name].values, linewidth=1.1, label=in_words(name))[0]
        for name in names
    ]
    marks += _mark_events(axes, dataset)
    handles = [*(lines if len(lines) > 1 else ()), *(marks if is_first else ())]
    if handles:
        _draw_legend(axes, handles)
    axes.set_ylabel(_label(dataset, names, shown), fontsize="small")
    axes.margins(x=0)
    if not _has_values(dataset, names):
        axes.set_yticks([])


def _mark_events(axes: Axes, dataset: xr.Dataset) -> list[Line2D]:
    """Draw a thin line at each event, and return one line of each name for the legend."""
    events: list[tuple[float, str]] = json.loads(dataset.attrs.get("events", "[]"))
    if len(events) > MAX_EVENTS:
        return []
    names = dict.fromkeys(name for _, name in events)
    colours = dict(zip(names, cycle(EVENT_COLOURS), strict=False))
    style: dict[str, float] = {"linewidth": 0.6, "alpha": 0.7, "zorder": 1}
    lines = {name: axes.axvline(time, color=colours[name], **style) for time, name in events}
    for name, line in lines.items():
        line.set_label(in_words(name))
    return list(lines.values())


def _draw_legend(axes: Axes, handles: Sequence[Line2D | Patch]) -> None:
    """Write a legend in one line above a panel, on the right."""
    axes.legend(
        handles=list(handles), loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=len(handles),
        borderaxespad=0.0, fontsize="small",
    )  # fmt: skip


def _has_values(dataset: xr.Dataset, names: list[str]) -> bool:
    """Whether any of these has a value; otherwise the numbers on the axis would be meaningless."""
    return any(bool(np.isfinite(dataset[name].values).any()) for name in names)


def _draw_item_map(axes: Axes, dataset: xr.Dataset, name: str) -> None:
    """Draw a flag of each item (a spring that sticks or slips) over time and the item's position.

    The first class is white, as in Hanisch, Richter, Li 2020, Fig. 2.
    """
    flag = dataset[name]
    time, item = flag.dims
    shown, share = _readable(dataset, [str(item)])
    places = share * dataset[item].values
    meanings = flag_names(flag)
    colours = ("white", *MAP_COLOURS)[: len(meanings)]
    axes.pcolormesh(
        dataset[time].values, places, flag.values.T, shading="nearest",
        cmap=ListedColormap(colours), vmin=-0.5, vmax=len(meanings) - 0.5, rasterized=True,
    )  # fmt: skip
    pairs = zip(meanings.values(), colours, strict=True)
    handles = [Patch(facecolor=c, edgecolor="0.6", label=in_words(m)) for m, c in pairs]
    _draw_legend(axes, handles)
    position = dataset[item].assign_attrs(units=shown)
    axes.set_ylabel(with_unit(str(position.attrs["long_name"]), position))
    axes.set_ylim(_changing_range(places, flag.values))
    axes.margins(x=0)


def _changing_range(places: Values, flags: NDArray[np.uint8]) -> tuple[float, float]:
    """The items whose flag changes in time, and as wide a range inside them, down to 0 at most."""
    changes = np.flatnonzero(np.any(flags != flags[:1], axis=0))
    last = float(places[-1])
    if changes.size == 0:
        return 0.0, last
    return max(0.0, 2 * float(places[changes[0]]) - last), last


def _readable(dataset: xr.Dataset, names: list[str]) -> tuple[str, float]:
    """The unit in which these are shown together, and the factor that converts them."""
    values = np.concatenate([dataset[name].values.ravel() for name in names])
    largest = np.nanmax(np.abs(values), initial=0.0, keepdims=True)  # the axis is linear
    return readable(largest, str(dataset[names[0]].attrs.get("units", "1")))


def _label(dataset: xr.Dataset, names: list[str], shown: str) -> str:
    """The name of a single observable, or the last word that several have in common; the unit."""
    words = in_words(names[0])
    if len(names) > 1:
        last = {in_words(name).rpartition(" ")[2] for name in names}
        words = last.pop() if len(last) == 1 else ""
    variable = dataset[names[0]].assign_attrs(units=shown)
    return textwrap.fill(with_unit(words, variable), LABEL_WIDTH)


def _shade(axes: Axes, dataset: xr.Dataset) -> list[Patch]:
    """Shade the intervals in which a flag does not have its first class; returns a legend."""
    time = dataset["time"].values
    patches: list[Patch] = []
    borders = np.concatenate([time[:1], (time[1:] + time[:-1]) / 2, time[-1:]])
    for flag in dataset.data_vars.values():
        if not is_flag(flag) or flag.dims != ("time",):
            continue
        classes = list(flag_names(flag).items())[1:]
        for (code, name), grey in zip(classes, SHADES, strict=False):
            has_class = flag.values == code
            if time.size > 1:
                shade(axes, borders, has_class, color=grey, linewidth=0, zorder=0)
            if has_class.any():
                patches.append(Patch(color=grey, label=in_words(name)))
    return patches


def _loop_of(dataset: xr.Dataset) -> tuple[str, str] | None:
    model = model_in(dataset.attrs)
    loop = model.loop if model else None
    return loop if loop and set(loop) <= set(dataset.data_vars) else None


def _draw_loop(axes: Axes, dataset: xr.Dataset, loop: tuple[str, str]) -> None:
    (along, x_share), (upwards, y_share) = (_readable(dataset, [name]) for name in loop)
    x, y = x_share * dataset[loop[0]].values, y_share * dataset[loop[1]].values
    axes.plot(x, y, linewidth=1.1)
    axes.set(xlabel=_label(dataset, [loop[0]], along), ylabel=_label(dataset, [loop[1]], upwards))
    if note := dataset.attrs.get("note"):
        axes.text(
            *(0.0, NOTE_PLACE), textwrap.fill(str(note), NOTE_WIDTH), transform=axes.transAxes,
            va="top", fontsize="small",
        )  # fmt: skip
    axes.set_anchor("N")
    axes.set_box_aspect(1.0)
    axes.grid(color="0.9")
    axes.locator_params(axis="x", nbins=LOOP_TICKS)
    if not _has_values(dataset, list(loop)):
        axes.set(xticks=[], yticks=[])


def _heading(dataset: xr.Dataset) -> tuple[str, str]:
    """Model and method; parameters that differ from neutral values, and why it is not ok."""
    model, dataset = model_in(dataset.attrs), with_symbols(dataset)
    head = f"{title_of(dataset, 'motion')}, method {dataset.attrs.get('method')}"
    if "shown" in dataset.attrs:
        head += f": {dataset.attrs['shown']}"
    fixed = point_text(dataset)
    status = _status(dataset)
    if status is not Status.ok:
        sentence = model.sentences[status] if model else "not computed"
        fixed += f"\n{in_words(status.name)}: {sentence}"
    return head, fixed.strip()


def _status(dataset: xr.Dataset) -> Status:
    return Status(int(dataset["status"]))
