"""What pictures have in common: figures, legends, shaded intervals, dots, numbers; their files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.store.faults import making
from sweep.work import Values

PLAIN = 1e-3, 1e4  # ends of axes whose numbers are all written without powers of ten


def new_figure(width: float = 8.0, height: float = 5.6, dpi: float = 150) -> Figure:
    """An empty figure of this size in inches."""
    return Figure(figsize=(width, height), dpi=dpi, layout="constrained")


def single_panel(title: str = "") -> tuple[Figure, Axes]:
    """A figure and the only axes in it."""
    figure = new_figure()
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize="medium")
    return figure, axes


def draw_legend(figure: Figure, handles: Sequence[Artist]) -> None:
    """Draw a legend below the picture, in three columns or as many as fit."""
    for n_columns in (3, 2, 1) if handles else ():
        legend = figure.legend(
            handles=list(handles), loc="outside lower center", ncols=n_columns, fontsize="small",
            frameon=False,
        )  # fmt: skip
        if n_columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def once(handles: Iterable[Artist]) -> list[Artist]:
    """The last handle of each label."""
    return list({str(handle.get_label()): handle for handle in handles}.values())


def shade(axes: Axes, borders: Values, inside: NDArray[np.bool_], **style: Any) -> None:
    """Fill the full height of some cells between `borders`, of shape (n_cells + 1,)."""
    axes.fill_between(
        np.repeat(borders, 2)[1:-1], 0, 1, where=np.repeat(inside, 2).tolist(),
        transform=axes.get_xaxis_transform(), **style,
    )  # fmt: skip


def dot_size(number: int, covered: float = 2e4, most: float = 30.0) -> float:
    """The size of one of a number of dots, in points²; all dots cover this much."""
    return float(np.clip(covered / max(number, 1), 1.0, most))


def plain_ticks(axis: Axis) -> None:
    """Write the numbers of a logarithmic axis without powers of ten if its range is moderate."""
    if axis.get_scale() == "log":
        axis.set_major_formatter(_PlainNumbers(labelOnlyBase=True))
        axis.set_minor_formatter(_PlainNumbers(labelOnlyBase=False))


class _PlainNumbers(LogFormatterSciNotation):
    """The numbers that matplotlib would write, as people write them: 60, not 6×10¹."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        text, axis = super().__call__(x, pos), self.axis
        low, high = sorted(axis.get_view_interval()) if axis else (0.0, 0.0)
        is_plain = PLAIN[0] <= low * (1 + 1e-9) and high <= PLAIN[1] * (1 + 1e-9)
        return f"{x:g}" if text and is_plain else text


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure in the format that the suffix names.

    SweepError if it cannot be written there, MachineError if the disk is full or read-only.
    """
    path = Path(path)
    refuse_end(path)
    with making(path):
        figure.savefig(path)
    return path


def refuse_end(path: Path) -> None:
    """SweepError if the suffix does not name a picture format."""
    formats = Figure().canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in formats:
        known = ", ".join(f".{name}" for name in sorted(formats))
        raise SweepError(f"{str(path)!r} has no suffix of a picture format: use one of {known}")
