"""On the map of a refined sweep: the outlines of its cells, which show where it is fine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

Outlines = Mapping[str, NDArray[np.float64]]  # by axis: (n_cells, 2), where each begins and ends

COLOUR = (1.0, 1.0, 1.0, 0.5)


def draw_outlines(axes: Axes, outlines: Outlines, names: Sequence[str]) -> None:
    """The cells over two axes, the first to the right."""
    from matplotlib.collections import PolyCollection

    (left, right), (lower, upper) = (outlines[name].T for name in names)
    corners = ((left, lower), (right, lower), (right, upper), (left, upper))
    boxes = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
    cells = PolyCollection(
        list(boxes), facecolors="none", edgecolors=[COLOUR], linewidths=0.2, rasterized=True
    )
    axes.add_collection(cells, autolim=False)


def legend_of_cells(n_points: int) -> Patch:
    """What the legend says of them."""
    from matplotlib.patches import Patch

    label = f"cells of {n_points:,} points, interpolated within"
    return Patch(facecolor="none", edgecolor="0.6", label=label)
