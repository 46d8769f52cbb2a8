"""The content of a chunk's file: lz4 with byte shuffle and a crc32c, as zarr's codecs write it.

zarr takes an array through an event loop, other threads and several copies, which takes longer than
the work itself. Here the same libraries are called directly, and zarr reads the result.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import google_crc32c
import numcodecs
import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.codecs import BloscCodec, Crc32cCodec
from zarr.storage import MemoryStore

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
