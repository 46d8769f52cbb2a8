"""A picture of any sweep: lines over one axis, or a colour map over two; others are cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from sweep.analysis.colours import draw_colour_bar
from sweep.analysis.comparison import compare_slice
from sweep.analysis.figures import single_panel
from sweep.analysis.legends import draw_legend, notes_of
from sweep.analysis.panels import draw_panel
from sweep.analysis.saving import save
from sweep.analysis.slices import Slice, cut
from sweep.analysis.together import draw_together, labelled, panels_of
from sweep.analysis.view import View, ViewKeywords, view_of
from sweep.errors import SweepError

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


def plot(
    source: xr.Dataset | str | Path | Sequence[xr.Dataset | str | Path],
    output: str | None = None,
    path: str | Path = "sweep.png",
    *,
    at: Mapping[str, float] | None = None,
    over: Sequence[str] = (),
    against: str | None = None,
    parameters: Mapping[str, float | str] | None = None,
    **view: Unpack[ViewKeywords],
) -> Path:
    """Save the picture of one output (.png, .pdf, .svg ...) and return the file's path.

    `source` is a Dataset, the path of a store, or a list of these, which are drawn together.
    Missing folders are created; an existing file is replaced. With `against`, the error against
    that method is drawn, run with `parameters` as in `sweep.compare`. These keywords choose how the
    picture looks; names are those of axes or of the output:

    x, y: the axes drawn to the right and, on a map, upwards
    lines: the axis with a line for each of its values (at most 8)
    facet: the axis with a panel for each of its values (at most 9)
    log: names that are drawn on a logarithmic scale
    limits: (lower, upper) by name, in the unit that is shown, or texts with a unit
    unit: the unit by name, such as "mm"
    title: the title

    Otherwise as `draw`; SweepError as for `draw`, and if the file cannot be written.
    """
    shown = slices_of(
        source, output, at or {}, over, view_of(view), against=against, parameters=parameters
    )
    return save(draw_panels(shown), path)


def draw(
    dataset: xr.Dataset,
    output: str | None = None,
    *,
    at: Mapping[str, float] | None = None,
    over: Sequence[str] = (),
    view: View | None = None,
) -> Figure:
    """Draw one output of a sweep as a matplotlib Figure.

    `output` is any variable of the Dataset, by default the first real one; of the status the names
    are drawn. The two longest axes are drawn, on a logarithmic scale if their values are far more
    evenly spaced there. Other axes are cut at the value nearest to that in `at`, or at their
    middle, and the title says where. Borders between the classes of a flag are drawn and the
    classes named; the flag may be the output or another variable. Borders known from theory are
    dashed. Points without a value are hatched; points at infinity on an axis are left out; the
    legend counts both. A sample is drawn as dots over the two parameters in `over`, by default the
    first two; over a single parameter, it is drawn as an axis. Of an output with several values at
    each point, all are drawn as dots over one axis (a bifurcation map). A mean over one axis has
    the band between its lowest and highest quantile; a statistic with several values, such as
    quantiles, is drawn as lines over one axis, at one of them (in `at`) over two, and as bars for
    a single cell. Refined points are drawn as a grid (`analysis.refined.on_grid`), with their cells
    outlined. Units have prefixes that make them easy to read. `view` chooses axes, scales, limits,
    units, panels and the title. SweepError for a Dataset that is not that of a sweep, for unknown
    names, and if there is nothing to draw.
    """
    return draw_panels(slices_of(dataset, output, at or {}, over, view or View()))


def slices_of(
    source: xr.Dataset | str | Path | Sequence[xr.Dataset | str | Path],
    output: str | None,
    at: Mapping[str, float],
    over: Sequence[str],
    view: View,
    *,
    against: str | None = None,
    parameters: Mapping[str, float | str] | None = None,
) -> dict[str, Slice]:
    """The slices that a picture shows, by the label of each: of stores, and values of `facet`."""
    if parameters and against is None:
        raise SweepError("--set gives parameters of the method of --against: add --against")
    found: dict[str, Slice] = {}
    for label, dataset in labelled(source).items():
        for place, where in panels_of(dataset, at, view).items():
            shown = cut(dataset, output, where, over, computed=against is not None, view=view)
            if against is not None:
                shown = compare_slice(shown, against, parameters)
            found[", ".join(filter(None, (label, place)))] = shown
    return found


def draw_panels(shown: Mapping[str, Slice]) -> Figure:
    """Draw one slice, or several in one picture."""
    if len(shown) > 1:
        return draw_together(shown)
    (only,) = shown.values()
    return draw_slice(only)


def draw_slice(shown: Slice) -> Figure:
    """Draw a slice of a sweep, or of its error, as `draw` does.

    Errors are drawn on a logarithmic scale; on a map its lowest part is cut off. Where the error is
    0, the map is pale and lines are interrupted, unless it is 0 everywhere; the legend counts those
    points. Other outputs whose positive values span decades are drawn in the same way. SweepError
    for a single point.
    """
    figure, axes = single_panel()
    mesh = draw_panel(axes, shown)
    if mesh is not None:
        draw_colour_bar(figure, axes, mesh, shown)
    axes.set_title(shown.title(shown.name), loc="left", fontsize="medium")
    draw_legend(figure, [*axes.get_legend_handles_labels()[0], *notes_of([shown])])
    return figure
