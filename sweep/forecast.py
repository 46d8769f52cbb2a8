"""What a sweep will take before it is run: points, disk, memory, and time by a short probe."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

import numpy as np

from sweep.backends import Backend, Stopped, open_backend
from sweep.backends.visible import find_gpus
from sweep.engine import needs_backend_here, threads_for, threads_of_gpu
from sweep.engine.driver import open_store
from sweep.engine.ledger import of_shard
from sweep.options import RunOptions
from sweep.plan import chunk_at, chunk_counts, chunk_shape, chunks, points, variant_sets
from sweep.refine.passes import first_pass, refuse_shard
from sweep.refine.refiner import max_points
from sweep.spec import STRETCH, Axis, Chunk, Points, Request, Sweep, array_types, is_array
from sweep.store import anything_at, is_url, layout

PROBE_SECONDS = 1.0
LONGEST_PROBE = 10.0  # s, until the first few points are done
BLOCK = 64  # neighbouring points probed together, as they lie together in a chunk
LARGEST_BATCH = 2**16
VALUE_BYTES = 8
FILE_BLOCK = 4096  # bytes a file may take beyond what is in it
GOLDEN = 0.618033988749894848  # its multiples are spread evenly over the circle


@dataclass(frozen=True)
class Forecast:
    """What is still to do of a sweep, and what that will take."""

    points_total: int
    points_pending: int
    chunks_pending: int
    chunk_points: int  # of a whole chunk
    bytes_on_disk: int  # at most: results before compression, files filled up to whole blocks
    bytes_free: int | None  # on the disk of the store; None: it is on none of this machine's
    bytes_of_memory: int  # at most, beyond what the program takes: values of axes, chunks at work
    workers: int
    backend: str
    points_per_second: float | None  # of all workers; None: no point was done in LONGEST_PROBE
    seconds: float | None
    shard: tuple[int, int] | None = None  # of which alone is told what is pending and what it takes
    points_at_most: int | None = None  # of a refined sweep, of which all else tells pass 0 alone

    @property
    def fits(self) -> bool:
        """Whether the disk is large enough."""
        return self.bytes_free is None or self.bytes_on_disk <= self.bytes_free


def forecast_of(request: Request, path: str | Path) -> Forecast:
    """What running the request into the store at `path` will take; nothing is written.

    Of a store that is there, only what is still to do counts, and of a shard only its own chunks.
    Of a refined sweep that is not done it is what the coarse grid takes: the rest is known only
    pass by pass. SweepError as of a run.
    """
    if request.refinement is not None:
        return _forecast_of_refined(request, path)
    sweep, options = request.sweep, request.options
    if not needs_backend_here(options):
        options = replace(options, workers=None)  # which are elsewhere; this machine is probed
    is_made = anything_at(path)
    if is_made:
        store = open_store(request, path)
        sweep, shape = store.sweep, store.chunk_shape
        again = [*store.torn(), *(store.failed() if options.retry_failed else [])]
        pending = [*{chunk.index: chunk for chunk in (*store.pending(), *again)}.values()]
    else:
        shape = chunk_shape(sweep, options.chunk_points)
        pending = list(chunks(sweep.shape, shape))
    if options.shard is not None:
        pending = of_shard(pending, chunk_counts(sweep.shape, shape), *options.shard)
    return forecast(sweep, pending, shape, options, path, is_made=is_made)


def forecast(
    sweep: Sweep,
    pending: Sequence[Chunk],
    chunk_shape: tuple[int, ...],
    options: RunOptions,
    path: str | Path,
    *,
    is_made: bool,
) -> Forecast:
    """What computing the pending chunks into a store at `path` will take; nothing is written.

    The time is that of a second's probe of the backend, on as many threads as there are workers, at
    points from all over the sweep; writing comes on top, and what else the machine does. Of several
    GPUs one is probed, and the others are taken to be as fast. SweepError as of a run.
    """
    n_gpus = len(find_gpus(options.gpus)) if options.gpus is not None else 1
    backend = open_backend(options.backend)
    most = threads_for(backend, options)
    most = most if options.gpus is None else n_gpus * threads_of_gpu(n_gpus)
    workers = min(most, max(len(pending), 1))
    left = sum(chunk.n_points for chunk in pending)
    rate = probe(_head(sweep), backend, -(-workers // n_gpus)) if pending else None
    rate = None if rate is None else rate * min(n_gpus, workers)
    whole = chunk_at((0,) * len(chunk_shape), sweep.shape, chunk_shape).n_points
    axes = sum(VALUE_BYTES * axis.size * len(axis.columns) for axis in sweep.axes)
    results = layout.results(sweep)
    per_point = sum(variable.dtype.itemsize for variable in results)
    files = len(pending) * len(results) + (0 if is_made else 2 * len(sweep.parameters) + 8)
    return Forecast(
        points_total=sweep.n_points,
        points_pending=left,
        chunks_pending=len(pending),
        chunk_points=whole,
        bytes_on_disk=left * per_point + files * FILE_BLOCK + (0 if is_made else axes),
        bytes_free=_free(path),
        bytes_of_memory=_bytes_held(sweep) + workers * whole * _bytes_at_work(sweep),
        workers=workers,
        backend=backend.description,
        points_per_second=rate,
        seconds=left / rate if rate else (None if left else 0.0),
        shard=options.shard,
    )


def _forecast_of_refined(request: Request, path: str | Path) -> Forecast:
    """Of the coarse grid alone, with the most points there may be; unless all is there."""
    assert request.refinement is not None
    refuse_shard(request)
    known, place = first_pass(request, path)
    found = forecast_of(replace(known, refinement=None), place)
    if known is not request:
        return found
    return replace(found, points_at_most=max_points(request.sweep, request.refinement))


def _head(sweep: Sweep) -> Sweep:
    """The same sweep with its axes' values in memory, of a sample no more than the first.

    Those lie as evenly as all its points do.
    """
    return replace(sweep, axes=tuple(_first_values(axis) for axis in sweep.axes))


def _first_values(axis: Axis) -> Axis:
    most = STRETCH if "method" in axis.recipe else axis.size
    return replace(axis, columns={name: values[:most] for name, values in axis.columns.items()})


def probe(sweep: Sweep, backend: Backend, workers: int) -> float | None:
    """Points a second that so many workers compute together; None if the first take too long."""
    backend.prepare(sweep, _batch(sweep, 0.0, 1))
    with ThreadPoolExecutor(workers) as executor:
        starts = [worker / workers for worker in range(workers)]
        paces = [executor.submit(_pace, sweep, backend, start) for start in starts]
        rates = [pace.result() for pace in paces]
    known = [rate for rate in rates if rate is not None]
    return sum(known) if len(known) == len(rates) else None


@dataclass(frozen=True)
class Speed:
    """How fast a machine computes points from all over a sweep, storing left out."""

    name: str
    model: str
    method: str
    backend: str
    workers: int  # threads
    points_per_second: float | None  # of all threads; None: not one point was done in 10 s


def speed_of(request: Request, workers: int = 1) -> Speed:
    """What a second's probe finds, after the kernels are compiled. SweepError as of a run."""
    sweep = request.sweep
    backend = open_backend(request.options.backend)
    pace = probe(sweep, backend, workers)
    names = request.name, sweep.model.name, sweep.method.name
    return Speed(*names, backend.description, workers, pace)


