"""Rational functions of one variable: coefficients with their errors, values, poles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]

NEGLIGIBLE = 1e-290  # a coefficient of the denominator, of the greatest
REAL = 1e-6  # a pole is real if its imaginary part is at most this share of its size


@dataclass(frozen=True)
class Quotient:
    """P(t)/Q(t) by its coefficients, the constant ones first; one of Q, by rule the first, is 1.

    The errors are standard errors of the coefficients, from the scatter of the points about the
    curve as if they were independent; empty where there are none (the least greatest error). The
    covariance is that of the free coefficients, those of the numerator first.
    """

    numerator: tuple[float, ...]
    denominator: tuple[float, ...]
    numerator_errors: tuple[float, ...] = ()
    denominator_errors: tuple[float, ...] = ()
    covariance: tuple[tuple[float, ...], ...] = ()
    pinned: int = 0  # which of Q is 1

    @property
    def n_coefficients(self) -> int:
        """Those that are free: all but the 1 of the denominator."""
        return len(self.numerator) + len(self.denominator) - 1

    @property
    def degrees(self) -> str:
        """P/Q."""
        return f"{len(self.numerator) - 1}/{len(self.denominator) - 1}"

    def __call__(self, t: ArrayLike) -> Values:
        t = np.asarray(t, dtype=np.float64)
        return _horner(self.numerator, t) / _horner(self.denominator, t)

    def times(self, factor: float) -> Quotient:
        """That many times as large."""
        above = len(self.numerator)
        scale = np.where(np.arange(len(self.covariance)) < above, factor, 1.0)
        return replace(
            self,
            numerator=tuple(factor * each for each in self.numerator),
            numerator_errors=tuple(factor * each for each in self.numerator_errors),
            covariance=tuple(
                tuple((scale[i] * scale * np.array(row)).tolist())
                for i, row in enumerate(self.covariance)
            ),
        )

    def slopes(self, t: Values) -> Values:
        """Of the value in each free coefficient, (n_points, n_coefficients)."""
        below = _horner(self.denominator, t)
        above = t[:, None] ** np.arange(len(self.numerator)) / below[:, None]
        powers = np.delete(np.arange(len(self.denominator)), self.pinned)
        return np.hstack([above, -(t[:, None] ** powers) * (self(t) / below)[:, None]])

    def standard_error(self, t: Values) -> Values | None:
        """Of the value, from the covariance; None without one."""
        if not self.covariance:
            return None
        slopes = self.slopes(t)
        square = np.sum(slopes @ np.array(self.covariance) * slopes, axis=1)
        return np.sqrt(np.maximum(square, 0.0))

    def poles_within(self, low: float, high: float) -> list[float]:
        """The real poles between the ends, these included."""
        return real_within(self.poles(), low, high)

    def poles(self) -> NDArray[np.inexact]:
        """All of them, zeros of the numerator at the same place or not.

        But for those that terms of less than NEGLIGIBLE make, which are far beyond any range.
        """
        sizes = np.abs(np.array(self.denominator))
        k = int(np.flatnonzero(sizes > NEGLIGIBLE * sizes.max())[-1])
        scale = 1.0 if k == 0 else float(np.exp(-np.log(sizes[k] / sizes[0]) / k))
        scaled = np.array(self.denominator)[: k + 1] * scale ** np.arange(k + 1)
        return np.polynomial.polynomial.polyroots(scaled) * scale


@dataclass(frozen=True)
class Barycentric:
    """Σ w_j f_j/(t − t_j) over Σ w_j/(t − t_j): the form of the AAA algorithm."""

    support: tuple[float, ...]
    values: tuple[float, ...]
    weights: tuple[float, ...]
    poles: tuple[complex, ...] = ()

    @property
    def n_coefficients(self) -> int:
        """Free ones of the quotient of polynomials that it is, each of a degree one less."""
        return 2 * len(self.support) - 1

    def __call__(self, t: ArrayLike) -> Values:
        t = np.asarray(t, dtype=np.float64)
        away = t[..., None] - np.array(self.support)
        hit = away == 0
        share = np.array(self.weights) / np.where(hit, 1.0, away)
        found = share @ np.array(self.values) / np.where(hit.any(axis=-1), 1.0, share.sum(axis=-1))
        return np.where(hit.any(axis=-1), hit @ np.array(self.values), found)

    def times(self, factor: float) -> Barycentric:
        """That many times as large."""
        return replace(self, values=tuple(factor * each for each in self.values))

    def poles_within(self, low: float, high: float) -> list[float]:
        """The real poles between the ends, these included."""
        return real_within(np.array(self.poles), low, high)


Rational = Quotient | Barycentric


def real_within(poles: NDArray[np.inexact], low: float, high: float) -> list[float]:
    """Those on the real axis between the ends."""
    real = np.abs(poles.imag) <= REAL * np.abs(poles)
    inside = real & (poles.real >= low) & (poles.real <= high)
    return sorted(poles.real[inside].tolist())


def _horner(coefficients: Sequence[float], t: Values) -> Values:
    total = np.zeros_like(t)
    for coefficient in reversed(coefficients):
        total = total * t + coefficient
    return total
