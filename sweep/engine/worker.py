"""What computes a task: in a thread of this process, or in another process that opens all it needs.

What travels to another process with a task is a `Job` and the store's location. That process opens
store and backend once, and keeps what it knows of the run in a `RunState`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, reduce
from threading import Event
from typing import Any, TypeAlias

import numpy as np

from sweep.backends import Backend, Stopped
from sweep.backends.base import Arrays, Computed
from sweep.backends.visible import VARIABLE
from sweep.engine.fitness import Code, refuse_other_kernel, refuse_other_version, unfit
from sweep.engine.ledger import Receipt
from sweep.errors import CompileError, MachineError, StoreError, SweepError
from sweep.options import RunOptions
from sweep.plan.chunking import joined
from sweep.plan.point_columns import points, variants_of
from sweep.request import AnySweep, Reduced
from sweep.spec import Status, array_types, status_counts
from sweep.statistics.counts import reduced_counts
from sweep.statistics.partial import Kept
from sweep.store import Store, Target, anything_at, target_of
from sweep.work import Chunk, Task

# Of results and parameters that one call of a GPU holds; their threads are as many as processors.
POINTS_OF_A_CALL, BYTES_OF_A_CALL = 2**24, 2**28
CALL_SECONDS = 2.0  # that such a call should take, so that a killed process loses little
LATE = 10  # times as many, and its chunks are computed one by one

Ready: TypeAlias = tuple[Computed, float]  # the results of a chunk, and its share of the seconds


class RunState:
    """What a process knows of a run: whether to stop, a chunk's time limit, chunks in progress."""

    def __init__(self, limit: float = float("inf")) -> None:
        self.stop = Event()
        self.limit = limit  # s for a chunk; updated while chunks are being computed
        self.leaving = False  # this process is about to end, and starts no more chunks
        self.in_progress: set[Chunk] = set()
        self.rate = 0.0  # points/s of the last call; 0 before the first one has ended
        self.most_points = POINTS_OF_A_CALL  # fewer once a call of several chunks has failed


class Deadline(Event):
    """Set once the run is to stop, or `patience` times its limit or `most` seconds have passed."""

    def __init__(self, state: RunState, patience: float = 1.0, most: float = float("inf")) -> None:
        super().__init__()
        self._state = state
        self._patience = patience
        self._most = most
        self._start = time.monotonic()

    @property
    def seconds(self) -> float:
        return min(self._patience * self._state.limit, self._most)

    def is_set(self) -> bool:
        return self._state.stop.is_set() or time.monotonic() - self._start > self.seconds


