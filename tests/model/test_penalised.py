"""The schemes with the penalised law, and moreau, against plain Python, Code_Aster and exact
values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from sweep.errors import ConfigError
from sweep.file import load
from sweep.kernel.cpu import CpuTarget
from sweep.model.table import Method, Status
from sweep.model.tables.friction_oscillator import MODEL
from sweep.results.tracing import trace
from sweep.theory.stability import longest_step
from tests.cases import compute, differing
from tests.cases.friction_oscillator import (
    CODE_ASTER_TOLERANCES,
    CONTROLLED,
    NAMES,
    PENALISED,
    SDND104,
    STEPPING,
    reference_cases,
    with_tolerances,
)
from tests.oracles.penalised_schemes import run

QUICK = CpuTarget(width=2, pack=1)  # compiles in a third of the time; test_bits.py: no bit differs

Columns = dict[str, NDArray[np.float64]]

CHOSEN = with_tolerances({"adapt_ordre2": 1.0, "rk54": 1e-5, "rk32": 1e-4})
GREATEST = with_tolerances({"adapt_ordre2": 10.0, "rk54": 0.1, "rk32": 0.1})

ACCELERATIONS = np.array([15.0, 1.5, 1.01, 0.99])
REFERENCE = np.array([15.267099589372, 0.40906245101571, 2.2616412127979e-4, 0.0])  # SDND104

# Code_Aster's values for EULER, h = 1e-4 s, in 8 blocks, with a spring of 3e-5 N/m.
CODE_ASTER = np.array([15.2667964799, 0.409077335988, 2.26326449113e-4, 0.0])


def controls(method: str, **chosen: object) -> dict[str, Any]:
    """The numerical parameters of a method: constant step unless `chosen` says otherwise."""
    usual = {"step": 1e-4, "tangential_stiffness": 9e6, "blocks": 1.0, "tolerance": math.inf}
    known = {p.name for p in method_called(method).parameters}
    return {name: value for name, value in (usual | chosen).items() if name in known}


def method_called(name: str) -> Method:
    return next(method for method in MODEL.methods if method.name == name)


def sdnd104(method: str, **chosen: object) -> dict[str, NDArray[Any]]:
    point = SDND104 | {"base_acceleration": ACCELERATIONS} | controls(method, **chosen)
    return compute(point, method=method)


def random_short(n: int, seed: int) -> Columns:
    """Points with the oracles' names; half are sprung, damped or shaken; short windows."""
    rng = np.random.default_rng(seed)
    return {
        "m": rng.uniform(0.3, 3, n),
        "g": rng.uniform(5, 10, n),
        "mu": rng.uniform(0.05, 0.4, n),
        "k": rng.uniform(0, 30, n) * (rng.random(n) < 0.5),
        "c": rng.uniform(0, 1, n) * (rng.random(n) < 0.5),
        "a0": rng.uniform(1, 12, n),
        "w": rng.uniform(4, 9, n),
        "av": rng.uniform(0, 4, n) * (rng.random(n) < 0.5),
        "phi": rng.uniform(-3, 3, n),
        "t0": rng.uniform(0, 0.5, n) * (rng.random(n) < 0.8),
        "t1": rng.uniform(0.9, 1.4, n),
    }


def named(short: Mapping[str, NDArray[np.float64]]) -> Columns:
    return {NAMES[name]: values for name, values in short.items()}


# Against Code_Aster.


def test_euler_gives_what_code_aster_published() -> None:
    point = SDND104 | {"base_acceleration": ACCELERATIONS, "stiffness": 3e-5}
    wear_power = compute(point | controls("euler", blocks=8.0), method="euler")["wear_power"]
    assert np.allclose(wear_power[:3], CODE_ASTER[:3], rtol=1e-11, atol=0)
    assert wear_power[3] == 0


@pytest.mark.parametrize("method", STEPPING)
def test_every_scheme_is_near_the_reference(method: str) -> None:
    """With an exact sine and steps of at most 3e-5 s."""
    assert_near_the_reference(sdnd104(method, step=3e-5)["wear_power"])


