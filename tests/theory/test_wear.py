"""Wear over years: laws and scars to 60 digits, inverses, and what is refused.

tests/validation/zzzz405a has Code_Aster's figures.
"""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from sweep.errors import SweepError
from sweep.theory import wear
from sweep.theory.wear import geometries
from tests.oracles import wear as oracle

YEAR = 31_536_000.0  # s
EDF = (1e-13, 1.2, 2.44e-8, 1.14e-16)
EXACT = 4e-15  # some roundings; seen in 4500 random scars: 1.8e-15
TUBE: dict[str, Any] = {"radius": 1.0, "length": 10.0}


def relative(computed: Any, exact: Any) -> float:
    return float(abs(mpmath.mpf(float(computed)) / exact - 1))


# --- Laws ---


@pytest.mark.parametrize("power", [3.6e-3, 0.05, 0.5, 1.0, 20.0, 1e4])
@pytest.mark.parametrize("seconds", [1.0, 1e5, YEAR, 40 * YEAR, 1e4 * YEAR])
def test_laws_to_60_digits(power: float, seconds: float) -> None:
    edf = oracle.edf_mz(power, seconds, *EDF)
    assert relative(wear.volume("edf_mz", power, seconds), edf) < EXACT
    archard = oracle.archard(power, seconds, 1.2e-13)
    assert relative(wear.volume("archard", power, seconds, coefficient=1.2e-13), archard) < EXACT


def test_edf_mz_outside_its_range_is_the_final_rate_and_says_so() -> None:
    """It begins where A P^B = S; the volume is continuous there, and 0 without power."""
    least = (EDF[3] / EDF[0]) ** (1 / EDF[1])
    assert least == pytest.approx(3.5e-3, abs=5e-5)
    powers = np.array([0.0, 1e-9, least * (1 - 1e-9), least * (1 + 1e-9), 0.5])
    assert wear.within_law("edf_mz", powers).tolist() == [1, 0, 0, 1, 1]
    volumes = wear.volume("edf_mz", powers, YEAR)
    assert volumes[0] == 0
    assert volumes[1] == volumes[2] == EDF[3] * YEAR
    assert volumes[3] == pytest.approx(EDF[3] * YEAR, rel=1e-8)
    assert wear.within_law("archard", [0.0, 1.0], coefficient=1e-13).tolist() == [1, 1]


def test_volume_never_decreases_with_power_time_or_coefficient() -> None:
    powers = np.concatenate([[0.0], np.geomspace(1e-6, 1e3, 4000)])
    for law, constants in (("archard", {"coefficient": 1e-13}), ("edf_mz", {})):
        assert np.all(np.diff(wear.volume(law, powers, YEAR, **constants)) >= 0)
        assert np.all(np.diff(wear.volume(law, 0.5, YEAR * powers, **constants)) >= 0)
        assert np.all(np.diff(wear.volume(law, 0.5, YEAR, coefficient=1e-13 * powers[1:])) >= 0)


@pytest.mark.parametrize("power", [3.6e-3, 0.05, 0.5, 20.0])
@pytest.mark.parametrize("seconds", [1.0, 1e5, YEAR, 12 * YEAR, 1e4 * YEAR])
def test_time_to_volume_inverts_the_laws(power: float, seconds: float) -> None:
    for law, constants in (("archard", {"coefficient": 1.2e-13}), ("edf_mz", {})):
        volume = wear.volume(law, power, seconds, **constants)
        # Late, the rate of edf_mz is far below the mean rate, so the inverse loses digits.
        rate = wear.volume(law, power, seconds * 1.001, **constants) / volume - 1
        lost_digits = 1e-3 / rate
        computed_time = wear.time_to_volume(law, power, volume, **constants)
        assert computed_time == pytest.approx(seconds, rel=1e-14 * lost_digits), law


def test_volumes_that_are_never_reached() -> None:
    most = 1e-13 * 0.5**1.2 / EDF[2]  # without a final rate
    times = wear.time_to_volume("edf_mz", 0.5, [most * 0.999999, most, 2 * most], slope=0.0)
    assert times[0] == pytest.approx(-math.log(1e-6) / EDF[2], rel=1e-9)
    assert times[1:].tolist() == [math.inf, math.inf]
    for law, constants in (("archard", {"coefficient": 1e-13}), ("edf_mz", {})):
        assert wear.time_to_volume(law, [0.0, 0.0], [0.0, 1e-9], **constants).tolist() == [
            0,
            math.inf,
        ]


def test_edf_mz_without_decay_keeps_its_initial_rate() -> None:
    volume = wear.volume("edf_mz", 1.0, YEAR, decay=0.0)
    assert volume == pytest.approx(1e-13 * YEAR, rel=1e-15)
    assert wear.time_to_volume("edf_mz", 1.0, volume, decay=0.0) == pytest.approx(YEAR, rel=1e-15)


# --- Scars ---


