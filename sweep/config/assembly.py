"""A Sweep from the top level of a sweep file and the table of its model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from sweep.config.derived_table import check_derived, derived_of
from sweep.config.draft import Draft, Sample
from sweep.config.excitation import (
    check_excitation,
    check_length,
    check_signals,
    excitation_of,
    has_table,
)
from sweep.config.grid import axes_of
from sweep.config.model_file import known_models, read_model
from sweep.config.problems import Check, Problem, check_names, readable
from sweep.config.quantities import amount
from sweep.config.schema import TopLevel
from sweep.config.substitutes import (
    in_place_of,
    own_of,
    redundant_parameters,
    used,
    without_replaced,
)
from sweep.config.sweep_file import Document, is_table
from sweep.errors import ConfigError, FaultError
from sweep.request import Sweep
from sweep.spec import Method, Model, NotAllZero, Output, Parameter, ParameterSet, every_parameter
from sweep.wording import listed, nearest, shown


def sweep_of(document: Document, top: TopLevel) -> Check[Sweep | None]:
    """The sweep; not to be used if there are problems."""
    model = yield from _model(document, top)
    if model is None:
        return None
    method = yield from _method(top, model)
    top = without_replaced(document, top, model)
    table = yield from excitation_of(document, top, model, method)
    excitation = model.excitation if has_table(top, model) else None
    absent: Mapping[str, float] = {}
    if excitation is not None:
        rest = {n: v for n, v in top.parameters.items() if n != excitation.parameter}
        top = top.model_copy(update={"parameters": rest})
        absent = _defaults(model, excitation.kernel)
    methods = None if method is None else [method]
    known = {each.name: each for each in every_parameter(model, methods)}
    draft = Draft(document, top, model, known)
    sample = Sample((), None)
    if top.sample is not None:
        from sweep.config.sample import sample_of

        sample = yield from sample_of(draft, top.sample)
    if not sample.is_complete:  # a parameter that seems to be missing may be in its file
        yield from _constants(draft)
        yield from _outputs(top, model, None)
        return None
    varied = (*draft.on_axes, *sample.names, *top.derived)
    parameter_names = tuple(dict.fromkeys((*top.parameters, *varied)))
    parameter_set = yield from _parameter_set(model, top, parameter_names)
    places = {name: _table_of(name, top) for name in parameter_names}
    if excitation is not None:
        yield from check_excitation(model, excitation, places, parameter_set)
    substitutes = used(model, parameter_names, parameter_set)
    for name, message in redundant_parameters(substitutes, parameter_names).items():
        yield Problem(_table_of(name, top), name, message)
    derived = yield from derived_of(draft)
    replaced = {n: text for each in substitutes for n, text in each.derived.items()}
    axes = yield from axes_of(draft, sample.axis)
    constants = yield from _constants(draft)
    outputs = yield from _outputs(top, model, parameter_set)
    required = (
        *model.parameters,
        *(parameter_set.parameters if parameter_set else ()),
        *(method.parameters if method else ()),
        *{p.name: p for each in substitutes for p in each.parameters}.values(),
    )
    absent = {name: value for name, value in absent.items() if name not in parameter_names}
    constants = yield from _completed(
        model, (*parameter_names, *replaced), required, constants | absent
    )
    if excitation is not None and table is not None:
        yield from check_length(excitation, table, constants, axes)
    yield from check_signals(model, constants)
    yield from _check_relations(model, constants)
    inputs = {name for each in substitutes for name in each.names}
    if method is None or parameter_set is None or inputs - {*constants, *varied}:
        return None
    sweep = Sweep(
        model=model,
        method=method,
        parameter_set=parameter_set,
        constants=constants,
        axes=axes,
        outputs=outputs,
        dtype=top.dtype,
        derived={**derived, **replaced},
        table=table,
    )
    yield from check_derived(sweep.of_points)
    return sweep


def _defaults(model: Model, names: Iterable[str]) -> dict[str, float]:
    """The defaults of these parameters; NaN for one that has none."""
    parameters = (each for each in model.parameters if each.name in names)
    return {p.name: math.nan if p.default is None else float(p.default) for p in parameters}


def _model(document: Document, top: TopLevel) -> Check[Model | None]:
    if top.model is None:
        if document.tables.get("model") is None:
            yield Problem("", "model", f"missing; choose one of {listed(known_models())}")
        return None
    try:
        return read_model(top.model, document.folder)
    except ConfigError as error:
        for fault in error.faults:
            yield Problem("", "model", str(fault))
    return None


def _method(top: TopLevel, model: Model) -> Check[Method | None]:
    methods = {method.name: method for method in model.methods}
    if top.method is None:
        return model.methods[0]
    if top.method not in methods:
        message = f"{shown(top.method)} is not a method of {model.name}"
        yield Problem("", "method", f"{message}; {nearest(top.method, methods)}")
    return methods.get(top.method)


def _outputs(
    top: TopLevel, model: Model, parameter_set: ParameterSet | None
) -> Check[tuple[Output, ...]]:
    """The requested outputs in the model's order; by default, all that the set defines."""
    undefined = {
        output.name: output.parameter_sets
        for output in model.outputs
        if parameter_set is not None and not parameter_set.has(output)
    }
    requested = top.outputs
    if requested is None:
        return tuple(output for output in model.outputs if output.name not in undefined)
    names = [output.name for output in model.outputs]
    if not requested:
        message = f"empty; remove it for all outputs, or choose from {listed(names)}"
        yield Problem("", "outputs", message)
    wrong = {"status": "'status' is always stored; remove it here"}
    for name, sets in undefined.items():
        cure = f"give the parameters of {listed(sets)}, or remove the output"
        wrong[name] = f"{name!r} is not defined by these parameters; {cure}"
    yield from check_names("", "outputs", requested, names, wrong)
    return tuple(output for output in model.outputs if output.name in requested)


