"""The impact oscillator's kernels: reference values, oracles, limits, order, every bit."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from sweep.errors import ConfigError
from sweep.file import load
from sweep.model.table import MISSING_FLAG, Status
from sweep.results.tracing import trace
from sweep.theory import impact_oscillator as theory
from tests.cases.impact_oscillator import (
    ENERGIES,
    RIGHT,
    SDND122,
    found_by,
    random_parameters,
    random_points,
    theirs,
)
from tests.kernel.kernel_probe import Entry, Probe, compile_probe
from tests.oracles import impact_oscillator as oracle

DOCUMENT_ENERGIES = np.linspace(6.2e-3, 6.9e-3, 2001)


# Method exact.


def test_the_three_correct_frequencies_to_all_printed_digits() -> None:
    frequency = found_by("exact", {**SDND122, "energy": ENERGIES})["frequency"]
    assert [f"{value:.10f}" for value in frequency] == RIGHT


@pytest.fixture(scope="module")
def integrated_motions() -> tuple[dict[str, NDArray[Any]], list[dict[str, float]]]:
    parameters = random_parameters(200, seed=7)
    return parameters, [oracle.periodic(**theirs(parameters, i)) for i in range(200)]


@pytest.mark.parametrize("name", ["frequency", "minimum", "maximum", "contact_fraction"])
def test_exact_against_the_integrated_motion(name: str, integrated_motions: Any) -> None:
    """At 200 random points, K/k from 0 to 1e12, within 1e-9 of the value itself."""
    parameters, expected = integrated_motions
    outputs = found_by("exact", parameters)
    assert not outputs["status"].any()
    np.testing.assert_allclose(outputs[name], [each[name] for each in expected], rtol=1e-9)


def test_exact_keeps_its_accuracy_towards_grazing() -> None:
    """Against 50 digits, where the motion reaches into the stop by ever less."""
    excess = 10.0 ** -np.arange(0, 15)
    energy = 0.5 * SDND122["stiffness"] * SDND122["gap"] ** 2 * (1 + excess)
    outputs = found_by("exact", {**SDND122, "energy": energy})
    for i, E in enumerate(energy):
        period, pressed = _times(50.0, E)
        assert outputs["frequency"][i] == pytest.approx(float(1 / period), rel=1e-15)
        assert outputs["contact_fraction"][i] == pytest.approx(float(pressed / period), rel=1e-14)


@pytest.mark.parametrize("ratio", [1e-12, 1e-6, 1.0, 1e6, 1e12])
def test_exact_for_any_stiffness_of_the_stop(ratio: float) -> None:
    energy = 5e-4 * (1 + np.array([1e-9, 1e-3, 1.0, 1e3, 1e9]))
    outputs = found_by("exact", {**SDND122, "wall_stiffness": 10 * ratio, "energy": energy})
    for i, E in enumerate(energy):
        period, pressed = _times(10 * ratio, E)
        assert outputs["frequency"][i] == pytest.approx(float(1 / period), rel=1e-15)
        assert outputs["contact_fraction"][i] == pytest.approx(float(pressed / period), rel=2e-14)


def _times(wall_stiffness: float, energy: float) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Period and contact time of a mass of 1 kg by the document's arccosines, T2 corrected."""
    with mpmath.workdps(50):
        k, e = mpmath.mpf(SDND122["stiffness"]), mpmath.mpf(SDND122["gap"])
        K, E = mpmath.mpf(wall_stiffness), mpmath.mpf(float(energy))
        free = 2 * mpmath.sqrt(1 / k) * mpmath.acos(-e * mpmath.sqrt(k / (2 * E)))
        reach = e * k / mpmath.sqrt(2 * E * (K + k) - k * K * e**2)
        pressed = 2 * mpmath.sqrt(1 / (K + k)) * mpmath.acos(reach)
        return free + pressed, pressed


def test_the_linear_motion_at_and_below_grazing_and_without_a_stop() -> None:
    linear = np.sqrt(10.0) / (2 * np.pi)
    grazing = {**SDND122, "gap": 0.25, "energy": 10 * 0.25**2 / 2}  # in doubles exactly
    free = {**SDND122, "wall_stiffness": 0.0, "energy": ENERGIES}
    for point in (grazing, {**SDND122, "energy": [1e-9, 4.9e-4]}, free):
        outputs = found_by("exact", point)
        np.testing.assert_allclose(outputs["frequency"], linear, rtol=4e-16)
        np.testing.assert_allclose(outputs["maximum"], -outputs["minimum"], rtol=4e-16)
        np.testing.assert_allclose(outputs["floquet_trace"], 2.0, rtol=4e-16)
        assert outputs["stable"].all()
    assert found_by("exact", grazing)["contact_fraction"][0] == 0


