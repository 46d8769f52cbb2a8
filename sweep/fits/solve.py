"""Fit quotients of polynomials to points by least squares or minimax, and AAA; all by SciPy.

A curve has one piece, or two that meet. In each it is xᵖ P/Q with polynomials P and Q in s, the
distance of t from where the pieces meet. There P is the value of the curve, which the pieces share,
and Q is 1. At all points the curve is A c/(1 + B c), with c the coefficients of all pieces, the
shared value first.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.polynomial import polynomial
from scipy import interpolate, optimize

from sweep.fits.curve import Degrees, Interval, Quotient
from sweep.request.chunk import Values

ROUNDING = 1e-9  # relative errors below it are rounding, which points do not determine
CONVERGED = 1e-15  # of least squares, relative
PRECISION = 1e-6  # of the largest error of a minimax fit, relative
TINY = float(np.finfo(float).tiny)  # in place of 0, to divide by
NOT_FINITE = 1e100  # error of a curve where it is infinite
NEGLIGIBLE = 1e-6  # constant of Q over Q where pieces meet, by which it is not divided
POLE_DISTANCE = 0.05  # from the range, over the gap between points there, up to which it counts
MAX_POINTS = 2000  # from which degrees are chosen, and in a linear program
NO_SCATTER = 1e-4  # rms scatter over the largest value, up to which AAA is used
REAL = 1e-6  # imaginary part of a pole over its size, up to which it counts as real
MAX_TERMS = 30  # of AAA


@dataclass(frozen=True, eq=False)
class Problem:
    """A curve of these pieces and degrees through points, and the unit of each point's error."""

    intervals: Sequence[Interval]
    degrees: Sequence[Degrees]
    x: Values  # in ascending order
    y: Values
    unit: Values

    @property
    def n_coefficients(self) -> int:
        return 1 + sum(each.n_coefficients - 1 for each in self.degrees)

    def columns(self, i: int) -> tuple[list[int], list[int]]:
        """Which coefficients belong to P and Q of piece i, without the constants."""
        first = 1 + sum(each.n_coefficients - 1 for each in self.degrees[:i])
        second = first + self.degrees[i].numerator
        return [*range(first, second)], [*range(second, second + self.degrees[i].denominator)]

    def origin(self, i: int) -> tuple[float, int]:
        """t where piece i meets the other (of a single piece, its lower end), and s over t."""
        low, high = self.intervals[i].ends
        return (low, 1) if i == len(self.intervals) - 1 else (high, -1)

    @cached_property
    def rows(self) -> tuple[Values, Values]:
        """A and B at the points."""
        above, below = np.zeros((2, self.x.size, self.n_coefficients))
        for i, interval in enumerate(self.intervals):
            inside = np.flatnonzero(interval.contains(self.x))[:, None]
            x, (p, q), (t0, sign) = self.x[inside], self.columns(i), self.origin(i)
            s = sign * (interval.argument(x) - t0)
            above[inside, [0, *p]] = x**interval.power * s ** np.arange(len(p) + 1)
            below[inside, q] = s ** np.arange(1, len(q) + 1)
        return above, below

    def errors(self, c: Values) -> Values:
        """The errors at the points, in their units; very large where they are not finite."""
        above, below = self.rows
        with np.errstate(all="ignore"):
            errors = (above @ c / (1 + below @ c) - self.y) / self.unit
        return np.nan_to_num(errors, nan=NOT_FINITE, posinf=NOT_FINITE, neginf=-NOT_FINITE)

    def slopes(self, c: Values) -> Values:
        """Derivatives of the errors by the coefficients, shape (n_points, n_coefficients)."""
        above, below = self.rows
        denominator = (1 + below @ c)[:, None]
        slopes = above / denominator - below * ((above @ c)[:, None] / denominator**2)
        return slopes / self.unit[:, None]

    def least_squares(self) -> Values:
        """The coefficients of the least sum of squared errors without a pole in the range.

        Where Levenberg and Marquardt's method ends with one, those of Q are not negative, so that
        it is 1 or above. The start is the linear fit of A c to y(1 + B c) with such a Q.
        """
        above, below = self.rows
        least = np.where(below.any(axis=0), 0.0, -math.inf)
        rows = (above - self.y[:, None] * below) / self.unit[:, None]
        sizes = np.maximum(np.linalg.norm(rows, axis=0), TINY)
        scipy = cast("Any", optimize)
        start = scipy.lsq_linear(rows / sizes, self.y / self.unit, (least, math.inf), "bvls").x
        found = partial(
            scipy.least_squares, self.errors, np.maximum(start / sizes, least), self.slopes,
            x_scale="jac", ftol=CONVERGED, xtol=CONVERGED, gtol=CONVERGED,
        )  # fmt: skip
        c = found(method="lm").x
        return found(bounds=(least, math.inf)).x if self.has_pole(c) else c

    def minimax(self, start: Values) -> Values:
        """The coefficients of the least level within which all errors are, by bisection."""
        best, low, high = start, 0.0, float(np.max(np.abs(self.errors(start))))
        least = ROUNDING * float(np.median(self.y / self.unit))
        while high - low > PRECISION * high and high > least:
            level = 0.5 * (low + high)
            c = self._within(level, start)
            largest = math.inf if c is None else float(np.max(np.abs(self.errors(c))))
            if c is None or largest >= high:
                low = level
            else:
                best, high = c, largest
        return best

    def _within(self, level: float, start: Values) -> Values | None:
        """Coefficients of a curve whose errors are within the level; None if there is none.

        A linear program: |A c − y(1 + B c)| + spare ≤ level · unit · (1 + B c), for most to spare.
        It is for the change from `start` and scaled, because the solver's tolerances are absolute.
        """
        above, below = self.rows
        weight = 1 / (level * self.unit * (1 + below @ start))
        sides = [(sign, sign * self.y + level * self.unit) for sign in (1, -1)]
        rows = [(sign * above - limit[:, None] * below) * weight[:, None] for sign, limit in sides]
        right = np.concatenate([limit * weight for _, limit in sides])
        matrix = np.concatenate(rows)
        sizes = np.maximum(np.max(np.abs(matrix), axis=0), TINY)
        found = cast("Any", optimize).linprog(
            np.append(np.zeros(start.size), -1.0),
            np.hstack([matrix / sizes, np.ones((right.size, 1))]),
            right - matrix @ start,
            bounds=[*[(None, None)] * start.size, (None, 1.0)],
            method="highs",
        )
        if found.x is None or found.x[-1] < 0:
            return None
        c = start + found.x[:-1] / sizes
        return c if np.all(below @ c > -1) else None

    def has_pole(self, c: Values) -> bool:
        """Whether a pole is in the range, or nearer to it than points there are to each other."""
        for i, interval in enumerate(self.intervals):
            t0, sign = self.origin(i)
            t = interval.argument(self.x[interval.contains(self.x)])
            places = np.unique(sign * (np.append(t, interval.ends) - t0))
            inverse = np.roots([1.0, *c[self.columns(i)[1]]])
            poles = 1 / inverse[inverse != 0]
            nearest = np.clip(poles.real, places[0], places[-1])
            k = np.clip(np.searchsorted(places, nearest), 1, places.size - 1)
            if np.any(np.abs(poles - nearest) <= POLE_DISTANCE * (places[k] - places[k - 1])):
                return True
        return False

    def judged(self, c: Values) -> tuple[float, Values]:
        """Rms error of each point by the curve through the others, and the covariance of c."""
        slopes = self.slopes(c)
        sizes: Values = np.maximum(np.linalg.norm(slopes, axis=0), TINY)
        inverse = cast("Values", np.linalg.pinv(slopes / sizes))
        leverage: Values = np.sum(inverse.T * slopes / sizes, axis=1)
        squared = self.errors(c) ** 2 + (ROUNDING * self.y / self.unit) ** 2
        with np.errstate(divide="ignore"):
            predicted = float(np.sqrt(np.mean(squared / (1 - leverage) ** 2)))
        scaled = inverse / sizes[:, None]
        return predicted, np.sum(squared) / (self.x.size - c.size) * (scaled @ scaled.T)

    def quotient(self, i: int, c: Values, covariance: Values | None) -> Quotient:
        """Piece i in powers of t."""
        (p, q), (t0, sign) = self.columns(i), self.origin(i)
        above, below = (_in_powers_of_t(len(own), t0, sign) for own in (p, q))
        # The coefficients in powers of t are T c, plus 1 for the constant of Q.
        zero = len(p) + 1  # row of the constant of Q
        matrix = np.zeros((zero + len(q) + 1, c.size))
        matrix[:zero, [0, *p]], matrix[zero:, q] = above, below[:, 1:]
        values = matrix @ c
        values[zero] += 1.0
        if abs(values[zero]) > NEGLIGIBLE:
            matrix = (matrix - np.outer(values / values[zero], matrix[zero])) / values[zero]
            values = values / values[zero]
        sides = tuple(values[:zero].tolist()), tuple(values[zero:].tolist())
        if covariance is None:
            return Quotient(*sides)
        own = matrix @ covariance @ matrix.T
        errors = np.sqrt(np.maximum(np.diag(own), 0.0)).tolist()
        return Quotient(
            *sides, tuple(errors[:zero]), tuple(errors[zero:]), tuple(map(tuple, own.tolist()))
        )


