"""Switches and holds over an index: against an expansion by hand, and known values."""

from __future__ import annotations

import tomllib
from typing import Any

import numpy as np
import pytest

import sweep
from sweep.equations.system_file import examine
from tests.equations.good_model import read_system
from tests.equations.switch_examples import JENKINS
from tests.equations.test_switches import JENKINS_EXACT

N = 3
BLOCKS = """
format = 1
name = "blocks"
time_unit = "1"
[parameters]
coupling = { default = 1 }
static = { over = "block", default = 1 }
kinetic = { default = 0.7 }
speed = { default = 0.1 }
[states]
x = { over = "block", initial = "0.01*sin(7*block)" }
v = { over = "block", initial = "0" }
[switches.contact]
over = "block"
values = ["stick", "slip"]
start = { slip = "x > 0.005", stick = "true" }
[definitions]
ahead = { over = "block", value = "where(block < size(block) - 1, x[block + 1], x)" }
behind = { over = "block", value = "where(block > 0, x[block - 1], x)" }
pull = { over = "block", value = "coupling*(ahead - 2*x + behind) + 0.3*(speed*t - x)" }
[derivatives]
x = "where(contact == stick, 0, v)"
v = "where(contact == stick, 0, pull - kinetic)"
[[events]]
name = "release"
over = "block"
in = "contact == stick"
when = "pull - static"
direction = "rising"
at_entry = true
set = { contact = "slip" }
[[events]]
name = "arrest"
over = "block"
in = "contact == slip"
when = "v"
direction = "falling"
set = { contact = "stick", v = "0" }
[[events]]
name = "nudge"
over = "block"
only = "block > 0"
when = "x - 0.5"
direction = "rising"
in = "contact[block - 1] == stick"
set = { "contact[block - 1]" = "slip" }
[outputs]
slips = { over = "block", count = "release" }
all = { count = "release" }
first = { count = "release[0]" }
moving = { mean = "sum(block, where(contact == slip, 1, 0))" }
free = { over = "block", share = "contact == slip and contact[0] == slip" }
end = { over = "block", final = "x" }
[holds]
near = { over = "block", condition = "x < 50", meaning = "the block has left" }
[indices]
block = 3
"""


def by_hand() -> str:
    """The same, a line for each block."""
    head, _, rest = BLOCKS.partition("[states]")
    text = head.replace('static = { over = "block", default = 1 }\n', "")
    text += "".join(f"static_{i} = {{ default = 1 }}\n" for i in range(N)) + "[states]\n"
    text += "".join(f'x_{i} = {{ initial = "0.01*sin(7*{i})" }}\n' for i in range(N))
    text += "".join(f'v_{i} = {{ initial = "0" }}\n' for i in range(N))
    for i in range(N):
        text += f'[switches.contact_{i}]\nvalues = ["stick", "slip"]\n'
        text += f'start = {{ slip = "x_{i} > 0.005", stick = "true" }}\n'
    text += "[definitions]\n"
    for i in range(N):
        ahead, behind = min(i + 1, N - 1), max(i - 1, 0)
        pull = f"coupling*(x_{ahead} - 2*x_{i} + x_{behind}) + 0.3*(speed*t - x_{i})"
        text += f'pull_{i} = {{ value = "{pull}" }}\n'
    text += "[derivatives]\n"
    for i in range(N):
        text += f'x_{i} = "where(contact_{i} == stick, 0, v_{i})"\n'
        text += f'v_{i} = "where(contact_{i} == stick, 0, pull_{i} - kinetic)"\n'
    for name in ("release", "arrest", "nudge"):
        own = rest.split(f'name = "{name}"\n')[1].split("[[events]]")[0].split("[outputs]")[0]
        own = own.replace('over = "block"\n', "").replace('only = "block > 0"\n', "")
        for i in range(N):
            if name == "nudge" and i == 0:
                continue
            line = own.replace('"contact[block - 1]"', f"contact_{i - 1}")
            line = line.replace("contact[block - 1]", f"contact_{i - 1}")
            line = line.replace("contact =", f"contact_{i} =") if name != "nudge" else line
            for each in ("x", "v", "pull"):
                line = line.replace(f'"{each} -', f'"{each}_{i} -')
                line = line.replace(f'"{each}"', f'"{each}_{i}"')
            line = line.replace("- static", f"- static_{i}")
            line = line.replace(" v =", f" v_{i} =")
            text += f'[[events]]\nname = "{name}_{i}"\n{line}'
    text += "[outputs]\n"
    for i in range(N):
        text += f'slips_{i} = {{ count = "release_{i}" }}\nend_{i} = {{ final = "x_{i}" }}\n'
        text += f'free_{i} = {{ share = "contact_{i} == slip and contact_0 == slip" }}\n'
    each = [f"where(contact_{i} == slip, 1, 0)" for i in range(N)]
    text += f'moving = {{ mean = "({each[0]} + {each[1]}) + {each[2]}" }}\n[holds]\n'
    return text + "".join(f'near_{i} = {{ condition = "x_{i} < 50" }}\n' for i in range(N))


