"""Who computes tasks: threads of this process; what crews are, and which options go together."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Protocol

from sweep.backends import Backend
from sweep.engine.ledger import Receipt, Results
from sweep.engine.worker import Worker
from sweep.errors import SweepError
from sweep.options import LOCAL, RunOptions
from sweep.spec import Task

# Of a GPU's process: two keep it busy, one computing while the other copies; the rest write.
LEAST_THREADS, MOST_THREADS = 2, 4
GUARD = (
    "each of these processes imports the script that starts them, so that what runs a sweep has to "
    'stand below `if __name__ == "__main__":` in it, as of all scripts with multiprocessing'
)


class Lost(Exception):
    """The worker of a task died, whoever is to blame; the message says what is known."""


class Crew(Protocol):
    """Workers behind an executor; entered and left as a context."""

    stop_seconds: float  # how long after a stop tasks are waited for

    def __enter__(self) -> Crew: ...

    def __exit__(self, *_: object) -> None: ...

    @property
    def description(self) -> str: ...

    def workers(self) -> int:
        """How many there are now. MachineError where there will never be any again."""
        ...

    def submit(self, task: Task, patience: float) -> Future[list[Receipt]]:
        """Each chunk of the task may take `patience` times the limit."""
        ...

    def set_limit(self, seconds: float) -> None:
        """How long a chunk may take from now on, those that have begun included."""
        ...

    def receipts(self, future: Future[list[Receipt]]) -> list[Receipt]:
        """What a task that is done reports; Lost where its worker died."""
        ...

    def halt(self) -> None:
        """All of them stop soon; to be called again until they have."""
        ...

    def kill(self, future: Future[list[Receipt]]) -> bool:
        """The end of a task that hangs, and of its worker; whether there was one to end."""
        ...


class Threads:
    """Threads of this process, which compiled kernels keep busy: ctypes lets go of the GIL."""

    stop_seconds = float("inf")

    def __init__(
        self, results: Results, backend: Backend, stop: Event, options: RunOptions, most: int
    ) -> None:
        self.description = backend.description
        self._n = min(threads_for(backend, options), most)
        self._stop = stop
        self._worker = Worker(results, backend, stop)
        self._executor = ThreadPoolExecutor(self._n, thread_name_prefix="sweep")

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()

    def workers(self) -> int:
        return self._n

    def submit(self, task: Task, patience: float) -> Future[list[Receipt]]:
        return self._executor.submit(self._worker, task, patience)

    def set_limit(self, seconds: float) -> None:
        self._worker.limit.seconds = seconds

    def receipts(self, future: Future[list[Receipt]]) -> list[Receipt]:
        return future.result()

    def halt(self) -> None:
        self._stop.set()

    def kill(self, future: Future[list[Receipt]]) -> bool:  # noqa: ARG002 (as crews have it)
        """No: a thread ends by itself, or with its process."""
        return False


class StayingCrew(Crew, Protocol):
    """One that need not be begun anew for other results."""

    def turn_to(self, results: Results) -> None:
        """The next tasks are of these."""
        ...

    def rest(self) -> None:
        """Workers keep nothing of a run that has ended, no receipt either."""
        ...


def needs_backend_here(options: RunOptions) -> bool:
    """Whether this process compiles: elsewhere workers do it for themselves."""
    return options.gpus is None and options.cluster in (None, LOCAL)


def refuse_in_worker_process(options: RunOptions) -> None:
    """SweepError if a run needs processes and this process cannot start any."""
    if options.cluster != LOCAL and options.gpus is None:
        return
    if _imports_its_script():
        raise SweepError(f"a worker process cannot start others: {GUARD}")
    if _is_daemon():
        raise SweepError(
            "this process may start no others, as those of pools and Dask workers may not: compute "
            "on threads here (without cluster and gpus), or start the run from another process"
        )


def _imports_its_script() -> bool:
    """As multiprocessing itself finds out that a process is not yet there to work."""
    return bool(getattr(multiprocessing.current_process(), "_inheriting", False))


def _is_daemon() -> bool:
    """As multiprocessing refuses it the children."""
    return multiprocessing.current_process().daemon


def asked_workers(options: RunOptions) -> int:
    """The requested number, by default one per usable processor."""
    return usable_processors() if options.workers is None else options.workers


def threads_for(backend: Backend, options: RunOptions) -> int:
    """As asked for; else one a processor, or as many as keep a GPU busy."""
    if backend.name == "gpu" and options.workers is None:
        return threads_of_gpu(1)
    return asked_workers(options)


def threads_of_gpu(n_gpus: int) -> int:
    """Threads of the process that each of so many GPUs has."""
    return max(LEAST_THREADS, min(MOST_THREADS, usable_processors() // n_gpus))


def usable_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
