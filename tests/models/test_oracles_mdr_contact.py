"""The oracle of the MDR contact: against reference values, 30 digits, plain steps and itself."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from tests.oracles import mdr_contact as oracle
from tests.oracles import mdr_time_stepping as plain
from tests.points.mdr_contact import dimensionless_points, oracle_energy, reference_cases


def test_reference_cases() -> None:
    points, expected = reference_cases()
    energy = oracle_energy(points)
    difference = np.abs(energy.value - expected["normalized_energy"])
    # One case (n = 2, β = 0.757, δ = 0.463, φ = 0) is 8 of its own uncertainties off the truth,
    # see `test_in_phase`: hence ten.
    assert np.all(difference <= 10 * expected["uncertainty"] + energy.error)


@pytest.mark.parametrize(
    ("beta", "delta", "exponent"),
    [
        (0.7571, 0.46256, 2.0),
        (0.146, 0.7433, 1.5),
        (0.389, 0.5359, 1.0),
        (0.9, 0.3, 0.7),
        (0.05, 2.5, 2.0),
    ],
)
def test_in_phase(beta: float, delta: float, exponent: float) -> None:
    """φ = 0, β < 1: every spring slips up once and down once a cycle; both can be integrated."""
    with mpmath.workdps(30):
        b, d, n = map(mpmath.mpf, (beta, delta, exponent))

        def loss(s: mpmath.mpf) -> mpmath.mpf:
            high, low = (1 - b) - b * s, -s if s < 1 else b * s - (1 + b)
            # Linear, so that Gauss' rule of few points is exact.
            rule = {"method": "gauss-legendre", "maxdegree": 1}
            upward = mpmath.quad(lambda e: b * (s + (e + b * s) / (1 - b)), [low, high], **rule)
            downward = mpmath.quad(lambda e: b * (s + (e - b * s) / (1 + b)), [low, high], **rule)
            return upward + downward

        deepest = min(1 / b, 1 / d)
        cuts = [-1, *(c for c in (0, 1) if c < deepest), deepest]
        expected = 3 * mpmath.quad(lambda s: loss(s) * (1 - d * s) ** (1 / n - 1), cuts) / 8
    energy = oracle.normalized_energy(beta, delta, 0.0, exponent)
    assert abs(energy.value[0] - float(mpmath.re(expected))) <= energy.error[0]


def test_error_is_honest() -> None:
    points = dimensionless_points(100, seed=17, largest_beta=1e4)
    rough, fine = oracle_energy(points, 1e-8), oracle_energy(points)
    assert np.all(np.abs(rough.value - fine.value) <= rough.error + fine.error)
    assert np.median(rough.error / rough.value) < 2e-7


def test_single_springs_against_small_steps() -> None:
    """Two springs at a time, one of them always in contact: no quadrature has a part in it."""
    for beta, delta, phase in ((1.3, 0.8, -0.4), (0.2, 0.5, 2.2), (6.0, 0.9, 1.0), (0.6, 3.0, 0.5)):
        width = (1 + delta) / 2  # of a cone
        depth = (1 - width * np.array([0.5, 1.5])) / delta
        exact = 3 / (8 * delta) * width * oracle.spring_losses(beta, depth, phase).sum()
        assert plain.split(beta, delta, phase, 1.0, 2000, 2) == pytest.approx(exact, rel=1e-5)


def test_in_phase_nothing_is_lost_above_beta_1() -> None:
    for beta in (1.0, 1.5, 30.0):
        energy = oracle.normalized_energy(beta, [0.3, 2.0], 0.0, 2.0)
        assert np.all(energy.value < 1e-15)
        assert oracle.regime(beta, 0.3, 0.0) == oracle.REGIMES.index("full_stick")
