"""What worker processes under Dask do for a run besides its tasks: heed signals and time limits."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import suppress
from typing import Any

from distributed import Status
from distributed.diagnostics.plugin import WorkerPlugin

from sweep.engine.worker import forget_run, state_of

DEPARTURE_SECONDS = 30.0  # SLURM's time between SIGTERM and SIGKILL; a nanny leaves about 6
# Raised for signal handlers off the main thread, and on Windows.
NO_HANDLERS = (ValueError, RuntimeError, NotImplementedError)


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
