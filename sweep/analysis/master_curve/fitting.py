"""Rational functions of given degrees fitted to points: least squares, or least greatest error.

The polynomials are worked with in the basis C(K, k) uᵏ/(1 + u)ᴷ of u = t/c, c the median of the
points: Bernstein's on the half line, well scaled however many decades the points span.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import optimize

from sweep.analysis.master_curve.rational import Quotient, Values
from sweep.errors import SweepError

MAX_LINEAR_PROGRAM_POINTS = 2000  # that linear programs are given
START_ROUNDS, CORRECTIONS = 20, 60
HELD_ROUNDS = 5
VANISHES = 1e6  # a term of a denominator over its constant, at the least t > 0, of no account then
LEAST_BELOW = 1e-3  # of a held coefficient of the denominator over the last round's

Ends = tuple[float, float]  # of the range of t


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

    def lowered(self) -> Degrees:
        """One less of the higher of the two, the numerator's if they are equal."""
        if self.numerator >= self.denominator:
            return Degrees(self.numerator - 1, self.denominator)
        return Degrees(self.numerator, self.denominator - 1)

    def __str__(self) -> str:
        return f"{self.numerator}/{self.denominator}"


@dataclass(frozen=True, eq=False)
class _Bases:
    """Both polynomials' basis functions at the points, such that g = A a / B b with b₀ = 1."""

    above: Values  # (n_points, numerator + 1)
    below: Values  # (n_points, denominator + 1)
    scale: float  # c

    def quotient(
        self, a: Values, b: Values, pinned: int = 0, covariance: Values | None = None
    ) -> Quotient:
        """In powers of t, one coefficient of the denominator made 1.

        `covariance` is that of the others, where b of that one is 1.
        """
        above, below = (self._units(len(each)) for each in (a, b))
        unit = below[pinned]
        numerator = tuple((a / b[pinned] * above / unit).tolist())
        denominator = (b / b[pinned] * below / unit).tolist()
        denominator[pinned] = 1.0
        if covariance is None:
            return Quotient(numerator, tuple(denominator), pinned=pinned)
        units = np.concatenate([above, np.delete(below, pinned)]) / unit
        spread: Values = covariance * units[:, None] * units
        errors: Values = np.sqrt(np.diag(spread))
        return Quotient(
            numerator,
            tuple(denominator),
            tuple(errors[: len(a)].tolist()),
            tuple(np.insert(errors[len(a) :], pinned, 0.0).tolist()),
            tuple(map(tuple, spread.tolist())),
            pinned,
        )

    def powers(self, b: Values) -> Values:
        """A polynomial's coefficients in powers of t, but for the factor that both have."""
        return b * self._units(len(b))

    def _units(self, length: int) -> Values:
        choices = [math.comb(length - 1, k) for k in range(length)]
        return np.array(choices, dtype=np.float64) * self.scale ** -np.arange(float(length))


def least_squares(target: Target, degrees: Degrees, *, held: bool = False) -> Quotient:
    """The least sum of squared errors, in units: Levenberg–Marquardt from a linearised start.

    A start from the least greatest error is tried where the first one ends with a pole. If `held`,
    no coefficient of the denominator is negative in the basis: there is no pole at any t ≥ 0.
    """
    bases = _bases(target, degrees)
    if held:
        return _held(target, bases)
    a, b = _linearised(target, bases)
    found = _refined(target, bases, a, b)
    if found.poles_within(target.t.min(), target.t.max()):
        found = _refined(target, bases, *_corrected(target, degrees, bases))
    return found


