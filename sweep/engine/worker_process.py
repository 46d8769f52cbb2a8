"""What a process under Dask needs to compute for a run, and heeds meanwhile.

What travels to it with a task is a `Job` and the store's location. It opens store and backend once,
and keeps what it knows of the run in a `RunState`. One that cannot compute, whatever the chunk,
answers with an `UnfitError`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from distributed import Status, get_worker
from distributed.diagnostics.plugin import WorkerPlugin

from sweep.engine.computing import RunState, Worker
from sweep.errors import CompileError, MachineError, StoreError, SweepError
from sweep.kernel.backend import Backend
from sweep.kernel.gpu_discovery import VARIABLE
from sweep.kernel.source import kernel_digest
from sweep.request.chunk import Task
from sweep.request.options import RunOptions
from sweep.request.sweeps import Sweep
from sweep.store import Store, anything_at, target_of
from sweep.version import __version__

DEPARTURE_SECONDS = 30.0  # SLURM's time between SIGTERM and SIGKILL; a nanny leaves about 6
# Raised for signal handlers off the main thread, and on Windows.
NO_HANDLERS = (ValueError, RuntimeError, NotImplementedError)
SAME = "install the same version there, and restart the worker"


@dataclass(frozen=True)
class Code:
    """What computes: a version of this program, and the digest of its kernel of a sweep."""

    version: str
    kernel: str

    @classmethod
    def of(cls, sweep: Sweep) -> Code:
        """What this process computes the sweep with."""
        return cls(__version__, kernel_digest(sweep))


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


class UnfitError(Exception):
    """A process cannot compute for a run, though others may; `error` says why, and how to cure it.

    It is raised where a process cannot open what it needs, or its machine fails. A PlaceError in it
    is the fault of no worker, and a StoreError may be that of the request.
    """

    def __init__(self, address: str, process: str, error: SweepError) -> None:
        super().__init__(address, process, error)
        self.address = address  # among the workers of Dask
        self.process = process
        self.error = error


@contextmanager
def unfit(*kinds: type[Exception]) -> Generator[None]:
    """Within, errors of these kinds become an UnfitError that says which process this is."""
    try:
        yield
    except kinds as error:
        unknown = MachineError(f"{type(error).__name__}: {error}")
        process = f"process {os.getpid()} on {socket.gethostname()}"
        why = error if isinstance(error, SweepError) else unknown
        raise UnfitError(own_address(), process, why) from error


def own_address() -> str:
    """The address of this process among Dask's workers; "" if it is none."""
    with suppress(ValueError):
        return get_worker().address
    return ""


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
    """Raise MachineError if this process has another version or kernel than the leading one.

    No option accepts another kernel: the values of both would be in one store.
    """
    leading = job.code
    if leading.version != __version__:  # which might not even read the store
        raise MachineError(
            f"it has tribosweep {__version__}, and the leading process {leading.version}: {SAME}"
        )
    if not anything_at(store):
        raise StoreError(
            f"it does not see {store!r}: mount its disk there at the same path, or give another "
            "store, on a disk or at a URL that all workers see"
        )
    opened = Store.open(store, durable=job.options.durable)
    if opened.sweep.n_points != job.n_points:
        raise StoreError(f"{store!r} was extended meanwhile; run the longer sweep to continue")
    if (own := Code.of(opened.sweep.points)) != leading:
        raise MachineError(
            f"its kernel of method {opened.sweep.points.method.name} is {own.kernel}, and that of "
            f"the leading process {leading.kernel}, though both have version {__version__}: {SAME}"
        )
    if job.options.accept_revision:
        opened.receipts.accepted = opened.made_by.accepted(opened.sweep)
    backend = job.open_backend(job.options.backend)
    gpu = os.environ[VARIABLE] if job.options.gpus is not None else ""
    return Worker(target_of(opened), backend, state_of(job.run), gpu)


class Signals(WorkerPlugin):
    """How a worker process with a nanny reacts to signals during the run.

    Ctrl-C in a terminal reaches every process there: the process that the user started handles it,
    workers ignore it. At SIGTERM, and whenever else it is closed, a worker first finishes the
    chunks it is computing. Dask takes no more results from it, but the ledger finds those chunks
    in the store.
    """

    def __init__(self, run: str) -> None:
        self.name = f"sweep-signals-{run}"
        self._run = run
        self._before: Any = signal.SIG_IGN  # the handler of SIGINT before the run
        self._closing: Any = None  # keeps a reference, without which the task could be collected

    async def setup(self, worker: Any) -> None:
        if worker.nanny is None:  # whoever started the process handles its signals
            return

        def close() -> None:
            self._closing = asyncio.ensure_future(worker.close(nanny=False, reason="SIGTERM"))

        with suppress(*NO_HANDLERS):
            self._before = signal.signal(signal.SIGINT, signal.SIG_IGN)
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, close)

    async def teardown(self, worker: Any) -> None:
        if worker.nanny is None:
            return
        if worker.status == Status.closing:
            await self._finish()
        elif self._before != signal.SIG_IGN:  # otherwise another run set them, or nobody could
            with suppress(*NO_HANDLERS):
                signal.signal(signal.SIGINT, self._before)
                asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)

    async def _finish(self) -> None:
        state = state_of(self._run)
        state.leaving = True
        end = time.monotonic() + DEPARTURE_SECONDS
        while state.in_progress and time.monotonic() < end:
            await asyncio.sleep(0.02)
        await asyncio.to_thread(forget_run, self._run)


class SetLimit(WorkerPlugin):
    """Tells every worker of a run, later ones included, how long a chunk may take."""

    def __init__(self, run: str, seconds: float = float("inf")) -> None:
        self.name = f"sweep-limit-{run}"  # the next plugin of that name replaces this one
        self._run = run
        self._seconds = seconds

    def setup(self, worker: object) -> None:  # noqa: ARG002 (Dask's interface)
        state_of(self._run).limit = self._seconds
