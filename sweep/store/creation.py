"""Creation of a store with all of its arrays, empty at first, and the content of its chunks.

A chunk's file is lz4 with byte shuffle and a crc32c, as zarr's codecs write it. zarr takes an array
through an event loop, other threads and several copies, which takes longer than the work itself.
Here the same libraries are called directly, and zarr reads the result.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import google_crc32c
import numcodecs
import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.codecs import BloscCodec, Crc32cCodec
from zarr.storage import MemoryStore

from sweep.points.chunking import chunk_counts
from sweep.request.chunk import Values
from sweep.request.sweeps import VALUES_IN_MEMORY, AnySweep, Reduced
from sweep.store import layout
from sweep.store.group import separator_for

MAX_PART_POINTS = 2**20  # of a file; a part is what is read at once
MIN_PART_POINTS = 2**16

MAX_COORDINATE_PARTS = 2**10  # of a file: each part takes zarr a third of a millisecond
# The level hardly matters: from 1 to 9, 2**19 float64 of a smooth surface take 2 to 3 ms, and
# shrink by 3 % more.
LEVEL = 5
LZ4 = cast("Any", numcodecs).Blosc(cname="lz4", clevel=LEVEL, shuffle=1)
UNCOMPRESSED = cast("Any", numcodecs).Blosc(cname="lz4", clevel=0, shuffle=1)
# Values whose sample shrinks by less than a tenth are stored uncompressed: compressing them takes
# as long as writing them. The sample consists of a few short pieces from all over the values.
MAX_COMPRESSED_SHARE = 0.9
SAMPLE_PIECES = 4
SAMPLE_PIECE_BYTES = 2**12
MIN_SAMPLED_BYTES = 2**17  # less is always compressed, as are flags


def build(
    folder: Path,
    sweep: AnySweep,
    chunks: tuple[int, ...],
    provenance: Mapping[str, object],
    separator: str | None = None,
) -> None:
    """Build a new store in a folder that nobody else uses; see group.py for the separator."""
    if separator is None:
        separator = separator_for(chunk_counts(sweep.grid.shape, chunks))
    attributes = layout.attributes(sweep, provenance)
    # The types of zarr.create_group are not complete.
    group = zarr.create_group(  # pyright: ignore[reportUnknownMemberType]
        folder, zarr_format=3, attributes=attributes
    )
    parts = parts_of_file(chunks)
    for variable in layout.results(sweep):
        shape, file, part = (
            each + variable.inner_shape for each in (sweep.grid.shape, chunks, parts)
        )
        _make_array(group, variable, shape, file, part, separator)
    steps = dict(zip(sweep.grid.dimensions, parts, strict=True))
    coordinates = layout.coordinates(sweep)
    made = {
        variable.name: (_make_coordinate(group, variable, values, steps), values)
        for variable, values in coordinates
    }
    for axis in sweep.grid.axes:
        along = [each.name for each, _ in coordinates if each.dimensions == (axis.name,)]
        _fill(
            {name: made.pop(name) for name in along}, axis.size, _values_of_file(steps[axis.name])
        )
    for array, value in made.values():
        array[...] = cast("Values", value)
    if isinstance(sweep, Reduced):
        _keep_reduced(group, sweep)
    _consolidate(folder)


def coordinate_files(variable: layout.Variable, value: Values) -> dict[str, bytes]:
    """The files of a coordinate with one value, by key."""
    made: dict[str, Any] = {}
    group = zarr.create_group(MemoryStore(made))  # pyright: ignore[reportUnknownMemberType]
    _make_coordinate(group, variable, value, {})[...] = value
    folder = f"{variable.name}/"
    return {key: content.to_bytes() for key, content in made.items() if key.startswith(folder)}


def parts_of_file(chunk: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the parts, in zarr's words the chunks of a shard, of a chunk's file.

    A file is divided if it is too large to be read at once, which happens where smaller files would
    be more than 10**5. A chunk that cannot be divided evenly into parts of a fair size stays whole.
    """
    parts = list(chunk)
    for dimension, size in enumerate(chunk):
        others = math.prod(parts) // size
        if others * size <= MAX_PART_POINTS:
            break
        sizes = (n for n in range(size, 0, -1) if size % n == 0)
        parts[dimension] = next(n for n in sizes if others * n <= MAX_PART_POINTS or n == 1)
    return tuple(parts) if MIN_PART_POINTS <= math.prod(parts) <= MAX_PART_POINTS else chunk


