"""`sweep models`: the models, their parameters, methods and outputs."""

from __future__ import annotations

import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sweep.cli.app import Json, chosen, command, flag
from sweep.cli.printing import counted, print_json, print_section, print_table
from sweep.wording import escaped, listed

if TYPE_CHECKING:
    from sweep.spec import Model, Parameter


KEYS = (
    *("name", "title", "source", "parameters", "parameter_sets", "methods", "outputs"),
    *("substitutes", "excitation", "observables"),
)  # of a model's fields, in JSON


@command("sweep models", "sweep models friction_oscillator", name="models")
def list_models(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The model to describe; default: list all.")
    ] = None,
    check: Annotated[
        bool,
        flag("--check", "Run the tests in the file; status 1 if one fails."),
    ] = False,
    as_json: Json = False,
) -> None:
    """List the models, or describe or check one.

    NAME is also the path of a model's file. The description has parameters with units and ranges,
    methods, outputs and statuses. Models of installed packages that are left out are named on
    stderr, with the reason.
    """
    if check:
        raise typer.Exit(_check(name, as_json=as_json))
    from sweep.config.model_file import known_models, read_model
    from sweep.installed import offers

    names = known_models() if name is None else [known_or_path(name)]
    selected = [read_model(each, Path()) for each in names]
    if name is None:
        for offer in offers():
            if offer.problem:
                left_out = f"left out: {offer.name} of {offer.package}: {offer.problem}"
                print(escaped(left_out), file=sys.stderr)
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


def known_or_path(name: str) -> str:
    """The name of a model or the path of its file; SweepError for an unknown name."""
    from sweep.config.model_file import file_beside, is_path, known_models, shipped_names
    from sweep.errors import SweepError
    from sweep.installed import installed_model

    if is_path(name) or name in shipped_names() or installed_model(name):
        return name
    if cure := file_beside(name, Path()):
        raise SweepError(f"there is no model {name!r}; {cure}")
    return chosen("model", name, {each: each for each in known_models()})


def _check(name: str | None, *, as_json: bool) -> int:
    """Run the tests of a model's file and print what they found; the exit status."""
    from sweep.errors import SweepError
    from sweep.model_tests import check_model, states_of_scale_1

    if name is None:
        raise SweepError("--check needs a model: sweep models ./my_model.toml --check")
    comparisons = check_model(known_or_path(name))
    if unscaled := states_of_scale_1(name):
        cure = "give a state of another size a scale, to which its tolerance is relative"
        print(f"note: the scale of {listed(unscaled)} is 1; {cure}", file=sys.stderr)
    failed = [each for each in comparisons if not each.holds]
    if as_json:
        print_json(list(map(asdict, comparisons)))
    elif failed:
        header = ("test", "output", "expected", "found", "difference", "allowed")
        rows = (tuple(_figure(getattr(each, column)) for column in header) for each in failed)
        print_table(rows, header)
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
        from sweep.config.time_tables import EXAMPLE

        print(f"a table over time is possible with {listed(model.excitation.methods)}:")
        print(f"    {model.excitation.parameter} = {EXAMPLE}\n")
    for method in model.methods:
        print(f"method {method.name}: {method.summary}\n")
        if method.parameters:
            _print_parameters(f"parameters of {method.name}", method.parameters)
    for kind, quantities in {"output": model.outputs, "traced": model.observables}.items():
        if quantities:
            rows = ((each.name, each.unit, each.long_name) for each in quantities)
            print_section(rows, (kind, "unit", "meaning"))
    rows = [(str(int(status)), status.name, text) for status, text in model.sentences.items()]
    print_table(rows, ("status", "name", "meaning"))


def _print_parameters(title: str, parameters: tuple[Parameter, ...]) -> None:
    def row(each: Parameter) -> tuple[str, ...]:
        default = each.derived or ("" if each.default is None else f"{each.default:g}")
        return each.name, each.symbol, each.unit, each.requirement, default, each.meaning

    print(f"{title}:")
    print_section(map(row, parameters), ("name", "symbol", "unit", "range", "default", "meaning"))
