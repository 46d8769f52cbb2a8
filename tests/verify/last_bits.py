"""Figures whose last bits differ, as they would on another machine."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

ULPS = 4  # greatest change, in units of the last place


def perturbed(figures: Any, random: np.random.Generator) -> Any:
    """The same figures with the last bits of every floating-point number changed at random."""
    if isinstance(figures, (float, np.floating)):
        return type(figures)(figures * _factors(random, ()))
    if isinstance(figures, np.ndarray) and figures.dtype.kind == "f":
        return figures * _factors(random, figures.shape)
    if isinstance(figures, xr.DataArray):
        return figures.copy(data=perturbed(figures.values, random))
    if isinstance(figures, xr.Dataset):
        return figures.map(lambda each: perturbed(each, random))
    if isinstance(figures, Mapping):
        return {key: perturbed(value, random) for key, value in figures.items()}
    if isinstance(figures, (tuple, list)):
        return type(figures)(perturbed(each, random) for each in figures)
    if dataclasses.is_dataclass(figures) and not isinstance(figures, type):
        names = [field.name for field in dataclasses.fields(figures) if field.init]
        changed = {name: perturbed(getattr(figures, name), random) for name in names}
        return dataclasses.replace(figures, **changed)
    return figures


def _factors(random: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return 1 + random.integers(-ULPS, ULPS, shape, endpoint=True) * 2.0**-52
