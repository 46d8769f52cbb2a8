"""A durable store survives a power cut, played by a disk that keeps only what was synced."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from sweep import api
from sweep.engine.driver import open_store
from sweep.file import load
from sweep.store import Store
from sweep.store.upkeep import verify
from tests.engine.test_worker_faults import REQUEST
from tests.store.test_store import CHUNK_POINTS, PROVENANCE, SWEEP, create, finish, results_of, tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no folder can be synced there")


class Disk:
    """What a power cut at the worst moment leaves: every name, and of contents what was synced.

    As file systems do that order names and not contents (ext4 with data=writeback, XFS); those
    that keep fewer names lose less of what counts, since a status comes last.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.synced: set[int] = set()  # inodes
        self.folders: list[Path] = []
        real = os.fsync

        def fsync(file: int) -> None:
            real(file)
            self.synced.add(os.fstat(file).st_ino)
            place = Path(f"/proc/self/fd/{file}")
            if place.exists() and place.resolve().is_dir():
                self.folders.append(place.resolve())

        monkeypatch.setattr(os, "fsync", fsync)

    def after_a_power_cut(self, store: Path, to: Path) -> Path:
        shutil.copytree(store, to)
        for file in store.rglob("*"):
            if file.is_file() and file.stat().st_ino not in self.synced:
                (to / file.relative_to(store)).write_bytes(b"")
        return to


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def durable(path: Path) -> Store:
    return Store.create(path, SWEEP, chunk_points=CHUNK_POINTS, provenance=PROVENANCE, durable=True)


def test_whatever_counts_as_done_is_whole_after_a_power_cut(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cut after each rename: of a store just made, and between the files of its chunks."""
    store = durable(tmp_path / "map.zarr")
    cuts: list[int] = []
    replace = os.replace

    def cut_after(scratch: str, path: str) -> None:
        replace(scratch, path)
        left = disk.after_a_power_cut(store.path, tmp_path / f"cut{len(cuts)}.zarr")
        kept = Store.open(left)
        assert verify(kept) == []
        cuts.append(len(kept.pending()))

    monkeypatch.setattr(os, "replace", cut_after)
    finish(store)
    assert cuts == [3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0]
    if not Path("/proc/self/fd").exists():
        return  # then nobody says which folders were synced
    assert {store.path / name / "c" for name in ("wear_power", "status")} <= set(disk.folders)
    assert {tmp_path, store.path / "status/c/2", store.path / "regime/c/0"} <= set(disk.folders)


def test_what_is_not_durable_may_be_lost_in_a_power_cut(tmp_path: Path, disk: Disk) -> None:
    """So that the test above can fail; a kill loses nothing of it."""
    store = durable(tmp_path / "map.zarr")
    finish(Store.open(store.path))
    assert verify(store) == []
    left = disk.after_a_power_cut(store.path, tmp_path / "cut.zarr")
    assert len(verify(Store.open(left))) == 3


def test_a_durable_store_has_the_bytes_of_any_other(tmp_path: Path) -> None:
    one, other = durable(tmp_path / "one.zarr"), create(tmp_path / "other.zarr")
    finish(one)
    finish(other)
    assert tree(one.path) == tree(other.path)
    chunk = one.done()
    one.write(chunk[0], results_of(SWEEP, chunk[0]))  # over what is there
    assert tree(one.path) == tree(other.path)


def test_the_sweep_file_can_request_run_durable(tmp_path: Path, disk: Disk) -> None:
    request = load(REQUEST, ["run.durable=true", "friction={ values = [0.1, 0.2] }"])
    assert request.options.durable
    store = open_store(request, tmp_path / "map.zarr")
    api.run_in_store(store, request)
    files = {file.stat().st_ino for file in store.path.rglob("*") if file.is_file()}
    assert files <= disk.synced
