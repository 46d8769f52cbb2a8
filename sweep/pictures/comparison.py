"""Errors of one method against another, computed at the same points."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, cast

import numpy as np
import xarray as xr

from sweep.engine.loop import Report
from sweep.engine.loop import run as run_engine
from sweep.errors import FaultError, SweepError
from sweep.file.quantities import number, value_of
from sweep.file.sweep_file import plain
from sweep.model.table import Parameter
from sweep.pictures.labels import point_text, with_codes
from sweep.pictures.relative_errors import error_name, errors
from sweep.pictures.slices import Slice
from sweep.points.recipes import model_of, table_of
from sweep.request.chunk import Values
from sweep.request.sweeps import Axis, Sweep
from sweep.results.summary import coded, is_flag
from sweep.store import Arrays, open_results, target_of
from sweep.text.wording import listed, nearest, shown

Named = TypeVar("Named")

CHUNKS = 64  # enough to occupy all processors
NOT_COMPARED = (
    "no output of the model with one value at each point or element of an index, which errors are "
    "of: compare the sweep that statistics or wear come from"
)
MIN_COMPARED_POINTS, MAX_COMPARED_POINTS = 64, 2**16


def compare(
    results: xr.Dataset | str | Path,
    method: str = "exact",
    parameters: Mapping[str, float | str] | None = None,
) -> xr.Dataset:
    """The errors of results, a Dataset or the path of a store, against another method.

    The reference method of the same model is run in memory at the same points, only once along
    axes that it has no parameter for (a time step). It gets its parameters from `parameters` (SI
    units, or text with a unit), otherwise from the results, otherwise from its defaults. Raises
    SweepError if a parameter has no value, or one that is not allowed.

    For each output `x` with one value at each point, or one for each element of an index, the
    Dataset has `x_error`. It is the relative error |x - reference| / |reference|; where the
    reference is 0, it is relative to the largest reference. For a flag it is 1 where the classes
    differ, otherwise 0. `status` is the status of the results, or of the reference where the
    results are ok. Points that are not ok have no error: NaN, or 255 for a flag, so use
    `.where(errors.status == 0)` before `.max()`. Results stored as float32 also have the error of
    their rounding. The attribute `against_parameters` names the parameters of the reference that
    are given or that the results lack.
    """
    if not isinstance(cast(object, method), str):
        raise SweepError(
            f"{shown(method)} is not the name of a method: results are "
            "compared with another method of their model, which is run at the same points, such as "
            'compare(results, "exact")'
        )
    dataset = open_results(results) if isinstance(results, str | Path) else results
    expected = reference(dataset, method, parameters)
    return _errors(coded(dataset), expected, parameters)


def compare_slice(
    shown: Slice,
    method: str,
    parameters: Mapping[str, float | str] | None = None,
    report: Report | None = None,
) -> Slice:
    """The slice of the error of what a slice shows, with the flags of the reference.

    `report` is called with the progress of the reference. SweepError as for `compare`, and for a
    status.
    """
    if shown.name == "status":
        raise SweepError("a status has no error: name another output")
    if shown.has_several_values:
        raise SweepError(
            f"{shown.name} has several values at each point and so no error: name another output"
        )
    sweep = reference_sweep(shown.dataset, method, parameters)
    if shown.name not in [output.name for output in sweep.outputs]:
        raise SweepError(f"{shown.name} is {NOT_COMPARED}")
    expected = with_codes(reference(shown.dataset, method, parameters, report))
    labels = {
        dim: shown.dataset[dim].item()
        for dim in expected.dims
        if dim in shown.dataset.coords and not shown.dataset[dim].ndim
    }
    expected = expected.sel(labels)
    dataset = _errors(shown.dataset, expected, parameters)[[error_name(shown.name), "status"]]
    dataset = dataset.assign_attrs(recipe=shown.dataset.attrs["recipe"])
    if not is_flag(shown.output):
        names = [name for name in expected.data_vars if is_flag(expected[name])]
        status = dataset["status"]
        flags = expected[names].reset_coords(drop=True).broadcast_like(status)
        dataset = dataset.assign(flags.transpose(*status.dims))
    name = error_name(shown.name)
    return replace(shown, dataset=dataset, name=name, view=shown.view.renamed(shown.name, name))


def _errors(
    dataset: xr.Dataset, expected: xr.Dataset, parameters: Mapping[str, float | str] | None
) -> xr.Dataset:
    """The errors, with the parameters of the reference that are given, or not in the results."""
    chosen = parameters or {}
    others = [str(name) for name in dataset.coords if name not in chosen]
    text = point_text(expected, without=others, always=chosen).replace("\N{NO-BREAK SPACE}", " ")
    return errors(dataset, expected).assign_attrs({"against_parameters": text} if text else {})


def reference(
    dataset: xr.Dataset,
    method: str,
    parameters: Mapping[str, float | str] | None = None,
    report: Report | None = None,
) -> xr.Dataset:
    """The results of a method at a Dataset's points; SweepError as for `compare`."""
    sweep = reference_sweep(dataset, method, parameters)
    chunk_points = min(max(sweep.n_points // CHUNKS, MIN_COMPARED_POINTS), MAX_COMPARED_POINTS)
    results = Arrays(sweep, chunk_points=chunk_points)
    run_engine(target_of(results), report=report)
    return results.dataset()


def reference_sweep(
    dataset: xr.Dataset, method: str, parameters: Mapping[str, float | str] | None = None
) -> Sweep:
    """The sweep of a method at a Dataset's points, without axes that it has no parameter for.

    SweepError as for `compare`.
    """
    sweep = _without_values(dataset, method)
    if not dataset["status"].size:
        raise SweepError("nothing to compare: these results have no points; select at least one")
    known = {parameter.name: parameter for parameter in sweep.inputs}
    parameter_values = _parameter_values(method, parameters or {}, known)
    coordinates = {
        name: dataset[name]
        for name in known
        if name in dataset.coords and name not in parameter_values
    }
    constants = {name: each.default for name, each in known.items() if each.default is not None}
    constants |= {n: float(value) for n, value in coordinates.items() if not value.ndim}
    constants |= parameter_values
    axes = _axes(dataset, {n: values for n, values in coordinates.items() if values.ndim == 1})
    texts: Mapping[str, str] = json.loads(dataset.attrs["recipe"]).get("derived", {})
    derived = {name: texts[name] for name, values in coordinates.items() if values.ndim > 1}
    varied = {name: values[:] for axis in axes for name, values in axis.columns.items()}
    varied |= {name: coordinates[name].values.ravel() for name in derived}
    single = {name: constants[name] for name in known if name in constants and name not in varied}
    _check(sweep, {n: np.array([value]) for n, value in single.items()} | varied)
    return replace(sweep, constants=single, axes=axes, derived=derived)


def _parameter_values(
    method: str, parameters: Mapping[str, float | str], known: Mapping[str, Parameter]
) -> dict[str, float]:
    """The values of `parameters` in SI units; SweepError if the method does not have one."""
    if not isinstance(cast(object, parameters), Mapping):
        raise SweepError(
            f"parameters={shown(parameters)} is not a mapping. Give values by name, as a dict"
        )
    parameter_values: dict[str, float] = {}
    for name, value in parameters.items():
        if name not in known:
            raise SweepError(f"method {method!r} takes no {name!r}; {nearest(str(name), known)}")
        try:
            plain_value = value_of(value) if isinstance(value, str) else plain(value)
            parameter_values[name] = number(plain_value, known[name])
        except FaultError as error:
            raise SweepError(f"{name}: {error}") from None
    return parameter_values


def _without_values(dataset: xr.Dataset, method: str) -> Sweep:
    """The sweep with its model, method, parameter set and outputs only."""
    attributes: Mapping[str, object] = getattr(dataset, "attrs", {})
    if not {"model", "recipe"} <= set(attributes):
        raise SweepError(
            "these are not results of a sweep, because they do not name their model: pass the "
            "Dataset that sweep.run returns"
        )
    if "status" not in dataset:
        raise SweepError(
            "these results lack the status of their points: keep the variable `status`"
        )
    recipe = json.loads(dataset.attrs["recipe"])
    table = table_of(recipe)
    model = model_of({**recipe, "model": str(dataset.attrs["model"])})
    parameter_set = str(recipe["parameter_set"])
    sets = {each.name: each for each in model.parameter_sets}
    if table and model.excitation and method not in model.excitation.methods:
        able = listed(list(model.excitation.methods))
        raise SweepError(
            f"method {method!r} needs a sinusoid, and these results have a table of "
            f"{model.excitation.parameter}: compare with method {able}"
        )
    outputs = tuple(o for o in model.outputs if o.name in dataset.data_vars and not o.values)
    if not outputs and len(dataset.data_vars) > 1:
        raise SweepError(f"these results have {NOT_COMPARED}")
    return Sweep(
        model=model,
        method=_called("method", method, {each.name: each for each in model.methods}),
        parameter_set=_called("parameter set", parameter_set, sets),
        constants={},
        axes=(),
        table=table,
        outputs=outputs,
    )


def _called(kind: str, name: str, choices: Mapping[str, Named]) -> Named:
    if name not in choices:
        cure = nearest(str(name), choices)
        raise SweepError(f"there is no {kind} {name!r} to compare with; {cure}")
    return choices[name]


def _axes(dataset: xr.Dataset, along: Mapping[str, xr.DataArray]) -> tuple[Axis, ...]:
    """The Dataset's dimensions along which some of these parameters vary, in its order."""
    columns: dict[str, dict[str, Values]] = {}
    for name, values in along.items():
        (dimension,) = map(str, values.dims)
        columns.setdefault(dimension, {})[name] = values.values.astype(np.float64)
    order = [str(name) for name in dataset["status"].dims if name in columns]
    return tuple(
        Axis(name, columns[name], {n: v.tolist() for n, v in columns[name].items()})
        for name in order
    )


def _check(sweep: Sweep, values: Mapping[str, Values]) -> None:
    """SweepError unless each parameter has allowed values; NaN is allowed for derived ones."""
    method = sweep.method.name
    missing = [p.name for p in sweep.parameters if p.name not in values]
    if missing:
        them = "it" if len(missing) == 1 else "them"
        raise SweepError(
            f"method {method!r} needs {listed(missing)}, which these results lack: give {them} "
            f"among its parameters"
        )
    for parameter in sweep.parameters:
        column = values[parameter.name]
        is_absent = parameter.derived or parameter.name in sweep.replaced_by_table
        column = column[~np.isnan(column)] if is_absent else column
        outside = parameter.first_outside(column)
        if outside is not None:
            raise SweepError(
                f"method {method!r} cannot take {parameter.name} = {float(column[outside])!r} from "
                f"these results: {parameter.requirement}"
            )
