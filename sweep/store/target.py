"""What a run computes into: the results of a sweep, as far as the engine knows them.

Beside results of cells there are files with what is kept of points. That of a block is called
CELL/FIRST-STOP, after the points of its cells that it has. The nodes of a finished cell, with which
it begins if it is extended, are CELL/NUMBER, of so many steps of its points.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from sweep.model.table import Status
from sweep.points.chunking import chunk_counts, of_shard
from sweep.request.chunk import Chunk
from sweep.request.sweeps import AnySweep
from sweep.statistics.partial import Kept
from sweep.store.store_files import Files

# In the array's folder; zarr lists none of them. Earlier versions divided cells into pieces.
BLOCKS, NODES, EARLIER = "status/blocks", "status/nodes", "status/pieces"

Parts = Mapping[str, NDArray[Any]]  # of a chunk: its outputs and status, or what is kept of these


class Target(ABC):
    """Results that are written chunk by chunk: a `Store`, `Arrays`, or `Blocks` of either."""

    sweep: AnySweep
    chunk_shape: tuple[int, ...]  # of its chunks, which may be shorter at the ends of axes
    location: str = ""  # where other processes can open the store; "": nowhere
    kept: Kept | None = None  # what is made of points, if it is written in their place

    @abstractmethod
    def pending(self) -> list[Chunk]:
        """The chunks that are not done, in C order."""

    @abstractmethod
    def write(self, chunk: Chunk, arrays: Parts) -> None:
        """Write what was computed of a chunk, which is done then."""

    @abstractmethod
    def whole(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Those of the chunks that are done and not damaged."""

    @abstractmethod
    def counts(self, chunks: Iterable[Chunk]) -> Mapping[Status, int]:
        """The number of points of the chunks by status."""

    def computed(self, chunk: Chunk, compute: Callable[[Chunk], Parts]) -> Parts:
        """What is written of a chunk, whose points are computed at once or in parts."""
        return compute(chunk)

    def computed_together(
        self,
        block: Chunk,
        chunks: Sequence[Chunk],
        compute: Callable[[Chunk, Sequence[int]], Parts],
    ) -> Iterator[Parts]:
        """What is written of each of the chunks that form a block, computed by one call."""
        whole = compute(block, ())
        for chunk in chunks:
            first = [a - b for a, b in zip(chunk.start, block.start, strict=True)]
            here = tuple(slice(a, a + n) for a, n in zip(first, chunk.shape, strict=True))
            yield {n: values.reshape(block.shape)[here].ravel() for n, values in whole.items()}

    def own(self, some: Iterable[Chunk], shard: tuple[int, int] | None) -> list[Chunk]:
        """Those of some of its chunks that belong to shard i of n; without a shard, all."""
        shape = self.sweep.computed_shape[: len(self.chunk_shape)]  # a store has cells, not points
        return of_shard(some, chunk_counts(shape, self.chunk_shape), shard)

    def finish(self, last: Chunk | None = None) -> list[Chunk]:
        """Do what is left once chunks are done; those that are found damaged, and are pending.

        With the chunk that was written `last`, what can be left because of it.
        """
        del last
        return []

    def append_receipt(self, receipt: Mapping[str, object]) -> None:  # noqa: B027 (it may do nothing)
        """Add a line to the receipts, if these results have any."""

    def flush(self) -> None:  # noqa: B027
        """Write the receipts that are held back."""


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
