"""Results of a sweep with a reduction, as a run writes them: stretch by stretch of a cell's points.

What a run computes at once is some cells with all of their points, or a stretch of the points of
one cell. What is kept of a stretch is a piece: a file beside the status of the cells. Two pieces
that are next to each other are merged into one as soon as both are there, so there are never many:
a piece covers stretches index·2^level up to (index + 1)·2^level, or it is that of a short stretch
at the end. When the points of a cell are complete, its statistics are written and its pieces are
removed. A killed run loses the stretches that were being computed.

For exact quantiles the points of a cell that has several stretches are computed in further passes
(`statistics/again.py`). The present pass over a cell is the last one for which there is what it
begins with.

If it is small, what is kept of all stretches but the short one stays as the nodes of the cell, with
which the cell begins when the sample is extended.
"""

from __future__ import annotations

import functools
import itertools
import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from sweep.errors import MachineError, machine_error
from sweep.plan.chunking import chunk_at, chunk_counts
from sweep.plan.point_columns import points
from sweep.request import Reduction, Sweep
from sweep.spec import Status
from sweep.statistics.again import Again, OtherValuesError, next_pass
from sweep.statistics.counts import STATUSES, reduced_counts
from sweep.statistics.partial import Kept, Partial
from sweep.store.chunk_files import key
from sweep.store.pieces import Known, Pieces, Place, from_bytes, known_cells, name_of, to_bytes
from sweep.work import Chunk, Points

if TYPE_CHECKING:
    from sweep.store.disk import Store
    from sweep.store.memory import MemoryResults

MAX_NODE_BYTES = 2**18  # of a chunk's cells, or as many as these have points
NO_PIECES = Known()

Results: TypeAlias = "Store | MemoryResults | InStretches"


def in_stretches(results: Results) -> Results:
    """The results as a run writes them: themselves unless their sweep has a reduction."""
    if isinstance(results, InStretches) or results.sweep.reduction is None:
        return results
    return InStretches(results)


