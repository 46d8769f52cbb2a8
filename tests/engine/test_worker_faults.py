"""After any fault, finished chunks are kept, and running again gives the same store."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sweep
from sweep import api
from sweep.engine.driver import open_store
from sweep.engine.ledger import ATTEMPTS, Summary
from sweep.engine.loop import run
from sweep.errors import CompileError, MachineError, SweepError
from sweep.file import load
from sweep.model.table import MISSING_FLAG, Status
from sweep.request.options import RunOptions
from sweep.store import Arrays, Store
from sweep.store.upkeep import verify
from tests.command import environment
from tests.engine.faulty import Faulty
from tests.engine.test_engine import ROW, SWEEP, bits_of
from tests.forked import PIPE, Forked
from tests.store.test_store import tree

ROOT = Path(__file__).resolve().parents[2]

# 60 chunks of a few milliseconds each.
REQUEST = {
    "model": "friction_oscillator",
    "outputs": ["wear_power", "slip_phases", "regime"],
    "parameters": {
        "mass": 1.0,
        "gravity": 10.0,
        "angular_frequency": 6.283185307179586,
        "window_start": 0.0,
        "window_end": 18_000.0,
    },
    "axes": {
        "friction": {"linspace": [0.05, 0.5, 60]},
        "base_acceleration": {"linspace": [10.0, 15.0, 16]},
    },
    "run": {"workers": 2, "chunk_points": 16},
}

# How long a chunk takes at least in a process that is to be killed.
CHUNK_SECONDS = 0.02

# Prints "ready", then runs the request in the store.
SLOW_RUNNER = """
import json, sys
from pathlib import Path
from sweep import api
from sweep.file import load
from tests.engine.slow import Slow
request, slow = load(json.loads(sys.argv[2])), Slow(Path(sys.argv[3]), float(sys.argv[4]))
print("ready", flush=True)
api.compute(request, sys.argv[1], open_backend=slow)
"""


def start(store: Path) -> Forked:
    """A process that has just begun to run the request in the store, with notes beside it."""
    notes = store.with_name("notes")
    notes.mkdir(exist_ok=True)
    command = ["-c", SLOW_RUNNER, str(store), json.dumps(REQUEST), str(notes), str(CHUNK_SECONDS)]
    running = Forked(command, cwd=ROOT, env=environment(), stdout=PIPE)
    assert running.stdout is not None
    assert running.stdout.readline() == "ready\n"
    return running


def finish(store: Path) -> Summary:
    """Run the request to its end in this process."""
    request = load(REQUEST)
    kept = open_store(request, store)
    summary = api.run_in_store(kept, request)
    assert kept.pending() == []
    return summary


def receipts_by_chunk(store: Path) -> Counter[tuple[int, ...]]:
    return Counter(tuple(receipt["chunk"]) for receipt in Store.open(store).receipts.read())


# Kills.


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_at_any_moment_and_run_again_it_is_the_same_store(
    tmp_path: Path, whole_request: dict[str, bytes]
) -> None:
    """Kills between the creation of the store and its last chunks; nothing is computed twice."""
    path = tmp_path / "map.zarr"
    workers = REQUEST["run"]["workers"]
    needed = 60 * CHUNK_SECONDS / workers  # or longer
    moments = random.Random(7)  # in total well below the time needed
    kills = 0
    for attempt, longest in enumerate((0.05, 0.3, 0.4, 0.4)):
        running = start(path)
        if attempt:  # on a busy machine, creating the store may take longer than filling it
            _wait_until(path.exists)
        time.sleep(moments.uniform(0.0, longest * needed))
        kills += running.poll() is None
        running.kill()
        running.communicate()
        if path.exists():
            store = Store.open(path)
            assert verify(store) == []
            done = receipts_by_chunk(path)
            assert not set(done) & {chunk.index for chunk in store.pending()}
    assert kills >= 3
    before = set(receipts_by_chunk(path)) if path.exists() else set()
    left = Store.open(path).pending()
    assert left
    summary = finish(path)
    assert summary.chunks == len(left)
    assert tree(path) == whole_request
    receipts = receipts_by_chunk(path)
    # A receipt follows its chunk: a kill between the two loses the receipt, never doubles it.
    assert set(receipts.values()) == {1}
    assert len(receipts) >= 60 - kills * workers
    assert set(receipts) - before == {chunk.index for chunk in left}
    # Nor does a process that was killed while creating the store leave anything.
    assert {entry.name for entry in tmp_path.iterdir()} == {
        "map.zarr",
        "map.zarr.lock",
        "map.zarr.log",
        "notes",
    }


def _wait_until(true: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


# A full disk.

# In a namespace of its own, the mount ends with the process. Prints the outcome of each step.
ON_A_SMALL_DISK = """
import json, os, subprocess, sys
from pathlib import Path
import sweep
from sweep.errors import MachineError
from tests.engine.test_worker_faults import digests

