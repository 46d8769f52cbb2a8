"""What pictures have in common: their style, headings, legends, numbers and files."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import matplotlib
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation, Text
from matplotlib.ticker import LogFormatterSciNotation

from sweep.analysis.panels import Note
from sweep.errors import SweepError
from sweep.store.faults import making

# Width and height in inches of a single panel over two columns of a page, or in one of them. In
# this size it is printed.
SIZES = {"page": (7.0, 4.6), "column": (3.4, 3.6)}
WIDTH, HEIGHT = SIZES["page"]
NARROW_LABEL = 26  # characters that fit along an axis in one column
COLOURS = (  # told apart by people with any vision of colours: Petroff 2021, arXiv:2107.02270
    *("#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6"),
    *("#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd"),
)
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that a picture is the same everywhere
    "mathtext.fontset": "dejavusans",
    "font.size": 8.0,
    "figure.titlesize": "medium",
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 7.0),
    **dict.fromkeys(("axes.linewidth", "hatch.linewidth"), 0.6),
    **dict.fromkeys(("xtick.major.width", "ytick.major.width"), 0.6),
    **dict.fromkeys(("xtick.minor.width", "ytick.minor.width"), 0.4),
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "axes.prop_cycle": cycler(color=COLOURS),
    "pdf.fonttype": 42,  # letters that journals and editors of drawings can use
}
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
MARGIN = 0.01  # at the ends of a heading, as a share of the width
MIN_LETTERS = 20  # in a line of a heading, however narrow the figure is
QUIET = "0.35"  # grey of what is no title
PLAIN = 1e-3, 1e4  # ends of axes whose numbers are all written without powers of ten


def styled(draw: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A function that draws, in the style of all pictures."""

    @wraps(draw)
    def in_style(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        with matplotlib.rc_context(STYLE):
            return draw(*arguments, **named)

    return in_style


def new_figure(width: float = WIDTH, height: float = HEIGHT, dpi: float = 200) -> Figure:
    """An empty figure of this size in inches."""
    return Figure(figsize=(width, height), dpi=dpi, layout="constrained")


def draw_heading(figure: Figure, title: str, fixed: str = "") -> None:
    """Write the title and, in small grey letters below it, the parameters that are fixed.

    Lines are broken where the figure ends.
    """
    head = figure.suptitle(title, x=MARGIN, ha="left", fontsize="medium")
    _break_lines(head, figure)
    if not fixed:
        return
    quiet = Annotation(fixed, (0, 0), xycoords=head, va="bottom", fontsize="small", color=QUIET)
    figure.add_artist(quiet)
    _break_lines(quiet, figure)
    # The layout leaves room for the title alone, so that this has empty lines for the other text.
    head.set_text(head.get_text() + "\n" * len(quiet.get_text().splitlines()))


def _break_lines(text: Text, figure: Figure) -> None:
    """Break the lines of a text so that it is no wider than the figure."""
    lines = text.get_text().splitlines()
    room = (1 - 2 * MARGIN) * figure.bbox.width
    for width in range(max(map(len, lines), default=0), MIN_LETTERS, -1):
        if text.get_window_extent().width <= room:
            return
        broken = [textwrap.fill(line, width, break_long_words=False) for line in lines]
        text.set_text("\n".join(broken))


def draw_legend(figure: Figure, places: Iterable[Axes], notes: Iterable[Note] = ()) -> None:
    """Draw one legend below the picture, in three columns or as many as fit.

    It has each label of the axes once, then the notes.
    """
    handles = [each for axes in places for each in axes.get_legend_handles_labels()[0]]
    for text, style in notes:
        mark = Line2D([], [], label=text, **style) if "marker" in style else None
        handles.append(mark or Patch(label=text, **style))
    handles = list({str(handle.get_label()): handle for handle in handles}.values())
    for n_columns in (3, 2, 1) if handles else ():
        legend = figure.legend(
            handles=handles, loc="outside lower center", ncols=n_columns, fontsize="small",
        )  # fmt: skip
        if n_columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def outline(width: float) -> dict[str, Any]:
    """An outline around lines or letters, which makes them legible on any background."""
    return {"path_effects": [withStroke(linewidth=width, foreground="black")]}


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


@styled
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
