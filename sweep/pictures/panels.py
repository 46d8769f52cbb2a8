"""What one panel of a picture shows, as frozen data: its axes, colours and marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.pictures import colours
from sweep.pictures.labels import axis_label, hyphenated, in_symbols
from sweep.pictures.slices import Slice
from sweep.request.chunk import Values

THEORY_STYLES: tuple[Any, ...] = ("--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))

TEXT_ALONE: Mapping[str, Any] = {"fill": False, "linewidth": 0}  # of a note

Note = tuple[str, Mapping[str, Any]]  # in the legend: a text, and the style of a patch or marker
Limits = tuple[float | None, float | None]  # None: as far as the marks reach
FREE: Limits = (None, None)


@dataclass(frozen=True, eq=False)
class PanelAxis:
    """An axis of a panel, or what its colours stand for."""

    label: str = ""
    scale: str = "linear"  # or "log"
    limits: Limits = FREE
    ticks: Mapping[float, str] | None = None  # names of some values in place of numbers
    extend: str = "neither"  # of colours: the ends beyond which there are values
    size: str = "medium"  # of the label


@dataclass(frozen=True, eq=False)
class Mark:
    """What a method of matplotlib's Axes draws from these data, in this style.

    Marks of one `hue` have the same colour in all panels of a picture. With `within`, coordinates
    are shares of the panel: "height" for those upwards, "panel" for both.
    """

    method: str
    data: Sequence[Any]
    style: Mapping[str, Any] = field(default_factory=dict[str, Any])
    hue: str | None = None
    within: str = ""


@dataclass(frozen=True, eq=False)
class Regions:
    """The classes of a flag on a map, whose names are written where there is room."""

    x: Values  # borders between cells, (n_x + 1,)
    y: Values
    codes: Values  # (n_x, n_y), NaN where there is no class
    names: Mapping[int, str]
    crossed_by: Sequence[Values]  # lines (n_points, 2) that names keep clear of


@dataclass(frozen=True, eq=False)
class Panel:
    """What a panel shows; colours are those of its mark that has a colour map."""

    x: PanelAxis
    y: PanelAxis
    marks: Sequence[Mark]
    colours: PanelAxis | None = None
    regions: Regions | None = None
    notes: Sequence[Note] = ()
    background: Mapping[str, Any] = field(default_factory=dict[str, Any])
    title: str = ""
    has_grid: bool = False
    is_square: bool = False  # with a grid, as a loop


def axis_of(
    shown: Slice, variable: xr.DataArray, scale: str, ticks: Mapping[float, str] | None = None
) -> PanelAxis:
    """The axis of a variable of a slice, with the scale and the limits that its view chooses."""
    name = str(variable.name)
    if name in shown.view.log:
        if not np.any(variable.values > 0) or np.any(variable.values < 0):
            raise SweepError(f"`log` names {name}, which is not positive: leave it out")
        scale = "log"
    return PanelAxis(axis_label(variable), scale, shown.limits(name, scale) or FREE, ticks)


def shade(borders: Values, inside: NDArray[np.bool_], **style: Any) -> Mark:
    """Fill the full height of some cells between `borders`, of shape (n_cells + 1,)."""
    return Mark(
        "fill_between",
        (np.repeat(borders, 2)[1:-1], 0, 1),
        {"where": np.repeat(inside, 2), "zorder": 0, **style},
        within="height",
    )


def dot_size(number: int, covered: float = 2e4, most: float = 30.0) -> float:
    """The size of one of a number of dots, in points²; all dots cover this much."""
    return float(np.clip(covered / max(number, 1), 1.0, most))


def class_ticks(shown: Slice) -> dict[float, str] | None:
    """The names of an output's classes in place of numbers."""
    return {float(code): hyphenated(name) for code, name in shown.names.items()} or None


def theory_marks(shown: Slice) -> list[Mark]:
    """The borders known from theory: lines on a map, upright ones where a line crosses them.

    Each border has the same style in all panels.
    """
    marks: list[Mark] = []
    styles = cycle(THEORY_STYLES)
    for (label, lines), dashes in zip(shown.theory_borders.items(), styles, strict=False):
        if not lines:
            continue
        style = {"color": colours.THEORY, "linewidth": 1.2, "linestyle": dashes}
        style["label"] = f"theory: {in_symbols(label)}"
        if len(shown.axes) == 1:
            data = (np.concatenate(lines)[:, 0], 0, 1)
            marks.append(Mark("vlines", data, style, within="height"))
        else:
            gap = [[np.nan, np.nan]]
            x, y = np.concatenate([[*line, *gap] for line in lines]).T
            marks.append(Mark("plot", (x, y), style))
    return marks
