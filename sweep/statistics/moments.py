"""Mean and standard deviation: number, sum and squared deviations of the values, by one tree."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.statistics import tree

Array = NDArray[Any]
State = Mapping[str, NDArray[Any]]

BLOCK = 2**16  # numbers that NumPy joins at once: they fit into caches, and calls are few
JOIN = tree.joined(tree.moments, (0, 1, 2))  # of number, sum, deviations and unit


@dataclass(frozen=True)
class Moments:
    """Moments per cell and scrambling; point i belongs to scrambling i mod `scramblings`."""

    scramblings: int = 1

    def of(self, values: Array, ok: Array, first: int) -> State:
        """The state of points (cells, points) from `first` on, a multiple of the scramblings."""
        if self.scramblings > 1:
            values, ok = (by_scrambling(array, self.scramblings) for array in (values, ok))
        parts = [
            _nodes(values[rows], ok[rows], first // self.scramblings)
            for rows in _row_blocks(values.shape)
        ]
        nodes = {key: np.concatenate([each[key] for each in parts], axis=1) for key in parts[0]}
        return tree.to_arrays(nodes)

    def merged(self, one: State, other: State) -> State:
        return tree.merged_arrays(one, other, JOIN)

    def current(self, state: State) -> State:
        """What an earlier version kept, which had no units."""
        fields = state["fields"]
        if fields.shape[1] == 4:
            return state
        nodes = [tree.with_usual_unit(each, _is_zero(each)) for each in fields]
        return {**state, "fields": np.stack(nodes)}

    def read(self, state: State) -> dict[str, NDArray[np.float64]]:
        """mean, standard_deviation and mean_error of each cell; NaN where there are too few values.

        The standard deviation has n − 1 in the denominator. The error of the mean is s/√n or, with
        scramblings, that of the means of the scramblings.
        """
        each = tree.total(tree.from_arrays(state), JOIN)
        each = each.reshape(4, -1, self.scramblings)
        n, total, squares, exponents = tree.sum_of(each, JOIN)
        below, above = tree.factors(exponents)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.sqrt(squares / np.where(n > 1, n - 1, np.nan)) * below * above
            error = deviation / np.sqrt(n)
            if self.scramblings > 1:
                error = error_of_means(_mean(each))
            mean = _mean(np.stack([n, total, squares, exponents]))
            return {"mean": mean, "standard_deviation": deviation, "mean_error": error}


def by_scrambling(array: Array, count: int) -> Array:
    """(cells, points) as (cells · scramblings, points of each)."""
    transposed = array.reshape(array.shape[0], -1, count).transpose(0, 2, 1)
    return transposed.reshape(array.shape[0] * count, -1)


def error_of_means(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard error of the mean of independent means: (..., scramblings)."""
    count = means.shape[-1]
    leaves = _leaves(means.reshape(-1, count), np.ones(1, np.bool_))
    _, _, squares, exponents = tree.sum_of(leaves, JOIN).reshape(4, *means.shape[:-1])
    below, above = tree.factors(exponents)
    return np.sqrt(squares / (count - 1) / count) * below * above


def _mean(fields: NDArray[np.float64]) -> NDArray[np.float64]:
    """From number, sum, deviations and unit; first in the smaller unit, where sums are exact."""
    n, total, _, exponents = fields
    below, above = tree.factors(exponents)
    return total * below / n * above


def _nodes(values: Array, ok: Array, first: int) -> dict[tuple[int, int], Array]:
    nodes: dict[tuple[int, int], Array] = {}
    for part in _column_blocks(first, values.shape):
        own = _block(values[:, part], ok[:, part], first + part.start)
        nodes = tree.merged(nodes, own, JOIN)
    return nodes


def _block(values: Array, ok: Array, first: int) -> dict[tuple[int, int], Array]:
    all_ok = bool(ok.all())
    summands = values if all_ok else np.where(ok, values, 0.0)
    if not tree.are_usual(summands):
        return tree.grown(_leaves(summands, ok), first, JOIN)
    if all_ok:
        full = tree.grown(values[None], first, tree.full_moments)
        nodes = {key: _counted(node, key[0]) for key, node in full.items()}
    else:
        leaves = np.stack([ok.astype(np.float64), summands, np.zeros_like(summands)])
        nodes = tree.grown(leaves, first, tree.moments)
    return {key: tree.with_usual_unit(node, _is_zero(node)) for key, node in nodes.items()}


def _leaves(values: Array, ok: Array) -> Array:
    """Number, sum, deviations and unit of each value; 0 where none is ok."""
    exponents = tree.exponents_of(values)
    sums = tree.in_unit(values, exponents)
    zeros = np.zeros_like(sums)
    return np.stack([zeros + ok, sums, zeros, exponents])


def _is_zero(node: Array) -> Array:
    """Whether all values are 0 or none is."""
    return (node[1] == 0) & (node[2] == 0)


def _counted(node: Array, level: int) -> Array:
    """(number, sum, deviations) of a node over 2^level values; a leaf has a sum only."""
    total = node[0]
    deviations = node[1] if level else np.zeros_like(total)
    return np.stack([np.full_like(total, 2.0**level), total, deviations])


def _row_blocks(shape: tuple[int, int]) -> Iterator[slice]:
    rows, columns = shape
    step = -(-rows // max(round(rows * columns / BLOCK), 1))
    return (slice(start, start + step) for start in range(0, rows, step))


def _column_blocks(first: int, shape: tuple[int, int]) -> Iterator[slice]:
    """Stretches that end at multiples of a power of two of the index."""
    rows, columns = shape
    step = 1 << (max(BLOCK // max(rows, 1), 1).bit_length() - 1)
    if columns <= 1.5 * step:
        step = columns
    edges = [0, *range(-(first + 1) % step + 1, columns, step), columns]
    return (slice(a, b) for a, b in itertools.pairwise(edges) if a < b)
