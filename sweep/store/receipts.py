"""Receipts: what was written when, where and how fast, as JSON lines next to a store.

They are advisory: no decision depends on them, and a line that makes no sense is skipped, for
example one torn by a killed process. The rate at which a store is being filled, and by whom,
follows from those of all processes, hosts and shards.
"""

from __future__ import annotations

import json
import math
import os
import socket
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, cast

from sweep.model.table import Status
from sweep.request.chunk import Chunk
from sweep.store.disk_faults import refuse_no_file, writing
from sweep.store.location import is_url
from sweep.store.lock import is_alive
from sweep.store.store_files import Files, beside

MIN_WINDOW_SECONDS = 60.0  # receipts that old still count for the rate
WINDOW_IN_CHUNKS = 3.0  # or this many times the slowest of the recent chunks, if that is longer
RECENT_RECEIPTS = 100
URL_SECONDS = 10.0  # how long receipts are collected there, as each flush is a request

Receipt = Mapping[str, Any]


class Receipts:
    """The receipts of all processes that write to a store; this process appends to its own."""

    def __init__(self, store: Files) -> None:
        self._files = beside(store, "log")
        self.location = str(self._files)
        self.accepted: Mapping[str, object] = {}  # the code that continues what other code made
        self._seconds = URL_SECONDS if is_url(str(store)) else 0.0
        self._collected: list[str] = []
        self._flushed = time.monotonic()
        self._guard = Lock()

    def append(self, receipt: Mapping[str, object]) -> None:
        """Add one line, with time, host and process; it may be collected for some seconds."""
        with self._guard:
            self._collected.append(_line({**receipt, **self.accepted}))
            due = time.monotonic() - self._flushed >= self._seconds
        if due:
            self.flush()

    def flush(self) -> None:
        """Write what has been collected; leaving the lock of the store does so, too."""
        with self._guard:
            if self._collected:
                _append(self._files, "".join(self._collected).encode())
                self._collected = []  # lines that cannot be written now are written later
            self._flushed = time.monotonic()

    def read(self) -> list[dict[str, Any]]:
        """All valid receipts of all processes, sorted by time; they are advisory."""
        self.flush()
        keys = sorted(key for key in self._files.list() if key.endswith(".jsonl"))
        texts = ((self._files.read(key) or b"").decode("utf-8", "replace") for key in keys)
        receipts = [receipt for text in texts for receipt in _valid_lines(text.splitlines())]
        return sorted(receipts, key=lambda receipt: str(receipt.get("time", "")))


def _append(files: Files, lines: bytes) -> None:
    """Add lines to the file of this process; at a URL, where nothing can be appended, to a new one.

    A file is not replaced: others may be reading it, which Windows and NFS would mind.
    """
    name = f"{socket.gethostname()}-{os.getpid()}"
    if is_url(folder := str(files)):
        files.put(f"{name}-{uuid.uuid4().hex}.jsonl", lines)
        return
    with writing(folder):
        Path(folder).mkdir(exist_ok=True)
        refuse_no_file(path := Path(folder, f"{name}.jsonl"))
        # Unbuffered, so that the lines are written by one call at the end of the file.
        with path.open("ab", buffering=0) as file:
            file.write(lines)


def _line(receipt: Mapping[str, object]) -> str:
    written = datetime.now(UTC).isoformat(timespec="milliseconds")
    signed = {"time": written, "host": socket.gethostname(), "pid": os.getpid(), **receipt}
    return json.dumps(signed) + "\n"