def least_greatest(target: Target, degrees: Degrees, *, held: bool = False) -> Quotient:
    """The least greatest error, in units, and no pole at the points seen; `held` as above.

    By differential correction, a linear program at a time (Barrodale, Powell, Roberts 1972), which
    converges from any start. Of more than MAX_LINEAR_PROGRAM_POINTS points every so many are taken.
    """
    order = np.argsort(target.t)[:: -(-target.t.size // MAX_LINEAR_PROGRAM_POINTS)]
    seen = Target(target.t[order], target.g[order], target.unit[order])
    bases = _bases(seen, degrees)
    a, b = _corrected(seen, degrees, bases, LEAST_BELOW if held else -1.0)
    return bases.quotient(a, b, _pinned(seen, bases, b))


_SCIPY = cast("Any", optimize)  # its functions are typed too narrowly


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


def _held(target: Target, bases: _Bases) -> Quotient:
    """The least squares with no negative coefficient in the denominator."""
    length, below = bases.above.shape[1], np.ones(target.t.size)
    left = np.hstack([bases.above, -target.g[:, None] * bases.below[:, 1:]])
    lowest = np.r_[np.full(length, -np.inf), np.zeros(left.shape[1] - length)]
    a, b = np.ones(length), np.ones(bases.below.shape[1])
    for _ in range(HELD_ROUNDS):
        weight = 1 / (target.unit * below)
        right = target.g * bases.below[:, 0] * weight
        solved = _SCIPY.lsq_linear(left * weight[:, None], right, (lowest, np.inf)).x
        a, b = _split(solved, bases)
        below = np.maximum(bases.below @ b, 1e-300)
    return _refined(target, bases, a, b, lowest)


def _refined(
    target: Target, bases: _Bases, a: Values, b: Values, lowest: Values | None = None
) -> Quotient:
    """From a start on; coefficients at their lowest, if these are told, have no error."""

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
    ways: dict[str, Any] = {"method": "lm"}
    if lowest is not None:
        ways = {"method": "trf", "bounds": (lowest, np.inf), "x_scale": "jac"}
    with np.errstate(all="ignore"):  # a step may lead over a pole: it is not taken
        found = _SCIPY.least_squares(
            residuals, start, slopes, ftol=1e-15, xtol=1e-15, gtol=1e-15, **ways
        )
    x, jacobian = cast("Values", found.x), cast("Values", found.jac)
    a, b = _split(x, bases)
    pinned = _pinned(target, bases, b)
    if pinned:
        a, b = a / b[pinned], b / b[pinned]
        jacobian = _pinned_slopes(target, bases, a, b, pinned)
    free = np.ones(x.size, dtype=bool) if lowest is None else (x > 1e-9) | (lowest < 0)
    variance = 2 * float(found.cost) / max(target.t.size - int(free.sum()), 1)
    covariance = np.zeros((x.size, x.size))
    covariance[np.ix_(free, free)] = variance * _spread(jacobian[:, free])
    return bases.quotient(a, b, pinned, covariance)


def _pinned(target: Target, bases: _Bases, b: Values) -> int:
    """Which coefficient of the denominator is to be 1: the first, if it is anywhere of account."""
    least = np.min(target.t[target.t > 0], initial=bases.scale)
    shares = np.abs(bases.powers(b)) * least ** np.arange(float(b.size))
    return int(np.argmax(np.abs(b))) if shares.max() > VANISHES * shares[0] else 0


def _pinned_slopes(target: Target, bases: _Bases, a: Values, b: Values, pinned: int) -> Values:
    below = bases.below @ b
    share = 1 / (below * target.unit)[:, None]
    beneath = -np.delete(bases.below, pinned, axis=1) * (bases.above @ a / below)[:, None]
    return np.hstack([bases.above * share, beneath * share])


def _spread(jacobian: Values) -> Values:
    """(JᵀJ)⁻¹; of what the points do not tell at all, 0."""
    sizes = np.linalg.norm(jacobian, axis=0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    _, singular, right = np.linalg.svd(jacobian / sizes, full_matrices=False)
    told = singular > singular[0] * 1e-14
    parts = right[told] / singular[told, None]
    return parts.T @ parts / (sizes[:, None] * sizes)


def _corrected(
    target: Target, degrees: Degrees, bases: _Bases, least_below: float = -1.0
) -> tuple[Values, Values]:
    """Differential correction: each program lowers the greatest error, or ends it.

    The denominator's coefficients are from `least_below` to 1.
    """
    unit = target.unit * np.max(target.g / target.unit)
    above, level = bases.above / unit[:, None], target.g / unit
    a, b = _linearised(target, bases)
    if np.any(bases.below @ b <= 0) or least_below > 0:
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
        step = _program(np.vstack([over, under]), np.concatenate([a, b]), len(a), least_below)
        if step is None:
            break
        a, b = np.split(step, [len(a)])
    return best


def _program(rows: Values, sizes: Values, length: int, least_below: float) -> Values | None:
    """The coefficients that lower all rows' values the most, those of the denominator at most 1.

    In units of the sizes they have: the program's tolerances are absolute. None at the optimum.
    """
    sizes = np.maximum(np.abs(sizes), 1e-9 * np.max(np.abs(sizes)))
    cost = np.append(np.zeros(sizes.size), 1.0)
    left = np.hstack([rows * sizes, -np.ones((len(rows), 1))])
    bounds = [(None, None)] * length + [(least_below, 1.0)] * (sizes.size - length) + [(None, None)]
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