class InStretches:
    """Results of cells, written in stretches; their chunks are those of the sweep's grid.

    In pass p over the points of a cell, the last index of a chunk is that of its stretch plus p
    times their number.
    """

    def __init__(self, cells: Store | MemoryResults) -> None:
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
        self.location = cells.location  # of the store, for workers in other processes

    def pending(self) -> list[Chunk]:
        """The chunks that are not done, of the present pass over each cell."""
        known, pending = self._listed(), list[Chunk]()
        shapes = (self.grid, self.chunk_shape)
        for cell in self._cells.pending():
            own = known.get(_name(cell), NO_PIECES)
            stretches_left = own.left(self._n)
            every = stretches(cell, *shapes)
            pending += [
                in_pass(own.number, c, *shapes) for c in every if c.index[-1] in stretches_left
            ]
        return pending

    def later(self) -> list[Chunk]:
        """The chunks of the second pass over cells whose first one is not complete."""
        if passes(self.sweep, self.chunk_shape) == 1:
            return []
        known = self._listed()
        first = [c for c in self._cells.pending() if not known.get(_name(c), NO_PIECES).number]
        every = (stretches(cell, self.grid, self.chunk_shape) for cell in first)
        return [in_pass(1, chunk, self.grid, self.chunk_shape) for chunk in itertools.chain(*every)]

    def complete(self) -> None:
        """Complete passes over cells that have all pieces: a kill or another process left it."""
        known = self._listed()
        for cell in self._cells.pending():
            if known_of_cell := known.get(_name(cell)):
                self._complete(cell, known_of_cell)

    def whole(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Those of the chunks that are done and not damaged."""
        chunks = list(chunks)
        cells = dict.fromkeys(map(_cell, chunks))
        done_cells = set(self._cells.whole(cells))
        known = self._listed()
        known_cells = {cell: known.get(_name(cell), NO_PIECES) for cell in cells}
        stretches_left = {cell: own.left(self._n) for cell, own in known_cells.items()}

        def is_whole(chunk: Chunk) -> bool:
            cell = _cell(chunk)
            pass_number, stretch = divmod(chunk.index[-1], self._n)
            if cell in done_cells or pass_number < known_cells[cell].number:
                return True
            return pass_number == known_cells[cell].number and stretch not in stretches_left[cell]

        return [chunk for chunk in chunks if is_whole(chunk)]

    def counts(self, chunks: Iterable[Chunk]) -> Mapping[Status, int]:
        """The number of points of the chunks by status, where each has a piece of its own.

        Points are counted in the first pass.
        """
        first = (chunk for chunk in chunks if chunk.index[-1] < self._n)
        names = (self._name(_cell(chunk), 0, (0, chunk.index[-1])) for chunk in first)
        pieces = (self._read(self._cells.pieces, name) for name in names)
        return reduced_counts(np.array([Kept.counts(each) for each in pieces if each is not None]))

    def points(self, chunk: Chunk) -> Points:
        """The points of a chunk, and what its pass keeps of them.

        LookupError if what its pass begins with was damaged: the passes before are then repeated.
        """
        points_of_chunk, pass_number = points(self.sweep, chunk), chunk.index[-1] // self._n
        if not pass_number:
            return points_of_chunk
        if (again := self._again(_cell(chunk), pass_number)) is None:
            raise LookupError("the first pass over these points has to be repeated")
        return replace(points_of_chunk, again=again)

    def write(self, chunk: Chunk, arrays: Partial) -> None:
        """Write what is kept of a chunk's points, and the statistics if they are the last."""
        cell = _cell(chunk)
        if self._n == 1:
            self._keep(cell, {name: a for name, a in arrays.items() if "/brackets/" not in name})
            self._cells.write(cell, self._kept.statistics(arrays))
            return
        number, stretch = divmod(chunk.index[-1], self._n)
        with self._merging:
            kept = self._kept if number == 0 else self._again(cell, number)
            if kept is not None:
                self._put(cell, number, kept, (0, stretch), arrays)

    def _put(self, cell: Chunk, number: int, kept: Kept, place: Place, piece: Partial) -> None:
        """Put a piece; while the one beside it is there too, merge the two.

        It is put before others are looked for: of two processes, one sees all.
        """
        below: list[Place] = []
        while True:
            self._cells.pieces.put(self._name(cell, number, place), to_bytes(piece))
            for each in below:
                self._cells.pieces.remove(self._name(cell, number, each))
            level, index = place
            beside = (level, index ^ 1)
            if index >= self._full or (beside[1] + 1) << level > self._full:
                break  # nothing is beside it, so it may be the last
            other = self._read(self._cells.pieces, self._name(cell, number, beside))
            if other is None:
                if not number and _name(cell) in self._extended:
                    break
                return
            piece, below = kept.merged(piece, other), [place, beside]
            place = (level + 1, index >> 1)
        self._complete(cell, self._listed(_name(cell)).get(_name(cell), NO_PIECES))

    def _complete(self, cell: Chunk, known: Known) -> None:
        """End a pass over a cell if every stretch is in a piece or in its nodes."""
        if known.left(self._n):
            return
        if known.number:
            self._end_later_pass(cell, known)
        else:
            self._end_first_pass(cell, known)

    def _end_first_pass(self, cell: Chunk, known: Known) -> None:
        parts = self._pieces(cell, known)
        if parts is None:
            return
        short = parts.pop() if self._n > self._full else None
        full = functools.reduce(self._kept.merged, parts)
        self._keep(cell, full)
        self._go_on(cell, 1, full if short is None else self._kept.merged(full, short))

    def _end_later_pass(self, cell: Chunk, known: Known) -> None:
        again, parts = self._again(cell, known.number), self._pieces(cell, known)
        before = self._read(self._cells.pieces, self._name(cell, known.number))
        if again is None or parts is None or before is None:
            return
        try:
            partial = again.narrowed(before, functools.reduce(again.merged, parts))
        except OtherValuesError as error:
            self._forget(cell)
            raise MachineError(
                f"the second pass over the points of cell {cell.index} has found other values of "
                f"{error} than the first: kernel or machine have changed meanwhile. What was known "
                "of the cell is removed: run the same sweep again"
            ) from None
        self._go_on(cell, known.number + 1, partial)

    def _go_on(self, cell: Chunk, number: int, partial: Partial) -> None:
        """Write the statistics of all points, or what the next pass begins with."""
        name = self._name(cell, number)
        if next_pass(self._kept, partial) is None:
            self._cells.write(cell, self._kept.statistics(partial))
        else:
            self._cells.pieces.put(name, to_bytes(partial))
        for each in self._cells.pieces.names(_name(cell)):
            if each != name:
                self._cells.pieces.remove(each)

    def _forget(self, cell: Chunk) -> None:
        for each in filter(None, (self._cells.pieces, self._cells.nodes)):
            for name in each.names(_name(cell)):
                each.remove(name)

    def _again(self, cell: Chunk, number: int) -> Again | None:
        """A later pass over a cell; None if what it begins with is not there or damaged."""
        begun = self._read(self._cells.pieces, self._name(cell, number))
        return None if begun is None else next_pass(self._kept, begun)

    def _keep(self, cell: Chunk, full: Partial) -> None:
        """Keep the nodes of stretches that are not short, if they are small.

        Not if points have failed, which are to be retried.
        """
        if (nodes := self._cells.nodes) is None:
            return
        content, name = to_bytes(full), _name(cell, f"/{self._full}")
        is_small = len(content) <= max(MAX_NODE_BYTES, cell.n_points * self._full * self._step)
        older = [] if self._n == 1 else nodes.names(_name(cell))
        if is_small and not Kept.counts(full)[STATUSES.index(Status.failed)]:
            nodes.put(name, content)
        for each in older:
            if each != name:
                nodes.remove(each)

    def _pieces(self, cell: Chunk, known: Known) -> list[Partial] | None:
        """What a pass keeps, in order, with its nodes first; None if a part is damaged."""
        names = [self._name(cell, known.number, place) for place in known.apart()]
        parts = [self._read(self._cells.pieces, name) for name in names]
        if known.nodes and not known.number and self._cells.nodes is not None:
            parts.insert(0, self._read(self._cells.nodes, _name(cell, f"/{known.nodes}")))
        intact = [part for part in parts if part is not None]
        return intact if len(intact) == len(parts) else None

    def _read(self, pieces: Pieces, name: str) -> Partial | None:
        """A piece; None if it is not there, or is damaged: then it is removed."""
        content = pieces.read(name)
        try:
            return None if content is None else self._kept.current(from_bytes(content))
        except Exception as error:  # whatever zipfile and NumPy make of it
            if known_error := machine_error(error):
                raise known_error from error
            pieces.remove(name)
            return None

    @functools.cached_property
    def _extended(self) -> set[str]:
        """The cells that began with nodes."""
        return {name for name, known in self._listed().items() if known.nodes}

    def _listed(self, only: str = "") -> Mapping[str, Known]:
        """What is there of each cell of which anything is; with `only`, of one cell."""
        if self._n == 1:
            return {}
        return known_cells(self._cells.pieces, self._cells.nodes, self._full, self.grid[-1], only)

    def _name(self, cell: Chunk, number: int, place: Place | None = None) -> str:
        """The name of a piece of a pass, or of what the pass begins with."""
        return _name(cell, "/" + name_of(number, place, self._full, self.grid[-1]))


def passes(sweep: Sweep, shape: tuple[int, ...]) -> int:
    """How often each point is computed, in chunks of that shape of the grid; rarely once more."""
    reduction = sweep.reduction
    return 2 if reduction and reduction.exact_quantiles and shape[-1] < reduction.size else 1


def in_pass(number: int, chunk: Chunk, grid: tuple[int, ...], shape: tuple[int, ...]) -> Chunk:
    """A chunk of the first pass as that of another one with the same points."""
    index = chunk.index[-1] + number * chunk_counts(grid, shape)[-1]
    return replace(chunk, index=(*chunk.index[:-1], index))


def stretches(cell: Chunk, grid: tuple[int, ...], shape: tuple[int, ...]) -> list[Chunk]:
    """The chunks of a grid, of that shape, that a chunk of cells has; itself without stretches."""
    if len(grid) == len(cell.index):
        return [cell]
    return [chunk_at((*cell.index, i), grid, shape) for i in range(chunk_counts(grid, shape)[-1])]


@dataclass(frozen=True)
class Remaining:
    """What is left to compute, and how much there is in all.

    With exact quantiles of cells that are computed in stretches, each point counts once per pass.
    """

    pending: Sequence[Chunk]
    later: Sequence[Chunk]  # of a second pass, which cannot begin yet
    points_total: int
    chunks_total: int
    points_again: int = 0  # of points_total, those of passes after the first

    @property
    def points_left(self) -> int:
        return sum(chunk.n_points for chunk in (*self.pending, *self.later))

    @property
    def chunks_left(self) -> int:
        return len(self.pending) + len(self.later)


def remaining(results: Results) -> Remaining:
    """What is left to compute of a store, or of results in memory."""
    results = in_stretches(results)
    n_points, pending = results.sweep.n_points, results.pending()
    if not isinstance(results, InStretches):
        return Remaining(pending, (), n_points, results.n_chunks)
    n_passes = passes(results.sweep, results.chunk_shape)
    points_again = (n_passes - 1) * n_points
    # Passes after the second count as far as they have begun.
    per_pass = -(-results.grid[-1] // results.chunk_shape[-1])
    for chunk in {chunk.index[:-1]: chunk for chunk in pending}.values():
        points_of_cells = results.grid[-1] * math.prod(chunk.shape[:-1])
        points_again += points_of_cells * max(chunk.index[-1] // per_pass - 1, 0)
    return Remaining(
        pending, results.later(), n_points + points_again, n_passes * results.n_chunks, points_again
    )


def _name(cell: Chunk, rest: str = "") -> str:
    return key(cell.index, ".") + rest


def _cell(chunk: Chunk) -> Chunk:
    return Chunk(chunk.index[:-1], chunk.start[:-1], chunk.shape[:-1])
