"""The zarr group of a store: its sweep, its arrays and coordinates, checked for damage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr
from zarr.storage import FsspecStore, LocalStore, WrapperStore

from sweep.plan.recipes import along_axes, fingerprint, from_recipe, model_of, plain
from sweep.request import STRETCH, AnySweep, LongValues
from sweep.spec import every_parameter
from sweep.store.creation import REDUCED
from sweep.store.faults import (
    damaged_coordinate,
    gone,
    intact,
    reading,
    refuse_device,
    refuse_foreign_group,
    writing,
)
from sweep.store.place import GROUP, is_url
from sweep.store.store_files import Files
from sweep.work import Values

if TYPE_CHECKING:
    from zarr.abc.buffer import Buffer, BufferPrototype
    from zarr.abc.store import ByteRequest
    from zarr.abc.store import Store as ZarrStore


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


class _Readable(WrapperStore[LocalStore]):
    """A folder as zarr reads it, except that files that may not be read are named."""

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        file = self._store.root / key
        with suppress(FileNotFoundError, NotADirectoryError), reading(file):
            refuse_device(file)
            return await self._store.get(key, prototype, byte_range)
        return None


def as_zarr(files: Files) -> ZarrStore:
    """The same files for zarr, which only reads them."""
    if is_url(location := str(files)):
        return FsspecStore.from_url(location, read_only=True)
    return _Readable(LocalStore(location, read_only=True))


def open_group(files: Files) -> zarr.Group:
    """The group of a store. Raises StoreError if another program has made it."""
    # The types of zarr.open_group are incomplete.
    group = zarr.open_group(  # pyright: ignore[reportUnknownMemberType]
        as_zarr(files), mode="r", use_consolidated=False
    )
    refuse_foreign_group(group.attrs)
    return group


def array_of(group: zarr.Group, name: str) -> zarr.Array[Any]:
    """One of its arrays."""
    array = group[name]
    if not isinstance(array, zarr.Array):
        raise TypeError(f"{name} is not an array")
    return array


def file_shape(array: zarr.Array[Any]) -> tuple[int, ...]:
    """The shape of the part of an array that one file holds."""
    return array.shards or array.chunks


def sweep_of(group: zarr.Group) -> AnySweep:
    """The sweep that the store was made for."""
    made_from = recipe_of(group)
    columns = {name: _coordinate(group, name) for name in along_axes(made_from)}
    return from_recipe(made_from, {**columns, **_reduced(group, made_from)})


def recipe_of(group: zarr.Group) -> Mapping[str, Any]:
    """The recipe of the store's sweep. Raises ValueError if it was changed."""
    made_from = json.loads(str(group.attrs["recipe"]))
    if fingerprint(made_from) != group.attrs["fingerprint"]:
        raise ValueError("its recipe does not match its fingerprint")
    return made_from


def read_dimensions(group: zarr.Group, recipe: Mapping[str, Any]) -> None:
    """Read the values of all dimensions, as xarray does on opening. StoreError if one is damaged.

    A dimension with several parameters, for example that of a sample, has no values itself.
    """
    for axis in recipe["axes"]:
        name = axis["name"]
        if name in axis["parameters"]:
            Stored(array_of(group, name), name)[:]


def refuse_damaged_constants(files: Files, group: zarr.Group) -> None:
    """Raise StoreError if the metadata of a parameter with one value is missing or damaged.

    xarray would leave the parameter out. The group's metadata tells which have one value.
    """
    document = json.loads(files.read(GROUP) or b"{}")
    metadata = document.get("consolidated_metadata", {}).get("metadata", {})
    for name in str(array_of(group, "status").attrs.get("coordinates", "")).split():
        if name in metadata and not metadata[name]["shape"]:
            with intact(name, is_coordinate=True, is_single=True):
                array_of(group, name)


def _reduced(group: zarr.Group, recipe: Mapping[str, Any]) -> Mapping[str, LongValues]:
    """The values along reduced axes: kept ones, or those of a sample, which are drawn."""
    columns: dict[str, LongValues] = {}
    for axis in recipe.get("reduce", {}).get("axes", ()):
        places = {name: f"{REDUCED}/{name}" for name in axis["parameters"]}
        if all(place in group for place in places.values()):
            for name, place in places.items():
                columns[name] = Stored(array_of(group, place), name)[:]
        else:
            from sweep.sampling.drawing import columns_of

            whole_numbers = [p.name for p in every_parameter(model_of(recipe)) if p.whole]
            columns |= columns_of(plain(axis["recipe"]), whole_numbers)
    return columns


def _coordinate(group: zarr.Group, name: str) -> LongValues:
    stored = Stored(array_of(group, name), name)
    return stored if len(stored) > STRETCH else stored[:]


def note(files: Files, attributes: dict[str, Any], name: str, value: object) -> None:
    """Keep an attribute of the group, on which no result depends; None removes it.

    MachineError if the store cannot be written.
    """
    if attributes.get(name) == value:
        return
    with writing(files):
        if (content := files.read(GROUP)) is None:
            raise gone(files)
        group = json.loads(content)
        for each in (attributes, group["attributes"]):
            if value is None:
                each.pop(name, None)
            else:
                each[name] = value
        files.put(GROUP, json.dumps(group, indent=2).encode())
