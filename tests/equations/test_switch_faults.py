"""Faults of switches, holds and rest: each at its key, with what to do."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from sweep.cli import main
from sweep.equations.switches import never_left
from tests.equations.good_model import faults_of, good

SWITCHED = """
format = 1
name = "switched"
time_unit = "1"
[parameters]
limit = { default = 1 }
[states]
x = { initial = "limit" }
v = { initial = "0" }
[definitions]
pull = { value = "where(contact == slip, 1, 0)" }
[switches]
contact = { values = ["open", "stick", "slip"], start = { stick = "x > 1", open = "true" } }
door = { values = ["open", "shut"], start = "shut" }
[derivatives]
x = "v"
v = "where(contact == stick, 0, -pull)"
[[events]]
name = "touch"
in = "contact == open and door != shut"
when = "x"
direction = "falling"
if = "contact != slip"
set = { contact = { slip = "v < -1", stick = "true" }, v = "0" }
rest = { contact = "stick" }
[outputs]
end = { final = "x" }
[holds]
near = { condition = "abs(x) < 10 or door == open", meaning = "it is gone" }
"""
TOUCH, START = "events[1] 'touch'", "switches.contact.start"
CHOICE = '{ slip = "v < -1", stick = "true" }'
IN = "contact == open and door != shut"
MODES = '[modes.a]\nx = "v"\nv = "0"\n[modes.b]\n'
RATES = '[derivatives]\nx = "v"\nv = "where(contact == stick, 0, -pull)"'

# (a piece of the file, what stands there instead, the place, what is said)
# fmt: off
FAULTS = [
    ('values = ["open", "shut"], ', "", "switches.door.values", 'missing; write values = ["open"'),
    ('["open", "shut"]', '["open", "open"]', "switches.door.values", "is not a list of different"),
    ('["open", "shut"]', '["open", 1]', "switches.door.values", "is not a list of different names"),
    ('["open", "shut"]', '"open"', "switches.door.values", "is not a list of different names"),
    ('["open", "shut"]', '["open", "a b"]', "switches.door.values", "'a b' is not a name"),
    ('["open", "shut"]', '["open", "sin"]', "switches.door.values", "'sin' is a function; choose"),
    ('["open", "shut"]', str([f"a{i}" for i in range(17)]), "switches.door.values", "at most 16"),
    ('start = "shut"', 'start = "shu"', "switches.door.start", "'shu' is no value of door; did yo"),
    ('start = "shut"', "start = 1", "switches.door.start", '1 is no value of door; write start = '),
    ('stick = "x > 1", open = "true"', 'stick = "x > 1"', START, 'give "true" to the last one onl'),
    ('stick = "x > 1", ', 'stick = "true", ', START, "what follows \"true\" is never taken"),
    ('stick = "x > 1", ', 'grip = "x > 1", ', f"{START}.grip", "'grip' is no value of contact"),
    ('"x > 1"', '"x"', f"{START}.stick", "x is a number, but a condition is needed"),
    ('"x > 1"', '"door == open"', f"{START}.stick", "door == open is not known yet: switches star"),
    ('"x > 1"', '"pull > 1"', f"{START}.stick", "contact == slip is not known yet"),
    ('"limit"', '"where(door == open, 1, 2)"', "states.x.initial", "'door == open' is a switch, w"),
    ("contact == slip, 1", "contact == slp, 1", "definitions.pull.value",
     "column 7: 'slp' is no value of contact; did you mean 'slip'?"),
    ("contact == slip, 1", "slip, 1", "definitions.pull.value", "'slip' is unknown; write contact"),
    ("contact == slip, 1", "contact > slip, 1", "definitions.pull.value",
     "'contact' is a switch, which cannot stand here; write contact == open"),
    ("contact == slip, 1", "contact == door, 1", "definitions.pull.value", "'door' is no value of"),
    ('v = "where(contact == stick', 'contact = "1"\nv = "where(contact == stick',
     "derivatives.contact", "'contact' is not a state"),
    (IN, "contact == open and x > 0", f"{TOUCH}.in", "'x' is a state, which cannot stand here"),
    (IN, "open", f"{TOUCH}.in", 'write in = "contact == open"'),
    (IN, "contact == opn", f"{TOUCH}.in", "'opn' is no value of contact; did you mean 'open'?"),
    (CHOICE, '"grip"', f"{TOUCH}.set.contact", "'grip' is no value of contact"),
    (CHOICE, "{}", f"{TOUCH}.set.contact", "it may be that no condition holds"),
    (CHOICE, '{ slip = "v < -1" }', f"{TOUCH}.set.contact", 'give "true" to the last one only'),
    (CHOICE, '{ slip = "w < -1", stick = "true" }', f"{TOUCH}.set.contact.slip", "'w' is unknown"),
    (f"contact = {CHOICE}", 'contac = "slip"', f"{TOUCH}.set.contac", "not a state or a switch"),
    ('rest = { contact = "stick" }', 'rest = "stick"', f"{TOUCH}.rest", "write rest = { SWITCH ="),
    ('{ contact = "stick" }', '{ contac = "stick" }', f"{TOUCH}.rest.contac", "is not a switch; d"),
    ('{ contact = "stick" }', "{}", f"{TOUCH}.rest", "empty; write the mode of rest"),
    (f'set = {{ contact = {CHOICE}, v = "0" }}\n', "", f"{TOUCH}.rest", "because nothing is set"),
    ('"abs(x) < 10 or door == open"', '"abs(x)"', "holds.near.condition", "compare it, as in abs("),
    ('condition = "abs(x) < 10 or door == open", ', "", "holds.near.condition", "missing; write"),
    ("near = {", "x = {", "holds.x", "'x' is also a state"),
    ("door = {", "x = {", "switches.x", "'x' is also a state"),
    (RATES, f"{MODES}[modes.door]\n", "switches.door", "'door' is also a mode"),
]
# fmt: on


@pytest.mark.parametrize(
    ("piece", "other", "place", "message"), FAULTS, ids=[f"{i}" for i in range(len(FAULTS))]
)
def test_a_broken_file_is_refused(piece: str, other: str, place: str, message: str) -> None:
    assert piece in SWITCHED
    faults = faults_of(SWITCHED.replace(piece, other, 1))
    at_place = [str(fault) for fault in faults if fault.where == place]
    assert any(message in each for each in at_place), "\n".join(map(str, faults))
    assert all(len(str(fault)) < 700 for fault in faults)


def test_all_faults_are_reported_at_once() -> None:
    text = SWITCHED.replace('start = "shut"', 'start = "shu"').replace("slip, 1", "slp, 1")
    text = text.replace(CHOICE, '"grip"').replace('"abs(x) <', '"abs(y) <')
    places = {fault.where for fault in faults_of(text)}
    assert places == {"switches.door.start", "definitions.pull.value", f"{TOUCH}.set.contact",
                      "holds.near.condition"}  # fmt: skip


def test_the_file_itself_is_right() -> None:
    system = good(SWITCHED)
    assert good(system.text).text == system.text
    assert tomllib.loads(system.text)["events"][0]["rest"] == {"contact": "stick"}


def test_what_no_event_ends_is_named() -> None:
    """`stick` and `slip` are left by nothing; `open` is left in `touch`, where the door is open."""
    assert [*never_left(good(SWITCHED))] == [
        "contact == stick", "contact == slip", "door == open", "door == shut",
    ]  # fmt: skip
    text = SWITCHED.replace(IN, "not (contact == open or door == open)")
    assert "contact == open" in [*never_left(good(text))]
    for stops in ("stop = true", "stop_after = 3"):
        text = SWITCHED.replace(IN, "contact != open").replace('when = "x"', f'{stops}\nwhen = "x"')
        left = [name for name in never_left(good(text)) if name.startswith("contact")]
        assert left == ["contact == open"]
    assert [*never_left(good())] == []  # an event stops it


def test_a_check_says_what_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "switched.toml"
    file.write_text(SWITCHED)
    assert main(["models", str(file), "--check"]) == 0
    out, err = capsys.readouterr()
    assert "no tests" in out
    assert "expressions are right" in out
    assert "no event ends contact == stick, contact == slip" in " ".join(err.split())
