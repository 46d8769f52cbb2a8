"""Degrees of a fitted function: as asked for, lowered where the points do not determine them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sweep.analysis.master_curve.adaptive import CLEAN
from sweep.analysis.master_curve.fitting import (
    Degrees,
    Ends,
    Target,
    least_greatest,
    least_squares,
)
from sweep.analysis.master_curve.rational import Quotient, Values

STEADY = 2.0  # greatest standard error of a curve, in those of the points
GROWN = 1.5  # scatter about a curve over that about one of higher degrees, which are then needed
RAISED = 3  # by how much degrees may be, where AAA does not tell a curve

Fitter = Callable[..., Quotient]  # of a target and degrees, and `held`
FITTERS: dict[str, Fitter] = {"least_squares": least_squares, "minimax": least_greatest}
METHODS = (*FITTERS, "aaa")


def steady(fitter: Fitter, target: Target, degrees: Degrees, ends: Ends) -> Quotient:
    """The fit of these degrees or, where the points do not determine it, of lower ones.

    It is determined if there is no pole between the ends, nor beside them nearer than half the gap
    between points there, and if no error of the curve is above STEADY of those of the points. The
    degrees go down one by one, unless the scatter of the points about the curve grows by it.
    """
    kept: tuple[Quotient, float] | None = None
    while True:
        found = fitter(target, degrees)
        if not _sound(found, target, ends):
            found = fitter(target, degrees, held=True)
        scatter = _scatter(found, target)
        if kept is not None and not scatter <= GROWN * kept[1]:
            return kept[0]
        if degrees.n_coefficients == 1 or _sound(found, target, ends):
            return found
        if not found.poles_within(*ends):
            kept = found, scatter
        degrees = degrees.lowered()


def raised(target: Target, degrees: Degrees, ends: Ends) -> Quotient:
    """The least squares of these degrees, or of up to RAISED higher ones.

    Of higher ones if the points determine them and scatter less about the curve by it.
    """
    best, most = steady(least_squares, target, degrees, ends), np.unique(target.t).size - 1
    for more in range(1, RAISED + 1):
        higher = Degrees(degrees.numerator + more, degrees.denominator + more)
        if higher.n_coefficients > most:
            break
        with np.errstate(all="ignore"):  # of a curve that is not determined
            found = steady(least_squares, target, higher, ends)
            better = GROWN * _scatter(found, target) < _scatter(best, target)
        if found.degrees != str(higher) or not better:
            break
        best = found
    return best


def strays(found: Quotient, target: Target, tolerance: float) -> bool:
    """Whether points are off the curve by more than AAA takes for none, rms of the greatest g."""
    off = (found(target.t) - target.g) / np.max(target.g)
    return float(np.sqrt(np.mean(off**2))) > max(tolerance, CLEAN)


def _sound(found: Quotient, target: Target, ends: Ends) -> bool:
    places = np.unique(np.clip(np.append(target.t, ends), *ends))
    poles = found.poles()
    nearest = np.clip(poles.real, *ends)
    i = np.clip(np.searchsorted(places, nearest), 1, places.size - 1)
    if np.any(np.abs(poles - nearest) <= 0.5 * (places[i] - places[i - 1])):
        return False
    grid = np.unique(np.concatenate([places, 0.5 * (places[1:] + places[:-1])]))
    unit = found(grid) * np.interp(grid, *_shares(target))
    at_points, over_range = _slopes(found, target.t, target.unit), _slopes(found, grid, unit)
    sizes = np.linalg.norm(at_points, axis=0)
    if not (np.all(np.isfinite(over_range)) and np.all(sizes > 0)):
        return False
    _, singular, right = np.linalg.svd(at_points / sizes, full_matrices=False)
    singular = np.maximum(singular, 1e-13 * singular[0])
    errors = np.linalg.norm((over_range / sizes) @ right.T / singular, axis=1)
    return bool(np.max(errors) <= STEADY)


def _shares(target: Target) -> tuple[Values, Values]:
    """t in ascending order, and the units there over the values."""
    order = np.argsort(target.t)
    return target.t[order], (target.unit / target.g)[order]


def _slopes(found: Quotient, t: Values, unit: Values) -> Values:
    """Of the curve in its free coefficients, over the unit."""
    return found.slopes(t) / unit[:, None]


def _scatter(found: Quotient, target: Target) -> float:
    with np.errstate(all="ignore"):
        off = (found(target.t) - target.g) / target.unit
    free = max(target.t.size - found.n_coefficients, 1)
    return float(np.sqrt(np.sum(off**2) / free))
