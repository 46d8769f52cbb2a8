"""Fits of quotients of given degrees: least squares and minimax.

The basis is C(K, k) uᵏ/(1 + u)ᴷ with u = t/c, where c is the median of the points: Bernstein's on
the half line, well scaled however many decades the points span.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, cast

import numpy as np
from scipy import optimize

from sweep.analysis.master_curve.least_squares import (
    Values,
    combined,
    minimised,
    solved,
    solved_bounded,
    triangle,
)
from sweep.analysis.master_curve.rational import Degrees, Quotient, Target, met

MAX_PROGRAM_POINTS = 2000  # points in a linear program
LINEAR_ROUNDS, BOUNDED_ROUNDS, CORRECTION_ROUNDS = 20, 5, 60
PIN_RATIO = 1e6  # largest term of a denominator over its constant term, at the smallest t > 0
MIN_BELOW = 1e-3  # bounded coefficient of the denominator, relative to that of the previous round


def least_squares(target: Target, degrees: Degrees, *, bounded: bool = False) -> Quotient:
    """Minimise the sum of squared errors: Levenberg–Marquardt from a linearised start.

    Where the result has a pole among the points, start again from a minimax fit. If `bounded`, no
    coefficient of the denominator is negative in the basis, so there is no pole at any t ≥ 0.
    """
    problem = _problem(target, degrees)
    found = _refined(problem, *_linearised(problem, bounded), bounded=bounded)
    fails = found.poles_within(target.t.min(), target.t.max()) and not met(found, target)
    if fails and not bounded:
        found = _refined(problem, *_corrected(problem))
    return found


def minimax(target: Target, degrees: Degrees, *, bounded: bool = False) -> Quotient:
    """Minimise the largest error, without a pole at the points; `bounded` as for least squares.

    Differential correction, a linear program per round (Barrodale, Powell, Roberts 1972), converges
    from any start. At most MAX_PROGRAM_POINTS points are used, evenly picked.
    """
    order = np.argsort(target.t)[:: -(-target.t.size // MAX_PROGRAM_POINTS)]
    problem = _problem(target.where(order), degrees)
    a, b = _corrected(problem, MIN_BELOW if bounded else -1.0)
    return problem.quotient(a, b, problem.pinned(b))


@dataclass(frozen=True, eq=False)
class _Problem:
    """A target and the basis functions of both polynomials at its points: g = A a / B b, b₀ = 1."""

    target: Target
    above: Values  # (numerator + 1, n_points)
    below: Values  # (denominator + 1, n_points)
    scale: float  # c

    def split(self, x: Values) -> tuple[Values, Values]:
        """a, and b with its leading 1, from the free coefficients."""
        return x[: len(self.above)], np.concatenate([[1.0], x[len(self.above) :]])

    def errors(self, x: Values) -> tuple[Values, Values]:
        """The errors in their units, and their derivatives by the coefficients."""
        a, b = self.split(x)
        with np.errstate(all="ignore"):  # a step across a pole is not finite, and not taken
            value = combined(a[:, None] * self.above) / combined(b[:, None] * self.below)
            return (value - self.target.g) / self.target.unit, self.slopes(a, b, 0)

    def slopes(self, a: Values, b: Values, pinned: int) -> Values:
        """The derivatives of the errors where coefficient `pinned` of the denominator is fixed."""
        below = combined(b[:, None] * self.below)
        share = 1 / (below * self.target.unit)
        value = combined(a[:, None] * self.above) / below
        beneath = -np.delete(self.below, pinned, axis=0)
        return np.concatenate([self.above * share, beneath * (value * share)])

    def pinned(self, b: Values) -> int:
        """Index of the coefficient to make 1: the constant one unless it is negligible."""
        least = float(np.min(self.target.t[self.target.t > 0], initial=self.scale))
        shares = np.abs(b * self._units(len(b)) * _powers(least, len(b)))
        return int(np.argmax(np.abs(b))) if shares.max() > PIN_RATIO * shares[0] else 0

    def quotient(
        self, a: Values, b: Values, pinned: int, covariance: Values | None = None
    ) -> Quotient:
        """The function in powers of t; `covariance` is of a and b over the pinned coefficient."""
        above, below = (self._units(len(each)) for each in (a, b))
        unit = below[pinned]
        numerator = tuple((a / b[pinned] * above / unit).tolist())
        denominator = (b / b[pinned] * below / unit).tolist()
        denominator[pinned] = 1.0
        found = Quotient(numerator, tuple(denominator), pinned=pinned)
        if covariance is None:
            return found
        units = np.concatenate([above, np.delete(below, pinned)]) / unit
        spread: Values = covariance * units[:, None] * units
        errors: Values = np.sqrt(np.diag(spread))
        return replace(
            found,
            numerator_errors=tuple(errors[: len(a)].tolist()),
            denominator_errors=tuple(np.insert(errors[len(a) :], pinned, 0.0).tolist()),
            covariance=tuple(tuple(map(float, row)) for row in spread),
        )

    def _units(self, length: int) -> Values:
        """The factors between coefficients in the basis and in powers of t."""
        choices = [math.comb(length - 1, k) for k in range(length)]
        return np.array(choices, dtype=np.float64) * _powers(1 / self.scale, length)


def _powers(base: float, length: int) -> Values:
    """1, base, base² ...; np.power rounds differently on different processors."""
    return np.multiply.accumulate(np.array([1.0, *[base] * (length - 1)]))


def _problem(target: Target, degrees: Degrees) -> _Problem:
    scale = float(np.median(target.t[target.t > 0])) if np.any(target.t > 0) else 1.0
    u = target.t / scale
    above, below = (_basis(u, degree) for degree in (degrees.numerator, degrees.denominator))
    for _ in range(abs(degrees.numerator - degrees.denominator)):
        above = above * (1 + u) if degrees.numerator > degrees.denominator else above / (1 + u)
    return _Problem(target, above, below, scale)


def _basis(u: Values, degree: int) -> Values:
    share, rest = u / (1 + u), 1 / (1 + u)
    factors = [[share] * k + [rest] * (degree - k) for k in range(degree + 1)]
    choices = [np.full(u.shape, float(math.comb(degree, k))) for k in range(degree + 1)]
    return np.stack([reduce(np.multiply, *pair) for pair in zip(factors, choices, strict=True)])


def _linearised(problem: _Problem, bounded: bool = False) -> tuple[Values, Values]:
    """The best of several rounds of A a − g (B b) over the previous B b, each linear."""
    t, g, unit = problem.target.t, problem.target.g, problem.target.unit
    n_above = len(problem.above)
    best, least = (np.ones(n_above), np.eye(1, len(problem.below))[0]), math.inf
    below, columns = np.ones(t.size), np.concatenate([problem.above, -g * problem.below[1:]])
    for _ in range(BOUNDED_ROUNDS if bounded else LINEAR_ROUNDS):
        weight = 1 / (unit * below)
        weighted, right = columns * weight, g * problem.below[0] * weight
        x = solved_bounded(weighted, right, n_above) if bounded else solved(weighted, right)
        a, b = problem.split(x)
        below = combined(b[:, None] * problem.below)
        if not np.all(np.isfinite(below)) or np.any(below == 0):
            break
        off = (combined(a[:, None] * problem.above) / below - g) / unit
        error = float(np.sum(off * off))
        if error < least:
            best, least = (a, b), error
    return best


def _refined(problem: _Problem, a: Values, b: Values, *, bounded: bool = False) -> Quotient:
    """Levenberg–Marquardt from a start; coefficients at their bound have no standard error."""
    x = np.concatenate([a, b[1:]]) / b[0]
    x = minimised(problem.errors, x, len(a) if bounded else x.size)
    a, b = problem.split(x)
    pinned = problem.pinned(b)
    a, b = a / b[pinned], b / b[pinned]
    with np.errstate(all="ignore"):
        off, columns = problem.errors(x)[0], problem.slopes(a, b, pinned)
    free = np.ones(x.size, dtype=bool)
    if bounded:
        free[len(a) :] = np.delete(b, pinned) != 0
    covariance = np.zeros((x.size, x.size))
    variance = float(np.sum(off * off)) / max(off.size - int(free.sum()), 1)
    covariance[np.ix_(free, free)] = variance * triangle(columns[free], off).covariance()
    return problem.quotient(a, b, pinned, covariance)


def _corrected(problem: _Problem, min_below: float = -1.0) -> tuple[Values, Values]:
    """Differential correction from a linearised start; b is from `min_below` to 1.

    Each linear program lowers the largest error, or ends the rounds.
    """
    target = problem.target
    unit = target.unit * np.max(target.g / target.unit)
    above, level = problem.above / unit, target.g / unit
    a, b = _linearised(problem)
    if np.any(combined(b[:, None] * problem.below) <= 0) or min_below > 0:
        b = np.ones(len(problem.below))
        a = solved(above, level * combined(problem.below))
    best, least = (a, b), math.inf
    for _ in range(CORRECTION_ROUNDS):
        below = combined(b[:, None] * problem.below)
        off = np.abs(combined(a[:, None] * above) / below - level)
        largest = float(np.max(off)) if below.min() > 0 else math.inf
        if largest >= least * (1 - 1e-7):
            break
        best, least = (a, b), largest
        share = 1 / below
        upper = np.concatenate([above * share, -(level + largest) * problem.below * share])
        lower = np.concatenate([-above * share, (level - largest) * problem.below * share])
        rows = np.concatenate([upper, lower], axis=1).T
        coefficients = _program(rows, np.concatenate([a, b]), len(a), min_below)
        if coefficients is None:
            break
        a, b = np.split(coefficients, [len(a)])
    return best


def _program(rows: Values, sizes: Values, n_above: int, min_below: float) -> Values | None:
    """The coefficients that lower the values of all rows most; None at the optimum."""
    # They are scaled by their sizes, because the solver's tolerances are absolute.
    sizes = np.maximum(np.abs(sizes), 1e-9 * np.max(np.abs(sizes)))
    cost = np.append(np.zeros(sizes.size), 1.0)
    left = np.hstack([rows * sizes, -np.ones((len(rows), 1))])
    bounds = [(None, None)] * n_above + [(min_below, 1.0)] * (sizes.size - n_above)
    bounds.append((None, None))
    scipy = cast("Any", optimize)  # typed too narrowly
    result = scipy.linprog(cost, left, np.zeros(len(rows)), bounds=bounds, method="highs")
    if result.x is None or result.x[-1] > -1e-14 or np.max(np.abs(result.x[n_above:-1])) < 1e-9:
        return None
    found: Values = result.x[:-1] * sizes
    return found / np.max(np.abs(found[n_above:]))
