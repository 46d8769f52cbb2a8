"""Estimates before a run: points, disk space, memory, and the time, from one timed batch."""

from __future__ import annotations

import math
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from sweep.engine.computing import Deadline, RunState, points_of_a_call
from sweep.engine.driver import max_points, open_store, with_points
from sweep.engine.loop import FEW_CHUNKS_SECONDS
from sweep.engine.slurm import jobs_and_cores
from sweep.engine.workers import threads_for, threads_of_gpu, usable_processors
from sweep.file.csv_table import csv_table
from sweep.kernel.backend import Backend, Stopped
from sweep.kernel.gpu_discovery import find_gpus
from sweep.kernel.opening import open_backend
from sweep.model.shipped import configs_folder
from sweep.model.table import array_types
from sweep.points.chunking import (
    chunk_at,
    chunk_counts,
    chunks,
    of_shard,
    points_of_more_chunks,
    work_shape,
)
from sweep.points.columns import points, variant_sets
from sweep.points.stages import staged
from sweep.request.chunk import Chunk, Points
from sweep.request.options import SLURM
from sweep.request.sweeps import VALUES_IN_MEMORY, AnySweep, Axis, Reduced, Request, Sweep, is_array
from sweep.store import anything_at, is_url, layout, target_of

TIMED_SECONDS = 2.0
MAX_SECONDS = 10.0  # until the first point is done
BLOCK = 4  # neighbours in a batch: few, so that a small batch has points from all over the sweep
BATCHES = [4**power for power in range(10)]  # points, each batch computed after the one before
VALUE_BYTES = 8
FILE_BLOCK = 4096  # bytes a file may occupy beyond its contents
GOLDEN = 0.618033988749894848  # its multiples modulo 1 are spread evenly


@dataclass(frozen=True)
class Forecast:
    """The pending part of a sweep, and the time and disk space that it takes."""

    points_total: int
    points_pending: int  # of a shard, if the options name one
    chunks_pending: int
    chunk_points: int  # of a whole chunk
    bytes_on_disk: int  # at most: results before compression, in whole file blocks
    bytes_free: int | None  # on the store's disk; None if the store is not on this machine
    bytes_of_memory: int  # at most, beyond the program itself: axis values, chunks in progress
    workers: int  # of this machine
    backend: str
    points_per_second: float | None  # of all workers; None if unknown or if nothing is pending
    seconds: float | None  # without writing and the machine's other load; None if unknown
    chunk_points_to_use_all: int | None  # if a new store has too few chunks for the workers
    points_at_most: int | None  # if more follow from results, for which nothing else counts

    @property
    def fits(self) -> bool:
        """Whether the disk is large enough."""
        return self.bytes_free is None or self.bytes_on_disk <= self.bytes_free


