"""The schemes of models from files: order of convergence, outputs over the window, tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import sweep
from sweep.errors import ConfigError
from tests.equations.examples import BALL, RESONANCE, first_methods, points

ORDERS = {"rk4": 4, "rk54": 5, "dop853": 8, "rodas4": 4}
EXTREME_ORDERS = {**ORDERS, "dop853": 7}  # that of the motion inside steps
# Steps at which truncation errors are far from both rounding and the edge of stability.
STEPS = {"rk4": 0.1, "rk54": 0.08, "dop853": 0.5, "rodas4": 0.1}
END = 6.0


FORCINGS = np.linspace(0.3, 1.7, 15)  # whose errors are averaged


def closed_form(t: float, forcing: Any = 1.0) -> tuple[Any, Any]:
    """Position and velocity of y'' = -y + forcing cos t from (1, 0)."""
    position = math.cos(t) + 0.5 * forcing * t * math.sin(t)
    return position, -math.sin(t) + 0.5 * forcing * (math.sin(t) + t * math.cos(t))


def with_steps(method: str, step: float) -> dict[str, float]:
    """Controls that make all steps as long as given."""
    if method == "rk4":
        return {"step": step}
    return {"relative_tolerance": 0.1, "maximum_step": step}


def errors_by_step(method: str, error: Callable[[xr.Dataset], Any], **window: float) -> list[float]:
    """The root mean square error over the forcings, for steps of which each is half the last."""
    errors: list[float] = []
    for halvings in range(3):
        controls = with_steps(method, STEPS[method] / 2**halvings)
        dataset = points(RESONANCE, method, {"forcing": FORCINGS}, **window, **controls)
        errors.append(float(np.sqrt(np.mean(np.square(error(dataset))))))
    assert errors[-1] > 1e-15  # not yet rounding
    return errors


def observed_order(errors: list[float]) -> float:
    """From the errors at the longest and the shortest steps, each half the one before."""
    return math.log2(errors[0] / errors[-1]) / (len(errors) - 1)


@pytest.mark.parametrize("method", ORDERS)
def test_order_on_a_smooth_motion(method: str) -> None:
    y, v = closed_form(END, FORCINGS)

    def error(dataset: xr.Dataset) -> Any:
        return np.hypot(dataset.y_end.values - y, dataset.v_end.values - v)

    assert observed_order(errors_by_step(method, error, window_end=END)) >= ORDERS[method] - 0.1


@pytest.mark.parametrize("method", ORDERS)
def test_order_of_a_mean(method: str) -> None:
    start = 1.0
    sines = math.sin(END) - math.sin(start)
    turns = math.sin(END) - END * math.cos(END) - math.sin(start) + start * math.cos(start)
    exact = (sines + 0.5 * FORCINGS * turns) / (END - start)
    errors = errors_by_step(
        method, lambda dataset: dataset["mean"].values - exact, window_start=start, window_end=END
    )
    assert observed_order(errors) >= ORDERS[method] - 0.1


@pytest.mark.parametrize("method", ORDERS)
def test_order_of_an_extreme(method: str) -> None:
    """Extremes lie inside steps, where the dense motion has its own error."""
    exact = [largest_position(forcing) for forcing in FORCINGS]
    errors = errors_by_step(method, lambda dataset: dataset.largest.values - exact, window_end=END)
    assert observed_order(errors) >= EXTREME_ORDERS[method] - 0.1


def largest_position(forcing: float) -> float:
    """On [0, END]: at the start, or at the one later zero of the velocity with a maximum."""
    times = np.linspace(0.0, END, 4001)
    speeds = [closed_form(t, forcing)[1] for t in times]
    candidates = [1.0, closed_form(END, forcing)[0]]
    for a, b, before, after in zip(times, times[1:], speeds, speeds[1:], strict=False):
        if before > 0 >= after:
            root = brentq(lambda t: closed_form(t, forcing)[1], a, b, xtol=1e-15)
            candidates.append(closed_form(float(root), forcing)[0])
    return max(candidates)


@pytest.mark.parametrize("method", ORDERS)
def test_outputs_over_the_window(method: str) -> None:
    """Against quadrature of the closed form, split where it has kinks."""
    start = 0.7
    controls = {"step": 2e-3} if method == "rk4" else {"relative_tolerance": 1e-11}
    outputs = points(RESONANCE, method, window_start=start, window_end=END, **controls)
    times = np.linspace(start, END, 2_000_001)
    y = np.cos(times) + 0.5 * times * np.sin(times)
    v = 0.5 * times * np.cos(times) - 0.5 * np.sin(times)

    def mean(values: np.ndarray) -> float:
        return float(np.trapezoid(values, times)) / (END - start)

    assert float(outputs["mean"]) == pytest.approx(mean(y), rel=1e-10)
    assert float(outputs.integral) == pytest.approx(mean(y) * (END - start), rel=1e-10)
    assert float(outputs.rms) == pytest.approx(math.sqrt(mean(y * y)), rel=1e-10)
    assert float(outputs.largest) == pytest.approx(y.max(), rel=1e-10)
    assert float(outputs.smallest) == pytest.approx(y.min(), rel=1e-10)
    assert float(outputs.mean_size) == pytest.approx(mean(np.abs(y)), rel=1e-9)
    assert float(outputs.above) == pytest.approx(np.mean((y > 0.5) & (v > 0)), abs=2e-6)


@pytest.mark.parametrize("method", ["rk54", "dop853", "rodas4"])
def test_errors_follow_the_tolerance(method: str) -> None:
    y, v = closed_form(END)
    for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
        outputs = points(RESONANCE, method, window_end=END, relative_tolerance=tolerance)
        error = math.hypot(float(outputs.y_end) - y, float(outputs.v_end) - v)
        assert error < 100 * tolerance


def test_stiff_motion() -> None:
    """van der Pol with mu = 1000 beyond its first jump, against SciPy's Radau."""
    text = RESONANCE.replace('v = "-y + forcing*cos(t)"', 'v = "forcing*(1 - y**2)*v - y"')
    text = text.replace('initial = "1"', 'initial = "2"')
    outputs = points(text, "rodas4", forcing=1000.0, window_end=1000.0, relative_tolerance=1e-10)
    radau = solve_ivp(
        lambda _, y: [y[1], 1000.0 * (1 - y[0] ** 2) * y[1] - y[0]],
        (0, 1000.0), [2.0, 0.0], method="Radau", rtol=1e-11, atol=1e-13,
    )  # fmt: skip
    assert float(outputs.y_end) == pytest.approx(radau.y[0, -1], rel=1e-7)
    assert float(outputs.v_end) == pytest.approx(radau.y[1, -1], rel=1e-6)


