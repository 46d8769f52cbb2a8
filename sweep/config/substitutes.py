"""Parameters given in place of others, such as a normal force in place of an indentation."""

from __future__ import annotations

from collections.abc import Sequence

from sweep.config.sweep_file import Document
from sweep.spec import Model, ParameterSet, Substitute
from sweep.wording import listed


def replaced_by_options(document: Document, model: Model) -> set[str]:
    """The parameters that `--set` or `--at` replaces by others."""
    by_option = {key for _, key in document.places}
    dropped: set[str] = set()
    for each in model.substitutes:
        if bool(each.names & by_option) != bool(each.derived.keys() & by_option):
            dropped |= each.derived.keys() if each.names & by_option else each.names
    return dropped


def used(
    model: Model, names: Sequence[str], parameter_set: ParameterSet | None = None
) -> list[Substitute]:
    """The substitutes of which a parameter is given; by default those of any parameter set."""
    return [
        each
        for each in model.substitutes
        if each.names & set(names) and (parameter_set is None or parameter_set.has(each))
    ]


def own_of(model: Model, parameter_set: str) -> set[str]:
    """The parameters of substitutes that belong to this set and not to all."""
    own = (each.names for each in model.substitutes if parameter_set in each.parameter_sets)
    return set[str]().union(*own)


def redundant_parameters(substitutes: Sequence[Substitute], names: Sequence[str]) -> dict[str, str]:
    """What is wrong with each parameter that is given and also follows from others."""
    return {
        name: f"follows from {listed([n for n in names if n in each.names])}"
        for each in substitutes
        for name in names
        if name in each.derived
    }


def in_place_of(model: Model, name: str) -> str:
    """What to give in place of a missing parameter, as the end of a message."""
    names = [p.name for each in model.substitutes if name in each.derived for p in each.parameters]
    return f", or {listed(list(dict.fromkeys(names)))} in its place" if names else ""
