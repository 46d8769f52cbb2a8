"""Random kills of one sweep lose nothing, and cost no more than a window of chunks each."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sweep.store import Store
from sweep.store.upkeep import verify
from tests.engine.killed_runs import WINDOW_OF_WORKER, WORKERS, Chaos

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")


def test_a_sweep_killed_at_random_moments_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    """SIGKILL of drivers and workers; `python -m tests.benchmarks chaos` kills 30 times."""
    chaos = Chaos(tmp_path, rounds=1, in_the_end=1)
    chaos.run()
    assert chaos.kills == 6
    assert (chaos.damaged, chaos.orphans, chaos.unlike) == (0, 0, [])
    store = Store.open(chaos.store)
    assert verify(store) == store.pending() == []
    assert {entry.name for entry in tmp_path.iterdir() if "map.zarr" in entry.name} == {
        "map.zarr",
        "map.zarr.lock",
        "map.zarr.log",
    }
    begun, written = chaos.begun, chaos.written
    assert len(begun) == chaos.chunks
    assert chaos.chunks < begun.total() <= chaos.most_begun
    # A killed driver's chunk is either written or not; a killed worker's task may be in part.
    assert written.total() <= chaos.chunks + chaos.workers_killed * (WINDOW_OF_WORKER - 1)
    assert len(written) >= chaos.chunks - chaos.drivers_killed * WORKERS
