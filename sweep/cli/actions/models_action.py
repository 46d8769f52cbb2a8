"""`sweep models`: the tables of models, and the tests in their files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sweep.cli.parameters import chosen
from sweep.cli.printing import counted, print_json, print_section, print_table, print_warning
from sweep.errors import SweepError
from sweep.file.model_file import (
    file_beside,
    is_path,
    known_models,
    read_model,
    shipped_names,
)
from sweep.file.time_tables import EXAMPLE
from sweep.model.elements import element
from sweep.model.installed import installed_model, offers
from sweep.model.table import Model, Observable, Output, Parameter
from sweep.text.wording import listed

KEYS = (
    *("name", "title", "source", "parameters", "parameter_sets", "methods", "outputs"),
    *("substitutes", "excitation", "observables"),
)  # of a model's fields, in JSON


def print_models(name: str | None, *, check: bool, as_json: bool) -> int:
    """Print a list of all models, or the table of one, or check it; return the exit status."""
    if check:
        return _check(name, as_json=as_json)
    names = known_models() if name is None else [known_or_path(name)]
    selected = [read_model(each, Path()) for each in names]
    if name is None:
        for offer in offers():
            if offer.problem:
                print_warning(f"left out: {offer.name} of {offer.package}: {offer.problem}")
    if as_json:
        print_json([_described(model) for model in selected])
    elif name is None:
        print_table(
            (model.name, model.title, ", ".join(method.name for method in model.methods))
            for model in selected
        )
        print("\ndescribe one: sweep models NAME")
    else:
        _print_model(selected[0])
    return 0


def known_or_path(name: str) -> str:
    """The name of a model or the path of its file; SweepError for an unknown name."""
    if is_path(name) or name in shipped_names() or installed_model(name):
        return name
    if cure := file_beside(name, Path()):
        raise SweepError(f"there is no model {name!r}; {cure}")
    return chosen("model", name, {each: each for each in known_models()})


def _check(name: str | None, *, as_json: bool) -> int:
    """Run the tests of a model's file and print what they found; the exit status."""
    if name is None:
        raise SweepError("--check needs a model: sweep models ./my_model.toml --check")
    from sweep.cli import model_tests

    comparisons = model_tests.check_model(known_or_path(name))
    if unscaled := model_tests.states_of_scale_1(name):
        cure = "give a state of another size a scale, to which its tolerance is relative"
        print_warning(f"the scale of {listed(unscaled)} is 1; {cure}")
    if lasting := model_tests.never_left_in(name):
        cure = "add an event that ends it, if that is not meant"
        print_warning(f"no event ends {listed(lasting)}; {cure}")
    failed = [each for each in comparisons if not each.holds]
    if as_json:
        print_json(list(map(asdict, comparisons)))
    elif failed:
        header = ("test", "output", "expected", "found", "difference", "allowed")
        rows = (tuple(_figure(getattr(each, column)) for column in header) for each in failed)
        print_table(rows, header)
    elif not comparisons:
        number = counted(model_tests.expressions_in(name), "expression")
        print(f"{name}: no tests ([[tests]]); names, kinds and units of {number} are right")
    else:
        tests = counted(len({each.test for each in comparisons}), "test")
        values = counted(len(comparisons), "value")
        print(f"{name}: {tests} passed, {values} compared")
    return 1 if failed else 0


def _figure(value: float | str) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _described(model: Model) -> dict[str, Any]:
    """A model's whole table for JSON."""
    table = asdict(model, dict_factory=_entries)
    statuses = [
        {"name": status.name, "code": int(status), "sentence": sentence}
        for status, sentence in model.sentences.items()
    ]
    return {key: table[key] for key in KEYS} | {"statuses": statuses}


def _entries(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of a part of a model, in which an infinite bound of a parameter is null."""
    return {
        key: None if key in ("minimum", "maximum") and math.isinf(value) else value
        for key, value in pairs
        if key != "variants"
    }


def _print_model(model: Model) -> None:
    print(f"{model.name}: {model.title}\nsource: {model.source}\n")
    _print_parameters("parameters", model.parameters)
    for each in model.parameter_sets:
        _print_parameters(f"parameter set {each.name} (exactly one set is given)", each.parameters)
    for each in model.substitutes:
        sets = f" (set {' or '.join(each.parameter_sets)})" if each.parameter_sets else ""
        _print_parameters(f"in place of {listed(list(each.derived))}{sets}", each.parameters)
    if model.excitation:
        print(f"a table over time is possible with {listed(model.excitation.methods)}:")
        print(f"    {model.excitation.parameter} = {EXAMPLE}\n")
    print_section(((each.name, each.summary) for each in model.methods), ("method", "meaning"))
    for names, parameters in _of_methods(model).items():
        _print_parameters(f"parameters of {listed(names)}", tuple(parameters))
    for kind, quantities in {"output": model.outputs, "traced": model.observables}.items():
        if quantities:
            rows = ((_with_indices(each), each.unit, each.long_name) for each in quantities)
            print_section(rows, (kind, "unit", "meaning"))
    rows = [(str(int(status)), status.name, text) for status, text in model.sentences.items()]
    print_table(rows, ("status", "name", "meaning"))


def _of_methods(model: Model) -> Mapping[tuple[str, ...], list[Parameter]]:
    """The parameters of methods, each once, by the names of the methods that have them."""
    names: dict[Parameter, list[str]] = {}
    for method in model.methods:
        for parameter in method.parameters:
            names.setdefault(parameter, []).append(method.name)
    groups: dict[tuple[str, ...], list[Parameter]] = {}
    for parameter, having in names.items():
        groups.setdefault(tuple(having), []).append(parameter)
    return groups


def _with_indices(each: Output | Observable) -> str:
    """The name of an output, with the indices that it has: `touches[support]`."""
    over = [labels.name for labels in each.over] if isinstance(each, Output) else []
    return element(each.name, over) if over else each.name


def _print_parameters(title: str, parameters: tuple[Parameter, ...]) -> None:
    def row(each: Parameter) -> tuple[str, ...]:
        default = each.derived or ("" if each.default is None else f"{each.default:g}")
        return each.name, each.symbol, each.unit, each.requirement, default, each.meaning

    print(f"{title}:")
    print_section(map(row, parameters), ("name", "symbol", "unit", "range", "default", "meaning"))
