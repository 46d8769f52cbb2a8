"""The time-stepping schemes of the kernels, without a model: order, stability, step control."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import mpmath
import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from sweep.model.tables import models
from sweep.theory import stability
from tests.kernel.kernel_probe import Entry, Probe, compile_probe

SCHEMES = {
    "euler": "Euler",
    "devogelaere": "DeVogelaere",
    "adapt_ordre2": "AdaptOrdre2",
    "rk54": "Rk54",
    "rk32": "Rk32",
}
PAIRS = {"rk32": 3, "rk54": 5}
ORDERS = {"euler": 1, "devogelaere": 4, "adapt_ordre2": 2, **PAIRS}
STEPS = (40, 57, 80, 113, 160, 226, 320)
END = 2.5
START = (0.7, -0.4)  # y and v
# stiffness, inner, damping: without a damper, with one apart, with one within the force
SPRING = (5.0, 0.0, 0.0)
APART = (5.0, 0.0, 0.6)
INNER = (5.0, 0.6, 0.0)

Values = NDArray[np.float64]


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    entries = {
        "root": Entry(1, 1, "out[0] = schemes::inverse_cube_root(in[0]);"),
        "free_devogelaere": Entry(7, 2, "driven::constant<schemes::DeVogelaere, false>(in, out);"),
    }
    for name, scheme in SCHEMES.items():
        scheme = f"schemes::{scheme}"
        entries[name] = Entry(7, 2, f"driven::constant<{scheme}, true>(in, out);")
        entries[f"{name}_order"] = Entry(1, 1, f"out[0] = double({scheme}::order);")
        held = f"out[0] = select(schemes::stable<{scheme}>(in[0], in[1], in[2]), 1.0, 0.0);"
        entries[f"{name}_stable"] = Entry(3, 1, held)
    for name in PAIRS:
        scheme = f"schemes::{SCHEMES[name]}"
        entries[f"{name}_difference"] = Entry(6, 2, f"driven::difference<{scheme}>(in, out);")
        entries[f"{name}_verdict"] = Entry(5, 2, f"driven::verdict<{scheme}>(in, out);")
    for name in (*PAIRS, "adapt_ordre2"):
        controlled = f"driven::controlled<schemes::{SCHEMES[name]}>(in, out);"
        entries[f"{name}_controlled"] = Entry(9, 6, controlled)
    header = str(Path(__file__).with_name("driven_motion.h"))
    return compile_probe(tmp_path_factory.mktemp("schemes"), header, entries, width=1, pack=1)


def motion(stiffness: float, inner: float, damping: float, t: ArrayLike) -> Values:
    """y and v at t in closed form, for either damper; damping is below critical."""
    t, c = np.asarray(t), inner + damping
    gap = stiffness - 1
    size = gap**2 + c**2
    sine, cosine = gap / size, -c / size  # of the steady motion
    decay, turn = c / 2, math.sqrt(stiffness - c**2 / 4)
    y0, v0 = START[0] - cosine, START[1] - sine
    other = (v0 + decay * y0) / turn
    wave, quarter = np.cos(turn * t), np.sin(turn * t)
    free = np.exp(-decay * t) * (y0 * wave + other * quarter)
    slope = np.exp(-decay * t) * (turn * (other * wave - y0 * quarter)) - decay * free
    steady = sine * np.sin(t) + cosine * np.cos(t)
    return np.array([steady + free, sine * np.cos(t) - cosine * np.sin(t) + slope])


def errors(
    probe: Probe, entry: str, kind: tuple[float, float, float], steps: Sequence[int] = STEPS
) -> Values:
    """Distance from the exact final state in the plane of y and v, for each number of steps."""
    ends = [probe(entry, *([x] for x in (*kind, *START, END, n)))[:, 0] for n in steps]
    return np.linalg.norm(np.array(ends) - motion(*kind, END), axis=1)


def order(lengths: ArrayLike, sizes: ArrayLike) -> float:
    """The fitted power of the step length with which errors decrease."""
    return float(np.polyfit(np.log(lengths), np.log(sizes), 1)[0])


@pytest.mark.parametrize("name", SCHEMES)
def test_order(probe: Probe, name: str) -> None:
    claimed = probe(f"{name}_order", [0.0])[0, 0]
    assert claimed == ORDERS[name]
    method = next(m for m in models()["friction_oscillator"].methods if m.name == name)
    assert f"(order {claimed:.0f}" in method.summary
    observed_order = order(END / np.array(STEPS), errors(probe, name, SPRING))
    assert 0.9 * claimed <= observed_order <= 1.1 * claimed


@pytest.mark.parametrize("name", [name for name in SCHEMES if name != "devogelaere"])
def test_order_with_a_damper(probe: Probe, name: str) -> None:
    observed_order = order(END / np.array(STEPS), errors(probe, name, APART))
    assert 0.9 * ORDERS[name] <= observed_order <= 1.1 * ORDERS[name]


def test_devogelaere_is_of_order_3_with_a_damper(probe: Probe) -> None:
    """The midpoint velocity is from the trapezoidal rule, with error h^3, which the damper uses."""
    steps = tuple(16 * n for n in STEPS)
    observed_order = order(END / np.array(steps), errors(probe, "devogelaere", APART, steps))
    assert observed_order == pytest.approx(3, rel=0.03)


@pytest.mark.parametrize("name", [name for name in SCHEMES if name != "devogelaere"])
def test_a_damper_within_the_force_is_equivalent_for_the_other_schemes(
    probe: Probe, name: str
) -> None:
    """These schemes keep their order; devogelaere needs the damper separately."""
    observed_order = order(END / np.array(STEPS), errors(probe, name, INNER))
    assert observed_order >= 0.9 * ORDERS[name]
    np.testing.assert_allclose(
        errors(probe, name, INNER), errors(probe, name, APART), rtol=0, atol=1e-12
    )


def test_devogelaere_loses_its_order_to_a_damper_within_the_force(probe: Probe) -> None:
    """Its provisional velocity, a difference quotient, lags by h/4."""
    observed_order = order(END / np.array(STEPS), errors(probe, "devogelaere", INNER))
    assert 0.9 <= observed_order <= 1.1


def test_an_undamped_right_hand_side_gives_the_same_steps(probe: Probe) -> None:
    """An undamped right-hand side gives the same steps up to rounding."""
    both = [errors(probe, entry, SPRING) for entry in ("devogelaere", "free_devogelaere")]
    np.testing.assert_allclose(*both, rtol=0, atol=1e-13)


RATIOS = (0.0, 0.02, 0.3, 1.0, 10.0)


def limits(probe: Probe, name: str, inner: Values, apart: Values, near: Values) -> Values:
    """The longest stable step by bisection between half and twice `near`, for frequency 1."""
    low, high = near / 2, near * 2

    def holds(x: Values) -> NDArray[np.bool_]:
        return probe(f"{name}_stable", x * x, 2 * inner * x, 2 * apart * x)[0] == 1

    assert np.all(holds(low))
    assert not np.any(holds(high))
    for _ in range(40):
        middle = (low + high) / 2
        inside = holds(middle)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return low


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("apart", [0.0, 0.4], ids=["alone", "damper"])
def test_stable_up_to_the_limit_of_theory(probe: Probe, name: str, apart: float) -> None:
    expected = np.array([stability.stability_limit(name, ratio, apart) for ratio in RATIOS])
    step_limits = limits(probe, name, np.array(RATIOS), np.full(len(RATIOS), apart), expected)
    slow = np.array([(name, ratio, apart) == ("rk54", 0.0, 0.0) for ratio in RATIOS])
    np.testing.assert_allclose(step_limits[~slow], expected[~slow], rtol=1e-4)
    # Undamped, rk54 goes beyond its limit at a pace that is let pass: 1e10 in 2^24 steps.
    for step, limit in zip(step_limits[slow], expected[slow], strict=True):
        assert limit < step < 1.003 * limit
        assert stability.spectral_radius(name, step, 0.0) <= 1 + 1.01 * math.log(1e10) / 2**24


@pytest.mark.parametrize("name", SCHEMES)
def test_every_shorter_step_is_stable(probe: Probe, name: str) -> None:
    for ratio in RATIOS:
        x = np.linspace(1e-3, 1 - 1e-4, 300) * stability.stability_limit(name, ratio)
        assert np.all(probe(f"{name}_stable", x * x, 2 * ratio * x, 0 * x)[0] == 1)


def test_inverse_cube_root_is_exact_to_rounding(probe: Probe) -> None:
    x = np.concatenate([np.geomspace(1e-3, 1e3, 3001), [1.0, 8.0, 0.125]])
    roots = probe("root", x)[0]
    with mpmath.workprec(120):
        exact = [1 / mpmath.cbrt(mpmath.mpf(float(value))) for value in x]
        relative_errors = [
            float(abs(mpmath.mpf(float(y)) / e - 1)) for y, e in zip(roots, exact, strict=True)
        ]
    assert max(relative_errors) < 2.3e-16
    assert roots[-3:].tolist() == [1.0, 0.5, 2.0]


@pytest.mark.parametrize("name", PAIRS)
def test_the_difference_of_a_pair_has_the_lower_order(probe: Probe, name: str) -> None:
    """Over one step from the same state it falls as h to the lower order plus one."""
    h = np.geomspace(0.02, 0.1, 9)
    columns = [np.full(h.size, x) for x in (*APART, *START)]
    differences = np.linalg.norm(probe(f"{name}_difference", *columns, h), axis=0)
    assert order(h, differences) == pytest.approx(PAIRS[name], rel=0.05)


@pytest.mark.parametrize("name", PAIRS)
def test_the_next_step_follows_the_error(probe: Probe, name: str) -> None:
    """0.9 error^(-1/(order + 1)), clipped to [0.2, 5], except after shortened steps."""
    share = np.array([0.0, 1e-12, 1e-9, 1e-8, 1e-6, 5e-6, 0.99e-5, 1.01e-5, 2e-5, 1e-3, 1e9])
    share = np.append(share, math.nan)
    tolerance, length, longest = 1e-5, 0.01, 0.03
    with np.errstate(divide="ignore"):
        factor = 0.9 * (share / tolerance) ** (-1 / (PAIRS[name] + 1))
    factor = np.where(np.isnan(share), 0.2, np.clip(factor, 0.2, 5.0))
    columns = [np.full(share.size, x) for x in (tolerance, length, longest)]
    accepted, following = probe(f"{name}_verdict", share, *columns, np.zeros(share.size))
    assert np.array_equal(accepted == 1, share < tolerance)
    np.testing.assert_allclose(following, np.minimum(length * factor, longest), rtol=1e-13)
    again, kept = probe(f"{name}_verdict", share, *columns, np.ones(share.size))
    assert np.array_equal(again, accepted)
    np.testing.assert_array_equal(kept, np.where(accepted == 1, length, following))


def controlled(probe: Probe, name: str, *numbers: float) -> dict[str, float]:
    names = ("y", "v", "tried", "taken", "next", "longest")
    values = probe(f"{name}_controlled", *([x] for x in (*APART, *START, *numbers)))[:, 0]
    return dict(zip(names, map(float, values), strict=True))


@pytest.mark.parametrize("name", PAIRS)
def test_the_error_falls_with_the_tolerance(probe: Probe, name: str) -> None:
    """For any first step. The error per step is controlled, so the final error falls with it."""
    tolerances = 10.0 ** -np.arange(3, 9 if name == "rk32" else 12)
    exact = motion(*APART, END)
    for first in (1e-6, 0.5):
        runs = [controlled(probe, name, END, first, e, 10.0) for e in tolerances]
        wrong = np.array([math.hypot(r["y"] - exact[0], r["v"] - exact[1]) for r in runs])
        assert np.all(np.diff(wrong) < 0)
        assert order(tolerances, wrong) > 0.8
        assert np.all(wrong < 10 * tolerances)
        tried, taken = (np.array([r[count] for r in runs]) for count in ("tried", "taken"))
        assert np.all(taken <= tried)
        assert order(tolerances[-4:], taken[-4:]) == pytest.approx(-1 / PAIRS[name], rel=0.3)


@pytest.mark.parametrize("name", [*PAIRS, "adapt_ordre2"])
def test_no_step_is_longer_than_the_longest(probe: Probe, name: str) -> None:
    tolerance = 1.0 if name == "adapt_ordre2" else 1e-2
    free = controlled(probe, name, END, 1e-4, tolerance, 10.0)
    bound = controlled(probe, name, END, 1e-4, tolerance, 0.003)
    assert free["longest"] > 0.004
    assert bound["longest"] == bound["next"] == 0.003


@pytest.mark.parametrize("tolerance", [1.0, 0.5])
def test_adapt_ordre2_takes_50_steps_of_a_period(probe: Probe, tolerance: float) -> None:
    """For a free oscillation, whose apparent frequency is the true one; at least 0.75 of 50."""
    frequency = 9.0
    for first in (1e-3, 0.3):
        kind = (frequency**2, 0.0, 0.0, 1e9, 0.0)  # so great that the drive is nothing
        numbers = (*kind, 20.0, first, tolerance, 10.0)
        values = probe("adapt_ordre2_controlled", *([x] for x in numbers))[:, 0]
        error = 50 * frequency / (2 * math.pi) * values[4] / tolerance
        assert 0.75 <= error <= 1.0
