"""The loop computes every pending point once, to the same bits for any chunking, and stops."""

from __future__ import annotations

import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, Literal

import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sweep.engine import ledger
from sweep.engine import workers as crew_of_workers
from sweep.engine.computing import CALL_SECONDS, RunState, Worker
from sweep.engine.ledger import (
    ATTEMPTS,
    TASKS_PER_WORKER,
    Ledger,
    Progress,
    Receipt,
    Summary,
)
from sweep.engine.loop import run
from sweep.kernel.backend import Computed, Then
from sweep.kernel.opening import open_backend
from sweep.model.table import Status
from sweep.model.tables.friction_oscillator import MODEL
from sweep.points.columns import variants_of
from sweep.request.chunk import Chunk, Points, Task
from sweep.request.options import RunOptions
from sweep.request.sweeps import Axis, Sweep
from sweep.store import Arrays, Store, Target
from tests.cases import compute
from tests.kernel.wrapped import WrappedBackend
from tests.points.test_chunking import OUTPUTS, linear, sweep_over

SWEEP = sweep_over(
    linear("friction", 0.0, 1.0, 12),
    linear("base_acceleration", 1.0, 15.0, 9),
)
ROW = 9  # points of SWEEP with one friction
FRICTIONS: list[float] = SWEEP.axes[0].columns["friction"].tolist()

WINDOW_VALUES = st.sampled_from([0.0, 0.25, 1.0, 3.5])
VALUES = {
    "mass": st.floats(0.5, 2.0),
    "friction": st.floats(0.0, 1.5),
    "stiffness": st.sampled_from([0.0, 0.0, 3e-5, 40.0]),  # chunks with and without a spring
    "base_acceleration": st.floats(0.0, 20.0),
    "angular_frequency": st.floats(1.0, 9.0),
    "start": WINDOW_VALUES,  # often an empty window, whose points are outside_validity
    "end": st.sampled_from([0.25, 3.0, 4.0]),
}
WINDOW_NAMES = {
    "seconds": {"start": "window_start", "end": "window_end"},
    "cycles": {"start": "start_cycle", "end": "end_cycle"},
}


@st.composite
def small_sweeps(draw: st.DrawFn) -> Sweep:
    """Up to four axes of up to three values, in any order; one may carry a second parameter."""
    parameter_set = draw(st.sampled_from(MODEL.parameter_sets))
    names = WINDOW_NAMES[parameter_set.name]
    sprung = parameter_set.name == "seconds"  # one kernel fewer is compiled
    changing = sorted(VALUES if sprung else VALUES.keys() - {"stiffness"})
    on_axes = draw(st.lists(st.sampled_from(changing), max_size=4, unique=True))
    axes = []
    for short in on_axes:
        name = names.get(short, short)
        size = draw(st.integers(1, 3))
        columns = {name: _drawn(draw, short, size)}
        if not axes and draw(st.booleans()):
            columns["gravity"] = _drawn(draw, "base_acceleration", size) + 1.0
        axes.append(Axis(name, columns, {"values": columns[name].tolist()}))
    axis_parameters = {name for axis in axes for name in axis.columns}
    constants = {names.get(short, short): float(_drawn(draw, short, 1)[0]) for short in changing}
    fixed = {"gravity": 10.0, "damping": 0.0, "vertical_acceleration": 0.0, "phase": 0.0}
    fixed |= {} if sprung else {"stiffness": 0.0}
    return Sweep(
        model=MODEL,
        method=MODEL.methods[0],
        parameter_set=parameter_set,
        constants={n: v for n, v in (constants | fixed).items() if n not in axis_parameters},
        axes=tuple(axes),
        outputs=tuple(output for output in MODEL.outputs if output.name in OUTPUTS),
    )


def _drawn(draw: st.DrawFn, name: str, size: int) -> NDArray[np.float64]:
    return np.array(draw(st.lists(VALUES[name], min_size=size, max_size=size)))


def by_hand(sweep: Sweep) -> dict[str, NDArray[Any]]:
    """Every point of a sweep in one call of the backend, with parameters from numpy.meshgrid.

    Counts are as they are read, NaN where they are missing.
    """
    places = np.meshgrid(*(np.arange(axis.size) for axis in sweep.axes), indexing="ij")
    columns = {
        name: values[place.ravel()]
        for axis, place in zip(sweep.axes, places, strict=True)
        for name, values in axis.columns.items()
    }
    arrays = compute({**sweep.constants, **columns}, outputs=[o.name for o in sweep.outputs])
    return {n: np.where(v == -1, np.nan, v) if v.dtype == "int32" else v for n, v in arrays.items()}


