"""Harmonic balance of the impact oscillator: frequencies, Newton's method, multipliers, traces."""

from __future__ import annotations

from math import cos, pi, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from mpmath import cospi, mpf, workdps
from numpy.typing import NDArray

import sweep
from sweep.errors import SweepError
from sweep.model.table import MISSING_FLAG, Status
from sweep.model.tables import models
from sweep.model.tables.impact_oscillator import HARMONIC_BALANCE
from tests.cases.impact_oscillator import ENERGIES, RIGHT, SDND122, found_by, random_points
from tests.kernel.kernel_probe import Entry, Probe, compile_probe
from tests.oracles import harmonic_balance as balanced
from tests.oracles import impact_oscillator as oracle

SAMPLES = 1024  # of a period
MOST = 12  # harmonics in newton_step.h
# The parameters of the oracle's system, in their order, and their names in sweeps.
NAMES = {"m": "mass", "k": "stiffness", "K": "wall_stiffness", "e": "gap", "E": "energy",
         "eta": "regularization"}  # fmt: skip


def outputs_of(**parameters: Any) -> dict[str, NDArray[Any]]:
    return found_by("harmonic_balance", {**SDND122, "energy": ENERGIES, **parameters})


def trace_of(
    *, times: Any = None, samples: Any = None, start: Any = None, end: Any = None, **at: Any
) -> xr.Dataset:
    """The trace of a point of SDND122, with these changes."""
    controls = {p.name for p in HARMONIC_BALANCE.parameters}
    settings = [f"{name} = {value!r}" for name, value in at.items() if name in controls]
    place = {name: value for name, value in at.items() if name not in controls}
    method = ["method = 'harmonic_balance'", *settings]
    return sweep.trace("sdnd122", place, method, times=times, samples=samples, start=start, end=end)


# Frequencies. tests/validation/sdnd122 has those of Code_Aster.


def test_40_harmonics_have_the_exact_frequency() -> None:
    expected = [float(text) for text in RIGHT]
    np.testing.assert_allclose(outputs_of(harmonics=40)["frequency"], expected, rtol=3e-6)
    rounded = outputs_of(harmonics=40, regularization=5e-5)
    np.testing.assert_allclose(rounded["frequency"], expected, rtol=3e-6)
    instant = outputs_of(harmonics=40, regularization=5e-5, energy_instant=0.25)
    np.testing.assert_allclose(instant["frequency"], expected, rtol=3e-6)


@pytest.mark.parametrize(
    ("ratio", "harmonics", "bound"), [(1, 20, 1e-6), (5, 40, 3e-6), (100, 60, 2e-5)]
)
def test_exact_frequencies_over_all_energies(ratio: float, harmonics: int, bound: float) -> None:
    """From below grazing to a gap of nothing. At a thousand samples the kink errs by 1e-6."""
    energy = 5e-4 / np.linspace(0.02, 1.1, 60) ** 2
    parameters = {**SDND122, "wall_stiffness": 10.0 * ratio, "energy": energy}
    ours, exact = outputs_of(**parameters, harmonics=harmonics), found_by("exact", parameters)
    assert not ours["status"].any()
    np.testing.assert_allclose(ours["frequency"], exact["frequency"], rtol=bound)
    np.testing.assert_allclose(ours["minimum"], exact["minimum"], rtol=10 * bound)
    np.testing.assert_allclose(ours["contact_fraction"], exact["contact_fraction"], atol=1e-3)
    below = energy < 5e-4
    np.testing.assert_allclose(ours["frequency"][below], exact["frequency"][below], rtol=1e-14)


def test_the_motion_is_that_of_the_equation() -> None:
    """The cosines summed up, against the integrated motion."""
    times = np.linspace(0, 1 / float(RIGHT[0]), 1000)
    traced = trace_of(energy=ENERGIES[0], harmonics=60, times=times)
    exact = found_by("exact", {**SDND122, "energy": ENERGIES[0]})["maximum"][0]
    expected, _ = oracle.motion(1.0, 10.0, 50.0, 0.01, float(exact), times)
    amplitude = np.sqrt(2 * ENERGIES[0] / 10)
    np.testing.assert_allclose(traced["displacement"], expected, rtol=0, atol=2e-6 * amplitude)


# Newton's method.