def _valid_lines(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            receipt = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(receipt, dict) and _is_valid(cast("dict[str, Any]", receipt)):
            yield receipt


def _is_valid(receipt: Mapping[str, Any]) -> bool:
    """Whether every key that is used somewhere has a value of the right type."""
    try:
        datetime.fromisoformat(receipt["time"])
        chunk, counts = receipt.get("chunk", []), receipt.get("counts", {})
        points = receipt["points"] if "error" in receipt else receipt.get("points", 0)
        return (
            all(isinstance(number, int) for number in (*chunk, *counts.values(), points))
            and isinstance(receipt.get("seconds", 0.0), (int, float))
            and isinstance(receipt["host"], str)
            and isinstance(receipt["pid"], int)
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return False


@dataclass(frozen=True)
class WritingProcess:
    """A process that has recently written to the store, all of its threads together."""

    host: str
    pid: int
    points_per_second: float | None
    seconds_ago: float  # since its last chunk


@dataclass(frozen=True)
class Flow:
    """The state of a run at one moment, from its receipts."""

    points_per_second: float | None  # None: nothing was written recently
    writers: Sequence[WritingProcess]  # the processes that have written recently
    counts: Mapping[Status, int]  # points by status, of the chunks that have a receipt
    errors: Mapping[str, int]  # failed points by error message


def is_writing(holders: Sequence[Receipt] | None) -> Callable[[Receipt], bool]:
    """Whether the process of a receipt may still write, given those that hold its store.

    A process outlives its run where Python called `sweep.run`. Whoever writes holds the store, or
    computes for a process that does, except at a URL, which nobody can hold (None).
    """
    return (lambda _: False) if holders == [] else is_alive


def of_done_chunks(receipts: Iterable[Receipt], done: Iterable[Chunk]) -> list[Receipt]:
    """Those of the receipts whose chunk is one of those that are done now.

    Others belong to chunks that are pending again, or to an earlier store in this place.
    """
    indices = {chunk.index for chunk in done}
    ndim = max(map(len, indices), default=0)  # the blocks of cells have one index more
    return [r for r in receipts if "chunk" in r and tuple(r["chunk"][:ndim]) in indices]


def flow(
    receipts: Sequence[Receipt],
    now: float,
    done_receipts: Sequence[Receipt] | None = None,
    alive: Callable[[Receipt], bool] = lambda _: True,
) -> Flow:
    """The flow at `now` (s, as time.time() gives it), from receipts sorted by time.

    Receipts of processes that are not `alive` count for no rate. Points are counted from
    `done_receipts`, those of chunks that are done; by default from all. A host
    whose clock is wrong distorts the rate and nothing else.
    """
    done_receipts = receipts if done_receipts is None else done_receipts
    slowest = max((float(r.get("seconds", 0.0)) for r in receipts[-RECENT_RECEIPTS:]), default=0.0)
    window = max(MIN_WINDOW_SECONDS, WINDOW_IN_CHUNKS * slowest)
    recent = [r for r in receipts if "points" in r and abs(now - _time(r)) <= window]
    by_writer: dict[tuple[str, int], list[Receipt]] = {}
    for receipt in recent:
        by_writer.setdefault((str(receipt["host"]), int(receipt["pid"])), []).append(receipt)
    living = [(name, own) for name, own in sorted(by_writer.items()) if alive(own[-1])]
    return Flow(
        points_per_second=_rate([each for _, own in living for each in own], now),
        writers=[
            WritingProcess(*name, _rate(own, now), max(now - _time(own[-1]), 0.0))
            for name, own in living
        ],
        counts=_counts(done_receipts),
        errors=errors(done_receipts),
    )


def latest_rate(
    receipts: Sequence[Receipt], now: float, alive: Callable[[Receipt], bool], *, finished: bool
) -> float | None:
    """Points per second at `now`, or when the store was last written to if nothing writes now."""
    current = flow(receipts, now, alive=alive)
    with_points = [receipt for receipt in receipts if "points" in receipt]
    if with_points and (finished or not current.writers):
        current = flow(receipts, _time(with_points[-1]))
    return current.points_per_second


def errors(receipts: Sequence[Receipt]) -> Mapping[str, int]:
    """The number of failed points by error message, the most frequent first."""
    total: Counter[str] = Counter()
    for receipt in _last_of_each_chunk(receipts):
        if "error" in receipt:
            total[str(receipt["error"])] += int(receipt["points"])
    return dict(total.most_common())


def by_kernel(receipts: Sequence[Receipt], own: str) -> Mapping[str, int]:
    """The number of points by the digest of the kernel, if receipts name another than `own`.

    It is 0 where receipts of earlier versions do not say of which chunks.
    """
    named = {str(r["kernel_digest"]) for r in receipts if "kernel_digest" in r} - {own}
    points = Counter[str]()
    for receipt in _last_of_each_chunk(receipts) if named else ():
        points[str(receipt.get("kernel_digest", own))] += int(receipt.get("points", 0))
    kernels = (own, *sorted(named)) if named else ()
    return {each: points[each] for each in kernels if each != own or points[own] or not points}


def _time(receipt: Receipt) -> float:
    return datetime.fromisoformat(str(receipt["time"])).timestamp()


def _rate(receipts: Sequence[Receipt], now: float) -> float | None:
    """Points per second since the first of these chunks was begun; None without any.

    Breaks do not count, in which none of the processes had begun or all had written their last.
    """
    spans: dict[tuple[object, object], tuple[float, float]] = {}  # by process
    for receipt in receipts:
        end, process = _time(receipt), (receipt["host"], receipt["pid"])
        first, last = spans.get(process, (math.inf, -math.inf))
        began = end - float(receipt.get("seconds", 0.0))
        spans[process] = (min(first, began), max(last, end))
    span, until = 0.0, -math.inf
    for first, last in sorted(spans.values()):
        span += max(last - max(first, until), 0.0)
        until = max(until, last)
    span += max(now - until, 0.0) if receipts else 0.0
    return sum(int(r["points"]) for r in receipts) / span if span > 0 else None


def _counts(receipts: Sequence[Receipt]) -> Mapping[Status, int]:
    total: Counter[str] = Counter()
    for receipt in _last_of_each_chunk(receipts):
        total.update(receipt["counts"])
    return {status: total[status.name] for status in Status if total[status.name]}


def _last_of_each_chunk(receipts: Sequence[Receipt]) -> list[Receipt]:
    """A chunk that was computed again has several receipts, of which the last one counts."""
    return list({tuple(r["chunk"]): r for r in receipts if {"chunk", "counts"} <= set(r)}.values())
