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

from sweep.model.table import Status
from tests.equations.examples import counted, first_method, points, with_events


def bounded(method: str, step: float) -> dict[str, float]:
    """A step for rk4; for the other methods a number of steps with which a wrong motion ends."""
    return {"step": step} if method == "rk4" else {"maximum_steps": 1e6}


def computed(example: str, method: str, rows: dict[str, Any], **constants: float) -> xr.Dataset:
    """Points along one dimension, a parameter a key."""
    return points(counted(example), method, rows=rows, **{"maximum_events": 1e5, **constants})


# Two balls that bounce, and are kicked at each impact.

BALLS = with_events(
    """
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
[outputs]
end1 = { final = "x1" }
end2 = { final = "x2" }
lowest = { minimum = "min(x1, x2) - ground" }
""",
    ("impact1", "x1 - ground", "falling", 'set = { v1 = "kick - restitution*v1" }'),
    ("impact2", "x2 - ground", "falling", 'set = { v2 = "kick - restitution*v2" }'),
)
GRAVITY = 10.0


def bounced(height: float, restitution: float, kick: float, end: float) -> tuple[int, float]:
    """Impacts, and the height at the end, from the times between impacts."""
    since, speed = end - math.sqrt(2 * height / GRAVITY), math.sqrt(2 * GRAVITY * height)
    impacts = 0
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
        np.testing.assert_array_equal(ds[f"n_impact{ball + 1}"], counts)
        heights = [height for _, height in exact]
        np.testing.assert_allclose(ds[f"end{ball + 1}"], heights, rtol=0, atol=tight)
    assert float(ds.lowest.min()) > -1e-9


@first_method
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
    assert bounced(1.0, 0.95, 0.0, 3.0) == (4, pytest.approx(0.38669, abs=1e-5))
    steps = bounded(method, 0.1)
    check_balls(balls(method, both, **steps), both, 1e-9)


def middle(restitution: float, impacts: int) -> float:
    """The time in the middle between two impacts of a ball from 1, after so many of them."""
    e, fall = restitution, math.sqrt(0.2)
    return fall * (1 + 2 * e * (1 - e ** (impacts - 1)) / (1 - e) + e**impacts)


@first_method
def test_many_impacts_that_hardly_lose_speed(method: str) -> None:
    """30,000 impacts at a restitution of 0.999, and times between impacts that settle on a period.

    They keep 0.999 of the speed where the floor gives some back, and of the energy where it does
    not. At 0.999 of the speed alone, an impact lasts 2e6 roundings of t after 15,000 of them. After
    24,000 it lasts 300: their number is uncertain by then, but they have not accumulated yet. The
    27,600th would end within 1e-12 of the time at which all do.
    """
    settling = [(1.0, 2.0, 0.5, 1.5, 200.0), (0.01, 3.0, 0.9, 0.1, 200.0)]
    energy = math.sqrt(0.999)
    fading = [(1.0, 1.7, e, 0.0, middle(e, n)) for e, n in ((0.999, 15_000), (energy, 30_000))]
    kicked, last = (1.0, 2.0, 0.999, 1e-3, 7000.0), (1.0, 1.7, 0.999, 0.0, middle(0.999, 24_000))
    rows = np.array([*settling, *fading, kicked, last])
    ds = balls(method, rows, **bounded(method, 0.1))
    counts = [bounced(*row[[0, 2, 3, 4]])[0] for row in rows[2:5]]
    assert counts[:2] == [15_000, 30_000]
    assert counts[2] > 30_000
    check_balls(ds.isel(case=slice(4)), rows[:4], 1e-8)
    # Two roundings of t too late at each impact, at most.
    check_balls(ds.isel(case=slice(4, 5)), rows[4:5], 2 * counts[2] * np.spacing(7000.0))
    assert (ds.status == Status.ok).all()
    assert 24_000 <= int(ds.n_impact1[5]) < 24_600


@first_method
def test_impacts_accumulate_wherever_the_ground_is(method: str) -> None:
    """Until just before, just after and long after they do, on grounds far from zero too."""
    fall = math.sqrt(0.2)
    rows = [
        (ground, e, end * fall * (1 + e) / (1 - e))
        for ground in (0.3, -7.1, 1e3)
        for e in (0.1, 0.5, 0.8, 0.95)
        for end in (0.99, 1.01, 3.0)
    ]
    columns = dict(zip(("ground", "restitution", "window_end"), np.array(rows).T, strict=True))
    begin = time.process_time()
    ds = computed(BALLS, method, columns, first=1.0, second=1e6, **bounded(method, 0.1))
    assert ds.status.values.tolist() == [Status.ok, Status.not_converged, Status.not_converged] * 12
    assert time.process_time() - begin < 10.0


