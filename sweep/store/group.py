"""What the group of a store tells: its sweep, its arrays, and how those are cut into files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import zarr

from sweep.plan import along_axes, fingerprint, from_recipe
from sweep.spec import STRETCH, LongValues, Sweep
from sweep.store.coordinates import Stored
from sweep.store.faults import refuse_what_is_not_ours

if TYPE_CHECKING:
    from zarr.abc.store import Store as Files


def open_group(files: Files) -> zarr.Group:
    """The group of a store; StoreError if it is another's."""
    # The types of zarr.open_group are not complete.
    group = zarr.open_group(  # pyright: ignore[reportUnknownMemberType]
        files, mode="r+", use_consolidated=False
    )
    refuse_what_is_not_ours(group.attrs)
    return group


def array_of(group: zarr.Group, name: str) -> zarr.Array[Any]:
    """One of its arrays, by name."""
    array = group[name]
    if not isinstance(array, zarr.Array):
        raise TypeError(f"{name} is no array")
    # Not stored with an array, so set on every opening: a done chunk has all of its files.
    return array.with_config({"write_empty_chunks": True})


def file_shape(array: zarr.Array[Any]) -> tuple[int, ...]:
    """Of what one file holds."""
    return array.shards or array.chunks


def sweep_of(group: zarr.Group) -> Sweep:
    """The sweep that it was made for; ValueError if that is not what it says."""
    made_from = json.loads(str(group.attrs["recipe"]))
    if fingerprint(made_from) != group.attrs["fingerprint"]:
        raise ValueError("its recipe does not match its fingerprint")
    return from_recipe(
        made_from, {name: _coordinate(group, name) for name in along_axes(made_from)}
    )


def _coordinate(group: zarr.Group, name: str) -> LongValues:
    stored = Stored(array_of(group, name), name)
    return stored if len(stored) > STRETCH else stored[:]


def integer(value: object) -> int:
    """An attribute that has to be one."""
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no integer")
    return value