def scars(geometry: str, number: int) -> list[tuple[float, ...]]:
    """Random depths and dimensions: radii from 1 mm to 1 m, depths from 1e-9 R to R/10 (some 2 R),
    inclinations from 1e-14 to 1, holes from the tube's own radius to a hundred times that.
    """
    random = np.random.default_rng(5)
    sizes: list[tuple[float, ...]] = []
    for i in range(number):
        radius = 10 ** random.uniform(-3, 0)
        depth = radius * 10 ** random.uniform(-9, -1 if i % 4 else 0.299)
        size = [depth, radius, radius * 10 ** random.uniform(-1, 1.5)]
        if geometry == "tube_flat_inclined":
            size.append(10 ** random.uniform(-14, 0) if i % 7 else 0.0)
        if geometry == "tube_hole":
            size.append(radius * (1 + 10 ** random.uniform(-13, 2)) if i % 7 else radius)
        sizes.append(tuple(map(float, size)))
    return sizes


INCLINED: dict[str, Any] = {"geometry": "tube_flat_inclined", "radius": 0.011, "length": 0.03}


@pytest.mark.parametrize("depth", [1e-4, 1e-3, 4e-3, 9e-3])
def test_an_inclined_bar_is_a_tilted_plane_within_one_percent_or_warns(depth: float) -> None:
    """The warning has the excess of the volume, which is less where the whole bar is worn in."""
    for angle in (0.01, 0.0872, 0.172, 0.2, math.radians(45), 1.2):
        volume = wear.scar_volume(depth=depth, **INCLINED, angle=angle)
        plane = oracle.tube_flat_on_a_plane(depth, 0.011, 0.03, angle)
        excess = float(volume / plane) - 1
        warning = geometries.inclination_warning(angle)
        if warning is None:
            assert 0 <= excess < 0.01
            continue
        bound = float(warning.partition("up to ")[2].partition(" %")[0]) / 100
        assert f"inclined by {angle:.4g} rad" in warning
        assert bound > 0.01
        assert 0 <= excess < 1.005 * bound
        if depth < 0.03 * angle:
            assert excess == pytest.approx(bound, rel=5e-3)


def test_the_tangent_of_a_large_angle_gives_the_scar_of_the_tilted_plane() -> None:
    exact = oracle.tube_flat_on_a_plane(1e-3, 0.011, 0.03, 0.5)
    assert "give its tangent, 0.5463, as the" in (geometries.inclination_warning(0.5) or "")
    depth = wear.depth(volume=float(exact), **INCLINED, angle=math.tan(0.5))
    assert depth == pytest.approx(1e-3, rel=1e-12)


def test_a_depth_at_a_large_angle_is_that_of_the_formula() -> None:
    depth = wear.depth("tube_flat_inclined", 1e-6, radius=0.011, length=0.03, angle=0.2)
    volume = oracle.tube_flat_inclined(float(depth), 0.011, 0.03, 0.2)
    assert relative(1e-6, volume) < 1e-14


def test_an_inclination_is_warned_of_from_one_percent_on() -> None:
    limit = float(mpmath.findroot(lambda x: mpmath.tan(x) / x - mpmath.mpf("1.01"), 0.17))
    assert geometries.inclination_warning(limit * (1 - 1e-9)) is None
    assert "up to 1 % too large" in (geometries.inclination_warning(limit * (1 + 1e-9)) or "")
    with pytest.raises(SweepError, match="tube_flat has no angle"):
        wear.depth("tube_flat", 1e-9, radius=0.011, length=0.03, angle=0.3)


@pytest.mark.parametrize("geometry", list(wear.GEOMETRIES))
def test_scars_to_60_digits_and_back(geometry: str) -> None:
    names = wear.GEOMETRIES[geometry].dimensions
    for depth, *sizes in scars(geometry, 150):
        size = dict(zip(names, sizes, strict=True))
        exact = getattr(oracle, geometry)(depth, *sizes)
        assert relative(wear.scar_volume(geometry, depth, **size), exact) < EXACT, size
        assert relative(wear.depth(geometry, float(exact), **size), depth) < EXACT, size


def test_inclined_scars_by_the_shallow_formula() -> None:
    for depth, radius, length, angle in scars("tube_flat_inclined", 100):
        if angle * length > 1e-9 * depth:  # otherwise the oracle's formula is 0/0
            exact = oracle.tube_flat_inclined_small(depth, radius, length, angle)
            size = {"radius": radius, "length": length, "angle": angle, "small": True}
            computed_depth = wear.depth("tube_flat_inclined", float(exact), **size)
            assert relative(computed_depth, depth) < EXACT


def test_the_shallow_formula_is_too_low_by_a_tenth_of_depth_over_radius() -> None:
    volume = wear.scar_volume("tube_flat", 1e-3, **TUBE)
    small = wear.depth("tube_flat", volume, **TUBE, small=True)
    assert small / 1e-3 - 1 == pytest.approx(-1e-4, rel=1e-3)


@pytest.mark.parametrize("u", [0.5, 1.0, 1.2, 1.5, 1.99])
def test_the_shallow_formula_holds_up_to_twice_the_radius(u: float) -> None:
    radius, length = TUBE["radius"], TUBE["length"]
    volume = length * 4 / 3 * np.sqrt(2 * radius) * (u * radius) ** 1.5
    found = wear.depth("tube_flat", volume, **TUBE, small=True)
    assert found == pytest.approx(u * radius, rel=1e-12)


