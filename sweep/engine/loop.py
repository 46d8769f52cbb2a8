"""The loop that runs a sweep: pending chunks, in tasks, through an executor, into the results.

At most a few tasks a worker are submitted at once, so memory and what a stop costs do not grow with
the sweep. A worker writes each chunk when it is done; the loop only counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import AbstractContextManager
from functools import partial
from threading import Event

from sweep.backends import Backend, open_backend
from sweep.engine.crews import Crew, Lost, Threads, needs_backend_here, refuse_in_worker_process
from sweep.engine.ledger import Ledger, Progress, Receipt, Results, Summary, of_shard
from sweep.engine.processes import KeptCrew, process_crew
from sweep.options import RunOptions, consistent
from sweep.plan import chunk_counts, chunks, points
from sweep.spec import Chunk, Sweep, Task

REPORT_SECONDS = 0.25
SILENT_SECONDS = 300.0  # of workers, without a chunk done, before that is told
GRACE_SECONDS = 10.0  # beyond its patience, before a worker that says nothing is killed

Report = Callable[[Progress], None]


def run(
    results: Results,
    options: RunOptions | None = None,
    report: Report | None = None,
    stop: Event | None = None,
    tell: Callable[[str], None] | None = None,
    kept: KeptCrew | None = None,
) -> Summary:
    """Compute whatever is pending and write it; returns when all is done, or soon after `stop`.

    `report` is called from this thread a few times a second, `tell` with a line on workers
    elsewhere. A chunk that fails three times gets the status `failed`, and the run goes on;
    SweepError is raised for what the request or the machine is to blame for, with the finished
    chunks kept. Where nothing is pending, no backend is opened: finished results need no compiler.
    Processes, if any, are those of `kept`, and end with it.
    """
    options = consistent(options or RunOptions())
    refuse_in_worker_process(options)
    ledger = _ledger(results, options)
    if not ledger.pending:
        if report:
            report(ledger.progress())
        return ledger.summary(backend="")
    stopping = _Stop(stop or Event())
    backend = _prepared(results.sweep, ledger.pending[0], options)
    tell = tell or _silent
    begin = partial(process_crew, results, open_backend, options, tell)
    if options.cluster is None and backend is not None:
        most = len(ledger.pending)  # more workers would have nothing to do
        entered: AbstractContextManager[Crew] = Threads(results, backend, stopping, options, most)
    else:
        entered = kept.at_work_on(results, begin) if kept else begin()
    with entered as crew:
        ledger.see(crew.workers())
        ledger.start()
        try:
            watch = _Watch(crew, ledger, tell)
            _loop(watch, crew, results, ledger, stopping, report, options.time_limit)
        except BaseException:  # Ctrl-C, too: no worker goes on by itself
            crew.halt()
            raise
        ledger.end()
    return ledger.summary(backend.description if backend else crew.description)


def _prepared(sweep: Sweep, first: Chunk, options: RunOptions) -> Backend | None:
    """The backend of this process, compiled for a chunk; None where workers have their own."""
    if not needs_backend_here(options):
        return None
    backend = open_backend(options.backend)
    backend.prepare(sweep, points(sweep, first))
    return backend


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
    """Those of some chunks of the results that a shard is in charge of; without a shard, all."""
    if shard is None:
        return list(some)
    counts = chunk_counts(results.sweep.shape, results.chunk_shape)
    return of_shard(some, counts, *shard)


class _Stop(Event):
    """Set by a time limit, an error, or the caller's own event, which is left as it is."""

    def __init__(self, asked: Event) -> None:
        super().__init__()
        self._asked = asked

    def is_set(self) -> bool:
        return super().is_set() or self._asked.is_set()


def _loop(
    watch: _Watch,
    crew: Crew,
    results: Results,
    ledger: Ledger,
    stop: _Stop,
    report: Report | None,
    time_limit: float | None,
) -> None:
    running: set[Future[list[Receipt]]] = set()
    while True:
        if time_limit is not None and ledger.elapsed > time_limit and not stop.is_set():
            ledger.stopped = "time limit"
            stop.set()
        if ledger.stopped == "failure":
            stop.set()
        if stop.is_set():
            running = watch.halted(running)
        else:
            ledger.see(crew.workers())
            watch.tell_limit()
            watch.tell_silence()
            for future in watch.killed():
                running.discard(future)
                ledger.enter_death(watch.back(future), results, "it hung, and was killed")
            while (task := ledger.next_task(len(running))) is not None:
                running.add(watch.submit(task))
        if report:
            report(ledger.progress())
        if not running:
            break
        done, running = wait(running, timeout=REPORT_SECONDS, return_when=FIRST_COMPLETED)
        for future in done:
            _enter(crew, future, watch.back(future), results, ledger, stop)
    if not ledger.unfinished:  # the time limit may have come when all was done
        ledger.stopped = "" if ledger.stopped != "failure" else "failure"
    elif not ledger.stopped:
        ledger.stopped = "asked"


