"""Processes under Dask: on this machine, behind a scheduler that runs already, or as SLURM jobs.

Each process opens store and backend itself and writes its own chunks; tasks and receipts are all
that travels. Where the scheduler is ours, it re-runs nothing: the ledger knows better.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import sys
import time
import uuid
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, cast

from dask import config as dask_config
from distributed import Client, LocalCluster, Security
from distributed.core import Status, rpc
from distributed.diagnostics.plugin import WorkerPlugin
from distributed.scheduler import KilledWorker
from distributed.utils import get_mp_context

from sweep import __version__
from sweep.backends import Backend
from sweep.engine.crews import GUARD, LOCAL, Lost, StayingCrew, asked_workers
from sweep.engine.ledger import Receipt, Results
from sweep.engine.slurm import SLURM, slurm_cluster
from sweep.engine.worker import Job, begin, forget_run, limit_of, presence_in, stop_run
from sweep.errors import MachineError, SweepError
from sweep.spec import RunOptions, Task

CONNECT_SECONDS = 10.0
DEPARTURE_SECONDS = 30.0  # as SLURM leaves between SIGTERM and SIGKILL; a nanny leaves some 6
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
FORKED = {"distributed.worker.multiprocessing-method": "forkserver"}  # where there are forks
PRELOADED = ["distributed", "sweep.engine.clusters"]
SILENCED = ("distributed", "tornado", "asyncio")  # logs, and those under them
NO_HANDLERS = (ValueError, RuntimeError, NotImplementedError)  # off the main thread; of Windows
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
    job = Job(uuid.uuid4().hex, str(store), open_backend, options.backend, options.durable)
    if options.cluster == LOCAL:
        return Processes(lambda: _local(asked_workers(options)), job, "processes", tell)
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
            forked = FORKED if sys.platform == "linux" else {}
            ends.enter_context(dask_config.set({**self.settings, **forked}))
            self._cluster = self._find()
            if not isinstance(self._cluster, str):
                ends.callback(self._cluster.close, timeout=10)
            self._client = _client(self._cluster)
            ends.callback(self._close)
            self._executor = self._client.get_executor(pure=False, retries=0)
            self._client.register_plugin(_Signals(self._job.run))
            self._begin()
            self._tell(f"Dask dashboard: {_dashboard(self._client, self._cluster)}")
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
                self._client.register_plugin(_Limit(self._job.run, seconds))

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

    def _refused(self, address: str, error: SweepError) -> None:  # noqa: ARG002
        """A worker cannot open what it needs: then none begins."""
        raise error

    def _kill_worker(self, address: str) -> None:
        for nanny in getattr(self._cluster, "workers", {}).values():
            if getattr(nanny, "worker_address", None) == address and nanny.pid:
                os.kill(nanny.pid, signal.SIGKILL if os.name != "nt" else signal.SIGTERM)
                return
        self._client.run(_exit, workers=[address], wait=False)

    def _everywhere(self, call: Callable[[str], None]) -> None:
        if self._client.status == "running":  # else it would wait for the scheduler to come back
            with suppress(Exception):  # who is gone has stopped
                self._client.run(call, self._job.run, on_error="ignore")

    def _close(self) -> None:
        with suppress(Exception):
            self._executor.shutdown(wait=False)
            self.rest()
            if self._client.status == "running":
                for plugin in (_Signals, _Limit):
                    self._client.unregister_worker_plugin(plugin.name_of(self._job.run))
        with suppress(Exception):
            self._client.close(timeout=5)


async def _exit() -> None:
    """Ends this process. Dask asks for a coroutine where nobody waits for what is returned."""
    os._exit(1)


class _Signals(WorkerPlugin):
    """What a worker process with a nanny makes of signals, as long as the run goes on.

    Ctrl-C in a terminal goes to every process there; the one that was started sees to it. At
    SIGTERM, and however else it is closed, a process first finishes the chunks that it is at. Dask
    takes no result from it any more, but the ledger finds them done.
    """

    def __init__(self, run: str) -> None:
        self.name = self.name_of(run)
        self._run = run
        self._before: Any = signal.SIG_IGN  # what SIGINT did before
        self._closing: Any = None  # else nobody would hold it

    @staticmethod
    def name_of(run: str) -> str:
        return f"sweep-signals-{run}"

    async def setup(self, worker: Any) -> None:
        if worker.nanny is None:  # whoever started it has nobody else to signal to
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
        elif self._before != signal.SIG_IGN:  # else another run has set them, or nobody can
            with suppress(*NO_HANDLERS):
                signal.signal(signal.SIGINT, self._before)
                asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)

    async def _finish(self) -> None:
        presence = presence_in(self._run)
        presence.leaving = True
        end = time.monotonic() + DEPARTURE_SECONDS
        while presence.at_work and time.monotonic() < end:
            await asyncio.sleep(0.02)
        await asyncio.to_thread(forget_run, self._run)


class _Limit(WorkerPlugin):
    """Every worker of a run hears how long a chunk may take, those that come later too."""

    def __init__(self, run: str, seconds: float) -> None:
        self.name = self.name_of(run)  # the next of that name takes its place
        self._run = run
        self._seconds = seconds

    @staticmethod
    def name_of(run: str) -> str:
        return f"sweep-limit-{run}"

    def setup(self, worker: object) -> None:  # noqa: ARG002
        limit_of(self._run).seconds = self._seconds


def _local(n: int) -> LocalCluster:
    _preload()
    with starting():
        return LocalCluster(
            n_workers=n,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            env=dict(os.environ),  # the server of forks has that of its own beginning
        )


@contextmanager
def starting() -> Generator[None]:
    """Within, SweepError if a process of this machine ends before it is there to work.

    MachineError where that is for want of a folder or a port.
    """
    try:
        yield
    except RuntimeError as error:  # as Dask tells of it
        if isinstance(error.__cause__, OSError):
            raise MachineError(
                f"Dask cannot start worker processes ({error.__cause__}): see to that, or to "
                "Dask's settings if it is a folder of theirs (temporary-directory); or compute on "
                "threads, without --cluster and --gpus"
            ) from error
        raise SweepError(f"worker processes did not start ({error}): {GUARD}") from error


def _preload() -> None:
    """Workers are forks of a process that has imported what they need, if there are forks.

    To import it takes each about a second of a processor, at its start as after a death.
    """
    if sys.platform == "linux":
        get_mp_context()  # has Dask's own list set first, so that ours stays
        multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)


def _client(cluster: LocalCluster | str) -> Client:
    try:
        if isinstance(cluster, str):
            _check_answer(cluster)
        return Client(cluster, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise MachineError(
            f"no Dask scheduler answers at {cluster!r} ({error or 'nothing came back'}); start one "
            "(`dask scheduler`, and `dask worker ADDRESS` for each worker) and give its address"
        ) from error


def _check_answer(address: str) -> None:
    """ValueError, OSError or TimeoutError if no scheduler answers.

    A Client that finds none cannot be closed, and complains of that when it is forgotten.
    """
    with ThreadPoolExecutor(1) as thread:  # this one may have a loop already, in a notebook
        found = thread.submit(asyncio.run, _identity(address)).result()
    if found.get("type") != "Scheduler":
        raise ValueError(f"a Dask {found.get('type')} does")


async def _identity(address: str) -> dict[str, Any]:
    security, called = cast("Any", Security()), cast("Any", rpc)  # their types are not complete
    given = security.get_connection_args("client")
    async with called(address, timeout=CONNECT_SECONDS, connection_args=given) as there:
        return await asyncio.wait_for(there.identity(), CONNECT_SECONDS)


def _dashboard(client: Client, cluster: LocalCluster | str) -> str:
    """Where Dask shows what its workers do, and what is to be done if it shows nothing there."""
    link = str(cast("str | None", client.dashboard_link))
    if not isinstance(cluster, str) and find_spec("bokeh") is None:  # of a scheduler in here
        return f"{link} (shows nothing without bokeh: pip install bokeh)"
    return link


def _silence(ends: ExitStack) -> None:
    """What Dask logs of workers that come and go is told by the ledger.

    Dask gives some of its logs levels of their own, which heed no parent's.
    """
    theirs = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in SILENCED]
    for log in map(logging.getLogger, {*SILENCED, *theirs}):
        ends.callback(log.setLevel, log.level)
        log.setLevel(logging.CRITICAL)
