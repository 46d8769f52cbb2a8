"""A backend for worker processes that does at some points what the test wants."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from sweep.backends import Backend, Computed, Stopped, open_backend
from sweep.spec import Points, Sweep
from tests.backends.wrapped import WrappedBackend
from tests.engine.test_engine import SWEEP

FRICTIONS = SWEEP.axes[0].columns["friction"].tolist()


@dataclass(frozen=True)
class Faulty:
    """In place of open_backend; it travels, and each process makes its own backend of it.

    Each attempt at a row leaves a file in `folder`: row.process.moment.
    """

    folder: Path
    fault: str
    rows: tuple[int, ...]
    times: int = 10**9  # attempts at a row that fail

    def __call__(self, name: str) -> Backend:
        return FaultyBackend(open_backend(name), self)

    def attempts(self, row: int) -> int:
        return len(list(self.folder.glob(f"{row}.*")))


class FaultyBackend(WrappedBackend):
    """A real backend but for those rows of SWEEP."""

    name = "faulty"

    def __init__(self, real: Backend, asked: Faulty) -> None:
        super().__init__(real)
        self._asked = asked

    def compute(
        self, sweep: Sweep, points: Points, stop: threading.Event | None = None
    ) -> Computed:
        asked = self._asked
        row = FRICTIONS.index(float(points.columns["friction"].values[0]))
        (asked.folder / f"{row}.{os.getpid()}.{time.monotonic_ns()}").touch()
        if row in asked.rows and asked.attempts(row) <= asked.times:
            self._fail(stop)
        return self.real.compute(sweep, points, stop)

    def _fail(self, stop: threading.Event | None) -> None:
        if self._asked.fault == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self._asked.fault == "deaf":
            time.sleep(1000.0)
        if self._asked.fault == "endless":
            assert stop is not None
            while not stop.is_set():
                time.sleep(0.01)
            raise Stopped
        raise ValueError("a fault")
