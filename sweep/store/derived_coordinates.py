"""Derived parameters as coordinates: along one axis stored, along several computed when read."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.equations.derived import in_order, inputs, value_of
from sweep.plan.point_columns import derived_dimensions, derived_values
from sweep.plan.recipes import model_in
from sweep.request import STRETCH, AnySweep, LongValues, Sweep
from sweep.spec import every_parameter
from sweep.work import Values


def stored_columns(sweep: AnySweep) -> dict[str, tuple[tuple[str, ...], LongValues | Values]]:
    """The derived parameters that vary along at most one dimension: dimensions and values."""
    columns: dict[str, tuple[tuple[str, ...], LongValues | Values]] = {}
    of_results = sweep.points.with_axes(sweep.grid.axes)
    for name, along in derived_dimensions(of_results).items():
        column = DerivedColumn(of_results, name, along)
        if not along:
            columns[name] = along, column[:].reshape(())
        elif len(along) == 1:
            columns[name] = along, column if len(column) > STRETCH else column[:]
    return columns


@dataclass(frozen=True, eq=False)
class DerivedColumn:
    """The values of a derived parameter along an axis, computed where they are read."""

    sweep: Sweep
    name: str
    along: tuple[str, ...]

    def __len__(self) -> int:
        return math.prod(axis.size for axis in self.sweep.axes if axis.name in self.along)

    def __getitem__(self, part: slice, /) -> Values:
        first = slice(0, 1)
        slices = [part if axis.name in self.along else first for axis in self.sweep.axes]
        return derived_values(self.sweep, slices)[self.name].ravel()


def with_derived(dataset: xr.Dataset) -> xr.Dataset:
    """The same Dataset with the derived parameters that are not stored, as lazy as its status."""
    texts: dict[str, str] = json.loads(dataset.attrs["recipe"]).get("derived", {})
    chunks = dataset["status"].variable.chunksizes
    for name in in_order(texts):
        needed = inputs(texts[name])
        if name in dataset.coords or not dataset.coords.keys() >= set(needed):
            continue
        arguments = [_chunked(dataset[each].variable, chunks) for each in needed]
        variable: xr.Variable = xr.apply_ufunc(
            partial(_value, texts[name], needed),
            *arguments,
            dask="parallelized",
            output_dtypes=[np.float64],
        )
        along = [each for each in dataset["status"].dims if each in variable.dims]
        variable = variable.transpose(*along)
        variable.attrs = _attributes(name, dataset.attrs)
        dataset = dataset.assign_coords({name: variable})
    return dataset


def _chunked(variable: xr.Variable, chunks: Mapping[Hashable, Any]) -> xr.Variable:
    """The variable in chunks like those of the status along the dimensions that it has."""
    own = {dimension: chunks[dimension] for dimension in variable.dims if dimension in chunks}
    return variable.chunk(own) if own else variable


def _value(text: str, names: Iterable[str], *values: NDArray[np.float64]) -> NDArray[np.float64]:
    return value_of(text, dict(zip(names, values, strict=True))) + 0.0


def _attributes(name: str, attributes: Mapping[str, Any]) -> dict[str, str]:
    """Meaning and unit of a parameter, from the table of the model."""
    model = model_in(attributes)
    for each in every_parameter(model) if model else ():
        if each.name == name:
            return {"long_name": each.meaning, "units": each.unit}
    return {}
