"""A Sweep from the tables of a sweep file and the table of its model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import cast

from sweep.errors import FaultError
from sweep.file.derived_table import check_derived
from sweep.file.draft import Draft, Sample
from sweep.file.excitation import check_ends, excitation_of
from sweep.file.keys import TOP_LEVEL
from sweep.file.parameter_sets import parameter_set_of
from sweep.file.quantities import amount
from sweep.model.table import Model, NotAllZero, Output, Parameter, ParameterSet
from sweep.request.sweeps import Axis, Sweep
from sweep.text.reader import Table
from sweep.text.wording import listed, written


def sweep_of(
    draft: Draft, sample: Sample, axes: tuple[Axis, ...], derived: Mapping[str, str]
) -> tuple[Sweep | None, tuple[Output, ...] | None]:
    """The sweep and its outputs, each unless one of its parts is faulty."""
    model, method, dtype = draft.model, draft.method, draft.top.value("dtype", TOP_LEVEL["dtype"])
    given, constants = _given(draft, sample), _constants(draft)
    if model is None or not sample.is_complete:  # what seems to be missing may be in its file
        return None, _outputs(draft, None)
    parameter_set, substitutes = parameter_set_of(model, given, draft.parameters)
    outputs = _outputs(draft, parameter_set)
    table, free = excitation_of(draft, model, given, parameter_set)
    replaced = {n: text for each in substitutes for n, text in each.derived.items()}
    required = (
        *model.parameters,
        *(parameter_set.parameters if parameter_set else ()),
        *(method.parameters if method else ()),
        *{p.name: p for each in substitutes for p in each.parameters}.values(),
        *(model.stage.parameters if model.stage else ()),
    )
    constants = _completed(draft, model, {*given, *replaced}, required, constants | free)
    check_ends(draft, model, table, constants, axes)
    _check_relations(draft.parameters, model, constants)
    if draft.wear:
        draft.wear.check(constants)
    tables = (*given.values(), draft.parameters, draft.derived)
    is_faulty = any(
        each.is_faulty for each in (*tables, *([draft.wear.table] if draft.wear else ()))
    )
    if is_faulty or len(axes) < len(draft.along) + bool(sample.names):
        return None, outputs
    if method is None or parameter_set is None or outputs is None:
        return None, outputs
    sweep = Sweep(
        model=model,
        method=method,
        parameter_set=parameter_set,
        constants=constants,
        axes=axes,
        outputs=outputs,
        dtype=dtype,
        derived={**derived, **replaced},
        table=table,
    )
    check_derived(draft, sweep)
    return sweep, outputs


def _given(draft: Draft, sample: Sample) -> dict[str, Table]:
    """The table in which each parameter is given, except one over time.

    A parameter that is given twice is a fault at the later place.
    """
    along = [name for axis in draft.along for name in draft.names_along(axis)]
    places = [(draft.wear.table, draft.wear.names)] if draft.wear else []
    places += [(draft.parameters, [*draft.parameters.mapping])]
    places += [(table, draft.names_along(axis)) for axis, table in draft.along.items()]
    places += [(draft.sample, [*sample.names])] if draft.sample else []
    given: dict[str, list[Table]] = {}
    for table, names in (*places, (draft.derived, [*draft.derived.mapping])):
        for name in names:
            earlier = [f"[{each.name.partition('.')[0]}]" for each in given.get(name, ())]
            if along.count(name) > 1 and table in draft.along.values():
                table.fault(name, "given along several axes", "keep one of them")
            elif earlier:
                table.fault(name, f"also given under {listed(earlier)}", "keep one of them")
            given[name] = [*given.get(name, ()), table]
    if draft.excitation:
        del given[draft.excitation.parameter]
    return {name: tables[0] for name, tables in given.items()}


def _outputs(draft: Draft, parameter_set: ParameterSet | None) -> tuple[Output, ...] | None:
    """The requested outputs in the model's order; by default, all that the set defines.

    None if they are faulty.
    """
    table, requested = draft.top, draft.top.value("outputs", TOP_LEVEL["outputs"])
    outputs = draft.model.outputs if draft.model else ()
    if requested is None and table.has("outputs"):
        return None
    undefined = {
        output.name: output.parameter_sets
        for output in outputs
        if parameter_set is not None and not parameter_set.has(output)
    }
    if requested is None:
        return tuple(each for each in outputs if each.name not in undefined) or None
    names = [output.name for output in outputs]
    if not requested:
        choices = f", or choose from {listed(names)}" if names else ""
        table.fault("outputs", "empty", f"remove it for all outputs{choices}")
    wrong = {"status": ("'status' is always stored", "remove it here")}
    for name, sets in undefined.items():
        cure = f"give the parameters of {listed(sets)}, or remove the output"
        wrong[name] = (f"{name!r} is not defined by these parameters", cure)
    table.names("outputs", requested, names or None, wrong)
    is_clear = bool(requested) and {*requested} <= {*names} - {*wrong}
    return tuple(each for each in outputs if each.name in requested) if is_clear else None


def _constants(draft: Draft) -> dict[str, float]:
    """The correct ones of the parameters with one value, in SI units."""
    table, constants = draft.parameters, dict[str, float]()
    for name in draft.single:
        if parameter := (draft.known or {}).get(name):
            value = table.read(name, _constant, table.mapping[name], parameter)
            constants |= {} if value is None else {name: value}
    return constants | (draft.wear.constants() if draft.wear else {})


def _constant(value: object, parameter: Parameter) -> float:
    if isinstance(value, (list, dict)):
        cure = f"for several values, write {parameter.name} = {{ values = [...] }} under [axes]"
        raise FaultError(f"{written(cast(object, value))} is not one number", cure)
    return amount(value, parameter)


def _completed(
    draft: Draft,
    model: Model,
    names: Collection[str],
    required: Sequence[Parameter],
    constants: Mapping[str, float],
) -> dict[str, float]:
    """The constants in the order of the kernel's struct, with defaults.

    A parameter that is misspelt somewhere is not missing, too.
    """
    completed: dict[str, float] = {}
    for parameter in required:
        name = parameter.name
        if name in constants:
            completed[name] = constants[name]
        elif parameter.default is not None and name not in names:
            completed[name] = float(parameter.default)
        elif name in names or name in draft.top.faults.meant:
            continue
        elif draft.wear and parameter in draft.wear.by_key.values():
            draft.wear.missing(name)
        else:
            unit = "a plain number" if parameter.unit == "1" else f"in {parameter.unit}"
            cure = f"give it here or under [axes], {unit}{_in_place_of(model, name)}"
            draft.parameters.fault(name, f"missing ({parameter.meaning})", cure)
    return completed


def _in_place_of(model: Model, name: str) -> str:
    """What to give in place of a missing parameter, as the end of a message."""
    names = [p.name for each in model.substitutes if name in each.derived for p in each.parameters]
    return f", or {listed(list(dict.fromkeys(names)))} in its place" if names else ""


def _check_relations(table: Table, model: Model, constants: Mapping[str, float]) -> None:
    """Check relations between constants; what breaks along an axis is the status of a point."""
    for relation in model.relations:
        if isinstance(relation, NotAllZero):
            if all(constants.get(name) == 0 for name in relation.parameters):
                what = f"{listed(relation.parameters)} are all 0: {relation.reason}"
                table.fault(relation.parameters[0], what)
        elif {relation.lesser, relation.greater} <= constants.keys():
            lesser, greater = constants[relation.lesser], constants[relation.greater]
            if lesser >= greater:
                cure = f"it has to be less than {relation.greater} = {greater!r}"
                table.fault(relation.lesser, f"{lesser!r}: {relation.reason}", cure)