# A ball above a floor; all events are at its impacts, and only `impact` changes the motion.

IMPACTS = with_events(
    """
[parameters]
ground = {}
height = {}
[states]
x = { initial = "ground + height" }
v = { initial = "0" }
[derivatives]
x = "v"
v = "-10"
[outputs]
slowest = { at = "after", maximum = "-v" }
""",
    ("before", "ground - x", "rising", 'if = "v > 0"'),
    ("impact", "x - ground", "falling", 'set = { v = "-0.8*v" }'),
    ("after", "3*(x - ground)", "both", 'if = "v > 0"'),
    ("outside", "sqrt(v - 100)", "rising"),
    ("product", "(x - ground)*v", "both"),
    ("magnitude", "(x - ground)*abs(v)", "both"),
    ("close", "x - ground - 1e-14", "both"),
    ("sine", "sin(3*(x - ground))", "both"),
)


@first_method
def test_a_condition_is_that_after_the_events_before(method: str) -> None:
    """High above the origin, where rounding spreads the impact over many roundings of time, too."""
    grounds, heights = [0.0, 1e3, 1e6], [1.8, 1.85, 1.9, 1.95, 2.0]
    impacts = [bounced(height, 0.8, 0.0, 3.0)[0] for height in heights]
    ds = points(
        counted(IMPACTS), method, {"ground": grounds, "height": heights}, window_end=3.0,
        maximum_events=max(impacts), **bounded(method, 0.1),
    )  # fmt: skip
    expected = np.tile(impacts, (len(grounds), 1))
    assert (ds.status == Status.ok).all(), "what changes nothing is no chattering"
    np.testing.assert_array_equal(ds.n_impact, expected)
    np.testing.assert_array_equal(ds.n_before, 0)
    np.testing.assert_array_equal(ds.n_after, expected)
    speeds = [0.8**n * math.sqrt(20 * h) for n, h in zip(impacts, heights, strict=True)]
    np.testing.assert_allclose(ds.slowest[0], -np.array(speeds), rtol=1e-9)
    np.testing.assert_array_equal(
        ds.n_outside, np.nan, err_msg="it is not known whether it happens"
    )
    for name in ("n_product", "n_magnitude", "n_close", "n_sine"):
        assert (ds[name][0] >= impacts).all(), "at each impact it is zero, once or twice"


# Two clocks, set back at their periods; the second sees whether the first came first. The values of
# the time once in `length` are another clock's.

CLOCKS = with_events(
    """
period = "length"
[parameters]
period1 = { default = 1e6 }
period2 = { default = 1e6 }
length = { default = 1e6 }
keep = { default = 0, meaning = "1: a clock keeps what it is beyond its period" }
ahead = { default = 1, meaning = "periods of the first clock in one of the second" }
[states]
c1 = { initial = "0" }
c2 = { initial = "0" }
n1 = { initial = "0" }
n2 = { initial = "0" }
late = { initial = "0" }
[definitions]
wrong = { value = "abs(n1 - ahead*(n2 + 1))" }
[derivatives]
c1 = "1"
c2 = "1"
[outputs]
end1 = { final = "c1" }
end2 = { final = "c2" }
out_of_order = { final = "late" }
steps = { values = "t", every = "period", keep = 8 }
""",
    ("tick1", "c1 - period1", "rising", 'set = { c1 = "keep*(c1 - period1)", n1 = "n1 + 1" }'),
    (
        "tick2",
        "c2 - period2",
        "rising",
        'set = { c2 = "keep*(c2 - period2)", n2 = "n2 + 1", late = "late + wrong" }',
    ),
)


def check_clocks(ds: xr.Dataset, rows: dict[str, Any], end: float, tight: float) -> None:
    """Whole periods up to the end, which is at none; their multiples in exact arithmetic."""
    assert (ds.status == Status.ok).all()
    for clock in ("1", "2"):
        periods = [Fraction(float(p)) for p in rows[f"period{clock}"]]
        counts = [int(Fraction(end) / p) for p in periods]
        np.testing.assert_array_equal(ds[f"n_tick{clock}"], counts)
        rest = [float(Fraction(end) - n * p) for n, p in zip(counts, periods, strict=True)]
        np.testing.assert_allclose(ds[f"end{clock}"], rest, rtol=0, atol=tight)