def points_of_a_call(sweep: AnySweep) -> int:
    """The points of adjacent chunks that a GPU computes in one call, at most."""
    if isinstance(sweep, Reduced):
        return 0
    n_bytes = sum(np.dtype(each).itemsize for each in array_types(sweep.outputs).values())
    n_bytes += 8 * sum(len(axis.columns) for axis in sweep.axes) + 8 * len(sweep.derived)
    return min(POINTS_OF_A_CALL, BYTES_OF_A_CALL // n_bytes)


@dataclass(frozen=True)
class Worker:
    """A target and a backend, open in this process."""

    target: Target
    backend: Backend
    state: RunState
    gpu: str = ""  # which of several GPUs, for the receipts

    def __call__(self, task: Task, patience: float = 1.0) -> list[Receipt]:
        """Compute and write every chunk of a task; chunks after a stop are left out.

        Errors of the request or the machine are raised. Any other error is reported in the chunk's
        receipt, and so is a chunk that takes longer than `patience` times the limit.
        """
        receipts: list[Receipt] = []
        for chunk, ready in self._ready(task.chunks):
            if self.state.leaving and ready is None:
                break
            deadline = Deadline(self.state, patience)
            self.state.in_progress.add(chunk)
            try:
                receipts.append(self._compute(chunk, deadline, ready))
            except Stopped:
                if self.state.stop.is_set():
                    break
                error = f"it hung: stopped after {deadline.seconds:,.1f} s"
                receipts.append(Receipt(chunk, error=error))
            except SweepError:
                raise
            except MemoryError as error:
                raise MachineError(
                    f"not enough memory for a chunk of {chunk.n_points:,} points on each worker. "
                    "Finished chunks are kept: run the same sweep again with fewer "
                    "`workers`, or in a new store with smaller chunks (`chunk_points`)"
                ) from error
            except ImportError as error:
                raise MachineError(
                    f"the installation is broken ({error}): install tribosweep again"
                ) from error
            except Exception as error:  # a bug of this program costs one chunk, not the run
                receipts.append(Receipt(chunk, error=f"{type(error).__name__}: {error}"))
            finally:
                self.state.in_progress.discard(chunk)
        return receipts

    def blocks(self, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, tuple[Chunk, ...]]]:
        """What is computed in one call each: a chunk, or a block of several on a GPU, with these.

        A chunk is enough work for a processor, but not for a GPU. The first one is computed alone,
        which shows how many are computed in CALL_SECONDS.
        """
        sweep, state = self.target.sweep, self.state
        if self.backend.name != "gpu" or isinstance(sweep, Reduced):
            yield from ((chunk, (chunk,)) for chunk in chunks)
            return
        while chunks:
            most = int(min(points_of_a_call(sweep), state.most_points, state.rate * CALL_SECONDS))
            near = chunks[: max(most // chunks[0].n_points, 1)]
            yield from joined(near, most, partial(variants_of, sweep))
            chunks = chunks[len(near) :]

    def _ready(self, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, Ready | None]]:
        """The chunks, with what was computed of them if adjacent ones were computed in one call.

        Where such a call fails or hangs, its chunks are left to be computed one by one, which shows
        which of them is to blame.
        """
        for block, parts in self.blocks(chunks):
            ready: dict[Chunk, Ready] = {}
            self.state.in_progress.update(parts)
            try:
                if len(parts) > 1 and not self.state.leaving:
                    ready = self._together(block, parts)
                for chunk in parts:
                    yield chunk, ready.pop(chunk, None)
            finally:
                self.state.in_progress.difference_update(parts)

    def _together(self, block: Chunk, chunks: Sequence[Chunk]) -> dict[Chunk, Ready]:
        """What one call computes of the chunks of a block; nothing if it fails."""
        if self.target.whole(chunks):
            return {}
        try:
            whole, seconds = self._computed(block, Deadline(self.state, 1.0, LATE * CALL_SECONDS))
        except SweepError:
            raise
        except Exception:  # of one of the chunks, or there is not enough memory for all
            self.state.most_points = min(self.state.most_points, block.n_points // 2)
            return {}
        ready: dict[Chunk, Ready] = {}
        for chunk in chunks:
            share = chunk.n_points / block.n_points
            first = [a - b for a, b in zip(chunk.start, block.start, strict=True)]
            here = tuple(slice(a, a + n) for a, n in zip(first, chunk.shape, strict=True))
            arrays = {n: v.reshape(block.shape)[here].ravel() for n, v in whole.arrays.items()}
            ready[chunk] = Computed(arrays, share * whole.kernel_seconds), share * seconds
        return ready

    def _compute(self, chunk: Chunk, deadline: Deadline, ready: Ready | None = None) -> Receipt:
        if self.target.whole([chunk]):  # a scheduler that is not ours may send a lost task twice
            return Receipt(chunk, self.target.counts([chunk]))
        computed, seconds = ready or self._computed(chunk, deadline)
        start = time.perf_counter()
        self.target.write(chunk, computed.arrays)
        seconds += time.perf_counter() - start
        arrays, are_points = computed.arrays, self.target.kept is None
        counts = counts_of(arrays) if are_points else reduced_counts(Kept.counts(arrays))
        receipt = Receipt(chunk, counts, computed.kernel_seconds, seconds)
        details: dict[str, object] = {
            "extremes": extremes_of(arrays) if are_points else {},
            "kernel_seconds": receipt.kernel_seconds,
            "seconds": seconds,
            "device": self.backend.description + (f" ({self.gpu})" if self.gpu else ""),
        }
        self.target.append_receipt({**receipt.line(), **details})
        return receipt

    def _computed(self, block: Chunk, deadline: Deadline) -> Ready:
        start = time.perf_counter()
        parts = (self._part(each, deadline) for each in self.target.parts(block))
        computed = reduce(self._merged, parts)
        seconds = time.perf_counter() - start
        self.state.rate = block.n_points / max(seconds, 1e-9)
        return computed, seconds

    def _part(self, part: Chunk, deadline: Deadline) -> Computed:
        sweep, kept = self.target.sweep, self.target.kept
        points_of_part = points(sweep, part)
        then = None if kept is None else kept.then(points_of_part)
        return self.backend.compute(sweep.points, points_of_part, deadline, then)

    def _merged(self, one: Computed, other: Computed) -> Computed:
        assert self.target.kept is not None  # otherwise there is one part
        arrays = self.target.kept.merged(one.arrays, other.arrays)
        return Computed(arrays, one.kernel_seconds + other.kernel_seconds)


def counts_of(arrays: Arrays) -> Mapping[Status, int]:
    """The number of points by status."""
    status = arrays["status"]
    if not status.any():  # the usual case, and counting is slow
        return {Status.ok: status.size}
    return status_counts(status)


def extremes_of(arrays: Arrays) -> Mapping[str, list[Any]]:
    """Minimum and maximum of each output over the points that are ok."""
    ok = arrays["status"] == Status.ok
    chosen = slice(None) if ok.all() else ok  # usually all are ok, and a mask copies
    return {
        name: [values[chosen].min().item(), values[chosen].max().item()]
        for name, values in arrays.items()
        if name != "status" and ok.any()
    }


@dataclass(frozen=True, eq=False)
class Job:
    """All that a process needs to work for a run, small enough to travel with every task."""

    run: str  # a name that no other run has
    open_backend: Callable[[str], Backend]
    options: RunOptions
    code: Code  # of the leading process
    n_points: int  # of the store, which may become longer

    def __call__(self, store: str, task: Task, patience: float) -> Any:
        """Compute a task into the store at that location; the receipts.

        UnfitError if this process or its machine is to blame.
        """
        with unfit(MachineError, CompileError):
            return opened(self, store)(task, patience)


_STATES: dict[str, RunState] = {}  # by run
_OPENED: dict[tuple[str, str, int], Worker] = {}  # at most one: of the latest run and store
_OPENING = threading.RLock()


def begin(job: Job, store: str) -> Code:
    """Open what this process needs for the job; what it computes with. UnfitError if it cannot."""
    opened(job, store)
    return job.code


def state_of(run: str) -> RunState:
    """The state of that run in this process."""
    return _STATES.setdefault(run, RunState())


def stop_run(run: str) -> None:
    """Make whatever this process computes for that run stop soon, and start nothing more."""
    state_of(run).stop.set()


def forget_run(run: str) -> None:
    """Drop all that this process holds of a run that has ended; receipts are written first."""
    _STATES.pop(run, None)
    _close()


def retire_run(run: str) -> None:
    """Drop all but the stop of a run: a task of it that still arrives computes nothing."""
    stop_run(run)
    _close()


def opened(job: Job, store: str) -> Worker:
    """This process's worker for the job; UnfitError if it cannot open what that needs."""
    with _OPENING, unfit(Exception):
        if (key := (job.run, store, job.n_points)) not in _OPENED:
            _close()
            _OPENED[key] = _open(job, store)
        return _OPENED[key]


def _close() -> None:
    with _OPENING:
        while _OPENED:
            _, worker = _OPENED.popitem()
            with suppress(SweepError):  # receipts are advisory, and that run may be long over
                worker.target.flush()


def _open(job: Job, store: str) -> Worker:
    refuse_other_version(job.code)  # which might not even read the store
    if not anything_at(store):
        raise StoreError(
            f"it does not see {store!r}: mount its disk there at the same path, or give another "
            "store, on a disk or at a URL that all workers see"
        )
    opened = Store.open(store, durable=job.options.durable)
    if opened.sweep.n_points != job.n_points:
        raise StoreError(f"{store!r} was extended meanwhile; run the longer sweep to continue")
    refuse_other_kernel(job.code, opened.sweep.points)
    if job.options.accept_revision:
        opened.receipts.accepted = opened.made_by.accepted(opened.sweep)
    backend = job.open_backend(job.options.backend)
    gpu = os.environ[VARIABLE] if job.options.gpus is not None else ""
    return Worker(target_of(opened), backend, state_of(job.run), gpu)
