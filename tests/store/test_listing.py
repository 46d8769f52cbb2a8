"""Chunks of very many rows are named without folders; any store is read as it was made."""

from __future__ import annotations

import itertools
import time
import warnings
from pathlib import Path

import pytest
import xarray as xr

from sweep.points import chunking
from sweep.request.sweeps import Sweep
from sweep.store import Store, group
from sweep.store.store_files import LocalFiles
from sweep.store.target import BLOCKS, InFiles
from sweep.store.upkeep import clean, verify
from tests.points.test_chunking import linear, sweep_over
from tests.store.test_extend import grid
from tests.store.test_store import SWEEPS, create, finish, tree

ROWS = 1001
MANY_ROWS = sweep_over(linear("friction", 0.0, 1.0, ROWS), linear("mass", 1.0, 2.0, 2))


@pytest.fixture
def flat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names without folders for two chunks and more."""
    monkeypatch.setattr(group, "MAX_FOLDERS", 1)


def test_only_where_there_would_be_many_folders() -> None:
    assert group.separator_for(()) == group.separator_for((10**5,)) == "/"
    assert group.separator_for((1000, 1)) == group.separator_for((300, 300)) == "/"
    assert group.separator_for((1001, 1)) == group.separator_for((40, 40, 2)) == "."


def test_many_rows_are_files_side_by_side(tmp_path: Path) -> None:
    store = create(tmp_path / "map.zarr", MANY_ROWS, 2)
    assert store.n_chunks == ROWS
    every = list(chunking.chunks(MANY_ROWS.grid.shape, store.chunk_shape))
    assert store.pending() == every
    finish(store)
    status = {file.name for file in (store.path / "status").iterdir()}
    assert status == {"zarr.json", *(f"c.{i}.0" for i in range(ROWS))}
    assert store.pending() == store.chunk_files.torn() == []
    (store.path / "regime/c.7.0").unlink()
    (store.path / "status/c.9.0").unlink()
    assert store.chunk_files.torn() == [every[7]]
    assert store.pending() == [every[9]]
    assert store.chunk_files.damaged(every[7]) == [str(store.path / "regime/c.7.0")]


def test_a_store_with_folders_goes_on_with_them_and_holds_the_same(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """As of a version that knew nothing else."""
    create(tmp_path / "old.zarr")
    request.getfixturevalue("flat")
    old, new = Store.open(tmp_path / "old.zarr"), create(tmp_path / "new.zarr")
    for store in (old, new):
        finish(store)
        assert verify(store) == []
    assert (old.path / "status/c/2/0").exists()
    assert (new.path / "status/c.2.0").exists()
    xr.testing.assert_identical(old.dataset().load(), new.dataset().load())


@pytest.mark.parametrize("sweep", SWEEPS.values(), ids=SWEEPS)
def test_plain_xarray_reads_what_lies_flat(
    sweep: Sweep, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    other = create(tmp_path / "other.zarr", sweep)
    request.getfixturevalue("flat")
    flat_store = create(tmp_path / "flat.zarr", sweep)
    for store in (flat_store, other):
        finish(store)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xr.testing.assert_identical(
            xr.open_zarr(flat_store.path).load(), xr.open_zarr(other.path).load()
        )


@pytest.mark.usefixtures("flat")
def test_scratch_files_beside_chunks_are_cleaned_and_are_no_chunks(tmp_path: Path) -> None:
    store = create(tmp_path / "map.zarr")
    whole = tree(store.path)
    (store.path / ("status/c.0." + "a" * 32 + ".partial")).write_bytes(b"torn")
    assert len(store.pending()) == 3
    clean(store)
    assert tree(store.path) == whole


@pytest.mark.usefixtures("flat")
def test_an_extended_store_keeps_its_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The chunk at the old ragged end is computed again, the others are kept."""
    longer = grid(14, 7)
    store = create(tmp_path / "map.zarr", grid(10, 7))
    finish(store)
    anew = create(tmp_path / "anew.zarr", longer)
    finish(anew)
    monkeypatch.undo()  # the names are the store's own, whatever a new one has
    extended = Store.extend(store.path, longer)
    assert [chunk.index for chunk in extended.pending()] == [(2, 0), (3, 0)]
    finish(extended)
    assert tree(extended.path) == tree(anew.path)


