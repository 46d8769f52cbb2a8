"""The loop that runs a sweep: pending chunks, in tasks, through a crew, into the results.

Only a few tasks per worker are submitted at a time, so neither memory nor the cost of a stop grows
with the sweep. Workers write each chunk as soon as it is done; the loop only keeps the account.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import prod
from threading import Event

from sweep.engine.ledger import Ledger, Progress, Receipt, Summary
from sweep.engine.workers import (
    Crew,
    LostError,
    Notify,
    OpenBackend,
    Threads,
    consistent,
)
from sweep.kernel.opening import open_backend as open_backend_by_name
from sweep.points.chunking import chunk_counts, chunks, points_of_more_chunks
from sweep.request.chunk import Task
from sweep.request.options import RunOptions
from sweep.store import Target

REPORT_SECONDS = 0.25
FEW_CHUNKS_SECONDS = 5.0  # of a run, before the user is notified that workers have none
SILENT_SECONDS = 300.0  # without a finished chunk, before the user is notified
GRACE_SECONDS = 10.0  # beyond a task's own time limit, before its worker is killed

Report = Callable[[Progress], None]
More = Callable[[], Target | None]


def run(
    target: Target,
    options: RunOptions | None = None,
    report: Report | None = None,
    stop: Event | None = None,
    notify: Notify | None = None,
    open_backend: OpenBackend = open_backend_by_name,
    crew: Crew | None = None,
    more: More | None = None,
) -> Summary:
    """Compute and write whatever is pending; returns when all is done, or soon after `stop`.

    `report` is called from this thread a few times a second, `notify` with lines about workers. A
    chunk that fails three times gets the status `failed`, and the run continues; SweepError is
    raised for faults of the request or the machine, with finished chunks kept. If nothing is
    pending, no backend is opened: finished results need no compiler. Without a `crew`, one is made
    for this run. Once all is done, `more` makes the target longer, or says by None that it need not
    be.
    """
    options = options or RunOptions()
    target.finish()  # what a kill or another process has left
    pending = target.own(target.pending(), options.shard)
    total = target.sweep.n_points
    if options.shard is not None:
        every = chunks(target.sweep.computed_shape, target.chunk_shape)
        total = sum(chunk.n_points for chunk in target.own(every, options.shard))
    ledger = Ledger(pending, total, workers=1, fail_fast=options.fail_fast)
    with ExitStack() as ends:
        while True:
            if ledger.unfinished:
                crew = crew or ends.enter_context(crew_for(options, open_backend, notify))
                _run_once(crew, target, ledger, options, report, stop or Event())
            elif report:
                report(ledger.progress())
            if ledger.stopped or more is None or (longer := more()) is None:
                return ledger.summary(crew.description if crew else "")
            target = longer
            ledger.grow(target.pending(), target.sweep.n_points)


def crew_for(options: RunOptions, open_backend: OpenBackend, notify: Notify | None) -> Crew:
    """The crew that the options ask for; SweepError if they contradict one another."""
    options = consistent(options)
    kind: type[Crew] = Threads
    if options.gpus is not None:
        from sweep.engine.gpus import GpuProcesses

        kind = GpuProcesses
    elif options.cluster is not None:
        from sweep.engine.clusters import Processes

        kind = Processes
    return kind(options, open_backend, notify or (lambda _line: None))


def _run_once(
    crew: Crew,
    target: Target,
    ledger: Ledger,
    options: RunOptions,
    report: Report | None,
    stop: Event,
) -> None:
    """Compute what is pending of a target that does not grow meanwhile."""
    crew.begin(target, [*ledger.waiting])
    try:
        ledger.see(crew.workers())
        ledger.points_of_a_task = crew.points_of_a_task
        ledger.start()
        loop = _Loop(crew, target, ledger, stop, options)
        loop.run(report)
        while not ledger.stopped and (damaged := target.own(target.finish(), options.shard)):
            ledger.add(damaged)
            loop.run(report)
        ledger.end()
    except BaseException:  # Ctrl-C, too: no worker continues on its own
        crew.halt()
        raise
    crew.end()


@dataclass
class _Running:
    """A submitted task, when its time began to count, and how many times the limit it may take."""

    task: Task
    since: float  # s, of time.monotonic
    patience: float


@dataclass
class _Loop:
    """Hands out tasks and collects receipts, until all is done or the run is stopped.

    Workers abandon a chunk that takes too long themselves; a worker that does not is killed.
    """

    crew: Crew
    target: Target
    ledger: Ledger
    stop: Event
    options: RunOptions
    running: dict[Future[list[Receipt]], _Running] = field(default_factory=dict)
    limit: float | None = None  # s for a chunk, as workers know it
    limit_set_at: float = 0.0
    silent_since: float | None = None
    silence_reported: bool = False
    few_chunks_reported: bool = False
    halted_at: float | None = None
    deaths: set[str] = field(default_factory=set)  # what is known of each dead worker

    def run(self, report: Report | None) -> None:
        while True:
            if self._stopping():
                self._halt()
            else:
                self._hand_out()
            if report:
                report(self.ledger.progress())
            if not self.running:
                break
            done, _ = wait(self.running, timeout=REPORT_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                self._collect(future)
        if not self.ledger.unfinished and self.ledger.stopped != "failure":
            self.ledger.stopped = ""  # a stop that came when all was done stopped nothing

    def _stopping(self) -> bool:
        ledger = self.ledger
        if not ledger.stopped:
            if self.stop.is_set():
                ledger.stopped = "asked"
            elif (most := self.options.time_limit) is not None and ledger.elapsed > most:
                ledger.stopped = "time limit"
        return bool(ledger.stopped)

    def _halt(self) -> None:
        """Wait for the running tasks no longer than the crew's `stop_seconds`.

        Without a worker that could return them, do not wait at all.
        """
        self.halted_at = self.halted_at or time.monotonic()
        late = time.monotonic() - self.halted_at >= self.crew.stop_seconds
        if self.running and self.ledger.workers:
            self.crew.halt()
        if late or not self.ledger.workers:
            self.running.clear()

    def _hand_out(self) -> None:
        self.ledger.see(self.crew.workers())
        self._update_limit()
        self._report_few_chunks()
        self._report_silence()
        self._kill_hanging()
        while (task := self.ledger.next_task(len(self.running))) is not None:
            patience = self.ledger.patience(task)
            future = self.crew.submit(self.target, task, patience)
            # Twice, because one task may wait for another on the same worker.
            in_all = 2 * patience * len(task.chunks)
            self.running[future] = _Running(task, time.monotonic(), in_all)

    def _collect(self, future: Future[list[Receipt]]) -> None:
        task = self.running.pop(future).task
        try:
            receipts = self.crew.receipts(future)
        except CancelledError:
            self.ledger.give_back(task)
        except LostError as error:
            if self._stopping():  # whatever stops the run stops workers too
                self.ledger.give_back(task)
            else:
                self._report_death(str(error))
                self.ledger.enter_death(task, self.target, str(error))
        else:
            for receipt in receipts:
                self.ledger.enter(receipt, self.target)
            unfinished = task.chunks[len(receipts) :]
            if unfinished:  # the worker was stopped, or is about to end
                self.ledger.give_back(Task(unfinished))

    def _update_limit(self) -> None:
        """Send workers the time limit of a chunk whenever it changes."""
        if self.limit != self.ledger.limit:
            self.limit = self.ledger.limit
            self.crew.set_limit(self.limit)
            self.limit_set_at = time.monotonic()

    def _report_few_chunks(self) -> None:
        """Notify the user, once, if the chunks of a long run are too few for its workers.

        A GPU computes adjacent chunks together, so their number matters little there.
        """
        is_young = self.ledger.elapsed < FEW_CHUNKS_SECONDS or not self.ledger.workers
        if is_young or self.few_chunks_reported:
            return
        self.few_chunks_reported = True
        n_shards = 1 if self.options.shard is None else self.options.shard[1]
        sweep, shape = self.target.sweep, self.target.chunk_shape
        n_points = sweep.n_points // n_shards
        n_chunks = prod(chunk_counts(sweep.computed_shape, shape))
        workers, n_chunks = self.crew.busy_workers(), -(-n_chunks // n_shards)
        points = points_of_more_chunks(n_points, n_chunks, workers)
        if points is not None and not self.crew.points_of_a_task:
            count = "1 chunk is" if n_chunks == 1 else f"{n_chunks:,} chunks are"
            self.crew.notify(
                f"{count} too few to keep {workers:,} workers busy: to use all of them, give "
                f"`chunk_points` of {points:,} or less and a new store"
            )

    def _report_silence(self) -> None:
        """Notify the user, once, if workers compute for long and no chunk gets done."""
        if self.silence_reported or self.ledger.slowest or not self.ledger.workers:
            return
        now = time.monotonic()
        self.silent_since = self.silent_since or now
        if now - self.silent_since > SILENT_SECONDS:
            self.silence_reported = True
            self.crew.notify(
                f"no chunk is done after {SILENT_SECONDS:.0f} s: chunks either take that long or "
                f"hang. A chunk that takes {self.ledger.limit / 3600:.3g} h is stopped and tried "
                "again after the others; for smaller chunks (`chunk_points`), use a new store"
            )

    def _kill_hanging(self) -> None:
        """Kill the workers of tasks that ignored their time limit."""
        now = time.monotonic()
        if not self.ledger.workers:  # tasks that wait for a worker are not timed
            for running in self.running.values():
                running.since = now
        for future, running in list(self.running.items()):
            end = running.since + running.patience * self.ledger.limit
            if now > max(end, self.limit_set_at) + GRACE_SECONDS:
                running.since = now
                if self.crew.kill(future):
                    del self.running[future]
                    why = "it hung, and was killed"
                    self.ledger.enter_death(running.task, self.target, why)

    def _report_death(self, why: str) -> None:
        """Notify the user of a dead worker: of the first, second, fourth, eighth and so on.

        A worker may have held several tasks, each of which is lost for the same reason.
        """
        if why in self.deaths:
            return
        self.deaths.add(why)
        n = len(self.deaths)
        if n & (n - 1) == 0:
            count = "a worker" if n == 1 else f"{n} workers so far"
            self.crew.notify(f"lost {count} ({why}): unfinished chunks are tried again")
