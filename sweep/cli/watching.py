"""`sweep status --watch`: a store looked at again and again, until it is done."""

from __future__ import annotations

import sys
import time
from threading import Event
from typing import TYPE_CHECKING, Any

from sweep.cli.contents import counts_json, print_statuses
from sweep.cli.printing import duration, rate, share
from sweep.cli.progress import print_object

if TYPE_CHECKING:
    from sweep.store import Store

SECONDS = 2.0  # between looks
LOOKING_SHARE = 0.2  # of the time at most, where a look takes long
CLEAR = "\x1b[2J\x1b[H"


def watch(store: Store, stop: Event, *, as_json: bool) -> None:
    """Shows pace, time left, failures and workers until all is done, or `stop` is set."""
    while store.pending() and not stop.is_set():
        began = time.monotonic()
        told = _look(store)
        if as_json:
            statuses = counts_json(told.pop("counts"), store.sweep.model.sentences)
            print_object("status", **told, status=statuses)
        else:
            _show(told, store)
        stop.wait(max(SECONDS, (time.monotonic() - began) / LOOKING_SHARE))


def _look(store: Store) -> dict[str, Any]:
    from sweep.store.flow import flow

    left = sum(chunk.n_points for chunk in store.pending())
    now = flow(store.receipts(), time.time())
    total, pace = store.sweep.n_points, now.points_per_second
    return {
        "points_done": total - left,
        "points_total": total,
        **vars(now),
        "seconds_left": left / pace if pace else None,
    }


def _show(told: dict[str, Any], store: Store) -> None:
    if sys.stdout.isatty():
        print(CLEAR, end="")
    done, total = told["points_done"], told["points_total"]
    words = "nobody writes to it now"
    if told["points_per_second"]:
        writers = f"{told['workers']} process" + ("es" if told["workers"] != 1 else "")
        words = f"{rate(told['points_per_second'])} by {writers}"
        words += f", {duration(told['seconds_left'])} left"
    print(f"{done:,} of {total:,} points done ({share(done / total)}); {words}", flush=True)
    if told["counts"]:
        print_statuses(told["counts"], store.sweep.model.sentences)
    sys.stdout.flush()
