"""Figures over all points are those of NumPy, however the results are cut to be read."""

from __future__ import annotations

import math
import time
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import sweep.summary
from sweep.cli.watching import Look
from sweep.spec import Status
from sweep.store import Store
from sweep.summary import blocks, contents, coordinates, state
from tests.store.test_store import SWEEP, create, finish, results_of
from tests.test_plan import linear, sweep_over

BLOCKS = (1, 10, 28, 40, 2**20)  # points at once: less than a row, a row and more, a chunk, all


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = create(tmp_path_factory.mktemp("summary") / "a.zarr")
    finish(store)
    return store


@pytest.mark.parametrize("points", BLOCKS)
def test_contents_are_those_of_the_whole(
    store: Store, monkeypatch: pytest.MonkeyPatch, points: int
) -> None:
    monkeypatch.setattr(sweep.summary, "BLOCK_POINTS", points)
    found = contents(store.dataset())
    grid = np.arange(SWEEP.n_points)
    ok = grid % 11 != 5
    assert found.counts == {Status.ok: ok.sum(), Status.diverged: (~ok).sum()}
    power, slips = found.ranges["wear_power"], found.ranges["slip_phases"]
    assert (power.least, power.greatest) == (math.sqrt(0.1), math.sqrt(grid[ok].max() + 0.1))
    assert power.mean == pytest.approx(np.sqrt(grid[ok] + 0.1).mean(), rel=1e-15)
    assert (slips.least, slips.mean, slips.greatest) == (0, grid[ok].mean(), grid[ok].max())
    shares = [np.mean(grid[ok] % 3 == code) for code in range(3)]
    assert found.shares == {
        "regime": dict(zip(("stick", "stick_slip", "slip_slip"), shares, strict=True))
    }


@pytest.mark.parametrize("points", BLOCKS)
def test_blocks_hold_every_point_once_in_order_and_whole_chunks(
    store: Store, monkeypatch: pytest.MonkeyPatch, points: int
) -> None:
    monkeypatch.setattr(sweep.summary, "BLOCK_POINTS", points)
    dataset = store.dataset()
    parts = list(blocks(dataset))
    assert len(parts) == (1 if points >= SWEEP.n_points else store.n_chunks)
    together = np.concatenate([part["wear_power"].values.ravel() for part in parts])
    np.testing.assert_array_equal(together, dataset["wear_power"].values.ravel())
    for part in parts:
        assert part["status"].size <= max(points, math.prod(store.chunk_shape))
        assert part.sizes["friction"] % store.chunk_shape[0] == 0 or part is parts[-1]


def test_results_of_no_axis_are_one_block(tmp_path: Path) -> None:
    single = create(tmp_path / "a.zarr", sweep_over())
    finish(single)
    found = contents(single.dataset())
    assert found.counts == {Status.ok: 1}
    assert found.shares["regime"] == {"stick": 1.0, "stick_slip": 0.0, "slip_slip": 0.0}


def test_a_store_without_a_finished_point_has_no_figures(tmp_path: Path) -> None:
    found = contents(create(tmp_path / "a.zarr").dataset())
    assert found.counts == {Status.pending: SWEEP.n_points}
    assert all(math.isnan(value) for value in vars(found.ranges["wear_power"]).values())
    assert all(math.isnan(share) for share in found.shares["regime"].values())


def test_memory_is_that_of_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep_ = sweep_over(linear("friction", 0.0, 1.0, 512), linear("mass", 1.0, 2.0, 2048))
    large = create(tmp_path / "a.zarr", sweep_, 2**14)
    finish(large)
    monkeypatch.setattr(sweep.summary, "BLOCK_POINTS", 2**14)
    contents(create(tmp_path / "b.zarr").dataset())  # what is imported late is not counted
    tracemalloc.start()
    contents(large.dataset())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < sweep_.n_points * 8 / 4  # a quarter of one output


def test_state_counts_what_is_done(tmp_path: Path) -> None:
    store = create(tmp_path / "a.zarr")
    first, *others = store.pending()
    store.write(first, results_of(SWEEP, first))
    found = state(store)
    assert (found.points_done, found.points_total) == (28, 70)
    assert (found.chunks_done, found.chunks_total) == (1, 3)
    assert found.counts[Status.pending] == sum(chunk.n_points for chunk in others)
    assert found.points_per_second is found.seconds_left is found.last_written is None


NOON = 1_700_000_000.0  # s since 1970


def receipt(seconds_ago: float, pid: int, points: int, seconds: float = 2.0) -> dict[str, object]:
    written = datetime.fromtimestamp(NOON - seconds_ago, UTC).isoformat()
    return {"time": written, "pid": pid, "points": points, "seconds": seconds}


def test_status_and_watch_report_the_same_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of all processes which have written recently, not of an earlier run."""
    monkeypatch.setattr(time, "time", lambda: NOON)
    store = create(tmp_path / "a.zarr")
    for each in (receipt(5000, 9, 10**9), receipt(18, 1, 100), receipt(8, 2, 50), receipt(0, 1, 9)):
        store.append_receipt(each)
    shown = state(store)
    watched = Look.of(store, SWEEP.n_points)
    assert shown.points_per_second == watched.flow.points_per_second == pytest.approx(159 / 20)
    assert shown.seconds_left == watched.seconds_left


def test_the_rate_of_an_idle_store_is_that_of_the_last_minute_of_writing(tmp_path: Path) -> None:
    store = create(tmp_path / "a.zarr")
    for each in (receipt(1000, 1, 10**9), receipt(4, 1, 100), receipt(2, 2, 100)):
        store.append_receipt(each)
    store.append_receipt({"chunk": [0], "error": "no points", "points": 1} | receipt(0, 2, 100))
    store.append_receipt({"time": "2026-01-01T00:00:00+00:00"})  # of no chunk
    assert state(store).points_per_second == 300 / 6


@pytest.mark.parametrize("seconds", [None, 0.0], ids=["nothing written", "a coarse clock"])
def test_an_unknown_rate(tmp_path: Path, seconds: float | None) -> None:
    store = create(tmp_path / "a.zarr")
    if seconds is not None:
        store.append_receipt(receipt(0, 1, 100, seconds))
    assert state(store).points_per_second is None


def test_coordinates_are_axes_and_constants(store: Store) -> None:
    along, single = coordinates(store.dataset())
    assert list(along) == ["friction", "base_acceleration"]
    assert set(single) == set(SWEEP.constants)
