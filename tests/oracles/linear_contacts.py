"""Linear motions with contacts that open and close, followed from event to event.

While no contact changes, the state z = (displacements, velocities, sin ωt, cos ωt, 1) of n degrees
of freedom obeys z' = A z, so that z(t) = exp(A t) z(0). Contacts change where a linear function of
z crosses zero; Brent's method finds it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import expm, matrix_balance
from scipy.optimize import brentq

Array = Any  # of floats; a state or a row for it is (2n + 3,)


class Contact(NamedTuple):
    """It is closed while row · z > 0 for each row, and then adds (force · z) × direction to z'."""

    rows: Sequence[Array]
    force: Array
    direction: Array


class Piece(NamedTuple):
    """The motion from `begin` on, with `closed` contacts."""

    begin: float
    state: Array
    closed: tuple[bool, ...]
    matrix: Array

    def after(self, time: float) -> Array:
        """The state some time after the piece begins."""
        return exponential(self.matrix, time) @ self.state


class Motion(NamedTuple):
    pieces: Sequence[Piece]
    end: float

    def at(self, time: float) -> Array:
        """The state at a time."""
        piece = self.pieces[bisect_right([each.begin for each in self.pieces], time) - 1]
        return piece.after(time - piece.begin)

    def closures(self, contact: int) -> list[tuple[float, float]]:
        """When a contact closes and opens; the last one may end with the motion."""
        changes = [
            after.begin
            for before, after in pairwise(self.pieces)
            if before.closed[contact] != after.closed[contact]
        ]
        if self.pieces[0].closed[contact]:
            changes.insert(0, 0.0)
        changes.append(self.end)
        return list(zip(changes[::2], changes[1::2], strict=False))


def structure(
    mass: Array, damping: Array, stiffness: Array, load: Array = 0.0, frequency: float = 0.0
) -> Array:
    """A of M x'' + C x' + K x = load sin(ωt), without contacts; M, C and K are (n, n)."""
    n = len(mass)
    matrix = np.zeros((2 * n + 3, 2 * n + 3))
    matrix[:n, n : 2 * n] = np.eye(n)
    rates = np.column_stack([-np.asarray(stiffness), -np.asarray(damping), np.full(n, load)])
    matrix[n : 2 * n, : 2 * n + 1] = np.linalg.solve(mass, rates)
    matrix[2 * n, 2 * n + 1], matrix[2 * n + 1, 2 * n] = frequency, -frequency
    return matrix


def row(displacement: Array, velocity: Array = 0.0, **constants: float) -> Array:
    """A linear function of the state; `sine` and `constant` are factors of sin ωt and of 1."""
    n = len(displacement)
    return np.concatenate([
        displacement, np.full(n, velocity),
        [constants.get("sine", 0.0), 0.0, constants.get("constant", 0.0)],
    ])  # fmt: skip


def start(displacement: Array, velocity: Array) -> Array:
    """The state at t = 0."""
    return np.concatenate([displacement, velocity, [0.0, 1.0, 1.0]])


def exponential(matrix: Array, time: float) -> Array:
    """exp(A t); balanced, since the roundings of `expm` grow with the norm of its argument."""
    balanced, (scale, _) = matrix_balance(matrix, permute=False, separate=True)
    return expm(balanced * time) * (scale[:, None] / scale)


def follow(
    matrix: Array, contacts: Sequence[Contact], state: Array, end: float, step: float
) -> Motion:
    """The motion from t = 0 to `end`. In a time of `step`, no row may turn more than once."""
    rows = np.array([each for contact in contacts for each in contact.rows])
    owners = [i for i, contact in enumerate(contacts) for _ in contact.rows]
    values, slopes = rows @ state, rows @ (matrix @ state)
    positive = np.where(values != 0, values, slopes) > 0
    pieces: list[Piece] = []
    time = 0.0
    while True:
        closed = tuple(
            all(positive[j] for j, owner in enumerate(owners) if owner == i)
            for i in range(len(contacts))
        )
        coupled = matrix + sum(
            np.outer(contact.direction, contact.force)
            for contact, is_closed in zip(contacts, closed, strict=True)
            if is_closed
        )
        pieces.append(Piece(time, state, closed, coupled))
        change = _first_change(pieces[-1], rows, positive, end - time, step)
        if change is None:
            return Motion(pieces, end)
        length, which = change
        state, time = pieces[-1].after(length), time + length
        positive = positive.copy()
        positive[which] = not positive[which]


def _first_change(
    piece: Piece, rows: Array, positive: Array, length: float, step: float
) -> tuple[float, int] | None:
    """The first row whose sign changes, and when after the piece begins."""
    slope_rows, propagator = rows @ piece.matrix, exponential(piece.matrix, step)
    state, before = piece.state, 0.0
    slopes = slope_rows @ state
    while before < length:
        after = min(before + step, length)
        state = propagator @ state if after == before + step else piece.after(after)
        values, next_slopes = rows @ state, slope_rows @ state
        reach = (after - before) * np.maximum(abs(slopes), abs(next_slopes))
        turns = (slopes * next_slopes < 0) & (abs(values) <= reach)
        suspects = np.flatnonzero(((values > 0) != positive) | turns)
        changes = [
            (time, int(i))
            for i in suspects
            if (time := _root(piece, rows[i], slope_rows[i], positive[i], before, after))
            is not None
        ]
        if changes:
            return min(changes)
        before, slopes = after, next_slopes
    return None


def _root(
    piece: Piece, row: Array, slope_row: Array, positive: bool, before: float, after: float
) -> float | None:
    """Where a row leaves its sign between two times, if it does."""

    def crossing(function: Array, begin: float, end: float) -> float | None:
        if (function @ piece.after(begin)) * (function @ piece.after(end)) >= 0:
            return None
        return brentq(lambda t: function @ piece.after(t), begin, end, xtol=1e-17, rtol=1e-14)

    turn = crossing(slope_row, before, after)
    for begin, end in pairwise([before, *([turn] if turn else []), after]):
        if (row @ piece.after(end) > 0) != positive:
            root = crossing(row, begin, end)
            return begin if root is None else root  # None: it crossed with another row
    return None
