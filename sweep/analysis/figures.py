"""What several pictures have in common: figures, shaded intervals, and the size of dots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sweep.work import Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def new_figure(width: float = 8.0, height: float = 5.6, dpi: float = 150) -> Figure:
    """An empty figure of this size in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=dpi, layout="constrained")


def single_panel() -> tuple[Figure, Axes]:
    """A figure and the only axes in it."""
    figure = new_figure()
    return figure, figure.add_subplot()


def shade(axes: Axes, borders: Values, inside: NDArray[np.bool_], **style: Any) -> None:
    """Fill the full height of some cells between `borders`, of shape (n_cells + 1,)."""
    axes.fill_between(
        np.repeat(borders, 2)[1:-1], 0, 1, where=np.repeat(inside, 2).tolist(),
        transform=axes.get_xaxis_transform(), **style,
    )  # fmt: skip


def dot_size(number: int, covered: float = 2e4, most: float = 30.0) -> float:
    """The size of one of a number of dots, in points²; all dots cover this much."""
    return float(np.clip(covered / max(number, 1), 1.0, most))
