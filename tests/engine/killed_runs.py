"""A sweep that is killed repeatedly at random moments: what is left, what was begun twice."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from sweep.store import Store
from sweep.store.upkeep import verify
from tests.command import environment, outliving, with_backend
from tests.engine.slow import Slow
from tests.forked import Forked
from tests.store.test_store import tree

WORKERS = 2
CHUNK_SECONDS = 0.1
CHUNKS_PER_KILL = 30  # more than are computed before it comes
MAX_WAIT = 0.8  # s, before a kill

# A kill costs the chunks that were begun and not yet written: one per thread. A worker under Dask
# reports a whole task at a time, but the chunks it had written are found in the store.
WINDOW_OF_DRIVER = WORKERS
WINDOW_OF_WORKER = 1

# In a round: two drivers with threads, then workers under Dask, and then their driver.
DRIVERS_PER_ROUND = 3
WORKERS_PER_ROUND = 2
WARM_SECONDS = 1.0  # until tasks have reached their size

CONFIG = """
format = 1
model = "friction_oscillator"
outputs = ["wear_power", "slip_phases", "regime"]
[parameters]
mass = 1.0
gravity = 10.0
angular_frequency = 6.25
window_start = 0.0
window_end = 10.0
[axes]
friction = {{ linspace = [0.05, 0.5, {chunks}] }}
base_acceleration = {{ linspace = [10.0, 15.0, 4] }}
[run]
workers = {workers}
chunk_points = 4
"""


class Chaos:
    """A store whose runs are killed, and one that is undisturbed, in a folder."""

    def __init__(self, folder: Path, rounds: int, in_the_end: int, seed: int = 1) -> None:
        self.rounds = rounds
        self.in_the_end = in_the_end
        self.drivers_killed = rounds * DRIVERS_PER_ROUND
        self.workers_killed = rounds * WORKERS_PER_ROUND + in_the_end
        self.kills = self.drivers_killed + self.workers_killed
        self.chunks = self.kills * CHUNKS_PER_KILL
        self.store, self.undisturbed = folder / "map.zarr", folder / "undisturbed.zarr"
        self.damaged = 0  # chunks found damaged after a kill
        self.orphans = 0  # workers that outlived their driver
        self._folder = folder
        self._moments = random.Random(seed)
        self._slow = Slow(folder / "notes", CHUNK_SECONDS)
        self._slow.folder.mkdir()
        (folder / "map.toml").write_text(CONFIG.format(chunks=self.chunks, workers=WORKERS))

    def run(self) -> None:
        """Rounds of kills, a last run that loses only workers, and a run in the other store."""
        for _ in range(self.rounds):
            self._kill_driver()
            self._kill_driver()
            with self._computing("--cluster", "local") as driver:
                self._kill_workers(driver, WORKERS_PER_ROUND)
                self._wait()
                self._end(driver)
        with self._computing("--cluster", "local") as driver:
            time.sleep(WARM_SECONDS)
            self._kill_workers(driver, self.in_the_end)
            self._slow.hurry()
            assert driver.wait(timeout=100) == 0
        elsewhere = Slow(self._folder / "elsewhere", 0.0)
        elsewhere.folder.mkdir()
        assert self._start(self.undisturbed, elsewhere).wait(timeout=100) == 0

    @property
    def most_begun(self) -> int:
        """The bound on chunks begun: each chunk once, and a window for each kill."""
        windows = self.drivers_killed * WINDOW_OF_DRIVER + self.workers_killed * WINDOW_OF_WORKER
        return self.chunks + windows

    @property
    def begun(self) -> Counter[str]:
        """How often each chunk was begun in all runs except the undisturbed one."""
        return self._slow.begun

    @property
    def written(self) -> Counter[tuple[int, ...]]:
        """How often each chunk was written, by the receipts; a killed process may lack its last."""
        return Counter(
            tuple(receipt["chunk"]) for receipt in Store.open(self.store).receipts.read()
        )

    @property
    def unlike(self) -> list[str]:
        """The files that differ from those of the undisturbed store, or exist in one store only."""
        one, other = tree(self.store), tree(self.undisturbed)
        return sorted(n for n in one.keys() | other.keys() if one.get(n) != other.get(n))

    def _kill_driver(self) -> None:
        with self._computing() as driver:
            self._wait()
            self._end(driver)

    def _kill_workers(self, driver: Forked, number: int) -> None:
        for _ in range(number):
            self._wait()
            self._moments.choice(self._workers(driver)).kill()

    @contextmanager
    def _computing(self, *options: str) -> Iterator[Forked]:
        """A driver whose workers have begun a chunk."""
        before = self._slow.begun.total()
        driver = self._start(self.store, self._slow, *options)
        try:
            while self._slow.begun.total() == before:
                assert driver.poll() is None
                time.sleep(0.01)
            yield driver
        finally:
            driver.kill()
            driver.wait()

    def _start(self, store: Path, slow: Slow, *options: str) -> Forked:
        command = with_backend(slow, "run", "map.toml", "-o", str(store), *options)
        return Forked(command, cwd=self._folder, env=environment())

    def _wait(self) -> None:
        time.sleep(self._moments.uniform(0.0, MAX_WAIT))

    def _workers(self, driver: Forked) -> list[psutil.Process]:
        """The living worker processes that have begun a chunk."""
        while True:
            assert driver.poll() is None
            family = psutil.Process(driver.pid).children(recursive=True)
            noted = self._slow.processes
            if workers := [process for process in family if process.pid in noted]:
                return workers

    def _end(self, driver: Forked) -> None:
        """Kill the driver, and count what that leaves."""
        assert driver.poll() is None
        family = psutil.Process(driver.pid).children(recursive=True)
        driver.kill()
        driver.wait()
        self.orphans += len(outliving(family))
        self.damaged += len(verify(Store.open(self.store)))
