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

    @property
    def resolution(self) -> float:
        """The numbers are multiples of this, or finer."""
        ...

    def rows(self, start: int, stop: int) -> Rows:
        """The points from `start` up to, but not including, `stop`."""
        ...


def sequence(
    method: str, n_points: int, n_dimensions: int, seed: int | None, scramblings: int = 1
) -> Sequence:
    """The first n_points of a sequence.

    Sobol's sequence begins at the origin; with a seed it is scrambled (linear matrix scramble and
    digital shift, Matoušek 1998, as in scipy). In it and in random points, a shorter sequence is
    the beginning of a longer one, except for scrambled sequences of more than 2^30 points, whose
    numbers have more bits. In a Latin hypercube, each of n_points equal slices of each side holds
    one point. With `scramblings` of Sobol's sequence, point i is point i // scramblings of the
    scrambling i % scramblings; each has its own generator (`numpy.random.SeedSequence`, spawn_key).
    """
    if scramblings > 1:
        n_each = -(-n_points // scramblings)
        seeds = (np.random.SeedSequence(seed, spawn_key=(i,)) for i in range(scramblings))
        return _Interleaved([_Sobol(_bits(n_each), n_dimensions, each) for each in seeds])
    if method == "random":
        return _Random(n_dimensions, seed)
    if method == "latin_hypercube":
        return _LatinHypercube(n_points, n_dimensions, seed)
    return _Sobol(_bits(n_points), n_dimensions, seed)


def _bits(n_points: int) -> int:
    return BITS if n_points <= 2**BITS else MORE_BITS


class Saltelli:
    """The points from which Sobol' indices of k parameters are estimated (Saltelli et al. 2010).

    Each point of a sequence of 2 k dimensions has two halves, a and b, and gives k + 2 points: a,
    b, and for each parameter the half a in which that parameter is taken from b.
    """

    def __init__(self, base: Sequence, n_parameters: int) -> None:
        self._base, self._n_parameters = base, n_parameters
        self.resolution = base.resolution

    def rows(self, start: int, stop: int) -> Rows:
        k = self._n_parameters
        first, last = start // (k + 2), -(-stop // (k + 2))
        a, b = np.split(self._base.rows(first, last), [k], axis=1)
        points = np.repeat(a[:, None, :], k + 2, axis=1)
        points[:, 1] = b
        for i in range(k):
            points[:, 2 + i, i] = b[:, i]
        whole = points.reshape(-1, k)
        return whole[start - first * (k + 2) : stop - first * (k + 2)]


class _Interleaved:
    """The points of several sequences in turn."""

    def __init__(self, parts: list[_Sobol]) -> None:
        self._parts = parts
        self.resolution = parts[0].resolution

    def rows(self, start: int, stop: int) -> Rows:
        step = len(self._parts)
        parts = [
            part.rows(-(-(start - i) // step), -(-(stop - i) // step))
            for i, part in enumerate(self._parts)
        ]
        rows = np.empty((stop - start, parts[0].shape[1]))
        for i, part in enumerate(parts):
            rows[(i - start) % step :: step] = part
        return rows


class _Random:
    """Random numbers, each of which takes one step of a generator that can be advanced."""

    resolution = 2.0**-53

    def __init__(self, n_dimensions: int, seed: int | None) -> None:
        self._n_dimensions, self._seed = n_dimensions, seed

    def rows(self, start: int, stop: int) -> Rows:
        bits = np.random.PCG64(self._seed)  # not default_rng, which may change
        bits.advance(start * self._n_dimensions)
        return np.random.Generator(bits).random((stop - start, self._n_dimensions))


class _LatinHypercube:
    """All points, drawn at once."""

    resolution = 2.0**-53

    def __init__(self, n_points: int, n_dimensions: int, seed: int | None) -> None:
        from scipy.stats import qmc

        generator = np.random.Generator(np.random.PCG64(seed))
        self._rows: Rows = qmc.LatinHypercube(n_dimensions, rng=generator).random(n_points)

    def rows(self, start: int, stop: int) -> Rows:
        return self._rows[start:stop]


class _Sobol:
    """scipy's sequence, which continues after the last stretch and restarts to go back."""

    def __init__(
        self, bits: int, n_dimensions: int, seed: int | np.random.SeedSequence | None
    ) -> None:
        from scipy.stats import qmc

        self.resolution = 2.0**-bits
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
