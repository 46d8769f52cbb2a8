"""Estimates before a run: points, disk space, memory, and the time, by a short probe."""

from __future__ import annotations

import math
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

import numpy as np

from sweep.backends import Arrays, Backend, Stopped, open_backend
from sweep.backends.visible import find_gpus
from sweep.causes import causes
from sweep.config.csv_table import csv_table
from sweep.engine.crews import (
    MIN_GPU_THREADS,
    needs_backend_here,
    threads_for,
    threads_of_gpu,
    usable_processors,
)
from sweep.engine.driver import open_store
from sweep.engine.ledger import of_shard
from sweep.engine.loop import FEW_CHUNKS_SECONDS
from sweep.engine.worker import Deadline, RunState, points_of_a_call
from sweep.options import SLURM, RunOptions
from sweep.plan.chunking import (
    chunk_at,
    chunk_counts,
    chunks,
    points_of_more_chunks,
    work_shape,
)
from sweep.plan.point_columns import points, variant_sets
from sweep.request import STRETCH, AnySweep, Axis, Reduced, Request, Sweep, is_array
from sweep.shipped import configs_folder
from sweep.spec import Status, array_types, status_counts
from sweep.store import anything_at, is_url, layout, target_of
from sweep.store.upkeep import failed
from sweep.work import Chunk, Points

PROBE_SECONDS = 1.0
MAX_PROBE_SECONDS = 10.0  # until the first few points are done
BLOCK = 64  # neighbouring points that are probed together, as they are in a chunk
MAX_BATCH = 2**16
VALUE_BYTES = 8
FILE_BLOCK = 4096  # bytes a file may occupy beyond its contents
GOLDEN = 0.618033988749894848  # its multiples modulo 1 are spread evenly


@dataclass
class Probed:
    """The points that a probe has computed, by status, and those outside validity by cause."""

    counts: Counter[Status] = field(default_factory=Counter[Status])
    causes: Counter[str] = field(default_factory=Counter[str])
    _guard: Lock = field(default_factory=Lock)

    def add(self, sweep: Sweep, batch: Points, arrays: Arrays) -> None:
        """Count the points of a batch; several threads may."""
        if "status" not in arrays:
            return
        status = arrays["status"]
        place = np.flatnonzero(status == Status.outside_validity)
        at = {name: column.at(place) for name, column in batch.columns.items()}
        outside = causes(sweep.model, sweep.method, at)
        with self._guard:
            self.counts.update(status_counts(status))
            self.causes.update(outside)


@dataclass(frozen=True)
class Forecast:
    """What is pending of a sweep, and what computing it takes."""

    points_total: int
    points_pending: int
    chunks_pending: int
    chunk_points: int  # of a whole chunk
    bytes_on_disk: int  # at most: results before compression, in whole file blocks
    bytes_free: int | None  # on the store's disk; None if the store is not on this machine
    bytes_of_memory: int  # at most, beyond the program itself: axis values, chunks in progress
    workers: int
    backend: str
    points_per_second: float | None  # of all workers; None if the probe finished no point
    seconds: float | None
    shard: tuple[int, int] | None = None  # then all but points_total is of that shard alone
    points_at_most: int | None = None  # if more follow from results, for which nothing else counts
    processors: int = 1  # on which the workers run: of this machine, or of all SLURM jobs
    elsewhere: bool = False  # the workers are on other machines, assumed to be as fast as this one
    probed: Probed = field(default_factory=lambda: Probed())
    chunk_points_to_use_all: int | None = None  # if there are too few chunks for the workers

    @property
    def fits(self) -> bool:
        """Whether the disk is large enough."""
        return self.bytes_free is None or self.bytes_on_disk <= self.bytes_free