@first_method
def test_random_clocks_that_tick_together(method: str) -> None:
    """The second has a multiple of the first's period, so that each of its ticks is one of both,
    and comes after the first's in the order of the file.
    """
    random = np.random.default_rng(3)
    count, end = 300, 20.0
    periods = np.round(random.uniform(0.1, 1.5, count), 2)
    periods[::3] = random.uniform(0.1, 1.5, periods[::3].size)
    ahead = random.integers(1, 5, count)
    periods[np.abs(end / periods - np.round(end / periods)) < 1e-3] = 0.37  # it does not end then
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
    """A tick is within rounding of the end of a step. 1,000 roundings of 100 are below 1e-10.

    The third clocks tick 15,000 times: steady intervals accumulate nowhere.
    """
    rows = {
        "period1": [0.1, 0.1, 0.02], "period2": [0.1, 0.7, 0.02], "ahead": [1, 7, 1],
        "window_end": [100.05, 100.05, 300.01],
    }  # fmt: skip
    ds = computed(CLOCKS, method, rows, **steps)
    assert (ds.status == Status.ok).all()
    assert ds.n_tick1.values.tolist() == [1000, 1000, 15_000]
    assert ds.n_tick2.values.tolist() == [1000, 142, 15_000]
    assert ds.out_of_order.values.tolist() == [0, 0, 0]
    np.testing.assert_allclose(ds.end1, [0.05, 0.05, 0.01], rtol=0, atol=1e-9)
    np.testing.assert_allclose(ds.end2, [0.05, 100.05 - 142 * 0.7, 0.01], rtol=0, atol=1e-9)


@first_method
def test_ticks_a_little_apart_keep_their_order(method: str) -> None:
    early, late = 1.0, 1.0 + 1e-9
    rows = {"period1": [early, late], "period2": [late, early]}
    ds = computed(CLOCKS, method, rows, window_end=1.5, **bounded(method, 0.7))
    assert ds.out_of_order.values.tolist() == [0, 1]


@first_method
def test_a_window_of_whole_periods_has_the_values_at_both_its_ends(method: str) -> None:
    lengths = [7.410077343928729, *np.random.default_rng(8).uniform(0.1, 10, 499)]
    steps = bounded(method, 0.3)
    ds = computed(CLOCKS, method, {"length": lengths}, start_cycle=5.0, end_cycle=8.0, **steps)
    count = np.isfinite(ds.steps).sum("steps_index")
    wrong = int((count != 4).sum())
    assert wrong == 0, f"{wrong} of {len(lengths)} points have other numbers of values than 4"
    expected = np.multiply.outer(lengths, [5.0, 6.0, 7.0, 8.0])
    np.testing.assert_allclose(ds.steps[:, :4], expected, rtol=1e-12)


@pytest.mark.parametrize("method", ["rk54", pytest.param("rk4", marks=pytest.mark.broad)])
def test_periods_without_end_do_not_hang(method: str) -> None:
    """Of many periods within one step the last are taken; others than positive ones are refused."""
    lengths = [2 * math.pi, 1e-9, -1.0, 1e-300]
    steps = {"step": 5.0} if method == "rk4" else {}
    ds = computed(CLOCKS, method, {"length": lengths}, window_end=20.5, **steps)
    assert ds.status.values.tolist() == [0, 0, 3, 3]
    np.testing.assert_allclose(ds.steps[0, :4], 2 * math.pi * np.arange(4))
    np.testing.assert_allclose(ds.steps[1], 20.5 - 1e-9 * np.arange(7, -1, -1), rtol=1e-12)


# A hoist, which switches as a thermostat does: x is thrown down to `ground`, where fast impacts
# bounce and slow ones land, and is lifted to where it was thrown from.