def computed(text: str, **values: Any) -> Any:
    axes = {name: {"values": value} for name, value in values.items() if isinstance(value, list)}
    constants = {name: value for name, value in values.items() if not isinstance(value, list)}
    request = {"model": tomllib.loads(text), "parameters": constants, "axes": axes}
    return sweep.run({**request, "method": "rk54"}, store=None, progress=False)


def test_switches_over_an_index_are_their_expansion_by_hand() -> None:
    values = {"speed": [0.1, 0.2, 0.3], "window_end": 60.0, "relative_tolerance": 1e-9}
    vector, scalars = computed(BLOCKS, **values), computed(by_hand(), **values)
    assert not vector.status.any()
    assert vector.slips.dims == ("speed", "block")
    assert vector.slips.min() > 0
    for name in ("slips", "free", "end"):
        columns = np.stack([scalars[f"{name}_{i}"] for i in range(N)], axis=1)
        np.testing.assert_array_equal(vector[name], columns, err_msg=name)
    np.testing.assert_array_equal(vector.moving, scalars.moving)
    np.testing.assert_array_equal(vector["all"], vector.slips.sum("block"))
    np.testing.assert_array_equal(vector["first"], vector.slips.sel(block=0))


def test_the_canonical_text_gives_the_model_again() -> None:
    system = read_system(tomllib.loads(BLOCKS))
    again = read_system(tomllib.loads(system.text))
    assert again.text == system.text
    assert [each.name for each in again.switches] == [f"contact[{i}]" for i in range(N)]


def test_friction_with_a_gap_at_two_supports() -> None:
    """Two uncoupled oscillators in one model, each with its own frequency and its own switch."""
    mapping = tomllib.loads(JENKINS.partition("[holds")[0])
    for table in ("states", "switches", "definitions", "outputs"):
        for entry in mapping[table].values():
            entry["over"] = "case"
    for event in mapping["events"]:
        event["over"] = "case"
    mapping["parameters"]["omega"]["over"] = "case"
    first, second = JENKINS_EXACT
    request = {
        "model": {**mapping, "indices": {"case": ["slow", "fast"]}},
        "method": "dop853",
        "parameters": {"omega[slow]": first, "window_end": 30.0, "relative_tolerance": 1e-11},
        "axes": {"omega[fast]": {"values": [second]}},
    }
    points = sweep.run(request, store=None, progress=False)
    assert not points.status.any()
    for case, exact in zip(("slow", "fast"), JENKINS_EXACT.values(), strict=True):
        own = points.sel(case=case)
        found = [float(own[name].item()) for name in ("y_end", "z_end", "dissipation")]
        np.testing.assert_allclose(found, exact, rtol=0, atol=1.5e-8)


def test_a_hold_over_an_index_is_checked() -> None:
    points = computed(BLOCKS.replace("x < 50", "x < 0.02"), speed=[0.3], window_end=60.0)
    assert points.status.item() == 3


FAULTS = {
    "unknown value": (
        'contact == stick, 0, v)', 'contact == stik, 0, v)', "stik", "did you mean 'stick'",
    ),
    "no such element": (
        'in = "contact[block - 1] == stick"', 'in = "contact[block + 1] == stick"',
        "contact[3] does not exist", "",
    ),
    "a switch as a number": ('"pull - static"', '"pull - contact"', "contact", ""),
    "an element that set does not have": (
        '"contact[block - 1]" = "slip"', '"contact[block - 9]" = "slip"', "does not exist", "",
    ),
    "no value of a switch": ('{ contact = "slip" }', '{ contact = "slid" }', "slid", "slip"),
    "an unknown index": (
        'over = "block"\nvalues', 'over = "blok"\nvalues', "blok", "did you mean 'block'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_switches_over_an_index(name: str) -> None:
    old, new, what, cure = FAULTS[name]
    assert old in BLOCKS
    system, faults = examine(tomllib.loads(BLOCKS.replace(old, new)))
    assert system is None
    assert any(what in str(fault) and cure in str(fault) for fault in faults), faults


def test_an_output_may_be_called_like_a_value_of_a_switch() -> None:
    shares = '[outputs]\nslip = { over = "block", share = "contact == slip" }\n'
    written = BLOCKS.partition("[outputs]")[0] + shares
    named = written.replace("slip = { over", "slip_share = { over")
    texts = [tomllib.loads(f"{each}\n[indices]\nblock = {N}\n") for each in (written, named)]
    request = {"method": "rk54", "parameters": {"window_end": 20.0}}
    first, second = (
        sweep.run({"model": text, **request}, store=None, progress=False) for text in texts
    )
    assert first["slip"].dims == ("block",)
    assert (first["slip"] > 0).any()
    np.testing.assert_array_equal(first["slip"], second["slip_share"])
