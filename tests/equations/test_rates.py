"""`rate(expression)`: where it may stand, against closed forms and SciPy."""

from __future__ import annotations

import math
import tomllib
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

from tests.equations.examples import methods, points, with_events
from tests.equations.good_model import POWER, PUSH, changed, faults_of, good, read_system

# x' = v with v' = -w^2 x: x = cos(w t). y follows rate(x*v) = v^2 - w^2 x^2 = -w^2 cos(2 w t).
OSCILLATOR = with_events(
    """
[parameters]
w = {}
rate = { default = 3, meaning = "a name that older files may have" }
acosh = { default = 2, meaning = "another" }
[states]
x = { initial = "1" }
v = { initial = "0" }
y = { initial = "0" }
z = { initial = "0" }
[definitions]
energy = { value = "w*w*x*x + v*v" }
power = { value = "rate(energy + x*v)" }
[derivatives]
x = "v"
v = "-w*w*x"
y = "rate(x*v) + 0*rate*acosh"
z = "rate(t*t)"
[outputs]
y_end = { final = "y" }
z_end = { final = "z" }
mean_power = { mean = "power" }
peak = { maximum = "rate(x)" }
bend = { final = "rate(rate(x))" }
turns = { count = "turn" }
turn_at = { at = "turn", mean = "x" }
change = { rate = "sinh(x) + rate*t" }
arcs = { final = "rate(asinh(x)) + rate(atanh(x/2)) + rate(acosh(x + 3))" }
acting = { final = "rate(abs(x)) + rate(max(x, v)) + rate(where(x > 5, 1, x**2))" }
""",
    ("turn", "rate(x)*rate(x) - 0.25*w*w", "rising"),
)
END = 3.7


