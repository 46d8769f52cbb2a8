"""What is read from a good file, and the canonical text that it has."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.equations.expressions import Call, Name, Number
from sweep.equations.parsing import parse
from tests.equations.good_model import (
    MASS,
    POWER,
    PUSH,
    changed,
    faults_of,
    good,
    inline,
    read_system,
)
from tests.oracles.expressions import conditions, trees
from tests.oracles.expressions import text_of as oracle_text


def test_a_good_file_is_read_as_written() -> None:
    system = good()
    assert [p.name for p in system.parameters] == ["mass", "stiffness", "force", "omega", "gap",
                                                   "count"]  # fmt: skip
    assert system.parameters[0].meaning == "mass"
    assert system.parameters[1].symbol == "stiffness"
    assert system.period == parse("2*pi/omega")
    assert (system.start_mode, system.mode_names) == ("free", ("held", "free"))
    assert system.states[1].scale == Number(1.0)
    assert system.modes["held"] == {"x": Number(0.0), "v": Number(0.0)}
    impact, halt = system.events
    assert impact.sets == {"v": Call("*", (Call("negative", (Number(0.5),)), Name("v")))}
    assert (impact.modes, impact.then, impact.condition, impact.stop_after) == (
        ("free",), None, None, None,
    )  # fmt: skip
    assert (halt.modes, halt.then, halt.stop_after, halt.at_entry) == (
        ("held", "free"), "held", 7, True,
    )  # fmt: skip
    kinds = {rule.name: (rule.kind, rule.event, rule.every, rule.keep) for rule in system.outputs}
    assert kinds == {
        "power": ("mean", None, None, None),
        "held_share": ("share", None, None, None),
        "impacts": ("count", "impact", None, None),
        "hardest": ("maximum", "impact", None, None),
        "samples": ("values", None, "period", 4),
        "speeds": ("values", "impact", "impact", 2),
    }
    (test,) = system.tests
    assert test.expect == {"power": 0.25, "samples": (1.0, 2.0, 3.0, 4.0)}
    assert (test.method, test.status, test.relative, test.absolute) == ("rk54", "ok", 1e-9, 0.0)


def test_a_model_without_modes_has_one_without_a_name() -> None:
    text = """
    format = 1
    name = "decay"
    time_unit = "1"
    [states]
    x = { initial = 1 }
    [derivatives]
    x = "-x"
    [outputs]
    last = { final = "x" }
    """
    system = good(text)
    assert list(system.modes) == [""]
    assert (system.mode_names, system.start_mode, system.parameters) == ((), "", ())
    for key in ('start_mode = "a"', '[[events]]\nname="e"\nwhen="x"\ndirection="both"\nthen="a"'):
        place = "start_mode" if key.startswith("start") else "events[1] 'e'.then"
        faults = faults_of(key + text if place == "start_mode" else text + key)
        assert [fault.where for fault in faults] == [place]
        assert "this model has no modes" in str(faults[0])


def test_an_event_may_have_the_name_of_a_mode() -> None:
    good(changed('name = "halt"', 'name = "held"'))


def test_definitions_may_stand_in_any_order() -> None:
    total = 'total = { value = "push - stiffness*x", unit = "N" }'
    system = good(changed(f"{PUSH}\n{total}", f"{total}\n{PUSH}"))
    assert [each.name for each in system.definitions] == ["push", "total"]
    assert system == good()


# Identity.

SAME = [
    ('title = "mass on a spring between stops"', 'title = " mass on a  spring between stops"  # !'),
    ("force*cos(omega*t)", "  force * ( cos((omega*t)) )"),
    (MASS, inline("mass", meaning='"mass"', symbol='"m"', open_minimum="true", minimum="0.0",
                  unit='"kg"', maximum="inf")),
    ('x = "v"\nv = "total/mass"', 'v = "total/mass"\nx = "v"'),
    ('x = "0"\nv = "0"', "x = 0\nv = 0.0"),
    ("default = 2 }", 'default = 2.0, symbol = "omega", meaning = "omega" }'),
    ('unit = "N/m", minimum = 0 }', 'unit = "N/m", minimum = 0, meaning = "", symbol = "" }'),
    ('in = "free"', 'in = ["free"]'),
    ('["free", "held"]', '["held", "free"]'),
    ('time_unit = "s"\n', ""),
    ("relative = 1e-9", "relative = 1e-3"),
    ('v = { unit = "m/s", initial = "0" }', 'v = { initial = 0, unit = "m/s", scale = 1 }'),
]  # fmt: skip

OTHER = [
    ('title = "mass', 'title = "a mass'),
    ('source = "made', 'source = "Made'),
    ('start_mode = "free"', 'start_mode = "held"'),
    ("2*pi/omega", "pi/omega*2"),
    ("default = 2 }", "default = 3 }"),
    ("maximum = 10", "maximum = 11"),
    ('meaning = "displacement"', 'meaning = "position"'),
    ('scale = "gap"', 'scale = "2*gap"'),
    ("0.1*force", "0.2*force"),
    ('set = { v = "-0.5*v" }', 'set = { v = "-0.5*v", x = "gap" }'),
    ("stop_after = 7", "stop_after = 8"),
    ("at_entry = true", "at_entry = false"),
    ("keep = 4", "keep = 5"),
    ('direction = "both"', 'direction = "rising"'),
    (f"{POWER}\n", ""),
    (POWER, POWER.replace("mean", "rms")),
]


@pytest.mark.parametrize(("piece", "other"), SAME)
def test_what_changes_no_result_changes_no_text(piece: str, other: str) -> None:
    system = good(changed(piece, other))
    assert system.text == good().text
    assert system == good()


@pytest.mark.parametrize(("piece", "other"), OTHER)
def test_what_may_change_a_result_changes_few_lines_of_the_text(piece: str, other: str) -> None:
    text = changed(piece, other)
    if "keep" in other or piece == f"{POWER}\n":
        text = text[: text.index("[[tests]]")]
    own, changed_text = good().text.splitlines(), good(text).text.splitlines()
    assert own != changed_text
    assert len(set(own) ^ set(changed_text)) <= 2


def test_the_text_is_toml_that_is_read_again() -> None:
    system = good()
    again = good(system.text)
    assert again == system
    assert again.text == system.text
    assert again.tests == ()


RANDOM = """
format = 1
name = "random"
time_unit = "1"
[parameters]
a = {}
b = {}
[states]
x = { initial = "a" }
v_1 = { initial = "b" }
[definitions]
[modes.stick]
x = 0
v_1 = 0
[modes.slip]
x = 0
v_1 = 0
[[events]]
name = "e"
when = "x"
direction = "both"
[outputs]
o = { mean = "x" }
"""


@settings(deadline=None)
@given(st.lists(trees(), min_size=4, max_size=4), conditions())
def test_random_models_are_read_again_from_their_texts(parts: list[Any], condition: Any) -> None:
    tables = tomllib.loads(RANDOM)
    derivative, reset, definition, output = map(oracle_text, parts)
    tables["modes"]["slip"]["x"] = derivative
    tables["definitions"]["d"] = {"value": definition}
    tables["events"][0] |= {"if": oracle_text(condition), "set": {"v_1": reset}}
    tables["outputs"]["o"] = {"rms": f"d + {output}"}
    tables["outputs"]["q"] = {"share": oracle_text(condition)}
    system = read_system(tables)
    again = read_system(tomllib.loads(system.text))
    assert again == system
    assert again.text == system.text
    assert again.modes["slip"]["x"] == parse(derivative)
    assert again.events[0].condition == parse(oracle_text(condition))
