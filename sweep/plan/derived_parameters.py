"""The derived parameters of a sweep: their values, their dimensions and their faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sweep.equations.derived import in_order, inputs, value_of
from sweep.ranges import first_outside, requirement
from sweep.request import Sweep


def derived_values(
    sweep: Sweep, slices: Sequence[slice] | None = None
) -> dict[str, NDArray[np.float64]]:
    """The derived parameters in a block of the grid, by default all of it.

    Each array has all dimensions of the sweep, with size 1 where its values do not vary. Parameters
    are left out if they depend on others that this sweep has not.
    """
    values: dict[str, NDArray[np.float64]] = {
        name: np.full((1,) * len(sweep.axes), value) for name, value in sweep.constants.items()
    }
    needed = {name for text in sweep.derived.values() for name in inputs(text)}
    for dimension, axis in enumerate(sweep.axes):
        part = slices[dimension] if slices else slice(None)
        shape = [-1 if d == dimension else 1 for d in range(len(sweep.axes))]
        for name in needed & axis.columns.keys():
            values[name] = np.asarray(axis.columns[name][part], np.float64).reshape(shape)
    derived: dict[str, NDArray[np.float64]] = {}
    for name in in_order(sweep.derived):
        text = sweep.derived[name]
        if values.keys() >= set(inputs(text)):
            array = np.asarray(value_of(text, values) + 0.0)
            shape = array.shape if array.ndim == len(sweep.axes) else (1,) * len(sweep.axes)
            values[name] = derived[name] = array.reshape(shape)
    return derived


def derived_dimensions(sweep: Sweep) -> dict[str, tuple[str, ...]]:
    """The dimensions along which each derived parameter varies.

    Parameters are left out if they depend on others that this sweep has not.
    """
    dimensions: dict[str, tuple[str, ...]] = dict.fromkeys(sweep.constants, ())
    dimensions |= {name: (axis.name,) for axis in sweep.axes for name in axis.columns}
    derived: dict[str, tuple[str, ...]] = {}
    for name in in_order(sweep.derived):
        needed = inputs(sweep.derived[name])
        if dimensions.keys() >= set(needed):
            along = {dimension for each in needed for dimension in dimensions[each]}
            dimensions[name] = derived[name] = tuple(d for d in sweep.dimensions if d in along)
    return derived


def derived_faults(sweep: Sweep, derived: Mapping[str, NDArray[np.float64]]) -> dict[str, str]:
    """What is wrong with the values of derived parameters, by parameter."""
    faults: dict[str, str] = {}
    for parameter in sweep.inputs:
        values = derived.get(parameter.name, np.empty(0)).ravel()
        if (index := first_outside(values, parameter)) is not None:
            faults[parameter.name] = (
                f"{sweep.derived[parameter.name]} is {float(values[index])!r}; it has to be "
                f"{requirement(parameter)}"
            )
    return faults
