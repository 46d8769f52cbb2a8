"""Cuts through results: the slice that shows an output over one or two axes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from sweep.errors import SweepError
from sweep.model.table import Status, index_name
from sweep.pictures.labels import (
    label_names,
    labels_of,
    quantity,
    values_of,
    with_codes,
    with_symbols,
)
from sweep.pictures.slices import Refined, Slice
from sweep.pictures.view import View, in_unit
from sweep.request.sweeps import LEVEL, POINT
from sweep.results.refined import cells_of, is_refined, on_grid, refined_axes
from sweep.results.summary import contents
from sweep.store.layout import is_count
from sweep.text import wording
from sweep.text.wording import listed

MAX_DRAWN_POINTS = 2**24  # of the grid from which refined points over several axes are drawn
MAX_COUNTED = 2**26  # points of which the statuses are counted where only some are drawn
MAX_LABELS = 8  # of a dimension that is drawn as lines
MAX_DRAWN_VALUES = {0: 1, 1: 65_536, 2: 2_048}  # left on each axis, by the number of axes shown


def cut(
    dataset: xr.Dataset,
    output: str | None,
    at: Mapping[str, float | str],
    over: Sequence[str] = (),
    *,
    computed: bool = False,
    view: View | None = None,
) -> Slice:
    """The slice that shows `output`, by default the first real one.

    `at` and `over` are as in `plots.plot`. The axes that `view` chooses are kept, and if these are
    fewer than two the longest others that `at` does not name. Long axes are thinned evenly
    (MAX_DRAWN_VALUES). A sample over one parameter has that as an axis. Refined points over several
    axes become a grid (`on_grid`), except with `over` or if only `computed` points are to be shown:
    then they are a sample. Points at infinity on an axis shown are left out, but an axis may be cut
    at infinity. Without `output`, real ones that are infinite wherever they have a value are passed
    over (`instead_of`).
    """
    _refuse_kinds(output, at, over)
    view = view or View()
    dataset = with_symbols(with_codes(with_years(dataset, at, view)))
    names = _output_names(dataset, output)
    first = shown = _cut(dataset, names[0], at, over, view, computed=computed)
    for i, name in enumerate(names[1:], start=1):
        if not _is_infinite(shown):
            break
        shown = _cut(dataset, name, at, over, view, computed=computed)
        shown = replace(shown, instead_of=tuple(names[:i]))
    shown = first if _is_infinite(shown) else shown
    view.check(shown.drawn)
    return shown


def output_name(dataset: xr.Dataset, output: str | None) -> str:
    """The name of an output, by default of the first real one; SweepError if it is unknown."""
    return _output_names(dataset, output)[0]


def _is_infinite(shown: Slice) -> bool:
    """Whether the output has values and none is finite."""
    values = shown.values
    return bool(np.isinf(values).any()) and not np.isfinite(values).any()


def _cut(
    dataset: xr.Dataset,
    name: str,
    at: Mapping[str, float | str],
    over: Sequence[str],
    view: View,
    *,
    computed: bool,
) -> Slice:
    """The slice that shows the output of this name."""
    refined, inner = None, index_name(name)
    most_axes = 1 if inner in dataset[name].dims else 2
    single = dataset[name].ndim == 1  # a grid of refined points has no other outputs
    if single and not (over or computed) and is_refined(dataset) and len(refined_axes(dataset)) > 1:
        dataset, refined = _as_grid(dataset)
    at = by_number(dataset, at)
    inners = {index_name(str(each)) for each in dataset.data_vars} - {*dataset.coords}
    check_names("axis", at, [axis for axis in dataset.sizes if axis not in inners])
    for axis, size in dataset[name].sizes.items():
        if not size:
            raise SweepError(f"nothing to draw: the results have no values along {axis}")
    axes = {str(axis): size for axis, size in dataset[name].sizes.items() if axis != inner}
    labels = [label for label in labels_of(dataset, name) if label in axes]
    cells = {axis: size for axis, size in axes.items() if axis not in labels}
    sampled = parameters_along(dataset, POINT)
    over = over or [each for each in view.axes if each in sampled]
    if others := [each for each in view.axes if over and each not in over]:
        raise SweepError(
            f"points of a sample are drawn over {listed([*over])} here, and {listed(others)} is "
            "another axis: leave out one of the two"
        )
    chosen = View() if over else replace(view, hue=None) if view.hue in labels else view
    kept = kept_axes(cells, at, most_axes, dataset, chosen)
    if kept and f"{name}_start" in dataset:
        uncut = [axis for axis, size in cells.items() if size > 1 and axis not in at]
        raise SweepError(
            f"nothing to draw: every cell of {name} has bins of its own, so one cell is drawn; "
            f"choose it by a value of {listed(uncut)} (at)"
        )
    kept += kept_labels({label: axes[label] for label in labels}, at, len(kept))
    over = drawn_over(dataset, kept, over, most_axes)
    scattered: set[str] = set()
    if len(over) == 1:
        scattered = set(over) if len(parameters_along(dataset, kept[0])) > 1 else set()
        dataset = dataset.swap_dims({kept[0]: over[0]})
        kept, over = [over[0]], ()
    numbered = frozenset(map(str, dataset[name].dims)) - {*map(str, dataset.coords), inner}
    others = [str(axis) for axis in dataset[name].dims if axis not in (*kept, inner)]
    dataset, cuts = cut_at(dataset, others, at, view.unit)
    dataset = dataset.assign_coords({axis: dataset[axis] for axis in numbered if axis in kept})
    most = MAX_DRAWN_VALUES[len(kept)]
    steps = {axis: slice(None, None, -(-dataset.sizes[axis] // most)) for axis in kept}
    shown = dataset.isel(steps).load()
    thinned = any(shown.sizes[axis] < dataset.sizes[axis] for axis in kept)
    shown, infinite = _without_infinite(shown, over or kept)
    if view.axes and not over and not scattered:
        shown = shown.transpose(*kept, ...)
    if f"{name}_start" in shown and kept:
        shown, kept = _over_bins(shown, name, kept[0])
        labels = kept
    return Slice(
        dataset=shown.sortby(kept) if kept else shown,
        view=view,
        name=name,
        cuts=cuts,
        numbered=numbered | scattered,
        over=over,
        labels=frozenset(labels),
        refined=refined,
        infinite=infinite,
        thinned=thinned,
        counts=_all_statuses(dataset) if thinned and refined is None and not infinite else None,
    )


def _over_bins(dataset: xr.Dataset, name: str, number: str) -> tuple[xr.Dataset, list[str]]:
    """A histogram over the lower edges of its bins in place of their numbers, and the axis."""
    of = name.removesuffix("_histogram")
    start, width = dataset[f"{name}_start"], dataset[f"{name}_width"]
    meaning = str(start.attrs["long_name"]).removeprefix("lower edge of the first bin of ")
    edges = float(start) + float(width) * dataset[number].values
    attributes = {**start.attrs, "long_name": meaning}
    dataset = dataset.assign_coords({of: (number, edges, attributes)})
    return dataset.swap_dims({number: of}), [of]


def _all_statuses(dataset: xr.Dataset) -> Mapping[Status, int] | None:
    """The number of points by status, read block by block; None if that takes too long."""
    if "status" not in dataset or dataset["status"].size > MAX_COUNTED:
        return None
    return contents(dataset[["status"]].drop_attrs()).counts


def _refuse_kinds(output: object, at: object, over: object) -> None:
    """SweepError for arguments of the wrong type."""
    if not isinstance(output, str | None):
        raise SweepError(f"output={wording.shown(output)} is not the name of an output")
    if not isinstance(at, Mapping):
        raise SweepError(f"at={wording.shown(at)} is not a mapping. Give values by name, as a dict")
    if isinstance(over, str) or not isinstance(over, Sequence):
        raise SweepError(f"over={wording.shown(over)} is not a list of names")


def _without_infinite(
    dataset: xr.Dataset, names: Sequence[str]
) -> tuple[xr.Dataset, dict[str, int]]:
    """The points at which these parameters are finite, and how many were not, by parameter."""
    infinite: dict[str, int] = {}
    for name in names:
        if dataset[name].dtype.kind not in "iuf":
            raise SweepError(f"{name} is not numeric, so it cannot be an axis: choose another")
        finite = np.isfinite(dataset[name].values)
        if finite.all():
            continue
        if not finite.any():
            raise SweepError(
                f"nothing to draw: {name} is infinite at every point; choose another parameter"
            )
        points = dataset["status"].size if "status" in dataset else finite.size
        infinite[name] = points * int(np.count_nonzero(~finite)) // finite.size
        dataset = dataset.isel({dataset[name].dims[0]: finite})
    return dataset, infinite


def _as_grid(dataset: xr.Dataset) -> tuple[xr.Dataset, Refined | None]:
    """Refined points as a grid no finer than is shown; over two axes also their cells."""
    dataset = dataset.load()
    cells = cells_of(dataset)
    shape, levels = cells.mesh.shape, cells.mesh.levels
    while levels and (max(shape) > MAX_DRAWN_VALUES[2] or math.prod(shape) > MAX_DRAWN_POINTS):
        shape, levels = tuple((n - 1) // 2 + 1 for n in shape), levels - 1
    grid = on_grid(dataset, levels)
    if len(cells.axes) > 2:
        return grid, None
    return grid, Refined(cells.outlines(), dataset)


def _output_names(dataset: xr.Dataset, output: str | None) -> list[str]:
    """The output, or those that may be shown by default, the first choice first."""
    names = [str(name) for name in dataset.data_vars if name != "status"]
    if output is not None:
        check_names("output", [output], [*names, "status"])
        return [output]
    real = [n for n in names if dataset[n].dtype.kind == "f" and not is_count(dataset[n])]
    if not names:
        raise SweepError("nothing to draw: the sweep has no output but its status; name that")
    return real or names[:1]


def parameters_along(dataset: xr.Dataset, axis: str) -> list[str]:
    """The parameters of a sample along an axis; none if the axis has values of its own."""
    own = [str(name) for name in dataset.coords if dataset[name].dims == (axis,)]
    return [] if axis in own else [name for name in own if name != LEVEL]


def kept_axes(
    sizes: Mapping[str, int],
    at: Mapping[str, float | str],
    most: int,
    dataset: xr.Dataset,
    view: View,
) -> list[str]:
    """The longest axes, at most this many, that `at` does not cut, in the order of the sweep.

    A sample is shown by itself; with further axes, in the cell where these are cut. Chosen axes
    come first if `x` is among them, otherwise last.
    """
    free = [axis for axis in sizes if axis not in at]
    if view.axes:
        check_names("uncut axis", view.axes, free)
        if len(view.axes) > most:
            raise SweepError(f"this output is drawn over one axis, not {', '.join(view.axes)}")
        rest = [axis for axis in free if axis not in view.axes and sizes[axis] > 1]
        rest = sorted(rest, key=lambda axis: -sizes[axis])[: most - len(view.axes)]
        return [*view.axes, *rest] if view.x is not None else [*rest, *view.axes]
    if sizes.get(POINT, 1) > 1 and POINT in free and parameters_along(dataset, POINT):
        return [POINT]
    longest = sorted(free, key=lambda axis: sizes[axis], reverse=True)[:most]
    return [axis for axis in free if axis in longest and sizes[axis] > 1]


def kept_labels(sizes: Mapping[str, int], at: Mapping[str, float | str], n_kept: int) -> list[str]:
    """The longest labelled dimension that is drawn: as bars, or as lines over a single axis."""
    most = {0: math.inf, 1: MAX_LABELS}.get(n_kept, 0)
    free = [label for label, size in sizes.items() if label not in at and 1 < size <= most]
    return sorted(free, key=lambda label: sizes[label])[-1:]


def drawn_over(
    dataset: xr.Dataset, kept: Sequence[str], over: Sequence[str], most: int
) -> tuple[str, ...]:
    """The parameters over which a sample is drawn: those of `over`, or the first `most`."""
    sampled = parameters_along(dataset, kept[0]) if len(kept) == 1 else []
    if over and not sampled:
        raise SweepError(
            "`over` draws a sample over its parameters, and this sweep has no sample: leave it out"
        )
    check_names("sampled parameter", over, sampled)
    if most == 1 and len(over) > 1:
        raise SweepError(
            "an output with several values at each point is drawn over one parameter, not "
            f"{', '.join(over)}"
        )
    if len(set(over)) != len(over) or len(over) > 2:
        raise SweepError(f"a sample is drawn over one or two parameters, not {', '.join(over)}")
    return tuple(over or sampled[:most])


def by_number(dataset: xr.Dataset, at: Mapping[str, float | str]) -> dict[str, float | str]:
    """The same cuts; those by one of several parameters along an axis become places along it.

    SweepError for a cut by a parameter of the sample, or by two parameters along one axis.
    """
    places = dict(at)
    for axis in map(str, dataset.sizes):
        names = [name for name in parameters_along(dataset, axis) if name in at]
        if names and axis == POINT:
            raise SweepError(
                f"{names[0]} is sampled, so there is no axis to cut: draw over it (over), or "
                "export every point as a row of a .csv"
            )
        if len(names) > 1:
            raise SweepError(f"{' and '.join(names)} are both along {axis}: cut it by one of them")
        for name in names:
            places[axis] = nearest(dataset[name], {name: places.pop(name)})
    return places


def with_years(dataset: xr.Dataset, at: Collection[str], view: View) -> xr.Dataset:
    """The Dataset over years in place of seconds, if it has both and the user names no time."""
    has_both = "years" in dataset.coords and dataset["years"].dims == ("time",)
    if not has_both or "time" in {*view.axes, *view.panel_axes, *at}:
        return dataset
    years = dataset["years"].assign_attrs(units="1")  # "years = 5", not "years = 5 year"
    return dataset.assign_coords(years=years).swap_dims(time="years").drop_vars("time")


def cut_at(
    dataset: xr.Dataset,
    axes: Iterable[str],
    at: Mapping[str, float | str],
    units: Mapping[str, str] | None = None,
) -> tuple[xr.Dataset, dict[str, str]]:
    """The Dataset with these axes cut at the values nearest to `at`, and where that is, as text.

    `units` are those chosen, by axis. An axis without values is cut at a number; the text has its
    parameters there, too.
    """
    texts: dict[str, str] = {}
    for axis in axes:
        parameters, values = parameters_along(dataset, axis), dataset[axis]
        dataset = dataset.assign_coords({axis: values}).isel({axis: nearest(values, at)})
        cut_text = quantity(dataset[axis], (units or {}).get(axis))
        texts[axis] = f"{cut_text} ({values_of(dataset, parameters)})" if parameters else cut_text
    return dataset, texts


def nearest(axis: xr.DataArray, at: Mapping[str, float | str]) -> int:
    """The place along an axis nearest to the value in `at`; the middle without one."""
    if axis.name not in at:
        return axis.size // 2
    value = at[str(axis.name)]
    if isinstance(value, str):
        value = _by_text(axis, value)
    try:
        (cut_value,) = np.asarray(value, np.float64).reshape(1).tolist()
    except (TypeError, ValueError):
        cut_value = math.nan
    places = np.flatnonzero(axis.values == cut_value)
    if places.size:
        return int(places[0])
    if not math.isfinite(cut_value):
        raise SweepError(f"{axis.name} cannot be cut at {wording.shown(value)}; give a number")
    values = axis.values[np.isfinite(axis.values)]
    low, high = (float(end) for end in (values.min(initial=np.inf), values.max(initial=-np.inf)))
    slack = 1e-9 * max(abs(low), abs(high))
    if not low - slack <= cut_value <= high + slack:
        raise SweepError(
            f"{axis.name} = {cut_value:g} is outside the axis, which is from {low:.6g} "
            f"to {high:.6g}: give a value in that range"
        )
    return int(np.argmin(np.abs(axis.values - cut_value)))


def check_names(kind: str, names: Iterable[str], known: Iterable[object]) -> None:
    """Raise SweepError if one of these names is not among those known."""
    choices = [str(name) for name in known]
    for name in names:
        if name not in choices:
            cure = wording.nearest(name, choices)
            raise SweepError(f"this sweep has no {kind} {name!r}: {cure}")


def _by_text(axis: xr.DataArray, text: str) -> float:
    """The value along an axis that a text gives: a number, with a unit or not, or a label."""
    labels = label_names(axis)
    if axis.dtype.kind in "TOU":
        labels = list(map(str, axis.values.tolist()))
    if not labels:
        unit = str(axis.attrs.get("units", "1"))
        return in_unit(f"at {axis.name}", text, unit, infinite=True)
    text = text if text in labels else text.strip("\"'")  # quoted as text is in a file
    if text not in labels:
        raise SweepError(f"{axis.name} has no {text!r}: {wording.nearest(text, labels)}")
    return float(labels.index(text))
