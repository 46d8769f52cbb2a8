"""What computes a task: in a thread of this process, or in another process that opens all it needs.

What travels to another process with a task is a `Job` and the store's location. That process opens
store and backend once, and keeps what it knows of the run in a `RunState`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Any, TypeAlias

import numpy as np

from sweep.backends import Backend, Stopped
from sweep.backends.base import Computed
from sweep.backends.visible import VARIABLE
from sweep.engine.fitness import Code, refuse_other_kernel, refuse_other_version, unfit
from sweep.engine.ledger import Receipt, Results
from sweep.errors import CompileError, MachineError, StoreError, SweepError
from sweep.options import RunOptions
from sweep.plan.chunking import joined
from sweep.plan.point_columns import points, variants_of
from sweep.request import Sweep
from sweep.spec import array_types
from sweep.store import InStretches, Store, anything_at, in_stretches
from sweep.work import Chunk, Points, Task

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


def points_of_a_call(sweep: Sweep) -> int:
    """The points of adjacent chunks that a GPU computes in one call, at most."""
    if sweep.reduction is not None:
        return 0
    n_bytes = sum(np.dtype(each).itemsize for each in array_types(sweep.outputs).values())
    n_bytes += 8 * sum(len(axis.columns) for axis in sweep.axes) + 8 * len(sweep.derived)
    return min(POINTS_OF_A_CALL, BYTES_OF_A_CALL // n_bytes)


@dataclass(frozen=True)
class Worker:
    """Results and a backend, open in this process."""

    results: Results
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
        sweep, state = self.results.sweep, self.state
        if self.backend.name != "gpu" or sweep.reduction is not None:
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
        if self.results.whole(chunks):
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
        if self.results.whole([chunk]):  # a scheduler that is not ours may send a lost task twice
            return Receipt(chunk, self.results.counts([chunk]))
        computed, seconds = ready or self._computed(chunk, deadline)
        start = time.perf_counter()
        self.results.write(chunk, computed.arrays)
        seconds += time.perf_counter() - start
        receipt = Receipt(chunk, computed.counts, computed.kernel_seconds, seconds)
        details = {
            "extremes": computed.extremes,
            "kernel_seconds": receipt.kernel_seconds,
            "seconds": seconds,
            "device": self.backend.description + (f" ({self.gpu})" if self.gpu else ""),
        }
        self.results.append_receipt({**receipt.line(), **details})
        return receipt

    def _computed(self, block: Chunk, deadline: Deadline) -> Ready:
        start = time.perf_counter()
        computed = self.backend.compute(self.results.sweep, self._points(block), deadline)
        seconds = time.perf_counter() - start
        self.state.rate = block.n_points / max(seconds, 1e-9)
        return computed, seconds

    def _points(self, chunk: Chunk) -> Points:
        results = self.results
        if isinstance(results, InStretches):
            return results.points(chunk)
        return points(results.sweep, chunk)


@dataclass(frozen=True, eq=False)
class Job:
    """All that a process needs to work for a run, small enough to travel with every task."""

    run: str  # a name that no other run has
    open_backend: Callable[[str], Backend]
    options: RunOptions
    code: Code  # of the leading process

    def __call__(self, store: str, task: Task, patience: float) -> Any:
        """Compute a task into the store at that location; the receipts.

        UnfitError if this process or its machine is to blame.
        """
        with unfit(MachineError, CompileError):
            return opened(self, store)(task, patience)


_STATES: dict[str, RunState] = {}  # by run
_OPENED: dict[tuple[str, str], Worker] = {}  # at most one: the latest run and store
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
        if (job.run, store) not in _OPENED:
            _close()
            _OPENED[job.run, store] = _open(job, store)
        return _OPENED[job.run, store]


def _close() -> None:
    with _OPENING:
        while _OPENED:
            _, worker = _OPENED.popitem()
            with suppress(SweepError):  # receipts are advisory, and that run may be long over
                worker.results.flush()


def _open(job: Job, store: str) -> Worker:
    refuse_other_version(job.code)  # which might not even read the store
    if not anything_at(store):
        raise StoreError(
            f"it does not see {store!r}: mount its disk there at the same path, or give another "
            "store, on a disk or at a URL that all workers see"
        )
    opened = Store.open(store, durable=job.options.durable)
    refuse_other_kernel(job.code, opened.sweep)
    if job.options.accept_revision:
        opened.receipts.accepted = opened.made_by.accepted(opened.sweep)
    backend = job.open_backend(job.options.backend)
    gpu = os.environ[VARIABLE] if job.options.gpus is not None else ""
    return Worker(in_stretches(opened), backend, state_of(job.run), gpu)
