"""The legend below a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sweep.analysis.colours import ZERO, has_zeros_apart, is_error
from sweep.analysis.labels import in_words
from sweep.analysis.panels import NO_VALUE
from sweep.analysis.slices import Slice
from sweep.spec import Status

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure


def notes_of(slices: Collection[Slice]) -> list[Artist]:
    """What the legend says of points without a value, zeros, and points that are not drawn."""
    from matplotlib.patches import Patch

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
        words = "no error" if is_error(first) else f"{first.name} = 0"
        handles.append(Patch(**ZERO, label=f"{words}: {zeros:,}{of_drawn}"))
    if missing:
        counts = ", ".join(f"{n:,} {in_words(status.name)}" for status, n in missing.items())
        whose = "" if first.counts is not None else of_drawn.removeprefix(" points")
        handles.append(Patch(**NO_VALUE, label=f"no value: {counts}{whose}"))
    if n_infinite:
        label = f"{first.name} = inf: {n_infinite:,}{of_drawn}"
        handles.append(Patch(**NO_VALUE, label=label))
    notes = [f"not drawn: {n:,} with {name} = inf" for name, n in infinite.items()]
    notes += [f"instead of {name}, which is infinite" for name in first.instead_of]
    handles += [Patch(fill=False, linewidth=0, label=note) for note in notes]
    refined = [each.refined for each in slices if each.refined is not None]
    if refined:
        count = sum(each.status.size for each in refined)
        label = f"cells of {count:,} points, interpolated within"
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
