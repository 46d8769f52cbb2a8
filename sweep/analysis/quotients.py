"""Quotients of polynomials, and fits of given degrees: least squares and minimax.

The basis of the fits is C(K, k) uᵏ/(1 + u)ᴷ with u = t/c, where c is the median of
the points: Bernstein's on the half line, well scaled however many decades the points span.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, cast

import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from sweep.analysis.barycentric import Barycentric, has_real
from sweep.analysis.least_squares import (
    Mask,
    combination,
    minimised,
    solved,
    solved_bounded,
    triangle,
)
from sweep.errors import SweepError
from sweep.work import Values

NEGLIGIBLE = 1e-290  # coefficient of the denominator, relative to the largest
MET = 1e-12  # rms relative error up to which the points lie on a curve but for rounding
MAX_PROGRAM_POINTS = 2000  # points in a linear program
LINEAR_ROUNDS, BOUNDED_ROUNDS, CORRECTION_ROUNDS = 20, 5, 60
PIN_RATIO = 1e6  # largest term of a denominator over its constant term, at the smallest t > 0
MIN_BELOW = 1e-3  # bounded coefficient of the denominator, relative to that of the previous round

Ends = tuple[float, float]  # of a range


@dataclass(frozen=True, eq=False)
class SampledCurve:
    """Values g > 0 at t ≥ 0, and the unit in which the error at each point is measured."""

    t: Values
    g: Values
    unit: Values

    def where(self, kept: Mask | NDArray[np.intp]) -> SampledCurve:
        """Some of the points."""
        return SampledCurve(self.t[kept], self.g[kept], self.unit[kept])


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
    """P(t)/Q(t), coefficients in ascending powers; one of Q, normally the constant, is 1.

    Errors are standard errors of the coefficients, from the scatter of the points about the curve
    as if points were independent; a minimax fit has none. The covariance is that of the free
    coefficients, numerator first.
    """

    numerator: tuple[float, ...]
    denominator: tuple[float, ...]
    numerator_errors: tuple[float, ...] = ()
    denominator_errors: tuple[float, ...] = ()
    covariance: tuple[tuple[float, ...], ...] = ()
    pinned: int = 0  # index of the coefficient of Q that is 1

    @property
    def n_coefficients(self) -> int:
        """Number of free coefficients, without the 1 in the denominator."""
        return len(self.numerator) + len(self.denominator) - 1

    @property
    def degrees(self) -> Degrees:
        return Degrees(len(self.numerator) - 1, len(self.denominator) - 1)

    def __call__(self, t: ArrayLike) -> Values:
        t = np.asarray(t, dtype=np.float64)
        return polynomial.polyval(t, self.numerator) / polynomial.polyval(t, self.denominator)

    def slopes(self, t: Values) -> Values:
        """Derivatives by each free coefficient, shape (n_coefficients, n_points)."""
        below = polynomial.polyval(t, self.denominator)
        powers = np.vander(t, max(len(self.numerator), len(self.denominator)), increasing=True).T
        beneath = np.delete(powers[: len(self.denominator)], self.pinned, axis=0)
        above = powers[: len(self.numerator)] / below
        return np.concatenate([above, -beneath * (self(t) / below)])

    def standard_error(self, t: Values) -> Values | None:
        """Standard error of the value, from the covariance; None without one."""
        if not self.covariance:
            return None
        slopes = self.slopes(t)
        products = np.array(self.covariance)[:, :, None] * slopes[:, None, :]
        variance = np.add.reduce(slopes * np.add.reduce(products, axis=0), axis=0)
        return np.sqrt(np.maximum(variance, 0.0))

    def poles(self) -> NDArray[np.inexact]:
        """All poles, also where the numerator vanishes too.

        Terms below NEGLIGIBLE are dropped: their poles are far beyond any range.
        """
        sizes = np.abs(np.array(self.denominator))
        k = int(np.flatnonzero(sizes > NEGLIGIBLE * sizes.max())[-1])
        first = sizes[0] if sizes[0] > 0 else sizes.max()
        scale = 1.0 if k == 0 else float(np.exp(-np.log(sizes[k] / first) / k))
        scaled = np.array(self.denominator)[: k + 1] * scale ** np.arange(k + 1)
        return polynomial.polyroots(scaled) * scale


Rational = Quotient | Barycentric


def met(rational: Rational, target: SampledCurve) -> bool:
    """Whether the points lie on the curve but for rounding."""
    with np.errstate(all="ignore"):
        residuals = rational(target.t) / target.g - 1
    return float(np.sqrt(np.mean(residuals * residuals))) <= MET


def least_squares(target: SampledCurve, degrees: Degrees, *, bounded: bool = False) -> Quotient:
    """Minimise the sum of squared errors: Levenberg–Marquardt from a linearised start.

    Where the result has a pole among the points, start again from a minimax fit. If `bounded`, no
    coefficient of the denominator is negative in the basis, so there is no pole at any t ≥ 0.
    """
    problem = _problem(target, degrees)
    quotient = _refined(problem, *_linearised(problem, bounded), bounded=bounded)
    fails = has_real(quotient.poles(), target.t.min(), target.t.max()) and not met(quotient, target)
    if fails and not bounded:
        quotient = _refined(problem, *_corrected(problem))
    return quotient


def minimax(target: SampledCurve, degrees: Degrees, *, bounded: bool = False) -> Quotient:
    """Minimise the largest error, without a pole at the points; `bounded` as for least squares.

    Differential correction, a linear program per round (Barrodale, Powell, Roberts 1972), converges
    from any start. At most MAX_PROGRAM_POINTS points are used, evenly picked.
    """
    order = np.argsort(target.t)[:: -(-target.t.size // MAX_PROGRAM_POINTS)]
    problem = _problem(target.where(order), degrees)
    a, b = _corrected(problem, MIN_BELOW if bounded else -1.0)
    return problem.quotient(a, b, problem.pinned(b))


FITTERS: dict[str, Callable[..., Quotient]] = {"least_squares": least_squares, "minimax": minimax}


@dataclass(frozen=True, eq=False)
class _Problem:
    """A target and the basis functions of both polynomials at its points: g = A a / B b, b₀ = 1."""

    target: SampledCurve  # of values about 1
    above: Values  # (numerator + 1, n_points)
    below: Values  # (denominator + 1, n_points)
    scale: float  # c
    size: float  # power of two by which to multiply the function

    def split(self, x: Values) -> tuple[Values, Values]:
        """a, and b with its leading 1, from the free coefficients."""
        return x[: len(self.above)], np.concatenate([[1.0], x[len(self.above) :]])

    def residuals(self, a: Values, b: Values) -> Values:
        """The errors in their units."""
        value = combination(a, self.above) / combination(b, self.below)
        return (value - self.target.g) / self.target.unit

    def errors(self, x: Values) -> tuple[Values, Values]:
        """The errors in their units, and their derivatives by the coefficients."""
        a, b = self.split(x)
        with np.errstate(all="ignore"):  # a step across a pole is not finite, and not taken
            return self.residuals(a, b), self.slopes(a, b, 0)

    def slopes(self, a: Values, b: Values, pinned: int) -> Values:
        """The derivatives of the errors where coefficient `pinned` of the denominator is fixed."""
        below = combination(b, self.below)
        share = 1 / (below * self.target.unit)
        lever = combination(a, self.above) / below * share
        return np.concatenate([self.above * share, -np.delete(self.below, pinned, axis=0) * lever])

    def pinned(self, b: Values) -> int:
        """Index of the coefficient to make 1: the constant one unless it is negligible."""
        least = float(np.min(self.target.t[self.target.t > 0], initial=self.scale))
        shares = np.abs(b * self._units(len(b)) * _powers(least, len(b)))
        return int(np.argmax(np.abs(b))) if shares.max() > PIN_RATIO * shares[0] else 0

    def quotient(
        self, a: Values, b: Values, pinned: int, covariance: Values | None = None
    ) -> Quotient:
        """The function in powers of t; `covariance` is of a and b over the pinned coefficient."""
        above, below = self.size * self._units(len(a)), self._units(len(b))
        unit = below[pinned]
        numerator = tuple((a / b[pinned] * above / unit).tolist())
        denominator = (b / b[pinned] * below / unit).tolist()
        denominator[pinned] = 1.0
        quotient = Quotient(numerator, tuple(denominator), pinned=pinned)
        if covariance is None:
            return quotient
        units = np.concatenate([above, np.delete(below, pinned)]) / unit
        spread: Values = covariance * units[:, None] * units
        errors: Values = np.sqrt(np.diag(spread))
        return replace(
            quotient,
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


def _problem(target: SampledCurve, degrees: Degrees) -> _Problem:
    size = 2.0 ** round(math.log2(float(np.median(target.g))))
    scale = float(np.median(target.t[target.t > 0])) if np.any(target.t > 0) else 1.0
    u = target.t / scale
    above, below = (_basis(u, degree) for degree in (degrees.numerator, degrees.denominator))
    for _ in range(abs(degrees.numerator - degrees.denominator)):
        above = above * (1 + u) if degrees.numerator > degrees.denominator else above / (1 + u)
    scaled = SampledCurve(target.t, target.g / size, target.unit / size)
    return _Problem(scaled, above, below, scale, size)


def _basis(u: Values, degree: int) -> Values:
    share, rest, one = u / (1 + u), 1 / (1 + u), np.ones(u.shape)
    factors = enumerate([share] * k + [rest] * (degree - k) for k in range(degree + 1))
    return np.stack([reduce(np.multiply, each, math.comb(degree, k) * one) for k, each in factors])


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
        below = combination(b, problem.below)
        if not np.all(np.isfinite(below)) or np.any(below == 0):
            break
        error = float(np.sum(problem.residuals(a, b) ** 2))
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
        residuals, columns = problem.errors(x)[0], problem.slopes(a, b, pinned)
    free = np.ones(x.size, dtype=bool)
    if bounded:
        free[len(a) :] = np.delete(b, pinned) != 0
    columns[~free] = 0.0
    variance = float(np.sum(residuals * residuals)) / max(residuals.size - int(free.sum()), 1)
    covariance = variance * triangle(columns, residuals).covariance()
    return problem.quotient(a, b, pinned, covariance)


def _corrected(problem: _Problem, min_below: float = -1.0) -> tuple[Values, Values]:
    """Differential correction from a linearised start; b is from `min_below` to 1.

    Each linear program lowers the largest error, or ends the rounds.
    """
    target = problem.target
    unit = target.unit * np.max(target.g / target.unit)
    above, level = problem.above / unit, target.g / unit
    a, b = _linearised(problem)
    if np.any(combination(b, problem.below) <= 0) or min_below > 0:
        b = np.ones(len(problem.below))
        a = solved(above, level * combination(b, problem.below))
    best, least = (a, b), math.inf
    for _ in range(CORRECTION_ROUNDS):
        below = combination(b, problem.below)
        errors = np.abs(combination(a, above) / below - level)
        largest = float(np.max(errors)) if below.min() > 0 else math.inf
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
    coefficients: Values = result.x[:-1] * sizes
    return coefficients / np.max(np.abs(coefficients[n_above:]))
