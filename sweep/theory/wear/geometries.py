"""Scars on a tube: their volume at a depth, and the depth at a volume.

The volume is the contact length L times a cross-section A(h); its depth h is at most 2 R. For an
inclined bar it is (1/θ) ∫ A(h') dh' from max(h − L θ, 0) to h.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.errors import SweepError
from sweep.spec import Parameter
from sweep.theory import Values, values
from sweep.theory.wear import scars
from sweep.theory.wear.laws import by_name, in_order
from sweep.wording import nearest

MAX_STEPS = 100  # of Newton's method, which takes up to 10
LAST_STEP = 1e-10  # relative; the next one would be about its square

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

        A depth that has converged stays, so that it does not depend on others beside it.
        """
        radius, length = others[:2]
        low = target / (self._width * radius * length)
        high = 2 * radius
        h = np.clip(scars.shallow_depth(target / length, radius), low, high)
        is_done = np.zeros(h.shape, bool)
        for _ in range(MAX_STEPS):
            volume = self._volume(h, *others)
            low, high = np.where(volume <= target, h, low), np.where(volume >= target, h, high)
            order = h * self._slope(h, *others) / volume
            following = h * (target / volume) ** (1 / order)
            inside = (following >= low) & (following <= high)
            following = np.where(inside, following, np.sqrt(low) * np.sqrt(high))
            is_last = np.abs(following - h) <= LAST_STEP * h
            h = np.where(is_done, h, following)
            is_done |= is_last
            if is_done.all():
                break
        return h

    def _valid(self, first: Values, others: list[Values]) -> NDArray[np.bool_]:
        radius, length, *rest = others
        valid = (first >= 0) & (radius > 0) & (length > 0)
        if "angle" in self.dimensions:
            valid &= (rest[0] >= 0) & (rest[0] < np.pi / 2)
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


def _along(function: Callable[..., Values]) -> Callable[..., Values]:
    """A function of depth and radii, times the length of contact, if the depth is even."""

    def along(h: Values, radius: Values, length: Values, *others: Values) -> Values:
        return length * function(h, radius, *others)

    return along


def _inclined(
    function: Callable[[Values, Values], Values], integral: Callable[[Values, Values], Values]
) -> Callable[..., Values]:
    """The integral of a function of depth and radius along a bar on which the depth rises."""

    def along(h: Values, radius: Values, length: Values, angle: Values) -> Values:
        rise = np.minimum(length * angle, h)  # over which the scar gets this deep
        difference = integral(h, radius) - integral(h - rise, radius)
        mean = _mean(function, h, rise, radius)
        return np.where(rise < h / 2, length * mean, difference / angle)

    return along


def _mean(
    function: Callable[[Values, Values], Values], h: Values, rise: Values, radius: Values
) -> Values:
    """The mean from h − rise to h; exact to rounding if the rise is less than half of h.

    The difference of two integrals would lose digits there.
    """
    rise = np.minimum(rise, h / 2)
    total = np.zeros_like(h)
    for place, weight in zip(*np.polynomial.legendre.leggauss(14), strict=True):
        total = total + weight / 2 * function(h - rise * (1 - place) / 2, radius)
    return total


def _tube(profile: scars.Profile, width: float) -> dict[str, Geometry]:
    """The scars that a bar leaves."""
    area, chord = profile.area, profile.chord
    even, inclined = by_name(RADIUS, LENGTH), by_name(RADIUS, LENGTH, ANGLE)
    rising = _inclined(area, profile.area_integral), _inclined(chord, area)
    return {
        "tube_flat": Geometry("tube_flat", even, _along(area), _along(chord), width),
        "tube_flat_inclined": Geometry("tube_flat_inclined", inclined, *rising, width),
    }


HOLE = Geometry(
    "tube_hole",
    by_name(RADIUS, LENGTH, HOLE_RADIUS),
    _along(scars.lune_area),
    _along(scars.lune_chord),
)
GEOMETRIES = {**_tube(scars.SEGMENT, width=2.0), "tube_hole": HOLE}
SMALL = _tube(scars.SHALLOW, width=4.0)  # its chord 2 √(2 R h) at h = 2 R
