"""Rational functions of one variable: their values, errors and poles; values to be fitted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from sweep.analysis.master_curve.least_squares import Mask, Values, combined
from sweep.errors import SweepError

NEGLIGIBLE = 1e-290  # coefficient of the denominator, relative to the largest
REAL = 1e-6  # imaginary part of a pole over its size, up to which it counts as real
MET = 1e-12  # rms relative error up to which the points lie on a curve but for rounding


@dataclass(frozen=True, eq=False)
class Target:
    """Values g > 0 at t ≥ 0, and the unit in which the error at each point is measured."""

    t: Values
    g: Values
    unit: Values

    def where(self, kept: Mask | NDArray[np.intp]) -> Target:
        """Some of the points."""
        return Target(self.t[kept], self.g[kept], self.unit[kept])


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


class _Rational(ABC):
    def poles_within(self, low: float, high: float) -> list[float]:
        """The real poles from `low` to `high`, ends included."""
        poles = self.poles()
        real = np.abs(poles.imag) <= REAL * np.abs(poles)
        inside = real & (poles.real >= low) & (poles.real <= high)
        return sorted(poles.real[inside].tolist())

    @abstractmethod
    def poles(self) -> NDArray[np.inexact]:
        """All poles, complex ones among them."""


@dataclass(frozen=True)
class Quotient(_Rational):
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
        return _horner(self.numerator, t) / _horner(self.denominator, t)

    def times(self, factor: float) -> Quotient:
        """The function multiplied by a factor."""
        scale = np.ones(self.n_coefficients)
        scale[: len(self.numerator)] = factor
        covariance = scale[:, None] * scale * np.array(self.covariance) if self.covariance else ()
        return replace(
            self,
            numerator=tuple(factor * each for each in self.numerator),
            numerator_errors=tuple(factor * each for each in self.numerator_errors),
            covariance=tuple(tuple(map(float, row)) for row in covariance),
        )

    def slopes(self, t: Values) -> Values:
        """Derivatives by each free coefficient, shape (n_coefficients, n_points)."""
        below = _horner(self.denominator, t)
        powers = np.vander(t, max(len(self.numerator), len(self.denominator)), increasing=True).T
        beneath = np.delete(powers[: len(self.denominator)], self.pinned, axis=0)
        above = powers[: len(self.numerator)] / below
        return np.concatenate([above, -beneath * (self(t) / below)])

    def standard_error(self, t: Values) -> Values | None:
        """Standard error of the value, from the covariance; None without one."""
        if not self.covariance:
            return None
        slopes = self.slopes(t)
        products = combined(np.array(self.covariance)[:, :, None] * slopes[:, None, :])
        return np.sqrt(np.maximum(combined(slopes * products), 0.0))

    def poles(self) -> NDArray[np.inexact]:
        """All poles, also where the numerator vanishes too.

        Terms below NEGLIGIBLE are dropped: their poles are far beyond any range.
        """
        sizes = np.abs(np.array(self.denominator))
        k = int(np.flatnonzero(sizes > NEGLIGIBLE * sizes.max())[-1])
        first = sizes[0] if sizes[0] > 0 else sizes.max()
        scale = 1.0 if k == 0 else float(np.exp(-np.log(sizes[k] / first) / k))
        scaled = np.array(self.denominator)[: k + 1] * scale ** np.arange(k + 1)
        return np.polynomial.polynomial.polyroots(scaled) * scale


@dataclass(frozen=True)
class Barycentric(_Rational):
    """Σ w_j f_j/(t − t_j) over Σ w_j/(t − t_j), the form used by the AAA algorithm."""

    support: tuple[float, ...]
    values: tuple[float, ...]
    weights: tuple[float, ...]

    @property
    def n_coefficients(self) -> int:
        """Number of free coefficients as a quotient of two polynomials."""
        return 2 * len(self.support) - 1

    def __call__(self, t: ArrayLike) -> Values:
        t = np.asarray(t, dtype=np.float64)
        above, below, found = np.zeros(t.shape), np.zeros(t.shape), np.full(t.shape, np.nan)
        for support, value, weight in zip(self.support, self.values, self.weights, strict=True):
            away = t - support
            share = weight / np.where(away == 0, 1.0, away)
            above += share * value
            below += share
            found = np.where(away == 0, value, found)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.isnan(found), above / below, found)

    def times(self, factor: float) -> Barycentric:
        """The function multiplied by a factor."""
        return replace(self, values=tuple(factor * each for each in self.values))

    def poles(self) -> NDArray[np.inexact]:
        """All poles: the finite eigenvalues of an arrow matrix."""
        n = len(self.support)
        arrow, unit = np.diag([0.0, *self.support]), np.diag([0.0] + [1.0] * n)
        arrow[0, 1:], arrow[1:, 0] = self.weights, 1.0
        poles = cast("NDArray[np.complex128]", linalg.eigvals(arrow, unit))
        return poles[np.isfinite(poles)]


Rational = Quotient | Barycentric


def met(found: Rational, target: Target) -> bool:
    """Whether the points lie on the curve but for rounding."""
    with np.errstate(all="ignore"):
        off = found(target.t) / target.g - 1
    return float(np.sqrt(np.mean(off * off))) <= MET


def _horner(coefficients: Sequence[float], t: Values) -> Values:
    total = np.zeros_like(t)
    for coefficient in reversed(coefficients):
        total = total * t + coefficient
    return total
