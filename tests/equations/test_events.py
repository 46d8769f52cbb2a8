"""Events of models from files against closed forms."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sweep
from sweep.spec import Status
from tests.equations.examples import BALL, BLOCK, model, points

EVERY = ("rk54", "rk4", "dop853", "rodas4")


def first_methods(count: int) -> list[Any]:
    """Every method; those after the first `count` in the broad tests only."""
    others = [pytest.param(method, marks=pytest.mark.broad) for method in EVERY[count:]]
    return [*EVERY[:count], *others]


# rk54 chooses its steps, rk4 has constant ones. What an event does is the same in all methods.
METHODS, FIRST = first_methods(2), first_methods(1)
GRAVITY, RESTITUTION, HEIGHT = 9.81, 0.8, 2.0


def controls(method: str) -> dict[str, float]:
    return {"step": 0.01} if method == "rk4" else {"relative_tolerance": 1e-10}


def bounced(time: float, height: float = HEIGHT) -> tuple[float, float, int]:
    """Height, velocity and number of impacts of a ball that has bounced until `time`."""
    fall = math.sqrt(2 * height / GRAVITY)
    if time < fall:
        return height - GRAVITY * time**2 / 2, -GRAVITY * time, 0
    start, speed, impacts = fall, RESTITUTION * GRAVITY * fall, 1
    while start + 2 * speed / GRAVITY <= time:
        start += 2 * speed / GRAVITY
        speed *= RESTITUTION
        impacts += 1
    since = time - start
    return speed * since - GRAVITY * since**2 / 2, speed - GRAVITY * since, impacts


@pytest.mark.parametrize("method", METHODS)
def test_a_bouncing_ball(method: str) -> None:
    times = [0.3, 0.7, 1.5, 2.9, 4.4, 5.3, 5.6]
    motion = points(
        BALL, method, {"window_end": times}, gravity=GRAVITY, restitution=RESTITUTION,
        height=HEIGHT, **controls(method),
    )  # fmt: skip
    expected = np.array([bounced(time) for time in times])
    assert (motion.status == Status.ok).all()
    np.testing.assert_allclose(motion.x_end, expected[:, 0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(motion.v_end, expected[:, 1], rtol=1e-9)
    np.testing.assert_array_equal(motion.impacts, expected[:, 2])
    assert float(motion.lowest.min()) > -1e-13


@pytest.mark.parametrize("method", METHODS)
def test_values_at_events(method: str) -> None:
    """Impact speeds form a geometric series."""
    motion = points(
        BALL, method, gravity=GRAVITY, restitution=RESTITUTION, height=HEIGHT, window_end=4.4,
        **controls(method),
    )  # fmt: skip
    count = int(motion.impacts)
    speeds = math.sqrt(2 * GRAVITY * HEIGHT) * RESTITUTION ** np.arange(count)
    assert count == bounced(4.4)[2]
    assert float(motion.hardest) == pytest.approx(speeds[0], rel=1e-11)
    assert float(motion.total_speed) == pytest.approx(speeds.sum(), rel=1e-11)
    assert float(motion.mean_speed) == pytest.approx(speeds.mean(), rel=1e-11)


@pytest.mark.parametrize("method", METHODS)
def test_beyond_the_accumulation_of_impacts_points_have_no_values(method: str) -> None:
    fall = math.sqrt(2 * HEIGHT / GRAVITY)
    for restitution in (0.1, 0.3, 0.5, RESTITUTION, 0.95):
        end = fall * (1 + restitution) / (1 - restitution)
        motion = points(
            BALL, method, {"window_end": [0.99 * end, end + 1e-6, 2 * end, 10 * end]},
            gravity=GRAVITY, restitution=restitution, height=HEIGHT, **controls(method),
        )  # fmt: skip
        assert motion.status.values.tolist() == [0, 1, 1, 1], restitution


@pytest.mark.parametrize("method", METHODS)
def test_events_count_only_in_the_window(method: str) -> None:
    fall = math.sqrt(2 * HEIGHT / GRAVITY)
    motion = points(
        BALL, method, {"window_start": [0.0, fall - 1e-6, fall + 1e-6, 2.0]}, gravity=GRAVITY,
        restitution=RESTITUTION, height=HEIGHT, window_end=4.4, **controls(method),
    )  # fmt: skip
    total, until_2 = bounced(4.4)[2], bounced(2.0)[2]
    assert motion.impacts.values.tolist() == [total, total, total - 1, total - until_2]


@pytest.mark.parametrize("method", FIRST)
def test_a_motion_that_an_event_ends(method: str) -> None:
    text = BALL.replace('direction = "falling"', 'direction = "falling"\nstop_after = 3')
    motion = points(
        text, method, gravity=GRAVITY, restitution=RESTITUTION, height=HEIGHT, window_end=100.0,
        **controls(method),
    )  # fmt: skip
    fall = math.sqrt(2 * HEIGHT / GRAVITY)
    speed = GRAVITY * fall * RESTITUTION**3
    assert int(motion.status) == Status.ok
    assert int(motion.impacts) == 3
    assert float(motion.x_end) == pytest.approx(0.0, abs=1e-12)
    assert float(motion.v_end) == pytest.approx(speed, rel=1e-10)


# x = t: everything happens at known times, several events at one.
ORDER = """
format = 1
name = "order"
time_unit = "1"
[parameters]
first = { unit = "1", meaning = "time of the first" }
second = { unit = "1", meaning = "time of the second" }
[states]
x = { unit = "1", initial = "0", meaning = "time" }
y = { unit = "1", initial = "1", meaning = "number" }
[derivatives]
x = "1"
y = "0"
[[events]]
name = "add"
when = "x - first"
direction = "rising"
set = { y = "y + 3" }
[[events]]
name = "double"
when = "x - second"
direction = "rising"
if = "y > 0"
set = { y = "2*y" }
[outputs]
y_end = { final = "y", unit = "1", meaning = "number" }
adds = { count = "add", meaning = "additions" }
doubles = { count = "double", meaning = "doublings" }
"""


@pytest.mark.parametrize("method", FIRST)
def test_events_happen_in_the_order_of_their_times(method: str) -> None:
    cases = {(1.0, 2.0): 8.0, (2.0, 1.0): 5.0, (1.0, 1.0): 8.0, (1.0, 1.0 + 1e-9): 8.0,
             (1.0 + 1e-9, 1.0): 5.0}  # fmt: skip
    for (first, second), expected in cases.items():
        steps = {"step": 0.7} if method == "rk4" else {}
        motion = points(ORDER, method, first=first, second=second, window_end=3.0, **steps)
        assert float(motion.y_end) == expected, (first, second)


@pytest.mark.parametrize("method", FIRST)
def test_an_event_without_its_condition_does_not_happen(method: str) -> None:
    text = ORDER.replace("y > 0", "y > 100")
    steps = {"step": 0.7} if method == "rk4" else {}
    motion = points(text, method, first=1.0, second=2.0, window_end=3.0, **steps)
    assert (float(motion.y_end), int(motion.adds), int(motion.doubles)) == (4.0, 1, 0)


# sin t - height crosses zero twice around each extreme, between the ends of long steps.
ARCH = """
format = 1
name = "arch"
time_unit = "1"
[parameters]
height = { unit = "1", meaning = "height" }
[states]
y = { unit = "1", initial = "0", meaning = "sine" }
v = { unit = "1", initial = "1", meaning = "cosine" }
[derivatives]
y = "v"
v = "-y"
[[events]]
name = "up"
when = "y - height"
direction = "rising"
[[events]]
name = "down"
when = "y - height"
direction = "falling"
[[events]]
name = "either"
when = "y - height"
direction = "both"
[outputs]
ups = { count = "up", meaning = "upward crossings" }
downs = { count = "down", meaning = "downward crossings" }
both = { count = "either", meaning = "crossings" }
"""


@pytest.mark.parametrize("method", FIRST)
def test_two_crossings_around_one_extreme_are_found(method: str) -> None:
    """A step is longer than the time between the crossings."""
    steps = {"step": 0.2} if method == "rk4" else {"relative_tolerance": 1e-6}
    heights = [0.5, 0.9, 0.99, 0.999, -0.9, -0.999]
    motion = points(ARCH, method, {"height": heights}, window_end=20 * math.pi + 0.1, **steps)
    for name in ("ups", "downs"):
        counts = motion[name].values.tolist()
        assert counts == [10] * len(heights), name
    assert motion.both.values.tolist() == [20] * len(heights)


# A block that waits for a second, then sticks until its load, which begins at 0, exceeds its grip.
RAMP = """
format = 1
name = "ramp"
time_unit = "1"
start_mode = "START"
[parameters]
force = {}
grip = {}
[states]
clock = { initial = "0" }
x = { initial = "0" }
v = { initial = "0" }
[definitions]
load = { value = "LOAD" }
[modes.wait]
clock = "1"
x = "0"
v = "0"
[modes.stick]
clock = "1"
x = "0"
v = "0"
[modes.slip]
clock = "1"
x = "v"
v = "load"
[[events]]
name = "begin"
in = "wait"
when = "clock - 1"
direction = "rising"
set = { clock = "0" }
then = "stick"
[[events]]
name = "right"
in = "stick"
when = "load - grip"
direction = "rising"
at_entry = true
then = "slip"
[[events]]
name = "left"
in = "stick"
when = "load + grip"
direction = "falling"
at_entry = true
then = "slip"
[outputs]
distance = { final = "x" }
stuck = { share = "stick" }
rights = { count = "right" }
lefts = { count = "left" }
"""
LOADS = {  # and x while it slips
    "force*sin(clock)": lambda t: t - np.sin(t),
    "force*(1 - cos(clock))": lambda t: t**2 / 2 - (1 - np.cos(t)),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("start", ["stick", "wait"])
@pytest.mark.parametrize("load", LOADS)
def test_an_expression_that_is_zero_where_its_mode_is_entered(
    load: str, start: str, method: str
) -> None:
    """It leaves zero by its rate, or by the rate's own change; a small grip makes no difference."""
    forces, grips = np.array([2.0, -2.0, 0.0]), np.array([0.0, 1e-300])
    text = RAMP.replace("LOAD", load).replace("START", start)
    along = {"force": forces, "grip": grips}
    motion = points(text, method, along, window_end=2.5, **controls(method))
    slips = 2.5 - (start == "wait")
    expected = np.outer(forces * LOADS[load](slips), np.ones(2))
    np.testing.assert_allclose(motion.distance, expected, rtol=1e-7, atol=1e-30)
    np.testing.assert_array_equal(motion.rights, np.outer(forces > 0, [1, 1]))
    np.testing.assert_array_equal(motion.lefts, np.outer(forces < 0, [1, 1]))
    stuck = np.outer(forces == 0, [1, 1]) * slips / 2.5
    np.testing.assert_allclose(motion.stuck, stuck, atol=1e-7)


