"""Rational functions fitted to points: by least squares, to the least greatest error, by AAA.

The polynomials are worked with in the basis C(K, k) uᵏ/(1 + u)ᴷ of u = t/c, c the median of the
points: Bernstein's on the half line, well scaled however many decades the points span.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import optimize
from scipy.interpolate import AAA

from sweep.analysis.master_curve.rational import Barycentric, Quotient, Rational, Values
from sweep.errors import SweepError

MOST_POINTS = 2000  # that linear programs are given
MOST_TERMS = 30  # of AAA
START_ROUNDS, CORRECTIONS = 20, 60


@dataclass(frozen=True, eq=False)
class Target:
    """What is fitted: values g > 0 at t ≥ 0, each to be met within its unit of error."""

    t: Values
    g: Values
    unit: Values


@dataclass(frozen=True)
class Degrees:
    """Of the numerator and of the denominator."""

    numerator: int
    denominator: int

    def __post_init__(self) -> None:
        if min(self.numerator, self.denominator) < 0:
            raise SweepError(f"degrees are 0 or above, not {self}")

    @property
    def n_coefficients(self) -> int:
        return self.numerator + self.denominator + 1

    def __str__(self) -> str:
        return f"{self.numerator}/{self.denominator}"


@dataclass(frozen=True, eq=False)
class _Bases:
    """Both polynomials' basis functions at the points, such that g = A a / B b with b₀ = 1."""

    above: Values  # (n_points, numerator + 1)
    below: Values  # (n_points, denominator + 1)
    scale: float  # c

    def quotient(self, a: Values, b: Values, variances: Values | None = None) -> Quotient:
        """In powers of t, the denominator's constant made 1."""
        units = [self._units(len(each)) for each in (a, b)]
        numerator, denominator = (tuple((x / b[0] * u).tolist())
                                  for x, u in zip((a, b), units, strict=True))  # fmt: skip
        if variances is None:
            return Quotient(numerator, denominator)
        errors = np.sqrt(variances)
        return Quotient(
            numerator,
            denominator,
            tuple((errors[: len(a)] * units[0]).tolist()),
            (0.0, *(errors[len(a) :] * units[1][1:]).tolist()),
        )

    def _units(self, length: int) -> Values:
        choices = [math.comb(length - 1, k) for k in range(length)]
        return np.array(choices, dtype=np.float64) * self.scale ** -np.arange(float(length))


def least_squares(target: Target, degrees: Degrees) -> Rational:
    """The least sum of squared errors, in units: Levenberg–Marquardt from a linearised start.

    A start from the least greatest error is tried where the first one ends with a pole.
    """
    bases = _bases(target, degrees)
    a, b = _linearised(target, bases)
    found = _refined(target, bases, a, b)
    if found.poles_within(target.t.min(), target.t.max()):
        found = _refined(target, bases, *_corrected(target, degrees, bases))
    return found


