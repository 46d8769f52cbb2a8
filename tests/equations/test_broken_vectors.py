"""Broken indices, tables and names over indices: each fault at its key, with what to do."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import pytest

from sweep.equations.model_indices import MAX_SIZE
from sweep.errors import ConfigError
from sweep.file.model_file import read_model
from tests.equations.good_model import changed, faults_of, read_system

GOOD = """
format = 1
name = "rig"

[indices]
mode = 3
support = ["lower", "upper"]
twin = { same_as = "mode" }

[tables]
omega = { over = "mode", values = [10, 20, 35], unit = "rad/s" }
shape = { over = ["support", "mode"], values = [[1, 2, 3], [3, 2, 1]] }

[parameters]
gap = { over = "support", unit = "m", minimum = 0, default = 1e-4 }
stiffness = { unit = "N/m", default = 1e5 }
mass = { unit = "kg", minimum = 0, open_minimum = true }

[states]
q = { over = "mode", unit = "m", initial = "0", scale = "1e-4" }
v = { over = "mode", unit = "m/s", initial = "0" }

[definitions]
y = { over = "support", value = "sum(mode, shape*q)", unit = "m" }
push = { over = "support", value = "where(y > gap, stiffness*(y - gap), 0)", unit = "N" }
ahead = { over = "mode", value = "where(mode < size(mode) - 1, q[mode + 1], q)", unit = "m" }

[derivatives]
q = "v"
v = "-omega**2*ahead - sum(support, shape*push)/mass"

[[events]]
name = "touch"
over = "support"
only = "support != upper"
when = "y - gap"
direction = "rising"

[[events]]
name = "stop"
over = "mode"
only = "mode > 0"
when = "q"
direction = "falling"
set = { "v[mode - 1]" = "-v[mode - 1]", v = "0" }

[outputs]
touches = { over = "support", count = "touch" }
lower = { count = "touch[lower]" }
power = { over = "support", mean = "push*sum(mode, shape*v)", unit = "W" }
kept = { over = "mode", values = "q", every = "stop", keep = 4, unit = "m" }

