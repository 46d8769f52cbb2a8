"""`sweep status`: what is done, what is pending, and what to do next."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import typer

from sweep.cli.actions.contents import (
    counts_json,
    look_command,
    next_command,
    print_errors,
    print_statuses,
)
from sweep.cli.printing import counted, print_first, print_json, print_object
from sweep.cli.stopping import StopRequest
from sweep.errors import MachineError
from sweep.model.table import Status
from sweep.request.sweeps import Reduced
from sweep.results.summary import StoreState, running, state
from sweep.store import Remaining, Store, anything_at, remaining
from sweep.store.lock import holders
from sweep.store.receipts import Flow, flow, is_writing, of_done_chunks
from sweep.store.upkeep import verify as verified
from sweep.text.wording import duration, rate, share

SECONDS_BETWEEN_LOOKS = 2.0  # with --watch
SLICE_SECONDS = 0.05  # between two looks whether to stop
MAX_WAIT_FOR_STORE = 600.0  # s, with --watch: a run compiles its kernel first
MAX_LOOKING_SHARE = 0.2  # of the time, if a look takes long
CLEAR = "\x1b[2J\x1b[H"


def print_status(store: str, *, verify: bool, watch: bool, as_json: bool) -> int:
    """Print the state of a store, repeatedly with `watch`; return the exit status."""
    if watch:
        with StopRequest(note=b"") as stop:  # nothing is computed, so nothing can be lost
            stop.computing = True
            wait_for_store(store, stop.event)
            watch_store(Store.open(store), stop.event, as_json=as_json)
        if stop.signal:
            raise typer.Exit(stop.exit_status)
    opened = Store.open(store)
    damaged = list(_verified(opened)) if verify else None
    store_state = state(opened, damaged=bool(damaged))
    if as_json:
        figures = _state_json(opened, store_state, damaged)
        if watch:  # one line, like those before
            print_object("summary", **figures)
        else:
            print_json(figures)
    else:
        _print_state(store_state)
        print_statuses(
            store_state.counts,
            opened.sweep.points.model.sentences,
            store_state.causes,
            cells=math.prod(opened.sweep.grid.shape) if isinstance(opened.sweep, Reduced) else None,
        )
        print_errors(store_state.errors, opened.receipts.location)
        _print_kernels(store_state.kernels, opened)
        if damaged is not None:
            _print_damage(damaged)
        print(f"next: {_after(store, opened, store_state, damaged or [])}")
    return 1 if damaged or store_state.counts.get(Status.failed) else 0


@dataclass(frozen=True)
class Damage:
    """A damaged file, and the points of its chunk."""

    file: str
    points: int
    slices: Mapping[str, tuple[int, int]]  # by dimension: first index, and one past the last
    is_folder: bool  # which no run overwrites

    def __str__(self) -> str:
        places = (f", {name}[{start}:{end}]" for name, (start, end) in self.slices.items())
        folder = "; there is a folder in its place" if self.is_folder else ""
        return f"{self.file}: {counted(self.points, 'point')}{''.join(places)}{folder}"


def _verified(store: Store) -> Iterator[Damage]:
    """Every damaged file; the next run computes their chunks again if the store is writable."""
    chunks = verified(store)
    with suppress(MachineError):  # a read-only store can still be verified
        store.chunk_files.note_damage(chunks)
    for chunk in chunks:
        ends = [(part.start, part.stop) for part in chunk.slices]
        slices = dict(zip(store.sweep.grid.dimensions, ends, strict=True))
        for file in store.chunk_files.damaged(chunk):
            yield Damage(file, chunk.n_points, slices, Path(file).is_dir())


def _state_json(
    store: Store, store_state: StoreState, damaged: list[Damage] | None
) -> dict[str, Any]:
    sentences = store.sweep.points.model.sentences
    statuses = counts_json(store_state.counts, sentences, store_state.causes)
    figures = {
        key: value for key, value in vars(store_state).items() if key not in ("counts", "causes")
    }
    files = None if damaged is None else [vars(each) for each in damaged]
    return {"store": store.location, **figures, "status": statuses, "damaged": files}


def _print_state(store_state: StoreState) -> None:
    done, total = store_state.points_done, store_state.points_total
    print(
        f"{done:,} of {counted(total, 'point')} done ({share(done / total)}), "
        f"{store_state.chunks_done:,} of {counted(store_state.chunks_total, 'chunk')}"
    )
    if done < total:
        print(
            f"running now: {', '.join(store_state.running)}"
            if store_state.running
            else "no run is live"
        )
    if store_state.points_per_second:
        time_left = (
            f", {duration(store_state.seconds_left or 0)} left at that rate" if done < total else ""
        )
        print(f"{rate(store_state.points_per_second)} when last written{time_left}")
    if store_state.last_written:
        print(f"last chunk written {store_state.last_written[:19].replace('T', ' ')} UTC")


def _print_kernels(kernels: Mapping[str, int], store: Store) -> None:
    """Print how many points each kernel has computed, if receipts name another than the store's."""
    if not kernels:
        return
    print("--accept-revision has let other kernels than the store's compute:")
    for digest, points in kernels.items():
        whose = ", the store's" if digest == store.made_by.kernel_digest else ""
        print(f"  {counted(points, 'point') if points else 'some points'} by {digest}{whose}")
    print(f"which chunks: {store.receipts.location}")


