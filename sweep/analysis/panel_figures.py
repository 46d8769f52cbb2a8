"""One panel as a figure of its own: a slice of a sweep, or several as lines together."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from matplotlib.figure import Figure

from sweep.analysis.colours import draw_colour_bar, notes_of
from sweep.analysis.figures import (
    NARROW_LABEL,
    SIZES,
    draw_heading,
    draw_legend,
    new_figure,
    once,
    styled,
)
from sweep.analysis.panels import draw_panel, missing_mark, name_regions
from sweep.analysis.slices import Slice


@styled
def draw_slice(shown: Slice) -> Figure:
    """Draw a slice of a sweep, or of its error, as `draw` does.

    Errors are drawn on a logarithmic scale; on a map its lowest part is cut off. Where the error is
    0, the map is pale and lines are interrupted, unless it is 0 everywhere; the legend counts those
    points. Other outputs whose positive values span decades are drawn in the same way. SweepError
    for a single point.
    """
    figure = in_one_panel({"": shown})
    draw_heading(figure, *shown.heading())
    return figure


def in_one_panel(slices: Mapping[str, Slice]) -> Figure:
    """Lines of several slices in one panel, or one slice of any kind, without a heading."""
    size = next(iter(slices.values())).view.size
    figure = new_figure(*SIZES[size])
    axes = figure.add_subplot()
    for label, shown in slices.items():
        mesh = draw_panel(axes, shown, label)
        if mesh is not None:
            draw_colour_bar(figure, axes, mesh, shown)
        name_regions(axes, shown)
    for each in figure.axes if size == "column" else ():
        each.set_ylabel(textwrap.fill(" ".join(each.get_ylabel().split()), NARROW_LABEL))
    handles = axes.get_legend_handles_labels()[0]
    missing = missing_mark(next(iter(slices.values())), alone=len(slices) == 1)
    draw_legend(figure, once([*handles, *notes_of(slices.values(), missing)]))
    return figure
