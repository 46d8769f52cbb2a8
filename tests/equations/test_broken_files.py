"""Broken model files: each fault at its key, with what to do."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import sweep
from sweep.equations.system_file import examine
from sweep.errors import ConfigError
from tests.equations.good_model import (
    AT,
    GOOD,
    HALT,
    MASS,
    POWER,
    PUSH,
    SAMPLES,
    X,
    changed,
    faults_of,
    inline,
    read_system,
)

# (a piece of the good file, what stands there instead, the place, what is said)
# fmt: off
BROKEN = [
    # the top
    ("format = 1", "format = true", "format", "true is unknown"),
    ('name = "rattle"', 'name = ""', "name", "empty"),
    ('name = "rattle"', "name = 3", "name", "3 is not text in quotes"),
    ('name = "rattle"', f'name = "{"a" * 65}"', "name", "65 characters; at most 64"),
    ('title = "mass', 'title = "\\u0007mass', "title", "cannot be printed"),
    ('title = "mass', f'title = "{"x" * 2000}', "title", "at most 1,000"),
    ("2*pi/omega", "2*pi/omga", "period", "'omga' is unknown; did you mean 'omega'?"),
    ("2*pi/omega", "2*pi/x", "period", "'x' is a state, which cannot stand here"),
    ("2*pi/omega", "2*pi/push", "period", "'push' is a definition, which cannot stand here"),
    ("2*pi/omega", "t", "period", "'t' is the time, which cannot stand here"),
    ('"2*pi/omega"', "[1]", "period", "[1] is not an expression; write it in quotes"),
    ('start_mode = "free"', 'start_mode = "fre"', "start_mode", "'fre' is not a mode"),
    # parameters
    (MASS, inline("mass", minimum='"0"'), "parameters.mass.minimum", "'0' is not a finite number"),
    (MASS, inline("mass", minimum="inf"), "parameters.mass.minimum", "inf is not a finite number"),
    (MASS, inline("mass", minimum="1", maximum="1", open_minimum="true"), "parameters.mass.maximum",
     "no value lies between"),
    ("count = { whole = true, minimum = 1, maximum = 9, default = 3",
     "count = { whole = true, minimum = 1, maximum = 9, default = 2.5",
     "parameters.count.default", "2.5 is outside the parameter's own range"),
    ("count = {", "_count = {", "parameters.'_count'", "'_count' is not a name"),
    ("count = {", "Mass = {", "parameters.Mass", "differs from 'mass' only in upper and lower"),
    # states
    (X, X.replace('"0"', '"v"'), "states.x.initial", "'v' is a state, which cannot stand here"),
    (X, X.replace('"0"', '"free"'), "states.x.initial", "'free' is a mode"),
    # definitions
    (PUSH, PUSH.replace("force*", "T*"), "definitions.push.value", "did you mean 't'?"),
    (PUSH, PUSH.replace("force*cos", "free*cos"), "definitions.push.value",
     "column 1: free is a condition, but a number is needed in free*cos(omega*t)"),
    (PUSH, PUSH.replace("force*cos", "halt*cos"), "definitions.push.value",
     "'halt' is an event, which cannot stand here"),
    (PUSH, PUSH.replace("force*cos", "power*cos"), "definitions.push.value",
     "'power' is an output, which cannot stand here"),
    (PUSH, PUSH.replace("force*cos(omega*t)", "where(force, 1, 2)"), "definitions.push.value",
     "column 7: force is a number, but a condition is needed in where(force, 1, 2)"),
    (PUSH, PUSH.replace("push =", "v ="), "definitions.v", "'v' is also a state"),
    # modes and derivatives
    ('x = "v"', 'x = "v > 0"', "modes.free.x", "v > 0 is a condition"),
    ('"total/mass"', f'"{"x+" * 5000}x"', "modes.free.v", "10,001 characters; at most 2,000"),
    ("[modes.held]", "[modes.x]", "modes.x", "'x' is also a state"),
    # events
    ('["free", "held"]', '["free", ["held"]]', f"{HALT}.in", "['held'] is not a mode"),
    ('when = "x - gap"', "", "events[1] 'impact'.when", "missing; write when"),
    ('when = "x - gap"', 'when = "x > gap - v"', "events[1] 'impact'.when", "write x - (gap - v)"),
    ('when = "x - gap"', 'when = "x < gap"', "events[1] 'impact'.when", "here; write gap - x"),
    ('when = "x - gap"', 'when = "not held"', "events[1] 'impact'.when", "where(not held, 1, -1)"),
    ('when = "x - gap"', 'when = "2*(mass - gap)"', "events[1] 'impact'.when",
     "2*(mass - gap) never changes, so it never crosses zero"),
    ('if = "abs(total) < 0.1*force and not held"', 'if = "total"', f"{HALT}.if", "is a number"),
    ("stop_after = 7", "stop_after = 1.5", f"{HALT}.stop_after", "1.5 is not a whole number"),
    # outputs
    (POWER, 'power = { mean = "v > 0" }', "outputs.power.mean", "v > 0 is a condition"),
    (POWER, 'power = { share = "v" }', "outputs.power.share", "compare it, as in v > 0"),
    (POWER, 'power = { count = "bang" }', "outputs.power.count", "'bang' is not an event"),
    (POWER, 'power = { at = "impct", mean = "v" }', "outputs.power.at", "did you mean 'impact'?"),
    (POWER, 'samples_index = { mean = "v" }', "outputs.samples", "also an output"),
    (SAMPLES, 'samples = { values = "x", keep = 2 }', "outputs.samples.every", "missing; write ev"),
    (SAMPLES, SAMPLES.replace("4", "65537"), "outputs.samples.keep", "from 1 to 4,096"),
    (SAMPLES, SAMPLES.replace("4", "4095"), "outputs", "4,097 values of a point are kept"),
    (SAMPLES, SAMPLES.replace("period", "perid"), "outputs.samples.every", "is not an event"),
    # tests
    (AT, AT.replace("end_cycle = 3", "start_cycle = 3"), "tests[1].at.window_end", "missing"),
    (AT, AT.replace("relative_tolerance", "step"), "tests[1].at.step", "'step' is not a parameter"),
    ("[1, 2, 3, 4]", "[1, 2, 3]", "tests[1].expect.samples", "not a list of 4 numbers"),
    ("[1, 2, 3, 4]", "[1, 2, 3, 4, nan]", "tests[1].expect.samples", "not a list of 4 numbers"),
    ("[[tests]]", "[tests]", "tests", "not a list of tables; write [[tests]] above each"),
]
# fmt: on


@pytest.mark.parametrize(
    ("piece", "other", "place", "message"), BROKEN, ids=[f"{i}" for i in range(len(BROKEN))]
)
def test_a_broken_file_is_refused(piece: str, other: str, place: str, message: str) -> None:
    faults = faults_of(changed(piece, other))
    at_place = [str(fault) for fault in faults if fault.where == place]
    assert any(message in each for each in at_place), "\n".join(map(str, faults))
    assert all(len(str(fault)) < 700 for fault in faults)


def test_a_broken_file_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled, and no store begun."""

    def compiled(*_: object) -> None:
        pytest.fail("a kernel is compiled")

    monkeypatch.setattr("sweep.kernel.cpu.CpuBackend.prepare", compiled)
    asked = {"parameters": {"window_end": 1.0}, "axes": {"mass": {"linspace": [1, 2, 2]}}}
    for piece, other, place, _ in BROKEN[::40]:
        model = tomllib.loads(changed(piece, other))
        with pytest.raises(ConfigError) as error:
            sweep.run({"model": model, **asked}, store=tmp_path / "a.zarr")
        assert any(place in str(fault) for fault in error.value.faults), (piece, other)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("piece", "other", "place"),
    [
        ('scale = "gap"', 'scale = "1 m"', "states.x.scale"),
        ('"x - gap"', '"x -"', "events[1] 'impact'.when"),
        ('when = "x - gap"', "", "events[1] 'impact'.when"),
        ('"push - stiffness*x"', '"push x"', "definitions.total.value"),
    ],
)
def test_an_unreadable_expression_is_one_fault(piece: str, other: str, place: str) -> None:
    text = changed('when = "v"', 'when = "total"')  # of an event that may not change, either
    assert [each.where for each in faults_of(changed(piece, other, text))] == [place]


def test_none_from_python_is_no_derivative_of_another_name() -> None:
    model = tomllib.loads(GOOD)
    model["modes"]["free"]["w"] = None
    assert [each.where for each in examine(model)[1]] == ["modes.free.w"]


def test_all_faults_are_reported_at_once() -> None:
    text = changed('name = "rattle"', 'name = "my model"')
    text = changed("2*pi/omega", "2*pi/omga", text)
    text = changed(MASS, "mass = 1", text)
    text = changed('"total/mass"', '"total^mass"', text)
    text = changed(POWER, "power = {}", text)
    with pytest.raises(ConfigError) as error:
        read_system(tomllib.loads(text), "rattle.toml")
    places = [fault.where for fault in error.value.faults]
    assert set(places) == {"name", "period", "parameters.mass", "modes.free.v", "outputs.power"}
    assert str(error.value).startswith("rattle.toml: 5 faults, nothing was computed")
