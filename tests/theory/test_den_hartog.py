"""Den Hartog's closed form against a shooting oracle, its limits, and method `exact`."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from sweep.model.table import Status
from sweep.theory import den_hartog as theory
from sweep.theory import friction_oscillator
from tests.cases import compute
from tests.oracles import den_hartog as oracle

SHOT = 1e-11  # the oracle's Newton stops there; the worst of these cases has 5e-13
STEADY = 1e-13  # relative, of exact after 1000 cycles; the worst of 5600 points had 9e-15
NEAR_HALF = 0.03  # of a frequency ratio of 1/2, where transients die like a power of time

RATIOS = [0.22, 0.28, 0.4, 0.5, 0.8, 0.95, 1.05, 3.0, 20.0]


def scaled(ratio: float, loss: float) -> dict[str, float]:
    """A unit mass on a unit spring, η given."""
    return {
        "mass": 1.0, "gravity": 10.0, "friction": loss / 10, "stiffness": 1.0,
        "base_acceleration": 1.0, "angular_frequency": ratio,
    }  # fmt: skip


@pytest.mark.broad
@pytest.mark.parametrize("ratio", RATIOS)
def test_amplitude_and_phase_are_those_of_the_shooting_oracle(ratio: float) -> None:
    for share in (0.4, 0.99):
        loss = share * float(theory.continuous_limit(ratio))
        motion = oracle.swing(1 / ratio**2, loss, stages=2)
        amplitude = theory.amplitude(**scaled(ratio, loss))
        assert amplitude == pytest.approx(motion.amplitude / ratio**2, rel=SHOT)
        assert theory.turning_phase(**scaled(ratio, loss)) == pytest.approx(motion.phase, abs=SHOT)
        assert not motion.stops


@pytest.mark.broad
@pytest.mark.parametrize("ratio", RATIOS)
def test_the_oracles_motion_stops_beyond_the_limit_only(ratio: float) -> None:
    limit = float(theory.continuous_limit(ratio))
    assert not oracle.swing(1 / ratio**2, limit * (1 - 1e-3), stages=2).stops
    assert oracle.swing(1 / ratio**2, limit * (1 + 1e-3), stages=2).stops
    assert theory.is_continuous(**scaled(ratio, limit * (1 - 1e-9)))
    assert not theory.is_continuous(**scaled(ratio, limit * (1 + 1e-9)))


def test_limits_known_in_closed_form() -> None:
    """π/4 at resonance, none at odd submultiples, that of the free mass far above."""
    assert theory.continuous_limit(1.0) == pytest.approx(math.pi / 4, rel=1e-15)
    for near in (1 - 1e-9, 1 + 1e-9):
        assert theory.continuous_limit(near) == pytest.approx(math.pi / 4, rel=1e-8)
    assert theory.continuous_limit([1 / 3, 1 / 5]) == pytest.approx([0, 0], abs=1e-12)
    far = theory.continuous_limit(1e6)
    assert far == pytest.approx(friction_oscillator.CRITICAL_RATIO, rel=1e-11)
    assert np.isnan(theory.continuous_limit([0.0, math.inf, math.nan])).all()
    assert theory.continuous_limit(np.full((2, 3), 2.0)).shape == (2, 3)


def test_without_friction_it_is_the_linear_oscillator() -> None:
    ratio = np.array([0.5, 0.9, 1.1, 3.0])
    amplitude = theory.amplitude(2.0, 9.81, 0.0, 8.0, 3.0, 2 * ratio)
    assert amplitude == pytest.approx(2 * 3 / 8 / abs(1 - ratio**2), rel=1e-14)
    phase = theory.turning_phase(2.0, 9.81, 0.0, 8.0, 3.0, 2 * ratio)
    assert phase == pytest.approx(np.where(ratio < 1, -math.pi / 2, math.pi / 2), rel=1e-14)


def test_a_weak_spring_is_none() -> None:
    """The wear power of SDND104 at 15 m/s², 15.1146144886 W in the long run."""
    wear = theory.wear_power(1.0, 10.0, 0.1, 1e-12, 15.0, 2 * math.pi)
    assert wear == pytest.approx(15.1146144886, rel=1e-11)
    assert theory.friction_power(1.0, 10.0, 0.1, 1e-12, 15.0, 2 * math.pi) == 0.1 * wear


def test_resonance_is_unbounded_below_a_quarter_of_pi() -> None:
    assert theory.amplitude(**scaled(1.0, 0.78)) == math.inf
    assert np.isnan(theory.amplitude(**scaled(1.0, 0.79)))
    scaled_amplitudes = [
        float(theory.amplitude(**scaled(1 + d, 0.5))) * abs(d) for d in (-1e-6, 1e-6)
    ]
    expected = math.sqrt(1 - (4 / math.pi * 0.5) ** 2) / 2
    assert scaled_amplitudes == pytest.approx([expected, expected], rel=1e-5)


def test_results_are_nan_where_the_closed_form_does_not_hold() -> None:
    assert np.isnan(theory.wear_power(1.0, 10.0, 0.1, 0.0, 15.0, 1.0))
    assert np.isnan(theory.amplitude(1.0, 10.0, 0.1, 1.0, 0.0, 1.0))
    assert np.isnan(theory.turning_phase(**scaled(2.0, 0.7)))


def test_the_boundary_needs_all_parameters_and_no_damper_or_shaking() -> None:
    parameters = scaled(2.0, 0.5)
    (line,) = theory.boundaries(parameters).values()
    assert line == pytest.approx(theory.continuous_limit(2.0) - 0.5, rel=1e-12)
    assert theory.boundaries({"friction": 0.1}) == {}
    for void in ({"damping": 0.1}, {"vertical_acceleration": 1.0}, {"stiffness": 0.0}):
        (line,) = theory.boundaries(parameters | void).values()
        assert np.isnan(line)


def steady_points(n: int, share: tuple[float, float]) -> dict[str, NDArray[np.float64]]:
    """Random sprung points with η at a share of the limit; resonances are kept away from."""
    random = np.random.default_rng(3)
    ratio = np.concatenate([random.uniform(0.36, 0.95, n), random.uniform(1.05, 4, n)])
    ratio = ratio[np.abs(ratio - 0.5) > NEAR_HALF]
    mass, spring = random.uniform(0.5, 2, (2, len(ratio)))
    base = random.uniform(1, 5, len(ratio))
    loss = theory.continuous_limit(ratio) * random.uniform(*share, len(ratio))
    return {
        "mass": mass,
        "gravity": np.full(len(ratio), 9.81),
        "friction": loss * base / 9.81,
        "stiffness": spring,
        "base_acceleration": base,
        "angular_frequency": ratio * np.sqrt(spring / mass),
    }


def test_exact_settles_to_den_hartogs_motion() -> None:
    """After 1000 cycles; friction down to 0.3 of the limit, so that transients have died."""
    parameters = steady_points(150, (0.3, 0.99))
    outputs = compute({**parameters, "start_cycle": 1000.0, "end_cycle": 1002.0})
    assert np.all(outputs["status"] == Status.ok)
    np.testing.assert_allclose(outputs["wear_power"], theory.wear_power(**parameters), rtol=STEADY)
    heat = theory.friction_power(**parameters)
    np.testing.assert_allclose(outputs["friction_power"], heat, rtol=STEADY)
    slipped = 2 * 4 * theory.amplitude(**parameters)
    np.testing.assert_allclose(outputs["slip_distance"], slipped, rtol=STEADY)
    assert np.all(outputs["regime"] == friction_oscillator.SLIP_SLIP)
    assert np.all(outputs["slip_phases"] == 4)


def test_exact_sticks_beyond_the_limit() -> None:
    parameters = steady_points(100, (1.001, 1.05))
    assert np.isnan(theory.wear_power(**parameters)).all()
    outputs = compute({**parameters, "start_cycle": 1000.0, "end_cycle": 1002.0})
    assert np.all(outputs["regime"] == friction_oscillator.STICK_SLIP)
    assert np.all(outputs["stick_fraction"] > 0)
