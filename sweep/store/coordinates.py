"""Coordinates, read by stretches where they are too long to be held, and checked."""

from __future__ import annotations

import json
from typing import Any, cast

import numpy as np
import zarr

from sweep.errors import StoreError
from sweep.spec import Values


class Stored:
    """A coordinate of many values, read by stretches."""

    def __init__(self, array: zarr.Array[Any], name: str) -> None:
        self._array, self._name = array, name

    def __len__(self) -> int:
        return self._array.shape[0]

    def __getitem__(self, part: slice, /) -> Values:
        try:
            values = np.asarray(self._array[part], dtype=np.float64)
        except (ValueError, RuntimeError) as error:  # checksum, decompression
            raise damaged(self._name, f"cannot be read ({error})") from error
        missing = self._array.fill_value
        if np.isnan(values).any() or (values == missing).any():  # as zarr reads a missing file
            raise damaged(self._name, "lacks a file")
        return values


def read_dimensions(group: zarr.Group) -> None:
    """Reads the values of all dimensions, as xarray does in opening; StoreError if one is damaged.

    One with several parameters, as a sample's, has no values of its own.
    """
    for axis in json.loads(str(group.attrs["recipe"]))["axes"]:
        name = axis["name"]
        if name in axis["parameters"]:
            Stored(cast("zarr.Array[Any]", group[name]), name)[:]


def damaged(name: str, what: str) -> StoreError:
    """What to say of a coordinate of which something cannot be read, or is missing."""
    return StoreError(
        f"the coordinate {name} {what}: it is damaged, so that not all points of the sweep are "
        "known any more; run it in a new store"
    )
