"""Method `exact` of the friction oscillator: reference values, oracles, limits."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from sweep.model.table import MISSING_COUNT, MISSING_FLAG, Status
from sweep.theory import friction_oscillator as theory
from tests.cases import compute
from tests.cases.friction_oscillator import (
    NAMES,
    SDND104,
    random_parameters,
    reference_cases,
    stiff_parameters,
    theirs,
)
from tests.oracles import friction_oscillator as oracle
from tests.oracles import friction_scan

ACCELERATIONS = [15.0, 1.5, 1.01, 0.99]
REGIMES = ("stick", "stick_slip", "slip_slip")
CYCLES = {name: value for name, value in SDND104.items() if not name.startswith("window")}


@pytest.mark.parametrize(
    ("stiffness", "window_end", "printed"),
    [
        (0.0, 12.0, ["15.267099589372", "0.40906245101571", "2.2616412127979e-4", "0"]),
        (0.0, 11.99, ["15.257521793944", "0.40910313286351", "2.2644718025511e-4", "0"]),
        (3e-5, 12.0, ["15.266764915376", "0.409062758890", "2.2616412588e-4", "0"]),
    ],
)
def test_sdnd104_to_all_printed_digits(
    stiffness: float, window_end: float, printed: list[str]
) -> None:
    parameters = {**SDND104, "stiffness": stiffness, "window_end": window_end}
    wear = compute({**parameters, "base_acceleration": ACCELERATIONS})["wear_power"]
    for value, text in zip(wear, printed, strict=True):
        mantissa, _, exponent = text.partition("e")
        last_digit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
        assert value == 0 if text == "0" else abs(value - float(text)) < last_digit


def test_reference_cases() -> None:
    parameters, expected = reference_cases()
    outputs = compute(parameters)
    assert not outputs["status"].any()
    error = np.abs(outputs["wear_power"] - expected["wear_power"])
    assert np.all(error <= expected["uncertainty"] + 1e-9 * expected["wear_power"])
    assert np.abs(outputs["stick_fraction"] - expected["stick_fraction"]).max() <= 1e-8
    np.testing.assert_array_equal(outputs["slip_phases"], expected["slips"])
    peak = expected["peak_slip_speed"]
    assert np.all(np.abs(outputs["peak_slip_speed"] - peak) <= 1e-3 * peak)


@pytest.mark.parametrize(
    ("kind", "n"),
    [("every kind", 150), ("stiff", 27),
     *(pytest.param(*case, marks=pytest.mark.broad) for case in (("every kind", 300),
                                                                 ("stiff", 60)))],
)  # fmt: skip
def test_oracle_on_random_points(kind: str, n: int) -> None:
    parameters = random_parameters(n, seed=11) if kind == "every kind" else stiff_parameters(n)
    outputs = compute(parameters)
    assert not outputs["status"].any()
    scale = _scale(parameters)
    for i in range(len(scale)):
        expected = oracle.exact(**theirs(parameters, i))
        assert REGIMES[outputs["regime"][i]] == expected["regime"]
        assert outputs["slip_phases"][i] == expected["slip_phases"]
        for name, size in (
            ("wear_power", scale[i]),
            ("friction_power", parameters["friction"][i] * scale[i]),
            ("slip_distance", _length(parameters)[i]),
            ("peak_slip_speed", _speed(parameters)[i]),
            ("stick_fraction", 1.0),
        ):
            error = abs(outputs[name][i] - expected[name])
            assert error <= 5e-13 * max(abs(expected[name]), 1e-6 * size), (name, i)


@pytest.mark.parametrize("stiffness", [0.0, 3e-5, 2.0])
def test_relative_accuracy_of_short_slips(stiffness: float) -> None:
    excess = 10.0 ** -np.arange(1, 13)
    parameters = {**SDND104, "stiffness": stiffness, "base_acceleration": 0.1 * 10 * (1 + excess)}
    outputs = compute(parameters)
    full = {"damping": 0.0, "vertical_acceleration": 0.0, "phase": 0.0, **parameters}
    full = {name: np.broadcast_to(value, excess.shape) for name, value in full.items()}
    for i in range(len(excess)):
        expected = oracle.exact(**theirs(full, i))
        for name in ("wear_power", "slip_distance", "peak_slip_speed"):
            assert outputs[name][i] == pytest.approx(expected[name], rel=1e-14), (name, i)


@pytest.mark.broad
def test_no_event_missed_or_invented() -> None:
    parameters = random_parameters(600, seed=5)
    short = {name: parameters[long] for name, long in NAMES.items()}
    coarse, fine = (friction_scan.scan(short, steps) for steps in (2048, 4096))
    agree = (coarse["slip_phases"] == fine["slip_phases"]) & (fine["margin"] > 1e-9)
    assert agree.mean() >= 0.999
    slip_phases = compute(parameters)["slip_phases"]
    np.testing.assert_array_equal(slip_phases[agree], fine["slip_phases"][agree])


@pytest.mark.parametrize("spring", [0.0, 1.0])
def test_a_heavily_damped_mass_creeps_with_its_force(spring: float) -> None:
    """c v = m a0 (sin τ - η) where that is positive, up to relative errors of 1/γ, γ = c/mω."""
    base, omega = 10.0, SDND104["angular_frequency"]
    friction, heavy = (
        each.ravel() for each in np.meshgrid([0.05, 0.3, 0.9], 10.0 ** np.arange(6, 12))
    )
    motion = {"base_acceleration": base, "damping": heavy * omega, "stiffness": spring * omega**2}
    window = {"start_cycle": 1, "end_cycle": 3}
    outputs = compute({**CYCLES, **motion, **window, "friction": friction})
    start, force = np.arcsin(friction), CYCLES["gravity"]  # μg/a0 = μ
    crept = 2 * np.cos(start) - friction * (np.pi - 2 * start)
    for name, expected in (
        ("wear_power", force * base / omega * crept / heavy / np.pi),
        ("slip_distance", 4 * base / omega**2 * crept / heavy),
        ("peak_slip_speed", base / omega * (1 - friction) / heavy),
        ("stick_fraction", 2 * start / np.pi),
    ):
        assert np.all(np.abs(outputs[name] / expected - 1) <= 20 / heavy + 1e-13), name
    np.testing.assert_array_equal(outputs["slip_phases"], 4)


def test_asymptotic_wear_power() -> None:
    base_acceleration = np.array([1.2, 1.5, 1.8, 2.0, 5.0, 50.0])
    outputs = compute(
        {**CYCLES, "base_acceleration": base_acceleration, "start_cycle": 400, "end_cycle": 401}
    )
    expected = theory.asymptotic_wear_power(**CYCLES, base_acceleration=base_acceleration)
    # The transient of slip-slip motion at η → 0 dies slowest; after 400 cycles it is below 1e-5.
    np.testing.assert_allclose(outputs["wear_power"][:5], expected[:5], rtol=2e-12)
    assert outputs["wear_power"][5] == pytest.approx(expected[5], rel=1e-3)


def test_windows_in_cycles_and_seconds_agree() -> None:
    seconds = compute({**SDND104, "base_acceleration": ACCELERATIONS})
    cycles = compute(
        {**CYCLES, "base_acceleration": ACCELERATIONS, "start_cycle": 4, "end_cycle": 12}
    )
    for name in ("wear_power", "stick_fraction"):
        np.testing.assert_allclose(seconds[name], cycles[name], rtol=1e-13)


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (4.0, {}),
        (4.2, {"base_acceleration": 1.5}),
        (4.0, {"vertical_acceleration": 3.0, "phase": 1.0}),
        (4.0, {"stiffness": 5.0, "damping": 0.1}),
        (4.3, {"stiffness": 5.0, "damping": 0.1, "vertical_acceleration": 3.0, "phase": 1.0}),
    ],
)
def test_narrow_windows(start: float, kind: dict[str, float]) -> None:
    """A window inside a slip, down to about a hundred times the rounding error of the time."""
    width = 10.0 ** -np.array([1, 2, 4, 6, 9, 12])
    parameters = {"damping": 0.0, "stiffness": 0.0, "vertical_acceleration": 0.0, "phase": 0.0}
    parameters = {**SDND104, "base_acceleration": 15.0, **parameters, **kind, "window_start": start}
    cases = {name: np.full(len(width), value) for name, value in parameters.items()}
    cases["window_end"] = start + width
    outputs = compute(cases)
    for i in range(len(width)):
        expected = oracle.exact(**theirs(cases, i))
        for name in ("wear_power", "slip_distance", "peak_slip_speed"):
            assert outputs[name][i] == pytest.approx(expected[name], rel=1e-11), (name, i)


def test_window_far_from_the_start_keeps_its_phase() -> None:
    """At 10⁵ cycles ωt has lost eleven bits, but the phase within the cycle has lost none."""
    rest = {**CYCLES, "angular_frequency": 1.0, "base_acceleration": 1.5}
    far = 1e5
    early = compute({**rest, "start_cycle": 1.25, "end_cycle": 1.5})["wear_power"]
    late = compute({**rest, "start_cycle": far + 0.25, "end_cycle": far + 0.5})["wear_power"]
    np.testing.assert_allclose(late, early, rtol=1e-13)


def test_a_window_in_seconds_far_from_the_start_keeps_its_phase() -> None:
    """Expected: the same phase, from 40 digits, in the third cycle; stick-slip repeats."""
    point = {**CYCLES, "angular_frequency": 3.7, "base_acceleration": 1.5}
    period = 2 * np.pi / point["angular_frequency"]
    late = {"window_start": 1e5 * period, "window_end": (1e5 + 0.3) * period}
    with mpmath.workdps(40):
        rate = mpmath.mpf(point["angular_frequency"]) / (2 * mpmath.pi)
        start, end = (float(rate * mpmath.mpf(time) - 99_998) for time in late.values())
    early = compute({**point, "start_cycle": start, "end_cycle": end})
    outputs = compute({**point, **late})
    for name in ("wear_power", "slip_distance", "stick_fraction"):
        np.testing.assert_allclose(outputs[name], early[name], rtol=1e-13)


def test_outside_validity_and_missing_values() -> None:
    outputs = compute(
        {
            **SDND104,
            "base_acceleration": 15.0,
            "vertical_acceleration": [9.99, 10.0, -10.0, 0.0, 0.0],
            "window_end": [12.0, 12.0, 12.0, 4.0, 3.0],
        }
    )
    np.testing.assert_array_equal(outputs["status"], [0, 3, 3, 3, 3])
    for name, values in outputs.items():
        missing = {"slip_phases": MISSING_COUNT, "regime": MISSING_FLAG}.get(name, np.nan)
        if name != "status":
            np.testing.assert_array_equal(values[1:], np.full(4, missing, values.dtype))


def test_a_tiny_acceleration_without_friction_slips_all_the_time() -> None:
    """The mean of |v| is a0/ω, whatever a0 is."""
    small = np.array([1e-291, 1e-300, 1e-306])
    ice = compute({**SDND104, "friction": 0.0, "base_acceleration": small, "mass": 1e5})
    np.testing.assert_array_equal(ice["status"], Status.ok)
    expected = 1e6 * small / SDND104["angular_frequency"]
    np.testing.assert_allclose(ice["wear_power"], expected, rtol=1e-13)


def test_overflow_and_underflow_are_diverged() -> None:
    heavy = compute({**SDND104, "mass": 1e305, "base_acceleration": 1e10})
    assert heavy["status"][0] == Status.diverged
    small = compute({**SDND104, "friction": [0.0, 1e-313], "base_acceleration": [5e-324, 1e-310]})
    np.testing.assert_array_equal(small["status"], Status.diverged)
    far = {**CYCLES, "base_acceleration": 15.0, "start_cycle": 4.0, "end_cycle": 12.0}
    slow = compute({**far, "angular_frequency": [1e-140, 1e-160]})  # 1e281 m and 1e321 m
    np.testing.assert_array_equal(slow["status"], [Status.ok, Status.diverged])


@pytest.mark.parametrize(
    "beyond",
    [
        {"window_end": 1e17},
        {"angular_frequency": 1e300},
        {"stiffness": 1e300},
        {"damping": 1e300},
        {"window_start": 1e300, "window_end": 1e301},
    ],
)
def test_endless_runs_are_refused(beyond: dict[str, float]) -> None:
    outputs = compute({**SDND104, "base_acceleration": 15.0, **beyond})
    assert outputs["status"][0] == Status.outside_validity


@pytest.mark.parametrize("most", ["cycles", "spring", "damper"])
def test_the_limits_of_validity_are_those_of_the_sentence(most: str) -> None:
    """1e9 cycles, k/m = 1e12 ω² and c/m = 1e12 ω, for a mass that never slips."""
    mass, omega = 4.0, 2.0
    still = {**CYCLES, "mass": mass, "angular_frequency": omega, "base_acceleration": 0.5}
    beyond = np.array([1.0, 1.001])
    limits = {"cycles": {"end_cycle": 1e9 * beyond},
             "spring": {"stiffness": mass * 1e12 * omega**2 * beyond},
             "damper": {"damping": mass * 1e12 * omega * beyond}}  # fmt: skip
    outputs = compute({**still, "start_cycle": 0.0, "end_cycle": 1.0, **limits[most]})
    np.testing.assert_array_equal(outputs["status"], [Status.ok, Status.outside_validity])
    assert outputs["stick_fraction"][0] == 1


def test_very_short_sticks_count() -> None:
    """A stick between two slips of nearly half a period each; expected in closed form."""
    beyond = 10.0 ** -np.arange(1, 13)
    limit = SDND104["friction"] * SDND104["gravity"]
    base = limit / (theory.CRITICAL_RATIO * (1 + beyond))
    outputs = compute({**CYCLES, "base_acceleration": base, "start_cycle": 4, "end_cycle": 8})
    expected = 1 - theory.slip_duration(SDND104["friction"], SDND104["gravity"], base) / np.pi
    assert expected.min() < 1e-12
    np.testing.assert_allclose(outputs["stick_fraction"], expected, rtol=1e-13, atol=1e-15)
    assert [REGIMES[code] for code in outputs["regime"]] == ["stick_slip"] * len(base)
    np.testing.assert_array_equal(outputs["slip_phases"], 8)


def test_a_share_is_at_most_1() -> None:
    """A slip begins within rounding of the window's end; the wait before it was 1 + 6e-15."""
    motion = {"friction": 0.4974116634122536, "base_acceleration": 5.310723154030592}
    window = {"start_cycle": 13.18862643050074, "end_cycle": 13.193030740109599}
    outputs = compute({**CYCLES, **motion, **window, "angular_frequency": 6.0})
    assert REGIMES[outputs["regime"][0]] == "stick_slip"
    assert outputs["stick_fraction"][0] == 1