def _print_damage(damaged: list[Damage]) -> None:
    heading = f"{len(damaged):,} files are damaged:"
    print({0: "no chunk is damaged", 1: "1 file is damaged:"}.get(len(damaged), heading))
    for each in damaged:
        print(f"  {each}")


def _after(name: str, store: Store, store_state: StoreState, damaged: list[Damage]) -> str:
    is_done = store_state.points_done == store_state.points_total
    if not damaged and is_done and not store_state.may_grow:
        return look_command(name, store.sweep, store_state.counts)
    if store_state.running:
        return f"{next_command('status --watch', name)} (shows the progress of the run)"
    what = "computes these chunks again" if damaged else "resumes"
    then = f"{next_command('run', name)} ({what})"
    folders = [each.file for each in damaged if each.is_folder]
    place = folders[0] if len(folders) == 1 else "these folders"
    return f"move {place} out of the store; then {then}" if folders else then


def wait_for_store(path: str, stop: Event) -> None:
    """Wait until a store is there, at most MAX_WAIT_FOR_STORE, or `stop` is set."""
    end, noted = time.monotonic() + MAX_WAIT_FOR_STORE, False
    while not anything_at(path):
        if stop.is_set() or time.monotonic() > end:
            return
        if not noted:
            limit = f"{MAX_WAIT_FOR_STORE / 60:.0f} min"
            note = f"no store {path!r} yet: waiting up to {limit} for a run to make it"
            print(note, file=sys.stderr, flush=True)
        noted = True
        _pause(SECONDS_BETWEEN_LOOKS, stop)


def watch_store(store: Store, stop: Event, *, as_json: bool) -> None:
    """Print rate, time left, failures and workers until all is done, or `stop` is set."""
    sentences = store.sweep.points.model.sentences
    while not stop.is_set():
        began = time.monotonic()
        left = remaining(store := Store.open(store.location))
        flow = flow_of(store)
        processes = running(holders(store.location), flow)
        if not left.points_left and not (store.may_grow and processes):
            return
        if as_json:
            print_object("status", **flow_json(left, flow, processes, sentences))
        else:
            _print_flow(left, flow, processes, sentences)
        looking = time.monotonic() - began
        _pause(max(SECONDS_BETWEEN_LOOKS, looking / MAX_LOOKING_SHARE), stop)


def _pause(seconds: float, stop: Event) -> None:
    """Wait so long, or until `stop` is set.

    Not in `stop.wait`: a signal that sets `stop` would wait there for itself for ever.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end and not stop.is_set():
        time.sleep(SLICE_SECONDS)


def flow_of(store: Store) -> Flow:
    """What its processes are writing at this moment, and the points of chunks that are done."""
    receipts = store.receipts.read()
    done = of_done_chunks(receipts, store.done())
    return flow(receipts, time.time(), done, is_writing(holders(store.location)))


def flow_json(
    left: Remaining, flow: Flow, processes: Sequence[str], sentences: Mapping[Status, str]
) -> dict[str, Any]:
    """What `--watch` prints of a store, of whose processes some may not have written yet."""
    pace = flow.points_per_second
    return {
        "points_done": left.points_total - left.points_left,
        "points_total": left.points_total,
        "points_per_second": pace,
        "seconds_left": left.points_left / pace if pace else None,
        "workers": len(processes),
        "running": processes,
        "writers": [vars(writer) for writer in flow.writers],
        "status": counts_json(flow.counts, sentences),
        "errors": flow.errors,
    }


def _print_flow(
    left: Remaining, flow: Flow, processes: Sequence[str], sentences: Mapping[Status, str]
) -> None:
    """Print the state of a store; on a terminal it replaces the last one."""
    if sys.stdout.isatty():
        print(CLEAR, end="")
    total, pace = left.points_total, flow.points_per_second
    done = total - left.points_left
    words = f"running now: {', '.join(processes)}" if processes else "no run is live"
    if pace:
        writers = "1 process" if len(flow.writers) == 1 else f"{len(flow.writers)} processes"
        words = f"{rate(pace)} by {writers}, {duration(left.points_left / pace)} left"
    print(f"{done:,} of {total:,} points done ({share(done / total)}); {words}")
    lines: list[str] = []
    for each in flow.writers:
        own_pace = f"{rate(each.points_per_second)}, " if each.points_per_second else ""
        ago = f"last chunk {duration(each.seconds_ago)} ago"
        lines.append(f"process {each.pid} on {each.host}: {own_pace}{ago}")
    print_first(lines, "processes")
    if flow.counts:
        print_statuses(flow.counts, sentences, total=total)
    print_errors(flow.errors)
    sys.stdout.flush()