@pytest.mark.parametrize(("method", "tolerance"), CODE_ASTER_TOLERANCES)
@pytest.mark.parametrize("blocks", [1.0, 8.0])
def test_step_size_control_is_near_the_reference(
    method: str, tolerance: float, blocks: float
) -> None:
    """With Code_Aster's controls, except for a maximum step of 3e-5 s."""
    chosen = {"step": 1e-5, "maximum_step": 3e-5, "tolerance": tolerance, "blocks": blocks}
    assert_near_the_reference(sdnd104(method, **chosen)["wear_power"])


def assert_near_the_reference(wear_power: NDArray[np.float64]) -> None:
    error = np.abs(wear_power - REFERENCE)
    assert (error <= np.array([2e-4, 2e-4, 5e-3, 0.0]) * REFERENCE).all()


# Against plain Python.


def in_contact(
    short: Columns, stiffness: float | NDArray[np.float64], seed: int, **chosen: Any
) -> dict[str, Any]:
    """Controls with the law's spring, for each unit of mass, and its damper.

    The damper is up to 1.5 times critical, at some points 0 or NaN (default).
    """
    rng = np.random.default_rng(seed)
    stiffness = stiffness * short["m"]
    damping = 2 * np.sqrt(short["m"] * (short["k"] + stiffness))
    damping *= rng.uniform(0, 1.5, len(damping))
    damping[::4], damping[1::4] = math.nan, 0.0
    return {"tangential_stiffness": stiffness, "tangential_damping": damping, **chosen}


def in_plain_python(
    method: str, short: Columns, i: int, chosen: Mapping[str, Any]
) -> dict[str, float | int] | None:
    """Point i by the oracle; None if a block has fewer than two samples."""
    point = {name: float(values[i]) for name, values in short.items()}
    own = {
        name: float(np.broadcast_to(values, len(short["m"]))[i]) for name, values in chosen.items()
    }
    own["blocks"] = int(own["blocks"])
    if math.isnan(own["tangential_damping"]):
        own["tangential_damping"] = None
    try:
        return run(method, point, theta=0.55, **own)
    except ValueError:
        return None


def assert_alike(
    ours: Mapping[str, NDArray[Any]], i: int, theirs: Mapping[str, float | int], to: float
) -> None:
    """Real outputs agree to the relative error `to` (stick_fraction: absolute), others exactly."""
    for output in MODEL.outputs:
        bound = 0 if output.kind != "real" else to
        if output.name != "stick_fraction":
            bound *= abs(theirs[output.name])
        assert abs(ours[output.name][i] - theirs[output.name]) <= bound, (output.name, i)


@pytest.mark.parametrize(
    ("method", "blocks"), [("moreau", 1), *((m, b) for m in PENALISED for b in (1, 5))]
)
def test_constant_steps_agree_with_plain_python(method: str, blocks: int) -> None:
    short = random_short(8, seed=3 + blocks)
    rng = np.random.default_rng(1)
    stiffness, step = rng.uniform(1e4, 5e4, 8), rng.uniform(3e-4, 9e-4, 8)
    chosen = in_contact(short, stiffness, blocks, step=step, blocks=float(blocks))
    ours = compute(named(short) | controls(method, **chosen), method=method)
    for i in range(8):
        theirs = in_plain_python(method, short, i, chosen)
        assert theirs is not None
        assert_alike(ours, i, theirs, 1e-12)


@pytest.mark.parametrize("blocks", [1, 5])
@pytest.mark.parametrize(("method", "tolerance"), CHOSEN)
def test_step_size_control_agrees_with_plain_python(
    method: str, tolerance: float, blocks: int
) -> None:
    """To 1e-9, because rounding changes the lengths of steps, and thereby the sums."""
    short = random_short(6, seed=11)
    steps = {"step": 1e-5, "maximum_step": 3e-4, "tolerance": tolerance}
    chosen = in_contact(short, 2e5, blocks, **steps, blocks=float(blocks))
    ours = compute(named(short) | controls(method, **chosen), method=method)
    for i in range(6):
        theirs = in_plain_python(method, short, i, chosen)
        assert theirs is not None
        assert math.isclose(ours["wear_power"][i], theirs["wear_power"], rel_tol=1e-9)
        assert ours["regime"][i] == theirs["regime"]


