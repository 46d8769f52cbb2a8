"""What the results of a sweep look like, on disk as in memory: variables, attributes, their order.

Outputs and status have the sweep's dimensions. A parameter on an axis is a coordinate along it
(the dimension's own, if it bears the name of the axis), every other one a scalar coordinate.
Nothing here depends on when or where a sweep is run: a store made again has the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep import __version__
from sweep.plan import fingerprint, recipe
from sweep.spec import DTYPES, LEVEL, MISSING, Chunk, LongValues, Output, Parameter, Status, Sweep

CONVENTIONS = "CF-1.11"
MISSING_LEVEL = 255


@dataclass(frozen=True)
class Variable:
    """One array of a store: its name, dimensions, type, missing value and CF attributes."""

    name: str
    dimensions: tuple[str, ...]
    dtype: np.dtype[Any]
    missing: float | int
    attributes: Mapping[str, Any]


def results(sweep: Sweep) -> list[Variable]:
    """The outputs asked for in the order of the model's table, and status last."""
    asked = {output.name for output in sweep.outputs}
    outputs = [output for output in sweep.model.outputs if output.name in asked]
    return [*(_output(output, sweep) for output in outputs), _status(sweep)]


def coordinates(sweep: Sweep) -> list[tuple[Variable, LongValues | NDArray[Any]]]:
    """Every parameter of the sweep as a coordinate, with its values; those on axes come first.

    Of refined points, their levels stand beside.
    """
    table = {parameter.name: parameter for parameter in sweep.parameters}
    along: list[tuple[Variable, LongValues | NDArray[Any]]] = [
        (_coordinate(table[name], (axis.name,)), values)
        for axis in sweep.axes
        for name, values in axis.columns.items()
    ]
    single = [
        (_coordinate(table[name], ()), np.array(value)) for name, value in sweep.constants.items()
    ]
    levels = [(_level(axis.name), axis.levels) for axis in sweep.axes if axis.levels is not None]
    return [*along, *single, *levels]


def attributes(sweep: Sweep, provenance: Mapping[str, object]) -> dict[str, Any]:
    """What the whole is, where it comes from, and what would make it again; texts and numbers only.

    Provenance is the caller's, and has to be the same whenever and wherever the sweep is run. Of a
    store that is made longer it has the revision, which stays.
    """
    made_from = recipe(sweep)
    own = {
        "Conventions": CONVENTIONS,
        "title": sweep.model.title,
        "source": f"tribosweep {__version__}",
        "references": sweep.model.source,
        "model": sweep.model.name,
        "method": sweep.method.name,
        "revision": provenance.get("revision", sweep.method.revision),
        "fingerprint": fingerprint(made_from),
        "recipe": json.dumps(made_from, sort_keys=True),
    }
    return json.loads(json.dumps({**provenance, **own}))


def parts(
    variables: Sequence[Variable], arrays: Mapping[str, NDArray[Any]], chunk: Chunk
) -> dict[str, NDArray[Any]]:
    """A chunk as it is stored, status last: arrays of the variables' types and the chunk's shape.

    Raises ValueError if an array is not of the chunk's size, or a point is still pending.
    """
    if arrays["status"].max(initial=0) == Status.pending:  # the greatest there is
        raise ValueError(f"chunk {chunk.index} has points that are still pending")
    return {v.name: _part(v, arrays[v.name], chunk) for v in variables}


def ordered(dataset: xr.Dataset) -> xr.Dataset:
    """The same Dataset, its variables in the order of the recipe, whatever order they came in."""
    made_from = json.loads(dataset.attrs["recipe"])
    along = [name for axis in made_from["axes"] for name in axis["parameters"]]
    single = sorted({str(name) for name in dataset.coords} - set(along))
    return xr.Dataset(
        {name: dataset.variables[name] for name in (*made_from["outputs"], "status")},
        {name: dataset.variables[name] for name in (*along, *single)},
        dataset.attrs,
    )


def _part(variable: Variable, array: NDArray[Any], chunk: Chunk) -> NDArray[Any]:
    if array.size != chunk.n_points:
        raise ValueError(f"{variable.name}: {array.size} values for {chunk.n_points} points")
    with np.errstate(over="ignore"):  # beyond float32 is inf, as asked for
        return array.reshape(chunk.shape).astype(variable.dtype, copy=False)


def _output(output: Output, sweep: Sweep) -> Variable:
    dtype = sweep.dtype if output.kind == "real" else np.dtype(DTYPES[output.kind]).name
    meaning: dict[str, Any] = {"units": output.unit}
    if output.kind == "flag":
        meaning = _flags(dict(enumerate(output.flags)))
    described = {"long_name": output.long_name, **meaning}
    return _result(output.name, dtype, MISSING[output.kind], described, sweep)


def _status(sweep: Sweep) -> Variable:
    sentences = "; ".join(f"{s.name}: {text}" for s, text in sorted(sweep.model.sentences.items()))
    names = {status.value: status.name for status in Status}
    described = {"long_name": "how the point ended", **_flags(names), "comment": sentences}
    return _result("status", "uint8", Status.pending.value, described, sweep)


def _flags(names: Mapping[int, str]) -> dict[str, Any]:
    return {"flag_values": list(names), "flag_meanings": " ".join(names.values())}


def _result(
    name: str, dtype: str, missing: float, described: Mapping[str, Any], sweep: Sweep
) -> Variable:
    """An array over the whole grid; it names the coordinates that are not its dimensions' own."""
    others = [c.name for c, _ in coordinates(sweep) if c.dimensions != (c.name,)]
    named = {"coordinates": " ".join(others)} if others else {}
    return Variable(name, sweep.dimensions, np.dtype(dtype), missing, {**described, **named})


def _level(dimension: str) -> Variable:
    described = {"long_name": "how often the grid was halved there", "units": "1"}
    return Variable(LEVEL, (dimension,), np.dtype(np.uint8), MISSING_LEVEL, described)


def _coordinate(parameter: Parameter, dimensions: tuple[str, ...]) -> Variable:
    described = {"long_name": parameter.meaning, "units": parameter.unit}
    return Variable(parameter.name, dimensions, np.dtype(np.float64), np.nan, described)
