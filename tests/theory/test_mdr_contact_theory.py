"""Closed forms of the MDR contact: against 60 digits, the oracle, one another, and the paper."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.theory import mdr_contact as theory
from tests.oracles import mdr_contact as oracle

# Some tens of roundings; seen at worst: 1e-15 (surface), 4e-15 (limits), 2e-14 (n = 50).
ROUNDING = 3e-14

SPHERE = {"radius": 0.02, "indentation": 3e-5}
MOTION = {"normal_amplitude": 2e-6, "tangential_amplitude": 5e-6}


def surface(beta, phase):
    """F(β, φ), to 60 digits."""
    with mpmath.workdps(60):
        p = mpmath.mpf(float(phase))
        return surface_at(mpmath.mpf(float(beta)), p if mpmath.sin(p) >= 0 else p + mpmath.pi)


def surface_at(b, phase):
    """F(β, φ) for long numbers, as it stands in the literature's letters, C = cos Ω, S = sin Ω."""
    ra = mpmath.sqrt(1 + b**2 - 2 * b * mpmath.cos(phase))
    rb = mpmath.sqrt(1 + b**2 + 2 * b * mpmath.cos(phase))
    c, s = (1 - b**2) / (ra * rb), 2 * b * mpmath.sin(phase) / (ra * rb)
    first = (1 + c) * (ra * (13 - 11 * c + 2 * c**2) + rb * (5 - c))
    return ra * rb / (64 * b) * (first + 3 * (ra - rb) * (mpmath.pi - mpmath.atan2(s, c)) * s)


def relative_error(computed, exact):
    return float(abs(mpmath.mpf(float(computed)) / exact - 1))


BETAS = st.one_of(
    st.floats(-8, 12).map(lambda x: 10**x),
    st.tuples(st.sampled_from([-1, 1]), st.floats(-15, -1)).map(lambda x: 1 + x[0] * 10 ** x[1]),
)
PHASES = st.one_of(
    st.floats(-7, 7).filter(lambda p: abs(p) > 1e-12),
    st.tuples(st.integers(-2, 2), st.floats(-12, -1)).map(lambda x: math.pi * x[0] + 10 ** x[1]),
)


@given(beta=BETAS, phase=PHASES)
def test_surface_keeps_its_relative_accuracy_everywhere(beta, phase):
    assert relative_error(theory.universal_surface(beta, phase), surface(beta, phase)) < ROUNDING


def test_surface_special_phases():
    beta = np.array([1e-3, 0.1, 0.5, 1 / math.sqrt(2), 0.999, 1.0, 1.001, 2.0, 1e3])
    closed = (1 + 2 * beta**2) ** 2 / (4 * beta * (1 + beta**2) ** 1.5)
    computed = theory.universal_surface(beta, math.pi / 2)
    np.testing.assert_allclose(computed, closed, rtol=ROUNDING)
    assert computed.min() == computed[3] == pytest.approx(4 / (3 * math.sqrt(3)), rel=ROUNDING)
    in_phase = np.where(beta < 1, (1 - beta) * (1 + beta) / (4 * beta), 0.0)
    np.testing.assert_allclose(theory.universal_surface(beta, 0.0), in_phase, rtol=ROUNDING)
    for phase in (math.pi, -math.pi):  # a float of π is off π by 1e-16
        np.testing.assert_allclose(
            theory.universal_surface(beta, phase), in_phase, rtol=ROUNDING, atol=2e-16
        )
    np.testing.assert_array_equal(theory.universal_surface(0.0, [0.0, 1.0]), np.inf)


@pytest.mark.parametrize("phase", [0.3, 1.0, 2.0, -0.3])
def test_surface_tends_to_relaxation_and_partial_slip(phase):
    sine, cosine = math.sin(phase % math.pi), math.cos(phase % math.pi)
    assert theory.universal_surface(np.inf, phase) == pytest.approx(sine**2, rel=ROUNDING)
    for beta in (1e4, 1e7, 1e9):  # the next term is of order 1/β²
        expected = sine**2 * (1 - cosine / beta)
        computed = theory.universal_surface(beta, phase)
        assert computed == pytest.approx(expected, rel=10 / beta**2 + ROUNDING)
    small = theory.universal_surface(1e-6, phase)
    assert small == pytest.approx(theory.partial_slip(1e-6), rel=1e-6)
    assert theory.universal_surface(2.0, phase) != pytest.approx(
        theory.universal_surface(2.0, -phase), rel=0.01
    )
    assert theory.universal_surface(2.0, phase) == pytest.approx(
        theory.universal_surface(2.0, phase + math.pi), rel=ROUNDING
    )


