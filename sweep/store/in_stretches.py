"""Results of a sweep with a reduction, as a run writes them: stretch by stretch of a cell's points.

What a run computes at once is some cells with all of their points, or a stretch of the points of
one cell. What is kept of a stretch is a piece: a file beside the status of the cells. Two pieces
that are next to each other are merged into one as soon as both are there, so there are never many.
When the points of a cell are complete, its statistics are written and its pieces are removed. A
killed run loses the stretches that were being computed.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from sweep.errors import memory_error
from sweep.plan import chunk_counts
from sweep.spec import Chunk, Status, Sweep
from sweep.statistics.counts import STATUSES
from sweep.statistics.partial import Kept, Partial, from_bytes, to_bytes
from sweep.statistics.reduction import Reduction
from sweep.store.files import Files

FOLDER = "status/pieces"  # of the array's folder, which zarr does not list

Place = tuple[int, int]  # level, index: stretches index·2^level up to (index + 1)·2^level


class Pieces(Protocol):
    """Named contents, each written whole or not at all."""

    def names(self) -> list[str]: ...

    def read(self, name: str) -> bytes | None: ...

    def put(self, name: str, content: bytes) -> None: ...

    def remove(self, name: str) -> None: ...


class InMemory(dict[str, bytes]):
    """Pieces of results in memory."""

    def names(self) -> list[str]:
        return list(self)

    def read(self, name: str) -> bytes | None:
        return self.get(name)

    def put(self, name: str, content: bytes) -> None:
        self[name] = content

    def remove(self, name: str) -> None:
        self.pop(name, None)


class InFiles:
    """Pieces of a store."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def names(self) -> list[str]:
        return self._files.list(FOLDER)

    def read(self, name: str) -> bytes | None:
        return self._files.read(f"{FOLDER}/{name}")

    def put(self, name: str, content: bytes) -> None:
        with self._files.writing():
            self._files.put(f"{FOLDER}/{name}", [content])

    def remove(self, name: str) -> None:
        with self._files.writing():
            self._files.remove(f"{FOLDER}/{name}")


class Cells(Protocol):
    """Results of cells: a store, or memory."""

    @property
    def sweep(self) -> Sweep: ...

    @property
    def chunk_shape(self) -> tuple[int, ...]: ...

    @property
    def stretch(self) -> int:
        """The number of points of a cell that are computed at once."""
        ...

    @property
    def pieces(self) -> Pieces: ...

    @property
    def grid(self) -> tuple[int, ...]: ...

    def pending(self) -> list[Chunk]: ...

    def whole(self, chunks: Iterable[Chunk]) -> list[Chunk]: ...

    def counts(self, chunks: Iterable[Chunk]) -> Mapping[Status, int]: ...

    def write(self, chunk: Chunk, arrays: Mapping[str, NDArray[Any]]) -> None: ...

    def append_receipt(self, receipt: Mapping[str, object]) -> None: ...

    def flush(self) -> None: ...


def in_stretches(results: Any) -> Any:
    """The results as a run writes them: themselves unless their sweep has a reduction."""
    if isinstance(results, InStretches) or results.sweep.reduction is None:
        return results
    return InStretches(results)