def bits_of(dataset: xr.Dataset) -> dict[str, bytes]:
    """The bytes of every output and status, in C order."""
    return {str(name): dataset[name].to_numpy().tobytes() for name in dataset.data_vars}


def create(path: Path, sweep: Sweep, chunk_points: int | None = None) -> Store:
    return Store.create(path, sweep, chunk_points=chunk_points, provenance={})


def test_a_sweep_is_every_point_of_its_grid() -> None:
    results = Arrays(SWEEP, chunk_points=10)
    summary = run(results)
    expected = by_hand(SWEEP)
    assert bits_of(results.dataset()) == {n: v.tobytes() for n, v in expected.items()}
    assert (summary.points, summary.chunks, summary.stopped) == (108, 6, "")
    assert summary.counts == {Status.ok: 108}
    assert 0 < summary.kernel_seconds <= summary.workers * summary.wall_seconds


# Few examples, because each makes a store, and some compile a kernel.
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    sweep=small_sweeps(),
    chunk_points=st.integers(1, 90),
    workers=st.sampled_from([1, 2]),
    data=st.data(),
)
def test_same_bits_for_any_chunking_worker_count_and_place(
    sweep: Sweep, chunk_points: int, workers: int, data: st.DataObject
) -> None:
    expected = {name: values.tobytes() for name, values in by_hand(sweep).items()}
    memory = Arrays(sweep, chunk_points=data.draw(st.integers(1, 90)))
    run(memory, RunOptions(workers=workers))
    assert bits_of(memory.dataset()) == expected
    with tempfile.TemporaryDirectory() as folder:
        store = create(Path(folder) / "map.zarr", sweep, chunk_points)
        summary = run(store, RunOptions(workers=3 - workers))
        kept = store.dataset().load()
        assert (summary.points, summary.stopped) == (sweep.n_points, "")
        assert sum(receipt["points"] for receipt in store.receipts.read()) == sweep.n_points
    assert bits_of(kept) == expected
    xr.testing.assert_identical(kept, memory.dataset())


def test_only_what_is_pending_is_computed(tmp_path: Path) -> None:
    whole = Arrays(SWEEP, chunk_points=10)
    run(whole)
    store = create(tmp_path / "map.zarr", SWEEP, 10)
    kept = store.pending()[1:4]
    for chunk in kept:
        store.write(chunk, ledger.failed_arrays(store, chunk))
    reports: list[Progress] = []
    summary = run(store, report=reports.append)
    assert summary.points == 108 - sum(chunk.n_points for chunk in kept)
    assert reports[0].points_done == sum(chunk.n_points for chunk in kept)
    dataset = store.dataset()
    for chunk in kept:
        assert np.all(dataset["status"].to_numpy()[chunk.slices] == Status.failed)
    others = dataset["status"].to_numpy() == Status.ok
    np.testing.assert_array_equal(
        dataset["wear_power"].to_numpy()[others],
        whole.dataset()["wear_power"].to_numpy()[others],
    )


def test_finished_results_need_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    results = Arrays(SWEEP)
    run(results)
    monkeypatch.setenv("TRIBOSWEEP_CXX", "no-such-compiler")
    reports: list[Progress] = []
    summary = run(results, RunOptions(time_limit=0.0), reports.append)
    assert (summary.points, summary.backend, summary.stopped) == (0, "", "")
    assert [(p.points_done, p.seconds_left) for p in reports] == [(108, 0.0)]


# Progress of a run.


def test_progress_never_goes_back_and_ends_complete(tmp_path: Path) -> None:
    reports: list[Progress] = []
    callers = set()

    def report(progress: Progress) -> None:
        reports.append(progress)
        callers.add(threading.current_thread())

    run(create(tmp_path / "map.zarr", SWEEP, 1), RunOptions(workers=2), report)
    assert callers == {threading.current_thread()}
    for name in ("points_done", "chunks_done", "elapsed"):
        values = [getattr(progress, name) for progress in reports]
        assert values == sorted(values)
    assert {(p.points_total, p.chunks_total) for p in reports} == {(108, 108)}
    assert all(sum(p.counts.values()) == p.points_done for p in reports)
    assert all(p.seconds_left >= 0 for p in reports)
    first, last = reports[0], reports[-1]
    assert (first.points_done, first.seconds_left) == (0, float("inf"))
    assert (last.points_done, last.chunks_done, last.seconds_left) == (108, 108, 0.0)
    assert last.points_per_second == pytest.approx(108 / last.elapsed)


