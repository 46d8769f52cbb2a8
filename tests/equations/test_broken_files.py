"""Broken model files: each fault at its key, with what to do."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import sweep
from sweep.equations.system_file import examine, read_system
from sweep.errors import ConfigError
from tests.equations.good_model import (
    AT,
    FORCE,
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
)

# (a piece of the good file, what stands there instead, the place, what is said)
# fmt: off
BROKEN = [
    # the top
    ("format = 1", "", "format", "missing; write format = 1"),
    ("format = 1", "format = 2", "format", "2 is unknown; this version reads 1"),
    ("format = 1", "format = true", "format", "True is unknown"),
    ('name = "rattle"', "", "name", 'missing; write name = "belt"'),
    ('name = "rattle"', 'name = ""', "name", "empty"),
    ('name = "rattle"', 'name = "my model"', "name", "'my model' is not a name; write a letter"),
    ('name = "rattle"', "name = 3", "name", "3 is not text in quotes"),
    ('name = "rattle"', f'name = "{"a" * 65}"', "name", "65 characters; at most 64"),
    ('title = "mass', 'title = "\\u0007mass', "title", "cannot be printed"),
    ('title = "mass', f'title = "{"x" * 2000}', "title", "at most 1,000"),
    ('title = "mass', 'titel = "mass', "titel", "no such key; did you mean 'title'?"),
    ("2*pi/omega", "2*pi/omga", "period", "'omga' is unknown; did you mean 'omega'?"),
    ("2*pi/omega", "2*pi/x", "period", "'x' is a state, which cannot stand here"),
    ("2*pi/omega", "2*pi/push", "period", "'push' is a definition, which cannot stand here"),
    ("2*pi/omega", "t", "period", "'t' is the time, which cannot stand here"),
    ('"2*pi/omega"', "[1]", "period", "[1] is not an expression; write it in quotes"),
    ('time_unit = "s"', 'time_unit = "min"', "time_unit", "'min' is unknown; choose one of s, 1"),
    ('start_mode = "free"', 'start_mode = "fre"', "start_mode", "'fre' is not a mode"),
    # parameters
    (MASS, "mass = 1", "parameters.mass", "1 is not a table"),
    (MASS, inline("mass", uint='"kg"'), "parameters.mass.uint", "did you mean 'unit'?"),
    (MASS, inline("mass", minimum='"0"'), "parameters.mass.minimum", "'0' is not a finite number"),
    (MASS, inline("mass", minimum="inf"), "parameters.mass.minimum", "inf is not a finite number"),
    (MASS, inline("mass", minimum="3", maximum="2"), "parameters.mass.maximum", "no value lies"),
    (MASS, inline("mass", minimum="1", maximum="1", open_minimum="true"), "parameters.mass.maximum",
     "no value lies between"),
    (MASS, inline("mass", open_minimum="1"), "parameters.mass.open_minimum", "1 is not true or"),
    (MASS, inline("mass", default="true"), "parameters.mass.default", "True is not a finite"),
    (FORCE, inline("force", unit='"N"', default='"1 kN"'), "parameters.force.default",
     "'1 kN' is not a finite number; write a plain number, in N"),
    (FORCE, inline("force", default="11", maximum="10"), "parameters.force.default",
     "11.0 is outside the parameter's own range"),
    ("count = { whole = true, minimum = 1, maximum = 9, default = 3",
     "count = { whole = true, minimum = 1, maximum = 9, default = 2.5",
     "parameters.count.default", "2.5 is outside the parameter's own range"),
    ("count = {", '"2x" = {', 'parameters.\'2x\'', "'2x' is not a name"),
    ("count = {", "_count = {", "parameters.'_count'", "'_count' is not a name"),
    ("count = {", "lambda = {", "parameters.lambda", "a word of the language"),
    ("count = {", "sin = {", "parameters.sin", "'sin' is a function; choose another name"),
    ("count = {", "t = {", "parameters.t", "'t' is the time"),
    ("count = {", "pi = {", "parameters.pi", "'pi' is a number"),
    ("count = {", "time = {", "parameters.time", "the axis of traces"),
    ("count = {", "status = {", "parameters.status", "the status of a point"),
    ("count = {", "step = {", "parameters.step", "a parameter of methods"),
    ("count = {", "window_end = {", "parameters.window_end", "a parameter of every model"),
    ("count = {", "method = {", "parameters.method", "a meaning of its own in sweep files"),
    ("count = {", "Mass = {", "parameters.Mass", "differs from 'mass' only in upper and lower"),
    ("[parameters]", "[parameter]", "parameter", "did you mean 'parameters'?"),
    # states
    (X, X.replace('initial = "0"', 'intial = "0"'), "states.x.initial", "missing; write initial"),
    (X, X.replace('initial = "0"', 'intial = "0"'), "states.x.intial", "did you mean 'initial'?"),
    (X, X.replace('"0"', '"v"'), "states.x.initial", "'v' is a state, which cannot stand here"),
    (X, X.replace('"0"', '"t"'), "states.x.initial", "'t' is the time"),
    (X, X.replace('"0"', '"free"'), "states.x.initial", "'free' is a mode"),
    (X, X.replace('"0"', '"gap > 0"'), "states.x.initial", "gap > 0 is a condition, but a number"),
    (X, X.replace('"gap"', '"-1"'), "states.x.scale", "a scale has to be above 0"),
    (X, X.replace("x = {", "gap = {"), "states.gap", "'gap' is also a parameter"),
    ("[states]", "[stats]", "states", "missing; a model has at least one state"),
    # definitions
    (PUSH, PUSH.replace("value", "valu"), "definitions.push.value", "missing; write value"),
    (PUSH, PUSH.replace("omega*t", "omega^t"), "definitions.push.value", "column 16: '^': write"),
    (PUSH, PUSH.replace("cos(", "csc("), "definitions.push.value", "'csc' is not a function"),
    (PUSH, PUSH.replace("cos(", "ln("), "definitions.push.value", "write log(...)"),
    (PUSH, PUSH.replace("force*", "T*"), "definitions.push.value", "did you mean 't'?"),
    (PUSH, PUSH.replace("force*cos(omega*t)", "total"), "definitions.push.value",
     "defined by itself: push uses total uses push"),
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
    ('x = "v"\n', "", "modes.free.x", 'missing; write x = "...", its derivative'),
    ('x = "v"', 'x = "v"\ny = "v"', "modes.free.y", "'y' is not a state"),
    ('x = "v"', 'x = "v > 0"', "modes.free.x", "v > 0 is a condition"),
    ('"total/mass"', '"(total/mass"', "modes.free.v", "'(' is not closed"),
    ('"total/mass"', f'"{"x+" * 5000}x"', "modes.free.v", "10,001 characters; at most 2,000"),
    ("[modes.held]", "[derivatives]\nx = 0\nv = 0\n[modes.held]", "derivatives", "given twice"),
    ("[modes.held]", "[modes.t]", "modes.t", "'t' is the time"),
    ("[modes.held]", "[modes.x]", "modes.x", "'x' is also a state"),
    # events
    ('name = "impact"', "", "events[1].name", "missing"),
    ('name = "impact"', 'name = "halt"', f"{HALT}.name", "'halt' is also an event"),
    ('name = "impact"', 'name = "period"', "events[1] 'period'.name", "stands for whole periods"),
    ('in = "free"', 'in = "frei"', "events[1] 'impact'.in", "'frei' is not a mode; did you mean"),
    ('in = "free"', "in = []", "events[1] 'impact'.in", "empty; remove it for all modes"),
    ('["free", "held"]', '["free", "free"]', f"{HALT}.in", "a mode is listed twice"),
    ('["free", "held"]', '["free", ["held"]]', f"{HALT}.in", "['held'] is not a mode"),
    ('when = "x - gap"', "", "events[1] 'impact'.when", "missing; write when"),
    ('when = "x - gap"', 'when = "x > gap"', "events[1] 'impact'.when", "here; write x - gap"),
    ('when = "x - gap"', 'when = "x > gap - v"', "events[1] 'impact'.when", "write x - (gap - v)"),
    ('when = "x - gap"', 'when = "x < gap"', "events[1] 'impact'.when", "here; write gap - x"),
    ('when = "x - gap"', 'when = "not held"', "events[1] 'impact'.when", "where(not held, 1, -1)"),
    ('when = "x - gap"', 'when = "2*(mass - gap)"', "events[1] 'impact'.when",
     "2*(mass - gap) never changes, so it never crosses zero"),
    ('direction = "rising"', "", "events[1] 'impact'.direction", "missing; choose one of rising"),
    ('direction = "rising"', 'direction = "up"', "events[1] 'impact'.direction", "'up' is unknown"),
    ('then = "held"', 'then = "hold"', f"{HALT}.then", "did you mean 'held'?"),
    ('then = "held"', 'thn = "held"', f"{HALT}.thn", "there is no such key; did you mean 'then'?"),
    ('set = { v = "-0.5*v" }', 'set = { w = "0" }', "events[1] 'impact'.set.w", "not a state"),
    ('set = { v = "-0.5*v" }', 'set = { v = "held" }', "events[1] 'impact'.set.v", "a condition"),
    ('if = "abs(total) < 0.1*force and not held"', 'if = "total"', f"{HALT}.if", "is a number"),
    ("stop_after = 7", "stop_after = 0", f"{HALT}.stop_after", "0 is not a whole number from 1"),
    ("stop_after = 7", "stop_after = 1.5", f"{HALT}.stop_after", "1.5 is not a whole number"),
    ("stop_after = 7", "stop_after = 7\nstop = true", f"{HALT}.stop", "given with stop_after"),
    # outputs
    (POWER, 'power = { unit = "W" }', "outputs.power", "nothing is computed; write one of mean"),
    (POWER, 'power = { mean = "v", rms = "v" }', "outputs.power", "mean, rms exclude each other"),
    (POWER, 'power = { mean = "v > 0" }', "outputs.power.mean", "v > 0 is a condition"),
    (POWER, 'power = { share = "v" }', "outputs.power.share", "compare it, as in v > 0"),
    (POWER, 'power = { count = "bang" }', "outputs.power.count", "'bang' is not an event"),
    (POWER, 'power = { sum = "v" }', "outputs.power.sum", "a sum is taken at events"),
    (POWER, 'power = { at = "impact", rms = "v" }', "outputs.power.rms", "not known at events"),
    (POWER, 'power = { at = "impct", mean = "v" }', "outputs.power.at", "did you mean 'impact'?"),
    (POWER, 'x = { mean = "v" }', "outputs.x", "'x' is also a state"),
    (POWER, 'point = { mean = "v" }', "outputs.point", "a meaning of its own"),
    (POWER, 'samples_index = { mean = "v" }', "outputs.samples", "also an output"),
    (SAMPLES, 'samples = { values = "x", every = "period" }', "outputs.samples.keep", "missing"),
    (SAMPLES, 'samples = { values = "x", keep = 2 }', "outputs.samples.every", "missing; write ev"),
    (SAMPLES, SAMPLES.replace("4", "65537"), "outputs.samples.keep", "from 1 to 4,096"),
    (SAMPLES, SAMPLES.replace("4", "4095"), "outputs", "4,097 values of a point are kept"),
    (SAMPLES, SAMPLES.replace("period", "perid"), "outputs.samples.every", "is not an event"),
    ('period = "2*pi/omega"', "", "outputs.samples.every", "the model has no period"),
    # tests
    (AT, "", "tests[1].at.mass", "missing; the parameter has no default"),
    (AT, AT.replace("mass = 1", "mass = -1"), "tests[1].at.mass", "outside the parameter's range"),
    (AT, AT.replace("mass = 1", "mas = 1"), "tests[1].at.mas", "did you mean 'mass'?"),
    (AT, AT.replace("end_cycle = 3", "start_cycle = 3"), "tests[1].at.window_end", "missing"),
    (AT, AT.replace("relative_tolerance", "step"), "tests[1].at.step", "'step' is not a parameter"),
    ('method = "rk54"', 'method = "rk4"', "tests[1].at.step", "missing; write the length of the"),
    ('method = "rk54"', 'method = "rk45"', "tests[1].method", "'rk45' is unknown; did you mean"),
    ("[1, 2, 3, 4]", "[1, 2, 3]", "tests[1].expect.samples", "not a list of 4 numbers"),
    ("[1, 2, 3, 4]", "[1, 2, 3, 4, nan]", "tests[1].expect.samples", "not a list of 4 numbers"),
    ("relative = 1e-9", "", "tests[1].relative", "missing; write relative = 1e-9"),
    ("relative = 1e-9", "relative = -1", "tests[1].relative", "-1.0 is negative"),
    ("relative = 1e-9", 'relative = 1e-9\nstatus = "diverged"', "tests[1].expect", "remove it"),
    ("relative = 1e-9", 'relative = 1e-9\nstatus = "bad"', "tests[1].status", "'bad' is unknown"),
    ("[[tests]]", "[tests]", "tests", "not a list of tables; write [[tests]] above each"),
]
# fmt: on


@pytest.mark.parametrize(
    ("piece", "other", "place", "message"), BROKEN, ids=[f"{i}" for i in range(len(BROKEN))]
)
def test_a_broken_file_is_refused(piece: str, other: str, place: str, message: str) -> None:
    faults = faults_of(changed(piece, other))
    at_place = [fault.message for fault in faults if fault.place == place]
    assert any(message in each for each in at_place), "\n".join(map(str, faults))
    assert all(len(str(fault)) < 700 for fault in faults)


def test_a_broken_file_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled, and no store begun."""

    def compiled(*_: object) -> None:
        pytest.fail("a kernel is compiled")

    monkeypatch.setattr("sweep.backends.cpu.CpuBackend.prepare", compiled)
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
    assert [each.place for each in faults_of(changed(piece, other, text))] == [place]


def test_none_from_python_is_no_derivative_of_another_name() -> None:
    model = tomllib.loads(GOOD)
    model["modes"]["free"]["w"] = None
    assert [each.place for each in examine(model)[1]] == ["modes.free.w"]


def test_all_faults_are_reported_at_once() -> None:
    text = changed('name = "rattle"', 'name = "my model"')
    text = changed("2*pi/omega", "2*pi/omga", text)
    text = changed(MASS, "mass = 1", text)
    text = changed('"total/mass"', '"total^mass"', text)
    text = changed(POWER, "power = {}", text)
    with pytest.raises(ConfigError) as error:
        read_system(tomllib.loads(text), "rattle.toml")
    places = [fault.place for fault in error.value.faults]
    assert set(places) == {"name", "period", "parameters.mass", "modes.free.v", "outputs.power"}
    assert str(error.value).startswith("rattle.toml: 5 faults, nothing was computed")
