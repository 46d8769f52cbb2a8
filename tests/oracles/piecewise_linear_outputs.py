"""Outputs of exact motions (piecewise_linear.py) over a window, by their definitions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from tests.oracles.piecewise_linear import (
    CLOSE,
    TINY,
    ZERO,
    Affine,
    Motion,
    Occurrence,
    Polynomial,
    Unclear,
    at,
    roots,
)

Part = tuple[Polynomial, Fraction, Fraction]  # an expression between two times of its own


def parts(motion: Motion, expression: Affine, start: Fraction) -> Iterator[Part]:
    """An expression over the pieces of the window, which ends with the motion."""
    for piece in motion.pieces:
        if piece.end > start:
            yield piece.polynomial(expression), max(start - piece.start, ZERO), piece.length


def sides(part: Part) -> Iterator[Part]:
    """A part split where the expression changes its sign."""
    p, a, b = part
    cuts = [a, *(root for root in roots(p) if a < root < b), b]
    for left, right in pairwise(cuts):
        yield p, left, right


def area(part: Part) -> Fraction:
    p, a, b = part
    powers = [(b ** (k + 1) - a ** (k + 1)) / (k + 1) for k in range(3)]
    return sum((c * power for c, power in zip(p, powers, strict=True)), ZERO)


def integral(motion: Motion, expression: Affine, start: Fraction) -> Fraction:
    return sum((area(part) for part in parts(motion, expression, start)), ZERO)


def mean(motion: Motion, expression: Affine, start: Fraction) -> Fraction:
    return integral(motion, expression, start) / (motion.end - start)


def mean_magnitude(motion: Motion, expression: Affine, start: Fraction) -> Fraction:
    whole = parts(motion, expression, start)
    total = sum((abs(area(side)) for part in whole for side in sides(part)), ZERO)
    return total / (motion.end - start)


def share_above(motion: Motion, expression: Affine, start: Fraction) -> Fraction:
    """The share of the window in which the expression is positive."""
    total = ZERO
    for part in parts(motion, expression, start):
        for p, a, b in sides(part):
            middle = at(p, (a + b) / 2)
            if abs(middle) < CLOSE and b - a > CLOSE:
                raise Unclear("a share's expression rests at its limit")
            total += b - a if middle > 0 else ZERO
    return total / (motion.end - start)


def share_of_mode(motion: Motion, mode: str, start: Fraction) -> Fraction:
    pieces = (piece for piece in motion.pieces if piece.mode == mode and piece.end > start)
    time = sum((piece.end - max(piece.start, start) for piece in pieces), ZERO)
    return time / (motion.end - start)


def maximum(motion: Motion, expression: Affine, start: Fraction) -> Fraction:
    """Of all values, the limits at jumps included."""
    values = []
    for (c, b, a), left, right in parts(motion, expression, start):
        turn = -b / (2 * a) if a != 0 else left
        values += [at((c, b, a), min(max(time, left), right)) for time in (left, turn, right)]
    return max(values)


def occurrences(motion: Motion, event: str, start: Fraction) -> list[Occurrence]:
    """Those of an event in the window, its start included."""
    return [o for o in motion.occurrences if o.event == event and o.time > start - TINY]
