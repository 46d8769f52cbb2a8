"""Errors of results against others at the same points, as Datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.model.table import MISSING_FLAG, Status, index_name
from sweep.request.chunk import Values
from sweep.results.summary import is_flag


@dataclass(frozen=True)
class Spread:
    """Statistics of an error over the points that have one; NaN if there are none."""

    points: int
    median: float
    worst: float
    where: Mapping[str, xr.DataArray]  # parameters on axes at the first of the worst points


def error_name(output: str) -> str:
    """The name of the error of an output."""
    return f"{output}_error"


def errors(dataset: xr.Dataset, reference: xr.Dataset) -> xr.Dataset:
    """The errors of all outputs that both have, named by `error_name`, and the joint status.

    An error is |value - reference| / |reference|, point by point. Where the reference is 0, the
    difference is relative to the largest |reference| of all points: the error is 0 if the value is
    0 too, and inf if it is not and the reference is 0 everywhere. For a flag, the error is a flag
    of the classes same and different. A point that is not ok in both Datasets has no error: NaN, or
    255 for a flag. Outputs that keep several values of a motion are left out.

    The reference may lack axes of the dataset; it applies to all their values. SweepError if the
    axes have different values, or if a parameter of the reference is a variable of the dataset: the
    reference may be at another value. The attributes `method` and `against` name the methods
    compared.
    """
    status = joint_status(dataset, reference)
    methods = [str(each.attrs.get("method", "these")) for each in (dataset, reference)]
    variables = {
        error_name(name): _error(dataset[name], reference[name], status, " against ".join(methods))
        for name in _outputs_of_both(dataset, reference)
    }
    kept = ("title", "source", "references", "model", "method", "revision")
    attributes = {name: dataset.attrs[name] for name in kept if name in dataset.attrs}
    attributes |= {
        f"against{end}": reference.attrs[name]
        for name, end in (("method", ""), ("revision", "_revision"))
        if name in reference.attrs
    }
    coordinates = {str(name): dataset[name] for name in dataset.coords}
    return xr.Dataset({**variables, "status": status}, coordinates, attributes)


def joint_status(dataset: xr.Dataset, reference: xr.Dataset) -> xr.DataArray:
    """The status of the dataset's points, or that of the reference where they are ok."""
    own, other = _alike(dataset["status"], reference["status"])
    joint = own.copy(data=np.where(own.values == Status.ok, other.values, own.values))
    return joint.transpose(*dataset["status"].dims)


def spread(errors: xr.Dataset, name: str) -> Spread:
    """Median and worst of the errors of that name; for a flag, a difference counts as 1."""
    variable = errors[name]
    values = variable.where(errors["status"] == Status.ok).transpose(*variable.dims).values
    if np.isnan(values).all():
        return Spread(0, np.nan, np.nan, {})
    at = np.unravel_index(np.nanargmax(values), values.shape)
    place = errors.isel(dict(zip(variable.dims, map(int, at), strict=True)))
    return Spread(
        points=int(np.count_nonzero(~np.isnan(values))),
        median=float(np.nanmedian(values)),
        worst=float(values[at]),
        where={str(axis): place[axis] for axis in errors.coords if errors[axis].ndim},
    )


def _outputs_of_both(dataset: xr.Dataset, reference: xr.Dataset) -> list[str]:
    """The names of the outputs that both have, but for those that keep several values."""
    if parameters := [str(name) for name in dataset.data_vars if name in reference.coords]:
        raise SweepError(
            f"there is no output {parameters[0]!r} to compare: it is a parameter, so make it a "
            f"coordinate with set_coords({parameters[0]!r})"
        )
    return [
        str(name)
        for name, variable in dataset.data_vars.items()
        if name != "status" and name in reference and index_name(str(name)) not in variable.dims
    ]


def _error(
    variable: xr.DataArray, reference: xr.DataArray, joint: xr.DataArray, methods: str
) -> xr.DataArray:
    """The error of one output."""
    values, expected, status = _alike(variable, reference, joint)
    ok, names = status.values == Status.ok, f"of {variable.name}, {methods}"
    if is_flag(variable):
        differs = values.values != expected.values
        errors = np.where(ok, differs, MISSING_FLAG).astype(np.uint8)
        described: dict[str, Any] = {
            "long_name": f"class {names}",
            "flag_values": [0, 1],
            "flag_meanings": "same different",
        }
    else:
        errors = _relative(values.values, expected.values, ok)
        described = {"long_name": f"relative error {names}", "units": "1"}
    made = xr.DataArray(errors, status.coords, status.dims, attrs=described)
    return made.transpose(*variable.dims)


def _relative(values: Values, reference: Values, ok: NDArray[np.bool_]) -> Values:
    values, reference = (np.where(ok, each, 0).astype(np.float64) for each in (values, reference))
    differences, scale = np.abs(values - reference), np.abs(reference)
    scale = np.where(scale > 0, scale, scale.max(initial=0.0))
    with np.errstate(divide="ignore", over="ignore"):
        shares = differences / np.where(differences > 0, scale, 1.0)
    return np.where(ok, shares, np.nan)


def _alike(*arrays: xr.DataArray) -> tuple[xr.DataArray, ...]:
    """The arrays over the axes of the first, in memory."""
    more = {str(name) for array in arrays for name in array.dims} - set(map(str, arrays[0].dims))
    if more:
        raise SweepError(
            f"the reference has axes that the results lack: {', '.join(sorted(more))}; select one "
            "value of each"
        )
    try:
        aligned = xr.align(*arrays, join="exact", copy=False)
    except ValueError as fault:
        raise SweepError(
            f"results and reference have different points ({fault}): compute both at the same ones"
        ) from fault
    return tuple(array.compute() for array in xr.broadcast(*aligned))
