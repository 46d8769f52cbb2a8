"""The closed forms against the same equations solved to 60 digits, and SDND104's figures."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.model.tables.friction_oscillator import MODEL
from sweep.theory import friction_oscillator as theory

OMEGA = 2 * math.pi

# Some tens of roundings, each 1.1e-16 (seen in 4000 random cases: 7e-16 and 4e-15 at worst).
ROUNDING = 1e-14

# How far a0 exceeds μg: from slips of a millionth of a period up to one of nearly half a period.
EXCESSES = [*(10.0**exponent for exponent in range(-12, 0)), 0.25, 0.5, 0.7, 0.8, 0.85, 0.862]


def exact_slip(friction, gravity, base_acceleration):
    """ωt1, ωt2 and the half-period wear energy over m/ω², by SDND104's own formulas, 60 digits."""
    with mpmath.workdps(60):
        mu, g, a0 = map(mpmath.mpf, (friction, gravity, base_acceleration))
        eta = mu * g / a0
        start = mpmath.asin(eta)

        def residual(phase):
            return eta * (phase - start) - mpmath.cos(start) + mpmath.cos(phase)

        bracket = (start + mpmath.cos(start) / eta, start + 3.2 * mpmath.cos(start) / eta)
        end = mpmath.findroot(residual, bracket, solver="anderson", tol=1e-110)
        lasts = end - start
        energy = a0 * (lasts * mpmath.cos(start) - (mpmath.sin(end) - eta)) - mu * g * lasts**2 / 2
        return start, end, g * energy


def relative_error(computed, exact):
    return float(abs(mpmath.mpf(float(computed)) / exact - 1))


@given(
    friction=st.floats(1e-3, 10),
    gravity=st.floats(1e-2, 1e3),
    excess=st.one_of(st.sampled_from(EXCESSES), st.floats(1e-9, 0.86209)),
)
def test_slips_anywhere_in_stick_slip(friction, gravity, excess):
    a0 = friction * gravity * (1 + excess)
    start, end, energy = exact_slip(friction, gravity, a0)
    computed = theory.half_period_wear_energy(1.0, gravity, friction, a0, 1.0)
    assert relative_error(theory.slip_duration(friction, gravity, a0), end - start) < ROUNDING
    assert relative_error(theory.slip_end(friction, gravity, a0), end) < ROUNDING
    assert relative_error(computed, energy) < ROUNDING


@pytest.mark.parametrize(
    ("base_acceleration", "power"),
    [(15, 15.1146144886), (1.5, 0.40906245101571), (1.01, 2.2616412127979e-4), (0.99, 0)],
)
def test_wear_powers_of_sdnd104(base_acceleration, power):
    computed = theory.asymptotic_wear_power(1, 10, 0.1, base_acceleration, OMEGA)
    assert computed == pytest.approx(power, rel=3e-12, abs=0)


def test_critical_ratio_is_where_a_slip_lasts_half_a_period():
    critical = 10 * 0.1 / theory.CRITICAL_RATIO
    below, above = np.nextafter(critical, 0) * (1 - 1e-13), critical * (1 + 1e-13)
    assert theory.regime(0.1, 10, [below, above]).tolist() == [1, 2]
    assert theory.slip_duration(0.1, 10, below) == pytest.approx(math.pi, rel=1e-12)
    powers = theory.asymptotic_wear_power(1, 10, 0.1, [below, above], OMEGA)
    assert powers[0] == pytest.approx(powers[1], rel=1e-12)


def test_regimes_carry_the_flags_of_the_model():
    flags = next(output for output in MODEL.outputs if output.name == "regime").flags
    assert flags[theory.STICK] == "stick"
    assert flags[theory.STICK_SLIP] == "stick_slip"
    assert flags[theory.SLIP_SLIP] == "slip_slip"


def test_regimes_at_their_borders():
    assert theory.regime(0.5, 10, [0, 4.999, 5, 5.001, 9.3, 9.4]).tolist() == [0, 0, 0, 1, 1, 2]
    assert theory.regime(0, 10, [0, 1e-300]).tolist() == [0, 2]
    assert theory.slip_threshold(0.5, 10) == 5
    assert theory.continuous_slip_threshold(0.5, 10) == pytest.approx(5 * 1.862095889, rel=1e-9)


def test_stick_is_exactly_zero_without_warnings():
    friction, a0 = np.array([[0.1], [0.0]]), np.array([0.0, 0.5, 1.0])
    powers = theory.asymptotic_wear_power(2, 10, friction, a0, OMEGA)
    assert powers[0].tolist() == [0, 0, 0]
    # Without friction the steady speed is (a0/ω)|cos ωt|, its mean 2a0/(πω).
    assert powers[1] == pytest.approx(2 * 10 * 2 * a0 / (math.pi * OMEGA), rel=1e-15)
    assert np.isnan(theory.slip_end(0.1, 10, [0.5, 15])).all()


def test_volume_and_heat_from_wear_energy():
    coefficient = theory.archard_coefficient(1e-4, 2e9)  # mild wear of a 2 GPa steel: 5e-14 1/Pa
    assert coefficient == pytest.approx(5e-14)
    assert theory.wear_volume([1e3, 2e3], coefficient) == pytest.approx([5e-11, 1e-10])
    assert theory.friction_power(15.0, [0.1, 0.5]).tolist() == [1.5, 7.5]


def test_boundaries_change_sign_where_the_regime_changes():
    friction, a0 = np.meshgrid(np.geomspace(0.01, 1, 41), np.linspace(0.5, 15, 37), indexing="ij")
    parameters = {"friction": friction, "gravity": 10.0, "base_acceleration": a0, "stiffness": 0.0}
    lines = theory.boundaries(parameters)
    passed = sum((line > 0).astype(int) for line in lines.values())
    assert np.array_equal(passed, theory.regime(friction, 10, a0))


def test_boundaries_are_void_with_a_spring():
    parameters = {"friction": 0.1, "gravity": 10, "base_acceleration": 2, "stiffness": [0.0, 1.0]}
    for line in theory.boundaries(parameters).values():
        assert np.isnan(line).tolist() == [False, True]
