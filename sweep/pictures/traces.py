"""A picture of a trace: the observables over a common time axis, and the loop next to them."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.model.elements import base
from sweep.model.table import Status
from sweep.pictures import colours
from sweep.pictures.figures import WIDTH, Layout, figure_of, save
from sweep.pictures.labels import (
    in_words,
    point_text,
    readable,
    title_of,
    unit_of,
    with_symbols,
    with_unit,
)
from sweep.pictures.panels import FREE, Mark, Panel, PanelAxis, shade
from sweep.points.recipes import model_in
from sweep.request.chunk import Values
from sweep.results.summary import flag_names, is_flag

MAX_SIZE_RATIO = 5.0  # largest ratio of observables that share a panel
LABEL_WIDTH = 20  # characters that fit along the shortest panel
MAX_TICKS = 10  # of the elements of an index
MAP_HEIGHT = 2.0  # of a map of items, in panels
MAX_EVENTS = 200  # that are drawn; more would cover the lines
MAX_NAMED = 6  # lines of a panel; more names would take more room than the panel


def plot_trace(
    dataset: xr.Dataset, path: str | Path | None = None, cycles: float | None = None
) -> Figure:
    """Draw a trace (see sweep.trace) as a matplotlib Figure; with `path`, also save it.

    Only the last `cycles` of the excitation are drawn if the trace has more.
    Observables of one unit and similar size share a panel. Intervals in which a flag does not have
    its first class (a mass that sticks) are shaded, and up to 200 events are marked. The model's
    table defines the loop. If the point is not ok, the title says why. Missing folders are created;
    an existing file is replaced. SweepError if the Dataset is not a trace, or if the file cannot be
    written.
    """
    if "time" not in getattr(dataset, "dims", ()) or "status" not in dataset:
        raise SweepError("this is not a trace: give the Dataset that sweep.trace returns")
    dataset = _last_cycles(dataset, cycles)
    loop = _loop_of(dataset)
    flags = [str(name) for name, flag in dataset.data_vars.items() if is_flag(flag)]
    maps = [name for name in flags if dataset[name].ndim == 2]
    behind = [*_shades(dataset, [name for name in flags if name not in maps]), *_events(dataset)]
    panels = [_observables(dataset, names, behind) for names in _groups(dataset)]
    heights = [1.0] * len(panels) + [MAP_HEIGHT] * len(maps)
    panels += [_item_map(dataset, name) for name in maps]
    panels = [replace(each, y=replace(each.y, size="small")) for each in panels]
    cells = [[row, len(heights)][: 1 + bool(loop)] for row in range(len(heights))]
    figure = figure_of(
        [*panels, *([_loop(dataset, loop)] if loop else [])],
        _heading(dataset),
        layout=Layout(
            cells, (WIDTH, 1.0 + 1.1 * sum(heights)), widths=[5, 3][: 1 + bool(loop)],
            heights=heights, shared="x", has_legends=True,
        ),
    )  # fmt: skip
    if path is not None:
        save(figure, path)
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


def _groups(dataset: xr.Dataset) -> list[list[str]]:
    """The observables of each panel, in the order of the Dataset."""
    panels: list[list[str]] = []
    for name, values in dataset.data_vars.items():
        if "time" not in values.dims or is_flag(values):
            continue
        fitting = (panel for panel in panels if _share_a_panel(dataset[panel[0]], values))
        panel = next(fitting, None)
        if panel is None:
            panels.append(panel := [])
        panel.append(str(name))
    return panels


def _share_a_panel(first: xr.DataArray, other: xr.DataArray) -> bool:
    """Whether two observables without elements have the same unit and similar sizes."""
    if first.ndim > 1 or other.ndim > 1:
        return False
    small, large = sorted(np.nanmax(np.abs([0.0, *v.values.ravel()])) for v in (first, other))
    same = bool(unit_of(first)) and unit_of(first) == unit_of(other)
    return same and bool(large <= MAX_SIZE_RATIO * small)


def _observables(dataset: xr.Dataset, names: list[str], behind: Sequence[Mark]) -> Panel:
    """Observables over the time, in one unit; several are named in the legend."""
    shown, share = _readable(dataset, names)
    time = dataset["time"].values
    lines = {in_words(name): dataset[name].values for name in names}
    if dataset[names[0]].ndim > 1:
        lines = _elements(dataset[names[0]])
    of_lines = colours.of_hues([*lines])
    named = 1 < len(lines) <= MAX_NAMED
    marks = [
        Mark("plot", (time, share * values), {
            "linewidth": 1.1, "color": of_lines[label], "label": label if named else None,
        })
        for label, values in lines.items()
    ]  # fmt: skip
    return Panel(_time(dataset), _axis(dataset, names, shown), [*marks, *behind])


def _elements(observable: xr.DataArray) -> dict[str, Values]:
    """The values of each element by its name, such as "block 3" or "lower, 2"."""
    stacked = observable.transpose("time", ...)
    labels = [stacked[dim].values.tolist() for dim in stacked.dims[1:]]
    names = [", ".join(map(str, each)) for each in product(*labels)]
    if all(name.isdigit() for name in names):
        names = [f"{in_words(str(stacked.dims[1]))} {name}" for name in names]
    return dict(zip(names, stacked.values.reshape(len(stacked), -1).T, strict=True))


def _time(dataset: xr.Dataset) -> PanelAxis:
    """The time axis, over the whole trace, also where observables end before."""
    time = dataset["time"]
    limits = (float(time[0]), float(time[-1])) if time.size > 1 else FREE
    return PanelAxis(with_unit(time.attrs["long_name"], time), limits=limits)


def _events(dataset: xr.Dataset) -> list[Mark]:
    """A thin line at each event, in the colour of its name."""
    listed: list[tuple[float, str]] = json.loads(dataset.attrs.get("events", "[]"))
    if len(listed) > MAX_EVENTS:
        return []
    events = [(time, base(name)) for time, name in listed]
    of_events = dict(zip(dict.fromkeys(name for _, name in events), cycle(colours.EVENTS)))
    style: dict[str, Any] = {"linewidth": 0.6, "alpha": 0.7, "zorder": 1}
    return [
        Mark("axvline", (time,), {**style, "color": of_events[name], "label": in_words(name)})
        for time, name in events
    ]


def _item_map(dataset: xr.Dataset, name: str) -> Panel:
    """A flag of each item (a spring that sticks or slips) over time and the item's position.

    The first class is white, as in Hanisch, Richter, Li 2020, Fig. 2.
    """
    flag = dataset[name]
    item = str(flag.dims[1])
    places, axis = _places(dataset, item)
    meanings = flag_names(flag)
    of_classes = ("white", *colours.CLASSES)[: len(meanings)]
    style = {
        "shading": "nearest", "cmap": ListedColormap(of_classes), "vmin": -0.5,
        "vmax": len(meanings) - 0.5, "rasterized": True,
    }  # fmt: skip
    mesh = Mark("pcolormesh", (dataset["time"].values, places, flag.values.T), style)
    notes = [
        (in_words(meaning), {"facecolor": colour, "edgecolor": "0.6"})
        for meaning, colour in zip(meanings.values(), of_classes, strict=True)
    ]
    if axis.ticks is None:
        axis = replace(axis, limits=_changing_range(places, flag.values))
    return Panel(_time(dataset), axis, [mesh], notes=notes)


def _places(dataset: xr.Dataset, item: str) -> tuple[Values, PanelAxis]:
    """Where the items are, or the elements of an index, whose labels are ticks."""
    labels = dataset[item].values
    if labels.dtype.kind == "f":
        shown, share = _readable(dataset, [item])
        position = dataset[item].assign_attrs(units=shown)
        return share * labels, PanelAxis(with_unit(str(position.attrs["long_name"]), position))
    every = -(-len(labels) // MAX_TICKS)
    ticks = {float(i): str(labels[i]) for i in range(0, len(labels), every)}
    return np.arange(float(len(labels))), PanelAxis(in_words(item), ticks=ticks)


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


def _axis(dataset: xr.Dataset, names: list[str], shown: str) -> PanelAxis:
    """An axis named after a single observable, or the last word that several have in common.

    Without values, numbers on it would be meaningless.
    """
    words = in_words(names[0])
    if len(names) > 1:
        last = {in_words(name).rpartition(" ")[2] for name in names}
        words = last.pop() if len(last) == 1 else ""
    text = with_unit(words, dataset[names[0]].assign_attrs(units=shown))
    has_values = any(bool(np.isfinite(dataset[name].values).any()) for name in names)
    return PanelAxis(textwrap.fill(text, LABEL_WIDTH), ticks=None if has_values else {})


def _shades(dataset: xr.Dataset, flags: Sequence[str]) -> list[Mark]:
    """The intervals in which a flag does not have its first class, in grey."""
    time = dataset["time"].values
    if time.size < 2:
        return []
    borders = np.concatenate([time[:1], (time[1:] + time[:-1]) / 2, time[-1:]])
    return [
        shade(borders, dataset[flag].values == code, color=grey, linewidth=0, label=in_words(name))
        for flag in flags
        for (code, name), grey in zip(
            [*flag_names(dataset[flag]).items()][1:], colours.CLASS_GREYS, strict=False
        )
        if (dataset[flag].values == code).any()
    ]


def _loop_of(dataset: xr.Dataset) -> tuple[str, str] | None:
    model = model_in(dataset.attrs)
    loop = model.loop if model else None
    return loop if loop and set(loop) <= set(dataset.data_vars) else None


def _loop(dataset: xr.Dataset, names: tuple[str, str]) -> Panel:
    """One observable over another in a square."""
    units = [_readable(dataset, [name]) for name in names]
    x, y = (_axis(dataset, [name], unit) for name, (unit, _) in zip(names, units, strict=True))
    values = [share * dataset[name].values for name, (_, share) in zip(names, units, strict=True)]
    return Panel(x, y, [Mark("plot", values, {"linewidth": 1.1})], is_square=True)


def _heading(dataset: xr.Dataset) -> tuple[str, str]:
    """Model and method; parameters that differ from neutral values, and why it is not ok."""
    model, dataset = model_in(dataset.attrs), with_symbols(dataset)
    head = f"{title_of(dataset, 'motion')}, method {dataset.attrs.get('method')}"
    if "shown" in dataset.attrs:
        head += f": {dataset.attrs['shown']}"
    fixed = "\n".join(filter(None, (point_text(dataset), dataset.attrs.get("note"))))
    status = _status(dataset)
    if status is not Status.ok:
        sentence = model.sentences[status] if model else "not computed"
        fixed += f"\n{in_words(status.name)}: {sentence}"
    return head, fixed.strip()


def _status(dataset: xr.Dataset) -> Status:
    return Status(int(dataset["status"]))
