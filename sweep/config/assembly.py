"""A checked document and the table of its model become a Sweep, or faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from sweep.config.axes import axis
from sweep.config.draft import SAMPLE_KEYS, TOP_LEVEL_KEYS, Draft, is_table
from sweep.config.quantities import UnreadableError, first_outside, number, requirement
from sweep.config.sample import Sample, sample_of
from sweep.config.schema import AxisTable, Document, checked
from sweep.models import models
from sweep.plan import MAX_SWEEP_POINTS
from sweep.spec import Axis, Method, Model, NotAllZero, Output, Parameter, ParameterSet, Sweep
from sweep.wording import listed, nearest, shown


def sweep_of(draft: Draft, document: Document) -> Sweep | None:
    """The sweep a document describes; if the draft then has faults, it is not to be used."""
    model = _model(draft, document)
    if model is None:
        return None
    method = _method(draft, document, model)
    known = _known_parameters(model, method)
    sample = _sample(draft, document, known, model)
    if not sample.is_complete:  # what seems to be missing may be in its file
        _constants(draft, document, known, model)
        _outputs(draft, document, model, None)
        return None
    along = (*document.axes, *sample.names)
    parameter_set = _parameter_set(draft, document, model, along)
    axes = _axes(draft, document, known, model)
    axes = axes if sample.axis is None else (sample.axis,)
    constants = _constants(draft, document, known, model)
    outputs = _outputs(draft, document, model, parameter_set)
    wanted = (
        *model.parameters,
        *(parameter_set.parameters if parameter_set else ()),
        *(method.parameters if method else ()),
    )
    constants = _completed(draft, document, along, wanted, constants)
    _check_relations(draft, model, constants)
    if method is None or parameter_set is None:
        return None
    sweep = Sweep(
        model=model,
        method=method,
        parameter_set=parameter_set,
        constants=constants,
        axes=axes,
        outputs=outputs,
        dtype=document.dtype,
    )
    if sweep.n_points > MAX_SWEEP_POINTS:
        draft.fault("axes", "", f"{sweep.n_points:,} points are more than {MAX_SWEEP_POINTS:,}")
    return sweep


def _model(draft: Draft, document: Document) -> Model | None:
    if document.model is None:
        if draft.document.get("model") is None:
            draft.fault("", "model", f"it is missing; known are {listed(models())}")
        return None
    if document.model not in models():
        cure = nearest(document.model, models())
        draft.fault("", "model", f"{shown(document.model)} is unknown; {cure}")
    return models().get(document.model)


def _method(draft: Draft, document: Document, model: Model) -> Method | None:
    methods = {method.name: method for method in model.methods}
    if document.method is None:
        return model.methods[0]
    if document.method not in methods:
        cure = nearest(document.method, methods)
        draft.fault("", "method", f"{shown(document.method)} is no method of {model.name}; {cure}")
    return methods.get(document.method)


def _outputs(
    draft: Draft, document: Document, model: Model, parameter_set: ParameterSet | None
) -> tuple[Output, ...]:
    """The asked ones in the model's order; if none is named, all that the set defines."""
    asked = document.outputs
    undefined = [
        output.name
        for output in model.outputs
        if output.parameter_sets
        and parameter_set is not None
        and parameter_set.name not in output.parameter_sets
    ]
    if asked is None:
        return tuple(output for output in model.outputs if output.name not in undefined)
    names = [output.name for output in model.outputs]
    if not asked:
        draft.fault("", "outputs", f"it is empty; leave it out for all, or name {listed(names)}")
    for name in dict.fromkeys(asked):
        if name == "status":
            draft.fault("", "outputs", "'status' is always there; leave it out")
        elif name not in names:
            draft.fault("", "outputs", f"{shown(name)} is unknown; {nearest(name, names)}")
        elif asked.count(name) > 1:
            draft.fault("", "outputs", f"{name!r} is named {asked.count(name)} times")
        elif name in undefined:
            owners = next(each.parameter_sets for each in model.outputs if each.name == name)
            cure = f"give the parameters of {listed(owners)}, or leave it out"
            draft.fault("", "outputs", f"{name!r} is not defined by the parameters given; {cure}")
    return tuple(output for output in model.outputs if output.name in asked)