# Events in `rise`, and how often each happens at a landing.
AT_LANDING = {
    ("up", "x - ground", "rising", 'in = "rise"'): 0,
    ("turned", "ground - x", "falling", 'in = "rise"'): 0,
    ("threefold", "3*x - 3*ground", "rising", 'in = "rise"'): 0,
    ("up_at_entry", "x - ground", "rising", 'in = "rise"', "at_entry = true"): 1,
    ("down_at_entry", "x - ground", "falling", 'in = "rise"', "at_entry = true"): 0,
}
HOIST = with_events(
    """
[parameters]
ground = {}
height = {}
fast = {}
down = { meaning = "the speed at which it is thrown" }
[states]
x = { initial = "ground + height" }
v = { initial = "-down" }
[modes.fall]
x = "v"
v = "-10"
[modes.rise]
x = "v"
[outputs]
end = { final = "x" }
rises = { share = "rise" }
""",
    (
        "bounce",
        "x - ground",
        "falling",
        'in = "fall"',
        'if = "v < -fast"',
        'set = { v = "-0.5*v" }',
    ),
    (
        "land",
        "-(x - ground)",
        "rising",
        'in = "fall"',
        'if = "v >= -fast"',
        'set = { v = "1" }',
        'then = "rise"',
    ),
    (
        "top",
        "x - ground - height",
        "rising",
        'in = "rise"',
        'set = { v = "-down" }',
        'then = "fall"',
    ),
    ("above", "x - ground - height", "both", 'in = "fall"'),
    ("beyond", "exp(x - ground - height) - 1", "both", 'in = "fall"', 'set = { v = "v" }'),
    *AT_LANDING,
)


def falling(height: float, fast: float, down: float) -> tuple[int, float]:
    """Bounces before it lands, and the time until then.

    To be thrown down is to have been dropped from higher and earlier.
    """
    fall, speed = math.sqrt(height / 5 + down**2 / 100), math.sqrt(20 * height + down**2)
    bounces = sum(speed / 2**n > fast for n in range(60))
    return bounces, fall * (3 - 2 * 0.5**bounces) - down / 10


def hoisted(
    height: float, fast: float, down: float, end: float
) -> tuple[int, int, int, float, float]:
    """Bounces, landings, tops, x above the ground at the end, and the time of its rises."""
    bounces, falls = falling(height, fast, down)
    turns, rest = divmod(end, falls + height)
    n = int(turns)
    if rest > falls:
        return (n + 1) * bounces, n + 1, n, rest - falls, n * height + rest - falls
    done, x = bounced(height + down**2 / 20, 0.5, 0.0, rest + down / 10)
    return n * bounces + done, n, n, x, n * height


@first_method
def test_what_is_zero_where_its_mode_begins_has_not_crossed_zero(method: str) -> None:
    """At a thousand grounds, also far from the origin: rounding decides in none.

    Half of them are thrown at a speed of 0: they leave zero level. Many windows end right after
    that. Nor does an event see what another of its expression has set.
    """
    random = np.random.default_rng(2)
    grounds = random.uniform(-1, 1, 1000) * np.repeat([1.0, 1.0, 1.0, 1e3, 0.01], 200)
    heights = random.uniform(0.1, 2, 1000)
    fast = np.where(np.arange(1000) % 2, 10.0, random.uniform(0.3, 3, 1000))
    steps = bounded(method, 0.13)
    down, window = random.integers(0, 2, 1000), random.uniform(2.5, 3, 1000)
    for i in range(0, 1000, 3):
        _, falls = falling(heights[i], fast[i], down[i])
        window[i] = falls + heights[i] + 10 ** random.uniform(-7, 0)
    rows = {
        "ground": grounds, "height": heights, "fast": fast, "down": down, "window_end": window
    }  # fmt: skip
    ds = computed(HOIST, method, rows, **steps)
    assert (ds.status == Status.ok).all()
    columns = np.column_stack([heights, fast, down, window]).tolist()
    exact = [hoisted(*row) for row in columns]
    bounces, lands, tops, ends, rises = np.array(exact).T
    expected = {name: count * lands for (name, *_), count in AT_LANDING.items()}
    expected |= {"above": 0, "beyond": 0}
    wrong = {name: int((ds[f"n_{name}"] != count).sum()) for name, count in expected.items()}
    assert wrong == dict.fromkeys(expected, 0), "numbers of grounds with a wrong count"
    np.testing.assert_array_equal(ds.n_bounce, bounces)
    np.testing.assert_array_equal(ds.n_land, lands)
    np.testing.assert_array_equal(ds.n_top, tops)
    np.testing.assert_allclose(ds.end - grounds, ends, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ds.rises, rises / window, rtol=0, atol=1e-9)


# Events at the start: of x from -1, 0 or 1, which moves or rests; of p, which is set from 1 to -2
# over the -1 of `jumped`, then rises to 0 each 2 s; of z, which is set from wherever it is.

