"""Random kills over one sweep: nothing is lost, and no more is begun twice than a window a kill."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sweep.store import Store
from tests.engine.chaos import WINDOW_OF_WORKER, WORKERS, Chaos

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")


def test_a_sweep_killed_at_random_moments_ends_as_one_that_nobody_disturbed(tmp_path: Path) -> None:
    """Drivers and workers, by SIGKILL; `python -m tests.benchmarks chaos` has 30 kills."""
    chaos = Chaos(tmp_path, rounds=1, in_the_end=1)
    chaos.run()
    assert chaos.kills == 6
    assert (chaos.damaged, chaos.orphans, chaos.unlike) == (0, 0, [])
    store = Store.open(chaos.store)
    assert store.verify() == store.pending() == []
    assert {entry.name for entry in tmp_path.iterdir() if "map.zarr" in entry.name} == {
        "map.zarr",
        "map.zarr.lock",
        "map.zarr.log",
    }
    begun, written = chaos.begun, chaos.written
    assert len(begun) == chaos.chunks
    assert chaos.chunks < begun.total() <= chaos.most_begun
    # A killed driver's chunk is written or is not; of a killed worker's task, part may be.
    assert written.total() <= chaos.chunks + chaos.workers_killed * (WINDOW_OF_WORKER - 1)
    assert len(written) >= chaos.chunks - chaos.drivers_killed * WORKERS
