"""Figures of panels: axes, marks, colour bars, legends and names of classes."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
from matplotlib import colormaps, rcParams
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from sweep.analysis.figures import (
    COLOURS,
    NARROW_LABEL,
    SIZES,
    draw_heading,
    draw_legend,
    new_figure,
    outline,
    plain_ticks,
    styled,
)
from sweep.analysis.labels import hyphenated
from sweep.analysis.panels import FREE, Note, Panel, Regions, Side
from sweep.work import Values

TITLE_LETTERS = 13  # of a panel's title, in an inch
PANEL_ASPECT = 0.55  # height over width of one of several panels, on its own
LETTER_WIDTH, LETTER_HEIGHT = 0.72, 1.3  # of bold letters, over the size of the font
SAMPLES = 120  # along each side of the picture, at which a region is looked up
SPARE = 3.0, 2.0, 1.5, 1.2  # how many times the size of a name may be free; the most is taken

Region = NDArray[np.bool_]  # at the middles of SAMPLES x SAMPLES squares of the picture


@styled
def figure_of(
    panels: Sequence[Panel],
    heading: tuple[str, str],
    notes: Sequence[Note] = (),
    *,
    columns: int = 1,
    size: str = "page",
) -> Figure:
    """Draw panels with common axes and colours, row by row, with one legend below all of them."""
    is_single, rows = len(panels) == 1, ceil(len(panels) / columns)
    width, height = SIZES[size]
    if not is_single:
        height = rows * PANEL_ASPECT * width / columns**0.6 + 1.0
    figure = new_figure(width, height)
    grid: Any = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    places: list[Axes] = list(grid.flat)
    panels, hues = _with_common_limits(panels), colours_of_hues(panels)
    meshes = [draw(axes, panel, hues) for axes, panel in zip(places, panels, strict=False)]
    if not is_single:
        _label_outer_axes(figure, places, len(panels), columns)
    coloured = [(mesh, panel) for mesh, panel in zip(meshes, panels, strict=True) if mesh]
    if coloured:
        mesh, panel = coloured[-1]
        _draw_colour_bar(figure, places[: len(panels)], mesh, panel.colours or Side())
    if engine := figure.get_layout_engine():
        engine.execute(figure)  # from here on axes have nearly their final sizes
    for axes, panel in zip(places, panels, strict=False):
        letters = int(TITLE_LETTERS * width / columns)
        axes.set_title(textwrap.fill(panel.title, letters), loc="left", fontsize="small")
        if panel.regions is not None:
            _name_classes(axes, panel.regions)
    if size == "column":
        for axes in figure.axes:
            label = " ".join(axes.get_ylabel().split())
            axes.set_ylabel(textwrap.fill(label, NARROW_LABEL))
    draw_legend(figure, places, [*(note for panel in panels for note in panel.notes), *notes])
    draw_heading(figure, *heading)
    return figure


def draw(axes: Axes, panel: Panel, hues: Mapping[str, Any] | None = None) -> ScalarMappable | None:
    """Draw a panel in the colours of these hues; return what its colours need a bar for, if any."""
    axes.patch.set(**panel.background)
    for name, side in (("x", panel.x), ("y", panel.y)):
        axes.set(**{f"{name}scale": side.scale, f"{name}label": side.label})
        if side.ticks is not None:
            labels = list(side.ticks.values())
            axes.set(**{f"{name}ticks": list(side.ticks), f"{name}ticklabels": labels})
    transforms = {"height": axes.get_xaxis_transform(), "panel": axes.transAxes}
    mesh = None
    for mark in panel.marks:
        style = dict(mark.style)
        if mark.within:
            style["transform"] = transforms[mark.within]
        if mark.hue is not None and hues:
            style["color"] = hues[mark.hue]
        drawn = getattr(axes, mark.method)(*mark.data, **style)
        if mark.method == "contour":
            axes.clabel(drawn, fmt="%g", fontsize="small")
        mesh = drawn if "norm" in style and panel.colours is not None else mesh
    for name, side in (("x", panel.x), ("y", panel.y)):
        if side.limits != FREE:
            axes.set(**{f"{name}lim": side.limits})
    plain_ticks(axes.xaxis)
    plain_ticks(axes.yaxis)
    return mesh


def colours_of_hues(panels: Sequence[Panel]) -> dict[str, Any]:
    """The colour of each hue, the same in all panels; from a colour map if there are too many."""
    marks = [mark for panel in panels for mark in panel.marks]
    hues = list(dict.fromkeys(mark.hue for mark in marks if mark.hue is not None))
    many = colormaps["turbo"].resampled(len(hues) + 1)
    return {hue: many(i) if len(hues) > len(COLOURS) else COLOURS[i] for i, hue in enumerate(hues)}


def _with_common_limits(panels: Sequence[Panel]) -> list[Panel]:
    """The panels with axes that reach over the limits of all, where these are known."""
    common: dict[str, tuple[float | None, ...]] = {}
    for name in ("x", "y"):
        ends = zip(*(getattr(panel, name).limits for panel in panels), strict=True)
        common[name] = tuple(
            None if None in values else choose(values)
            for choose, values in zip((min, max), ends, strict=True)
        )
    return [
        replace(
            panel,
            **{name: replace(getattr(panel, name), limits=ends) for name, ends in common.items()},
        )
        for panel in panels
    ]


def _label_outer_axes(figure: Figure, places: Sequence[Axes], n_panels: int, columns: int) -> None:
    """Leave labels and numbers at the left and lower ends of a grid of panels; hide empty ones."""
    for axes in places[n_panels:]:
        axes.set_visible(False)
    figure.supylabel(places[0].get_ylabel(), fontsize="medium")
    for i, axes in enumerate(places):
        has_below = i + columns < n_panels
        axes.tick_params(which="both", labelbottom=not has_below, labelleft=i % columns == 0)
        axes.set_ylabel("")
        if has_below:
            axes.set_xlabel("")


def _draw_colour_bar(
    figure: Figure, axes: Sequence[Axes], mesh: ScalarMappable, side: Side
) -> None:
    """Draw the bar that says which value a colour stands for, beside one or several panels."""
    extend: Any = side.extend
    bar = figure.colorbar(mesh, ax=list(axes), label=side.label, extend=extend)
    if side.ticks is None:
        plain_ticks(bar.ax.yaxis)
    else:
        bar.set_ticks(list(side.ticks), labels=list(side.ticks.values()))
        bar.ax.tick_params(length=0)


def _name_classes(axes: Axes, regions: Regions) -> None:
    """Write the name of each class of a flag where that class has the most room.

    A name that fits only upright is upright; one that does not fit is a number, which the legend
    explains. Limits and scales must be set.
    """
    shares = axes.transData + axes.transAxes.inverted()
    across = np.column_stack([regions.x, np.full(regions.x.size, regions.y[0])])
    up = np.column_stack([np.full(regions.y.size, regions.x[0]), regions.y])
    columns, rows = shares.transform(across)[:, 0], shares.transform(up)[:, 1]
    crossed = _crossed(axes, regions.crossed_by)
    for number, (code, class_name) in enumerate(regions.names.items(), start=1):
        region, name = region_in(regions.codes == code, columns, rows), hyphenated(class_name)
        free = region & ~crossed
        if not region.any() or any(_write(axes, each, name, (0, 90)) for each in (free, region)):
            continue
        _write(axes, region, str(number), (0,))
        axes.plot([], [], " ", label=f"{number}: {name}")


def _crossed(axes: Axes, lines: Sequence[Values]) -> Region:
    """Where the picture shows one of these lines."""
    crossed = np.zeros((SAMPLES, SAMPLES), dtype=bool)
    shares = axes.transData + axes.transAxes.inverted()
    for line in lines:
        squares: Values = shares.transform(line) * SAMPLES
        across, up, vertices = squares[:, 0], squares[:, 1], np.arange(len(squares))
        dense = np.linspace(0, len(squares) - 1, 8 * SAMPLES)  # one or more in each square crossed
        places = np.stack([np.interp(dense, vertices, each) for each in (across, up)]).astype(int)
        columns, rows = places[:, np.all((places >= 0) & (places < SAMPLES), axis=0)]
        crossed[columns, rows] = True
    return crossed


def _write(axes: Axes, region: Region, text: str, rotations: tuple[int, ...]) -> bool:
    """Write a text within a region, turned in the first way that fits; whether one does."""
    figure: Any = axes.figure  # a part of a figure has dpi, too, which its type does not say
    letter = float(rcParams["font.size"]) * figure.dpi / 72
    size = LETTER_WIDTH * letter * len(text), LETTER_HEIGHT * letter
    for rotation in rotations:
        width, height = size[::-1] if rotation else size
        place = place_for(region, width / axes.bbox.width, height / axes.bbox.height)
        if place is not None:
            axes.text(
                *place, text, transform=axes.transAxes, color="white", weight="bold",
                ha="center", va="center", rotation=rotation, **outline(2.5),
            )  # fmt: skip
            return True
    return False


def region_in(inside: Region, sides: Values, heights: Values) -> Region:
    """Where the picture shows cells of a region.

    `inside` has shape (n_x, n_y); the borders between the cells, (n_x + 1,) and (n_y + 1,), are
    ascending shares of the width and the height of the picture, and may lie outside it.
    """
    middles = (np.arange(SAMPLES) + 0.5) / SAMPLES
    columns, rows = (np.searchsorted(each, middles) for each in (sides, heights))
    return np.pad(inside, 1)[np.ix_(columns, rows)]


def place_for(region: Region, width: float, height: float) -> tuple[float, float] | None:
    """The middle of a box of this size, in shares of the picture, where the region has most room.

    None if the box fits nowhere.
    """
    for spare in SPARE:
        box = [int(np.ceil(spare * size * SAMPLES)) for size in (width, height)]
        if max(box) > SAMPLES:
            continue
        fits = np.argwhere(sliding_window_view(region, box).all(axis=(2, 3)))
        if fits.size:
            best = fits[np.argmin(np.sum((fits - fits.mean(axis=0)) ** 2, axis=1))]
            x, y = (best + np.array(box) / 2) / SAMPLES
            return float(x), float(y)
    return None
