"""Computing a refined sweep from the coarse grid to the last pass, in stores or in memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event

from sweep.backends import open_backend as open_backend_by_name
from sweep.engine.crew_choice import crew_for
from sweep.engine.crews import Crew, Notify, OpenBackend
from sweep.engine.driver import open_store, provenance, run_in_store
from sweep.engine.ledger import Progress, Results, Summary
from sweep.engine.loop import Report
from sweep.engine.loop import run as run_engine
from sweep.errors import SweepError
from sweep.options import RunOptions
from sweep.refine.refiner import Arrays, Refiner, as_stored, is_outdated
from sweep.request import Request, Sweep
from sweep.spec import Status
from sweep.store import MemoryResults, PassFolder, Store, anything_at
from sweep.store.upkeep import clean, failed


def run_in_stores(
    request: Request,
    path: str,
    report: Report | None = None,
    stop: Event | None = None,
    notify: Notify | None = None,
    open_backend: OpenBackend = open_backend_by_name,
) -> tuple[Store, Summary]:
    """The store at `path` with every point of a refined sweep, and a summary of this run.

    If the run is stopped in a pass, the store of that pass. What is there already is kept, and
    the refinement resumes from it. StoreError if the store is held or holds something else.
    """
    refuse_shard(request)
    folder = PassFolder(path)
    finished = _finished(request, path, folder)
    if finished is None:
        open_store(request, folder[0])  # raises what is wrong before anything is held
        # The crew stays for all passes: the jobs of a cluster wait in a queue only once.
        with folder.lock(), crew_for(request.options, open_backend, notify) as crew:
            finished = _finished(request, path, folder)
            if finished is None:
                account = Account(request.options, report)
                refiner, last = _refined(request, folder, account, stop, crew)
                kept = last or _assembled(refiner, request, path, folder)
                return kept, account.summary()
    summary = run_in_store(finished, request, report, stop, notify, open_backend)
    # Passes may be left behind if their removal was killed, or if another run was quicker.
    if folder.exists() and not failed(finished):
        with folder.lock():
            folder.remove()
    return finished, summary


def run_in_memory(
    request: Request, report: Report | None = None, stop: Event | None = None
) -> MemoryResults:
    """Every point of a refined sweep; if stopped in a pass, the points of that pass."""
    assert request.refinement is not None
    account = Account(request.options, report)
    refiner = Refiner(request.sweep, request.refinement)
    while (sweep := refiner.sweep) is not None:
        results = in_memory(sweep, request)
        summary = run_engine(results, account.options(), account.report, stop)
        if account.enter(summary, sweep.n_points).stopped:
            return results
        refiner.enter(results.dataset())
    sweep, arrays = refiner.result()
    results = in_memory(sweep, request)
    _fill(results, arrays)
    return results


def refuse_shard(request: Request) -> None:
    """SweepError if the request is for a shard: a refined sweep has none."""
    if request.options.shard is not None:
        raise SweepError(
            "`shard` excludes [refine], because each pass depends on all chunks of the one before; "
            "use `workers`, or `cluster` for several machines"
        )


def first_pass(request: Request, path: str | Path) -> tuple[Request, str | Path]:
    """The request and path of the finished refined sweep if that exists, else of its pass 0."""
    if not anything_at(path):
        return request, PassFolder(path)[0]
    assert request.refinement is not None
    stored = Store.open(path).sweep
    return replace(request, sweep=as_stored(request.sweep, request.refinement, stored)), path


def in_memory(sweep: Sweep, request: Request) -> MemoryResults:
    """The results of a sweep of the request, all pending."""
    points = request.options.chunk_points
    return MemoryResults(sweep, chunk_points=points, provenance=provenance(request))


def _finished(request: Request, path: str, folder: PassFolder) -> Store | None:
    """The store of the refined sweep, if it exists and its passes have nothing to add.

    StoreError, with the differences named, if it is the store of another sweep.
    """
    if not anything_at(path):
        return None
    store = open_store(first_pass(request, path)[0], path)
    again = request.options.retry_failed and failed(store)
    return None if again or (store.pending() and folder.exists()) else store


def _refined(
    request: Request, folder: PassFolder, account: Account, stop: Event | None, crew: Crew
) -> tuple[Refiner, Store | None]:
    """Compute all passes; if the run is stopped, also returns the store of the pass it was in."""
    assert request.refinement is not None
    refiner = Refiner(request.sweep, request.refinement)
    while (sweep := refiner.sweep) is not None:
        store = _pass(replace(request, sweep=sweep), refiner.number, folder)
        remaining = replace(request, options=account.options())
        summary = run_in_store(store, remaining, account.report, stop, crew=crew)
        if account.enter(summary, sweep.n_points).stopped:
            return refiner, store
        refiner.enter(store.dataset())
    return refiner, None


def _pass(request: Request, number: int, folder: PassFolder) -> Store:
    """The store of a pass; recreated if the points it followed from were computed again."""
    path = folder[number]
    if number and anything_at(path) and is_outdated(Store.open(path).sweep, request.sweep):
        folder.remove(start=number)
    kept = open_store(request, path)
    if not request.options.accept_revision:  # even a pass that is done: others follow from it
        kept.made_by.refuse_other_code()
    return kept


def _assembled(refiner: Refiner, request: Request, path: str, folder: PassFolder) -> Store:
    """The store with the points of all passes; passes are removed unless a point has failed."""
    folder.remove_store()
    sweep, arrays = refiner.result()
    made_by = Store.open(folder[0]).made_by.kernel_digest
    kept = Store.create(
        path,
        sweep,
        chunk_points=request.options.chunk_points,
        provenance={**provenance(request), "kernel_digest": made_by},
        accept_revision=request.options.accept_revision,
        durable=request.options.durable,
    )
    _fill(kept, arrays)
    if kept.receipts.accepted:  # the values of another kernel
        kept.append_receipt({})
    clean(kept)
    if not (arrays["status"] == Status.failed).any():
        folder.remove()
    return kept


def _fill(results: Results, arrays: Arrays) -> None:
    for chunk in results.pending():
        (part,) = chunk.slices
        results.write(chunk, {name: values[part] for name, values in arrays.items()})


@dataclass
class Account:
    """What the passes of a run have done together."""

    run_options: RunOptions
    caller_report: Report | None
    summaries: list[Summary] = field(default_factory=list[Summary])
    points_before: int = 0  # of the finished passes

    def options(self) -> RunOptions:
        """The options of the next pass, with what is left of the time limit."""
        if self.run_options.time_limit is None:
            return self.run_options
        spent = sum(summary.wall_seconds for summary in self.summaries)
        return replace(self.run_options, time_limit=self.run_options.time_limit - spent)

    def report(self, progress: Progress) -> None:
        """Report the progress of a pass, with earlier passes included; later ones are unknown."""
        if self.caller_report:
            before = self.points_before
            done, total = progress.points_done + before, progress.points_total + before
            self.caller_report(replace(progress, points_done=done, points_total=total))

    def enter(self, summary: Summary, points: int) -> Summary:
        """Add the summary of a pass over that many points, and return it."""
        self.summaries.append(summary)
        self.points_before += 0 if summary.stopped else points
        return summary

    def summary(self) -> Summary:
        """The summary of all passes of this run."""
        counts, stopped = Counter[Status](), self.summaries[-1].stopped
        for each in self.summaries:
            counts.update(each.counts)
        return Summary(
            points=sum(each.points for each in self.summaries),
            chunks=sum(each.chunks for each in self.summaries),
            counts=dict(counts),
            wall_seconds=sum(each.wall_seconds for each in self.summaries),
            kernel_seconds=sum(each.kernel_seconds for each in self.summaries),
            workers=max(each.workers for each in self.summaries),
            backend=next((each.backend for each in self.summaries if each.backend), ""),
            stopped=stopped,
            points_before=self.points_before if stopped else 0,
        )
