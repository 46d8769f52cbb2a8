"""What the colours of an output mean: their scale, their bar, and notes in the legend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from sweep.analysis.class_borders import hyphenated
from sweep.analysis.figures import plain_ticks
from sweep.analysis.labels import axis_label, in_words
from sweep.analysis.scales import (
    decades,
    leaves_zeros_apart,
    spans_decades,
    without_outliers,
    without_rounding,
)
from sweep.analysis.slices import Slice
from sweep.spec import Status
from sweep.work import Values

ZERO: dict[str, Any] = {"facecolor": "0.97", "edgecolor": "0.6"}
NO_VALUE: dict[str, Any] = {"facecolor": "0.9", "edgecolor": "0.6", "hatch": "////"}


def colours(shown: Slice) -> dict[str, Any]:
    """The colour map and the norm of the output, as arguments of matplotlib."""
    viridis = matplotlib.colormaps["viridis"]
    if has_zeros_apart(shown):
        palette = viridis.with_extremes(under=ZERO["facecolor"])
        return {"cmap": palette, "norm": LogNorm(*_ends_beside_zeros(shown))}
    if not shown.names:
        return {"cmap": viridis, "norm": _norm(shown)}
    codes = sorted(shown.names)
    between = [codes[0] - 0.5, *(code + 0.5 for code in codes)]
    return {"cmap": viridis.resampled(len(codes)), "norm": BoundaryNorm(between, len(codes))}


def _norm(shown: Slice) -> Normalize:
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
    beyond = bool(np.any(values < low)), bool(np.any(values > high))
    is_cut = not (shown.names or has_zeros_apart(shown))
    ends = {(True, False): "min", (False, True): "max", (True, True): "both"}
    extend: Any = ends.get(beyond, "neither") if is_cut else "neither"
    bar = figure.colorbar(mesh, ax=axes, label=axis_label(shown.output), extend=extend)
    if names := shown.names:
        bar.set_ticks(list(names), labels=[hyphenated(name) for name in names.values()])
        bar.ax.tick_params(length=0)
    else:
        plain_ticks(bar.ax.yaxis)


def has_zeros_apart(shown: Slice) -> bool:
    """Whether positive values are drawn on a logarithmic scale and zeros apart from them."""
    if shown.names or shown.has_several_values or shown.has_bars:
        return False
    if shown.name in shown.view.log:
        return bool(np.any(shown.scaled == 0))
    return _is_error(shown) or leaves_zeros_apart(shown.scaled)


def _is_error(shown: Slice) -> bool:
    return "against" in shown.dataset.attrs and not shown.names


def notes_of(slices: Collection[Slice], missing_mark: Callable[[str], Artist]) -> list[Artist]:
    """What the legend says of points without a value, zeros, and points that are not drawn.

    `missing_mark` returns a handle like the marks of points without a value, with this label.
    """
    handles: list[Artist] = []
    first = next(iter(slices))
    zeros = sum(int(np.count_nonzero(each.values == 0)) for each in slices)
    size = sum(each.output.size for each in slices)
    missing, infinite = Counter[Status](), Counter[str]()
    for each in slices:
        missing.update(each.missing)
        infinite.update(each.infinite)
    n_infinite = sum(each.n_infinite for each in slices)
    of_drawn = f" of {size:,} points drawn" if first.thinned else " points"
    if has_zeros_apart(first) and zeros:
        words = "error 0" if _is_error(first) else f"{in_words(first.name)} = 0"
        handles.append(Patch(**ZERO, label=f"{words}: {zeros:,}{of_drawn}"))
    if missing:
        counts = ", ".join(f"{n:,} {in_words(status.name)}" for status, n in missing.items())
        share_text = "" if first.counts is not None else of_drawn.removeprefix(" points")
        handles.append(missing_mark(f"no value: {counts}{share_text}"))
    if n_infinite:
        label = f"{in_words(first.name)} = inf: {n_infinite:,}{of_drawn}"
        handles.append(Patch(**NO_VALUE, label=label))
    notes = [f"not drawn: {n:,} with {in_words(name)} = inf" for name, n in infinite.items()]
    notes += [f"instead of {in_words(name)}, which is infinite" for name in first.instead_of]
    notes += [first.note] if first.note else []
    handles += [Patch(fill=False, linewidth=0, label=note) for note in notes]
    refined = [each.refined.points[each.name].size for each in slices if each.refined is not None]
    if refined:
        label = f"cells of {sum(refined):,} points, interpolated within"
        handles.append(Patch(facecolor="none", edgecolor="0.6", label=label))
    return handles
