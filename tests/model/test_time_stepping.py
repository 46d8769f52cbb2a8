"""Methods `time_stepping` and `time_stepping_2` of the MDR contact.

With the same springs the exact answer is a sum over them of the oracle's losses, so what is left is
the error of the time steps alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sweep.model.table import Status
from tests.cases import compute
from tests.cases.mdr_contact import (
    Columns,
    dimensionless_points,
    enough_springs,
    oracle_energy,
    slipping_share,
)
from tests.oracles import mdr_contact as oracle
from tests.oracles import mdr_time_stepping as plain

REGIMES = oracle.REGIMES
ORDERS = {"time_stepping": 1, "time_stepping_2": 2}
PHASES = np.array([0.3, math.pi / 4, math.pi / 2, -0.3])
every_method = pytest.mark.parametrize("method", ORDERS)


def outputs_of(method: str, **parameters: Any) -> dict[str, NDArray[Any]]:
    return compute(parameters, model="mdr_contact", method=method)


def energy(method: str, **parameters: Any) -> NDArray[np.float64]:
    computed = outputs_of(method, **parameters)
    assert not computed["status"].any()
    return computed["normalized_energy"]


@every_method
def test_a_row_of_springs_jumps_when_its_innermost_leaves(method: str) -> None:
    """Its middle is half a width from the centre, which leaves contact at δ = 1."""
    steps = {"springs": 2000, "steps_per_cycle": 400}
    for n in (1.0, 2.0):
        leaves = 1 - (0.5 * 2 ** (1 / n) / steps["springs"]) ** n
        deltas = leaves + (1 - leaves) * np.array([-0.1, 0.1, 1.0])
        points = {"beta": 3.0, "delta": deltas, "phase": 1.0, "profile_exponent": n}
        regimes = outputs_of(method, **points, **steps)["regime"]
        jumping = REGIMES.index("jumping")
        assert (regimes == jumping).tolist() == [False, True, True]
        exact = outputs_of("exact", **points)["regime"]
        assert not (exact == jumping).any()


@every_method
def test_contact_is_lost_where_a_step_ends_without_it(method: str) -> None:
    """With an odd number of steps, none ends at the lowest point, but half a step away from it."""
    steps = {"springs": 2000, "steps_per_cycle": 9}
    innermost = 1 - (0.5 * 2**0.5 / 2000) ** 2
    deltas = innermost / math.cos(math.pi / 9) * np.array([1 - 1e-3, 1 + 1e-3])
    points = {"beta": 3.0, "delta": deltas, "phase": 1.0, "profile_exponent": 2.0}
    outputs = outputs_of(method, **points, **steps)
    assert not outputs["status"].any()
    assert (outputs["regime"] == REGIMES.index("jumping")).tolist() == [False, True]


def same_springs(points: Columns, springs: int) -> NDArray[np.float64]:
    """W̄ of each point, exact in time, summed over the springs of the time-stepping methods."""
    energies = []
    for beta, delta, phase, n in zip(*points.values(), strict=True):
        width = (1 + delta) ** (1 / n) / springs
        depth = (1 - ((np.arange(springs) + 0.5) * width) ** n) / delta
        losses = oracle.spring_losses(beta, depth, phase)
        energies.append(3 * n / (8 * delta) * width * losses.sum())
    return np.array(energies)


CONTACTS = {
    "beta": st.floats(-2.0, 2.0).map(lambda x: 10**x),
    "delta": st.floats(-3.0, 0.5).map(lambda x: 10**x),
    "phase": st.floats(-3.2, 3.2),
    "profile_exponent": st.sampled_from([0.7, 1.0, 2.0, 3.0]),
}


def rounding(beta: float) -> float:
    """The bound on W̄: forces are of the order of β and nearly cancel close to in-phase motion."""
    return 1e-12 * (1 + beta)


@every_method
@settings(max_examples=40, deadline=None)
@given(**CONTACTS)
def test_the_third_cycle_is_the_second(method: str, **contact: float) -> None:
    springs = enough_springs({name: np.array(value) for name, value in contact.items()}, 150)
    steps = {"steps_per_cycle": 101, "springs": float(springs)}
    second, third = (energy(method, **contact, **steps, cycles=cycles)[0] for cycles in (2, 3))
    assert third == pytest.approx(second, rel=1e-12, abs=rounding(contact["beta"]))


@every_method
def test_order_in_the_time_step(method: str) -> None:
    """The fitted order of the error; where within a step springs enter contact is a matter of luck,
    so the error is taken over 20 phases.
    """
    phases = np.linspace(-1.4, 1.7, 20)
    steps = 2.0 ** np.arange(7, 13)
    for beta, delta in ((4.0, 0.1), (0.7, 0.6), (2.0, 2.0)):
        points = {
            "beta": np.full(20, beta),
            "delta": np.full(20, delta),
            "phase": phases,
            "profile_exponent": np.full(20, 2.0),
        }
        exact = same_springs(points, 2000)
        errors = [
            np.abs(energy(method, **points, steps_per_cycle=n, springs=2000) / exact - 1).mean()
            for n in steps
        ]
        order = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
        assert order >= ORDERS[method] - 0.1
        assert order <= ORDERS[method] + 0.35


def test_the_paper_s_algorithm_creates_energy_nearly_in_phase() -> None:
    """Its error is larger there than what is lost; the second order cures that. Springs are seen to
    slip whatever the sign.
    """
    near = {"beta": 19.3, "delta": 0.43, "phase": 0.0046, "profile_exponent": 1.0}
    exact = oracle.normalized_energy(*near.values()).value
    steps = {"steps_per_cycle": 400, "springs": 2000}
    paper = outputs_of("time_stepping", **near, **steps)
    assert paper["normalized_energy"][0] == pytest.approx(plain.paper(*near.values(), 400, 2000))
    assert paper["normalized_energy"][0] == pytest.approx(-1.36e-5, rel=0.01)
    assert exact == pytest.approx(2.01e-5, rel=0.01)
    assert REGIMES[paper["regime"][0]] == "partial_slip"
    assert energy("time_stepping_2", **near, **steps) == pytest.approx(exact, rel=1e-3)


@every_method
def test_in_phase_nothing_slips(method: str) -> None:
    """For β ≥ 1; slightly out of phase, springs slip."""
    beta = np.array([1.0, 2.0, 19.3, 1e4, 0.99])
    for delta in (0.01, 0.3):
        for phase, expected in ((0.0, [0, 0, 0, 0, 1]), (0.02, [1, 1, 1, 1, 1])):
            points = {"beta": beta, "delta": delta, "phase": phase, "profile_exponent": 1.0}
            steps = {"steps_per_cycle": 400, "springs": 4000}
            regimes = outputs_of(method, **points, **steps)["regime"]
            np.testing.assert_array_equal(regimes, expected)


def test_first_order_errors_of_the_paper_s_algorithm() -> None:
    """β = 4, 2000 steps per cycle, compared with the exact energy."""
    numbers = {"beta": 4.0, "delta": 0.1, "phase": PHASES, "profile_exponent": 2.0}
    exact = oracle.normalized_energy(*numbers.values()).value
    energies = energy("time_stepping", **numbers, steps_per_cycle=2000, springs=20000)
    np.testing.assert_allclose(energies / exact - 1, [-3.8e-3, -1.2e-3, -1.2e-4, 3.7e-3], rtol=0.1)


def test_more_springs_tend_to_the_contact() -> None:
    points = dimensionless_points(20, seed=12, largest_beta=30)
    points["delta"] = np.maximum(points["delta"], 0.05)
    exact = oracle_energy(points).value
    errors = [
        np.median(np.abs(same_springs(points, springs) / exact - 1)) for springs in (100, 1600)
    ]
    assert errors[1] < errors[0] / 50  # of order 2 in general, 1½ and a little at corners
    energies = energy("time_stepping_2", **points, steps_per_cycle=4000, springs=4000)
    assert np.median(np.abs(energies / exact - 1)) < 2e-6
    np.testing.assert_allclose(energies, exact, rtol=1e-3, atol=1e-6)


@every_method
def test_stick_radius_and_regime_with_no_and_infinite_friction(method: str) -> None:
    """Without friction nothing sticks; with infinite friction all that stays in contact does."""
    points = {"beta": [0.0, 0.0, np.inf, np.inf], "delta": [0.3, 1.5, 0.3, 1.5], "phase": 0.8}
    steps = {"steps_per_cycle": 400, "springs": 2000}
    outputs = outputs_of(method, **points, **steps)
    regimes = ("gross_slip", "jumping", "partial_slip", "jumping")
    assert [REGIMES[code] for code in outputs["regime"]] == list(regimes)
    radius = [0.0, 0.0, math.sqrt(0.7), 0.0]
    np.testing.assert_allclose(outputs["stick_radius"], radius, rtol=0, atol=math.sqrt(1.3) / 2000)


@every_method
def test_a_few_springs_that_can_slip_are_not_enough(method: str) -> None:
    """Fewer than 20 with their middle beyond the core that sticks for good: not converged."""
    springs = np.unique(np.geomspace(16, 3e5, 120).round())
    for beta, delta, phase, n in ((1.0, 1e-3, 1.0, 2.0), (20.0, 3e-4, -0.7, 1.0),
                                  (np.inf, 0.01, 0.5, 4.0), (0.1, 0.6, 1.0, 2.0)):  # fmt: skip
        point = {"beta": beta, "delta": delta, "phase": phase, "profile_exponent": n}
        columns = {name: np.array(value) for name, value in point.items()}
        can_slip = np.floor(springs * float(slipping_share(columns)) + 0.5)
        outputs = outputs_of(method, **point, springs=springs, steps_per_cycle=64)
        few = can_slip < 20
        assert few.any()
        assert not few.all()
        expected = np.where(few, Status.not_converged, Status.ok)
        np.testing.assert_array_equal(outputs["status"], expected)
        assert np.isnan(outputs["normalized_energy"][few]).all()
        assert np.all(outputs["normalized_energy"][~few] > 0)


@every_method
def test_too_few_springs_are_reported_where_more_would_help(method: str) -> None:
    """Neither for extreme numbers nor for a body at rest."""
    tiny = {"beta": 2.0, "delta": [1e-9, 1e-150], "phase": 1.0, "springs": 10}
    outputs = outputs_of(method, **tiny)
    np.testing.assert_array_equal(outputs["status"], [Status.not_converged, Status.diverged])
    still = {"normal_amplitude": 0.0, "tangential_amplitude": 0.0, "friction": 0.5, "springs": 10}
    body = {"youngs_modulus": 2e11, "poisson_ratio": 0.3, "radius": 0.01, "indentation": 1e-6}
    outputs = outputs_of(method, **body, **still, phase=1.0)
    assert outputs["status"][0] == Status.outside_validity


@every_method
def test_ok_points_with_default_controls_are_near_the_exact_energy(method: str) -> None:
    """δ from 1e-4 to 0.1, 1000 springs and 1000 steps: within 1 %, or not converged."""
    delta, beta, phase = (
        each.ravel()
        for each in np.meshgrid(
            np.geomspace(1e-4, 0.1, 25), [0.02, 0.3, 0.7, 1.5, 5.0, np.inf], [0.5, 1.6, -0.8]
        )
    )
    points = {"beta": beta, "delta": delta, "phase": phase}
    outputs = outputs_of(method, **points)
    exact = outputs_of("exact", **points)["normalized_energy"]
    ok = outputs["status"] == Status.ok
    assert set(outputs["status"]) == {Status.ok, Status.not_converged}
    assert np.abs(outputs["normalized_energy"] / exact - 1)[ok].max() < 0.01
    few = 1000 * slipping_share({**points, "profile_exponent": np.array(2.0)}) < 19
    np.testing.assert_array_equal(~ok[few], True)
    assert few.sum() > 100
    assert ok.sum() > 100


@every_method
def test_any_number_of_springs_suffices_without_slip(method: str) -> None:
    """In phase from β = 1 on, without friction, without tangential motion: ok, and exactly 0."""
    springs = {"springs": np.array([2.0, 10.0, 1000.0])}
    for beta, phase in ((1.0, 0.0), (30.0, 0.0), (np.inf, 0.0), (0.0, 1.0)):
        point = {"beta": beta, "delta": 1e-3, "phase": phase, **springs}
        assert np.abs(energy(method, **point)).max() < 1e-12
    body = {"youngs_modulus": 2e11, "poisson_ratio": 0.3, "radius": 0.01, "indentation": 1e-6,
            "phase": 1.0}  # fmt: skip
    for normal, tangential, friction in ((1e-9, 0.0, 0.5), (0.0, 1e-9, np.inf), (0.0, 1e-9, 0.0)):
        point = {**body, **springs, "normal_amplitude": normal, "tangential_amplitude": tangential}
        outputs = outputs_of(method, **point, friction=friction)
        assert not outputs["status"].any()
        np.testing.assert_array_equal(outputs["dissipated_energy"], 0.0)
