"""What a run has Dask's worker processes do beside its tasks: heed signals, and a chunk's limit."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import suppress
from typing import Any

from distributed.core import Status
from distributed.diagnostics.plugin import WorkerPlugin

from sweep.engine.worker import forget_run, limit_of, presence_in

DEPARTURE_SECONDS = 30.0  # as SLURM leaves between SIGTERM and SIGKILL; a nanny leaves some 6
NO_HANDLERS = (ValueError, RuntimeError, NotImplementedError)  # off the main thread; of Windows


class Signals(WorkerPlugin):
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


class SetLimit(WorkerPlugin):
    """Every worker of a run hears how long a chunk may take, those that come later too."""

    def __init__(self, run: str, seconds: float) -> None:
        self.name = self.name_of(run)  # the next of that name takes its place
        self._run = run
        self._seconds = seconds

    @staticmethod
    def name_of(run: str) -> str:
        return f"sweep-limit-{run}"

    def setup(self, worker: object) -> None:  # noqa: ARG002 (as Dask calls it)
        limit_of(self._run).seconds = self._seconds
