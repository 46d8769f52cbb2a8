"""Sets of parameters, of which one is given, such as cycles or times.

Parameters may also be given in place of others, as a normal force in place of an indentation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sweep.file.sweep_file import Document
from sweep.model.table import Model, ParameterSet, Substitute
from sweep.text.reader import Table
from sweep.text.wording import listed


def replaced_by_options(document: Document, model: Model) -> set[str]:
    """The parameters that `--set` or `--at` replaces by others."""
    by_option = {key for _, key in document.places}
    dropped: set[str] = set()
    for each in model.substitutes:
        if not each.yields and bool(each.names & by_option) != bool(
            each.derived.keys() & by_option
        ):
            dropped |= each.derived.keys() if each.names & by_option else each.names
    return dropped


def parameter_set_of(
    model: Model, given: Mapping[str, Table], parameters: Table
) -> tuple[ParameterSet | None, list[Substitute]]:
    """The set of parameters that is given, and the substitutes of which a parameter is given.

    There is a fault for each parameter that is given and also follows from others.
    """
    chosen = _chosen(model, given, parameters)
    used = [each for each in _used(model, [*given]) if chosen is None or chosen.has(each)]
    substitutes = [_without_own(each, given) if each.yields else each for each in used]
    for name, table in given.items():
        if each := next((each for each in substitutes if name in each.derived), None):
            others = listed([n for n in given if n in each.names])
            table.fault(name, f"follows from {others}", "keep one of the two")
    return chosen, substitutes


def _chosen(model: Model, given: Mapping[str, Table], parameters: Table) -> ParameterSet | None:
    """The one set that has all the given parameters of sets; if several do, the complete one.

    `given` has the table in which each parameter is given. Substitutes belong to their sets, of
    which they complete parameters. Without such a set, there is a fault, in [parameters].
    """
    names = [*given, *sorted(parameters.faults.meant)]
    sets = {each.name: each for each in model.parameter_sets}
    whole = {n: [*(p.name for p in e.parameters), *_own_of(model, n)] for n, e in sets.items()}
    in_sets = {name for names in whole.values() for name in names}
    members = [n for n in names if n in in_sets]
    present = {*members, *(name for each in _used(model, members) for name in each.derived)}
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
        parameters.fault("", rest, "complete one of these sets")
        return None
    changes = {name: len(foreign[name]) + len(missing[name]) for name in sets}
    intended = [name for name in sets if changes[name] == min(changes.values())]
    if not fitting and len(intended) == 1:
        (name,) = intended
        rest = f": {lacking[name]}" if missing[name] else ""
        for each in foreign[name]:
            owners = " or ".join(owner for owner, names in whole.items() if each in names)
            what = f"belongs to set {owners}, the other parameters to {name}{rest}"
            given.get(each, parameters).fault(each, what, "remove it")
        return None
    choices = " or ".join(
        f"{listed(p.name for p in each.parameters)} ({name})" for name, each in sets.items()
    )
    what = (
        "no set of parameters is given"
        if fitting
        else f"{listed(members)} belong to different sets"
    )
    parameters.fault("", what, f"give exactly one of these sets: {choices}")
    return None


def _used(model: Model, names: Sequence[str]) -> list[Substitute]:
    return [each for each in model.substitutes if each.names & {*names}]


def _without_own(each: Substitute, given: Mapping[str, Table]) -> Substitute:
    """The substitute without the parameters that have values of their own."""
    return replace(each, derived={n: text for n, text in each.derived.items() if n not in given})


def _own_of(model: Model, parameter_set: str) -> set[str]:
    """The parameters of substitutes that belong to this set and not to all."""
    own = (each.names for each in model.substitutes if parameter_set in each.parameter_sets)
    return set[str]().union(*own)
