"""The end of a free slip, for any forces, against bisection with 60 digits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mpmath import cos, mp, mpf, pi, sin
from numpy.typing import NDArray

from tests.kernel.kernel_probe import Entry, Probe, compile_probe

SLIP = "friction_oscillator::FreeSlip slip{in[0], in[1], in[2]};"  # rate, swing, friction
ENTRIES = {
    "end": Entry(3, 2, SLIP + "auto e = end_of(slip, true); out[0] = e.u; out[1] = e.at.versine;"),
    "halved": Entry(
        3, 2, SLIP + "auto e = end_in_bracket(slip, true); out[0] = e.u; out[1] = e.at.versine;"
    ),
    "second_step": Entry(
        3,
        2,
        SLIP
        + "real u = guess_end(slip); u = u - halley_step(slip, friction_oscillator::Circular(u));"
        "out[0] = u; out[1] = halley_step(slip, friction_oscillator::Circular(u));",
    ),
}
NEAR = 1e-6  # of a last step, relative to the phase from the nearer end of the cycle
ROUNDING = 4e-15  # of u and of 1 - cos u, relative

Values = NDArray[np.float64]


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    folder = Path(tmp_path_factory.mktemp("probe"))
    return compile_probe(folder, "models/friction_oscillator/free_slip.h", ENTRIES)


def slips(count: int) -> Values:
    """Rates, swings and frictions of slips that end anywhere in the cycle."""
    rng = np.random.default_rng(5)
    from_start = 10 ** rng.uniform(-6, 0, count // 3)
    ends = np.concatenate(
        [from_start, 2 * np.pi - from_start, rng.uniform(1, 5.3, count - 2 * (count // 3))]
    )
    rate = np.where(rng.random(count) < 0.3, 0.0, 10 ** rng.uniform(-6, 6, count))
    defect = np.where(ends < 0.1, ends**3 / 6 * (1 - ends**2 / 20), ends - np.sin(ends))
    swing = (defect - rate * np.sin(ends)) / (2 * np.sin(ends / 2) ** 2)
    return np.array([rate, swing, np.ones(count)]) * 10 ** rng.uniform(-3, 3, count)


def true_end(rate: float, swing: float, friction: float) -> mpf:
    """The end by bisection of the speed, which is positive before it and negative after it."""
    with mp.workdps(60):
        low, high = mpf(0), 2 * pi
        for _ in range(180):
            u = (low + high) / 2
            speed = rate * sin(u) - friction * (u - sin(u)) + swing * (1 - cos(u))
            low, high = (u, high) if speed > 0 else (low, u)
        return (low + high) / 2


def test_second_step_is_the_last_for_any_slip(probe: Probe) -> None:
    u, step = probe("second_step", *slips(200_000))
    assert np.max(np.abs(step) / np.minimum(u, 2 * np.pi - u)) < NEAR


@pytest.mark.parametrize("name", ["end", "halved"])
def test_end_of_a_slip_is_exact_to_rounding(probe: Probe, name: str) -> None:
    cases = slips(90)
    ends, versine = probe(name, *cases)
    for u, height, case in zip(ends, versine, cases.T, strict=True):
        end = true_end(*map(float, case))
        with mp.workdps(60):
            blur = ROUNDING * _sensitivity(end, *map(float, case))
            assert abs(mpf(u) - end) <= blur * end
            late = 2 * pi - end
            allowed = ROUNDING + 2 * blur * end / min(end, late)
            assert abs(mpf(height) / (1 - cos(end)) - 1) <= allowed


def _sensitivity(end: mpf, rate: float, swing: float, friction: float) -> float:
    """By how much more than a rounding error the end moves if the terms of the speed have one."""
    terms = abs(rate * sin(end)) + friction * (end - sin(end)) + abs(swing) * (1 - cos(end))
    fall = rate * cos(end) - friction * (1 - cos(end)) + swing * sin(end)
    return float(max(1, terms / abs(fall * end)))


def test_forces_whose_powers_underflow_have_an_end(probe: Probe) -> None:
    rate = np.array([0.0, 1e-3, 1e-250])
    friction = np.array([1e-260, 1e-300, 1e-300])
    swing = np.array([1.0, 1.0, 1e-250])
    u, versine = probe("end", rate, swing, friction)
    for computed, height, case in zip(
        u, versine, zip(rate, swing, friction, strict=True), strict=True
    ):
        end = true_end(*map(float, case))
        assert computed == pytest.approx(float(end), rel=1e-15)
        assert height == pytest.approx(1 - np.cos(float(end)), abs=1e-15)


def test_the_end_of_a_slip_does_not_depend_on_its_neighbours(probe: Probe) -> None:
    """Not even on one that has to be found in a bracket."""
    ordinary = slips(63)
    alone = probe("end", *ordinary)
    hard = np.array([[1e-250], [1e-250], [1e-300]])
    beside = probe("end", *np.concatenate([hard, ordinary], axis=1))
    np.testing.assert_array_equal(beside[:, 1:], alone)
