"""Processes under Dask: on this machine, behind a scheduler that is already running, or SLURM jobs.

Each process opens store and backend itself and writes its own chunks; only tasks and receipts
travel. A scheduler that we start retries nothing: the ledger knows better.
"""

from __future__ import annotations

import logging
import os
import signal
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, suppress
from typing import Any, cast

from dask import config as dask_config
from distributed import SpecCluster
from distributed.comm.core import CommClosedError
from distributed.diagnostics.plugin import WorkerPlugin
from distributed.scheduler import KilledWorker

from sweep.engine.ledger import Receipt
from sweep.engine.schedulers import (
    FORKED,
    connected,
    local_cluster,
    security_in_files,
    slurm_cluster,
)
from sweep.engine.slurm import folder_of_keys
from sweep.engine.worker_process import (
    Code,
    Job,
    SetLimit,
    Signals,
    UnfitError,
    begin,
    forget_run,
    retire_run,
    stop_run,
)
from sweep.engine.workers import (
    Crew,
    LostError,
    Notify,
    OpenBackend,
    needs_backend_here,
    worker_count,
)
from sweep.errors import MachineError, PlaceError, StoreError, SweepError
from sweep.request.chunk import Chunk, Task
from sweep.request.options import LOCAL, SLURM, RunOptions
from sweep.store import Target, anything_at, gone
from sweep.store.disk_faults import RESUME_HINT

LOOK_SECONDS = 1.0  # between two counts of the workers
# Of free memory, a process keeps KEPT_BYTES; blocks from MAPPED_BYTES on are returned at once. No
# glibc takes a larger value for the second.
KEPT_BYTES = 2**28
MAPPED_BYTES = 2**25
SETTINGS: Mapping[str, object] = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.active-memory-manager.start": False,  # results are not kept in workers
    # By default each process inspects itself many times a second, which takes time from kernels.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
    # By default Dask has memory returned at once, so each chunk's arrays are mapped page by page.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": KEPT_BYTES,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": MAPPED_BYTES,
}
SILENCED_LOGGERS = ("distributed", "tornado", "asyncio")  # loggers, with those below them
NOBODY = "tcp://127.0.0.1:1"  # the address of no worker
NAMES_SHOWN = 3  # of workers with the same fault


