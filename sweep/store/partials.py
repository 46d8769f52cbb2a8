"""Files beside the status with what is kept of points: of blocks of cells, and of finished cells.

A block's file is called CELL/FIRST-STOP, after the points of its cells that it has. The nodes of a
finished cell, with which it begins if it is extended, are CELL/NUMBER, of so many steps of its
points.
"""

from __future__ import annotations

import io
import json
import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.statistics.partial import Partial
from sweep.store.store_files import Files

BLOCKS, NODES = "status/blocks", "status/nodes"  # in the array's folder; zarr lists neither
EARLIER = "status/pieces"  # of cells that an earlier version has begun

BEGINNING = b"tribosweep piece 1\n"
START = len(BEGINNING) + 4  # of what the checksum is of


class InMemory(dict[str, bytes]):
    """What is kept beside results in memory: each name is CELL/REST."""

    def names(self, cell: str = "") -> list[str]:
        return [name for name in self if name.startswith(f"{cell}/" if cell else "")]

    def read(self, name: str) -> bytes | None:
        return self.get(name)

    def put(self, name: str, content: bytes) -> None:
        self[name] = content

    def remove(self, name: str) -> None:
        self.pop(name, None)


class InFiles:
    """What is kept beside a store's status, in one folder."""

    def __init__(self, files: Files, folder: str) -> None:
        self._files = files
        self._folder = folder

    def names(self, cell: str = "") -> list[str]:
        """The names of all files, or of those of one cell; not of files that are being written."""
        within = f"{cell}/" if cell else ""
        names = self._files.list(f"{self._folder}/{cell}".rstrip("/"))
        return [within + name for name in names if not name.endswith(".partial")]

    def read(self, name: str) -> bytes | None:
        return self._files.read(f"{self._folder}/{name}")

    def put(self, name: str, content: bytes) -> None:
        self._files.put(f"{self._folder}/{name}", content)

    def remove(self, name: str) -> None:
        self._files.remove(f"{self._folder}/{name}")


Folder = InMemory | InFiles


def to_bytes(partial: Partial) -> bytes:
    """A checksum, a list of the arrays, and their bytes.

    NumPy's npz takes ten times as long, and a run writes and reads these files for every block.
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
        raise ValueError("what is kept of points has another checksum")
    end = content.index(b"\n", START)
    arrays, at = dict[str, NDArray[Any]](), end + 1
    for name, dtype, shape in json.loads(content[START:end]):
        array = np.frombuffer(content, dtype, math.prod(shape), at)
        arrays[name], at = array.reshape(shape).copy(), at + array.nbytes
    return arrays