def run_by(
    crew: type[crew_of_workers.Threads],
    results: Arrays,
    workers: int,
    stop: threading.Event | None = None,
) -> Summary:
    """A run by threads of this type."""
    options = RunOptions(workers=workers)
    with crew(options, open_backend, print) as threads:
        return run(results, options, stop=stop, crew=threads)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_no_more_than_a_window_of_tasks_is_ever_submitted(workers: int) -> None:
    futures: list[Future[list[Receipt]]] = []
    unfinished: list[int] = []

    class Counting(crew_of_workers.Threads):
        def submit(self, target: Target, task: Task, patience: float) -> Future[list[Receipt]]:
            futures.append(super().submit(target, task, patience))
            unfinished.append(sum(not future.done() for future in futures))
            return futures[-1]

    run_by(Counting, Arrays(SWEEP, chunk_points=1), workers)
    assert all(future.done() for future in futures)
    assert max(unfinished) == TASKS_PER_WORKER * workers


# Stops.

LONG = {"window_start": 0.0, "window_end": 6e4}  # s, and as many cycles: about 50 ms for 9 points
LONG_SWEEP = sweep_over(
    linear("friction", 0.05, 0.5, 20), linear("base_acceleration", 10.0, 15.0, 9), **LONG
)


@pytest.fixture(scope="module")
def long_results() -> xr.Dataset:
    results = Arrays(LONG_SWEEP)
    run(results)
    return results.dataset()


def check_what_was_done(results: Arrays | Store, expected: xr.Dataset) -> None:
    """Check that every point is pending or has the bits of an undisturbed run."""
    dataset = results.dataset().load()
    pending = dataset["status"].to_numpy() == Status.pending
    assert pending.sum() == sum(chunk.n_points for chunk in results.pending())
    for name in dataset.data_vars:
        values, whole = dataset[name].to_numpy(), expected[name].to_numpy()
        assert values[~pending].tobytes() == whole[~pending].tobytes()


def check_a_stop(path: Path, options: RunOptions, expected: xr.Dataset) -> Store:
    """Check that a run stops at its limit of time, if it has one, or else when it is asked to.

    Finished chunks are kept, and the next run resumes.
    """
    store = create(path, LONG_SWEEP, 9)
    stop, cause = threading.Event(), "asked" if options.time_limit is None else "time limit"

    def report(progress: Progress) -> None:
        if cause == "asked" and progress.chunks_done >= 2:
            stop.set()

    summary = run(store, options, report, stop)
    assert summary.stopped == cause
    assert summary.chunks == store.n_chunks - len(store.pending()) < store.n_chunks
    assert summary.points == sum(summary.counts.values()) == 9 * summary.chunks
    assert stop.is_set() == (cause == "asked")  # one run's limit does not stop another
    check_what_was_done(store, expected)
    assert run(store, replace(options, time_limit=None)).stopped == ""
    assert bits_of(store.dataset()) == bits_of(expected)
    return store


@pytest.mark.parametrize("limit", [None, 0.05])
def test_a_stop_keeps_finished_chunks_and_the_next_run_resumes(
    tmp_path: Path, limit: float | None, long_results: xr.Dataset
) -> None:
    check_a_stop(tmp_path / "map.zarr", RunOptions(workers=2, time_limit=limit), long_results)


def test_chunks_that_a_worker_leaves_of_its_task_are_computed_later(
    long_results: xr.Dataset,
) -> None:
    """A worker that is about to end finishes only the chunk in progress."""
    sizes: list[int] = []

    class Leaving(crew_of_workers.Threads):
        def submit(self, target: Target, task: Task, patience: float) -> Future[list[Receipt]]:
            sizes.append(len(task.chunks))
            return super().submit(target, Task(task.chunks[:1]), patience)

    results = Arrays(LONG_SWEEP, chunk_points=9)
    summary = run_by(Leaving, results, workers=2)
    assert max(sizes) > 1
    assert (summary.stopped, summary.chunks, len(sizes)) == ("", 20, 20)
    assert bits_of(results.dataset()) == bits_of(long_results)


