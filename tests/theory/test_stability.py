"""Stability limits against closed forms, published figures and the schemes' own motion."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sweep.theory import stability
from tests.oracles.penalised_schemes import Oscillator, Step, scheme_of

RATIOS = [0.0, 1e-3, 0.1, 0.3, 0.7, 1.0, 3.0, 30.0, 1e3]
BISECTED = 1e-9  # relative: rounded eigenvalues on the unit circle


@pytest.mark.parametrize("apart", [0.0, 0.01, 0.3, 1.0, 5.0, 100.0])
@pytest.mark.parametrize("ratio", [*RATIOS, 0.4, 10.0])
def test_closed_forms(ratio: float, apart: float) -> None:
    """Where the eigenvalue that leaves the circle does so at −1, or for devogelaere at 1."""
    linear = 12 * ratio + 2 * apart
    closed = {
        "euler": 2 / (math.hypot(1, ratio + apart) + ratio + apart),
        "adapt_ordre2": 2 / (math.hypot(1, 2 * (ratio + apart)) + 2 * (ratio + apart)),
        "devogelaere": 24 / (linear + math.sqrt(linear**2 + 72)),  # 3x² + (24ζ + 4ζ')x = 24
    }
    for scheme, limit in closed.items():
        computed_limit = stability.stability_limit(scheme, ratio, apart)
        assert computed_limit == pytest.approx(limit, rel=BISECTED)


def test_limits_of_the_runge_kutta_pairs() -> None:
    """Undamped rk32 has |R(ix)|² = 1 − x⁴/12 + x⁶/36; heavily damped ones their real interval."""
    assert stability.stability_limit("rk32", 0.0) == pytest.approx(math.sqrt(3), rel=BISECTED)
    for scheme, interval in (("rk32", 2.5127453266), ("rk54", 3.3065678894)):
        computed_interval = stability.stability_limit(scheme, 1e4) * 2e4
        assert computed_interval == pytest.approx(interval, rel=3e-8)


@pytest.mark.parametrize("scheme", stability.SCHEMES)
def test_polynomial_is_that_of_the_matrix(scheme: str) -> None:
    random = np.random.default_rng(1)
    for x, zeta, apart in random.uniform(0, 2, (50, 3)) * ([[1, 1, 1], [0.01, 1, 0]] * 25):
        matrix = stability.amplification_matrix(scheme, x, zeta, apart)
        expected = np.poly(matrix)[::-1]
        coefficients = stability.characteristic_polynomial(scheme, x, zeta, apart)
        padded = np.concatenate([np.zeros(len(expected) - len(coefficients)), coefficients])
        assert np.abs(padded - expected).max() <= 1e-11 * np.abs(expected).max()


@pytest.mark.parametrize("scheme", stability.SCHEMES)
def test_every_shorter_step_is_stable_and_no_longer_one(scheme: str) -> None:
    for ratio in RATIOS:
        limit = stability.stability_limit(scheme, ratio)
        for factor in (1e-3, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1 - 1e-6):
            assert stability.spectral_radius(scheme, factor * limit, ratio) <= 1 + 1e-12
        for factor in (1 + 1e-6, 1.05, 1.2, 1.6, 2.5, 4):
            assert stability.spectral_radius(scheme, factor * limit, ratio) > 1


@pytest.mark.parametrize("scheme", stability.SCHEMES)
@pytest.mark.parametrize(("law", "viscous"), [(0.0, 0.0), (1.0, 0.0), (0.3, 0.2)])
def test_the_schemes_grow_only_beyond_the_limit(scheme: str, law: float, viscous: float) -> None:
    """A stuck mass that is never let go, given a push, Ω = 1."""
    if scheme == "devogelaere":
        limit = stability.stability_limit(scheme, law, viscous)
    else:
        limit = stability.stability_limit(scheme, law + viscous)
    early, late = swings(scheme, 0.99 * limit, law, viscous)
    assert late <= early * (1 + 1e-3)
    early, late = swings(scheme, 1.2 * limit, law, viscous)
    assert late > 1.3 * early


def swings(scheme: str, h: float, law: float, viscous: float) -> tuple[float, float]:
    """The greatest displacement in the first and in the last half of 4000 steps."""
    point = {"m": 1.0, "g": 1e300, "mu": 1.0, "k": 0.2, "c": 2 * viscous, "a0": 0.0, "w": 1.0,
             "av": 0.0, "phi": 0.0}  # fmt: skip
    oscillator = Oscillator(point, 0.8, 2 * law, math.sin)
    stepper = scheme_of(scheme, 1.0)
    state = stepper.start(oscillator, h)._replace(velocity=1.0)
    if hasattr(state, "velocity_before"):
        state = state._replace(velocity_before=1.0)
    greatest = [0.0, 0.0]
    for q in range(4000):
        state, _ = stepper.step(oscillator, state, Step(q * h, h, (q + 1) * h))
        greatest[q // 2000] = max(greatest[q // 2000], abs(state.place))
        if abs(state.place) > 1e100:
            return greatest[0], 1e100 * greatest[0]
    return greatest[0], greatest[1]


@pytest.mark.parametrize(
    ("scheme", "step"),
    [("euler", 2.76e-4), ("devogelaere", 3.0e-4), ("adapt_ordre2", 1.58e-4), ("rk32", 8.4e-4),
     ("rk54", 1.10e-3)],
)  # fmt: skip
def test_longest_steps_of_sdnd104(scheme: str, step: float) -> None:
    """Stick binds there, with K_T = 9e6 N/m and C_T critical."""
    longest_step = stability.longest_step(scheme, 1.0, 3e-5, 9e6, 6000.0)
    assert longest_step == pytest.approx(step, rel=5e-3)


def test_longest_step_where_slip_sets_the_limit() -> None:
    """The law's own damper lets rk32 take longer steps in stick than the bare spring does."""
    longest_step = stability.longest_step("rk32", 2.0, 800.0, 8.0, 2 * math.sqrt(2 * 808))
    assert longest_step == pytest.approx(math.sqrt(3) / 20, rel=BISECTED)
    assert stability.longest_step("euler", 2.0, 0.0, 0.0, 0.0, damping=8.0) == pytest.approx(0.5)
    assert stability.longest_step("euler", 1.0, 0.0, 0.0, 0.0) == math.inf


