"""Jumps and kinks of derivatives: comparisons, where, sign, abs, min, max and floor.

References are closed forms, or Gauss's rule between the jumps and kinks, which are known. At the
default tolerance of 1e-6 about 100 steps have errors of at most some 1e-6: 1e-4 in all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from sweep.model.table import Status
from tests.equations.examples import methods, points

BOUNDS = {"maximum_steps": 1e5}  # so that steps that shrink at a jump end soon
controlled = methods("rk54", without="rk4")
END = 10.0
LEVELS = np.arange(-19, 20) / 20  # -0.95 to 0.95, 0 included

Function = Callable[[np.ndarray], np.ndarray]


def integral(function: Function, breaks: list[float], end: float = END) -> float:
    """From 0 to `end`, by Gauss's rule of 32 nodes between the breaks."""
    nodes, weights = np.polynomial.legendre.leggauss(32)
    cuts = sorted({0.0, end, *(t for t in breaks if 0 < t < end)})
    total = 0.0
    for a, b in pairwise(cuts):
        t = (a + b) / 2 + (b - a) / 2 * nodes
        total += (b - a) / 2 * float(weights @ function(t))
    return total


def sine_breaks(omega: float, level: float, end: float = END) -> list[float]:
    """Where sin(omega t) is at a level."""
    first = math.asin(level)
    turns = range(int(omega * end / (2 * math.pi)) + 2)
    angles = [a + 2 * math.pi * k for k in turns for a in (first, math.pi - first)]
    return [angle / omega for angle in angles]


def cosine_breaks(omega: float, level: float, end: float = END) -> list[float]:
    """Where cos(omega t) is at a level."""
    turns = range(int(omega * end / (2 * math.pi)) + 2)
    angles = [a + 2 * math.pi * k for k in turns for a in (math.acos(level), -math.acos(level))]
    return [angle / omega for angle in angles]


LEVELLED = """
[parameters]
c = {}
[states]
x = { initial = "0" }
y = { initial = "0" }
[derivatives]
x = "max(sin(2*t), c)"
y = "where(sin(3*t) > c, 1, 0)"
[outputs]
x_end = { final = "x" }
y_end = { final = "y" }
"""


@controlled
def test_a_kink_and_a_jump_at_any_level(method: str) -> None:
    """y has no error between jumps; 10 jumps are located to 1e-9 or so each."""
    along = {"relative_tolerance": [1e-6, 1e-10], "c": LEVELS}
    ds = points(LEVELLED, method, along, window_end=END, **BOUNDS)
    x = [integral(lambda t, c=c: np.maximum(np.sin(2 * t), c), sine_breaks(2, c)) for c in LEVELS]
    y = [integral(lambda t, c=c: 1.0 * (np.sin(3 * t) > c), sine_breaks(3, c)) for c in LEVELS]
    assert x[list(LEVELS).index(0.5)] == pytest.approx(6.099540229828207, rel=1e-13)
    assert (ds.status == Status.ok).all()
    errors = np.abs(ds.x_end - x).max("c")
    assert float(errors[0]) < 1e-4, f"{float(errors[0])} at 1e-6"
    assert float(errors[1]) < 1e-7, f"{float(errors[1])} at 1e-10"
    np.testing.assert_allclose(ds.y_end, [y, y], rtol=0, atol=1e-7)


