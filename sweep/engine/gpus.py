"""Several GPUs: one process under Dask for each, which sees that GPU alone.

A fault of one GPU does not end the run. A process whose kernel has failed may have lost its hold on
the GPU, so it is ended and replaced before the next chunk. A GPU that fails twice in a row, or can
no longer be opened, is given up, and the others compute its chunks.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any, cast

from distributed import SpecCluster

from sweep.engine.clusters import SETTINGS, Processes, kill_process, none_left
from sweep.engine.ledger import Receipt
from sweep.engine.schedulers import local_cluster
from sweep.engine.worker_process import Job, UnfitError, opened, own_address, state_of
from sweep.engine.workers import (
    POINTS_OF_A_TASK,
    LostError,
    Notify,
    OpenBackend,
    threads_of_gpu,
)
from sweep.errors import (
    CompileError,
    DeviceError,
    LostDeviceError,
    MachineError,
    PlaceError,
    SweepError,
)
from sweep.kernel.gpu_discovery import VARIABLE, Gpu, find_gpus
from sweep.request.chunk import Task
from sweep.request.options import RunOptions
from sweep.store import anything_at, gone

MAX_FAULTS = 2  # in a row, before a GPU is given up: fewer than the attempts at a chunk
DELIVERY_SECONDS = 0.5  # between a process's last result and its end


@dataclass(frozen=True)
class GpuReport:
    """What a process reports of a task: one receipt for each chunk that it has tried."""

    gpu: str  # its identifier
    address: str  # of the process
    receipts: list[Receipt]
    lost: SweepError | None = None  # why this GPU can no longer be used


class GpuJob(Job):
    """A job for a process that has one GPU."""

    def __call__(self, store: str, task: Task, patience: float) -> GpuReport:
        """Compute the blocks of a task up to the first that fails.

        After a failure, a task that arrives waits for the end of this process. It then goes to
        other processes, and no result is in transit when this one ends.
        """
        gpu, address, receipts = os.environ[VARIABLE], own_address(), list[Receipt]()
        parts = task.chunks
        try:
            if self.run not in _SPOILT:
                worker = opened(self, store)
                for _, parts in worker.blocks(task.chunks):
                    if self.run in _SPOILT:
                        break
                    computed = worker(Task(parts), patience)
                    receipts += [replace(each, in_doubt=each.error != "") for each in computed]
                    if any(receipt.error for receipt in computed):
                        _SPOILT.add(self.run)
                    if len(computed) < len(parts):  # the run is stopping
                        break
        except LostDeviceError as error:  # whichever of them was to blame
            receipts += [Receipt(chunk, error=str(error), in_doubt=True) for chunk in parts]
            _SPOILT.add(self.run)
        except (MachineError, CompileError, UnfitError) as error:
            _SPOILT.add(self.run)
            why = error.error if isinstance(error, UnfitError) else error
            return GpuReport(gpu, address, receipts, why)
        if not receipts and self.run in _SPOILT:
            state_of(self.run).stop.wait()
        return GpuReport(gpu, address, receipts)


_SPOILT: set[str] = set()  # runs of which a kernel has failed in this process


class GpuProcesses(Processes):
    """A process for each GPU; one that fails is replaced, or its GPU is given up."""

    # A nanny replaces its process itself, which takes long on a busy machine.
    settings: Mapping[str, object] = {**SETTINGS, "distributed.deploy.lost-worker-timeout": "120s"}
    job_type = GpuJob
    points_of_a_task = POINTS_OF_A_TASK

    def __init__(self, options: RunOptions, open_backend: OpenBackend, notify: Notify) -> None:
        super().__init__(options, open_backend, notify)
        self._left: dict[str, Gpu] = {}  # GPUs still in use, by identifier
        self._faults: Counter[str] = Counter()  # in a row, by identifier
        self._ending: dict[str, float] = {}  # when to end a process, by its address
        self._ended: set[str] = set()  # addresses

    def _find(self, store: str, ends: ExitStack) -> SpecCluster:  # noqa: ARG002 (GPUs are here)
        gpus = find_gpus(self._options.gpus or "all")
        count = "1 GPU" if len(gpus) == 1 else f"{len(gpus)} GPUs"
        names = ", ".join(dict.fromkeys(gpu.name for gpu in gpus if gpu.name))
        self.description = f"{count} ({names})" if names else count
        self._left = {gpu.identifier: gpu for gpu in gpus}
        # CUDA reads the variable when CuPy is imported.
        environments = {gpu.identifier: {**os.environ, VARIABLE: gpu.identifier} for gpu in gpus}
        return local_cluster(environments, threads_of_gpu(len(gpus)))

    def workers(self) -> int:
        for address, end in list(self._ending.items()):
            if time.monotonic() > end:
                del self._ending[address]
                self._end(address)
        return super().workers()

    def receipts(self, future: Future[Any]) -> list[Receipt]:
        try:
            report = cast("GpuReport", super().receipts(future))
        except LostError as error:
            worker = cast("Any", error.__cause__).last_worker
            if worker.address in self._ended:
                raise CancelledError from error  # we ended it: the task is not to blame
            self._ended.add(worker.address)
            self._count_fault(str(worker.name), str(error))
            raise
        errors = [receipt.error for receipt in report.receipts if receipt.error]
        if isinstance(report.lost, PlaceError):  # no GPU is to blame
            raise report.lost
        if report.lost:
            self._give_up_gpu(report.gpu, report.lost)
        elif errors and report.address not in (*self._ending, *self._ended):
            self._end_soon(report.address)
            self._count_fault(report.gpu, errors[0])
        elif report.receipts and not errors:
            self._faults[report.gpu] = 0
        return report.receipts

    def _count_fault(self, identifier: str, why: str) -> None:
        self._faults[identifier] += 1
        if self._faults[identifier] >= MAX_FAULTS and len(self._left) > 1:
            why = f"{MAX_FAULTS} tasks in a row failed there, the last: {why}"
            self._give_up_gpu(identifier, DeviceError(why))

    def _give_up_gpu(self, identifier: str, why: SweepError) -> None:
        """Use a GPU no more in this run; DeviceError, with all reasons, if it was the last.

        Where the store is gone, that is the error: no GPU is to blame.
        """
        gpu = self._left.pop(identifier, None)
        if gpu is None:
            return
        if not anything_at(self._store):
            raise gone(self._store)
        self._reasons[f"GPU {gpu}"] = why
        if not self._left:
            raise DeviceError(none_left("GPU", self._reasons))
        self.notify(f"GPU {gpu} is given up, {len(self._left)} left: {why}")
        nanny = self._cluster.workers.get(identifier)
        if nanny is not None and nanny.worker_address:
            self._end_soon(nanny.worker_address)
        else:  # between two processes
            self._dismiss(identifier)

    def _end_soon(self, address: str) -> None:
        """End a process once it has delivered its results."""
        self._ending.setdefault(address, time.monotonic() + DELIVERY_SECONDS)

    def _end(self, address: str) -> None:
        """End a process; its nanny starts another, unless the GPU is given up."""
        self._ended.add(address)
        for identifier, nanny in list(self._cluster.workers.items()):
            if nanny.worker_address == address and nanny.pid:
                with suppress(OSError):  # it has ended by itself
                    kill_process(nanny.pid)
            if identifier not in self._left:
                self._ended.add(str(nanny.worker_address))
                self._dismiss(identifier)

    def _dismiss(self, identifier: str) -> None:
        """Close a nanny."""
        with suppress(Exception):  # otherwise it is closed with the cluster
            self._cluster.sync(self._cluster.scale_down, [identifier])

    def _give_up(self, address: str, name: str, process: str, why: SweepError) -> None:  # noqa: ARG002
        self._give_up_gpu(name, why)
