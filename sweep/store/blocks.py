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
from operator import add

import numpy as np

from sweep.errors import machine_error
from sweep.plan.chunking import MAX_CHUNK_POINTS, block_shape, chunk_counts, chunks
from sweep.request import Reduced
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
        doublings = (steps - 1).bit_length() - (MAX_BLOCKS - 1).bit_length()
        self._length = self._step << max(doublings, 0)
        self._n = -(-self.sweep.size // self._length)
        self.chunk_shape = (*cells.chunk_shape, self._length)
        self._left: dict[Chunk, set[int]] = {}  # by cell: its blocks that were pending

    def pending(self) -> list[Chunk]:
        there, nodes = self._listed()
        pending = list[Chunk]()
        for cell in self._cells.pending():
            name = _name(cell)
            left = self._missing(cell, nodes.get(name, 0), there.get(name, set()))
            self._left[cell] = {block.index[-1] for block in left}
            pending += left
        return pending

    def unmerged(self) -> list[Chunk]:
        """The last block of each cell whose blocks are all there, but not yet its statistics."""
        there, nodes = self._listed()
        return [
            [*self._blocks(cell)][-1]
            for cell in self._cells.pending()
            if not self._missing(cell, nodes.get(_name(cell), 0), there.get(_name(cell), set()))
        ]

    def failed(self) -> list[Chunk]:
        """The blocks of cells that are not done with a point that has failed. Reads all of them."""
        there, nodes = self._listed()
        return [
            block
            for cell in self._cells.pending()
            for block in self._blocks(cell, nodes.get(_name(cell), 0))
            if self._file(block) in there.get(_name(cell), ())
            and (partial := self._read(self._cells.blocks, self._file(block))) is not None
            and Kept.counts(partial)[FAILED]
        ]

    def has_earlier_blocks(self) -> bool:
        """Whether an earlier version has begun cells, in files that this one does not read."""
        return bool(self._cells.earlier.names())

    def reopen(self, blocks: Iterable[Chunk]) -> None:
        """Make these blocks pending again."""
        for block in blocks:
            self._cells.blocks.remove(self._file(block))

    def parts(self, chunk: Chunk) -> Sequence[Chunk]:
        """A long block is computed in several parts, of which what is kept is merged.

        A step is never divided: `chunk_points` may be as many as a GPU needs. With exact quantiles,
        parts are whole cells.
        """
        if self.sweep.exact_quantiles:
            return self._parts_in_cells(chunk)
        cells, unit = math.prod(chunk.shape[:-1]), self.sweep.unit
        most = max(MAX_CHUNK_POINTS // cells // unit * unit, self._step)
        first, stop = chunk.start[-1], chunk.start[-1] + chunk.shape[-1]
        return [
            Chunk(
                chunk.index,
                (*chunk.start[:-1], start),
                (*chunk.shape[:-1], min(most, stop - start)),
            )
            for start in range(first, stop, most)
        ]

    def _parts_in_cells(self, chunk: Chunk) -> Sequence[Chunk]:
        """All cells of a chunk at once, unless they have many more points than when it was made."""
        most = max(MAX_CHUNK_POINTS, math.prod(chunk.shape[:-1]) * self._cells.step)
        if chunk.n_points <= most:
            return [chunk]
        shape = block_shape(chunk.shape, max(most // 2, self.sweep.size))
        return [
            Chunk(chunk.index, tuple(map(add, chunk.start, part.start)), part.shape)
            for part in chunks(chunk.shape, shape)
        ]

    def write(self, chunk: Chunk, arrays: Partial) -> None:
        """Write what is kept of a block, or the statistics if it has all points of its cells."""
        if self._n == 1:
            self._end(_cell(chunk), arrays, self.sweep.size // self._step, arrays)
            return
        self._cells.blocks.put(self._file(chunk), to_bytes(arrays))

    def finish(self, last: Chunk | None = None) -> list[Chunk]:
        """Merge the blocks of cells that have all of them; the blocks that were found damaged.

        Another process may have written some of them.
        """
        if self._n == 1:
            return []
        if last is None:
            there, nodes = self._listed()
            begun = {*there, *nodes}
            cells = [cell for cell in self._cells.pending() if _name(cell) in begun]
        else:
            cells = [_cell(last)]
            left = self._left.setdefault(cells[0], set())
            left.discard(last.index[-1])
            if left:
                return []
            there, nodes = self._listed(_name(cells[0]))
        pending = list[Chunk]()
        for cell in cells:
            damaged = self._merge(cell, nodes.get(_name(cell), 0), there.get(_name(cell), set()))
            self._left.setdefault(cell, set()).update(block.index[-1] for block in damaged)
            pending += damaged
        return pending

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

    def _merge(self, cell: Chunk, nodes: int, there: set[str]) -> list[Chunk]:
        """Write the statistics of a cell whose blocks are all there; blocks that are damaged."""
        if self._missing(cell, nodes, there):
            return []
        merged = self._read_nodes(cell, nodes) if nodes else None
        if nodes and merged is None:  # they were damaged, or another process has just others
            return self._merge_anew(cell)
        of_whole, n_whole = merged, nodes
        blocks = [*self._blocks(cell, nodes)]
        for at, block in enumerate(blocks):
            if (partial := self._read(self._cells.blocks, self._file(block))) is None:
                if self._cells.whole([cell]):  # another process has merged and removed them
                    return []
                files = ((each, self._file(each)) for each in blocks[at:])
                return [each for each, f in files if self._read(self._cells.blocks, f) is None]
            merged = partial if merged is None else self.kept.merged(merged, partial)
            if (block.start[-1] + block.shape[-1]) % self._length == 0:
                of_whole, n_whole = merged, (block.index[-1] + 1) * (self._length // self._step)
        assert merged is not None
        self._end(cell, merged, n_whole, of_whole)
        for folder in (self._cells.blocks, self._cells.earlier):
            for file in folder.names(_name(cell)):
                folder.remove(file)
        return []

    def _merge_anew(self, cell: Chunk) -> list[Chunk]:
        """Merge a cell after another look at what it has; blocks that it lacks."""
        if self._cells.whole([cell]):
            return []
        there, nodes = self._listed(_name(cell))
        left = cell, nodes.get(_name(cell), 0), there.get(_name(cell), set())
        return self._missing(*left) or self._merge(*left)

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
        is_small = len(content) <= max(MAX_NODE_BYTES, cell.n_points * n_steps * self._step)
        if not is_small or Kept.counts(partial)[FAILED]:
            return
        nodes.put(name, content)
        for older in nodes.names(_name(cell)) if self._n > 1 else ():
            if older != name:
                nodes.remove(older)

    def _missing(self, cell: Chunk, nodes: int, there: set[str]) -> list[Chunk]:
        """The blocks of a cell behind its nodes that are not among these files."""
        return [block for block in self._blocks(cell, nodes) if self._file(block) not in there]

    def _blocks(self, cell: Chunk, nodes: int = 0) -> Iterator[Chunk]:
        """The blocks of a cell behind its nodes; the first may be shorter for that reason."""
        first = nodes * self._step
        for number in range(first // self._length, self._n):
            start = max(number * self._length, first)
            stop = min((number + 1) * self._length, self.sweep.size)
            if start < stop:
                index, shape = (*cell.index, number), (*cell.shape, stop - start)
                yield Chunk(index, (*cell.start, start), shape)

    def _listed(self, only: str = "") -> tuple[dict[str, set[str]], dict[str, int]]:
        """By cell, the files of its blocks, and how many steps its nodes have; or of one cell."""
        there: dict[str, set[str]] = {}
        nodes: dict[str, int] = {}
        if self._n == 1:
            return there, nodes
        for file in self._cells.blocks.names(only):
            there.setdefault(file.partition("/")[0], set()).add(file)
        for file in self._cells.nodes.names(only) if self._cells.nodes is not None else ():
            cell, _, number = file.partition("/")
            if number.isdigit() and int(number) * self._step <= self.sweep.size:
                nodes[cell] = max(nodes.get(cell, 0), int(number))
        return there, nodes

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
        """The name of the file of a block, which says which points it has.

        Once a sample is extended, blocks may have other lengths, and the first one behind nodes is
        shorter than those of its number elsewhere.
        """
        first, stop = block.start[-1], block.start[-1] + block.shape[-1]
        return f"{_name(_cell(block))}/{first}-{stop}"


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
    pending += target.unmerged() if isinstance(target, Blocks) else ()
    return Remaining(
        points_left=sum(chunk.n_points for chunk in pending),
        points_total=target.sweep.n_points,
        chunks_left=len(pending),
        chunks_total=math.prod(chunk_counts(shape, target.chunk_shape)),
    )
