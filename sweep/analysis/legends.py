"""The legend below a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sweep.analysis.colours import ZERO, has_zeros_apart, is_error
from sweep.analysis.labels import in_words
from sweep.analysis.panels import NO_VALUE
from sweep.analysis.slices import Slice

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure


def notes_of(shown: Slice) -> list[Artist]:
    """What the legend says of points without a value, zeros, and points that are not drawn."""
    from matplotlib.patches import Patch

    handles: list[Artist] = []
    none = np.count_nonzero(shown.values == 0)
    of_drawn = f" of {shown.output.size:,} points drawn" if shown.thinned else " points"
    if has_zeros_apart(shown) and none:
        words = "no error" if is_error(shown) else f"{shown.name} = 0"
        handles.append(Patch(**ZERO, label=f"{words}: {none:,}{of_drawn}"))
    if shown.missing:
        counts = ", ".join(f"{n:,} {in_words(status.name)}" for status, n in shown.missing.items())
        whose = "" if shown.counts is not None else of_drawn.removeprefix(" points")
        handles.append(Patch(**NO_VALUE, label=f"no value: {counts}{whose}"))
    if shown.n_infinite:
        label = f"{shown.name} = inf: {shown.n_infinite:,}{of_drawn}"
        handles.append(Patch(**NO_VALUE, label=label))
    notes = [f"not drawn: {n:,} with {name} = inf" for name, n in shown.infinite.items()]
    notes += [f"instead of {name}, which is infinite" for name in shown.instead_of]
    handles += [Patch(fill=False, linewidth=0, label=note) for note in notes]
    if shown.refined is not None:
        label = f"cells of {shown.refined.status.size:,} points, interpolated within"
        handles.append(Patch(facecolor="none", edgecolor="0.6", label=label))
    return handles


def draw_legend(figure: Figure, handles: Sequence[Artist]) -> None:
    """Draw a legend below the picture, with each label once."""
    once = {str(handle.get_label()): handle for handle in handles}
    if once:
        figure.legend(
            handles=list(once.values()), loc="outside lower center", ncols=3, fontsize="small",
            frameon=False,
        )  # fmt: skip