DIRECTIONS = ("rising", "falling", "both")
ENTRIES = with_events(
    """
[parameters]
start = {}
rate = {}
[states]
x = { initial = "start" }
n = { initial = "0" }
p = { initial = "1" }
q = { initial = "2" }
z = { initial = "start" }
[derivatives]
x = "rate"
p = "1"
z = "1"
[outputs]
q_end = { final = "q" }
z_end = { final = "z" }
acted = { final = "n" }
""",
    ("back", "p", "rising", "at_entry = true", 'set = { p = "-2", q = "q + 0.5" }'),
    ("jumped", "p + 1", "falling", 'set = { q = "q + 100" }'),
    ("reset", "z", "both", "at_entry = true", 'set = { z = "0.5" }'),
    ("crossed", "2*x", "both"),
    *(
        event
        for each in DIRECTIONS
        for event in (
            (each, "x", each, "at_entry = true"),
            (f"acting_{each}", "x", each, "at_entry = true", 'set = { n = "n + 1" }'),
        )
    ),
)


@first_method
def test_an_entry_lets_events_happen_that_are_past_zero(method: str) -> None:
    """By the side of x, or by its rate where x is 0; later where it crosses 0, at t = 1."""
    along = {"start": [-1.0, 0.0, 1.0], "rate": [-1.0, 0.0, 1.0], "window_end": [0.5, 1.5, 3, 5]}
    steps = bounded(method, 0.3)
    ds = points(counted(ENTRIES), method, along, maximum_events=1000.0, **steps)
    start, rate, end = np.meshgrid(*along.values(), indexing="ij")
    side = np.where(start == 0, rate, start)
    crosses = (start * rate < 0) & (end > 1)
    rising, falling = (1 * (sign * side > 0) + (crosses & (sign * rate > 0)) for sign in (1, -1))
    assert (ds.status == Status.ok).all()
    for name, expected in zip(DIRECTIONS, (rising, falling, rising + falling), strict=True):
        np.testing.assert_array_equal(ds[f"n_{name}"], expected, err_msg=name)
    np.testing.assert_array_equal(ds.acted, 2 * (rising + falling))
    np.testing.assert_array_equal(ds.n_crossed, crosses, err_msg="it has no at_entry")
    backs = np.select([end < 2, end < 4], [1, 2], 3)
    np.testing.assert_array_equal(ds.n_back, backs)
    np.testing.assert_allclose(ds.q_end, 2 + 0.5 * backs)
    np.testing.assert_array_equal(ds.n_jumped, 0, err_msg="a set moves p over its zero")
    np.testing.assert_array_equal(ds.n_reset, 1, err_msg="it is past zero, or on its way from it")
    np.testing.assert_allclose(ds.z_end, 0.5 + end, rtol=0, atol=1e-11)


# x and y fall to 0 at one time, where the mode changes: events before, in and behind the change,
# of one expression (x or -x; y) and of others.

TOGETHER = with_events(
    """
[parameters]
height = {}
[states]
x = { initial = "height" }
y = { initial = "height" }
n = { initial = "0" }
m = { initial = "0" }
k = { initial = "0" }
j = { initial = "0" }
[modes.before]
x = "-1"
y = "-1"
[modes.behind]
x = "-1"
y = "-1"
[outputs]
n_of_early = { at = "early", sum = "n" }
m_end = { final = "m" }
k_end = { final = "k" }
end = { final = "x" }
""",
    ("early", "4*x", "falling", 'in = "before"'),
    ("first", "x", "falling", 'in = "before"', 'set = { n = "n + 1" }', 'then = "behind"'),
    ("second", "-x", "rising", 'in = "before"', 'if = "n < 0.5"', 'set = { m = "n + 10" }'),
    ("third", "x", "both", 'in = "before"', 'if = "n > 0.5"', 'set = { m = "m + 100" }'),
    ("seen", "x", "falling", "at_entry = true"),
    ("later", "3*x", "falling", 'in = "before"'),
    ("after", "2*x", "falling", 'if = "n > 0.5 and behind"', 'set = { k = "m" }'),
    ("past", "m - 5", "rising", 'in = "behind"', "at_entry = true"),
    ("up", "y", "rising"),
    ("between", "2*y", "falling", 'set = { j = "1" }'),
    ("down", "y", "falling", 'if = "j > 0.5"'),
)
AT_ONE_TIME = {
    "n_early": 1, "n_of_early": 0,  # before anything is set
    "n_first": 1, "n_second": 1, "n_third": 0, "m_end": 11,  # judged before their sets, which add
    "n_seen": 1,  # due in the first mode, and again at once as that of the next
    "n_later": 0, "n_after": 1, "k_end": 11, "n_past": 1,  # in the mode after `first`
    "n_up": 0, "n_down": 1,  # `up` is not due, so `down` is judged in its own place
}  # fmt: skip