@first_methods
def test_order_of_the_state_after_an_impact(method: str) -> None:
    """The ball hangs on a spring, so that its flight has a truncation error."""
    text = BALL.replace('v = "-gravity"', 'v = "-gravity*(1 + x/height)"')
    restitutions = np.linspace(0.3, 0.9, 15)
    rate, since = math.sqrt(9.0 / 2.0), 0.4
    impact = math.acos(0.5) / rate  # x = 4 cos(rate t) - 2
    speeds = restitutions * 4.0 * rate * math.sin(rate * impact)
    exact = 2.0 * math.cos(rate * since) + speeds / rate * math.sin(rate * since) - 2.0
    first = {"rk4": 0.05, "rk54": 0.1, "dop853": 0.2, "rodas4": 0.05}[method]
    errors: list[float] = []
    for halvings in range(2 if method == "dop853" else 3):  # then rounding
        dataset = points(
            text, method, {"restitution": restitutions}, gravity=9.0, height=2.0,
            window_end=impact + since, **with_steps(method, first / 2**halvings),
        )  # fmt: skip
        assert (dataset.impacts == 1).all()
        errors.append(float(np.sqrt(np.mean((dataset.x_end.values - exact) ** 2))))
    assert errors[-1] > 1e-15
    assert observed_order(errors) >= ORDERS[method] - 0.1


def chain(n: int) -> dict[str, Any]:
    """A decays into B, B into C, ...: of the n-th there is t^n e^-t / n!, in terms of the first."""
    return {
        "format": 1,
        "name": "chain",
        "time_unit": "1",
        "parameters": {"amount": {"default": 1.0}},
        "states": {f"s{i}": {"initial": "0" if i else "amount"} for i in range(n)},
        "derivatives": {f"s{i}": f"s{i - 1} - s{i}" if i else "-s0" for i in range(n)},
        "outputs": {f"end{i}": {"final": f"s{i}"} for i in range(n)},
    }


def of_chain(n: int, method: str) -> dict[str, Any]:
    return {
        "model": chain(n),
        "method": method,
        "parameters": {"window_end": 3.0, "relative_tolerance": 1e-9},
        "axes": {"amount": {"values": [1.0, 2.5]}},
    }


@pytest.mark.parametrize(
    ("n", "method"),
    [(64, "rk54"), pytest.param(32, "rodas4", marks=pytest.mark.broad)],  # minutes of compiling
)
def test_as_many_states_as_are_allowed(n: int, method: str) -> None:
    dataset = sweep.run(of_chain(n, method), store=None)
    for i in range(n):
        expected = np.array([1.0, 2.5]) * 3.0**i * math.exp(-3.0) / math.factorial(i)
        np.testing.assert_allclose(dataset[f"end{i}"], expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("n", "method", "fault"),
    [
        (65, "rk54", "65 states; at most 64 are allowed"),
        (33, "rodas4", "'rodas4' is not a method of chain; choose one of rk54, rk4, dop853"),
    ],
)
def test_more_states_are_refused(n: int, method: str, fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        sweep.run(of_chain(n, method), store=None)
