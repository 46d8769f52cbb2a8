"""Sobol' indices: which share of an output's variance is due to which parameter.

A row of points consists of A, B and, for each parameter, A with that parameter's value from B.
First order: Saltelli et al. 2010, eq. (b) of table 2; total order: Jansen 1999, eq. (f) there. The
values are centred, and the variance is that of A and B together.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.statistics import tree
from sweep.statistics.moments import Array, State, by_scrambling, error_of_means

# Fields of a node: the number of rows; sum and squared deviations of A, and of B; then for each
# parameter the sums of B·difference, of the difference, and of its square; then the exponent of the
# unit of values.
FIXED = 5
DEGREES = (0, 1, 2, 1, 2)  # the power of the unit in the first of them


@dataclass(frozen=True)
class Indices:
    """Sobol' indices per cell and scrambling; row i belongs to scrambling i mod `scramblings`."""

    parameters: int
    scramblings: int = 1

    def of(self, values: Array, ok: Array, first: int) -> State:
        """The state of points (cells, points), whole rows, from `first` on.

        Rows with a point that is not ok are left out.
        """
        size = self.parameters + 2
        rows = values.reshape(values.shape[0], -1, size)
        complete = ok.reshape(rows.shape).all(axis=2)
        columns = [np.where(complete, rows[..., i], 0.0) for i in range(size)]
        largest: Array = functools.reduce(np.maximum, map(np.abs, columns))
        exponents: Array | None = None
        if not tree.are_usual(largest):
            exponents = tree.exponents_of(largest)
            columns = [tree.in_unit(column, exponents) for column in columns]
        a, b = columns[:2]
        differences = [each - a for each in columns[2:]]
        zero = np.zeros_like(a)
        fields = [complete.astype(np.float64), a, zero, b, zero]
        fields += [b * each for each in differences]
        fields += [*differences, *(each * each for each in differences)]
        fields += [] if exponents is None else [exponents]
        if self.scramblings > 1:
            fields = [by_scrambling(np.asarray(each), self.scramblings) for each in fields]
        join = _join if exponents is None else self._join_in_units
        nodes = tree.grown(np.stack(fields), first // size // self.scramblings, join)
        if exponents is None:
            nodes = {key: _with_unit(node) for key, node in nodes.items()}
        return tree.to_arrays(nodes)

    def current(self, state: State) -> State:
        """What an earlier version kept, which had no units."""
        fields = state["fields"]
        if fields.shape[1] > FIXED + 3 * self.parameters:
            return state
        return {**state, "fields": np.stack([_with_unit(node) for node in fields])}

    @property
    def _join_in_units(self) -> tree.Join:
        k = self.parameters
        return tree.joined(_join, (*DEGREES, *[2] * k, *[1] * k, *[2] * k))

    def merged(self, one: State, other: State) -> State:
        return tree.merged_arrays(one, other, self._join_in_units)

    def read(self, state: State) -> Mapping[str, NDArray[np.float64]]:
        """first_order and total_order (cells, parameters), with scramblings also their errors."""
        each = tree.total(tree.from_arrays(state), self._join_in_units)
        each = each.reshape(each.shape[0], -1, self.scramblings)
        first, total = self._estimates(tree.sum_of(each, self._join_in_units))
        indices = {"first_order": first.T, "total_order": total.T}
        if self.scramblings > 1:
            first, total = self._estimates(each)
            indices["first_order_error"] = error_of_means(first).T
            indices["total_order_error"] = error_of_means(total).T
        return indices

    def _estimates(self, fields: NDArray[np.float64]) -> NDArray[np.float64]:
        """First and total orders: (2, parameters, ...)."""
        n, a, _, b, _ = fields[:FIXED]
        products, differences, squares = fields[FIXED:-1].reshape(3, self.parameters, *n.shape)
        of_a, of_b = fields[[0, 1, 2]], fields[[0, 3, 4]]
        deviations = tree.moments(of_a, of_b, -1)[2]
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = deviations / (2 * n)
            mean = (a + b) / (2 * n)
            first = (products - mean * differences) / n / variance
            return np.stack([first, squares / (2 * n) / variance])


def _with_unit(node: Array) -> Array:
    return tree.with_usual_unit(node, (node[1:] == 0).all(axis=0))


def _join(older: Array, newer: Array, _level: int) -> Array:
    joined = older + newer
    for place in (1, 3):
        joined[place + 1] += tree.between(older[0], newer[0], older[place], newer[place])
    return joined
