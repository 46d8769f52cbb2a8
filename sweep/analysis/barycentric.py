"""Rational functions by their values at some points, which AAA chooses (Nakatsukasa et al. 2018).

SciPy has AAA too, but its weights depend on the BLAS, by up to 3e-8 of their value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from sweep.analysis.least_squares import back_substituted, forward_substituted, solved, triangle
from sweep.work import Values

REAL = 1e-6  # imaginary part of a pole over its size, up to which it counts as real
NO_SCATTER = 1e-4  # rms scatter over the largest value, up to which AAA is used
MAX_TERMS = 30  # of AAA
MAX_ITERATIONS, SETTLED = 100, 1e-15  # of inverse iteration; largest change of an entry


@dataclass(frozen=True)
class Barycentric:
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
        above, below, at_support = np.zeros(t.shape), np.zeros(t.shape), np.full(t.shape, np.nan)
        for support, value, weight in zip(self.support, self.values, self.weights, strict=True):
            offset = t - support
            share = weight / np.where(offset == 0, 1.0, offset)
            above += share * value
            below += share
            at_support = np.where(offset == 0, value, at_support)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.isnan(at_support), above / below, at_support)

    def poles(self) -> NDArray[np.inexact]:
        """All poles: the finite eigenvalues of an arrow matrix."""
        n = len(self.support)
        arrow, unit = np.diag([0.0, *self.support]), np.diag([0.0] + [1.0] * n)
        arrow[0, 1:], arrow[1:, 0] = self.weights, 1.0
        poles = cast("NDArray[np.complex128]", linalg.eigvals(arrow, unit))
        return poles[np.isfinite(poles)]


def has_real(poles: NDArray[np.inexact], low: float, high: float) -> bool:
    """Whether one of the poles is real and from `low` to `high`, ends included."""
    real = np.abs(poles.imag) <= REAL * np.abs(poles)
    return bool(np.any(real & (poles.real >= low) & (poles.real <= high)))


def adaptive(
    t: Values, g: Values, tolerance: float, ends: tuple[float, float]
) -> Barycentric | None:
    """Fit by AAA with the degrees that the tolerance needs, relative to the largest g.

    Points of equal t count by their mean. Terms are removed until there is no pole between the
    ends. None for points that scatter by more than the tolerance, as the curve goes through some of
    them: then every other point does not predict the rest.
    """
    t, place = np.unique(t, return_inverse=True)
    g = np.bincount(place, g) / np.bincount(place)
    shown = np.arange(t.size) % 2 == 0
    shown[-1] = True
    if not any(
        not has_real(half.poles(), *ends) and is_near(half, t[~shown], g[~shown], tolerance)
        for half in _approximants(t[shown], g[shown])
    ):
        return None
    without_poles: Barycentric | None = None
    for approximant in _approximants(t, g):
        if not has_real(approximant.poles(), *ends):
            without_poles = approximant
        if np.max(np.abs(approximant(t) - g)) <= tolerance * np.max(g):
            break
    return without_poles


def is_near(function: Callable[[Values], Values], t: Values, g: Values, tolerance: float) -> bool:
    """Whether a function is as near to values as AAA has to be."""
    residuals = (function(t) - g) / np.max(g)
    return float(np.sqrt(np.mean(residuals * residuals))) <= max(tolerance, NO_SCATTER)


def _approximants(t: Values, g: Values) -> Iterator[Barycentric]:
    """Functions of 1, 2 ... terms through more points.

    Each interpolates where the one before is farthest off; its weights minimise the linearised
    error at the other points.
    """
    used = np.zeros(t.size, dtype=bool)
    support: list[int] = []
    values = np.full(t.size, np.mean(g))
    for _ in range(min(MAX_TERMS, t.size // 2)):
        support.append(int(np.argmax(np.where(used, -1.0, np.abs(g - values)))))
        used[support[-1]] = True
        rest = ~used
        columns = np.stack([(g[rest] - g[k]) / (t[rest] - t[k]) for k in support])
        weights = smallest_direction(columns)
        approximant = Barycentric(
            tuple(t[support].tolist()), tuple(g[support].tolist()), tuple(weights.tolist())
        )
        yield approximant
        values = approximant(t)


def smallest_direction(columns: Values) -> Values:
    """The x of least |Σ x_k column_k| over |x|, by inverse iteration."""
    n, factor = len(columns), triangle(columns, np.zeros_like(columns[0]), 0.0)
    if len(factor.kept) < n:  # one column is a combination of others
        missing = next(k for k in range(n) if k not in factor.kept)
        x = np.zeros(n)
        x[factor.kept] = -solved(columns[factor.kept], columns[missing])
        x[missing] = 1.0
        return x
    rows, direction = factor.rows * factor.sizes, np.full(n, 1.0)
    for _ in range(MAX_ITERATIONS):
        before = direction
        direction = back_substituted(rows, forward_substituted(rows, before))
        direction = direction / direction[np.argmax(np.abs(direction))]
        if np.max(np.abs(direction - before)) <= SETTLED:
            break
    x = np.empty(n)
    x[factor.kept] = direction
    return x