@pytest.mark.parametrize(
    ("method", "tolerance"), [*((method, math.inf) for method in PENALISED), *CHOSEN]
)
def test_windows_of_a_few_steps_in_blocks(method: str, tolerance: float) -> None:
    """Windows of up to seven steps in up to five blocks; too many blocks are refused."""
    n, step = 28, 2.5e-4
    short = random_short(n, seed=8)
    rng = np.random.default_rng(6)
    short["mu"] = rng.uniform(0.02, 0.1, n)
    short["t0"] = rng.uniform(0, 0.06, n) * (rng.random(n) < 0.8) + 0.04
    whole = np.arange(n) // 4 + 1 + 1e-5 * (np.arange(n) % 4 == 3)  # or a step's hair more
    short["t1"] = short["t0"] + step * np.where(np.arange(n) % 2, whole, rng.uniform(0.1, 7, n))
    steps = {"step": step, "maximum_step": step, "tolerance": tolerance}
    chosen = in_contact(short, 2e5, 2, **steps, blocks=np.floor(rng.uniform(1, 6, n)))
    ours = compute(named(short) | controls(method, **chosen), method=method)
    theirs = [in_plain_python(method, short, i, chosen) for i in range(n)]
    computed = np.array([each is not None for each in theirs])
    assert computed.sum() >= 10
    assert (~computed).sum() >= 5
    refused = np.where(computed, Status.ok, Status.outside_validity)
    assert (ours["status"] == refused).all()
    assert (ours["wear_power"][computed] > 0).sum() >= 8
    for i, each in enumerate(theirs):
        if each is not None:
            assert_alike(ours, i, each, 1e-12 if math.isinf(tolerance) else 1e-9)


def test_a_step_that_would_never_do_is_taken_after_sixteen_retries() -> None:
    """Of adapt_ordre2, with a tolerance that asks for steps a thousand times shorter."""
    short = random_short(6, seed=21)
    short["t0"] = np.zeros(6)
    short["t1"] = np.full(6, 0.1)
    steps = {"step": 1e-3, "maximum_step": 1e-3, "tolerance": 1e-3}
    chosen = in_contact(short, 2e3, 3, **steps, blocks=1.0)
    parameters = named(short) | controls("adapt_ordre2", **chosen)
    ours = compute(parameters, method="adapt_ordre2")
    for i in range(6):
        theirs = in_plain_python("adapt_ordre2", short, i, chosen)
        assert_alike(ours, i, theirs, 1e-9)


@pytest.mark.parametrize(
    ("method", "tolerance"),
    [("euler", math.inf), pytest.param("rk32", 1e-4, marks=pytest.mark.broad)],
)
def test_windows_in_cycles_and_in_seconds_give_the_same_bits(method: str, tolerance: float) -> None:
    short = random_short(6, seed=13)
    period = 2 * np.pi / short["w"]
    cycles = {"start_cycle": short["t0"] / period, "end_cycle": short["t1"] / period}
    short |= {"t0": cycles["start_cycle"] * period, "t1": cycles["end_cycle"] * period}
    steps = {"step": 3e-4, "maximum_step": 3e-4, "tolerance": tolerance}
    chosen = in_contact(short, 2e5, 3, **steps)
    point = named({name: v for name, v in short.items() if name not in ("t0", "t1")})
    parameters = point | cycles | controls(method, **chosen)
    ours = compute(parameters, method=method, target=QUICK)
    seconds = named(short) | controls(method, **chosen)
    assert differing(ours, compute(seconds, method=method)) == []


# Against the exact motion.


@pytest.mark.parametrize("steps", [2e4, pytest.param(8e4, marks=pytest.mark.broad)])
@pytest.mark.parametrize("method", STEPPING)
def test_regimes_are_the_exact_ones(method: str, steps: float) -> None:
    """On the reference cases; stick_fraction within 0.02, twice the error seen at these steps."""
    parameters, _ = reference_cases()
    exact = compute(parameters)
    step = 2 * np.pi / parameters["angular_frequency"] / steps
    stiffness = parameters["mass"] * (0.15 / step) ** 2  # as SDND104's at 5e-5 s
    control_values = controls(method, step=step, tangential_stiffness=stiffness)
    outputs = compute(parameters | control_values, method=method)
    assert (outputs["regime"] == exact["regime"]).all()
    assert (np.abs(outputs["stick_fraction"] - exact["stick_fraction"]) <= 0.02).all()
    scale = parameters["base_acceleration"] / parameters["angular_frequency"]
    peaks = np.abs(outputs["peak_slip_speed"] - exact["peak_slip_speed"])
    assert (peaks <= 2e-3 * scale).all()