def forecast_of(request: Request, path: str | Path) -> Forecast:
    """What running the request in the store at `path` takes; nothing is written.

    If the store exists, only pending chunks count, and for a shard only its own. Points that follow
    from the results are not known yet. SweepError as of a run.
    """
    sweep, options = request.sweep, request.options
    if not needs_backend_here(options) and options.cluster != SLURM:
        options = replace(options, workers=None)  # they are elsewhere, and this machine is probed
    is_made = anything_at(path)
    if is_made:
        store = open_store(request, path)
        target = target_of(store)
        sweep, shape, pending = store.sweep, target.chunk_shape, target.pending()
        again = [*store.chunk_files.torn(), *(failed(store) if options.retry_failed else [])]
        known = {chunk.index for chunk in pending}
        n_cell = len(sweep.grid.shape)  # dimensions of a store's chunks; blocks have one more
        reopened = {cell.index for cell in again} - {index[:n_cell] for index in known}
        every = chunks(sweep.computed_shape, shape)
        pending += [chunk for chunk in every if chunk.index[:n_cell] in reopened]
    else:
        shape = work_shape(sweep, options.chunk_points)
        pending = list(chunks(sweep.computed_shape, shape))
    if options.shard is not None:
        pending = of_shard(pending, chunk_counts(sweep.computed_shape, shape), *options.shard)
    return forecast(sweep, pending, shape, options, path, is_made=is_made)


