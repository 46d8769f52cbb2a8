"""`sweep status --watch` follows whoever writes to a store."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sweep import api
from sweep.config import load
from sweep.engine import failed_arrays
from sweep.spec import Status
from sweep.store.flow import flow
from tests.command import MODULE, Run, environment, json_lines
from tests.test_faults import REQUEST
from tests.test_shards import compute_shard

NOON = 1_700_000_000.0  # s since 1970


def receipt(ago: float, chunk: int, pid: int = 1, **counts: int) -> dict[str, object]:
    from datetime import UTC, datetime

    counts = counts or {"ok": 100}
    when = datetime.fromtimestamp(NOON - ago, UTC).isoformat()
    points = sum(counts.values())
    return {
        "time": when, "host": "h", "pid": pid, "chunk": [chunk], "points": points,
        "counts": counts, "seconds": 2.0,
    }  # fmt: skip


def test_the_pace_is_that_of_all_processes_that_write_now() -> None:
    receipts = [receipt(4000, 0, pid=9), receipt(18, 1), receipt(10, 2, pid=2), receipt(0, 3)]
    found = flow(receipts, NOON)
    assert found.points_per_second == pytest.approx(300 / 20)
    assert (found.workers, found.counts) == (2, {Status.ok: 400})


def test_slow_chunks_are_looked_back_for() -> None:
    slow = receipt(100, 1) | {"seconds": 50.0}
    assert flow([slow], NOON).points_per_second == pytest.approx(100 / 150)


def test_nobody_writes() -> None:
    assert flow([], NOON).points_per_second is None
    found = flow([receipt(4000, 0)], NOON)
    assert (found.points_per_second, found.workers) == (None, 0)


def test_a_chunk_computed_again_counts_once_and_clocks_may_differ() -> None:
    receipts = [receipt(30, 1, failed=100), receipt(20, 1, ok=90, diverged=10), receipt(-5, 2)]
    found = flow(receipts, NOON)
    assert found.counts == {Status.ok: 190, Status.diverged: 10}
    assert found.points_per_second == pytest.approx(300 / 37)


def test_it_shows_failures_and_ends_when_all_is_done(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sweep.cli.watching.SECONDS", 0.05)
    path = tmp_path / "map.zarr"
    store = api.open_store(load(REQUEST), path)
    compute_shard(path, 1)
    first = store.pending()[0]
    store.write(first, failed_arrays(store.sweep, first))
    store.append_receipt({"chunk": list(first.index), "points": 16, "counts": {"failed": 16}})

    def rest() -> None:
        compute_shard(path, 2)
        compute_shard(path, 3)

    writing = threading.Timer(0.3, rest)
    writing.start()
    status, out, _ = run("status", str(path), "--watch")
    writing.join()
    lines = out.splitlines()
    assert status == 1  # some points failed
    assert lines[0].startswith("656 of 1,920 points done (34.2 %); ")
    assert "by 1 process, " in lines[0]
    assert any("failed" in line and "16" in line.split() for line in lines[1:3])
    assert "1,920 of 1,920 points done" in out


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT")
def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    import signal

    path = tmp_path / "map.zarr"
    api.open_store(load(REQUEST), path)
    watching = subprocess.Popen(
        [*MODULE, "status", str(path), "--watch", "--json"],
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert watching.stdout is not None
    (told,) = json_lines(watching.stdout.readline())
    assert (told["event"], told["points_done"], told["points_total"]) == ("status", 0, 1920)
    assert (told["points_per_second"], told["workers"]) == (None, 0)
    watching.send_signal(signal.SIGINT)
    watching.communicate(timeout=20)
    assert watching.returncode == 130
