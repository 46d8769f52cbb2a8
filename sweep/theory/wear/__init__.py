"""Worn volume and depth over years from a wear power, and how long a depth takes.

The wear power P is the mean of N|v| in W, without the friction coefficient. A law gives the worn
volume after a time in service, a geometry the depth of the scar that has this volume:

    archard              V = K P T
    edf_mz               V = S T + (V₀ − S)(1 − e^(−N T))/N with V₀ = A P^B; S T if V₀ < S

    tube_flat            tube worn by a flat bar: the scar is a segment of the tube's circle
    tube_flat_inclined   the same, but the bar is inclined by a small angle
    tube_hole            tube worn by the wall of a hole: what of the tube's circle is outside it

All functions take numbers or arrays that broadcast together, in SI units, and return float64 arrays
of the broadcast shape. Where a number is negative or NaN, the result is NaN. SweepError for an
unknown law or geometry, and for coefficients or dimensions that it does not have, or lacks.

Source: Code_Aster's POST_USURE and its test zzzz405a, but with exact scars. The coefficients that
it lists are examples: use measured ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sweep.theory import Values
from sweep.theory.wear.geometries import GEOMETRIES as GEOMETRIES
from sweep.theory.wear.geometries import Geometry as Geometry
from sweep.theory.wear.geometries import geometry_of as geometry_of
from sweep.theory.wear.geometries import inclination_warning as inclination_warning
from sweep.theory.wear.laws import LAWS as LAWS
from sweep.theory.wear.laws import Law as Law
from sweep.theory.wear.laws import law_of as law_of

YEAR = 31_536_000.0  # s: 365 days


def volume(law: str, power: ArrayLike, seconds: ArrayLike, **coefficients: ArrayLike) -> Values:
    """Worn volume [m³] after a time in service [s] at a mean wear power [W].

    Coefficients of `archard`: coefficient K [m³/J = 1/Pa]. Of `edf_mz`: coefficient A [m³/s at
    1 W] (1e-13), exponent B (1.2), decay N [1/s] (2.44e-8), slope S [m³/s] (1.14e-16). See
    `within_law` for what edf_mz does at low power.
    """
    return law_of(law).volume(power, seconds, coefficients)


def within_law(law: str, power: ArrayLike, **coefficients: ArrayLike) -> Values:
    """1 where a law holds, 0 where the power is too low for it, NaN where a number is negative.

    `edf_mz` needs an initial rate A P^B of at least the final rate S, so a power of at least
    3.5e-3 W with the default coefficients. Below, its volume is S T; without power it is 0.
    """
    return law_of(law).within(power, coefficients)


def time_to_volume(
    law: str, power: ArrayLike, volume: ArrayLike, **coefficients: ArrayLike
) -> Values:
    """Time in service [s] after which a volume [m³] is worn; inf if it never is."""
    return law_of(law).seconds(power, volume, coefficients)


def depth(
    geometry: str,
    volume: ArrayLike,
    *,
    radius: ArrayLike,
    length: ArrayLike,
    angle: ArrayLike = 0.0,
    hole_radius: ArrayLike | None = None,
    small: bool = False,
) -> Values:
    """Depth [m] of the scar with a volume [m³]; NaN if the tube has less than that volume.

    `radius` [m] is that of the tube, `length` [m] that of the contact. `angle` [rad] is the
    inclination of `tube_flat_inclined`, whose depth is that of the deeper end; it stands for its
    tangent, as in Code_Aster, which makes volumes too large by up to tan(angle)/angle - 1: by 1 %
    at 0.172 (9.9°), by 27 % at 45°. From π/2 on, the depth is NaN. `hole_radius` [m] is needed for
    `tube_hole` and not below the tube's. `small` uses the formulas for shallow scars, as Code_Aster
    does for a flat bar; without inclination their depth is too low by h/(10 R). The relative error
    of solving for the depth is below 1e-12.
    """
    size = {"radius": radius, "length": length, "angle": angle, "hole_radius": hole_radius}
    return geometry_of(geometry, small=small).depth(volume, size)


def scar_volume(
    geometry: str,
    depth: ArrayLike,
    *,
    radius: ArrayLike,
    length: ArrayLike,
    angle: ArrayLike = 0.0,
    hole_radius: ArrayLike | None = None,
    small: bool = False,
) -> Values:
    """Volume [m³] of the scar with a depth [m]: the inverse of `depth`; NaN beyond 2 R."""
    size = {"radius": radius, "length": length, "angle": angle, "hole_radius": hole_radius}
    return geometry_of(geometry, small=small).volume(depth, size)


def time_to_depth(
    law: str, geometry: str, power: ArrayLike, depth: ArrayLike, **both: Any
) -> Values:
    """Time in service [s] until a scar has a depth [m]; inf where it is never reached.

    `both` are the coefficients of the law and the dimensions of the geometry. A depth of more than
    the tube's diameter is never reached.
    """
    known = law_of(law).coefficients
    coefficients = {name: value for name, value in both.items() if name in known}
    size = {name: value for name, value in both.items() if name not in known}
    small = bool(size.pop("small", False))
    volume = geometry_of(geometry, small=small).volume(depth, size)
    beyond = np.asarray(depth) > 2 * np.asarray(size["radius"], np.float64)
    seconds = law_of(law).seconds(power, np.where(beyond, 0.0, volume), coefficients)
    return np.where(beyond & ~np.isnan(seconds), np.inf, seconds)
