"""Files too large to be read at ease are zarr shards; all else about a store stays as it is."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr

from sweep.errors import StoreError
from sweep.model.table import MISSING_COUNT, MISSING_FLAG, Status
from sweep.points import chunking
from sweep.request.sweeps import Axis
from sweep.store import Store, creation, open_results
from sweep.store.upkeep import verify
from tests.points.test_chunking import linear, sweep_over
from tests.store.test_encoding import fill_by_zarr
from tests.store.test_store import SWEEP, create, finish, results_of, tree


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if 7 to 14 points were as many as are read at once: 2 parts a chunk of SWEEP."""
    monkeypatch.setattr(creation, "MAX_PART_POINTS", 14)
    monkeypatch.setattr(creation, "MIN_PART_POINTS", 7)


@pytest.fixture
def sharded(small_parts: None, tmp_path: Path) -> Store:
    return create(tmp_path / "sharded.zarr")


def test_a_store_of_shards_holds_what_any_other_does(store: Store, sharded: Store) -> None:
    whole = store
    assert sharded.chunk_shape == whole.chunk_shape == (4, 7)
    assert sharded.pending() == list(chunking.chunks(SWEEP.grid.shape, (4, 7)))
    finish(sharded)
    array = zarr.open_array(sharded.path / "wear_power", mode="r")
    assert (array.chunks, array.shards) == ((2, 7), (4, 7))
    assert sharded.pending() == verify(sharded) == sharded.chunk_files.torn() == []
    xr.testing.assert_equal(sharded.dataset().load(), whole.dataset().load())
    xr.testing.assert_equal(xr.open_zarr(sharded.path).load(), whole.dataset().load())
    assert {n for n in tree(sharded.path) if "/c/" in n} == {
        n for n in tree(whole.path) if "/c/" in n
    }


PAIRS = {"friction": np.linspace(0.1, 1.0, 10), "mass": np.linspace(1.0, 2.0, 10)}
PAIRED = sweep_over(
    Axis("pair", PAIRS, {"file": {"sha256": "0", "count": 10}}),
    linear("base_acceleration", 1.0, 15.0, 7),
)


@pytest.mark.parametrize("parts", [1, 2], ids=["whole chunks", "chunks of parts"])
def test_plain_xarray_finds_one_chunking_of_results_and_coordinates(
    tmp_path: Path, request: pytest.FixtureRequest, parts: int
) -> None:
    if parts > 1:
        request.getfixturevalue("small_parts")
    store = create(tmp_path / "map.zarr", PAIRED)
    finish(store)
    plain = xr.open_zarr(store.path)
    assert plain.chunks["pair"] == ((4, 4, 2) if parts == 1 else (2,) * 5)
    for name, values in PAIRS.items():
        np.testing.assert_array_equal(plain[name], values)
        assert [f.name for f in (store.path / name / "c").iterdir()] == ["0"]  # one file yet
    assert verify(store) == []


def test_a_store_with_undivided_coordinates_is_read_and_extended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they were made before."""
    monkeypatch.setattr(creation, "MAX_COORDINATE_PARTS", 0)
    old = create(tmp_path / "map.zarr", PAIRED)
    assert zarr.open_array(old.path / "mass", mode="r").shards is None
    monkeypatch.undo()
    finish(old)
    assert verify(old) == []
    np.testing.assert_array_equal(open_results(old.path)["mass"], PAIRS["mass"])
    longer = {name: np.append(values, 3.0) for name, values in PAIRS.items()}
    longer_sweep = replace(PAIRED, axes=(replace(PAIRED.axes[0], columns=longer), PAIRED.axes[1]))
    grown = Store.extend(old.path, longer_sweep)
    finish(grown)
    new = create(tmp_path / "new.zarr", longer_sweep)
    finish(new)
    assert tree(grown.path) == tree(new.path)


def test_a_shard_of_missing_values_has_its_file(sharded: Store) -> None:
    for chunk in sharded.pending():
        missing = {"wear_power": np.nan, "slip_phases": MISSING_COUNT, "regime": MISSING_FLAG}
        arrays = {name: np.full(chunk.n_points, value) for name, value in missing.items()}
        sharded.write(chunk, arrays | {"status": np.full(chunk.n_points, Status.diverged)})
    assert sharded.pending() == sharded.chunk_files.torn() == verify(sharded) == []


@pytest.mark.parametrize("place", [3, -7, -1])
def test_a_flipped_bit_in_a_part_or_in_the_index_is_found(sharded: Store, place: int) -> None:
    finish(sharded)
    damaged = sharded.path / "wear_power/c/1/0"
    content = bytearray(damaged.read_bytes())
    content[place] ^= 1
    damaged.write_bytes(content)
    damaged_chunks = verify(sharded)
    assert [chunk.index for chunk in damaged_chunks] == [(1, 0)]
    sharded.write(damaged_chunks[0], results_of(SWEEP, damaged_chunks[0]))
    assert verify(sharded) == []


@pytest.mark.parametrize("name", ["wear_power", "status"])
def test_an_empty_file_as_a_power_cut_leaves_it_is_found(sharded: Store, name: str) -> None:
    finish(sharded)
    (sharded.path / name / "c/1/0").write_bytes(b"")
    with pytest.raises(StoreError):
        sharded.dataset().load()
    assert [chunk.index for chunk in verify(sharded)] == [(1, 0)]


def test_only_files_of_more_than_10_5_chunks_are_shards() -> None:
    assert creation.parts_of_file(()) == ()
    assert creation.parts_of_file((1, 512, 1024)) == (1, 512, 1024)
    assert creation.parts_of_file((2**21,)) == (2**20,)
    assert creation.parts_of_file((1, 3, 2**20)) == (1, 1, 2**20)
    assert creation.parts_of_file((1, 1_048_583)) == (1, 1_048_583)  # a prime: no even parts
    huge = sweep_over(linear("friction", 0.0, 1.0, 2**19), linear("mass", 1.0, 2.0, 2**19))
    chunk = chunking.chunk_shape(huge)
    assert math.prod(chunking.chunk_counts(huge.grid.shape, chunk)) <= 10**5
    assert math.prod(chunk) > math.prod(creation.parts_of_file(chunk)) == 2**20


def test_shards_have_the_bytes_that_zarr_writes(sharded: Store, tmp_path: Path) -> None:
    """At the ragged end, too; and written again, in another order."""
    finish(sharded)
    fill_by_zarr(create(tmp_path / "zarrs.zarr"))
    assert tree(sharded.path) == tree(tmp_path / "zarrs.zarr")
    for chunk in reversed(sharded.done()):
        sharded.write(chunk, results_of(SWEEP, chunk))
    assert tree(sharded.path) == tree(tmp_path / "zarrs.zarr")
