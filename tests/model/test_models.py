"""Every model is complete: table, header, sweep file, oracle. New bits need a new revision."""

from __future__ import annotations

import ast
import hashlib
import json
import keyword
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pint
import pytest

import sweep
from sweep.file import load
from sweep.kernel.source import flat_text
from sweep.model.shipped import configs_folder, kernels_folder, shipped_configs
from sweep.model.table import MISSING_FLAG, Method, Model, Status, every_parameter
from sweep.model.tables import models
from tests.cases import case_of, compute, fixed_points, methods

ROOT = Path(__file__).resolve().parents[2]
ORACLES = ROOT / "tests" / "oracles"
REVISIONS = ROOT / "tests" / "reference" / "revisions.json"
UNITS = pint.UnitRegistry()

every_model = pytest.mark.parametrize("model", models().values(), ids=lambda model: model.name)


# What a model consists of.


@every_model
def test_every_model_is_complete(model: Model) -> None:
    assert list(missing_pieces(model)) == []


def missing_pieces(model: Model) -> Iterator[str]:
    """A sentence for each missing piece of a model."""
    header = kernels_folder() / "models" / f"{model.name}.h"
    if not header.is_file():
        yield f"write the equations of {model.name} in kernels/models/{model.name}.h"
    else:
        yield from _missing_namespaces(model)
    own = [n for n in shipped_configs() if load(n).sweep.points.model.name == model.name]
    if not own:
        yield f"write a sweep file of {model.name} in configs/"
    for name in own:
        if not (configs_folder() / "smoke" / f"{name}.toml").is_file():
            yield f"write configs/smoke/{name}.toml, the few-point twin of configs/{name}.toml"
    if not (ORACLES / f"{model.name}.py").is_file():
        yield f"write a slow, independent solver of {model.name} in tests/oracles/{model.name}.py"
    try:
        fixed_points(model)
        for method in model.methods:
            case_of(model, method, n=8)
    except LookupError as error:
        yield str(error)


def _missing_namespaces(model: Model) -> Iterator[str]:
    text = flat_text(f"models/{model.name}.h")
    for method in model.methods:
        namespace = re.search(rf"^namespace {method.name} \{{$", text, re.MULTILINE)
        if not namespace:
            yield (
                f"write method {method.name} of {model.name} as namespace {method.name} in a "
                f"header that kernels/models/{model.name}.h includes"
            )


@pytest.mark.broad
@every_model
def test_every_smoke_sweep_of_the_model_runs(model: Model) -> None:
    """Smoke: at least one point is ok. Other tests check the values."""
    for path in (configs_folder() / "smoke").glob("*.toml"):
        if load(path).sweep.points.model.name == model.name:
            dataset = sweep.run(path, store=None)
            status = dataset["status"].to_numpy()
            assert not np.isin(status, (Status.failed, Status.pending)).any()
            assert (status == Status.ok).any()