@pytest.mark.parametrize(("method", "tolerance"), [*((m, math.inf) for m in STEPPING), *CHOSEN])
def test_slips_in_one_direction_are_counted(method: str, tolerance: float) -> None:
    """The load is lowest where the plane accelerates backward, so slip occurs once per period."""
    point = SDND104 | {"base_acceleration": 1.0, "vertical_acceleration": 6.0}
    outputs = compute(point | controls(method, tolerance=tolerance), method=method)
    exact = compute(point)
    assert outputs["slip_phases"][0] == exact["slip_phases"][0] == 8
    assert outputs["regime"][0] == exact["regime"][0] == 1
    for name in ("wear_power", "slip_distance", "peak_slip_speed", "stick_fraction"):
        assert outputs[name][0] == pytest.approx(exact[name][0], rel=3e-4), name


# Moreau and Jean.


def reference_of_moreau(steps_per_period: float) -> NDArray[np.float64]:
    parameters, _ = reference_cases()
    step = 2 * np.pi / parameters["angular_frequency"] / steps_per_period
    return compute(parameters | {"step": step}, method="moreau")["wear_power"]


def test_moreau_on_the_reference_cases() -> None:
    """Steps of T/10⁴: within 2e-3, or within 3e-3 m g a0/ω if there is little wear."""
    parameters, cases = reference_cases()
    mass, omega = parameters["mass"], parameters["angular_frequency"]
    scale = mass * parameters["gravity"] * parameters["base_acceleration"] / omega
    exact = cases["wear_power"]
    coarse, fine = (np.abs(reference_of_moreau(n) - exact) for n in (1e4, 2e4))
    little = exact < 0.05 * scale
    assert (coarse <= np.where(little, 3e-3 * scale, 2e-3 * exact)).all()
    slips = exact > 0
    assert 1.7 <= np.median(coarse[slips] / fine[slips]) <= 2.3


@pytest.mark.parametrize("step", [1e-5, 1e-3, 0.05, 0.4, 7.0])
def test_moreau_is_exactly_zero_in_permanent_stick(step: float) -> None:
    """For any step, with and without vertical shaking, at any phase."""
    rng = np.random.default_rng(0)
    n = 50
    gravity, share = np.full(n, 9.81), rng.uniform(0, 0.9, n) * (np.arange(n) % 2)
    friction = rng.uniform(0.1, 1, n)
    point = {
        "mass": rng.uniform(0.1, 3, n), "gravity": gravity, "friction": friction,
        "base_acceleration": friction * gravity * (1 - share) * rng.uniform(0.5, 0.999999, n),
        "angular_frequency": rng.uniform(1, 9, n), "vertical_acceleration": gravity * share,
        "phase": rng.uniform(-3, 3, n), "window_start": 0.0, "window_end": 8.0, "step": step,
    }  # fmt: skip
    outputs = compute(point, method="moreau")
    assert (outputs["wear_power"] == 0).all()
    assert (outputs["stick_fraction"] == 1).all()
    assert (outputs["regime"] == 0).all()


# Statuses.


@pytest.mark.parametrize("method", STEPPING)
def test_steps_too_long_for_the_shaking_are_outside_validity(method: str) -> None:
    """Steps above a tenth of the period, unless friction holds the mass at all times."""
    share, phase = 0.5, 0.7
    angles = np.linspace(0, np.pi, 1001)[1:-1] + np.array([[0], [np.pi]])
    threshold = np.min(0.2 * 10.0 * (1 + share * np.sin(angles + phase)) / abs(np.sin(angles)))
    least = np.array([1.0, 1.0 + 1e-12, 3.0])
    shaken = {
        "friction": 0.2, "angular_frequency": 2 * np.pi, "phase": phase, "window_start": 0.0,
        "base_acceleration": [*(2.0 * least), threshold * (1 - 1e-4), threshold * (1 + 1e-4)],
        "vertical_acceleration": [0.0, 0.0, 0.0, 10.0 * share, 10.0 * share], "window_end": 8.0,
    }  # fmt: skip
    point = SDND104 | shaken
    if method != "moreau":
        point |= {"tangential_stiffness": 4.0, "tolerance": np.inf}
    for step, expected in ((0.0999, 0), (0.1001, 3)):
        status = compute(point | {"step": step}, method=method)["status"]
        assert status.tolist() == [0, expected, expected, 0, expected], step


