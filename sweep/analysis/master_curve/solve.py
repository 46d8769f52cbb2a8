"""Fit quotients of polynomials to points, by least squares or minimax, and AAA; all by SciPy.

A curve has one piece, or two that meet. In each, P and Q are sums of uᵏ − u₀ᵏ with u = t/c, plus a
constant, which is 1 in Q. So P is the value of the curve at the anchor u₀, and pieces that meet
there share it. At all points the curve is A x/(1 + B x), with x the coefficients of all pieces.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import ArrayLike, NDArray
from scipy import interpolate, optimize

from sweep.errors import SweepError
from sweep.work import Values

ROUNDING = 1e-9  # relative errors below it are rounding, which points do not determine
LINEAR_ROUNDS = 8
CONVERGED = 1e-15  # of least squares, relative
PRECISION, BISECTIONS = 1e-6, 60  # of the largest error of a minimax fit, relative
PLACES_PER_POINT, MAX_PLACES = 20, 4000  # at which a curve's standard error is computed
MAX_WORSE = 3.0  # predicted error of a minimax fit over that of least squares
MAX_POINTS = 2000  # from which degrees are chosen, and in a linear program
REAL = 1e-6  # imaginary part of a pole over its size, up to which it counts as real
NOT_FINITE = 1e100  # error of a curve where it is infinite
SMALLEST_STEP = 1e-9  # of a coefficient in a linear program, relative to the largest
NEGLIGIBLE = 1e-6  # constant of Q over Q at its anchor, by which it is not divided
NEGLIGIBLE_TERM = 1e-15  # of Q at the largest t, relative to the largest term
NO_SCATTER = 1e-4  # rms scatter over the largest value, up to which AAA is used
MAX_TERMS = 30  # of AAA

AAA = interpolate.AAA
Ends = tuple[float, float]  # of a range


@dataclass(frozen=True)
class Degrees:
    """Degrees of the numerator and of the denominator."""

    numerator: int
    denominator: int

    def __post_init__(self) -> None:
        if min(self.numerator, self.denominator) < 0:
            raise SweepError(f"degrees {self} are negative: use whole numbers of 0 or above")

    @property
    def n_coefficients(self) -> int:
        return self.numerator + self.denominator + 1

    def __str__(self) -> str:
        return f"{self.numerator}/{self.denominator}"


@dataclass(frozen=True)
class Quotient:
    """P(t)/Q(t), coefficients in ascending powers; the constant of Q is 1 unless it is negligible.

    Errors are standard errors of the coefficients, from the scatter of the points about the curve
    as if points were independent; a minimax fit has none. The covariance is that of all
    coefficients, numerator first.
    """

    numerator: tuple[float, ...]
    denominator: tuple[float, ...]
    numerator_errors: tuple[float, ...] = ()
    denominator_errors: tuple[float, ...] = ()
    covariance: tuple[tuple[float, ...], ...] = ()

    @property
    def degrees(self) -> Degrees:
        return Degrees(len(self.numerator) - 1, len(self.denominator) - 1)

    @property
    def n_coefficients(self) -> int:
        """Number of free coefficients: P and Q may be multiplied by any number."""
        return self.degrees.n_coefficients

    def __call__(self, t: ArrayLike) -> Values:
        t = np.asarray(t, dtype=np.float64)
        return polynomial.polyval(t, self.numerator) / polynomial.polyval(t, self.denominator)

    def standard_error(self, t: Values) -> Values | None:
        """Standard error of the value, from the covariance; None without one."""
        if not self.covariance:
            return None
        above, below = (np.vander(t, len(side), increasing=True)
                        for side in (self.numerator, self.denominator))  # fmt: skip
        slopes = np.hstack([above, -below * self(t)[:, None]]) / (below @ self.denominator)[:, None]
        return np.sqrt(np.maximum(np.sum(slopes @ self.covariance * slopes, axis=1), 0.0))

    def poles(self, largest: float) -> NDArray[np.inexact]:
        """The poles, without those far beyond the largest t."""
        terms = np.array(self.denominator) * largest ** np.arange(len(self.denominator))
        n = int(np.flatnonzero(np.abs(terms) > NEGLIGIBLE_TERM * np.max(np.abs(terms)))[-1])
        return polynomial.polyroots(terms[: n + 1]) * largest


@dataclass(frozen=True, eq=False)
class PieceData:
    """The points of a piece: values g > 0 at t ≥ 0, and the unit in which each error is measured.

    At the anchor, a t within the ends, Q is 1.
    """

    t: Values
    g: Values
    unit: Values
    ends: Ends
    anchor: float

    def thinned(self, every: int) -> PieceData:
        """Every so many of the points, in order."""
        kept = np.argsort(self.t)[::every]
        return replace(self, t=self.t[kept], g=self.g[kept], unit=self.unit[kept])

    @cached_property
    def scale(self) -> float:
        """c, the median of the points."""
        return float(np.median(self.t[self.t > 0])) if np.any(self.t > 0) else 1.0


@dataclass(frozen=True, eq=False)
class Problem:
    """The pieces of a curve with their degrees; if there are two, they meet at their anchors."""

    targets: Sequence[PieceData]
    degrees: Sequence[Degrees]

    @property
    def n_coefficients(self) -> int:
        return 1 + sum(each.n_coefficients - 1 for each in self.degrees)

    @cached_property
    def points(self) -> tuple[Values, Values, Values, Values]:
        """A, B, g and the units."""
        rows = [self.rows(i, target.t) for i, target in enumerate(self.targets)]
        above, below = (np.concatenate(each) for each in zip(*rows, strict=True))
        g, unit = (np.concatenate([getattr(target, name) for target in self.targets])
                   for name in ("g", "unit"))  # fmt: skip
        return above, below, g, unit

    def columns(self, i: int) -> tuple[list[int], list[int]]:
        """Which coefficients belong to P and Q of piece i, without the constants."""
        first = 1 + sum(each.n_coefficients - 1 for each in self.degrees[:i])
        second = first + self.degrees[i].numerator
        return [*range(first, second)], [*range(second, second + self.degrees[i].denominator)]

    def rows(self, i: int, t: Values) -> tuple[Values, Values]:
        """Rows of A and B at some t of piece i."""
        target, (p, q) = self.targets[i], self.columns(i)
        above, below = np.zeros((2, t.size, self.n_coefficients))
        powers = 1 + np.arange(max(len(p), len(q)))
        terms = (t[:, None] / target.scale) ** powers - (target.anchor / target.scale) ** powers
        above[:, 0] = 1.0
        above[:, p], below[:, q] = terms[:, : len(p)], terms[:, : len(q)]
        return above, below

    def errors(self, x: Values) -> Values:
        """The errors at the points, in their units; very large where they are not finite."""
        above, below, g, unit = self.points
        with np.errstate(all="ignore"):
            errors = (above @ x / (1 + below @ x) - g) / unit
        return np.nan_to_num(errors, nan=NOT_FINITE, posinf=NOT_FINITE, neginf=-NOT_FINITE)

    def slopes(self, x: Values) -> Values:
        """Derivatives of the errors by the coefficients, shape (n_points, n_coefficients)."""
        above, below, _, unit = self.points
        return _slopes(above, below, x) / unit[:, None]

    def least_squares(self) -> Solution:
        """The least sum of squared errors, by Levenberg and Marquardt."""
        found = cast("Any", optimize).least_squares(
            self.errors, self._start(), self.slopes, method="lm", x_scale="jac", ftol=CONVERGED,
            xtol=CONVERGED, gtol=CONVERGED,
        )  # fmt: skip
        return Solution(self, found.x)

    def _start(self) -> Values:
        """The best of several rounds of A x − g(1 + B x) over the 1 + B x before, each linear.

        Coefficients are bounded so that Q is 1 or above.
        """
        above, below, g, unit = self.points
        bounds = np.full((2, self.n_coefficients), [[-math.inf], [math.inf]])
        for i, target in enumerate(self.targets):
            bounds[int(target.anchor > target.t.min()), self.columns(i)[1]] = 0.0
        denominator, best, least = np.ones(g.size), np.zeros(self.n_coefficients), math.inf
        for _ in range(LINEAR_ROUNDS):
            weight = 1 / (unit * denominator)
            rows = (above - g[:, None] * below) * weight[:, None]
            sizes = np.linalg.norm(rows, axis=0)
            sizes[sizes == 0] = 1.0
            linear = cast("Any", optimize).lsq_linear(
                rows / sizes, g * weight, tuple(bounds), method="bvls"
            )
            x = linear.x / sizes
            denominator, error = 1 + below @ x, float(np.sum(self.errors(x) ** 2))
            if error < least:
                best, least = x, error
        return best

    def minimax(self, start: Values) -> Solution:
        """The least level within which all errors can be, by bisection from a curve."""
        best, low, high = start, 0.0, float(np.max(np.abs(self.errors(start))))
        _, _, g, unit = self.points
        least = ROUNDING * float(np.median(g / unit))
        for _ in range(BISECTIONS):
            if high - low <= PRECISION * high or high <= least:
                break
            level = 0.5 * (low + high)
            x = self._within(level, start)
            largest = math.inf if x is None else float(np.max(np.abs(self.errors(x))))
            if x is None or largest >= high:
                low = level
            else:
                best, high = x, largest
        return Solution(self, best)

    def _within(self, level: float, start: Values) -> Values | None:
        """Coefficients of a curve whose errors are within the level; None if there is none.

        A linear program: |A x − g(1 + B x)| + spare ≤ level · unit · (1 + B x), for most to spare.
        It is for the change from `start` and scaled, because the solver's tolerances are absolute.
        """
        above, below, g, unit = self.points
        sizes = level * np.maximum(np.abs(start), SMALLEST_STEP * np.max(np.abs(start)))
        weight = 1 / (level * unit * (1 + below @ start))
        rows, right = list[Values](), list[Values]()
        for sign in (1, -1):
            limit = sign * g + level * unit
            rows.append((sign * above - limit[:, None] * below) * weight[:, None])
            right.append(limit * weight - rows[-1] @ start)
        found = cast("Any", optimize).linprog(
            np.append(np.zeros(start.size), -1.0),
            np.hstack([np.concatenate(rows) * sizes, np.ones((2 * g.size, 1))]),
            np.concatenate(right),
            bounds=[*[(None, None)] * start.size, (None, 1.0)],
            method="highs",
        )
        if found.x is None or found.x[-1] < 0:
            return None
        x = start + found.x[:-1] * sizes
        return x if np.all(below @ x > -1) else None


@dataclass(frozen=True, eq=False)
class Solution:
    """The coefficients of a curve."""

    problem: Problem
    x: Values

    @cached_property
    def covariance(self) -> Values:
        """The covariance of the coefficients; infinite where the points do not determine them."""
        slopes = self.problem.slopes(self.x)
        sizes = np.linalg.norm(slopes, axis=0)
        if not np.all(sizes > 0):
            return np.full((self.x.size, self.x.size), math.inf)
        _, values, vectors = np.linalg.svd(slopes / sizes, full_matrices=False)
        with np.errstate(divide="ignore"):
            roots = vectors.T / values / sizes[:, None]
        return self.variance * (roots @ roots.T)

    @property
    def variance(self) -> float:
        """Variance of the points about the curve, in their units; rounding at least."""
        g, unit = self.problem.points[2:]
        least = float(np.sum((ROUNDING * g / unit) ** 2))
        errors = self.problem.errors(self.x)
        return max(float(np.sum(errors**2)), least) / (errors.size - self.x.size)

    @property
    def predicted_error(self) -> float:
        """Geometric mean of s and s + e: scatter s, largest standard error e in the range.

        A heuristic: e alone would prefer low degrees, which miss the points, s alone high ones,
        which waver between them. Infinite if there is a pole.
        """
        if self.has_pole():
            return math.inf
        greatest = 0.0
        for i, target in enumerate(self.problem.targets):
            order = np.argsort(target.t)
            places = np.unique(np.append(target.t, target.ends))
            n_places = min(PLACES_PER_POINT * places.size, MAX_PLACES)
            k = np.linspace(0, places.size - 1, n_places)
            t = np.interp(k, np.arange(places.size), places)
            unit = np.interp(t, target.t[order], target.unit[order])
            slopes = _slopes(*self.problem.rows(i, t), self.x) / unit[:, None]
            with np.errstate(all="ignore"):
                variances = np.sum(slopes @ self.covariance * slopes, axis=1)
            greatest = max(greatest, float(np.max(np.nan_to_num(variances, nan=math.inf))))
        scatter = math.sqrt(self.variance)
        return math.sqrt(scatter * (scatter + math.sqrt(greatest)))

    def has_pole(self) -> bool:
        """Whether a pole is in the range, or too near for errors at some places to show it."""
        for i, target in enumerate(self.problem.targets):
            places = np.unique(np.append(target.t, target.ends))
            poles = self.quotient(i).poles(target.ends[1])
            nearest = np.clip(poles.real, *target.ends)
            k = np.clip(np.searchsorted(places, nearest), 1, places.size - 1)
            if np.any(np.abs(poles - nearest) <= (places[k] - places[k - 1]) / PLACES_PER_POINT):
                return True
        return False

    def quotients(self, size: float) -> list[Quotient]:
        """All pieces, times `size`."""
        return [self.quotient(i, size) for i in range(len(self.problem.targets))]

    def quotient(self, i: int, size: float = 1.0) -> Quotient:
        """Piece i in powers of t and times `size`, with standard errors of least squares."""
        target, (p, q) = self.problem.targets[i], self.problem.columns(i)
        # The coefficients in powers of t are T x, plus 1 for the constant of Q.
        powers = np.concatenate([np.arange(len(p) + 1), np.arange(len(q) + 1)])
        matrix = np.zeros((powers.size, self.x.size))
        zero = len(p) + 1  # row of the constant of Q
        matrix[0, 0] = 1.0
        for row, own in ((0, p), (zero, q)):
            matrix[row + 1 + np.arange(len(own)), own] = 1.0
            matrix[row, own] = -((target.anchor / target.scale) ** (1 + np.arange(len(own))))
        matrix /= target.scale ** powers[:, None]
        values = matrix @ self.x
        values[zero] += 1.0
        if abs(values[zero]) > NEGLIGIBLE:
            matrix = (matrix - np.outer(values / values[zero], matrix[zero])) / values[zero]
            values = values / values[zero]
        values[:zero] *= size
        matrix[:zero] *= size
        sides = tuple(values[:zero].tolist()), tuple(values[zero:].tolist())
        with np.errstate(invalid="ignore"):
            covariance = matrix @ self.covariance @ matrix.T
        errors = np.sqrt(np.maximum(np.diag(covariance), 0.0)).tolist()
        rows: list[list[float]] = covariance.tolist()
        return Quotient(*sides, tuple(errors[:zero]), tuple(errors[zero:]), tuple(map(tuple, rows)))


def _slopes(above: Values, below: Values, x: Values) -> Values:
    """Derivatives of a curve by its coefficients, shape (n_points, n_coefficients)."""
    denominator = (1 + below @ x)[:, None]
    return above / denominator - below * ((above @ x)[:, None] / denominator**2)


def quotients(
    method: str, targets: Sequence[PieceData], highest: Sequence[Degrees]
) -> list[Quotient]:
    """The pieces of a curve, by "least_squares" or "minimax", of these degrees or lower ones.

    The degrees are those of the least predicted error by least squares, of one piece after the
    other. A curve with a pole in its range is not taken. Of more than MAX_POINTS points, as many
    are used to choose the degrees, and for minimax.
    """
    size = float(np.median(np.concatenate([target.g for target in targets])))
    scaled = [replace(each, g=each.g / size, unit=each.unit / size) for each in targets]
    every = -(-sum(target.t.size for target in targets) // MAX_POINTS)
    thinned = [target.thinned(every) for target in scaled]
    chosen = [Degrees(min(each.numerator, 1), 0) for each in highest]
    solutions = list[Solution]()
    for i in [*reversed(range(len(highest)))] * len(highest):
        solutions = _by_error(thinned, chosen, i, highest[i])
        chosen[i] = solutions[0].problem.degrees[i]
    if method == "minimax":
        fits = ((each.problem.minimax(each.x), each.predicted_error) for each in solutions)
        near = (each for each, least in fits if each.predicted_error <= MAX_WORSE * least)
        found = next(near, solutions[0]).quotients(size)
        return [Quotient(each.numerator, each.denominator) for each in found]
    return Problem(scaled, chosen).least_squares().quotients(size)


def _by_error(
    targets: Sequence[PieceData], chosen: Sequence[Degrees], i: int, highest: Degrees
) -> list[Solution]:
    """Curves whose piece i has these degrees or lower ones, by their predicted error."""
    lower = product(range(highest.numerator + 1), range(highest.denominator + 1))
    problems = [Problem(targets, [*chosen[:i], Degrees(p, q), *chosen[i + 1 :]]) for p, q in lower]
    n_points = sum(target.t.size for target in targets)
    solutions = [each.least_squares() for each in problems if each.n_coefficients < n_points]
    return sorted(solutions, key=lambda solution: solution.predicted_error)


def adaptive(t: Values, g: Values, tolerance: float, ends: Ends) -> AAA | None:
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


def _without_poles(t: Values, g: Values, tolerance: float, ends: Ends) -> Iterator[AAA]:
    """AAA's functions without a pole between the ends, those of most terms first."""
    for n_terms in range(min(MAX_TERMS, t.size // 2), 0, -1):
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
            found = interpolate.AAA(t, g, rtol=tolerance, max_terms=n_terms)
        poles = found.poles()
        real = np.abs(poles.imag) <= REAL * np.abs(poles)
        if not np.any(real & (poles.real >= ends[0]) & (poles.real <= ends[1])):
            yield found
