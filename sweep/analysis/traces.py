"""A picture of a trace: what is observed over a shared time, and its loop at the side."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sweep.analysis.saving import save
from sweep.analysis.slices import flag_names, in_words, is_flag, quantity, unit
from sweep.errors import SweepError
from sweep.models import models
from sweep.spec import Model, Status

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import GridSpec, SubplotSpec
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

DWARFED = 5.0  # observables of one unit share a panel unless one is this much greater than another
TITLE_WIDTH = 110  # characters
LABEL_WIDTH = 20  # characters: the least that a panel has room for
LOOP_TICKS = 5  # at most, below the loop: their numbers may be long
MAP_HEIGHT = 2.0  # of a map of items, in panels
MAP_COLOURS = ("#9ec1dd", "#c4503b", "#e0b04a", "#6b8f5e")  # beyond the first meaning
SHADES = ("0.88", "0.76", "0.64", "0.52")  # of a flag's meanings beyond the first


def plot_trace(dataset: xr.Dataset, path: str | Path) -> Path:
    """Draw a trace into a file (.png, .pdf, .svg ...) and return the file's path.

    Folders on the way to `path` are made; a file there is replaced. SweepError for what is no
    trace, or if the file cannot be written.
    """
    return save(draw_trace(dataset), path)


def draw_trace(dataset: xr.Dataset) -> Figure:
    """The picture of a trace (see sweep.trace) as a matplotlib Figure, bound to no window.

    Observables of one unit share a panel where they are of one size. Stretches of time in which a
    flag holds another than its first meaning (a mass that is stuck) are shaded. The loop is that
    of the model's table. Of a point that is not ok the title says why, and time goes to its end.
    SweepError for what is no trace.
    """
    from matplotlib.figure import Figure

    if "time" not in getattr(dataset, "dims", ()) or "status" not in dataset:
        raise SweepError("this is not a trace: give the Dataset that sweep.trace returns")
    panels, maps = _panels(dataset), _maps(dataset)
    loop = _loop(dataset)
    heights = [1.0] * len(panels) + [MAP_HEIGHT] * len(maps)
    figure = Figure(
        figsize=(11.0 if loop else 8.0, 1.6 + 1.5 * sum(heights)), dpi=150, layout="constrained"
    )
    grid = figure.add_gridspec(
        len(heights), 2 if loop else 1, width_ratios=[5, 3][: 1 + bool(loop)],
        height_ratios=heights,
    )  # fmt: skip
    stack = _draw_panels(figure, grid, dataset, panels)
    for row, name in enumerate(maps, start=len(panels)):
        stack.append(figure.add_subplot(grid[row, 0], sharex=stack[0] if stack else None))
        draw_item_map(stack[-1], dataset, name)
    _finish_stack(figure, stack, dataset)
    if loop:
        _draw_loop(figure, grid[:, 1], dataset, loop)
    figure.suptitle(_title(dataset), x=0.01, ha="left", fontsize="medium")
    return figure


def _panels(dataset: xr.Dataset) -> list[list[str]]:
    """The observables of each panel, in the order of the Dataset."""
    panels: list[list[str]] = []
    names = [str(name) for name in dataset.data_vars if "time" in dataset[name].dims]
    for name in names:
        if is_flag(dataset[name]):
            continue
        fitting = [panel for panel in panels if _fits(dataset[panel[0]], dataset[name])]
        if fitting:
            fitting[0].append(name)
        else:
            panels.append([name])
    return panels


def _fits(first: xr.DataArray, other: xr.DataArray) -> bool:
    sizes = sorted(float(np.nanmax(np.abs([0.0, *v.values.ravel()]))) for v in (first, other))
    return bool(unit(first)) and unit(first) == unit(other) and sizes[1] <= DWARFED * sizes[0]


def _draw_panels(
    figure: Figure, grid: GridSpec, dataset: xr.Dataset, panels: list[list[str]]
) -> list[Axes]:
    """All panels, top to bottom: above each what its lines are called, and the shades once."""
    stack: list[Axes] = []
    for row, names in enumerate(panels):
        axes = figure.add_subplot(grid[row, 0], sharex=stack[0] if stack else None)
        _shade(axes, dataset)
        lines = [_draw_line(axes, dataset, name) for name in names]
        handles = [*(lines if len(lines) > 1 else ()), *(() if stack else _shades(dataset))]
        if handles:
            _draw_legend(axes, handles)
        axes.set_ylabel(_label(dataset, names))
        axes.margins(x=0)
        if not _anything(dataset, names):
            axes.set_yticks([])
        stack.append(axes)
    return stack


def _draw_legend(axes: Axes, handles: Sequence[Line2D | Patch]) -> None:
    """On one line above a panel, at its right end."""
    axes.legend(
        handles=list(handles), loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=len(handles),
        borderaxespad=0.0, frameon=False, fontsize="small",
    )  # fmt: skip


def _anything(dataset: xr.Dataset, names: list[str]) -> bool:
    """Whether any of these has a value to be drawn; else numbers on its axis would be made up."""
    return any(bool(np.isfinite(dataset[name].values).any()) for name in names)


def _finish_stack(figure: Figure, stack: list[Axes], dataset: xr.Dataset) -> None:
    """Name and numbers of time under the lowest alone."""
    for axes in stack[:-1]:
        axes.tick_params(labelbottom=False)
    time = dataset["time"]
    stack[-1].set_xlabel(f"{time.attrs['long_name']} [{unit(time)}]")
    if _status(dataset) is not Status.ok and time.size > 1:
        stack[-1].set_xlim(float(time[0]), float(time[-1]))
    figure.align_ylabels(stack)


def draw_item_map(axes: Axes, dataset: xr.Dataset, name: str) -> None:
    """Draw a flag of each item (a spring that sticks or slips) over time and the item's place.

    The first meaning stays white, as in Hanisch, Richter, Li 2020, Fig. 2.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    flag = dataset[name]
    time, item = flag.dims
    meanings = flag_names(flag)
    colours = ("white", *MAP_COLOURS)[: len(meanings)]
    axes.pcolormesh(
        dataset[time].values, dataset[item].values, flag.values.T, shading="nearest",
        cmap=ListedColormap(colours), vmin=-0.5, vmax=len(meanings) - 0.5, rasterized=True,
    )  # fmt: skip
    pairs = zip(meanings.values(), colours, strict=True)
    handles = [Patch(facecolor=c, edgecolor="0.6", label=in_words(m)) for m, c in pairs]
    _draw_legend(axes, handles)
    symbol = unit(dataset[item])
    place = str(dataset[item].attrs["long_name"])
    axes.set_ylabel(f"{place} [{symbol}]" if symbol else place)
    axes.set_ylim(_where_it_changes(dataset[item].values, flag.values))
    axes.margins(x=0)