def forecast(request: Request, path: str | Path) -> Forecast:
    """What running the request in the store at `path` takes on this machine; nothing is written.

    If the store exists, only pending chunks count, and for a shard only its own. Points that follow
    from the results are not known yet. One of several GPUs is timed, and the others are assumed to
    be as fast. SweepError as of a run.
    """
    points_at_most, request = max_points(request, path), with_points(request, path)
    options, is_made = request.options, anything_at(path)
    sweep, shape, pending = _pending(request, path, is_made=is_made)
    n_gpus = 1 if options.gpus is None else len(find_gpus(options.gpus))
    backend = open_backend(options.backend)
    threads = threads_for(backend, options) if options.gpus is None else threads_of_gpu(n_gpus)
    workers = min(n_gpus * threads, max(len(pending), 1))
    points_left = sum(chunk.n_points for chunk in pending)
    chunk_points = points_held = chunk_at((0,) * len(shape), sweep.computed_shape, shape).n_points
    if backend.name == "gpu":  # it computes adjacent chunks together
        points_held = max(chunk_points, min(points_of_a_call(sweep), points_left))
    rate, seconds, points_to_use_all = None, None if pending else 0.0, None
    if pending:
        rate = timed(sweep.points, backend, -(-workers // n_gpus))
    if rate is not None:
        rate *= min(n_gpus, workers)
        seconds = points_left / rate
    is_long = seconds is None or seconds >= FEW_CHUNKS_SECONDS
    if is_long and not is_made and backend.name != "gpu":
        many = math.prod(jobs_and_cores(options)) if options.cluster == SLURM else threads
        points_to_use_all = points_of_more_chunks(points_left, len(pending), many)
    return Forecast(
        points_total=sweep.n_points,
        points_pending=points_left,
        chunks_pending=len(pending),
        chunk_points=chunk_points,
        bytes_on_disk=_bytes_on_disk(sweep, len(pending), points_left, is_made=is_made),
        bytes_free=_free(path),
        bytes_of_memory=_bytes_held(sweep.points)
        + workers * points_held * _bytes_at_work(sweep.points),
        workers=workers,
        backend=backend.description,
        points_per_second=rate,
        seconds=seconds,
        chunk_points_to_use_all=points_to_use_all,
        points_at_most=points_at_most,
    )


def _pending(
    request: Request, path: str | Path, *, is_made: bool
) -> tuple[AnySweep, tuple[int, ...], list[Chunk]]:
    """The sweep of a store or of the request, the shape of its chunks, and what is pending."""
    sweep, options = request.sweep, request.options
    if is_made:
        store = open_store(request, path)
        target = target_of(store)
        sweep, shape, pending = store.sweep, target.chunk_shape, target.pending()
        again = [*store.chunk_files.torn(), *(store.failed() if options.retry_failed else [])]
        n_cell = len(sweep.grid.shape)  # dimensions of a store's chunks; blocks have one more
        reopened = {cell.index for cell in again} - {chunk.index[:n_cell] for chunk in pending}
        every = chunks(sweep.computed_shape, shape)
        pending += [chunk for chunk in every if chunk.index[:n_cell] in reopened]
    else:
        shape = work_shape(sweep, options.chunk_points)
        pending = list(chunks(sweep.computed_shape, shape))
    counts = chunk_counts(sweep.computed_shape, shape)
    return sweep, shape, of_shard(pending, counts, options.shard)


def timed(sweep: Sweep, backend: Backend, threads: int) -> float | None:
    """Points per second of these threads, or of as many as there are processors.

    Points from all over the sweep are computed for TIMED_SECONDS, one by each thread at least. None
    if that takes more than MAX_SECONDS.
    """
    sweep = sweep.with_axes([*map(_head, sweep.axes)])
    backend.prepare(sweep, batch_of(sweep, 0.0, 1).variants)
    threads = min(threads, usable_processors())
    with ThreadPoolExecutor(threads) as executor:
        starts = [(thread + 0.5) / threads for thread in range(threads)]
        rates = [*executor.map(partial(_rate, sweep, backend), starts)]
    return sum(rates) if all(rates) else None


def _rate(sweep: Sweep, backend: Backend, start: float) -> float:
    """Points per second of the largest batch that is done in time; 0 if none is.

    A processor computes up to 32 points at once, so the rate of fewer is too low.
    """
    rate, began = 0.0, time.perf_counter()
    for size in BATCHES:
        batch, batch_began = batch_of(sweep, start, size), time.perf_counter()
        end = began + (TIMED_SECONDS if rate else MAX_SECONDS)
        try:
            deadline = Deadline(RunState(end - batch_began))
            backend.compute(sweep.of_kernel, batch, deadline, staged(sweep, batch))
        except Stopped:
            break
        rate = size / (time.perf_counter() - batch_began)
    return rate


def _head(axis: Axis) -> Axis:
    """The same axis with its values in memory; of a long sample, the first part.

    The first points of a sample are spread as evenly as all of them.
    """
    n_values = VALUES_IN_MEMORY if "method" in axis.recipe else axis.size
    return replace(axis, columns={name: values[:n_values] for name, values in axis.columns.items()})


@dataclass(frozen=True)
class Speed:
    """How fast this machine computes points from all over a sweep, without storing them."""

    name: str
    model: str
    method: str
    backend: str
    workers: int  # threads
    points_per_second: float | None  # of all threads; None if a point takes too long


def speed_of(request: Request, workers: int = 1) -> Speed:
    """The speed of this many threads, kernels being compiled. SweepError as of a run."""
    sweep = request.sweep.points
    backend = open_backend(request.options.backend)
    names = request.name, sweep.model.name, sweep.method.name
    return Speed(*names, backend.description, workers, timed(sweep, backend, workers))


@dataclass(frozen=True)
class RecordedSpeed:
    """How fast one core of another machine computed a shipped sweep."""

    points_per_second: float
    machine: str  # its processor and compiler, and the date


def recorded_speeds() -> dict[str, RecordedSpeed]:
    """The speeds of shipped sweeps by name, all measured in one run."""
    file = csv_table(configs_folder() / "speeds.csv")
    machine = file.comments[0].removeprefix("# ").rstrip()
    names = [cells[0] for _, cells in file.rows]
    paces = file.numbers("points_per_second").tolist()
    return {name: RecordedSpeed(pace, machine) for name, pace in zip(names, paces, strict=True)}


def batch_of(sweep: Sweep, start: float, size: int) -> Points:
    """`size` points in blocks of neighbours from all over the sweep, the first at a share `start`.

    All batches have the same variants, those that hold in the whole sweep.
    """
    blocks = np.arange(-(-size // BLOCK))
    firsts = np.floor((start + GOLDEN * blocks) % 1.0 * sweep.n_points).astype(np.int64)
    flat = (firsts[:, None] + np.arange(BLOCK)).ravel()[:size] % sweep.n_points
    places = np.unravel_index(flat, shape) if (shape := sweep.grid.shape) else ()
    columns = {
        name: np.asarray(values[:])[place]
        for axis, place in zip(sweep.axes, places, strict=True)
        for name, values in axis.columns.items()
    }
    if not columns:
        return points(sweep, Chunk((), (), ()))
    probed = replace(sweep, axes=(Axis("point", columns, {}),))
    (variants,) = variant_sets(sweep, sweep.grid.shape)
    return replace(points(probed, Chunk((0,), (0,), (size,))), variants=variants)


def _bytes_on_disk(sweep: AnySweep, n_chunks: int, n_points: int, *, is_made: bool) -> int:
    """Bytes of the results of these chunks, and of the axis values of a new store."""
    results = layout.results(sweep)
    cells = -(-n_points // (sweep.size if isinstance(sweep, Reduced) else 1))
    n_bytes = cells * sum(each.point_bytes for each in results)
    n_bytes += FILE_BLOCK * n_chunks * len(results)
    if is_made:
        return n_bytes
    columns = [values for axis in sweep.grid.axes for values in axis.columns.values()]
    for axis in sweep.over if isinstance(sweep, Reduced) else ():
        columns += filter(is_array, axis.columns.values())
    n_files = 2 * len(sweep.points.inputs) + 8
    return n_bytes + VALUE_BYTES * sum(map(len, columns)) + FILE_BLOCK * n_files


def _bytes_held(sweep: Sweep) -> int:
    """Bytes of the axis values; of values drawn or read in parts, of one part."""
    columns = (values for axis in sweep.axes for values in axis.columns.values())
    sizes = (len(each) if is_array(each) else min(len(each), VALUES_IN_MEMORY) for each in columns)
    return VALUE_BYTES * sum(sizes)


def _bytes_at_work(sweep: Sweep) -> int:
    """Bytes of a point in a worker: its outputs as computed and as stored, and one compressed."""
    computed = sum(np.dtype(dtype).itemsize for dtype in array_types(sweep.outputs).values())
    stored = [variable.point_bytes for variable in layout.results(sweep)]
    converted = 0 if sweep.dtype == "float64" else sum(stored)
    return computed + converted + 2 * max(stored)


def _free(path: str | Path) -> int | None:
    """Free bytes on the disk where the path is or would be; None for a URL."""
    if is_url(path):
        return None
    folders = (Path(path), *Path(path).parents)
    return shutil.disk_usage(next(folder for folder in folders if folder.exists())).free