def test_limits_of_the_geometries() -> None:
    """A bar that is not inclined, a hole of 10⁶ radii; the whole tube; nothing."""
    volumes = np.array([1e-8, 1e-4, 1.0])
    flat = wear.depth("tube_flat", volumes, **TUBE)
    assert wear.depth("tube_flat_inclined", volumes, **TUBE) == pytest.approx(flat, rel=EXACT)
    hole = wear.depth("tube_hole", volumes, **TUBE, hole_radius=1e6)
    assert hole == pytest.approx(flat, rel=2e-6)
    for geometry, more in (("tube_flat", {}), ("tube_hole", {"hole_radius": 1.2})):
        depths = wear.depth(geometry, [0.0, 10 * math.pi * (1 - 1e-12)], **TUBE, **more)
        assert depths[0] == 0
        assert depths[1] == pytest.approx(2, rel=1e-6)


def test_time_to_depth_inverts_both() -> None:
    sizes = {
        "tube_flat": {},
        "tube_flat_inclined": {"angle": 0.01},
        "tube_hole": {"hole_radius": 11.2e-3},
    }
    for geometry, more in sizes.items():
        size = {"radius": 11e-3, "length": 30e-3, **more}
        seconds = YEAR * np.array([0.5, 1.0, 5.0])
        for law, constants in (("archard", {"coefficient": 1.2e-13}), ("edf_mz", {})):
            depths = wear.depth(geometry, wear.volume(law, 0.02, seconds, **constants), **size)
            times = wear.time_to_depth(law, geometry, 0.02, depths, **constants, **size)
            assert times == pytest.approx(seconds, rel=1e-12), (law, geometry)
        never = wear.time_to_depth("edf_mz", geometry, [0.0, 1.0], [1e-6, 30e-3], **size)
        assert never.tolist() == [math.inf, math.inf]


def test_arguments_broadcast() -> None:
    powers, years = np.ones((3, 1)), np.ones(4)
    assert wear.volume("archard", powers, years, coefficient=1e-13).shape == (3, 4)
    assert wear.depth("tube_flat", powers * 1e-9, radius=years, length=1.0).shape == (3, 4)
    assert wear.time_to_depth("edf_mz", "tube_flat", powers, years * 1e-6, **TUBE).shape == (3, 4)


# --- What has no value, and what is refused ---


def test_no_value_where_a_number_is_negative_or_missing_or_too_large() -> None:
    bad = np.array([-1.0, math.nan])
    assert np.all(np.isnan(wear.volume("archard", bad, 1.0, coefficient=1e-13)))
    assert np.all(np.isnan(wear.volume("edf_mz", 1.0, bad)))
    assert np.all(np.isnan(wear.volume("edf_mz", 1.0, 1.0, coefficient=bad)))
    assert np.all(np.isnan(wear.within_law("edf_mz", bad)))
    assert np.all(np.isnan(wear.depth("tube_flat", bad, **TUBE)))
    assert np.isnan(wear.depth("tube_flat", 10 * math.pi * 1.01, **TUBE))  # more than the tube has
    assert np.isnan(wear.depth("tube_flat", 1.0, radius=-1.0, length=1.0))
    assert np.isnan(wear.depth("tube_flat_inclined", 1.0, **TUBE, angle=2.0))
    assert np.isnan(wear.depth("tube_hole", 1.0, **TUBE, hole_radius=0.9))  # the tube does not fit
    assert np.isnan(wear.scar_volume("tube_flat", 2.1, **TUBE))
    assert np.isnan(wear.time_to_depth("edf_mz", "tube_flat", -1.0, 1e-6, **TUBE))


REFUSED = [
    (lambda: wear.volume("archart", 1, 1), "no law of wear 'archart'; did you mean 'archard'"),
    (lambda: wear.volume("archard", 1, 1), "archard needs 'coefficient'"),
    (
        lambda: wear.volume("archard", 1, 1, coefficient=1, exponent=1.2),
        "archard has no coefficient 'exponent'",
    ),
    (lambda: wear.depth("tube_flatt", 1, **TUBE), "no geometry of wear 'tube_flatt'; did you mean"),
    (lambda: wear.depth("tube_flat", 1, **TUBE, angle=0.1), "tube_flat has no angle: .*_inclined"),
    (lambda: wear.depth("tube_flat", 1, **TUBE, hole_radius=2), "tube_flat has no hole_radius"),
    (lambda: wear.depth("tube_hole", 1, **TUBE), "tube_hole needs 'hole_radius'"),
    (
        lambda: wear.depth("tube_hole", 1, **TUBE, hole_radius=2, small=True),
        "tube_hole has no formula for shallow scars",
    ),
    (
        lambda: wear.time_to_depth("edf_mz", "tube_flat", 1, 1, **TUBE, radiu=1),
        "tube_flat has no dimension 'radiu'; did you mean 'radius'",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(SweepError, match=message):
        call()
