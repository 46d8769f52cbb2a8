"""Closed forms of what has no value: NaN, 0, negative and infinite numbers, alone and in arrays."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from sweep.model.table import MISSING_FLAG
from sweep.theory import den_hartog, friction_oscillator, impact_oscillator, mdr_contact, stability

ORDINARY = 0.7  # taken by every argument of every function
SPECIAL = [math.nan, 0.0, -0.0, math.inf, -1.0, -math.inf, 5e-324]
NOTHING = {np.dtype(np.uint8): MISSING_FLAG, np.dtype(bool): False}


def functions(module: Any) -> list[Callable[..., Any]]:
    """Its public functions of numbers or arrays, not of a mapping of parameters."""
    members = [each for _, each in inspect.getmembers(module, inspect.isfunction)]
    own = [each for each in members if each.__module__.startswith(module.__name__)]
    numeric = [each for each in own if "parameters" not in inspect.signature(each).parameters]
    return [each for each in numeric if each.__name__[0] != "_"]


ARGUMENTS = [
    pytest.param(each, name, id=f"{module.__name__.rpartition('.')[2]}.{each.__name__}-{name}")
    for module in (den_hartog, friction_oscillator, impact_oscillator, mdr_contact)
    for each in functions(module)
    for name in inspect.signature(each).parameters
]


def results(function: Callable[..., Any], name: str, value: Any) -> list[np.ndarray]:
    arguments = dict.fromkeys(inspect.signature(function).parameters, ORDINARY)
    with np.errstate(all="ignore"):
        values = function(**{**arguments, name: value})
    return [np.asarray(each) for each in (values if isinstance(values, tuple) else (values,))]


@pytest.mark.parametrize(("function", "name"), ARGUMENTS)
def test_each_element_of_an_array_gives_the_value_of_the_scalar(
    function: Callable[..., Any], name: str
) -> None:
    for value in SPECIAL:
        ordinary, alone = results(function, name, ORDINARY), results(function, name, value)
        in_array = results(function, name, np.array([ORDINARY, value, ORDINARY]))
        for own, apart, all_three in zip(ordinary, alone, in_array, strict=True):
            assert all_three.dtype == own.dtype
            three = np.broadcast_to(all_three, 3)  # not all of several depend on each argument
            np.testing.assert_allclose(three, np.array([own, apart, own]), rtol=1e-12)


@pytest.mark.parametrize(("function", "name"), ARGUMENTS)
def test_nan_arguments_give_missing_results(function: Callable[..., Any], name: str) -> None:
    values = results(function, name, math.nan)
    are_missing = [each == NOTHING.get(each.dtype) or np.isnan(each) for each in values]
    assert any(are_missing)


@pytest.mark.parametrize(("function", "name"), ARGUMENTS)
def test_results_have_the_broadcast_shape(function: Callable[..., Any], name: str) -> None:
    names = list(inspect.signature(function).parameters)
    arguments = {other: np.full((1, 3), ORDINARY) for other in names} | {
        name: np.full((2, 1), ORDINARY)
    }
    values = function(**arguments)
    for each in values if isinstance(values, tuple) else (values,):
        assert each.shape == ((2, 3) if len(names) > 1 else (2, 1))


EXPONENTS = [0.0, 1e-310, 1e-3, 1, 2, 99.9, 100.1, 301, 1e4, 1e9, 1e15, 1e300]


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_profile_factor_of_any_exponent(exponent: float) -> None:
    """Against 60 digits; at 0 the limit, n Γ(n/2) being 2 there."""
    with mpmath.workdps(60 + 2 * max(0, round(math.log10(exponent or 1)))):
        n = mpmath.mpf(exponent)
        ratio = mpmath.exp(mpmath.loggamma(n / 2 + 1) - mpmath.loggamma((n + 1) / 2))
        exact = mpmath.sqrt(mpmath.pi) * ratio
        error = abs(mpmath.mpf(float(mdr_contact.profile_factor(exponent))) / exact - 1)
    assert error < 2e-14


def test_limits_at_infinity() -> None:
    """A flat punch of radius 1 m, F = 2E*ad; a rigid stop; friction that lets nothing slip."""
    assert mdr_contact.profile_factor(math.inf) == math.inf
    assert mdr_contact.contact_radius(0.3, 0.5, math.inf) == 1
    assert mdr_contact.normal_force(3.0, 1.0, 0.3, math.inf) == pytest.approx(1.8, rel=1e-15)
    assert mdr_contact.greatest_loss_phase(math.inf) == pytest.approx(math.pi / 2, rel=1e-15)
    linear = impact_oscillator.linear_frequency(2.0, 5.0)
    assert impact_oscillator.frequency_limit(2.0, 5.0, math.inf) == 2 * linear


def test_limits_of_motions() -> None:
    """A load without end lets nothing slip; the faster the plane, the shorter the way."""
    power, energy = (
        friction_oscillator.asymptotic_wear_power, friction_oscillator.half_period_wear_energy,
    )  # fmt: skip
    stuck, slipping = (1.0, math.inf, 0.1, 15.0, 6.0), (1.0, 10.0, 0.1, 15.0)
    assert power(*stuck) == energy(*stuck) == power(1.0, 10.0, math.inf, 15.0, 6.0) == 0
    assert power(*slipping, math.inf) == energy(*slipping, math.inf) == 0
    assert power(*slipping, 1e300) == pytest.approx(
        150 / 1e300 * math.sqrt(4 / math.pi**2 - 1 / 225)
    )
    with np.errstate(divide="ignore"):
        assert power(*slipping, 0.0) == energy(*slipping, 0.0) == math.inf
        assert power(1.0, 10.0, 1.0, 1.0, 0.0) == 0
    least, greatest = impact_oscillator.extremes([0.0, 2.0], 8.0, 0.3, [1.0, math.inf])
    np.testing.assert_array_equal(least, [-math.inf, -math.inf])
    np.testing.assert_allclose(greatest, [0.3 + 0.5, math.inf], rtol=1e-15)
    assert impact_oscillator.extremes(1e-12, 8.0, 0.3, 1.0)[1] == pytest.approx(0.8, rel=1e-11)


def test_there_is_no_surface_below_0() -> None:
    surface = mdr_contact.universal_surface([-1.0, -0.0, 0.0, -math.inf], 1.0)
    np.testing.assert_array_equal(surface, [math.nan, math.inf, math.inf, math.nan])


def test_an_infinite_phase_is_in_no_region() -> None:
    assert mdr_contact.region(1.0, 0.1, math.inf) == MISSING_FLAG
    assert np.isnan(mdr_contact.three_regions(1.0, 0.1, math.inf))


STEPS: dict[str, Callable[..., float]] = {
    "spectral_radius": lambda scheme, x: stability.spectral_radius(scheme, x, 0.1),
    "damping_ratio": lambda scheme, x: stability.stability_limit(scheme, x),
    "apart": lambda scheme, x: stability.stability_limit(scheme, 0.1, x),
    "mass": lambda scheme, x: stability.longest_step(scheme, x, 1.0, 2.0, 0.1),
    "stiffness": lambda scheme, x: stability.longest_step(scheme, 1.0, x, 2.0, 0.1),
    "tangential_damping": lambda scheme, x: stability.longest_step(scheme, 1.0, 1.0, 2.0, x),
}


@pytest.mark.parametrize("scheme", stability.SCHEMES)
@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_stability_of_invalid_values_is_nan(scheme: str, name: str, value: float) -> None:
    with np.errstate(all="ignore"):
        assert math.isnan(STEPS[name](scheme, value))


def test_longest_step_without_mass_or_with_negative_values_is_nan() -> None:
    for mass, stiffness in ((0.0, 1.0), (-1.0, 1.0), (1.0, -1.0)):
        assert math.isnan(stability.longest_step("euler", mass, stiffness, 2.0, 0.1))
    assert math.isnan(stability.stability_limit("euler", -0.5))
