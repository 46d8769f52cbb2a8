"""Borders between the classes of a flag, as computed and from theory, and names of classes."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from sweep.analysis.figures import shade
from sweep.analysis.scales import edges
from sweep.analysis.slices import Slice
from sweep.summary import flag_names
from sweep.work import Values

THEORY_STYLES = ("--", "-.", ":")
SHADES = ("#e8eef7", "#fdf0dc", "#e7f3e4", "#f6e6ee", "#eeeeee")  # of classes behind a line
LETTER_WIDTH, LETTER_HEIGHT = 0.72, 1.3  # of bold letters, over the size of the font
SAMPLES = 120  # along each side of the picture, at which a region is looked up
SPARE = 3.0, 2.0, 1.5, 1.2  # how many times the size of a name may be free; the most is taken

Region = NDArray[np.bool_]  # at the middles of SAMPLES x SAMPLES squares of the picture


def draw_class_borders(axes: Axes, x: Values, y: Values, shown: Slice) -> None:
    """Draw a line between the classes of the flag, as computed."""
    classes = shown.classes
    codes = np.unique(classes[np.isfinite(classes)])
    outline = _outline(3.0)
    for code in codes[1:]:
        above = np.where(np.isnan(classes), np.nan, classes >= code)
        lines = axes.contour(x, y, above.T, levels=[0.5], colors="white", linewidths=1.6)
        lines.set(**outline)
    if codes.size > 1 and shown.flag is not None:
        label = f"borders of {shown.flag_words}, computed"
        axes.plot([], [], color="white", linewidth=1.6, label=label, **outline)


def draw_theory_borders(axes: Axes, x: Values, y: Values, shown: Slice) -> None:
    """Draw the borders known from theory over a map."""
    for (label, line), style in zip(shown.theory_borders.items(), THEORY_STYLES, strict=False):
        axes.contour(x, y, line.T, levels=[0.0], colors="red", linewidths=1.2, linestyles=[style])
        axes.plot([], [], color="red", linewidth=1.2, linestyle=style, label=f"theory: {label}")


def mark_theory_borders(axes: Axes, x: Values, shown: Slice) -> None:
    """Draw vertical lines where a line over `x` crosses borders known from theory."""
    for (label, line), style in zip(shown.theory_borders.items(), THEORY_STYLES, strict=False):
        before = np.flatnonzero(np.diff(line >= 0) & np.isfinite(np.diff(line)))
        share = line[before] / (line[before] - line[before + 1])
        places = x[before] + share * (x[before + 1] - x[before])
        axes.vlines(
            places, 0, 1, color="red", linewidth=1.2, linestyle=style,
            transform=axes.get_xaxis_transform(), label=f"theory: {label}",
        )  # fmt: skip


def mark_classes(axes: Axes, x: Values, shown: Slice) -> None:
    """Shade the intervals of the classes of the flag behind a line; the legend names them."""
    if shown.flag is None:
        return
    for (code, name), colour in zip(flag_names(shown.flag).items(), cycle(SHADES), strict=False):
        inside = shown.classes == code
        if inside.any():
            label = f"{shown.flag_words}: {hyphenated(name)}"
            shade(axes, edges(x), inside, zorder=0, color=colour, linewidth=0, label=label)


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
    crossed = region_in(_crossed_by_theory(shown), columns, rows)
    for number, (code, name) in enumerate(names.items(), start=1):
        region = region_in(shown.classes == code, columns, rows)
        free = region & ~crossed
        if not region.any() or any(
            _write(axes, each, hyphenated(name), (0, 90)) for each in (free, region)
        ):
            continue
        _write(axes, region, str(number), (0,))
        axes.plot([], [], " ", label=f"{number}: {hyphenated(name)}")


def _crossed_by_theory(shown: Slice) -> NDArray[np.bool_]:
    """Whether a border known from theory passes between a cell of a map and a neighbour."""
    crossed = np.zeros(shown.classes.shape, dtype=bool)
    for line in shown.theory_borders.values():
        right, up = np.diff(line >= 0, axis=0), np.diff(line >= 0, axis=1)
        crossed[1:] |= right
        crossed[:-1] |= right
        crossed[:, 1:] |= up
        crossed[:, :-1] |= up
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
