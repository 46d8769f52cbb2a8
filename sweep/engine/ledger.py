"""What is still to do, what has been done and at which rate, and who is to blame for what was not.

A worker that dies takes with it every task it held, and Dask cannot tell which of them killed it.
So a chunk's last attempt is made alone, when nothing else is running: only who fails there, fails.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sweep.errors import MachineError
from sweep.spec import DTYPES, MISSING, Chunk, Status, Sweep, Task

TASKS_PER_WORKER = 2  # one running, one waiting
TASK_SECONDS = 0.5  # aimed at; short enough to stop soon, long enough to cost nothing to hand over
ATTEMPTS = 3  # at a chunk, before its points count as failed
LOST_IN_A_ROW = 15  # tasks a place in the window, with no chunk done between: the machine's fault

# A chunk hangs that takes so many times as long as the slowest one so far, and so many seconds.
HANGS_AFTER = 100.0
LEAST_SECONDS = 300.0
UNKNOWN_SECONDS = 6 * 3600.0  # as long as none is done

Ending = Literal["", "asked", "time limit", "failure"]  # "": everything is done


class Results(Protocol):
    """Where chunks go: a store on disk, or memory."""

    @property
    def sweep(self) -> Sweep: ...

    @property
    def chunk_shape(self) -> tuple[int, ...]: ...

    def pending(self) -> list[Chunk]: ...

    def whole(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Those of some chunks that are done, and not damaged."""
        ...

    def counts(self, chunks: Iterable[Chunk]) -> Mapping[Status, int]: ...

    def write(self, chunk: Chunk, arrays: Mapping[str, NDArray[Any]]) -> None: ...

    def append_receipt(self, receipt: Mapping[str, object]) -> None: ...

    def flush(self) -> None:
        """No receipt is kept back any more."""
        ...


@dataclass(frozen=True)
class Progress:
    """How far a run is. Speed and time left are of this run, not of chunks done before it."""

    points_done: int  # of the whole sweep, or of the run's own shard
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
    workers: int  # at once, at most
    backend: str  # "": nothing was pending, so that none was needed
    stopped: Ending
    points_before: int = 0  # of a refined sweep stopped in a pass: of the passes before, kept

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
    in_doubt: bool = False  # whether the error is the chunk's own


