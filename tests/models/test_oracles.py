"""The oracles against published numbers, closed forms and each other; they share no code."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from tests.oracles.friction_oscillator import exact
from tests.oracles.friction_scan import PARAMETERS, random_points, scan

REFERENCE = Path(__file__).parents[1] / "reference" / "friction_oscillator.json"

PUBLISHED = {
    "m": 1.0, "g": 10.0, "mu": 0.1, "k": 0.0, "c": 0.0, "a0": 1.5, "w": 2 * math.pi,
    "av": 0.0, "phi": 0.0, "t0": 4.0, "t1": 12.0,
}  # fmt: skip

ONE_ROUNDING = 2.3e-16  # the oracle rounds once; the closed form it is held against, too
PRINTED = 4e-14  # half a unit in the last of 14 digits
PRINTED_SPRUNG = 3e-11  # half a unit in the last of 11 or 12 digits
SCAN = 1e-7  # cells of 1/2048 cycle; the shortest slips last a few of them
DECIDED = 1e-9  # scaled force, speed or cycles: far above the scan's rounding


@pytest.mark.parametrize(
    ("a0", "t1", "wear_power"),
    [
        (15.0, 12.0, 15.267099589372), (15.0, 11.99, 15.257521793944),
        (1.5, 12.0, 0.40906245101571), (1.5, 11.99, 0.40910313286351),
        (1.01, 12.0, 2.2616412127979e-4), (1.01, 11.99, 2.2644718025511e-4),
        (0.99, 12.0, 0.0), (0.99, 11.99, 0.0),
    ],
)  # fmt: skip
def test_exact_gives_the_reference_table(a0: float, t1: float, wear_power: float) -> None:
    """SDND104 without its weak spring."""
    result = exact(**PUBLISHED | {"a0": a0, "t1": t1})
    assert result["wear_power"] == pytest.approx(wear_power, rel=PRINTED, abs=0)


@pytest.mark.parametrize(
    ("a0", "wear_power"), [(15.0, 15.266764915376), (1.5, 0.409062758890), (1.01, 2.2616412588e-4)]
)
def test_exact_gives_the_sprung_reference_values(a0: float, wear_power: float) -> None:
    """SDND104 with its spring of 3e-5 N/m."""
    result = exact(**PUBLISHED | {"a0": a0, "k": 3e-5})
    assert result["wear_power"] == pytest.approx(wear_power, rel=PRINTED_SPRUNG, abs=0)


@pytest.mark.parametrize("case", json.loads(REFERENCE.read_text()))
def test_exact_gives_the_reference_cases(case: dict[str, float]) -> None:
    """Random cases computed elsewhere; their peak is that of a sampled speed."""
    result = exact(**{name: case[name] for name in PARAMETERS})
    assert abs(result["wear_power"] - case["wear_power"]) <= case["uncertainty"]
    assert result["stick_fraction"] == pytest.approx(case["stick_fraction"], abs=1e-8)
    assert result["slip_phases"] == case["slips"]
    assert result["peak_slip_speed"] == pytest.approx(case["peak_slip_speed"], rel=1e-3, abs=0)


@pytest.mark.parametrize("beyond", [0.5, 1e-2, 1e-6, 1e-9])
def test_exact_gives_the_closed_form_of_stick_slip(beyond: float) -> None:
    """Sixteen half periods of the free oscillator, each slip alike, down to slips of no length."""
    case = PUBLISHED | {"a0": 1 + beyond}
    with mp.workdps(80):
        m, g, mu, a0, w = (mp.mpf(case[name]) for name in ("m", "g", "mu", "a0", "w"))
        eta = mu * g / a0
        begin = mp.asin(eta)

        def speed(angle: mp.mpf) -> mp.mpf:
            return eta * (angle - begin) - mp.cos(begin) + mp.cos(angle)

        bracket = (begin + 2 * mp.acos(eta), begin + 4 * mp.acos(eta))
        end = mp.findroot(speed, bracket, solver="anderson")
        fall = (end - begin) * mp.cos(begin) - (mp.sin(end) - eta) - eta * (end - begin) ** 2 / 2
        wear_power = float(16 * m * g * a0 / w**2 * fall / 8)
        stick_fraction = float(1 - 16 * (end - begin) / w / 8)
    result = exact(**case)
    assert result["wear_power"] == pytest.approx(wear_power, rel=ONE_ROUNDING, abs=0)
    assert result["stick_fraction"] == pytest.approx(stick_fraction, rel=ONE_ROUNDING, abs=0)
    assert (result["slip_phases"], result["regime"]) == (16, "stick_slip")


@pytest.mark.parametrize(
    "kind",
    [
        {"k": 60.0, "c": 1.5, "t1": 0.47}, {"k": 60.0, "c": 40.0, "t1": 0.44},
        {"k": 1e-9, "c": 3.0, "t1": 0.547}, {"k": 400.0, "t1": 0.34},
        {"k": 60.0, "c": 1.5, "t1": 0.3},
    ],
)  # fmt: skip
def test_exact_gives_one_slip_by_exponentials_and_quadrature(kind: dict[str, float]) -> None:
    """The first slip of a shaken, sprung, damped mass, to the rest after it or not to its end."""
    case = PUBLISHED | {"a0": 2.0, "av": 4.0, "phi": 0.7, "t0": 0.0} | kind
    with mp.workdps(60):
        begin, end, speed = _first_slip(case)
        m, g, _, _, _, a0, w, av, phi, _, t1 = (mp.mpf(case[name]) for name in PARAMETERS)
        stop = min(end, w * t1)
        energy = mp.quad(
            lambda angle: (g + av * mp.sin(angle + phi)) * speed(angle), mp.linspace(begin, stop, 5)
        )
        wear_power = float(m * a0 / w**2 * energy / t1)
        stick_fraction = float(1 - (stop - begin) / (w * t1))
    result = exact(**case)
    assert result["wear_power"] == pytest.approx(wear_power, rel=ONE_ROUNDING, abs=0)
    assert result["stick_fraction"] == pytest.approx(stick_fraction, rel=ONE_ROUNDING, abs=0)
    assert result["slip_phases"] == 1


@pytest.mark.parametrize(
    "kind",
    [
        {"w": 2.0, "k": 4.0}, {"k": 4.0, "c": 4.0}, {"k": 4.0, "c": math.nextafter(4.0, 5.0)},
        {"k": 30.0, "c": 3.0, "av": 9.0, "phi": 1.0, "a0": 3.0}, {"k": 5e-324, "c": 1e-30},
        {"k": 980.0, "c": 2.0, "a0": 20.0},
    ],
)  # fmt: skip
def test_exact_does_not_depend_on_its_digits(kind: dict[str, float]) -> None:
    """Resonance, critical damping, vanishing spring: 40 digits give the doubles that 80 give."""
    assert exact(**PUBLISHED | kind) == exact(**PUBLISHED | kind, digits=80)


def test_exact_refuses_what_has_no_answer() -> None:
    """Lift-off, an empty window, and a speed that touches zero exactly (no friction, from rest)."""
    with pytest.raises(ValueError, match="lift-off"):
        exact(**PUBLISHED | {"av": 10.0})
    with pytest.raises(ValueError, match="empty window"):
        exact(**PUBLISHED | {"t1": 4.0})
    with pytest.raises(ArithmeticError, match="double zero"):
        exact(**PUBLISHED | {"mu": 0.0})


@pytest.mark.broad
def test_scan_agrees_with_exact() -> None:
    """Random oscillators of every kind, by two methods that have only the equation in common."""
    points = random_points(200, seed=1)
    outputs = scan(points, steps_per_cycle=2048)
    assert (outputs["slips_total"] >= 0).all()
    assert np.mean(outputs["margin"] > DECIDED) > 0.99
    for i in np.flatnonzero(outputs["margin"] > DECIDED):
        truth = exact(**{name: float(points[name][i]) for name in PARAMETERS})
        assert outputs["slip_phases"][i] == truth["slip_phases"]
        for name in ("wear_power", "slip_distance", "stick_fraction"):
            assert outputs[name][i] == pytest.approx(truth[name], rel=SCAN, abs=0)


@pytest.mark.broad
@pytest.mark.parametrize("beyond", [-1e-2, -1e-6, 1e-6, 1e-2])
def test_margin_is_the_force_that_onset_lacks_or_exceeds(beyond: float) -> None:
    """At a0 = μg(1 + d) the greatest required force and the bound differ by d/(1 + d) of m a0."""
    case = {name: np.array([number]) for name, number in PUBLISHED.items()}
    case["a0"] = np.array([1 + beyond])
    outputs = scan(case, steps_per_cycle=2048)
    assert outputs["slip_phases"][0] == (16 if beyond > 0 else 0)
    assert outputs["margin_decision"][0] == pytest.approx(abs(beyond), rel=2e-2)


@pytest.mark.broad
def test_margin_is_the_distance_of_an_onset_from_the_edge() -> None:
    """A window that opens 1e-5 cycles before or after the onset at asin η, and one far from it."""
    onset = 4 + math.asin(1 / 1.5) / (2 * math.pi)
    case = {name: np.full(3, number) for name, number in PUBLISHED.items()}
    case["t0"] = onset + np.array([-1e-5, 1e-5, -0.05])
    case["t1"] = case["t0"] + 1
    outputs = scan(case, steps_per_cycle=2048)
    assert outputs["margin_window"][:2] == pytest.approx(1e-5, rel=1e-6)
    assert outputs["margin_window"][2] > 0.01
    assert outputs["slip_phases"].tolist() == [2, 2, 2]
    case["t1"] = np.full(3, onset + 0.25)
    assert scan(case, steps_per_cycle=2048)["slip_phases"].tolist() == [1, 0, 1]


def test_scan_refuses_a_grid_too_coarse_for_the_flow() -> None:
    """Its series would not reach across a cell."""
    case = {name: np.array([number]) for name, number in PUBLISHED.items()} | {"c": np.array([1e4])}
    with pytest.raises(ValueError, match="too few"):
        scan(case, steps_per_cycle=2048)


def _first_slip(
    case: dict[str, float],
) -> tuple[mp.mpf, mp.mpf, Callable[[mp.mpf], mp.mpf]]:
    """Onset, first zero after it and speed(angle) of a slip from rest, over scaled time.

    Bracketed by stepping: good for a slip that is no subtle case.
    """
    m, g, mu, k, c, a0, w, av, phi = (mp.mpf(case[name]) for name in PARAMETERS[:9])
    kappa, gamma, eta, nu = k / (m * w**2), c / (m * w), mu * g / a0, mu * av / a0

    def excess(angle: mp.mpf) -> mp.mpf:
        return mp.sin(angle) - eta - nu * mp.sin(angle + phi)

    begin = _first_zero(excess, mp.mpf(0))
    push = -(-1 + nu * mp.expj(phi)) / (kappa - 1 + 1j * gamma)
    root = mp.sqrt(gamma**2 / 4 - kappa + 0j)
    fast, slow = -gamma / 2 - root, -gamma / 2 + root
    place_now = -(push * mp.expj(begin)).imag + eta / kappa
    speed_now = -(1j * push * mp.expj(begin)).imag
    first = (speed_now - slow * place_now) / (fast - slow)

    def speed(angle: mp.mpf) -> mp.mpf:
        steady = (1j * push * mp.expj(angle)).imag
        spent = first * fast * mp.exp(fast * (angle - begin))
        spent += (place_now - first) * slow * mp.exp(slow * (angle - begin))
        return steady + spent.real

    return begin, _first_zero(speed, begin + mp.mpf("0.01")), speed


def _first_zero(function: Callable[[mp.mpf], mp.mpf], start: mp.mpf) -> mp.mpf:
    """The first change of sign after `start` that steps of 0.01 see."""
    angle, step = start, mp.mpf("0.01")
    while function(angle) * function(angle + step) > 0:
        angle += step
    return mp.findroot(function, (angle, angle + step), solver="anderson")
