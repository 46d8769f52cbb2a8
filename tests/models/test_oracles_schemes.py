"""The plain penalised schemes against published figures, closed forms and their own orders."""

from __future__ import annotations

import cmath
import math

import pytest

from tests.oracles.penalised_schemes import (
    Interval,
    Memory,
    Oscillator,
    Sample,
    Step,
    block_mean,
    count_slips,
    equal_steps,
    run,
    scheme_of,
    tabulated_sine,
)
from tests.points.friction_oscillator import CODE_ASTER_TOLERANCES, CONTROLLED, PENALISED

SDND104 = {
    "m": 1.0, "g": 10.0, "mu": 0.1, "k": 3e-5, "c": 0.0, "a0": 15.0, "w": 2 * math.pi,
    "av": 0.0, "phi": 0.0, "t0": 4.0, "t1": 12.0,
}  # fmt: skip

STIFFNESS = 9e6  # N/m, of the penalised law behind the published results
TIME_IS_COUNTED = 1e-11  # relative: q·h here, t += h there
SUMMED = 3e-12  # relative: half a unit in the last of 12 digits
TABULATED = {15.0: 15.26672, 1.5: 0.4090674, 1.01: 2.261123e-4}
HALF_DIGITS = {15.0: 5e-6, 1.5: 5e-8, 1.01: 5e-11}
ORDERS = {"euler": 1, "adapt_ordre2": 2, "rk54": 5, "rk32": 3}  # with dampers


@pytest.mark.parametrize(
    ("a0", "published"),
    [(1.5, 0.409077335988), (1.01, 2.26326449113e-4),
     *(pytest.param(*case, marks=pytest.mark.broad) for case in ((15.0, 15.2667964799),
                                                                 (0.99, 0.0)))],
)  # fmt: skip
def test_euler_gives_the_values_code_aster_publishes(a0: float, published: float) -> None:
    outputs = run(
        "euler", SDND104 | {"a0": a0}, step=1e-4, tangential_stiffness=STIFFNESS, blocks=8
    )
    assert outputs is not None
    assert outputs["wear_power"] == pytest.approx(published, rel=TIME_IS_COUNTED, abs=0)
    assert outputs["friction_power"] == 0.1 * outputs["wear_power"]
    assert outputs["steps"] == 120_000
    assert outputs["regime"] == {15.0: 2, 1.5: 1, 1.01: 1, 0.99: 0}[a0]
    assert outputs["slip_phases"] == (16 if a0 > 1 else 0)


def test_with_time_summed_up_euler_gives_them_to_their_last_digit() -> None:
    outputs = run(
        "euler", SDND104 | {"a0": 1.01}, step=1e-4, tangential_stiffness=STIFFNESS, blocks=8,
        drift=True,
    )  # fmt: skip
    assert outputs is not None
    assert outputs["wear_power"] == pytest.approx(2.26326449113e-4, rel=SUMMED, abs=0)


@pytest.mark.parametrize(
    ("scheme", "a0", "column"),
    [
        ("euler", 1.01, TABULATED[1.01]),
        ("devogelaere", 15.0, 15.26647),
        *(
            pytest.param(*case, marks=pytest.mark.broad)
            for case in (
                ("euler", 15.0, TABULATED[15.0]),
                ("euler", 1.5, TABULATED[1.5]),
                ("devogelaere", 1.01, 2.26110e-4),
            )
        ),
    ],
)
def test_tabulated_shaking_gives_the_documents_columns(
    scheme: str, a0: float, column: float
) -> None:
    """The document's columns of EULER and DEVOGE, printed with five to seven digits."""
    outputs = run(
        scheme, SDND104 | {"a0": a0}, step=1e-4, tangential_stiffness=STIFFNESS, blocks=8,
        sine=tabulated_sine(2 * math.pi, 12.0, 10_000),
    )  # fmt: skip
    digits = HALF_DIGITS[a0] * (10 if (scheme, a0) == ("devogelaere", 1.01) else 1)
    assert outputs is not None
    assert abs(outputs["wear_power"] - column) <= digits