class Processes(Crew):
    """Worker processes behind a Dask scheduler, ours or another's.

    One that cannot compute, whatever the chunk, is given up: it gets no more tasks, and others take
    over those that it had. It is closed and not replaced if it is ours, and left running otherwise.
    """

    stop_seconds = 20.0
    settings: Mapping[str, object] = SETTINGS
    job_type: type[Job] = Job

    def __init__(self, options: RunOptions, open_backend: OpenBackend, notify: Notify) -> None:
        super().__init__(options, open_backend, notify)
        self.description = (
            "SLURM jobs" if options.cluster == SLURM else f"workers of {options.cluster}"
        )
        self._run_name = uuid.uuid4().hex
        self._cluster: Any = None  # None until the first run has something to compute
        # Dask's key of each task on its way, and the only workers that may have it (None: all).
        self._sent: dict[Future[list[Receipt]], tuple[str, frozenset[str] | None]] = {}
        self._fit: set[str] = set()  # addresses of the workers that are there, and not given up
        self._unfit: set[str] = set()  # addresses of those that were given up
        self._reasons: dict[str, SweepError] = {}  # why, by what messages call them
        self._n = 0
        self._counted_at = float("-inf")
        self._waiting = False

    def begin(self, target: Target, pending: Sequence[Chunk]) -> None:
        self._store = self._location(target)
        code, n_points = Code.of(target.sweep.points), target.sweep.n_points
        self._job = self.job_type(self._run_name, self._open_backend, self._options, code, n_points)
        if needs_backend_here(self._options):  # then processes find the kernel in the cache
            self._prepared(target, pending)
        if self._cluster is None:
            self._start()

    def end(self) -> None:
        self._run_everywhere(forget_run)

    def workers(self) -> int:
        if self._client.status != "running":
            raise MachineError(f"the Dask scheduler is gone. {RESUME_HINT}")
        due = time.monotonic() - self._counted_at > LOOK_SECONDS
        if due or not self._n:
            try:
                threads = cast("dict[str, int]", self._client.nthreads())
            except (OSError, TimeoutError) as error:
                raise MachineError(
                    f"the Dask scheduler is gone ({error}). {RESUME_HINT}"
                ) from error
            self._fit = threads.keys() - self._unfit
            self._n = sum(threads[address] for address in self._fit)
        if due:
            self._counted_at = time.monotonic()
            self._take_back()
            self._replace()
        return self._n

    def submit(self, target: Target, task: Task, patience: float) -> Future[list[Receipt]]:
        key = f"sweep-{uuid.uuid4().hex}"
        workers = frozenset(self._fit or {NOBODY}) if self._unfit else None
        executor: Any = self._executor  # its types are not complete
        store = self._location(target)
        future: Future[list[Receipt]] = executor.submit(
            self._job, store, task, patience, key=key, workers=workers and [*workers]
        )
        self._sent[future] = key, workers
        return future

    def set_limit(self, seconds: float) -> None:
        self._register(SetLimit(self._run_name, seconds))

    def receipts(self, future: Future[Any]) -> Any:
        self._sent.pop(future, None)
        try:
            return future.result()
        except KilledWorker as error:
            if error.last_worker.address in self._unfit:  # we closed it: the task is not to blame
                raise CancelledError from error
            raise LostError(f"KilledWorker: process {error.last_worker.address} died") from error
        except UnfitError as error:
            self._refused(error.address, error)
            raise CancelledError from error
        except (ImportError, AttributeError) as error:  # in unpickling what we sent
            raise MachineError(f"a worker cannot run our tasks: {error}. {RESUME_HINT}") from error

    def halt(self) -> None:
        self._run_everywhere(stop_run)

    def kill(self, future: Future[list[Receipt]]) -> bool:
        key, _ = self._sent.get(future, ("", None))
        try:
            held = cast("dict[str, Any]", self._client.processing())
            holding = [address for address, keys in held.items() if key in keys]
            for address in holding:
                self._kill_worker(address)
        except OSError:
            return False
        if holding:
            self._sent.pop(future, None)
            future.cancel()
        return holding != []  # a task that no worker holds is waiting for one

    def _location(self, target: Target) -> str:
        """Where workers open the results; SweepError if they are in memory."""
        if not target.location:
            gpus, cluster = self._options.gpus, self._options.cluster
            option = f"cluster={cluster!r}" if gpus is None else f"gpus={gpus!r}"
            raise SweepError(
                f"{option} computes in other processes, and these results are kept in the memory "
                "of this one; name a store on a disk that all workers see, or leave out "
                f"{option.partition('=')[0]}"
            )
        return target.location

    def _start(self) -> None:
        """Start or find the workers, and have each open what it needs."""
        with ExitStack() as ends:
            _silence(ends)
            ends.enter_context(dask_config.set({**self.settings, **FORKED}))
            self._cluster = self._find(self._store, ends)
            if not isinstance(self._cluster, str):
                ends.callback(self._cluster.close, timeout=10)
            self._client = connected(self._cluster)
            ends.callback(self._close)
            self._executor = self._client.get_executor(pure=False, retries=0)
            self._register(Signals(self._run_name))
            self._open_everywhere()
            self.notify(f"Dask dashboard: {self._client.dashboard_link}")
            self._ends = ends.pop_all()

    def _find(self, store: str, ends: ExitStack) -> SpecCluster | str | Any:
        """The cluster that computes into the store, or the address of its scheduler."""
        if self._options.cluster == LOCAL:
            # The fork server keeps the environment that it was started with.
            environment, count = dict(os.environ), worker_count(self._options)
            return local_cluster({str(i): environment for i in range(count)})
        if self._options.cluster == SLURM:
            security = ends.enter_context(security_in_files(folder_of_keys(store)))
            return slurm_cluster(self._options, security)
        return str(self._options.cluster)

    def _open_everywhere(self) -> None:
        """Have every worker open what it needs, and give up those that cannot."""
        answers = cast(
            "dict[str, Any]", self._client.run(begin, self._job, self._store, on_error="return")
        )
        self._fit = answers.keys() - self._unfit
        for address, answer in answers.items():
            if answer != self._job.code and not isinstance(answer, CommClosedError):  # it has ended
                self._refused(address, answer)

    def _refused(self, address: str, answer: object) -> None:
        """A worker answered otherwise than by opening what it needs or computing: give it up.

        Where the place of the results is full, no worker is to blame, and the run ends.
        """
        if isinstance(answer, UnfitError) and isinstance(answer.error, PlaceError):
            raise answer.error from answer
        info = cast("dict[str, Any]", self._client.scheduler_info(n_workers=-1))
        worker = info["workers"].get(address, {})
        if isinstance(answer, UnfitError):
            process, why = answer.process, answer.error
        else:
            process = f"on {worker.get('host', address)}"
            why = MachineError(
                f"it cannot run our tasks ({answer}): install tribosweep {self._job.code.version} "
                "there, and restart the worker"
            )
        self._give_up(address, worker.get("name", address), process, why)

    def _give_up(self, address: str, name: str, process: str, why: SweepError) -> None:
        """Use a worker no more in this run; an error, with all reasons, if it was the last.

        It is a StoreError if the request is wrong: no worker can open the store that it names.
        Where this process no longer sees the store either, no worker is to blame.
        """
        if address in self._unfit:
            return
        if not anything_at(self._store):
            raise gone(self._store)
        self._unfit.add(address)
        self._fit.discard(address)
        self._reasons[f"worker {name} ({process})"] = why
        left = len(self._fit)
        if not isinstance(self._cluster, str):
            self._cluster.worker_spec.pop(name, None)  # then `_replace` has it closed
            left = len(self._cluster.worker_spec)
        if not left:
            is_request = all(isinstance(each, StoreError) for each in self._reasons.values())
            kind = StoreError if is_request else MachineError
            raise kind(none_left("worker", self._reasons))
        self.notify(f"worker {name} ({process}) is given up, {left} left: {why}")

    def _take_back(self) -> None:
        """Cancel the tasks that none of the present workers may have."""
        for future, (_, workers) in list(self._sent.items()):
            if self._fit and workers and not workers & self._fit:
                future.cancel()

    def _register(self, plugin: WorkerPlugin) -> None:
        """Let all workers that can have a plugin, later ones too."""
        if self._client.status == "running":  # otherwise it would wait for the scheduler
            with suppress(Exception):  # a worker that cannot have it is given up for that
                self._client.register_plugin(plugin)

    def _replace(self) -> None:
        """Submit jobs that have ended again; notify the user if no worker is left."""
        if not isinstance(self._cluster, str):
            self._cluster.scale(len(self._cluster.worker_spec))
        if not self._n and not self._waiting:
            self.notify("no worker is there; waiting for one")
        self._waiting = not self._n

    def _kill_worker(self, address: str) -> None:
        for nanny in getattr(self._cluster, "workers", {}).values():
            if getattr(nanny, "worker_address", None) == address and nanny.pid:
                kill_process(nanny.pid)
                return
        self._client.run(_exit, workers=[address], wait=False)

    def _run_everywhere(self, call: Callable[[str], None]) -> None:
        if self._client.status == "running":  # otherwise it would wait for the scheduler
            with suppress(Exception):  # a worker that is gone has stopped
                self._client.run(call, self._run_name, on_error="ignore")

    def _close(self) -> None:
        with suppress(Exception):  # with the scheduler gone, all of this is done
            self._executor.shutdown(wait=False)
            self._run_everywhere(retire_run)
            if self._client.status == "running":
                for plugin in (Signals(self._run_name), SetLimit(self._run_name)):
                    self._client.unregister_worker_plugin(plugin.name)
        with suppress(Exception):  # the same
            self._client.close(timeout=5)


