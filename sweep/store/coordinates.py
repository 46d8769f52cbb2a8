"""Stored coordinates, read in parts if they are long, and checked for damage."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np
import zarr

from sweep.errors import StoreError
from sweep.store.faults import damaged_coordinate, intact
from sweep.store.place import GROUP, Files
from sweep.work import Values


class Stored:
    """A stored coordinate whose values are read on demand."""

    def __init__(self, array: zarr.Array[Any], name: str) -> None:
        self._array, self._name = array, name

    def __len__(self) -> int:
        return self._array.shape[0]

    def __getitem__(self, part: slice, /) -> Values:
        with intact(self._name, is_coordinate=True):
            values = np.asarray(self._array[part], dtype=np.float64)
        missing = self._array.fill_value  # zarr returns it for a missing file
        if np.isnan(values).any() or (values == missing).any():
            raise damaged_coordinate(self._name, "lacks a file")
        return values


def read_dimensions(group: zarr.Group, recipe: Mapping[str, Any]) -> None:
    """Read the values of all dimensions, as xarray does on opening. StoreError if one is damaged.

    A dimension with several parameters, for example that of a sample, has no values itself.
    """
    for axis in recipe["axes"]:
        name = axis["name"]
        if name in axis["parameters"]:
            Stored(cast("zarr.Array[Any]", group[name]), name)[:]


def damaged_metadata(files: Files, names: Iterable[str]) -> Mapping[str, bytes]:
    """The metadata files of these parameters that are missing or damaged, with what they held.

    The group's metadata repeats it.
    """
    group = json.loads(files.read(GROUP) or b"{}")
    held = group.get("consolidated_metadata", {}).get("metadata", {})
    return {
        key: json.dumps(held[name], indent=2).encode()
        for name in names
        if name in held and _content(files, key := f"{name}/zarr.json") != held[name]
    }


def refuse_damaged_metadata(files: Files, recipe: Mapping[str, Any]) -> None:
    """Raise StoreError if the metadata of a constant parameter is missing or damaged."""
    for key in damaged_metadata(files, recipe["constants"]):
        raise StoreError(
            f"{f'{files}/{key}'!r} is missing or damaged, so the value of this parameter cannot be "
            "read; run its sweep again to rebuild it"
        )


def _content(files: Files, key: str) -> object:
    try:
        return json.loads(files.read(key) or b"")
    except ValueError:
        return None
