"""Who writes to a store now and how fast, from its receipts: all processes, hosts and shards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sweep.spec import Status

LEAST_SECONDS = 60.0  # looked back
CHUNKS_BACK = 3.0  # and at least as long as so many of the slowest chunks lately took
LATELY = 100  # receipts


Receipt = Mapping[str, Any]


@dataclass(frozen=True)
class Writer:
    """A process that has written lately: one of a run's, its threads together."""

    host: str
    pid: int
    points_per_second: float | None
    seconds_ago: float  # since its last chunk


@dataclass(frozen=True)
class Flow:
    """What receipts tell of the moment."""

    points_per_second: float | None  # None: nobody has written lately
    writers: Sequence[Writer]  # those that have written lately
    counts: Mapping[Status, int]  # points by status, of the chunks that have a receipt
    errors: Mapping[str, int]  # points that have failed, by what went wrong


def flow(receipts: Sequence[Receipt], now: float, of_done: Sequence[Receipt] | None = None) -> Flow:
    """The flow at `now` (s, as of time.time()), from receipts in the order of their times.

    Points are counted from those of chunks that are done, all if nothing else is said. A clock
    that differs costs no more than a wrong pace.
    """
    of_done = receipts if of_done is None else of_done
    slowest = max((float(r.get("seconds", 0.0)) for r in receipts[-LATELY:]), default=0.0)
    back = max(LEAST_SECONDS, CHUNKS_BACK * slowest)
    recent = [r for r in receipts if "points" in r and abs(now - _time(r)) <= back]
    by_writer: dict[tuple[str, int], list[Receipt]] = {}
    for receipt in recent:
        by_writer.setdefault((str(receipt["host"]), int(receipt["pid"])), []).append(receipt)
    return Flow(
        points_per_second=_pace(recent, now),
        writers=[
            Writer(*name, _pace(own, now), max(now - _time(own[-1]), 0.0))
            for name, own in sorted(by_writer.items())
        ],
        counts=_counts(of_done),
        errors=errors(of_done),
    )


def _time(receipt: Receipt) -> float:
    return datetime.fromisoformat(str(receipt["time"])).timestamp()


def _pace(receipts: Sequence[Receipt], now: float) -> float | None:
    """Points a second since the first of these chunks was begun; None without any."""
    if not receipts:
        return None
    began = min(_time(r) - float(r.get("seconds", 0.0)) for r in receipts)
    span = max(now, *map(_time, receipts)) - began
    return sum(int(r["points"]) for r in receipts) / span if span > 0 else None


def _last(receipts: Sequence[Receipt]) -> list[Receipt]:
    """The last receipt of each chunk: it may have been computed again."""
    return list({tuple(r["chunk"]): r for r in receipts if {"chunk", "counts"} <= set(r)}.values())


def _counts(receipts: Sequence[Receipt]) -> Mapping[Status, int]:
    total: Counter[str] = Counter()
    for receipt in _last(receipts):
        total.update(receipt["counts"])
    return {status: total[status.name] for status in Status if total[status.name]}


def errors(receipts: Sequence[Receipt]) -> Mapping[str, int]:
    """The points that have failed, by what went wrong, the most frequent first."""
    total: Counter[str] = Counter()
    for receipt in _last(receipts):
        if "error" in receipt:
            total[str(receipt["error"])] += int(receipt["points"])
    return dict(total.most_common())
