"""Events of models from files against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sweep
from sweep.model.table import Status
from tests.equations.examples import BALL, BLOCK, first_method, model, points, with_events

GRAVITY, RESTITUTION, HEIGHT = 9.81, 0.8, 2.0


def controls(method: str) -> dict[str, float]:
    return {"step": 0.01} if method == "rk4" else {"relative_tolerance": 1e-10}


@first_method
def test_values_at_the_impacts_of_a_ball_in_the_window(method: str) -> None:
    """Impact speeds form a geometric series, and so do the times between impacts."""
    fall, speed = math.sqrt(2 * HEIGHT / GRAVITY), math.sqrt(2 * GRAVITY * HEIGHT)
    powers = RESTITUTION ** np.arange(20)
    times = fall * (1 + 2 * RESTITUTION * (1 - powers) / (1 - RESTITUTION))
    end = 4.4
    starts = [0.0, fall - 1e-6, fall + 1e-6, 2.0]
    motion = points(
        BALL, method, {"window_start": starts}, gravity=GRAVITY, restitution=RESTITUTION,
        height=HEIGHT, window_end=end, **controls(method),
    )  # fmt: skip
    for i, start in enumerate(starts):
        speeds = speed * powers[(times > start) & (times < end)]
        assert int(motion.impacts[i]) == speeds.size
        assert float(motion.hardest[i]) == pytest.approx(speeds[0], rel=1e-11)
        assert float(motion.total_speed[i]) == pytest.approx(speeds.sum(), rel=1e-11)
        assert float(motion.mean_speed[i]) == pytest.approx(speeds.mean(), rel=1e-11)
    last = times[times < end].size - 1
    since, upward = end - times[last], speed * powers[last + 1]
    np.testing.assert_allclose(motion.x_end, upward * since - GRAVITY * since**2 / 2, rtol=1e-9)
    np.testing.assert_allclose(motion.v_end, upward - GRAVITY * since, rtol=1e-9)


# A block that waits for a delay, then sticks until its load, which begins at 0, exceeds its limit.
# One that grows is that of a friction element at touch: load and limit are 0 there, to roundings of
# their own.
RAMP = with_events(
    """
start_mode = "START"
[parameters]
force = {}
grip = {}
growth = {}
delay = {}
sine = { meaning = "1: the load grows as a sine; 0: as its integral" }
[states]
clock = { initial = "0" }
x = { initial = "0" }
v = { initial = "0" }
[definitions]
since = { value = "clock - delay" }
load = { value = "force*(sine*sin(since) + (1 - sine)*(1 - cos(since)))" }
limit = { value = "grip + growth*(3*clock - 3*delay)" }
[modes.wait]
clock = "1"
[modes.stick]
clock = "1"
[modes.slip]
clock = "1"
x = "v"
v = "load"
[outputs]
distance = { final = "x" }
stuck = { share = "stick" }
rights = { count = "right" }
lefts = { count = "left" }
""",
    ("begin", "since", "rising", 'in = "wait"', 'then = "stick"'),
    ("right", "load - limit", "rising", 'in = "stick"', "at_entry = true", 'then = "slip"'),
    ("left", "load + limit", "falling", 'in = "stick"', "at_entry = true", 'then = "slip"'),
)


@first_method
@pytest.mark.parametrize("start", ["wait", pytest.param("stick", marks=pytest.mark.broad)])
def test_an_expression_that_is_zero_where_its_mode_is_entered(start: str, method: str) -> None:
    """It leaves zero by its rate, or by the rate's own change; a small grip makes no difference.

    A limit that grows by 1.8 is slower than a sine of 2 and always ahead of its integral.
    """
    random = np.random.default_rng(6)
    delays = random.uniform(0.5, 1.5, 20) if start == "wait" else np.zeros(1)
    along = {
        "sine": [1.0, 0.0], "force": [2.0, -2.0, 0.0], "growth": [0.0, 0.6, 1.0],
        "grip": [0.0, 1e-300], "delay": delays,
    }  # fmt: skip
    motion = points(RAMP.replace("START", start), method, along, window_end=2.5, **controls(method))
    sine, force, growth, _, delay = np.meshgrid(*along.values(), indexing="ij")
    t = 2.5 - delay
    distances = force * np.where(sine == 1, t - np.sin(t), t**2 / 2 - (1 - np.cos(t)))
    expected = np.where(3 * growth < np.where(sine == 1, abs(force), 1e-9), distances, 0)
    np.testing.assert_allclose(motion.distance, expected, rtol=1e-7, atol=1e-30)
    np.testing.assert_array_equal(motion.rights, expected > 0)
    np.testing.assert_array_equal(motion.lefts, expected < 0)
    np.testing.assert_allclose(motion.stuck, (expected == 0) * t / 2.5, atol=1e-7)


JUMPS = with_events(
    """