@first_method
def test_events_at_one_time_act_in_the_order_of_the_file(method: str) -> None:
    heights = np.random.default_rng(7).uniform(0.1, 2, 50)
    steps = bounded(method, 0.3)
    ds = points(counted(TOGETHER), method, {"height": heights}, window_end=3.0, **steps)
    assert (ds.status == Status.ok).all()
    for name, expected in AT_ONE_TIME.items():
        np.testing.assert_array_equal(ds[name], expected, err_msg=name)
    np.testing.assert_allclose(ds.end, heights - 3, rtol=0, atol=1e-9)


# y rises to zero, rests there within rounding, and rises again or turns: as a speed with friction.

RESTING = with_events(
    """
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
z = "1"
[modes.further]
y = "again"
z = "1"
[outputs]
end = { final = "y" }
""",
    (
        "arrive",
        "y",
        "rising",
        'in = ["rise", "further"]',
        'set = { y = "-0.6*sign(again)*y" }',
        'then = "rest"',
    ),
    ("turn", "y", "falling", 'in = "further"'),
    ("leave", "z - 2", "rising", 'in = "rest"', 'then = "further"'),
)


@first_method
def test_what_rests_at_zero_leaves_it_without_crossing_it(method: str) -> None:
    """At rates that differ, so that a rounding of the first may be many of the last."""
    random = np.random.default_rng(3)
    start, rate, again = (random.uniform(low, 1, 300) for low in (0.1, 0.8, 1e-4))
    again[::2] *= -1
    rows = {"start": start, "rate": rate, "again": again}
    ds = computed(RESTING, method, rows, window_end=3.0, **bounded(method, 0.3))
    assert (ds.status == Status.ok).all()
    assert (ds.n_arrive == 1).all()
    assert (ds.n_turn == 0).all()
    np.testing.assert_allclose(ds.end, again, rtol=0, atol=1e-13)


THROWN = counted(
    with_events(
        """
[parameters]
speed = {}
height = {}
[states]
x = { initial = "0" }
v = { initial = "speed" }
[derivatives]
x = "v"
v = "-10"
[outputs]
v_end = { final = "v" }
""",
        ("fast", "x - height", "falling", 'if = "v < -9.5"', 'set = { v = "-0.5*v" }'),
        ("slow", "x - height", "falling", 'if = "v >= -9.5"', 'set = { v = "100" }'),
        ("seen", "2*x - 2*height", "falling"),
    )
)


@first_method
@pytest.mark.parametrize("height", [0.3, 3.0])
def test_what_crosses_twice_in_a_step_happens_with_its_partners(method: str, height: float) -> None:
    """A parabola rises above the height and falls below it, at v = -root(speed² - 20 height)."""
    back = np.array([0.5, 1.0, 3.0, 7.0, 9.0, 9.4])
    rows = {"speed": np.sqrt(back**2 + 20 * height)}
    times = (rows["speed"] + back) / 10
    end = float(times.max()) + 0.1
    ds = points(THROWN, method, rows=rows, height=height, window_end=end, **bounded(method, 0.3))
    assert (ds.status == Status.ok).all()
    assert (ds.n_fast == 0).all()
    assert (ds.n_slow == 1).all()
    assert (ds.n_seen == 1).all()
    np.testing.assert_allclose(ds.v_end, 100 - 10 * (end - times), rtol=1e-12)


TOUCHING = """
[states]
x = { initial = "0" }
v = { initial = "1" }
s = { initial = "0" }
[derivatives]
x = "v"
v = "-x"
s = "abs(v)"
[outputs]
x_end = { final = "x" }
"""


@first_method
def test_what_touches_zero_where_a_step_ends_does_not_happen(method: str) -> None:
    """Steps end where v = cos t turns its sign: 6 times in 20. The last expression crosses, too."""
    text = with_events(
        TOUCHING,
        ("square", "-v**2", "falling", 'set = { s = "s + 1" }'),
        ("other_square", "v**2", "rising", 'set = { s = "s + 1" }'),
        ("size", "-abs(v)", "falling", 'set = { s = "s + 1" }'),
        ("both", "max(x, 0) - 0.3*abs(v)", "falling", 'set = { s = "s + 1" }'),
    )
    ds = points(counted(text), method, window_end=20.0, **bounded(method, 0.01))
    counts = [int(ds[f"n_{name}"]) for name in ("square", "other_square", "size", "both")]
    assert counts == [0, 0, 0, 3]
