"""Nodes in units of a power of two, so that squares of values neither overflow nor underflow.

The unit follows from the largest value below a node, so that it depends on no order. Values between
2^-400 and 2^400, and what is computed from them, stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.statistics.tree import Fields, Join

LEAST, LARGEST = 2.0**-400, 2.0**400  # of values whose unit is 1
EXPONENT = 600  # of the unit of larger values; its negative is that of smaller ones and of zeros
UNIT = 2.0**EXPONENT


def are_usual(xp: Any, values: Fields) -> bool:
    """Whether the unit of all values that are not 0 is 1."""
    sizes = xp.abs(values)
    if bool((sizes.max() < LARGEST) & (sizes.min() >= LEAST)):  # in most cases, and sooner
        return True
    return bool(((sizes < LARGEST) & ((sizes >= LEAST) | (sizes == 0))).all())


def exponents_of(xp: Any, values: Fields) -> Fields:
    """The exponent of the unit of each value, alone."""
    sizes = xp.abs(values)
    above = xp.where(sizes < LARGEST, 0.0, float(EXPONENT))  # also of NaN
    return xp.where(sizes < LEAST, -float(EXPONENT), above)


def in_unit(xp: Any, values: Fields, exponents: Fields) -> Fields:
    """The values in units of 2^exponent."""
    return values * xp.where(exponents > 0, 1 / UNIT, xp.where(exponents < 0, UNIT, 1.0))


def factors(exponents: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The unit as a product of two powers of two, one of which is 1: first that below 1."""
    below, above = (limit(exponents, 0.0).astype(np.int64) for limit in (np.minimum, np.maximum))
    return np.ldexp(1.0, below), np.ldexp(1.0, above)


def with_usual_unit(xp: Any, node: Fields, is_zero: Fields) -> Fields:
    """A node of usual values, whose unit is 1 unless all of them are 0, with its exponent."""
    exponents = xp.where(is_zero, -float(EXPONENT), 0.0)
    return xp.concatenate([node, exponents[None]])


def joined(join: Join, degrees: Sequence[int]) -> Join:
    """`join` of nodes whose last field is the exponent of their unit.

    `degrees` has the power of the unit in each other field.
    """

    def join_in_units(older: Fields, newer: Fields, level: int) -> Fields:
        is_larger = older[-1] > newer[-1]
        exponents = newer[-1] + (older[-1] - newer[-1]) * is_larger
        older, newer = (_in_larger(node, exponents, degrees) for node in (older, newer))
        node = join(older, newer, level)
        node[-1] = exponents
        return node

    return join_in_units


def _in_larger(node: Fields, exponents: Fields, degrees: Sequence[int]) -> Fields:
    """The node in a unit at least as large as its own."""
    steps = (exponents - node[-1]) / EXPONENT  # 0, 1 or 2; two of them leave nothing
    if not bool((steps != 0).any()):
        return node
    factor = (steps == 0) + (steps == 1) * (1 / UNIT)
    scaled = node.copy()
    for field, degree in enumerate(degrees):
        for _ in range(degree):  # the square of the factor itself would underflow
            scaled[field] *= factor
    return scaled
