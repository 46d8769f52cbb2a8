"""The colours of an output: its scale and limits, zeros apart, and the bar beside the picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sweep.analysis.class_borders import hyphenated
from sweep.analysis.labels import axis_label
from sweep.analysis.scales import (
    decades,
    leaves_zeros_apart,
    spans_decades,
    without_outliers,
    without_rounding,
)
from sweep.analysis.slices import Slice
from sweep.analysis.ticks import plain_ticks
from sweep.work import Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

ZERO: dict[str, Any] = {"facecolor": "0.97", "edgecolor": "0.6"}


def colours(shown: Slice) -> dict[str, Any]:
    """The colour map and the norm of the output, as arguments of matplotlib."""
    import matplotlib
    from matplotlib.colors import BoundaryNorm, LogNorm

    if has_zeros_apart(shown):
        palette = matplotlib.colormaps["viridis"].with_extremes(under=ZERO["facecolor"])
        return {"cmap": palette, "norm": LogNorm(*_ends_beside_zeros(shown))}
    if not shown.names:
        return {"cmap": "viridis", "norm": _norm(shown)}
    codes = sorted(shown.names)
    between = [codes[0] - 0.5, *(code + 0.5 for code in codes)]
    palette = matplotlib.colormaps["viridis"].resampled(len(codes))
    return {"cmap": palette, "norm": BoundaryNorm(between, len(codes))}


def _norm(shown: Slice) -> Normalize:
    from matplotlib.colors import LogNorm, Normalize

    finite = shown.scaled[np.isfinite(shown.scaled)]
    is_log = spans_decades(finite) or shown.name in shown.view.log
    limits = shown.limits(shown.name, "log" if is_log else "linear")
    if is_log:
        return LogNorm(*(limits or (finite.min(), finite.max())))
    if limits is not None or not finite.size:
        return Normalize(*(limits or (0.0, 1.0)))
    return Normalize(*(without_outliers(finite) if shown.over else without_rounding(finite)))


def _ends_beside_zeros(shown: Slice) -> tuple[float, float]:
    return shown.limits(shown.name, "log") or decades(shown.scaled)


def visible(shown: Slice) -> Values:
    """The values as coloured: small ones at the end of the scale, zeros below it.

    Outside a logarithmic scale they would be masked, and hatched like missing values.
    """
    values = shown.values
    if not has_zeros_apart(shown):
        return values
    low, _ = _ends_beside_zeros(shown)
    return np.where(values == 0, 0.1 * low, np.maximum(values, low))


def draw_colour_bar(
    figure: Figure, axes: Axes | Sequence[Axes], mesh: ScalarMappable, shown: Slice
) -> None:
    """Draw the bar that says which value a colour stands for, beside one or several panels."""
    values = shown.scaled[np.isfinite(shown.scaled)]
    low, high = mesh.get_clim()
    beyond = int(np.any(values < low)), int(np.any(values > high))
    is_cut = not (shown.names or has_zeros_apart(shown))
    beyond_ends = {(1, 0): "min", (0, 1): "max", (1, 1): "both"}.get(beyond)
    extend: Any = (is_cut and beyond_ends) or "neither"
    bar = figure.colorbar(mesh, ax=axes, label=axis_label(shown.output), extend=extend)
    if names := shown.names:
        bar.set_ticks(list(names), labels=[hyphenated(name) for name in names.values()])
        bar.ax.tick_params(length=0)
    else:
        plain_ticks(bar.ax.yaxis)


def has_zeros_apart(shown: Slice) -> bool:
    """Whether positive values are drawn on a logarithmic scale and zeros apart from them."""
    if shown.names or shown.has_several_values:
        return False
    if shown.name in shown.view.log:
        return bool(np.any(shown.scaled == 0))
    return is_error(shown) or leaves_zeros_apart(shown.scaled)


def is_error(shown: Slice) -> bool:
    """Whether a slice shows relative errors."""
    return "against" in shown.dataset.attrs and not shown.names