@dataclass
class Ledger:
    """The account of one run: `pending` of a sweep, `points_total` of which it is in charge."""

    sweep: Sweep
    pending: list[Chunk]
    points_total: int
    workers: int  # there are now
    fail_fast: bool = False
    waiting: deque[Chunk] = field(init=False)
    suspects: deque[Chunk] = field(init=False)  # each to be tried alone
    stopped: Ending = ""

    def __post_init__(self) -> None:
        self.start()
        self.most_workers = self.workers
        self.waiting = deque(self.pending)
        self.suspects = deque()
        self.attempts: Counter[tuple[int, ...]] = Counter()
        self.counts: Counter[Status] = Counter()
        self.chunks_done = 0
        self.points_done = 0
        self.seconds = 0.0
        self.kernel_seconds = 0.0
        self.slowest = 0.0
        self.lost = 0  # tasks in a row
        self.pending_points = sum(chunk.n_points for chunk in self.pending)

    def start(self) -> None:
        """Time counts from here: compiling is over, and workers are there."""
        self.began = time.perf_counter()
        self.ended = float("inf")

    def end(self) -> None:
        """Time counts to here: what is left to do is to see workers off."""
        self.ended = time.perf_counter()

    def see(self, workers: int) -> None:
        """So many there are now: of a cluster they come when they may, and go."""
        self.workers = workers
        self.most_workers = max(self.most_workers, workers)

    @property
    def window(self) -> int:
        """How many tasks may be submitted and not yet back."""
        return TASKS_PER_WORKER * max(self.workers, 1)

    @property
    def elapsed(self) -> float:
        return min(time.perf_counter(), self.ended) - self.began

    @property
    def unfinished(self) -> bool:
        return self.chunks_done < len(self.pending)

    def next_task(self, running: int) -> Task | None:
        """The next adjacent chunks that make up a task at the rate measured so far.

        None while nothing more may be submitted beside the tasks that are running.
        """
        if self.waiting:
            return Task(tuple(self._take())) if running < self.window else None
        return Task((self.suspects.popleft(),)) if self.suspects and not running else None

    def _take(self) -> Iterator[Chunk]:
        if self.attempts[self.waiting[0].index]:  # has failed or died before
            yield self.waiting.popleft()
            return
        each = self.seconds / self.chunks_done if self.chunks_done else TASK_SECONDS
        fair = max(len(self.waiting) // (2 * self.window), 1)  # leave some for the others
        for _ in range(min(max(int(TASK_SECONDS / max(each, 1e-6)), 1), fair)):
            yield self.waiting.popleft()

    @property
    def limit(self) -> float:
        """How long a chunk may take, s, as far as is known now."""
        if not self.slowest:
            return UNKNOWN_SECONDS
        return max(LEAST_SECONDS, HANGS_AFTER * self.slowest)

    def patience(self, task: Task) -> float:
        """How many times the limit a chunk of the task may take: twice as many each time again."""
        return 2.0 ** max(self.attempts[chunk.index] for chunk in task.chunks)

    def enter(self, receipt: Receipt, results: Results) -> None:
        """Count a chunk that is done; a failed one goes back, or is given up as `failed`."""
        if receipt.error:
            receipt = self._after_failure(receipt, results)
            if receipt.error:
                return
        self.lost = 0
        self.chunks_done += 1
        self.points_done += receipt.chunk.n_points
        self.seconds += receipt.seconds
        self.slowest = max(self.slowest, receipt.seconds)
        self.kernel_seconds += receipt.kernel_seconds
        self.counts.update(receipt.counts)

    def enter_death(self, task: Task, results: Results, why: str) -> None:
        """The worker that held a task has died; its chunks go back, the last time to be alone.

        Those it had written before are done. MachineError where workers do nothing but die.
        """
        kept = results.whole(task.chunks)
        for chunk in kept:
            self.enter(Receipt(chunk, results.counts([chunk]), 0.0, 0.0), results)
        left = [chunk for chunk in task.chunks if chunk not in kept]
        self.lost += bool(left)
        if self.lost > LOST_IN_A_ROW * self.window:
            raise MachineError(
                f"{self.lost} tasks in a row lost their worker ({why}): too little memory, "
                "perhaps, or a kernel that crashes. Finished chunks are kept: run the same sweep "
                "again to go on, with fewer workers (--workers) or on threads (without --cluster)"
            )
        for chunk in left:
            self.enter(Receipt(chunk, {}, 0.0, 0.0, why, in_doubt=True), results)

    def give_back(self, task: Task) -> None:
        """A task that never ran, or whose end nobody knows, waits again."""
        self.waiting.extendleft(reversed(task.chunks))

    def _after_failure(self, receipt: Receipt, results: Results) -> Receipt:
        chunk = receipt.chunk
        self.attempts[chunk.index] += 1
        if self.attempts[chunk.index] < ATTEMPTS:
            last = self.attempts[chunk.index] == ATTEMPTS - 1
            (self.suspects if last and receipt.in_doubt else self.waiting).append(chunk)
            return receipt
        results.write(chunk, failed_arrays(self.sweep, chunk))
        counts = {Status.failed: chunk.n_points}
        results.append_receipt(
            {
                "chunk": list(chunk.index),
                "points": chunk.n_points,
                "counts": {status.name: n for status, n in counts.items()},
                "error": receipt.error,
            }
        )
        if self.fail_fast:
            self.stopped = "failure"
        return replace(receipt, counts=counts, error="")

    def progress(self) -> Progress:
        elapsed = self.elapsed
        rate = self.points_done / elapsed if elapsed > 0 else 0.0
        left = self.pending_points - self.points_done
        before = self.points_total - self.pending_points
        return Progress(
            points_done=before + self.points_done,
            points_total=self.points_total,
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
            workers=self.most_workers,
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


def of_shard(chunks: Iterable[Chunk], counts: tuple[int, ...], i: int, n: int) -> list[Chunk]:
    """The chunks of shard i of n, i from 1: every n-th of the sweep's, whatever is done of them.

    Neighbours take about as long as one another, so that all shards do.
    """
    return [chunk for chunk in chunks if _number(chunk.index, counts) % n == i - 1]


def _number(index: tuple[int, ...], counts: tuple[int, ...]) -> int:
    number = 0
    for place, count in zip(index, counts, strict=True):
        number = number * count + place
    return number