def test_unknown_scheme() -> None:
    with pytest.raises(ValueError, match="'moreau' is not a scheme with a stability limit"):
        stability.stability_limit("moreau", 0.0)


def test_a_scheme_without_equations_has_those_of_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stability, "SCHEMES", (*stability.SCHEMES, "heun"))
    for function in (stability.amplification_matrix, stability.characteristic_polynomial):
        with pytest.raises(KeyError, match="heun"):
            function("heun", 1.0, 0.1)


@pytest.mark.parametrize("scheme", stability.SCHEMES)
def test_the_limits_are_those_of_the_docstring(scheme: str) -> None:
    """Its inequalities against the spectral radius, with steps from tiny to far too long."""
    random = np.random.default_rng(2)
    for _ in range(1000):
        x = 10 ** random.uniform(-6, 0.8)
        zeta, apart = random.choice([0, 1], 2) * 10 ** random.uniform(-5, 2, 2)
        p, q, g = x * x, 2 * zeta * x, 2 * apart * x
        if scheme in ("rk54", "rk32"):
            det, negative_trace, _ = stability.characteristic_polynomial(scheme, x, zeta, apart)
            stable = abs(det) <= 1 + 1e-12 and abs(negative_trace) <= 1 + det + 1e-12
        else:
            stable = {
                "euler": p + 2 * (q + g) <= 4,
                "adapt_ordre2": p + 4 * (q + g) <= 4,
                "devogelaere": 3 * p + 12 * q + 2 * g <= 24,
            }[scheme]
        assert stable == (stability.spectral_radius(scheme, x, zeta, apart) <= 1 + 1e-9)