@pytest.mark.parametrize("method", FIRST)
def test_an_expression_that_is_zero_at_the_start_has_not_crossed_it(method: str) -> None:
    """Without at_entry, as one that has just left zero."""
    text = RAMP.replace("LOAD", "force*sin(clock)").replace("START", "stick")
    text = text.replace("at_entry = true", "at_entry = false")
    motion = points(text, method, {"force": [2.0]}, window_end=2.5, grip=0.0, **controls(method))
    assert (float(motion.distance[0]), float(motion.stuck[0])) == (0.0, pytest.approx(1.0))


def test_the_block_of_sdnd104_gives_the_wear_power_of_the_exact_method(tmp_path: Path) -> None:
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
    lines = [
        ",".join(values),
        *(",".join(map(repr, map(float, row))) for row in zip(*values.values(), strict=True)),
    ]
    (tmp_path / "points.csv").write_text("\n".join(lines), encoding="utf-8")

    def wear_power(**request: object) -> np.ndarray:
        fixed = {"gravity": 10.0, "window_start": 2.0, "window_end": 6.0}
        sample = {"file": str(tmp_path / "points.csv"), "columns": list(values)}
        parameters = fixed | dict(request.pop("parameters", {}))  # pyright: ignore
        dataset = sweep.run(
            {"parameters": parameters, "sample": sample, **request},
            store=None,
        )
        assert (dataset.status == Status.ok).all()
        return dataset.wear_power.values

    exact = wear_power(model="friction_oscillator", method="exact")
    assert (exact > 0).mean() > 0.8
    bounds = {"dop853": 1e-8, "rk54": 1e-7}  # the greatest error of rk54 is 5.0e-8
    for method, bound in bounds.items():
        computed = wear_power(
            model=model(BLOCK),
            method=method,
            parameters={"relative_tolerance": 1e-11},
            outputs=["wear_power"],
        )
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
