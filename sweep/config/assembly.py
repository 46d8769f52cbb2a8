"""A Sweep from the tables of a sweep file and the table of its model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from sweep.config.derived_table import check_derived
from sweep.config.draft import Draft, Sample, check_names
from sweep.config.excitation import check_excitation, check_length, check_signals, excitation_of
from sweep.config.quantities import amount
from sweep.config.substitutes import in_place_of, own_of, redundant_parameters, used
from sweep.errors import FaultError
from sweep.reader import Table
from sweep.request import Axis, Sweep
from sweep.spec import Model, NotAllZero, Output, Parameter, ParameterSet, Substitute
from sweep.wording import listed, written


def sweep_of(
    draft: Draft,
    sample: Sample,
    axes: tuple[Axis, ...],
    derived: Mapping[str, str],
    parameter_set: ParameterSet | None,
    outputs: tuple[Output, ...] | None,
) -> Sweep | None:
    """The sweep, unless one of its parts is faulty."""
    model, method, given = draft.model, draft.method, _constants(draft)
    table = excitation_of(draft) if draft.excitation else None
    if model is None or not sample.is_complete:  # what seems to be missing may be in its file
        return None
    names = given_names(draft, sample)
    substitutes = used(model, names, parameter_set)
    replaced = {n: text for each in substitutes for n, text in each.derived.items()}
    if draft.excitation:
        check_excitation(draft, draft.excitation, names, parameter_set)
        given |= _absent(model, draft.excitation.kernel, names)
    required = _required(draft, model, parameter_set, substitutes)
    constants = _completed(draft, model, (*names, *replaced), required, given)
    _check_parameters(draft, model, names, substitutes, constants)
    if draft.excitation and table:
        check_length(draft, draft.excitation, table, constants, axes)
    is_faulty = draft.parameters.is_faulty or draft.derived.is_faulty
    if is_faulty or len(axes) < len(draft.axes.mapping) + bool(sample.names):
        return None
    if method is None or parameter_set is None or outputs is None:
        return None
    sweep = Sweep(
        model=model,
        method=method,
        parameter_set=parameter_set,
        constants=constants,
        axes=axes,
        outputs=outputs,
        dtype=draft.values["dtype"],
        derived={**derived, **replaced},
        table=table,
    )
    check_derived(draft, sweep)
    return sweep


def given_names(draft: Draft, sample: Sample) -> list[str]:
    """The parameters that are given anywhere, except a table over time."""
    names = [*draft.single, *draft.on_axes, *sample.names, *draft.derived.mapping]
    return [*dict.fromkeys(names)]


def outputs_of(draft: Draft, parameter_set: ParameterSet | None) -> tuple[Output, ...] | None:
    """The requested outputs in the model's order; by default, all that the set defines.

    None if they are faulty.
    """
    table, requested = draft.top, draft.values["outputs"]
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
    check_names(table, "outputs", requested, names or None, wrong)
    is_clear = bool(requested) and {*requested} <= {*names} - {*wrong}
    return tuple(each for each in outputs if each.name in requested) if is_clear else None


def parameter_set_of(draft: Draft, sample: Sample) -> ParameterSet | None:
    """The one set that has all the given parameters of sets; if several do, the complete one.

    Substitutes belong to their sets, of which they complete parameters.
    """
    model, names = draft.model, [*given_names(draft, sample), *sorted(draft.top.faults.meant)]
    if model is None or not sample.is_complete:
        return None
    sets = {each.name: each for each in model.parameter_sets}
    whole = {n: [*(p.name for p in e.parameters), *own_of(model, n)] for n, e in sets.items()}
    in_sets = {name for names in whole.values() for name in names}
    members = [n for n in names if n in in_sets]
    present = {*members, *(name for each in used(model, members) for name in each.derived)}
    foreign = {name: [n for n in members if n not in names] for name, names in whole.items()}
    missing = {
        name: [p.name for p in each.parameters if p.default is None and p.name not in present]
        for name, each in sets.items()
    }
    lacking = {name: f"{name} lacks {listed(names)}" for name, names in missing.items()}
    fitting = [name for name in sets if not foreign[name]]
    complete = [name for name in fitting if not missing[name]]
    if complete or len(fitting) == 1:
        return sets[(complete or fitting)[0]]
    if 0 < len(fitting) < len(sets):
        rest = "; ".join(lacking[name] for name in fitting)
        draft.parameters.fault("", rest, "complete one of these sets")
        return None
    changes = {name: len(foreign[name]) + len(missing[name]) for name in sets}
    intended = [name for name in sets if changes[name] == min(changes.values())]
    if not fitting and len(intended) == 1:
        (name,) = intended
        rest = f": {lacking[name]}" if missing[name] else ""
        for each in foreign[name]:
            owners = " or ".join(owner for owner, names in whole.items() if each in names)
            what = f"belongs to set {owners}, the other parameters to {name}{rest}"
            draft.table_of(each).fault(each, what, "remove it")
        return None
    choices = " or ".join(
        f"{listed(p.name for p in each.parameters)} ({name})" for name, each in sets.items()
    )
    what = (
        "no set of parameters is given"
        if fitting
        else f"{listed(members)} belong to different sets"
    )
    draft.parameters.fault("", what, f"give exactly one of these sets: {choices}")
    return None


def _absent(model: Model, names: Iterable[str], given: Sequence[str]) -> dict[str, float]:
    """The defaults of these parameters if they are not given; NaN for one that has none."""
    parameters = (each for each in model.parameters if each.name in names)
    return {
        each.name: math.nan if each.default is None else float(each.default)
        for each in parameters
        if each.name not in given
    }


def _constants(draft: Draft) -> dict[str, float]:
    """The correct ones of the parameters with one value, in SI units."""
    table, constants = draft.parameters, dict[str, float]()
    for name in draft.known_ones(table, draft.single):
        if draft.known is not None:
            value = table.read(name, _constant, table.mapping[name], draft.known[name])
            constants |= {} if value is None else {name: value}
    return constants


def _constant(value: object, parameter: Parameter) -> float:
    if isinstance(value, (list, dict)):
        cure = f"for several values, write {parameter.name} = {{ values = [...] }} under [axes]"
        raise FaultError(f"{written(cast(object, value))} is not one number", cure)
    return amount(value, parameter)


def _required(
    draft: Draft,
    model: Model,
    parameter_set: ParameterSet | None,
    substitutes: Sequence[Substitute],
) -> tuple[Parameter, ...]:
    """The parameters that the sweep needs, in the order of the kernel's struct."""
    return (
        *model.parameters,
        *(parameter_set.parameters if parameter_set else ()),
        *(draft.method.parameters if draft.method else ()),
        *{p.name: p for each in substitutes for p in each.parameters}.values(),
    )


def _completed(
    draft: Draft,
    model: Model,
    names: Sequence[str],
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
        elif name not in names and name not in draft.top.faults.meant:
            unit = "a plain number" if parameter.unit == "1" else f"in {parameter.unit}"
            cure = f"give it here or under [axes], {unit}{in_place_of(model, name)}"
            draft.parameters.fault(name, f"missing ({parameter.meaning})", cure)
    return completed


def _check_parameters(
    draft: Draft,
    model: Model,
    names: Sequence[str],
    substitutes: Sequence[Substitute],
    constants: Mapping[str, float],
) -> None:
    """Check that parameters do not contradict each other."""
    for name, what in redundant_parameters(substitutes, names).items():
        draft.table_of(name).fault(name, what, "keep one of the two")
    check_signals(draft, model, constants)
    _check_relations(draft.parameters, model, constants)


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
