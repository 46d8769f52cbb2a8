"""The loop that runs a sweep: pending chunks, in tasks, through a crew, into the results.

Only a few tasks per worker are submitted at a time, so neither memory nor the cost of a stop grows
with the sweep. Workers write each chunk as soon as it is done; the loop only keeps the account.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import nullcontext
from dataclasses import dataclass
from threading import Event

from sweep.backends import open_backend as open_backend_by_name
from sweep.engine.crews import (
    Crew,
    LostError,
    Notify,
    OpenBackend,
    crew_for,
    refuse_in_worker_process,
)
from sweep.engine.ledger import Ledger, Progress, Receipt, Results, Summary, of_shard
from sweep.options import RunOptions, consistent
from sweep.plan import chunk_counts, chunks
from sweep.spec import Chunk, Task

REPORT_SECONDS = 0.25
SILENT_SECONDS = 300.0  # without a finished chunk, before the user is notified
GRACE_SECONDS = 10.0  # beyond a task's own time limit, before its worker is killed

Report = Callable[[Progress], None]


def run(
    results: Results,
    options: RunOptions | None = None,
    report: Report | None = None,
    stop: Event | None = None,
    notify: Notify | None = None,
    open_backend: OpenBackend = open_backend_by_name,
    crew: Crew | None = None,
) -> Summary:
    """Compute and write whatever is pending; returns when all is done, or soon after `stop`.

    `report` is called from this thread a few times a second, `notify` with lines about workers. A
    chunk that fails three times gets the status `failed`, and the run continues; SweepError is
    raised for faults of the request or the machine, with finished chunks kept. If nothing is
    pending, no backend is opened: finished results need no compiler. Without a `crew`, one is made
    for this run.
    """
    options = consistent(options or RunOptions())
    refuse_in_worker_process(options)
    ledger = _ledger(results, options)
    if not ledger.pending:
        if report:
            report(ledger.progress())
        return ledger.summary(backend="")
    made = nullcontext(crew) if crew else crew_for(options, open_backend, notify)
    with made as crew:
        crew.begin(results, ledger.pending)
        try:
            ledger.see(crew.workers())
            ledger.start()
            _Loop(crew, results, ledger, stop or Event(), options.time_limit).run(report)
            ledger.end()
        except BaseException:  # Ctrl-C, too: no worker continues on its own
            crew.halt()
            raise
        crew.end()
        return ledger.summary(crew.description)


def _ledger(results: Results, options: RunOptions) -> Ledger:
    pending = own_chunks(results, results.pending(), options.shard)
    total = results.sweep.n_points
    if options.shard is not None:
        every = chunks(results.sweep.shape, results.chunk_shape)
        total = sum(chunk.n_points for chunk in own_chunks(results, every, options.shard))
    return Ledger(results.sweep, pending, total, workers=1, fail_fast=options.fail_fast)


def own_chunks(
    results: Results, some: Iterable[Chunk], shard: tuple[int, int] | None
) -> list[Chunk]:
    """Those of some chunks of the results that belong to a shard; without a shard, all."""
    if shard is None:
        return list(some)
    counts = chunk_counts(results.sweep.shape, results.chunk_shape)
    return of_shard(some, counts, *shard)


@dataclass
class _Running:
    """A submitted task, when its time began to count, and how many times the limit it may take."""

    task: Task
    since: float  # s, of time.monotonic
    patience: float


class _Loop:
    """Hands out tasks and collects receipts, until all is done or the run is stopped.

    Workers abandon a chunk that takes too long themselves; a worker that does not is killed.
    """

    def __init__(
        self, crew: Crew, results: Results, ledger: Ledger, stop: Event, time_limit: float | None
    ) -> None:
        self._crew = crew
        self._results = results
        self._ledger = ledger
        self._stop = stop
        self._time_limit = time_limit
        self._running: dict[Future[list[Receipt]], _Running] = {}
        self._limit: float | None = None  # s for a chunk, as workers know it
        self._limit_set_at = 0.0
        self._silent_since: float | None = None
        self._silence_reported = False
        self._halted_at: float | None = None
        self._deaths: set[str] = set()  # what is known of each dead worker

    def run(self, report: Report | None) -> None:
        while True:
            if self._stopping():
                self._halt()
            else:
                self._hand_out()
            if report:
                report(self._ledger.progress())
            if not self._running:
                break
            done, _ = wait(self._running, timeout=REPORT_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                self._collect(future)
        if not self._ledger.unfinished and self._ledger.stopped != "failure":
            self._ledger.stopped = ""  # a stop that came when all was done stopped nothing

    def _stopping(self) -> bool:
        ledger = self._ledger
        if not ledger.stopped:
            if self._stop.is_set():
                ledger.stopped = "asked"
            elif self._time_limit is not None and ledger.elapsed > self._time_limit:
                ledger.stopped = "time limit"
        return bool(ledger.stopped)

    def _halt(self) -> None:
        """Wait for the running tasks no longer than the crew's `stop_seconds`.

        Without a worker that could return them, do not wait at all.
        """
        self._halted_at = self._halted_at or time.monotonic()
        late = time.monotonic() - self._halted_at >= self._crew.stop_seconds
        if self._running and self._ledger.workers:
            self._crew.halt()
        if late or not self._ledger.workers:
            self._running.clear()

    def _hand_out(self) -> None:
        self._ledger.see(self._crew.workers())
        self._update_limit()
        self._report_silence()
        self._kill_hanging()
        while (task := self._ledger.next_task(len(self._running))) is not None:
            patience = self._ledger.patience(task)
            future = self._crew.submit(self._results, task, patience)
            # Twice, because one task may wait for another on the same worker.
            in_all = 2 * patience * len(task.chunks)
            self._running[future] = _Running(task, time.monotonic(), in_all)

    def _collect(self, future: Future[list[Receipt]]) -> None:
        task = self._running.pop(future).task
        try:
            receipts = self._crew.receipts(future)
        except CancelledError:
            self._ledger.give_back(task)
        except LostError as error:
            if self._stopping():  # whatever stops the run stops workers too
                self._ledger.give_back(task)
            else:
                self._report_death(str(error))
                self._ledger.enter_death(task, self._results, str(error))
        else:
            for receipt in receipts:
                self._ledger.enter(receipt, self._results)
            left = task.chunks[len(receipts) :]
            if left:  # the worker was stopped, or is about to end
                self._ledger.give_back(Task(left))

    def _update_limit(self) -> None:
        """Send workers the time limit of a chunk whenever it changes."""
        if self._limit != self._ledger.limit:
            self._limit = self._ledger.limit
            self._crew.set_limit(self._limit)
            self._limit_set_at = time.monotonic()

    def _report_silence(self) -> None:
        """Notify the user, once, if workers compute for long and no chunk gets done."""
        if self._silence_reported or self._ledger.slowest or not self._ledger.workers:
            return
        now = time.monotonic()
        self._silent_since = self._silent_since or now
        if now - self._silent_since > SILENT_SECONDS:
            self._silence_reported = True
            self._crew.notify(
                f"no chunk is done after {SILENT_SECONDS:.0f} s: chunks either take that long or "
                f"hang. A chunk that takes {self._ledger.limit / 3600:.3g} h is stopped and tried "
                "again after the others; for smaller chunks (--chunk-points), use a new store"
            )

    def _kill_hanging(self) -> None:
        """Kill the workers of tasks that ignored their time limit."""
        now = time.monotonic()
        if not self._ledger.workers:  # tasks that wait for a worker are not timed
            for running in self._running.values():
                running.since = now
        for future, running in list(self._running.items()):
            if now > self._latest(running):
                running.since = now
                if self._crew.kill(future):
                    del self._running[future]
                    why = "it hung, and was killed"
                    self._ledger.enter_death(running.task, self._results, why)

    def _report_death(self, why: str) -> None:
        """Notify the user of a dead worker: of the first, second, fourth, eighth and so on.

        A worker may have held several tasks, each of which is lost for the same reason.
        """
        if why in self._deaths:
            return
        self._deaths.add(why)
        n = len(self._deaths)
        if n & (n - 1) == 0:
            count = "a worker" if n == 1 else f"{n} workers so far"
            self._crew.notify(f"lost {count} ({why}): unfinished chunks are tried again")

    def _latest(self, running: _Running) -> float:
        end = running.since + running.patience * self._ledger.limit
        return max(end, self._limit_set_at) + GRACE_SECONDS
