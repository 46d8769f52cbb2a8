"""The shipped model files: read without faults, and their tests expect what SciPy also finds."""

from __future__ import annotations

import tomllib
from functools import cache

import pytest

from sweep.equations.line_units import unit_faults
from sweep.equations.system import System, Test
from sweep.equations.system_file import read_system
from sweep.shipped import configs_folder
from tests.oracles.systems import SOLVERS

FOLDER = configs_folder() / "models"
SLOW = {("van_der_pol", 1), ("lugre", 1), ("bouc_wen", 1)}  # seconds in SciPy


@cache
def shipped(name: str) -> System:
    return read_system(tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8")), name)


def cases() -> list[object]:
    return [
        pytest.param(
            name, test, id=f"{name}-{i}", marks=[pytest.mark.broad] if (name, i) in SLOW else []
        )
        for name in SOLVERS
        for i, test in enumerate(shipped(name).tests)
        if test.status == "ok"
    ]


def test_every_shipped_model_has_a_solver_and_tests() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == sorted(SOLVERS)
    for name in SOLVERS:
        assert shipped(name).name == name
        assert shipped(name).tests, name


@pytest.mark.parametrize("name", SOLVERS)
def test_units_agree_in_every_line(name: str) -> None:
    assert unit_faults(shipped(name)) == ()


@pytest.mark.parametrize("name", SOLVERS)
def test_the_canonical_text_gives_the_model_again(name: str) -> None:
    system = shipped(name)
    again = read_system(tomllib.loads(system.text), name)
    assert again == system
    assert again.text == system.text


@pytest.mark.parametrize("name", SOLVERS)
def test_everything_has_a_meaning_of_its_own(name: str) -> None:
    system = shipped(name)
    for entry in (*system.parameters, *system.states, *system.definitions, *system.outputs):
        assert entry.meaning != entry.name.replace("_", " "), entry.name
    assert system.title
    assert system.source


@pytest.mark.parametrize(("name", "test"), cases())
def test_what_a_file_expects_is_what_an_independent_solver_finds(name: str, test: Test) -> None:
    outputs = SOLVERS[name](test.at)
    for output, expected in test.expect.items():
        assert isinstance(expected, float)
        tolerance = test.absolute + test.relative * abs(expected)
        assert outputs[output] == pytest.approx(expected, rel=0, abs=tolerance / 2), output