def _make_coordinate(
    group: zarr.Group, variable: layout.Variable, values: Any, steps: Mapping[str, int]
) -> zarr.Array[Any]:
    """Make a coordinate whose files are divided as those of the results along its dimension are.

    xarray wants one chunking for all variables. The coordinate of a dimension itself is read whole
    and not divided, nor is one whose parts would be very short.
    """
    if not variable.dimensions:
        return _make_array(group, variable, (), (), ())
    size = len(values)
    (step,) = (steps.get(name, size) for name in variable.dimensions)
    file = min(size, _values_of_file(step))
    if variable.name in variable.dimensions or file <= step or file > MAX_COORDINATE_PARTS * step:
        return _make_array(group, variable, (size,), (file,), (file,))
    return _make_array(group, variable, (size,), (-(-file // step) * step,), (step,))


def _keep_reduced(group: zarr.Group, sweep: Reduced) -> None:
    """Keep the values of reduced axes in a group of their own; samples are drawn again."""
    inner = group.create_group(layout.REDUCED)
    for axis in sweep.over:
        if "method" in axis.recipe:
            continue
        for name, values in axis.columns.items():
            variable = layout.Variable(name, (axis.name,), np.dtype(np.float64), np.nan, {})
            file = (min(axis.size, VALUES_IN_MEMORY),)
            array = _make_array(inner, variable, (axis.size,), file, file)
            array[...] = cast("Values", values)


def _values_of_file(step: int) -> int:
    """The most values in a file of a coordinate: as many whole steps as memory holds."""
    return max(VALUES_IN_MEMORY // step * step, min(step, VALUES_IN_MEMORY))


def _fill(columns: Mapping[str, tuple[zarr.Array[Any], Any]], size: int, at_once: int) -> None:
    """Write the coordinates along an axis, file by file in turn, as they are drawn together."""
    for start in range(0, size, at_once):
        for array, values in columns.values():
            array[start : start + at_once] = values[start : min(start + at_once, size)]


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
        dtype=str if variable.dtype.kind == "T" else variable.dtype,
        chunk_key_encoding={"name": "default", "separator": separator},
        compressors="auto" if variable.dtype.kind == "T" else codecs(variable.dtype),
        fill_value=variable.missing,
        dimension_names=variable.dimensions,
        attributes=dict(variable.attributes),
        config={"write_empty_chunks": True},
    )


def _consolidate(path: Path) -> None:
    """Repeat the arrays' metadata in the group's, as zarr.consolidate_metadata does.

    Without it plain xarray.open_zarr warns. It stays valid, because arrays do not change later. It
    is sorted by name, where zarr takes the order of the folder.
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


@cache
def codecs(dtype: np.dtype[Any]) -> tuple[BloscCodec | Crc32cCodec, ...]:
    """The zarr codecs of an array of results, which decode what `encoded` returns."""
    blosc = BloscCodec(cname="lz4", clevel=LEVEL, shuffle="shuffle", typesize=dtype.itemsize)
    return blosc, Crc32cCodec()


def encoded_for(array: zarr.Array[Any], part: NDArray[Any]) -> tuple[bytes, ...]:
    """The content of the file that holds a chunk of the array; joining it would take a copy."""
    if array.shards is None and array.compressors == codecs(array.dtype):
        return encoded(part, array.chunks, array.fill_value)
    return (_encoded_by_zarr(array, part),)


def _encoded_by_zarr(array: zarr.Array[Any], part: NDArray[Any]) -> bytes:
    """The same by zarr itself: of shards, and of codecs that other programs have chosen."""
    files: dict[str, Any] = {}
    alone = zarr.create_array(  # pyright: ignore[reportUnknownMemberType]
        MemoryStore(files),
        shape=part.shape,
        chunks=array.chunks,
        shards=array.shards,
        dtype=array.dtype,
        filters=array.filters,
        compressors=array.compressors,
        serializer=array.serializer or "auto",
        fill_value=array.fill_value,
        config={"write_empty_chunks": True},
    )
    alone[...] = part
    (content,) = (content for key, content in files.items() if not key.endswith("zarr.json"))
    return content.to_bytes()


def encoded(part: NDArray[Any], shape: tuple[int, ...], missing: float | int) -> tuple[bytes, ...]:
    """Frame and checksum; at the ragged end, the part is filled up to the shape."""
    if part.shape != shape:
        full_chunk = np.full(shape, missing, part.dtype)
        full_chunk[tuple(map(slice, part.shape))] = part
        part = full_chunk
    values = np.ascontiguousarray(part, part.dtype.newbyteorder("<")).reshape(-1)
    frame: bytes = (LZ4 if _shrinks(values) else UNCOMPRESSED).encode(values)
    checksum = int(cast("Any", google_crc32c).value(frame))
    return frame, checksum.to_bytes(4, "little")


def _shrinks(values: NDArray[Any]) -> bool:
    if values.nbytes < MIN_SAMPLED_BYTES or values.itemsize == 1:
        return True
    size, step = SAMPLE_PIECE_BYTES // values.itemsize, values.size // SAMPLE_PIECES
    sample = np.concatenate([values[i * step : i * step + size] for i in range(SAMPLE_PIECES)])
    return len(LZ4.encode(sample)) < MAX_COMPRESSED_SHARE * sample.nbytes