def least_greatest(target: Target, degrees: Degrees) -> Rational:
    """The least greatest error, in units, and no pole at or between the points seen.

    By differential correction, a linear program at a time (Barrodale, Powell, Roberts 1972), which
    converges from any start. Of more than MOST_POINTS points every so many are taken.
    """
    order = np.argsort(target.t)[:: -(-target.t.size // MOST_POINTS)]
    seen = Target(target.t[order], target.g[order], target.unit[order])
    bases = _bases(seen, degrees)
    return bases.quotient(*_corrected(seen, degrees, bases))


def adaptive(target: Target, tolerance: float) -> Rational:
    """The AAA algorithm (Nakatsukasa, Sète, Trefethen 2018): degrees as the tolerance needs them.

    The tolerance is relative to the greatest g. Points of one t count with their mean. Terms are
    taken off until there is no pole within the range.
    """
    t, place = np.unique(target.t, return_inverse=True)
    g = np.bincount(place, target.g) / np.bincount(place)
    most = min(MOST_TERMS, t.size // 2)
    while most > 0:
        with warnings.catch_warnings():  # that the tolerance is not met: the error is told anyway
            warnings.simplefilter("ignore", RuntimeWarning)
            fit: Any = AAA(t, g, rtol=tolerance, max_terms=most)
            found = Barycentric(
                tuple(np.real(fit.support_points).tolist()),
                tuple(np.real(fit.support_values).tolist()),
                tuple(np.real(fit.weights).tolist()),
                tuple(fit.poles().tolist()),
            )
        if not found.poles_within(t[0], t[-1]):
            return found
        most = len(found.support) - 1
    raise SweepError("AAA finds no rational function without a pole among the points")


_SCIPY = cast("Any", optimize)  # its functions are typed too narrowly

Fitter = Callable[[Target, Degrees], Rational]
FITTERS: dict[str, Fitter] = {"least_squares": least_squares, "minimax": least_greatest}
METHODS = (*FITTERS, "aaa")


def _bases(target: Target, degrees: Degrees) -> _Bases:
    positive = target.t[target.t > 0]
    scale = float(np.median(positive)) if positive.size else 1.0
    ahead = (1 + target.t / scale) ** (degrees.numerator - degrees.denominator)
    above = _basis(target.t / scale, degrees.numerator) * ahead[:, None]
    return _Bases(above, _basis(target.t / scale, degrees.denominator), scale)


def _basis(u: Values, degree: int) -> Values:
    share = u / (1 + u)
    terms = [math.comb(degree, k) * share**k * (1 - share) ** (degree - k)
             for k in range(degree + 1)]  # fmt: skip
    return np.stack(terms, axis=1)


def _linearised(target: Target, bases: _Bases) -> tuple[Values, Values]:
    """The best of some rounds of A a − g (B b) over the last round's B b, by linear algebra."""
    best, least = (np.ones(bases.above.shape[1]), np.eye(1, bases.below.shape[1])[0]), math.inf
    below = np.ones(target.t.size)
    for _ in range(START_ROUNDS):
        weight = 1 / (target.unit * below)
        left = np.hstack([bases.above, -target.g[:, None] * bases.below[:, 1:]])
        right = target.g * bases.below[:, 0] * weight
        solved = _solved(left * weight[:, None], right)
        a, b = _split(solved, bases)
        below = bases.below @ b
        if not np.all(np.isfinite(below)) or np.any(below == 0):
            break
        error = float(np.sum(((bases.above @ a / below - target.g) / target.unit) ** 2))
        if error < least:
            best, least = (a, b), error
    return best


def _refined(target: Target, bases: _Bases, a: Values, b: Values) -> Quotient:
    def residuals(x: Values) -> Values:
        above, below = _split(x, bases)
        return (bases.above @ above / (bases.below @ below) - target.g) / target.unit

    def slopes(x: Values) -> Values:
        above, below = _split(x, bases)
        share = 1 / ((bases.below @ below) * target.unit)[:, None]
        value = (bases.above @ above / (bases.below @ below))[:, None]
        return np.hstack([bases.above * share, -bases.below[:, 1:] * value * share])

    start = np.concatenate([a, b[1:] / b[0]])
    start[: len(a)] /= b[0]
    with np.errstate(all="ignore"):  # a step may lead over a pole: it is not taken
        found = _SCIPY.least_squares(
            residuals, start, slopes, method="lm", ftol=1e-15, xtol=1e-15, gtol=1e-15
        )
    x, jacobian = cast("Values", found.x), cast("Values", found.jac)
    variance = 2 * float(found.cost) / max(target.t.size - x.size, 1)
    variances = variance * _spread(jacobian)
    return bases.quotient(*_split(x, bases), variances)


def _spread(jacobian: Values) -> Values:
    """The diagonal of (JᵀJ)⁻¹; of what the points do not tell at all, 0."""
    sizes = np.linalg.norm(jacobian, axis=0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    _, singular, right = np.linalg.svd(jacobian / sizes, full_matrices=False)
    told = singular > singular[0] * 1e-14
    return np.sum((right[told] / singular[told, None]) ** 2, axis=0) / sizes**2


def _corrected(target: Target, degrees: Degrees, bases: _Bases) -> tuple[Values, Values]:
    """Differential correction: each program lowers the greatest error, or ends it."""
    unit = target.unit * np.max(target.g / target.unit)
    above, level = bases.above / unit[:, None], target.g / unit
    a, b = _linearised(target, bases)
    if np.any(bases.below @ b <= 0):
        b = np.ones(degrees.denominator + 1)
        a = _solved(above, level * (bases.below @ b))
    best, least = (a, b), math.inf
    for _ in range(CORRECTIONS):
        below = bases.below @ b
        greatest = float(np.max(np.abs(above @ a / below - level))) if below.min() > 0 else math.inf
        if greatest >= least * (1 - 1e-7):
            break
        best, least = (a, b), greatest
        share = 1 / below[:, None]
        over = np.hstack([above * share, -(level + greatest)[:, None] * bases.below * share])
        under = np.hstack([-above * share, (level - greatest)[:, None] * bases.below * share])
        step = _program(np.vstack([over, under]), np.concatenate([a, b]), len(a))
        if step is None:
            break
        a, b = np.split(step, [len(a)])
    return best


def _program(rows: Values, sizes: Values, length: int) -> Values | None:
    """The coefficients that lower all rows' values the most, those of the denominator at most 1.

    In units of the sizes they have: the program's tolerances are absolute. None at the optimum.
    """
    sizes = np.maximum(np.abs(sizes), 1e-9 * np.max(np.abs(sizes)))
    cost = np.append(np.zeros(sizes.size), 1.0)
    left = np.hstack([rows * sizes, -np.ones((len(rows), 1))])
    bounds = [(None, None)] * length + [(-1.0, 1.0)] * (sizes.size - length) + [(None, None)]
    solved = _SCIPY.linprog(cost, left, np.zeros(len(rows)), bounds=bounds, method="highs")
    if solved.x is None or solved.x[-1] > -1e-14 or np.max(np.abs(solved.x[length:-1])) < 1e-9:
        return None
    found: Values = solved.x[:-1] * sizes
    return found / np.max(np.abs(found[length:]))


def _split(x: Values, bases: _Bases) -> tuple[Values, Values]:
    """The coefficients of the numerator, and those of the denominator with its leading 1."""
    length = bases.above.shape[1]
    return x[:length], np.concatenate([[1.0], x[length:]])


def _solved(left: Values, right: Values) -> Values:
    """The least squares of linear equations."""
    return np.asarray(np.linalg.lstsq(left, right)[0], dtype=np.float64)
