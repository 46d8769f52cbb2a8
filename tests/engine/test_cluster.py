"""Processes under Dask: the same bits as threads, and whatever befalls them costs little."""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import psutil
import pytest
import xarray as xr
from distributed import Client, LocalCluster

import sweep
from sweep import api
from sweep.config import load
from sweep.engine import ATTEMPTS, Progress, clusters, ledger, loop, run
from sweep.errors import MachineError, StoreError, SweepError
from sweep.options import RunOptions
from sweep.spec import Status
from sweep.store import MemoryResults, Store
from tests.command import environment, outliving
from tests.engine.faulty import Faulty
from tests.engine.slow import Slow
from tests.engine.test_engine import (
    LONG_SWEEP,
    SWEEP,
    bits_of,
    check_what_was_done,
    create,
    long_results,
)
from tests.engine.test_faults import REQUEST, ROOT, ROW
from tests.store.test_store import tree

__all__ = ["long_results"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")

LOCAL = RunOptions(cluster="local", workers=2)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A scheduler that runs already, with two worker processes."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=0
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Every file of SWEEP's store after a run that nobody disturbs."""
    made = create(tmp_path_factory.mktemp("whole") / "map.zarr", SWEEP, ROW)
    run(made)
    return tree(made.path)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """SWEEP, a row a chunk."""
    return create(tmp_path / "map.zarr", SWEEP, ROW)


@pytest.fixture
def faulty(tmp_path: Path) -> Callable[..., Faulty]:
    def use(fault: str, *rows: int, times: int = 10**9) -> Faulty:
        folder = tmp_path / fault
        folder.mkdir()
        return Faulty(folder, fault, rows, times)

    return use


@pytest.fixture
def goes_on(
    store: Store, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> Callable[[], None]:
    """Nothing but failed and pending rows lacks the bytes of an undisturbed run; the next has all.

    Failed rows are computed again there, and nothing is amiss any more.
    """

    def check() -> None:
        monkeypatch.undo()
        lost = {chunk.index[0] for chunk in (*store.failed(), *store.pending())}
        assert without(lost, tree(store.path)) == without(lost, whole)
        store.reopen(store.failed())
        run(store)
        assert tree(store.path) == whole

    def without(rows: set[int], files: dict[str, bytes]) -> dict[str, bytes]:
        ends = tuple(f"/c/{row}/0" for row in rows)
        return {name: files[name] for name in files if not name.endswith(ends)}

    return check


# Nothing happens.


def test_a_running_scheduler_computes_the_bits_of_threads(
    address: str, store: Store, whole: dict[str, bytes]
) -> None:
    seen: list[Progress] = []
    said: list[str] = []
    summary = run(store, RunOptions(cluster=address), seen.append, notify=said.append)
    assert (summary.points, summary.workers, summary.stopped) == (108, 2, "")
    assert summary.counts == {Status.ok: 108}
    assert summary.backend == f"workers of {address}"
    assert tree(store.path) == whole
    receipts = store.receipts()
    assert sorted(receipt["chunk"] for receipt in receipts) == [[i, 0] for i in range(12)]
    assert os.getpid() not in {receipt["pid"] for receipt in receipts}
    assert seen[-1].points_done == 108
    assert said == [line for line in said if line.startswith("Dask dashboard: http://")] != []


def test_all_workers_compute(address: str, tmp_path: Path, long_results: xr.Dataset) -> None:
    store = create(tmp_path / "long.zarr", LONG_SWEEP, 9)
    run(store, RunOptions(cluster=address))
    assert bits_of(store.dataset()) == bits_of(long_results)
    assert len({receipt["pid"] for receipt in store.receipts()}) == 2


@pytest.mark.parametrize("cause", ["asked", "time limit"])
def test_a_stop_is_heard_in_other_processes(
    address: str, tmp_path: Path, long_results: xr.Dataset, cause: str
) -> None:
    store = create(tmp_path / "long.zarr", LONG_SWEEP, 9)
    stop = threading.Event()

    def report(progress: Progress) -> None:
        if cause == "asked" and progress.chunks_done >= 2:
            stop.set()

    options = RunOptions(cluster=address, time_limit=None if cause == "asked" else 0.3)
    summary = run(store, options, report, stop)
    assert summary.stopped == cause
    assert summary.chunks == store.n_chunks - len(store.pending()) < store.n_chunks
    check_what_was_done(store, long_results)
    assert run(store, RunOptions(cluster=address)).stopped == ""  # and the next run is not stopped
    assert bits_of(store.dataset()) == bits_of(long_results)


def test_a_stop_is_heard_in_the_midst_of_a_point(
    address: str, store: Store, faulty: Callable[..., Faulty]
) -> None:
    backend = faulty("endless", *range(12))
    began = time.monotonic()
    summary = run(store, RunOptions(cluster=address, time_limit=0.5), open_backend=backend)
    assert (summary.stopped, summary.points) == ("time limit", 0)
    assert time.monotonic() - began < 5.0
    assert len(store.pending()) == 12


def test_an_error_in_the_callers_report_frees_workers_of_others(
    address: str, store: Store, faulty: Callable[..., Faulty]
) -> None:
    backend = faulty("endless", *range(12))

    def report(_progress: Progress) -> None:
        if any(backend.attempts(row) for row in range(12)):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(store, RunOptions(cluster=address), report, open_backend=backend)
    with Client(address, set_as_default=False) as client:
        for worker in client.scheduler_info()["workers"]:
            assert client.submit(int, workers=[worker], pure=False).result(timeout=5) == 0


# What is refused.


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of somebody who takes calls and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield "tcp://{}:{}".format(*listening.getsockname())


@pytest.fixture
def closed() -> str:
    """One where nobody takes calls any more."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return "tcp://{}:{}".format(*listening.getsockname())


@pytest.mark.parametrize("who", ["closed", "silent"])
def test_no_scheduler_is_the_machines_fault(
    who: str,
    store: Store,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sweep.engine.schedulers.CONNECT_SECONDS", 0.5)
    where: str = request.getfixturevalue(who)
    with pytest.raises(MachineError, match=f"no Dask scheduler answers at '{where}' .*; start one"):
        run(store, RunOptions(cluster=where))
    gc.collect()
    assert capfd.readouterr().err == ""


def test_a_worker_is_no_scheduler(store: Store, address: str) -> None:
    with Client(address, set_as_default=False) as client:
        worker = next(iter(client.scheduler_info()["workers"]))
    with pytest.raises(MachineError, match=r"no Dask scheduler answers .*\(a Dask Worker does\)"):
        run(store, RunOptions(cluster=worker))


def test_logs_that_dask_has_are_silent_in_a_run_alone(address: str, store: Store) -> None:
    log = logging.getLogger("distributed.client")  # has a level of its own
    before, during = log.level, set[int]()
    run(store, RunOptions(cluster=address), lambda _: during.add(log.level))
    assert during == {logging.CRITICAL}
    assert log.level == before != logging.CRITICAL


def test_a_store_that_workers_do_not_see_is_told_before_anything_is_computed(
    address: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = str(store.path.with_name("elsewhere.zarr"))
    monkeypatch.setattr(Store, "location", property(lambda _store: elsewhere))  # workers are told
    with pytest.raises(StoreError, match=r"a worker \(process \d+ on .*\) cannot start: no store"):
        run(store, RunOptions(cluster=address))


def test_results_in_memory_are_no_affair_of_processes() -> None:
    with pytest.raises(SweepError, match=r"'local' .* name a store on a disk that all workers see"):
        run(MemoryResults(SWEEP), LOCAL)


# Faults.


def test_a_chunk_that_raises_every_time_is_given_up(
    address: str, store: Store, faulty: Callable[..., Faulty], goes_on: Callable[[], None]
) -> None:
    backend = faulty("raises", 3, 11)
    summary = run(store, RunOptions(cluster=address), open_backend=backend)
    assert summary.counts == {Status.ok: 10 * ROW, Status.failed: 2 * ROW}
    assert [backend.attempts(i) for i in range(12)] == [
        ATTEMPTS if i in (3, 11) else 1 for i in range(12)
    ]
    goes_on()


def test_fail_fast_stops_at_the_first_chunk_that_is_given_up(
    address: str, store: Store, faulty: Callable[..., Faulty], goes_on: Callable[[], None]
) -> None:
    backend = faulty("raises", *range(12))
    summary = run(store, RunOptions(cluster=address, fail_fast=True), open_backend=backend)
    assert summary.stopped == "failure"
    assert 1 <= summary.chunks < 12
    assert len(store.pending()) == 12 - summary.chunks
    goes_on()


@pytest.mark.parametrize(
    ("by", "row"),
    [("threads", 0), ("threads", 3), ("threads", 7)]
    + [("processes", 0), ("processes", 7), ("local", 0), ("local", 3)],
)
def test_a_task_that_hangs_is_stopped_and_given_up(
    by: str,
    row: int,
    address: str,
    store: Store,
    faulty: Callable[..., Faulty],
    goes_on: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows 0 and 3 are handed out before anything is known of how long a chunk takes."""
    monkeypatch.setattr(ledger, "MIN_LIMIT", 0.2)
    monkeypatch.setattr(ledger, "LIMIT_FACTOR", 1.0)
    monkeypatch.setattr(loop, "SILENT_SECONDS", 0.3)
    said: list[str] = []
    backend = faulty("endless", row)
    cluster = {"threads": None, "processes": address, "local": "local"}[by]
    options = RunOptions(cluster=cluster, workers=2, time_limit=20.0)
    summary = run(store, options, notify=said.append, open_backend=backend)
    assert (summary.counts, summary.stopped) == ({Status.ok: 11 * ROW, Status.failed: ROW}, "")
    assert backend.attempts(row) == ATTEMPTS
    errors = [receipt["error"] for receipt in store.receipts() if "error" in receipt]
    assert errors == ["it hung: stopped after 0.8 s"]  # twice as long each time
    if by == "threads":  # others compile at first
        assert said == []  # for some chunks are done
    goes_on()


@pytest.mark.parametrize("by", ["threads", "local"])
def test_when_all_first_chunks_hang_the_others_are_computed_nonetheless(
    by: str,
    store: Store,
    faulty: Callable[..., Faulty],
    goes_on: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """None tells how long a chunk may take: they are given a time of their own, which is told."""
    monkeypatch.setattr(ledger, "INITIAL_LIMIT", 0.5)
    monkeypatch.setattr(ledger, "MIN_LIMIT", 0.2)
    monkeypatch.setattr(ledger, "LIMIT_FACTOR", 1.0)
    monkeypatch.setattr(loop, "SILENT_SECONDS", 0.1)
    backend = faulty("endless", 0, 1, 2, 3)
    cluster = {"threads": None, "local": "local"}[by]
    said: list[str] = []
    options = RunOptions(cluster=cluster, workers=2, time_limit=20.0)
    summary = run(store, options, notify=said.append, open_backend=backend)
    counts = {Status.ok: 8 * ROW, Status.failed: 4 * ROW}
    assert (summary.counts, summary.stopped) == (counts, "")
    assert [backend.attempts(row) for row in range(12)] == 4 * [ATTEMPTS] + 8 * [1]
    assert sum("no chunk is done after" in line for line in said) == 1
    goes_on()


def test_tasks_that_wait_for_a_worker_do_not_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when all jobs have been preempted, and wait in a queue."""
    monkeypatch.setattr(ledger, "INITIAL_LIMIT", 2.0)
    monkeypatch.setattr(loop, "GRACE_SECONDS", 0.0)
    killed: list[object] = []
    kill = clusters.Processes.kill
    monkeypatch.setattr(
        clusters.Processes, "kill", lambda crew, task: killed.append(task) or kill(crew, task)
    )
    with LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address="127.0.0.1:0") as there:
        threading.Timer(6.0, there.scale, (1,)).start()  # a task has 4 s
        store = create(tmp_path / "map.zarr", SWEEP)
        summary = run(store, RunOptions(cluster=there.scheduler_address))
    assert summary.counts == {Status.ok: 12 * ROW}
    assert killed == []


@pytest.mark.parametrize("asked", ["by the caller", "by a time limit"])
def test_where_no_worker_is_there_a_stop_waits_for_none(store: Store, asked: str) -> None:
    """A machine that is to end soon may kill what takes 20 s over it."""
    stop, limit = threading.Event(), 1.0 if asked == "by a time limit" else None
    with LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as there:
        options = RunOptions(cluster=there.scheduler_address, time_limit=limit)
        if limit is None:
            threading.Timer(1.0, stop.set).start()
        began = time.monotonic()
        summary = run(store, options, stop=stop)
    assert summary.stopped == ("asked" if limit is None else "time limit")
    assert time.monotonic() - began < 10
    assert len(store.pending()) == 12


@pytest.mark.parametrize("whose", ["ours", "others"])
def test_a_task_that_hears_nothing_is_killed_with_its_worker(
    store: Store,
    faulty: Callable[..., Faulty],
    whole: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    whose: str,
) -> None:
    monkeypatch.setattr(ledger, "MIN_LIMIT", 0.2)
    monkeypatch.setattr(ledger, "LIMIT_FACTOR", 1.0)
    monkeypatch.setattr(loop, "GRACE_SECONDS", 0.5)
    backend = faulty("deaf", 7, times=1)
    summary = run(
        store, LOCAL if whose == "ours" else RunOptions(cluster=address), open_backend=backend
    )
    assert summary.counts == {Status.ok: 12 * ROW}
    assert backend.attempts(7) == 2
    assert tree(store.path) == whole


def test_a_killed_worker_costs_its_window(
    store: Store, faulty: Callable[..., Faulty], whole: dict[str, bytes]
) -> None:
    backend = faulty("killed", 5, times=1)
    summary = run(store, LOCAL, open_backend=backend)
    assert (summary.counts, summary.stopped) == ({Status.ok: 12 * ROW}, "")
    assert tree(store.path) == whole
    assert sum(backend.attempts(i) - 1 for i in range(12)) == 1  # what it had written is kept


DASK_WORKER = (sys.executable, "-m", "distributed.cli.dask_worker")


@contextlib.contextmanager
def dask_workers(address: str, n: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Workers as SLURM's jobs start them: each a command with a nanny, which has one process."""
    command = [*DASK_WORKER, address, "--nthreads", "1", "--no-dashboard", "--memory-limit", "0"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = [subprocess.Popen(command, cwd=ROOT, env=environment(), **quiet) for _ in range(n)]
    try:
        yield running
    finally:
        for each in running:
            each.terminate()
        for each in running:
            each.wait()


@pytest.mark.parametrize("whom", ["job", "process"])
def test_a_worker_that_is_told_to_end_finishes_its_chunk(
    store: Store,
    tmp_path: Path,
    whole: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
    whom: str,
) -> None:
    """As at the end of a SLURM job, or before it is preempted; or its one process alone."""
    slow = Slow(tmp_path / "notes", 0.7)
    slow.folder.mkdir()
    told: list[psutil.Process] = []

    def end_one(_: Progress) -> None:
        if not told and slow.begun.total() > 2:
            time.sleep(0.2)  # into a chunk
            family = jobs[0].children()
            workers = [process for process in family if process.pid in slow.processes]
            told.extend(jobs[:1] if whom == "job" else workers)
            told[0].terminate()
            slow.hurry()  # whoever begins one from now on

    with (
        LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster,
        dask_workers(cluster.scheduler_address, 2) as running,
        Client(cluster) as client,
    ):
        client.wait_for_workers(2)
        jobs = [psutil.Process(each.pid) for each in running]
        options = RunOptions(cluster=cluster.scheduler_address)
        summary = run(store, options, end_one, open_backend=slow)
    assert told
    assert (summary.counts, summary.chunks) == ({Status.ok: 12 * ROW}, 12)
    assert set(slow.begun.values()) == {1}
    assert tree(store.path) == whole
    assert len(store.receipts()) == 12


def test_workers_of_others_heed_signals_again_after_a_run(store: Store) -> None:
    with (
        LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster,
        dask_workers(cluster.scheduler_address, 1),
        Client(cluster) as client,
    ):
        client.wait_for_workers(1)
        before = client.run(handlers)
        during: list[object] = []
        options = RunOptions(cluster=cluster.scheduler_address)
        run(store, options, lambda _: during.append(client.run(handlers)))
        assert during[0] != before
        assert client.run(handlers) == before


def handlers() -> list[str]:
    return [str(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM)]


def test_who_kills_every_worker_is_found_and_neighbours_are_not_blamed(
    store: Store, faulty: Callable[..., Faulty], goes_on: Callable[[], None]
) -> None:
    backend = faulty("killed", 4)
    summary = run(store, LOCAL, open_backend=backend)
    assert summary.counts == {Status.ok: 11 * ROW, Status.failed: ROW}
    assert backend.attempts(4) == ATTEMPTS
    failed = [chunk.index for chunk in store.failed()]
    assert failed == [(4, 0)]
    goes_on()


SCHEDULER = """
import time
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    print(cluster.scheduler_address, flush=True)
    time.sleep(100)
"""


@contextlib.contextmanager
def scheduler_process() -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", SCHEDULER],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def test_a_scheduler_that_is_gone_ends_the_run_and_keeps_what_is_done(
    tmp_path: Path, long_results: xr.Dataset
) -> None:
    store = create(tmp_path / "long.zarr", LONG_SWEEP, 9)
    orphans: list[psutil.Process] = []
    with scheduler_process() as (process, where):

        def report(progress: Progress) -> None:
            if progress.chunks_done >= 2:
                orphans.extend(psutil.Process(process.pid).children(recursive=True))
                process.kill()

        with pytest.raises(MachineError, match=r"scheduler is gone.*run the same sweep again"):
            run(store, RunOptions(cluster=where), report)
    assert 2 <= store.n_chunks - len(store.pending()) < store.n_chunks
    check_what_was_done(store, long_results)
    assert outliving(orphans, 30.0) == []
    store.clean()  # as who locks a store does: one may have ended in the midst of a file
    run(store)
    undisturbed = create(tmp_path / "undisturbed.zarr", LONG_SWEEP, 9)
    run(undisturbed)
    assert tree(store.path) == tree(undisturbed.path)


DRIVER = """
import json, sys
import sweep
if __name__ == "__main__":
    print("ready", flush=True)
    sweep.run(json.loads(sys.argv[2]), store=sys.argv[1], cluster="local", workers=2)
"""


def test_an_interrupted_driver_takes_its_workers_along(tmp_path: Path) -> None:
    """Killed ones are in test_chaos."""
    long = {**REQUEST, "parameters": {**REQUEST["parameters"], "window_end": 72_000.0}}
    path = tmp_path / "map.zarr"
    command = [sys.executable, "-c", DRIVER, str(path), json.dumps(long)]
    driver = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while len(list(path.glob("status/c/*/0"))) < 5:
        assert driver.poll() is None
        time.sleep(0.02)
    children = psutil.Process(driver.pid).children(recursive=True)
    driver.send_signal(signal.SIGINT)
    driver.wait(timeout=20)
    assert len(children) >= 2
    assert outliving(children) == []
    left = len(Store.open(path).pending())
    assert 0 < left < 120
    other = tmp_path / "other.zarr"
    for store in (path, other):
        sweep.run(long, store=store)
    assert tree(path) == tree(other)


def test_from_python_a_sweep_runs_in_processes(address: str, tmp_path: Path) -> None:
    dataset = api.run(REQUEST, store=tmp_path / "map.zarr", cluster=address)
    threads: Any = api.run(REQUEST, store=None)
    assert load(REQUEST).options.cluster is None
    assert bits_of(dataset) == bits_of(threads)


UNGUARDED = """
import json, sys
import sweep
sweep.run(json.loads(sys.argv[2]), store=sys.argv[1], cluster="local", workers=2)
"""


def test_a_script_without_its_guard_is_told_of_it(tmp_path: Path) -> None:
    """By the script itself in the end, and by each worker that would run it."""
    (tmp_path / "script.py").write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, "script.py", "map.zarr", json.dumps(REQUEST)],
        cwd=tmp_path,
        env=environment(),
        text=True,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "is held by" not in done.stderr
    by_workers = [line for line in done.stderr.splitlines() if line.startswith("sweep.errors.")]
    assert len(by_workers) >= 2
    assert all('`if __name__ == "__main__":`' in line for line in by_workers)
    assert by_workers[-1] == done.stderr.splitlines()[-1]
    assert "worker processes did not start" in by_workers[-1]
    (tmp_path / "script.py").write_text(DRIVER)
    command = [sys.executable, "script.py", "map.zarr", json.dumps(REQUEST)]
    subprocess.run(command, cwd=tmp_path, env=environment(), check=True, timeout=60)
    assert not Store.open(tmp_path / "map.zarr").pending()


def test_within_a_dask_worker_threads_compute_and_processes_are_refused(
    address: str, tmp_path: Path
) -> None:
    with Client(address) as client:
        done = client.submit(compute_within, str(tmp_path / "a.zarr"), None).result()
        assert done == 1920
        refused = client.submit(compute_within, str(tmp_path / "b.zarr"), "local")
        with pytest.raises(SweepError, match="may not start processes"):
            refused.result()


def compute_within(store: str, cluster: str | None) -> int:
    return sweep.run(REQUEST, store=store, workers=1, cluster=cluster)["status"].size


def test_a_folder_that_dask_cannot_make_is_told(store: Store) -> None:
    with (
        dask.config.set({"temporary-directory": f"{store.path}/zarr.json"}),
        pytest.raises(MachineError, match=r"cannot start worker processes .*temporary-directory"),
    ):
        run(store, LOCAL)
    assert len(store.pending()) == 12
