"""Coordinates that are too long to be held: read by stretches."""

from __future__ import annotations

from typing import Any

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
            raise self._damaged(f"cannot be read ({error})") from error
        missing = self._array.fill_value
        if np.isnan(values).any() or (values == missing).any():  # as zarr reads a missing file
            raise self._damaged("lacks a file")
        return values

    def _damaged(self, what: str) -> StoreError:
        return StoreError(
            f"the coordinate {self._name} {what}: it is damaged, so that not all points of the "
            "sweep are known any more; run it in a new store"
        )
