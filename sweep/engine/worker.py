"""What computes a task: in a thread of this process, or in another one that opens all it needs.

What travels to another process is a `Job`, a path and names; that process opens store and backend
once, and a stop reaches it as a call, not as an object.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep import __version__
from sweep.backends import Backend, Stopped
from sweep.backends.visible import VARIABLE
from sweep.engine.ledger import Receipt, Results
from sweep.errors import MachineError, SweepError
from sweep.plan import points
from sweep.spec import Chunk, Status, Task
from sweep.store import Store


@dataclass
class Limit:
    """How long a chunk of a run may take; told anew as chunks get done, while others go on."""

    seconds: float = float("inf")


class Presence:
    """How many chunks of a run a process is at, and whether it begins no more: it is to end."""

    def __init__(self) -> None:
        self.leaving = False
        self.at_work = 0
        self._guard = threading.Lock()

    def __enter__(self) -> None:
        with self._guard:
            self.at_work += 1

    def __exit__(self, *_: object) -> None:
        with self._guard:
            self.at_work -= 1


class Deadline(Event):
    """Set by the stop of a run, or once so many times the limit, as it is then, have gone by."""

    def __init__(self, stop: Event, limit: Limit, patience: float) -> None:
        super().__init__()
        self._stop = stop
        self._limit = limit
        self._patience = patience
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return self._patience * self._limit.seconds

    def is_set(self) -> bool:
        return self._stop.is_set() or time.monotonic() - self._began > self.seconds


@dataclass(frozen=True)
class Worker:
    """A sweep's results and a backend, alive in this process."""

    results: Results
    backend: Backend
    stop: Event
    gpu: str = ""  # which of several, as receipts tell it
    limit: Limit = field(default_factory=Limit)
    presence: Presence = field(default_factory=Presence)

    def __call__(self, task: Task, patience: float = 1.0) -> list[Receipt]:
        """Every chunk of a task computed and written; those after a stop are left out.

        What the request or the machine is to blame for is raised; any other error becomes the
        chunk's receipt, as does having taken longer than `patience` times the limit.
        """
        receipts: list[Receipt] = []
        for chunk in task.chunks:
            if self.presence.leaving:
                break
            deadline = Deadline(self.stop, self.limit, patience)
            try:
                with self.presence:
                    receipts.append(self._compute(chunk, deadline))
            except Stopped:
                if self.stop.is_set():
                    break
                error = f"it hung: stopped after {deadline.seconds:,.1f} s"
                receipts.append(Receipt(chunk, {}, 0.0, 0.0, error))
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

    def _compute(self, chunk: Chunk, deadline: Deadline) -> Receipt:
        if self.results.whole([chunk]):  # a scheduler of others sends a lost task once more itself
            return Receipt(chunk, self.results.counts([chunk]), 0.0, 0.0)
        began = time.perf_counter()
        sweep = self.results.sweep
        computed = self.backend.compute(sweep, points(sweep, chunk), deadline)
        self.results.write(chunk, computed.arrays)
        counts = _by_status(computed.arrays["status"])
        seconds = time.perf_counter() - began
        receipt = Receipt(chunk, counts, computed.kernel_seconds, seconds)
        device = self.backend.description + (f" ({self.gpu})" if self.gpu else "")
        self.results.append_receipt(_line(receipt, computed.arrays, device))
        return receipt


@dataclass(frozen=True)
class Job:
    """All that a process needs to work for a run, small enough to go with every task."""

    run: str  # a name no other run has
    store: str  # where it is, as every worker sees it
    open_backend: Callable[[str], Backend]
    backend: str
    durable: bool = False
    one_gpu: bool = False  # the process sees one of several, which the environment names
    accept_revision: bool = False

    def __call__(self, task: Task, patience: float) -> list[Receipt]:
        """As of a Worker, of which this process has one a run."""
        return opened(self)(task, patience)


_STOPS: dict[str, Event] = {}  # by run
_LIMITS: dict[str, Limit] = {}  # by run
_PRESENCES: dict[str, Presence] = {}  # by run
_OPENED: dict[Job, Worker] = {}  # of the last job, and of no other
_OPENING = threading.Lock()


def begin(job: Job) -> str:
    """This process is ready to work for the job; the version it has."""
    opened(job)
    return __version__


def stop_of(run: str) -> Event:
    """What is set in this process once that run is to stop."""
    return _STOPS.setdefault(run, Event())


def stop_run(run: str) -> None:
    """Whatever this process computes for that run stops soon, and nothing more is begun."""
    stop_of(run).set()


def limit_of(run: str) -> Limit:
    """How long a chunk of that run may take in this process."""
    return _LIMITS.setdefault(run, Limit())


def presence_in(run: str) -> Presence:
    """What this process is at for that run."""
    return _PRESENCES.setdefault(run, Presence())


def forget_run(run: str) -> None:
    """A process that may outlive a run that has ended keeps nothing of it."""
    _STOPS.pop(run, None)
    _LIMITS.pop(run, None)
    _PRESENCES.pop(run, None)
    with _OPENING:
        _close()


def opened(job: Job) -> Worker:
    """This process' worker for the job; SweepError if it cannot open what that needs."""
    with _OPENING:
        if job not in _OPENED:
            _close()
            _OPENED[job] = _opened(job)
        return _OPENED[job]


def _close() -> None:
    opened = list(_OPENED.values())
    _OPENED.clear()
    for worker in opened:
        with suppress(SweepError):  # receipts are advisory, and this run may be over long since
            worker.results.flush()


def _opened(job: Job) -> Worker:
    stop = stop_of(job.run)
    gpu = os.environ[VARIABLE] if job.one_gpu else ""
    try:
        store = Store.open(job.store, durable=job.durable)
        if job.accept_revision:
            store.accept_kernel()
        else:
            store.refuse_other_kernel()
        backend = job.open_backend(job.backend)
        return Worker(store, backend, stop, gpu, limit_of(job.run), presence_in(job.run))
    except SweepError as error:
        where = f"process {os.getpid()} on {socket.gethostname()}"
        raise type(error)(f"a worker ({where}) cannot begin: {error}") from None


def _by_status(status: NDArray[Any]) -> dict[Status, int]:
    if not status.any():  # nearly always, and counting takes long
        return {Status.ok: status.size}
    counts = np.bincount(status)
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
