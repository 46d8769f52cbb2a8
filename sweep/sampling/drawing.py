"""The columns of a sample from the recipe of its axis, and the sequences of points behind them.

Parameters take the dimensions of the sequence in the order of their names, so that their order in a
file has no effect. Sequences are Sobol's, random points, Latin hypercubes, and Saltelli's.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Collection, Mapping
from typing import Any, cast

import numpy as np

from sweep.request.sweeps import FOR_INDICES, VALUES_IN_MEMORY, LongValues
from sweep.sampling.distributions import DISTRIBUTIONS, Margin
from sweep.sampling.long_values import BLOCK, Drawn, Generator, Rows, SampleColumns, Sequence

METHODS = ("sobol", "random", "latin_hypercube")
# A point of a Latin hypercube depends on all others, of which scipy keeps several copies.
MAX_LATIN_HYPERCUBE_POINTS = 10**7
MAX_DIMENSIONS = 21_201  # for which scipy has direction numbers of Sobol's sequence
BITS, MORE_BITS = 30, 64  # of Sobol's sequence: scipy's default, and for more than 2**30 points
MAX_SKIPPING_BITS = 32  # up to which scipy can skip points without drawing them


def columns_of(
    recipe: Mapping[str, object], whole: Collection[str] = ()
) -> Mapping[str, LongValues]:
    """The columns of a sample that is drawn, by parameter; `whole` names those of whole numbers.

    The recipe has `method`, `points`, perhaps `seed`, `scramblings` and `sobol_indices`, and the
    distribution of each parameter: {"friction": {"uniform": [0.1, 0.2]}}.
    """
    entries = cast("Mapping[str, Any]", recipe)
    margins = {
        name: _margin(entries[name], is_whole=name in whole)
        for name in sorted(entries)
        if isinstance(entries[name], Mapping)
    }
    method, n_base, k = str(entries["method"]), int(entries["points"]), max(len(margins), 1)
    seed = int(entries["seed"]) if "seed" in entries else None
    for_indices = FOR_INDICES in entries
    n_points = n_base * (k + 2) if for_indices else n_base
    n_dimensions = 2 * k if for_indices else k
    unit = sequence(method, n_base, n_dimensions, seed, int(entries.get("scramblings", 1)))
    sample = SampleColumns(saltelli(unit, k) if for_indices else unit, margins)
    columns = {name: Drawn(sample, name, n_points) for name in margins}
    if n_points <= VALUES_IN_MEMORY or method == "latin_hypercube":
        return {name: column[:] for name, column in columns.items()}
    return columns


def _margin(entry: Mapping[str, Any], *, is_whole: bool) -> Margin:
    (form,) = (name for name in entry if name in DISTRIBUTIONS)
    return Margin(form, tuple(map(float, entry[form])), is_whole)


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
        return _interleaved([_sobol(n_each, n_dimensions, each) for each in seeds])
    if method == "random":
        return _random(n_dimensions, seed)
    if method == "latin_hypercube":
        return _latin_hypercube(n_points, n_dimensions, seed)
    return _sobol(n_points, n_dimensions, seed)


def saltelli(base: Sequence, k: int) -> Sequence:
    """The points from which Sobol' indices of k parameters are estimated (Saltelli et al. 2010).

    Each point of a sequence of 2 k dimensions has two halves, a and b, and gives k + 2 points: a,
    b, and for each parameter the half a in which that parameter is taken from b.
    """

    def rows(start: int, stop: int) -> Rows:
        first, last = start // (k + 2), -(-stop // (k + 2))
        a, b = np.split(base.rows(first, last), [k], axis=1)
        points = np.repeat(a[:, None, :], k + 2, axis=1)
        points[:, 1] = b
        for i in range(k):
            points[:, 2 + i, i] = b[:, i]
        whole = points.reshape(-1, k)
        return whole[start - first * (k + 2) : stop - first * (k + 2)]

    return Sequence(base.resolution, rows)


def _interleaved(sequences: list[Sequence]) -> Sequence:
    """The points of several sequences in turn."""
    step = len(sequences)

    def rows(start: int, stop: int) -> Rows:
        parts = [
            each.rows(-(-(start - i) // step), -(-(stop - i) // step))
            for i, each in enumerate(sequences)
        ]
        rows = np.empty((stop - start, parts[0].shape[1]))
        for i, part in enumerate(parts):
            rows[(i - start) % step :: step] = part
        return rows

    return Sequence(sequences[0].resolution, rows)


def _random(n_dimensions: int, seed: int | None) -> Sequence:
    """Random numbers, each of which takes one step of a generator that can be advanced."""
    generator = Generator(n_dimensions, seed)

    def rows(start: int, stop: int) -> Rows:
        return np.random.Generator(generator.at(start)).random((stop - start, n_dimensions))

    return Sequence(2.0**-53, rows, generator)


def _latin_hypercube(n_points: int, n_dimensions: int, seed: int | None) -> Sequence:
    """All points, drawn at once."""
    from scipy.stats import qmc

    generator = np.random.Generator(np.random.PCG64(seed))
    points: Rows = qmc.LatinHypercube(n_dimensions, rng=generator).random(n_points)
    return Sequence(2.0**-53, lambda start, stop: points[start:stop])


def _sobol(n_points: int, n_dimensions: int, seed: int | np.random.SeedSequence | None) -> Sequence:
    """scipy's sequence, which continues after the last part and restarts to go back."""
    from scipy.stats import qmc

    bits = BITS if n_points <= 2**BITS else MORE_BITS
    generator = np.random.Generator(np.random.PCG64(seed))
    scrambled = seed is not None
    engine: Any = qmc.Sobol(n_dimensions, scramble=scrambled, bits=bits, rng=generator)
    lock = threading.Lock()

    def draw(count: int) -> Rows:
        with warnings.catch_warnings():  # the number of points need not be a power of two
            warnings.filterwarnings("ignore", "The balance properties")
            return engine.random(count)

    def skip(count: int) -> None:
        if count and bits <= MAX_SKIPPING_BITS:
            engine.fast_forward(count)
            return
        for start in range(0, count, BLOCK):
            draw(min(BLOCK, count - start))

    def rows(start: int, stop: int) -> Rows:
        with lock:
            if start < engine.num_generated:
                engine.reset()
            skip(start - engine.num_generated)
            return draw(stop - start)

    return Sequence(2.0**-bits, rows)
