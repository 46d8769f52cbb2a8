"""Closed forms as public functions of numbers or arrays."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]  # of the broadcast shape


def values(argument: ArrayLike) -> Values:
    """The argument as a float64 array."""
    return np.asarray(argument, dtype=np.float64)


def all_zero(parameters: Mapping[str, ArrayLike], names: Iterable[str]) -> NDArray[np.bool_]:
    """Where all of these parameters are 0 or missing."""
    zero = (values(parameters.get(name, 0.0)) == 0 for name in names)
    return functools.reduce(np.logical_and, zero)
