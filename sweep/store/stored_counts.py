"""Counts, which are stored as integers and read as float64 with NaN where one is missing.

So xarray decodes an array with the CF attribute `_FillValue`, which their arrays in stores have;
NaN keeps missing counts out of sums and means. The encoding of a variable that was read says that
it holds counts, and of which type. Stores of earlier versions lack the attribute and read the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.spec import MISSING_COUNT

FILL_VALUE = "_FillValue"
KINDS = ("count", "number")  # of outputs that are counts


def is_count(variable: xr.DataArray | xr.Variable) -> bool:
    """Whether a variable holds counts as they were read, not what was computed from them."""
    return variable.encoding.get(FILL_VALUE) == MISSING_COUNT


def holds_counts(stored: xr.Variable) -> bool:
    """Whether a variable of a store, not decoded yet, holds counts: all signed integers do."""
    return cast("np.dtype[Any]", stored.dtype).kind == "i"


def encoding_of(dtype: np.dtype[Any]) -> dict[str, Any]:
    """The encoding of a variable that was read from counts of this type."""
    return {FILL_VALUE: MISSING_COUNT, "dtype": dtype}


def decoded(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Stored counts as float64, NaN where one is missing; exact up to 2**53."""
    return np.where(counts == MISSING_COUNT, np.nan, counts)


def as_stored(variable: xr.DataArray | xr.Variable) -> NDArray[Any]:
    """The values of a variable as they are stored: integers, if they are counts."""
    values = variable.to_numpy()
    if not is_count(variable):
        return values
    return np.where(np.isnan(values), MISSING_COUNT, values).astype(variable.encoding["dtype"])


def without_fill_value(attributes: Mapping[Any, Any]) -> dict[Any, Any]:
    """The attributes that a variable has once it is decoded."""
    return {name: value for name, value in attributes.items() if name != FILL_VALUE}