def _known_parameters(model: Model, method: Method | None) -> dict[str, Parameter]:
    """Every parameter that may be named, whatever the set; if the method is unknown, of all."""
    parameters = list(model.parameters)
    for parameter_set in model.parameter_sets:
        parameters += parameter_set.parameters
    for each in model.methods if method is None else (method,):
        parameters += each.parameters
    return {parameter.name: parameter for parameter in parameters}


def _sample(
    draft: Draft, document: Document, known: Mapping[str, Parameter], model: Model
) -> Sample:
    if document.sample is None:
        return Sample((), None)
    if document.axes:
        message = "points are a grid of [axes] or a [sample], not both; keep one of the two"
        draft.fault("sample", "", message)
    sample = sample_of(
        draft, document.sample, known, lambda name: _unknown(name, known, model, SAMPLE_KEYS)
    )
    for name in sample.names:
        if name in document.parameters:
            message = "it also stands under [parameters]; keep one of the two"
            draft.fault("sample", name, message)
    return sample


def _parameter_set(
    draft: Draft, document: Document, model: Model, along: Sequence[str]
) -> ParameterSet | None:
    """The one set that has all the given parameters of sets; if several have, the complete one."""
    sets = {each.name: [p.name for p in each.parameters] for each in model.parameter_sets}
    in_sets = {name for names in sets.values() for name in names}
    given = [n for n in dict.fromkeys((*document.parameters, *along)) if n in in_sets]
    fitting = [s for s in model.parameter_sets if set(given) <= set(sets[s.name])]
    complete = [s for s in fitting if _needed(s) <= set(given)]
    if complete or len(fitting) == 1:
        return (complete or fitting)[0]
    if 0 < len(fitting) < len(sets):
        missing = "; ".join(_missing(s, given) for s in fitting)
        draft.fault("parameters", "", f"{missing}; give the rest of one of these sets")
        return None
    if not fitting and (meant := _nearest_set(model, given)) is not None:
        _tell_intruders(draft, document, model, meant, given)
        return None
    choices = " or ".join(f"{listed(names)} ({name})" for name, names in sets.items())
    mixed = "" if fitting else f"{listed(given)} belong to different sets; "
    draft.fault("parameters", "", f"{mixed}give exactly one of these sets: {choices}")
    return None


def _nearest_set(model: Model, given: Sequence[str]) -> ParameterSet | None:
    """The set that fewest names have to go and to come for, if there is one."""
    changes = {
        each.name: len(_foreign(each, given)) + len(_needed(each) - set(given))
        for each in model.parameter_sets
    }
    nearest_sets = [s for s in model.parameter_sets if changes[s.name] == min(changes.values())]
    return nearest_sets[0] if len(nearest_sets) == 1 else None


def _tell_intruders(
    draft: Draft, document: Document, model: Model, meant: ParameterSet, given: Sequence[str]
) -> None:
    """A fault for each parameter that is not of the set meant, where it stands."""
    rest = f", and {_missing(meant, given)}" if _needed(meant) - set(given) else ""
    for name in _foreign(meant, given):
        owners = [s.name for s in model.parameter_sets if name in {p.name for p in s.parameters}]
        tables = {"parameters": document.parameters, "axes": document.axes}
        table = next((each for each, entries in tables.items() if name in entries), "sample")
        of = " or ".join(owners)
        message = f"this belongs to the set {of}, the others to {meant.name}: leave it out"
        draft.fault(table, name, message + rest)


def _foreign(parameter_set: ParameterSet, given: Sequence[str]) -> list[str]:
    own = {parameter.name for parameter in parameter_set.parameters}
    return [name for name in given if name not in own]


def _missing(parameter_set: ParameterSet, given: Sequence[str]) -> str:
    """What a set still asks for, in the order of its table: "sphere misses radius"."""
    needed = _needed(parameter_set) - set(given)
    missing = [p.name for p in parameter_set.parameters if p.name in needed]
    return f"{parameter_set.name} misses {listed(missing)}"


def _needed(parameter_set: ParameterSet) -> set[str]:
    return {parameter.name for parameter in parameter_set.parameters if parameter.default is None}


