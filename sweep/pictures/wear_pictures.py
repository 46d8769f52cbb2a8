"""Pictures of wear: volume or depth over years, with bands of quantiles, and years to a limit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from sweep.errors import SweepError
from sweep.model.table import MISSING_FLAG, Status, status_counts
from sweep.pictures.cuts import check_names, cut, cut_at
from sweep.pictures.labels import in_words, with_codes, with_symbols
from sweep.pictures.line_panels import lines_of
from sweep.pictures.panels import FREE, Mark, Note, Panel, axis_of
from sweep.pictures.scales import evenly
from sweep.pictures.slices import MAX_LINES, Slice
from sweep.pictures.view import View
from sweep.points.wear_stage import STATES
from sweep.request.chunk import Values
from sweep.request.sweeps import POINT
from sweep.results.refined import holds_refined_points
from sweep.store.datasets import wear_of
from sweep.text.units import fine_unit
from sweep.theory.wear import YEAR

MAX_BANDS = 3  # values of an axis that are drawn with bands in one picture, without MAX_LINES
CURVE_POINTS = 200
THROUGH = STATES.index("worn_through")
SAMPLE_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
LEVELS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)  # years that may have contours
LONGEST = 100  # years; a map shows longer times like this, and lines leave the picture there
MAX_CONTOURS = 6
CROSS: Mapping[str, Any] = {"linestyle": "none", "marker": "x"}
DRAWN = (
    *("wear_depth_quantile", "wear_depth", "wear_volume_quantile", "wear_volume"),
    *("wear_depth_maximum", "wear_volume_maximum", "wear_depth_minimum", "wear_volume_minimum"),
)  # by default, the first that there is


def wear_slice(
    dataset: xr.Dataset, output: str | None, at: Mapping[str, float | str], view: View
) -> Slice:
    """The slice that shows the wear of a sweep, by default the depth.

    Volume or depth is shown over the years, with a line for each value of `hue` of the view, by
    default of the index of the wear, such as its supports, or else of the longest axis that `at`
    does not cut; others are cut. For a sample, its quantiles are shown. The time to a limit is
    shown in years. With another `x`, with `y`, and of other outputs, the slice is that of any
    results. SweepError if there is nothing to draw.
    """
    names = [name for name in DRAWN if name in dataset]
    if output is None and not names:
        raise SweepError(
            "nothing to draw by default: there are only shares of points; name one of them"
        )
    name = output or names[0]
    check_names("output", [name], dataset.data_vars)
    if name.startswith("time_to_limit"):
        return _in_years(dataset, name, at, view)
    is_over_time = "time" in dataset[name].dims and dataset[name].dtype.kind == "f"
    if is_over_time and view.x in (None, "time", "years") and view.y is None:
        return _over_years(with_symbols(with_codes(dataset)), name, at, view)
    return cut(dataset, name, at, view=view)


def shows_wear(dataset: xr.Dataset, output: str | None) -> bool:
    """Whether `wear_slice` draws the output.

    It does of wear that was computed from results, and of wear that is a part of a sweep quantiles
    over the years, which are drawn by default.
    """
    if wear_of(dataset) is not None:
        return True
    names = [name for name in DRAWN if name.endswith("_quantile") and name in dataset]
    names = [name for name in names if "years" in dataset[name].coords]
    return bool(names) and output in (None, *names)


def _over_years(dataset: xr.Dataset, name: str, at: Mapping[str, float | str], view: View) -> Slice:
    """Volume or depth over the years for some values of an axis that have a wear.

    Among quantiles, the output is the one nearest to the median; all are in the variable `bands`.
    """
    cells, state = [str(each) for each in dataset["status"].dims], _state(name)
    labels = [str(d) for d in dataset[name].dims if d not in {*cells, "time", "quantile"}]
    check_names("axis", at, [*cells, *labels])
    free = [each for each in (*cells, *labels) if each not in at]
    check_names("uncut axis", [view.hue] if view.hue else [], free)
    is_sampled = POINT in free and not holds_refined_points(dataset)
    along = view.hue or max(
        free,
        key=lambda each: (is_sampled and each == POINT, each in labels, dataset.sizes[each]),
        default=None,
    )
    others = [each for each in (*cells, *labels) if each != along]
    part, cuts = cut_at(dataset, others, at, view.unit)
    if state not in part:
        part[state] = part[name].dims, np.where(np.isinf(part[name].values), THROUGH, 0)
    part = part[[name, state, "status"]].swap_dims(time="years").drop_vars("time").load()
    counts = status_counts(part["status"].values)
    n_ok, note = counts.get(Status.ok, 0), ""
    if not n_ok:
        missing = ", ".join(f"{n:,} {in_words(status.name)}" for status, n in counts.items())
        raise SweepError(f"nothing to draw: no point has a wear ({missing})")
    if is_sampled:
        part, along = _quantiles_of_sample(part, name), None
    elif along is not None:
        most = MAX_BANDS if "quantile" in part.dims else MAX_LINES
        known = np.arange(part.sizes[along])
        if along in cells:
            known = np.flatnonzero(part["status"].values == Status.ok)
        some = known[evenly(known.size, most)]
        part = part.assign_coords({along: part[along]}).isel({along: some})
        kind = "points" if along == POINT else f"values of {in_words(along)}"
        note = f"{most} of {known.size:,} {kind} drawn" if known.size > most else ""
    unit, _ = fine_unit(str(part[name].attrs["units"]), float(part[name].max()))
    if "quantile" in part.dims:
        meaning = "depth of the scar" if "depth" in name else "worn volume"
        part[name].attrs["long_name"] = meaning
    if "quantile" in part.dims:
        middle = _middle(part["quantile"].values)
        part = part.isel(quantile=middle, drop=True).assign(bands=part[name])
    part = part.transpose("years", *([along] if along else []), ...)
    part["years"].attrs["units"] = "1"
    shown = Slice(
        part,
        name,
        cuts,
        numbered=frozenset([along] if along and along not in dataset.coords else []),
        counts=counts,
        view=replace(view, x="years", hue=along, unit={name: unit, **view.unit}),
        note=note,
    )
    view.check(shown.drawn)
    return shown


def wear_panel(shown: Slice) -> Panel:
    """Curves over the years, with bands between quantiles; a limit is dashed."""
    along, lines, labels = lines_of(shown)
    years, is_depth = along.values, "depth" in shown.name
    unit, share = shown.scales(shown.name)
    states = shown.dataset[_state(shown.name)].values.reshape(years.size, -1).T
    most_worn, limit = (share * size for size in _sizes(shown.dataset))
    bands, alpha = {}, 0.5
    marks: list[Mark] = []
    if "bands" in shown.dataset:
        bands = _bands(shown.dataset["quantile"].values)
        alpha /= 1 + len(bands)
        table = share * shown.dataset["bands"].transpose("quantile", ..., "years").values
        for i, label in enumerate(labels):
            ends = table.reshape(len(table), -1, years.size)[:, i]
            marks += [_band(years, ends[[*pair]], most_worn, alpha, label) for pair in bands]
    for line, is_through, label in zip(lines, (states == THROUGH).any(axis=1), labels, strict=True):
        marks += _curve_with_dots(years, line, label, is_through=bool(is_through))
    notes: list[Note] = []
    if any(mark.style.get("marker") == "x" for mark in marks):
        notes.append(("last time before it is worn through", {**CROSS, "color": "0.3"}))
    for i, words in enumerate(bands.values(), start=1):
        notes.append((words, {"color": "0.3", "alpha": 1 - (1 - alpha) ** i, "linewidth": 0}))
    if is_depth and np.isfinite(limit):
        style = {"color": "0.3", "linestyle": "--", "linewidth": 1.0}
        marks.append(Mark("axhline", (limit,), {**style, "label": f"limit {limit:g} {unit}"}))
    x, y = (axis_of(shown, each, "linear") for each in (along, shown.output))
    x, y = (
        replace(each, limits=(0.0, None)) if (each.limits, each.scale) == (FREE, "linear") else each
        for each in (x, y)
    )
    return Panel(replace(x, label="time in service [years]"), y, marks, notes=notes)


def _sizes(dataset: xr.Dataset) -> tuple[float, float]:
    """The diameter of the tube and the limit of the depth [m]; NaN if they are not constant."""
    if wear := wear_of(dataset):
        return 2 * wear["size"].get("radius", np.nan), wear["limit"] or np.nan
    taken = json.loads(str(dataset.attrs["recipe"]))["wear"]["taken"]
    names = [f"wear_{key}" if key in taken else key for key in ("radius", "limit")]
    known = [float(dataset[name]) if name in dataset.coords else np.nan for name in names]
    return 2 * known[0], known[1]


def _curve_with_dots(years: Values, wear: Values, label: str, *, is_through: bool) -> list[Mark]:
    """A line over the years, with a dot at each, and a cross where the tube is worn through."""
    known = np.isfinite(wear)
    words = label
    if is_through and not known.any():
        words = f"{label} (worn through by year {years[0]:g})".strip()
    marks = [
        Mark("plot", _curve(years, wear), {"linewidth": 1.5, "label": words}, label),
        Mark("plot", (years[known], wear[known]), {"linestyle": "none", "marker": "."}, label),
    ]
    if is_through and known.any():
        last = np.flatnonzero(known)[-1:]
        marks.append(Mark("plot", (years[last], wear[last]), {**CROSS, "markersize": 9}, label))
    return marks


def _band(years: Values, ends: Values, most: float, alpha: float, label: str) -> Mark:
    """A band between two quantiles, up to `most` once the upper one is worn through."""
    x, lower = _curve(years, ends[0])
    upper = np.interp(x, *_curve(years, ends[1]), right=most)
    return Mark("fill_between", (x, lower, upper), {"alpha": alpha, "linewidth": 0}, label)


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


def _in_years(dataset: xr.Dataset, name: str, at: Mapping[str, float | str], view: View) -> Slice:
    """The years to a limit, of which LONGEST is the end; a map has contours of round numbers."""
    limit = float((wear_of(dataset) or {})["limit"])
    described = {"long_name": f"years to a depth of {limit * 1e3:g} mm", "units": "1"}
    years = (dataset[name] / YEAR).assign_attrs(described)
    shown = cut(dataset[["status"]].assign({name: years}), name, at, view=view)
    if shown.kind != "map":
        finite = shown.values[np.isfinite(shown.values)]
        if not np.any(finite < LONGEST) or finite.max() <= LONGEST:
            return shown
        limits = {name: (min(finite.min(), LONGEST / 10), LONGEST), **view.limits}
        return replace(shown, view=replace(view, limits=limits))
    described["long_name"] += f" (up to {LONGEST})"
    clipped = years.clip(max=LONGEST).where(np.isfinite(years), years).assign_attrs(described)
    shown = cut(dataset[["status"]].assign({name: clipped}), name, at, view=view)
    finite = shown.values[np.isfinite(shown.values) & (shown.values > 0)]
    if not finite.size:
        return shown
    limits = {name: (min(finite.min(), LONGEST / 10), finite.max()), **view.limits}
    view = replace(view, limits=limits, log=(*view.log, name))
    levels = [each for each in LEVELS if finite.min() < each < finite.max()][-MAX_CONTOURS:]
    return replace(shown, view=view, contours=levels)


def _quantiles_of_sample(part: xr.Dataset, name: str) -> xr.Dataset:
    """Quantiles over the points that have a value, without interpolation; NaN: worn through."""
    values, state = (part[each].transpose(POINT, ..., "years") for each in (name, _state(name)))
    known = state.values[..., 0] != MISSING_FLAG
    if values.ndim != 2 or not known.any():
        raise SweepError(
            "nothing to draw: no point has a wear, or each has several; `sweep show` prints them"
        )
    wear = np.where(state.values[known] == THROUGH, np.inf, values.values[known])
    quantiles = np.quantile(wear, SAMPLE_LEVELS, axis=0, method="inverted_cdf")
    worn_through, dims = np.isinf(quantiles), ("quantile", "years")
    variables = {
        name: (dims, np.where(worn_through, np.nan, quantiles), values.attrs),
        _state(name): (dims, np.where(worn_through, np.uint8(THROUGH), np.uint8(0))),
    }
    return part.drop_dims(POINT).assign(variables).assign_coords(quantile=list(SAMPLE_LEVELS))


def _state(name: str) -> str:
    """The output that says whether the law holds and the tube is worn through."""
    return name.replace("depth", "state").replace("volume", "state")


def _middle(levels: Values) -> int:
    """The place of the quantile nearest to the median."""
    return int(np.argmin(np.abs(levels - 0.5)))


def _bands(levels: Values) -> dict[tuple[int, int], str]:
    """The pairs of quantiles around the one nearest to the median, and their names."""
    middle = _middle(levels)
    pairs = zip(range(middle), range(len(levels) - 1, middle, -1), strict=False)
    return {(a, b): f"quantiles {levels[a]:.4g} to {levels[b]:.4g}" for a, b in pairs}
