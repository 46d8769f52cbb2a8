"""A slow backend that notes what it begins, for processes that tests kill."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sweep.kernel.backend import Backend, Computed, Then
from sweep.kernel.opening import open_backend
from sweep.request.chunk import Points
from sweep.request.sweeps import Sweep
from tests.kernel.wrapped import WrappedBackend


@dataclass(frozen=True)
class Slow:
    """Opens slow backends; it is sent to worker processes in place of open_backend.

    A chunk takes at least `seconds`. When it is begun it leaves a file CHUNK_PROCESS_TIME in the
    folder, where CHUNK is the first friction in it.
    """

    HURRY = ".hurry"

    folder: Path
    seconds: float

    def __call__(self, name: str) -> Backend:
        return SlowBackend(open_backend(name), self)

    def hurry(self) -> None:
        """Let all chunks take no longer than they need from now on."""
        (self.folder / self.HURRY).touch()

    @property
    def hurried(self) -> bool:
        return (self.folder / self.HURRY).exists()

    @property
    def begun(self) -> Counter[str]:
        """How often each chunk was begun."""
        return Counter(chunk for chunk, _ in self._notes())

    @property
    def processes(self) -> set[int]:
        """The processes that have begun a chunk."""
        return {int(process) for _, process in self._notes()}

    def _notes(self) -> Iterator[list[str]]:
        return (note.name.split("_")[:2] for note in self.folder.glob("*_*"))


class SlowBackend(WrappedBackend):
    """A real backend, except for the time it takes."""

    name = "slow"

    def __init__(self, real: Backend, settings: Slow) -> None:
        super().__init__(real)
        self._settings = settings

    def compute(
        self,
        sweep: Sweep,
        points: Points,
        stop: threading.Event | None = None,
        then: Then | None = None,
    ) -> Computed:
        chunk = float(points.columns["friction"].values[0]).hex()
        (self._settings.folder / f"{chunk}_{os.getpid()}_{time.monotonic_ns()}").touch()
        end = time.monotonic() + self._settings.seconds
        while time.monotonic() < end and not self._settings.hurried:
            time.sleep(min(0.01, self._settings.seconds))
        return self.real.compute(sweep, points, stop, then)
