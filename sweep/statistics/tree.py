"""Sums over points by one binary tree, whose leaves are the points in the order of their index.

Node j of level k covers the points from j·2^k up to (j + 1)·2^k. It joins nodes 2j and 2j + 1 of
the level below, older first. Adjacent points are kept as the fewest nodes that cover them, so
parts can be merged in any order and the bits are the same. At the end the nodes that are left
are joined from the newest and smallest up, as in tree_sum.h.

Nodes are in units of a power of two, so that squares of values neither overflow nor underflow. The
unit follows from the largest value below a node, so that it depends on no order. Values between
2^-400 and 2^400, and what is computed from them, stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Fields = NDArray[Any]  # (fields, streams, n): n nodes of each stream
Node = NDArray[np.float64]  # (fields, streams)
Nodes = Mapping[tuple[int, int], Node]  # by level and index
Join = Callable[[Fields, Fields, int], Fields]  # older and newer nodes, and their level
LEAST, LARGEST = 2.0**-400, 2.0**400  # of values whose unit is 1
EXPONENT = 600  # of the unit of larger values; its negative is that of smaller ones and of zeros
UNIT = 2.0**EXPONENT


def grown(leaves: Fields, first: int, join: Join) -> dict[tuple[int, int], Fields]:
    """The nodes over leaves with the indices from `first` on: (fields, streams, n_leaves)."""
    nodes: dict[tuple[int, int], Fields] = {}
    level = 0
    while leaves.shape[2]:
        if first % 2:
            nodes[level, first] = leaves[..., 0]
            leaves, first = leaves[..., 1:], first + 1
        if leaves.shape[2] % 2:
            nodes[level, first + leaves.shape[2] - 1] = leaves[..., -1]
            leaves = leaves[..., :-1]
        leaves = join(leaves[..., 0::2], leaves[..., 1::2], level)
        level, first = level + 1, first // 2
    return nodes


def covering(first: int, count: int) -> list[tuple[int, int]]:
    """The level and index of the fewest nodes over leaves from `first` on, in their order."""
    keys, level, stop = list[tuple[int, int]](), 0, first + count
    while first < stop:
        keys += [(level, first)] if first % 2 else []
        first += first % 2
        keys += [(level, stop - 1)] if stop % 2 and first < stop else []
        first, stop, level = first // 2, stop // 2, level + 1
    return keys


def merged(
    some: Mapping[tuple[int, int], Fields], others: Mapping[tuple[int, int], Fields], join: Join
) -> dict[tuple[int, int], Fields]:
    """The nodes over two parts that share no point; whole pairs become one node."""
    nodes = {**some, **others}
    if len(nodes) != len(some) + len(others):
        raise ValueError("two parts of the points overlap")
    waiting = sorted(nodes)
    while waiting:
        level, index = waiting.pop(0)
        older, newer = (level, index & ~1), (level, index | 1)
        if older in nodes and newer in nodes:
            parent = (level + 1, index >> 1)
            nodes[parent] = join(nodes.pop(older), nodes.pop(newer), level)
            waiting.append(parent)
            waiting.sort()
    return nodes


def total(nodes: Nodes, join: Join) -> Node:
    """The sum over all points: the nodes joined from the newest up."""
    in_order = sorted(nodes, key=lambda node: node[1] << node[0], reverse=True)
    newer = nodes[in_order[0]]
    for older in in_order[1:]:
        newer = join(nodes[older], newer, -1)
    return newer


def merged_arrays(
    one: Mapping[str, NDArray[Any]], other: Mapping[str, NDArray[Any]], join: Join
) -> dict[str, NDArray[Any]]:
    """`merged` of the arrays of nodes."""
    return to_arrays(merged(from_arrays(one), from_arrays(other), join))


def sum_of(leaves: Fields, join: Join) -> Node:
    """The sum over leaves, (fields, streams, n_leaves)."""
    return total(grown(leaves, 0, join), join)


def moments(older: Fields, newer: Fields, _level: int) -> Fields:
    """A `Join` of (number, sum, sum of squared deviations from the mean), after Chan et al. 1979.

    Without any values, number, sum and deviations are 0. Further fields are added.
    """
    joined = older + newer
    joined[2] += between(older[0], newer[0], older[1], newer[1])
    return joined


def between(n: Fields, m: Fields, older_sum: Fields, newer_sum: Fields) -> Fields:
    """What the difference of the means of n and m values adds to their squared deviations."""
    number = n + m
    difference = newer_sum / (m + (m == 0)) - older_sum / (n + (n == 0))
    difference *= (n > 0) & (m > 0)
    return difference * difference * (n * m / (number + (number == 0)))


def full_moments(older: Fields, newer: Fields, level: int) -> Fields:
    """`moments` of (sum, deviations) where all 2^level values exist: the same bits, sooner.

    Leaves have a sum only, because their deviations are 0.
    """
    if level == 0:
        joined = np.empty((2, *older.shape[1:]))
        np.add(older[0], newer[0], out=joined[0])
        difference = np.subtract(newer[0], older[0], out=joined[1])
        difference *= difference
        difference *= 0.5
        return joined
    joined = older + newer
    each = 0.5**level
    difference = newer[0] - older[0]
    difference *= each
    difference *= difference
    difference *= 0.5 / each
    deviations = joined[1]  # not joined[1] += apart, which also copies the sum onto itself
    deviations += difference
    return joined


def to_arrays(nodes: Mapping[tuple[int, int], Fields]) -> dict[str, NDArray[Any]]:
    """Nodes as two arrays: their levels and indices, and their fields (nodes, fields, streams)."""
    keys = sorted(nodes)
    return {"nodes": np.array(keys), "fields": np.stack([nodes[key] for key in keys])}


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[tuple[int, int], Node]:
    """The inverse of `to_arrays`."""
    keys = [(int(level), int(index)) for level, index in arrays["nodes"]]
    return dict(zip(keys, arrays["fields"], strict=True))


def are_usual(values: Fields) -> bool:
    """Whether the unit of all values that are not 0 is 1."""
    sizes = np.abs(values)
    if bool((sizes.max() < LARGEST) & (sizes.min() >= LEAST)):  # in most cases, and sooner
        return True
    return bool(((sizes < LARGEST) & ((sizes >= LEAST) | (sizes == 0))).all())


def exponents_of(values: Fields) -> Fields:
    """The exponent of the unit of each value, alone."""
    sizes = np.abs(values)
    above = np.where(sizes < LARGEST, 0.0, float(EXPONENT))  # also of NaN
    return np.where(sizes < LEAST, -float(EXPONENT), above)


def in_unit(values: Fields, exponents: Fields) -> Fields:
    """The values in units of 2^exponent."""
    return values * np.where(exponents > 0, 1 / UNIT, np.where(exponents < 0, UNIT, 1.0))


def factors(exponents: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The unit as a product of two powers of two, one of which is 1: first that below 1."""
    below, above = (limit(exponents, 0.0).astype(np.int64) for limit in (np.minimum, np.maximum))
    return np.ldexp(1.0, below), np.ldexp(1.0, above)


def with_usual_unit(node: Fields, is_zero: Fields) -> Fields:
    """A node of usual values, whose unit is 1 unless all of them are 0, with its exponent."""
    exponents = np.where(is_zero, -float(EXPONENT), 0.0)
    return np.concatenate([node, exponents[None]])


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
