"""Results of a sweep with a reduction, as a run writes them: stretch by stretch of a cell's points.

What a run computes at once is some cells with all of their points, or a stretch of the points of
one cell. What is kept of a stretch is a piece: a file beside the status of the cells. Two pieces
that are next to each other are merged into one as soon as both are there, so there are never many:
a piece covers stretches index·2^level up to (index + 1)·2^level, or it is that of a short stretch
at the end. When the points of a cell are complete, its statistics are written and its pieces are
removed. A killed run loses the stretches that were being computed.

If it is small, what is kept of all stretches but the short one stays as the nodes of the cell, with
which the cell begins when the sample is extended.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from sweep.errors import memory_error
from sweep.plan.chunking import chunk_counts
from sweep.request import Sweep
from sweep.spec import Status
from sweep.statistics.counts import STATUSES
from sweep.statistics.partial import Kept, Partial, from_bytes, to_bytes
from sweep.statistics.reduction import Reduction
from sweep.store.files import Files
from sweep.work import Chunk

PIECES, NODES = "status/pieces", "status/nodes"  # in the array's folder; zarr lists neither
END = "end"  # of a short stretch at the end; its name has the number of points of the cell
MAX_NODE_BYTES = 2**18  # of a chunk's cells, or as many as these have points

Place = tuple[int, int]  # level, index
Found = Mapping[str, Sequence[Place]]  # by cell


class Pieces(Protocol):
    """Named contents, each written whole or not at all: CELL/PIECE."""

    def names(self, cell: str = "") -> list[str]:
        """The names of all pieces, or of those of one cell."""
        ...

    def read(self, name: str) -> bytes | None: ...

    def put(self, name: str, content: bytes) -> None: ...

    def remove(self, name: str) -> None: ...


class InMemory(dict[str, bytes]):
    """Pieces of results in memory."""

    def names(self, cell: str = "") -> list[str]:
        return [name for name in self if name.startswith(f"{cell}/" if cell else "")]

    def read(self, name: str) -> bytes | None:
        return self.get(name)

    def put(self, name: str, content: bytes) -> None:
        self[name] = content

    def remove(self, name: str) -> None:
        self.pop(name, None)


class InFiles:
    """Pieces of a store, in one of its folders."""

    def __init__(self, files: Files, folder: str) -> None:
        self._files = files
        self._folder = folder

    def names(self, cell: str = "") -> list[str]:
        within = f"{cell}/" if cell else ""
        return [within + name for name in self._files.list(f"{self._folder}/{cell}".rstrip("/"))]

    def read(self, name: str) -> bytes | None:
        return self._files.read(f"{self._folder}/{name}")

    def put(self, name: str, content: bytes) -> None:
        with self._files.writing():
            self._files.put(f"{self._folder}/{name}", [content])

    def remove(self, name: str) -> None:
        with self._files.writing():
            self._files.remove(f"{self._folder}/{name}")


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
    def nodes(self) -> Pieces | None:
        """Where nodes of complete cells stay; None if these results are never extended."""
        ...

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
        self._step = cells.stretch
        self._full = self.grid[-1] // self._step  # stretches that are not short
        self._merging = threading.Lock()
        self.append_receipt = cells.append_receipt
        self.flush = cells.flush

    @property
    def location(self) -> str:
        """The path or URL of the store, for workers in other processes."""
        return cast("Any", self._cells).location

    def pending(self) -> list[Chunk]:
        """The chunks that are not done."""
        found, nodes = self._listed()
        pending: list[Chunk] = []
        for cell in self._cells.pending():
            left = self._left(cell, found, nodes)
            every = stretches(cell, self.grid, self.chunk_shape)
            pending += [chunk for chunk in every if chunk.index[-1] in left]
        return pending

    def complete(self) -> None:
        """Write the statistics of cells that have all pieces: a kill or another process left it."""
        found, nodes = self._listed()
        for cell in self._cells.pending() if found or nodes else ():
            self._complete(cell, found, nodes)

    def whole(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Those of the chunks that are done and not damaged."""
        chunks = list(chunks)
        cells = {chunk.index[:-1]: self._cell(chunk) for chunk in chunks}
        done = {cell.index for cell in self._cells.whole(cells.values())}
        found, nodes = self._listed()
        left = {index: self._left(cell, found, nodes) for index, cell in cells.items()}
        return [
            chunk
            for chunk in chunks
            if chunk.index[:-1] in done or chunk.index[-1] not in left[chunk.index[:-1]]
        ]

    def counts(self, chunks: Iterable[Chunk]) -> Mapping[Status, int]:
        """The number of points of the chunks by status, where each has a piece of its own."""
        total = np.zeros(len(STATUSES), np.int64)
        for chunk in chunks:
            name = self._name(self._cell(chunk), (0, chunk.index[-1]))
            piece = self._read(self._cells.pieces, name)
            total += 0 if piece is None else Kept.counts(piece)
        return {status: int(n) for status, n in zip(STATUSES, total, strict=True) if n}

    def write(self, chunk: Chunk, arrays: Partial) -> None:
        """Write what is kept of a chunk's points, and the statistics if they are the last."""
        cell = self._cell(chunk)
        if self._n == 1:
            self._write(cell, arrays, arrays)
            return
        with self._merging:
            self._put(cell, (0, chunk.index[-1]), arrays)

    def _put(self, cell: Chunk, place: Place, piece: Partial) -> None:
        """Put a piece; while the one beside it is there too, merge the two.

        It is put before others are looked for: of two processes, one sees all.
        """
        below: list[Place] = []
        while True:
            self._cells.pieces.put(self._name(cell, place), to_bytes(piece))
            for each in below:
                self._cells.pieces.remove(self._name(cell, each))
            level, index = place
            beside = (level, index ^ 1)
            if index >= self._full or (beside[1] + 1) << level > self._full:
                break  # nothing is beside it, so it may be the last
            other = self._read(self._cells.pieces, self._name(cell, beside))
            if other is None:
                if _name(cell) in self._extended:
                    break
                return
            piece, below = self._kept.merged(piece, other), [place, beside]
            place = (level + 1, index >> 1)
        self._complete(cell, *self._listed(_name(cell)))

    def _complete(self, cell: Chunk, found: Found, nodes: Mapping[str, int]) -> None:
        """Write the statistics of a cell if every stretch is in a piece or in its nodes."""
        if self._left(cell, found, nodes):
            return
        size = nodes.get(_name(cell), 0)
        places = [place for place in _apart(found.get(_name(cell), [])) if _start(place) >= size]
        parts = [self._read(self._cells.pieces, self._name(cell, each)) for each in places]
        if size and self._cells.nodes is not None:
            parts.insert(0, self._read(self._cells.nodes, f"{_name(cell)}/{size}"))
        there = [part for part in parts if part is not None]
        if len(there) < len(parts):  # damaged, and removed
            return
        short = there.pop() if self._n > self._full else None
        full = functools.reduce(self._kept.merged, there)
        self._write(cell, full if short is None else self._kept.merged(full, short), full)
        for name in self._cells.pieces.names(_name(cell)):
            self._cells.pieces.remove(name)

    def _write(self, cell: Chunk, whole: Partial, full: Partial) -> None:
        """Write the statistics of all points; before, the nodes of stretches that are not short."""
        if self._cells.nodes is not None:
            self._keep(self._cells.nodes, cell, full)
        self._cells.write(cell, self._kept.statistics(whole))

    def _keep(self, nodes: Pieces, cell: Chunk, full: Partial) -> None:
        """Keep the nodes of a cell if they are small; points that failed are to be retried."""
        content = to_bytes(full)
        is_small = len(content) <= max(MAX_NODE_BYTES, cell.n_points * self._full * self._step)
        older = [] if self._n == 1 else nodes.names(_name(cell))
        if is_small and not Kept.counts(full)[STATUSES.index(Status.failed)]:
            nodes.put(_name(cell, f"/{self._full}"), content)
        for name in older:
            if name != _name(cell, f"/{self._full}"):
                nodes.remove(name)

    def _read(self, pieces: Pieces, name: str) -> Partial | None:
        """A piece; None if it is not there, or is damaged: then it is removed."""
        content = pieces.read(name)
        try:
            return None if content is None else from_bytes(content)
        except Exception as error:  # whatever zipfile and NumPy make of it
            if found := memory_error(error):
                raise found from error
            pieces.remove(name)
            return None

    @functools.cached_property
    def _extended(self) -> Mapping[str, int]:
        """The cells that began with nodes."""
        return self._listed()[1]

    def _listed(self, only: str = "") -> tuple[Found, Mapping[str, int]]:
        """The places of the pieces of each cell, and the number of stretches in its nodes.

        With `only`, those of one cell.
        """
        if self._n == 1:
            return {}, {}
        found: dict[str, list[Place]] = {}
        for name in self._cells.pieces.names(only):
            cell, _, place = name.partition("/")
            first, _, second = place.partition(".")
            if first == END and second == str(self.grid[-1]):
                found.setdefault(cell, []).append((0, self._full))
            elif first.isdigit() and second.isdigit():
                found.setdefault(cell, []).append((int(first), int(second)))
        nodes: dict[str, int] = {}
        for name in self._cells.nodes.names(only) if self._cells.nodes is not None else ():
            cell, _, size = name.partition("/")
            if size.isdigit() and int(size) <= self._full:
                nodes[cell] = max(nodes.get(cell, 0), int(size))
        return found, nodes

    def _left(self, cell: Chunk, found: Found, nodes: Mapping[str, int]) -> set[int]:
        """The stretches that are in no piece."""
        missing = np.ones(self._n, np.bool_)
        missing[: nodes.get(_name(cell), 0)] = False
        for place in found.get(_name(cell), []):
            missing[_start(place) : _start(place) + (1 << place[0])] = False
        return set(np.flatnonzero(missing).tolist())

    def _name(self, cell: Chunk, place: Place) -> str:
        """The name of a piece."""
        if place[1] >= self._full:
            return _name(cell, f"/{END}.{self.grid[-1]}")
        return _name(cell, "/{}.{}".format(*place))

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


def _name(cell: Chunk, rest: str = "") -> str:
    return ".".join(("c", *map(str, cell.index))) + rest


def _start(place: Place) -> int:
    """The first stretch of a piece."""
    return place[1] << place[0]


def _apart(found: Iterable[Place]) -> list[Place]:
    """Pieces that share no stretch, in order: of a merged piece and its parts, the merged one."""
    taken: set[Place] = set()
    for level, index in sorted(found, reverse=True):
        above = {(level + up, index >> up) for up in range(1, 64)}
        if not above & taken:
            taken.add((level, index))
    return sorted(taken, key=_start)
