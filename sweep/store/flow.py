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


@dataclass(frozen=True)
class Flow:
    """What receipts tell of the moment."""

    points_per_second: float | None  # None: nobody has written lately
    workers: int  # processes that have written lately
    counts: Mapping[Status, int]  # points by status, of the chunks that have a receipt


def flow(receipts: Sequence[Mapping[str, Any]], now: float) -> Flow:
    """The flow at `now` (s, as of time.time()), from receipts in the order of their times.

    A clock that differs costs no more than a wrong pace.
    """
    slowest = max((float(r.get("seconds", 0.0)) for r in receipts[-LATELY:]), default=0.0)
    back = max(LEAST_SECONDS, CHUNKS_BACK * slowest)
    recent = [(_time(r), r) for r in receipts if "points" in r and abs(now - _time(r)) <= back]
    began = min((when - float(r.get("seconds", 0.0)) for when, r in recent), default=now)
    span = max(now, *(when for when, _ in recent)) - began if recent else 0.0
    points = sum(int(r["points"]) for _, r in recent)
    return Flow(
        points_per_second=points / span if span > 0 else None,
        workers=len({(r.get("host"), r.get("pid")) for _, r in recent}),
        counts=_counts(receipts),
    )


def _time(receipt: Mapping[str, Any]) -> float:
    return datetime.fromisoformat(str(receipt["time"])).timestamp()


def _counts(receipts: Sequence[Mapping[str, Any]]) -> Mapping[Status, int]:
    """By the last receipt of each chunk: it may have been computed again."""
    last = {tuple(r["chunk"]): r["counts"] for r in receipts if {"chunk", "counts"} <= set(r)}
    total: Counter[str] = Counter()
    for counts in last.values():
        total.update(counts)
    return {status: total[status.name] for status in Status if total[status.name]}
