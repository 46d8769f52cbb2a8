"""Newton's method for the balance, continued from the linear mode to the required energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sweep.arrays.impact_oscillator.balance import Array, Library, Oscillator, equations

MAX_ITERATIONS = 20  # of Newton's method at one energy
SETTLED = 1e-11  # last change of the unknowns, relative to the amplitude; the error is its square
FIRST_STEP, LEAST_STEP = 0.25, 2.0**-14  # as shares of the whole way
MAX_DISTANCE = 0.1  # from the guess; a solution farther away can lie on another branch


@dataclass
class Way:
    """The progress of n points; arrays of shape (n,), the unknowns (n, H+2)."""

    unknowns: Array
    earlier: Array  # the unknowns one step earlier
    place: Array  # 0 at the start, 1 at the required energy
    step: Array
    taken: Array  # the last step; 0 at the start

    def guess(self, xp: Library, here: Array, step: Array) -> Array:
        """The unknowns after `step`, by linear extrapolation of the last two."""
        taken = self.taken[here]
        ratio = xp.where(taken > 0, step / xp.where(taken > 0, taken, 1.0), 0.0)
        return self.unknowns[here] + ratio[:, None] * (self.unknowns[here] - self.earlier[here])


def balanced(xp: Library, oscillator: Oscillator, harmonics: int) -> tuple[Array, Array]:
    """The unknowns of the balance, (n, H+2), and whether they have converged, (n,).

    Continuation starts at grazing, where the motion is linear, and lowers the gap in units of the
    amplitude, that is, raises the energy. Steps double where Newton's method converges and are
    halved where it does not. A point has not converged if its step becomes too small.
    """
    first = xp.maximum(oscillator.gap, 1.0)
    linear = xp.zeros((len(oscillator.gap), harmonics + 2))
    linear[:, 1] = linear[:, -1] = 1.0
    unknowns, converged = newton(xp, oscillator.at(first), linear)
    zeros, ones = xp.zeros(first.shape), xp.ones(first.shape)
    way = Way(unknowns, unknowns.copy(), zeros, FIRST_STEP * ones, zeros.copy())
    way.place = xp.where(oscillator.gap < 1.0, 0.0, 1.0)
    while True:
        here = xp.flatnonzero(converged & (way.place < 1.0))
        if not here.size:
            return way.unknowns, converged
        _step(xp, oscillator[here], way, here)
        converged = converged & (way.step >= LEAST_STEP)


def _step(xp: Library, oscillator: Oscillator, way: Way, here: Array) -> None:
    """Advance the points `here` by one step, or halve their step."""
    before, step = way.place[here], way.step[here]
    place = xp.minimum(before + step, 1.0)
    gap = 1.0 + place * (oscillator.gap - 1.0)
    guess = way.guess(xp, here, place - before)
    tried, good = newton(xp, oscillator.at(gap), guess)
    good = good & (xp.abs(tried - guess).max(axis=1) <= MAX_DISTANCE)
    arrived = here[good]
    way.earlier[arrived] = way.unknowns[arrived]
    way.unknowns[arrived] = tried[good]
    way.taken[arrived] = (place - before)[good]
    way.place[arrived] = place[good]
    way.step[here] = xp.where(good, 2 * step, step / 2)


def newton(xp: Library, oscillator: Oscillator, guess: Array) -> tuple[Array, Array]:
    """The unknowns that Newton's method reaches from a guess, and whether it converged, (n,)."""
    unknowns = guess.copy()
    settled = xp.zeros(len(guess), dtype=bool)
    active = xp.arange(len(guess))
    for _ in range(MAX_ITERATIONS):
        change = -_solved(xp, *equations(xp, oscillator[active], unknowns[active]))
        unknowns[active] += change
        size = xp.abs(change).max(axis=1)
        settled[active[size <= SETTLED]] = True
        active = active[(size > SETTLED) & (size < 1e3)]  # both are false for NaN
        if not active.size:
            break
    # The branch of the linear mode has a positive first cosine and a positive squared frequency.
    sound = (unknowns[:, 1] > 0) & (unknowns[:, -1] > 0)
    return unknowns, settled & sound


def _solved(xp: Library, left: Array, matrix: Array) -> Array:
    """matrix⁻¹ left for each point; NaN where the matrix is singular."""
    try:
        return xp.linalg.solve(matrix, left[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:  # at least one is singular: find it by bisection
        if len(left) == 1:
            return xp.full(left.shape, np.nan)
        middle = len(left) // 2
        halves = (slice(None, middle), slice(middle, None))
        return xp.concatenate([_solved(xp, left[half], matrix[half]) for half in halves])
