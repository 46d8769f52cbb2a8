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

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import add
from typing import NamedTuple

import numpy as np

from sweep.errors import StoreError, machine_error
from sweep.model.table import Status
from sweep.points.chunking import MAX_CHUNK_POINTS, block_shape, chunk_counts, chunks
from sweep.request.chunk import Chunk
from sweep.request.options import RunOptions
from sweep.request.sweeps import MAX_EXACT_POINTS, Reduced
from sweep.statistics.counts import STATUSES, reduced_counts
from sweep.statistics.partial import Kept, Partial, from_bytes, part_in, to_bytes
from sweep.store.arrays import Arrays
from sweep.store.group import key
from sweep.store.store import Store
from sweep.store.target import Folder, Target

MAX_BLOCKS = 2**12  # of a cell
MAX_NODE_BYTES = 2**18  # of a chunk's cells, or as many as these have points
FAILED = STATUSES.index(Status.failed)


def target_of(results: Store | Arrays) -> Target:
    """The results as a run writes them: themselves unless they are those of a reduced sweep."""
    return Blocks(results) if isinstance(results.sweep, Reduced) else results


class Blocks(Target):
    """Results of cells, written in blocks: the last index of a chunk is that of its block."""

    def __init__(self, cells: Store | Arrays) -> None:
        assert isinstance(cells.sweep, Reduced)
        self._cells = cells
        self.sweep = self._reduced = cells.sweep
        self.kept = self._kept = Kept(self._reduced)
        self.location = cells.location
        # A block is a whole number of steps, of which nodes are, too.
        self._step = self._reduced.size if self._reduced.exact_quantiles else cells.step
        steps = -(-self._reduced.size // self._step)
        doublings = (steps - 1).bit_length() - (MAX_BLOCKS - 1).bit_length()
        self._length = self._step << max(doublings, 0)
        self._n = -(-self._reduced.size // self._length)
        self.chunk_shape = (*cells.chunk_shape, self._length)
        self._left: dict[Chunk, set[int]] = {}  # by cell: its blocks that were pending

    def pending(self) -> list[Chunk]:
        listed, pending = self._listed(), list[Chunk]()
        for cell in self._cells.pending():
            left = self._missing(cell, listed)
            self._left[cell] = {block.index[-1] for block in left}
            pending += left
        return pending

    def unmerged(self) -> list[Chunk]:
        """The last block of each cell whose blocks are all there, but not yet its statistics."""
        listed = self._listed()
        complete = (cell for cell in self._cells.pending() if not self._missing(cell, listed))
        return [[*self._blocks(cell)][-1] for cell in complete]

    def make_ready(self, options: RunOptions, notify: Callable[[str], None]) -> None:
        """Remove blocks that nobody needs, and make those that are to be retried pending again.

        StoreError if cells that are to be sorted are too large, which earlier versions allowed.
        """
        self._remove_merged()
        size = self._reduced.size
        if self._reduced.exact_quantiles and size > MAX_EXACT_POINTS and self._cells.pending():
            raise StoreError(
                f"exact quantiles: a cell has {size:,} points, and {MAX_EXACT_POINTS:,} can be "
                "sorted at once; without exact_quantiles, in a store of its own, the sweep can be "
                "completed"
            )
        if earlier := self._cells.earlier.names():
            notify(
                "an earlier version had begun cells of this store; their points are computed "
                "again, since this one divides them otherwise"
            )
        for name in earlier:
            self._cells.earlier.remove(name)
        for block in self.own(self._failed(), options.shard) if options.retry_failed else ():
            self._cells.blocks.remove(self._file(block))

    def _remove_merged(self) -> None:
        """Remove the blocks that a killed run, or two at once, have left of finished cells.

        Other runs may be reading them to merge the cell, too, which they then leave as it is.
        """
        # Listed before the cells: a cell that is done after its blocks were there needs none.
        listed = self._cells.blocks.names()
        pending = {_name(cell) for cell in self._cells.pending()} if listed else set[str]()
        for file in listed:
            if file.partition("/")[0] not in pending:
                self._cells.blocks.remove(file)

    def _failed(self) -> list[Chunk]:
        """The blocks of cells that are not done with a point that has failed. Reads all of them."""
        listed = self._listed()
        return [
            block
            for cell in self._cells.pending()
            for block in self._blocks(cell, listed.steps.get(_name(cell), 0))
            if self._file(block) in listed.files
            and (partial := self._read(self._cells.blocks, self._file(block))) is not None
            and Kept.counts(partial)[FAILED]
        ]

    def computed(self, chunk: Chunk, compute: Callable[[Chunk], Partial]) -> Partial:
        return functools.reduce(self._kept.merged, map(compute, self.parts(chunk)))

    def computed_together(
        self,
        block: Chunk,
        chunks: Sequence[Chunk],
        compute: Callable[[Chunk, Sequence[int]], Partial],
    ) -> Iterator[Partial]:
        """Of chunks that form a block, each has adjacent cells and a part of their points.

        The parts of all cells are the same, because blocks of cells end at the same points.
        """
        runs = sorted({(chunk.start[-1], chunk.shape[-1]) for chunk in chunks})
        partials = compute(block, [count for _, count in runs])
        for chunk in chunks:
            of_part = part_in(partials, runs.index((chunk.start[-1], chunk.shape[-1])))
            place = [a - b for a, b in zip(chunk.start, block.start, strict=True)][:-1]
            first = int(np.ravel_multi_index(place, block.shape[:-1])) if place else 0
            cells = math.prod(chunk.shape[:-1])
            yield self._kept.of_cells(of_part, first, first + cells)

    def parts(self, chunk: Chunk) -> Sequence[Chunk]:
        """A long block is computed in several parts, of which what is kept is merged.

        A step is never divided: `chunk_points` may be as many as a GPU needs. With exact quantiles,
        parts are whole cells.
        """
        if self._reduced.exact_quantiles:
            return self._parts_in_cells(chunk)
        cells, unit = math.prod(chunk.shape[:-1]), self._reduced.unit
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
        shape = block_shape(chunk.shape, max(most // 2, self._reduced.size))
        return [
            Chunk(chunk.index, tuple(map(add, chunk.start, part.start)), part.shape)
            for part in chunks(chunk.shape, shape)
        ]

    def write(self, chunk: Chunk, arrays: Partial) -> None:
        """Write what is kept of a block, or the statistics if it has all points of its cells."""
        if self._n == 1:
            self._end(_cell(chunk), arrays, arrays, self._reduced.size // self._step)
        else:
            self._cells.blocks.put(self._file(chunk), to_bytes(arrays))

    def finish(self, last: Chunk | None = None) -> list[Chunk]:
        """Merge the blocks of cells that have all of them; the blocks that were found damaged.

        Another process may have written some of them.
        """
        if self._n == 1:
            return []
        if last is None:
            listed = self._listed()
            begun = {file.partition("/")[0] for file in listed.files} | listed.steps.keys()
            pending = (cell for cell in self._cells.pending() if _name(cell) in begun)
            cells = [cell for cell in pending if not self._missing(cell, listed)]
        else:
            left = self._left.setdefault(_cell(last), set())
            left.discard(last.index[-1])
            cells = [] if left else [_cell(last)]
        damaged = [block for cell in cells for block in self._merge(cell)]
        for block in damaged:
            self._left.setdefault(_cell(block), set()).add(block.index[-1])
        return damaged

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

    def append_receipt(self, receipt: Mapping[str, object]) -> None:
        self._cells.append_receipt(receipt)

    def flush(self) -> None:
        self._cells.flush()

    def _merge(self, cell: Chunk) -> list[Chunk]:
        """Write the statistics of a cell whose blocks are all there; blocks that are damaged."""
        listed = self._listed(_name(cell))
        if self._missing(cell, listed):
            return []
        merged = self._merged(cell, listed.steps.get(_name(cell), 0))
        if merged is not None:
            self._end(cell, *merged)
            for file in self._cells.blocks.names(_name(cell)):
                self._cells.blocks.remove(file)
            return []
        if self._cells.whole([cell]):  # another process has merged and removed them
            return []
        # Files were damaged, and are gone; or another process has just written other nodes.
        return self._missing(cell, self._listed(_name(cell))) or self._merge(cell)

    def _merged(self, cell: Chunk, n_steps: int) -> tuple[Partial, Partial | None, int] | None:
        """What is kept of a cell; of its whole blocks alone, and their steps. None: files lack."""
        merged = self._read(self._cells.nodes, f"{_name(cell)}/{n_steps}") if n_steps else None
        if n_steps and merged is None:
            return None
        of_whole, n_whole = merged, n_steps
        for block in self._blocks(cell, n_steps):
            if (partial := self._read(self._cells.blocks, self._file(block))) is None:
                return None
            merged = partial if merged is None else self._kept.merged(merged, partial)
            if (block.start[-1] + block.shape[-1]) % self._length == 0:
                of_whole, n_whole = merged, (block.index[-1] + 1) * (self._length // self._step)
        assert merged is not None
        return merged, of_whole, n_whole

    def _end(self, cell: Chunk, merged: Partial, of_whole: Partial | None, n_steps: int) -> None:
        """Write the statistics of a cell, after the nodes of its whole blocks, of so many steps.

        These are kept if they are small and no point has failed, which may be retried.
        """
        is_store, folder = self.location != "", self._cells.nodes
        if is_store and n_steps and of_whole is not None and not self._reduced.exact_quantiles:
            content, name = to_bytes(of_whole), f"{_name(cell)}/{n_steps}"
            is_small = len(content) <= max(MAX_NODE_BYTES, cell.n_points * n_steps * self._step)
            if is_small and not Kept.counts(of_whole)[FAILED]:
                folder.put(name, content)
                for older in folder.names(_name(cell)) if self._n > 1 else ():
                    if older != name:
                        folder.remove(older)
        self._cells.write(cell, self._kept.statistics(merged))

    def _missing(self, cell: Chunk, listed: _Listed) -> list[Chunk]:
        """The blocks of a cell behind its nodes that have no file."""
        blocks = self._blocks(cell, listed.steps.get(_name(cell), 0))
        return [block for block in blocks if self._file(block) not in listed.files]

    def _blocks(self, cell: Chunk, nodes: int = 0) -> Iterator[Chunk]:
        """The blocks of a cell behind its nodes; the first may be shorter for that reason."""
        first = nodes * self._step
        for number in range(first // self._length, self._n):
            start = max(number * self._length, first)
            stop = min((number + 1) * self._length, self._reduced.size)
            if start < stop:
                index, shape = (*cell.index, number), (*cell.shape, stop - start)
                yield Chunk(index, (*cell.start, start), shape)

    def _listed(self, cell: str = "") -> _Listed:
        """What there is of all cells, or of one."""
        if self._n == 1:
            return _Listed(set(), {})
        files, steps = set(self._cells.blocks.names(cell)), dict[str, int]()
        for file in self._cells.nodes.names(cell):
            name, _, number = file.partition("/")
            if number.isdigit() and int(number) * self._step <= self._reduced.size:
                steps[name] = max(steps.get(name, 0), int(number))
        return _Listed(files, steps)

    def _read(self, folder: Folder, file: str) -> Partial | None:
        """The content of a file; None if it is not there, or is damaged: then it is removed."""
        content = folder.read(file)
        try:
            return None if content is None else self._kept.current(from_bytes(content))
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


class _Listed(NamedTuple):
    """The files of blocks, and how many steps the nodes of each cell have."""

    files: set[str]
    steps: dict[str, int]


def _name(cell: Chunk) -> str:
    return key(cell.index, ".")


def _cell(chunk: Chunk) -> Chunk:
    return Chunk(chunk.index[:-1], chunk.start[:-1], chunk.shape[:-1])


@dataclass(frozen=True)
class Remaining:
    """Points and chunks that are pending, and all points and chunks."""

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