def test_the_table_of_cosines_is_that_of_the_samples(tmp_path: Path) -> None:
    """The compiler computes it."""
    entry = Entry(1, 1, "out[0] = impact_oscillator::cosine_at((int)lane(in[0], 0));")
    header = "models/impact_oscillator/cosines.h"
    probe = compile_probe(tmp_path, header, {"cosine": entry}, width=1, pack=1)
    (table,) = probe("cosine", np.arange(SAMPLES))
    with workdps(30):
        for i, cosine in enumerate(table):
            assert abs(mpf(float(cosine)) - cospi(mpf(i) / (SAMPLES // 2))) < 1.3e-16


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    header = str(Path(__file__).with_name("newton_step.h"))
    entry = Entry(MOST + 7, 2 * MOST + 4, "stepped::step(in, out);")
    return compile_probe(tmp_path_factory.mktemp("newton"), header, {"step": entry})


def scaled_points(n: int) -> dict[str, NDArray[np.float64]]:
    """Stops of every stiffness, in units of spring, mass and amplitude, and numbers of cosines."""
    rng = np.random.default_rng(3)
    return {
        "wall": 10 ** rng.uniform(-2, 6, n),
        "gap": rng.uniform(0.01, 0.99, n),
        "harmonics": rng.integers(1, MOST + 1, n).astype(np.float64),
        "regularization": rng.choice([0.0, 5e-5, 1e-2], n),
        "instant": rng.choice([np.inf, 0.0, 0.25, 0.4], n),
    }


def unknowns_near(points: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Cosines and λ that Newton's method might meet, (MOST + 2, n)."""
    rng, n = np.random.default_rng(4), len(points["wall"])
    orders = np.arange(MOST + 1)[:, None]
    cosines = rng.normal(size=(MOST + 1, n)) * 0.3 / (1 + orders) ** 2
    cosines[1] += 1.0
    cosines[orders > points["harmonics"]] = 0.0
    return np.vstack([cosines, rng.uniform(1, 4, n)])


def equations_of(
    points: dict[str, NDArray[np.float64]], i: int, unknowns: NDArray[Any]
) -> NDArray[Any]:
    """The equations of the oracle in the kernel's units, from the cosines and λ."""
    wall, gap, eta = (float(points[name][i]) for name in ("wall", "gap", "regularization"))
    system = balanced.System(1.0, 1.0, wall, gap, 0.5, eta)
    instant = float(points["instant"][i])
    left = balanced.residuals(system, unknowns[:-1], np.sqrt(unknowns[-1]), instant)
    return np.array([*(2 * left[:-1]), left[-1] / 2])


def derivatives_of(
    points: dict[str, NDArray[np.float64]], i: int, unknowns: NDArray[Any]
) -> NDArray[np.float64]:
    """The derivatives of these equations by complex steps, which have no error."""
    size = 1e-30
    steps = 1j * size * np.eye(len(unknowns))
    return np.array([equations_of(points, i, unknowns + each).imag / size for each in steps]).T


def test_the_equations_are_those_of_the_oracle(step: Probe) -> None:
    """And those of cosines above a point's own are 0 at its neighbours in a vector."""
    points = scaled_points(60)
    unknowns = unknowns_near(points)
    left = step("step", *points.values(), *unknowns)[: MOST + 2]
    for i, harmonics in enumerate(points["harmonics"].astype(int)):
        own = [*range(harmonics + 1), MOST + 1]
        expected = equations_of(points, i, unknowns[own, i])
        size = 1 + points["wall"][i]
        np.testing.assert_allclose(left[own, i], expected, rtol=0, atol=1e-13 * size)
        assert not left[harmonics + 1 : MOST + 1, i].any()


def test_a_step_solves_the_linearized_equations(step: Probe) -> None:
    """The elimination has no pivoting: to rounding at nearly all points, to 1e-9 at all.

    Newton's method then loses nothing: an error of the step is one of the next guess.
    """
    points = scaled_points(600)
    unknowns = unknowns_near(points)
    change = step("step", *points.values(), *unknowns)[MOST + 2 :]
    errors: list[float] = []
    for i, harmonics in enumerate(points["harmonics"].astype(int)):
        own = [*range(harmonics + 1), MOST + 1]
        matrix = derivatives_of(points, i, unknowns[own, i])
        left = equations_of(points, i, unknowns[own, i])
        size = np.abs(matrix) @ np.abs(change[own, i]) + np.abs(left)
        errors.append(float(np.abs(matrix @ change[own, i] + left).max() / size.max()))
    assert np.quantile(errors, 0.98) < 1e-12
    assert max(errors) < 1e-9


@pytest.mark.parametrize("regularizations", [(0.0, 5e-5), (1e-3, 0.1, 1.0)], ids=str)
def test_motions_balance_the_equations(regularizations: tuple[float, ...]) -> None:
    """Those of every point that is ok, with the cosines read off the trace."""
    given = random_points("harmonic_balance", 100)
    given["regularization"] = np.resize(regularizations, 100)
    outputs = found_by("harmonic_balance", given)
    (ok,) = np.nonzero(outputs["status"] == Status.ok)
    assert len(ok) > 70
    for i in ok:
        at = {name: float(values[i]) for name, values in given.items()}
        system = balanced.System(*(at[name] for name in NAMES.values()))
        frequency, own = float(outputs["frequency"][i]), int(at["harmonics"]) + 1
        cosines = cosines_of(at, frequency)
        assert np.abs(cosines[own:]).max() < 1e-14 * np.abs(cosines).max()
        instant, stiffest = at["energy_instant"], 1 + system.K / system.k
        left = balanced.residuals(system, cosines[:own], 2 * pi * frequency, instant)
        assert np.abs(left).max() < 1e-12 * stiffest


def cosines_of(at: dict[str, float], frequency: float) -> NDArray[np.float64]:
    """The cosines of a traced motion, from samples of half its period."""
    times = np.arange(SAMPLES // 2 + 1) / (SAMPLES * frequency)
    half = trace_of(**at, times=times)["displacement"].values
    spectrum = np.fft.rfft(np.concatenate([half, half[-2:0:-1]])).real / SAMPLES
    return spectrum * np.where(np.arange(len(spectrum)) == 0, 1, 2)


def test_points_that_do_not_converge_are_reported() -> None:
    """A stop as good as rigid, which cosines cannot follow; its neighbours are not touched."""
    ours = outputs_of(wall_stiffness=[50.0, 1e13, 1e14], energy=[1e-3, 2e-3, 1e-3])
    np.testing.assert_array_equal(
        ours["status"], [Status.ok, Status.not_converged, Status.outside_validity]
    )
    assert np.isnan(ours["frequency"][1:]).all()
    np.testing.assert_array_equal(ours["stable"][1:], MISSING_FLAG)
    assert "set a regularization" in models()["impact_oscillator"].sentences[Status(1)]


@pytest.mark.parametrize("ratio", [100.0, 1e3, 1e4])
def test_the_branch_is_never_left(ratio: float) -> None:
    """Too few harmonics for hard impacts: the frequency is off by percents, not by factors."""
    energy = 5e-4 / np.linspace(0.02, 1.0, 50) ** 2
    parameters = {**SDND122, "wall_stiffness": 10 * ratio, "energy": energy}
    ours, exact = outputs_of(**parameters, harmonics=5), found_by("exact", parameters)
    good = ours["status"] == Status.ok
    assert good.mean() > 0.95
    np.testing.assert_allclose(ours["frequency"][good], exact["frequency"][good], rtol=0.05)


# Floquet multipliers.


def test_the_monodromy_matrix_closes_with_the_motion() -> None:
    """Its trace is 2 but for what the cosines leave out."""
    error = [np.abs(outputs_of(harmonics=n)["floquet_trace"] - 2).max() for n in (5, 20, 60)]
    assert error[0] < 1e-2
    assert error[1] < 1e-3
    assert error[2] < 5e-5
    assert outputs_of(harmonics=60)["stable"].all()


# Traces.

# Mass and spring are not 1, and the energy is from barely above grazing to 50 times that.
TRACED = {
    "true law": (balanced.System(3.0, 7.0, 40.0, 0.02, 0.006), 12, np.inf),
    "grazing": (balanced.System(0.2, 30.0, 90.0, 0.01, 1.7e-3), 7, np.inf),
    "rounded law": (balanced.System(3.0, 7.0, 40.0, 0.02, 0.07, 5e-3), 5, np.inf),
    "of an instant": (balanced.System(1.0, 10.0, 50.0, 0.01, 6.5e-3, 5e-5), 5, 0.25),
    "one cosine": (balanced.System(1.0, 10.0, 20.0, 0.01, 6.5e-3), 1, np.inf),
    "many cosines": (balanced.System(5.0, 2.0, 8.0, 0.03, 0.01), 30, np.inf),
}


@pytest.mark.parametrize(("samples", "bound"), [(SAMPLES, 1e-9), (6000, 1e-5)])
@pytest.mark.parametrize("case", TRACED)
def test_a_trace_is_the_sum_of_its_cosines(case: str, samples: int, bound: float) -> None:
    """Cosines solved for by scipy, summed one by one, and the law of the stop at each moment.

    A kink between two samples is where more of them make a difference.
    """
    system, harmonics, instant = TRACED[case]
    a, omega = balanced.balanced(system, harmonics, instant, samples)
    at = {name: getattr(system, short) for short, name in NAMES.items()}
    traced = trace_of(harmonics=harmonics, energy_instant=instant, **at)
    times = traced["time"].values
    u = np.array([sum(each * cos(j * omega * t) for j, each in enumerate(a)) for t in times])
    v = [-sum(j * omega * each * sin(j * omega * t) for j, each in enumerate(a)) for t in times]
    for name, expected in (("displacement", u), ("velocity", v), ("wall_force", system.force(u))):
        size = np.abs(expected).max()
        np.testing.assert_allclose(traced[name], expected, rtol=0, atol=bound * size)


@pytest.mark.parametrize(
    ("ratio", "bound"), [(0.0, 1e-13), (1e-6, 1e-12), (0.01, 1e-8), (1.0, 1e-6), (5.0, 4e-6)]
)
def test_a_trace_of_60_cosines_follows_the_exact_motion(ratio: float, bound: float) -> None:
    """The third derivative jumps at the stop, so cosine j is of the order of 1/j⁴.

    What is left out of the velocity is then about 60 times what is left out of the displacement.
    """
    at = {"wall_stiffness": 10 * ratio, "energy": ENERGIES[0]}
    ours, exact = trace_of(harmonics=60, **at), sweep.trace("sdnd122", at)
    size = {name: float(np.abs(exact[name]).max()) for name in ("time", "displacement", "velocity")}
    bounds = dict.fromkeys(("time", "displacement", "wall_force"), bound)
    bounds["velocity"] = 100 * bound
    size["wall_force"] = max(10 * ratio, 1e-3) * size["displacement"]
    for name, each in bounds.items():
        error = np.abs(ours[name].values - exact[name].values).max()
        assert error <= each * size[name]


def test_a_trace_is_of_the_motion_whose_outputs_are_computed() -> None:
    parameters = {"mass": 2.0, "energy": ENERGIES[1], "harmonics": 9, "regularization": 1e-4}
    outputs = {name: values[0] for name, values in outputs_of(**parameters).items()}
    times = np.arange(SAMPLES // 2 + 1) / (SAMPLES * outputs["frequency"])
    half = trace_of(**parameters, times=times)
    for name, extreme in (
        ("minimum", half["displacement"].min()),
        ("maximum", half["displacement"].max()),
    ):
        assert float(extreme) == pytest.approx(outputs[name], rel=1e-13)
    assert half["velocity"].values[0] == 0


def test_a_trace_spans_the_exact_period_by_default() -> None:
    """As with newmark: the period of the cosines is another one."""
    whole = trace_of(energy=ENERGIES[0], harmonics=3)
    assert whole["time"].values[-1] == pytest.approx(1 / float(RIGHT[0]), rel=1e-9)
    assert outputs_of(harmonics=3)["frequency"][0] != pytest.approx(float(RIGHT[0]), rel=1e-6)


def test_a_trace_is_taken_at_the_times_that_are_asked_for() -> None:
    whole = trace_of(energy=ENERGIES[0])
    assert whole.sizes == {"time": 512}
    assert whole.attrs["method"] == "harmonic_balance"
    some = whole.isel(time=[3, 100, 500])
    at_times = trace_of(energy=ENERGIES[0], times=some["time"].values)
    xr.testing.assert_allclose(at_times, some, rtol=0, atol=1e-15)
    part = trace_of(energy=ENERGIES[0], samples=3, start=0.2, end=1.0)
    np.testing.assert_allclose(part["time"], [0.2, 0.6, 1.0], rtol=1e-15)
    between = whole["velocity"].interp(time=part["time"])
    np.testing.assert_allclose(part["velocity"], between, rtol=0, atol=1e-4)
    with pytest.raises(SweepError, match="outside the computed range"):
        trace_of(energy=ENERGIES[0], times=[0.0, 2.0])


@pytest.mark.parametrize("options", [{}, {"times": [0.0, 0.1]}], ids=str)
def test_a_trace_without_convergence_has_no_values(options: dict[str, Any]) -> None:
    """The stop that test_points_that_do_not_converge_are_reported has."""
    traced = trace_of(energy=2e-3, wall_stiffness=1e13, **options)
    assert int(traced["status"]) == Status.not_converged
    assert np.isnan(traced["displacement"]).all()
    assert np.isnan(traced["wall_force"]).all()
