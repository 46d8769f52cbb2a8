"""Borders between the classes of a flag on maps and lines: as computed, and from theory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sweep.analysis.scales import edges, roomiest_cell
from sweep.analysis.slices import Slice, flag_names
from sweep.causes import theory_of
from sweep.spec import Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

THEORY_STYLES = ("--", "-.", ":")
HALF_NAME = 0.1  # half the width of a class name, as a share of the map's width


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


def name_classes(axes: Axes, x: Values, y: Values, shown: Slice) -> None:
    """Write the name of each class of the flag where that class has the most room."""
    names = {} if shown.flag is None else flag_names(shown.flag)
    for code, name in names.items():
        place = roomiest_cell(shown.classes == code)
        if place is not None:
            share = place[0] / x.size  # near a side, the name is aligned with that side
            side = "left" if share < HALF_NAME else "right" if share > 1 - HALF_NAME else "center"
            axes.text(
                x[place[0]], y[place[1]], hyphenated(name), color="white", weight="bold",
                ha=side, va="center", **_outline(2.5, "black"),
            )  # fmt: skip


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
    """Draw borders between the classes of the flag, and name each class in its longest interval."""
    if shown.flag is None:
        return
    upright = axes.get_xaxis_transform()
    classes = np.nan_to_num(shown.classes, nan=-1)
    changes = np.flatnonzero(np.diff(classes)) + 1
    axes.vlines(
        edges(x)[changes], 0, 1, color="0.5", linewidth=2.5, transform=upright, zorder=1,
        label=_borders_label(shown) if changes.size else "",
    )  # fmt: skip
    intervals = np.split(np.arange(x.size), changes)
    for code, name in flag_names(shown.flag).items():
        longest = max((i for i in intervals if classes[i[0]] == code), key=len, default=None)
        if longest is not None:
            axes.text(
                float(x[longest[len(longest) // 2]]), 0.98, hyphenated(name), transform=upright,
                rotation="vertical", ha="center", va="top", **_outline(3.0, "white"),
            )  # fmt: skip


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
