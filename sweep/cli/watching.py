"""`sweep status --watch`: the state of a store, repeated until it is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any

from sweep.cli.contents import counts_json, print_errors, print_statuses
from sweep.cli.printing import print_first, print_object
from sweep.wording import duration, rate, share

if TYPE_CHECKING:
    from sweep.spec import Status
    from sweep.store import Remaining, Store
    from sweep.store.receipts import Flow

SECONDS = 2.0  # between two looks
SLICE_SECONDS = 0.05  # between two looks whether to stop
MAX_LOOKING_SHARE = 0.2  # of the time, if a look takes long
CLEAR = "\x1b[2J\x1b[H"


def watch(store: Store, stop: Event, *, as_json: bool) -> None:
    """Print rate, time left, failures and workers until all is done, or `stop` is set."""
    from sweep.store import remaining

    sentences = store.sweep.model.sentences
    while (left := remaining(store := store.refreshed())).points_left and not stop.is_set():
        began = time.monotonic()
        look = Look.of(store, left)
        if as_json:
            print_object("status", **look.as_json(sentences))
        else:
            look.show(sentences)
        looked = time.monotonic()
        _pause(looked + max(SECONDS, (looked - began) / MAX_LOOKING_SHARE), stop)


def _pause(until: float, stop: Event) -> None:
    """Wait, not in `stop.wait`: a signal that sets `stop` would wait there for itself for ever."""
    while time.monotonic() < until and not stop.is_set():
        time.sleep(SLICE_SECONDS)


@dataclass(frozen=True)
class Look:
    """The state of a store at one moment."""

    points_done: int
    points_total: int
    seconds_left: float | None
    flow: Flow

    @classmethod
    def of(cls, store: Store, remainder: Remaining) -> Look:
        """The present state, with what is left to compute."""
        from sweep.store.receipts import flow, is_writing

        receipts = store.receipts()
        alive = is_writing(store.holders())
        current_flow = flow(receipts, time.time(), store.done_receipts(receipts), alive)
        total, left = remainder.points_total, remainder.points_left
        pace = current_flow.points_per_second
        return cls(total - left, total, left / pace if pace else None, current_flow)

    def as_json(self, sentences: Mapping[Status, str]) -> dict[str, Any]:
        """The state for JSON, with the sentence of each status."""
        flow = self.flow
        return {
            "points_done": self.points_done,
            "points_total": self.points_total,
            "points_per_second": flow.points_per_second,
            "seconds_left": self.seconds_left,
            "workers": len(flow.writers),
            "writers": [vars(writer) for writer in flow.writers],
            "status": counts_json(flow.counts, sentences),
            "errors": flow.errors,
        }

    def show(self, sentences: Mapping[Status, str]) -> None:
        """Print the state; on a terminal it replaces the last one."""
        if sys.stdout.isatty():
            print(CLEAR, end="")
        done, total, flow = self.points_done, self.points_total, self.flow
        words = "no process is writing"
        if flow.points_per_second and self.seconds_left is not None:
            writers = "1 process" if len(flow.writers) == 1 else f"{len(flow.writers)} processes"
            words = (
                f"{rate(flow.points_per_second)} by {writers}, {duration(self.seconds_left)} left"
            )
        print(f"{done:,} of {total:,} points done ({share(done / total)}); {words}")
        lines: list[str] = []
        for each in flow.writers:
            pace = f"{rate(each.points_per_second)}, " if each.points_per_second else ""
            ago = f"last chunk {duration(each.seconds_ago)} ago"
            lines.append(f"process {each.pid} on {each.host}: {pace}{ago}")
        print_first(lines, "processes")
        if flow.counts:
            print_statuses(flow.counts, sentences, total=total)
        print_errors(flow.errors)
        sys.stdout.flush()
