"""Steps that end where a side changes: near zero, beside events, and where they erred at first."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from sweep.model.table import Status
from tests.equations.examples import model, points

RESTS = """
[parameters]
c = {}
[states]
y = { initial = "2" }
x = { initial = "0" }
[derivatives]
y = "where(y > c, -y, 0)"
x = "1"
[[events]]
name = "tick"
when = "x - 0.7"
direction = "rising"
set = { x = "0" }
[outputs]
y_end = { final = "y" }
ticks = { count = "tick" }
"""


@pytest.mark.parametrize(("method", "controls"), [("rk54", {}), ("rk4", {"step": 0.3})])
def test_a_motion_rests_at_the_zero_of_a_side_while_events_go_on(
    method: str, controls: dict[str, float]
) -> None:
    """At 1,501 levels, so that roundings fall on both sides of zero."""
    levels = np.linspace(0.3, 1.7, 1501)
    ds = points(RESTS, method, {"c": levels}, window_end=5.0, **controls)
    assert (ds.status == Status.ok).all()
    np.testing.assert_allclose(ds.y_end, levels, rtol=0, atol=1e-9)
    assert (ds.ticks == 7).all()


STIFF = """
[parameters]
rate = {}
[states]
y = { initial = "1" }
q = { initial = "0" }
z = { initial = "0" }
[derivatives]
y = "-rate*(y - q*q)"
q = "cos(t)"
z = "abs(y)"
[outputs]
z_end = { final = "z" }
"""


def path_of(rate: float, end: float) -> float:
    """The integral of |y| for y' = -rate (y - sin(t)^2), y(0) = 1."""

    def forced(t: float) -> float:
        swing = rate * np.cos(2 * t) + 2 * np.sin(2 * t)
        return 0.5 - 0.5 * rate * swing / (rate * rate + 4)

    def size(t: float) -> float:
        return abs(forced(t) + (1 - forced(0)) * np.exp(-rate * t))

    breaks = np.linspace(0, end, 81)
    parts = (quad(size, a, b, epsabs=1e-10)[0] for a, b in pairwise(breaks))
    return float(sum(parts))


@pytest.mark.parametrize("method", ["rodas4", pytest.param("rk54", marks=pytest.mark.broad)])
def test_a_change_that_shorter_steps_have_not_costs_few_steps(method: str) -> None:
    """y nearly touches zero, and a long step's motion crosses it."""
    rates = [10.0, 69.119, 500.0]
    ds = points(STIFF, method, {"rate": rates}, window_end=20.0, relative_tolerance=1e-3,
                maximum_steps=20_000)  # fmt: skip
    assert (ds.status == Status.ok).all()
    exact = [path_of(rate, 20.0) for rate in rates]
    np.testing.assert_allclose(ds.z_end, exact, rtol=0, atol=0.01)


SAMPLED = """
[parameters]
k = {}
[states]
v = { initial = "0" }
z = { initial = "0" }
[derivatives]
v = "k*u"
z = "abs(v)"
[outputs]
z_end = { final = "z" }
"""


@pytest.mark.parametrize("method", ["rodas4", pytest.param("rk54", marks=pytest.mark.broad)])
def test_a_side_that_changes_where_a_step_ends_needs_no_step_of_length_zero(method: str) -> None:
    """v is zero at each sample of u, and k (s - s^2/0.1) after it."""
    zigzag = {
        "times": [0.1 * i for i in range(401)],
        "values": [(-1.0) ** i for i in range(401)],
        "unit": "1",
        "interpolation": "linear",
    }
    factors = np.linspace(0.5, 2, 301)
    ds = points(model(SAMPLED) | {"signals": {"u": zigzag}}, method, {"k": factors},
                window_end=40.0)  # fmt: skip
    assert (ds.status == Status.ok).all()
    np.testing.assert_allclose(ds.z_end, factors * 400 * 0.01 / 6, rtol=1e-9)


LEVEL = """
[states]
x = { initial = "0" }
v = { initial = "0" }
w = { initial = "0.05" }
z = { initial = "0" }
q = { initial = "1" }
[derivatives]
x = "v"
v = "w"
w = "-6"
z = "abs(x) + abs(t - 0.01)"
q = "-0.3*q"
[outputs]
q_end = { final = "q" }
"""


def test_a_constant_step_stays_as_long_after_a_side_that_turns_at_once() -> None:
    """Steps shortened for good took a minute. A step multiplies q by the series of exp(-0.3)."""
    points(LEVEL, "rk4", window_end=1.0, step=1.0)  # compiled
    start = time.process_time()
    ds = points(LEVEL, "rk4", window_end=100.0, step=1.0)
    assert time.process_time() - start < 20
    assert ds.status == Status.ok
    factor = 1 - 0.3 + 0.3**2 / 2 - 0.3**3 / 6 + 0.3**4 / 24
    assert float(ds.q_end) == pytest.approx(factor**100, rel=1e-3)


SEEN = """
[parameters]
turn = {}
[states]
x = { initial = "-0.891" }
v = { initial = "1.89" }
y = { initial = "-1" }
z = { initial = "0" }
[derivatives]
x = "v"
v = "-2"
y = "1"
z = "abs(t - turn)"
[[events]]
name = "rise"
when = "x"
direction = "rising"
[[events]]
name = "passes"
when = "log(y) - 1"
direction = "rising"
[outputs]
rises  = { count = "rise" }
passed = { count = "passes" }
"""


def test_counts_do_not_depend_on_the_points_beside() -> None:
    """x rises at 0.9. log(y) has a value from 1 on, and no count from before that has one."""
    controls = {"window_end": 6.0, "step": 1.0}
    rows = {"turn": [0.97, 50.0, 50.0], "window_start": [0.98, 0.0, 3.0]}
    together = points(SEEN, "rk4", rows=rows, **controls)
    for i in range(3):
        alone = points(
            SEEN, "rk4", **{name: values[i] for name, values in rows.items()}, **controls
        )
        assert int(alone.rises) == int(together.rises[i]) == (i == 1)
        np.testing.assert_array_equal(alone.passed, together.passed[i])
    assert np.isnan(together.passed[1])
    assert int(together.passed[2]) == 1


NEAR = """
[parameters]
d = {}
[states]
x = { initial = "0" }
z = { initial = "0" }
w = { initial = "0" }
[derivatives]
x = "1"
z = "abs(x - 1 - d)"
[[events]]
name = "hit"
when = "x**2 - 1"
direction = "rising"
set = { w = "w + 1" }
[outputs]
at = { at = "hit", sum = "t" }
"""


def test_an_event_beside_a_change_of_a_side_is_located_as_exactly() -> None:
    near = [10.0**-k for k in range(3, 15)]
    distances = [*(-d for d in near), 0.0, *reversed(near)]
    ds = points(NEAR, "rk54", {"d": distances}, window_end=5.0, relative_tolerance=1e-13)
    assert (ds.status == Status.ok).all()
    np.testing.assert_allclose(ds["at"], 1.0, rtol=0, atol=4e-15)
