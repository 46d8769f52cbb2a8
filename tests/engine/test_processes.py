"""Worker processes spend their time on kernels, and a run's time is that of computing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from sweep.engine import workers as crew_of_workers
from sweep.engine.loop import run
from sweep.engine.worker_process import (
    Code,
    Job,
    UnfitError,
    forget_run,
    opened,
    state_of,
    stop_run,
)
from sweep.kernel.opening import open_backend
from sweep.request.chunk import Task
from sweep.request.options import RunOptions
from sweep.store import Arrays, Store
from tests.engine.test_engine import SWEEP
from tests.points.test_chunking import linear, sweep_over


def test_the_end_of_workers_is_no_part_of_the_time_of_computing() -> None:
    ends: list[float] = []

    class Slow(crew_of_workers.Threads):
        def end(self) -> None:
            super().end()
            began = time.perf_counter()
            time.sleep(0.1)
            ends.append(time.perf_counter() - began)

    options = RunOptions(workers=1)
    with Slow(options, open_backend, print) as crew:
        began = time.perf_counter()
        summary = run(Arrays(SWEEP), options, crew=crew)
        in_all = time.perf_counter() - began
    assert 0 < summary.wall_seconds < in_all - ends[0]


def test_a_process_keeps_nothing_of_a_run_that_has_ended(store: Store) -> None:
    job = Job("a run", open_backend, RunOptions(backend="cpu"), Code.of(SWEEP), SWEEP.n_points)
    path = str(store.path)
    before = opened(job, path)
    assert opened(job, path) is before
    state_of("a run").limit = 1.0
    stop_run("a run")
    assert state_of("a run").stop.is_set()
    forget_run("a run")
    assert not state_of("a run").stop.is_set()
    assert state_of("a run").limit == float("inf")
    assert opened(job, path) is not before
    forget_run("a run")


def test_a_store_that_has_become_longer_is_opened_again(tmp_path: Path) -> None:
    """Not for a task that is late: it would write a chunk that is short."""
    before, after = (sweep_over(linear("friction", 0.0, 1.0, 9), linear("mass", 1.0, n, n))
                     for n in (2, 3))  # fmt: skip
    store = Store.create(tmp_path / "a.zarr", before, chunk_points=54, provenance={})
    options, path = RunOptions(backend="cpu"), str(store.path)
    job, longer = (
        Job("a run", open_backend, options, Code.of(before), each.n_points)
        for each in (before, after)
    )
    opened(job, path)
    Store.extend(path, after)
    assert opened(longer, path).target.sweep.n_points == 27
    with pytest.raises(UnfitError, match="was extended meanwhile"):
        job(path, Task(tuple(store.pending())), 1.0)
    assert Store.open(path).done() == []
    forget_run("a run")


def test_receipts_held_back_are_written_when_a_process_opens_another_store() -> None:
    """At a URL receipts are held back."""
    first, second = (f"memory://turning/{name}.zarr" for name in ("0", "1"))
    stores = [Store.create(url, SWEEP, chunk_points=9, provenance={}) for url in (first, second)]
    chunk = stores[0].pending()[0]
    job = Job("a run", open_backend, RunOptions(backend="cpu"), Code.of(SWEEP), SWEEP.n_points)
    job(first, Task((chunk,)), 1.0)
    opened(job, second)
    assert [receipt["chunk"] for receipt in stores[0].receipts.read()] == [list(chunk.index)]
    forget_run("a run")