@pytest.mark.usefixtures("flat")
def test_at_a_url_names_are_the_same(tmp_path: Path) -> None:
    local_store = create(tmp_path / "map.zarr")
    url = f"memory://{time.monotonic_ns()}/map.zarr"
    remote_store = create(url)
    finish(local_store)
    first = remote_store.pending()[0]
    finish(remote_store)
    assert remote_store.pending() == verify(remote_store) == remote_store.chunk_files.torn() == []
    remote_store.reopen([first])
    assert remote_store.pending() == [first]
    assert remote_store.chunk_files.damaged(first) == [f"{url}/status/c.0.0"]
    xr.testing.assert_identical(
        local_store.dataset().load().isel(friction=slice(4, None)),
        remote_store.dataset().load().isel(friction=slice(4, None)),
    )


STRANGERS = [
    "zarr.json", "00", "01", "-1", "+1", "1.0", "1e0", "0x1", " 1", "1 ", "²", "١", "1\n2", "999",
    "9999999999", "99999999999999999999999", "", "c", "c.", "c.1", "c.01.0", "c.1.00", "c.1.-0",
    "c.1.0.0", "c.1.0 ", "c-1.0", "xc.1.0", "c.1.0\nc.2.0", "C.1.0", "c.9.0", "c.1.9", "c.١.0",
    "c..0", "c.4294967296.0", "c.1.99999999999999999999999", "c.1.0." + "a" * 32 + ".partial",
]  # fmt: skip


@pytest.mark.parametrize("separator", ["/", "."])
@pytest.mark.parametrize("counts", [(), (5,), (5, 1), (4, 3), (3, 1, 1), (2, 3, 2), (2, 1, 3)])
def test_what_is_listed_is_what_lies_there(
    counts: tuple[int, ...], separator: str, tmp_path: Path
) -> None:
    """Beside strangers of all kinds; and a folder in the place of a file is none."""
    every = list(itertools.product(*map(range, counts)))
    for i, index in enumerate(every):
        file = tmp_path / group.key(index, separator)
        if i % 3 != 1:
            file.parent.mkdir(parents=True, exist_ok=True)
            (file.touch if i % 3 else file.mkdir)()
    for dimension, beyond in enumerate(counts):  # the first that is no chunk any more
        index = tuple(beyond if i == dimension else 0 for i in range(len(counts)))
        file = tmp_path / group.key(index, separator)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    for folder in [each for each in tmp_path.rglob("*") if each.is_dir()] + [tmp_path]:
        for name in STRANGERS:
            if name and not (folder / name).exists():
                (folder / name).touch()
    expected = [(tmp_path / group.key(index, separator)).is_file() for index in every]
    listed = LocalFiles(tmp_path).list()
    assert group.named(listed, counts, separator).tolist() == expected
    assert set(expected) == ({True, False} if counts else {False})
    names = [file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*")]
    files = [name for name in names if (tmp_path / name).is_file()]
    assert group.named(files, counts, separator).tolist() == expected


@pytest.mark.parametrize("separator", ["/", "."])
def test_nothing_is_listed_where_nothing_lies(separator: str, tmp_path: Path) -> None:
    for counts in ((), (3,), (2, 2)):
        none = LocalFiles(tmp_path).list("none")
        assert not group.named(none, counts, separator).any()
    (tmp_path / "c").touch()
    assert LocalFiles(tmp_path).list() == ["c"]
    assert LocalFiles(tmp_path).list("c") == []
    assert not group.named(["c"], (3, 2), separator).any()


def test_what_another_process_is_writing_is_no_block_yet(tmp_path: Path) -> None:
    blocks = InFiles(LocalFiles(tmp_path), BLOCKS)
    cell = tmp_path / BLOCKS / "c.0"
    cell.mkdir(parents=True)
    (cell / "1").touch()
    (cell / f"2.{'0' * 32}.partial").touch()
    assert blocks.names() == blocks.names("c.0") == ["c.0/1"]
