"""A backend that takes its time and notes what it begins, for processes that are to be killed."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sweep.backends import Backend, Computed, open_backend
from sweep.spec import Points, Sweep
from tests.backends.wrapped import WrappedBackend


@dataclass(frozen=True)
class Slow:
    """In place of open_backend; it travels, and each process makes its own backend of it.

    A chunk takes so many seconds at least, and leaves a file CHUNK_PROCESS_MOMENT in the folder as
    it is begun. What tells chunks apart is the first friction in them.
    """

    HURRY = ".hurry"

    folder: Path
    seconds: float

    def __call__(self, name: str) -> Backend:
        return SlowBackend(open_backend(name), self)

    def hurry(self) -> None:
        """From now on chunks take as long as they take."""
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
        """Those that have begun any."""
        return {int(process) for _, process in self._notes()}

    def _notes(self) -> Iterator[list[str]]:
        return (note.name.split("_")[:2] for note in self.folder.glob("*_*"))


class SlowBackend(WrappedBackend):
    """A real backend but for the time it takes."""

    name = "slow"

    def __init__(self, real: Backend, asked: Slow) -> None:
        super().__init__(real)
        self._asked = asked

    def compute(
        self, sweep: Sweep, points: Points, stop: threading.Event | None = None
    ) -> Computed:
        chunk = float(points.columns["friction"].values[0]).hex()
        (self._asked.folder / f"{chunk}_{os.getpid()}_{time.monotonic_ns()}").touch()
        time.sleep(0.0 if self._asked.hurried else self._asked.seconds)
        return self.real.compute(sweep, points, stop)
