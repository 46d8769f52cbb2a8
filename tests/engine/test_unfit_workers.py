"""A worker that cannot compute is given up by name, and the others go on."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from distributed import LocalCluster

from sweep.engine.ledger import Progress
from sweep.engine.loop import run
from sweep.errors import MachineError
from sweep.kernel.backend import Backend, Computed, Then
from sweep.model.table import Status
from sweep.request.chunk import Points
from sweep.request.options import RunOptions
from sweep.request.sweeps import Sweep
from sweep.store import Store
from tests.command import environment
from tests.engine.dask_workers import DaskWorkers
from tests.engine.slow import Slow
from tests.engine.test_engine import ROW, bits_of
from tests.kernel.wrapped import WrappedBackend

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")

OLD = "import sweep.version; sweep.version.__version__ = '0.0.1'"


class Mixed(DaskWorkers):
    """Workers of several kinds."""

    def __init__(self, folder: Path, cluster: LocalCluster) -> None:
        super().__init__(folder, cluster)
        path = environment()["PYTHONPATH"]
        self._changes = {
            "good": {},
            "old": {"PYTHONPATH": f"{self._module('sitecustomize', OLD)}{os.pathsep}{path}"},
            "broken": {"PYTHONPATH": self._module("sweep", "raise ImportError('a part is gone')")},
            "full": {"TRIBOSWEEP_CACHE_DIR": "/dev/null/cache"},
        }

    def _module(self, name: str, text: str) -> str:
        """A folder with a module."""
        folder = self.folder / name
        folder.mkdir()
        (folder / f"{name}.py").write_text(text)
        return str(folder)

    def add(self, *names: str) -> None:
        """Workers whose names up to a colon are their kinds."""
        for name in names:
            self.start(name, "--no-nanny", **self._changes[name.partition(":")[0]])


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Mixed]:
    with LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster:
        made = Mixed(tmp_path, cluster)
        yield made
        made.end()


@pytest.fixture
def slow(tmp_path: Path) -> Slow:
    """A worker that joins has much time for that before all is done."""
    (tmp_path / "notes").mkdir()
    return Slow(tmp_path / "notes", 5.0)


@pytest.mark.broad
def test_workers_that_cannot_compute_are_given_up_and_the_others_go_on(
    workers: Mixed, store: Store, slow: Slow, expected: dict[str, bytes]
) -> None:
    """Two are there from the beginning; one joins when the first chunk is done.

    Tasks are bound to workers as soon as one was given up. When all those that can compute have
    gone, nobody else would have their tasks: they are computed by one that joins.
    """
    workers.add("good", "broken", "full")
    workers.wait()
    notes: list[str] = []

    def report(progress: Progress) -> None:
        if progress.chunks_done and "old" not in workers.running:
            workers.add("old")
        if any("worker old" in line for line in notes) and "good:2" not in workers.running:
            workers.running["good"].kill()
            workers.add("good:2")
            slow.hurry()

    options = RunOptions(cluster=workers.address, time_limit=100.0)
    summary = run(store, options, report, notify=notes.append, open_backend=slow)
    assert (summary.counts, summary.stopped) == ({Status.ok: 12 * ROW}, "")
    assert bits_of(store.dataset()) == expected
    good = {workers.running[name].pid for name in ("good", "good:2")}
    assert {receipt["pid"] for receipt in store.receipts.read()} == good
    for name, why in (
        ("broken", r"cannot run our tasks .*a part is gone.* install tribosweep .* there"),
        ("full", "cannot keep compiled kernels in '/dev/null/cache'"),
        ("old", r"it has tribosweep 0\.0\.1, and the leading process .* install the same vers"),
    ):
        (line,) = (line for line in notes if line.startswith(f"worker {name} ("))
        assert re.search(
            rf"^[^)]*(on [\d.]+|{socket.gethostname()})\) is given up, \d left: ", line
        )
        assert re.search(why, line)
        assert workers.running[name].poll() is None  # it may serve others


@dataclass(frozen=True)
class Choosy:
    """Opens slow backends, which cannot compute in the first `n_unfit` processes that try."""

    slow: Slow
    n_unfit: int

    def __call__(self, name: str) -> Backend:
        return ChoosyBackend(self.slow(name), self)

    def is_unfit(self) -> bool:
        """Whether this process is one of them, each of which has a link to itself."""
        for number in range(self.n_unfit):
            own = self.slow.folder / f"{number}.process"
            with contextlib.suppress(FileExistsError):
                own.symlink_to(str(os.getpid()))
            if str(own.readlink()) == str(os.getpid()):
                return True
        return False


class ChoosyBackend(WrappedBackend):
    def __init__(self, real: Backend, settings: Choosy) -> None:
        super().__init__(real)
        self._settings = settings

    def compute(
        self,
        sweep: Sweep,
        points: Points,
        stop: threading.Event | None = None,
        then: Then | None = None,
    ) -> Computed:
        if self._settings.is_unfit():
            raise MachineError("the disk is full: free some space")
        return self.real.compute(sweep, points, stop, then)


@pytest.mark.parametrize("n_unfit", [1, 2])
def test_a_process_of_ours_is_closed_and_the_run_ends_with_the_last(
    store: Store, slow: Slow, expected: dict[str, bytes], n_unfit: int
) -> None:
    notes: list[str] = []

    def report(_: Progress) -> None:
        if any("given up" in line for line in notes):
            slow.hurry()

    options = RunOptions(cluster="local", workers=2, time_limit=100.0)
    opener = Choosy(slow, n_unfit)
    if n_unfit == 1:
        summary = run(store, options, report, notify=notes.append, open_backend=opener)
        assert (summary.counts, summary.stopped) == ({Status.ok: 12 * ROW}, "")
        assert bits_of(store.dataset()) == expected
        assert len({receipt["pid"] for receipt in store.receipts.read()}) == 1
    else:
        with pytest.raises(MachineError, match="no worker is left:\n") as caught:
            run(store, options, report, notify=notes.append, open_backend=opener)
        host = re.escape(socket.gethostname())
        who = rf"worker [01] \(process \d+ on {host}\)"
        assert re.search(rf"\n  {who}, {who}: the disk is full: free some sp", str(caught.value))
        assert "Finished chunks are kept" in str(caught.value)
        assert len(store.pending()) == 12
    given_up = [line for line in notes if " is given up, 1 left: the disk is full" in line]
    assert len(given_up) == 1
    assert not any("lost" in line for line in notes)
