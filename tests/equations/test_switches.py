"""Switches: small automata beside each other."""

from __future__ import annotations

import tomllib
from typing import Any

import numpy as np
import pytest

import sweep
from sweep.equations.model import model_of
from sweep.kernel.cpu import CpuTarget
from sweep.kernel.gpu import GpuBackend
from sweep.kernel.source import kernel_of
from tests.cases import Case, bits_of, case_at, differing
from tests.equations.good_model import read_system
from tests.equations.switch_examples import GEAR, JENKINS, chain
from tests.gpu.kernels import compiled
from tests.gpu.twin import TwinDevice
from tests.kernel.same_bits import compiler_of_users, target_faults
from tests.oracles.switched_linear import Crossing, motion

PRECISE = {"relative_tolerance": 1e-12}


def computed(text: str, method: str, **values: Any) -> Any:
    """The points of a model's text; lists are axes."""
    axes = {name: {"values": value} for name, value in values.items() if isinstance(value, list)}
    constants = {name: value for name, value in values.items() if not isinstance(value, list)}
    request = {
        "model": tomllib.loads(text), "method": method, "parameters": constants, "axes": axes,
    }  # fmt: skip
    return sweep.run(request, store=None, progress=False)


GEAR_RATES = [150.0, 300.0, 520.0]


def test_gears_with_backlash() -> None:
    """Linear between events: matrix exponentials, and roots by Brent's method."""
    end, b, k, c, inertia = 0.05, 1e-3, 1e4, 0.01, 1e-3
    points = computed(GEAR, "dop853", rate=GEAR_RATES, window_end=end, **PRECISE)
    for i, rate in enumerate(GEAR_RATES):

        def matrix(stiffness: float, offset: float, rate: float = rate) -> np.ndarray:
            a = np.zeros((5, 5))  # of d, w, 1, cos, sin
            a[0, 1] = 1
            a[1] = np.array([-stiffness, -c, 2 + stiffness * offset, 3, 0]) / inertia
            a[3, 4], a[4, 3] = -rate, rate
            return a

        matrices = {"drive": matrix(k, b), "loose": matrix(0, 0), "back": matrix(k, -b)}
        front, back = np.array([1, 0, -b, 0, 0.0]), np.array([1, 0, b, 0, 0.0])
        crossings = [
            Crossing("meet", "loose", front, 1, "drive"),
            Crossing("meet_back", "loose", back, -1, "back"),
            Crossing("lose", "drive", front, -1, "loose"),
            Crossing("lose_back", "back", back, 1, "loose"),
        ]
        start = np.array([b, 0, 1, 1, 0.0])
        exact = motion(matrices, crossings, "drive", start, end, 5e-5)
        names = [name for name, _ in exact.events]
        assert names.count("meet") > 3
        at = {name: float(points[name][i]) for name in points.data_vars}
        assert at["status"] == 0
        assert at["rattle"] == names.count("meet")
        assert at["rattle_back"] == names.count("meet_back")
        assert at["d_end"] == pytest.approx(exact.states[0], abs=1e-8 * b)
        assert at["w_end"] == pytest.approx(exact.states[1], abs=1e-8)
        assert at["loose"] == pytest.approx(exact.times["loose"] / end, abs=1e-8)
        assert at["power"] == pytest.approx(c * exact.square / end, rel=1e-8)


JENKINS_EXACT = {  # by events at 1e-11 and by radial return, which agree
    1.1: (-0.04723565, 0.08189878, 0.01062524),
    2.3: (-0.25920493, 0.93602449, 0.6327949),
}


@pytest.mark.parametrize("method", ["rk54", "dop853"])
def test_friction_with_a_gap_and_a_varying_limit(method: str) -> None:
    points = computed(JENKINS, method, omega=[*JENKINS_EXACT], window_end=30.0,
                      relative_tolerance=1e-11)  # fmt: skip
    found = np.stack([points.y_end, points.z_end, points.dissipation], axis=1)
    assert not points.status.any()
    assert points.touches.min() > 5
    np.testing.assert_allclose(found, [*JENKINS_EXACT.values()], rtol=0, atol=1.5e-8)


