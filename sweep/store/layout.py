"""The layout of results, on disk and in memory: variables, attributes and their order.

Outputs and status have the sweep's dimensions. A parameter on an axis is a coordinate along it, and
the coordinate of the dimension itself if it has the name of the axis; every other parameter is a
scalar coordinate. A derived parameter that varies along several axes is computed where results are
read. Nothing depends on when or where a sweep is run: a store made again has the same bytes.

Counts are stored as integers and read as float64 with NaN where one is missing, as xarray decodes
arrays with the CF attribute `_FillValue`; NaN keeps missing counts out of sums and means. The
encoding of a variable that was read says that it holds counts, and of which type. Stores of earlier
versions lack the attribute and read the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.equations.derived import in_order, inputs, value_of
from sweep.model.table import (
    DTYPES,
    MISSING,
    MISSING_COUNT,
    Labels,
    Output,
    Parameter,
    Status,
    every_parameter,
)
from sweep.points.columns import derived_dimensions, derived_values
from sweep.points.recipes import fingerprint, model_in, outputs_in, recipe
from sweep.request.chunk import Chunk, Values
from sweep.request.sweeps import LEVEL, VALUES_IN_MEMORY, AnySweep, LongValues, Reduced, Sweep
from sweep.version import __version__

CONVENTIONS = "CF-1.11"
MISSING_LEVEL = 255
REDUCED = "reduced"  # the group with the values of axes along which points are reduced
STEP = "stretch"  # attribute of a reduced store: the points of a step of blocks and nodes
ENDS = "refined"  # attribute of a refined store that has all of its points
WEAR = "wear"  # attribute with [wear] of the sweep file, as JSON; no value depends on it
FILL_VALUE = "_FillValue"
KINDS = ("count", "number")  # of outputs that are counts


@dataclass(frozen=True)
class Variable:
    """An array of a store: its name, dimensions, type, missing value and CF attributes."""

    name: str
    dimensions: tuple[str, ...]
    dtype: np.dtype[Any]
    missing: float | int | str
    attributes: Mapping[str, Any]
    planes: tuple[str, ...] = ()  # the arrays with its values, if each point has several
    inner_shape: tuple[int, ...] = ()  # of its values at one point

    @property
    def point_bytes(self) -> int:
        """The bytes of its values at one point."""
        return self.dtype.itemsize * math.prod(self.inner_shape)


def results(sweep: AnySweep) -> list[Variable]:
    """The requested outputs in the order of the model's table, or statistics; then the status."""
    order = [output.name for output in sweep.points.model.outputs]
    outputs = sweep.grid.outputs
    if not isinstance(sweep, Reduced):
        outputs = sorted(outputs, key=lambda output: order.index(output.name))
    return [*(_output(output, sweep) for output in outputs), _status(sweep)]


def coordinates(sweep: AnySweep) -> list[tuple[Variable, LongValues | NDArray[Any]]]:
    """Every parameter of the sweep as a coordinate with its values; those on axes come first.

    Refined points have their levels as another coordinate, and statistics their labels. A derived
    parameter that varies along several axes is added by `with_derived` where results are read.
    Parameters that were reduced have none.
    """
    table = {parameter.name: parameter for parameter in sweep.points.inputs}
    along: list[tuple[Variable, LongValues | NDArray[Any]]] = [
        (_coordinate(table[name], (axis.name,)), values)
        for axis in sweep.grid.axes
        for name, values in axis.columns.items()
    ]
    single = [
        (_coordinate(table[name], ()), np.array(value))
        for name, value in sweep.points.constants.items()
    ]
    derived = [
        (_coordinate(table[name], dimensions), values)
        for name, (dimensions, values) in stored_columns(sweep).items()
    ]
    halved = {"long_name": "how often the grid was halved there", "units": "1"}
    levels = [
        (Variable(LEVEL, (axis.name,), np.dtype(np.uint8), MISSING_LEVEL, halved), axis.levels)
        for axis in sweep.grid.axes
        if axis.levels is not None
    ]
    labels = {e.name: e for output in sweep.grid.outputs for e in (*output.over, *output.labels)}
    more = [
        (replace(variable, dimensions=(each.name,)), values)
        for each in labels.values()
        if each.also is not None
        for variable, values in [label(each.also)]
    ]
    return [*along, *single, *derived, *levels, *map(label, labels.values()), *more]


