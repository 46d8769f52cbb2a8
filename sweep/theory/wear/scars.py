"""Areas that a flat bar or a hole cuts off a circle, to rounding for any depth.

The circle has the radius R. A flat bar at the depth h = R u cuts off the segment R² a(u) with
a(u) = ∫ 2 √(2v − v²) dv from 0 to u = φ − sin φ cos φ, cos φ = 1 − u. Closed forms of small
arguments lose their digits, so series stand for them there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sweep.theory import Values

SERIES_UP_TO = 0.5  # of u; its terms decrease by a factor of four
N_TERMS = 28
NEGLIGIBLE = 1e-18  # of a term relative to the first
MAX_SINE_SQUARE = 0.3  # of the series of two segments' difference
N_SINE_TERMS = 32


@dataclass(frozen=True)
class Profile:
    """What a flat bar cuts off, as functions of the depth and the radius of the circle."""

    area: Callable[[Values, Values], Values]  # m²
    area_integral: Callable[[Values, Values], Values]  # m³: the area's, from depth 0
    chord: Callable[[Values, Values], Values]  # m: the width of the cut, the area's slope


def shallow_depth(area: Values, radius: Values) -> Values:
    """Depth [m] of a shallow segment: (3A/(4√(2R)))^(2/3)."""
    return np.cbrt(3 * area / (4 * np.sqrt(2 * radius))) ** 2


def lune_chord(h: Values, radius: Values, hole_radius: Values) -> Values:
    """Distance [m] of the points in which the circle meets a hole that it is h beyond."""
    clearance = hole_radius - radius
    product = h * (2 * hole_radius + h) * (2 * radius - h) * (2 * clearance + h)
    return np.sqrt(np.maximum(product, 0.0)) / (clearance + h)


def lune_area(h: Values, radius: Values, hole_radius: Values) -> Values:
    """Area [m²] of the circle outside a hole that it is h beyond, for a hole_radius >= radius.

    R² a(u) − R_h² a(u_h), where the common chord cuts u R off the circle and u_h R_h off the hole.
    In a hole of nearly the same radius that difference loses digits: there it is a series for short
    chords, otherwise a sum with the angle at which the circles meet.
    """
    clearance = hole_radius - radius
    distance = clearance + h  # of the centres
    c = lune_chord(h, radius, hole_radius) / 2
    own = h * (2 * hole_radius + h) / (2 * radius * distance)
    of_hole = h * (2 * radius - h) / (2 * hole_radius * distance)
    wide = radius**2 * _segment(own) - hole_radius**2 * _segment(of_hole)
    crossing = np.arctan2(c * distance, (radius**2 + (radius - h) * (hole_radius + distance)) / 2)
    beyond = np.arctan2(c, hole_radius * (1 - of_hole))
    long = radius**2 * crossing + c * distance - clearance * (radius + hole_radius) * beyond
    is_short = (c <= np.sqrt(MAX_SINE_SQUARE) * radius) & (own < 1)
    tight = np.where(is_short, _short_lune(c, radius, hole_radius), long)
    return np.where(hole_radius > 2 * radius, wide, tight)


def _short_lune(c: Values, radius: Values, hole_radius: Values) -> Values:
    """The same, as a series in the half chord c over the radius."""
    ratio = np.log1p((radius - hole_radius) / hole_radius)  # ln R/R_h
    square = np.minimum((c / radius) ** 2, MAX_SINE_SQUARE)
    total, central, power = np.zeros_like(c), 1.0, np.ones_like(c)
    for n in range(N_SINE_TERMS):  # asin s − s√(1 − s²) = Σ 2/(2n + 3) (2n choose n)/4^n s^(2n+3)
        total = total + 2 * central / (2 * n + 3) * power * -np.expm1((2 * n + 1) * ratio)
        power, central = power * square, central * (2 * n + 1) / (2 * n + 2)
    return c**3 / radius * total


def _segment(u: Values) -> Values:
    """a(u) for u from 0 to 2."""
    series = 2 * np.sqrt(2.0) * u * np.sqrt(u) * _series(u, lambda n: 1 / (n + 1.5))
    return _or_closed(u, series, lambda phi: phi - np.sin(phi) * np.cos(phi))


def _segment_integral(u: Values) -> Values:
    """The integral of a from 0 to u."""
    factors = _series(u, lambda n: 1 / ((n + 1.5) * (n + 2.5)))
    series = 2 * np.sqrt(2.0) * u**2 * np.sqrt(u) * factors
    return _or_closed(u, series, lambda phi: np.sin(phi) - phi * np.cos(phi) - np.sin(phi) ** 3 / 3)


def _or_closed(u: Values, series: Values, closed: Callable[[Values], Values]) -> Values:
    """The series of small u, and otherwise the closed form, a function of φ."""
    if np.all(u < SERIES_UP_TO):
        return series
    return np.where(u < SERIES_UP_TO, series, closed(np.arccos(np.clip(1 - u, -1.0, 1.0))))


def _series(u: Values, factor: Callable[[int], float]) -> Values:
    """Σ factor(n) c_n u^n, where √(1 − u/2) = Σ c_n u^n.

    It ends before the terms that would not change a bit of the sum at any of the values.
    """
    u = np.minimum(u, SERIES_UP_TO)
    largest = float(np.max(np.where(np.isnan(u), 0.0, u), initial=0.0))
    total, c, power = np.zeros_like(u), 1.0, np.ones_like(u)
    for n in range(N_TERMS):
        if abs(c) * largest**n < NEGLIGIBLE:
            break
        total = total + factor(n) * c * power
        power, c = power * u, c * (n - 0.5) / (2 * (n + 1))
    return total


SEGMENT = Profile(
    area=lambda h, radius: radius**2 * _segment(h / radius),
    area_integral=lambda h, radius: radius**3 * _segment_integral(h / radius),
    chord=lambda h, radius: 2 * np.sqrt(np.maximum(h * (2 * radius - h), 0.0)),
)
SHALLOW = Profile(
    area=lambda h, radius: 4 / 3 * np.sqrt(2 * radius) * h * np.sqrt(h),
    area_integral=lambda h, radius: 8 / 15 * np.sqrt(2 * radius) * h**2 * np.sqrt(h),
    chord=lambda h, radius: 2 * np.sqrt(2 * radius * h),
)
