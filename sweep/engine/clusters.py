"""Processes under Dask: on this machine, behind a scheduler that runs already, or as SLURM jobs.

Each process opens store and backend itself and writes its own chunks; tasks and receipts are all
that travels. Where the scheduler is ours, it re-runs nothing: the ledger knows better.
"""

from __future__ import annotations

import logging
import os
import signal
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any, cast

from dask import config as dask_config
from distributed import LocalCluster
from distributed.scheduler import KilledWorker

from sweep import __version__
from sweep.backends import Backend
from sweep.engine.crews import Lost, StayingCrew, asked_workers
from sweep.engine.ledger import Receipt, Results
from sweep.engine.plugins import SetLimit, Signals
from sweep.engine.schedulers import FORKED, connected, dashboard, local_cluster
from sweep.engine.slurm import slurm_cluster
from sweep.engine.worker import Job, begin, forget_run, stop_run
from sweep.errors import MachineError, SweepError
from sweep.options import LOCAL, SLURM, RunOptions
from sweep.spec import Task

LOOK_SECONDS = 1.0  # between looks at how many workers there are
KEPT_BYTES = 2**28  # of memory that is free
MAPPED_BYTES = 2**25  # and more are given back at once: the most that every glibc takes
OURS: dict[str, object] = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.active-memory-manager.start": False,  # no results lie about
    # Each process looks at itself many times a second, which takes from kernels.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
    # Dask has memory given back at once, so that each chunk's arrays are mapped anew, page by page.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": KEPT_BYTES,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": MAPPED_BYTES,
}
SILENCED = ("distributed", "tornado", "asyncio")  # logs, and those under them
KEPT = "Finished chunks are kept: run the same sweep again to go on"

Tell = Callable[[str], None]


def open_crew(
    results: Results, open_backend: Callable[[str], Backend], options: RunOptions, tell: Tell
) -> StayingCrew:
    """The processes that `options.cluster` names; MachineError where nobody answers there."""
    store = getattr(results, "location", None)
    if store is None:
        raise SweepError(
            f"cluster={options.cluster!r} needs a store on a disk that all workers see, and these "
            "results are kept in memory; name a store, or leave the cluster out"
        )
    job = Job(
        uuid.uuid4().hex,
        str(store),
        open_backend,
        options.backend,
        options.durable,
        accept_revision=options.accept_revision,
    )
    if options.cluster == LOCAL:
        return Processes(lambda: local_cluster(asked_workers(options)), job, "processes", tell)
    if options.cluster == SLURM:
        return Processes(lambda: slurm_cluster(options), job, "SLURM jobs", tell)
    return Processes(lambda: str(options.cluster), job, f"workers of {options.cluster}", tell)


