"""Least squares, linear and nonlinear, in elementwise NumPy: the same bits on every processor.

A BLAS picks its code by processor, and each version rounds differently; where a problem is nearly
degenerate, the result then depends on the machine. Nothing in this module calls a BLAS.

Matrices are stored by columns, with shape (n_columns, n_rows), so that sums run along memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.work import Values

Mask = NDArray[np.bool_]
Errors = Callable[[Values], tuple[Values, Values]]  # of coefficients; and their derivatives

DEPENDENT = 1e-14  # part of a column that others leave, relative: below it the column adds nothing
DESCENT = 1e-10  # cosine between errors and a column, up to which its coefficient stays 0
ACTIVE_SET_ROUNDS = 50
MAX_STEPS = 500  # of Levenberg and Marquardt
DAMPINGS = ((1e-6, 1e6), (1e-16, 1e-6))  # at the start of each round of steps, and at most
CONVERGED, MAX_STALLED = 1e-15, 5  # relative decrease of the squared error; steps with less


@dataclass(frozen=True)
class Triangle:
    """R of a QR factorisation of scaled columns, those that add nothing left out."""

    rows: Values  # R, (rank, rank)
    right: Values  # Qᵀ y, (rank,)
    kept: NDArray[np.intp]  # column of the matrix for each column of R
    sizes: Values  # norms of these columns
    n_columns: int

    def solution(self) -> Values:
        """The coefficients of least squared error; 0 for the columns left out."""
        full = np.zeros(self.n_columns)
        full[self.kept] = back_substituted(self.rows, self.right) / self.sizes
        return full

    def covariance(self) -> Values:
        """(AᵀA)⁻¹; 0 for the columns left out."""
        identity = np.eye(len(self.rows))
        inverse = np.array([back_substituted(self.rows, unit) for unit in identity])
        products = np.add.reduce(inverse[:, :, None] * inverse[:, None, :], axis=0)
        full = np.zeros((self.n_columns, self.n_columns))
        full[np.ix_(self.kept, self.kept)] = products / np.outer(self.sizes, self.sizes)
        return full

    def leverage(self, columns: Values) -> Values:
        """√(φᵀ (AᵀA)⁻¹ φ) for each row φ of other columns: standard error of the fitted value."""
        each = forward_substituted(self.rows, columns[self.kept] / self.sizes[:, None])
        return np.sqrt(np.add.reduce(each * each, axis=0))


def triangle(columns: Values, right: Values, dependent: float = DEPENDENT) -> Triangle:
    """Modified Gram–Schmidt with the right side as a last column (Björck 1967), pivoted."""
    sizes = np.sqrt(np.add.reduce(columns * columns, axis=1))
    scaled = columns / np.where(sizes > 0, sizes, 1.0)[:, None]
    rest, kept = right.copy(), np.flatnonzero(sizes > 0)
    scaled = scaled[kept]
    n = len(kept)
    rows, projected = np.zeros((n, n)), np.zeros(n)
    rank = n
    for k in range(n):
        norms = np.sqrt(np.add.reduce(scaled[k:] * scaled[k:], axis=1))
        best = k + int(np.argmax(norms))
        if not norms[best - k] > dependent:
            rank = k
            break
        for each in (scaled, kept):
            each[[k, best]] = each[[best, k]]
        rows[:k, [k, best]] = rows[:k, [best, k]]
        rows[k, k] = norms[best - k]
        scaled[k] /= rows[k, k]
        rows[k, k + 1 :] = np.add.reduce(scaled[k] * scaled[k + 1 :], axis=1)
        scaled[k + 1 :] -= rows[k, k + 1 :, None] * scaled[k]
        projected[k] = np.add.reduce(scaled[k] * rest)
        rest -= projected[k] * scaled[k]
    kept = kept[:rank]
    return Triangle(rows[:rank, :rank], projected[:rank], kept, sizes[kept], len(columns))


def solved(columns: Values, right: Values) -> Values:
    """The coefficients x of least |Σ x_k column_k − right|."""
    return triangle(columns, right).solution()


def solved_bounded(columns: Values, right: Values, n_free: int) -> Values:
    """The same with no coefficient negative after the first `n_free`: Lawson and Hanson 1974."""

    def solve(x: Values, free: Mask) -> Values:
        goal = np.zeros(x.size)
        goal[free] = solved(columns[free], right)
        return goal

    def errors(x: Values) -> tuple[Values, Values]:
        return combination(x, columns) - right, columns

    free = np.arange(len(columns)) < n_free
    return _non_negative(solve, errors, np.zeros(len(columns)), free, n_free)


def minimised(errors: Errors, start: Values, n_free: int) -> Values:
    """The coefficients of least squared error near a start, by Levenberg and Marquardt's steps.

    None is negative after the first `n_free`. The second round of steps begins undamped: where
    coefficients are nearly dependent, damping holds back the last of them.
    """

    def solve(x: Values, free: Mask) -> Values:
        for damping, max_damping in DAMPINGS:
            x = _descended(errors, x, free, damping, max_damping)
        return x

    if n_free == start.size:
        return solve(start, np.ones(start.size, dtype=bool))
    free = (np.arange(start.size) < n_free) | (start > 0)
    return _non_negative(solve, errors, start, free, n_free)


def _descended(errors: Errors, x: Values, free: Mask, damping: float, max_damping: float) -> Values:
    """Damping falls where a step lowers the error, and rises where it does not."""
    residuals, columns = errors(x)
    error, stalled = float(np.add.reduce(residuals * residuals)), 0
    for _ in range(MAX_STEPS):
        sizes = math.sqrt(damping) * np.sqrt(np.add.reduce(columns[free] * columns[free], axis=1))
        damped = np.concatenate([columns[free], np.diag(sizes)], axis=1)
        tried = x.copy()
        tried[free] += solved(damped, np.concatenate([-residuals, np.zeros(len(sizes))]))
        tried_residuals, tried_columns = errors(tried)
        tried_error = float(np.add.reduce(tried_residuals * tried_residuals))
        if tried_error < error:
            stalled += error - tried_error <= CONVERGED * error
            x, residuals, columns, error = tried, tried_residuals, tried_columns, tried_error
            damping /= 10
        else:
            damping *= 100
        if stalled > MAX_STALLED or damping > max_damping:
            break
    return x


def _non_negative(
    solve: Callable[[Values, Mask], Values], errors: Errors, x: Values, free: Mask, n_free: int
) -> Values:
    """The active set method: coefficients at 0 are held there unless the error falls above it.

    `solve` minimises the squared error in the free coefficients from a start, without bounds.
    """
    bounded = np.arange(x.size) >= n_free
    for _ in range(ACTIVE_SET_ROUNDS):
        goal = solve(x, free)
        negative = bounded & (goal < 0)
        if negative.any():
            share = np.full(x.size, np.inf)
            share[negative] = x[negative] / (x[negative] - goal[negative])
            x = x + float(share.min()) * (goal - x)
            free[np.argmin(share)] = False
            x[~free] = 0.0
            continue
        x = goal
        residuals, columns = errors(x)
        sizes = np.sqrt(np.add.reduce(columns * columns, axis=1) * np.sum(residuals * residuals))
        slopes = np.where(free, 0.0, np.add.reduce(columns * residuals, axis=1) + DESCENT * sizes)
        if not slopes.min() < 0:
            break
        free[np.argmin(slopes)] = True
    return x


def back_substituted(rows: Values, right: Values) -> Values:
    """x of R x = right, R upper triangular."""
    x = np.zeros(len(right))
    for k in reversed(range(len(right))):
        x[k] = (right[k] - np.add.reduce(rows[k, k + 1 :] * x[k + 1 :])) / rows[k, k]
    return x


def forward_substituted(rows: Values, right: Values) -> Values:
    """x of Rᵀ x = right, R upper triangular; shapes (n, ...)."""
    x = np.zeros(right.shape)
    for k in range(len(right)):
        known = np.add.reduce((x[:k].T * rows[:k, k]).T, axis=0)
        x[k] = (right[k] - known) / rows[k, k]
    return x


def combination(x: Values, columns: Values) -> Values:
    """Σ x_k column_k, added in order."""
    return np.add.reduce(x[:, None] * columns, axis=0)
