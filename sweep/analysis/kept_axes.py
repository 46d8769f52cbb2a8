"""Which axes of a sweep, or parameters of a sample, a picture shows, and where others are cut."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import xarray as xr

from sweep import wording
from sweep.analysis.labels import label_names, quantity, values_of
from sweep.analysis.view import View, in_unit
from sweep.errors import SweepError
from sweep.request import LEVEL, POINT

MAX_LABELS = 8  # of a dimension that is drawn as lines


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


def cut_at(
    dataset: xr.Dataset, axes: Iterable[str], at: Mapping[str, float | str]
) -> tuple[xr.Dataset, dict[str, str]]:
    """The Dataset with these axes cut at the values nearest to `at`, and where that is, as text.

    An axis without values is cut at a number; the text has its parameters there, too.
    """
    texts: dict[str, str] = {}
    for axis in axes:
        parameters, values = parameters_along(dataset, axis), dataset[axis]
        dataset = dataset.assign_coords({axis: values}).isel({axis: nearest(values, at)})
        cut_text = quantity(dataset[axis])
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
