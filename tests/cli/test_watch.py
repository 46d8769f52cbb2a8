"""`sweep status --watch` follows whoever writes to a store."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sweep import api
from sweep.cli.actions.status_action import flow_of, watch_store
from sweep.engine.driver import open_store, run_in_store, with_points
from sweep.engine.ledger import failed_arrays
from sweep.file import load
from sweep.model.shipped import configs_folder
from sweep.model.table import Status
from sweep.store import Store
from sweep.store.lock import is_alive
from sweep.store.receipts import flow
from tests.cli.test_command_faults import CONFIG
from tests.command import Run, environment, json_lines, with_backend
from tests.engine.slow import Slow
from tests.engine.test_shards import compute_shard
from tests.engine.test_worker_faults import REQUEST
from tests.forked import PIPE, Forked

REFINED = configs_folder() / "smoke" / "wear_power_refined.toml"
NOON = 1_700_000_000.0  # s since 1970


def receipt(ago: float, chunk: int, pid: int = 1, **counts: int) -> dict[str, object]:
    counts = counts or {"ok": 100}
    when = datetime.fromtimestamp(NOON - ago, UTC).isoformat()
    points = sum(counts.values())
    return {
        "time": when, "host": "h", "pid": pid, "chunk": [chunk], "points": points,
        "counts": counts, "seconds": 2.0,
    }  # fmt: skip


def test_the_rate_is_that_of_all_processes_that_are_writing() -> None:
    receipts = [receipt(4000, 0, pid=9), receipt(18, 1), receipt(10, 2, pid=2), receipt(0, 3)]
    totals = flow(receipts, NOON)
    assert totals.points_per_second == pytest.approx(300 / 20)
    assert totals.counts == {Status.ok: 400}
    one, other = totals.writers
    assert (one.host, one.pid, one.seconds_ago) == ("h", 1, 0.0)
    assert one.points_per_second == pytest.approx(200 / 20)
    assert (other.pid, other.seconds_ago) == (2, pytest.approx(10.0))
    assert other.points_per_second == pytest.approx(100 / 12)


def test_the_rate_of_slow_chunks_covers_a_longer_time() -> None:
    slow = receipt(100, 1) | {"seconds": 50.0}
    assert flow([slow], NOON).points_per_second == pytest.approx(100 / 150)


def test_a_process_that_has_ended_is_not_writing() -> None:
    """Known of processes of this host alone; their number may have been given to another one."""
    host = socket.gethostname()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    local_receipts = [receipt(1, 1, pid=ended.pid) | {"host": host}]
    assert flow(local_receipts, NOON, alive=is_alive).writers == []
    assert flow(local_receipts, NOON, alive=is_alive).points_per_second is None
    assert flow(local_receipts, NOON).writers != []
    reused = [receipt(1, 1, pid=os.getpid()) | {"host": host}]  # from before this process began
    assert flow(reused, NOON, alive=is_alive).writers == []
    now = datetime.now(UTC).isoformat()
    living = [receipt(1, 1, pid=os.getpid()) | {"host": host, "time": now}]
    assert len(flow(living, time.time(), alive=is_alive).writers) == 1
    assert len(flow([receipt(1, 1)], NOON, alive=is_alive).writers) == 1  # of another host


def test_watching_names_a_run_that_has_written_nothing_yet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Once(threading.Event):
        """Set after the first look."""

        looks = 0

        def is_set(self) -> bool:
            self.looks += 1
            return self.looks > 1

    store = open_store(load(REQUEST), tmp_path / "map.zarr")
    process = f"process {os.getpid()} on {socket.gethostname()}"
    with store.lock():
        watch_store(store, Once(), as_json=False)
        assert f"0 of 960 points done (0.0 %); running now: {process}\n" in capsys.readouterr().out
        watch_store(store, Once(), as_json=True)
        (event,) = json_lines(capsys.readouterr().out)
        assert (event["workers"], event["running"], event["writers"]) == (1, [process], [])
    watch_store(store, Once(), as_json=False)
    assert "no run is live" in capsys.readouterr().out


def test_a_process_that_has_left_a_store_is_not_writing_to_it(run: Run, tmp_path: Path) -> None:
    """Even if it lives on, as Python does after `sweep.run`, and the store is damaged later."""
    (tmp_path / "map.toml").write_text(CONFIG)
    assert run("run", "map.toml", "-o", "map.zarr")[0] == 0
    store = Store.open(tmp_path / "map.zarr")
    assert store.receipts.read()[-1]["pid"] == os.getpid()
    (tmp_path / "map.zarr" / "status" / "c" / "0" / "0").unlink()
    assert "no run is live" in run("status", "map.zarr")[1]
    store = Store.open(store.location)
    assert flow_of(store).writers == []
    with store.lock():  # by another thread of the process, perhaps
        assert len(flow_of(store).writers) == 1
        out = run("status", "map.zarr")[1]
        assert f"running now: process {os.getpid()} on {socket.gethostname()}" in out
        assert "next: sweep status --watch map.zarr" in out
        assert json.loads(run("status", "map.zarr", "--json")[1])["running"]


def test_without_writers_there_is_no_rate() -> None:
    assert flow([], NOON).points_per_second is None
    totals = flow([receipt(4000, 0)], NOON)
    assert (totals.points_per_second, totals.writers) == (None, [])


def test_a_chunk_computed_again_counts_once_and_clocks_may_differ() -> None:
    receipts = [receipt(30, 1, failed=100), receipt(20, 1, ok=90, diverged=10), receipt(-5, 2)]
    totals = flow(receipts, NOON)
    assert totals.counts == {Status.ok: 190, Status.diverged: 10}
    assert totals.points_per_second == pytest.approx(300 / 37)


def test_failures_are_counted_by_error_until_they_are_computed_again() -> None:
    hung, raised = "it hung: stopped after 300 s", "ValueError: a fault"
    receipts = [
        receipt(30, 1, failed=100) | {"error": raised},
        receipt(29, 2, failed=100) | {"error": hung},
        receipt(28, 3, failed=100) | {"error": raised},
    ]
    assert list(flow(receipts, NOON).errors.items()) == [(raised, 200), (hung, 100)]
    assert flow([*receipts, receipt(1, 3)], NOON).errors == {raised: 100, hung: 100}


def test_it_shows_failures_and_ends_when_all_is_done(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sweep.cli.actions.status_action.SECONDS_BETWEEN_LOOKS", 0.05)
    path = tmp_path / "map.zarr"
    store = open_store(load(REQUEST), path)
    compute_shard(path, 1)
    first = store.pending()[0]
    store.write(first, failed_arrays(store, first))
    fields = {"points": 16, "counts": {"failed": 16}, "error": "ValueError: a fault"}
    store.append_receipt({"chunk": list(first.index), **fields})

    def rest() -> None:
        compute_shard(path, 2)
        compute_shard(path, 3)

    writing = threading.Timer(0.3, rest)
    with store.lock((4, 4)):  # as if a shard were running between the others, too
        writing.start()
        status, out, _ = run("status", str(path), "--watch")
        writing.join()
    lines = out.splitlines()
    assert status == 1  # some points failed
    assert lines[0].startswith("336 of 960 points done (35.0 %); ")
    assert "by 1 process, " in lines[0]
    assert re.fullmatch(
        rf"  process {os.getpid()} on .*: [\d,.]+ points/s, last chunk .* s ago", lines[1]
    )
    assert lines[2] == "320 of 960 points ok"
    assert lines[3] == f"16 of 960 points failed: {store.sweep.model.sentences[Status.failed]}"
    assert lines[4] == "  16 points: ValueError: a fault"
    end = lines.index("960 of 960 points done (100.0 %), 60 of 60 chunks")
    assert "  16 points: ValueError: a fault" in lines[end:]
    assert lines[-2] == f"receipts: {path}.log"


def test_it_waits_for_a_store_that_is_just_being_made(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(_seconds: float, _stop: threading.Event) -> None:
        api.run(REQUEST, store=tmp_path / "map.zarr")

    monkeypatch.setattr("sweep.cli.actions.status_action._pause", make)  # between two looks
    status, out, err = run("status", "map.zarr", "--watch")
    assert (status, out.count("960 of 960 points done")) == (0, 1)
    assert err == "no store 'map.zarr' yet: waiting up to 10 min for a run to make it\n"


def test_it_does_not_wait_for_ever(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sweep.cli.actions.status_action.MAX_WAIT_FOR_STORE", 0.1)
    status, _, err = run("status", "map.zarr", "--watch")
    assert status == 2
    assert err.splitlines()[-1].startswith(f"error: no store '{tmp_path}/map.zarr'")


def test_it_goes_on_while_a_run_adds_points(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two extensions all points are done, and the run still holds the store."""
    path, looks = tmp_path / "map.zarr", list[float]()
    request = with_points(load(REFINED))
    run_in_store(open_store(request, path), request)
    held = ExitStack()

    def release(seconds: float, _stop: threading.Event) -> None:
        looks.append(seconds)
        held.close()
        api.run(path)

    monkeypatch.setattr("sweep.cli.actions.status_action._pause", release)
    with held:
        held.enter_context(Store.open(path).lock())
        status, out, _ = run("status", "map.zarr", "--watch")
    assert (status, len(looks)) == (0, 1)
    total = Store.open(path).sweep.n_points
    assert out.splitlines()[0].startswith("15 of 15 points done (100.0 %); ")
    assert f"{total} of {total} points done" in out
    run_in_store(open_store(request, tmp_path / "left.zarr"), request)
    assert run("status", "left.zarr", "--watch")[0] == 0  # nobody adds any
    assert len(looks) == 1


