"""The loop that runs a sweep: pending chunks, in tasks, through an executor, into the results.

The executor is anything with the interface of concurrent.futures. At most a few tasks a worker are
submitted at once, so memory and what a stop costs do not grow with the sweep. A worker writes each
chunk when it is done; the loop only counts.
"""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sweep.backends import Backend, Stopped, open_backend
from sweep.errors import MachineError, SweepError
from sweep.plan import points
from sweep.spec import (
    DTYPES,
    MISSING,
    Chunk,
    RunOptions,
    Status,
    Sweep,
    Task,
)

TASKS_PER_WORKER = 2  # one running, one waiting
TASK_SECONDS = 0.5  # aimed at; short enough to stop soon, long enough to cost nothing to hand over
ATTEMPTS = 3  # at a chunk, before its points count as failed
REPORT_SECONDS = 0.25


class Results(Protocol):
    """Where chunks go: a store on disk, or memory."""

    @property
    def sweep(self) -> Sweep: ...

    def pending(self) -> list[Chunk]: ...

    def write(self, chunk: Chunk, arrays: Mapping[str, NDArray[Any]]) -> None: ...

    def append_receipt(self, receipt: Mapping[str, object]) -> None: ...


@dataclass(frozen=True)
class Progress:
    """How far a run is. Speed and time left are of this run, not of chunks done before it."""

    points_done: int  # of the whole sweep
    points_total: int
    chunks_done: int  # of those that were pending when this run began
    chunks_total: int
    elapsed: float  # s, of this run, compiling left out
    points_per_second: float
    seconds_left: float  # inf while nothing is known
    counts: Mapping[Status, int]  # points by status, of this run


@dataclass(frozen=True)
class Summary:
    """What a run did, and how it ended."""

    points: int  # computed in this run
    chunks: int
    counts: Mapping[Status, int]
    wall_seconds: float  # computing and writing; compiling is over by then
    kernel_seconds: float  # summed over workers
    workers: int
    backend: str  # "": nothing was pending, so that none was needed
    stopped: Literal["", "asked", "time limit"]  # "": everything is done

    @property
    def engine_share(self) -> float:
        """The share of the workers' time that was not spent in kernels."""
        busy = self.workers * self.wall_seconds
        return 1 - self.kernel_seconds / busy if busy else 0.0


@dataclass(frozen=True)
class Receipt:
    """What a worker reports of one chunk."""

    chunk: Chunk
    counts: Mapping[Status, int]
    kernel_seconds: float
    seconds: float
    error: str = ""  # why nothing was written


@dataclass(frozen=True)
class Worker:
    """What computes a task: a sweep's results and a backend, alive in this process."""

    results: Results
    backend: Backend
    stop: Event

    def __call__(self, task: Task) -> list[Receipt]:
        """Every chunk of a task computed and written; those after a stop are left out.

        What the request or the machine is to blame for is raised; any other error becomes the
        chunk's receipt.
        """
        receipts: list[Receipt] = []
        for chunk in task.chunks:
            try:
                receipts.append(self._compute(chunk))
            except Stopped:
                break
            except SweepError:
                raise
            except MemoryError as error:
                raise MachineError(
                    f"not enough memory for a chunk of {chunk.n_points:,} points on each worker. "
                    "Finished chunks are kept: run the same sweep again with fewer workers "
                    "(--workers), or anew with smaller chunks (--chunk-points)"
                ) from error
            except Exception as error:  # a fault of ours, whatever it is, costs one chunk only
                receipts.append(Receipt(chunk, {}, 0.0, 0.0, f"{type(error).__name__}: {error}"))
        return receipts

    def _compute(self, chunk: Chunk) -> Receipt:
        began = time.perf_counter()
        sweep = self.results.sweep
        computed = self.backend.compute(sweep, points(sweep, chunk), self.stop)
        self.results.write(chunk, computed.arrays)
        counts = _by_status(computed.arrays["status"])
        seconds = time.perf_counter() - began
        receipt = Receipt(chunk, counts, computed.kernel_seconds, seconds)
        self.results.append_receipt(_line(receipt, computed.arrays, self.backend.description))
        return receipt


