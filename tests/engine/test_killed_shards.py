"""Shards of a reduced sweep, killed at random moments and extended in between, lose nothing."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import sweep
from sweep.engine import driver
from sweep.file import load
from sweep.store import Store, extension
from sweep.store.store_files import files_of
from sweep.store.upkeep import verify
from tests import slowed
from tests.file.documents import PARAMETERS
from tests.forked import Forked
from tests.store.test_store import tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")

SHARDS, WORKERS = 2, 2
CELLS, BLOCK = 4, 20  # points
SIZES = (170, 290, 420)  # points of a cell, which cut blocks short
MOST, MOST_OF_EXTENSION = 80, 120  # things begun before a kill
END_RATE = 0.15  # of killed shards that are not started again before the store is extended


def document(points: int) -> Mapping[str, Any]:
    friction = {"uniform": [0.05, 0.4]}
    return {
        "model": "friction_oscillator",
        "outputs": ["wear_power", "regime"],
        "parameters": PARAMETERS,
        "axes": {"base_acceleration": {"linspace": [0.5, 15.0, CELLS]}},
        "sample": {"method": "random", "points": points, "seed": 1, "friction": friction},
        "reduce": {"wear_power": ["mean", "maximum", "quantile 0.95"], "regime": ["share"]},
        "run": {"workers": WORKERS, "chunk_points": BLOCK},
    }


class Story:
    """A store that two shards fill while they are killed, and that is extended in between."""

    def __init__(self, folder: Path, sizes: Sequence[int], killer: slowed.Killer) -> None:
        folder.mkdir()
        self.sizes = sizes
        self.path, self.notes = folder / "map.zarr", slowed.Notes(folder / "notes")
        self.shards_killed = 0
        self._killer = killer

    def run(self) -> None:
        driver.open_store(load(document(self.sizes[0])), self.path)
        self._compute()
        for size in self.sizes[1:]:
            while self._killer.kill(self._extending(size), self.notes, MOST_OF_EXTENSION):
                if self._is_extended(size):
                    break
            self._compute(to_the_end=size == self.sizes[-1])

    def _compute(self, *, to_the_end: bool = False) -> None:
        """Kill and start one shard or the other until both are done, or some time before."""
        running = {i: self._start(i) for i in range(1, SHARDS + 1)}
        while running:
            is_last = not to_the_end and self._killer.random.random() < END_RATE
            i = self._killer.random.choice(sorted(running))
            if self._killer.kill(running.pop(i), self.notes, MOST):
                self.shards_killed += 1
                if not is_last:
                    running[i] = self._start(i)

    def _start(self, i: int) -> Forked:
        return slowed.start(self.path, self.notes, shard=[i, SHARDS])

    def _extending(self, size: int) -> Forked:
        return slowed.start_extending(self.path, self.notes, document(size))

    def _is_extended(self, size: int) -> bool:
        """Whether an extension has been applied, or whoever runs the store next will apply it."""
        if extension.is_under_way(files_of(self.path)):
            return True
        return Store.open(self.path).sweep.computed_shape[-1] == size


@pytest.mark.parametrize(
    ("kills", "sizes"), [(2, (50, 90)), pytest.param(60, SIZES, marks=pytest.mark.broad)]
)
def test_killed_shards_of_an_extended_store_end_like_an_undisturbed_run(
    tmp_path: Path, kills: int, sizes: Sequence[int]
) -> None:
    """A kill costs a block for each worker of a shard at most, and one of an extension nothing."""
    sweep.run(document(sizes[-1]), store=tmp_path / "undisturbed.zarr")
    undisturbed, killer = tree(tmp_path / "undisturbed.zarr"), slowed.Killer(kills)
    number = 0
    while killer.left:
        number += 1
        story = Story(tmp_path / f"{number}", sizes, killer)
        story.run()
        assert_lost_nothing(story, undisturbed)


def assert_lost_nothing(story: Story, undisturbed: Mapping[str, bytes]) -> None:
    store, computed = Store.open(story.path), story.notes.computed
    assert verify(store) == store.pending() == store.blocks.names() == []
    most_lost = story.shards_killed * WORKERS
    assert computed.total() - len(computed) <= most_lost
    whole_blocks = story.sizes[-1] // BLOCK
    cut_short = sum(size % BLOCK > 0 for size in story.sizes)
    assert CELLS * whole_blocks <= len(computed) <= CELLS * (whole_blocks + cut_short)
    receipts = store.receipts.read()
    assert len(computed) - most_lost <= len(receipts) <= computed.total()
    assert {receipt["pid"] for receipt in receipts} <= story.notes.processes
    # Shards that run at the same time leave scratch files of one another to the next run.
    sweep.run(story.path)
    assert story.notes.computed == computed
    assert tree(story.path) == undisturbed
    beside = {entry.name for entry in story.path.parent.iterdir()}
    assert beside == {"map.zarr", "map.zarr.lock", "map.zarr.log", "notes"}
