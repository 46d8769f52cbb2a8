"""Stored coordinates, read in parts if they are long, and checked for damage."""

from __future__ import annotations

import json
from typing import Any, cast

import numpy as np
import zarr

from sweep.errors import StoreError
from sweep.spec import Values


class Stored:
    """A stored coordinate whose values are read on demand."""

    def __init__(self, array: zarr.Array[Any], name: str) -> None:
        self._array, self._name = array, name

    def __len__(self) -> int:
        return self._array.shape[0]

    def __getitem__(self, part: slice, /) -> Values:
        try:
            values = np.asarray(self._array[part], dtype=np.float64)
        except (ValueError, RuntimeError) as error:  # checksum, decompression
            raise damaged(self._name, f"cannot be read ({error})") from error
        missing = self._array.fill_value  # zarr returns it for a missing file
        if np.isnan(values).any() or (values == missing).any():
            raise damaged(self._name, "lacks a file")
        return values


def read_dimensions(group: zarr.Group) -> None:
    """Read the values of all dimensions, as xarray does on opening. StoreError if one is damaged.

    A dimension with several parameters, for example that of a sample, has no values itself.
    """
    for axis in json.loads(str(group.attrs["recipe"]))["axes"]:
        name = axis["name"]
        if name in axis["parameters"]:
            Stored(cast("zarr.Array[Any]", group[name]), name)[:]


def damaged(name: str, what: str) -> StoreError:
    """The error for a coordinate with a part that is missing or cannot be read."""
    return StoreError(
        f"the coordinate {name} {what}: it is damaged, so some points of the sweep are no longer "
        "known; run the sweep in a new store"
    )
