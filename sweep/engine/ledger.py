"""The account of a run: what is pending, what is done and how fast, and which chunks failed.

A worker that dies takes along every task it held, and Dask cannot tell which of them killed it. So
the last attempt at a suspected chunk is made while nothing else runs: a chunk that fails then is to
blame.
"""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sweep.errors import MachineError
from sweep.model.table import DTYPES, MISSING, Status, planes
from sweep.request.chunk import Chunk, Task
from sweep.store import Target

TASKS_PER_WORKER = 2  # one running, one waiting
TASK_SECONDS = 0.5  # target: short enough to stop soon, long enough to make handing over cheap
ATTEMPTS = 3  # at computing a chunk, before its points count as failed
# Lost tasks in a row, per place in the window, before the machine is blamed.
MAX_LOST_IN_A_ROW = 15

# A chunk's time limit: a multiple of the slowest chunk so far, but no less than MIN_LIMIT seconds.
LIMIT_FACTOR = 100.0
MIN_LIMIT = 300.0
INITIAL_LIMIT = 6 * 3600.0  # s, while no chunk is done

Ending = Literal["", "asked", "time limit", "failure"]  # "": everything is done


@dataclass(frozen=True)
class Progress:
    """How far a run is; its speed and time left do not count chunks done before it began."""

    points_done: int  # of the whole sweep, or of the run's own shard
    points_total: int
    chunks_done: int  # of those that were pending when this run began
    chunks_total: int
    elapsed: float  # s, of this run, without compiling
    points_per_second: float
    seconds_left: float  # inf while unknown
    counts: Mapping[Status, int]  # points by status, of this run


@dataclass(frozen=True)
class Summary:
    """What a run did, and how it ended."""

    points: int  # computed in this run
    chunks: int
    counts: Mapping[Status, int]
    wall_seconds: float  # of computing and writing, without compiling
    kernel_seconds: float  # summed over workers
    workers: int  # the most at any one time
    backend: str  # "" if nothing was pending, so that none was needed
    stopped: Ending


@dataclass(frozen=True)
class Receipt:
    """What a worker reports of a chunk."""

    chunk: Chunk
    counts: Mapping[Status, int] = field(default_factory=dict[Status, int])
    kernel_seconds: float = 0.0
    seconds: float = 0.0
    error: str = ""  # why nothing was written
    in_doubt: bool = False  # whether another chunk may have caused the error

    def line(self) -> dict[str, object]:
        """How its line in the store's receipts begins."""
        counts = {status.name: n for status, n in self.counts.items()}
        return {"chunk": list(self.chunk.index), "points": self.chunk.n_points, "counts": counts}


