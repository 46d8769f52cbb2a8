"""Borders between the classes of a flag on maps and lines: as computed, and from theory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sweep.analysis.figures import shade
from sweep.analysis.room import Region, place_for, region_in
from sweep.analysis.scales import edges
from sweep.analysis.slices import Slice, flag_names
from sweep.causes import theory_of
from sweep.work import Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

THEORY_STYLES = ("--", "-.", ":")
SHADES = ("#e8eef7", "#fdf0dc", "#e7f3e4", "#f6e6ee", "#eeeeee")  # of classes behind a line
LETTER_WIDTH, LETTER_HEIGHT = 0.72, 1.3  # of bold letters, over the size of the font


def draw_class_borders(axes: Axes, x: Values, y: Values, shown: Slice) -> None:
    """Draw a line between the classes of the flag, as computed."""
    classes = shown.classes
    codes = np.unique(classes[np.isfinite(classes)])
    outline = _outline(3.0, "black")
    for code in codes[1:]:
        above = np.where(np.isnan(classes), np.nan, classes >= code)
        lines = axes.contour(x, y, above.T, levels=[0.5], colors="white", linewidths=1.6)
        lines.set(**outline)
    if codes.size > 1:
        axes.plot([], [], color="white", linewidth=1.6, label=_borders_label(shown), **outline)


def draw_theory_borders(axes: Axes, x: Values, y: Values, shown: Slice) -> None:
    """Draw the borders known from theory over a map."""
    for (label, line), style in zip(_theory_borders(shown).items(), THEORY_STYLES, strict=False):
        axes.contour(x, y, line.T, levels=[0.0], colors="red", linewidths=1.2, linestyles=[style])
        axes.plot([], [], color="red", linewidth=1.2, linestyle=style, label=f"theory: {label}")


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
    crossed = _crossed_by_theory(shown)
    for number, (code, name) in enumerate(names.items(), start=1):
        region = region_in(shown.classes == code, columns, rows)
        free = region & ~region_in(crossed, columns, rows)
        if not region.any() or any(
            _write(axes, each, hyphenated(name), (0, 90)) for each in (free, region)
        ):
            continue
        _write(axes, region, str(number), (0,))
        axes.plot([], [], " ", label=f"{number}: {hyphenated(name)}")


def _crossed_by_theory(shown: Slice) -> NDArray[np.bool_]:
    """Whether a border known from theory passes between a cell of a map and a neighbour."""
    crossed = np.zeros(shown.classes.shape, dtype=bool)
    for line in _theory_borders(shown).values():
        for axis in (0, 1):
            change = np.diff(line >= 0, axis=axis)
            ahead, behind = ([(0, 0), (0, 0)] for _ in range(2))
            ahead[axis], behind[axis] = (0, 1), (1, 0)
            crossed |= np.pad(change, ahead) | np.pad(change, behind)
    return crossed


def _write(axes: Axes, region: Region, text: str, rotations: tuple[int, ...]) -> bool:
    """Write a text within a region, turned in the first way that fits; whether one does."""
    for rotation in rotations:
        place = place_for(region, *_size(axes, text, rotation))
        if place is not None:
            axes.text(
                *place, text, transform=axes.transAxes, color="white", weight="bold",
                ha="center", va="center", rotation=rotation, **_outline(2.5, "black"),
            )  # fmt: skip
            return True
    return False


def _size(axes: Axes, text: str, rotation: int) -> tuple[float, float]:
    """About the width and height of a text in shares of the axes."""
    from matplotlib import rcParams

    figure: Any = axes.figure  # a part of a figure has dpi, too, which its type does not say
    letter = float(rcParams["font.size"]) * figure.dpi / 72
    width, height = LETTER_WIDTH * letter * len(text), LETTER_HEIGHT * letter
    if rotation:
        width, height = height, width
    return width / axes.bbox.width, height / axes.bbox.height


def mark_theory_borders(axes: Axes, x: Values, shown: Slice) -> None:
    """Draw vertical lines where a line over `x` crosses borders known from theory."""
    for (label, line), style in zip(_theory_borders(shown).items(), THEORY_STYLES, strict=False):
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
    classes, names = shown.classes, flag_names(shown.flag)
    for (code, name), colour in zip(names.items(), cycle(SHADES), strict=False):
        inside = classes == code
        if inside.any():
            label = f"{shown.flag.name}: {hyphenated(name)}"
            shade(axes, edges(x), inside, zorder=0, color=colour, linewidth=0, label=label)


def hyphenated(name: str) -> str:
    """The name of a class as it is written on a picture."""
    return name.replace("_", "-")


def boundaries_of(model: str, parameters: Mapping[str, Values]) -> dict[str, Values]:
    """Fields that change sign at the borders known from theory, if they do so at these points.

    They come from the function `boundaries` of the module of `sweep.theory` named after the model.
    """
    boundaries: Callable[[Mapping[str, Values]], dict[str, Values]] | None
    boundaries = getattr(theory_of(model), "boundaries", None)
    try:
        lines = boundaries(parameters) if boundaries else {}
    except KeyError:  # a parameter was reduced
        lines = {}
    return {label: line for label, line in lines.items() if np.any(line > 0) and np.any(line < 0)}


def _theory_borders(shown: Slice) -> dict[str, Values]:
    return boundaries_of(str(shown.dataset.attrs.get("model", "")), shown.parameters)


def _borders_label(shown: Slice) -> str:
    assert shown.flag is not None
    return f"borders of {shown.flag.name}, computed"


def _outline(width: float, colour: str) -> dict[str, Any]:
    """An outline around lines or letters, which makes them legible on any background."""
    from matplotlib.patheffects import withStroke

    return {"path_effects": [withStroke(linewidth=width, foreground=colour)]}
