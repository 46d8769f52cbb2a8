"""Where the axes of a grid are cut: at a value, or by one of several parameters along an axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sweep import wording
from sweep.analysis.labels import quantity, values_of
from sweep.errors import SweepError
from sweep.request import LEVEL, POINT

if TYPE_CHECKING:
    import xarray as xr


def parameters_along(dataset: xr.Dataset, axis: str) -> list[str]:
    """The parameters of a sample along an axis; none if the axis has values of its own."""
    own = [str(name) for name in dataset.coords if dataset[name].dims == (axis,)]
    return [] if axis in own else [name for name in own if name != LEVEL]


def by_number(dataset: xr.Dataset, at: Mapping[str, float]) -> dict[str, float]:
    """The same cuts, those by one of several parameters along an axis as places along it."""
    places = dict(at)
    for axis in map(str, dataset.sizes):
        names = [name for name in parameters_along(dataset, axis) if name in at]
        if len(names) > 1:
            raise SweepError(f"{' and '.join(names)} are both along {axis}: cut it by one of them")
        for name in names:
            places[axis] = nearest(dataset[name], {name: places.pop(name)})
    return places


def cut_text(shown: xr.Dataset, axis: str, parameters: Sequence[str]) -> str:
    """Where an axis is cut; of several parameters, the number of the place and their values."""
    there = quantity(shown[axis])
    return f"{there} ({values_of(shown, parameters)})" if parameters else there


def refuse_cut_of_sample(dataset: xr.Dataset, at: Mapping[str, float]) -> None:
    """Raise SweepError if a cut is by a parameter of the sample."""
    for name in (name for name in at if name in parameters_along(dataset, POINT)):
        raise SweepError(
            f"{name} is sampled, so there is no axis to cut: draw over it with --over {name}, "
            "or write every point as a row of a .csv with `sweep export`"
        )


def nearest(axis: xr.DataArray, at: Mapping[str, float]) -> int:
    """The place along an axis nearest to the value in `at`; the middle without one."""
    if axis.name not in at:
        return axis.size // 2
    value = at[str(axis.name)]
    try:
        (wanted,) = np.asarray(value, np.float64).reshape(1).tolist()
    except (TypeError, ValueError):
        wanted = math.nan
    places = np.flatnonzero(axis.values == wanted)
    if places.size:
        return int(places[0])
    if not math.isfinite(wanted):
        raise SweepError(f"{axis.name} cannot be cut at {wording.shown(value)}; give a number")
    values = axis.values[np.isfinite(axis.values)]
    low, high = (float(end) for end in (values.min(initial=np.inf), values.max(initial=-np.inf)))
    slack = 1e-9 * max(abs(low), abs(high))
    if not low - slack <= wanted <= high + slack:
        raise SweepError(
            f"{axis.name} = {wanted:g} is outside the axis, which is from {low:.6g} to {high:.6g}: "
            "give a value in that range"
        )
    return int(np.argmin(np.abs(axis.values - wanted)))