@dataclass
class Ledger:
    """The account of one run over the `pending` chunks of its `points_total` points."""

    pending: list[Chunk]
    points_total: int
    workers: int  # at present
    fail_fast: bool = False
    points_of_a_task: int = 0  # at least, if there are enough for all workers
    waiting: deque[Chunk] = field(init=False)
    suspects: deque[Chunk] = field(default_factory=deque)  # to be computed one at a time, alone
    attempts: Counter[tuple[int, ...]] = field(default_factory=Counter)  # at each chunk
    counts: Counter[Status] = field(default_factory=Counter)
    chunks_done: int = 0
    points_done: int = 0
    seconds: float = 0.0
    kernel_seconds: float = 0.0
    slowest: float = 0.0
    lost: int = 0  # tasks, in a row
    stopped: Ending = ""

    def __post_init__(self) -> None:
        self.began, self.ended = time.perf_counter(), math.inf
        self.last: Receipt | None = None  # of the chunk with the greatest index
        self.most_workers = self.workers
        self.waiting = deque(self.pending)
        self.pending_points = _points(self.pending)

    def add(self, more: Sequence[Chunk]) -> None:
        """Count more chunks as pending: new ones, or those to be computed once more."""
        self.pending += more
        self.waiting.extend(more)
        self.pending_points += _points(more)
        self.points_total += _points(more)

    def grow(self, more: Sequence[Chunk], points_total: int) -> None:
        """Count the chunks of a target that has become longer, once all are done.

        If the last one was cut short by the old end, it is done again, and counts once.
        """
        again = self.last.chunk if self.last else None
        if self.last and again and any(chunk.index == again.index for chunk in more):
            self.chunks_done -= 1
            self.points_done -= again.n_points
            self.counts -= Counter(self.last.counts)
            self.pending.remove(again)
            self.pending_points -= again.n_points
        self.attempts.clear()
        self.add(more)
        self.points_total = points_total

    def start(self) -> None:
        """Start the clock, unless it runs: kernels are compiled, and workers are there."""
        if self.last is None:
            self.began = time.perf_counter()
        self.ended = math.inf

    def end(self) -> None:
        """Stop the clock: all that is left is to close workers."""
        self.ended = time.perf_counter()

    def see(self, workers: int) -> None:
        """Note the present number of workers, which in a cluster come and go."""
        self.workers = workers
        self.most_workers = max(self.most_workers, workers)

    @property
    def window(self) -> int:
        """How many tasks may be submitted and unfinished at a time."""
        return TASKS_PER_WORKER * max(self.workers, 1)

    @property
    def elapsed(self) -> float:
        return min(time.perf_counter(), self.ended) - self.began

    @property
    def unfinished(self) -> bool:
        return self.chunks_done < len(self.pending)

    def next_task(self, running: int) -> Task | None:
        """The next adjacent chunks, as many as take TASK_SECONDS at the rate measured so far.

        None while nothing more may be submitted besides the running tasks.
        """
        if self.waiting:
            return Task(tuple(self._take())) if running < self.window else None
        return Task((self.suspects.popleft(),)) if self.suspects and not running else None

    def _take(self) -> Iterator[Chunk]:
        if self.attempts[self.waiting[0].index]:  # it has failed before: alone
            yield self.waiting.popleft()
            return
        least = self.points_of_a_task // self.waiting[0].n_points
        wanted = least
        if self.chunks_done:
            wanted = int(TASK_SECONDS / max(self.seconds / self.chunks_done, 1e-6))
        fair = len(self.waiting) // (2 * self.window)  # leave some for other workers
        fair = max(fair, min(least, len(self.waiting) // max(self.workers, 1)))
        yield self.waiting.popleft()
        for _ in range(min(wanted, fair) - 1):
            if self.attempts[self.waiting[0].index]:
                break
            yield self.waiting.popleft()

    @property
    def limit(self) -> float:
        """How long a chunk may take, in s, as far as is known now."""
        if not self.slowest:
            return INITIAL_LIMIT
        return max(MIN_LIMIT, LIMIT_FACTOR * self.slowest)

    def patience(self, task: Task) -> float:
        """How many times the limit a chunk of the task may take; it doubles with each attempt."""
        return 2.0 ** max(self.attempts[chunk.index] for chunk in task.chunks)

    def enter(self, receipt: Receipt, target: Target) -> None:
        """Count a finished chunk; a failed one waits for another attempt, or is given up."""
        if receipt.error:
            receipt = self._after_failure(receipt, target)
            if receipt.error:
                return
        self.lost = 0
        if self.last is None or receipt.chunk.index >= self.last.chunk.index:
            self.last = receipt
        self.chunks_done += 1
        self.points_done += receipt.chunk.n_points
        self.seconds += receipt.seconds
        self.slowest = max(self.slowest, receipt.seconds)
        self.kernel_seconds += receipt.kernel_seconds
        self.counts.update(receipt.counts)
        self.add(target.finish(receipt.chunk))

    def enter_death(self, task: Task, target: Target, why: str) -> None:
        """Account for a task whose worker has died.

        Chunks that it had written count as done; the others wait for another attempt, the last
        one alone. MachineError if workers do nothing but die.
        """
        finished = target.whole(task.chunks)
        for chunk in finished:
            self.enter(Receipt(chunk, target.counts([chunk])), target)
        unfinished = [chunk for chunk in task.chunks if chunk not in finished]
        self.lost += bool(unfinished)
        if self.lost > MAX_LOST_IN_A_ROW * self.window:
            raise MachineError(
                f"{self.lost} tasks in a row lost their worker ({why}): perhaps memory ran out, or "
                "a kernel crashes. Finished chunks are kept: to resume, run the same sweep again "
                "with fewer `workers`, or on threads, without `cluster`"
            )
        for chunk in unfinished:
            self.enter(Receipt(chunk, error=why, in_doubt=True), target)

    def give_back(self, task: Task) -> None:
        """Let a task wait again that never ran, or whose outcome is unknown."""
        self.waiting.extendleft(reversed(task.chunks))

    def _after_failure(self, receipt: Receipt, target: Target) -> Receipt:
        chunk = receipt.chunk
        self.attempts[chunk.index] += 1
        if self.attempts[chunk.index] < ATTEMPTS:
            last = self.attempts[chunk.index] == ATTEMPTS - 1
            (self.suspects if last and receipt.in_doubt else self.waiting).append(chunk)
            return receipt
        target.write(chunk, failed_arrays(target, chunk))
        final = replace(receipt, counts={Status.failed: chunk.n_points}, error="")
        target.append_receipt({**final.line(), "error": receipt.error})
        if self.fail_fast:
            self.stopped = "failure"
        return final

    def progress(self) -> Progress:
        elapsed = self.elapsed
        rate = self.points_done / elapsed if elapsed > 0 else 0.0
        points_left = self.pending_points - self.points_done
        points_before = self.points_total - self.pending_points
        return Progress(
            points_done=points_before + self.points_done,
            points_total=self.points_total,
            chunks_done=self.chunks_done,
            chunks_total=len(self.pending),
            elapsed=elapsed,
            points_per_second=rate,
            seconds_left=points_left / rate if rate else (float("inf") if points_left else 0.0),
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


def failed_arrays(target: Target, chunk: Chunk) -> Mapping[str, NDArray[Any]]:
    """What is written of a chunk that could not be computed: missing values, status `failed`."""
    outputs, kept = planes(target.sweep.points.outputs), target.kept

    def failed(part: Chunk) -> Mapping[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {
            output.name: np.full(part.n_points, MISSING[output.kind], DTYPES[output.kind])
            for output in outputs
        }
        arrays["status"] = np.full(part.n_points, Status.failed, np.uint8)
        return (
            arrays if kept is None else kept.of(arrays, math.prod(part.shape[:-1]), part.start[-1])
        )

    return target.computed(chunk, failed)


def _points(chunks: Iterable[Chunk]) -> int:
    return sum(chunk.n_points for chunk in chunks)