def run(
    results: Results,
    options: RunOptions | None = None,
    report: Callable[[Progress], None] | None = None,
    stop: Event | None = None,
) -> Summary:
    """Compute whatever is pending and write it; returns when all is done, or soon after `stop`.

    `report` is called from this thread a few times a second. A chunk that fails three times gets
    the status `failed`, and the run goes on; SweepError is raised for what the request or the
    machine is to blame for, with the finished chunks kept. Where nothing is pending, no backend is
    opened: finished results need no compiler.
    """
    options = options or RunOptions()
    pending = results.pending()
    workers = min(_workers(options), max(len(pending), 1))  # more would have nothing to do
    ledger = _Ledger(results.sweep, pending, workers)
    if not ledger.pending:
        if report:
            report(ledger.progress())
        return ledger.summary(backend="")
    worker = Worker(results, open_backend(options.backend), _Stop(stop or Event()))
    worker.backend.prepare(results.sweep, points(results.sweep, ledger.pending[0]))
    ledger.start()
    with ThreadPoolExecutor(ledger.workers, thread_name_prefix="sweep") as executor:
        try:
            _loop(executor, worker, ledger, report, options.time_limit)
        except BaseException:
            worker.stop.set()
            raise
    return ledger.summary(worker.backend.description)


def usable_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _workers(options: RunOptions) -> int:
    if options.workers is None:
        return usable_processors()
    if options.workers < 1:
        raise SweepError(
            f"workers={options.workers!r}: a run has at least 1; leave it out for one a processor"
        )
    return options.workers


class _Stop(Event):
    """Set by a time limit, an error, or the caller's own event, which is left as it is."""

    def __init__(self, asked: Event) -> None:
        super().__init__()
        self._asked = asked

    def is_set(self) -> bool:
        return super().is_set() or self._asked.is_set()


def _loop(
    executor: Executor,
    worker: Worker,
    ledger: _Ledger,
    report: Callable[[Progress], None] | None,
    time_limit: float | None,
) -> None:
    running: set[Future[list[Receipt]]] = set()
    while True:
        if time_limit is not None and ledger.elapsed > time_limit and not worker.stop.is_set():
            ledger.stopped = "time limit"
            worker.stop.set()
        while not worker.stop.is_set() and len(running) < ledger.window and ledger.waiting:
            running.add(executor.submit(worker, ledger.next_task()))
        if report:
            report(ledger.progress())
        if not running:
            break
        done, running = wait(running, timeout=REPORT_SECONDS, return_when=FIRST_COMPLETED)
        for future in done:
            for receipt in future.result():
                ledger.enter(receipt, worker.results)
    if not ledger.unfinished:  # the time limit may have come when all was done
        ledger.stopped = ""
    elif not ledger.stopped:
        ledger.stopped = "asked"


