"""Sums over points by one binary tree, whose leaves are the points in the order of their index.

Node j of level k covers the points from j·2^k up to (j + 1)·2^k. It joins nodes 2j and 2j + 1 of
the level below, older first. A stretch of points is kept as the fewest nodes that cover it, so
stretches can be merged in any order and the bits are the same. At the end the nodes that are left
are joined from the newest and smallest up, as in tree_sum.h.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Arrays of NumPy or of a device's array library, (fields, streams, n): n nodes of each stream.
Fields = Any
Node = NDArray[np.float64]  # (fields, streams)
Nodes = Mapping[tuple[int, int], Node]  # by level and index
Join = Callable[[Fields, Fields, int], Fields]  # older and newer nodes, and their level


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


def merged(
    some: Mapping[tuple[int, int], Fields], others: Mapping[tuple[int, int], Fields], join: Join
) -> dict[tuple[int, int], Fields]:
    """The nodes over two stretches that share no point; whole pairs become one node."""
    nodes = {**some, **others}
    if len(nodes) != len(some) + len(others):
        raise ValueError("two stretches of points overlap")
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


def full_moments(xp: Any, older: Fields, newer: Fields, level: int) -> Fields:
    """`moments` of (sum, deviations) where all 2^level values exist: the same bits, sooner.

    Leaves have a sum only, because their deviations are 0. `xp` is the library of the arrays.
    """
    if level == 0:
        joined = xp.empty((2, *older.shape[1:]))
        xp.add(older[0], newer[0], out=joined[0])
        difference = xp.subtract(newer[0], older[0], out=joined[1])
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


def to_arrays(nodes: Mapping[tuple[int, int], Fields], xp: Any = np) -> dict[str, Any]:
    """Nodes as two arrays: their levels and indices, and their fields (nodes, fields, streams)."""
    keys = sorted(nodes)
    return {"nodes": np.array(keys), "fields": xp.stack([nodes[key] for key in keys])}


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[tuple[int, int], Node]:
    """The inverse of `to_arrays`."""
    keys = [(int(level), int(index)) for level, index in arrays["nodes"]]
    return dict(zip(keys, arrays["fields"], strict=True))