@pytest.mark.parametrize("method", STEPPING)
def test_phases_above_a_billion_are_refused(method: str) -> None:
    """For a mass that never slips, so that long steps suffice."""
    end = 5e8 * np.array([1.0, 1.001])
    still = {"base_acceleration": 0.5, "angular_frequency": 2.0, "window_end": end}
    control_values = controls(method, step=1e8, tangential_stiffness=1e-18)
    outputs = compute(SDND104 | still | control_values, method=method)
    np.testing.assert_array_equal(outputs["status"], [Status.ok, Status.outside_validity])


def test_traces_show_the_plane_correctly_at_late_times() -> None:
    """At a phase of 4e8, whose rounding error is 3e-8, compared with 40 digits."""
    point = {**SDND104, "base_acceleration": 0.5, "angular_frequency": 3.7, "window_end": 1e8}
    point |= {"vertical_acceleration": 2.0, "phase": 0.4}
    source = {"model": "friction_oscillator", "method": "moreau"}
    traced = trace(source | {"parameters": point | {"step": 1.1e6}}, samples=50)
    rate, base = mpmath.mpf(3.7), 0.5 / 3.7
    with mpmath.workdps(40):
        phases = [rate * mpmath.mpf(float(time)) for time in traced["time"].values]
        velocity = [-base * float(mpmath.cos(phase)) for phase in phases]
        load = [10 + 2 * float(mpmath.sin(phase + mpmath.mpf(0.4))) for phase in phases]
    np.testing.assert_allclose(traced["base_velocity"], velocity, rtol=0, atol=1e-15)
    np.testing.assert_allclose(traced["normal_force"], load, rtol=1e-15)


@pytest.mark.parametrize(
    "method",
    ["euler", *(pytest.param(m, marks=pytest.mark.broad) for m in ("devogelaere", "moreau"))],
)
def test_overflow_of_the_distance_is_diverged(method: str) -> None:
    """Displacements of 5e282 m and 5e322 m in eight periods, at finite power."""
    omega = np.array([1e-140, 1e-160])
    cycles = {name: v for name, v in SDND104.items() if not name.startswith("window")}
    cycles |= {"angular_frequency": omega, "start_cycle": 4.0, "end_cycle": 12.0}
    control_values = controls(method, step=2 * np.pi / omega / 1000, tangential_stiffness=1e-300)
    outputs = compute(
        cycles | {"base_acceleration": 15.0} | control_values, method=method, target=QUICK
    )
    np.testing.assert_array_equal(outputs["status"], [Status.ok, Status.diverged])


@pytest.mark.parametrize("method", PENALISED)
def test_a_step_beyond_the_stability_limit_is_diverged(method: str) -> None:
    """Decided from the parameters, within 1e-4 of theory/, because the motion would stay bounded.

    Includes springs and dampers of the model up to the size of those of the contact. If undamped
    slip on the spring sets the limit, motion 1e-4 beyond it grows by only 5e-8 per step, which is
    accepted; the tolerance is then 1e-3.
    """
    rng = np.random.default_rng(5)
    n = 12
    mass, stiffness = rng.uniform(0.5, 2, n), 10 ** rng.uniform(4, 7, n)
    damping = 2 * np.sqrt(mass * stiffness) * rng.uniform(0, 1.5, n)
    spring = stiffness * 10 ** rng.uniform(-3, 0, n) * (np.arange(n) % 4 > 1)
    damper = np.sqrt(mass * stiffness) * 10 ** rng.uniform(-3, 0, n) * (np.arange(n) % 2)
    columns = list(zip(mass, spring, stiffness, damping, damper, strict=True))
    longest = np.array([longest_step(method, *each) for each in columns])
    in_slip = np.array([longest_step(method, m, k, 0.0, 0.0, c) for m, k, _, _, c in columns])
    near = np.where((longest == in_slip) & (damper == 0), 1e-3, 1e-4)
    assert np.mean(near == 1e-4) > 0.9
    point = SDND104 | {"base_acceleration": 1.5, "mass": mass}
    point |= {"stiffness": spring, "damping": damper}
    point |= {"window_start": 0.0, "window_end": 0.05}
    chosen = {"tangential_stiffness": stiffness, "tangential_damping": damping}
    for share, status in ((1 - near, Status.ok), (1 + near, Status.diverged)):
        control_values = controls(method, step=share * longest, **chosen)
        control_values |= {"tangential_damping": damping}
        outputs = compute(point | control_values, method=method)
        assert (outputs["status"] == status).all()
        assert np.isnan(outputs["wear_power"]).all() == (status == Status.diverged)