class Processes:
    """Worker processes behind a Dask scheduler, ours or another's."""

    stop_seconds = 20.0
    settings: Mapping[str, object] = OURS

    def __init__(
        self, find: Callable[[], LocalCluster | str | Any], job: Job, words: str, tell: Tell
    ) -> None:
        self._find = find
        self._job = job
        self._call = self._call_of(job)
        self._tell = tell
        self.description = words
        self._ends = ExitStack()
        self._keys: dict[Future[list[Receipt]], str] = {}
        self._n = 0
        self._looked_at = float("-inf")
        self._waits = False

    def __enter__(self) -> Processes:
        with ExitStack() as ends:
            _silence(ends)
            ends.enter_context(dask_config.set({**self.settings, **FORKED}))
            self._cluster = self._find()
            if not isinstance(self._cluster, str):
                ends.callback(self._cluster.close, timeout=10)
            self._client = connected(self._cluster)
            ends.callback(self._close)
            self._executor = self._client.get_executor(pure=False, retries=0)
            self._client.register_plugin(Signals(self._job.run))
            self._begin()
            self._tell(f"Dask dashboard: {dashboard(self._client, self._cluster)}")
            self._ends = ends.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.close()

    def _call_of(self, job: Job) -> Callable[[Task, float], Any]:
        """What workers are sent with each task."""
        return job

    def turn_to(self, results: Results) -> None:
        """Workers open the other store with their next task."""
        self._job = replace(self._job, store=str(cast("Any", results).location))
        self._call = self._call_of(self._job)

    def rest(self) -> None:
        self._everywhere(forget_run)

    def workers(self) -> int:
        if self._client.status != "running":
            raise MachineError(f"the Dask scheduler is gone. {KEPT}")
        late = time.monotonic() - self._looked_at > LOOK_SECONDS
        if late or not self._n:
            try:
                self._n = sum(cast("dict[str, int]", self._client.nthreads()).values())
            except (OSError, TimeoutError) as error:
                raise MachineError(f"the Dask scheduler is gone ({error}). {KEPT}") from error
        if late:
            self._looked_at = time.monotonic()
            self._replace()
        return self._n

    def _replace(self) -> None:
        """Jobs that have ended are submitted again; the run waits where none is left."""
        cluster: Any = self._cluster
        if not isinstance(cluster, str):
            cluster.scale(len(cluster.worker_spec))
        if not self._n and not self._waits:
            self._tell("no worker is there; waiting for one")
        self._waits = not self._n

    def submit(self, task: Task, patience: float) -> Future[list[Receipt]]:
        key = f"sweep-{uuid.uuid4().hex}"
        executor: Any = self._executor  # its types are not complete
        future: Future[list[Receipt]] = executor.submit(self._call, task, patience, key=key)
        self._keys[future] = key
        return future

    def set_limit(self, seconds: float) -> None:
        if self._client.status == "running":  # else it would wait for the scheduler to come back
            with suppress(OSError):  # who is gone has stopped
                self._client.register_plugin(SetLimit(self._job.run, seconds))

    def receipts(self, future: Future[list[Receipt]]) -> list[Receipt]:
        return self._result(future)

    def _result(self, future: Future[Any]) -> Any:
        self._keys.pop(future, None)
        try:
            return future.result()
        except KilledWorker as error:
            raise Lost(f"KilledWorker: process {error.last_worker.address} died") from error
        except (ImportError, AttributeError) as error:  # in unpickling what we sent
            raise MachineError(f"a worker cannot run our tasks: {error}. {KEPT}") from error

    def halt(self) -> None:
        self._everywhere(stop_run)

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
        return holding != []  # else it waits for a worker

    def _begin(self) -> None:
        """Every worker has opened what it needs; SweepError if one is of another version."""
        found = cast("dict[str, Any]", self._client.run(begin, self._job, on_error="return"))
        for address, version in found.items():
            if isinstance(version, SweepError):
                self._refused(address, version)
            elif version != __version__:
                raise MachineError(
                    f"the Dask worker {address} answers {version!r}, where this is tribosweep "
                    f"{__version__}: install the same version for all workers, and start them anew"
                )

    def _refused(self, address: str, error: SweepError) -> None:  # noqa: ARG002 (OneEach asks)
        """A worker cannot open what it needs: then none begins."""
        raise error

    def _kill_worker(self, address: str) -> None:
        for nanny in getattr(self._cluster, "workers", {}).values():
            if getattr(nanny, "worker_address", None) == address and nanny.pid:
                kill_process(nanny.pid)
                return
        self._client.run(_exit, workers=[address], wait=False)

    def _everywhere(self, call: Callable[[str], None]) -> None:
        if self._client.status == "running":  # else it would wait for the scheduler to come back
            with suppress(Exception):  # who is gone has stopped
                self._client.run(call, self._job.run, on_error="ignore")

    def _close(self) -> None:
        with suppress(Exception):  # of a scheduler that is gone: what is asked of it is over
            self._executor.shutdown(wait=False)
            self.rest()
            if self._client.status == "running":
                for plugin in (Signals, SetLimit):
                    self._client.unregister_worker_plugin(plugin.name_of(self._job.run))
        with suppress(Exception):  # the same
            self._client.close(timeout=5)


def kill_process(number: int) -> None:
    """The end of a process of this machine, whatever it is at; OSError if there is none."""
    os.kill(number, signal.SIGKILL if os.name != "nt" else signal.SIGTERM)


async def _exit() -> None:
    """Ends this process. Dask asks for a coroutine where nobody waits for what is returned."""
    os._exit(1)


def _silence(ends: ExitStack) -> None:
    """What Dask logs of workers that come and go is told by the ledger.

    Dask gives some of its logs levels of their own, which heed no parent's.
    """
    theirs = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in SILENCED]
    for log in map(logging.getLogger, {*SILENCED, *theirs}):
        ends.callback(log.setLevel, log.level)
        log.setLevel(logging.CRITICAL)