@dataclass
class _Ledger:
    """What is still to do and what has been done, and at which rate."""

    sweep: Sweep
    pending: list[Chunk]
    workers: int
    waiting: deque[Chunk] = field(init=False)
    stopped: Literal["", "asked", "time limit"] = ""

    def __post_init__(self) -> None:
        self.start()
        self.waiting = deque(self.pending)
        self.window = TASKS_PER_WORKER * self.workers
        self.attempts: Counter[tuple[int, ...]] = Counter()
        self.counts: Counter[Status] = Counter()
        self.chunks_done = 0
        self.points_done = 0
        self.seconds = 0.0
        self.kernel_seconds = 0.0
        self.pending_points = sum(chunk.n_points for chunk in self.pending)

    def start(self) -> None:
        """Time counts from here: compiling is over."""
        self.began = time.perf_counter()

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.began

    @property
    def unfinished(self) -> bool:
        return self.chunks_done < len(self.pending)

    def next_task(self) -> Task:
        """The next adjacent chunks that make up a task at the rate measured so far."""
        return Task(tuple(self._take()))

    def _take(self) -> Iterator[Chunk]:
        each = self.seconds / self.chunks_done if self.chunks_done else TASK_SECONDS
        fair = max(len(self.waiting) // (2 * self.window), 1)  # leave some for the others
        for _ in range(min(max(int(TASK_SECONDS / max(each, 1e-6)), 1), fair)):
            yield self.waiting.popleft()

    def enter(self, receipt: Receipt, results: Results) -> None:
        """Count a chunk that is done; a failed one goes back, or is given up as `failed`."""
        if receipt.error:
            receipt = self._after_failure(receipt, results)
            if receipt.error:
                return
        self.chunks_done += 1
        self.points_done += receipt.chunk.n_points
        self.seconds += receipt.seconds
        self.kernel_seconds += receipt.kernel_seconds
        self.counts.update(receipt.counts)

    def _after_failure(self, receipt: Receipt, results: Results) -> Receipt:
        chunk = receipt.chunk
        self.attempts[chunk.index] += 1
        if self.attempts[chunk.index] < ATTEMPTS:
            self.waiting.append(chunk)
            return receipt
        results.write(chunk, failed_arrays(self.sweep, chunk))
        results.append_receipt({"chunk": list(chunk.index), "error": receipt.error})
        return replace(receipt, counts={Status.failed: chunk.n_points}, error="")

    def progress(self) -> Progress:
        elapsed = self.elapsed
        rate = self.points_done / elapsed if elapsed > 0 else 0.0
        left = self.pending_points - self.points_done
        before = self.sweep.n_points - self.pending_points
        return Progress(
            points_done=before + self.points_done,
            points_total=self.sweep.n_points,
            chunks_done=self.chunks_done,
            chunks_total=len(self.pending),
            elapsed=elapsed,
            points_per_second=rate,
            seconds_left=left / rate if rate else (float("inf") if left else 0.0),
            counts=dict(self.counts),
        )

    def summary(self, backend: str) -> Summary:
        return Summary(
            points=self.points_done,
            chunks=self.chunks_done,
            counts=dict(self.counts),
            wall_seconds=self.elapsed,
            kernel_seconds=self.kernel_seconds,
            workers=self.workers,
            backend=backend,
            stopped=self.stopped,
        )


def failed_arrays(sweep: Sweep, chunk: Chunk) -> dict[str, NDArray[Any]]:
    """The arrays of a chunk that could not be computed: missing values, status `failed`."""
    arrays: dict[str, NDArray[Any]] = {
        output.name: np.full(chunk.n_points, MISSING[output.kind], DTYPES[output.kind])
        for output in sweep.outputs
    }
    arrays["status"] = np.full(chunk.n_points, Status.failed, np.uint8)
    return arrays


def _by_status(status: NDArray[Any]) -> dict[Status, int]:
    counts = np.bincount(status, minlength=256)
    return {Status(i): int(counts[i]) for i in np.flatnonzero(counts)}


def _line(receipt: Receipt, arrays: Mapping[str, NDArray[Any]], device: str) -> dict[str, object]:
    """A receipt as kept beside the store: counts by status, least and greatest of each output."""
    ok = arrays["status"] == Status.ok
    chosen = slice(None) if ok.all() else ok  # nearly always all, and a mask copies
    extremes = {
        name: [values[chosen].min().item(), values[chosen].max().item()]
        for name, values in arrays.items()
        if name != "status" and ok.any()
    }
    return {
        "chunk": list(receipt.chunk.index),
        "points": receipt.chunk.n_points,
        "counts": {status.name: n for status, n in receipt.counts.items()},
        "extremes": extremes,
        "kernel_seconds": receipt.kernel_seconds,
        "seconds": receipt.seconds,
        "device": device,
    }