def test_receipts_of_an_earlier_store_are_not_counted(run: Run, tmp_path: Path) -> None:
    """Nor those of chunks that are to be computed anew."""
    path = tmp_path / "map.zarr"
    removed = open_store(load(REQUEST), path)
    for chunk in removed.pending():
        removed.write(chunk, failed_arrays(removed, chunk))
        fields = {"points": 16, "counts": {"failed": 16}, "error": "ValueError: an old fault"}
        removed.append_receipt({"chunk": list(chunk.index), **fields})
    shutil.rmtree(path)
    compute_shard(path, 1)
    store = Store.open(path)
    first = store.pending()[0]
    store.write(first, failed_arrays(store, first))
    store.append_receipt({"chunk": list(first.index), **fields, "error": "ValueError: a fault"})
    assert json.loads(run("status", str(path), "--json")[1])["errors"] == {
        "ValueError: a fault": 16
    }
    looked = flow_of(store)
    assert looked.counts == {Status.ok: 320, Status.failed: 16}
    assert looked.errors == {"ValueError: a fault": 16}
    store.reopen(store.failed())
    assert flow_of(store).counts == {Status.ok: 320}


def test_every_line_of_json_is_an_object(run: Run, tmp_path: Path) -> None:
    """The last one tells what the command without --watch does."""
    path = tmp_path / "map.zarr"
    compute_shard(path, 1, 1)
    *_, last = json_lines(run("status", str(path), "--watch", "--json")[1])
    once = json.loads(run("status", str(path), "--json")[1])
    assert last == {"event": "summary", **once}


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT")
def test_ctrl_c_ends_watching(tmp_path: Path) -> None:
    import signal

    path = tmp_path / "map.zarr"
    command = ["-m", "sweep", "status", str(path), "--watch", "--json"]
    with Forked(command, cwd=tmp_path, env=environment(), stderr=PIPE) as waiting:
        assert waiting.stderr is not None
        assert "waiting" in waiting.stderr.readline()
        waiting.send_signal(signal.SIGINT)
        assert (waiting.wait(timeout=20), waiting.stderr.read()) == (130, "")
    open_store(load(REQUEST), path)
    watching = Forked(command, cwd=tmp_path, env=environment(), stdout=PIPE, stderr=PIPE)
    assert watching.stdout is not None
    (event,) = json_lines(watching.stdout.readline())
    assert (event["event"], event["points_done"], event["points_total"]) == ("status", 0, 960)
    assert (event["points_per_second"], event["workers"], event["writers"]) == (None, 0, [])
    assert (event["seconds_left"], event["status"], event["errors"]) == (None, {}, {})
    watching.send_signal(signal.SIGINT)
    _, message = watching.communicate(timeout=20)
    assert (watching.returncode, message) == (130, "")  # there is nothing that could be lost


