"""Figures: the style of all pictures, panels with legends and headings, and their files."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from math import ceil
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation, Text
from matplotlib.ticker import LogFormatterSciNotation
from numpy.typing import NDArray
from scipy import ndimage

from sweep.errors import SweepError
from sweep.pictures import colours
from sweep.pictures.labels import hyphenated
from sweep.pictures.panels import FREE, Note, Panel, PanelAxis, Regions
from sweep.request.chunk import Values
from sweep.store.disk_faults import making

# Width and height in inches of a single panel over two columns of a page, or in one of them. In
# this size it is printed.
SIZES = {"page": (7.0, 4.6), "column": (3.4, 3.6)}
WIDTH, HEIGHT = SIZES["page"]
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
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
MARGIN = 0.01  # at the ends of a heading, as a share of the width
MIN_LETTERS = 20  # in a line of a heading, however narrow the figure is
QUIET = "0.35"  # grey of what is no title
PLAIN = 1e-3, 1e4  # ends of axes whose numbers are all written without powers of ten
TITLE_LETTERS = 13  # of a panel's title, in an inch
PANEL_ASPECT = 0.55  # height over width of one of several panels, on its own
LETTER_WIDTH, LETTER_HEIGHT = 0.72, 1.3  # of bold letters, over the size of the font
MOST_ROOM = 1.5  # from the middle of a name to a border, over its size, that is enough
SAMPLES = 120  # squares along each side of a panel, in which classes are looked up
_distance = cast(
    "Callable[..., Values]",
    ndimage.distance_transform_edt,  # pyright: ignore[reportUnknownMemberType]
)


def styled(draw: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A function that draws, in the style of all pictures."""

    @wraps(draw)
    def in_style(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        with matplotlib.rc_context(STYLE):
            return draw(*arguments, **named)

    return in_style


@styled
def figure_of(
    panels: Sequence[Panel],
    heading: tuple[str, str],
    notes: Sequence[Note] = (),
    *,
    columns: int = 1,
    size: str = "page",
) -> Figure:
    """Draw panels with common axes and colours, row by row, with one legend below all of them."""
    is_single, rows = len(panels) == 1, ceil(len(panels) / columns)
    width, height = SIZES[size]
    if not is_single:
        height = rows * PANEL_ASPECT * width / columns**0.6 + 1.0
    figure = new_figure(width, height)
    grid: Any = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    places: list[Axes] = list(grid.flat)
    panels, hues = _with_common_limits(panels), colours_of_hues(panels)
    meshes = [draw(axes, panel, hues) for axes, panel in zip(places, panels, strict=False)]
    if not is_single:
        _label_outer_axes(figure, places, len(panels), columns)
    coloured = [(mesh, panel) for mesh, panel in zip(meshes, panels, strict=True) if mesh]
    if coloured:
        mesh, panel = coloured[-1]
        _draw_colour_bar(figure, places[: len(panels)], mesh, panel.colours or PanelAxis())
    if engine := figure.get_layout_engine():
        engine.execute(figure)  # from here on axes have nearly their final sizes
    for axes, panel in zip(places, panels, strict=False):
        letters = int(TITLE_LETTERS * width / columns)
        axes.set_title(textwrap.fill(panel.title, letters), loc="left", fontsize="small")
        if panel.regions is not None:
            _name_classes(axes, panel.regions)
    if size == "column":
        for axes in figure.axes:
            label = " ".join(axes.get_ylabel().split())
            axes.set_ylabel(textwrap.fill(label, NARROW_LABEL))
    draw_legend(figure, places, [*(note for panel in panels for note in panel.notes), *notes])
    draw_heading(figure, *heading)
    return figure


def draw(axes: Axes, panel: Panel, hues: Mapping[str, Any] | None = None) -> ScalarMappable | None:
    """Draw a panel in the colours of these hues; return what its colours need a bar for, if any."""
    axes.patch.set(**panel.background)
    for name, axis in (("x", panel.x), ("y", panel.y)):
        axes.set(**{f"{name}scale": axis.scale, f"{name}label": axis.label})
        if axis.ticks is not None:
            labels = list(axis.ticks.values())
            axes.set(**{f"{name}ticks": list(axis.ticks), f"{name}ticklabels": labels})
    transforms = {"height": axes.get_xaxis_transform(), "panel": axes.transAxes}
    mesh = None
    for mark in panel.marks:
        style = dict(mark.style)
        if mark.within:
            style["transform"] = transforms[mark.within]
        if mark.hue is not None and hues:
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
    return mesh


def colours_of_hues(panels: Sequence[Panel]) -> dict[str, Any]:
    """The colour of each hue, the same in all panels; from a colour map if there are too many."""
    marks = [mark for panel in panels for mark in panel.marks]
    hues = list(dict.fromkeys(mark.hue for mark in marks if mark.hue is not None))
    return colours.of_hues(hues)


def _with_common_limits(panels: Sequence[Panel]) -> list[Panel]:
    """The panels with axes that reach over the limits of all, where these are known."""
    common: dict[str, tuple[float | None, ...]] = {}
    for name in ("x", "y"):
        ends = zip(*(getattr(panel, name).limits for panel in panels), strict=True)
        common[name] = tuple(
            None if None in values else choose(values)
            for choose, values in zip((min, max), ends, strict=True)
        )
    return [
        replace(
            panel,
            **{name: replace(getattr(panel, name), limits=ends) for name, ends in common.items()},
        )
        for panel in panels
    ]


def _label_outer_axes(figure: Figure, places: Sequence[Axes], n_panels: int, columns: int) -> None:
    """Leave labels and numbers at the left and lower ends of a grid of panels; hide empty ones."""
    for axes in places[n_panels:]:
        axes.set_visible(False)
    figure.supylabel(places[0].get_ylabel(), fontsize="medium")
    for i, axes in enumerate(places):
        has_below = i + columns < n_panels
        axes.tick_params(which="both", labelbottom=not has_below, labelleft=i % columns == 0)
        axes.set_ylabel("")
        if has_below:
            axes.set_xlabel("")


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


def _name_classes(axes: Axes, regions: Regions) -> None:
    """Write the name of each class of a flag where that class has the most room.

    A name that fits only upright is upright, and theory is crossed only if there is no other place.
    A name that does not fit is a number, which the legend explains. Limits and scales must be set.
    """
    shares = axes.transData + axes.transAxes.inverted()
    middles = np.repeat((np.arange(SAMPLES) + 0.5) / SAMPLES, 2).reshape(SAMPLES, 2)
    places: Values = shares.inverted().transform(middles)
    cells = (np.searchsorted(regions.x, places[:, 0]), np.searchsorted(regions.y, places[:, 1]))
    codes = np.pad(regions.codes, 1, constant_values=np.nan)[np.ix_(*cells)]
    is_free = np.ones(codes.shape, dtype=bool)
    for line in regions.crossed_by:
        columns, rows = np.floor(shares.transform(line) * SAMPLES).clip(-1, SAMPLES).astype(int).T
        is_shown = (np.minimum(columns, rows) >= 0) & (np.maximum(columns, rows) < SAMPLES)
        is_free[columns[is_shown], rows[is_shown]] = False
    for number, (code, class_name) in enumerate(regions.names.items(), start=1):
        name, region = hyphenated(class_name), codes == code
        ways = [(region & is_free, name, 0), (region & is_free, name, 90)]
        ways += [(region, name, 0), (region, name, 90)]
        if not region.any() or any(_write(axes, *way) for way in ways):
            continue
        _write(axes, region, str(number), 0)
        axes.plot([], [], " ", label=f"{number}: {name}")


def _write(axes: Axes, region: NDArray[np.bool_], text: str, rotation: int) -> bool:
    """Write a text in the middle of a region, if it fits there; whether it does.

    The region is that of the squares into which the panel is divided.
    """
    figure: Any = axes.figure  # a part of a figure has dpi, too, which its type does not say
    letter = float(matplotlib.rcParams["font.size"]) * figure.dpi / 72
    size = np.array([LETTER_WIDTH * len(text), LETTER_HEIGHT][:: -1 if rotation else 1]) * letter
    boxes = SAMPLES * size / (axes.bbox.width, axes.bbox.height)  # squares that the text takes
    room = _distance(np.pad(region, 1), sampling=(1 / boxes).tolist())[1:-1, 1:-1]
    if room.max() < np.sqrt(0.5):  # from the middle of a text to its corner, in its sizes
        return False
    fits = np.argwhere(room >= 0.99 * min(room.max(), MOST_ROOM))
    middle = fits[np.argmin(np.sum((fits - fits.mean(axis=0)) ** 2, axis=1))]
    x, y = ((middle + 0.5) / SAMPLES).tolist()
    axes.text(
        x, y, text, transform=axes.transAxes, color="white", weight="bold",
        ha="center", va="center", rotation=rotation, **outline(2.5),
    )  # fmt: skip
    return True


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
