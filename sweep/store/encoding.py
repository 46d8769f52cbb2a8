"""What the file of a chunk holds: lz4 with byte shuffle and a crc32c, as zarr's codecs write them.

zarr takes an array through an event loop, other threads and some copies, which together take
longer than the work itself. Here the same libraries do it, and zarr reads what they wrote.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

import google_crc32c
import numcodecs
import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.codecs import BloscCodec, Crc32cCodec

Piece = bytes | memoryview

# Of little consequence: from 1 to 9 a smooth surface takes 2 to 3 ms per 2**19 float64, and
# shrinks by 3 % more.
LEVEL = 5
LZ4 = cast("Any", numcodecs).Blosc(cname="lz4", clevel=LEVEL, shuffle=1)

# What shrinks by less than a tenth in a sample of it is stored as it is: trying costs as long as
# writing it does. The sample is of so many places, and reading those is what it costs.
WORTH_IT = 0.9
PLACES = 4
PLACE_BYTES = 2**12
LEAST_SAMPLED = 2**17  # bytes; less is compressed unseen, as are flags

# A frame of Blosc 1: versions of frame and lz4, flags, size of an item; bytes, a block, the whole.
HEADER = struct.Struct("<4B3I")
VERSIONS = (2, 1)
SHUFFLED_LZ4_STORED = 0b0010_0011
BLOCK = 2**13
GREATEST_FRAME = 2**31 - 1


def codecs(dtype: np.dtype[Any]) -> list[BloscCodec | Crc32cCodec]:
    """zarr's codecs of a results array, with which anybody reads what `encoded` gives."""
    blosc = BloscCodec(cname="lz4", clevel=LEVEL, shuffle="shuffle", typesize=dtype.itemsize)
    return [blosc, Crc32cCodec()]


def is_ours(array: zarr.Array[Any]) -> bool:
    """Whether a chunk of the array has a file of its own, and that is encoded by `codecs`."""
    return array.shards is None and list(array.compressors) == codecs(array.dtype)


def encoded(part: NDArray[Any], shape: tuple[int, ...], missing: float | int) -> Sequence[Piece]:
    """The file of a chunk, in pieces; a part of the shape, at the ragged end, is filled up."""
    if part.shape != shape:
        whole = np.full(shape, missing, part.dtype)
        whole[tuple(map(slice, part.shape))] = part
        part = whole
    values = np.ascontiguousarray(part, part.dtype.newbyteorder("<")).reshape(-1)
    if values.dtype == np.uint8 and values.min() == values.max():
        return _of_one_flag(int(values[0]), values.size)
    return _checked([LZ4.encode(values)] if _shrinks(values) else _stored(values))


@lru_cache(maxsize=16)
def _of_one_flag(flag: int, size: int) -> Sequence[Piece]:
    """As of most chunks the status: to look whether it is so takes a tenth of compressing it."""
    return _checked([LZ4.encode(np.full(size, flag, np.uint8))])


def _checked(frame: Sequence[Any]) -> Sequence[Piece]:
    checksum = 0
    for piece in frame:
        checksum = int(cast("Any", google_crc32c).extend(checksum, piece))
    return [*map(memoryview, frame), checksum.to_bytes(4, "little")]


def _shrinks(values: NDArray[Any]) -> bool:
    if not LEAST_SAMPLED <= values.nbytes <= GREATEST_FRAME - HEADER.size or values.itemsize == 1:
        return True
    each, step = PLACE_BYTES // values.itemsize, values.size // PLACES
    sample = np.concatenate([values[i * step : i * step + each] for i in range(PLACES)])
    return len(LZ4.encode(sample)) < WORTH_IT * sample.nbytes


def _stored(values: NDArray[Any]) -> list[Any]:
    """The frame that Blosc makes at level 0, but that the values are not copied."""
    sizes = (values.nbytes, BLOCK, values.nbytes + HEADER.size)
    header = HEADER.pack(*VERSIONS, SHUFFLED_LZ4_STORED, values.itemsize, *sizes)
    return [header, values.view(np.uint8)]
