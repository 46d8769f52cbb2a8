"""The zarr group of a store: its sweep, its arrays, and the shape of their files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import zarr

from sweep.plan.recipes import along_axes, fingerprint, from_recipe, model_of, plain
from sweep.request import STRETCH, LongValues, Sweep
from sweep.sampling.drawing import columns_of
from sweep.spec import parameter_tables
from sweep.store.coordinates import Stored
from sweep.store.creation import REDUCED
from sweep.store.faults import refuse_foreign_group

if TYPE_CHECKING:
    from zarr.abc.store import Store as ZarrStore


def open_group(files: ZarrStore) -> zarr.Group:
    """The group of a store. Raises StoreError if another program has made it."""
    # The types of zarr.open_group are incomplete.
    group = zarr.open_group(  # pyright: ignore[reportUnknownMemberType]
        files, mode="r", use_consolidated=False
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


def sweep_of(group: zarr.Group) -> Sweep:
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


def _reduced(group: zarr.Group, recipe: Mapping[str, Any]) -> Mapping[str, LongValues]:
    """The values along reduced axes: kept ones, or those of a sample, which are drawn."""
    columns: dict[str, LongValues] = {}
    for axis in recipe.get("reduce", {}).get("axes", ()):
        places = {name: f"{REDUCED}/{name}" for name in axis["parameters"]}
        if all(place in group for place in places.values()):
            for name, place in places.items():
                columns[name] = Stored(array_of(group, place), name)[:]
        else:
            model = model_of(recipe)
            tables = parameter_tables(model, model.methods)
            whole_numbers = [
                each.name for table in tables for each in table.parameters if each.whole
            ]
            columns |= columns_of(plain(axis["recipe"]), whole_numbers)
    return columns


def _coordinate(group: zarr.Group, name: str) -> LongValues:
    stored = Stored(array_of(group, name), name)
    return stored if len(stored) > STRETCH else stored[:]