def test_a_cancelled_task_is_computed_later(long_results: xr.Dataset) -> None:
    cancelled: list[Task] = []

    class Cancelling(crew_of_workers.Threads):
        def submit(self, target: Target, task: Task, patience: float) -> Future[list[Receipt]]:
            if cancelled:
                return super().submit(target, task, patience)
            cancelled.append(task)
            future = Future[list[Receipt]]()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    results = Arrays(LONG_SWEEP, chunk_points=9)
    assert run_by(Cancelling, results, workers=2).stopped == ""
    assert bits_of(results.dataset()) == bits_of(long_results)


def test_a_worker_that_dies_by_a_stop_does_not_fail_its_chunks() -> None:
    """In the last attempt at one of them."""
    stop, attempts = threading.Event(), Counter[Chunk]()

    class Dying(crew_of_workers.Threads):
        def submit(self, target: Target, task: Task, patience: float) -> Future[list[Receipt]]:  # noqa: ARG002
            future = Future[list[Receipt]]()
            future.set_result([])
            attempts.update(task.chunks)
            return future

        def receipts(self, future: Future[list[Receipt]]) -> list[Receipt]:  # noqa: ARG002
            if max(attempts.values()) == ATTEMPTS:
                stop.set()
            raise crew_of_workers.LostError("the worker is gone")

    results = Arrays(SWEEP, chunk_points=9)
    summary = run_by(Dying, results, workers=1, stop=stop)
    assert (summary.stopped, dict(summary.counts)) == ("asked", {})
    assert len(results.pending()) == 12


def test_a_limit_that_passes_after_the_last_chunk_does_not_count_as_a_stop(
    set_clock: Callable[[float], None],
) -> None:
    results = Arrays(SWEEP)

    def report(_progress: Progress) -> None:
        end = time.monotonic() + 60
        while results.pending():  # the tasks are few enough to be handed out at once
            assert time.monotonic() < end
            time.sleep(0.01)
        set_clock(1e6)

    summary = run(results, RunOptions(time_limit=1e5), report)
    assert results.pending() == []
    assert summary.stopped == ""


def test_a_limit_that_passes_after_a_stop_is_not_reported_as_its_cause(
    endless: Arrays, set_clock: Callable[[float], None]
) -> None:
    stop = threading.Event()

    def report(_progress: Progress) -> None:
        stop.set()
        set_clock(1e6)

    assert run(endless, RunOptions(time_limit=1e5), report, stop).stopped == "asked"


def test_a_stop_that_is_set_before_the_run_computes_nothing() -> None:
    stop = threading.Event()
    stop.set()
    results = Arrays(SWEEP)
    summary = run(results, stop=stop)
    assert (summary.points, summary.stopped) == (0, "asked")
    assert len(results.pending()) == 1


@pytest.fixture
def endless() -> Arrays:
    """Results of three points that each take seconds, with the kernel compiled."""
    accelerations = linear("base_acceleration", 10.0, 15.0, 3)
    results = Arrays(sweep_over(accelerations, stiffness=40.0, window_end=1e6))
    open_backend().prepare(results.sweep, variants_of(results.sweep, results.pending()[0]))
    return results


def test_a_chunk_that_a_stop_interrupts_does_not_count_as_hanging(endless: Arrays) -> None:
    state = RunState()
    timer = threading.Timer(0.2, state.stop.set)
    timer.start()
    assert Worker(endless, open_backend(), state)(Task(tuple(endless.pending()))) == []
    timer.cancel()


def test_a_finished_chunk_is_not_computed_again() -> None:
    """A foreign scheduler may send a lost task again; its receipt tells what the chunk holds."""
    results = Arrays(SWEEP, chunk_points=9)
    first, second = results.pending()[:2]
    arrays = ledger.failed_arrays(results, first)
    arrays["status"].flat[:4] = Status.outside_validity
    results.write(first, arrays)
    receipts = Worker(results, open_backend(), RunState())(Task((first, second)))
    assert [(receipt.chunk, receipt.counts) for receipt in receipts] == [
        (first, {Status.outside_validity: 4, Status.failed: 5}),
        (second, {Status.ok: 9}),
    ]
    assert receipts[0].seconds == 0 < receipts[1].kernel_seconds < receipts[1].seconds