@pytest.mark.parametrize(
    "method",
    ["rk54", *(pytest.param(m, marks=pytest.mark.broad) for m in ("rk4", "rodas4", "dop853"))],
)
def test_rates_follow_the_motion(method: str) -> None:
    steps = {"step": 1e-3} if method == "rk4" else {"relative_tolerance": 1e-11}
    speeds = (1.0, 2.3)
    found = points(OSCILLATOR, method, {"w": speeds}, window_end=END, **steps)
    for w in speeds:
        point = found.sel(w=w)
        x, v = math.cos(w * END), -w * math.sin(w * END)
        a = -w * w * x
        close = {"rel": 1e-6, "abs": 1e-7}
        assert float(point.y_end) == pytest.approx(x * v, **close)
        assert float(point.z_end) == pytest.approx(END**2, **close)
        assert float(point.mean_power) == pytest.approx(x * v / END, **close)
        peak = w if w * END > 1.5 * math.pi else v
        assert float(point.peak) == pytest.approx(peak, **close)
        assert float(point.bend) == pytest.approx(a, **close)
        change = math.sinh(x) - math.sinh(1) + 3 * END
        assert float(point.change) == pytest.approx(change / END, **close)
        arcs = v / math.hypot(1, x) + 0.5 * v / (1 - x * x / 4) + v / math.sqrt((x + 3) ** 2 - 1)
        assert float(point.arcs) == pytest.approx(arcs, **close)
        acting = math.copysign(v, v * x) + (v if x > v else a) + 2 * x * v
        assert float(point.acting) == pytest.approx(acting, **close)
        # |v| rises through w/2 at w t = pi/6 + k pi, where x = +-sqrt(3)/2.
        turns = int((w * END - math.pi / 6) // math.pi) + 1
        assert int(point.turns) == turns
        mean = math.sqrt(3) / 2 * (turns % 2) / turns
        assert float(point.turn_at) == pytest.approx(mean, **close)


@methods("rk54", without="rk4")
def test_rates_of_a_signal_and_in_modes_are_those_of_scipy(method: str) -> None:
    """The force of a damper between a mass and moving ground; it slides above a limit."""
    times = np.linspace(0, 6, 25)
    samples = times.tolist()
    ground = CubicSpline(times, np.sin(2 * times) + 0.3 * np.cos(5 * times), bc_type="natural")
    text = with_events(
        f"""
        [signals]
        ground = {{ times = {samples}, values = {ground(times).tolist()}, interpolation = "cubic" }}
        [states]
        x = {{ initial = "0" }}
        v = {{ initial = "0" }}
        [definitions]
        pull = {{ value = "rate(x - ground)" }}
        [modes.slow]
        x = "v"
        v = "-4*x - pull"
        [modes.fast]
        x = "v"
        v = "-4*x - pull + 0.1*rate(x)"
        [outputs]
        x_end = {{ final = "x" }}
        loss = {{ integral = "pull*pull" }}
        jerk = {{ final = "rate(v)" }}
        bounds = {{ count = "faster" }}
        """,
        ("faster", "v - 0.1", "rising", 'in = "slow"', 'then = "fast"'),
        ("slower", "v", "falling", 'in = "fast"', 'then = "slow"'),
    )
    found = points(text, method, window_end=5.5, relative_tolerance=1e-10)

    def rates(t: float, y: np.ndarray, fast: float) -> list[float]:
        pull = y[1] - float(ground(t, 1))
        return [y[1], -4 * y[0] - pull + fast * 0.1 * y[1], pull**2]

    def faster(_: float, y: np.ndarray, fast: float) -> float:
        return y[1] - 0.1 * (1 - fast)

    event: Any = faster  # SciPy reads its attributes
    event.terminal = True
    t, y, fast, bounds = 0.0, np.zeros(3), 0.0, 0
    while t < 5.5:
        event.direction = 1 - 2 * fast
        piece = solve_ivp(rates, (t, 5.5), y, "DOP853", rtol=1e-11, atol=1e-12, max_step=0.02,
                          events=event, args=(fast,))  # fmt: skip
        t, y = float(piece.t[-1]), piece.y[:, -1]
        if piece.status == 1:
            bounds += fast == 0
            fast = 1 - fast
    assert bounds >= 2
    assert int(found.bounds) == bounds
    assert float(found.x_end) == pytest.approx(y[0], rel=1e-6)
    assert float(found.loss) == pytest.approx(y[2], rel=1e-6)
    assert float(found.jerk) == pytest.approx(rates(t, y, fast)[1], rel=1e-6)


def test_the_canonical_text_keeps_a_rate_as_written() -> None:
    text = changed(POWER, 'power = { mean = "rate(push)*x", unit = "W" }')
    assert 'mean = "rate(push)*x"' in good(text).text
    assert read_system(tomllib.loads(good(text).text)) == good(text)
    assert good(text).text != good().text


FAULTS = [
    (POWER, 'power = { mean = "rate(push, x)" }', "outputs.power.mean", "rate takes 1"),
    (POWER, 'power = { mean = "rate(push)", unit = "W" }', "outputs.power.mean", "the unit N/s"),
    (POWER, 'power = { mean = "rate", unit = "W" }', "outputs.power.mean", "'rate' is unknown"),
    (POWER, 'power = { mean = "rate(v > 0)*x" }', "outputs.power.mean", "v > 0 is a condition"),
    ('"total/mass"', '"0.5*rate(v)"', "modes.free.v", "defined by itself: rate(v) uses rate(v)"),
    (PUSH, 'push = { value = "mass*rate(v)", unit = "N" }', "definitions.push.value",
     "a rate is defined by itself: rate(v) uses rate(v)"),
    ("2*pi/omega", "2*pi/rate(omega)", "period", "rate() of what is constant; write 0"),
    ('initial = "0", scale', 'initial = "rate(gap)", scale', "states.x.initial", "rate() of"),
]  # fmt: skip


@pytest.mark.parametrize(("piece", "other", "place", "message"), FAULTS)
def test_a_faulty_rate_is_refused(piece: str, other: str, place: str, message: str) -> None:
    faults = faults_of(changed(piece, other))
    assert any(message in str(each) for each in faults if each.where == place), faults


@pytest.mark.parametrize("lacking", ['v = "total/mass"', '[modes.free]\nx = "v"\nv = "total/mass"'])
def test_a_rate_in_a_model_without_all_derivatives_adds_no_fault(lacking: str) -> None:
    text = changed(lacking, "", changed(POWER, 'power = { mean = "rate(v)*0" }'))
    places = [each.where for each in faults_of(text)]
    assert places == ["modes.free.v"] or not any("power" in place for place in places)


def test_a_signal_has_no_second_rate() -> None:
    load = '[signals]\nload = { times = [0, 1], values = [0, 1], unit = "N" }\n[states]'
    text = changed(POWER, 'power = { mean = "rate(rate(load))*0" }', changed("[states]", load))
    (fault,) = [each for each in faults_of(text) if "second" in str(each) or "no rate" in str(each)]
    assert "load is a signal, whose rate has no rate" in str(fault)


def test_long_rates_are_refused_in_time() -> None:
    """Nested rates of products double."""
    nested = "x*v"
    for _ in range(9):
        nested = f"rate(({nested})*sin(x))"
    faults = faults_of(changed(POWER, f'power = {{ mean = "{nested}" }}'))
    assert any("a rate of more than 5,000 parts" in str(each) for each in faults)
