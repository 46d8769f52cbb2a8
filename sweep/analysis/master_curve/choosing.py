"""Degrees that the points determine: as chosen, lowered where they are not, or found by AAA."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sweep.analysis.master_curve.linear import Values, triangle
from sweep.analysis.master_curve.rational import (
    Barycentric,
    Degrees,
    Quotient,
    Rational,
    Target,
    approximants,
    least_squares,
    met,
    minimax,
)

MAX_ERROR = 2.0  # largest standard error of a curve, over that of the points
NEEDED = (
    1.5  # factor by which the scatter about a curve has to fall for higher degrees to be needed
)
MAX_RAISE = 3  # of both degrees, where AAA does not give a curve
NO_SCATTER = 1e-4  # rms scatter over the largest value, up to which AAA is used

Ends = tuple[float, float]  # of the range of t

FITTERS: dict[str, Callable[..., Quotient]] = {"least_squares": least_squares, "minimax": minimax}
METHODS = (*FITTERS, "aaa")


def determined(method: str, target: Target, degrees: Degrees, ends: Ends) -> Quotient:
    """Fit with these degrees or, where the points do not determine the curve, with lower ones.

    The curve is determined if it has no pole between the ends, nor near them within half the
    distance of points there, and if its standard error is nowhere above MAX_ERROR of that of the
    points. Degrees fall one by one, unless the points then scatter more about the curve. A curve
    that meets its points but for rounding has the lowest degrees that do: in any higher ones,
    numerator and denominator share factors that rounding would choose.
    """
    fitter = FITTERS[method]
    kept: Quotient | None = None
    while True:
        found = fitter(target, degrees)
        if not met(found, target) and not _sound(found, target, ends):
            found = fitter(target, degrees, bounded=True)
        if kept is not None and _worse(found, kept, target):
            return kept
        final = not met(found, target) and _sound(found, target, ends)
        if degrees.n_coefficients == 1 or final:
            return found
        if not found.poles_within(*ends):
            kept = found
        degrees = degrees.lowered()


def raised(target: Target, degrees: Degrees, ends: Ends) -> Quotient:
    """Fit by least squares with these degrees, or with up to MAX_RAISE higher ones if needed.

    Higher ones are needed if the points determine them and scatter less about the curve.
    """
    best = determined("least_squares", target, degrees, ends)
    n_distinct = np.unique(target.t).size
    for more in range(1, MAX_RAISE + 1):
        higher = Degrees(degrees.numerator + more, degrees.denominator + more)
        if higher.n_coefficients >= n_distinct or met(best, target):
            break
        with np.errstate(all="ignore"):  # a curve that is not determined overflows
            found = determined("least_squares", target, higher, ends)
            needed = NEEDED * _scatter(found, target) < _scatter(best, target)
        if found.degrees != higher or not needed:
            break
        best = found
    return best


def adaptive(target: Target, tolerance: float, ends: Ends | None = None) -> Barycentric | None:
    """Fit by AAA with the degrees that the tolerance needs, relative to the largest g.

    Points of equal t count by their mean. Terms are removed until there is no pole between the ends
    (by default those of the points). None for points that scatter by more than the tolerance, as
    the curve goes through some of them.
    """
    t, place = np.unique(target.t, return_inverse=True)
    g = np.bincount(place, target.g) / np.bincount(place)
    ends = ends or (float(t[0]), float(t[-1]))
    if _prediction_error(t, g, tolerance, ends) > max(tolerance, NO_SCATTER):
        return None
    without_poles: Barycentric | None = None
    for found in approximants(t, g):
        if not found.poles_within(*ends):
            without_poles = found
        if np.max(np.abs(found(t) - g)) <= tolerance * np.max(g):
            break
    return without_poles


def scatters(found: Quotient, target: Target, tolerance: float) -> bool:
    """Whether the points are farther from the curve than AAA tolerates."""
    return _relative_rms(found, target.t, target.g) > max(tolerance, NO_SCATTER)


def _prediction_error(t: Values, g: Values, tolerance: float, ends: Ends) -> float:
    """How well AAA on every other point predicts the rest: rms over the largest g."""
    shown = np.arange(t.size) % 2 == 0
    shown[-1] = True
    least = math.inf
    for found in approximants(t[shown], g[shown]):
        if not found.poles_within(*ends):
            least = min(least, _relative_rms(found, t[~shown], g[~shown]))
        if least <= max(tolerance, NO_SCATTER):
            break
    return least


def _relative_rms(found: Rational, t: Values, g: Values) -> float:
    off = (found(t) - g) / np.max(g)
    return float(np.sqrt(np.mean(off * off)))


def _worse(found: Quotient, better: Quotient, target: Target) -> bool:
    return not (met(found, target) or _scatter(found, target) <= NEEDED * _scatter(better, target))


def _scatter(found: Quotient, target: Target) -> float:
    """Standard deviation of the points about the curve, in their units."""
    with np.errstate(all="ignore"):
        off = (found(target.t) - target.g) / target.unit
    free = max(target.t.size - found.n_coefficients, 1)
    return float(np.sqrt(np.sum(off * off) / free))


def _sound(found: Quotient, target: Target, ends: Ends) -> bool:
    places = np.unique(np.clip(np.append(target.t, ends), *ends))
    poles = found.poles()
    nearest = np.clip(poles.real, *ends)
    i = np.clip(np.searchsorted(places, nearest), 1, places.size - 1)
    if np.any(np.abs(poles - nearest) <= 0.5 * (places[i] - places[i - 1])):
        return False
    grid = np.unique(np.concatenate([places, 0.5 * (places[1:] + places[:-1])]))
    order = np.argsort(target.t)
    unit = found(grid) * np.interp(grid, target.t[order], (target.unit / target.g)[order])
    at_points, over_range = found.slopes(target.t) / target.unit, found.slopes(grid) / unit
    if not (np.all(np.isfinite(over_range)) and np.all(np.any(at_points != 0, axis=1))):
        return False
    errors = triangle(at_points, np.zeros(target.t.size)).leverage(over_range)
    return bool(np.max(errors) <= MAX_ERROR)
