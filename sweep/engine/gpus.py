"""Several GPUs: a process for each under Dask, which sees that one alone.

What goes wrong with a GPU does not end the run. A process whose kernel has failed may have lost its
hold on the GPU, so that it is ended and begun anew before the next chunk; a GPU that fails twice
running, or can no longer be opened, is given up, and its chunks go to the others.
"""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

from distributed import Nanny, Scheduler, SpecCluster, get_worker

from sweep.backends import Backend
from sweep.backends.visible import VARIABLE, Gpu, find_gpus
from sweep.engine.clusters import KEPT, OURS, Processes, Tell, kill_process
from sweep.engine.crews import Lost, StayingCrew, threads_of_gpu
from sweep.engine.ledger import Receipt, Results
from sweep.engine.schedulers import starting
from sweep.engine.worker import Job, opened, stop_of
from sweep.errors import DeviceError, LostDeviceError, SweepError
from sweep.options import RunOptions
from sweep.spec import Task

FAULTS = 2  # running, before a GPU is given up: fewer than the attempts that a chunk has
# A nanny begins a process anew itself, which takes long on a busy machine.
SETTINGS = {**OURS, "distributed.deploy.lost-worker-timeout": "120s"}
DELIVERY_SECONDS = 0.5  # beyond the last result of a process that is ended


def open_gpus(
    results: Results, open_backend: Callable[[str], Backend], options: RunOptions, tell: Tell
) -> StayingCrew:
    """The processes that `options.gpus` asks for; DeviceError where there is no GPU."""
    store = getattr(results, "location", None)
    if store is None:
        raise SweepError(
            f"gpus={options.gpus!r} needs a store on a disk, since each GPU has a process of its "
            "own, and these results are kept in memory; name a store, or leave gpus out"
        )
    gpus = find_gpus(options.gpus or "all")
    run, place = uuid.uuid4().hex, str(store)
    accepted = options.accept_revision
    job = Job(
        run, place, open_backend, "gpu", options.durable, one_gpu=True, accept_revision=accepted
    )
    return OneEach(gpus, job, tell)


@dataclass(frozen=True)
class Done:
    """What a process reports of a task: as many receipts as there are chunks that it has tried."""

    gpu: str  # its identifier
    address: str  # of the process
    receipts: list[Receipt]
    lost: str = ""  # why this GPU cannot be used any more


@dataclass(frozen=True)
class GpuJob:
    """A job in a process that has one GPU."""

    job: Job

    def __call__(self, task: Task, patience: float) -> Done:
        """The chunks of a task up to the first that fails.

        Once one has, a task that comes waits for the end of this process, so that it goes to others
        and no result is on its way then.
        """
        gpu, address, receipts = os.environ[VARIABLE], get_worker().address, list[Receipt]()
        for chunk in task.chunks:
            if self.job.run in _SPOILT:
                if not receipts:
                    stop_of(self.job.run).wait()
                break
            try:
                found = opened(self.job)(Task((chunk,)), patience)
            except LostDeviceError as error:
                found = [Receipt(chunk, {}, 0.0, 0.0, str(error))]
            except DeviceError as error:
                _SPOILT.add(self.job.run)
                return Done(gpu, address, receipts, str(error))
            receipts += [replace(each, in_doubt=each.error != "") for each in found]
            if any(receipt.error for receipt in found):
                _SPOILT.add(self.job.run)
                break
            if not found:  # the run is to stop
                break
        return Done(gpu, address, receipts)


_SPOILT: set[str] = set()  # runs whose kernels have failed in this process


