"""Points of the unit cube, in the order in which they are drawn, a column for each dimension."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

METHODS = ("sobol", "random", "latin_hypercube")
# A point of a Latin hypercube depends on all others; scipy holds them several times over.
MOST_POINTS = {"sobol": 10**8, "random": 10**8, "latin_hypercube": 10**7}
MOST_DIMENSIONS = 21_201  # that scipy has direction numbers of Sobol's sequence for
BLOCK = 2**18  # points drawn at once

Rows = NDArray[np.float64]  # (n_points, n_dimensions), in [0, 1)


def unit_columns(method: str, n_points: int, n_dimensions: int, seed: int | None) -> Rows:
    """(n_dimensions, n_points): the first points of a sequence.

    Sobol's sequence begins at the origin, or with a seed is scrambled (Owen 1995, as scipy has it);
    of it and of random points, fewer points are the first of more. In a Latin hypercube each of
    n_points equal slices of each side holds one point.
    """
    draw = _drawn_by(method, n_dimensions, seed)
    columns = np.empty((n_dimensions, n_points))
    step = n_points if method == "latin_hypercube" else BLOCK
    for start in range(0, n_points, step):
        rows = draw(min(step, n_points - start))
        columns[:, start : start + len(rows)] = rows.T
    return columns


def _drawn_by(method: str, n_dimensions: int, seed: int | None) -> Callable[[int], Rows]:
    generator = np.random.Generator(np.random.PCG64(seed))  # named: default_rng may change
    if method == "random":
        return lambda n: generator.random((n, n_dimensions))
    from scipy.stats import qmc

    if method == "latin_hypercube":
        return qmc.LatinHypercube(n_dimensions, rng=generator).random
    sobol: Any = qmc.Sobol(n_dimensions, scramble=seed is not None, rng=generator)

    def draw(n: int) -> Rows:
        with warnings.catch_warnings():  # what is asked for need be no power of two
            warnings.filterwarnings("ignore", "The balance properties")
            return sobol.random(n)

    return draw