class Large(WrappedBackend):
    """A backend that is called like a GPU's; calls fail that hold both rows named in `apart`.

    A point takes `seconds` of the time that `clock` tells.
    """

    name = "gpu"

    def __init__(self, *apart: float, seconds: float = 0.0) -> None:
        super().__init__(open_backend())
        self.apart, self.seconds, self.calls, self.now = set(apart), seconds, list[int](), 0.0

    def clock(self) -> float:
        return self.now

    def compute(
        self, sweep: Sweep, points: Points, stop: Event | None = None, then: Then | None = None
    ) -> Computed:
        self.calls.append(points.n_points)
        self.now += self.seconds * points.n_points
        if self.apart and self.apart <= {*points.columns["friction"].values.tolist()}:
            raise MemoryError
        return self.real.compute(sweep, points, stop, then)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_gpu_computes_several_chunks_in_one_call(dtype: Literal["float64", "float32"]) -> None:
    """Each gets the receipt and the bits that it has alone, also if the call fails."""
    chosen = replace(SWEEP, dtype=dtype)
    alone = Arrays(chosen, chunk_points=9)
    task = Task(tuple(alone.pending()))
    each = Worker(alone, open_backend(), RunState())(task)
    rows = [float(chosen.axes[0].columns["friction"][i]) for i in (1, -1)]
    for backend in (Large(), Large(*rows)):
        results = Arrays(chosen, chunk_points=9)
        receipts = Worker(results, backend, RunState())(task)
        assert [(r.chunk, r.counts) for r in receipts] == [(r.chunk, r.counts) for r in each]
        assert all(0 < r.kernel_seconds < r.seconds for r in receipts)
        assert backend.calls[:2] == [9, chosen.n_points - 9]
        assert len(backend.calls) == (1 + len(task.chunks) if backend.apart else 2)
        assert bits_of(results.dataset()) == bits_of(alone.dataset())


