"""The files of chunks are those that zarr itself would write, and what zarr reads is the same."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr
from numpy.typing import NDArray

from sweep.points import chunking
from sweep.store import Store, creation
from sweep.store.upkeep import verify
from tests.store.test_store import SWEEPS, create, results_of, tree
from tests.store.test_store import finish as finish_store

NUMBERS = np.random.default_rng(3)
N = 2**17
SMOOTH = np.sqrt(np.arange(N) + 0.1)
BITS = NUMBERS.integers(0, 2**64, N, dtype=np.uint64).view(np.float64)


def encoded(values: NDArray[Any], shape: tuple[int, ...]) -> bytes:
    return b"".join(creation.encoded(values, shape, 0))


def written_by_zarr(folder: Path, values: NDArray[Any], shape: tuple[int, ...]) -> bytes:
    """The file that zarr's array writes, in one chunk that may be larger than the values."""
    array = zarr.create_array(
        folder,
        shape=values.shape,
        chunks=shape,
        dtype=values.dtype,
        compressors=creation.codecs(values.dtype),
        fill_value=0,
    )
    array[...] = values
    return Path(folder, "c", *("0" for _ in values.shape)).read_bytes()


@pytest.mark.parametrize(
    ("values", "shape"),
    [
        (SMOOTH, (N,)),
        (SMOOTH.reshape(2**7, -1), (2**7, 2**10)),
        (SMOOTH.astype(np.float32), (N,)),
        ((np.arange(N) % 3).astype(np.uint8), (N,)),
        (np.arange(N, dtype=np.int32), (N,)),
        (BITS[:100], (100,)),  # too few to be sampled
        (SMOOTH[: N - 3], (N,)),
        (SMOOTH[: N - 2**10].reshape(-1, 2**10), (2**7, 2**10)),
        (SMOOTH.reshape(2**7, -1)[:, ::2], (2**7, 2**9)),
        (np.array(1.5), ()),
        (BITS.view(np.uint8)[:N], (N,)),  # flags are not sampled
        (np.full(N, 2, np.uint8), (N,)),  # one flag throughout
        (np.full(N, 3, np.uint8), (N,)),
        (np.full((2**6, 2**10), 2, np.uint8), (2**6, 2**10)),
        (np.full(N - 3, 2, np.uint8), (N,)),
        (np.append(np.full(N - 1, 2, np.uint8), np.uint8(0)), (N,)),
        (np.full((3, 1), 7, np.uint8), (3, 1)),
    ],
)
def test_a_file_has_the_bytes_that_zarr_writes(
    tmp_path: Path, values: NDArray[Any], shape: tuple[int, ...]
) -> None:
    assert encoded(values, shape) == written_by_zarr(tmp_path, values, shape)


def test_bytes_lie_in_the_same_order_on_every_machine() -> None:
    turned = encoded(SMOOTH.astype(">f8"), SMOOTH.shape)
    assert turned == encoded(SMOOTH.astype("<f8"), SMOOTH.shape)


@pytest.mark.parametrize("size", [N, N - 1, N - 1023, N + 1, 2**14, 2**14 + 1])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_what_does_not_shrink_is_stored_as_it_is(dtype: type[np.generic], size: int) -> None:
    """From 128 KiB on, behind a header that no version of Blosc may change: stores have it.

    Versions of frame and lz4, flags, item size; the number of bytes of the values, of a block and
    of the frame.
    """
    values = np.append(BITS, BITS[:1])[:size].view(dtype)
    file = encoded(values, values.shape)
    sizes = (values.nbytes, 2**13, values.nbytes + 16)
    header = struct.pack("<4B3I", 2, 1, 0b0010_0011, values.itemsize, *sizes)
    assert file[:-4] == header + values.tobytes()
    checked = numcodecs.CRC32C(location="end").decode(file)
    assert numcodecs.Blosc().decode(checked) == values.tobytes()


@pytest.mark.parametrize("quarter", range(4))
def test_what_shrinks_in_a_part_is_compressed(quarter: int) -> None:
    values = np.where(np.arange(N) // (N // 4) == quarter, 0.0, BITS)
    assert len(encoded(values, values.shape)) < 0.8 * values.nbytes


def fill_by_zarr(store: Store) -> None:
    """Write the results with zarr alone."""
    for name in store.dataset().data_vars:
        array = zarr.open_array(store.path / name).with_config({"write_empty_chunks": True})
        for chunk in chunking.chunks(store.sweep.grid.shape, store.chunk_shape):
            array[chunk.slices] = results_of(store.sweep, chunk)[name].reshape(chunk.shape)


@pytest.mark.parametrize("sweep", SWEEPS.values(), ids=SWEEPS)
def test_a_store_has_the_bytes_of_one_that_zarr_fills(sweep: Any, tmp_path: Path) -> None:
    finish_store(create(tmp_path / "ours.zarr", sweep))
    fill_by_zarr(create(tmp_path / "zarrs.zarr", sweep))
    assert tree(tmp_path / "ours.zarr") == tree(tmp_path / "zarrs.zarr")


def test_chunks_of_another_encoding_are_as_zarr_writes_them(tmp_path: Path) -> None:
    """For example in a store made by another version; at the ragged end, too."""
    for name in ("ours", "zarrs"):
        metadata = create(tmp_path / f"{name}.zarr").path / "wear_power/zarr.json"
        text = metadata.read_text(encoding="utf-8")
        metadata.write_text(text.replace('"cname": "lz4"', '"cname": "zstd"'), encoding="utf-8")
    store = Store.open(tmp_path / "ours.zarr")
    finish_store(store)
    assert verify(store) == []
    fill_by_zarr(Store.open(tmp_path / "zarrs.zarr"))
    assert tree(store.path) == tree(tmp_path / "zarrs.zarr")
    other = create(tmp_path / "lz4.zarr")
    finish_store(other)
    assert tree(store.path)["wear_power/c/0/0"] != tree(other.path)["wear_power/c/0/0"]
