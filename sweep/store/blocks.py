"""Results of a reduced sweep, as a run writes them: block by block of the points of a cell.

What a run computes at once is some cells with all of their points, which are done then, or a block
of the points of one cell, or of a few. What is kept of a block is one file beside the status. Once
all blocks of a cell are there, they are merged in order, its statistics are written, and its blocks
are removed. A killed run loses the blocks that were being computed.

If it is small, what is kept of all blocks but a short one at the end stays as the nodes of the
cell, with which the cell begins when the sample is extended. Cells with exact quantiles have none,
and are never divided.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from sweep.errors import StoreError, machine_error
from sweep.plan.chunking import MAX_CHUNK_POINTS, chunk_counts
from sweep.request import MAX_EXACT_POINTS, Reduced
from sweep.spec import Status
from sweep.statistics.counts import STATUSES, reduced_counts
from sweep.statistics.partial import Kept, Partial
from sweep.store.arrays import Arrays
from sweep.store.chunk_files import key
from sweep.store.disk import Store
from sweep.store.partials import Folder, from_bytes, to_bytes
from sweep.store.target import Target
from sweep.work import Chunk

MAX_BLOCKS = 2**12  # of a cell
MAX_NODE_BYTES = 2**18  # of a chunk's cells, or as many as these have points
RANGE = "range"  # of the points of a cell that a block has, in its file
FAILED = STATUSES.index(Status.failed)


def target_of(results: Store | Arrays) -> Target:
    """The results as a run writes them: themselves unless they are those of a reduced sweep."""
    return Blocks(results) if isinstance(results.sweep, Reduced) else results


class Blocks:
    """Results of cells, written in blocks: the last index of a chunk is that of its block."""

    def __init__(self, cells: Store | Arrays) -> None:
        assert isinstance(cells.sweep, Reduced)
        self._cells = cells
        self.sweep = cells.sweep
        self.kept = Kept(self.sweep)
        self.location = cells.location
        self.append_receipt = cells.append_receipt
        self.flush = cells.flush
        # A block is a whole number of steps, of which nodes are, too.
        self._step = self.sweep.size if self.sweep.exact_quantiles else cells.step
        steps = -(-self.sweep.size // self._step)
        self._length = self._step << max((steps - 1).bit_length() - 12, 0)
        self._n = -(-self.sweep.size // self._length)
        self.chunk_shape = (*cells.chunk_shape, self._length)
        self._left: dict[Chunk, set[int]] = {}  # by cell: its blocks that were pending

    def pending(self) -> list[Chunk]:
        there, nodes = _by_cell(self._cells.blocks), self._nodes()
        pending = list[Chunk]()
        for cell in self._cells.pending():
            name = _name(cell)
            left = [
                block
                for block in self._blocks(cell, nodes.get(name, 0))
                if self._file(block) not in there.get(name, ())
            ]
            self._left[cell] = {block.index[-1] for block in left}
            pending += left
        if pending and self.sweep.exact_quantiles and self.sweep.size > MAX_EXACT_POINTS:
            raise StoreError(
                f"exact quantiles need all points of a cell at once, at most {MAX_EXACT_POINTS:,}, "
                f"and these cells have {self.sweep.size:,}; without exact_quantiles, in a store of "
                "its own, the sweep can be completed"
            )
        return pending

    def parts(self, chunk: Chunk) -> Sequence[Chunk]:
        """A long block is computed in several parts, of which what is kept is merged."""
        cells, unit = math.prod(chunk.shape[:-1]), self.sweep.unit
        most = max(MAX_CHUNK_POINTS // cells // unit, 1) * unit
        if self.sweep.exact_quantiles or chunk.shape[-1] <= most:
            return [chunk]
        first, stop = chunk.start[-1], chunk.start[-1] + chunk.shape[-1]
        return [
            Chunk(
                chunk.index,
                (*chunk.start[:-1], start),
                (*chunk.shape[:-1], min(most, stop - start)),
            )
            for start in range(first, stop, most)
        ]

    def write(self, chunk: Chunk, arrays: Partial) -> None:
        """Write what is kept of a block, or the statistics if it has all points of its cells."""
        if self._n == 1:
            self._end(_cell(chunk), arrays, self.sweep.size // self._step, arrays)
            return
        first = chunk.start[-1]
        content = {**arrays, RANGE: np.array([first, first + chunk.shape[-1]])}
        self._cells.blocks.put(self._file(chunk), to_bytes(content))

    def finish(self, last: Chunk | None = None) -> list[Chunk]:
        """Merge the blocks of cells that have all of them; the blocks that were found damaged.

        Another process may have written some of them.
        """
        if self._n == 1:
            return []
        if last is None:
            there, nodes = _by_cell(self._cells.blocks), self._nodes()
            cells = [cell for cell in self._cells.pending() if _name(cell) in {*there, *nodes}]
        else:
            cell = _cell(last)
            left = self._left.get(cell, set())
            left.discard(last.index[-1])
            cells = [] if left else [cell]
        return [block for cell in cells for block in self._merge(cell)]

    def whole(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        chunks = list(chunks)
        done = set(self._cells.whole(dict.fromkeys(map(_cell, chunks))))
        names = {_name(_cell(chunk)) for chunk in chunks} if self._n > 1 else set[str]()
        there = {file for name in names for file in self._cells.blocks.names(name)}
        return [c for c in chunks if _cell(c) in done or self._file(c) in there]

    def counts(self, chunks: Iterable[Chunk]) -> Mapping[Status, int]:
        """The number of points of the chunks by status, of blocks as far as these are there."""
        if self._n == 1:
            return self._cells.counts(map(_cell, chunks))
        read = (self._read(self._cells.blocks, self._file(chunk)) for chunk in chunks)
        return reduced_counts(np.array([Kept.counts(each) for each in read if each is not None]))

    def _merge(self, cell: Chunk) -> list[Chunk]:
        """Write the statistics of a cell whose blocks are all there; blocks that are damaged."""
        nodes = self._nodes(_name(cell)).get(_name(cell), 0)
        blocks = list(self._blocks(cell, nodes))
        there = {*self._cells.blocks.names(_name(cell))}
        if not {self._file(block) for block in blocks} <= there:
            return []
        merged = self._read_nodes(cell, nodes) if nodes else None
        if nodes and merged is None:  # they were damaged: their points are pending
            return [block for block in self._blocks(cell, 0) if self._file(block) not in there]
        of_whole, n_whole = merged, nodes
        for block in blocks:
            partial = self._read(self._cells.blocks, self._file(block))
            if not self._has_points(partial, block):
                self._cells.blocks.remove(self._file(block))
                return [] if cell in self._cells.whole([cell]) else [block]
            own = {name: array for name, array in partial.items() if name != RANGE}
            merged = own if merged is None else self.kept.merged(merged, own)
            if (block.start[-1] + block.shape[-1]) % self._length == 0:
                of_whole, n_whole = merged, (block.index[-1] + 1) * (self._length // self._step)
        assert merged is not None
        self._end(cell, merged, n_whole, of_whole)
        for file in there:
            self._cells.blocks.remove(file)
        return []

    def _has_points(self, partial: Partial | None, block: Chunk) -> TypeGuard[Partial]:
        """Whether this is what is kept of a block; blocks may have been divided otherwise."""
        first = block.start[-1]
        return partial is not None and [*partial[RANGE]] == [first, first + block.shape[-1]]

    def _end(self, cell: Chunk, merged: Partial, n_whole: int, of_whole: Partial | None) -> None:
        """Write the statistics of a cell, after the nodes of so many steps of its points."""
        if n_whole and of_whole is not None and not self.sweep.exact_quantiles:
            self._keep(cell, n_whole, of_whole)
        self._cells.write(cell, self.kept.statistics(merged))

    def _keep(self, cell: Chunk, n_steps: int, partial: Partial) -> None:
        """Keep the nodes of a cell if they are small and no point has failed, to be retried."""
        if (nodes := self._cells.nodes) is None:
            return
        content, name = to_bytes(partial), f"{_name(cell)}/{n_steps}"
        older = [] if self._n == 1 else nodes.names(_name(cell))
        is_small = len(content) <= max(MAX_NODE_BYTES, cell.n_points * n_steps * self._step)
        if is_small and not Kept.counts(partial)[FAILED]:
            nodes.put(name, content)
        for each in older:
            if each != name:
                nodes.remove(each)

    def _blocks(self, cell: Chunk, nodes: int) -> Iterator[Chunk]:
        """The blocks of a cell behind its nodes; the first may be shorter for that reason."""
        first = nodes * self._step
        for number in range(first // self._length, self._n):
            start = max(number * self._length, first)
            stop = min((number + 1) * self._length, self.sweep.size)
            if start < stop:
                index, shape = (*cell.index, number), (*cell.shape, stop - start)
                yield Chunk(index, (*cell.start, start), shape)

    def _nodes(self, only: str = "") -> dict[str, int]:
        """How many steps the nodes of each cell have, of which there are any."""
        numbers: dict[str, int] = {}
        if self._cells.nodes is None or self._n == 1 or self.sweep.exact_quantiles:
            return numbers
        for file in self._cells.nodes.names(only):
            cell, _, number = file.partition("/")
            if number.isdigit() and int(number) * self._step <= self.sweep.size:
                numbers[cell] = max(numbers.get(cell, 0), int(number))
        return numbers

    def _read_nodes(self, cell: Chunk, n_steps: int) -> Partial | None:
        if self._cells.nodes is None:
            return None
        return self._read(self._cells.nodes, f"{_name(cell)}/{n_steps}")

    def _read(self, folder: Folder, file: str) -> Partial | None:
        """The content of a file; None if it is not there, or is damaged: then it is removed."""
        content = folder.read(file)
        try:
            return None if content is None else self.kept.current(from_bytes(content))
        except Exception as error:  # whatever zipfile and NumPy make of it
            if known_error := machine_error(error):
                raise known_error from error
            folder.remove(file)
            return None

    def _file(self, block: Chunk) -> str:
        """The name of the file of a block."""
        number, stop = block.index[-1], block.start[-1] + block.shape[-1]
        is_short = stop == self.sweep.size and stop % self._length
        return f"{_name(_cell(block))}/{number}" + (f".{stop}" if is_short else "")


def _by_cell(folder: Folder) -> dict[str, set[str]]:
    """The names of all files, by the cell that they belong to."""
    by_cell: dict[str, set[str]] = {}
    for file in folder.names():
        by_cell.setdefault(file.partition("/")[0], set()).add(file)
    return by_cell


def _name(cell: Chunk) -> str:
    return key(cell.index, ".")


def _cell(chunk: Chunk) -> Chunk:
    return Chunk(chunk.index[:-1], chunk.start[:-1], chunk.shape[:-1])


@dataclass(frozen=True)
class Remaining:
    """What is left to compute, and how much there is in all."""

    points_left: int
    points_total: int
    chunks_left: int
    chunks_total: int


def remaining(results: Store | Arrays) -> Remaining:
    """What is left to compute of results."""
    target = target_of(results)
    pending, shape = target.pending(), target.sweep.computed_shape
    return Remaining(
        points_left=sum(chunk.n_points for chunk in pending),
        points_total=target.sweep.n_points,
        chunks_left=len(pending),
        chunks_total=math.prod(chunk_counts(shape, target.chunk_shape)),
    )