# Each state has a relation of its own; y = 0.7 t.
RATES: dict[str, tuple[str, Function, list[float]]] = {
    "largest": (
        "max(sin(t), cos(t), 0.3)",
        lambda t: np.maximum(np.maximum(np.sin(t), np.cos(t)), 0.3),
        [*sine_breaks(1, 0.3), *cosine_breaks(1, 0.3), *(math.pi * (k + 0.25) for k in range(4))],
    ),
    "smallest": ("min(sin(t), 0.5)", lambda t: np.minimum(np.sin(t), 0.5), sine_breaks(1, 0.5)),
    "size": ("abs(sin(2*t) - 0.2)", lambda t: np.abs(np.sin(2 * t) - 0.2), sine_breaks(2, 0.2)),
    "direction": ("sign(cos(t) - 0.4)", lambda t: np.sign(np.cos(t) - 0.4), cosine_breaks(1, 0.4)),
    "whole": (
        "floor(3*sin(t) + 0.1)",
        lambda t: np.floor(3 * np.sin(t) + 0.1),
        [b for k in (-2, -1, 0, 1, 2, 3) for b in sine_breaks(1, (k - 0.1) / 3)],
    ),
    "steps": ("floor(y)", lambda t: np.floor(0.7 * t), [k / 0.7 for k in range(8)]),
    "pulse": (
        "where(y > 1 and y < 2, 1, 0)",
        lambda t: 1.0 * ((0.7 * t > 1) & (0.7 * t < 2)),
        [1 / 0.7, 2 / 0.7],
    ),
    "either": (
        "where(sin(t) > 0.1 or not cos(t) < 0.6, y, -1)",
        lambda t: np.where((np.sin(t) > 0.1) | (np.cos(t) >= 0.6), 0.7 * t, -1),
        [*sine_breaks(1, 0.1), *cosine_breaks(1, 0.6)],
    ),
    "nested": (
        "max(abs(cos(t)) - 0.5, 0.1*sign(y - 3))",
        lambda t: np.maximum(np.abs(np.cos(t)) - 0.5, 0.1 * np.sign(0.7 * t - 3)),
        [3 / 0.7, *(b for c in (0, 0.4, -0.4, 0.6, -0.6) for b in cosine_breaks(1, c))],
    ),
}


def several() -> str:
    names = ["y", *RATES]
    rates = {"y": "0.7"} | {name: rate for name, (rate, *_) in RATES.items()}
    return "\n".join([
        "[states]",
        *(f'{name} = {{ initial = "0" }}' for name in names),
        "[derivatives]", *(f'{name} = "{rates[name]}"' for name in names),
        "[outputs]", *(f'{name}_end = {{ final = "{name}" }}' for name in RATES),
        *(f'{name}_integral = {{ integral = "{rate}" }}' for name, (rate, *_) in RATES.items()),
    ])  # fmt: skip


@pytest.mark.broad
@controlled
def test_every_relation_ends_a_step_where_its_side_changes(method: str) -> None:
    """The integral of a rate is the state: both see the same sides."""
    tolerances = [1e-6, 1e-10]
    ds = points(several(), method, {"relative_tolerance": tolerances}, window_end=END, **BOUNDS)
    assert (ds.status == Status.ok).all()
    exact = {name: integral(function, breaks) for name, (_, function, breaks) in RATES.items()}
    for i, bound in enumerate((1e-4, 1e-7)):
        errors = {
            f"{name}_{kind}": abs(float(ds[f"{name}_{kind}"][i]) - value)
            for name, value in exact.items()
            for kind in ("end", "integral")
        }
        assert {name: e for name, e in errors.items() if not e < bound} == {}, tolerances[i]


# A lag of 0.1 under pulses that are on for a share of their period: so is the mean, once steady.

LAG = """
period = "length"
[parameters]
length = {}
duty = {}
[states]
x = { initial = "0" }
[derivatives]
x = "(RATE - x)/0.1"
[outputs]
mean = { mean = "x" }
largest = { maximum = "x" }
smallest = { minimum = "x" }
"""
PULSES = {
    "floor": "where(t/length - floor(t/length) < duty, 1, 0)",
    "cosine": "where(cos(2*pi*t/length) > cos(pi*duty), 1, 0)",
}


