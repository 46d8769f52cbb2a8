"""Events at one time or a few roundings apart, and expressions that are zero where a mode begins.

All motions have closed forms. Counts are exact; values have errors of rounding alone, since the
schemes make none in lines and parabolas, at most 1e-15 at each of thousands of events.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.spec import Status
from tests.equations.examples import model, points
from tests.equations.test_events import FIRST


def bounded(method: str, step: float) -> dict[str, float]:
    """A step for rk4; for the other methods a number of steps with which a wrong motion ends."""
    return {"step": step} if method == "rk4" else {"maximum_steps": 1e6}


def computed(text: str, method: str, rows: dict[str, Any], **constants: float) -> xr.Dataset:
    """Points along one dimension, a parameter a key."""
    return sweep.run(
        {
            "model": model(text),
            "method": method,
            "parameters": {"maximum_events": 1e5, **constants},
            "axes": {
                "case": {k: {"values": np.asarray(v, float).tolist()} for k, v in rows.items()}
            },
        },
        store=None,
        progress=False,
    )


# Two balls that bounce, and are kicked at each impact.

BALLS = """
format = 1
name = "balls"
time_unit = "1"
[parameters]
first = {}
second = {}
restitution = {}
kick = { default = 0 }
ground = { default = 0 }
[states]
x1 = { initial = "ground + first" }
v1 = { initial = "0" }
x2 = { initial = "ground + second" }
v2 = { initial = "0" }
[derivatives]
x1 = "v1"
v1 = "-10"
x2 = "v2"
v2 = "-10"
[[events]]
name = "impact1"
when = "x1 - ground"
direction = "falling"
set = { v1 = "kick - restitution*v1" }
[[events]]
name = "impact2"
when = "x2 - ground"
direction = "falling"
set = { v2 = "kick - restitution*v2" }
[outputs]
count1 = { count = "impact1" }
count2 = { count = "impact2" }
end1 = { final = "x1" }
end2 = { final = "x2" }
lowest = { minimum = "min(x1, x2) - ground" }
"""
GRAVITY = 10.0


def bounced(height: float, restitution: float, kick: float, end: float) -> tuple[int, float]:
    """Impacts, and the height at the end, from the times between impacts."""
    since, speed, impacts = (
        end - math.sqrt(2 * height / GRAVITY),
        math.sqrt(2 * GRAVITY * height),
        0,
    )
    if since < 0:
        return 0, height - GRAVITY * end**2 / 2
    while True:
        impacts += 1
        speed = kick + restitution * speed
        if since < 2 * speed / GRAVITY:
            return impacts, speed * since - GRAVITY * since**2 / 2
        since -= 2 * speed / GRAVITY


def balls(method: str, rows: np.ndarray, **constants: float) -> xr.Dataset:
    names = ("first", "second", "restitution", "kick", "window_end")
    return computed(BALLS, method, dict(zip(names, rows.T, strict=True)), **constants)


def check_balls(ds: xr.Dataset, rows: np.ndarray, tight: float) -> None:
    assert (ds.status == Status.ok).all()
    for ball in (0, 1):
        exact = [bounced(row[ball], *row[2:]) for row in rows.tolist()]
        counts = [impacts for impacts, _ in exact]
        np.testing.assert_array_equal(ds[f"count{ball + 1}"], counts)
        heights = [height for _, height in exact]
        np.testing.assert_allclose(ds[f"end{ball + 1}"], heights, rtol=0, atol=tight)
    assert float(ds.lowest.min()) > -1e-9


def test_the_reference_of_balls() -> None:
    impacts, height = bounced(1.0, 0.95, 0.0, 3.0)
    assert (impacts, round(height, 5)) == (4, 0.38669)


@pytest.mark.parametrize("method", FIRST)
def test_two_balls_a_few_roundings_apart(method: str) -> None:
    """They end before impacts accumulate, and at no impact."""
    offsets = np.array([0, 1, 2, 3, 5, 10, 11, 20, 50, 100, 1000, 10**5, 10**8]) * 2.0**-52
    restitutions = (0.5, 0.7, 0.9, 0.95, 1.0)
    fall = math.sqrt(0.2)
    limits = {e: fall * (1 + e) / (1 - e) if e < 1 else math.inf for e in restitutions}
    ends = {e: min(3.0, 0.95 * limit) for e, limit in limits.items()}
    rows = [(1.0, 1.0 + offset, e, 0.0, ends[e]) for e in restitutions for offset in offsets]
    swapped = [(b, a, *rest) for a, b, *rest in rows]
    both = np.array(rows + swapped)
    steps = bounded(method, 0.1)
    check_balls(balls(method, both, **steps), both, 1e-9)


def middle(restitution: float, impacts: int) -> float:
    """The time in the middle between two impacts of a ball from 1, after so many of them."""
    e, fall = restitution, math.sqrt(0.2)
    return fall * (1 + 2 * e * (1 - e ** (impacts - 1)) / (1 - e) + e**impacts)


@pytest.mark.parametrize("method", FIRST)
def test_many_impacts_that_hardly_lose_speed(method: str) -> None:
    """15,000 impacts, and times between impacts that settle on a period from above and below.

    The ball has lost all but 3e-7 of its speed, so that an impact lasts 2e6 roundings of t. After
    24,000 impacts it lasts 300: their number is uncertain, but with rk54 they have not accumulated
    yet. The other methods land some roundings further from the floor.
    """
    most = 24_000 if method == "rk54" else 20_500
    fading = [(1.0, 1.7, 0.999, 0.0, middle(0.999, n)) for n in (15_000, most)]
    settling = [(1.0, 2.0, 0.5, 1.5, 200.0), (0.01, 3.0, 0.9, 0.1, 200.0)]
    rows = np.array([*settling, *fading])
    ds = balls(method, rows, **bounded(method, 0.1))
    assert bounced(*rows[2, [0, 2, 3, 4]])[0] == 15_000
    assert (ds.status == Status.ok).all()
    assert int(ds.count1[3]) > 20_000
    check_balls(ds.isel(case=slice(3)), rows[:3], 1e-8)


# Two clocks, set back at their periods; the second sees whether the first came first.

CLOCKS = """
format = 1
name = "clocks"
time_unit = "1"
[parameters]
period1 = {}
period2 = {}
keep = { default = 0, meaning = "1: a clock keeps what it is beyond its period" }
ahead = { default = 1, meaning = "periods of the first clock in one of the second" }
[states]
c1 = { initial = "0" }
c2 = { initial = "0" }
n1 = { initial = "0" }
n2 = { initial = "0" }
late = { initial = "0" }
[derivatives]
c1 = "1"
c2 = "1"
n1 = "0"
n2 = "0"
late = "0"
[[events]]
name = "tick1"
when = "c1 - period1"
direction = "rising"
set = { c1 = "keep*(c1 - period1)", n1 = "n1 + 1" }
[[events]]
name = "tick2"
when = "c2 - period2"
direction = "rising"
set = { c2 = "keep*(c2 - period2)", n2 = "n2 + 1", late = "late + abs(n1 - ahead*(n2 + 1))" }
[outputs]
count1 = { count = "tick1" }
count2 = { count = "tick2" }
end1 = { final = "c1" }
end2 = { final = "c2" }
out_of_order = { final = "late" }
"""


def check_clocks(ds: xr.Dataset, rows: dict[str, Any], end: float, tight: float) -> None:
    """Whole periods up to the end, which is at none; their multiples in exact arithmetic."""
    assert (ds.status == Status.ok).all()
    for clock in ("1", "2"):
        periods = [Fraction(float(p)) for p in rows[f"period{clock}"]]
        counts = [int(Fraction(end) / p) for p in periods]
        np.testing.assert_array_equal(ds[f"count{clock}"], counts)
        rest = [float(Fraction(end) - n * p) for n, p in zip(counts, periods, strict=True)]
        np.testing.assert_allclose(ds[f"end{clock}"], rest, rtol=0, atol=tight)


@pytest.mark.parametrize("method", FIRST)
def test_random_clocks_that_tick_together(method: str) -> None:
    """The second has a multiple of the first's period, so that each of its ticks is one of both,
    and comes after the first's in the order of the file.
    """
    random = np.random.default_rng(3)
    count, end = 300, 20.0
    periods = np.round(random.uniform(0.1, 1.5, count), 2)
    periods[::3] = random.uniform(0.1, 1.5, periods[::3].size)
    ahead = random.integers(1, 5, count)
    periods[np.abs(end / periods - np.round(end / periods)) < 1e-3] = (
        0.37  # which does not end then
    )
    seconds = [
        float(Fraction(p) * n) for p, n in zip(periods.tolist(), ahead.tolist(), strict=True)
    ]
    rows = {
        "period1": periods, "period2": seconds, "ahead": ahead, "keep": random.integers(0, 2, count)
    }  # fmt: skip
    steps = bounded(method, 0.3)
    ds = computed(CLOCKS, method, rows, window_end=end, **steps)
    check_clocks(ds, rows, end, 1e-11)
    wrong = int((ds.out_of_order != 0).sum())
    assert wrong == 0, f"in {wrong} of {count} cases the second ticks before the first"


@pytest.mark.parametrize(
    ("method", "steps"),
    [
        ("rk4", {"step": 0.01}),
        ("rk54", {"maximum_step": 0.01}),
        pytest.param("dop853", {"maximum_step": 0.01}, marks=pytest.mark.broad),
        pytest.param("rodas4", {"maximum_step": 0.01}, marks=pytest.mark.broad),
    ],
)
def test_a_thousand_ticks_at_the_ends_of_steps(method: str, steps: dict[str, float]) -> None:
    """A tick is within rounding of the end of a step. 1,000 roundings of 100 are below 1e-10."""
    rows = {"period1": [0.1, 0.1], "period2": [0.1, 0.7], "ahead": [1, 7]}
    ds = computed(CLOCKS, method, rows, window_end=100.05, **steps)
    assert (ds.status == Status.ok).all()
    assert ds.count1.values.tolist() == [1000, 1000]
    assert ds.count2.values.tolist() == [1000, 142]
    assert ds.out_of_order.values.tolist() == [0, 0]
    np.testing.assert_allclose(ds.end1, 0.05, rtol=0, atol=1e-10)
    np.testing.assert_allclose(ds.end2, [0.05, 100.05 - 142 * 0.7], rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", FIRST)
def test_a_clock_of_many_ticks_accumulates_nothing(method: str) -> None:
    """15,000 ticks; their roundings are 1e-13 each at most."""
    rows = {"period1": [0.02], "period2": [0.02]}
    steps = bounded(method, 0.03)
    ds = computed(CLOCKS, method, rows, window_end=300.01, **steps)
    assert (int(ds.status[0]), int(ds.count1[0]), int(ds.count2[0])) == (Status.ok, 15_000, 15_000)
    np.testing.assert_allclose([ds.end1[0], ds.end2[0]], 0.01, rtol=0, atol=1e-9)


# x falls to `ground`, where it begins to rise.

LANDING = """
format = 1
name = "landing"
time_unit = "1"
[parameters]
ground = {}
height = {}
[states]
x = { initial = "ground + height" }
v = { initial = "0" }
[modes.fall]
x = "v"
v = "-10"
[modes.rise]
x = "v"
v = "0"
[[events]]
name = "land"
in = "fall"
when = "x - ground"
direction = "falling"
set = { v = "1" }
then = "rise"
EVENTS
[outputs]
lands = { count = "land" }
end = { final = "x" }
COUNTS
"""
# By name: the expression, direction, whether at_entry, and the count. Those are all in `rise`.
AT_LANDING = {
    "up": ("x - ground", "rising", False, 0),
    "turned": ("ground - x", "falling", False, 0),
    "threefold": ("3*x - 3*ground", "rising", False, 0),
    "up_at_entry": ("x - ground", "rising", True, 1),
    "down_at_entry": ("x - ground", "falling", True, 0),
}


def landing() -> str:
    events = [
        f'[[events]]\nname = "{name}"\nin = "rise"\nwhen = "{when}"\ndirection = "{direction}"\n'
        + ("at_entry = true\n" if at_entry else "")
        for name, (when, direction, at_entry, _) in AT_LANDING.items()
    ]
    counts = [f'n_{name} = {{ count = "{name}" }}' for name in AT_LANDING]
    return LANDING.replace("EVENTS", "".join(events)).replace("COUNTS", "\n".join(counts))


@pytest.mark.parametrize("method", FIRST)
def test_what_is_zero_where_its_mode_begins_has_not_crossed_zero(method: str) -> None:
    """At a thousand grounds, also far from the origin: rounding decides in none."""
    random = np.random.default_rng(2)
    grounds = random.uniform(-1, 1, 1000) * np.repeat([1.0, 1.0, 1.0, 1e3, 0.01], 200)
    heights = random.uniform(0.1, 2, 1000)
    steps = bounded(method, 0.13)
    rows = {"ground": grounds, "height": heights}
    ds = computed(landing(), method, rows, window_end=3.0, **steps)
    assert (ds.status == Status.ok).all()
    assert (ds.lands == 1).all()
    expected = {name: count for name, (*_, count) in AT_LANDING.items()}
    wrong = {name: int((ds[f"n_{name}"] != count).sum()) for name, count in expected.items()}
    assert wrong == dict.fromkeys(AT_LANDING, 0), "numbers of grounds with a wrong count"
    np.testing.assert_allclose(ds.end - grounds, 3 - np.sqrt(heights / 5), rtol=0, atol=1e-9)


# A heater that is on below `high` and off above `low`. All of `wrong` are at ends of a mode.

THERMOSTAT = """
format = 1
name = "thermostat"
time_unit = "1"
[parameters]
low = {}
high = {}
heating = {}
cooling = {}
begin = { meaning = "the temperature at the start" }
[states]
T = { initial = "begin" }
[modes.on]
T = "heating"
[modes.off]
T = "-cooling"
[[events]]
name = "hot"
in = "on"
when = "T - high"
direction = "rising"
then = "off"
[[events]]
name = "cold"
in = "off"
when = "T - low"
direction = "falling"
then = "on"
[[events]]
name = "above"
in = "off"
when = "T - high"
direction = "both"
[[events]]
name = "below"
in = "on"
when = "low - T"
direction = "both"
[outputs]
hots = { count = "hot" }
colds = { count = "cold" }
aboves = { count = "above" }
belows = { count = "below" }
end = { final = "T" }
heated = { share = "on" }
"""


def switched(low: float, high: float, heating: float, cooling: float, end: float) -> list[float]:
    """Switches off and on, the temperature at the end, and the time with heating, from `low`."""
    up, down = (high - low) / heating, (high - low) / cooling
    turns, rest = divmod(end, up + down)
    if rest < up:
        return [turns, turns, low + heating * rest, turns * up + rest]
    return [turns + 1, turns, high - cooling * (rest - up), (turns + 1) * up]


@pytest.mark.parametrize("method", FIRST)
def test_a_thermostat_switches_only_where_it_should(method: str) -> None:
    random = np.random.default_rng(4)
    count, end = 500, 10.0
    low = np.round(random.uniform(-1, 1, count), 2)
    high = low + np.round(random.uniform(0.1, 1, count), 2)
    heating, cooling = random.uniform(0.2, 2, (2, count))
    rows = {"low": low, "high": high, "heating": heating, "cooling": cooling, "begin": low}
    steps = bounded(method, 0.7)
    ds = computed(THERMOSTAT, method, rows, window_end=end, **steps)
    columns = np.column_stack([low, high, heating, cooling]).tolist()
    hots, colds, last, heated = np.array([switched(*row, end) for row in columns]).T
    assert (ds.status == Status.ok).all()
    np.testing.assert_array_equal(ds.hots, hots)
    np.testing.assert_array_equal(ds.colds, colds)
    np.testing.assert_allclose(ds.end, last, rtol=0, atol=1e-11)
    np.testing.assert_allclose(ds.heated, heated / end, rtol=0, atol=1e-11)
    wrong = {name: int((ds[name] != 0).sum()) for name in ("aboves", "belows")}
    assert wrong == {"aboves": 0, "belows": 0}, "thermostats with crossings by rounding"


@pytest.mark.parametrize("method", FIRST)
def test_a_thermostat_that_starts_at_its_limit_has_not_crossed_it(method: str) -> None:
    """It heats on for ever, since `hot` has no at_entry."""
    highs = np.random.default_rng(5).uniform(-1, 1, 200)
    rows = {"low": highs - 1, "high": highs, "begin": highs}
    steps = bounded(method, 0.7)
    ds = computed(THERMOSTAT, method, rows, heating=0.3, cooling=0.7, window_end=5.0, **steps)
    assert int(ds.hots.sum()) == 0
    np.testing.assert_allclose(ds.end, highs + 1.5, rtol=0, atol=1e-11)


# A spring of stiffness k with a slider of limit friction*pressing*(t - touch), dragged at v.

SLIDER = """
format = 1
name = "slider"
time_unit = "1"
[parameters]
gap = {}
closing = {}
k = {}
v = {}
limit = { meaning = "friction force at a depth of 1" }
[states]
g = { initial = "gap" }
f = { initial = "0" }
[modes.open]
g = "-closing"
f = "0"
[modes.stick]
g = "-closing"
f = "k*v"
[modes.right]
g = "-closing"
f = "limit*closing"
[modes.left]
g = "-closing"
f = "-limit*closing"
[[events]]
name = "touch"
in = "open"
when = "g"
direction = "falling"
set = { f = "0" }
then = "stick"
[[events]]
name = "slip_right"
in = "stick"
when = "f + limit*g"
direction = "rising"
at_entry = true
then = "right"
[[events]]
name = "slip_left"
in = "stick"
when = "f - limit*g"
direction = "falling"
at_entry = true
then = "left"
[outputs]
force = { final = "f" }
rights = { count = "slip_right" }
lefts = { count = "slip_left" }
work = { integral = "where(right or left, abs(f)*abs(v - sign(f)*limit*closing/k), 0)" }
"""


@pytest.mark.parametrize("method", FIRST)
def test_a_slider_at_touch_slips_as_its_rates_say(method: str) -> None:
    """At touch force and limit are both zero; one grows at k*v, the other at limit*closing."""
    random = np.random.default_rng(6)
    count, end = 300, 4.0
    rows = {name: random.uniform(0.3, 2, count) for name in ("gap", "closing", "k", "limit")}
    rows["v"] = random.uniform(0.1, 2, count) * np.repeat([1.0, -1.0], count // 2)
    pull, grip = rows["k"] * rows["v"], rows["limit"] * rows["closing"]
    rows["v"][np.abs(np.abs(pull) - grip) < 0.01] *= 1.1
    pull = rows["k"] * rows["v"]
    steps = bounded(method, 0.3)
    ds = computed(SLIDER, method, rows, window_end=end, **steps)
    since = np.maximum(end - rows["gap"] / rows["closing"], 0.0)
    slips = (np.abs(pull) > grip) & (since > 0)
    assert 50 < slips.sum() < count - 50
    assert (ds.status == Status.ok).all()
    np.testing.assert_array_equal(ds.rights, slips & (pull > 0))
    np.testing.assert_array_equal(ds.lefts, slips & (pull < 0))
    force = np.sign(pull) * np.minimum(np.abs(pull), grip) * since
    np.testing.assert_allclose(ds.force, force, rtol=0, atol=1e-11)
    work = np.where(slips, grip * since**2 / 2 * (np.abs(pull) - grip) / rows["k"], 0)
    np.testing.assert_allclose(ds.work, work, rtol=0, atol=1e-11)


# Sets of events at an entry: none makes another event happen that is not at an entry.

ENTRIES = """
format = 1
name = "entries"
time_unit = "1"
[parameters]
a = {}
[states]
x = { initial = "1" }
y = { initial = "2" }
z = { initial = "-a" }
[derivatives]
x = "1"
y = "0"
z = "1"
[[events]]
name = "back"
when = "x"
direction = "rising"
at_entry = true
set = { x = "-2", y = "y + 0.5" }
[[events]]
name = "jumped"
when = "x + 1"
direction = "falling"
set = { y = "y + 100" }
[[events]]
name = "either"
when = "z"
direction = "both"
at_entry = true
set = { z = "0.5" }
[outputs]
y_end = { final = "y" }
z_end = { final = "z" }
backs = { count = "back" }
jumps = { count = "jumped" }
sets = { count = "either" }
"""


@pytest.mark.parametrize("method", FIRST)
def test_a_set_at_an_entry_moves_no_other_event_over_zero(method: str) -> None:
    """x is set from 1 to -2 at the start, over the -1 of `jumped`, then rises to 0 each 2 s.

    z is past zero at the start, on either side, or on its way from zero; it is set to 0.5 once.
    """
    ends, begins = [1.5, 3.0, 5.0], [1.0, 0.0, -1.0, 1e-3]
    steps = bounded(method, 0.3)
    ds = points(ENTRIES, method, {"window_end": ends, "a": begins}, maximum_events=1000.0, **steps)
    assert (ds.status == Status.ok).all()
    assert (ds.jumps == 0).all()
    for i, (end, backs) in enumerate(zip(ends, (1, 2, 3), strict=True)):
        assert ds.backs[i].values.tolist() == [backs] * len(begins)
        np.testing.assert_allclose(ds.y_end[i], 2 + 0.5 * backs)
        np.testing.assert_allclose(ds.z_end[i], 0.5 + end, rtol=0, atol=1e-11)
    assert (ds.sets == 1).all()


# Events with the same expression: a fast impact bounces, a slow one rests.

REST = """
format = 1
name = "rest"
time_unit = "1"
[parameters]
slow = {}
[states]
x = { initial = "1" }
v = { initial = "0" }
m = { initial = "0" }
[modes.fly]
x = "v"
v = "-10"
m = "0"
[modes.resting]
x = "0"
v = "0"
m = "0"
EVENTS
[outputs]
end = { final = "x" }
speed = { final = "v" }
rested = { share = "resting" }
bounces = { count = "bounce" }
rests = { count = "rest" }
seen = { final = "m" }
"""
BOUNCE = """
[[events]]
name = "bounce"
in = "fly"
when = "x"
direction = "falling"
if = "v < -slow"
set = { v = "-0.5*v", m = "m + 1" }
"""
STOP = """
[[events]]
name = "rest"
in = "fly"
when = "WHEN"
direction = "DIRECTION"
if = "v >= -slow"
set = { x = "0", v = "0", m = "m + 100" }
then = "resting"
"""
WRITTEN = {"same": ("x", "falling"), "negative": ("-x", "rising")}


@pytest.mark.parametrize("method", FIRST)
@pytest.mark.parametrize(
    ("order", "written"),
    [
        ("bounce first", "same"),
        *(
            pytest.param(order, written, marks=pytest.mark.broad)
            for order, written in (
                ("bounce first", "negative"), ("rest first", "same"), ("rest first", "negative")
            )
        ),
    ],
)  # fmt: skip
def test_events_of_one_expression_judge_before_their_sets(
    order: str, written: str, method: str
) -> None:
    """Impact speeds are sqrt(20)/2^n; each impact has one event, in whichever order they stand."""
    when, direction = WRITTEN[written]
    events = [BOUNCE, STOP.replace("WHEN", when).replace("DIRECTION", direction)]
    if order == "rest first":
        events.reverse()
    limits = np.array([5.0, 3.0, 1.5, 0.7, 0.3, 0.01])
    steps = bounded(method, 0.1)
    ds = points(
        REST.replace("EVENTS", "".join(events)), method, {"slow": limits}, window_end=3.0, **steps
    )
    bounces = np.array([sum(math.sqrt(20) / 2**n > limit for n in range(60)) for limit in limits])
    fall = math.sqrt(0.2)
    begin = fall * (1 + 2 * (1 - 0.5**bounces))  # of the rest
    assert (ds.status == Status.ok).all()
    np.testing.assert_array_equal(ds.bounces, bounces)
    np.testing.assert_array_equal(ds.rests, 1)
    np.testing.assert_array_equal(ds.seen, 100 + bounces)
    assert (float(abs(ds.end).max()), float(abs(ds.speed).max())) == (0.0, 0.0)
    np.testing.assert_allclose(ds.rested, (3 - begin) / 3, rtol=0, atol=1e-10)


# x falls to 0 once; all events are of one expression, `after` is not.
TOGETHER = """
format = 1
name = "together"
time_unit = "1"
[parameters]
height = {}
[states]
x = { initial = "height" }
n = { initial = "0" }
m = { initial = "0" }
k = { initial = "0" }
[modes.before]
x = "-1"
n = "0"
m = "0"
k = "0"
[modes.behind]
x = "-1"
n = "0"
m = "0"
k = "0"
[[events]]
name = "first"
in = "before"
when = "x"
direction = "falling"
set = { n = "n + 1" }
then = "behind"
[[events]]
name = "second"
in = "before"
when = "-x"
direction = "rising"
if = "n < 0.5"
set = { m = "n + 10" }
[[events]]
name = "third"
in = "before"
when = "x"
direction = "both"
if = "n > 0.5"
set = { m = "m + 100" }
[[events]]
name = "after"
when = "2*x"
direction = "falling"
if = "n > 0.5 and behind"
set = { k = "m" }
[outputs]
firsts = { count = "first" }
seconds = { count = "second" }
thirds = { count = "third" }
afters = { count = "after" }
m_end = { final = "m" }
k_end = { final = "k" }
"""


@pytest.mark.parametrize("method", FIRST)
def test_sets_see_earlier_sets_where_conditions_do_not(method: str) -> None:
    """`second` sees n = 0 in its condition and 1 in its set; another expression sees all."""
    heights = np.random.default_rng(7).uniform(0.1, 2, 50)
    steps = bounded(method, 0.3)
    ds = points(TOGETHER, method, {"height": heights}, window_end=3.0, **steps)
    for name, expected in {
        "firsts": 1, "seconds": 1, "thirds": 0, "afters": 1, "m_end": 11, "k_end": 11
    }.items():  # fmt: skip
        np.testing.assert_array_equal(ds[name], expected, err_msg=name)


# `up` is not due where x falls, so that `down` is judged in its own place.

IN_PLACE = """
format = 1
name = "in_place"
time_unit = "1"
[parameters]
height = {}
[states]
x = { initial = "height" }
k = { initial = "0" }
[derivatives]
x = "-1"
k = "0"
[[events]]
name = "up"
when = "x"
direction = "rising"
[[events]]
name = "between"
when = "2*x"
direction = "falling"
set = { k = "1" }
[[events]]
name = "down"
when = "x"
direction = "falling"
if = "k > 0.5"
[outputs]
downs = { count = "down" }
ups = { count = "up" }
"""


@pytest.mark.parametrize("method", FIRST)
def test_an_event_that_is_not_due_judges_no_other(method: str) -> None:
    steps = bounded(method, 0.3)
    ds = points(IN_PLACE, method, {"height": [0.3, 1.0, 1.7]}, window_end=3.0, **steps)
    np.testing.assert_array_equal(ds.downs, 1)
    np.testing.assert_array_equal(ds.ups, 0)


# y rises to zero, rests there within rounding, and rises again.

RESTING = """
format = 1
name = "resting"
time_unit = "1"
[parameters]
start = {}
rate = {}
again = {}
[states]
y = { initial = "-start" }
z = { initial = "0" }
[modes.rise]
y = "rate"
z = "1"
[modes.rest]
y = "0"
z = "1"
[modes.further]
y = "again"
z = "1"
[[events]]
name = "arrive"
in = ["rise", "further"]
when = "y"
direction = "rising"
set = { y = "-0.6*y" }
then = "rest"
[[events]]
name = "leave"
in = "rest"
when = "z - 2"
direction = "rising"
then = "further"
[outputs]
arrivals = { count = "arrive" }
end = { final = "y" }
"""


@pytest.mark.parametrize("method", FIRST)
def test_what_rests_at_zero_leaves_it_without_crossing_it(method: str) -> None:
    """At rates that differ: a rounding beside zero is longer ago than the later rate says."""
    random = np.random.default_rng(3)
    start, rate, again = (random.uniform(low, 1, 300) for low in (0.1, 0.8, 1e-4))
    rows = {"start": start, "rate": rate, "again": again}
    ds = computed(RESTING, method, rows, window_end=3.0, **bounded(method, 0.3))
    assert (ds.status == Status.ok).all()
    assert (ds.arrivals == 1).all()
    np.testing.assert_allclose(ds.end, again, rtol=0, atol=1e-13)


# Values once a period, of x = t.

PERIODS = """
format = 1
name = "periods"
time_unit = "1"
period = "length"
[parameters]
length = {}
[states]
x = { initial = "0" }
[derivatives]
x = "1"
[outputs]
steps = { values = "x", every = "period", keep = 8 }
"""


@pytest.mark.parametrize("method", FIRST)
def test_a_window_of_whole_periods_has_the_values_at_both_its_ends(method: str) -> None:
    lengths = [7.410077343928729, *np.random.default_rng(8).uniform(0.1, 10, 499)]
    steps = bounded(method, 0.3)
    ds = points(PERIODS, method, {"length": lengths}, start_cycle=5.0, end_cycle=8.0, **steps)
    count = np.isfinite(ds.steps).sum("steps_index")
    wrong = int((count != 4).sum())
    assert wrong == 0, f"{wrong} of {len(lengths)} points have other numbers of values than 4"
    expected = np.multiply.outer(lengths, [5.0, 6.0, 7.0, 8.0])
    np.testing.assert_allclose(ds.steps[:, :4], expected, rtol=1e-12)


# Impacts that accumulate.

STOP_AT_A_GAP = {
    "damping": 0.02, "gap": 0.3, "restitution": 0.7, "omega": 0.2, "start_cycle": 0.0,
    "end_cycle": 20.0,
}  # fmt: skip


def test_impacts_that_accumulate_at_a_stop_away_from_zero_end_at_once() -> None:
    """The driving force presses the mass against the stop for a time, where its bounces end.

    A free run first, so that no compiler is timed. Processor time does not depend on other
    processes; with 10^6 impacts it was 20 s.
    """
    request = {"model": "forced_impact", "parameters": STOP_AT_A_GAP}
    free = {**request, "parameters": {**STOP_AT_A_GAP, "gap": 100.0, "end_cycle": 1.0}}
    assert int(sweep.run(free, store=None, progress=False)["status"]) == Status.ok
    begin = time.process_time()
    ds = sweep.run(request, store=None, progress=False)
    assert int(ds.status) == Status.not_converged
    assert time.process_time() - begin < 3.0


@pytest.mark.parametrize("method", FIRST)
def test_impacts_accumulate_wherever_the_ground_is(method: str) -> None:
    """Until just before, just after and long after they do, on grounds far from zero too."""
    fall = math.sqrt(0.2)
    rows = [
        (ground, e, end * fall * (1 + e) / (1 - e))
        for ground in (0.3, -7.1, 1e3)
        for e in (0.5, 0.8)
        for end in (0.99, 1.01, 3.0)
    ]
    columns = dict(zip(("ground", "restitution", "window_end"), np.array(rows).T, strict=True))
    begin = time.process_time()
    ds = computed(BALLS, method, columns, first=1.0, second=1e6, **bounded(method, 0.1))
    assert ds.status.values.tolist() == [Status.ok, Status.not_converged, Status.not_converged] * 6
    assert time.process_time() - begin < 10.0
