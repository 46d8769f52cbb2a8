"""Statistics of a list of numbers, plainly and in exact arithmetic where that matters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def mean(values: Sequence[float]) -> float:
    return float(sum(map(Fraction, values)) / len(values))


def deviation(values: Sequence[float]) -> float:
    """The standard deviation with n - 1 in the denominator."""
    centre = sum(map(Fraction, values)) / len(values)
    squares = sum((Fraction(value) - centre) ** 2 for value in values)
    return _root(Fraction(squares) / (len(values) - 1))


def _root(square: Fraction) -> float:
    """The square root to more digits than a double has, however large or small the square is."""
    shift = 200 + max(square.denominator.bit_length() - square.numerator.bit_length(), 0) // 2
    return float(Fraction(math.isqrt(int(square * 4**shift)), 2**shift))


def quantile(values: Sequence[float], level: str) -> float:
    """The ceil(q n)-th smallest value, for a decimal number q."""
    place = math.ceil(Fraction(level) * len(values))
    return sorted(values)[max(place, 1) - 1]


def tree_sum(values: Sequence[float]) -> float:
    """Neighbours are added, then neighbouring sums, and so on; what is left over at the end, from
    the last and smallest part up.
    """
    size = 1
    while size * 2 <= len(values):
        size *= 2
    whole = _halves(list(values[:size]))
    return whole if size == len(values) else whole + tree_sum(values[size:])


def _halves(values: list[float]) -> float:
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return _halves(values[:half]) + _halves(values[half:])


def ishigami(x: Sequence[float], a: float = 7.0, b: float = 0.1) -> float:
    return math.sin(x[0]) + a * math.sin(x[1]) ** 2 + b * x[2] ** 4 * math.sin(x[0])


def ishigami_indices(a: float = 7.0, b: float = 0.1) -> tuple[list[float], list[float]]:
    """First and total orders for parameters uniform from -pi to pi; Ishigami and Homma 1990."""
    first = 0.5 * (1 + b * math.pi**4 / 5) ** 2
    second = a**2 / 8
    both = b**2 * math.pi**8 * 8 / 225
    variance = first + second + both
    orders = [first / variance, second / variance, 0.0]
    return orders, [(first + both) / variance, second / variance, both / variance]
