"""What is kept of a stretch of points as the content of a file."""

from __future__ import annotations

import io
import json
import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.statistics.partial import Partial

BEGINNING = b"tribosweep piece 1\n"
START = len(BEGINNING) + 4  # of what the checksum is of


def to_bytes(partial: Partial) -> bytes:
    """A checksum, a list of the arrays, and their bytes.

    NumPy's npz takes ten times as long, and a run writes and reads pieces for every stretch.
    """
    arrays = [[name, array.dtype.str, array.shape] for name, array in partial.items()]
    listed = json.dumps(arrays).encode()
    content = b"".join([listed, b"\n", *(array.tobytes() for array in partial.values())])
    return BEGINNING + zlib.crc32(content).to_bytes(START - len(BEGINNING), "little") + content


def from_bytes(content: bytes) -> Partial:
    """The inverse of `to_bytes`; earlier versions wrote npz. Raises if the content is damaged."""
    if not content.startswith(BEGINNING):
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            return dict(stored)
    checksum = int.from_bytes(content[len(BEGINNING) : START], "little")
    if zlib.crc32(memoryview(content)[START:]) != checksum:
        raise ValueError("a piece has another checksum")
    end = content.index(b"\n", START)
    arrays, at = dict[str, NDArray[Any]](), end + 1
    for name, dtype, shape in json.loads(content[START:end]):
        array = np.frombuffer(content, dtype, math.prod(shape), at)
        arrays[name], at = array.reshape(shape).copy(), at + array.nbytes
    return arrays