@pytest.mark.parametrize("method", ["rk4", pytest.param("rk54", marks=pytest.mark.broad)])
def test_three_switches_are_eight_modes(method: str) -> None:
    control = {"step": 0.02} if method == "rk4" else {"relative_tolerance": 1e-9}
    values = {"speed": [0.03, 0.1, 0.3], "kinetic": [0.5, 0.7, 0.9], "window_end": 40.0, **control}
    by_switches, by_modes = (
        computed(chain(by_modes=by_modes), method, **values) for by_modes in (False, True)
    )
    assert not by_switches.status.any()
    assert all(np.any(by_switches[f"share_{i}"] > 0) for i in range(3))
    for name in by_switches.data_vars:
        np.testing.assert_array_equal(by_switches[name], by_modes[name], err_msg=str(name))


# Two switches share values; each is read beside its own.
TWO = """
format = 1
name = "two"
time_unit = "1"
[parameters]
height = { default = 0.25 }
[states]
x = { initial = "0" }
n = { initial = "0" }
[switches]
door = { values = ["open", "shut"], start = "shut" }
[switches.gate]
values = ["open", "shut", "stuck"]
start = { stuck = "height > 2", open = "door == open", shut = "true" }
[derivatives]
x = "1"
n = "0"
[[events]]
name = "first"
when = "x - height"
direction = "rising"
set = { door = { open = "height < 1", shut = "true" }, n = "n + where(door == open, 10, 1)" }
[[events]]
name = "second"
in = "door == open and gate != stuck"
when = "height - x"
direction = "falling"
set = { gate = "open" }
[[events]]
name = "entered"
in = "door == open"
when = "x + 1"
direction = "rising"
at_entry = true
set = { n = "n + 100" }
[[events]]
name = "always"
when = "x + 1"
direction = "rising"
at_entry = true
set = { n = "n + 1000" }
[[events]]
name = "later"
in = "door == open or gate == stuck"
when = "x - 1.5"
direction = "rising"
set = { gate = "open", n = "n + where(gate == stuck, 20, 30)" }
[outputs]
n_end = { final = "n" }
doors = { share = "door == open" }
gates = { share = "gate == open" }
stuck = { share = "gate == stuck" }
seconds = { count = "second" }
"""


@pytest.mark.parametrize("method", ["rk54", "rk4"])
def test_switches_that_share_values(method: str) -> None:
    """`second` has the expression of `first`, with the sign turned: it is judged before its `set`.

    Events at entry happen where `in` turns true, or at the start.
    """
    control = {"step": 0.01} if method == "rk4" else {}
    points = computed(TWO, method, height=[0.25, 1.25, 2.5], window_end=2.0, **control)
    np.testing.assert_array_equal(points.seconds, [0, 0, 0])
    np.testing.assert_array_equal(points.n_end, [1000 + 1 + 100 + 30, 1001, 1000 + 20])
    np.testing.assert_allclose(points.doors, [0.875, 0, 0], atol=1e-12)
    np.testing.assert_allclose(points.gates, [0.25, 0, 0.25], atol=1e-12)
    np.testing.assert_allclose(points.stuck, [0, 0, 0.75], atol=1e-12)


def test_the_canonical_text_is_read_again() -> None:
    for text in (GEAR, JENKINS, TWO, chain(by_modes=False), chain(by_modes=True)):
        system = read_system(tomllib.loads(text))
        assert read_system(tomllib.loads(system.text)).text == system.text


MODES = chain(by_modes=True)


@pytest.mark.parametrize(
    ("piece", "other"),
    [
        ('in = "m000"', 'in = "mode == m000"'),
        ('in = "m000"', 'in = ["m000"]'),
        ('then = "m100"', 'set = { mode = "m100" }'),
        ('share = "m100 or', 'share = "mode == m100 or'),
    ],
)
def test_modes_are_one_switch(piece: str, other: str) -> None:
    assert piece in MODES
    systems = [read_system(tomllib.loads(t)) for t in (MODES, MODES.replace(piece, other, 1))]
    assert systems[0].text == systems[1].text


