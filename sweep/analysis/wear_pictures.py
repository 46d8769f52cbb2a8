"""Pictures of wear: volume or depth over years, with bands of quantiles, and years to a limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from sweep.analysis import kept_axes
from sweep.analysis.cuts import cut
from sweep.analysis.figures import colour_of, draw_legend, single_panel, styled
from sweep.analysis.labels import in_words, point_text, title_of, values_of, with_symbols
from sweep.analysis.panel_figures import draw_slice
from sweep.analysis.panels import MAX_LINES
from sweep.analysis.refined import holds_refined_points
from sweep.analysis.scales import evenly
from sweep.analysis.wear_over_years import STATES
from sweep.errors import SweepError
from sweep.request import POINT
from sweep.spec import MISSING_FLAG, Status, status_counts
from sweep.store.derived_stores import wear_of
from sweep.theory.wear import YEAR
from sweep.units import fine_unit
from sweep.wording import nearest
from sweep.work import Values

MAX_BANDS = 3  # values of an axis that are drawn with bands in one picture, without MAX_LINES
CURVE_POINTS = 200
THROUGH = STATES.index("worn_through")
SAMPLE_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
LEVELS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)  # years that may have contours
LONGEST = 100  # years; a map shows longer times like this
MAX_CONTOURS = 6
DRAWN = (
    *("wear_depth_quantile", "wear_depth", "wear_volume_quantile", "wear_volume"),
    *("wear_depth_maximum", "wear_volume_maximum", "wear_depth_minimum", "wear_volume_minimum"),
)  # by default, the first that there is


@styled
def draw_wear(
    dataset: xr.Dataset, output: str | None = None, at: Mapping[str, float | str] | None = None
) -> Figure:
    """Draw the wear of a sweep as a matplotlib Figure.

    Volume or depth, by default the depth, is drawn over the years, with one line for each value of
    the longest axis that `at` does not cut (some of them, evenly spread); other axes are cut at
    the value nearest to that in `at`, or at their middle. Among quantiles, the line is the one
    nearest to the median, with a band between each pair around it; for a sample, its quantiles are
    drawn.
    Between the years, curves are interpolated as powers of time. A cross marks where a tube is worn
    through; a limit is dashed. The time to a limit is drawn as a map in years, in which some years
    have contours. SweepError for unknown names, and if there is nothing to draw.
    """
    name = output or default_output(dataset)
    names = [str(each) for each in dataset.data_vars if each != "status"]
    if name not in names:
        raise SweepError(f"this wear has no output {name!r}: {nearest(name, names)}")
    at = dict(at or {})
    if "time" in dataset[name].dims and dataset[name].dtype.kind == "f":
        return _over_years(dataset, name, at)
    if name.startswith("time_to_limit"):
        return _years_to_limit(dataset, name, at)
    return draw_slice(cut(dataset, name, at))


def default_output(dataset: xr.Dataset) -> str:
    """The output of wear that is drawn by default; SweepError without any."""
    for name in DRAWN:
        if name in dataset:
            return name
    raise SweepError(
        "nothing to draw by default: there are only shares of points; name one of them"
    )


def _over_years(dataset: xr.Dataset, name: str, at: dict[str, float | str]) -> Figure:
    lines, where, remarks = _lines(dataset, name, at)
    unit, factor = _scale([line[name] for _, line in lines])
    wear = wear_of(dataset) or {}
    meaning = str(dataset[name].attrs["long_name"]).removeprefix("quantile of the ")
    dataset = with_symbols(dataset)
    title = title_of(dataset.assign({name: dataset[name].assign_attrs(long_name=meaning)}), name)
    figure, axes = single_panel(f"{title} at {where}" if where else title, point_text(dataset))
    most_worn = 2 * wear["size"]["radius"] * factor if "depth" in name else np.inf
    first = lines[0][1]
    levels = first["quantile"].values if "quantile" in first.dims else None
    bands = {} if levels is None else _bands(levels)
    alpha = 0.5 / (1 + len(bands))
    for i, (label, line) in enumerate(lines):
        values, state = line[name] * factor, line[_state(name)]
        if levels is not None:
            table = values.transpose("quantile", "time").values
            for low, high in bands:
                _draw_band(axes, values["years"].values, table[[low, high]], most_worn, i, alpha)
            middle = _middle(levels)
            values, state = values.isel(quantile=middle), state.isel(quantile=middle)
        label = f"{label} {_early_end(values, state)}".strip()
        _draw_line(axes, values, state, {"color": colour_of(i), "label": label})
    if wear.get("limit") is not None and "depth" in name:
        words = f"limit {wear['limit'] * factor:g} {unit}"
        axes.axhline(wear["limit"] * factor, color="0.3", ls="--", linewidth=1.0, label=words)
    axes.set(xlabel="time in service [years]", ylabel=f"{meaning} [{unit}]")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    patches = [
        Patch(color="0.3", alpha=1 - (1 - alpha) ** i, linewidth=0, label=words)
        for i, words in enumerate(bands.values(), start=1)
    ]
    handles = axes.get_legend_handles_labels()[0]
    if any(line.get_marker() == "x" for line in axes.lines):
        words = "last time before it is worn through"
        handles.append(Line2D([], [], color="0.3", marker="x", linestyle="", label=words))
    notes = [Patch(fill=False, linewidth=0, label=remark) for remark in remarks]
    draw_legend(figure, [*handles, *patches, *notes])
    return figure


def _early_end(values: xr.DataArray, state: xr.DataArray) -> str:
    """What the legend says of a line that has no value because the tube is worn through."""
    if np.isfinite(values.values).any() or not (state.values == THROUGH).any():
        return ""
    return f"(worn through by year {float(values['years'].values[0]):g})"


def _lines(
    dataset: xr.Dataset, name: str, at: dict[str, float | str]
) -> tuple[list[tuple[str, xr.Dataset]], str, list[str]]:
    """The label of each line, with the output and its state there; where axes are cut; and remarks.

    The remarks say how many points have no value, and how many lines are drawn if these are not
    all. SweepError if no point has a value.
    """
    axes = [str(each) for each in dataset["status"].dims]
    kept_axes.check_names("axis", at, axes)
    free = [each for each in axes if each not in at]
    is_sampled = POINT in free and not holds_refined_points(dataset)
    along = max(
        free, key=lambda each: (is_sampled and each == POINT, dataset.sizes[each]), default=None
    )
    parameters = {each: kept_axes.parameters_along(dataset, each) or [each] for each in axes}
    dataset = dataset.assign_coords({each: dataset[each] for each in axes})
    cuts = [each for each in axes if each != along]
    places = {each: kept_axes.nearest(dataset[each], at) for each in cuts}
    part = dataset.isel(places)[[name, _state(name), "status"]].load()
    where = ", ".join(_label(part, parameters[each]) for each in cuts)
    counts = status_counts(part["status"].values)
    n_ok = counts.pop(Status.ok, 0)
    missing = ", ".join(f"{n:,} {in_words(status.name)}" for status, n in counts.items())
    if not n_ok:
        raise SweepError(f"nothing to draw: no point has a wear ({missing})")
    remarks = [f"no value: {missing}"] if missing else []
    if is_sampled:
        return [("", _quantiles_of_sample(part, name))], where, remarks
    if along is None:
        return [("", part)], where, remarks
    known = np.flatnonzero(part["status"].values == Status.ok)
    most = MAX_BANDS if "quantile" in part.dims else MAX_LINES
    lines = [part.isel({along: place}) for place in known[evenly(n_ok, most)].tolist()]
    kind = "points" if along == POINT else f"values of {in_words(along)}"
    remarks += [f"{most} of {n_ok:,} {kind} drawn"] if n_ok > most else []
    return [(_label(line, parameters[along]), line) for line in lines], where, remarks


def _state(name: str) -> str:
    """The output that says whether the law holds and the tube is worn through."""
    return name.replace("depth", "state").replace("volume", "state")


def _quantiles_of_sample(part: xr.Dataset, name: str) -> xr.Dataset:
    """Quantiles over the points that have a value, without interpolation; NaN: worn through."""
    values, state = (part[each].transpose(POINT, ..., "time") for each in (name, _state(name)))
    known = state.values[..., 0] != MISSING_FLAG
    if values.ndim != 2 or not known.any():
        raise SweepError(
            "nothing to draw: no point has a wear, or each has several; `sweep show` prints them"
        )
    wear = np.where(state.values[known] == THROUGH, np.inf, values.values[known])
    quantiles = np.quantile(wear, SAMPLE_LEVELS, axis=0, method="inverted_cdf")
    worn_through, dims = np.isinf(quantiles), ("quantile", "time")
    variables = {
        name: (dims, np.where(worn_through, np.nan, quantiles), values.attrs),
        _state(name): (dims, np.where(worn_through, np.uint8(THROUGH), np.uint8(0))),
    }
    return part.drop_dims(POINT).assign(variables).assign_coords(quantile=list(SAMPLE_LEVELS))


def _middle(levels: Values) -> int:
    """The place of the quantile nearest to the median."""
    return int(np.argmin(np.abs(levels - 0.5)))


def _bands(levels: Values) -> dict[tuple[int, int], str]:
    """The pairs of quantiles around the one nearest to the median, and their names."""
    middle = _middle(levels)
    pairs = zip(range(middle), range(len(levels) - 1, middle, -1), strict=False)
    return {(a, b): f"quantiles {levels[a]:.4g} to {levels[b]:.4g}" for a, b in pairs}


def _draw_band(
    axes: Axes, years: Values, ends: Values, most: float, colour: int, alpha: float
) -> None:
    """A band between two quantiles, up to `most` once the upper one is worn through."""
    x, lower = _curve(years, ends[0])
    upper = np.interp(x, *_curve(years, ends[1]), right=most)
    axes.fill_between(x, lower, upper, color=colour_of(colour), alpha=alpha, linewidth=0)


def _draw_line(
    axes: Axes, values: xr.DataArray, state: xr.DataArray, style: dict[str, Any]
) -> None:
    """A line over the years, with a dot at each, and a cross where the tube is worn through."""
    years, wear = values["years"].values, values.values
    known = np.isfinite(wear)
    axes.plot(*_curve(years, wear), linewidth=1.5, **style)
    axes.plot(years[known], wear[known], ".", color=style["color"])
    if known.any() and (state.values == THROUGH).any():
        last = int(np.flatnonzero(known)[-1])
        axes.plot(years[last], wear[last], "x", color=style["color"], markersize=9)


def _curve(years: Values, wear: Values) -> tuple[Values, Values]:
    """The wear at many times from 0 to the last with a value, as powers of time between them."""
    known = np.isfinite(wear)
    years, wear = years[known], wear[known]
    if not years.size:
        return np.zeros(1), np.zeros(1)
    x: Values = np.linspace(0.0, float(years[-1]), CURVE_POINTS)
    if np.any(wear <= 0) or years.size == 1:
        return x, np.interp(x, np.append(0.0, years), np.append(0.0, wear))
    from scipy.interpolate import PchipInterpolator

    slope = float(np.log(wear[1] / wear[0]) / np.log(years[1] / years[0]))
    early: Values = wear[0] * (x[1:] / years[0]) ** slope
    curve: Any = PchipInterpolator(np.log(years), np.log(wear))
    late: Values = np.exp(curve(np.log(np.maximum(x[1:], years[0]))))
    return x, np.append(0.0, np.where(x[1:] < years[0], early, late))


def _years_to_limit(dataset: xr.Dataset, name: str, at: dict[str, float | str]) -> Figure:
    """A map or lines of the years, with contours of round numbers in a map."""
    limit = float((wear_of(dataset) or {})["limit"])
    variable, words = dataset[name], ""
    if "quantile" in variable.dims:
        variable = variable.sel(quantile=at.pop("quantile", 0.5), method="nearest")
        words = f", quantile {float(variable['quantile']):g}"
    years = variable / YEAR
    clipped = (
        years.clip(max=LONGEST)
        .where(np.isfinite(years), years)
        .assign_attrs(
            long_name=f"years to a depth of {limit * 1e3:g} mm{words} (up to {LONGEST})", units="1"
        )
    )
    shown = cut(dataset[["status"]].assign(years_to_limit=clipped), "years_to_limit", at)
    figure = draw_slice(shown)
    axes, values = figure.axes[0], shown.values
    finite = values[np.isfinite(values) & (values > 0)]
    if not finite.size or len(shown.axes) != 2 or shown.over or not axes.collections:
        return figure
    axes.collections[0].set_norm(LogNorm(min(finite.min(), LONGEST / 10), finite.max()))
    levels = [each for each in LEVELS if finite.min() < each < finite.max()][-MAX_CONTOURS:]
    if levels:
        x, y = (axis.values.astype(np.float64) for axis in shown.axes)
        known = np.where(np.isfinite(values), values, np.nan)
        lines = axes.contour(x, y, known.T, levels=levels, colors="white", linewidths=0.8)
        axes.clabel(lines, fmt="%g", fontsize="small")
    return figure


def _scale(lines: list[xr.DataArray]) -> tuple[str, float]:
    """The finest unit in which the largest number drawn is readable, and its factor."""
    drawn = np.concatenate([line.values.ravel() for line in lines])
    return fine_unit(str(lines[0].attrs["units"]), float(np.nanmax(drawn, initial=0.0)))


def _label(dataset: xr.Dataset, names: list[str]) -> str:
    return values_of(with_symbols(dataset), names)
