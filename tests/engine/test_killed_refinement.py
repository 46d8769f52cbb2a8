"""Growing stores of refined sweeps that are killed at random moments end like undisturbed ones."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import sweep
from sweep.store import Store
from sweep.store.upkeep import verify
from tests import slowed
from tests.engine.test_refined_stores import REDUCED
from tests.engine.test_refinement import document
from tests.store.test_store import tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")

WORKERS = 2
MOST = 60  # things that a run begins before it is killed
POINTS: Mapping[str, Any] = {
    **document({"output": "regime", "levels": 2}, outputs=["wear_power", "regime"]),
    "run": {"workers": WORKERS, "chunk_points": 10},
}
CELLS: Mapping[str, Any] = {**REDUCED, "run": {"workers": WORKERS, "chunk_points": 100}}


@pytest.mark.parametrize("kills", [2, pytest.param(15, marks=pytest.mark.broad)])
@pytest.mark.parametrize("requested", [POINTS, CELLS], ids=["points", "cells"])
def test_a_killed_growing_store_ends_like_an_undisturbed_one(
    requested: Mapping[str, Any], tmp_path: Path, kills: int
) -> None:
    """A kill costs a chunk for each worker at most, be it of points or a block of a cell."""
    sweep.run(requested, store=tmp_path / "undisturbed.zarr")
    undisturbed, killer, number = tree(tmp_path / "undisturbed.zarr"), slowed.Killer(kills), 0
    while killer.left:
        number, left = number + 1, killer.left
        path, notes = tmp_path / f"{number}/map.zarr", slowed.Notes(tmp_path / f"notes-{number}")
        path.parent.mkdir()
        while killer.kill(slowed.start(path, notes, requested), notes, MOST):
            pass
        assert tree(path) == undisturbed
        names = {entry.name for entry in path.parent.iterdir()}
        assert names == {"map.zarr", "map.zarr.lock", "map.zarr.log"}
        store, computed, most_lost = (
            Store.open(path),
            notes.computed,
            (left - killer.left) * WORKERS,
        )
        assert verify(store) == store.pending() == store.blocks.names() == []
        assert not store.may_grow
        assert computed.total() - len(computed) <= most_lost
        receipts = store.receipts.read()
        assert len(computed) - most_lost <= len(receipts) <= computed.total()
        assert {receipt["pid"] for receipt in receipts} <= notes.processes
