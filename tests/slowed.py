"""Processes that wait a moment before all that a kill could cut short, and note what it is.

Otherwise nearly all random kills would come while points are computed, and hardly any while a store
is extended or a cell is merged.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event
from typing import Any

from sweep import api
from sweep.file import load
from sweep.kernel.backend import Backend, Computed, Then
from sweep.kernel.opening import open_backend
from sweep.request.chunk import Points
from sweep.request.sweeps import Sweep
from sweep.store import Store
from sweep.store.target import BLOCKS, NODES
from tests.command import environment
from tests.forked import CHECKOUT, PIPE, Forked
from tests.kernel.wrapped import WrappedBackend

COMPUTING = "computing"
COMPUTE_SECONDS, FILE_SECONDS = 0.01, 0.004  # at most
MAIN = "import sys; from tests.slowed import main; main(*sys.argv[1:])"


def start(
    path: Path, notes: Notes, source: Mapping[str, Any] | None = None, **options: Any
) -> Forked:
    """A process that computes a sweep, or what a store holds, in the store at a path."""
    return _started("compute", path, notes, source or str(path), options)


def start_extending(path: Path, notes: Notes, source: Mapping[str, Any]) -> Forked:
    """A process that extends the store at a path to the axes of a sweep."""
    return _started("extend", path, notes, source, {})


def _started(action: str, path: Path, notes: Notes, source: object, options: object) -> Forked:
    arguments = (action, str(path), str(notes.folder), json.dumps(source), json.dumps(options))
    return Forked(["-c", MAIN, *arguments], cwd=CHECKOUT, env=environment(), stderr=PIPE)


def main(action: str, path: str, notes: str, source: str, options: str) -> None:
    """Do what `start` and `start_extending` promise, in the process that they have started."""
    note = Notes(Path(notes)).note
    for name in ("replace", "rename", "unlink"):
        setattr(os, name, _slowed(getattr(os, name), note, Path(path)))
    if action == "extend":
        Store.extend(path, load(json.loads(source)).sweep)
        return
    api.finish_extension(json.loads(source))
    request = api.with_options(load(json.loads(source)), **json.loads(options))
    api.compute(request, path, open_backend=lambda name: Slowed(open_backend(name), note))


def _slowed(real: Callable[..., None], note: Callable[[str], None], store: Path) -> Any:
    """A function that puts in place, moves or removes a file, slowed if it is one of the store.

    Scratch files are not: they are most files of an extension, and a kill there loses little.
    """

    def slowed(*paths: Any, **options: Any) -> None:
        file = Path(paths[-1])
        if file.is_relative_to(store.parent) and ".partial" not in str(file):
            note(f"{real.__name__} {_kind(file, store)}")
            time.sleep(random.uniform(0.0, FILE_SECONDS))
        real(*paths, **options)

    return slowed


def _kind(file: Path, store: Path) -> str:
    """What of a store a file is, for statistics of what kills have cut short."""
    first, *others = file.relative_to(store.parent).parts
    if first != store.name or not others:
        return first.removeprefix(f".{store.name}").removeprefix(store.name) or "store"
    name = "/".join(others)
    kept = [folder for folder in (BLOCKS, NODES) if name.startswith(folder)]
    if not kept and others[0] not in ("status", "zarr.json"):
        return "output" if "c" in others else "coordinate"
    return "metadata" if file.name == "zarr.json" else "".join(kept) or "status"


class Slowed(WrappedBackend):
    """A real backend, except for the time it takes; notes which points are computed."""

    name = "slowed"

    def __init__(self, real: Backend, note: Callable[[str], None]) -> None:
        super().__init__(real)
        self._note = note

    def compute(
        self, sweep: Sweep, points: Points, stop: Event | None = None, then: Then | None = None
    ) -> Computed:
        self._note(f"{COMPUTING} {named(points)}")
        time.sleep(random.uniform(0.0, COMPUTE_SECONDS))
        return self.real.compute(sweep, points, stop, then)


def named(points: Points) -> str:
    """A name of these points: their number, and the first values of all of their columns."""
    first = (float(points.columns[name].values[0]).hex() for name in sorted(points.columns))
    return " ".join((str(points.n_points), *first))


class Notes:
    """What processes have begun, a file for each of them in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def note(self, what: str) -> None:
        with (self.folder / f"{os.getpid()}").open("ab", buffering=0) as file:
            file.write(f"{what}\n".encode())

    def of(self, process: int) -> list[str]:
        """What a process has begun so far."""
        file = self.folder / str(process)
        return file.read_text().splitlines() if file.exists() else []

    @property
    def processes(self) -> set[int]:
        return {int(file.name) for file in self.folder.iterdir()}

    @property
    def computed(self) -> Counter[str]:
        """How often points were begun to be computed, by their name."""
        lines = (line for process in self.processes for line in self.of(process))
        parts = (line.partition(" ") for line in lines)
        return Counter(points for what, _, points in parts if what == COMPUTING)


class Killer:
    """Kills so many processes at random moments, and counts what that has cut short."""

    def __init__(self, kills: int) -> None:
        self.left = kills
        self.random = random.Random(kills)
        self.cut_short = Counter[str]()

    def kill(self, process: Forked, notes: Notes, most: int) -> bool:
        """Kill a process once it has begun so many things or fewer, unless it ends before.

        Whether it was killed. If no kill is left, it is let end.
        """
        number = self.random.randint(1, most)
        while self.left and len(notes.of(process.pid)) < number and process.poll() is None:
            time.sleep(0.001)
        if self.left:
            time.sleep(self.random.uniform(0.0, FILE_SECONDS))
            process.kill()
        _, messages = process.communicate(timeout=60)
        assert process.returncode in (0, -signal.SIGKILL), messages
        if is_killed := process.returncode != 0:
            self.left -= 1
            what = notes.of(process.pid)[-1]
            self.cut_short[COMPUTING if what.startswith(COMPUTING) else what] += 1
        return is_killed