@pytest.mark.parametrize("ratio", [0.5, 3.0, 1e6])
def test_without_a_gap_every_energy_has_the_frequency_of_two_halves(ratio: float) -> None:
    point = {**SDND122, "gap": 0.0, "wall_stiffness": 10 * ratio, "energy": [1e-6, 1.0, 1e6]}
    rho = np.sqrt(1 + ratio)
    expected = np.sqrt(10.0) / (2 * np.pi) * 2 * rho / (1 + rho)
    np.testing.assert_allclose(found_by("exact", point)["frequency"], expected, rtol=4e-16)


def test_trace_of_the_monodromy_matrix_is_2() -> None:
    """A check on the durations: phases of other lengths do not close."""
    outputs = found_by("exact", random_parameters(20_000, seed=3))
    assert np.abs(outputs["floquet_trace"] - 2).max() < 1e-13
    assert outputs["floquet_modulus"].max() < 1 + 1e-6
    assert outputs["stable"].all()


MATRIX = """
    impact_oscillator::Orbit orbit(in[0], in[1], in[2], in[3], in[4]);
    impact_oscillator::Matrix m = impact_oscillator::monodromy(orbit);
    out[0] = m.xx; out[1] = m.xv * (1.0 / orbit.rate); out[2] = m.vx * orbit.rate; out[3] = m.vv;
    out[4] = m.xx * m.vv - m.xv * m.vx;
"""


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    header, entries = "models/impact_oscillator/orbit.h", {"matrix": Entry(5, 5, MATRIX)}
    return compile_probe(tmp_path_factory.mktemp("probe"), header, entries)


def test_monodromy_matrix_against_integrated_disturbances(
    probe: Probe, integrated_motions: Any
) -> None:
    parameters, expected = integrated_motions
    *elements, determinant = probe("matrix", *parameters.values())
    assert np.abs(determinant - 1).max() < 1e-12
    mild = parameters["wall_stiffness"] <= 1e3 * parameters["stiffness"]
    rate = np.sqrt(parameters["stiffness"] / parameters["mass"])
    units = (1.0, 1 / rate, rate, 1.0)
    for name, values, unit in zip(("m11", "m12", "m21", "m22"), elements, units, strict=True):
        error = (values - [each[name] for each in expected]) / unit
        assert np.abs(error[mild]).max() < 1e-8, name


def test_a_disturbance_to_another_energy_is_delayed_as_the_frequency_says(probe: Probe) -> None:
    """The Jordan block: velocity gained per period is the force times dT/dE of the energy given."""
    point = [*SDND122.values()]
    vx = probe("matrix", *([value] for value in (*point, ENERGIES[0])))[2][0]
    step = 1e-5 * ENERGIES[0]
    near = found_by("exact", {**SDND122, "energy": ENERGIES[0] + np.array([-step, step])})
    slope = np.diff(1 / near["frequency"])[0] / (2 * step)
    force = SDND122["stiffness"] * np.sqrt(2 * ENERGIES[0] / SDND122["stiffness"])
    assert vx == pytest.approx(slope * force * force / SDND122["mass"], rel=1e-7)


# Method newmark.


def test_newmark_at_1000_points() -> None:
    """The bounds of its default: frequency within 1e-5, multipliers below 1.01."""
    parameters = {**SDND122, "energy": DOCUMENT_ENERGIES}
    outputs, exact = found_by("newmark", parameters), found_by("exact", parameters)
    assert not outputs["status"].any()
    np.testing.assert_allclose(outputs["frequency"], exact["frequency"], rtol=1e-5)
    assert 1.004 < outputs["floquet_modulus"].max() < 1.01
    assert outputs["stable"].all()


@pytest.mark.parametrize("odd", [0, 1])
@pytest.mark.parametrize("name", ["frequency", "minimum", "contact_fraction", "floquet_trace"])
def test_newmark_is_of_second_order(name: str, odd: int) -> None:
    """Over the mean of many energies, since how a contact lies among the steps is chance."""
    energy = np.linspace(6e-4, 2e-2, 500)
    steps = np.array([200, 400, 800, 1600, 3200]) + odd
    exact = found_by("exact", {**SDND122, "energy": energy})[name]
    errors = []
    for count in steps:
        outputs = found_by("newmark", {**SDND122, "energy": energy, "steps_per_period": count})
        errors.append(np.sqrt(np.mean((outputs[name] / exact - 1) ** 2)))
    order = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert order == pytest.approx(2.0, abs=0.15)


