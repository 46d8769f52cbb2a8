"""A store is what xarray expects, the same bytes however it came about, and survives kills."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path

import numcodecs
import numpy as np
import pytest
import xarray as xr
import zarr

from sweep.model.table import Status
from sweep.points import chunking, recipes
from sweep.request.chunk import Chunk
from sweep.request.sweeps import Axis, Sweep
from sweep.store import Arrays, Store, open_results
from sweep.store.upkeep import clean, verify
from tests.points.test_chunking import OUTPUTS, linear, sweep_over

SWEEP = sweep_over(
    Axis(
        "friction",
        {"friction": np.geomspace(0.01, 1.0, 10)},
        {"geomspace": [0.01, 1.0, 10]},
    ),
    linear("base_acceleration", 1.0, 15.0, 7),
)
PROVENANCE = {"kernel": "0123abcd", "compiler_flags": ["-O3"], "note": 1.5}
CHUNK_POINTS = 28  # 4 rows: 3 chunks of SWEEP, the last one ragged


def results_of(sweep: Sweep, chunk: Chunk) -> dict[str, np.ndarray]:
    """Some results, a function of the place in the grid alone; every eleventh point diverges."""
    grid = np.arange(sweep.n_points).reshape(sweep.grid.shape)[chunk.slices].ravel()
    bad = grid % 11 == 5
    return {
        "wear_power": np.where(bad, np.nan, np.sqrt(grid + 0.1)),
        "slip_phases": np.where(bad, -1, grid).astype(np.int32),
        "regime": np.where(bad, 255, grid % 3).astype(np.uint8),
        "status": np.where(bad, Status.diverged, Status.ok).astype(np.uint8),
    }


def create(
    path: Path | str, sweep: Sweep = SWEEP, chunk_points: int | None = CHUNK_POINTS
) -> Store:
    return Store.create(path, sweep, chunk_points=chunk_points, provenance=PROVENANCE)


def finish(results: Store | Arrays) -> None:
    for chunk in results.pending():
        results.write(chunk, results_of(results.sweep, chunk))


def tree(path: Path) -> dict[str, bytes]:
    """Every file of a store and its bytes."""
    files = (file for file in path.rglob("*") if file.is_file())
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


POINT = Axis(
    "point",
    {"friction": np.array([0.1, 0.2, 0.7]), "stiffness": np.array([0.0, 1.0, 5.0])},
    {"file": "points.csv"},
)
SWEEPS = {
    "grid": SWEEP,
    "no axes": sweep_over(),
    "points": sweep_over(POINT),
    "points and axis": sweep_over(POINT, linear("mass", 1.0, 2.0, 4)),
    "one output": sweep_over(*SWEEP.axes, outputs=OUTPUTS[:1]),
    "float32": replace(SWEEP, dtype="float32"),
}


# What a user of xarray sees


@pytest.mark.parametrize("sweep", SWEEPS.values(), ids=SWEEPS)
def test_plain_xarray_opens_a_store_and_finds_what_was_written(
    sweep: Sweep, tmp_path: Path
) -> None:
    finish(create(tmp_path / "map.zarr", sweep))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset = xr.open_zarr(tmp_path / "map.zarr").load()
    whole = Chunk((), (0,) * len(sweep.grid.shape), sweep.grid.shape)
    written = results_of(sweep, whole)
    names = {output.name for output in sweep.outputs} | {"status"}
    assert set(dataset.data_vars) == names
    for name in names:
        expected = written[name].reshape(sweep.grid.shape)
        if name == "wear_power":
            expected = expected.astype(sweep.dtype)
        if name == "slip_phases":
            expected = np.where(expected == -1, np.nan, expected)
        assert dataset[name].dims == sweep.grid.dimensions
        assert dataset[name].dtype == expected.dtype
        np.testing.assert_array_equal(dataset[name], expected)
    assert set(dataset.coords) == {parameter.name for parameter in sweep.parameters}


@pytest.mark.parametrize("sweep", SWEEPS.values(), ids=SWEEPS)
def test_memory_and_disk_give_identical_datasets(sweep: Sweep, tmp_path: Path) -> None:
    memory = Arrays(sweep, chunk_points=CHUNK_POINTS, provenance=PROVENANCE)
    disk = create(tmp_path / "map.zarr", sweep)
    assert memory.chunk_shape == disk.chunk_shape
    assert len(memory.pending()) == disk.n_chunks
    while disk.pending():
        assert memory.pending() == disk.pending()
        xr.testing.assert_identical(memory.dataset(), disk.dataset().load())
        for results in (memory, disk):
            chunk = results.pending()[-1]
            results.write(chunk, results_of(sweep, chunk))
    assert memory.pending() == []
    xr.testing.assert_identical(memory.dataset(), disk.dataset().load())
    assert list(memory.dataset().variables) == list(disk.dataset().variables)


def test_coordinates_have_units_and_axes_an_index_and_values_are_lazy(store: Store) -> None:
    dataset = open_results(store.path)
    assert dataset.wear_power.chunks == ((4, 4, 2), (7,))
    assert list(dataset.indexes) == ["friction", "base_acceleration"]
    assert dataset.base_acceleration.attrs["units"] == "m/s^2"
    assert dataset.mass.item() == 1.0
    assert dataset.mass.attrs["units"] == "kg"
    nearest = dataset.wear_power.sel(friction=0.5, base_acceleration=3.0, method="nearest")
    assert nearest.base_acceleration == pytest.approx(1.0 + 14.0 / 6.0)


def test_flags_and_attributes_say_what_they_mean(store: Store) -> None:
    dataset = store.dataset()
    assert dataset.regime.attrs["flag_values"] == [0, 1, 2]
    assert dataset.regime.attrs["flag_meanings"] == "stick stick_slip slip_slip"
    meanings = dataset.status.attrs["flag_meanings"].split()
    assert dict(zip(meanings, dataset.status.attrs["flag_values"], strict=True)) == {
        status.name: status.value for status in Status
    }
    assert len(str(dataset.status.attrs)) < 250
    assert dataset.attrs["Conventions"].startswith("CF-")
    assert dataset.attrs["fingerprint"] == recipes.fingerprint(recipes.recipe(SWEEP))
    assert dataset.attrs["compiler_flags"] == ["-O3"]


def test_the_largest_float64_becomes_infinite_in_float32_without_a_warning(tmp_path: Path) -> None:
    store = create(tmp_path / "map.zarr", replace(sweep_over(), dtype="float32"))
    (chunk,) = store.pending()
    store.write(chunk, results_of(store.sweep, chunk) | {"wear_power": np.array([1e300])})
    assert store.dataset().wear_power.item() == np.inf


# What lies on the disk


def test_a_chunk_file_is_little_endian_lz4_with_shuffle_and_crc32c(store: Store) -> None:
    """Decoded by hand as the zarr v3 and RFC 3720 documents say."""
    assert _crc32c(b"123456789") == 0xE3069283  # the check string
    encoded = (store.path / "wear_power/c/2/0").read_bytes()
    assert int.from_bytes(encoded[-4:], "little") == _crc32c(encoded[:-4])
    ragged = np.frombuffer(numcodecs.blosc.decompress(encoded[:-4]), "<f8").reshape(4, 7)
    np.testing.assert_array_equal(
        ragged[:2].ravel(), results_of(SWEEP, Chunk((2, 0), (8, 0), (2, 7)))["wear_power"]
    )
    assert np.isnan(ragged[2:]).all()
    assert encoded[2] & 1  # blosc's header: byte shuffle
    assert encoded[2] >> 5 == 1  # and lz4


def _crc32c(message: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in message:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_a_done_chunk_has_all_its_files_even_if_all_is_missing(tmp_path: Path) -> None:
    create(tmp_path / "map.zarr")
    store = Store.open(tmp_path / "map.zarr")
    for chunk in store.pending():
        bad = np.full(chunk.n_points, Status.diverged, np.uint8)
        missing = {"wear_power": np.nan, "slip_phases": -1, "regime": 255}
        store.write(
            chunk, {n: np.full(chunk.n_points, v) for n, v in missing.items()} | {"status": bad}
        )
    files = tree(store.path)
    assert {f"{name}/c/{i}/0" for name in (*OUTPUTS, "status") for i in range(3)} <= set(files)
    assert verify(store) == []


def test_a_store_opens_as_the_sweep_it_was_made_for(tmp_path: Path) -> None:
    for name, sweep in SWEEPS.items():
        created = create(tmp_path / f"{name}.zarr", sweep)
        opened = Store.open(created.path)
        assert opened.made_by.differences(sweep) == []
        assert opened.chunk_shape == created.chunk_shape
        for requested_axis, stored_axis in zip(sweep.axes, opened.sweep.axes, strict=True):
            for parameter, values in requested_axis.columns.items():
                np.testing.assert_array_equal(stored_axis.columns[parameter], values)


# What is done, what is pending, what is damaged


def test_pending_shrinks_in_order_and_ignores_what_is_no_chunk(tmp_path: Path) -> None:
    store = create(tmp_path / "map.zarr")
    chunks = list(chunking.chunks(SWEEP.grid.shape, store.chunk_shape))
    assert store.pending() == chunks
    assert len(chunks) == store.n_chunks == 3
    store.write(chunks[1], results_of(SWEEP, chunks[1]))
    scratch = store.path / "status/c/0"
    scratch.mkdir()
    for name in ("0.9f" + "0" * 30 + ".partial", ".nfs0001", "00", "7", "-1", "²"):
        (scratch / name).touch()
    assert store.pending() == [chunks[0], chunks[2]]


def test_pending_opens_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_file(*args: object, **_: object) -> None:
        raise AssertionError(f"opened {args}")

    for module, name in ((os, "open"), (Path, "open"), (zarr.Array, "__getitem__")):
        monkeypatch.setattr(module, name, no_file)
    assert store.pending() == []


def test_clean_removes_the_scratch_files_of_writers_and_nothing_else(store: Store) -> None:
    whole = tree(store.path)
    (store.path / ("wear_power/c/0/1." + "a" * 32 + ".partial")).write_bytes(b"torn")
    (store.path / ("status/c/0/0." + "b" * 32 + ".partial")).write_bytes(b"torn")
    stranger = store.path / "notes.partial"
    stranger.write_text("of the user")
    store.append_receipt({"chunk": [0, 0]})
    torn = Path(store.receipts.location, "host-1.jsonl." + "c" * 32 + ".partial")
    torn.write_bytes(b"torn")
    clean(store)
    assert (torn.exists(), len(store.receipts.read())) == (False, 1)
    assert tree(store.path) == whole | {"notes.partial": b"of the user"}


@pytest.mark.parametrize("place", [0, 7, 20, -5, -1])
def test_one_flipped_bit_is_noticed_by_every_reader(store: Store, place: int) -> None:
    damaged = store.path / "wear_power/c/1/0"
    content = bytearray(damaged.read_bytes())
    content[place] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(ValueError, match="checksum"):
        xr.open_zarr(store.path).load()
    assert [chunk.index for chunk in verify(store)] == [(1, 0)]


@pytest.mark.parametrize("name", [*OUTPUTS, "status"])
@pytest.mark.parametrize("keep", [None, 0, 3, 17])
def test_damage_is_found_and_a_second_writing_repairs_it(
    store: Store, name: str, keep: int | None
) -> None:
    """A file gone, emptied, or cut off; the ragged chunk, whose file zarr might want to read."""
    whole = tree(store.path)
    damaged = store.path / name / "c/2/0"
    if keep is None:
        damaged.unlink()
    else:
        damaged.write_bytes(damaged.read_bytes()[:keep])
    chunks = verify(store) or store.pending()
    assert [chunk.index for chunk in chunks] == [(2, 0)]
    store.write(chunks[0], results_of(SWEEP, chunks[0]))
    assert verify(store) == store.pending() == []
    assert tree(store.path) == whole


def test_a_chunk_of_the_wrong_size_or_still_pending_is_not_written(tmp_path: Path) -> None:
    for results in (create(tmp_path / "map.zarr"), Arrays(SWEEP, chunk_points=CHUNK_POINTS)):
        chunk = results.pending()[0]
        arrays = results_of(SWEEP, chunk)
        with pytest.raises(ValueError, match="wear_power: 27 values for 28 points"):
            results.write(chunk, arrays | {"wear_power": arrays["wear_power"][1:]})
        with pytest.raises(ValueError, match="still pending"):
            results.write(chunk, arrays | {"status": np.full(28, 255, np.uint8)})
        assert len(results.pending()) == 3
