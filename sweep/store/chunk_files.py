"""The files of a store's chunks: which exist, and which are damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from sweep.errors import memory_error
from sweep.plan.chunking import chunks_at
from sweep.spec import Status
from sweep.store import damage, faults
from sweep.store.files import Files
from sweep.store.listing import key, marked, named
from sweep.work import Chunk


class ChunkFiles:
    """A file for each chunk and each of these arrays; the status is the last of them."""

    def __init__(
        self,
        files: Files,
        arrays: dict[str, zarr.Array[Any]],
        separator: str,
        counts: tuple[int, ...],
        shape: tuple[int, ...],
    ) -> None:
        self._files = files
        self._arrays = arrays
        self._separator = separator
        self._counts = counts
        self._shape = shape  # of a whole chunk

    def key(self, name: str, chunk: Chunk) -> str:
        """The key of the file that holds a chunk of an array."""
        inner = (0,) * len(self._inner(name))
        return f"{name}/{key(chunk.index + inner, self._separator)}"

    def done(self) -> NDArray[np.bool_]:
        """Whether each chunk has a status, in C order. Raises MachineError if the store is gone."""
        listed = self._listed("status")
        if not self._files.exists():  # nothing is listed then
            raise faults.gone(self._files)
        return listed

    def indices(self, places: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The indices of the chunks that are marked, in C order, one row each."""
        return np.argwhere(places.reshape(self._counts))

    def chunks(self, places: NDArray[np.bool_]) -> list[Chunk]:
        """The chunks that are marked, in C order."""
        return chunks_at(self.indices(places), self._arrays["status"].shape, self._shape)

    def torn(self) -> list[Chunk]:
        """The done chunks that are damaged, of those that lack a file or are noted."""
        suspect = marked(damage.noted(self._files), self._counts)
        done = self._listed("status")  # first: a chunk done in the meantime has its other files
        for name in self._arrays.keys() - {"status"}:
            suspect |= ~self._listed(name)
        return [chunk for chunk in self.chunks(done & suspect) if not self.is_whole(chunk)]

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

    def _listed(self, name: str) -> NDArray[np.bool_]:
        """Whether each chunk of an array has a file, in C order."""
        return named(self._files.list(name), self._counts + self._inner(name), self._separator)

    def _inner(self, name: str) -> tuple[int, ...]:
        """The number of chunks along the dimensions of an array that the grid does not have: 1."""
        return (1,) * (self._arrays[name].ndim - len(self._counts))

    def _path(self, name: str, chunk: Chunk) -> str:
        return f"{self._files}/{self.key(name, chunk)}"

    def _is_whole_file(self, name: str, chunk: Chunk) -> bool:
        if not self._files.exists(self.key(name, chunk)):
            return False  # zarr reads a missing file as the fill value
        try:
            part = np.asarray(self._arrays[name][chunk.slices])
        except (ValueError, RuntimeError, OSError) as error:  # checksum, decompression, disk
            if found := memory_error(error):
                raise found from error
            return False
        return name != "status" or not np.any(part == Status.pending)