@pytest.mark.parametrize(("method", "greatest"), GREATEST)
def test_tolerances_that_control_nothing_are_refused(method: str, greatest: float) -> None:
    """Above the maximum, plausible results can be 200 times too large; inf is allowed."""
    constants = {**SDND104, "base_acceleration": 1.5, "step": 1e-4, "tangential_stiffness": 9e6}
    request = {"model": "friction_oscillator", "method": method, "parameters": constants}
    for tolerance in (greatest, math.inf):
        loaded = load({**request, "parameters": {**constants, "tolerance": tolerance}})
        assert loaded.sweep.constants["tolerance"] == tolerance
    gist = f"it has to be above 0 and at most {greatest:g} and inf is allowed"
    varied = {"tolerance": {"values": [1e-4, 1.01 * greatest, math.inf]}}
    for tables in (
        {"parameters": {**constants, "tolerance": 1.01 * greatest}},
        {"parameters": constants, "axes": varied},
    ):
        with pytest.raises(ConfigError, match=gist):
            load({**request, **tables})


@pytest.mark.parametrize("method", CONTROLLED)
def test_a_controlled_scheme_may_begin_with_any_step(method: str) -> None:
    outputs = sdnd104(method, step=1.0, tolerance=1.0 if method == "adapt_ordre2" else 1e-6)
    assert (outputs["status"] == Status.ok).all()


@pytest.mark.parametrize("blocks", [1.0, 2.0])
@pytest.mark.parametrize("method", PENALISED)
def test_exactly_the_allowed_number_of_steps_is_accepted(method: str, blocks: float) -> None:
    """A hundred steps for a plane at rest: fifty before the window and fifty in it.

    Two blocks with step-size control take them twice, and each run may have a hundred.
    """
    window = {"base_acceleration": 0.0, "window_start": 0.05, "window_end": 0.1}
    control_values = controls(
        method, step=1e-3, maximum_step=1e-3, tangential_stiffness=1e3, blocks=blocks
    )
    if method in CONTROLLED:
        control_values |= {"tolerance": np.array([[1e-4], [math.inf]]).repeat(2, 1).ravel()}
    control_values |= {"maximum_steps": np.tile([99.0, 100.0], 2)}
    outputs = compute({**SDND104, **window, **control_values}, method=method)
    np.testing.assert_array_equal(outputs["status"], [Status.not_converged, Status.ok] * 2)


@pytest.mark.parametrize(
    ("method", "tolerance"),
    [
        pytest.param(*case, marks=pytest.mark.broad if case[0] != "adapt_ordre2" else ())
        for case in GREATEST
    ],
)
def test_controlled_steps_are_at_most_a_fiftieth_of_the_period(
    method: str, tolerance: float
) -> None:
    """For any tolerance and maximum step, including the first step."""
    steps = {"step": 1.0, "maximum_step": 1.0, "tolerance": tolerance}
    parameters = {**SDND104, **steps, "tangential_stiffness": 1e3, "base_acceleration": 1.5}
    traced = trace(
        {"model": "friction_oscillator", "method": method, "parameters": parameters},
        start=0.0, samples=20_001,
    )  # fmt: skip
    period = 2 * np.pi / SDND104["angular_frequency"]
    steps = np.diff(traced["time"].values)
    assert steps.max() == pytest.approx(period / 50, rel=1e-9)
    assert steps[0] == pytest.approx(period / 50, rel=1e-9)


@pytest.mark.parametrize("method", STEPPING)
def test_invalid_points_are_refused_by_every_scheme(method: str) -> None:
    point = SDND104 | {"base_acceleration": 1.5} | controls(method)
    point |= {"vertical_acceleration": np.array([0.0, 10.0, -10.0]), "window_end": 4.5}
    outputs = compute(point, method=method)
    refused = Status.outside_validity
    assert outputs["status"].tolist() == [Status.ok, refused, refused]
    late = compute(point | {"window_start": 4.5}, method=method)
    assert (late["status"] == refused).all()
