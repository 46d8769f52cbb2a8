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
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, cast

from dask import config as dask_config
from distributed import SpecCluster
from distributed.scheduler import KilledWorker

from sweep import __version__
from sweep.engine.crews import (
    CrewBase,
    LostError,
    Notify,
    OpenBackend,
    needs_backend_here,
    worker_count,
)
from sweep.engine.ledger import Receipt, Results
from sweep.engine.plugins import SetLimit, Signals
from sweep.engine.schedulers import (
    FORKED,
    connected,
    dashboard,
    local_cluster,
    security_in_files,
    slurm_cluster,
)
from sweep.engine.worker import Job, begin, forget_run, retire_run, stop_run
from sweep.errors import MachineError, SweepError
from sweep.options import LOCAL, SLURM, RunOptions
from sweep.store import is_url
from sweep.work import Chunk, Task

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
RESUME_HINT = "Finished chunks are kept: run the same sweep again to resume"


class Processes(CrewBase):
    """Worker processes behind a Dask scheduler, ours or another's."""

    stop_seconds = 20.0
    settings: Mapping[str, object] = SETTINGS
    job_type: type[Job] = Job

    def __init__(self, options: RunOptions, open_backend: OpenBackend, notify: Notify) -> None:
        super().__init__(options, open_backend, notify)
        self.description = (
            "SLURM jobs" if options.cluster == SLURM else f"workers of {options.cluster}"
        )
        self._job = self.job_type(uuid.uuid4().hex, open_backend, options)
        self._cluster: Any = None  # None until the first run has something to compute
        self._keys: dict[Future[list[Receipt]], str] = {}
        self._n = 0
        self._counted_at = float("-inf")
        self._waiting = False

    def begin(self, results: Results, pending: Sequence[Chunk]) -> None:
        store = self._location(results)
        if needs_backend_here(self._options):  # then processes find the kernel in the cache
            self._prepared(results, pending)
        if self._cluster is None:
            self._start(store)

    def end(self) -> None:
        self._run_everywhere(forget_run)

    def workers(self) -> int:
        if self._client.status != "running":
            raise MachineError(f"the Dask scheduler is gone. {RESUME_HINT}")
        due = time.monotonic() - self._counted_at > LOOK_SECONDS
        if due or not self._n:
            try:
                self._n = sum(cast("dict[str, int]", self._client.nthreads()).values())
            except (OSError, TimeoutError) as error:
                raise MachineError(
                    f"the Dask scheduler is gone ({error}). {RESUME_HINT}"
                ) from error
        if due:
            self._counted_at = time.monotonic()
            self._replace()
        return self._n

    def submit(self, results: Results, task: Task, patience: float) -> Future[list[Receipt]]:
        key = f"sweep-{uuid.uuid4().hex}"
        executor: Any = self._executor  # its types are not complete
        store = self._location(results)
        future: Future[list[Receipt]] = executor.submit(self._job, store, task, patience, key=key)
        self._keys[future] = key
        return future

    def set_limit(self, seconds: float) -> None:
        if self._client.status == "running":  # otherwise it would wait for the scheduler
            with suppress(OSError):  # a scheduler that is gone has no workers
                self._client.register_plugin(SetLimit(self._job.run, seconds))

    def receipts(self, future: Future[Any]) -> Any:
        self._keys.pop(future, None)
        try:
            return future.result()
        except KilledWorker as error:
            raise LostError(f"KilledWorker: process {error.last_worker.address} died") from error
        except (ImportError, AttributeError) as error:  # in unpickling what we sent
            raise MachineError(f"a worker cannot run our tasks: {error}. {RESUME_HINT}") from error

    def halt(self) -> None:
        self._run_everywhere(stop_run)

    def kill(self, future: Future[list[Receipt]]) -> bool:
        key = self._keys.get(future)
        try:
            held = cast("dict[str, Any]", self._client.processing())
            holding = [address for address, keys in held.items() if key in keys]
            for address in holding:
                self._kill_worker(address)
        except OSError:
            return False
        if holding:
            self._keys.pop(future, None)
            future.cancel()
        return holding != []  # a task that no worker holds is waiting for one

    def _location(self, results: Results) -> str:
        """Where workers open the results; SweepError if they are in memory."""
        if results.location is None:
            gpus, cluster = self._options.gpus, self._options.cluster
            option = f"cluster={cluster!r}" if gpus is None else f"gpus={gpus!r}"
            raise SweepError(
                f"{option} computes in other processes, and these results are kept in the memory "
                "of this one; name a store on a disk that all workers see, or leave out "
                f"{option.partition('=')[0]}"
            )
        return results.location

    def _start(self, store: str) -> None:
        """Start or find the workers, and have each open what it needs."""
        with ExitStack() as ends:
            _silence(ends)
            ends.enter_context(dask_config.set({**self.settings, **FORKED}))
            self._cluster = self._find(store, ends)
            if not isinstance(self._cluster, str):
                ends.callback(self._cluster.close, timeout=10)
            self._client = connected(self._cluster)
            ends.callback(self._close)
            self._executor = self._client.get_executor(pure=False, retries=0)
            self._client.register_plugin(Signals(self._job.run))
            self._open_everywhere(store)
            self.notify(f"Dask dashboard: {dashboard(self._client, self._cluster)}")
            self._ends = ends.pop_all()

    def _find(self, store: str, ends: ExitStack) -> SpecCluster | str | Any:
        """The cluster that computes into the store, or the address of its scheduler."""
        if self._options.cluster == LOCAL:
            # The fork server keeps the environment that it was started with.
            environment, count = dict(os.environ), worker_count(self._options)
            return local_cluster({str(i): environment for i in range(count)})
        if self._options.cluster == SLURM:
            # Jobs read the keys in the store's folder; for a URL, in the home directory.
            folder = Path.home() if is_url(store) else Path(store).absolute().parent
            security = ends.enter_context(security_in_files(folder))
            return slurm_cluster(self._options, security)
        return str(self._options.cluster)

    def _open_everywhere(self, store: str) -> None:
        """Have every worker open what it needs; SweepError if one is of another version."""
        answers = cast(
            "dict[str, Any]", self._client.run(begin, self._job, store, on_error="return")
        )
        for address, version in answers.items():
            if isinstance(version, SweepError):
                self._refused(address, version)
            elif version != __version__:
                raise MachineError(
                    f"the Dask worker {address} answers {version!r}, but this is tribosweep "
                    f"{__version__}: install the same version for all workers and restart them"
                )

    def _refused(self, address: str, error: SweepError) -> None:  # noqa: ARG002 (GpuProcesses)
        """A worker cannot open what it needs: end the run."""
        raise error

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
                self._client.run(call, self._job.run, on_error="ignore")

    def _close(self) -> None:
        with suppress(Exception):  # with the scheduler gone, all of this is done
            self._executor.shutdown(wait=False)
            self._run_everywhere(retire_run)
            if self._client.status == "running":
                for plugin in (Signals(self._job.run), SetLimit(self._job.run)):
                    self._client.unregister_worker_plugin(plugin.name)
        with suppress(Exception):  # the same
            self._client.close(timeout=5)


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
