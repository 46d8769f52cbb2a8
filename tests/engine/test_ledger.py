"""The ledger by hand: the size of tasks, which chunks are tried again, and what is reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sweep.engine import ledger
from sweep.engine.ledger import (
    ATTEMPTS,
    MAX_LOST_IN_A_ROW,
    TASK_SECONDS,
    TASKS_PER_WORKER,
    Ledger,
    Receipt,
)
from sweep.errors import MachineError
from sweep.model.table import Status
from sweep.request.chunk import Chunk, Task
from sweep.store import Arrays
from tests.points.test_chunking import linear, sweep_over

SWEEP = sweep_over(linear("friction", 0.0, 1.0, 1000), linear("base_acceleration", 1.0, 15.0, 2))


@pytest.fixture
def results() -> Arrays:
    """A thousand chunks of two points."""
    return Arrays(SWEEP, chunk_points=2)


def account(chunks: list[Chunk], workers: int = 1, *, fail_fast: bool = False) -> Ledger:
    return Ledger(chunks, SWEEP.n_points, workers, fail_fast)


def taken(book: Ledger, running: int = 0) -> list[Chunk]:
    task = book.next_task(running)
    assert task is not None
    return list(task.chunks)


def done(chunk: Chunk, seconds: float) -> Receipt:
    return Receipt(chunk, {Status.ok: chunk.n_points}, seconds / 2, seconds)


@pytest.mark.parametrize(
    ("seconds", "size"),
    [
        (TASK_SECONDS / 50, 50),
        (TASK_SECONDS / 2, 2),
        (10 * TASK_SECONDS, 1),
        (1e-9, 998 // (2 * TASKS_PER_WORKER * 3)),  # half of the rest, divided evenly
        (0.0, 998 // (2 * TASKS_PER_WORKER * 3)),
    ],
)
def test_tasks_take_half_a_second_and_leave_chunks_for_other_workers(
    results: Arrays, seconds: float, size: int
) -> None:
    every = results.pending()
    book = account(every, workers=3)
    assert [taken(book), taken(book)] == [every[:1], every[1:2]]  # no rate is known yet
    for chunk in every[:2]:
        book.enter(done(chunk, seconds), results)
    assert taken(book) == every[2 : 2 + size]
    assert taken(book)[0] == every[2 + size]


def test_a_gpu_gets_several_chunks_at_once_before_any_rate_is_known(
    results: Arrays,
) -> None:
    """As many points as keep it busy, if all its threads get so many; fewer once that is slow."""
    every = results.pending()
    book = account(every, workers=4)
    book.points_of_a_task = 500  # chunks have two
    assert [taken(book), taken(book)] == [every[:250], every[250:437]]
    book.enter(done(every[0], TASK_SECONDS / 20), results)
    assert taken(book) == every[437:457]


def test_a_gpu_gets_no_more_before_any_rate_is_known(results: Arrays) -> None:
    """A fair share of many chunks would be hundreds, whose receipts come at once and late."""
    book = account(results.pending(), workers=4)
    book.points_of_a_task = 8  # chunks have two
    assert len(book.waiting) // (2 * book.window) > 4
    assert [len(taken(book)), len(taken(book))] == [4, 4]


def test_a_chunk_that_failed_joins_no_other(results: Arrays) -> None:
    every = results.pending()[:8]
    book = account(every)
    book.points_of_a_task = 4
    book.enter(Receipt(taken(book)[0], {}, 0.0, 0.0, "a fault"), results)
    book.enter(done(every[1], 1e-6), results)
    order: list[list[Chunk]] = []
    while book.waiting:
        order.append(taken(book))
    assert order == [every[2:4], every[4:6], every[6:8], every[:1]]


def test_a_failed_chunk_waits_behind_the_others_and_is_a_task_of_its_own(
    results: Arrays,
) -> None:
    every = results.pending()[:10]
    book = account(every)
    first, second = taken(book), taken(book)
    book.enter(Receipt(first[0], {}, 0.0, 0.0, "a fault"), results)
    book.enter(done(second[0], 1e-3), results)
    order: list[list[Chunk]] = []
    while book.waiting:
        order.append(taken(book))
    assert [chunk for task in order for chunk in task] == [*every[2:], every[0]]
    assert len(order[0]) == 2  # a quarter of nine
    assert order[-1] == [every[0]]


def test_the_last_attempt_at_a_suspect_is_made_when_nothing_else_runs(
    results: Arrays,
) -> None:
    chunk, other = results.pending()[:2]
    book = account([chunk])
    assert taken(book) == [chunk]
    for times in range(1, ATTEMPTS):
        book.enter_death(Task((chunk,)), results, "it died")
        assert book.patience(Task((other,))) == 1
        assert book.patience(Task((other, chunk))) == 2**times
        if book.waiting:
            assert taken(book, running=1) == [chunk]
    assert book.next_task(running=1) is None
    assert taken(book) == [chunk]
    assert (book.chunks_done, book.stopped) == (0, "")
    book.enter_death(Task((chunk,)), results, "it died")
    assert book.counts == results.counts([chunk]) == {Status.failed: chunk.n_points}


def test_a_chunk_that_raised_is_tried_beside_others(results: Arrays) -> None:
    """Nobody else can have caused an error that the chunk itself raised."""
    chunk = results.pending()[0]
    book = account([chunk], fail_fast=True)
    assert taken(book) == [chunk]
    for _ in range(ATTEMPTS - 1):
        book.enter(Receipt(chunk, {}, 0.0, 0.0, "a fault"), results)
        assert book.stopped == ""
        assert taken(book, running=1) == [chunk]
    book.enter(Receipt(chunk, {}, 0.0, 0.0, "a fault"), results)
    assert (book.counts, book.stopped) == ({Status.failed: chunk.n_points}, "failure")


def test_chunks_that_were_written_before_a_worker_died_are_done(results: Arrays) -> None:
    every = results.pending()[:3]
    book = account(every)
    assert [taken(book) for _ in every] == [[chunk] for chunk in every]
    results.write(every[1], ledger.failed_arrays(results, every[1]))
    book.enter_death(Task(tuple(every)), results, "it died")
    assert (book.chunks_done, book.counts) == (1, {Status.failed: every[1].n_points})
    assert list(book.waiting) == [every[0], every[2]]
    assert (book.limit, book.kernel_seconds) == (
        ledger.INITIAL_LIMIT,
        0.0,
    )  # their times are unknown


def test_workers_that_only_die_end_the_run(results: Arrays) -> None:
    every = results.pending()
    book = account(every)
    allowed = MAX_LOST_IN_A_ROW * TASKS_PER_WORKER
    for i in range(allowed):
        book.enter_death(Task((every[i],)), results, "killed")
    book.enter(done(every[-1], 0.1), results)  # a finished chunk restarts the count
    for i in range(allowed):
        book.enter_death(Task((every[allowed + i],)), results, "killed")
    with pytest.raises(MachineError, match=rf"^{allowed + 1} tasks in a row .*\(killed\)"):
        book.enter_death(Task((every[2 * allowed],)), results, "killed")


@pytest.mark.parametrize("computed_before", [False, True])
def test_a_chunk_cut_short_by_an_old_end_counts_once(
    results: Arrays, *, computed_before: bool
) -> None:
    """It is computed again when the target is longer, and was in this run or in an earlier one."""
    first, second = results.pending()[:2]
    short, third = replace(second, shape=(1, 1)), results.pending()[2]
    book = Ledger([first, *(() if computed_before else (short,))], 3, 1)
    for chunk in list(book.pending):
        taken(book)
        book.enter(done(chunk, 1.0), results)
    assert (book.progress().points_done, book.progress().points_total) == (3, 3)
    book.grow([second, third], 6)
    assert (book.progress().points_done, book.progress().points_total) == (2, 6)
    for _ in range(2):
        (chunk,) = taken(book)
        book.enter(done(chunk, 1.0), results)
    progress, summary = book.progress(), book.summary("")
    assert not book.unfinished
    assert (progress.points_done, progress.points_total, summary.points) == (6, 6, 6)
    assert (summary.chunks, summary.counts) == (3, {Status.ok: 6})


def test_the_limit_follows_from_the_slowest_chunk(results: Arrays) -> None:
    every = results.pending()
    book = account(every)
    assert book.limit == ledger.INITIAL_LIMIT
    for chunk, seconds, limit in zip(
        every, (1.0, 7.0, 2.0), (ledger.MIN_LIMIT, 700.0, 700.0), strict=False
    ):
        book.enter(done(chunk, seconds), results)
        assert book.limit == limit


def test_a_returned_task_is_next_in_its_order(results: Arrays) -> None:
    every = results.pending()
    book = account(every)
    book.enter(done(taken(book)[0], TASK_SECONDS / 3), results)
    task = book.next_task(0)
    assert task is not None
    assert task.chunks == tuple(every[1:4])
    book.give_back(task)
    assert list(book.waiting) == every[1:]


def test_speed_and_time_left_count_this_run_only(
    results: Arrays, set_clock: Callable[[float], None]
) -> None:
    pending = results.pending()[400:]  # chunks done before do not count for this run
    book = account(pending, workers=2)
    assert (book.progress().points_per_second, book.progress().seconds_left) == (0.0, float("inf"))
    for chunk in pending[:100]:
        book.enter(done(chunk, 2**-6), results)
    set_clock(100.5)
    progress = book.progress()
    assert (progress.points_done, progress.points_total) == (1000, 2000)
    assert (progress.chunks_done, progress.chunks_total) == (100, 600)
    assert (progress.elapsed, progress.points_per_second, progress.seconds_left) == (
        0.5,
        400.0,
        2.5,
    )
    book.end()
    set_clock(130.0)
    summary = book.summary("cpu")
    assert (summary.points, summary.chunks, summary.workers) == (200, 100, 2)
    assert (summary.wall_seconds, summary.kernel_seconds) == (0.5, 0.78125)
