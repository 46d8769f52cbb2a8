"""The cells of a refined grid: boxes spanned by its axes, which can be halved along every axis.

A point is a position on the lattice of the finest level, in whole numbers, so cells that share a
point share one position. Axis values follow from the coarse ones by + − × ÷ √ alone, so they are
the same on every machine.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sweep.request.chunk import Values

Keys = NDArray[np.int64]  # (n,) ascending: flat indices of points in the lattice, or of cells
Places = NDArray[np.int64]  # (n, n_axes)


def is_geometric(recipe: Mapping[str, object]) -> bool:
    """Whether the midpoint of two values of an axis is their geometric mean."""
    return "geomspace" in recipe


def halved(values: Values, levels: int, *, geometric: bool) -> Values:
    """Insert the midpoint between all neighbouring values, `levels` times.

    The midpoint is the arithmetic mean or, if `geometric`, the geometric mean of values of one
    sign.
    """
    for _ in range(levels):
        finer = np.empty(2 * len(values) - 1)
        finer[::2] = values
        left, right = values[:-1], values[1:]
        if geometric:  # two roots, because the product might overflow or underflow
            finer[1::2] = np.sign(left) * (np.sqrt(np.abs(left)) * np.sqrt(np.abs(right)))
        else:
            finer[1::2] = left / 2 + right / 2
        values = finer
    return values


class Mesh:
    """The cells of a grid of (n_1, ..., n_k) values, none of them halved at first."""

    def __init__(self, counts: Sequence[int], levels: int) -> None:
        self.levels = levels
        self.shape = tuple(((n - 1) << levels) + 1 for n in counts)  # of the finest lattice
        self._coarse = tuple(n - 1 for n in counts)
        none = np.empty(0, np.int64)
        self.cells: list[Keys] = [np.arange(math.prod(self._coarse)), *[none] * levels]

    def points(self) -> Keys:
        """Every corner of a cell."""
        corners = [self.corners(level).ravel() for level in range(self.levels + 1)]
        return np.unique(np.concatenate(corners))

    def corners(self, level: int) -> Keys:
        """(n_cells, 2**n_axes): the corners of a level's cells; the last axis varies fastest."""
        origin = self.places(self.cells[level], level)
        size = 1 << (self.levels - level)
        offsets = itertools.product((0, 1), repeat=len(self.shape))
        return np.stack([self.flat((origin + np.array(each)) * size) for each in offsets], axis=1)

    def level_of(self, points: Keys) -> NDArray[np.uint8]:
        """The coarsest level that each point is on."""
        bits: Keys = np.bitwise_or.reduce(self.positions(points), axis=1) | (1 << self.levels)
        powers = np.array([1 << i for i in range(self.levels + 1)])
        return (self.levels - np.searchsorted(powers, bits & -bits)).astype(np.uint8)

    def positions(self, points: Keys) -> Places:
        """The positions of points on the finest lattice."""
        return np.stack(np.unravel_index(points, self.shape), axis=1)

    def flat(self, positions: Places) -> Keys:
        """The keys of points at these positions."""
        return _raveled(positions, self.shape)

    def places(self, cells: Keys, level: int) -> Places:
        """The indices of cells in the grid of all cells of their level."""
        return np.stack(np.unravel_index(cells, self._grid(level)), axis=1)

    def unlike(self, points: Keys, compared: Sequence[tuple[Values, float]]) -> list[Keys]:
        """The cells that have points which differ; one array per level, without the last.

        What is compared are values at the points, NaN where missing, each with the largest span
        that a cell may have. A cell's points are its corners and, between them, the corners of
        finer neighbours.
        """
        lows = [np.full((len(compared), len(cells)), math.inf) for cells in self.cells[:-1]]
        highs = [-low for low in lows]
        for level, point, cell in self._holding(points):
            for (values, _), low, high in zip(compared, lows[level], highs[level], strict=True):
                np.fmin.at(low, cell, values[point])
                np.fmax.at(high, cell, values[point])
        max_spans = np.array([[max_span] for _, max_span in compared])
        return [
            cells[(high - low > max_spans).any(axis=0)]
            for cells, low, high in zip(self.cells[:-1], lows, highs, strict=True)
        ]

    def beside(self, chosen: Sequence[Keys]) -> list[Keys]:
        """The cells that touch a chosen cell and are not finer; arrays per level as in `unlike`."""
        around = [[cells] for cells in chosen]
        for level, cells in enumerate(chosen):
            places, grid = self.places(cells, level), np.array(self._grid(level))
            for step in itertools.product((-1, 0, 1), repeat=len(self.shape)):
                moved = places + np.array(step)
                moved = moved[np.all((moved >= 0) & (moved < grid), axis=1)]
                for coarser in range(level + 1):
                    keys = self._cell_keys(moved >> (level - coarser), coarser)
                    around[coarser].append(keys[_index(self.cells[coarser], keys) >= 0])
        return [np.unique(np.concatenate(each)) for each in around]

    def halve(self, chosen: Sequence[Keys]) -> None:
        """Replace each chosen cell by 2**n_axes cells of the next level."""
        for level, cells in enumerate(chosen):
            self.cells[level] = np.setdiff1d(self.cells[level], cells, assume_unique=True)
            first = 2 * self.places(cells, level)
            children = [
                self._cell_keys(first + np.array(each), level + 1)
                for each in itertools.product((0, 1), repeat=len(self.shape))
            ]
            self.cells[level + 1] = np.union1d(self.cells[level + 1], np.concatenate(children))

    def halve_around(self, points: Keys) -> None:
        """Halve every cell that has a point at its centre, the mark of a cell that was halved."""
        for level in range(self.levels):
            half = 1 << (self.levels - level - 1)
            centres = self.flat((2 * self.places(self.cells[level], level) + 1) * half)
            none = [self.cells[level][:0]] * level
            self.halve([*none, self.cells[level][_index(points, centres) >= 0]])

    def _holding(self, points: Keys) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.intp]]]:
        """Pairs of a point and a cell on whose boundary it is, as index arrays, level by level."""
        positions = self.positions(points)
        for side in itertools.product((0, 1), repeat=len(self.shape)):
            within = positions - np.array(side)
            inside = np.all((within >= 0) & (within < np.array(self.shape) - 1), axis=1)
            point = np.flatnonzero(inside)
            for level, cells in enumerate(self.cells[:-1]):
                keys = self._cell_keys(within[point] >> (self.levels - level), level)
                cell = _index(cells, keys)
                yield level, point[cell >= 0], cell[cell >= 0]

    def _grid(self, level: int) -> tuple[int, ...]:
        return tuple(n << level for n in self._coarse)

    def _cell_keys(self, places: Places, level: int) -> Keys:
        return _raveled(places, self._grid(level))


def _raveled(places: Places, shape: tuple[int, ...]) -> Keys:
    return np.asarray(np.ravel_multi_index(tuple(places.T), shape), np.int64)


def _index(known: Keys, keys: Keys) -> NDArray[np.intp]:
    """The index of each key among the known ones, -1 if it is not there."""
    if not known.size:
        return np.full(keys.shape, -1, np.intp)
    at = np.minimum(np.searchsorted(known, keys), known.size - 1)
    return np.where(known[at] == keys, at, -1)
