"""Faults of worker processes: a backend that fails at chosen points, and a disk that is full."""

from __future__ import annotations

import errno
import multiprocessing
import os
import re
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from sweep.kernel.backend import Backend, Computed, Stopped, Then
from sweep.kernel.opening import open_backend
from sweep.request.chunk import Points
from sweep.request.sweeps import Sweep
from sweep.store import Store
from tests.engine.test_engine import FRICTIONS
from tests.kernel.wrapped import WrappedBackend
from tests.store.injected import fail_writing


@dataclass(frozen=True)
class Faulty:
    """Opens faulty backends; it is sent to worker processes in place of open_backend.

    Each attempt at a row leaves a file in `folder`: row.process.time.
    """

    folder: Path
    fault: str
    rows: tuple[int, ...]
    times: int = 10**9  # how many attempts at a row fail
    error: type[BaseException] = ValueError  # that it raises

    def __call__(self, name: str) -> Backend:
        return FaultyBackend(open_backend(name), self)

    def attempts(self, row: int) -> int:
        return len(list(self.folder.glob(f"{row}.*")))


class FaultyBackend(WrappedBackend):
    """A real backend, except in those rows of SWEEP."""

    name = "faulty"

    def __init__(self, real: Backend, settings: Faulty) -> None:
        super().__init__(real)
        self._settings = settings

    def compute(
        self,
        sweep: Sweep,
        points: Points,
        stop: threading.Event | None = None,
        then: Then | None = None,
    ) -> Computed:
        settings = self._settings
        row = FRICTIONS.index(float(points.columns["friction"].values[0]))
        (settings.folder / f"{row}.{os.getpid()}.{time.monotonic_ns()}").touch()
        if row in settings.rows and settings.attempts(row) <= settings.times:
            self._fail(stop)
        return self.real.compute(sweep, points, stop, then)

    def _fail(self, stop: threading.Event | None) -> None:
        if self._settings.fault == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self._settings.fault == "deaf":
            time.sleep(1000.0)
        if self._settings.fault == "endless":
            assert stop is not None
            while not stop.is_set():
                time.sleep(0.01)
            raise Stopped
        raise self._settings.error("a fault\a")  # no sound is made


@dataclass(frozen=True)
class FullDisk:
    """Opens real backends; in a process of Dask's, a disk is then full at paths with this text."""

    place: str

    def __call__(self, name: str) -> Backend:
        if multiprocessing.parent_process():
            fail_writing(pytest.MonkeyPatch(), errno.ENOSPC, self.place)  # until the process ends
        return open_backend("cpu" if name == "gpu" else name)


def check_hung(store: Store, seconds: float, minimum: float) -> None:
    """Check that one chunk was given up because it hung in its last attempt for so long.

    `minimum` is the least limit; on a busy machine the slowest chunk may have raised the limit.
    """
    receipts = store.receipts.read()
    (error,) = (receipt["error"] for receipt in receipts if "error" in receipt)
    match = re.fullmatch(r"it hung: stopped after ([\d.]+) s", error)
    assert match
    slowest = max(receipt.get("seconds", 0.0) for receipt in receipts)
    longest = seconds * max(1.0, slowest / minimum)
    assert seconds <= float(match[1]) <= longest + 0.05  # rounded to 0.1 s
