"""Every colour of a picture: of lines, maps, classes, events, borders, and of what has no value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import BoundaryNorm, LogNorm, Normalize

from sweep.pictures.scales import decades, spans_decades, without_outliers, without_rounding
from sweep.pictures.slices import Slice

LINES = (  # told apart by people with any vision of colours: Petroff 2021, arXiv:2107.02270
    *("#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6"),
    *("#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd"),
)
CLASS_SHADES = ("#e8eef7", "#fdf0dc", "#e7f3e4", "#f6e6ee", "#eeeeee")  # of classes behind a line
CLASS_GREYS = ("0.88", "0.76", "0.64", "0.52")  # of the classes of a motion after the first
CLASSES = ("#9ec1dd", "#c4503b", "#e0b04a", "#6b8f5e")  # of items' classes after the first
EVENTS = ("#c4503b", "#6b8f5e", "#7d5ba6", "#e0b04a")
THEORY = "red"  # borders that follow from theory
NO_VALUE: Mapping[str, Any] = {"facecolor": "0.9", "edgecolor": "0.6", "hatch": "////"}
ZERO: Mapping[str, Any] = {"facecolor": "0.97", "edgecolor": "0.6"}
MISSING_DOTS: Mapping[str, Any] = {
    "linestyle": "none", "marker": "x", "color": "0.6", "markersize": 4.5,
}  # fmt: skip


def of_hues(hues: Iterable[str | None]) -> dict[str, Any]:
    """The colour of each hue; from a colour map if there are more than LINES."""
    names = list(dict.fromkeys(hue for hue in hues if hue is not None))
    many = matplotlib.colormaps["turbo"].resampled(len(names) + 1)
    return {hue: many(i) if len(names) > len(LINES) else LINES[i] for i, hue in enumerate(names)}


def of_map(shown: Slice) -> dict[str, Any]:
    """The colour map and the norm of the output, as arguments of matplotlib."""
    viridis = matplotlib.colormaps["viridis"]
    if shown.names:
        codes = sorted(shown.names)
        between = [codes[0] - 0.5, *(code + 0.5 for code in codes)]
        return {"cmap": viridis.resampled(len(codes)), "norm": BoundaryNorm(between, len(codes))}
    finite = shown.scaled[np.isfinite(shown.scaled)]
    is_log = shown.has_zeros_apart or spans_decades(finite) or shown.name in shown.view.log
    limits = shown.limits(shown.name, "log" if is_log else "linear")
    if shown.has_zeros_apart:
        return {
            "cmap": viridis.with_extremes(under=ZERO["facecolor"]),
            "norm": LogNorm(*(limits or decades(finite))),
        }
    if is_log:
        return {"cmap": viridis, "norm": LogNorm(*(limits or (finite.min(), finite.max())))}
    if not finite.size:
        finite = np.array([0.0, 1.0])
    ends = without_outliers(finite) if shown.over else without_rounding(finite)
    return {"cmap": viridis, "norm": Normalize(*(limits or ends))}