@pytest.mark.parametrize(
    ("method", "pulse"),
    [
        ("rodas4", "floor"),
        *(
            pytest.param(method, pulse, marks=pytest.mark.broad)
            for method in ("rk54", "dop853", "rodas4")
            for pulse in PULSES
            if (method, pulse) != ("rodas4", "floor")
        ),
    ],
)
def test_a_lag_under_pulses(method: str, pulse: str) -> None:
    """In the steady motion it charges by 1 - exp(-t/0.1) and discharges by exp(-t/0.1)."""
    lengths, duties = np.array([0.5, 1.0, 2.0, 3.0, 5.0]), np.array([0.15, 0.3, 0.5])
    ds = points(
        LAG.replace("RATE", PULSES[pulse]), method, {"length": lengths, "duty": duties},
        start_cycle=10.0, end_cycle=20.0, **BOUNDS,
    )  # fmt: skip
    assert (ds.status == Status.ok).all()
    np.testing.assert_allclose(ds["mean"], np.tile(duties, (5, 1)), rtol=0, atol=1e-4)
    on, off = np.outer(lengths, duties), np.outer(lengths, 1 - duties)
    top = (1 - np.exp(-on / 0.1)) / (1 - np.exp(-(on + off) / 0.1))
    np.testing.assert_allclose(ds.largest, top, rtol=0, atol=1e-4)
    np.testing.assert_allclose(ds.smallest, top * np.exp(-off / 0.1), rtol=0, atol=1e-4)


# A mass on a spring with dry friction, driven at half its frequency.

FRICTION = """
[parameters]
mu = {}
[states]
x = { initial = "0" }
v = { initial = "0" }
[derivatives]
x = "v"
v = "cos(t/2) - x - mu*sign(v)"
[outputs]
x_end = { final = "x" }
v_end = { final = "v" }
distance = { integral = "abs(v)" }
"""
FRICTION_ENDS = [3.0, 6.0, 10.0, 20.0, 40.0]


class Slip:
    """x'' = cos(t/2) - x - mu side: x = a cos t + b sin t + 4/3 cos(t/2) - mu side."""

    def __init__(self, t: float, x: float, v: float, mu: float, side: int) -> None:
        self.force = mu * side
        p, q = x - 4 / 3 * math.cos(t / 2) + self.force, v + 2 / 3 * math.sin(t / 2)
        self.a, self.b = p * math.cos(t) - q * math.sin(t), p * math.sin(t) + q * math.cos(t)

    def x(self, t: Any) -> Any:
        return self.a * np.cos(t) + self.b * np.sin(t) + 4 / 3 * np.cos(t / 2) - self.force

    def v(self, t: Any) -> Any:
        return -self.a * np.sin(t) + self.b * np.cos(t) - 2 / 3 * np.sin(t / 2)


def first_root(function: Callable[[Any], Any], start: float, end: float) -> float | None:
    """The first change of sign behind the start, where the function is not looked at."""
    times = np.append(np.arange(start + 1e-6, end, 1e-3), end)
    values = function(times)
    changes = np.flatnonzero(np.sign(values) != np.sign(values[0]))
    if changes.size == 0:
        return None
    i = int(changes[0])
    return float(brentq(function, times[i - 1], times[i], xtol=1e-14))


def rubbed(mu: float, end: float) -> tuple[float, float, float, float]:
    """x and v at the end, the distance, and the time in stick, from one reversal to the next."""
    t, x, distance, stuck = 0.0, 0.0, 0.0, 0.0
    while True:
        pull = math.cos(t / 2) - x
        if abs(pull) <= mu:
            loose = first_root(lambda t, x=x: np.abs(np.cos(t / 2) - x) - mu, t, end)
            stuck += (loose or end) - t
            if loose is None:
                return x, 0.0, distance, stuck
            t, pull = loose, math.cos(loose / 2) - x
        side = 1 if pull > 0 else -1
        slip = Slip(t, x, 0.0, mu, side)
        stop = first_root(slip.v, t, end)
        last = stop or end
        distance += abs(float(slip.x(last)) - x)
        if stop is None:
            return float(slip.x(end)), float(slip.v(end)), distance, stuck
        t, x = stop, float(slip.x(stop))