def attributes(sweep: AnySweep, provenance: Mapping[str, object]) -> dict[str, Any]:
    """The attributes of the Dataset: title, origin and recipe, as texts and numbers.

    The caller's provenance must be the same whenever and wherever the sweep is run. Its revision,
    if it has one, is kept: it is that of a store which is extended.
    """
    made_from, points = recipe(sweep), sweep.points
    own_attributes = {
        "Conventions": CONVENTIONS,
        "title": points.model.title,
        "source": f"tribosweep {__version__}",
        "references": points.model.source,
        "model": points.model.name,
        "method": points.method.name,
        "revision": provenance.get("revision", points.method.revision),
        "fingerprint": fingerprint(made_from),
        "recipe": json.dumps(made_from, sort_keys=True),
    }
    return json.loads(json.dumps({**provenance, **own_attributes}))


def of_wear(table: Mapping[str, object] | None) -> dict[str, str]:
    """The attribute with [wear] of the sweep file; none without that."""
    return {WEAR: json.dumps(table)} if table else {}


def parts(
    variables: Sequence[Variable], arrays: Mapping[str, NDArray[Any]], chunk: Chunk
) -> dict[str, NDArray[Any]]:
    """A chunk as it is stored: arrays of the variables' types and the chunk's shape, status last.

    Raises ValueError if an array has another size than the chunk, or if a point is pending.
    """
    if arrays["status"].max(initial=0) == Status.pending:  # the largest code
        raise ValueError(f"chunk {chunk.index} has points that are still pending")
    return {v.name: _part(v, arrays, chunk) for v in variables}


def ordered(dataset: xr.Dataset) -> xr.Dataset:
    """The same Dataset with its variables in the order of the recipe."""
    made_from = json.loads(dataset.attrs["recipe"])
    along = [name for axis in made_from["axes"] for name in axis["parameters"]]
    single = sorted({str(name) for name in dataset.coords} - set(along))
    names = made_from["outputs"]
    if "reduce" in made_from:
        names = [output.name for output in outputs_in(dataset.attrs)]
        names = names or sorted({str(name) for name in dataset.data_vars} - {"status"})
    return xr.Dataset(
        {name: dataset.variables[name] for name in (*names, "status")},
        {name: dataset.variables[name] for name in (*along, *single)},
        dataset.attrs,
    )


def _part(variable: Variable, arrays: Mapping[str, NDArray[Any]], chunk: Chunk) -> NDArray[Any]:
    planes = [arrays[name] for name in variable.planes or (variable.name,)]
    if any(plane.size != chunk.n_points for plane in planes):
        raise ValueError(f"{variable.name}: {planes[0].size} values for {chunk.n_points} points")
    array = np.stack(planes, axis=-1) if variable.planes else planes[0]
    with np.errstate(over="ignore"):  # values beyond float32 become inf
        return array.reshape(chunk.shape + variable.inner_shape).astype(variable.dtype, copy=False)


def _output(output: Output, sweep: AnySweep) -> Variable:
    dtype = sweep.grid.dtype if output.kind == "real" else np.dtype(DTYPES[output.kind]).name
    meaning: dict[str, Any] = {"units": output.unit}
    if output.kind == "flag":
        meaning = flags(dict(enumerate(output.flags)))
    if output.kind in KINDS:
        meaning[FILL_VALUE] = MISSING_COUNT
    attributes = {"long_name": output.long_name, **meaning}
    variable = _result(output.name, dtype, MISSING[output.kind], attributes, sweep)
    if not output.inner_shape:
        return variable
    dimensions = variable.dimensions + output.inner_dimensions
    return replace(
        variable, dimensions=dimensions, planes=output.planes, inner_shape=output.inner_shape
    )