def none_left(kind: str, reasons: Mapping[str, SweepError]) -> str:
    """A message that the last worker, or GPU, was given up: the reasons, and whose they are."""
    by_reason: dict[str, list[str]] = {}
    for name, why in reasons.items():
        by_reason.setdefault(str(why), []).append(name)
    lines = [f"no {kind} is left:"]
    for why, names in by_reason.items():
        more = [f"{len(names) - NAMES_SHOWN} more"] if len(names) > NAMES_SHOWN else []
        lines.append(f"  {', '.join([*names[:NAMES_SHOWN], *more])}: {why}")
    text = "\n".join(lines)
    return text if "Finished chunks are kept" in text else f"{text}\n{RESUME_HINT}"


def kill_process(number: int) -> None:
    """End a process of this machine at once, whatever it is doing; OSError if there is none."""
    os.kill(number, signal.SIGKILL if os.name != "nt" else signal.SIGTERM)


async def _exit() -> None:
    """End this process. Dask requires a coroutine where the caller does not wait for a result."""
    os._exit(1)


def _silence(ends: ExitStack) -> None:
    """Silence Dask's logs of workers that come and go: the ledger reports what matters.

    Dask gives some of its loggers levels of their own, so a parent's level does not reach them.
    """
    names = [
        name for name in logging.root.manager.loggerDict if name.split(".")[0] in SILENCED_LOGGERS
    ]
    for log in map(logging.getLogger, {*SILENCED_LOGGERS, *names}):
        ends.callback(log.setLevel, log.level)
        log.setLevel(logging.CRITICAL)