def _parameter_set(
    model: Model, top: TopLevel, parameter_names: Sequence[str]
) -> Check[ParameterSet | None]:
    """The one set that has all the given parameters of sets; if several do, the complete one.

    Substitutes belong to their sets, of which they complete parameters.
    """
    sets = {each.name: each for each in model.parameter_sets}
    whole = {n: [*(p.name for p in e.parameters), *own_of(model, n)] for n, e in sets.items()}
    in_sets = {name for names in whole.values() for name in names}
    members = [n for n in parameter_names if n in in_sets]
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
        yield Problem("parameters", "", f"{rest}; complete one of these sets")
        return None
    changes = {name: len(foreign[name]) + len(missing[name]) for name in sets}
    intended = [name for name in sets if changes[name] == min(changes.values())]
    if not fitting and len(intended) == 1:
        (name,) = intended
        rest = f", and {lacking[name]}" if missing[name] else ""
        for each in foreign[name]:
            owners = " or ".join(owner for owner, names in whole.items() if each in names)
            message = f"belongs to set {owners}, the other parameters to {name}; remove it{rest}"
            yield Problem(_table_of(each, top), each, message)
        return None
    choices = " or ".join(
        f"{listed(p.name for p in each.parameters)} ({name})" for name, each in sets.items()
    )
    mixed = "" if fitting else f"{listed(members)} belong to different sets; "
    yield Problem("parameters", "", f"{mixed}give exactly one of these sets: {choices}")
    return None


def _table_of(name: str, top: TopLevel) -> str:
    """The table in which a parameter is given."""
    groups = {f"axes.{axis}": raw for axis, raw in top.axes.items() if is_table(raw)}
    tables = {"parameters": top.parameters, "axes": top.axes, "derived": top.derived, **groups}
    return next((each for each, entries in tables.items() if name in entries), "sample")


def _constants(draft: Draft) -> Check[dict[str, float]]:
    """The correct ones of the given parameters, in SI units."""
    constants: dict[str, float] = {}
    unknown = draft.unknown(draft.top.parameters)
    for name, value in draft.top.parameters.items():
        if name in unknown:
            yield Problem("parameters", name, unknown[name])
            continue
        constant = yield from readable("parameters", name, _constant, value, draft.known[name])
        if constant is not None:
            constants[name] = constant
    return constants


def _constant(value: object, parameter: Parameter) -> float:
    if isinstance(value, (list, dict)):
        cure = f"for several values, write {parameter.name} = {{ values = [...] }} under [axes]"
        raise FaultError(f"{shown(cast(object, value))} is not one number; {cure}")
    return amount(value, parameter)


def _completed(
    model: Model,
    parameter_names: Sequence[str],
    required: Sequence[Parameter],
    constants: Mapping[str, float],
) -> Check[dict[str, float]]:
    """The constants in the order of the kernel's struct, with defaults."""
    completed: dict[str, float] = {}
    for parameter in required:
        name = parameter.name
        if name in constants:
            completed[name] = constants[name]
        elif parameter.default is not None and name not in parameter_names:
            completed[name] = float(parameter.default)
        elif name not in parameter_names:
            unit = "a plain number" if parameter.unit == "1" else f"in {parameter.unit}"
            cure = f"give it here or under [axes], {unit}{in_place_of(model, name)}"
            yield Problem("parameters", name, f"missing ({parameter.meaning}); {cure}")
    return completed


def _check_relations(model: Model, constants: Mapping[str, float]) -> Check[None]:
    """Relations that constants break; what breaks along an axis is the status of a point."""
    for relation in model.relations:
        if isinstance(relation, NotAllZero):
            if all(constants.get(name) == 0 for name in relation.parameters):
                message = f"{listed(relation.parameters)} are all 0: {relation.reason}"
                yield Problem("parameters", relation.parameters[0], message)
        elif {relation.lesser, relation.greater} <= constants.keys():
            lesser, greater = constants[relation.lesser], constants[relation.greater]
            if lesser >= greater:
                cure = f"it has to be less than {relation.greater} = {greater!r}"
                message = f"{lesser!r}: {relation.reason}; {cure}"
                yield Problem("parameters", relation.lesser, message)
