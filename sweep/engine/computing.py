"""What computes a task, with a target and a backend that are open in this process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Any, TypeAlias, TypeVar

import numpy as np

from sweep.engine.ledger import Receipt
from sweep.errors import MachineError, SweepError
from sweep.kernel.backend import Arrays, Backend, Computed, Stopped
from sweep.model.table import Status, array_types, status_counts
from sweep.points.chunking import joined
from sweep.points.columns import points, variants_of
from sweep.points.stages import chunk_of_kernel, staged
from sweep.request.chunk import Chunk, Task
from sweep.request.sweeps import AnySweep, Reduced
from sweep.statistics.counts import reduced_counts
from sweep.statistics.partial import Kept
from sweep.store import Target

# Of results and parameters that one call of a GPU holds; their threads are as many as processors.
POINTS_OF_A_CALL, BYTES_OF_A_CALL = 2**24, 2**28
CALL_SECONDS = 2.0  # that such a call should take, so that a killed process loses little
LATE = 10  # times as many, and its chunks are computed one by one

T = TypeVar("T")
Compute: TypeAlias = Callable[..., Arrays]  # of a chunk, and of the parts of its cells' points
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
    sweep = sweep.points if isinstance(sweep, Reduced) else sweep
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
        if self.backend.name != "gpu":
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
            deadline = Deadline(self.state, 1.0, LATE * CALL_SECONDS)
            together = partial(self.target.computed_together, block, chunks)
            parts, kernel_seconds, seconds = self._timed(block, deadline, lambda c: [*together(c)])
        except SweepError:
            raise
        except Exception:  # of one of the chunks, or there is not enough memory for all
            self.state.most_points = min(self.state.most_points, block.n_points // 2)
            return {}
        shares = [chunk.n_points / block.n_points for chunk in chunks]
        return {
            chunk: (Computed(arrays, share * kernel_seconds), share * seconds)
            for chunk, arrays, share in zip(chunks, parts, shares, strict=True)
        }

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
        whole = partial(self.target.computed, block)
        arrays, kernel_seconds, seconds = self._timed(block, deadline, whole)
        return Computed(arrays, kernel_seconds), seconds

    def _timed(
        self, block: Chunk, deadline: Deadline, work: Callable[[Compute], T]
    ) -> tuple[T, float, float]:
        """What some work makes of a block, the seconds in kernels, and all seconds."""
        target, start, kernel_seconds = self.target, time.perf_counter(), list[float]()

        def compute(part: Chunk, counts: Sequence[int] = ()) -> Arrays:
            sweep, few = target.sweep.points, chunk_of_kernel(target.sweep, part)
            points_of_part = points(target.sweep, part)
            then = None if target.kept is None else target.kept.then(points_of_part, counts)
            then = staged(sweep, points_of_part, then, (few.shape, part.shape))
            of_kernel = points_of_part if few == part else points(target.sweep, few)
            computed = self.backend.compute(sweep.of_kernel, of_kernel, deadline, then)
            kernel_seconds.append(computed.kernel_seconds)
            return computed.arrays

        result = work(compute)
        seconds = time.perf_counter() - start
        self.state.rate = block.n_points / max(seconds, 1e-9)
        return result, sum(kernel_seconds), seconds


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