def _enter(
    crew: Crew,
    future: Future[list[Receipt]],
    task: Task,
    results: Results,
    ledger: Ledger,
    stop: Event,
) -> None:
    try:
        receipts = crew.receipts(future)
    except CancelledError:
        ledger.give_back(task)
    except Lost as error:
        if stop.is_set():  # what stops the run stops workers too
            ledger.give_back(task)
        else:
            ledger.enter_death(task, results, str(error))
    else:
        for receipt in receipts:
            ledger.enter(receipt, results)
        left = task.chunks[len(receipts) :]
        if left:  # the worker was stopped, or is to end
            ledger.give_back(Task(left))


class _Watch:
    """Which task each future is, since when, and how long it may take as far as is known.

    Workers end what takes too long themselves; those that do not are killed.
    """

    def __init__(self, crew: Crew, ledger: Ledger, tell: Callable[[str], None]) -> None:
        self._crew = crew
        self._ledger = ledger
        self._tell = tell
        self._tasks: dict[Future[list[Receipt]], Task] = {}
        self._since: dict[Future[list[Receipt]], float] = {}
        self._limits: dict[Future[list[Receipt]], float] = {}  # how many times the limit
        self._limit: float | None = None
        self._told_at = 0.0  # the limit
        self._silent_since: float | None = None
        self._silence_told = False
        self._halted_at: float | None = None

    def submit(self, task: Task) -> Future[list[Receipt]]:
        patience = self._ledger.patience(task)
        future = self._crew.submit(task, patience)
        self._tasks[future] = task
        self._since[future] = time.monotonic()
        # One task may wait for another on the same worker.
        self._limits[future] = 2 * patience * len(task.chunks)
        return future

    def back(self, future: Future[list[Receipt]]) -> Task:
        del self._since[future], self._limits[future]
        return self._tasks.pop(future)

    def tell_limit(self) -> None:
        """Workers hear how long a chunk may take, as soon as more is known."""
        if self._limit != self._ledger.limit:
            self._limit = self._ledger.limit
            self._crew.set_limit(self._limit)
            self._told_at = time.monotonic()

    def tell_silence(self) -> None:
        """A line, once, when workers have been computing for long and no chunk is done."""
        if self._silence_told or self._ledger.slowest or not self._ledger.workers:
            return
        now = time.monotonic()
        self._silent_since = self._silent_since or now
        if now - self._silent_since > SILENT_SECONDS:
            self._silence_told = True
            self._tell(
                f"no chunk is done after {SILENT_SECONDS:.0f} s: they take that long, or hang. One "
                f"that takes {self._ledger.limit / 3600:.3g} h is stopped, and tried again after "
                "others; smaller ones (--chunk-points) take a store made anew"
            )

    def killed(self) -> list[Future[list[Receipt]]]:
        """Tasks that neither came back nor heard that they should; their workers are ended."""
        now = time.monotonic()
        if not self._ledger.workers:  # they wait for one
            self._since = dict.fromkeys(self._since, now)
        late = [future for future in self._since if now > self._end(future)]
        for future in late:
            self._since[future] = now
        return [future for future in late if self._crew.kill(future)]

    def _end(self, future: Future[list[Receipt]]) -> float:
        end = self._since[future] + self._limits[future] * self._ledger.limit
        return max(end, self._told_at) + GRACE_SECONDS

    def halted(self, running: set[Future[list[Receipt]]]) -> set[Future[list[Receipt]]]:
        """The tasks still waited for after a stop: none, once that has taken too long.

        Nor where no worker is there to bring them back.
        """
        self._halted_at = self._halted_at or time.monotonic()
        if not self._ledger.workers:
            return set()
        if running:
            self._crew.halt()
        return running if time.monotonic() - self._halted_at < self._crew.stop_seconds else set()


def _silent(_line: str) -> None:
    """Nobody listens."""
