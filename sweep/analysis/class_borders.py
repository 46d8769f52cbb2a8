"""Borders between the classes of a flag, as computed and from theory, and names of classes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from sweep.analysis.figures import shade
from sweep.analysis.labels import in_symbols, in_words
from sweep.analysis.scales import edges
from sweep.analysis.slices import Slice
from sweep.summary import flag_names
from sweep.work import Values

THEORY_STYLES: tuple[Any, ...] = ("--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
SHADES = ("#e8eef7", "#fdf0dc", "#e7f3e4", "#f6e6ee", "#eeeeee")  # of classes behind a line
LETTER_WIDTH, LETTER_HEIGHT = 0.72, 1.3  # of bold letters, over the size of the font
SAMPLES = 120  # along each side of the picture, at which a region is looked up
SPARE = 3.0, 2.0, 1.5, 1.2  # how many times the size of a name may be free; the most is taken

Region = NDArray[np.bool_]  # at the middles of SAMPLES x SAMPLES squares of the picture


def draw_class_borders(axes: Axes, sides: Values, heights: Values, shown: Slice) -> None:
    """Draw the edges between cells of different classes of the flag, as computed.

    `sides` and `heights` are the borders between cells.
    """
    ends = class_edges(shown.classes, sides, heights)
    if not len(ends):
        return
    style: dict[str, Any] = {"color": "white", "linewidth": 1.6, **_outline(3.0)}
    codes = np.tile(np.array([Path.MOVETO, Path.LINETO], Path.code_type), len(ends))
    path = Path(ends.reshape(-1, 2), codes)  # all in one, so that no outline covers another line
    axes.add_patch(PathPatch(path, fill=False, capstyle="projecting", **style))
    axes.plot([], [], label=f"borders of {in_words(shown.flag_words)}, computed", **style)


def class_edges(classes: Values, sides: Values, heights: Values) -> Values:
    """The edges between neighbouring cells of different classes: their ends, (n_edges, 2, 2).

    `classes` has shape (n_x, n_y), NaN where unknown; `sides` (n_x + 1,) and `heights` (n_y + 1,)
    are the borders between cells.
    """
    columns, rows = np.nonzero(np.abs(np.diff(classes, axis=0)) > 0)
    upright = [(sides[columns + 1], heights[rows + side]) for side in (0, 1)]
    columns, rows = np.nonzero(np.abs(np.diff(classes, axis=1)) > 0)
    level = [(sides[columns + side], heights[rows + 1]) for side in (0, 1)]
    return np.concatenate([np.transpose(ends, (2, 0, 1)) for ends in (upright, level)])


def draw_theory_borders(axes: Axes, shown: Slice) -> None:
    """Draw the borders known from theory over a map."""
    for label, lines, style in _theory_styles(shown):
        apart = np.concatenate([np.append(line, [[np.nan, np.nan]], axis=0) for line in lines])
        axes.plot(
            *apart.T,
            color="red",
            linewidth=1.2,
            linestyle=style,
            label=f"theory: {in_symbols(label)}",
        )


def mark_theory_borders(axes: Axes, shown: Slice) -> None:
    """Draw vertical lines where a line over one axis crosses borders known from theory."""
    for label, lines, style in _theory_styles(shown):
        axes.vlines(
            np.concatenate(lines)[:, 0], 0, 1, color="red", linewidth=1.2, linestyle=style,
            transform=axes.get_xaxis_transform(), label=f"theory: {in_symbols(label)}",
        )  # fmt: skip


def _theory_styles(shown: Slice) -> Iterator[tuple[str, list[Values], Any]]:
    """The label, the lines and the style of each border drawn; the same style in all panels."""
    styles = itertools.cycle(THEORY_STYLES)
    for (label, lines), style in zip(shown.theory_borders.items(), styles, strict=False):
        if lines:
            yield label, lines, style


def mark_classes(axes: Axes, x: Values, shown: Slice) -> None:
    """Shade the intervals of the classes of the flag behind a line; the legend names them."""
    if shown.flag is None:
        return
    for (code, name), colour in zip(
        flag_names(shown.flag).items(), itertools.cycle(SHADES), strict=False
    ):
        inside = shown.classes == code
        if inside.any():
            label = f"{in_words(shown.flag_words)}: {hyphenated(name)}"
            shade(
                axes,
                edges(x, axes.get_xscale()),
                inside,
                zorder=0,
                color=colour,
                linewidth=0,
                label=label,
            )


def name_classes(axes: Axes, sides: Values, heights: Values, shown: Slice) -> None:
    """Write the name of each class of the flag where that class has the most room.

    `sides` and `heights` are the borders between cells. A name that fits only upright is upright;
    one that does not fit is a number, which the legend explains. Limits and scales must be set.
    """
    names = {} if shown.flag is None else flag_names(shown.flag)
    shares = axes.transData + axes.transAxes.inverted()
    across = np.column_stack([sides, np.full(sides.size, heights[0])])
    up = np.column_stack([np.full(heights.size, sides[0]), heights])
    columns, rows = shares.transform(across)[:, 0], shares.transform(up)[:, 1]
    crossed = _crossed_by_theory(axes, shown)
    for number, (code, name) in enumerate(names.items(), start=1):
        region = region_in(shown.classes == code, columns, rows)
        free = region & ~crossed
        if not region.any() or any(
            _write(axes, each, hyphenated(name), (0, 90)) for each in (free, region)
        ):
            continue
        _write(axes, region, str(number), (0,))
        axes.plot([], [], " ", label=f"{number}: {hyphenated(name)}")


def _crossed_by_theory(axes: Axes, shown: Slice) -> Region:
    """Where the picture shows a border known from theory."""
    crossed = np.zeros((SAMPLES, SAMPLES), dtype=bool)
    shares = axes.transData + axes.transAxes.inverted()
    for line in itertools.chain(*shown.theory_borders.values()):
        squares: Values = shares.transform(line) * SAMPLES
        vertices = np.arange(len(squares))
        dense = np.linspace(0, len(squares) - 1, 8 * SAMPLES)  # one or more in each square crossed
        across, up = squares[:, 0], squares[:, 1]
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
                ha="center", va="center", rotation=rotation, **_outline(2.5),
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


def hyphenated(name: str) -> str:
    """The name of a class as it is written on a picture."""
    return name.replace("_", "-")


def _outline(width: float) -> dict[str, Any]:
    """An outline around lines or letters, which makes them legible on any background."""
    return {"path_effects": [withStroke(linewidth=width, foreground="black")]}