def test_slips_count_that_begin_at_the_start_but_not_at_the_end_of_the_window() -> None:
    """Without friction there is one slip per period, from the beginning to the end of it."""
    window = {"start_cycle": [0, 0, 3, 0.5], "end_cycle": [8, 1, 4, 1]}
    ice = compute({**CYCLES, "friction": 0.0, "base_acceleration": 15.0, **window})
    np.testing.assert_array_equal(ice["slip_phases"], [8, 1, 1, 0])


def test_extremes_of_friction() -> None:
    """No base motion; no friction; more friction than can ever slip."""
    still = compute({**SDND104, "base_acceleration": 0.0})
    assert (still["wear_power"][0], still["stick_fraction"][0], still["regime"][0]) == (0, 1, 0)
    frozen = compute({**SDND104, "friction": 1e300, "base_acceleration": 15.0})
    assert (frozen["wear_power"][0], frozen["regime"][0]) == (0, 0)
    # Without friction the relative velocity is −(a0/ω)(1 − cos ωt): its mean size is a0/ω.
    ice = compute({**SDND104, "friction": 0.0, "base_acceleration": 15.0})
    expected = 10 * 15 / SDND104["angular_frequency"]
    assert ice["wear_power"][0] == pytest.approx(expected, rel=1e-13)
    assert (ice["friction_power"][0], ice["slip_phases"][0], ice["regime"][0]) == (0, 8, 2)


def _scale(parameters: dict[str, NDArray[Any]]) -> NDArray[Any]:
    return parameters["mass"] * parameters["gravity"] * _speed(parameters)


def _speed(parameters: dict[str, NDArray[Any]]) -> NDArray[Any]:
    return parameters["base_acceleration"] / parameters["angular_frequency"]


def _length(parameters: dict[str, NDArray[Any]]) -> NDArray[Any]:
    return _speed(parameters) / parameters["angular_frequency"]