@controlled
def test_dry_friction_is_right_or_says_that_the_motion_sticks(method: str) -> None:
    """Until the exact motion first sticks, the sign of v is all that is needed; afterwards the
    velocity stays at a jump of its own rate. A stick of less than 1e-3 may be either.
    """
    coefficients = np.linspace(0.05, 0.95, 64)
    along = {"window_end": FRICTION_ENDS, "mu": coefficients}
    ds = points(FRICTION, method, along, **BOUNDS)
    exact = np.array([[rubbed(mu, end) for mu in coefficients.tolist()] for end in FRICTION_ENDS])
    stuck = exact[..., 3]
    free = stuck == 0
    assert 64 < free.sum() < 256
    fine = (ds.status == Status.ok).values
    computed = np.stack([ds.x_end, ds.v_end, ds.distance], axis=-1)
    wrong = fine & ~(np.abs(computed - exact[..., :3]) < 1e-3).all(axis=-1)
    assert wrong.sum() == 0, f"ok but wrong: {named(wrong)}"
    assert fine[free].all(), f"right until it sticks, but not ok: {named(free & ~fine)}"
    on = (stuck > 1e-3) & (ds.status != Status.not_converged).values
    assert on.sum() == 0, f"slides on: {named(on)}"


def named(points: np.ndarray) -> str:
    coefficients = np.linspace(0.05, 0.95, 64)
    each = [f"mu = {coefficients[j]:.4f} until {FRICTION_ENDS[i]}" for i, j in np.argwhere(points)]
    return f"{len(each)} points, such as {', '.join(each[:3])}"


SLIDING = """
[parameters]
start = {}
k = {}
b = {}
[states]
x = { initial = "start" }
[derivatives]
x = "b - k*sign(x)"
[outputs]
end = { final = "x" }
"""
# Start, k, b, end of the window, and x then: None where both sides lead back to 0.
MOTIONS = [
    (1.0, 1.0, 0.5, 1.9, 0.05),
    (1.0, 1.0, 0.5, 3.0, None),
    (-1.0, 1.0, 0.5, 0.6, -0.1),
    (-1.0, 1.0, 0.5, 3.0, None),
    (0.0, 1.0, 0.5, 3.0, None),
    (0.0, 1.0, 0.0, 3.0, 0.0),  # rests, since sign(0) = 0
    (1.0, 1.0, 0.0, 3.0, None),
    (0.3, 1.0, 0.0, 3.0, None),
    (-1.0, 0.5, 1.0, 3.0, 3.5 / 3),  # passes 0 at 2/3, then at half the rate
    (2.0, 0.5, -1.0, 3.0, -2.5 / 3),
    (0.0, 0.5, 1.0, 3.0, 1.5),
    (0.0, 0.5, -1.0, 3.0, -1.5),
    (0.0, -1.0, 0.0, 3.0, 0.0),  # rests between two sides that lead away
    (0.0, -1.0, 0.5, 3.0, 4.5),
    (0.0, -1.0, -0.5, 3.0, -4.5),
    (-0.7, 0.0, 0.3, 5.0, 0.8),
]


@controlled
def test_a_motion_that_stays_at_a_jump_has_not_converged(method: str) -> None:
    *columns, expected = zip(*MOTIONS, strict=True)
    rows = dict(zip(("start", "k", "b", "window_end"), columns, strict=True))
    ds = points(SLIDING, method, rows=rows, **BOUNDS)
    ends = np.array(expected, float)  # NaN for None
    statuses = np.where(np.isnan(ends), Status.not_converged, Status.ok)
    np.testing.assert_array_equal(ds.status, statuses)
    np.testing.assert_allclose(ds.end, ends, rtol=0, atol=1e-9)


# Guards: x falls from 1 to -1 in 2 s; a ball that meets a soft ground, without loss.

GUARDS = """
[parameters]
stiffness = {}
[states]
x = { initial = "1" }
a = { initial = "0" }
b = { initial = "0" }
h = { initial = "0.5" }
v = { initial = "0" }
[derivatives]
x = "-1"
a = "where(x > 0, sqrt(x), 0)"
b = "sqrt(max(x, 0))"
h = "v"
v = "-10 + stiffness*where(h < 0, -h*sqrt(-h), 0)"
[outputs]
a_end = { final = "a" }
b_end = { final = "b" }
energy = { final = "v**2/2 + 10*h + stiffness*max(-h, 0)**2*sqrt(max(-h, 0))/2.5" }
highest = { maximum = "h" }
"""


