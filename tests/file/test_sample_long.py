"""Samples too long to be held: drawn by stretches, whatever the stretches; bounded memory."""

from __future__ import annotations

import signal
import sys
import time
import tracemalloc
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import qmc

import sweep
from sweep.errors import MachineError, StoreError
from sweep.file import load
from sweep.model.table import Status
from sweep.points.chunking import chunk_shape, chunks
from sweep.points.columns import points
from sweep.points.recipes import fingerprint, recipe
from sweep.request.options import RunOptions
from sweep.request.sweeps import Request, Sweep
from sweep.results.forecast import forecast
from sweep.sampling import drawing, long_values
from sweep.sampling.drawing import MORE_BITS, sequence
from sweep.sampling.long_values import Drawn
from sweep.store import Store, group
from sweep.store.upkeep import verify
from tests.command import CHECKOUT, environment
from tests.file.test_sample import RANGES, SOBOL, document
from tests.forked import Forked
from tests.store.short_parts import shorten

VALUES_IN_MEMORY = 1000  # in place of 2**20
LONG = 6789  # points: no multiple of a stretch


@pytest.fixture
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch, VALUES_IN_MEMORY, block=300)


def long_sweep(method: str = "sobol", **changed: object) -> Sweep:
    return load(document({**SOBOL, "method": method, "points": LONG, **changed})).sweep


def columns(of: Sweep) -> Mapping[str, Any]:
    (axis,) = of.axes
    return axis.columns


# Sequences.


@pytest.mark.parametrize("seed", [None, 7])
@pytest.mark.parametrize("start", [0, 1, 2**18 - 1, 2**20, 3_000_001])
def test_any_stretch_of_sobol_points_is_scipys(start: int, seed: int | None) -> None:
    """Its whole sequence drawn at once; one stretch after another, forwards and back."""
    drawn = sequence("sobol", 2**22, 3, seed)
    engine = qmc.Sobol(3, scramble=seed is not None, rng=np.random.default_rng(seed))
    expected = engine.random_base2(22)
    for first in (start, start + 100, 5, start):
        np.testing.assert_array_equal(drawn.rows(first, first + 100), expected[first : first + 100])


def test_any_stretch_of_random_points_is_numpys() -> None:
    expected = np.random.default_rng(5).random((10_000, 3))
    drawn = sequence("random", 10**11, 3, 5)
    for first in (0, 7, 9_000, 1):
        np.testing.assert_array_equal(drawn.rows(first, first + 50), expected[first : first + 50])


def reversed_bits(numbers: NDArray[np.uint64]) -> NDArray[np.float64]:
    """0.b0 b1 b2 ... of the number ... b2 b1 b0 in base 2: van der Corput's sequence."""
    digits = (numbers[:, None] >> np.arange(53, dtype=np.uint64)) & np.uint64(1)
    return digits @ 0.5 ** np.arange(1, 54)


@pytest.mark.parametrize("start", [0, 2**17 + 3])
def test_unscrambled_points_do_not_depend_on_the_number_of_bits(start: int) -> None:
    """And the first dimension is van der Corput's sequence in the order of the Gray code."""
    few, many = sequence("sobol", 2**30, 3, None), sequence("sobol", 2**30 + 1, 3, None)
    rows = many.rows(start, start + 500)
    np.testing.assert_array_equal(rows, few.rows(start, start + 500))
    places = np.arange(start, start + 500, dtype=np.uint64)
    np.testing.assert_array_equal(rows[:, 0], reversed_bits(places ^ (places >> np.uint64(1))))


def test_points_continue_beyond_30_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of few bits in place of 30, so that the end is near: every point is another."""
    monkeypatch.setattr(drawing, "BITS", 10)
    rows = sequence("sobol", 1025, 2, 3).rows(0, 4096)
    assert len(np.unique(rows[:, 0])) == 4096
    engine = qmc.Sobol(2, scramble=True, bits=MORE_BITS, rng=np.random.default_rng(3))
    np.testing.assert_array_equal(rows, engine.random_base2(12))


# Columns.


@pytest.mark.parametrize("method", ["sobol", "random"])
def test_a_long_sample_has_the_values_of_one_in_memory(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = columns(long_sweep(method))
    shorten(monkeypatch, VALUES_IN_MEMORY, block=77)
    drawn = columns(long_sweep(method))
    parts = [slice(0, 10), slice(5000, 6000), slice(17, 3000), slice(None), slice(6700, 9999)]
    for name in RANGES:
        assert isinstance(drawn[name], Drawn)
        for part in parts:
            assert drawn[name][part].tobytes() == held[name][part].tobytes()
    assert drawn["friction"][10:10].shape == drawn["friction"][10:5].shape == (0,)


def test_describing_a_long_sample_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 10^11 points neither reading it nor its fingerprint nor its chunks take any."""

    def refuse(*_: object) -> None:
        raise AssertionError("drawn")

    monkeypatch.setattr(long_values.SampleColumns, "column", refuse)
    planned = long_sweep(points=10**11)
    assert planned.n_points == 10**11
    assert fingerprint(recipe(planned)) != fingerprint(recipe(long_sweep(points=10**11 - 1)))
    assert sum(c.n_points for c in chunks(planned.grid.shape, chunk_shape(planned))) == 10**11


# Stores.


