"""Harmonic balance of the impact oscillator, and array methods in the spine."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
from math import cos, sin
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

import sweep
import sweep.arrays
from sweep.arrays import array_method, array_motion, array_text
from sweep.arrays.impact_oscillator import balance, continuation
from sweep.arrays.impact_oscillator.balance import Oscillator, equations
from sweep.backends import Stopped
from sweep.backends.array_blocks import compute_arrays
from sweep.errors import SweepError
from sweep.models import models
from sweep.models.impact_oscillator import HARMONIC_BALANCE, MODEL
from sweep.source import kernel_digest, kernel_of, kernel_text
from sweep.spec import MISSING_FLAG, Status
from sweep.work import Points
from tests.command import CHECKOUT, environment
from tests.oracles import harmonic_balance as balanced
from tests.oracles import impact_oscillator as oracle
from tests.points import sweep_of
from tests.points.impact_oscillator import ENERGIES, RIGHT, SDND122, found_by


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
    amplitude = np.sqrt(2 * ENERGIES[0] / 10)
    point = Oscillator(*(np.array([each]) for each in (5.0, 0.01 / amplitude, 0.0, np.inf)))
    unknowns, converged = continuation.balanced(np, point, 60)
    assert converged.all()
    u = amplitude * balance.cosines_to_time(np, unknowns[:, :-1])[0]
    times = np.linspace(0, 1 / float(RIGHT[0]), balance.SAMPLES + 1)
    exact = found_by("exact", {**SDND122, "energy": ENERGIES[0]})["maximum"][0]
    expected, _ = oracle.motion(1.0, 10.0, 50.0, 0.01, float(exact), times)
    np.testing.assert_allclose(u, expected[:-1], rtol=0, atol=2e-6 * amplitude)


# Newton's method.


@pytest.mark.parametrize("instant", [np.inf, 0.0, 0.25, 0.4])
@pytest.mark.parametrize("regularization", [0.0, 1e-3])
def test_the_jacobian_is_that_of_the_equations(instant: float, regularization: float) -> None:
    """Against central differences; those of the true law where no sample changes sides."""
    rng = np.random.default_rng(3)
    values = (rng.uniform(0.5, 9, 8), rng.uniform(0.2, 0.8, 8), regularization, instant)
    points = Oscillator(*(np.broadcast_to(each, 8).copy() for each in values))
    unknowns = rng.normal(size=(8, 9)) * 0.9 ** np.arange(9)
    unknowns[:, -1] = rng.uniform(1, 3, 8)
    matrix = equations(np, points, unknowns)[1]
    for i in range(9):
        step = np.zeros(9)
        step[i] = 1e-6
        rise = [equations(np, points, unknowns + sign * step)[0] for sign in (1, -1)]
        slope = (rise[0] - rise[1]) / 2e-6
        np.testing.assert_allclose(matrix[:, :, i], slope, rtol=0, atol=2e-4)


def test_a_singular_matrix_costs_its_own_point_only() -> None:
    matrix = np.array([np.eye(3), np.zeros((3, 3)), 2 * np.eye(3)])
    solved = continuation._solved(np, np.ones((3, 3)), matrix)
    np.testing.assert_array_equal(solved, [[1, 1, 1], [np.nan] * 3, [0.5, 0.5, 0.5]])


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


@pytest.mark.parametrize(("samples", "bound"), [(balance.SAMPLES, 1e-9), (6000, 1e-5)])
@pytest.mark.parametrize("case", TRACED)
def test_a_trace_is_the_sum_of_its_cosines(case: str, samples: int, bound: float) -> None:
    """Cosines solved for by scipy, summed one by one, and the law of the stop at each moment.

    A kink between two samples is where more of them make a difference.
    """
    system, harmonics, instant = TRACED[case]
    a, omega = balanced.balanced(system, harmonics, instant, samples)
    names = {"m": "mass", "k": "stiffness", "K": "wall_stiffness", "e": "gap", "E": "energy",
             "eta": "regularization"}  # fmt: skip
    at = {name: getattr(system, short) for short, name in names.items()}
    traced = trace_of(harmonics=harmonics, energy_instant=instant, **at)
    times = np.linspace(0, 2 * np.pi / omega, 512)
    u = np.array([sum(each * cos(j * omega * t) for j, each in enumerate(a)) for t in times])
    v = [-sum(j * omega * each * sin(j * omega * t) for j, each in enumerate(a)) for t in times]
    np.testing.assert_allclose(traced["time"], times, rtol=bound)
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
    whole = trace_of(**parameters, samples=balance.SAMPLES + 1)
    assert whole["time"].values[-1] == 1 / outputs["frequency"]
    for name, extreme in (
        ("minimum", whole["displacement"].min()),
        ("maximum", whole["displacement"].max()),
    ):
        assert float(extreme) == pytest.approx(outputs[name], rel=1e-13)
    for name in ("displacement", "velocity", "wall_force"):
        assert whole[name].values[-1] == whole[name].values[0]
    assert whole["velocity"].values[0] == 0


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


# Array methods in the spine.


def test_a_stop_request_is_obeyed() -> None:
    planned = sweep_of({**SDND122, "energy": 1.0}, "impact_oscillator", "harmonic_balance")
    stop = Event()
    stop.set()
    with pytest.raises(Stopped):
        compute_arrays(np, planned, Points(n_points=1, columns={}), stop)


def test_the_source_is_the_python_text_and_the_digest_is_of_it() -> None:
    planned = sweep_of({**SDND122, "energy": 1.0}, "impact_oscillator", "harmonic_balance")
    text = kernel_text(kernel_of(planned))
    assert text == array_text(MODEL, HARMONIC_BALANCE)
    for line in ("# arrays/impact_oscillator/balance.py", "def harmonic_balance(", "def newton("):
        assert line in text
    exact = sweep_of({**SDND122, "energy": 1.0}, "impact_oscillator", "exact")
    assert kernel_digest(planned) != kernel_digest(exact)


def test_the_text_of_a_method_has_nothing_of_its_traces() -> None:
    """So that stores made before the method could be traced, or its trace was mended, resume."""
    assert "Motion" not in array_text(MODEL, HARMONIC_BALANCE)
    assert callable(array_motion(MODEL, HARMONIC_BALANCE))


EDIT = """
from pathlib import Path
from sweep.arrays import array_text
from sweep.models.impact_oscillator import HARMONIC_BALANCE, MODEL
before = array_text(MODEL, HARMONIC_BALANCE)
path = Path("sweep/arrays/impact_oscillator/orbit.py")
path.write_text(path.read_text() + "# edited")
assert array_text(MODEL, HARMONIC_BALANCE) == before
"""


def test_the_text_of_a_method_is_the_one_that_is_imported(tmp_path: Path) -> None:
    """So that results computed after an edit do not carry the digest of the new text."""
    shutil.copytree(CHECKOUT / "sweep", tmp_path / "sweep")
    subprocess.run(
        [sys.executable, "-c", EDIT],
        cwd=tmp_path,
        env=environment(PYTHONPATH=str(tmp_path)),
        check=True,
    )


def test_an_array_method_without_its_function_is_named() -> None:
    absent = dataclasses.replace(HARMONIC_BALANCE, name="shooting")
    with pytest.raises(SweepError, match="add a function shooting to sweep/arrays/impact"):
        array_method(MODEL, absent)
    bare = dataclasses.replace(MODEL, name="bare")
    with pytest.raises(SweepError, match="harmonic_balance of bare is missing"):
        array_method(bare, HARMONIC_BALANCE)


def test_a_fault_in_the_module_of_an_array_method_is_shown_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "faulty.py").write_text("import no_such_module\n", encoding="utf-8")
    monkeypatch.setattr(sweep.arrays, "__path__", [*sweep.arrays.__path__, str(tmp_path)])
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        array_method(dataclasses.replace(MODEL, name="faulty"), HARMONIC_BALANCE)