def test_newmark_below_grazing_has_the_schemes_own_frequency() -> None:
    """Average acceleration turns by 2 atan(ωh/2) a step: N of them make 2π."""
    steps = np.array([8.0, 9.0, 100.0, 101.0, 1000.0])
    outputs = found_by("newmark", {**SDND122, "energy": 1e-4, "steps_per_period": steps})
    rate = np.sqrt(10.0)
    expected = rate / (2 * steps * np.tan(np.pi / steps))
    np.testing.assert_allclose(outputs["frequency"], expected, rtol=1e-12)
    # The middle of the half period lies beside the grid where the number of steps is odd.
    even = steps % 2 == 0
    np.testing.assert_allclose(outputs["minimum"][even], -np.sqrt(2e-4 / 10), rtol=1e-11)
    np.testing.assert_array_equal(outputs["contact_fraction"], 0.0)


def test_newmark_reports_an_unresolved_contact() -> None:
    point = {**SDND122, "energy": ENERGIES[0]}
    stiff = found_by("newmark", {**point, "wall_stiffness": 1e7, "steps_per_period": [1000, 1e4]})
    np.testing.assert_array_equal(stiff["status"], [Status.outside_validity, Status.ok])
    coarse = found_by("newmark", {**point, "steps_per_period": [8, 20]})
    np.testing.assert_array_equal(coarse["status"], [Status.outside_validity, Status.ok])


# Both kernels.


@pytest.mark.parametrize("method", ["exact", "newmark"])
def test_invalid_parameters_and_overflow(method: str) -> None:
    beyond = {
        "mass": [1.0, 1.0, 1e-200, 1.0, 1.0],
        "wall_stiffness": [50.0, 1.1e13, 50.0, 50.0, 50.0],
        "energy": [1e-3, 1e-3, 1e-3, 1e200, 1e-3],
        "gap": [0.01, 0.01, 0.01, 0.01, -0.01],
    }
    outputs = found_by(method, {**SDND122, **beyond})
    np.testing.assert_array_equal(outputs["status"], [0, 3, 2, 2, 3])
    for name, values in outputs.items():
        missing = {"stable": MISSING_FLAG}.get(name, np.nan)
        if name != "status":
            np.testing.assert_array_equal(values[1:], np.full(4, missing, values.dtype))


@pytest.mark.parametrize("method", ["exact", "newmark"])
@pytest.mark.parametrize("size", [1e-140, 1e140])
@pytest.mark.parametrize("name", ["mass", "stiffness", "energy", "gap"])
def test_numbers_that_would_underflow_or_overflow_are_refused(
    name: str, size: float, method: str
) -> None:
    """And are right up to there; a gap may be as narrow as it likes."""
    values = size * np.array([10.0, 0.1] if size < 1 else [0.1, 10.0])
    point = {**SDND122, "energy": 1e-3, name: values}
    if name == "stiffness":
        point["wall_stiffness"] = 5 * values
    outputs = found_by(method, point)
    narrow = name == "gap" and size < 1
    refused = Status.ok if narrow else Status.diverged
    np.testing.assert_array_equal(outputs["status"], [Status.ok, refused])
    expected = theory.frequency(**point)[0]
    tolerance = 1e-14 if method == "exact" else 1e-4
    assert outputs["frequency"][0] == pytest.approx(expected, rel=tolerance)