@pytest.mark.parametrize("method", ["sobol", "random"])
def test_a_long_sample_gives_the_results_of_a_short_one(
    method: str, tmp_path: Path, short_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From coordinates read by stretches, in chunks that go across them."""
    request = document({**SOBOL, "method": method, "points": LONG}, run={"chunk_points": 300})
    dataset = sweep.run(request, store=tmp_path / "a.zarr")
    store = Store.open(tmp_path / "a.zarr")
    assert isinstance(columns(store.sweep)["friction"], group.Stored)
    assert {file.name for file in (tmp_path / "a.zarr" / "friction" / "c").iterdir()} == {
        *map(str, range(-(-LONG // 900)))  # whole chunks of results
    }
    in_memory = sweep.run(request, store=None)
    monkeypatch.undo()
    expected = sweep.run(request, store=None)
    for name in (*RANGES, "wear_power", "status"):
        assert dataset[name].values.tobytes() == expected[name].values.tobytes()
        assert in_memory[name].values.tobytes() == expected[name].values.tobytes()
    assert np.all(expected["status"] == Status.ok)
    assert sweep.run(request, store=tmp_path / "a.zarr").sizes == dataset.sizes  # it is recognised


def test_another_long_sample_is_refused_and_a_longer_one_extends_the_store(
    tmp_path: Path, short_parts: None
) -> None:
    first = long_sweep()
    store = Store.create(tmp_path / "a.zarr", first, provenance={})
    for other in (long_sweep(seed=8), long_sweep(points=LONG + 1), long_sweep("random")):
        with pytest.raises(StoreError, match="axis point, "):
            Store.create(tmp_path / "a.zarr", other, provenance={})
    assert Store.create(tmp_path / "a.zarr", long_sweep(), provenance={}).n_chunks == store.n_chunks
    with pytest.raises(StoreError, match="value 1 of base_acceleration is "):
        Store.extend(tmp_path / "a.zarr", long_sweep(seed=8, points=2 * LONG))
    longer = Store.extend(tmp_path / "a.zarr", long_sweep(points=2 * LONG))
    right = columns(long_sweep(points=2 * LONG))
    for name, values in columns(longer.sweep).items():
        assert values[:].tobytes() == right[name][:].tobytes()


@pytest.mark.parametrize("fault", ["lacks a file", "cannot be read"])
def test_a_damaged_long_coordinate_is_reported(
    fault: str, tmp_path: Path, short_parts: None
) -> None:
    store = Store.create(tmp_path / "a.zarr", long_sweep(), provenance={}, chunk_points=1000)
    assert verify(store) == []
    file = tmp_path / "a.zarr" / "friction" / "c" / "3"
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(content) if fault == "cannot be read" else file.unlink()
    first, _, _, fourth, *_ = store.pending()
    assert points(store.sweep, first).n_points == 1000
    with pytest.raises(StoreError, match=f"coordinate friction {fault}"):
        points(store.sweep, fourth)
    with pytest.raises(StoreError, match=f"coordinate friction {fault}"):
        verify(store)


def test_memory_does_not_grow_with_the_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Making the store and computing chunks of it: 8 bytes a value would show."""
    shorten(monkeypatch, 2**12, block=2**12)
    peaks: dict[int, int] = {}
    for n in (2**14, 2**14, 2**18):  # the first time, modules are imported
        tracemalloc.start()
        store = Store.create(tmp_path / f"{n}.zarr", long_sweep(points=n), provenance={})
        chunk_inputs = points(
            store.sweep, replace(store.pending()[0], start=(n // 2,), shape=(2**10,))
        )
        peaks[n] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert chunk_inputs.n_points == 2**10
    assert peaks[2**18] - peaks[2**14] < 0.1 * 2 * 8 * (2**18 - 2**14)


def test_results_too_large_for_memory_are_refused() -> None:
    """A real output, a status and two coordinates: 8 + 1 + 2 · 8 bytes a point."""
    with pytest.raises(MachineError, match=r"points take 2,500\.0 GB, and .* in a store"):
        sweep.run(document({**SOBOL, "points": 10**11}), store=None)


@pytest.mark.usefixtures("quick_probe")
def test_a_long_sample_is_forecast_from_its_first_points(tmp_path: Path) -> None:
    planned = long_sweep(points=10**8)
    request = Request(planned, RunOptions(workers=1), "long")
    estimate = forecast(request, tmp_path / "a")
    assert estimate.points_pending == 10**8
    assert estimate.bytes_on_disk > 10**8 * (8 + 1 + 2 * 8)  # output, status, two coordinates
    assert estimate.bytes_of_memory < 10**8
    assert estimate.seconds is not None


MAKER = """
import sys
import pytest
from sweep.store import Store
from tests.file import test_sample_long as test
test.shorten(pytest.MonkeyPatch(), test.VALUES_IN_MEMORY)
Store.create(sys.argv[1], test.long_sweep(points=3_000_000), provenance={})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_kill_while_a_store_is_created_leaves_none(tmp_path: Path) -> None:
    maker = Forked(["-c", MAKER, str(tmp_path / "a.zarr")], cwd=CHECKOUT, env=environment())
    while not list(tmp_path.glob(".a.zarr.*.partial/friction/c/5")):
        assert maker.poll() is None
        time.sleep(0.005)
    maker.send_signal(signal.SIGKILL)
    maker.wait()
    assert [path for path in tmp_path.iterdir() if not path.name.startswith(".")] == []
    dataset = sweep.run(document({**SOBOL, "points": 100}), store=tmp_path / "a.zarr")
    assert dataset.sizes["point"] == 100
    assert not list(tmp_path.glob("*.partial"))