def test_greatest_loss_is_not_at_90_degrees():
    phases = np.linspace(0, math.pi, 20001)
    for beta in (0.01, 0.3, 1.0, 1.5, 3.0, 30.0):
        highest = phases[theory.universal_surface(beta, phases).argmax()]
        phase = theory.greatest_loss_phase(beta)
        assert phase == pytest.approx(highest, abs=2e-4)
        with mpmath.workdps(60):
            slope = mpmath.diff(lambda p, b=beta: surface_at(mpmath.mpf(b), p), float(phase))
        assert abs(float(slope)) < 1e-14 * float(theory.universal_surface(beta, phase)) * (1 + beta)
    degrees = np.degrees(theory.greatest_loss_phase(np.geomspace(1e-4, 1, 50)))
    assert degrees.min() == pytest.approx(107, abs=0.5)
    assert degrees.max() == pytest.approx(109, abs=0.5)


# Constant load.


def constant_load(xi, exponent):
    with mpmath.workdps(60):
        x, n = mpmath.mpf(float(xi)), mpmath.mpf(float(exponent))
        w = (1 - 1 / x) ** (1 / n) if x > 1 else mpmath.mpf(0)
        first, second = (1 - w ** (n + 1)) / (n + 1), (1 - w ** (2 * n + 1)) / (2 * n + 1)
        return 8 * (x * (1 - w - first) - x**2 * (1 - w - 2 * first + second))


@given(
    xi=st.one_of(st.floats(-6, 6).map(lambda x: 10**x), st.floats(0.5, 3), st.just(1.0)),
    exponent=st.sampled_from([0.55, 0.8, 1.0, 1.5, 2.0, 3.0, 8.0, 50.0, 1e3, 1e12]),
)
def test_constant_load_keeps_its_relative_accuracy(xi, exponent):
    energy = theory.constant_load_energy(xi, exponent)
    assert relative_error(energy, constant_load(xi, exponent)) < ROUNDING


def test_constant_load_special_cases():
    xi = np.array([0.01, 0.3, 0.625, 0.9999, 1.0])
    np.testing.assert_allclose(
        theory.constant_load_energy(xi), 16 / 3 * xi * (1 - 4 * xi / 5), rtol=ROUNDING
    )
    for n in (0.8, 1.0, 3.0):
        power_law = 8 * xi * n / (n + 1) * (1 - 2 * n * xi / (2 * n + 1))
        np.testing.assert_allclose(theory.constant_load_energy(xi, n), power_law, rtol=ROUNDING)
    wide = np.array([1.0, 1.5, 2.0, 2.5, 40.0, 1e5])
    np.testing.assert_allclose(theory.constant_load_energy(wide, 1.0), 4 / (3 * wide), rtol=1e-13)
    w = np.sqrt(1 - 1 / wide[:-1])
    linear = wide[:-1] * ((1 - w) - (1 - w**3) / 3)
    square = wide[:-1] ** 2 * ((1 - w) - 2 / 3 * (1 - w**3) + (1 - w**5) / 5)
    np.testing.assert_allclose(
        theory.constant_load_energy(wide[:-1]), 8 * (linear - square), rtol=1e-9
    )  # these differences lose some 40² roundings
    scaled = 3 / 8 * theory.constant_load_energy(np.linspace(0.6, 0.65, 1001))
    assert scaled.max() == pytest.approx(5 / 8, rel=1e-9)
    assert np.linspace(0.6, 0.65, 1001)[scaled.argmax()] == pytest.approx(5 / 8, abs=1e-4)


# Infinite and vanishing friction.


