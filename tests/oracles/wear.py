"""Worn volumes to 60 digits: the laws and the scars as their textbook formulas have them.

Nothing here avoids cancellation: 60 digits are enough for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

DIGITS = 60


def digits(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of exact doubles, computed with DIGITS digits."""

    def with_digits(*numbers: float) -> Any:
        with mpmath.workdps(DIGITS):
            return function(*map(mpf, numbers))

    return with_digits


@digits
def archard(power: Any, seconds: Any, coefficient: Any) -> Any:
    return coefficient * power * seconds


@digits
def edf_mz(power: Any, seconds: Any, A: Any, B: Any, N: Any, S: Any) -> Any:
    """V₀ [x T + ((1 − x)/N)(1 − e^(−N T))] with x = S/V₀; S T beyond the law."""
    if power == 0:
        return mpf(0)
    first = A * power**B
    x = S / first
    if x > 1:
        return S * seconds
    return first * (x * seconds + (1 - x) / N * (1 - mpmath.exp(-N * seconds)))


def segment(h: Any, radius: Any) -> Any:
    """R² acos(1 − h/R) − (R − h)√(2Rh − h²)."""
    half = mpmath.sqrt(2 * radius * h - h * h)
    return radius**2 * mpmath.acos(1 - h / radius) - (radius - h) * half


def shallow(h: Any, radius: Any) -> Any:
    return mpf(4) / 3 * mpmath.sqrt(2 * radius) * h ** (mpf(3) / 2)


def segment_integral(h: Any, radius: Any) -> Any:
    """R³ (sin φ − φ cos φ − sin³φ/3) with cos φ = 1 − h/R; tested against a quadrature."""
    phi = mpmath.acos(1 - h / radius)
    return radius**3 * (mpmath.sin(phi) - phi * mpmath.cos(phi) - mpmath.sin(phi) ** 3 / 3)


@digits
def tube_flat(h: Any, radius: Any, length: Any) -> Any:
    return length * segment(h, radius)


@digits
def tube_flat_inclined(h: Any, radius: Any, length: Any, angle: Any) -> Any:
    if angle == 0:
        return length * segment(h, radius)
    shallowest = max(h - length * angle, mpf(0))
    return (segment_integral(h, radius) - segment_integral(shallowest, radius)) / angle


@digits
def tube_flat_on_a_plane(h: Any, radius: Any, length: Any, angle: Any) -> Any:
    """The integral along the tube of the segment that a plane inclined by `angle` cuts off."""
    slope = mpmath.tan(angle)
    worn = min(length, h / slope)
    return mpmath.quad(lambda x: segment(max(h - x * slope, mpf(0)), radius), [0, worn])


@digits
def tube_flat_inclined_small(h: Any, radius: Any, length: Any, angle: Any) -> Any:
    shallowest = max(h - length * angle, mpf(0))
    factor = 8 * mpmath.sqrt(2 * radius) / (15 * angle)
    return factor * (h ** (mpf(5) / 2) - shallowest ** (mpf(5) / 2))


@digits
def tube_hole(h: Any, radius: Any, length: Any, hole_radius: Any) -> Any:
    """The circle less its overlap with the hole, a lens of two segments."""
    distance = hole_radius - radius + h
    chord = (distance**2 + hole_radius**2 - radius**2) / (
        2 * distance
    )  # from the centre of the hole
    lens = segment(hole_radius - chord, hole_radius) + segment(radius - (distance - chord), radius)
    return length * (mpmath.pi * radius**2 - lens)


def bisected_depths(geometry: str, volume: Any, radius: Any, length: Any, other: Any = 0.0) -> Any:
    """Depths at volumes by bisection of the textbook formulas, with 64 bits of mantissa; arrays.

    `other` is the inclination or the radius of the hole. inf where the tube has less volume.
    """
    wide = np.longdouble
    volume, radius, length, other = np.broadcast_arrays(
        *(np.asarray(each, wide) for each in (volume, radius, length, other))
    )

    def volumes(h: Any) -> Any:
        if geometry == "tube_hole":
            return length * _outside(h, radius, other)
        if geometry == "tube_flat":
            return length * _cut_off(h, radius)
        rest = np.maximum(h - length * other, 0)
        return (_integral(h, radius) - _integral(rest, radius)) / other

    low, high = np.zeros_like(volume), 2 * radius
    for _ in range(120):
        middle = (low + high) / 2
        is_beyond = volumes(middle) > volume
        low, high = np.where(is_beyond, low, middle), np.where(is_beyond, middle, high)
    return np.where(volume > volumes(2 * radius), np.inf, (low + high) / 2)


def _angle(h: Any, radius: Any) -> Any:
    return np.arccos(np.clip(1 - h / radius, -1, 1))


def _cut_off(h: Any, radius: Any) -> Any:
    phi = _angle(h, radius)
    return radius * radius * (phi - np.sin(phi) * np.cos(phi))


def _integral(h: Any, radius: Any) -> Any:
    phi = _angle(h, radius)
    return radius**3 * (np.sin(phi) - phi * np.cos(phi) - np.sin(phi) ** 3 / 3)


def _outside(h: Any, radius: Any, hole_radius: Any) -> Any:
    distance = hole_radius - radius + h
    chord = (distance**2 + hole_radius**2 - radius**2) / np.where(distance > 0, 2 * distance, 1)
    lens = _cut_off(hole_radius - chord, hole_radius) + _cut_off(
        radius - (distance - chord), radius
    )
    return _angle(2 * radius, radius) * radius * radius - lens