class _Deadline(Event):
    """Set once it is past that time of time.perf_counter."""

    def __init__(self, moment: float) -> None:
        super().__init__()
        self._moment = moment

    def is_set(self) -> bool:
        return time.perf_counter() > self._moment


def _pace(sweep: Sweep, backend: Backend, start: float) -> float | None:
    began = time.perf_counter()
    done, size, seconds = 0, BLOCK, 0.0
    while seconds < PROBE_SECONDS:
        longest = 2 * PROBE_SECONDS if done else LONGEST_PROBE
        try:
            backend.compute(sweep, _batch(sweep, start, size), _Deadline(began + longest))
        except Stopped:
            break
        done, start = done + size, start + GOLDEN * size / BLOCK
        seconds = time.perf_counter() - began
        size = min(2 * size, LARGEST_BATCH)
    return done / seconds if done else None


def _batch(sweep: Sweep, start: float, size: int) -> Points:
    """So many points in blocks of neighbours from all over the sweep, the first at `start`.

    All batches have the same variants, those that hold in the whole sweep.
    """
    blocks = np.arange(-(-size // BLOCK))
    firsts = np.floor((start + GOLDEN * blocks) % 1.0 * sweep.n_points).astype(np.int64)
    flat = (firsts[:, None] + np.arange(BLOCK)).ravel()[:size] % sweep.n_points
    places = np.unravel_index(flat, sweep.shape) if sweep.shape else ()
    columns = {
        name: np.asarray(values[:])[place]
        for axis, place in zip(sweep.axes, places, strict=True)
        for name, values in axis.columns.items()
    }
    if not columns:
        return points(sweep, Chunk((), (), ()))
    probed = replace(sweep, axes=(Axis("point", columns, {}),))
    (variants,) = variant_sets(sweep, sweep.shape)
    return replace(points(probed, Chunk((0,), (0,), (size,))), variants=variants)


def _bytes_held(sweep: Sweep) -> int:
    """Of the axes' values; of those that are drawn or read by stretches, one stretch."""
    columns = (values for axis in sweep.axes for values in axis.columns.values())
    sizes = (len(each) if is_array(each) else min(len(each), STRETCH) for each in columns)
    return VALUE_BYTES * sum(sizes)


def _bytes_at_work(sweep: Sweep) -> int:
    """Of a point in a worker: outputs as computed, as stored, and one of them while compressed."""
    computed = sum(np.dtype(dtype).itemsize for dtype in array_types(sweep.outputs).values())
    stored = [variable.dtype.itemsize for variable in layout.results(sweep)]
    converted = 0 if sweep.dtype == "float64" else sum(stored)
    return computed + converted + 2 * max(stored)


def _free(path: str | Path) -> int | None:
    """Bytes free where the path is, or will be; None for a URL."""
    if is_url(path):
        return None
    there = next(folder for folder in _upwards(Path(path)) if folder.exists())
    return shutil.disk_usage(there).free


def _upwards(path: Path) -> Iterator[Path]:
    yield path
    yield from path.parents