@every_model
def test_oracles_import_nothing_of_what_they_judge(model: Model) -> None:
    tree = ast.parse((ORACLES / f"{model.name}.py").read_text())
    imported = [
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    assert imported
    assert not [name for name in imported if name.split(".")[0] == "sweep"]


# The table.


@every_model
def test_names_are_valid_in_python_toml_and_cpp(model: Model) -> None:
    variants = [variant for method in model.methods for variant in method.variants]
    tables = (every_parameter(model), variants)
    kinds = (model.parameter_sets, model.methods, model.outputs)
    for each in [model, *(each for table in (*tables, *kinds) for each in table)]:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", each.name), each.name
        assert not keyword.iskeyword(each.name)
        assert each.name not in CPP_WORDS
    assert model.name == Path(f"{model.name}.h").stem


CPP_WORDS = {
    *("auto", "bool", "case", "char", "const", "default", "delete", "do", "double", "enum"),
    *("explicit", "export", "extern", "float", "friend", "inline", "int", "long", "mutable"),
    *("namespace", "new", "operator", "private", "protected", "public", "register", "short"),
    *("signed", "sizeof", "static", "struct", "switch", "template", "this", "throw", "typedef"),
    *("union", "unsigned", "using", "virtual", "void", "volatile"),
    *("real", "mask", "method", "wanted", "variant", "lanes"),  # the kernels' own
}


@every_model
def test_names_are_unique_where_they_meet(model: Model) -> None:
    outputs = [output.name for output in model.outputs]
    assert "status" not in outputs
    for method in model.methods:
        for parameter_set in model.parameter_sets:
            own = (*model.parameters, *parameter_set.parameters, *method.parameters)
            names = [p.name for p in own]
            # An output and a parameter of one name would be one variable of a Dataset.
            twice = [name for name, n in Counter(names + outputs).items() if n > 1]
            assert twice == []
        known = {p.name for p in every_parameter(model)}
        assert {name for v in method.variants for name in v.parameters} <= known
    for kind in (model.methods, model.parameter_sets):
        assert len({each.name for each in kind}) == len(kind)


@every_model
def test_one_name_means_one_thing_in_all_methods_and_sets(model: Model) -> None:
    """A name has one unit, symbol and meaning, because it is one field of the struct."""
    properties: dict[str, tuple[str, str, str]] = {}
    for p in every_parameter(model):
        assert properties.setdefault(p.name, (p.unit, p.symbol, p.meaning)) == (
            p.unit,
            p.symbol,
            p.meaning,
        )


@every_model
def test_units_are_known_and_si(model: Model) -> None:
    for each in (*every_parameter(model), *model.outputs):
        factor = UNITS.Quantity(1.0, each.unit).to_base_units().magnitude
        assert factor == 1.0, f"{each.name}: {each.unit!r} is not an SI unit without a prefix"


@every_model
def test_every_parameter_has_a_meaning_and_a_default_within_its_range(model: Model) -> None:
    for p in every_parameter(model):
        assert p.symbol, p.name
        assert p.meaning, p.name
        assert p.minimum < p.maximum or p.infinite
        assert not (p.neutral and p.default is None), f"{p.name}: neutral, without a default"
        if p.default is not None:
            assert math.isnan(p.default) == bool(p.derived)
            if p.derived:
                continue
            assert p.minimum <= p.default
            assert p.default <= p.maximum or (p.infinite and p.default == math.inf)
            assert p.infinite or math.isfinite(p.default)
            assert not (p.open_minimum and p.default == p.minimum)
            assert not (p.open_maximum and p.default == p.maximum)


@every_model
def test_methods_and_outputs_have_summaries_and_long_names(model: Model) -> None:
    assert model.methods
    assert model.parameter_sets
    assert model.outputs
    for method in model.methods:
        assert method.summary
        assert method.revision >= 1
    for output in model.outputs:
        assert output.long_name
        assert bool(output.flags) == (output.kind == "flag")
        assert len(set(output.flags)) == len(output.flags) < 255
        assert all(re.fullmatch(r"[a-z][a-z0-9_]*", flag) for flag in output.flags)
        assert output.kind == "real" or output.unit == "1"


@every_model
def test_every_status_has_a_sentence(model: Model) -> None:
    assert set(model.sentences) == set(Status)
    for status, sentence in model.sentences.items():
        assert sentence
        assert sentence == sentence.strip().rstrip(".")
        assert status == Status.ok or len(sentence.split()) >= 5, "it says what to do"


def test_a_model_stands_in_a_module_of_its_name() -> None:
    assert list(models()) == sorted(models())
    for name, model in models().items():
        assert model.name == name


# Revisions. Bits of a method are the same on every processor, so a digest tells a change.


def digests_of(model: Model, method: Method) -> dict[str, str]:
    """A digest of the bits of each output, and of status."""
    outputs = compute(fixed_points(model), model=model.name, method=method.name)
    bits = {name: values.astype(values.dtype.newbyteorder("<")) for name, values in outputs.items()}
    return {name: hashlib.sha256(bits[name].tobytes()).hexdigest()[:16] for name in sorted(bits)}


def complaint(key: str, revision: int, digests: Mapping[str, str], table: Mapping[str, Any]) -> str:
    """How to mend a method whose bits or revision differ from the table; "" if none do."""
    kept = table.get(key)
    if kept is None:
        return f"{key} is new: {_write(key, revision, digests)}"
    before, same_revision = kept["digests"], kept["revision"] == revision
    changed = [name for name in before if digests.get(name, before[name]) != before[name]]
    if changed and same_revision:
        return (
            f"the bits of {key} have changed ({', '.join(changed)}): if that is meant, raise its "
            f"revision to {revision + 1} in sweep/model/tables/, so that no store is continued "
            f"with other bits, and {_write(key, revision + 1, digests)}"
        )
    if changed:
        return f"{key} has a new revision: {_write(key, revision, digests)}"
    if not same_revision:
        return f"the revision of {key} has changed and its bits have not: leave it as it was"
    if before.keys() != digests.keys():
        return f"{key} has outputs added or removed: keep its revision and " + _write(
            key, revision, digests
        )
    return ""


def _write(key: str, revision: int, digests: Mapping[str, str]) -> str:
    entry = {key: {"revision": revision, "digests": digests}}
    return f"write {json.dumps(entry)} in tests/reference/revisions.json"


@pytest.mark.parametrize(
    ("model", "method"),
    [pytest.param(model, method, id=f"{model.name}.{method.name}") for model, method in methods()],
)
def test_new_bits_have_a_new_revision(model: Model, method: Method) -> None:
    """The table detects changed bits; other tests judge whether they are correct."""
    key = f"{model.name}.{method.name}"
    table = json.loads(REVISIONS.read_text())
    assert complaint(key, method.revision, digests_of(model, method), table) == ""


def test_the_table_of_revisions_has_no_method_that_is_gone() -> None:
    known = {f"{m.name}.{method.name}" for m in models().values() for method in m.methods}
    assert set(json.loads(REVISIONS.read_text())) <= known


@pytest.mark.parametrize(
    ("name", "regimes"), [("friction_oscillator", {0, 1, 2}), ("mdr_contact", {0, 1, 2, 3})]
)
def test_fixed_points_are_of_every_kind_and_status(name: str, regimes: set[int]) -> None:
    outputs = compute(fixed_points(models()[name]), model=name)
    assert set(np.unique(outputs["status"])) == {Status.ok, Status.outside_validity}
    assert set(np.unique(outputs["regime"])) == {*regimes, MISSING_FLAG}
    assert (outputs["status"] == Status.ok).sum() >= 50


def test_a_long_name_is_understood_without_the_name() -> None:
    """A long name is used alone, as the label of an axis."""
    for model in models().values():
        for each in (*model.outputs, *model.observables):
            assert not each.long_name.startswith(("of ", "within ")), each.name
