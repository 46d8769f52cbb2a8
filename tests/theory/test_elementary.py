"""exp, log and normal quantiles against mpmath, and their bits on processors of several ages."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from sweep.sampling.distributions import DISTRIBUTIONS, Margin
from sweep.theory import elementary, wear
from sweep.theory.beams import beam_frequencies, beam_shapes
from tests.command import CHECKOUT, environment

Numbers = NDArray[np.float64]
random = np.random.default_rng(1)
UNIT = random.uniform(0, 1, 400)
SMALL = 10.0 ** random.uniform(-20, -1, 200)
ENDS = np.array([2.0**-65, 2.0**-31, 0.5, 1 - 2.0**-30, 1 - 2.0**-53])


def largest_error(
    function: Callable[[Numbers], Numbers],
    exact_function: Callable[[mpmath.mpf], mpmath.mpf],
    x: Numbers,
) -> float:
    """In units in the last place of the right value."""
    with mpmath.workprec(400):
        values = [exact_function(mpmath.mpf(each)) for each in x.tolist()]
        pairs = zip(function(x).tolist(), values, strict=True)
        return max(
            float(abs((mpmath.mpf(computed) - expected) / np.spacing(abs(float(expected)))))
            for computed, expected in pairs
        )


def test_log() -> None:
    x = np.concatenate([10.0 ** random.uniform(-308, 308, 400), 2 * UNIT, ENDS, [5e-324, 1.0]])
    assert largest_error(elementary.log, mpmath.log, x) < 1


def test_exp() -> None:
    x = np.concatenate([random.uniform(-708, 709, 400), 2 * UNIT - 1, SMALL, [0.0]])
    assert largest_error(elementary.exp, mpmath.exp, x) < 1
    beyond = elementary.exp(np.array([-1e300, -760, 710, 1e300]))
    assert beyond.tolist() == [0, 0, np.inf, np.inf]


def test_log_of_rest() -> None:
    x = np.concatenate([UNIT, SMALL, ENDS])
    assert largest_error(elementary.log_of_rest, lambda value: mpmath.log(1 - value), x) < 2


def test_one_minus_exp() -> None:
    x = np.concatenate([UNIT, SMALL, random.uniform(0, 50, 400), [0.5]])
    assert largest_error(elementary.one_minus_exp, lambda each: -mpmath.expm1(-each), x) < 2
    assert elementary.one_minus_exp(np.array([0.0, 800.0, np.inf])).tolist() == [0, 1, 1]


def test_arc_tangent() -> None:
    """Of every quadrant with y >= 0, from directions near an axis to those near a diagonal."""
    ratios = np.concatenate([UNIT, SMALL, 1 - SMALL, 0.4375 + SMALL, 0.6875 + SMALL])
    ones = np.ones_like(ratios)
    for y, x in ((ratios, ones), (ones, ratios), (ratios, -ones), (ones, -ratios)):
        with mpmath.workdps(40):
            exact = [mpmath.atan2(*map(mpmath.mpf, each)) for each in zip(y, x, strict=True)]
        computed = elementary.arc_tangent(y, x)
        for one, other in zip(computed.tolist(), exact, strict=True):
            assert abs((mpmath.mpf(one) - other) / np.spacing(float(other))) < 2
    axes = elementary.arc_tangent(np.array([0.0, 0.0, 1.0]), np.array([1.0, -1.0, 0.0]))
    assert axes.tolist() == [0, np.pi, np.pi / 2]


def test_sine_cosine() -> None:
    x = np.concatenate([random.uniform(-100, 100, 400), random.uniform(-1e5, 1e5, 400), SMALL])
    assert largest_error(lambda x: elementary.sine_cosine(x)[0], mpmath.sin, x) < 2.5
    assert largest_error(lambda x: elementary.sine_cosine(x)[1], mpmath.cos, x) < 2.5


def test_power() -> None:
    x, y = 10.0 ** random.uniform(-150, 150, 400), random.uniform(-2, 2, 400)
    with mpmath.workdps(60):
        expected = [
            mpmath.mpf(a) ** mpmath.mpf(b) for a, b in zip(x.tolist(), y.tolist(), strict=True)
        ]
        computed = elementary.power(x, y).tolist()
        errors = [abs(mpmath.mpf(a) / b - 1) for a, b in zip(computed, expected, strict=True)]
    assert all(error < (2 + 2 * abs(b)) * 2**-53 for error, b in zip(errors, y, strict=True))


def test_normal_quantiles() -> None:
    """The error of the quantile is that of its probability over the density there."""
    p = np.concatenate([UNIT, SMALL, 10.0 ** random.uniform(-300, -20, 50), 1 - SMALL, ENDS])
    p = p[(p < 1) & (p != 0.5)]
    with mpmath.workprec(2500):
        for each, z in zip(p.tolist(), elementary.normal_quantile(p).tolist(), strict=True):
            excess = mpmath.ncdf(z) - mpmath.mpf(each)
            assert abs(excess / mpmath.npdf(z) / z) < 1e-15
    assert elementary.normal_quantile(np.array([0.5])).tolist() == [0]


@pytest.mark.parametrize("x", [0, 0.3, 3.99, 4, 4.01, 8, 37])
def test_probabilities_of_tails(x: float) -> None:
    with mpmath.workdps(60):
        expected = mpmath.ncdf(-mpmath.mpf(x))
        assert abs(mpmath.mpf(str(elementary.normal_beyond(x))) / expected - 1) < 1e-40


ARGUMENTS: dict[str, tuple[float, ...]] = {
    "uniform": (0.1, 0.7), "loguniform": (0.01, 3.0), "normal": (0.3, 0.05),
    "lognormal": (0.1, 0.3), "truncated_normal": (0.3, 0.2, 0.1, 0.9),
    "triangular": (0.1, 0.2, 0.7), "weibull": (2.0, 1.7),
}  # fmt: skip


TUBE = {"radius": 0.011, "length": 0.03}
SCARS = {
    "tube_flat": TUBE,
    "tube_flat_inclined": {**TUBE, "angle": 0.02},
    "tube_hole": {**TUBE, "hole_radius": 0.0112},
}


def digests() -> dict[str, str]:
    """The bits of each distribution's values at the same numbers."""
    unit = np.random.Generator(np.random.PCG64(5)).random(20_000)
    values = {form: Margin(form, own).values(unit, 2.0**-53) for form, own in ARGUMENTS.items()}
    values["power"] = elementary.power(1 + unit, unit)
    values["sine"], values["cosine"] = elementary.sine_cosine(100 * unit)
    ends = ("clamped", "free")
    values["beams"] = beam_shapes(unit[:100], 20, ends, 1.0) * beam_frequencies(20, ends, 1, 2, 3)
    volume = wear.volume("edf_mz", 10 * unit[:500], 3 * wear.YEAR)
    values["years"] = wear.time_to_volume("edf_mz", 0.7, volume, exponent=1.3)
    for geometry, size in SCARS.items():
        values[geometry] = wear.depth(geometry, volume, **size)
    return {name: hashlib.sha256(each.tobytes()).hexdigest() for name, each in values.items()}


def vector_extensions() -> list[str]:
    """The vector instructions that NumPy uses here beyond those that it always needs."""
    configuration: dict[str, dict[str, list[str]]] = np.show_config("dicts")
    return configuration["SIMD Extensions"].get("found", [])


def test_old_processors_give_the_same_bits() -> None:
    """NumPy without its vector instructions, which has other code for exp and log."""
    assert set(ARGUMENTS) == set(DISTRIBUTIONS)
    text = "from tests.theory.test_elementary import *; print(vector_extensions(), digests())"
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text],
        cwd=CHECKOUT, capture_output=True, text=True, check=True,
        env={**environment(), "NPY_DISABLE_CPU_FEATURES": " ".join(vector_extensions())},
    )  # fmt: skip
    assert process.stdout.strip() == f"[] {digests()}"
