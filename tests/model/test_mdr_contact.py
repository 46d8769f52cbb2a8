"""Method `exact` of the MDR contact: reference values, closed forms, springs one by one."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import ConfigError
from sweep.file import load
from sweep.model.table import MISSING_FLAG, Status
from sweep.theory import mdr_contact as theory
from tests.cases import compute
from tests.cases.mdr_contact import dimensionless_points, oracle_energy, reference_cases
from tests.oracles import mdr_contact as oracle
from tests.oracles import mdr_contact_high_precision as high_precision

FULL_STICK, PARTIAL_SLIP, GROSS_SLIP, JUMPING = range(4)
PHASES = np.array([-2.9, -1.3, -0.2, 0.05, 0.7, math.pi / 2, 1.9, 3.0])
EXPONENTS = (0.6, 1.0, 1.5, 2.0, 4.0)

SPHERE = {
    "youngs_modulus": 2e9,
    "poisson_ratio": 0.3,
    "radius": 0.02,
    "indentation": 3e-5,
    "normal_amplitude": 2e-6,
    "tangential_amplitude": 5e-6,
    "friction": 0.4,
    "phase": 1.1,
}


def outputs_of(**parameters: Any) -> dict[str, Any]:
    return compute(parameters, model="mdr_contact")


def energy(**parameters: Any) -> Any:
    computed = outputs_of(**parameters)
    assert not computed["status"].any()
    return computed["normalized_energy"]


def test_reference_cases() -> None:
    points, expected = reference_cases()
    error = np.abs(energy(**points) - expected["normalized_energy"])
    allowed = 3 * expected["uncertainty"] + np.maximum(1e-9 * expected["normalized_energy"], 1e-12)
    assert len(error) == 84
    assert np.all(error <= allowed)


# The springs one by one.


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.broad)])
def test_springs_one_by_one_on_random_points(seed: int) -> None:
    points = dimensionless_points(200, seed)
    computed = outputs_of(**points)
    assert (points["delta"] > 1).sum() > 20
    assert (points["phase"] < 0).sum() > 60
    expected = oracle_energy(points)
    # In phase but for 1e-5 the oracle loses digits, as its error says.
    assert np.median(expected.error / expected.value) < 2e-11
    assert np.all(np.abs(computed["normalized_energy"] - expected.value) <= expected.error)
    stick = oracle.stick_radius(*points.values())
    np.testing.assert_allclose(computed["stick_radius"], stick, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("beta", "delta", "phase", "exponent"),
    [(0.99639044, 0.00710284, -1.96211, 2.0), (0.13040136, 0.999, -0.0461273, 1.0),
     (8.57983, 0.0233646, -2.22746, 281.9), (2.4897725726, 0.4187437230, 1.4696422286, 0.6)],
)  # fmt: skip
def test_springs_whose_law_changes_close_to_the_end_of_an_interval(
    beta: float, delta: float, phase: float, exponent: float
) -> None:
    """A quadrature over springs misses the change unless an interval ends there."""
    point = {"beta": beta, "delta": delta, "phase": phase, "profile_exponent": exponent}
    expected = oracle_energy({name: np.array([value]) for name, value in point.items()})
    assert expected.error[0] < 2e-11
    assert abs(energy(**point)[0] - expected.value[0]) <= expected.error[0]


@pytest.mark.parametrize(
    ("beta", "delta", "phase", "exponent"),
    [
        (1.5e7, 10.0, 1.0, 20.0),
        *(
            pytest.param(*case, marks=pytest.mark.broad)
            for case in (
                (1e8, 100.0, 1.0, 50.0),
                (1e9, 1000.0, 1.0, 50.0),
                (1e9, 10.0, 1.0, 50.0),
                (9e14, 3.0, 1.0, 2.0),
                (1e3, 10.0, 1.0, 20.0),
                (1e12, 10.0, 1.0, 1000.0),
                (9e14, 10.0, -1.0, 1000.0),
                (2e14, 10.0, 1.5e-12, 20.0),
            )
        ),
    ],
)
def test_strong_friction_and_loss_of_contact_against_springs_in_60_digits(
    beta: float, delta: float, phase: float, exponent: float
) -> None:
    """The last slip before contact is lost takes about 1/β of a cycle; r^(1/n - 1) is singular."""
    expected = high_precision.normalized_energy(beta, delta, phase, exponent)
    computed = energy(beta=beta, delta=delta, phase=phase, profile_exponent=exponent)
    np.testing.assert_allclose(computed, expected, rtol=1e-11)


@pytest.mark.parametrize("beta", [1e13, 0.99e15])
def test_loss_of_contact_with_almost_infinite_friction(beta: float) -> None:
    """The closed form of infinite friction, which differs by about |cot φ|/β."""
    delta, phase, exponent = (
        a.ravel() for a in np.meshgrid([1.1, 10.0, 1000.0], PHASES, [0.6, 2.0, 20.0, 1000.0])
    )
    computed = energy(beta=beta, delta=delta, phase=phase, profile_exponent=exponent)
    expected = theory.infinite_friction_energy(delta, phase, exponent)
    np.testing.assert_allclose(computed, expected, rtol=1e-11)


def test_regime_of_springs_one_by_one() -> None:
    points = dimensionless_points(40, seed=9)
    points["delta"][:20] = np.minimum(points["delta"][:20], points["beta"][:20])
    points["phase"][:6] = 0.0
    points["beta"][:6] = [0.3, 0.9, 1.1, 5.0, 0.0, np.inf]
    points["delta"][:6] = 0.1
    columns = zip(points["beta"], points["delta"], points["phase"], strict=True)
    expected = [oracle.regime(*point) for point in columns]
    assert set(expected) == {FULL_STICK, PARTIAL_SLIP, GROSS_SLIP, JUMPING}
    np.testing.assert_array_equal(outputs_of(**points)["regime"], expected)


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize("beta", [0.02, 0.8, 3.0, np.inf])
def test_where_contact_begins_to_be_lost(beta: float, exponent: float) -> None:
    """Results are continuous at δ = 1 and agree with springs one by one on both sides."""
    near = 10.0 ** -np.array([2, 4, 6, 8, 10, 12, 15])
    delta = np.concatenate([1 - near, [1.0], 1 + near])
    points = {
        "beta": np.full(15, beta),
        "delta": delta,
        "phase": np.full(15, 0.8),
        "profile_exponent": np.full(15, exponent),
    }
    computed = outputs_of(**points)
    expected = oracle_energy(points)
    assert np.all(np.abs(computed["normalized_energy"] - expected.value) <= expected.error)
    middle = computed["normalized_energy"][7]
    steps = np.abs(computed["normalized_energy"] - middle)
    assert np.all(steps <= 2 * np.abs(delta - 1) ** 0.75 * middle + 1e-13)
    np.testing.assert_array_equal(computed["regime"] == JUMPING, delta > 1)


# Closed forms.


@pytest.mark.parametrize("delta", [1e-3, 0.3, 0.9])
def test_cone_with_a_stick_core_is_the_universal_surface(delta: float) -> None:
    beta = np.geomspace(1e-3, 1e4, 29)[:, None]
    beta, phase = (a.ravel() for a in np.broadcast_arrays(beta, PHASES))
    core = theory.slip_depth(beta, phase) * delta < beta
    assert core.sum() > 50
    beta, phase = beta[core], phase[core]
    computed = energy(beta=beta, delta=delta, phase=phase, profile_exponent=1.0)
    np.testing.assert_allclose(computed, theory.universal_surface(beta, phase), rtol=1e-10)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_every_profile_is_the_universal_surface_at_small_amplitudes(exponent: float) -> None:
    beta = np.geomspace(0.1, 1e4, 26)[:, None]
    beta, phase = (a.ravel() for a in np.broadcast_arrays(beta, PHASES))
    computed = energy(beta=beta, delta=1e-13, phase=phase, profile_exponent=exponent)
    np.testing.assert_allclose(computed, theory.universal_surface(beta, phase), rtol=1e-10)


def test_infinite_friction() -> None:
    delta, phase, exponent = (
        a.ravel() for a in np.meshgrid([1e-6, 0.2, 0.9, 1.0, 1.1, 7.0], PHASES, EXPONENTS)
    )
    computed = energy(beta=np.inf, delta=delta, phase=phase, profile_exponent=exponent)
    expected = theory.infinite_friction_energy(delta, phase, exponent)
    np.testing.assert_allclose(computed, expected, rtol=1e-10)


def test_vanishing_friction() -> None:
    delta, phase, exponent = (
        a.ravel() for a in np.meshgrid([1e-3, 0.2, 0.9, 1.0, 1.1, 7.0], PHASES, EXPONENTS)
    )
    beta = 1e-12 * delta  # the next term is of the order ξ
    unit = 1.5 * exponent**2 / (exponent + 1) * beta / delta**2
    computed = energy(beta=beta, delta=delta, phase=phase, profile_exponent=exponent)
    expected = unit * theory.vanishing_friction_energy(delta, phase, exponent)
    np.testing.assert_allclose(computed, expected, rtol=1e-10)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_constant_load(exponent: float) -> None:
    body = {name: value for name, value in SPHERE.items() if name != "radius"}
    xi = np.array([1e-6, 0.01, 0.3, 0.625, 0.999999, 1.0, 1.000001, 1.7, 2.1, 30.0, 1e4])
    ratio = theory.stiffness_ratio(0.3)
    friction = xi * SPHERE["tangential_amplitude"] / (ratio * SPHERE["indentation"])
    profile = {"profile_coefficient": 25.0, "profile_exponent": exponent}
    computed = outputs_of(**{**body, **profile, "normal_amplitude": 0.0, "friction": friction})
    radius = theory.contact_radius(SPHERE["indentation"], 25.0, exponent)
    unit = theory.shear_modulus(2e9, 0.3) * radius * SPHERE["tangential_amplitude"] ** 2
    expected = theory.constant_load_energy(xi, exponent) * unit
    np.testing.assert_allclose(computed["dissipated_energy"], expected, rtol=1e-10)
    assert np.isinf(computed["normalized_energy"]).all()
    core = np.maximum(1 - 1 / xi, 0) ** (1 / exponent)
    np.testing.assert_allclose(computed["stick_radius"], core, rtol=1e-9, atol=1e-5)
    far = np.abs(xi - 1) > 1e-3
    regimes = np.where(xi > 1, PARTIAL_SLIP, GROSS_SLIP)
    np.testing.assert_array_equal(computed["regime"][far], regimes[far])


@pytest.mark.parametrize("delta", [0.01, 0.6, 1.0, 3.0])
def test_in_phase_nothing_slips_once_the_load_grows_faster(delta: float) -> None:
    """φ = 0 and β ≥ 1: the tangential motion never exceeds the growing bound."""
    beta = np.array([1.0, 1.000001, 1.5, 40.0, np.inf])
    for phase in (0.0, math.pi, -math.pi):
        assert np.all(energy(beta=beta, delta=delta, phase=phase) <= 1e-15)


def test_in_phase_below_that() -> None:
    """φ = 0, β < 1, a cone: F(β, 0) = (1 − β²)/(4β) while a core sticks (δ < β)."""
    beta = np.array([0.1, 0.5, 0.9, 0.999])
    computed = energy(beta=beta, delta=0.05, phase=0.0, profile_exponent=1.0)
    np.testing.assert_allclose(computed, (1 - beta) * (1 + beta) / (4 * beta), rtol=1e-10)


# Limits: nothing jumps.


def test_no_jump_where_friction_begins_or_has_no_end() -> None:
    rest = {"delta": 0.3, "phase": PHASES, "profile_exponent": 2.0}
    assert np.all(energy(beta=0.0, **rest) == 0)
    ratio = energy(beta=1e-30, **rest) / energy(beta=1e-20, **rest)
    np.testing.assert_allclose(ratio, 1e-10, rtol=1e-12)
    endless = energy(beta=np.inf, **rest)
    for beta in (1e6, 1e9, 1e12, 1e14, 0.99e15, 1.01e15, 1e18, 1e300):
        cotangent = np.abs(1 / np.tan(PHASES)) + 1
        step = np.abs(energy(beta=beta, **rest) / endless - 1)
        assert np.all(step <= 2 * cotangent / beta + 1e-13)


@pytest.mark.parametrize("delta", [0.01, 0.6, 2.0])
@pytest.mark.parametrize("beta", [0.01, 0.4, 2.0, 30.0])
def test_no_jump_where_the_motions_fall_in_phase(beta: float, delta: float) -> None:
    near = 10.0 ** -np.array([3, 5, 7, 9, 11, 13, 15, 17])
    here = energy(beta=beta, delta=delta, phase=0.0)
    scale = max(here[0], 1.0)
    for sign in (1, -1):
        beside = energy(beta=beta, delta=delta, phase=sign * near)
        assert np.all(np.abs(beside - here) <= 3 * near * scale + 1e-13)


# Invariants.

POINT = {
    "beta": st.floats(-3, 3).map(lambda x: 10**x),
    "delta": st.floats(-4, 0.8).map(lambda x: 10**x),
    "phase": st.floats(1e-3, math.pi - 1e-3),
    "sign": st.sampled_from([-1, 1]),
    "exponent": st.floats(0.51, 6),
}


@given(**POINT)
@settings(max_examples=200, deadline=None)
def test_energy_is_positive_and_of_period_pi_in_the_phase(
    beta: float, delta: float, phase: float, sign: int, exponent: float
) -> None:
    turns = sign * phase + math.pi * np.array([0, 1, -1, 2])
    computed = energy(beta=beta, delta=delta, phase=turns, profile_exponent=exponent)
    assert np.all(computed > 0)
    np.testing.assert_allclose(computed[1:], computed[0], rtol=1e-11)


@given(**POINT, lengths=st.integers(-30, 30), stiffness=st.integers(-30, 30))
@settings(max_examples=100, deadline=None)
def test_scales_and_parameter_sets(
    beta: float, delta: float, phase: float, sign: int, exponent: float, lengths: int,
    stiffness: int,
) -> None:  # fmt: skip
    """A sphere, the same profile, both scaled in size and stiffness, and the dimensionless set."""
    size, hardness = 2.0**lengths, 2.0**stiffness
    indentation, ratio = 3e-5, float(theory.stiffness_ratio(0.3))
    normal = delta * indentation
    motion = {
        "indentation": indentation * size,
        "normal_amplitude": normal * size,
        "tangential_amplitude": 0.4 * ratio * normal / beta * size,
        "youngs_modulus": 2e9 * hardness,
        "poisson_ratio": 0.3,
        "friction": 0.4,
        "phase": sign * phase,
    }
    sphere = outputs_of(**motion, radius=0.02 * size)
    profile = outputs_of(**motion, profile_coefficient=25.0 / size, profile_exponent=2.0)
    numbers = outputs_of(beta=beta, delta=delta, phase=sign * phase, profile_exponent=2.0)
    tangential = 0.4 * ratio * normal / beta
    unit = theory.reference_energy(
        theory.shear_modulus(2e9, 0.3), math.sqrt(0.02 * indentation), tangential, delta, 2.0
    )
    expected = numbers["normalized_energy"] * unit * hardness * size**3
    for physical in (sphere, profile):
        np.testing.assert_allclose(physical["dissipated_energy"], expected, rtol=1e-11)
        for name in ("normalized_energy", "stick_radius"):
            np.testing.assert_allclose(physical[name], numbers[name], rtol=1e-10, atol=1e-7)
    other = outputs_of(
        **motion, profile_coefficient=25.0 * size ** (1 - exponent), profile_exponent=exponent
    )
    radius = theory.contact_radius(indentation, 25.0, exponent)
    unit = theory.reference_energy(
        theory.shear_modulus(2e9, 0.3), radius, tangential, delta, exponent
    )
    np.testing.assert_allclose(
        other["dissipated_energy"],
        other["normalized_energy"] * unit * hardness * size**3,
        rtol=1e-11,
    )


def test_stick_radius_against_its_closed_form() -> None:
    points = dimensionless_points(2000, seed=4, largest_beta=1e6)
    points["beta"][::50] = np.inf
    computed = outputs_of(**points)
    expected = theory.stick_radius(*points.values())
    np.testing.assert_allclose(computed["stick_radius"], expected, rtol=1e-12, atol=1e-7)
    lines = theory.boundaries(points)
    regimes = np.select(
        [
            lines["border of jumping, δ = 1"] > 0,
            lines["border of partial slip, ξ = (R_A + R_B)/2"] < 0,
        ],
        [JUMPING, GROSS_SLIP],
        PARTIAL_SLIP,
    )
    np.testing.assert_array_equal(computed["regime"], regimes)


def test_contacts_in_which_one_motion_is_missing() -> None:
    normal_only = outputs_of(**{**SPHERE, "tangential_amplitude": 0.0})
    assert (normal_only["dissipated_energy"], normal_only["regime"]) == (0, FULL_STICK)
    still = outputs_of(**{**SPHERE, "tangential_amplitude": 0.0, "normal_amplitude": 0.0})
    assert still["status"] == Status.outside_validity
    assert still["regime"] == MISSING_FLAG
    for name in ("normalized_energy", "dissipated_energy", "stick_radius"):
        assert np.isnan(still[name]).all()
    ice = outputs_of(**{**SPHERE, "friction": 0.0})
    assert (ice["dissipated_energy"], ice["regime"], ice["stick_radius"]) == (0, GROSS_SLIP, 0)


def test_under_constant_load_friction_without_end_holds_and_none_lets_all_slip() -> None:
    """The limit of the normalized energy for vanishing normal amplitude."""
    steady = {**SPHERE, "normal_amplitude": 0.0}
    held, free = (outputs_of(**{**steady, "friction": mu}) for mu in (np.inf, 0.0))
    assert (held["dissipated_energy"], held["regime"], held["stick_radius"]) == (0, FULL_STICK, 1)
    assert held["normalized_energy"] == pytest.approx(math.sin(SPHERE["phase"]) ** 2, rel=1e-15)
    assert (free["dissipated_energy"], free["regime"], free["stick_radius"]) == (0, GROSS_SLIP, 0)
    assert free["normalized_energy"] == 0


def test_the_double_nearest_to_a_multiple_of_pi_is_in_phase_and_others_are_not() -> None:
    with mpmath.workdps(40):
        turns = np.array([float(k * mpmath.pi) for k in range(-300, 301)])
    still = outputs_of(beta=2.0, delta=0.3, phase=turns)
    np.testing.assert_array_equal(still["regime"], FULL_STICK)
    np.testing.assert_array_equal(still["normalized_energy"], 0.0)
    beside = outputs_of(beta=2.0, delta=0.3, phase=turns[turns != 0] * (1 + 1e-14))
    np.testing.assert_array_equal(beside["regime"], PARTIAL_SLIP)


# Where digits end: what is told is right, and the rest is not told.

MINUTE, HUGE = np.array([1e-130, 1e-150]), np.array([1e90, 1e110])


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ({"beta": 2.0, "delta": MINUTE}, theory.universal_surface(2.0, 1.1)),
        (
            {"beta": MINUTE, "delta": 0.3},
            2 * MINUTE / 0.09 * theory.vanishing_friction_energy(0.3, 1.1),
        ),
        (
            {"beta": 1e-12, "delta": HUGE},
            2e-12 / HUGE**2 * theory.vanishing_friction_energy(HUGE, 1.1),
        ),
        ({"beta": np.inf, "delta": HUGE}, theory.infinite_friction_energy(HUGE, 1.1)),
        (
            {"beta": np.array([1e-130, 1e-145]), "delta": np.array([1e-125, 1e-135])},
            0.375e125 * theory.constant_load_energy(1e-5),
        ),
    ],
)
def test_numbers_out_of_all_proportion_are_diverged(point: Any, expected: Any) -> None:
    computed = outputs_of(**point, phase=1.1)
    np.testing.assert_array_equal(computed["status"], [Status.ok, Status.diverged])
    first = np.broadcast_to(expected, 2)[0]
    assert computed["normalized_energy"][0] == pytest.approx(first, rel=1e-10)
    assert np.isnan(computed["normalized_energy"][1])


def test_loads_and_energies_out_of_all_proportion_are_diverged() -> None:
    xi = np.array([1e-150, 1e-130, 1e280, 1e295])
    ratio = theory.stiffness_ratio(SPHERE["poisson_ratio"])
    friction = xi * SPHERE["tangential_amplitude"] / (ratio * SPHERE["indentation"])
    computed = outputs_of(**{**SPHERE, "normal_amplitude": 0.0, "friction": friction})
    np.testing.assert_array_equal(computed["status"], [2, 0, 0, 2])
    radius = math.sqrt(SPHERE["radius"] * SPHERE["indentation"])
    unit = theory.shear_modulus(SPHERE["youngs_modulus"], SPHERE["poisson_ratio"]) * radius
    expected = theory.constant_load_energy(xi) * unit * SPHERE["tangential_amplitude"] ** 2
    np.testing.assert_allclose(computed["dissipated_energy"][1:3], expected[1:3], rtol=1e-10)
    stiff = outputs_of(**{**SPHERE, "youngs_modulus": [1e200, 1e308], "radius": 1e60})
    np.testing.assert_array_equal(stiff["status"], [Status.ok, Status.diverged])


# What is refused.

DIMENSIONLESS = {"beta": 1.0, "delta": 0.1, "phase": 1.0}
PROFILE = {name: value for name, value in SPHERE.items() if name != "radius"}
STILL = {"normal_amplitude": 0, "tangential_amplitude": 0}

# fmt: off
BAD = [
    ({**DIMENSIONLESS, "delta": 0}, "exact", "delta: 0 is out of range; it has to be above 0"),
    ({**DIMENSIONLESS, "delta": math.inf}, "exact", "delta: inf is not a finite number"),
    ({**DIMENSIONLESS, "beta": math.nan}, "exact", "beta: nan is not a finite number"),
    ({**DIMENSIONLESS, "beta": -1}, "exact", "beta: -1 is out of range; it has to be at least 0"),
    ({**DIMENSIONLESS, "profile_exponent": 0.5}, "exact", "profile_exponent: 0.5 is out of range"),
    ({**PROFILE, "profile_coefficient": 25.0, "profile_exponent": 0.4}, "exact",
     "profile_exponent: 0.4 is out of range"),
    ({**SPHERE, "poisson_ratio": -1}, "exact",
     "poisson_ratio: -1 is out of range; it has to be above -1 and at most 0.5"),
    ({**SPHERE, "friction": -0.1}, "exact", "friction: -0.1 is out of range"),
    ({**SPHERE, **STILL}, "exact", "normal_amplitude, tangential_amplitude are all 0"),
    ({**DIMENSIONLESS, "youngs_modulus": 1e9}, "exact", "belongs to set sphere or profile"),
    ({**SPHERE, "beta": 1.0}, "exact", "beta: belongs to set dimensionless, the other"),
    (PROFILE, "exact", "sphere lacks radius; profile lacks profile_coefficient"),
    ({**DIMENSIONLESS, "springs": 1}, "time_stepping", "a whole number and at least 2"),
    ({**DIMENSIONLESS, "steps_per_cycle": 7}, "time_stepping", "a whole number and at least 8"),
    ({**DIMENSIONLESS, "cycles": 1}, "time_stepping", "a whole number and at least 2"),
]
# fmt: on


@pytest.mark.parametrize(("parameters", "method", "gist"), BAD)
def test_bad_input_is_reported_with_its_table(parameters: Any, method: str, gist: str) -> None:
    request = {"format": 1, "model": "mdr_contact", "method": method, "parameters": parameters}
    with pytest.raises(ConfigError) as caught:
        load(request)
    assert gist in str(caught.value)
    assert "[parameters]" in str(caught.value)


def test_dissipated_energy_is_of_physical_contacts_alone() -> None:
    request = {"format": 1, "model": "mdr_contact", "outputs": ["dissipated_energy"]}
    with pytest.raises(ConfigError, match="'dissipated_energy' is not defined by these parameters"):
        load({**request, "parameters": DIMENSIONLESS})
    assert [o.name for o in load({**request, "parameters": SPHERE}).sweep.outputs] == [
        "dissipated_energy"
    ]