def _in_powers_of_t(degree: int, t0: float, sign: int) -> Values:
    """The coefficients in t, in a column for each power of s = ±(t − t0)."""
    powers = np.zeros((degree + 1, degree + 1))
    for k in range(degree + 1):
        powers[: k + 1, k] = polynomial.polypow([-sign * t0, sign], k)
    return powers


def quotients(
    method: str, intervals: Sequence[Interval], x: Values, y: Values, unit: Values
) -> list[Quotient]:
    """The pieces of a curve, by "least_squares" or "minimax", of their degrees or lower ones.

    The degrees are those of the least predicted error by least squares, of one piece after the
    other. A curve with a pole in its range is not taken. Of more than MAX_POINTS points, as many
    are used to choose the degrees, and for minimax.
    """
    order = np.argsort(x)
    every = -(-x.size // MAX_POINTS)
    degrees = [Degrees(min(each.degrees.numerator, 1), 0) for each in intervals]
    problem = Problem(intervals, degrees, x[order], y[order], unit[order])
    some = replace(problem, x=x[order][::every], y=y[order][::every], unit=unit[order][::every])
    fits = list[tuple[float, Problem, Values]]()
    for i in [*reversed(range(len(intervals)))] * len(intervals):
        fits = _by_error(some, i)
        some = fits[0][1]
    if method == "minimax":
        for _, tried, start in fits:
            c = tried.minimax(start)
            if not tried.has_pole(c):
                return [tried.quotient(i, c, None) for i in range(len(intervals))]
    problem = replace(problem, degrees=some.degrees)
    c = problem.least_squares()
    _, covariance = problem.judged(c)
    return [problem.quotient(i, c, covariance) for i in range(len(intervals))]


def _by_error(problem: Problem, i: int) -> list[tuple[float, Problem, Values]]:
    """Least-squares fits whose piece i has its degrees or lower ones, by their predicted error."""
    fits = list[tuple[float, Problem, Values]]()
    highest = problem.intervals[i].degrees
    for p, q in product(range(highest.numerator + 1), range(highest.denominator + 1)):
        degrees = [*problem.degrees[:i], Degrees(p, q), *problem.degrees[i + 1 :]]
        lower = replace(problem, degrees=degrees)
        if lower.n_coefficients < problem.x.size:
            c = lower.least_squares()
            fits.append((lower.judged(c)[0], lower, c))
    return sorted(fits, key=lambda fit: fit[0])


def adaptive(
    t: Values, g: Values, tolerance: float, ends: tuple[float, float]
) -> interpolate.AAA | None:
    """Fit by AAA with the degrees that the tolerance needs, relative to the largest g.

    Points of equal t count by their mean. None for points of which every other does not predict the
    rest: AAA goes through points, even through those that scatter.
    """
    t, place = np.unique(t, return_inverse=True)
    g = np.bincount(place, g) / np.bincount(place)
    if t.size < 3:
        return None
    some = slice(None, None, -(-t.size // MAX_POINTS))
    t_some, g_some = t[some], g[some]
    shown = np.arange(t_some.size) % 2 == 0
    shown[-1] = True
    for half in _without_poles(t_some[shown], g_some[shown], tolerance, ends):
        missed = half(t_some[~shown]) - g_some[~shown]
        if np.sqrt(np.mean(missed**2)) <= max(tolerance, NO_SCATTER) * np.max(g):
            return next(_without_poles(t, g, tolerance, ends), None)
    return None


def _without_poles(
    t: Values, g: Values, tolerance: float, ends: tuple[float, float]
) -> Iterator[interpolate.AAA]:
    """AAA's functions without a pole between the ends, those of most terms first."""
    for n_terms in range(min(MAX_TERMS, t.size // 2), 0, -1):
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
            found = interpolate.AAA(t, g, rtol=tolerance, max_terms=n_terms)
        poles = found.poles()
        real = np.abs(poles.imag) <= REAL * np.abs(poles)
        if not np.any(real & (poles.real >= ends[0]) & (poles.real <= ends[1])):
            yield found
