"""Consequences of the equations alone: changes of units, mirrored phases, work computed twice.

A change of units by powers of two changes no bit. So a constant that is compared with a parameter
but lacks its dimension, or an output that lacks a factor, shows in every digit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sweep.model.tables import models
from tests.cases import compute, differing, friction_oscillator, impact_oscillator, mdr_contact
from tests.cases.friction_oscillator import CODE_ASTER_TOLERANCES, CONTROLLED, PENALISED

Columns = dict[str, NDArray[Any]]

# Powers of mass, length and time of dimensional quantities.
FORCE, STIFFNESS, ENERGY, POWER = (1, 1, -2), (1, 0, -2), (1, 2, -2), (1, 2, -3)
ACCELERATION, SPEED, LENGTH, TIME, RATE = (0, 1, -2), (0, 1, -1), (0, 1, 0), (0, 0, 1), (0, 0, -1)
DIMENSIONS = {
    "mass": (1, 0, 0), "gravity": ACCELERATION, "stiffness": STIFFNESS, "damping": (1, 0, -1),
    "base_acceleration": ACCELERATION, "vertical_acceleration": ACCELERATION,
    "angular_frequency": RATE, "window_start": TIME, "window_end": TIME, "step": TIME,
    "maximum_step": TIME, "tangential_stiffness": STIFFNESS, "tangential_damping": (1, 0, -1),
    "wear_power": POWER, "friction_power": POWER, "slip_distance": LENGTH,
    "peak_slip_speed": SPEED, "wall_stiffness": STIFFNESS, "gap": LENGTH, "energy": ENERGY,
    "frequency": RATE, "minimum": LENGTH, "maximum": LENGTH, "youngs_modulus": (1, -1, -2),
    "radius": LENGTH, "indentation": LENGTH, "normal_amplitude": LENGTH,
    "tangential_amplitude": LENGTH, "dissipated_energy": ENERGY,
}  # fmt: skip

UNIT = st.integers(-9, 9)  # powers of two: of mass, length and time
SEED = st.integers(0, 10**6)
STEPS = 300  # a period
POINTS = 100

METHODS = [method.name for method in models()["friction_oscillator"].methods]
IMPACT_METHODS = [method.name for method in models()["impact_oscillator"].methods]
STEPPED = [*((name, math.inf) for name in PENALISED), *CODE_ASTER_TOLERANCES]


def in_units(columns: Mapping[str, Any], *units: int) -> Columns:
    """The columns in units of mass, length and time that are smaller by these powers of two."""
    powers = {
        name: sum(u * d for u, d in zip(units, DIMENSIONS[name], strict=True))
        for name in columns.keys() & DIMENSIONS.keys()
    }
    return {name: 2.0 ** powers[name] * v if name in powers else v for name, v in columns.items()}


def assert_the_same_in_units(points: Columns, *units: int, **how: Any) -> None:
    changed = compute(in_units(points, *units), **how)
    assert differing(in_units(compute(points, **how), *units), changed) == []


def stepped(points: Columns, method: str, tolerance: float = math.inf) -> Columns:
    """Points with the numerical parameters of a time-stepping method, stable during stick."""
    step = 2 * np.pi / points["angular_frequency"] / STEPS
    if method == "moreau":
        return {**points, "step": step}
    contact = {"tangential_stiffness": points["mass"] / (4 * step) ** 2, "step": step / 4}
    if method in CONTROLLED:
        contact |= {"tolerance": np.full(step.size, tolerance), "maximum_step": step / 4}
    return {**points, **contact}


@settings(max_examples=20, deadline=None)
@given(mass=UNIT, length=UNIT, time=UNIT, seed=SEED)
def test_the_exact_motion_is_the_same_in_all_units(
    mass: int, length: int, time: int, seed: int
) -> None:
    points = friction_oscillator.random_parameters(POINTS, seed)
    assert_the_same_in_units(points, mass, length, time)
    assert_the_same_in_units(stepped(points, "moreau"), mass, length, time, method="moreau")


@pytest.mark.parametrize("units", [(1000, -1000, 0), (1000, -980, 9), (940, -960, -30)])
def test_the_exact_motion_is_the_same_where_accelerations_are_tiny(
    units: tuple[int, int, int],
) -> None:
    """Accelerations of 1e-300 m/s², with friction and without, at which μg must still be exact."""
    points = friction_oscillator.random_parameters(POINTS, 7)
    points["friction"][:9] = 0.0
    outputs = compute(in_units(points, *units))
    expected = in_units(compute(points), *units)
    assert np.abs(expected["wear_power"][:9]).min() > 0
    assert differing(expected, outputs) == []


@pytest.mark.parametrize(("method", "tolerance"), STEPPED)
@settings(max_examples=8, deadline=None)
@given(mass=UNIT, speed=st.integers(-9, 9), seed=SEED)
def test_penalised_motion_is_the_same_in_units_that_leave_speeds(
    method: str, tolerance: float, mass: int, speed: int, seed: int
) -> None:
    """The law has a speed limit in m/s; the error norm of the pairs has a length of 1e-30 m."""
    points = stepped(friction_oscillator.random_parameters(POINTS, seed), method, tolerance)
    same = 0 if (method, tolerance) in CODE_ASTER_TOLERANCES else speed
    assert_the_same_in_units(points, mass, same, same, method=method)


@pytest.mark.parametrize("units", [(-490, 191, 191), (380, -190, -190)])
@pytest.mark.parametrize(
    "method",
    [pytest.param(each, marks=[pytest.mark.broad] * (each != "euler")) for each in PENALISED],
)
def test_critical_damping_does_not_overflow_or_underflow(
    method: str, units: tuple[int, int, int]
) -> None:
    """It contains the product of mass and stiffness, here 1e-405 and 1e350."""
    points = friction_oscillator.random_parameters(12, 1)
    points = stepped({name: np.broadcast_to(v, 12) for name, v in points.items()}, method)
    outputs = compute(in_units(points, *units), method=method)
    expected = in_units(compute(points, method=method), *units)
    np.testing.assert_array_equal(outputs["status"], expected["status"])
    for name in ("wear_power", "slip_distance", "peak_slip_speed"):
        np.testing.assert_allclose(outputs[name], expected[name], rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("units", [(-28, -494, -153), (-491, 183, 191), (0, 300, 0)])
def test_the_energy_of_a_contact_is_right_where_its_status_is_ok(
    units: tuple[int, int, int],
) -> None:
    """Squares and products of lengths underflow, and E* is subnormal; or nothing is lost."""
    rng = np.random.default_rng(4)
    depth = 10 ** rng.uniform(-7, -4, POINTS)
    points = {
        "youngs_modulus": 10 ** rng.uniform(9, 12, POINTS), "friction": rng.uniform(0, 1, POINTS),
        "poisson_ratio": rng.uniform(-0.5, 0.5, POINTS), "phase": rng.uniform(-3, 3, POINTS),
        "radius": 10 ** rng.uniform(-4, 0, POINTS), "indentation": depth,
        "normal_amplitude": depth * rng.uniform(0, 1.5, POINTS),
        "tangential_amplitude": depth * 10 ** rng.uniform(-1, 1, POINTS),
    }  # fmt: skip
    outputs = compute(in_units(points, *units), model="mdr_contact")
    expected = in_units(compute(points, model="mdr_contact"), *units)["dissipated_energy"]
    ok = outputs["status"] == 0
    assert ok.mean() > (0.1 if units[1] < 300 else 0.99)
    np.testing.assert_allclose(outputs["dissipated_energy"][ok], expected[ok], rtol=1e-14)


@pytest.mark.parametrize("method", IMPACT_METHODS)
@settings(max_examples=8, deadline=None)
@given(mass=UNIT, length=UNIT, time=UNIT, seed=SEED)
def test_impacts_are_the_same_in_all_units(
    method: str, mass: int, length: int, time: int, seed: int
) -> None:
    points = impact_oscillator.random_parameters(12, seed)
    how = {"model": "impact_oscillator", "method": method}
    assert_the_same_in_units(points, mass, length, time, **how)


@pytest.mark.parametrize("method", METHODS)
def test_a_mass_sticks_where_its_inertia_never_exceeds_the_friction_limit(method: str) -> None:
    """a0 <= mu (g - a_v), down to a0 = 0 and denormal numbers, however small the limit."""
    gravity = 10.0
    shares = [0.0, 5e-324, 1e-310, 1e-308, 1e-300, 1e-290, 1e-100, 1e-20, 1e-12, 1e-3, 0.4, 0.999]
    lifts = [0.0, 5.0, 9.0, 9.999, np.nextafter(gravity, 0)]
    grid = np.meshgrid(shares, [1e-6, 0.1, 1.0], lifts, [0.0, 2.5], [0.0, 3.0], [0.0, 0.5])
    share, friction, lift, phase, stiffness, damping = (axis.ravel() for axis in grid)
    points = {
        "mass": np.ones(share.size), "gravity": gravity, "friction": friction,
        "stiffness": stiffness, "damping": damping, "vertical_acceleration": lift, "phase": phase,
        "base_acceleration": share * (friction * (gravity - lift)),
        "angular_frequency": np.full(share.size, 6.0), "window_start": 0.1, "window_end": 1.2,
    }  # fmt: skip
    # Near the limit a contact that is all but lost is decided by rounding, and a penalised one
    # overshoots.
    decided = (share < 0.5) | ((lift < 9.9999) & (method in ("exact", "moreau")))
    points = {name: np.broadcast_to(v, share.shape)[decided] for name, v in points.items()}
    outputs = compute(points if method == "exact" else stepped(points, method), method=method)
    expected = {"status": 0, "regime": 0, "slip_phases": 0, "stick_fraction": 1.0,
                "wear_power": 0.0, "slip_distance": 0.0, "peak_slip_speed": 0.0}  # fmt: skip
    for name, value in expected.items():
        np.testing.assert_array_equal(outputs[name], value, err_msg=name)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=5, deadline=None)
@given(seed=SEED)
def test_work_is_force_times_distance(method: str, seed: int) -> None:
    """Constant load: N|v| = mg|v|. μN|v| is μ times N|v|. Distance is at most peak speed × time."""
    points = friction_oscillator.random_parameters(POINTS, seed)
    points = points if method == "exact" else stepped(points, method)
    outputs = compute(points, method=method)
    ok = outputs["status"] == 0
    assert ok.mean() > 0.9
    wear, distance = outputs["wear_power"][ok], outputs["slip_distance"][ok]
    mass, friction, gravity, shaking, start, end = (
        points[name][ok] for name in
        ("mass", "friction", "gravity", "vertical_acceleration", "window_start", "window_end")
    )  # fmt: skip
    work, load, change = wear * (end - start), mass * gravity, mass * np.abs(shaking)
    np.testing.assert_allclose(outputs["friction_power"][ok], friction * wear, rtol=1e-14)
    steady = shaking == 0
    assert steady.sum() > 10
    np.testing.assert_allclose(work[steady], (load * distance)[steady], rtol=1e-13)
    assert np.all(work <= (load + change) * distance * (1 + 1e-13))
    assert np.all(work >= (load - change) * distance * (1 - 1e-13))
    slipping = (end - start) * (1 - outputs["stick_fraction"][ok])
    if method == "exact":
        assert np.all(distance <= outputs["peak_slip_speed"][ok] * slipping * (1 + 1e-9))


@settings(max_examples=20, deadline=None)
@given(seed=SEED)
def test_sticking_does_not_depend_on_the_sign_of_the_phase(seed: int) -> None:
    """Sticking is even in the phase; the energy is not, except for infinite friction."""
    points = mdr_contact.dimensionless_points(POINTS, seed)
    points["beta"][::4] = np.inf
    outputs = compute(points, model="mdr_contact")
    mirrored = compute({**points, "phase": -points["phase"]}, model="mdr_contact")
    kept = {name: outputs[name] for name in ("stick_radius", "regime", "status")}
    assert differing(kept, {name: mirrored[name] for name in kept}) == []
    energy, other = outputs["normalized_energy"], mirrored["normalized_energy"]
    np.testing.assert_allclose(other[::4], energy[::4], rtol=1e-12)
    assert np.max(np.abs(other / energy - 1)) > 0.1