[[tests]]
at = { mass = 1, "gap[upper]" = 1e-3, window_end = 1 }
expect = { touches = [0, 0] }
absolute = 1e9
"""

STOP, TOUCH = "events[2] 'stop'", "events[1] 'touch'"
# (a piece of the good file, what stands there instead, the place, what is said)
# fmt: off
BROKEN = [
    # indices
    ("mode = 3", "mode = 0", "indices.mode", "0 values; an index has 1 to"),
    ("mode = 3", f"mode = {MAX_SIZE + 1}", "indices.mode", f"an index has 1 to {MAX_SIZE}"),
    ("mode = 3", "mode = 2.5", "indices.mode", "2.5 is not a number of values; write mode = 10"),
    ("mode = 3", "pi = 3", "indices.pi", "'pi' is a number; choose another name"),
    ("mode = 3", "point = 3", "indices.point", "'point' is a name with a meaning of its own"),
    ('["lower", "upper"]', "[]", "indices.support", "[] is not a list of labels"),
    ('["lower", "upper"]', '["lower", 2]', "indices.support", "is not a list of labels"),
    ('["lower", "upper"]', '["lower", "lower"]', "indices.support", "'lower' occurs twice; rename"),
    ('["lower", "upper"]', '["lower", "up per"]', "indices.support", "'up per' is not a name"),
    ('["lower", "upper"]', '["lower", "mode"]', "indices.support", "'mode' is also an index"),
    ('same_as = "mode"', 'same_as = "mod"', "indices.twin", "'mod' is not an index above it"),
    ('same_as = "mode"', 'size = 3', "indices.twin", "is not known; write twin = 10"),
    ("mass = {", "support = {", "parameters.support", "'support' is also an index"),
    # tables
    ("[10, 20, 35]", "[10, 20]", "tables.omega.values", "a list of 2, but mode has 3 values"),
    ("[3, 2, 1]]", "[3, 2]]", "tables.shape.values", "[upper]: a list of 2, but mode has 3"),
    ("[3, 2, 1]]", '[3, 2, "1"]]', "tables.shape.values", "'1' is not a finite number"),
    ("[3, 2, 1]]", "4]", "tables.shape.values", "[upper]: 4, but mode has 3 values; give a list"),
    ("values = [10, 20, 35], ", "", "tables.omega.values", "missing; write values = [...], or"),
    ('omega = { over = "mode", ', "omega = { ", "tables.omega.over", "missing; name the index"),
    ('unit = "rad/s"', 'unit = "rad"', "derivatives.v", "which have to agree"),
    ('initial = "0", scale = "1e-4"', 'initial = "omega"', "states.q.initial",
     "omega[0] has the unit 1/s, but the unit m is needed"),
    # over
    ('q = { over = "mode"', 'q = { over = "modes"', "states.q.over", "did you mean 'mode'?"),
    ('q = { over = "mode"', 'q = { over = []', "states.q.over", "empty; name an index, or remove"),
    ('q = { over = "mode"', 'q = { over = ["mode", "mode"]', "states.q.over", "listed twice; give"),
    ('["support", "mode"]', '["support", "mode", "twin", "x"]', "tables.shape.over", "'x' is not"),
    ('over = "mode", unit = "m", initial', 'unit = "m", initial', "derivatives.q",
     "column 1: 'v' has the index mode, and mode has no value here"),
    # expressions
    ('"sum(mode, shape*q)", unit = "m"', '"shape*q", unit = "m"', "definitions.y.value",
     "column 1: 'shape' has the index support, mode, and mode has no value here; give the line"),
    ("q[mode + 1]", "q[mode + 2]", "definitions.ahead.value",
     "column 32: q[3] does not exist: mode ends at 2; guard it, as in where("),
    ("q[mode + 1]", "q[mode/2]", "definitions.ahead.value", "q[mode/2]: no whole number of indic"),
    ("q[mode + 1]", "q[lower]", "definitions.ahead.value", "no whole number of indices; write"),
    ("q[mode + 1]", "q[mode, 1]", "definitions.ahead.value", "q has the indices mode, and there"),
    ("q[mode + 1]", "mass[mode]", "definitions.ahead.value", "'mass' has no index; give it over"),
    ("q[mode + 1]", "p[mode]", "definitions.ahead.value", "column 30: 'p' is unknown"),
    ("q[mode + 1]", "q[mode + 1", "definitions.ahead.value", "column 31: '[' is not closed"),
    ("size(mode) - 1,", "size(mass) - 1,", "definitions.ahead.value", "'mass' is not an index"),
    ("sum(mode, shape*q)", "sum(shape*q)", "definitions.y.value", "sum takes 2 arguments, not 1"),
    ("sum(mode, shape*q)", "sum(q + 1, q)", "definitions.y.value", "first argument of sum has to"),
    ("sum(mode, shape*q)", "sum(mods, q[0])", "definitions.y.value", "'mods' is not an index; did"),
    ("where(y > gap,", "where(support == uper,", "definitions.push.value",
     "column 18: 'uper' is not a label of support; did you mean 'upper'?"),
    ('"sum(mode, shape*q)", unit', '"q[lower] + lower", unit', "definitions.y.value", "no whole"),
    # events
    ('only = "mode > 0"', 'only = "q > 0"', f"{STOP}.only", "q > 0 is not decided by indices"),
    ('only = "mode > 0"', "", f"{STOP}.set.'v[mode - 1]'", "not exist: mode begins at 0; write"),
    ('name = "stop"\nover = "mode"\n', 'name = "stop"\n', f"{STOP}.only", "the event has no index"),
    ('v = "0" }', '"v[mode-1]" = "0" }', f"{STOP}.set.'v[mode-1]'", "is also set by another key"),
    ('v = "0" }', '"w[mode]" = "0" }', f"{STOP}.set.'w[mode]'", "is not a state"),
    # outputs
    ('"touch[lower]"', '"touch[lowr]"', "outputs.lower.count", "a label: did you mean 'lower'?"),
    ('"touch[lower]"', '"tuch"', "outputs.lower.count", "'tuch' is not an event; did you mean"),
    ('over = "support", count', 'over = "twin", count', "tests[1].expect.touches", "twin has 3"),
    ("keep = 4", "keep = 2000", "outputs", "6,000 values of a point are kept in all, but at most"),
    # limits and tests
    ("mode = 3", "mode = 40", "states", "80 states in all, one for each value of an index; at"),
    ('"gap[upper]" = 1e-3', '"gap[upper]" = -1', "tests[1].at.'gap[upper]'", "is outside the par"),
    ("touches = [0, 0]", "touches = [0]", "tests[1].expect.touches", "a list of 1, but support"),
]
# fmt: on


def test_the_file_is_right_before_it_is_broken() -> None:
    system = read_system(tomllib.loads(GOOD))
    assert len(system.states) == 6
    assert [event.name for event in system.events] == ["touch[lower]", "stop[1]", "stop[2]"]


@pytest.mark.parametrize(
    ("piece", "other", "place", "message"), BROKEN, ids=[f"{i}" for i in range(len(BROKEN))]
)
def test_a_broken_file_over_indices_is_refused(
    piece: str, other: str, place: str, message: str
) -> None:
    faults = faults_of(changed(piece, other, GOOD))
    at_place = [str(fault) for fault in faults if fault.where == place]
    assert any(message in each for each in at_place), "\n".join(map(str, faults))
    assert all(len(str(fault)) < 700 for fault in faults)
    keys = [(fault.where, fault.what.partition(":")[0]) for fault in faults]
    assert len({*keys}) == len(keys)  # one fault for all elements of a line


def test_without_indices_there_are_no_elements() -> None:
    text = GOOD.replace("[indices]", "[indexes]")
    faults = {fault.where: str(fault) for fault in faults_of(text)}
    assert "did you mean 'indices'?" in faults["indexes"]
    assert "this model has no indices; write [indices]" in faults["states.q.over"]
    assert "only names with over" in faults["definitions.ahead.value"]


def test_all_faults_over_indices_are_reported_at_once() -> None:
    text = changed("q[mode + 1]", "q[mode + 3]", GOOD)
    text = changed('only = "mode > 0"', 'only = "gap > 0"', text)
    text = changed('"rad/s"', '"rad/z"', text)
    text = changed("push*sum(mode, shape*v)", "push*sum(mode, shape*w)", text)
    places = {fault.where for fault in faults_of(text)}
    assert places == {
        "definitions.ahead.value", f"{STOP}.only", "tables.omega.unit", "outputs.power.mean",
    }  # fmt: skip


def test_what_would_grow_without_end_is_refused() -> None:
    nest = "sum(mode, sum(twin, " * 8 + "1" + "))" * 8
    (fault,) = faults_of(changed("sum(mode, shape*q)", f"{nest}*q[0]", GOOD))
    assert "parts when its indices are expanded; use [definitions]" in str(fault)


FILES = [
    ("omega;lower;upper\n1;2;3\n4;5;6\n", None, ""),
    ("omega;lower;upper\n", "indices.mode", "has no rows below its header; add rows"),
    ("omega;lower\n1;2\n4;5\n", "tables.shape", "column 'upper' is missing"),
    ("omega;lower;upper\n1;2;3\nx;5;6\n", "tables.omega", "line 3: 'x' is not a number"),
    (None, "indices.mode", "cannot be read: No such file"),
]


@pytest.mark.parametrize(("csv", "place", "message"), FILES, ids=range(len(FILES)))
def test_numbers_of_files(tmp_path: Path, csv: str | None, place: str | None, message: str) -> None:
    if csv is not None:
        (tmp_path / "modes.csv").write_text(csv)
    text = changed("mode = 3", 'mode = { file = "modes.csv", first = 8 }', GOOD)
    text = changed("values = [10, 20, 35]", 'file = "modes.csv", column = "omega"', text)
    columns = 'file = "modes.csv", columns = ["lower", "upper"]'
    text = changed("values = [[1, 2, 3], [3, 2, 1]]", columns, text)
    (tmp_path / "rig.toml").write_text(text)
    if place is None:
        model = read_model("./rig.toml", tmp_path)
        assert "shape = { over = " in model.text
        assert "values = [[2.0, 5.0], [3.0, 6.0]]" in model.text
        assert "mode = 2\n" in model.text
        return
    with pytest.raises(ConfigError) as error:
        read_model("./rig.toml", tmp_path)
    found = [str(fault) for fault in error.value.faults if fault.where == place]
    assert any(message in each for each in found), error.value


def test_a_file_is_cut_to_its_first_rows_and_its_keys_belong_together(tmp_path: Path) -> None:
    (tmp_path / "modes.csv").write_text("omega [turn/s],lower\n1,2\n4,5\n7,8\n")
    text = changed("mode = 3", 'mode = { file = "modes.csv", first = 2 }', GOOD)
    text = changed("values = [10, 20, 35]", 'file = "modes.csv", column = "omega"', text)
    text = changed("[[1, 2, 3], [3, 2, 1]]", "[[1, 2], [2, 1]]", text)
    (tmp_path / "rig.toml").write_text(text)
    values = f"values = [{2 * math.pi!r}, {8 * math.pi!r}]"
    assert values in read_model("./rig.toml", tmp_path).text
    for other in (
        'columns = ["omega"]',
        'column = "omega", columns = ["omega"]',
        'decimal = "."',
        "first = 2",
    ):
        broken = text.replace('column = "omega"', other)
        (tmp_path / "rig.toml").write_text(broken)
        with pytest.raises(ConfigError, match=r"tables\.omega"):
            read_model("./rig.toml", tmp_path)
