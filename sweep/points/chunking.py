"""The chunks of a sweep: how its grid is cut into blocks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from operator import mul

from sweep.errors import SweepError
from sweep.model.table import Method
from sweep.request.chunk import Chunk
from sweep.request.sweeps import AnySweep, Reduced

CHUNKS_OF_A_RUN = 64  # target number, within the limits on the size of a chunk
SLOW_CHUNKS_OF_A_RUN = 256  # the same for methods of which a point may take long
# For exact quantiles, the points of larger cells are computed twice, so smaller ones stay whole.
CHUNKS_OF_A_WORKER = 2  # with fewer, workers wait for the last ones
MAX_CHUNK_POINTS = 2**20
MAX_CHUNKS = 10**5  # files per array that a file system lists quickly
MAX_SWEEP_POINTS = MAX_CHUNKS * MAX_CHUNK_POINTS


def chunk_shape(sweep: AnySweep, chunk_points: int | None = None) -> tuple[int, ...]:
    """The shape of a sweep's chunks: whole trailing dimensions, then a part of one, then ones.

    It depends on the sweep alone. A chunk has 2**16 to 2**20 points, more only if there would be
    over 10**5 chunks; a smaller grid is one chunk. Methods of which a point may take long have more
    and smaller chunks, from `least_chunk` points on. Where an output has several values at each
    point, these count instead of the points. With `chunk_points`, it is the
    smallest such block with at least that many points. Raises SweepError if `chunk_points`
    is below 1 or makes more than 10**5 chunks.
    """
    return work_shape(sweep, chunk_points)[: len(sweep.grid.shape)]


def work_shape(sweep: AnySweep, chunk_points: int | None = None) -> tuple[int, ...]:
    """The shape of what is computed at once, over `computed_shape`: that of the sweep's chunks.

    Of a reduced sweep it is some cells with all of their points, the last dimension, or as many
    points of one cell as a step of its blocks has.
    """
    block = _work_block(sweep, chunk_points)
    if not isinstance(sweep, Reduced) or block[-1] == sweep.size:
        return block
    return (*block[:-1], min(-(-block[-1] // sweep.unit) * sweep.unit, sweep.size))


def chunk_counts(shape: Sequence[int], chunk_shape: Sequence[int]) -> tuple[int, ...]:
    """The number of chunks along each dimension."""
    return tuple(-(-size // step) for size, step in zip(shape, chunk_shape, strict=True))


def points_of_more_chunks(n_points: int, n_chunks: int, workers: int) -> int | None:
    """The `chunk_points` that keep all workers busy; None if this many chunks do."""
    n_needed = CHUNKS_OF_A_WORKER * workers
    if workers == 1 or n_chunks >= min(n_needed, n_points):
        return None
    return max(n_points // (2 * n_needed), 1)  # a block can have up to twice as many


def chunks(
    shape: Sequence[int],
    chunk_shape: Sequence[int],
    marked: Iterable[bool] = itertools.repeat(True),
) -> Iterator[Chunk]:
    """The chunks of a grid, or those of them that are marked, in C order of their index.

    All together they hold every point once.
    """
    sides = list(zip(shape, chunk_shape, strict=True))
    indices = itertools.product(*map(range, chunk_counts(shape, chunk_shape)))
    starts = itertools.product(*(range(0, size, step) for size, step in sides))
    shapes = itertools.product(
        *([min(step, size - start) for start in range(0, size, step)] for size, step in sides)
    )
    every = zip(indices, starts, shapes, strict=True)
    return itertools.starmap(Chunk, itertools.compress(every, marked))


def chunk_at(index: tuple[int, ...], shape: Sequence[int], chunk_shape: Sequence[int]) -> Chunk:
    """The chunk at an index of the grid of chunks; the last along a dimension can be smaller."""
    start = tuple([i * step for i, step in zip(index, chunk_shape, strict=True)])
    ends = zip(start, chunk_shape, shape, strict=True)
    return Chunk(index, start, tuple([min(step, size - a) for a, step, size in ends]))


def of_shard(
    some: Iterable[Chunk], counts: tuple[int, ...], shard: tuple[int, int] | None
) -> list[Chunk]:
    """Those of some chunks that belong to shard i of n, i from 1: every n-th of the sweep's grid.

    Neighbouring chunks take about equally long, and therefore so do shards.
    """
    if shard is None:
        return list(some)
    i, n = shard
    strides = [math.prod(counts[dimension:]) for dimension in range(1, len(counts) + 1)]
    return [chunk for chunk in some if sum(map(mul, chunk.index, strides)) % n == i - 1]


def joined(
    chunks: Iterable[Chunk], most: int, kind: Callable[[Chunk], object]
) -> list[tuple[Chunk, tuple[Chunk, ...]]]:
    """Blocks of at most `most` points that adjacent chunks of a kind form, each with its chunks.

    A block is of the same kind as its chunks. Other chunks are blocks of their own.
    """
    blocks: list[tuple[Chunk, tuple[Chunk, ...], object]] = []
    for chunk in chunks:
        blocks.append((chunk, (chunk,), kind(chunk)))
        while len(blocks) > 1:
            (before, first, one), (after, second, other) = blocks[-2:]
            union = _union(before, after) if one == other else None
            if union is None or union.n_points > most or kind(union) != one:
                break
            blocks[-2:] = [(union, first + second, one)]
    return [(block, parts) for block, parts, _ in blocks]


def _union(before: Chunk, after: Chunk) -> Chunk | None:
    """The block that two blocks form, of which the second follows along one dimension."""
    sides = zip(before.start, before.shape, after.start, after.shape, strict=True)
    shape = [n if (a, n) == (b, m) else n + m if a + n == b else 0 for a, n, b, m in sides]
    n_along = sum(n != m for n, m in zip(shape, before.shape, strict=True))
    return replace(before, shape=tuple(shape)) if n_along == 1 and all(shape) else None


def refuse_many_chunks(
    shape: Sequence[int],
    chunk_shape: Sequence[int],
    cause: str = "",
    cure: str = "use a separate store",
) -> None:
    """Raise SweepError if a grid has more chunks than file systems list quickly.

    The message begins with the cause, by default the size of the chunks, and ends with the cure.
    """
    count = math.prod(chunk_counts(shape, chunk_shape))
    if count > MAX_CHUNKS:
        cause = cause or f"chunks of {math.prod(chunk_shape):,} points cut"
        raise SweepError(
            f"{cause} {math.prod(shape):,} points into {count:,} chunks, at most {MAX_CHUNKS:,} "
            f"are allowed; {cure}"
        )


def _work_block(sweep: AnySweep, chunk_points: int | None) -> tuple[int, ...]:
    # Of an axis that grows with the results, the most values that it may come to have.
    most = tuple(axis.max_size for axis in sweep.grid.axes)
    shape = (*most, *sweep.computed_shape[len(most) :])
    is_exact = isinstance(sweep, Reduced) and sweep.exact_quantiles
    least = shape[-1] if is_exact else 1  # such cells are not divided
    if chunk_points is not None:
        if chunk_points < 1:
            raise SweepError(f"chunk_points={chunk_points!r}: give at least 1")
        block = block_shape(shape, max(chunk_points, least))
        cure = "omit it, or give a larger number"
        refuse_many_chunks(shape, block, f"chunk_points={chunk_points!r} cuts", cure)
        return block
    # A block of at least n points can have up to 2 n, hence half the largest chunk.
    values = max((output.count for output in sweep.points.outputs), default=0) or 1
    target = max(min(_usual_points(sweep), MAX_CHUNK_POINTS // 2 // values), least)
    while math.prod(chunk_counts(shape, block_shape(shape, target))) > MAX_CHUNKS:
        target *= 2
    return block_shape(shape, target)


def _usual_points(sweep: AnySweep) -> int:
    """The points of a chunk where neither outputs nor the number of files limit them.

    Fast methods have 64 to 128 chunks of a power of two; writing more would take as long as
    computing them. Others have 256 to 512 chunks, which keep a hundred workers busy, of a multiple
    of `least_chunk`, which fills the vectors of a processor.
    """
    least = sweep.points.method.least_chunk
    if least == Method.least_chunk:
        power = max(0, (sweep.n_points // CHUNKS_OF_A_RUN).bit_length() - 1)
        return max(1 << power, least)
    return max(sweep.n_points // SLOW_CHUNKS_OF_A_RUN // least, 1) * least


def block_shape(shape: tuple[int, ...], target: int) -> tuple[int, ...]:
    """The smallest block of at least `target` points that is contiguous in C order."""
    block: list[int] = []
    for size in reversed(shape):
        block.append(min(size, max(1, -(-target // math.prod(block)))))
    return tuple(reversed(block))