[parameters]
phase = {}
[definitions]
wave = { value = "sin(t + phase)" }
[states]
n = { initial = "0" }
m = { initial = "0" }
k = { initial = "0" }
[outputs]
n_zeros = { final = "n" }
n_signs = { final = "m" }
n_rises = { final = "k" }
""",
    ("relation", "where(wave > 0, 1, -1)", "both", 'set = { n = "n + 1" }'),
    ("signs", "3*sign(wave)", "both", 'set = { m = "m + 1" }'),
    ("steps", "floor(2*wave) + 0.5", "rising", 'set = { k = "k + 1" }'),
)


@first_method
def test_an_expression_that_jumps_over_zero_is_not_there_afterwards(method: str) -> None:
    """Each jump is an event: where one has ended, the expression is 1 or -1, not 0."""
    phases = np.linspace(0.05, 6.25, 63)
    steps = {"step": 0.01} if method == "rk4" else {"maximum_step": 0.1}
    ds = points(JUMPS, method, {"phase": phases}, window_end=20.0, **steps)
    assert (ds.status == Status.ok).all()
    zeros = np.floor((20.0 + phases) / math.pi) - np.floor(phases / math.pi)
    rises = np.floor((20.0 + phases) / (2 * math.pi)) - np.floor(phases / (2 * math.pi))
    np.testing.assert_array_equal(ds.n_zeros, zeros)
    np.testing.assert_array_equal(ds.n_signs, zeros)
    np.testing.assert_array_equal(ds.n_rises, rises)


@pytest.mark.parametrize("method", ["rk54", pytest.param("dop853", marks=pytest.mark.broad)])
def test_the_block_of_sdnd104_gives_the_wear_power_of_the_exact_method(method: str) -> None:
    """At random points, sprung, damped and shaken upwards among them."""
    random = np.random.default_rng(5)
    n = 200
    shares = (random.random((3, n)) < 0.5).astype(float)
    values = {
        "mass": random.uniform(0.5, 2, n),
        "friction": random.uniform(0.05, 0.5, n),
        "stiffness": shares[0] * random.uniform(1, 50, n),
        "damping": shares[1] * random.uniform(0.05, 2, n),
        "base_acceleration": random.uniform(1, 20, n),
        "vertical_acceleration": shares[2] * random.uniform(0.1, 8, n),
        "angular_frequency": random.uniform(3, 10, n),
    }
    axes = {"case": {name: {"values": column.tolist()} for name, column in values.items()}}

    def wear_power(model: object, method: str, **controls: float) -> np.ndarray:
        fixed = {"gravity": 10.0, "window_start": 2.0, "window_end": 6.0, **controls}
        request = {"model": model, "method": method, "parameters": fixed, "axes": axes}
        dataset = sweep.run({**request, "outputs": ["wear_power"]}, store=None)
        assert (dataset.status == Status.ok).all()
        return dataset.wear_power.values

    exact = wear_power("friction_oscillator", "exact")
    assert (exact > 0).mean() > 0.8
    computed = wear_power(model(BLOCK), method, relative_tolerance=1e-11)
    bound = {"dop853": 1e-8, "rk54": 1e-7}[method]  # the greatest error of rk54 is 5.0e-8
    np.testing.assert_allclose(computed, exact, rtol=bound, atol=0)


@pytest.mark.parametrize("method", ["rk54", pytest.param("dop853", marks=pytest.mark.broad)])
def test_an_event_that_changes_nothing_is_no_chattering(method: str) -> None:
    """Near the valve's stable equilibrium its velocity changes sign by the steps' errors alone."""
    dataset = sweep.run(
        {
            "model": "relief_valve",
            "method": method,
            "parameters": {"relative_tolerance": 1e-10, "window_end": 3000.0},
            "axes": {"flow": {"linspace": [9.8, 10.0, 40]}},
            "outputs": ["openings"],
        },
        store=None,
    )
    assert (dataset.status == Status.ok).all()