@given(
    delta=st.one_of(st.floats(-8, 12).map(lambda x: 10**x), st.floats(0.3, 1.2)),
    exponent=st.sampled_from([0.02, 0.55, 0.8, 1.0, 2.0, 3.0, 8.0, 50.0, 1e3, 1e12]),
)
def test_infinite_friction_keeps_its_relative_accuracy(delta, exponent):
    with mpmath.workdps(60):
        d, n = mpmath.mpf(delta), mpmath.mpf(exponent)
        inner, outer = (
            (d**2 - 1) * x + 2 * x ** (n + 1) / (n + 1) - x ** (2 * n + 1) / (2 * n + 1)
            for x in (max(1 - d, mpmath.mpf(0)) ** (1 / n), (1 + d) ** (1 / n))
        )
        expected = 3 * n / (4 * d**3) * (outer - inner)
    energy = theory.infinite_friction_energy(delta, math.pi / 2, exponent)
    if expected > np.finfo(float).max / 2:  # where doubles end it is infinite a little early
        assert energy > 0.999 * np.finfo(float).max / 2
        return
    assert relative_error(energy, expected) < ROUNDING


def test_infinite_friction_special_cases():
    delta = np.array([1e-6, 0.1, 0.3])
    series = 1 + 3 * delta**2 / 40 + 3 * delta**4 / 128
    energy = theory.infinite_friction_energy(delta, 1.0)
    np.testing.assert_allclose(energy, math.sin(1) ** 2 * series, rtol=1e-4 * delta[-1] ** 2)
    below_one = np.array([1e-3, 0.5, 0.50001, 0.999, 1.0])
    np.testing.assert_allclose(
        theory.infinite_friction_energy(below_one, 2.0, 1.0), math.sin(2) ** 2, rtol=ROUNDING
    )
    assert theory.infinite_friction_energy(2.0, 2.0, 1.0) < 0.9 * math.sin(2) ** 2


@pytest.mark.parametrize("delta", [0.1, 0.9, 0.9999, 1.0, 1.0001, 3.0])
@pytest.mark.parametrize("exponent", [0.7, 1.0, 2.0])
def test_vanishing_friction(delta, exponent):
    phases = np.array([-1.2, 0.0, 0.4, math.pi / 2, 2.8])
    energies = theory.vanishing_friction_energy(delta, phases, exponent)
    contact = mpmath.acos(-1 / mpmath.mpf(delta)) if delta > 1 else mpmath.pi
    for phase, value in zip(phases, energies, strict=True):
        kinks = [-phase + k * mpmath.pi for k in range(-2, 3)]
        places = sorted([-contact, mpmath.mpf(0), contact, *(k for k in kinks if abs(k) < contact)])

        def slip(t, phase=phase):
            load = max(1 + delta * mpmath.cos(t), mpmath.mpf(0)) ** (1 + 1 / mpmath.mpf(exponent))
            return load * abs(mpmath.sin(t + phase)) / 4

        assert value == pytest.approx(float(mpmath.quad(slip, places)), rel=1e-12)


@pytest.mark.parametrize("exponent", [0.6, 1.0, 2.0, 50.0])
def test_infinite_amplitudes_are_the_limits_of_large_ones(exponent):
    """Infinite friction: (3/4) sin²φ δ^{1/n−1} ∫₀¹ (1 − c²) c^{1/n−1} dc; vanishing: no limit."""
    a, phase = 1 / mpmath.mpf(exponent), 0.7
    integral = mpmath.beta(a / 2, 2) / 2
    for delta in (1e5, 1e8, 1e100):
        expected = 0.75 * mpmath.sin(phase) ** 2 * integral * mpmath.mpf(delta) ** (a - 1)
        energy = theory.infinite_friction_energy(delta, phase, exponent)
        assert relative_error(energy, expected) < 3 * delta ** -min(1, float(a)) + ROUNDING
    energy = theory.infinite_friction_energy(math.inf, phase, exponent)
    limit = {0.6: math.inf, 1.0: 0.5 * math.sin(phase) ** 2}.get(exponent, 0.0)
    assert energy == pytest.approx(limit, rel=ROUNDING)
    assert theory.infinite_friction_energy(math.inf, 0.0, exponent) == 0
    slips = theory.vanishing_friction_energy([1e100, 1e306, math.inf], phase, exponent)
    assert np.all(np.diff(slips[:2]) > 0)
    assert slips[2] == math.inf


