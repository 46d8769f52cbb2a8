"""Figures of panels: axes, marks, colour bars, legends and names of classes."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any, cast

import numpy as np
from matplotlib import colormaps, rcParams
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import ndimage

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
MOST_ROOM = 1.5  # from the middle of a name to a border, over its size, that is enough
SAMPLES = 120  # squares along each side of a panel, in which classes are looked up
_distance = cast(
    "Callable[..., Values]",
    ndimage.distance_transform_edt,  # pyright: ignore[reportUnknownMemberType]
)


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

    A name that fits only upright is upright, and theory is crossed only if there is no other place.
    A name that does not fit is a number, which the legend explains. Limits and scales must be set.
    """
    shares = axes.transData + axes.transAxes.inverted()
    middles = np.repeat((np.arange(SAMPLES) + 0.5) / SAMPLES, 2).reshape(SAMPLES, 2)
    places: Values = shares.inverted().transform(middles)
    cells = (np.searchsorted(regions.x, places[:, 0]), np.searchsorted(regions.y, places[:, 1]))
    codes = np.pad(regions.codes, 1, constant_values=np.nan)[np.ix_(*cells)]
    is_free = np.ones(codes.shape, dtype=bool)
    for line in regions.crossed_by:
        columns, rows = np.floor(shares.transform(line) * SAMPLES).clip(-1, SAMPLES).astype(int).T
        is_shown = (np.minimum(columns, rows) >= 0) & (np.maximum(columns, rows) < SAMPLES)
        is_free[columns[is_shown], rows[is_shown]] = False
    for number, (code, class_name) in enumerate(regions.names.items(), start=1):
        name, region = hyphenated(class_name), codes == code
        ways = [(region & is_free, name, 0), (region & is_free, name, 90)]
        ways += [(region, name, 0), (region, name, 90)]
        if not region.any() or any(_write(axes, *way) for way in ways):
            continue
        _write(axes, region, str(number), 0)
        axes.plot([], [], " ", label=f"{number}: {name}")


def _write(axes: Axes, region: NDArray[np.bool_], text: str, rotation: int) -> bool:
    """Write a text in the middle of a region, if it fits there; whether it does.

    The region is that of the squares into which the panel is divided.
    """
    figure: Any = axes.figure  # a part of a figure has dpi, too, which its type does not say
    letter = float(rcParams["font.size"]) * figure.dpi / 72
    size = np.array([LETTER_WIDTH * len(text), LETTER_HEIGHT][:: -1 if rotation else 1]) * letter
    boxes = SAMPLES * size / (axes.bbox.width, axes.bbox.height)  # squares that the text takes
    room = _distance(np.pad(region, 1), sampling=(1 / boxes).tolist())[1:-1, 1:-1]
    if room.max() < np.sqrt(0.5):  # from the middle of a text to its corner, in its sizes
        return False
    fits = np.argwhere(room >= 0.99 * min(room.max(), MOST_ROOM))
    middle = fits[np.argmin(np.sum((fits - fits.mean(axis=0)) ** 2, axis=1))]
    x, y = ((middle + 0.5) / SAMPLES).tolist()
    axes.text(
        x, y, text, transform=axes.transAxes, color="white", weight="bold",
        ha="center", va="center", rotation=rotation, **outline(2.5),
    )  # fmt: skip
    return True
