"""Scars on a tube: their volume at a depth, and the depth at a volume, to rounding for any depth.

The volume is the contact length L times a cross-section A(h); its depth h is at most 2 R. For an
inclined bar it is (1/θ) ∫ A(h') dh' from max(h − L θ, 0) to h, as in Code_Aster: θ stands for
tan θ, so that the volume is too large by up to tan θ/θ − 1.

A flat bar at the depth h = R u cuts off the segment R² a(u) of the tube's circle, with
a(u) = ∫ 2 √(2v − v²) dv from 0 to u = φ − sin φ cos φ, cos φ = 1 − u. Closed forms of small
arguments lose their digits, so series stand for them there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.errors import SweepError
from sweep.model.table import Parameter
from sweep.text.wording import nearest
from sweep.theory import Values, values
from sweep.theory.elementary import arc_tangent, exp, log, power
from sweep.theory.wear.laws import by_name, in_order

MAX_EXCESS = 0.01  # of the volume of an inclined bar, without a warning
MAX_STEPS = 100  # of Newton's method, which takes up to 10
LAST_STEP = 1e-10  # relative; the next one would be about its square
SERIES_UP_TO = 0.5  # of u; its terms decrease by a factor of four
N_TERMS = 28
NEGLIGIBLE = 1e-18  # of a term relative to the first
MAX_SINE_SQUARE = 0.3  # of the series of two segments' difference
N_SINE_TERMS = 32
# Places above 0 and weights of Gauss and Legendre's rule with 14 places on [-1, 1].
GAUSS = (
    (0.10805494870734367, 0.2152638534631578),
    (0.31911236892788974, 0.2051984637212956),
    (0.5152486363581541, 0.18553839747793782),
    (0.6872929048116855, 0.15720316715819355),
    (0.827201315069765, 0.12151857068790319),
    (0.9284348836635735, 0.08015808715976021),
    (0.9862838086968123, 0.03511946033175186),
)

# A function of the depth and the radius of the circle: the area that is cut off [m²], its integral
# over the depth [m³], or its slope [m].
Profile = Callable[[Values, Values], Values]

RADIUS = Parameter(
    name="radius", symbol="R", unit="m", minimum=0, open_minimum=True,
    meaning="outer radius of the tube",
)  # fmt: skip
LENGTH = Parameter(
    name="length", symbol="L", unit="m", minimum=0, open_minimum=True, meaning="length of contact"
)
ANGLE = Parameter(
    name="angle", symbol="θ", unit="rad", minimum=0, maximum=np.pi / 2, open_maximum=True,
    meaning="inclination of the bar",
)  # fmt: skip
HOLE_RADIUS = Parameter(
    name="hole_radius", symbol="R_h", unit="m", minimum=0, open_minimum=True,
    meaning="radius of the hole, not below that of the tube",
)  # fmt: skip
UNUSED = {"angle": 0.0, "hole_radius": None}  # the value of a dimension that is not given


@dataclass(frozen=True)
class Geometry:
    """A kind of scar. The functions take arrays: the depth, then the dimensions in order."""

    name: str
    dimensions: Mapping[str, Parameter]
    _volume: Callable[..., Values]
    _slope: Callable[..., Values]  # of the volume over the depth [m²]
    _width: float = 2.0  # of the widest scar, in radii

    def volume(self, depth: ArrayLike, size: Mapping[str, ArrayLike | None]) -> Values:
        """Volume [m³] of a scar of this depth [m]; NaN where the depth is not from 0 to 2 R."""
        h, *others = self._arrays(depth, size)
        valid = self._valid(h, others) & (h <= 2 * others[0])
        with np.errstate(all="ignore"):
            volume = self._volume(np.where(valid, h, 0.0), *others)
        return np.where(valid, np.where(h == 0, 0.0, volume), np.nan)

    def depth(self, volume: ArrayLike, size: Mapping[str, ArrayLike | None]) -> Values:
        """Depth [m] of a scar of this volume [m³]; NaN where there is none."""
        target, *others = self._arrays(volume, size)
        with np.errstate(all="ignore"):
            most = self._volume(2 * others[0], *others)
            valid = self._valid(target, others) & (target <= most)
            h = self._solved(np.where(valid & (target > 0), target, most / 2), others)
        return np.where(valid, np.where(target == 0, 0.0, h), np.nan)

    def _solved(self, target: Values, others: list[Values]) -> Values:
        """Newton's method for ln V over ln h, whose slope is from 0 to 2.5, within a bracket.

        Depths that have converged are left out, so that none depends on others beside it.
        """
        shape = target.shape
        target, *others = (each.ravel() for each in (target, *others))
        radius, length = others[:2]
        low = target / (self._width * radius * length)
        high = 2 * radius
        h = np.clip(_shallow_depth(target / length, radius), low, high)
        left = np.arange(h.size)
        for _ in range(MAX_STEPS):
            now, goal, size = h[left], target[left], [each[left] for each in others]
            volume = self._volume(now, *size)
            low = np.where(volume <= goal, now, low)
            high = np.where(volume >= goal, now, high)
            order = now * self._slope(now, *size) / volume
            following = now * exp(log(goal / volume) / order)
            inside = (following >= low) & (following <= high)
            following = np.where(inside, following, np.sqrt(low) * np.sqrt(high))
            h[left] = following
            goes_on = np.abs(following - now) > LAST_STEP * now
            left, low, high = left[goes_on], low[goes_on], high[goes_on]
            if not left.size:
                break
        return h.reshape(shape)

    def _valid(self, first: Values, others: list[Values]) -> NDArray[np.bool_]:
        radius, length, *rest = others
        valid = (first >= 0) & (radius > 0) & (length > 0)
        if "angle" in self.dimensions:
            valid &= (rest[0] >= 0) & (rest[0] < ANGLE.maximum)
        if "hole_radius" in self.dimensions:
            valid &= rest[0] >= radius
        return valid & np.isfinite(radius) & np.isfinite(length)

    def _arrays(self, first: ArrayLike, size: Mapping[str, ArrayLike | None]) -> list[Values]:
        others = [name for name in UNUSED if name not in self.dimensions]
        for name in others:
            value = size.get(name)
            if value is not None and np.any(values(value) != 0):
                owners = [each.name for each in GEOMETRIES.values() if name in each.dimensions]
                raise SweepError(f"{self.name} has no {name}: leave it out, or use {owners[0]}")
        dimensions = {
            name: value for name, value in {**UNUSED, **size}.items() if name not in others
        }
        numbers = in_order(self.name, "dimension", self.dimensions, dimensions)
        return list(np.broadcast_arrays(*map(values, (first, *numbers))))


def geometry_of(name: str, *, small: bool = False) -> Geometry:
    """The geometry with this name; `small`: by the formulas for shallow scars.

    SweepError if there is none, or none for shallow scars.
    """
    if name not in GEOMETRIES:
        raise SweepError(f"there is no geometry of wear {name!r}; {nearest(name, GEOMETRIES)}")
    if not small:
        return GEOMETRIES[name]
    if name not in SMALL:
        raise SweepError(f"{name} has no formula for shallow scars: leave out small")
    return SMALL[name]


def inclination_warning(angle: float) -> str | None:
    """Say by how much volumes are too large at an angle [rad]; None up to 1 %."""
    tangent = math.tan(angle)
    excess = tangent / angle - 1 if angle else 0.0
    if excess <= MAX_EXCESS:
        return None
    cure = f"; give its tangent, {tangent:.4g}, as the angle to have them exact"
    return (
        "tube_flat_inclined takes the angle for its tangent, as Code_Aster does: if the bar is "
        f"inclined by {angle:.4g} rad, volumes are up to {100 * excess:.3g} % too large for "
        f"their depths{cure if tangent < ANGLE.maximum else ''}"
    )


def _along(function: Callable[..., Values]) -> Callable[..., Values]:
    """A function of depth and radii, times the length of contact, if the depth is even."""

    def along(h: Values, radius: Values, length: Values, *others: Values) -> Values:
        return length * function(h, radius, *others)

    return along


def _inclined(function: Profile, integral: Profile) -> Callable[..., Values]:
    """The integral of a function along a bar on which the depth rises."""

    def along(h: Values, radius: Values, length: Values, angle: Values) -> Values:
        rise = np.asarray(np.minimum(length * angle, h))  # over which the scar gets this deep
        volume = np.asarray((integral(h, radius) - integral(h - rise, radius)) / angle)
        near = np.asarray(rise < h / 2)  # where the difference loses digits
        if near.any():
            mean = _mean(function, h[near], rise[near], radius[near])
            volume[near] = length[near] * mean
        return volume

    return along


def _mean(function: Profile, h: Values, rise: Values, radius: Values) -> Values:
    """The mean from h − rise to h; exact to rounding if the rise is less than half of h.

    The difference of two integrals would lose digits there.
    """
    rise = np.minimum(rise, h / 2)
    total = np.zeros_like(h)
    for place, weight in GAUSS:
        lower, upper = h - rise * (1 + place) / 2, h - rise * (1 - place) / 2
        total = total + weight / 2 * (function(lower, radius) + function(upper, radius))
    return total


def _shallow_depth(area: Values, radius: Values) -> Values:
    """Depth [m] of a shallow segment: (3A/(4√(2R)))^(2/3)."""
    cube = 3 * area / (4 * np.sqrt(2 * radius))
    return power(cube, np.full_like(cube, 2 / 3))


def _lune_chord(h: Values, radius: Values, hole_radius: Values) -> Values:
    """Distance [m] of the points in which the circle meets a hole that it is h beyond."""
    clearance = hole_radius - radius
    product = h * (2 * hole_radius + h) * (2 * radius - h) * (2 * clearance + h)
    return np.sqrt(np.maximum(product, 0.0)) / (clearance + h)


def _lune_area(h: Values, radius: Values, hole_radius: Values) -> Values:
    """Area [m²] of the circle outside a hole that it is h beyond, for a hole_radius >= radius.

    R² a(u) − R_h² a(u_h), where the common chord cuts u R off the circle and u_h R_h off the hole.
    In a hole of nearly the same radius that difference loses digits: there it is a series for short
    chords, otherwise a sum with the angle at which the circles meet.
    """
    clearance = hole_radius - radius
    distance = clearance + h  # of the centres
    c = _lune_chord(h, radius, hole_radius) / 2
    own = h * (2 * hole_radius + h) / (2 * radius * distance)
    of_hole = h * (2 * radius - h) / (2 * hole_radius * distance)
    square = radius * radius
    wide = square * _segment(own) - hole_radius * hole_radius * _segment(of_hole)
    crossing = arc_tangent(c * distance, (square + (radius - h) * (hole_radius + distance)) / 2)
    beyond = arc_tangent(c, hole_radius * (1 - of_hole))
    long = square * crossing + c * distance - clearance * (radius + hole_radius) * beyond
    is_short = (c <= np.sqrt(MAX_SINE_SQUARE) * radius) & (own < 1)
    tight = np.where(is_short, _short_lune(c, radius, hole_radius), long)
    return np.where(hole_radius > 2 * radius, wide, tight)


def _short_lune(c: Values, radius: Values, hole_radius: Values) -> Values:
    """The same, as a series in the half chord c over the radius."""
    ratio = radius / hole_radius
    gap = (hole_radius - radius) / hole_radius
    square = np.minimum(c / radius * (c / radius), MAX_SINE_SQUARE)
    total, central, even_power = np.zeros_like(c), 1.0, np.ones_like(c)
    sum_of_powers, ratio_power = np.ones_like(c), np.ones_like(c)
    for n in range(N_SINE_TERMS):  # asin s − s√(1 − s²) = Σ 2/(2n + 3) (2n choose n)/4^n s^(2n+3)
        # 1 − (R/R_h)^(2n+1) = (1 − R/R_h) (1 + R/R_h + ... + (R/R_h)^(2n))
        total = total + 2 * central / (2 * n + 3) * even_power * (gap * sum_of_powers)
        even_power, central = even_power * square, central * (2 * n + 1) / (2 * n + 2)
        odd_power = ratio_power * ratio
        ratio_power = odd_power * ratio
        sum_of_powers = sum_of_powers + (odd_power + ratio_power)
    return c * c * c / radius * total


def _segment(u: Values) -> Values:
    """a(u) for u from 0 to 2."""
    series = 2 * np.sqrt(2.0) * u * np.sqrt(u) * _series(u, lambda n: 1 / (n + 1.5))
    return _or_closed(u, series, lambda phi, sine, cosine: phi - sine * cosine)


def _segment_integral(u: Values) -> Values:
    """The integral of a from 0 to u."""
    factors = _series(u, lambda n: 1 / ((n + 1.5) * (n + 2.5)))
    series = 2 * np.sqrt(2.0) * (u * u) * np.sqrt(u) * factors
    return _or_closed(
        u, series, lambda phi, sine, cosine: sine - phi * cosine - sine * sine * sine / 3
    )


def _or_closed(
    u: Values, series: Values, closed: Callable[[Values, Values, Values], Values]
) -> Values:
    """The series of small u, and otherwise the closed form, a function of φ, sin φ and cos φ."""
    if np.all(u < SERIES_UP_TO):
        return series
    sine, cosine = np.sqrt(np.maximum(u * (2 - u), 0.0)), np.maximum(1 - u, -1.0)
    return np.where(u < SERIES_UP_TO, series, closed(arc_tangent(sine, cosine), sine, cosine))


def _series(u: Values, factor: Callable[[int], float]) -> Values:
    """Σ factor(n) c_n u^n, where √(1 − u/2) = Σ c_n u^n.

    It ends before the terms that would not change a bit of the sum at any of the values.
    """
    u = np.minimum(u, SERIES_UP_TO)
    largest = float(np.max(np.where(np.isnan(u), 0.0, u), initial=0.0))
    total, c, u_to_n = np.zeros_like(u), 1.0, np.ones_like(u)
    for n in range(N_TERMS):
        if abs(c) * largest**n < NEGLIGIBLE:
            break
        total = total + factor(n) * c * u_to_n
        u_to_n, c = u_to_n * u, c * (n - 0.5) / (2 * (n + 1))
    return total


def _tube(
    area: Profile, chord: Profile, area_integral: Profile, width: float
) -> dict[str, Geometry]:
    """The scars of a bar that cuts an area off the circle, with this width of the cut."""
    even, inclined = by_name(RADIUS, LENGTH), by_name(RADIUS, LENGTH, ANGLE)
    rising = _inclined(area, area_integral), _inclined(chord, area)
    return {
        "tube_flat": Geometry("tube_flat", even, _along(area), _along(chord), width),
        "tube_flat_inclined": Geometry("tube_flat_inclined", inclined, *rising, width),
    }


GEOMETRIES = {
    **_tube(
        area=lambda h, radius: radius * radius * _segment(h / radius),
        chord=lambda h, radius: 2 * np.sqrt(np.maximum(h * (2 * radius - h), 0.0)),
        area_integral=lambda h, radius: radius * radius * radius * _segment_integral(h / radius),
        width=2.0,
    ),
    "tube_hole": Geometry(
        "tube_hole", by_name(RADIUS, LENGTH, HOLE_RADIUS), _along(_lune_area), _along(_lune_chord)
    ),
}
SMALL = _tube(
    area=lambda h, radius: 4 / 3 * np.sqrt(2 * radius) * h * np.sqrt(h),
    chord=lambda h, radius: 2 * np.sqrt(2 * radius * h),
    area_integral=lambda h, radius: 8 / 15 * np.sqrt(2 * radius) * (h * h) * np.sqrt(h),
    width=4.0,  # the chord at h = 2 R
)
