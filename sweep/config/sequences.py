"""Points of the unit cube, in the order in which they are drawn: any stretch of a sequence.

What a point is depends on its place alone, not on how many are drawn, or in which stretches.
"""

from __future__ import annotations

import threading
import warnings
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

METHODS = ("sobol", "random", "latin_hypercube")
# A point of a Latin hypercube depends on all others; scipy holds them several times over.
MAX_LATIN_HYPERCUBE_POINTS = 10**7
MAX_DIMENSIONS = 21_201  # that scipy has direction numbers of Sobol's sequence for
BLOCK = 2**18  # points drawn at once
BITS, MORE_BITS = 30, 64  # of Sobol's sequence: scipy's own choice, and where there are more points
FASTEST = 32  # bits up to which scipy can pass points over without drawing them

Rows = NDArray[np.float64]  # (n_points, n_dimensions), in [0, 1]


class Sequence(Protocol):
    """Points that can be drawn anywhere; safe to use from several threads."""

    def rows(self, start: int, stop: int) -> Rows:
        """Those from `start` to before `stop`."""
        ...


def sequence(method: str, n_points: int, n_dimensions: int, seed: int | None) -> Sequence:
    """The first n_points of a sequence.

    Sobol's sequence begins at the origin, or with a seed is scrambled (linear matrix scramble and
    digital shift, Matoušek 1998, as scipy has it); of it and of random points, fewer points are the
    first of more. The exception is a scrambled one of more than 2^30 points, whose numbers have
    more bits. In a Latin hypercube each of n_points equal slices of each side holds one point.
    """
    if method == "random":
        return _Random(n_dimensions, seed)
    if method == "latin_hypercube":
        return _LatinHypercube(n_points, n_dimensions, seed)
    return _Sobol(BITS if n_points <= 2**BITS else MORE_BITS, n_dimensions, seed)


def unit_columns(method: str, n_points: int, n_dimensions: int, seed: int | None) -> Rows:
    """(n_dimensions, n_points): the first points of a sequence, all at once."""
    drawn = sequence(method, n_points, n_dimensions, seed)
    columns = np.empty((n_dimensions, n_points))
    for start in range(0, n_points, BLOCK):
        stop = min(start + BLOCK, n_points)
        columns[:, start:stop] = drawn.rows(start, stop).T
    return columns


class _Random:
    """A generator that can be advanced: each number takes one step of it."""

    def __init__(self, n_dimensions: int, seed: int | None) -> None:
        self._n_dimensions, self._seed = n_dimensions, seed

    def rows(self, start: int, stop: int) -> Rows:
        bits = np.random.PCG64(self._seed)  # named: default_rng may change
        bits.advance(start * self._n_dimensions)
        return np.random.Generator(bits).random((stop - start, self._n_dimensions))


class _LatinHypercube:
    """All of its points, drawn at once."""

    def __init__(self, n_points: int, n_dimensions: int, seed: int | None) -> None:
        from scipy.stats import qmc

        generator = np.random.Generator(np.random.PCG64(seed))
        self._rows: Rows = qmc.LatinHypercube(n_dimensions, rng=generator).random(n_points)

    def rows(self, start: int, stop: int) -> Rows:
        return self._rows[start:stop]


class _Sobol:
    """scipy's, which stands where the last stretch has ended; it goes back by beginning anew."""

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
            self._pass_over(start - self._engine.num_generated)
            return self._draw(stop - start)

    def _pass_over(self, count: int) -> None:
        if count and self._bits <= FASTEST:
            self._engine.fast_forward(count)
            return
        for start in range(0, count, BLOCK):
            self._draw(min(BLOCK, count - start))

    def _draw(self, count: int) -> Rows:
        with warnings.catch_warnings():  # what is asked for need be no power of two
            warnings.filterwarnings("ignore", "The balance properties")
            return self._engine.random(count)