class OneEach(Processes):
    """A process for each GPU; those that fail are begun anew, or given up."""

    settings = SETTINGS

    def __init__(self, gpus: tuple[Gpu, ...], job: Job, tell: Tell) -> None:
        what = "1 GPU" if len(gpus) == 1 else f"{len(gpus)} GPUs"
        names = ", ".join(dict.fromkeys(gpu.name for gpu in gpus if gpu.name))
        words = f"{what} ({names})" if names else what
        super().__init__(lambda: _cluster(gpus), job, words, tell)
        self._left = {gpu.identifier: gpu for gpu in gpus}
        self._faults: Counter[str] = Counter()  # running, by identifier
        self._ending: dict[str, float] = {}  # address of a process that is to end: when
        self._ended: set[str] = set()

    def _call_of(self, job: Job) -> GpuJob:
        return GpuJob(job)

    def workers(self) -> int:
        for address, moment in list(self._ending.items()):
            if time.monotonic() > moment:
                del self._ending[address]
                self._end(address)
        return super().workers()

    def receipts(self, future: Future[Any]) -> list[Receipt]:
        try:
            done = cast("Done", self._result(future))
        except Lost as error:
            worker = cast("Any", error.__cause__).last_worker
            if worker.address in self._ended:
                raise CancelledError from error  # nobody's fault
            self._ended.add(worker.address)
            self._count_fault(str(worker.name), str(error))
            raise
        failed = [receipt.error for receipt in done.receipts if receipt.error]
        if done.lost:
            self._give_up(done.gpu, done.lost)
        elif failed and done.address not in (*self._ending, *self._ended):
            self._end_soon(done.address)
            self._count_fault(done.gpu, failed[0])
        elif done.receipts and not failed:
            self._faults[done.gpu] = 0
        return done.receipts

    def _count_fault(self, identifier: str, why: str) -> None:
        self._faults[identifier] += 1
        if self._faults[identifier] >= FAULTS and len(self._left) > 1:
            self._give_up(identifier, f"{FAULTS} tasks running have failed there, the last: {why}")

    def _give_up(self, identifier: str, why: str) -> None:
        """Never used again in this run; DeviceError if it was the last."""
        gpu = self._left.pop(identifier, None)
        if gpu is None:
            return
        if not self._left:
            raise DeviceError(f"no GPU is left: {why}. {KEPT}")
        self._tell(f"GPU {gpu} is given up, {len(self._left)} left: {why}")
        nanny = self._nannies().get(identifier)
        if nanny is not None and nanny.worker_address:
            self._end_soon(nanny.worker_address)
        else:  # between two processes
            self._dismiss(identifier)

    def _end_soon(self, address: str) -> None:
        """The end of a process, once it has delivered what it has."""
        self._ending.setdefault(address, time.monotonic() + DELIVERY_SECONDS)

    def _end(self, address: str) -> None:
        """The end of a process; its nanny begins another, unless the GPU is given up."""
        self._ended.add(address)
        for identifier, nanny in list(self._nannies().items()):
            if nanny.worker_address == address and nanny.pid:
                with suppress(OSError):  # it is over by itself
                    kill_process(nanny.pid)
            if identifier not in self._left:
                self._ended.add(str(nanny.worker_address))
                self._dismiss(identifier)

    def _dismiss(self, identifier: str) -> None:
        """The end of a nanny."""
        cluster = cast("Any", self._cluster)
        with suppress(Exception):  # then it is closed with the cluster
            cluster.sync(cluster.scale_down, [identifier])

    def _nannies(self) -> dict[str, Any]:
        return cast("Any", self._cluster).workers

    def _refused(self, address: str, error: SweepError) -> None:
        if not isinstance(error, DeviceError):
            raise error
        (identifier,) = (
            name for name, nanny in self._nannies().items() if nanny.worker_address == address
        )
        self._give_up(identifier, str(error))


def _cluster(gpus: tuple[Gpu, ...]) -> SpecCluster:
    """CUDA reads the variable when CuPy is imported: a nanny sets it before anything is."""
    here = {"host": "127.0.0.1", "protocol": "tcp://", "silence_logs": logging.CRITICAL}
    each = {**here, "nthreads": threads_of_gpu(len(gpus)), "memory_limit": 0, "dashboard": False}
    workers = {
        gpu.identifier: {
            "cls": Nanny,
            "options": {**each, "env": {**os.environ, VARIABLE: gpu.identifier}},
        }
        for gpu in gpus
    }
    board = {"host": "127.0.0.1", "port": 0, "dashboard": True, "dashboard_address": "127.0.0.1:0"}
    cluster: Any = SpecCluster  # its types know no level of logging
    with starting():
        return cluster(
            workers=workers,
            scheduler={"cls": Scheduler, "options": board},
            silence_logs=logging.CRITICAL,
        )