def test_a_flat_punch_is_the_limit_of_steep_profiles():
    """∫(1 − c²)/(1 + δc) dc in closed form; without loss of contact it is finite."""
    xi = np.array([0.1, 0.7, 1.0, 1.5, 3.0, math.inf])
    energy = theory.constant_load_energy(xi, math.inf)
    np.testing.assert_allclose(energy, [0.72, 1.68, 0, 0, 0, 0], rtol=ROUNDING)
    delta = np.array([0.3, 0.7, 1.0])
    rest = np.array([math.log1p(d) - math.log1p(-d) if d < 1 else 0 for d in delta])
    expected = 0.75 * ((delta**2 - 1) * rest + 2 * delta) / delta**3
    energy = theory.infinite_friction_energy(delta, math.pi / 2, math.inf)
    np.testing.assert_allclose(energy, expected, rtol=ROUNDING)
    assert theory.infinite_friction_energy(1.5, 1.0, math.inf) == math.inf


def test_vanishing_friction_series():
    phases, delta = np.linspace(0, 3, 7), 0.05
    sphere = 1 + (3 - np.cos(2 * phases)) * delta**2 / 16
    energy = theory.vanishing_friction_energy(delta, phases)
    np.testing.assert_allclose(energy, sphere, rtol=0.1 * delta**4)
    for delta in (0.3, 1.0):
        cone = 1 + (0.5 - np.cos(2 * phases) / 6) * delta**2
        energy = theory.vanishing_friction_energy(delta, phases, 1.0)
        np.testing.assert_allclose(energy, cone, rtol=ROUNDING)


# The stick core and the borders of the regimes.


def test_stick_radius_and_borders_against_springs():
    rng = np.random.default_rng(8)
    beta, delta = 10 ** rng.uniform(-3, 2, 100), 10 ** rng.uniform(-3, 0.5, 100)
    phase, exponent = rng.uniform(-4, 4, 100), rng.choice([0.7, 1.0, 2.0, 4.0], 100)
    beta[::20] = np.inf
    radius = theory.stick_radius(beta, delta, phase, exponent)
    np.testing.assert_allclose(
        radius, oracle.stick_radius(beta, delta, phase, exponent), rtol=1e-12, atol=1e-12
    )
    lines = theory.boundaries({"beta": beta, "delta": delta, "phase": phase})
    regimes = np.array([oracle.regime(*point) for point in zip(beta, delta, phase, strict=True)])
    jumping, core = (
        lines["border of jumping, δ = 1"],
        lines["border of partial slip, ξ = (R_A + R_B)/2"],
    )
    np.testing.assert_array_equal(jumping > 0, regimes == oracle.REGIMES.index("jumping"))
    stays = jumping < 0
    np.testing.assert_array_equal(
        core[stays] < 0, regimes[stays] == oracle.REGIMES.index("gross_slip")
    )
    assert np.isnan(core[~stays]).all()
    regions = theory.region(beta, delta, phase)
    np.testing.assert_array_equal(
        lines["regions I and II, β = δ/√8"] < 0, regions == theory.REGION_I
    )
    np.testing.assert_array_equal(
        (lines["regions II and III, 4β sin²φ = 1"] > 0)
        & (lines["regions I and II, β = δ/√8"] >= 0),
        regions == theory.REGION_III,
    )


def test_borders_of_physical_parameters():
    body = {"poisson_ratio": 0.3, "indentation": 3e-5, "phase": 1.0, "youngs_modulus": 1e9}
    friction = np.array([0.01, 0.3, np.inf])
    lines = theory.boundaries({**body, **MOTION, "friction": friction})
    beta, delta, xi = theory.amplitude_numbers(friction, 0.3, 3e-5, *MOTION.values())
    for label, line in theory.boundaries({"beta": beta, "delta": delta, "phase": 1.0}).items():
        np.testing.assert_allclose(lines[label], line, rtol=1e-12)
    still = theory.boundaries({**body, **MOTION, "friction": friction, "normal_amplitude": 0.0})
    np.testing.assert_allclose(
        still["border of partial slip, ξ = (R_A + R_B)/2"][:2], xi[:2] - 1, rtol=1e-12
    )
    assert theory.boundaries({"beta": 1.0}) == {}


# The paper.