def test_multipliers_are_those_of_a_matrix_of_determinant_1() -> None:
    """Their product is 1 and their sum the trace: on the circle, or one of them beyond it."""
    outputs = found_by("newmark", random_points("newmark", 600, edges=True))
    trace, modulus, stable = (
        outputs[name][outputs["status"] == Status.ok]
        for name in ("floquet_trace", "floquet_modulus", "stable")
    )
    beyond = np.abs(trace) > 2
    assert beyond.sum() > 50
    assert (~beyond).sum() > 50
    np.testing.assert_array_equal(modulus[~beyond], 1.0)
    sums = (modulus + 1 / modulus)[beyond]
    np.testing.assert_allclose(sums, np.abs(trace[beyond]), rtol=1e-13)
    np.testing.assert_array_equal(stable == 1, modulus < 1.01)
    assert 0.1 < stable.mean() < 0.9


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("energy = 0", "above 0"),
        ("mass = -1", "above 0"),
        ("gap = -0.01", "at least 0"),
        ("wall_stiffness = -1", "at least 0"),
        ('energy = "3 N"', "wrong dimension"),
        ("method = 'newmark'\nsteps_per_period = 7", "at least 8"),
        ("method = 'newmark'\nsteps_per_period = 99.5", "whole number"),
        ("method = 'harmonic_balance'\nharmonics = 61", "at most 60"),
        ("method = 'harmonic_balance'\nregularization = -1", "at least 0"),
    ],
)
def test_bad_input_is_refused_with_a_reason(wrong: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        load("sdnd122", wrong.split("\n"))


# Traces.


@pytest.mark.parametrize("energy", [4e-4, 6.5e-3])
def test_a_trace_is_the_motion(energy: float) -> None:
    traced = trace("sdnd122", {"energy": energy}, samples=512)
    times = traced["time"].to_numpy()
    point = {"m": 1.0, "k": 10.0, "K": 50.0, "e": 0.01}
    exact = found_by("exact", {**SDND122, "energy": energy})
    u, v = oracle.motion(**point, greatest=float(exact["maximum"][0]), times=times)
    assert times[-1] == pytest.approx(1 / exact["frequency"][0], rel=1e-15)
    np.testing.assert_allclose(traced["displacement"], u, rtol=0, atol=1e-9 * np.abs(u).max())
    np.testing.assert_allclose(traced["velocity"], v, rtol=0, atol=1e-9 * np.abs(v).max())
    pushed = 50 * np.maximum(u - 0.01, 0)
    np.testing.assert_allclose(traced["wall_force"], pushed, rtol=0, atol=1e-9)


@pytest.mark.parametrize("steps", [1000, 1001])
def test_a_trace_of_newmark_closes_and_follows_the_motion(steps: int) -> None:
    exact = trace("sdnd122", {"energy": 6.5e-3})
    method = ["method = 'newmark'", f"steps_per_period = {steps}"]
    traced = trace("sdnd122", {"energy": 6.5e-3}, method)
    assert traced["time"].size == 512
    np.testing.assert_array_equal(traced["time"], exact["time"])
    for name, size in (("displacement", 0.036), ("velocity", 0.114)):
        error = np.abs(traced[name] - exact[name]).max()
        assert error < 1e-4 * size
    u, v = traced["displacement"].to_numpy(), traced["velocity"].to_numpy()
    assert u[-1] == pytest.approx(u[0], rel=1e-9)
    # The trace is of the true period, the scheme's is longer: so much of the velocity is left.
    point = {**SDND122, "energy": 6.5e-3, "steps_per_period": steps}
    late = 1 / found_by("newmark", point)["frequency"][0]
    push = -(10 * u[0] + 50 * (u[0] - 0.01))
    assert v[-1] == pytest.approx(push * (float(traced["time"][-1]) - late), rel=1e-3)
    assert abs(v[-1]) < 1e-4 * 0.114


def test_a_trace_of_newmark_goes_through_its_steps() -> None:
    """The parabola of a step ends where the next begins, in place and in velocity."""
    values = {**SDND122, "energy": 6.5e-3, "steps_per_period": 100}
    step = 0.01 / found_by("newmark", values)["frequency"][0]
    times = step * np.arange(1, 100)
    method = ["method = 'newmark'", "steps_per_period = 100"]
    before, after = (
        trace("sdnd122", {"energy": 6.5e-3}, method, times=times + shift * step)
        for shift in (-1e-9, 1e-9)
    )
    for name in ("displacement", "velocity"):
        np.testing.assert_allclose(before[name], after[name].to_numpy(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"samples": 7}, {"times": [0.0, 0.1, 0.2]}], ids=str)
@pytest.mark.parametrize("method", ["exact", "newmark", "harmonic_balance"])
def test_a_trace_outside_validity_reports_its_status(method: str, options: Any) -> None:
    at = {"energy": 0.1, "wall_stiffness": 1e14}
    traced = trace("sdnd122", at, [f"method = {method!r}"], **options)
    assert int(traced["status"]) == Status.outside_validity
    for name in ("displacement", "velocity", "wall_force"):
        assert np.isnan(traced[name]).all()
    if "times" in options:
        assert traced["time"].values.tolist() == options["times"]
