"""The command itself when something goes wrong: its exit status, and what stays in the store."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sweep.engine.ledger import ATTEMPTS
from sweep.model.table import Status
from sweep.store import Store
from tests.command import Run, environment, with_backend
from tests.engine.faulty import Faulty
from tests.engine.slow import Slow
from tests.forked import PIPE, Forked, run_python
from tests.store.test_store import tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL, no SIGTERM")

ROW = 9  # points a chunk: a row of friction
CONFIG = """
format = 1
model = "friction_oscillator"
outputs = ["wear_power", "slip_phases", "regime"]
[parameters]
mass = 1.0
gravity = 10.0
angular_frequency = 6.25
window_start = 4.0
window_end = 12.0
[axes]
friction = { linspace = [0.0, 1.0, 12] }  # as those of tests.engine.faulty
base_acceleration = { linspace = [1.0, 15.0, 9] }
[run]
workers = 2
chunk_points = 9
"""
CHUNK_SECONDS = 0.4  # of slow ones: twelve of them, by two workers


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Every file of a store that one run made, with nothing amiss."""
    from sweep.cli import main

    folder = tmp_path_factory.mktemp("whole")
    (folder / "map.toml").write_text(CONFIG)
    assert main(["run", str(folder / "map.toml"), "-o", str(folder / "map.zarr"), "--json"]) == 0
    return tree(folder / "map.zarr")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    (tmp_path / "map.toml").write_text(CONFIG)
    (tmp_path / "notes").mkdir()
    return tmp_path


def sweep_run(folder: Path, backend: object, *options: str) -> subprocess.CompletedProcess[str]:
    """`sweep run` in a process of its own, with that backend; it prints no traceback."""
    command = with_backend(backend, "run", "map.toml", "-o", "map.zarr", *options)
    done = run_python(command, cwd=folder, env=environment())
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done


def rows(folder: Path, status: Status) -> list[int]:
    """The chunks of the store that are of this status throughout."""
    statuses = Store.open(folder / "map.zarr").dataset()["status"].to_numpy()
    return [i for i, row in enumerate(statuses) if set(row.tolist()) == {status}]


@pytest.mark.broad
def test_a_chunk_that_always_fails_gives_exit_status_1_until_it_is_retried(
    folder: Path, whole: dict[str, bytes], run: Run
) -> None:
    faulty = Faulty(folder / "notes", "raises", (3, 11))
    done = sweep_run(folder, faulty)
    assert done.returncode == 1
    assert "18 of 108 points failed: " in done.stdout
    for out in (done.stdout, run("status", "map.zarr")[1]):
        assert f"\n  18 points: ValueError: a fault\\x07\nreceipts: {folder}/map.zarr.log\n" in out
    summary = json.loads(run("status", "map.zarr", "--json")[1])
    assert summary["errors"] == {"ValueError: a fault\a": 18}
    assert (faulty.attempts(3), faulty.attempts(4)) == (ATTEMPTS, 1)
    assert (rows(folder, Status.failed), len(rows(folder, Status.ok))) == ([3, 11], 10)
    assert run("run", "map.toml", "-o", "map.zarr")[0] == 1  # they are done, and failed
    assert run("status", "map.zarr")[0] == 1
    status, out, _ = run("run", "map.toml", "-o", "map.zarr", "--retry-failed")
    assert (status, "108 points, 18 of them now" in out) == (0, True)
    assert "receipts" not in run("status", "map.zarr")[1]
    assert json.loads(run("status", "map.zarr", "--json")[1])["errors"] == {}
    assert tree(folder / "map.zarr") == whole


def test_fail_fast_stops_at_the_first_failed_chunk_and_keeps_the_rest_pending(
    folder: Path, whole: dict[str, bytes], run: Run
) -> None:
    done = sweep_run(folder, Faulty(folder / "notes", "raises", tuple(range(12))), "--fail-fast")
    assert done.returncode == 1
    assert (
        "error: stopped by the first chunk that failed: ValueError: a fault\\x07\n" in done.stderr
    )
    assert "resume with: sweep run map.toml -o map.zarr --fail-fast\n" in done.stderr
    failed = len(rows(folder, Status.failed))
    assert 1 <= failed < 12
    assert len(rows(folder, Status.pending)) == 12 - failed
    status, out, _ = run("run", "map.toml", "-o", "map.zarr", "--retry-failed")
    assert (status, "108 points, 108 of them now" in out) == (0, True)
    assert tree(folder / "map.zarr") == whole


def test_a_time_limit_gives_exit_status_143_and_keeps_finished_chunks(
    folder: Path, whole: dict[str, bytes], run: Run
) -> None:
    done = sweep_run(folder, Slow(folder / "notes", CHUNK_SECONDS), "--time-limit", "1s")
    assert done.returncode == 143
    kept = len(rows(folder, Status.ok)) * ROW
    assert f"stopped by the time limit: {kept} of 108 points are kept in map.zarr" in done.stderr
    assert re.search(r"^resume with: sweep run map.toml -o map.zarr", done.stderr, re.MULTILINE)
    assert 0 < kept == 108 - len(rows(folder, Status.pending)) * ROW < 108  # no chunk is half done
    assert run("run", "map.toml", "-o", "map.zarr")[0] == 0
    assert tree(folder / "map.zarr") == whole


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_a_signal_works_even_if_no_message_can_be_written(folder: Path) -> None:
    """Whether a chunk was finished or not, the run ends soon with the signal's status."""
    slow = Slow(folder / "notes", CHUNK_SECONDS)
    command = with_backend(slow, "run", "map.toml", "-o", "map.zarr")
    with open("/dev/full", "w") as full:
        process = Forked(command, cwd=folder, env=environment(), stdout=PIPE, stderr=full.fileno())
    with process:
        while not slow.begun.total():
            assert process.poll() is None
            time.sleep(0.01)
        process.terminate()
        process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert Store.open(folder / "map.zarr").pending()