disk, request, pages = Path(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3])
def mount(options):
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(disk)], check=True)
def attempt():
    try:
        dataset = sweep.run(request, store=disk / "map.zarr")
    except MachineError as error:
        return str(error)
    return int((dataset["status"].to_numpy() == 0).sum())
page = os.sysconf("SC_PAGE_SIZE")  # the smallest size of a file
mount(f"size={pages * page}")
said = [attempt()]
mount(f"remount,size={20 * pages * page},ro")
said.append(attempt())
mount(f"remount,size={20 * pages * page},rw")
files = digests(disk / "map.zarr")
said.append(attempt())
print(json.dumps([said, files, digests(disk / "map.zarr")]))
"""


# Eight chunks of about 1 MB each.
OF_LARGE_FILES = {
    **REQUEST,
    "outputs": ["wear_power"],
    "parameters": {**REQUEST["parameters"], "window_end": 8.0},
    "axes": {
        "friction": {"linspace": [0.05, 0.5, 8]},
        "base_acceleration": {"linspace": [10.0, 15.0, 2**18]},
    },
    "run": {"workers": 2, "chunk_points": 2**18},
}


def digests(store: Path) -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest() for name, content in tree(store).items()}


@pytest.mark.parametrize(
    ("request_", "pages", "chunks", "least"),
    [
        pytest.param(REQUEST, 100, 60, 1, marks=pytest.mark.broad),
        (OF_LARGE_FILES, 900, 8, 2**19),
    ],
)
def test_a_really_full_then_really_read_only_disk(
    tmp_path: Path, request_: Mapping[str, Any], pages: int, chunks: int, least: int
) -> None:
    if not _may_mount(tmp_path):
        pytest.skip("mounting is not permitted here")  # store/test_survives.py needs no mount
    undisturbed = sweep.run(request_, store=tmp_path / "whole" / "map.zarr")
    whole = digests(tmp_path / "whole" / "map.zarr")
    files = (tmp_path / "whole/map.zarr/wear_power/c").rglob("0")
    assert min(file.stat().st_size for file in files if file.is_file()) >= least
    disk = tmp_path / "disk"
    disk.mkdir()
    command = [sys.executable, "-c", ON_A_SMALL_DISK, disk, json.dumps(request_), str(pages)]
    done = subprocess.run(
        ["unshare", "-rm", *command],
        cwd=ROOT,
        text=True,
        capture_output=True,
        timeout=100,
        check=True,
    )
    (full, read_only, points), files, finished = json.loads(done.stdout)
    assert "the disk is full; free some space" in full
    assert "Finished chunks are kept" in full
    assert "the file system is read-only; mount it for writing" in read_only
    assert points == undisturbed["status"].size
    kept = {name: digest for name, digest in files.items() if not name.endswith(".partial")}
    assert kept.items() <= whole.items()
    assert chunks / 12 < sum(name.startswith("status/c/") for name in kept) < chunks
    assert finished == whole


def _may_mount(folder: Path) -> bool:
    if not shutil.which("unshare"):
        return False
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    return subprocess.run(["unshare", "-rm", *mount], capture_output=True).returncode == 0


# Failing chunks.


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.broad), 2])
def test_a_chunk_that_keeps_failing_is_abandoned_and_the_run_goes_on(
    store: Store, faulty: Callable[..., Faulty], expected: Mapping[str, bytes], workers: int
) -> None:
    backend = faulty("raises", 3, 11)
    summary = run(store, RunOptions(workers=workers), open_backend=backend)
    assert summary.counts == {Status.ok: 10 * ROW, Status.failed: 2 * ROW}
    assert (summary.points, summary.stopped) == (12 * ROW, "")
    assert store.pending() == verify(store) == []
    assert [backend.attempts(i) for i in range(12)] == [
        ATTEMPTS if i in (3, 11) else 1 for i in range(12)
    ]
    dataset = store.dataset().load()
    is_lost = np.isin(np.arange(12), (3, 11))
    missing = {"regime": MISSING_FLAG, "status": Status.failed}
    for name, computed in dataset.data_vars.items():
        stored = computed.to_numpy()
        np.testing.assert_array_equal(stored[is_lost], missing.get(str(name), np.nan))
        whole = np.frombuffer(expected[str(name)], stored.dtype).reshape(stored.shape)
        assert stored[~is_lost].tobytes() == whole[~is_lost].tobytes()
    errors = [receipt for receipt in store.receipts.read() if "error" in receipt]
    assert sorted(receipt["chunk"] for receipt in errors) == [[3, 0], [11, 0]]
    assert {receipt["error"] for receipt in errors} == {"ValueError: a fault\a"}
    store.reopen(store.failed())
    assert run(store).chunks == 2
    assert bits_of(store.dataset()) == expected


def test_fail_fast_reports_the_failure_of_the_last_chunk(faulty: Callable[..., Faulty]) -> None:
    backend = faulty("raises", 11)
    results = Arrays(SWEEP, chunk_points=ROW)
    summary = run(results, RunOptions(workers=1, fail_fast=True), open_backend=backend)
    assert (summary.chunks, summary.stopped) == (12, "failure")


@pytest.mark.parametrize("error", [ValueError, OSError, ZeroDivisionError])
def test_a_chunk_that_fails_for_a_while_ends_up_the_same(
    faulty: Callable[..., Faulty], expected: Mapping[str, bytes], error: type[Exception]
) -> None:
    backend = faulty("raises", *range(12), times=ATTEMPTS - 1, error=error)
    results = Arrays(SWEEP, chunk_points=ROW)
    summary = run(results, RunOptions(workers=2), open_backend=backend)
    assert {backend.attempts(i) for i in range(12)} == {ATTEMPTS}
    assert summary.counts == {Status.ok: 12 * ROW}
    assert bits_of(results.dataset()) == expected


def test_a_run_ends_when_every_chunk_fails(faulty: Callable[..., Faulty]) -> None:
    backend = faulty("raises", *range(12))
    results = Arrays(SWEEP, chunk_points=ROW)
    assert run(results, RunOptions(workers=2), open_backend=backend).counts == {
        Status.failed: 12 * ROW
    }
    assert results.pending() == []


@pytest.mark.parametrize(
    "error",
    [MachineError, *(pytest.param(e, marks=pytest.mark.broad) for e in (CompileError, SweepError))],
)
def test_an_error_of_request_or_machine_ends_the_run_at_once(
    store: Store,
    faulty: Callable[..., Faulty],
    expected: Mapping[str, bytes],
    error: type[SweepError],
) -> None:
    backend = faulty("raises", 2, error=error)
    with pytest.raises(error, match="a fault"):
        run(store, RunOptions(workers=2), open_backend=backend)
    assert backend.attempts(2) == 1
    # How many were attempted depends on the threads' turns.
    assert sum(backend.attempts(i) for i in range(12)) < 12
    left = {chunk.index for chunk in store.pending()}
    assert len({(0, 0), (1, 0)} & left) <= 1  # the other worker's chunk in progress
    assert (2, 0) in left
    assert verify(store) == []
    run(store)
    assert bits_of(store.dataset()) == expected


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError, r"not enough memory for a chunk of 9 points .*fewer `wo"),
        (ImportError, r"installation is broken \(a fault.+\): install"),
    ],
)
def test_a_fault_of_the_machine_is_no_failure_of_points(
    faulty: Callable[..., Faulty], error: type[Exception], sentence: str
) -> None:
    backend = faulty("raises", 2, error=error)
    results = Arrays(SWEEP, chunk_points=ROW)
    with pytest.raises(MachineError, match=sentence):
        run(results, RunOptions(workers=1), open_backend=backend)
    assert Status.failed not in results.dataset()["status"].to_numpy()


def test_an_interrupt_in_a_worker_is_not_swallowed(faulty: Callable[..., Faulty]) -> None:
    backend = faulty("raises", 2, error=KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        run(Arrays(SWEEP, chunk_points=ROW), RunOptions(workers=2), open_backend=backend)


class Unwritable(Arrays):
    """Results that cannot be written, for an unforeseen reason."""

    def write(self, *_: Any) -> None:
        raise TypeError("cannot be written")


def test_results_that_can_never_be_written_end_the_run() -> None:
    """Not even a failed chunk can be written, so this is no fault of its points."""
    with pytest.raises(TypeError, match="cannot be written"):
        run(Unwritable(SWEEP, chunk_points=ROW), RunOptions(workers=2))