def _axes(
    draft: Draft, document: Document, known: Mapping[str, Parameter], model: Model
) -> tuple[Axis, ...]:
    axes: list[Axis] = []
    for name, raw in document.axes.items():
        if name not in known:
            draft.fault("axes", name, _unknown(name, known, model))
        elif name in document.parameters:
            draft.fault("axes", name, "it also stands under [parameters]; keep one of the two")
        elif not is_table(raw):
            cure = f"write {name} = {{ values = [...] }}, {{ linspace = [first, last, count] }} ..."
            draft.fault("axes", name, f"{shown(raw)} is not a table; {cure}")
        else:
            axes += _axis(draft, known[name], raw)
    return tuple(axes)


def _axis(draft: Draft, parameter: Parameter, raw: dict[str, object]) -> list[Axis]:
    """The axis as a list of one; of none if it has faults, which are noted in the draft."""
    table, wrong = checked(AxisTable, raw)
    for key, sentence in wrong.items():
        draft.fault("axes", parameter.name, f"{key}: {sentence}")
    if wrong:
        return []
    try:
        return [axis(table, parameter, draft.folder)]
    except UnreadableError as error:
        draft.fault("axes", parameter.name, str(error))
        return []


def _constants(
    draft: Draft, document: Document, known: Mapping[str, Parameter], model: Model
) -> dict[str, float]:
    """The given parameters in SI units, but for those with faults."""
    constants: dict[str, float] = {}
    for name, value in document.parameters.items():
        if name not in known:
            draft.fault("parameters", name, _unknown(name, known, model))
            continue
        try:
            constants[name] = _constant(value, known[name])
        except UnreadableError as error:
            draft.fault("parameters", name, str(error))
    return constants


def _constant(value: object, parameter: Parameter) -> float:
    if isinstance(value, (list, dict)):
        cure = f"several values stand under [axes]: {parameter.name} = {{ values = [...] }}"
        raise UnreadableError(f"{shown(cast(object, value))} is not one number; {cure}")
    amount = number(value, parameter)
    if first_outside(np.array([amount]), parameter) is not None:
        asked = requirement(parameter)
        raise UnreadableError(f"{shown(value)} is out of range; it has to be {asked}")
    return amount


def _completed(
    draft: Draft,
    document: Document,
    along: Sequence[str],
    wanted: Sequence[Parameter],
    constants: Mapping[str, float],
) -> dict[str, float]:
    """The constants in the order of the kernel's struct, defaults filled in."""
    completed: dict[str, float] = {}
    for parameter in wanted:
        name = parameter.name
        if name in constants:
            completed[name] = constants[name]
        elif name in document.parameters or name in along:
            continue
        elif parameter.default is not None:
            completed[name] = float(parameter.default)
        else:
            unit = "a plain number" if parameter.unit == "1" else f"in {parameter.unit}"
            cure = f"give it here or under [axes], {unit}"
            draft.fault("parameters", name, f"it is missing ({parameter.meaning}): {cure}")
    return completed


def _check_relations(draft: Draft, model: Model, constants: Mapping[str, float]) -> None:
    """A fault for each relation that constants alone break; along axes it is a point's status."""
    for relation in model.relations:
        if isinstance(relation, NotAllZero):
            if all(constants.get(name) == 0 for name in relation.parameters):
                message = f"{listed(relation.parameters)} are all 0: {relation.reason}"
                draft.fault("parameters", relation.parameters[0], message)
            continue
        if not {relation.lesser, relation.greater} <= constants.keys():
            continue
        lesser, greater = constants[relation.lesser], constants[relation.greater]
        if lesser >= greater:
            asked = f"it has to be less than {relation.greater} = {greater!r}"
            draft.fault("parameters", relation.lesser, f"{lesser!r}: {relation.reason}; {asked}")


def _unknown(
    name: str, known: Mapping[str, Parameter], model: Model, keys: Sequence[str] = ()
) -> str:
    if name in TOP_LEVEL_KEYS:
        return f"this is no parameter; {name} stands at the top of the file, before any [table]"
    owners = [m.name for m in model.methods if name in {p.name for p in m.parameters}]
    if owners:
        return f"this belongs to another method ({listed(owners)}); choose that, or leave it out"
    return f"{model.name} has no such parameter; {nearest(name, (*known, *keys))}"
