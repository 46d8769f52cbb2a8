"""Processes under Dask: the same bits as threads, and a fault costs little."""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import math
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import dask
import psutil
import pytest
import xarray as xr
from distributed import Client, LocalCluster

import sweep
from sweep.engine import clusters, ledger
from sweep.engine.clusters import KEPT_BYTES
from sweep.engine.ledger import ATTEMPTS, Progress, Receipt
from sweep.engine.loop import run
from sweep.errors import MachineError, StoreError, SweepError
from sweep.kernel.backend import Backend
from sweep.kernel.opening import open_backend
from sweep.model.table import Status
from sweep.request.options import RunOptions
from sweep.store import Arrays, Store
from sweep.store.upkeep import clean
from tests.command import environment, outliving
from tests.engine.dask_workers import DaskWorkers
from tests.engine.faulty import Faulty, FullDisk, check_hung
from tests.engine.slow import Slow
from tests.engine.strangers import Strangers, ports_of_family
from tests.engine.test_engine import ROW, SWEEP, check_a_stop, create, long_results
from tests.engine.test_worker_faults import REQUEST, ROOT
from tests.forked import PIPE, Forked
from tests.store.test_store import tree

__all__ = ["long_results"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")

LOCAL = RunOptions(cluster="local", workers=2)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a running scheduler with two worker processes."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=0
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def check_resumable(
    store: Store, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> Callable[[], None]:
    """Checks that only failed and pending rows lack the bytes of an undisturbed run.

    The next run, without faults, then makes the store whole.
    """

    def check() -> None:
        monkeypatch.undo()
        lost_rows = {chunk.index[0] for chunk in (*store.failed(), *store.pending())}
        assert without(lost_rows, tree(store.path)) == without(lost_rows, whole)
        store.reopen(store.failed())
        run(store)
        assert tree(store.path) == whole

    def without(rows: set[int], files: dict[str, bytes]) -> dict[str, bytes]:
        ends = tuple(f"/c/{row}/0" for row in rows)
        return {name: files[name] for name in files if not name.endswith(ends)}

    return check


# Without faults.


def test_a_running_scheduler_computes_the_bits_of_threads(
    address: str, store: Store, whole: dict[str, bytes]
) -> None:
    """Dask's logs are silent only during a run."""
    log = logging.getLogger("distributed.client")  # has a level of its own
    before, during = log.level, set[int]()
    progress: list[Progress] = []
    notes: list[str] = []

    def report(so_far: Progress) -> None:
        progress.append(so_far)
        during.add(log.level)

    summary = run(store, RunOptions(cluster=address), report, notify=notes.append)
    assert (summary.points, summary.workers, summary.stopped) == (108, 2, "")
    assert summary.counts == {Status.ok: 108}
    assert summary.backend == f"workers of {address}"
    assert tree(store.path) == whole
    receipts = store.receipts.read()
    assert sorted(receipt["chunk"] for receipt in receipts) == [[i, 0] for i in range(12)]
    assert os.getpid() not in {receipt["pid"] for receipt in receipts}
    assert progress[-1].points_done == 108
    assert len(notes) == 1
    assert notes[0].startswith("Dask dashboard: http://")
    assert during == {logging.CRITICAL}
    assert log.level == before != logging.CRITICAL


class Look:
    """Opens a backend, and notes settings of the process that opens it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, name: str) -> Backend:
        profiled = dask.config.get("distributed.worker.profile.enabled")
        trim = os.environ.get("MALLOC_TRIM_THRESHOLD_")
        (self.folder / str(os.getpid())).write_text(f"{profiled} {trim}", encoding="utf-8")
        return open_backend(name)


@pytest.mark.broad
def test_local_processes_answer_no_stranger_keep_freed_memory_and_are_not_profiled(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"):
        monkeypatch.delenv(name, raising=False)  # Dask does not override what is set
    notes = tmp_path / "notes"
    notes.mkdir()
    strangers = Strangers()
    run(store, LOCAL, lambda _: strangers.ask(ports_of_family()), open_backend=Look(notes))
    strangers.check_refused(3)  # of the scheduler and of each worker, at least
    settings = {file.name: file.read_text(encoding="utf-8") for file in notes.iterdir()}
    own_settings = settings.pop(str(os.getpid()))
    assert set(settings.values()) == {f"False {KEPT_BYTES}"}
    assert own_settings != f"False {KEPT_BYTES}"  # Dask's settings outside the run are unchanged


@pytest.mark.broad
@pytest.mark.parametrize("limit", [None, 0.1])
def test_a_stop_reaches_other_processes(
    address: str, tmp_path: Path, long_results: xr.Dataset, limit: float | None
) -> None:
    options = RunOptions(cluster=address, time_limit=limit)
    store = check_a_stop(tmp_path / "long.zarr", options, long_results)
    assert len({receipt["pid"] for receipt in store.receipts.read()}) == 2  # all workers compute


def test_a_stop_interrupts_a_point(
    address: str, store: Store, faulty: Callable[..., Faulty]
) -> None:
    backend, stop = faulty("endless", *range(12)), threading.Event()
    stopped_at: list[float] = []

    def report(_: Progress) -> None:
        if not stopped_at and any(backend.attempts(row) for row in range(12)):
            stopped_at.append(time.monotonic())
            stop.set()

    summary = run(store, RunOptions(cluster=address), report, stop, open_backend=backend)
    assert (summary.stopped, summary.points) == ("asked", 0)
    assert time.monotonic() - stopped_at[0] < 5.0
    assert len(store.pending()) == 12


def test_an_error_in_the_callers_report_frees_workers_of_a_foreign_scheduler(
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
            assert client.submit(int, workers=[worker], pure=False).result(timeout=30) == 0


# Refusals.


@pytest.mark.parametrize("is_closed", [False, True])
def test_an_address_without_a_scheduler_is_a_machine_error(
    is_closed: bool,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It accepts no connections, or accepts them and never answers."""
    monkeypatch.setattr("sweep.engine.schedulers.CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        where = "tcp://{}:{}".format(*listening.getsockname())
        if is_closed:
            listening.close()
        message = f"no Dask scheduler answers at '{where}' .*; start one"
        with pytest.raises(MachineError, match=message):
            run(store, RunOptions(cluster=where))
    gc.collect()
    assert capfd.readouterr().err == ""


def test_the_address_of_a_worker_is_refused(store: Store, address: str) -> None:
    with Client(address, set_as_default=False) as client:
        worker = next(iter(client.scheduler_info()["workers"]))
    with pytest.raises(MachineError, match=r"no Dask scheduler answers .*\(a Dask Worker does\)"):
        run(store, RunOptions(cluster=worker))


def test_a_store_that_workers_cannot_see_is_refused_before_anything_is_computed(
    address: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request is wrong: no machine can compute into the store that it names."""
    monkeypatch.chdir(store.path.parent)  # of this process; workers have other folders
    store.location = f"/proc/self/cwd/{store.path.name}"  # what they are sent
    why = rf"does not see '{store.location}': mount its disk .* or give another store.*workers see"
    with pytest.raises(StoreError, match=rf"worker [01] \(process \d+ on .*\): it {why}") as caught:
        run(store, RunOptions(cluster=address))
    assert caught.value.exit_status == 2


def test_results_in_memory_are_refused() -> None:
    with pytest.raises(SweepError, match=r"'local' .* name a store on a disk that all workers see"):
        run(Arrays(SWEEP), LOCAL)


# Faults.


@pytest.mark.parametrize("whose", ["theirs", pytest.param("ours", marks=pytest.mark.broad)])
def test_a_full_disk_under_the_store_ends_the_run_and_is_blamed_on_no_worker(
    address: str, store: Store, check_resumable: Callable[[], None], whose: str
) -> None:
    """Nobody can write there, and finished chunks are kept."""
    notes: list[str] = []
    options = RunOptions(cluster=address) if whose == "theirs" else LOCAL
    full = FullDisk(f"{store.path}/status/c/5/")
    with pytest.raises(MachineError, match=f"^cannot write to '{store.path}': the disk is full"):
        run(store, options, notify=notes.append, open_backend=full)
    assert [line for line in notes if "Dask dashboard" not in line] == []
    assert 0 < len(store.pending()) < 12
    check_resumable()


def test_a_chunk_that_always_raises_is_abandoned(
    address: str, store: Store, faulty: Callable[..., Faulty], check_resumable: Callable[[], None]
) -> None:
    backend = faulty("raises", 3, 11)
    summary = run(store, RunOptions(cluster=address), open_backend=backend)
    assert summary.counts == {Status.ok: 10 * ROW, Status.failed: 2 * ROW}
    assert [backend.attempts(i) for i in range(12)] == [
        ATTEMPTS if i in (3, 11) else 1 for i in range(12)
    ]
    check_resumable()


@pytest.mark.broad
@pytest.mark.usefixtures("short_limits")
@pytest.mark.parametrize(
    ("by", "row"),
    [
        ("threads", 0),
        ("processes", 7),
        *(
            pytest.param(*case, marks=pytest.mark.broad)
            for case in (("threads", 7), ("processes", 0), ("processes", 3))
        ),
    ],
)
def test_a_task_that_hangs_is_stopped_and_abandoned(
    by: str,
    row: int,
    address: str,
    store: Store,
    faulty: Callable[..., Faulty],
    check_resumable: Callable[[], None],
) -> None:
    """Rows 0 and 3 are handed out before any chunk is done, so without a measured limit.

    The chunk hangs for 1.4 s in all.
    """
    notes: list[str] = []
    backend = faulty("endless", row)
    cluster = None if by == "threads" else address
    options = RunOptions(cluster=cluster, workers=2, time_limit=20.0)
    summary = run(store, options, notify=notes.append, open_backend=backend)
    assert (summary.counts, summary.stopped) == ({Status.ok: 11 * ROW, Status.failed: ROW}, "")
    assert backend.attempts(row) == ATTEMPTS
    check_hung(store, 0.8, 0.2)  # 0.2 s, doubled for each attempt
    if by == "threads":  # processes may be silent while they load the kernel
        assert notes == []  # no warning of silence, because some chunks are done
    check_resumable()


@pytest.mark.broad
@pytest.mark.usefixtures("short_limits")
@pytest.mark.parametrize("by", ["threads", "processes"])
def test_when_all_first_chunks_hang_the_others_are_computed_nonetheless(
    by: str,
    address: str,
    store: Store,
    faulty: Callable[..., Faulty],
    check_resumable: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No chunk is done that could set the limit, so the initial limit applies and is reported."""
    monkeypatch.setattr(ledger, "INITIAL_LIMIT", 0.5)
    backend = faulty("endless", 0, 1, 2, 3)
    cluster = None if by == "threads" else address
    notes: list[str] = []
    options = RunOptions(cluster=cluster, workers=2, time_limit=20.0)
    summary = run(store, options, notify=notes.append, open_backend=backend)
    counts = {Status.ok: 8 * ROW, Status.failed: 4 * ROW}
    assert (summary.counts, summary.stopped) == (counts, "")
    assert [backend.attempts(row) for row in range(12)] == 4 * [ATTEMPTS] + 8 * [1]
    assert sum("no chunk is done after" in line for line in notes) == 1
    check_resumable()


@pytest.mark.usefixtures("little_grace")
def test_tasks_that_wait_for_a_worker_do_not_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example when all jobs have been preempted and wait in a queue."""
    monkeypatch.setattr(ledger, "INITIAL_LIMIT", 1.0)
    killed: list[object] = []

    class Watched(clusters.Processes):
        def kill(self, future: Future[list[Receipt]]) -> bool:
            killed.append(future)
            return super().kill(future)

    with LocalCluster(
        n_workers=0, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as cluster:
        threading.Timer(3.0, cluster.scale, (1,)).start()  # a task may take 2 s and the grace
        store = create(tmp_path / "map.zarr", SWEEP)
        options = RunOptions(cluster=cluster.scheduler_address)
        with Watched(options, open_backend, print) as crew:
            summary = run(store, options, crew=crew)
    assert summary.counts == {Status.ok: 12 * ROW}
    assert killed == []


@pytest.fixture(scope="module")
def without_workers() -> Iterator[LocalCluster]:
    with LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster


@pytest.mark.parametrize("cause", ["asked", "time limit"])
def test_without_any_worker_a_stop_does_not_wait(
    store: Store, without_workers: LocalCluster, cause: str
) -> None:
    """A machine that shuts down may kill a process that takes 20 s to stop."""
    stop, stopped_at = threading.Event(), [math.inf]

    def report(progress: Progress) -> None:
        if progress.elapsed > 0.3 and not stop.is_set():
            stopped_at[0] = time.monotonic()
            if cause == "asked":
                stop.set()

    limit = 0.3 if cause == "time limit" else None
    options = RunOptions(cluster=without_workers.scheduler_address, time_limit=limit)
    summary = run(store, options, report, stop)
    assert summary.stopped == cause
    assert time.monotonic() - stopped_at[0] < 10
    assert len(store.pending()) == 12


@pytest.mark.broad
@pytest.mark.usefixtures("short_limits", "little_grace")
@pytest.mark.parametrize("whose", ["ours", pytest.param("others", marks=pytest.mark.broad)])
def test_a_task_that_ignores_its_limit_is_killed_with_its_worker(
    store: Store,
    faulty: Callable[..., Faulty],
    whole: dict[str, bytes],
    address: str,
    whose: str,
) -> None:
    backend = faulty("deaf", 7, times=1)
    summary = run(
        store, LOCAL if whose == "ours" else RunOptions(cluster=address), open_backend=backend
    )
    assert summary.counts == {Status.ok: 12 * ROW}
    assert backend.attempts(7) == 2
    assert tree(store.path) == whole


@pytest.fixture(scope="module")
def dask_workers() -> Iterator[DaskWorkers]:
    with LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as cluster:
        workers = DaskWorkers(ROOT, cluster)
        yield workers
        workers.end()


def start_jobs(workers: DaskWorkers) -> list[psutil.Process]:
    """Two workers like those in SLURM jobs: commands with a nanny, which has one process.

    Those that have ended are replaced.
    """
    for name in ("one", "other"):
        if name not in workers.running or workers.running[name].poll() is not None:
            workers.start(name)
    workers.wait()
    return [psutil.Process(command.pid) for command in workers.running.values()]


@pytest.mark.broad
def test_workers_of_a_foreign_scheduler_heed_signals_again_after_a_run(
    store: Store, dask_workers: DaskWorkers
) -> None:
    start_jobs(dask_workers)
    with Client(dask_workers.address, set_as_default=False) as client:
        before = client.run(handlers)
        during: list[object] = []
        options = RunOptions(cluster=dask_workers.address)
        run(store, options, lambda _: during.append(client.run(handlers)))
        assert during[0] != before
        assert client.run(handlers) == before


@pytest.mark.parametrize("target", [pytest.param("process", marks=pytest.mark.broad), "job"])
def test_a_worker_that_is_terminated_finishes_its_chunk(
    store: Store,
    tmp_path: Path,
    whole: dict[str, bytes],
    dask_workers: DaskWorkers,
    target: str,
) -> None:
    """SLURM terminates a job when its time is up or when it is preempted."""
    slow = Slow(tmp_path / "notes", 0.7)
    slow.folder.mkdir()
    job = start_jobs(dask_workers)[0]
    terminated: list[psutil.Process] = []

    def terminate_one(_: Progress) -> None:
        if not terminated and slow.begun.total() > 2:
            time.sleep(0.2)  # into a chunk
            workers = [child for child in job.children() if child.pid in slow.processes]
            terminated.append(job if target == "job" else workers[0])
            terminated[0].terminate()
            slow.hurry()  # chunks that begin from now on

    summary = run(store, RunOptions(cluster=dask_workers.address), terminate_one, open_backend=slow)
    assert outliving(terminated, 30.0) == []
    assert (summary.counts, summary.chunks) == ({Status.ok: 12 * ROW}, 12)
    assert set(slow.begun.values()) == {1}
    assert tree(store.path) == whole
    assert len(store.receipts.read()) == 12


def handlers() -> list[str]:
    return [str(signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM)]


@pytest.mark.broad
def test_a_chunk_that_kills_every_worker_is_found_and_its_neighbours_are_not_blamed(
    store: Store, faulty: Callable[..., Faulty], check_resumable: Callable[[], None]
) -> None:
    backend = faulty("killed", 4)
    notes: list[str] = []
    summary = run(store, LOCAL, notify=notes.append, open_backend=backend)
    assert any(line.startswith("lost a worker (KilledWorker: process t") for line in notes)
    assert summary.counts == {Status.ok: 11 * ROW, Status.failed: ROW}
    assert backend.attempts(4) == ATTEMPTS
    lost = [chunk.index for chunk in store.failed()]
    assert lost == [(4, 0)]
    check_resumable()


SCHEDULER = """
import time
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    print(cluster.scheduler_address, flush=True)
    time.sleep(100)
"""


@contextlib.contextmanager
def scheduler_process() -> Iterator[tuple[Forked, str]]:
    process = Forked(["-c", SCHEDULER], cwd=ROOT, env=environment(), stdout=PIPE)
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.broad
def test_a_scheduler_that_is_gone_ends_the_run_and_keeps_what_is_done(
    store: Store, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    slow = Slow(tmp_path / "notes", 0.3)
    slow.folder.mkdir()
    orphans: list[psutil.Process] = []
    with scheduler_process() as (process, where):

        def report(progress: Progress) -> None:
            if progress.chunks_done >= 2:
                orphans.extend(psutil.Process(process.pid).children(recursive=True))
                process.kill()

        with pytest.raises(MachineError, match=r"scheduler is gone.*run the same sweep again"):
            run(store, RunOptions(cluster=where), report, open_backend=slow)
    assert outliving(orphans, 30.0) == []
    assert 2 <= store.n_chunks - len(store.pending()) < store.n_chunks
    clean(store)  # as every run does first: a worker may have ended in the middle of a write
    run(store)
    assert tree(store.path) == whole


# Runs a request in a store; with a folder for notes, by slow backends.
DRIVER = """
import json, sys
from pathlib import Path
from sweep import api
from sweep.kernel.opening import open_backend
from sweep.file import load
from tests.engine.slow import Slow
if __name__ == "__main__":
    opener = Slow(Path(sys.argv[3]), 0.3) if len(sys.argv) > 3 else open_backend
    request = api.with_options(load(json.loads(sys.argv[2])), cluster="local", workers=2)
    api.compute(request, sys.argv[1], open_backend=opener)
"""


@pytest.mark.broad
def test_an_interrupted_driver_takes_its_workers_along(
    tmp_path: Path, whole_request: dict[str, bytes]
) -> None:
    """Killed drivers are in test_chaos."""
    path, notes = tmp_path / "map.zarr", tmp_path / "notes"
    notes.mkdir()
    command = ["-c", DRIVER, str(path), json.dumps(REQUEST), str(notes)]
    driver = Forked(command, cwd=ROOT, env=environment())
    while len(list(path.glob("status/c/*/0"))) < 5:
        assert driver.poll() is None
        time.sleep(0.02)
    children = psutil.Process(driver.pid).children(recursive=True)
    driver.send_signal(signal.SIGINT)
    assert driver.wait(timeout=60) != 0
    assert len(children) >= 2
    assert outliving(children) == []
    assert 0 < len(Store.open(path).pending()) < 60
    sweep.run(REQUEST, store=path)
    assert tree(path) == whole_request


def run_script(folder: Path, text: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """A script that computes the request, in a process that imports everything itself."""
    (folder / "script.py").write_text(text)
    return subprocess.run(
        [sys.executable, "script.py", "map.zarr", json.dumps(REQUEST)],
        cwd=folder,
        env=environment(),
        text=True,
        capture_output=True,
        timeout=60,
        **options,
    )


UNGUARDED = """
import json, sys
import sweep
sweep.run(json.loads(sys.argv[2]), store=sys.argv[1], cluster="local", workers=2)
"""


@pytest.mark.broad
def test_the_error_of_a_script_without_a_main_guard_says_to_add_it(tmp_path: Path) -> None:
    """In the error of the script itself, and in that of each worker that imports it."""
    done = run_script(tmp_path, UNGUARDED)
    assert done.returncode == 1
    assert "is held by" not in done.stderr
    by_workers = [line for line in done.stderr.splitlines() if line.startswith("sweep.errors.")]
    assert len(by_workers) >= 2
    assert all('`if __name__ == "__main__":`' in line for line in by_workers)
    assert by_workers[-1] == done.stderr.splitlines()[-1]
    assert "worker processes did not start" in by_workers[-1]


@pytest.mark.broad
@pytest.mark.parametrize("limit", [20, pytest.param(24, marks=pytest.mark.broad)])
def test_too_low_a_limit_of_open_files_is_named(tmp_path: Path, limit: int) -> None:
    limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))}
    done = run_script(tmp_path, DRIVER, **limited)
    assert done.returncode == 1
    assert f"the limit is {limit}: raise it (`ulimit -n 80`)" in done.stderr.splitlines()[-1]


@pytest.mark.broad
def test_within_a_dask_worker_threads_compute_and_processes_are_refused(
    address: str, tmp_path: Path
) -> None:
    with Client(address) as client:
        done = client.submit(compute_within, str(tmp_path / "a.zarr"), None).result()
        assert done == 960
        refused = client.submit(compute_within, str(tmp_path / "b.zarr"), "local")
        with pytest.raises(SweepError, match="may not start processes"):
            refused.result()


def compute_within(store: str, cluster: str | None) -> int:
    return sweep.run(REQUEST, store=store, workers=1, cluster=cluster)["status"].size


@pytest.mark.broad
def test_a_folder_that_dask_cannot_make_is_a_machine_error(store: Store) -> None:
    with (
        dask.config.set({"temporary-directory": f"{store.path}/zarr.json"}),
        pytest.raises(MachineError, match=r"cannot start worker processes .*temporary-directory"),
    ):
        run(store, LOCAL)
    assert len(store.pending()) == 12