@pytest.mark.parametrize(
    ("scheme", "tolerance"),
    [*CODE_ASTER_TOLERANCES, *((scheme, math.inf) for scheme in PENALISED)],
)
def test_every_scheme_comes_near_the_exact_stick_slip(scheme: str, tolerance: float) -> None:
    """Two half periods of known wear energy, without the weak spring; penalty and step differ."""
    point = SDND104 | {"a0": 1.5, "k": 0.0, "t0": 0.1, "t1": 1.1}
    outputs = run(
        scheme, point, step=1e-4, tangential_stiffness=STIFFNESS, tolerance=tolerance,
        maximum_step=1e-4,
    )  # fmt: skip
    assert outputs is not None
    assert outputs["wear_power"] == pytest.approx(2 * 0.20453122550785, rel=2e-4)
    assert outputs["regime"] == 1
    assert (outputs["steps"] == 11_000) == math.isinf(tolerance)


@pytest.mark.parametrize("scheme", PENALISED)
@pytest.mark.parametrize("tolerance", [math.inf, 1e-4])
def test_below_the_threshold_nothing_slips(scheme: str, tolerance: float) -> None:
    """Exactly nothing, however the stuck mass swings."""
    if tolerance < math.inf and scheme not in CONTROLLED:
        with pytest.raises(ValueError, match="tolerance must be inf"):
            run(scheme, SDND104, step=1e-4, tolerance=tolerance)
        return
    point = SDND104 | {"a0": 0.99, "t0": 0.0, "t1": 0.5}
    outputs = run(
        scheme, point, step=1e-4, tangential_stiffness=1e4, maximum_step=1e-3,
        tolerance=1.0 if scheme == "adapt_ordre2" and tolerance < math.inf else tolerance,
    )  # fmt: skip
    assert outputs is not None
    for name in ("wear_power", "slip_distance", "peak_slip_speed", "slip_phases", "regime"):
        assert outputs[name] == 0
    assert outputs["stick_fraction"] == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("a0", [15.0, 1.5])
def test_moreau_tends_to_the_exact_powers(a0: float) -> None:
    """First order: an end of a slip is found to within a step."""
    exact = {15.0: 15.266764915376, 1.5: 0.409062758890}[a0]
    for step, error in ((2e-3, 1e-3), (2e-4, 1e-4)):
        outputs = run("moreau", SDND104 | {"a0": a0}, step=step)
        assert outputs is not None
        assert outputs["wear_power"] == pytest.approx(exact, rel=error, abs=0)
        assert outputs["slip_phases"] == 16


def test_moreau_sticks_exactly() -> None:
    outputs = run("moreau", SDND104 | {"a0": 0.99}, step=1e-2)
    assert outputs is not None
    assert (outputs["wear_power"], outputs["regime"]) == (0, 0)
    assert outputs["stick_fraction"] == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize(
    ("scheme", "order", "law_damping", "damping"),
    [("devogelaere", 4, 0.0, 0.0), ("devogelaere", 3, 0.0, 5.0), ("devogelaere", 1, 4.0, 0.0),
     *((scheme, ORDERS[scheme], 4.0, 1.0) for scheme in PENALISED if scheme != "devogelaere")],
)  # fmt: skip
def test_orders_of_the_schemes_in_stick(
    scheme: str, order: int, law_damping: float, damping: float
) -> None:
    """The stuck mass is a linear oscillator of known motion.

    Dampers cost devogelaere orders: a viscous one is met by the trapezoidal rule at mid-step, that
    of the law by the mean velocity of the half step before.
    """
    point = SDND104 | {"mu": 1e9, "k": 50.0, "c": damping, "w": 5.0}
    errors = []
    for n in (200, 400):
        oscillator = Oscillator(point, 350.0, law_damping, math.sin)
        stepper = scheme_of(scheme, 1.0)
        state, greatest = stepper.start(oscillator, 1 / n), 0.0
        for q in range(n):
            state, _ = stepper.step(oscillator, state, Step(q / n, 1 / n, (q + 1) / n))
            place = forced_motion(400.0, law_damping + damping, 15.0, 5.0, (q + 1) / n)
            greatest = max(greatest, abs(state.place - place))
        errors.append(greatest)
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)