def test_paper_s_energies_are_its_normalized_ones():
    shear = theory.shear_modulus(2e9, 0.3)
    ratio, friction, phase = theory.stiffness_ratio(0.3), 0.4, 1.1
    indentation, tangential = SPHERE["indentation"], MOTION["tangential_amplitude"]
    beta, delta, xi = theory.amplitude_numbers(friction, 0.3, indentation, *MOTION.values())
    assert xi == pytest.approx(beta / delta, rel=1e-14)
    radius = theory.contact_radius(indentation, 1 / (2 * SPHERE["radius"]), 2.0)
    assert radius == pytest.approx(math.sqrt(SPHERE["radius"] * indentation), rel=1e-14)
    unit = theory.reference_energy(shear, radius, tangential, delta, 2.0)
    greatest = theory.greatest_relaxation_energy(shear, *SPHERE.values(), *MOTION.values())
    assert greatest == pytest.approx(float(unit), rel=1e-14)
    partial = theory.partial_slip_energy(shear, ratio, *SPHERE.values(), tangential, friction)
    assert partial / unit == pytest.approx(float(theory.partial_slip(beta)), rel=1e-14)
    relaxed = theory.relaxation_energy(shear, *SPHERE.values(), *MOTION.values(), phase)
    assert relaxed / unit == pytest.approx(math.sin(phase) ** 2, rel=1e-14)
    modulus = theory.contact_modulus(2e9, 0.3)
    assert modulus / shear == pytest.approx(float(ratio), rel=1e-14)
    slipping = theory.hertzian_slip_energy(friction, modulus, *SPHERE.values(), tangential)
    assert slipping / unit == pytest.approx(float(theory.complete_slip(beta, delta)), rel=1e-14)
    load = theory.normal_force(modulus, radius, indentation, 2.0)
    coulomb = theory.complete_slip_energy(friction, load, tangential)
    assert coulomb == pytest.approx(float(slipping), rel=1e-14)
    # All springs slip 4Δx a cycle under the whole load: Archard's k × load × distance.
    worn = theory.wear_volume(coulomb, friction, 1e-14)
    assert worn == pytest.approx(float(1e-14 * load * 4 * tangential), rel=1e-14)


def test_numbers_with_one_motion_missing():
    beta, delta, xi = theory.amplitude_numbers([0.3, np.inf, 0.3, 0.0], 0.25, 2e-5,
                                               [0.0, 0.0, 1e-6, 1e-6],
                                               [1e-6, 1e-6, 0.0, 1e-6])  # fmt: skip
    np.testing.assert_array_equal(beta, [0, np.inf, np.inf, 0])
    np.testing.assert_allclose(delta, [0, 0, 0.05, 0.05], rtol=1e-14)
    np.testing.assert_allclose(xi[[0, 3]], [0.3 * 1.75 / 1.5 * 20, 0], rtol=1e-14)
    np.testing.assert_array_equal(xi[1:3], np.inf)


@pytest.mark.parametrize("n", [0.51, 1.0, 1.5, 2.0, 3.0, 4.0, 17.0, 299.0, 1000.0])
def test_profile_factor_is_abel_s_transform(n):
    with mpmath.workdps(30):  # g(1) for A = 1, with r = sin θ
        exponent = mpmath.mpf(n)
        expected = exponent * mpmath.quad(
            lambda angle: mpmath.sin(angle) ** (exponent - 1), [0, 0.1, 1, 1.4, mpmath.pi / 2]
        )
    accuracy = 1e-12 if n > 300 else 1e-11 if n < 1 else 1e-14  # n < 1: the quadrature's
    assert relative_error(theory.profile_factor(n), expected) < accuracy
    assert theory.profile_factor([1.0, 2.0, 4.0]) == pytest.approx([math.pi / 2, 2, 8 / 3])


def test_transitions_have_values_where_the_paper_gives_them():
    """tests/validation/hanisch2020 says how far they and the three regions are off."""
    assert np.isnan(theory.slip_transition([0.0, 4.0, 5.0, -1.0])).all()
    assert theory.stick_transition(np.inf) == 1
    assert np.isnan(theory.stick_transition([0.0, 0.1])).all()


def test_three_regions_meet_at_their_borders():
    delta, phase = 0.01, 1.0
    for border in (delta / math.sqrt(8), 0.25 / math.sin(phase) ** 2):
        below, above = theory.three_regions(np.array([1 - 1e-12, 1 + 1e-12]) * border, delta, phase)
        assert below == pytest.approx(above, rel=1e-11)
    codes = theory.region([1e-3, 0.1, 1.0], delta, phase)
    np.testing.assert_array_equal(codes, [theory.REGION_I, theory.REGION_II, theory.REGION_III])
    assert codes.dtype == np.uint8
    assert theory.region(1e9, delta, 0.0) == theory.REGION_II  # nothing relaxes: 1/(4β) for ever
