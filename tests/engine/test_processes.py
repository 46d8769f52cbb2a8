"""Worker processes spend their time on kernels, and what a run is said to take is computing."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from dask import config

from sweep.backends import Backend, open_backend
from sweep.engine import crews, loop, run
from sweep.engine.clusters import KEPT_BYTES
from sweep.engine.worker import Job, forget_run, limit_of, opened, stop_of, stop_run
from sweep.options import RunOptions
from sweep.spec import Task
from sweep.store import MemoryResults, Store
from tests.engine.test_engine import SWEEP, create


def test_seeing_workers_off_is_no_part_of_computing(monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(crew: crews.Threads, *_: object) -> None:
        crew._executor.shutdown()
        time.sleep(1.0)

    monkeypatch.setattr(crews.Threads, "__exit__", slowly)
    began = time.perf_counter()
    summary = run(MemoryResults(SWEEP), RunOptions(workers=1))
    assert time.perf_counter() - began > 1.0
    assert 0 < summary.wall_seconds < 1.0


class Look:
    """Opens a backend, and notes what the process is like in which it does."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> Backend:
        profiled = config.get("distributed.worker.profile.enabled")
        trim = os.environ.get("MALLOC_TRIM_THRESHOLD_")
        Path(self.folder, str(os.getpid())).write_text(f"{profiled} {trim}", encoding="utf-8")
        return open_backend(name)


def test_local_processes_keep_their_memory_and_are_not_profiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"):  # Dask keeps what is set
        monkeypatch.delenv(name, raising=False)
    notes = tmp_path / "notes"
    notes.mkdir()
    monkeypatch.setattr(loop, "open_backend", Look(str(notes)))
    options = RunOptions(cluster="local", workers=1)
    assert run(create(tmp_path / "map.zarr", SWEEP), options).points == SWEEP.n_points
    said = {file.name: file.read_text(encoding="utf-8") for file in notes.iterdir()}
    here = said.pop(str(os.getpid()))
    assert list(said.values()) == [f"False {KEPT_BYTES}"]
    assert here != f"False {KEPT_BYTES}"  # Dask's settings elsewhere are left as they are


def test_a_process_keeps_nothing_of_a_run_that_has_ended(tmp_path: Path) -> None:
    store = create(tmp_path / "map.zarr", SWEEP, 9)
    job = Job("a run", str(store.path), open_backend, "cpu")
    before = opened(job)
    assert opened(job) is before
    limit_of("a run").seconds = 1.0
    stop_run("a run")
    assert stop_of("a run").is_set()
    forget_run("a run")
    assert not stop_of("a run").is_set()
    assert limit_of("a run").seconds == float("inf")
    assert opened(job) is not before
    forget_run("a run")


def test_receipts_kept_back_are_written_when_a_process_turns_to_another_store() -> None:
    """As they are at a URL, and as the passes of a refined sweep follow one another."""
    first, second = (f"memory://turning/{name}.zarr" for name in ("0", "1"))
    stores = [Store.create(url, SWEEP, chunk_points=9, provenance={}) for url in (first, second)]
    chunk = stores[0].pending()[0]
    Job("a run", first, open_backend, "cpu")(Task((chunk,)), 1.0)
    opened(Job("a run", second, open_backend, "cpu"))
    assert [receipt["chunk"] for receipt in stores[0].receipts()] == [list(chunk.index)]
    forget_run("a run")
