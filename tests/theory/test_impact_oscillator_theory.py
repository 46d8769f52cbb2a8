"""Closed forms of the impact oscillator: 50 digits, limits, the document's mistake.

tests/validation/sdnd122 has the document's figures.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from sweep.theory import impact_oscillator as theory
from tests.cases.impact_oscillator import ENERGIES, SDND122, random_parameters

LINEAR = float(np.sqrt(10.0) / (2 * np.pi))


def test_the_documents_formula_jumps_at_grazing() -> None:
    """By 13 %: the motion only touches the stop, and has its linear frequency still."""
    barely = {**SDND122, "energy": 5e-4 * (1 + 1e-9)}
    assert theory.frequency(**barely) == pytest.approx(LINEAR, rel=1e-9)
    assert theory.document_frequency(**barely) < 0.88 * LINEAR
    below = {**SDND122, "energy": 4e-4}
    assert theory.document_frequency(**below) == theory.frequency(**below)


def test_against_50_digits() -> None:
    parameters = random_parameters(300, seed=2)
    touching = parameters["energy"] > theory.grazing_energy(
        parameters["stiffness"], parameters["gap"]
    )
    assert 100 < touching.sum() < 300
    frequency = theory.frequency(**parameters)
    for i in np.flatnonzero(touching):
        m, k, K, e, E = (mpmath.mpf(float(values[i])) for values in parameters.values())
        with mpmath.workdps(50):
            free = 2 * mpmath.sqrt(m / k) * mpmath.acos(-e * mpmath.sqrt(k / (2 * E)))
            reach = e * k / mpmath.sqrt(2 * E * (K + k) - k * K * e**2)
            pressed = 2 * mpmath.sqrt(m / (K + k)) * mpmath.acos(reach)
            assert frequency[i] == pytest.approx(float(1 / (free + pressed)), rel=2e-15)


def test_limits() -> None:
    assert theory.grazing_energy(10.0, 0.01) == pytest.approx(5e-4, rel=1e-15)
    assert theory.linear_frequency(1.0, 10.0) == pytest.approx(LINEAR, rel=1e-15)
    below = theory.frequency(**SDND122, energy=[1e-12, 4.99e-4, 5e-4])
    np.testing.assert_allclose(below, LINEAR, rtol=1e-14)
    limit = theory.frequency_limit(1.0, 10.0, 50.0)
    assert theory.frequency(**SDND122, energy=1e12) == pytest.approx(limit, rel=1e-7)
    no_gap = {**SDND122, "gap": 0.0}
    np.testing.assert_allclose(theory.frequency(**no_gap, energy=[1e-9, 1.0]), limit, rtol=1e-15)
    assert theory.frequency_limit(1.0, 10.0, 0.0) == pytest.approx(LINEAR, rel=1e-15)
    assert theory.frequency_limit(1.0, 10.0, 1e13) == pytest.approx(2 * LINEAR, rel=2e-6)


def test_the_frequency_rises_with_the_energy() -> None:
    energy = np.geomspace(5e-4, 1e3, 1000)
    assert np.all(np.diff(theory.frequency(**SDND122, energy=energy)) > 0)


def test_the_energy_of_a_frequency_and_back() -> None:
    energy = np.geomspace(5.1e-4, 1e2, 50)
    frequency = theory.frequency(**SDND122, energy=energy)
    recovered = theory.energy_at(**SDND122, frequency=frequency)
    # dE/df grows without bound towards the limit, and with it what the frequency's rounding does.
    sensitivity = np.gradient(np.log(energy), np.log(frequency))
    assert np.all(np.abs(recovered / energy - 1) < 1e-15 * (10 + 2 * sensitivity))


@pytest.mark.parametrize(
    ("change", "frequency"),
    [({}, LINEAR * 0.9), ({}, 0.72), ({"wall_stiffness": 0.0}, LINEAR), ({"gap": 0.0}, 0.6)],
)
def test_no_single_energy_is_nan(change: dict[str, float], frequency: float) -> None:
    assert np.isnan(theory.energy_at(**{**SDND122, **change}, frequency=frequency))


def test_extremes_conserve_the_energy() -> None:
    least, greatest = theory.extremes(10.0, 50.0, 0.01, ENERGIES)
    np.testing.assert_allclose(5 * least**2, ENERGIES, rtol=1e-15)
    stored = 5 * greatest**2 + 25 * (greatest - 0.01) ** 2
    np.testing.assert_allclose(stored, ENERGIES, rtol=1e-14)
    least, greatest = theory.extremes(10.0, 50.0, 0.01, 4e-4)
    assert greatest == -least


def test_the_boundary_of_grazing() -> None:
    (line,) = theory.boundaries({**SDND122, "energy": np.array([4e-4, 6e-4])}).values()
    np.testing.assert_array_equal(np.sign(line), [-1, 1])
    assert theory.boundaries({"mass": 1.0}) == {}
