"""Mean and standard deviation: number, sum and squared deviations of the values, by one tree."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.statistics import tree

Array = Any  # of NumPy or of a device's array library
State = Mapping[str, NDArray[Any]]

BLOCK = 2**16  # numbers that NumPy joins at once: they fit into caches, and calls are few
ALL = 2**62  # a device joins all at once: a call takes as long as for 10^5 numbers


@dataclass(frozen=True)
class Moments:
    """Moments per cell and scrambling; point i belongs to scrambling i mod `scramblings`."""

    scramblings: int = 1

    def of(self, xp: Any, values: Array, ok: Array, first: int) -> State:
        """The state of points (cells, points) from `first` on, a multiple of the scramblings."""
        if self.scramblings > 1:
            values, ok = (by_scrambling(array, self.scramblings) for array in (values, ok))
        block = BLOCK if xp is np else ALL
        parts = [
            _nodes(xp, values[rows], ok[rows], first // self.scramblings, block)
            for rows in _row_blocks(values.shape, block)
        ]
        nodes = {key: xp.concatenate([each[key] for each in parts], axis=1) for key in parts[0]}
        return tree.to_arrays(nodes, xp)

    def merged(self, one: State, other: State) -> State:
        """The state of two stretches of points together."""
        return tree.merged_arrays(one, other, tree.moments)

    def read(self, state: State) -> dict[str, NDArray[np.float64]]:
        """mean, standard_deviation and mean_error of each cell; NaN where there are too few values.

        The standard deviation has n − 1 in the denominator. The error of the mean is s/√n or, with
        scramblings, that of the means of the scramblings.
        """
        each = tree.total(tree.from_arrays(state), tree.moments)
        each = each.reshape(3, -1, self.scramblings)
        n, total, squares = tree.sum_of(each, tree.moments)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.sqrt(squares / np.where(n > 1, n - 1, np.nan))
            error = deviation / np.sqrt(n)
            if self.scramblings > 1:
                error = error_of_means(each[1] / each[0])
            return {"mean": total / n, "standard_deviation": deviation, "mean_error": error}


def by_scrambling(array: Array, count: int) -> Array:
    """(cells, points) as (cells · scramblings, points of each)."""
    transposed = array.reshape(array.shape[0], -1, count).transpose(0, 2, 1)
    return transposed.reshape(array.shape[0] * count, -1)


def error_of_means(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard error of the mean of independent means: (..., scramblings)."""
    count = means.shape[-1]
    ones, zeros = np.ones_like(means), np.zeros_like(means)
    leaves = np.stack([ones, means, zeros]).reshape(3, -1, count)
    squares = tree.sum_of(leaves, tree.moments)[2]
    return np.sqrt(squares.reshape(means.shape[:-1]) / (count - 1) / count)


def _nodes(
    xp: Any, values: Array, ok: Array, first: int, block: int
) -> dict[tuple[int, int], Array]:
    nodes: dict[tuple[int, int], Array] = {}
    for part in _column_blocks(first, values.shape, block):
        nodes = tree.merged(
            nodes, _block(xp, values[:, part], ok[:, part], first + part.start), tree.moments
        )
    return nodes


def _block(xp: Any, values: Array, ok: Array, first: int) -> dict[tuple[int, int], Array]:
    if not bool(ok.all()):
        summands = xp.where(ok, values, 0.0)
        leaves = xp.stack([ok.astype(np.float64), summands, xp.zeros_like(summands)])
        return tree.grown(leaves, first, tree.moments)
    full = tree.grown(values[None], first, functools.partial(tree.full_moments, xp))
    return {key: _counted(xp, node, key[0]) for key, node in full.items()}


def _counted(xp: Any, node: Array, level: int) -> Array:
    """(number, sum, deviations) of a node over 2^level values; a leaf has a sum only."""
    total = node[0]
    deviations = node[1] if level else xp.zeros_like(total)
    return xp.stack([xp.full_like(total, 2.0**level), total, deviations])


def _row_blocks(shape: tuple[int, int], block: int) -> Iterator[slice]:
    rows, columns = shape
    step = -(-rows // max(round(rows * columns / block), 1))
    return (slice(start, start + step) for start in range(0, rows, step))


def _column_blocks(first: int, shape: tuple[int, int], block: int) -> Iterator[slice]:
    """Stretches that end at multiples of a power of two of the index."""
    rows, columns = shape
    step = 1 << (max(block // max(rows, 1), 1).bit_length() - 1)
    if columns <= 1.5 * step:
        step = columns
    edges = [0, *range(-(first + 1) % step + 1, columns, step), columns]
    return (slice(a, b) for a, b in itertools.pairwise(edges) if a < b)