@controlled
def test_guards_need_no_exception(method: str) -> None:
    """The integral of sqrt(x) from 0 to 1, and the energy of the ball.

    The slope of sqrt is infinite at the end of its guard, but its error goes as h^1.5 with the last
    step h. A step's error of 1e-6*(1 + v) in a speed of 3 changes the energy by 1e-5; there are
    some 400.
    """
    ds = points(GUARDS, method, {"stiffness": [1e3, 1e4, 1e5]}, window_end=2.0, **BOUNDS)
    assert (ds.status == Status.ok).all()
    for name in ("a_end", "b_end"):
        np.testing.assert_allclose(ds[name], 2 / 3, rtol=0, atol=1e-4, err_msg=name)
    np.testing.assert_allclose(ds.energy, 5.0, rtol=0, atol=5e-3)
    np.testing.assert_allclose(ds.highest, 0.5, rtol=0, atol=5e-4)


STOPPED = """
[parameters]
gap = {{ default = 0.5 }}
[states]
x = {{ initial = "1" }}
v = {{ initial = "0" }}
[definitions]
overlap = {{ value = "5*(x - gap) + 0.1*v" }}
push = {{ value = "{push}" }}
[derivatives]
x = "v"
v = "-9*x - ({force})"
[outputs]
end = {{ final = "x" }}
pushed = {{ share = "push > 0" }}
"""
STOP = "where(x > gap, max(overlap, 0), 0)"
RELIEVED = "where(x > gap, where(overlap > 0, overlap - 0.5, 0), 0)"
OTHER = "where(x < -gap, -(x + gap), 0)"
STOPS = f"where(x > gap, 5*(x - gap), 0) + {OTHER}"


@controlled
@pytest.mark.parametrize(
    ("push", "force", "plain"),
    [
        (STOP, "abs(push)", STOP),
        (STOP, "max(push, 0)", STOP),
        (STOP, "push - where(push != 0, 0.5, 0)", RELIEVED),
        (STOPS, "abs(push)", STOPS),
        (f"{STOP} + {OTHER}", "abs(push)", f"{STOP} + {OTHER}"),
        (
            f"where(x > gap, overlap, 0) + {OTHER}",
            "abs(push)",
            f"where(x > gap, abs(overlap), 0) + {OTHER}",
        ),
        (f"{STOP} + {OTHER}", "2*push*sign(0.5*push) + min(-push, 0)", f"{STOP} + {OTHER}"),
    ],
)
def test_a_relation_of_what_stays_at_zero(method: str, push: str, force: str, plain: str) -> None:
    """As the force of an open contact does; against the same motion without that relation."""
    ours, right = (
        points(
            STOPPED.format(push=push, force=each),
            method,
            window_end=END,
            relative_tolerance=1e-9,
        )
        for each in (force, plain)
    )
    for name in ("end", "pushed"):
        assert ours[name].item() == pytest.approx(right[name].item(), abs=1e-6)


TRIPPED = """
[parameters]
gap = {}
[states]
x = { initial = "0" }
v = { initial = "1" }
a = { initial = "0" }
w = { initial = "0" }
[definitions]
force = { value = "where(x > gap, 0.3*(x - gap) + 2*v, 0)" }
[derivatives]
x = "v"
v = "-x"
a = "1"
w = "max(x, 0)"
[outputs]
tripped = { values = "t", every = "trip", keep = 1 }
[[events]]
name = "trip"
when = "force - 0.6"
direction = "rising"
set = { a = "0" }
"""