def _where_it_changes(places: NDArray[np.float64], flags: NDArray[np.uint8]) -> tuple[float, float]:
    """The items whose flag changes in time, and as many inward of them; all, where that is most."""
    changes = np.flatnonzero(np.any(flags != flags[:1], axis=0))
    last = float(places[-1])
    if changes.size == 0:
        return 0.0, last
    return max(0.0, 2 * float(places[changes[0]]) - last), last


def _draw_line(axes: Axes, dataset: xr.Dataset, name: str) -> Line2D:
    times, values = dataset["time"].values, dataset[name].values
    return axes.plot(times, values, linewidth=1.1, label=in_words(name))[0]


def _label(dataset: xr.Dataset, names: list[str]) -> str:
    """The name of what is alone in a panel, or the last word that several have in common."""
    words = in_words(names[0])
    ends = {in_words(name).rpartition(" ")[2] for name in names}
    if len(names) > 1:
        words = ends.pop() if len(ends) == 1 else ""
    symbol = unit(dataset[names[0]]).replace(" ", "\N{NO-BREAK SPACE}")
    told = f"{words} [{symbol}]".lstrip() if symbol else words
    return textwrap.fill(told, LABEL_WIDTH)


def _shade(axes: Axes, dataset: xr.Dataset) -> None:
    """Grey where a flag holds another than its first meaning."""
    time = dataset["time"].values
    if time.size < 2:
        return
    middles = (time[1:] + time[:-1]) / 2
    sides = np.repeat(np.concatenate([time[:1], middles, time[-1:]]), 2)[1:-1]
    for flag in _flags(dataset):
        for code, shade in zip(list(flag_names(flag))[1:], SHADES, strict=False):
            where: NDArray[np.bool_] = np.repeat(flag.values == code, 2)
            upright = axes.get_xaxis_transform()
            axes.fill_between(
                sides, 0, 1, where=where.tolist(), transform=upright, color=shade, linewidth=0,
                zorder=0,
            )  # fmt: skip