def forced_motion(stiffness: float, damping: float, a0: float, w: float, t: float) -> float:
    """Place at time t of the unit mass under −a0 sin wt, at rest before time 0."""
    steady = -a0 / complex(stiffness - w**2, damping * w)
    rate = complex(-damping / 2, math.sqrt(stiffness - damping**2 / 4))
    place, speed = -steady.imag, -(1j * w * steady).imag  # of the free motion at time 0
    free = complex(place, (rate.real * place - speed) / rate.imag)
    return (steady * cmath.exp(1j * w * t)).imag + (free * cmath.exp(rate * t)).real


def test_the_law_by_hand() -> None:
    """μN = 1 N, K_T = 100 N/m, C_T = 2 N s/m."""
    oscillator = Oscillator(SDND104, 100.0, 2.0, math.sin)
    assert oscillator.friction_force(0.005, 0.1, 0.0) == pytest.approx(-0.7)
    assert oscillator.memory == Memory(True, 0.0, 0.0, 0.1)
    assert oscillator.friction_force(0.02, 0.1, 0.0) == -1  # the trial is −2.2 N
    assert oscillator.memory == Memory(False, -1.0, 0.02, 0.1)
    assert oscillator.friction_force(0.03, 0.05, 0.0) == -1  # goes on slipping, untried
    assert oscillator.friction_force(0.03, 0.0, 0.0) == -1  # tried for stick, and holds
    assert oscillator.memory == Memory(True, -1.0, 0.03, 0.0)
    assert oscillator.friction_force(0.05, 0.0, 0.0) == 0  # the trial is −3 N, but nothing moves
    assert oscillator.memory == Memory(False, 0.0, 0.05, 0.0)
    assert oscillator.friction_force(0.03, -0.2, 0.0) == 1


def test_steps_land_on_both_ends_of_the_window() -> None:
    steps = list(equal_steps(0.1, [0.25, 0.55]))
    assert [step.length for step in steps] == pytest.approx([0.1, 0.1, 0.05, 0.1, 0.1, 0.1])
    assert steps[2].end == pytest.approx(0.25, rel=1e-15)
    assert steps[-1].end == pytest.approx(0.55, rel=1e-15)
    assert [step.length for step in equal_steps(0.1, [0.0, 0.01])] == [0.01]
    assert len(list(equal_steps(1e-4, [4.0, 12.0]))) == 120_000


def test_a_window_within_a_long_step() -> None:
    """The control's step is longer than the window, so that it is cut twice."""
    point = SDND104 | {"t0": 0.3, "t1": 0.3 + 1e-5}
    outputs = run("rk32", point, step=1e-4, tangential_stiffness=1e4, tolerance=1e-5)
    assert outputs is not None
    speed = outputs["slip_distance"] / 1e-5
    assert outputs["wear_power"] == pytest.approx(10 * speed)
    assert outputs["peak_slip_speed"] == pytest.approx(speed, rel=1e-3)


def test_too_many_steps() -> None:
    for scheme, tolerance in (("euler", math.inf), ("rk32", 1e-5), ("moreau", math.inf)):
        assert run(scheme, SDND104, step=1e-4, tolerance=tolerance, maximum_steps=50) is None


def test_blocks_by_hand() -> None:
    """Seven steps make eight samples: two blocks of four samples, three steps each."""
    intervals = [Interval(wear, 0.0) for wear in (1.0, 2.0, 3.0, 100.0, 5.0, 6.0, 7.0)]
    steps = [1.0, 1.0, 2.0, 1.0, 3.0, 3.0, 3.0]
    assert block_mean(intervals, steps, 2) == (6 / 4 + 18 / 9) / 2
    assert block_mean(intervals, steps, 3) == (1 / 1 + 3 / 2 + 5 / 3) / 3
    with pytest.raises(ValueError, match="too many"):
        block_mean(intervals, steps, 5)


def test_slips_by_hand() -> None:
    """A single stuck sample is no rest; two are; what begins on the window's start is not in it."""
    speeds = [0, 1, 1, 0, 1, -1, 0, 0, -1, -1, 1]
    samples = [Sample(i, 1, v, v == 0, i, v == 0, v) for i, v in enumerate(speeds)]
    assert [count_slips(samples, first) for first in (0, 1, 4, 5, 8, 10)] == [4, 3, 3, 2, 1, 0]
