"""Events at one time act in the order of the file, whether or not they change the motion."""

from __future__ import annotations

import numpy as np
import pytest

from sweep.spec import Status
from tests.equations.examples import points
from tests.equations.test_events import FIRST, METHODS, bounced, controls

# A ball above a floor; all events are at its impacts. `before` and `after` change nothing.
IMPACTS = """
format = 1
name = "impacts"
time_unit = "1"
[parameters]
ground = {}
height = {}
gravity = { default = 9.81 }
[states]
x = { initial = "ground + height" }
v = { initial = "0" }
[derivatives]
x = "v"
v = "-gravity"
[[events]]
name = "before"
when = "ground - x"
direction = "rising"
if = "v > 0"
[[events]]
name = "impact"
when = "x - ground"
direction = "falling"
set = { v = "-0.8*v" }
[[events]]
name = "after"
when = "3*(x - ground)"
direction = "both"
if = "v > 0"
[[events]]
name = "outside"
when = "sqrt(v - 100)"
direction = "rising"
[outputs]
impacts = { count = "impact" }
befores = { count = "before" }
afters = { count = "after" }
slowest = { at = "after", maximum = "-v" }
outsides = { count = "outside" }
"""


@pytest.mark.parametrize("method", METHODS)
def test_a_condition_is_that_after_the_events_before(method: str) -> None:
    """High above the origin, where rounding spreads the impact over many roundings of time, too."""
    grounds, heights = [0.0, 1e3, 1e6], [1.8, 1.9, 2.0]
    impacts = [bounced(3.0, height)[2] for height in heights]
    motion = points(
        IMPACTS, method, {"ground": grounds, "height": heights}, window_end=3.0,
        maximum_events=max(impacts), **controls(method),
    )  # fmt: skip
    expected = np.tile(impacts, (len(grounds), 1))
    assert (motion.status == Status.ok).all(), "what changes nothing is no chattering"
    np.testing.assert_array_equal(motion.impacts, expected)
    np.testing.assert_array_equal(motion.befores, 0)
    np.testing.assert_array_equal(motion.afters, expected)
    speeds = [0.8**n * np.sqrt(2 * 9.81 * h) for n, h in zip(impacts, heights, strict=True)]
    np.testing.assert_allclose(motion.slowest[0], -np.array(speeds), rtol=1e-9)
    np.testing.assert_array_equal(motion.outsides, -1, err_msg="it is not known whether it happens")


@pytest.mark.parametrize("method", FIRST)
def test_what_is_only_counted_never_ends_a_motion(method: str) -> None:
    """By rounding such an expression may cross zero twice at an impact."""
    expressions = ("x*v", "x*abs(v)", "x - 1e-14", "sin(3*x)")
    event = '[[events]]\nname = "e{}"\nwhen = "{}"\ndirection = "both"\n'
    events = "".join(event.format(i, when) for i, when in enumerate(expressions))
    counts = "".join(f'n{i} = {{ count = "e{i}" }}\n' for i in range(len(expressions)))
    heights = np.linspace(1.8, 2.0, 5)
    motion = points(
        IMPACTS.replace("[outputs]", f"{events}[outputs]\n{counts}"),
        method, {"height": heights}, ground=0.0, window_end=3.0, **controls(method),
    )  # fmt: skip
    assert (motion.status == Status.ok).all()
    impacts = [bounced(3.0, height)[2] for height in heights]
    np.testing.assert_array_equal(motion.impacts, impacts)
    for i in range(len(expressions)):
        assert (motion[f"n{i}"] >= impacts).all(), "at each impact it is zero"


# At t = 1 the mode changes; the events below it are due, too.
MODES = """
format = 1
name = "modes"
time_unit = "1"
[states]
x = { initial = "1" }
[modes.a]
x = "0"
[modes.b]
x = "0"
[[events]]
name = "early"
in = "a"
when = "2*t - 2"
direction = "rising"
[[events]]
name = "change"
in = "a"
when = "t - 1"
direction = "rising"
then = "b"
set = { x = "-1" }
[[events]]
name = "late"
in = "a"
when = "t - 1"
direction = "rising"
[[events]]
name = "later"
in = "a"
when = "3*t - 3"
direction = "rising"
[[events]]
name = "past"
in = "b"
when = "x"
direction = "falling"
at_entry = true
[outputs]
changes = { count = "change" }
earlies = { count = "early" }
lates = { count = "late" }
laters = { count = "later" }
pasts = { count = "past" }
kept = { values = "x", every = "early", keep = 1 }
"""


@pytest.mark.parametrize("method", FIRST)
def test_a_mode_is_that_after_the_events_before(method: str) -> None:
    """`late` has the expression of `change`, so both are judged before anything is set."""
    steps = {"step": 0.3} if method == "rk4" else {}
    motion = points(MODES, method, window_end=3.0, **steps)
    names = ("changes", "earlies", "lates", "laters", "pasts")
    assert [int(motion[name]) for name in names] == [1, 1, 1, 0, 1]
    assert motion.kept.values.tolist() == [1.0]


@pytest.mark.parametrize("method", FIRST)
def test_an_event_is_counted_once_where_its_mode_is_entered_at_it(method: str) -> None:
    """`seen` is due in the first mode, and again at once as that of the next."""
    text = """
    format = 1
    name = "entered"
    time_unit = "1"
    [states]
    x = { initial = "1" }
    [modes.a]
    x = "-1"
    [modes.b]
    x = "-1"
    [[events]]
    name = "change"
    in = "a"
    when = "x"
    direction = "falling"
    then = "b"
    [[events]]
    name = "seen"
    when = "x"
    direction = "falling"
    at_entry = true
    [outputs]
    sightings = { count = "seen" }
    last = { final = "x" }
    """
    motion = points(text, method, window_end=3.0, **controls(method))
    assert (int(motion.status), int(motion.sightings)) == (Status.ok, 1)
    assert float(motion.last) == pytest.approx(-2.0, abs=1e-9)


ENTRY = """
format = 1
name = "entry"
time_unit = "1"
[parameters]
start = {}
rate = {}
[states]
x = { initial = "start" }
n = { initial = "0" }
[derivatives]
x = "rate"
n = "0"
[outputs]
acted = { final = "n" }
"""
DIRECTIONS = ("rising", "falling", "both")


@pytest.mark.parametrize("method", FIRST)
def test_at_entry_a_side_counts_as_past_zero_by_the_direction(method: str) -> None:
    event = '[[events]]\nname = "{name}"\nwhen = "x"\ndirection = "{direction}"\nat_entry = true\n'
    events = [
        line.format(name=prefix + direction, direction=direction)
        for direction in DIRECTIONS
        for prefix, line in (("", event), ("acting_", event + 'set = {{ n = "n + 1" }}\n'))
    ]
    counts = [f'{name}_count = {{ count = "{name}" }}\n' for name in DIRECTIONS]
    text = ENTRY + "".join(counts) + "".join(events)
    along = {"start": [-1.0, 0.0, 1.0], "rate": [-1.0, 0.0, 1.0]}
    motion = points(text, method, along, window_end=0.5, **controls(method))
    start, rate = np.meshgrid(along["start"], along["rate"], indexing="ij")
    side = np.where(start == 0, rate, start)
    expected = {"rising": side > 0, "falling": side < 0, "both": side != 0}
    for name in DIRECTIONS:
        np.testing.assert_array_equal(motion[f"{name}_count"], expected[name], err_msg=name)
    np.testing.assert_array_equal(motion.acted, 2 * (side != 0))