class InStretches:
    """Results of cells, written in stretches; their chunks are those of the sweep's grid."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self.sweep = cells.sweep
        self._kept = Kept(cast("Reduction", cells.sweep.reduction))
        self.grid = cells.sweep.grid
        self.chunk_shape = (*cells.chunk_shape, cells.stretch)
        counts = chunk_counts(self.grid, self.chunk_shape)
        self._n, self.n_chunks = counts[-1], math.prod(counts)
        self._merging = threading.Lock()
        self.append_receipt = cells.append_receipt
        self.flush = cells.flush

    @property
    def location(self) -> str:
        """The path or URL of the store, for workers in other processes."""
        return cast("Any", self._cells).location

    def pending(self) -> list[Chunk]:
        """The chunks that are not done."""
        found = {} if self._n == 1 else self._found()
        pending: list[Chunk] = []
        for cell in self._cells.pending():
            left = set(self._left(found.get(_name(cell), [])))
            every = stretches(cell, self.grid, self.chunk_shape)
            pending += [chunk for chunk in every if chunk.index[-1] in left]
        return pending

    def complete(self) -> None:
        """Write the statistics of cells that have all pieces: a kill or another process left it."""
        if self._n == 1:
            return
        found = self._found()
        for cell in self._cells.pending():
            places = found.get(_name(cell), [])
            if not self._left(places):
                self._complete(cell, places)

    def whole(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Those of the chunks that are done and not damaged."""
        chunks = list(chunks)
        cells = {chunk.index[:-1]: self._cell(chunk) for chunk in chunks}
        done = {cell.index for cell in self._cells.whole(cells.values())}
        found = {} if self._n == 1 else self._found()
        return [
            chunk
            for chunk in chunks
            if chunk.index[:-1] in done
            or chunk.index[-1] not in self._left(found.get(_name(self._cell(chunk)), []))
        ]

    def counts(self, chunks: Iterable[Chunk]) -> Mapping[Status, int]:
        """The number of points of the chunks by status, where each has a piece of its own."""
        total = np.zeros(len(STATUSES), np.int64)
        for chunk in chunks:
            piece = self._read(self._cell(chunk), (0, chunk.index[-1]))
            total += 0 if piece is None else Kept.counts(piece)
        return {status: int(n) for status, n in zip(STATUSES, total, strict=True) if n}

    def write(self, chunk: Chunk, arrays: Partial) -> None:
        """Write what is kept of a chunk's points, and the statistics if they are the last."""
        cell = self._cell(chunk)
        if self._n == 1:
            self._cells.write(cell, self._kept.statistics(arrays))
            return
        with self._merging:
            self._put(cell, (0, chunk.index[-1]), arrays)

    def _put(self, cell: Chunk, place: Place, piece: Partial) -> None:
        """Put a piece; while the one beside it is there too, merge the two.

        It is put before the other is looked for: of two processes, one sees both.
        """
        below: list[Place] = []
        while True:
            level, index = place
            if 1 << level >= self._n:
                self._cells.write(cell, self._kept.statistics(piece))
                self._remove(cell)
                return
            self._cells.pieces.put(_name(cell, place), to_bytes(piece))
            for each in below:
                self._cells.pieces.remove(_name(cell, each))
            beside = (level, index ^ 1)
            below = [place]
            if beside[1] << level < self._n:
                other = self._read(cell, beside)
                if other is None:
                    return
                piece = self._kept.merged(piece, other)
                below = [place, beside]
            place = (level + 1, index >> 1)

    def _complete(self, cell: Chunk, found: list[Place]) -> None:
        """Write the statistics of a cell of which every stretch is in a piece."""
        whole: Partial | None = None
        for place in _apart(found):
            piece = self._read(cell, place)
            if piece is None:  # damaged, and removed
                return
            whole = piece if whole is None else self._kept.merged(whole, piece)
        self._cells.write(cell, self._kept.statistics(cast("Partial", whole)))
        self._remove(cell)

    def _read(self, cell: Chunk, place: Place) -> Partial | None:
        """A piece; None if it is not there, or is damaged: then it is removed."""
        content = self._cells.pieces.read(_name(cell, place))
        try:
            return None if content is None else from_bytes(content)
        except Exception as error:  # whatever zipfile and NumPy make of it
            if found := memory_error(error):
                raise found from error
            self._cells.pieces.remove(_name(cell, place))
            return None

    def _remove(self, cell: Chunk) -> None:
        for place in self._found().get(_name(cell), []):
            self._cells.pieces.remove(_name(cell, place))

    def _found(self) -> dict[str, list[Place]]:
        """The places of the pieces of each cell."""
        found: dict[str, list[Place]] = {}
        for name in self._cells.pieces.names():
            cell, _, place = name.partition("/")
            level, _, index = place.partition(".")
            if level.isdigit() and index.isdigit():
                found.setdefault(cell, []).append((int(level), int(index)))
        return found

    def _left(self, found: Iterable[Place]) -> list[int]:
        """The stretches that are in no piece."""
        missing = np.ones(self._n, np.bool_)
        for level, index in found:
            missing[index << level : (index + 1) << level] = False
        return np.flatnonzero(missing).tolist()

    def _cell(self, chunk: Chunk) -> Chunk:
        return Chunk(chunk.index[:-1], chunk.start[:-1], chunk.shape[:-1])


def stretches(cell: Chunk, grid: tuple[int, ...], shape: tuple[int, ...]) -> list[Chunk]:
    """The chunks of a grid, of that shape, that a chunk of cells has; itself without stretches."""
    if len(grid) == len(cell.index):
        return [cell]
    step, size = shape[-1], grid[-1]
    return [
        Chunk((*cell.index, i), (*cell.start, start), (*cell.shape, min(step, size - start)))
        for i, start in enumerate(range(0, size, step))
    ]


def remove_pieces_of_done(results: Cells, done: Iterable[Chunk]) -> None:
    """Remove what two processes that completed a cell at once have left."""
    names = {_name(cell) for cell in done}
    for name in results.pieces.names():
        if name.partition("/")[0] in names:
            results.pieces.remove(name)


def _name(cell: Chunk, place: Place | None = None) -> str:
    name = ".".join(("c", *map(str, cell.index)))
    return name if place is None else f"{name}/{place[0]}.{place[1]}"


def _apart(found: Iterable[Place]) -> Iterator[Place]:
    """Pieces that share no stretch: of a merged piece and its parts, the merged one."""
    taken: set[Place] = set()
    for level, index in sorted(found, reverse=True):
        above = {(level + up, index >> up) for up in range(1, 64)}
        if not above & taken:
            taken.add((level, index))
            yield level, index