def _shades(dataset: xr.Dataset) -> list[Patch]:
    from matplotlib.patches import Patch

    return [
        Patch(color=shade, label=in_words(name))
        for flag in _flags(dataset)
        for (code, name), shade in zip(list(flag_names(flag).items())[1:], SHADES, strict=False)
        if np.any(flag.values == code)
    ]


def _maps(dataset: xr.Dataset) -> list[str]:
    """The flags that items have, each over time and item."""
    flags = {str(name): dataset[name] for name in dataset.data_vars if is_flag(dataset[name])}
    return [name for name, flag in flags.items() if flag.ndim == 2]


def _flags(dataset: xr.Dataset) -> list[xr.DataArray]:
    return [v for v in dataset.data_vars.values() if is_flag(v) and v.dims == ("time",)]


def _loop(dataset: xr.Dataset) -> tuple[str, str] | None:
    model: Model | None = models().get(str(dataset.attrs.get("model")))
    loop = model.loop if model else None
    return loop if loop and set(loop) <= set(dataset.data_vars) else None


def _draw_loop(
    figure: Figure, place: SubplotSpec, dataset: xr.Dataset, loop: tuple[str, str]
) -> None:
    along, upwards = (dataset[name] for name in loop)
    axes = figure.add_subplot(place)
    axes.plot(along.values, upwards.values, linewidth=1.1)
    axes.set(xlabel=_label(dataset, [loop[0]]), ylabel=_label(dataset, [loop[1]]))
    axes.set_anchor("N")
    axes.set_box_aspect(1.0)
    axes.grid(color="0.9")
    axes.locator_params(axis="x", nbins=LOOP_TICKS)
    if not _anything(dataset, list(loop)):
        axes.set(xticks=[], yticks=[])


def _title(dataset: xr.Dataset) -> str:
    """Model, method, the point (parameters given and not neutral), and why it is not ok."""
    model = models().get(str(dataset.attrs.get("model")))
    sets = model.parameter_sets if model else ()
    methods = model.methods if model else ()
    tables = [model.parameters if model else (), *(each.parameters for each in (*sets, *methods))]
    neutral = {p.name: p.default for table in tables for p in table if p.neutral}
    point = {str(name): dataset[name] for name in dataset.coords if name not in dataset.dims}
    told = [
        f"{in_words(name)} {quantity(value)}"
        for name, value in point.items()
        if not np.isnan(float(value)) and neutral.get(name) != float(value)
    ]
    head = f"{in_words(str(dataset.attrs.get('model')))}, method {dataset.attrs.get('method')}"
    whole = ", ".join(each.replace(" ", "\N{NO-BREAK SPACE}") for each in told)
    lines = [head, *textwrap.wrap(whole, TITLE_WIDTH)]
    status = _status(dataset)
    if status is not Status.ok:
        sentence = model.sentences[status] if model else "not computed"
        lines += textwrap.wrap(f"{in_words(status.name)}: {sentence}", TITLE_WIDTH)
    return "\n".join(lines)


def _status(dataset: xr.Dataset) -> Status:
    return Status(int(dataset["status"]))
