"""Pictures of a sample: histograms of an output, and scatter matrices of it and its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.model.table import index_name
from sweep.pictures import colours
from sweep.pictures.cuts import by_number, check_names, cut_at, output_name, parameters_along
from sweep.pictures.figures import EMPTY, WIDTH, Layout, figure_of
from sweep.pictures.labels import (
    axis_label,
    hyphenated,
    in_words,
    named,
    unit_of,
    with_symbols,
    with_unit,
)
from sweep.pictures.panels import Mark, Panel, PanelAxis, dot_size
from sweep.pictures.scales import SMALL_SHARE_BESIDE_ZEROS, evenly, spaced, spans_decades
from sweep.pictures.slices import Slice
from sweep.request.chunk import Values
from sweep.request.sweeps import POINT
from sweep.results.summary import weighting
from sweep.statistics.outputs import POINTS_BY_STATUS

Shape = Literal["histogram", "scatter_matrix"]

MAX_BINS = 60
MAX_HISTOGRAM_POINTS = 2**22  # of a longer sample, so many evenly spread points are drawn
MAX_SCATTER_POINTS = 5_000
MAX_SCATTER_PARAMETERS = 6  # of a scatter matrix, beside the output
GREY = "0.6"
SHARES = {  # by what points are weighted by
    None: "share of points",
    "cell area": "share of the map",
    "points": "share of the points computed",
}


def draw_as(
    shape: Shape,
    dataset: xr.Dataset,
    output: str | None = None,
    at: Mapping[str, float | str] | None = None,
    over: Sequence[str] = (),
) -> Figure:
    """Draw how an output is distributed over the points of a sample.

    `output` and `at` are as in `plots.plot`: with further axes, the sample is that of one cell.
    A histogram has bars for the share of the points that have a value, for each class of a flag or
    in bins, which are logarithmic where positive values span decades; the mean is marked. Points of
    a refined sweep weigh as in `summary.contents`.
    A scatter matrix shows the output and the parameters in `over`, by default the first 6, against
    each other, and a histogram of each; points without a value are grey crosses in the panels of
    the parameters. The panels of a column share its abscissa, those of a row the ordinate.
    SweepError without a sample, for unknown parameters, and for a histogram over
    parameters.
    """
    if shape == "scatter_matrix":
        shown, weights = _sample_of_cell(dataset, output, at or {}, MAX_SCATTER_POINTS)
        return _scatter_matrix(shown, weights, _parameters(shown, over))
    if over:
        raise SweepError(f"a histogram is not drawn over {', '.join(over)}: leave out `over`")
    shown, weights = _sample_of_cell(dataset, output, at or {}, MAX_HISTOGRAM_POINTS)
    panel = histogram(shown.values, weights, axis_label(shown.output), shown.names)
    is_finite = np.isfinite(shown.values)
    if is_finite.any() and not shown.names:
        mean = float(np.average(shown.values[is_finite], weights=weights[is_finite]))
        text = f"mean {mean:.4g} {unit_of(shown.output)}".rstrip()
        line = Mark("axvline", (mean,), {"color": "0.2", "linestyle": "--", "label": text})
        panel = replace(panel, marks=[*panel.marks, line])
    share = PanelAxis(SHARES[weighting(dataset)[0]])
    return figure_of([replace(panel, y=share)], _heading(shown))


def _scatter_matrix(shown: Slice, weights: Values, names: Sequence[str]) -> Figure:
    variables = [shown.variable(name) for name in names]
    columns = [*(each.values.astype(np.float64) for each in variables), shown.values]
    labels = [with_unit(named(each), each) for each in (*variables, shown.output)]
    last = len(names)  # place of the output
    panels: list[Panel] = []
    rows, places = np.tril_indices(last + 1)
    for i, j in zip(rows.tolist(), places.tolist(), strict=True):
        if i == j:
            panel = histogram(columns[i], weights, "", {} if i < last else shown.names, GREY)
            panel = replace(panel, y=PanelAxis(ticks={}))
        else:
            is_finite = np.isfinite(shown.values)
            panel = _dots(columns[j], columns[i], is_finite, has_crosses=i < last)
        x, y = (
            replace(axis, label=labels[k], size="small") for axis, k in ((panel.x, j), (panel.y, i))
        )
        panels.append(replace(panel, x=x, y=y))
    cells = np.full((last + 1, last + 1), EMPTY)
    cells[rows, places] = np.arange(rows.size)
    notes = [(_missing_words(shown), colours.MISSING_DOTS)] if shown.missing else []
    layout = Layout(cells.tolist(), (WIDTH, WIDTH), shared="xy", numbers="x-small")
    return figure_of(panels, _heading(shown), notes, layout)


def _sample_of_cell(
    dataset: xr.Dataset, output: str | None, at: Mapping[str, float | str], most: int
) -> tuple[Slice, Values]:
    """The points of a sample; with further axes, those in the cell nearest to `at`; thinned.

    With the weight of each point, (n_points,).
    """
    name = output_name(dataset, output)
    if not parameters_along(dataset, POINT) or POINT not in dataset[name].dims:
        is_reduced = POINTS_BY_STATUS in dataset
        why = "keeps statistics in place of points" if is_reduced else "has none"
        raise SweepError(
            f"a histogram or a scatter matrix shows a sample, and this sweep {why}; draw its "
            "axes instead"
        )
    if index_name(name) in dataset[name].dims:
        raise SweepError(f"{name} has several values at each point; name an output that has one")
    places = by_number(dataset, at)
    axes = [str(axis) for axis in dataset[name].dims if axis != POINT]
    check_names("axis", places, axes)
    dataset, cuts = cut_at(with_symbols(dataset), axes, places)
    size = dataset.sizes[POINT]
    _, areas = weighting(dataset)
    some = evenly(size, most)
    weights = np.ones(some.size) if areas is None else areas[some]
    shown = dataset.isel({POINT: some}).load()
    return Slice(shown, name, cuts, numbered=frozenset({POINT}), thinned=size > most), weights


def _parameters(shown: Slice, over: Sequence[str]) -> list[str]:
    known = parameters_along(shown.dataset, POINT)
    check_names("sampled parameter", over, known)
    names = list(dict.fromkeys(over)) or known[:MAX_SCATTER_PARAMETERS]
    if len(names) > MAX_SCATTER_PARAMETERS:
        raise SweepError(
            f"{len(names)} parameters are too many for one picture; name at most "
            f"{MAX_SCATTER_PARAMETERS}"
        )
    return names


def _heading(shown: Slice) -> tuple[str, str]:
    """The heading, with the number of points drawn, and of those without a value by status."""
    drawn = "points drawn" if shown.thinned else "points"
    counts = [f"{shown.output.size:,} {drawn}", *filter(None, [_missing_words(shown)])]
    return shown.heading(note=f" ({', '.join(counts)})")


def _missing_words(shown: Slice) -> str:
    counts = [f"{count:,} {in_words(status.name)}" for status, count in shown.missing.items()]
    return f"no value: {', '.join(counts)}" if counts else ""


def _dots(x: Values, y: Values, finite: NDArray[np.bool_], *, has_crosses: bool) -> Panel:
    """The points of two columns, and a cross for each without a value of the output."""
    style = {"s": dot_size(x.size, 4e3, 20.0), "linewidths": 0, "rasterized": True}
    marks = [Mark("scatter", (x[finite], y[finite]), style)]
    if has_crosses and not finite.all():
        marks.append(Mark("plot", (x[~finite], y[~finite]), colours.MISSING_DOTS))
    across, up = (PanelAxis(scale=_scale(values[np.isfinite(values)])) for values in (x, y))
    return Panel(across, up, marks)


def histogram(
    values: Values,
    weights: Values,
    label: str,
    names: Mapping[int, str],
    colour: str = colours.LINES[0],
) -> Panel:
    """The shares of the values, each with its weight, by class or by bin."""
    is_finite = np.isfinite(values)
    finite = values[is_finite]
    weights = weights[is_finite] / weights[is_finite].sum()
    if names:
        shares = [float(weights[finite == code].sum()) for code in names]
        ticks = {float(code): hyphenated(name) for code, name in names.items()}
        bars = Mark("bar", (list(names), shares), {"width": 0.8, "color": colour})
        return Panel(PanelAxis(label, ticks=ticks), PanelAxis(), [bars])
    style = {"bins": bins(finite).tolist(), "weights": weights, "color": colour}
    return Panel(PanelAxis(label, _scale(finite)), PanelAxis(), [Mark("hist", (finite,), style)])


def bins(values: Values) -> Values:
    """The ends of bins of equal width over finite values: about 2 n^(1/3), at most MAX_BINS.

    Equal in the logarithm if the values span decades.
    """
    if not values.size:
        return np.array([0.0, 1.0])
    least, greatest = float(values.min()), float(values.max())
    margin = (abs(least) * 1e-3 or 1.0) if least == greatest else 0.0
    count = min(max(int(2 * values.size ** (1 / 3)), 5), MAX_BINS)
    return np.unique(spaced(least - margin, greatest + margin, count + 1, _scale(values)))


def _scale(values: Values) -> str:
    """Logarithmic if all values are positive and span decades even without the smallest."""
    if not values.size or values.min() <= 0:
        return "linear"
    some = values[values >= np.quantile(values, SMALL_SHARE_BESIDE_ZEROS)]
    return "log" if spans_decades(some) else "linear"
