"""Borders between the classes of a flag, on maps and lines: as computed, and as theory has them."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sweep.analysis.scales import edges, roomiest_cell
from sweep.analysis.slices import Slice, flag_names

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

Values = NDArray[np.float64]

THEORY_STYLES = ("--", "-.", ":")
BESIDE = 0.1  # of a map's width: half of what a name takes


def draw_class_borders(axes: Axes, x: Values, y: Values, shown: Slice) -> None:
    """A line between the classes of the flag, as computed."""
    from matplotlib.patheffects import withStroke

    classes = shown.classes
    codes = np.unique(classes[np.isfinite(classes)])
    for code in codes[1:]:
        above = np.where(np.isnan(classes), np.nan, classes >= code)
        lines = axes.contour(x, y, above.T, levels=[0.5], colors="white", linewidths=1.6)
        lines.set(path_effects=[withStroke(linewidth=3.0, foreground="black")])
    if codes.size > 1 and shown.flag is not None:
        axes.plot(
            [], [], color="white", linewidth=1.6, label=_borders_label(shown.flag),
            path_effects=[withStroke(linewidth=3.0, foreground="black")],
        )  # fmt: skip


def draw_theory_borders(axes: Axes, x: Values, y: Values, shown: Slice) -> None:
    """The borders that theory knows, as lines over a map."""
    for (label, line), style in zip(_theory_borders(shown).items(), THEORY_STYLES, strict=False):
        axes.contour(x, y, line.T, levels=[0.0], colors="red", linewidths=1.2, linestyles=[style])
        axes.plot([], [], color="red", linewidth=1.2, linestyle=style, label=f"theory: {label}")


def _theory_borders(shown: Slice) -> dict[str, Values]:
    """Fields that change sign on the borders theory knows for the model, if they do so here.

    Looked up as `boundaries` in the module of `sweep.theory` that is called like the model.
    """
    name = f"sweep.theory.{shown.dataset.attrs.get('model', '')}"
    if not name.rpartition(".")[2].isidentifier() or importlib.util.find_spec(name) is None:
        return {}
    boundaries: Callable[[Mapping[str, Values]], dict[str, Values]] | None
    boundaries = getattr(importlib.import_module(name), "boundaries", None)
    lines = boundaries(shown.parameters) if boundaries else {}
    return {label: line for label, line in lines.items() if np.any(line > 0) and np.any(line < 0)}


def name_classes(axes: Axes, x: Values, y: Values, shown: Slice) -> None:
    """The name of each class of the flag, written where that class has the most room."""
    from matplotlib.patheffects import withStroke

    if shown.flag is None:
        return
    for code, name in flag_names(shown.flag).items():
        place = roomiest_cell(shown.classes == code)
        if place is not None:
            axes.text(
                x[place[0]], y[place[1]], hyphened(name), color="white", weight="bold",
                ha=_side(place[0] / x.size), va="center",
                path_effects=[withStroke(linewidth=2.5, foreground="black")],
            )  # fmt: skip


def _side(share: float) -> str:
    """Which end of a word stands at so much of a map's width, for all of it to be on the map."""
    return "left" if share < BESIDE else "right" if share > 1 - BESIDE else "center"


def mark_theory_borders(axes: Axes, x: Values, shown: Slice) -> None:
    """The borders that theory knows, upright where a line over `x` meets them."""
    for (label, line), style in zip(_theory_borders(shown).items(), THEORY_STYLES, strict=False):
        before = np.flatnonzero(np.diff(line >= 0) & np.isfinite(np.diff(line)))
        share = line[before] / (line[before] - line[before + 1])
        places = x[before] + share * (x[before + 1] - x[before])
        upright = axes.get_xaxis_transform()
        axes.vlines(
            places, 0, 1, color="red", linewidth=1.2, linestyle=style, transform=upright,
            label=f"theory: {label}",
        )  # fmt: skip


def mark_classes(axes: Axes, x: Values, shown: Slice) -> None:
    """Borders between the classes of the flag, and each class's name in its longest stretch."""
    from matplotlib.patheffects import withStroke

    if shown.flag is None:
        return
    upright = axes.get_xaxis_transform()
    classes = np.nan_to_num(shown.classes, nan=-1)
    changes = np.flatnonzero(np.diff(classes)) + 1
    axes.vlines(
        edges(x)[changes], 0, 1, color="0.5", linewidth=2.5, transform=upright, zorder=1,
        label=_borders_label(shown.flag) if changes.size else "",
    )  # fmt: skip
    stretches = np.split(np.arange(x.size), changes)
    for code, name in flag_names(shown.flag).items():
        own = [stretch for stretch in stretches if classes[stretch[0]] == code]
        if own:
            longest = max(own, key=len)
            middle = float(x[longest[len(longest) // 2]])
            axes.text(
                middle, 0.98, hyphened(name), transform=upright, rotation="vertical",
                ha="center", va="top",
                path_effects=[withStroke(linewidth=3.0, foreground="white")],
            )  # fmt: skip


def _borders_label(flag: xr.DataArray) -> str:
    return f"borders of {flag.name}, computed"


def hyphened(name: str) -> str:
    """The name of a class as it is written on a picture."""
    return name.replace("_", "-")