def test_it_does_not_wait_where_a_signal_that_stops_it_would(tmp_path: Path) -> None:
    """A handler that sets an event hangs if it interrupts the event's own wait()."""

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            raise AssertionError(f"a signal may come within these {timeout} s")

    path, stop = tmp_path / "map.zarr", Stop()
    open_store(load(REQUEST), path)
    timer = threading.Timer(0.2, stop.set)
    timer.start()
    watch_store(Store.open(path), stop, as_json=True)
    assert stop.is_set()
    timer.join()


@pytest.mark.broad
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM")
def test_it_follows_a_running_command(run: Run, tmp_path: Path) -> None:
    """Chunks of 0.4 s and 9 points, by two threads: 45 points a second at most."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "map.toml").write_text(CONFIG)
    slow = Slow(tmp_path / "notes", 0.4)
    command = with_backend(slow, "run", "map.toml", "-o", "map.zarr")
    with Forked(command, cwd=tmp_path, env=environment()) as process:
        while not list(tmp_path.glob("map.zarr/status/c/*/0")):
            assert process.poll() is None
        status, out, _ = run("status", "map.zarr", "--watch")
    assert (status, process.returncode) == (0, 0)
    looks = re.findall(
        rf"^(\d+) of 108 points done .*; (.*) points/s by 1 process, (.*) s left\n"
        rf"  process {process.pid} on ",
        out,
        re.MULTILINE,
    )
    assert looks
    for done, pace, left in looks:
        assert 0 < float(pace) <= 45
        assert float(left) == pytest.approx((108 - int(done)) / float(pace), rel=0.1)
