"""Making a store: all of its arrays up front, beside its place, then moved there at once."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import zarr

from sweep.plan import chunk_counts
from sweep.spec import STRETCH, Sweep, Values
from sweep.store import layout, listing, scratch
from sweep.store.durable import sync_folder, sync_tree
from sweep.store.encoding import codecs

GREATEST_PART = 2**20  # points of a file that are read at once
LEAST_PART = 2**16
MOST_PARTS = 2**10  # of a coordinate's file: each takes zarr a third of a millisecond


def make(
    path: Path,
    sweep: Sweep,
    chunks: tuple[int, ...],
    provenance: Mapping[str, object],
    *,
    durable: bool = False,
) -> None:
    """Builds the store beside its place and moves it there, unless another has been quicker."""
    path.parent.mkdir(parents=True, exist_ok=True)
    begun = scratch.beside(path)
    try:
        build(begun, sweep, chunks, provenance)
        if durable:
            sync_tree(begun)
        begun.rename(path)
        if durable:
            sync_folder(path.parent)
    except OSError:
        if not path.exists():  # else another has been quicker
            raise
    finally:
        scratch.discard(begun)


def build(
    folder: Path,
    sweep: Sweep,
    chunks: tuple[int, ...],
    provenance: Mapping[str, object],
    separator: str | None = None,
) -> None:
    """All of a new store, in a folder that nobody else sees; see listing.py for the separator."""
    if separator is None:
        separator = listing.separator(chunk_counts(sweep.shape, chunks))
    attributes = layout.attributes(sweep, provenance)
    # The types of zarr.create_group are not complete.
    group = zarr.create_group(  # pyright: ignore[reportUnknownMemberType]
        folder, zarr_format=3, attributes=attributes
    )
    parts = parts_of_file(chunks)
    for variable in layout.results(sweep):
        _make_array(group, variable, sweep.shape, chunks, parts, separator)
    steps = dict(zip(sweep.dimensions, parts, strict=True))
    made = {
        variable.name: (_make_coordinate(group, variable, values, steps), values)
        for variable, values in layout.coordinates(sweep)
    }
    for axis in sweep.axes:
        _fill(
            {name: made.pop(name) for name in axis.columns}, axis.size, _stretch(steps[axis.name])
        )
    for array, value in made.values():
        array[...] = cast("Values", value)
    _consolidate(folder)


def parts_of_file(chunk: tuple[int, ...]) -> tuple[int, ...]:
    """What a chunk's file is divided into, as zarr's shards are, for readers of a part of it.

    Files are larger than they read at ease only where there would be more than 10**5 of them. A
    chunk that has no even parts of a fair size stays whole.
    """
    parts = list(chunk)
    for dimension, size in enumerate(chunk):
        others = math.prod(parts) // size
        if others * size <= GREATEST_PART:
            break
        parts[dimension] = max(
            n
            for n in range(1, size + 1)
            if size % n == 0 and (others * n <= GREATEST_PART or n == 1)
        )
    return tuple(parts) if LEAST_PART <= math.prod(parts) <= GREATEST_PART else chunk


def _make_coordinate(
    group: zarr.Group, variable: layout.Variable, values: Any, steps: Mapping[str, int]
) -> zarr.Array[Any]:
    """In files of a stretch, divided as results are read: xarray wants one chunking of them all.

    A dimension's own is read whole, and has no need of that. Nor have results in very short chunks.
    """
    if not variable.dimensions:
        return _make_array(group, variable, (), (), ())
    (step,) = (steps[name] for name in variable.dimensions)
    size = len(values)
    file = min(size, _stretch(step))
    if variable.name in variable.dimensions or file <= step or file > MOST_PARTS * step:
        return _make_array(group, variable, (size,), (file,), (file,))
    return _make_array(group, variable, (size,), (-(-file // step) * step,), (step,))


def _stretch(step: int) -> int:
    """How many values a file of a coordinate has at most: as many whole steps as there may be."""
    return max(STRETCH // step * step, min(step, STRETCH))


def _fill(columns: Mapping[str, tuple[zarr.Array[Any], Any]], size: int, stretch: int) -> None:
    """The coordinates along an axis, a file of each in turn, since they are drawn together."""
    for start in range(0, size, stretch):
        for array, values in columns.values():
            array[start : start + stretch] = values[start : min(start + stretch, size)]


def _make_array(
    group: zarr.Group,
    variable: layout.Variable,
    shape: tuple[int, ...],
    chunks: tuple[int, ...],
    parts: tuple[int, ...],
    separator: str = "/",
) -> zarr.Array[Any]:
    return group.create_array(
        variable.name,
        shape=shape,
        chunks=parts,
        shards=None if parts == chunks else chunks,
        dtype=variable.dtype,
        chunk_key_encoding={"name": "default", "separator": separator},
        compressors=codecs(variable.dtype),
        fill_value=variable.missing,
        dimension_names=variable.dimensions,
        attributes=dict(variable.attributes),
        config={"write_empty_chunks": True},
    )


def _consolidate(path: Path) -> None:
    """Repeats the arrays' zarr.json in the group's, as zarr.consolidate_metadata does.

    Only for readers: without it plain xarray.open_zarr warns. It never grows stale, since no array
    is made or changed later. Sorted by name, where zarr takes the order of the folder.
    """
    root = path / "zarr.json"
    metadata = {
        file.parent.name: json.loads(file.read_text(encoding="utf-8"))
        for file in sorted(path.glob("*/zarr.json"))
    }
    document = json.loads(root.read_text(encoding="utf-8"))
    inline = {"kind": "inline", "must_understand": False, "metadata": metadata}
    text = json.dumps({**document, "consolidated_metadata": inline}, indent=2)
    root.write_text(text, encoding="utf-8")