def forecast(
    sweep: AnySweep,
    pending: Sequence[Chunk],
    chunk_shape: tuple[int, ...],
    options: RunOptions,
    path: str | Path,
    *,
    is_made: bool,
) -> Forecast:
    """What computing the pending chunks into a store at `path` takes; nothing is written.

    The time is extrapolated from a one-second probe of the backend, on as many threads as there are
    workers and processors, at points from all over the sweep. It leaves out writing and the
    machine's other load. One of several GPUs is probed, and the others are assumed to be as
    fast; so are the cores of SLURM jobs, of which as many as this machine has are probed.
    SweepError as of a run.
    """
    n_gpus = len(find_gpus(options.gpus)) if options.gpus is not None else 1
    backend = open_backend(options.backend)
    on_gpus = options.gpus is not None
    max_workers = n_gpus * threads_of_gpu(n_gpus) if on_gpus else threads_for(backend, options)
    processors = usable_processors()
    elsewhere = options.cluster == SLURM
    if elsewhere:
        from sweep.engine.schedulers import jobs_and_cores

        processors = max_workers = math.prod(jobs_and_cores(options))
    workers = min(max_workers, max(len(pending), 1))
    points_left = sum(chunk.n_points for chunk in pending)
    rate, probed = None, Probed()
    if pending:
        threads, alike = -(-workers // n_gpus), min(n_gpus, workers)
        if backend.name == "cpu":  # more threads than processors would not be faster
            threads = min(threads, usable_processors())
            alike = min(workers, processors) / threads
        if backend.name == "gpu":  # the other threads write
            threads = min(threads, MIN_GPU_THREADS)
        rate = probe(sweep.points, backend, threads, probed)
        rate = None if rate is None else rate * alike
    chunk_points = chunk_at((0,) * len(chunk_shape), sweep.computed_shape, chunk_shape).n_points
    points_to_use_all = None
    seconds = points_left / rate if rate else (None if points_left else 0.0)
    if backend.name != "gpu" and (seconds is None or seconds >= FEW_CHUNKS_SECONDS):
        n_shards = 1 if options.shard is None else options.shard[1]
        n_chunks = -(-math.prod(chunk_counts(sweep.computed_shape, chunk_shape)) // n_shards)
        points_to_use_all = points_of_more_chunks(sweep.n_points // n_shards, n_chunks, max_workers)
    points_held = chunk_points
    if backend.name == "gpu":
        points_held = max(chunk_points, min(points_of_a_call(sweep), points_left))
    cells = -(-points_left // (sweep.size if isinstance(sweep, Reduced) else 1))
    columns = [values for axis in sweep.grid.axes for values in axis.columns.values()]
    for axis in sweep.over if isinstance(sweep, Reduced) else ():
        columns += filter(is_array, axis.columns.values())
    axes = VALUE_BYTES * sum(map(len, columns))
    results = layout.results(sweep)
    per_point = sum(variable.point_bytes for variable in results)
    files = len(pending) * len(results) + (0 if is_made else 2 * len(sweep.points.inputs) + 8)
    return Forecast(
        points_total=sweep.n_points,
        points_pending=points_left,
        chunks_pending=len(pending),
        chunk_points=chunk_points,
        bytes_on_disk=cells * per_point + files * FILE_BLOCK + (0 if is_made else axes),
        bytes_free=_free(path),
        bytes_of_memory=_bytes_held(sweep.points)
        + workers * points_held * _bytes_at_work(sweep.points),
        workers=workers,
        backend=backend.description,
        points_per_second=rate,
        seconds=seconds,
        shard=options.shard,
        processors=processors,
        elsewhere=elsewhere,
        probed=probed,
        chunk_points_to_use_all=points_to_use_all,
    )


def _head(axis: Axis) -> Axis:
    """The same axis with its values in memory; of a long sample, the first stretch.

    The first points of a sample are spread as evenly as all of them.
    """
    n_values = STRETCH if "method" in axis.recipe else axis.size
    return replace(axis, columns={name: values[:n_values] for name, values in axis.columns.items()})


def probe(
    sweep: Sweep, backend: Backend, workers: int, probed: Probed | None = None
) -> float | None:
    """Points per second that the workers compute together; None if the first ones take too long.

    The points are counted in `probed`.
    """
    probed = probed or Probed()
    sweep = sweep.with_axes([*map(_head, sweep.axes)])
    backend.prepare(sweep, batch_of(sweep, 0.0, 1))
    with ThreadPoolExecutor(workers) as executor:
        starts = [worker / workers for worker in range(workers)]
        paces = [executor.submit(_pace, sweep, backend, start, probed) for start in starts]
        rates = [pace.result() for pace in paces]
    measured_rates = [rate for rate in rates if rate is not None]
    return sum(measured_rates) if len(measured_rates) == len(rates) else None


@dataclass(frozen=True)
class Speed:
    """How fast this machine computes points from all over a sweep, without storing them."""

    name: str
    model: str
    method: str
    backend: str
    workers: int  # threads
    points_per_second: float | None  # of all threads; None if the probe finished no point


def speed_of(request: Request, workers: int = 1) -> Speed:
    """The result of a one-second probe, kernels being compiled. SweepError as of a run."""
    sweep = request.sweep.points
    backend = open_backend(request.options.backend)
    names = request.name, sweep.model.name, sweep.method.name
    return Speed(*names, backend.description, workers, probe(sweep, backend, workers))


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


def _pace(sweep: Sweep, backend: Backend, start: float, probed: Probed) -> float | None:
    began = time.perf_counter()
    n_points, size, seconds = 0, BLOCK, 0.0
    while seconds < PROBE_SECONDS:
        longest = 2 * PROBE_SECONDS if n_points else MAX_PROBE_SECONDS
        try:
            seconds_left = began + longest - time.perf_counter()
            batch = batch_of(sweep, start, size)
            computed = backend.compute(sweep, batch, Deadline(RunState(seconds_left)))
        except Stopped:
            break
        n_points, start = n_points + size, start + GOLDEN * size / BLOCK
        seconds = time.perf_counter() - began
        probed.add(sweep, batch, computed.arrays)
        size = min(2 * size, MAX_BATCH)
    return n_points / seconds if n_points else None


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


def _bytes_held(sweep: Sweep) -> int:
    """Bytes of the axis values; of values drawn or read in stretches, of one stretch."""
    columns = (values for axis in sweep.axes for values in axis.columns.values())
    sizes = (len(each) if is_array(each) else min(len(each), STRETCH) for each in columns)
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