def _status(sweep: AnySweep) -> Variable:
    names = {status.value: status.name for status in Status}
    attributes = {"long_name": "how the point ended", **flags(names)}
    return _result("status", "uint8", Status.pending.value, attributes, sweep)


def flags(names: Mapping[int, str]) -> dict[str, Any]:
    """The CF attributes of a flag, from the names of its codes."""
    return {"flag_values": list(names), "flag_meanings": " ".join(names.values())}


def _result(
    name: str, dtype: str, missing: float, attributes: Mapping[str, Any], sweep: AnySweep
) -> Variable:
    """An array over the grid; CF wants it to name coordinates that no dimension is named after."""
    coordinate_names = [c.name for c, _ in coordinates(sweep) if c.dimensions != (c.name,)]
    coordinate_attributes = {"coordinates": " ".join(coordinate_names)} if coordinate_names else {}
    return Variable(
        name,
        sweep.grid.dimensions,
        np.dtype(dtype),
        missing,
        {**attributes, **coordinate_attributes},
    )


def label(labels: Labels) -> tuple[Variable, NDArray[Any]]:
    """The coordinate of labels and its values."""
    attributes = {"long_name": labels.meaning}
    if isinstance(labels.values[0], str):
        names = np.array(labels.values, np.dtypes.StringDType())
        return Variable(labels.name, (labels.name,), names.dtype, "", attributes), names
    values = np.array(labels.values)
    attributes["units"] = labels.unit
    missing = -1 if values.dtype.kind == "i" else np.nan
    return Variable(labels.name, (labels.name,), values.dtype, missing, attributes), values


def _coordinate(parameter: Parameter, dimensions: tuple[str, ...]) -> Variable:
    attributes = {"long_name": parameter.meaning, "units": parameter.unit}
    return Variable(parameter.name, dimensions, np.dtype(np.float64), np.nan, attributes)


def is_count(variable: xr.DataArray | xr.Variable) -> bool:
    """Whether a variable holds counts as they were read, not what was computed from them."""
    return variable.encoding.get(FILL_VALUE) == MISSING_COUNT


def holds_counts(stored: xr.Variable) -> bool:
    """Whether a variable of a store, not decoded yet, holds counts: all signed integers do."""
    return cast("np.dtype[Any]", stored.dtype).kind == "i"


def encoding_of(dtype: np.dtype[Any]) -> dict[str, Any]:
    """The encoding of a variable that was read from counts of this type."""
    return {FILL_VALUE: MISSING_COUNT, "dtype": dtype}


def decoded(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Stored counts as float64, NaN where one is missing; exact up to 2**53."""
    return np.where(counts == MISSING_COUNT, np.nan, counts)


def as_stored(variable: xr.DataArray | xr.Variable) -> NDArray[Any]:
    """The values of a variable as they are stored: integers, if they are counts."""
    values = variable.to_numpy()
    if not is_count(variable):
        return values
    return np.where(np.isnan(values), MISSING_COUNT, values).astype(variable.encoding["dtype"])


def without_fill_value(attributes: Mapping[Any, Any]) -> dict[Any, Any]:
    """The attributes that a variable has once it is decoded."""
    return {name: value for name, value in attributes.items() if name != FILL_VALUE}


def stored_columns(sweep: AnySweep) -> dict[str, tuple[tuple[str, ...], LongValues | Values]]:
    """The derived parameters that vary along at most one dimension: dimensions and values."""
    columns: dict[str, tuple[tuple[str, ...], LongValues | Values]] = {}
    of_results = sweep.points.with_axes(sweep.grid.axes)
    for name, along in derived_dimensions(of_results).items():
        column = DerivedColumn(of_results, name, along)
        if not along:
            columns[name] = along, column[:].reshape(())
        elif len(along) == 1:
            columns[name] = along, column if len(column) > VALUES_IN_MEMORY else column[:]
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
