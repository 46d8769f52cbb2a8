"""The files of a store's chunks: their names, which exist, and which are damaged."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import zarr
from numpy.typing import NDArray

from sweep.errors import machine_error
from sweep.plan.chunking import chunk_counts, chunks
from sweep.spec import Status
from sweep.store import faults
from sweep.store.store_files import Files, beside
from sweep.work import Chunk

MAX_FOLDERS = 1000  # for the chunks of one array
NOTE = "damaged.json"  # of damaged chunks, next to the store


class ChunkFiles:
    """A file for each chunk and each of these arrays; the status is the last of them."""

    def __init__(self, files: Files, arrays: dict[str, zarr.Array[Any]]) -> None:
        self._files = files
        self._arrays = arrays
        status = arrays["status"]
        self._shape = status.shards or status.chunks
        self.counts = chunk_counts(status.shape, self._shape)  # of chunks along each dimension
        metadata = cast("dict[str, Any]", status.metadata.to_dict())
        self._separator = separator_of(metadata)

    def key(self, name: str, chunk: Chunk) -> str:
        """The key of the file that holds a chunk of an array."""
        return self._key(name, chunk.index)

    def done(self) -> NDArray[np.bool_]:
        """Whether each chunk has a status, in C order. Raises MachineError if the store is gone."""
        listed = self._listed("status")
        if not self._files.exists():  # nothing is listed then
            raise faults.gone(self._files)
        return listed

    def chunks(self, places: NDArray[np.bool_]) -> list[Chunk]:
        """The chunks that are marked, in C order."""
        return list(chunks(self._arrays["status"].shape, self._shape, places.tolist()))

    def torn(self) -> list[Chunk]:
        """The done chunks known to be damaged: those that lack a file, and those noted.

        Reads names, and the content of chunks that may be damaged.
        """
        suspect = named(self._noted(), self.counts, self._separator)
        done = self._listed("status")  # first: a chunk done in the meantime has its other files
        for name in self._arrays.keys() - {"status"}:
            suspect |= ~self._listed(name)
        return [chunk for chunk in self.chunks(done & suspect) if not self.is_whole(chunk)]

    def lost(
        self, name: str, indices: Sequence[NDArray[np.int64]], places: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Which of these places of a grid lie in a chunk of which an array has no file.

        `indices` are those of the grid's points along each dimension of the store.
        """
        along = (index // length for index, length in zip(indices, self._shape, strict=True))
        numbers = np.ravel_multi_index(np.ix_(*along), self.counts)
        suspect = np.unique(numbers[places]).tolist()
        missing = [number for number in suspect if not self._exists(name, number)]
        return places & np.isin(numbers, missing)

    def is_whole(self, chunk: Chunk) -> bool:
        """Whether all files are whole; the status comes first, as it is the one mostly missing."""
        return all(self._is_whole_file(name, chunk) for name in reversed(self._arrays))

    def folders(self, chunk: Chunk) -> list[str]:
        """Folders in the place of files of a chunk."""
        files = (self._path(name, chunk) for name in self._arrays)
        return [file for file in files if Path(file).is_dir()]

    def damaged(self, chunk: Chunk) -> list[str]:
        """The files of a chunk that are damaged, or folders in their place."""
        names = [name for name in self._arrays if not self._is_whole_file(name, chunk)]
        return self.folders(chunk) or [self._path(name, chunk) for name in names]

    def note_damage(self, chunks: Iterable[Chunk]) -> None:
        """Note damaged chunks for the next run, in place of those noted before.

        Reading every checksum takes as long as reading the store, so a run checks only these.
        """
        log = beside(self._files, "log")
        indices = [list(chunk.index) for chunk in chunks]
        if indices or log.exists(NOTE):
            log.put(NOTE, f"{json.dumps(indices)}\n".encode())

    def _noted(self) -> list[str]:
        """The names of the chunks in the note; none if there is no note or it cannot be read."""
        try:
            rows = json.loads(beside(self._files, "log").read(NOTE) or b"[]")
            return [key(row, self._separator) for row in rows]
        except (OSError, ValueError, TypeError, RecursionError):
            return []

    def _listed(self, name: str) -> NDArray[np.bool_]:
        """Whether each chunk of an array has a file, in C order."""
        return named(self._files.list(name), self.counts + self._inner(name), self._separator)

    def _exists(self, name: str, number: int) -> bool:
        """Whether an array has the file of a chunk, given by its number in C order."""
        index = tuple(map(int, np.unravel_index(number, self.counts)))
        return self._files.exists(self._key(name, index))

    def _key(self, name: str, index: tuple[int, ...]) -> str:
        inner = (0,) * len(self._inner(name))
        return f"{name}/{key(index + inner, self._separator)}"

    def _inner(self, name: str) -> tuple[int, ...]:
        """The number of chunks along the dimensions of an array that the grid does not have: 1."""
        return (1,) * (self._arrays[name].ndim - len(self.counts))

    def _path(self, name: str, chunk: Chunk) -> str:
        return f"{self._files}/{self.key(name, chunk)}"

    def _is_whole_file(self, name: str, chunk: Chunk) -> bool:
        if not self._files.exists(self.key(name, chunk)):
            return False  # zarr reads a missing file as the fill value
        try:
            part = np.asarray(self._arrays[name][chunk.slices])
        except (ValueError, RuntimeError, OSError) as error:  # checksum, decompression, disk
            if known_error := machine_error(error):
                raise known_error from error
            return False
        return name != "status" or not np.any(part == Status.pending)


def separator(counts: tuple[int, ...]) -> str:
    """The separator of the indices in a chunk's name: "/" makes folders, if they are few.

    Many chunks of whole rows would have a folder each, and listing them would take ten times as
    long.
    """
    return "/" if math.prod(counts[:-1]) <= MAX_FOLDERS else "."


def key(index: Iterable[int], separator: str) -> str:
    """The name of a chunk's file in zarr's default encoding: c/3/0 or c.3.0."""
    return separator.join(("c", *map(str, index)))


def named(names: Iterable[str], counts: tuple[int, ...], separator: str) -> NDArray[np.bool_]:
    """Whether each chunk, in C order, has its name among these; other names are ignored."""
    every = itertools.product("c", *(map(str, range(count)) for count in counts))
    is_named = map(set(names).__contains__, map(separator.join, every))
    return np.fromiter(is_named, np.bool_, math.prod(counts))


def separator_of(status: Mapping[str, Any]) -> str:
    """The separator of the indices in the names of chunks, from the metadata of the status."""
    return status["chunk_key_encoding"]["configuration"]["separator"]