@pytest.mark.parametrize(("seconds", "at_once"), [(CALL_SECONDS / 40, 36), (CALL_SECONDS, 9)])
def test_a_call_holds_as_many_chunks_as_are_computed_in_time(
    monkeypatch: pytest.MonkeyPatch, seconds: float, at_once: int
) -> None:
    """So that little is lost with a process that is killed."""
    results, backend = Arrays(SWEEP, chunk_points=9), Large(seconds=seconds)
    monkeypatch.setattr(time, "perf_counter", backend.clock)
    Worker(results, backend, RunState())(Task(tuple(results.pending())))
    rest = SWEEP.n_points - 9
    assert backend.calls == [9, *[at_once] * (rest // at_once), *[rest % at_once] * (at_once > 9)]


def test_a_call_that_fails_is_not_repeated_for_other_tasks() -> None:
    """A smaller one is tried."""
    results, state = Arrays(SWEEP, chunk_points=9), RunState()
    backend = Large(FRICTIONS[1], FRICTIONS[4])
    chunks = results.pending()
    for part in (chunks[:6], chunks[6:]):
        Worker(results, backend, state)(Task(tuple(part)))
    assert backend.calls == [9, 45, 9, 9, 9, 9, 9, 18, 18, 18]
    assert results.pending() == []


def test_what_a_call_has_computed_is_written_before_a_process_ends() -> None:
    """The process waits while chunks are in progress."""
    results, state, backend = Arrays(SWEEP, chunk_points=9), RunState(), Large()
    state.rate = 1e6
    written: list[int] = []
    write = results.write

    def last_write(chunk: Chunk, arrays: Mapping[str, NDArray[Any]]) -> None:
        state.leaving = True
        written.append(len(state.in_progress))
        write(chunk, arrays)

    results.write = last_write
    n_chunks = len(pending := results.pending())
    receipts = Worker(results, backend, state)(Task(tuple(pending)))
    assert (len(receipts), backend.calls, state.in_progress) == (n_chunks, [SWEEP.n_points], set())
    assert written == list(range(n_chunks, 0, -1))
    assert results.pending() == []


def test_chunks_of_different_kernels_are_computed_apart() -> None:
    """The kernel for points without a spring is faster than the one for any points."""
    springs = Axis("stiffness", {"stiffness": np.array([0.0, 0.0, 3.0, 4.0])}, {})
    chosen = replace(
        SWEEP,
        constants={n: v for n, v in SWEEP.constants.items() if n != "stiffness"},
        axes=(springs, *SWEEP.axes),
    )
    row, backend = chosen.n_points // 4, Large()
    results = Arrays(chosen, chunk_points=row)
    state = RunState()
    state.rate = 1e6
    Worker(results, backend, state)(Task(tuple(results.pending())))
    assert backend.calls == [2 * row, 2 * row]
    alone = Arrays(chosen, chunk_points=row)
    run(alone)
    assert bits_of(results.dataset()) == bits_of(alone.dataset())


@pytest.mark.parametrize("chunk_points", [3, 6])
def test_receipts_have_the_extremes_of_points_that_are_ok(
    tmp_path: Path, chunk_points: int
) -> None:
    """Three points are ok and three are outside validity, in two chunks or in one."""
    ends = Axis("window_end", {"window_end": np.array([12.0, 1.0])}, {})
    sweep = sweep_over(ends, linear("friction", 0.1, 0.5, 3), window_start=4.0)
    store = create(tmp_path / "map.zarr", sweep, chunk_points)
    receipts = Worker(store, open_backend(), RunState())(Task(tuple(store.pending())))
    ok, outside = {Status.ok: 3}, {Status.outside_validity: 3}
    counts = [receipt.counts for receipt in receipts]
    assert counts == ([ok, outside] if chunk_points == 3 else [ok | outside])
    valid = store.dataset().load().isel(window_end=0).drop_vars("status")
    extremes = {
        name: [values.min().item(), values.max().item()] for name, values in valid.data_vars.items()
    }
    written = [receipt["extremes"] for receipt in store.receipts.read()]
    assert written == [extremes, {}][: len(receipts)]


@pytest.mark.parametrize("cause", ["asked", "time limit"])
def test_a_stop_interrupts_a_point_within_a_second(cause: str, endless: Arrays) -> None:
    stop = threading.Event()
    stopped_at: list[float] = []

    def ask() -> None:
        stopped_at.append(time.monotonic())
        stop.set()

    timer = threading.Timer(0.5, ask)
    if cause == "asked":
        timer.start()
    began = time.monotonic()
    summary = run(endless, RunOptions(time_limit=0.5 if cause == "time limit" else 60.0), stop=stop)
    delay = time.monotonic() - (stopped_at[0] if stopped_at else began + 0.5)
    timer.cancel()
    assert (summary.stopped, summary.points) == (cause, 0)
    assert 0 <= delay < 1.0
    assert np.all(endless.dataset()["status"].to_numpy() == Status.pending)


def test_an_error_in_the_callers_report_ends_the_run_and_keeps_finished_chunks(
    long_results: xr.Dataset,
) -> None:
    class Interrupted(Exception):
        pass

    def report(progress: Progress) -> None:
        if progress.chunks_done >= 2:
            raise Interrupted

    results = Arrays(LONG_SWEEP, chunk_points=9)
    began = threading.active_count()
    with pytest.raises(Interrupted):
        run(results, RunOptions(workers=2), report)
    assert threading.active_count() == began  # no thread is left
    assert 2 <= 40 - len(results.pending()) < 40
    check_what_was_done(results, long_results)


def test_an_error_in_the_callers_report_interrupts_a_point(
    endless: Arrays,
) -> None:
    def report(_progress: Progress) -> None:
        raise KeyboardInterrupt

    n_pending = len(endless.pending())
    with pytest.raises(KeyboardInterrupt):
        run(endless, report=report)
    assert len(endless.pending()) == n_pending  # no point went on to its end


def test_float32_is_rounded_once_from_what_was_computed() -> None:
    results = Arrays(replace(SWEEP, dtype="float32"), chunk_points=10)
    run(results)
    dataset = results.dataset()
    expected: Mapping[str, NDArray[Any]] = by_hand(SWEEP)
    assert dataset["wear_power"].dtype == np.float32
    rounded = expected["wear_power"].astype(np.float32)
    np.testing.assert_array_equal(dataset["wear_power"].to_numpy().ravel(), rounded)
    np.testing.assert_array_equal(dataset["regime"].to_numpy().ravel(), expected["regime"])


def test_the_summary_counts_the_most_workers_at_any_time() -> None:
    """Workers of a cluster come and go during a run."""
    ledger = Ledger([], SWEEP.n_points, workers=1)
    windows = []
    for workers in (0, 3, 2):
        ledger.see(workers)
        windows.append(ledger.window)
    assert windows == [TASKS_PER_WORKER * workers for workers in (1, 3, 2)]
    assert ledger.summary("cpu").workers == 3