@controlled
def test_an_event_whose_expression_jumps_happens_at_the_jump(method: str) -> None:
    """As the force of a damped contact does where it closes, and then falls."""
    gaps = np.arange(1, 20) / 20
    ds = points(TRIPPED, method, {"gap": gaps}, window_end=3.0, relative_tolerance=1e-9)
    assert (ds.status == Status.ok).all()
    np.testing.assert_allclose(ds.tripped[:, 0], np.arcsin(gaps), rtol=0, atol=1e-8)


PLAY = """
[parameters]
play = {}
[states]
x = { initial = "1" }
v = { initial = "0" }
[derivatives]
x = "v"
v = "-sign(x)*max(abs(x) - play, 0)"
[outputs]
x_end = { final = "x" }
"""


@controlled
def test_a_spring_with_play(method: str) -> None:
    """Over a quarter period each side of the play, and at constant speed through it."""
    play = np.array([0.0, 0.01, 0.1, 0.5])
    ds = points(PLAY, method, {"play": play}, window_end=10.0, relative_tolerance=1e-10)
    stretch = 1 - play  # largest, and the speed through the play
    quarter, free = math.pi / 2, 2 * play / stretch
    left = 10.0 % (4 * quarter + 2 * free)
    assert (left > 2 * quarter).all()  # on the way back
    x = [_with_play(t, p, s, f) for t, p, s, f in zip(left, play, stretch, free, strict=True)]
    np.testing.assert_allclose(ds.x_end, x, rtol=0, atol=1e-7)


def _with_play(time: float, play: float, stretch: float, free: float) -> float:
    """The displacement `time` after the largest one."""
    quarter = math.pi / 2
    if time < quarter:
        return play + stretch * math.cos(time)
    if time < quarter + free:
        return play - stretch * (time - quarter)
    if time < 3 * quarter + free:
        return -play - stretch * math.sin(time - quarter - free)
    if time < 3 * quarter + 2 * free:
        return -play + stretch * (time - 3 * quarter - free)
    return play + stretch * math.sin(time - 3 * quarter - 2 * free)


IN_A_ROW = """
[indices]
i = 3
[parameters]
gap = {}
[signals]
push = { times = [0, 0.5, 1.1, 2.5, 9], values = [0, -1, 0, 1, 0], interpolation = "previous" }
[states]
x = { over = "i", initial = "0" }
v = { over = "i", initial = "0" }
work = { over = "i", initial = "0" }
magnitude = { initial = "0" }
q = { initial = "0" }
[definitions]
next = { over = "i", value = "where(i < size(i) - 1, x[i + 1], 0)" }
last = { over = "i", value = "where(i > 0, x[i - 1], 0)" }
right = { over = "i", value = "max(x - next - gap, 0)" }
left = { over = "i", value = "where(i > 0, max(last - x - gap, 0), max(-x - gap, 0))" }
damper = { over = "i", value = "where(right > 0, 2*v, 0)" }
force = { over = "i", value = "20*(left - right) - damper" }
total = { value = "sum(i, force)" }
speed = { value = "where(abs(total) > 0.2, max(v[0], v[1]), 0) + max(force[0] + force[1], 0)" }
[derivatives]
x = "v"
v = "force - x + where(i == 0, push, 0)"
work = "0.1*abs(force)*abs(v)"
magnitude = "sign(total)*abs(total)"
q = "speed"
[outputs]
q_end = { final = "q" }
q_integral = { integral = "speed" }
[[events]]
name = "close"
over = "i"
when = "x - gap"
direction = "rising"
"""


@controlled
def test_relations_of_the_sum_of_forces_of_masses_in_a_row(method: str) -> None:
    """The sum is zero while all contacts are open; its state against the integral of its rate.

    Integrals find their kinks and jumps in steps for themselves.
    """
    gaps = np.linspace(0.1, 0.39, 59)
    ds = points(IN_A_ROW, method, {"gap": gaps}, window_end=3.8, relative_tolerance=1e-9)
    assert (ds.status == Status.ok).all()
    np.testing.assert_allclose(ds.q_end, ds.q_integral, rtol=0, atol=1e-6)