def test_a_trace_has_each_switch() -> None:
    request = {"model": tomllib.loads(GEAR), "parameters": {"window_end": 0.02}}
    trace = sweep.trace(request, samples=2001)
    assert trace.mesh.attrs["flag_meanings"] == "back loose drive"
    loose = trace.mesh.values == 1
    assert 0 < loose.mean() < 1
    assert np.all(np.abs(trace.d.values[loose]) <= 1e-3 * (1 + 1e-9))
    assert np.all(trace.d.values[trace.mesh.values == 2] >= 1e-3 * (1 - 1e-9))


def switched_case(method: str, n: int = 60) -> Case:
    """Points of a model with switches, holds and an event that rests."""
    model = model_of(read_system(tomllib.loads(TAPPED)))
    chosen = next(each for each in model.methods if each.name == method)
    rng = np.random.default_rng(7)
    values = {
        "restitution": rng.uniform(0.2, 0.8, n),
        "speed": rng.uniform(-3, 3, n),
        "window_start": rng.uniform(0, 2, n),
        "window_end": rng.uniform(1, 14, n),
        **({"step": np.full(n, 0.02)} if method == "rk4" else {}),
    }
    return case_at(f"tapped-{method}", model, chosen, values, n)


# A ball that rests on a table, which a tap throws up again, in the light or in the dark.
TAPPED = """
format = 1
name = "tapped"
time_unit = "1"
[parameters]
restitution = {}
speed = {}
[states]
x = { initial = "1" }
v = { initial = "speed" }
[switches]
ball = { values = ["flies", "rests"], start = "flies" }
light = { values = ["off", "on"], start = { on = "speed > 0", off = "true" } }
[derivatives]
x = "where(ball == rests, 0, v)"
v = "where(ball == rests, 0, -2)"
[[events]]
name = "impact"
in = "ball == flies"
when = "x"
direction = "falling"
set = { v = "-restitution*v" }
rest = { ball = "rests", light = "on" }
[[events]]
name = "tap"
in = "ball == rests and light == on"
when = "sin(t)"
direction = "rising"
set = { ball = "flies", light = { on = "sin(3*t) > 0", off = "true" }, v = "1" }
[[events]]
name = "flash"
in = "light == off"
when = "cos(2*t)"
direction = "both"
at_entry = true
set = { light = "on" }
[outputs]
impacts = { count = "impact" }
taps = { count = "tap" }
flashes = { count = "flash" }
rested = { share = "ball == rests" }
mean = { mean = "x" }
end = { final = "x" }
[holds]
low = { condition = "x < 2.5 or light == off" }
"""


@pytest.mark.parametrize(
    ("method", "shape"),
    [("rk54", (8, 2)), ("rk54", (1, 1)), ("rk4", (2, 4)),
     *(pytest.param(m, (4, 3), marks=pytest.mark.broad) for m in ("rk54", "dop853", "rodas4"))],
)  # fmt: skip
def test_bits_depend_on_no_width_pack_budget_or_gpu(method: str, shape: tuple[int, int]) -> None:
    case = switched_case(method)
    expected = bits_of(case.sweep, case.points)
    assert {0, 3} <= {*expected["status"].tolist()}
    target = CpuTarget(compiler_of_users(), *shape)
    assert target_faults(case, expected, target) == []
    if shape == (8, 2):
        on_twin = GpuBackend(TwinDevice(memory=1 << 26), 7).compute(case.sweep, case.points).arrays
        assert differing(expected, dict(on_twin)) == []


@pytest.mark.broad
def test_nvrtc_compiles_it() -> None:
    binary = compiled(kernel_of(switched_case("rk54").sweep))
    assert binary.ok, binary.log
    assert "warning" not in binary.log
