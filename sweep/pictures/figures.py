"""Figures: the style of all pictures, panels with legends and headings, and their files."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation, Text
from matplotlib.ticker import LogFormatterSciNotation

from sweep.errors import SweepError
from sweep.pictures import colours
from sweep.pictures.class_names import name_classes
from sweep.pictures.panels import FREE, Note, Panel, PanelAxis
from sweep.store.disk_faults import making

# Width and height in inches of a single panel over two columns of a page, or in one of them. In
# this size it is printed.
SIZES = {"page": (7.0, 4.6), "column": (3.4, 3.6)}
WIDTH = SIZES["page"][0]
DPI = 200
EMPTY = -1  # in place of a panel
MAX_IN_ROW = 7  # names in a legend above a panel
LOOP_TICKS = 5  # at most, below a square panel: numbers may be long
NARROW_LABEL = 26  # characters that fit along an axis in one column
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
    "axes.prop_cycle": f"cycler(color={[*colours.LINES]})",
    "pdf.fonttype": 42,  # letters that journals and editors of drawings can use
}
MARGIN = 0.01  # at the ends of a heading, as a share of the width
MIN_LETTERS = 20  # in a line of a heading, however narrow the figure is
QUIET = "0.35"  # grey of what is no title
PLAIN = 1e-3, 1e4  # ends of axes whose numbers are all written without powers of ten
TITLE_LETTERS = 13  # of a panel's title, in an inch
PANEL_ASPECT = 0.55  # height over width of one of several panels, on its own


@dataclass(frozen=True)
class Layout:
    """Where the panels of a figure are, and what they have in common.

    `cells` has the number of the panel in each column of each row, or EMPTY; a panel in several
    cells covers all of them.
    """

    cells: Sequence[Sequence[int]]
    size: tuple[float, float]  # width and height in inches
    widths: Sequence[float] | None = None  # of the columns, relative to each other
    heights: Sequence[float] | None = None  # of the rows
    shared: Literal["", "x", "xy", "all"] = ""  # axes of each column, and of each row; or all
    has_legends: bool = False  # one above each panel, in place of one below all
    numbers: str | None = None  # size of the numbers along axes, if not that of other pictures


def in_rows(n_panels: int, columns: int = 1, size: str = "page") -> Layout:
    """The layout of panels with common axes, row by row."""
    rows, (width, height) = ceil(n_panels / columns), SIZES[size]
    if n_panels > 1:
        height = rows * PANEL_ASPECT * width / columns**0.6 + 1.0
    cells = np.arange(rows * columns).reshape(rows, columns)
    return Layout(np.where(cells < n_panels, cells, EMPTY).tolist(), (width, height), shared="all")


def figure_of(
    panels: Sequence[Panel],
    heading: tuple[str, str] = ("", ""),
    notes: Sequence[Note] = (),
    layout: Layout | None = None,
) -> Figure:
    """Draw panels with their legends, a bar of colours if they need one, and a heading."""
    layout = layout or in_rows(len(panels))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=layout.size, dpi=DPI, layout="constrained")
        _fill(figure, panels, notes, layout)
        if any(heading):
            _draw_heading(figure, *heading)
    return figure


def _fill(figure: Figure, panels: Sequence[Panel], notes: Sequence[Note], layout: Layout) -> None:
    """Draw panels, legends and a bar of colours on an empty figure."""
    cells = np.array(layout.cells)
    grid = figure.add_gridspec(
        *cells.shape, width_ratios=layout.widths, height_ratios=layout.heights
    )
    places: list[Axes] = []
    for number in range(len(panels)):
        first, last = np.argwhere(cells == number)[[0, -1]]
        place = grid[first[0] : last[0] + 1, first[1] : last[1] + 1]
        places.append(axes := figure.add_subplot(place))
        if layout.numbers:
            axes.tick_params(labelsize=layout.numbers)
    if layout.shared:
        panels = _joined(figure, places, panels, layout)
    hues = colours.of_hues(mark.hue for panel in panels for mark in panel.marks)
    meshes = [draw(axes, panel, hues) for axes, panel in zip(places, panels, strict=True)]
    coloured = [(mesh, panel) for mesh, panel in zip(meshes, panels, strict=True) if mesh]
    if coloured:
        mesh, panel = coloured[-1]
        _draw_colour_bar(figure, places, mesh, panel.colours or PanelAxis())
    if engine := figure.get_layout_engine():
        engine.execute(figure)  # from here on axes have nearly their final sizes
    width = layout.size[0]
    for axes, panel in zip(places, panels, strict=True):
        letters = int(TITLE_LETTERS * width / len(layout.cells[0]))
        axes.set_title(textwrap.fill(panel.title, letters), loc="left", fontsize="small")
        if panel.regions is not None:
            name_classes(axes, panel.regions)
    if width == SIZES["column"][0]:
        for axes in figure.axes:
            label = " ".join(axes.get_ylabel().split())
            axes.set_ylabel(textwrap.fill(label, NARROW_LABEL))
    if layout.has_legends:
        _draw_legends(places, panels)
        figure.align_ylabels(
            [axes for axes, panel in zip(places, panels, strict=True) if not panel.is_square]
        )
    else:
        _draw_legend(figure, places, [*(note for panel in panels for note in panel.notes), *notes])


def _joined(
    figure: Figure, places: Sequence[Axes], panels: Sequence[Panel], layout: Layout
) -> list[Panel]:
    """Share axes, and leave their labels and numbers at the left and lower ends.

    Ordinates without numbers, as those of histograms in a matrix, are not shared.
    """
    cells, joined = np.array(layout.cells), list(panels)
    if layout.shared == "all":
        joined = _with_common_limits(panels)
        if len(panels) > 1:
            figure.supylabel(panels[0].y.label, fontsize="medium")
            joined = [replace(each, y=replace(each.y, label="")) for each in joined]
    for i, axes in enumerate(places):
        row, column = np.argwhere(cells == i)[0]
        across, down = (line[line != EMPTY].tolist() for line in (cells[row], cells[:, column]))
        first = (0, 0) if layout.shared == "all" else (down[0], across[0])
        if first[0] != i:
            axes.sharex(places[first[0]])
        if down[-1] != i:
            axes.tick_params(which="both", labelbottom=False)
            joined[i] = replace(joined[i], x=replace(joined[i].x, label=""))
        if layout.shared == "x":
            continue
        if first[1] != i and panels[i].y.ticks != {}:
            axes.sharey(places[first[1]])
        if across[0] != i:
            axes.tick_params(which="both", labelleft=False)
            joined[i] = replace(joined[i], y=replace(joined[i].y, label=""))
    return joined


def draw(axes: Axes, panel: Panel, hues: Mapping[str, Any]) -> ScalarMappable | None:
    """Draw a panel in the colours of these hues; return what its colours need a bar for, if any."""
    axes.patch.set(**panel.background)
    for name, axis in (("x", panel.x), ("y", panel.y)):
        axes.set(**{f"{name}scale": axis.scale})
        getattr(axes, f"set_{name}label")(axis.label, fontsize=axis.size)
        if axis.ticks is not None:
            labels = list(axis.ticks.values())
            axes.set(**{f"{name}ticks": list(axis.ticks), f"{name}ticklabels": labels})
    transforms = {"height": axes.get_xaxis_transform(), "panel": axes.transAxes}
    mesh = None
    for mark in panel.marks:
        style = dict(mark.style)
        if mark.within:
            style["transform"] = transforms[mark.within]
        if mark.hue is not None:
            style["color"] = hues[mark.hue]
        drawn = getattr(axes, mark.method)(*mark.data, **style)
        if mark.method == "contour":
            axes.clabel(drawn, fmt="%g", fontsize="small")
        mesh = drawn if "norm" in style and panel.colours is not None else mesh
    for name, axis in (("x", panel.x), ("y", panel.y)):
        if axis.limits != FREE:  # panels that are drawn later move an end that is free
            auto = None if None in axis.limits else False
            getattr(axes, f"set_{name}lim")(*axis.limits, auto=auto)
    plain_ticks(axes.xaxis)
    plain_ticks(axes.yaxis)
    if panel.has_grid or panel.is_square:
        axes.grid(color="0.9")
    if panel.is_square:
        axes.set_anchor("N")
        axes.set_box_aspect(1.0)
        if panel.x.ticks is None:
            axes.locator_params(axis="x", nbins=LOOP_TICKS)
    return mesh


def _with_common_limits(panels: Sequence[Panel]) -> list[Panel]:
    """The panels with axes that reach over the limits of all, where these are known."""
    for name in ("x", "y"):
        lows, highs = zip(*(getattr(each, name).limits for each in panels), strict=True)
        limits = None if None in lows else min(lows), None if None in highs else max(highs)
        axes = [replace(getattr(each, name), limits=limits) for each in panels]
        panels = [replace(each, **{name: a}) for each, a in zip(panels, axes, strict=True)]
    return list(panels)


def _draw_colour_bar(
    figure: Figure, axes: Sequence[Axes], mesh: ScalarMappable, axis: PanelAxis
) -> None:
    """Draw the bar that says which value a colour stands for, beside one or several panels."""
    extend: Any = axis.extend
    bar = figure.colorbar(mesh, ax=list(axes), label=axis.label, extend=extend)
    if axis.ticks is None:
        plain_ticks(bar.ax.yaxis)
    else:
        bar.set_ticks(list(axis.ticks), labels=list(axis.ticks.values()))
        bar.ax.tick_params(length=0)


def _draw_heading(figure: Figure, title: str, fixed: str = "") -> None:
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


def _draw_legend(figure: Figure, places: Iterable[Axes], notes: Iterable[Note]) -> None:
    """Draw one legend below the picture, in three columns or as many as fit.

    It has each label of the axes once, then the notes.
    """
    drawn = [each for axes in places for each in axes.get_legend_handles_labels()[0]]
    handles = {str(each.get_label()): each for each in drawn}
    handles |= {text: _handle(text, style) for text, style in notes}
    for n_columns in (3, 2, 1) if handles else ():
        legend = figure.legend(
            handles=[*handles.values()], loc="outside lower center", ncols=n_columns,
            fontsize="small",
        )  # fmt: skip
        if n_columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def _draw_legends(places: Sequence[Axes], panels: Sequence[Panel]) -> None:
    """Draw a legend in one line above each panel, without what it or one above has named."""
    named: set[tuple[str, str]] = set()
    for axes, panel in zip(places, panels, strict=True):
        handles = [*axes.get_legend_handles_labels()[0], *(_handle(*note) for note in panel.notes)]
        of_names = {(str(each.get_label()), _colour(each)): each for each in handles}
        new = [each for name, each in of_names.items() if name not in named]
        named |= of_names.keys()
        if new:
            axes.legend(
                handles=new, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0,
                ncols=min(len(new), MAX_IN_ROW), fontsize="small",
            )  # fmt: skip


def _colour(handle: Any) -> str:
    """The colour of a line or an area, by which a name is told from the same one of another."""
    return str(handle.get_color() if isinstance(handle, Line2D) else handle.get_facecolor())


def _handle(text: str, style: Mapping[str, Any]) -> Artist:
    """What a legend shows of a note."""
    if "marker" in style:
        return Line2D([], [], label=text, **style)
    return Patch(label=text, **style)


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
    with making(path), matplotlib.rc_context(STYLE):
        figure.savefig(path)
    return path


def refuse_end(path: Path) -> None:
    """SweepError if the suffix does not name a picture format."""
    formats = Figure().canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in formats:
        known = ", ".join(f".{name}" for name in sorted(formats))
        raise SweepError(f"{str(path)!r} has no suffix of a picture format: use one of {known}")
