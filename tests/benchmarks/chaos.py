"""30 kills at random moments of one sweep: nothing is lost, and only open tasks are begun twice.

SIGKILL ends drivers with threads, workers under Dask and their drivers; each run is resumed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from sweep.store import Store
from tests.benchmarks.record import Figure
from tests.engine.killed_runs import WINDOW_OF_DRIVER, WINDOW_OF_WORKER, Chaos

ROUNDS = 5
IN_THE_END = 5


def measure(quick: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as folder:
        size = (1, 1) if quick else (ROUNDS, IN_THE_END)
        chaos = Chaos(Path(folder), *size)
        chaos.run()
        begun, store = chaos.begun, Store.open(chaos.store)
        windows = f"{WINDOW_OF_DRIVER} for a driver of threads, {WINDOW_OF_WORKER} for a worker"
        return [
            Figure("kills", chaos.kills, ""),
            Figure("chunks", chaos.chunks, "chunks"),
            Figure("begun in all", begun.total(), "chunks", at_most=chaos.most_begun, note=windows),
            Figure("written in all", chaos.written.total(), "chunks", at_most=chaos.most_begun),
            Figure("never begun", chaos.chunks - len(begun), "chunks", at_most=0),
            Figure("pending at the end", len(store.pending()), "chunks", at_most=0),
            Figure("damaged after a kill", chaos.damaged, "chunks", at_most=0),
            Figure("files unlike an undisturbed run's", len(chaos.unlike), "files", at_most=0),
            Figure("workers that outlived their driver", chaos.orphans, "processes", at_most=0),
        ]
