"""Who computes tasks: the interface of a crew of workers, and threads of this process."""

from __future__ import annotations

import multiprocessing
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import Self

from sweep.engine.computing import RunState, Worker
from sweep.engine.ledger import Receipt
from sweep.errors import SweepError
from sweep.kernel.backend import Backend
from sweep.points.columns import variants_of
from sweep.request.chunk import Chunk, Task
from sweep.request.options import LOCAL, RunOptions
from sweep.store import Target

# For a GPU, one thread computes while another copies; more of them write. The driver and the
# process itself need processors too.
MIN_GPU_THREADS = 2
PROCESSORS_LEFT = 2
POINTS_OF_A_TASK = 2**22  # which keep a GPU busy by themselves
GUARD = (
    "each worker process imports the script that starts it, so put the code that runs the sweep "
    'below `if __name__ == "__main__":`, as in any script that uses multiprocessing'
)

OpenBackend = Callable[[str], Backend]  # from the name that `[run] backend` takes
Notify = Callable[[str], None]  # is given a line about workers, for the user


class LostError(Exception):
    """The worker of a task died, for whatever reason; the message says what is known."""


class Crew(ABC):
    """Workers behind an executor, for one run after another; a context manager.

    Entering it starts nothing: that happens in `begin`, for the first run with work to do.
    """

    description = ""  # of the backend, or of who computes
    points_of_a_task = 0  # at least, if there are enough for all workers
    stop_seconds: float  # how long to wait for tasks after a stop

    def __init__(self, options: RunOptions, open_backend: OpenBackend, notify: Notify) -> None:
        self.notify = notify
        self._options = options
        self._open_backend = open_backend
        self._ends = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.close()

    @abstractmethod
    def begin(self, target: Target, pending: Sequence[Chunk]) -> None:
        """Get workers ready for these chunks; SweepError if that is impossible."""

    @abstractmethod
    def end(self) -> None:
        """The run is over: workers keep nothing of it, and write the receipts they hold back.

        After an error, leaving the crew does that.
        """

    @abstractmethod
    def workers(self) -> int:
        """How many workers there are now. MachineError if there can be none any more."""

    def busy_workers(self) -> int:
        """How many workers would compute if there were enough chunks for all."""
        return self.workers()

    @abstractmethod
    def submit(self, target: Target, task: Task, patience: float) -> Future[list[Receipt]]:
        """Have a task computed into the target; a chunk may take `patience` times the limit."""

    @abstractmethod
    def set_limit(self, seconds: float) -> None:
        """Change how long a chunk may take, chunks in progress included."""

    @abstractmethod
    def receipts(self, future: Future[list[Receipt]]) -> list[Receipt]:
        """The receipts of a finished task; LostError if its worker died."""

    @abstractmethod
    def halt(self) -> None:
        """Make all workers stop soon; to be called again until they have."""

    @abstractmethod
    def kill(self, future: Future[list[Receipt]]) -> bool:
        """Kill a hanging task together with its worker; whether there was one to kill."""

    def _prepared(self, target: Target, pending: Sequence[Chunk]) -> Backend:
        """A backend in this process, its kernel compiled for the first of the chunks."""
        backend = self._open_backend(self._options.backend)
        backend.prepare(target.sweep.points, variants_of(target.sweep, pending[0]))
        self.points_of_a_task = POINTS_OF_A_TASK if backend.name == "gpu" else 0
        self.description = backend.description
        return backend


class Threads(Crew):
    """Threads of this process, which compiled kernels keep busy: ctypes releases the GIL."""

    stop_seconds = float("inf")

    def begin(self, target: Target, pending: Sequence[Chunk]) -> None:
        self._backend = self._prepared(target, pending)
        self._threads = threads_for(self._backend, self._options)
        self._n = min(self._threads, len(pending))
        self._state = RunState()
        self._executor = ThreadPoolExecutor(self._n, thread_name_prefix="sweep")
        self._ends.enter_context(self._executor)

    def end(self) -> None:
        self._ends.close()

    def workers(self) -> int:
        return self._n

    def busy_workers(self) -> int:
        return self._threads

    def submit(self, target: Target, task: Task, patience: float) -> Future[list[Receipt]]:
        worker = Worker(target, self._backend, self._state)
        return self._executor.submit(worker, task, patience)

    def set_limit(self, seconds: float) -> None:
        self._state.limit = seconds

    def receipts(self, future: Future[list[Receipt]]) -> list[Receipt]:
        return future.result()

    def halt(self) -> None:
        self._state.stop.set()

    def kill(self, future: Future[list[Receipt]]) -> bool:  # noqa: ARG002 (the interface of crews)
        """False: a thread ends by itself, or with its process."""
        return False


def needs_backend_here(options: RunOptions) -> bool:
    """Whether this process compiles; workers elsewhere compile for themselves."""
    return options.gpus is None and options.cluster in (None, LOCAL)


def consistent(options: RunOptions) -> RunOptions:
    """The options with the backend that `gpus` implies.

    SweepError if two exclude each other, or if they need processes and this one cannot start any.
    """
    if options.gpus is not None:
        options = _of_gpus(options)
    if options.gpus is not None or options.cluster == LOCAL:
        _refuse_in_worker_process()
    return options


def _of_gpus(options: RunOptions) -> RunOptions:
    """The options of a run with a process for each GPU; SweepError if they exclude that."""
    requested = f"gpus={options.gpus!r}"
    if options.backend == "cpu":
        raise SweepError(f"{requested} needs the backend 'gpu', not 'cpu'; leave out one of them")
    if options.workers is not None:
        conflict = (
            f"starts one process per GPU and cannot be combined with workers={options.workers}"
        )
        raise SweepError(f"{requested} {conflict}; leave out workers, here or under [run]")
    if options.cluster is not None:
        raise SweepError(
            f"{requested} starts processes on this machine and cannot be combined with "
            f"cluster={options.cluster!r}; leave out one of them. To use GPUs on a cluster, choose "
            "the backend 'gpu' and start each worker with one GPU (CUDA_VISIBLE_DEVICES=0 dask "
            'worker ADDRESS, or `extra = ["--gpus=1"]` under [run.slurm]); in a job array, combine '
            "`gpus` with `shard`"
        )
    return replace(options, backend="gpu")


def _refuse_in_worker_process() -> None:
    """SweepError if this process cannot start others."""
    process = multiprocessing.current_process()
    if getattr(process, "_inheriting", False):  # it is still starting up, and imports its script
        raise SweepError(f"a worker process cannot start others: {GUARD}")
    if process.daemon:
        raise SweepError(
            "this process belongs to a pool or to Dask and may not start processes: compute on "
            "threads here (without cluster and gpus), or start the run from another process"
        )


def worker_count(options: RunOptions) -> int:
    """The requested number of workers, by default one per usable processor."""
    return usable_processors() if options.workers is None else options.workers


def threads_for(backend: Backend, options: RunOptions) -> int:
    """The number of threads for a backend of this process; by default enough to keep it busy."""
    if backend.name == "gpu" and options.workers is None:
        return threads_of_gpu(1)
    return worker_count(options)


def threads_of_gpu(n_gpus: int) -> int:
    """Threads in each process when there is one process for each of `n_gpus`."""
    return max(MIN_GPU_THREADS, (usable_processors() - PROCESSORS_LEFT) // n_gpus)


def usable_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
