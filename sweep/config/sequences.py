"""Sequences of points in the unit cube, of which any stretch can be drawn.

A point depends only on its index, not on how many points are drawn or in which stretches.
"""

from __future__ import annotations

import threading
import warnings
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

METHODS = ("sobol", "random", "latin_hypercube")
# A point of a Latin hypercube depends on all others, of which scipy keeps several copies.
MAX_LATIN_HYPERCUBE_POINTS = 10**7
MAX_DIMENSIONS = 21_201  # for which scipy has direction numbers of Sobol's sequence
BLOCK = 2**18  # points drawn at a time
BITS, MORE_BITS = 30, 64  # of Sobol's sequence: scipy's default, and for more than 2**30 points
MAX_SKIPPING_BITS = 32  # up to which scipy can skip points without drawing them

Rows = NDArray[np.float64]  # (n_points, n_dimensions), in [0, 1]


class Sequence(Protocol):
    """A sequence that can be drawn from any index; safe to use from several threads."""

    def rows(self, start: int, stop: int) -> Rows:
        """The points from `start` up to, but not including, `stop`."""
        ...


def sequence(method: str, n_points: int, n_dimensions: int, seed: int | None) -> Sequence:
    """The first n_points of a sequence.

    Sobol's sequence begins at the origin; with a seed it is scrambled (linear matrix scramble and
    digital shift, Matoušek 1998, as in scipy). In it and in random points, a shorter sequence is
    the beginning of a longer one, except for scrambled sequences of more than 2^30 points, whose
    numbers have more bits. In a Latin hypercube, each of n_points equal slices of each side holds
    one point.
    """
    if method == "random":
        return _Random(n_dimensions, seed)
    if method == "latin_hypercube":
        return _LatinHypercube(n_points, n_dimensions, seed)
    return _Sobol(BITS if n_points <= 2**BITS else MORE_BITS, n_dimensions, seed)


class _Random:
    """Random numbers, each of which takes one step of a generator that can be advanced."""

    def __init__(self, n_dimensions: int, seed: int | None) -> None:
        self._n_dimensions, self._seed = n_dimensions, seed

    def rows(self, start: int, stop: int) -> Rows:
        bits = np.random.PCG64(self._seed)  # not default_rng, which may change
        bits.advance(start * self._n_dimensions)
        return np.random.Generator(bits).random((stop - start, self._n_dimensions))


class _LatinHypercube:
    """All points, drawn at once."""

    def __init__(self, n_points: int, n_dimensions: int, seed: int | None) -> None:
        from scipy.stats import qmc

        generator = np.random.Generator(np.random.PCG64(seed))
        self._rows: Rows = qmc.LatinHypercube(n_dimensions, rng=generator).random(n_points)

    def rows(self, start: int, stop: int) -> Rows:
        return self._rows[start:stop]


class _Sobol:
    """scipy's sequence, which continues after the last stretch and restarts to go back."""

    def __init__(self, bits: int, n_dimensions: int, seed: int | None) -> None:
        from scipy.stats import qmc

        generator = np.random.Generator(np.random.PCG64(seed))
        scrambled = seed is not None
        self._engine: Any = qmc.Sobol(n_dimensions, scramble=scrambled, bits=bits, rng=generator)
        self._bits = bits
        self._lock = threading.Lock()

    def rows(self, start: int, stop: int) -> Rows:
        with self._lock:
            if start < self._engine.num_generated:
                self._engine.reset()
            self._skip(start - self._engine.num_generated)
            return self._draw(stop - start)

    def _skip(self, count: int) -> None:
        if count and self._bits <= MAX_SKIPPING_BITS:
            self._engine.fast_forward(count)
            return
        for start in range(0, count, BLOCK):
            self._draw(min(BLOCK, count - start))

    def _draw(self, count: int) -> Rows:
        with warnings.catch_warnings():  # the number of points need not be a power of two
            warnings.filterwarnings("ignore", "The balance properties")
            return self._engine.random(count)
