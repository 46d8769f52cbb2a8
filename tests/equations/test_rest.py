"""Events whose occurrences accumulate, and come to rest, against closed forms."""

from __future__ import annotations

import tomllib
from typing import Any

import numpy as np
import pytest

import sweep
from sweep.model.shipped import configs_folder
from tests.equations.examples import points

GRAVITY = 2.0
# A ball that falls from a height of 1 onto a floor that may move; it rests until the floor falls
# faster than it does.
BALL = """
format = 1
name = "ball"
time_unit = "1"
[parameters]
restitution = {}
stroke = { default = 0 }
omega = { default = 1 }
[definitions]
floor_height = { value = "stroke*sin(omega*t)" }
floor_speed = { value = "stroke*omega*cos(omega*t)" }
[states]
x = { initial = "1" }
v = { initial = "0" }
[modes.fly]
x = "v"
v = "-2"
[modes.rest]
x = "floor_speed"
v = "-stroke*omega**2*sin(omega*t)"
[[events]]
name = "impact"
in = "fly"
when = "x - floor_height"
direction = "falling"
set = { v = "floor_speed - restitution*(v - floor_speed)" }
rest = "rest"
[[events]]
name = "leave"
in = "rest"
when = "2 - stroke*omega**2*sin(omega*t)"
direction = "falling"
at_entry = true
then = "fly"
[outputs]
impacts = { count = "impact" }
leaves = { count = "leave" }
resting = { share = "rest" }
x_end = { final = "x" }
v_end = { final = "v" }
mean = { mean = "x" }
lost = { at = "impact", sum = "0.5*(1 - restitution**2)*v**2" }
"""
RESTITUTIONS = np.array([0.3, 0.5, 0.7, 0.8])


def controls(method: str) -> dict[str, float]:
    return {"step": 0.01} if method == "rk4" else {"relative_tolerance": 1e-10}


@pytest.mark.parametrize("method", ["rk54", "rk4"])
def test_a_ball_comes_to_rest(method: str) -> None:
    """The first fall lasts 1, the flights 2 r, 2 r², ... with heights r², r⁴, ..."""
    end = 12.0
    motion = points(
        tomllib.loads(BALL),
        method,
        {"restitution": RESTITUTIONS},
        window_end=end,
        **controls(method),
    )
    assert not motion.status.any()
    assert np.all((motion.impacts > 20) & (motion.impacts < 150))
    r = RESTITUTIONS
    at_rest = 1 + 2 * r / (1 - r)
    np.testing.assert_allclose(motion.resting, 1 - at_rest / end, rtol=0, atol=2e-12)
    np.testing.assert_array_equal(motion.x_end, 0.0)
    np.testing.assert_allclose(motion.v_end, 0.0, atol=1e-12)
    areas = (2 / 3) * (1 + 2 * r**3 / (1 - r**3))
    np.testing.assert_allclose(motion["mean"], areas / end, rtol=1e-9)
    np.testing.assert_allclose(motion.lost, 2.0, rtol=1e-9)  # all of its energy


@pytest.mark.parametrize("method", ["rk54", "rk4"])
def test_a_ball_comes_to_rest_on_a_moving_floor(method: str) -> None:
    """It then moves with the floor: the time of rest is that of impacts computed one by one."""
    stroke, omega, end = 0.1, 2.5, 12.0
    motion = points(
        tomllib.loads(BALL), method, {"restitution": RESTITUTIONS}, stroke=stroke, omega=omega,
        window_end=end, **controls(method),
    )  # fmt: skip
    tolerance = 1e-6 if method == "rk4" else 1e-8
    assert not motion.status.any()
    assert not motion.leaves.any()
    at_rest = [rest_on_floor(r, stroke, omega) for r in RESTITUTIONS]
    assert max(at_rest) < end
    np.testing.assert_allclose(motion.resting, 1 - np.array(at_rest) / end, atol=tolerance)
    np.testing.assert_allclose(motion.x_end, stroke * np.sin(omega * end), atol=tolerance)
    np.testing.assert_allclose(motion.v_end, stroke * omega * np.cos(omega * end), atol=tolerance)


def rest_on_floor(restitution: float, stroke: float, omega: float) -> float:
    """When a ball has come to rest, by its impacts one after the other, found by bisection."""
    t, x, v = 0.0, 1.0, 0.0
    for _ in range(10_000):

        def above(s: float, t: float = t, x: float = x, v: float = v) -> float:
            return x + v * s - s * s - stroke * np.sin(omega * (t + s))

        apart = (v - stroke * omega * np.cos(omega * t)) / GRAVITY if t else 0.5
        if t and apart < 1e-9:
            return t
        low = apart  # halfway through a flight that is short
        high = low
        while above(high) > 0:
            high += 0.25 * apart
        for _ in range(80):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if above(middle) > 0 else (low, middle)
        t += high
        x = stroke * np.sin(omega * t)
        floor = stroke * omega * np.cos(omega * t)
        v = floor - restitution * (v - GRAVITY * high - floor)
    raise AssertionError


def test_a_fast_floor_throws_the_ball_off_again() -> None:
    motion = points(
        tomllib.loads(BALL), "rk54", restitution=0.3, stroke=0.5, omega=2.5, window_end=30.0
    )
    assert int(motion.status) == 0
    assert int(motion.leaves) > 3
    assert 0.1 < float(motion.resting) < 0.9


def forced_impact(*, rests: bool) -> dict[str, Any]:
    """The shipped model, with or without what lets it rest."""
    model = tomllib.loads((configs_folder() / "models/forced_impact.toml").read_text())
    if not rests:
        impact, leave = model["events"]
        del impact["rest"], model["modes"]["rest"], model["outputs"]["resting"]
        model["events"].remove(leave)
        del model["tests"][-1]
    return model


def test_no_point_of_the_bifurcation_map_is_left_out() -> None:
    """Frequencies at which the impacts accumulate, and some at which they do not."""
    at = {"damping": 0.05, "gap": 0.02, "restitution": 0.8, "start_cycle": 300.0,
          "end_cycle": 364.0, "relative_tolerance": 1e-9, "maximum_events": 10_000}  # fmt: skip
    omega = 3.0 + 5.0 * np.array([656, 736, 768, 0, 64]) / 2047
    maps = [
        sweep.run(
            {"model": forced_impact(rests=rests), "parameters": at,
             "outputs": ["impacts", "final_x"], "axes": {"omega": {"values": omega.tolist()}}},
            store=None, progress=False,
        )
        for rests in (False, True)
    ]  # fmt: skip
    np.testing.assert_array_equal(maps[0].status, [1, 1, 1, 0, 0])
    np.testing.assert_array_equal(maps[1].status, 0)
    for name in ("impacts", "final_x"):
        np.testing.assert_array_equal(maps[1][name][3:], maps[0][name][3:])
