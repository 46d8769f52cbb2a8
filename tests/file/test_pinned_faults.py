"""Broken sweep and model files, options and mappings, each with all of its faults, by gist.

The texts in `pinned` have a heading `=== NAME` for each case and `--- NAME` above another file of
its folder. Lines that begin with `--set` or `--at` are options, those with `!` the faults, each as
PLACE | GIST: parts of its text in their order, with dots between them. A line with `?` is a fault
that is not reported, because another one hides it; it ought to be.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from sweep.errors import ConfigError, Fault
from sweep.file import load
from sweep.file.model_file import read_model
from sweep.file.overrides import Changes
from tests.file.documents import PARAMETERS

PINNED = Path(__file__).with_name("pinned")
BROKEN = "broken.toml"


@dataclass
class Case:
    """A broken file, the other files of its folder, options, and the faults as PLACE | GIST."""

    name: str
    files: dict[str, str] = field(default_factory=lambda: {BROKEN: ""})
    overrides: list[str] = field(default_factory=list[str])
    at: list[str] = field(default_factory=list[str])
    faults: list[str] = field(default_factory=list[str])

    def write(self, folder: Path) -> None:
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")


def cases(*texts: str) -> list[Case]:
    """The cases in these texts of the folder `pinned`."""
    contents = [(PINNED / f"{name}.txt").read_text(encoding="utf-8") for name in texts]
    return [_case(part) for content in contents for part in content.split("=== ")[1:]]


def _case(text: str) -> Case:
    name, *lines = text.splitlines()
    case, file = Case(name), BROKEN
    marked = {"--set": case.overrides, "--at": case.at, "!": case.faults, "?": []}
    for line in lines:
        mark, _, rest = line.partition(" ")
        if mark in marked:
            marked[mark].append(rest)
        elif mark == "---":
            file = rest
            case.files[file] = ""
        else:
            case.files[file] += f"{line}\n"
    return case


def place_and_text(fault: Fault) -> tuple[str, str]:
    """The place of a fault, and all that is said of it."""
    return fault.where, str(fault)


def check(error: ConfigError, expected: Sequence[str]) -> None:
    """Assert that the error has exactly these faults, in any order."""
    left = [place_and_text(fault) for fault in error.faults]
    assert all(len(text) < 700 for _, text in left)
    for each in expected:
        place, _, gist = each.partition("| ")
        pattern = ".*".join(map(re.escape, gist.split(" ... ")))
        fitting = [f for f in left if f[0] == place.strip() and re.search(pattern, f[1])]
        assert fitting, f"there is no fault {each}\n{error}"
        left.remove(fitting[0])
    assert not left


def name_of(case: Case) -> str:
    return case.name


SWEEPS = cases("top", "parameters", "axes", "sample", "tables", "wear", "overrides")


@pytest.mark.parametrize("case", SWEEPS, ids=name_of)
def test_faults_of_a_sweep_file(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / BROKEN, case.overrides, at=case.at)
    check(caught.value, case.faults)


@pytest.mark.parametrize("case", cases("models"), ids=name_of)
def test_faults_of_a_model_file(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    with pytest.raises(ConfigError) as caught:
        read_model(f"./{BROKEN}", tmp_path)
    check(caught.value, case.faults)


# fmt: off
FROM_PYTHON: dict[str, tuple[object, Sequence[str]]] = {
    "keys and tables": (
        {
            1: 2, "format": np.int64(2), "model": b"duffing", "parameters": None, "axes": [1],
            "run": {3: 1, "workers": np.float64(2)},
        },
        [
            "'1' | no such key ... one of format, ... dtype",
            "format | 2 ... unknown ... reads 1",
            "model | b'duffing' ... name ... model ... path ... quotes",
            "[parameters] | None ... table",
            "[axes] | [1] ... table",
            "[run] '3' | no such option ... one of backend, ... slurm",
            "[run] workers | 2.0 ... whole number from 1 to 4,096",
        ],
    ),
    "values of parameters": (
        {
            "model": "friction_oscillator",
            "outputs": ("regime", None),
            "parameters": {
                "mass": np.array([1.0, 2.0]), "gravity": object, "friction": None,
                "base_acceleration": 1j, "angular_frequency": b"6", "phase": {1},
                "stiffness": np.bool_(True), "damping": 10**400,
                "window_start": np.float32("nan"), 7: 1,
            },
            "axes": {"window_end": {"values": np.array([[1.0, 2.0]])}},
        },
        [
            "outputs | None ... list of names",
            "[parameters] mass | [1.0, 2.0] ... one number ... mass = { values = [ ... [axes]",
            "[parameters] gravity | object ... number ... in m/s^2 ... unit",
            "[parameters] friction | None ... number",
            "[parameters] base_acceleration | 1j ... number ... in m/s^2",
            "[parameters] angular_frequency | b'6' ... number ... in rad/s",
            "[parameters] phase | {1} ... number ... in rad",
            "[parameters] stiffness | true ... number ... in N/m",
            "[parameters] damping | 10000 ... finite number ... in N s/m",
            "[parameters] window_start | nan ... finite number ... in s",
            "[parameters] '7' | no such parameter ... one of mass, ... normal_force",
            "[axes] window_end | value 1 ... [1.0, 2.0] ... number ... in s",
        ],
    ),
    "a model": (
        {
            "model": {
                "format": True,
                "name": None,
                "parameters": {1: 2, "mass": {"default": np.float64("inf")}},
                "states": {"x": {"initial": None}, 3: {}},
                "derivatives": {"x": 1j, "y": None},
                "outputs": [1],
                "events": {"when": "x"},
                "tests": "x",
            },
        },
        [
            "[model] | format ... true ... unknown ... format = 1",
            "[model] | name ... missing ... name = \"belt\"",
            "[model] | parameters.'1' ... 2 ... table",
            "[model] | parameters.'1' ... name ... letters",
            "[model] | parameters.mass.default ... inf ... finite number",
            "[model] | states.'3' ... name ... letters",
            "[model] | states.x.initial ... missing ... initial =",
            "[model] | states.'3'.initial ... missing ... initial =",
            "[model] | derivatives.y ... 'y' ... state ... one of x, 3",
            "[model] | derivatives.x ... 1j ... expression ... quotes",
            "[model] | derivatives.'3' ... missing ... derivative",
            "[model] | events ... tables ... [[events]]",
            "[model] | outputs ... [1] ... table",
            "[model] | tests ... tables ... [[tests]]",
        ],
    ),
    "a list": (["mass"], [" | ['mass'] ... path ... sweep file ... shipped name"]),
}
# fmt: on


@pytest.mark.parametrize("name", FROM_PYTHON)
def test_faults_of_a_mapping_with_odd_types(name: str) -> None:
    source, expected = FROM_PYTHON[name]
    with pytest.raises(ConfigError) as caught:
        load(source)  # type: ignore[arg-type]  # keys and values of wrong types are what is tested
    check(caught.value, expected)


@pytest.mark.parametrize(
    ("overrides", "at", "expected"),
    [
        (
            {"mass": object, "gravity": float("nan"), 3: 1, "phase": 10**400},
            [4, "damping"],
            [
                "overrides | 'mass' ... text ... friction=0.2",
                "at | 4 ... text ... friction=0.2",
                "at damping | name=value",
                "override gravity | nan ... finite number ... in m/s^2",
                "override 3 | no such parameter ... one of mass, ... normal_force",
                "override phase | 10000 ... finite number ... in rad",
            ],
        ),
        (
            3,
            {"mass": [1]},
            [
                "overrides | 3 ... text ... friction=0.2",
                "at mass=[1] | [1] ... one number ... one value of each parameter",
            ],
        ),
    ],
)
def test_faults_of_options_from_python(
    overrides: Changes, at: Changes, expected: Sequence[str]
) -> None:
    given = {**PARAMETERS, "friction": 0.1, "base_acceleration": 1}
    with pytest.raises(ConfigError) as caught:
        load({"model": "friction_oscillator", "parameters": given}, overrides, at=at)
    check(caught.value, expected)
