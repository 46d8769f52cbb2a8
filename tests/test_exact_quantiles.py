"""Exact quantiles: the ⌈qn⌉-th smallest of the stored points, by a second pass over the points."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import sweep
from sweep import api
from sweep.backends import Computed
from sweep.backends.cpu import CpuBackend
from sweep.config import load
from sweep.config.stored import text_of
from sweep.engine import loop
from sweep.engine.loop import run
from sweep.errors import MachineError
from sweep.forecast import forecast_of
from sweep.options import RunOptions
from sweep.plan.point_columns import points as points_of
from sweep.request import Sweep
from sweep.spec import Status
from sweep.statistics import again
from sweep.statistics.partial import Kept
from sweep.store import InStretches, MemoryResults, Store, in_stretches, remaining
from sweep.summary import state
from sweep.work import Chunk, Points
from tests.backends.wrapped import WrappedBackend
from tests.command import Run
from tests.oracles import statistics as oracle
from tests.store.test_store import tree
from tests.test_reduced_sweeps import (
    SWEEP,
    Stopping,
    assert_resumed_bits,
    chunks_of_a_killed_run,
    damage,
)

LEVELS = ("0.05", "0.5", "0.95")
POINTS = {**SWEEP, "axes": {"base_acceleration": {"linspace": [0.5, 15.0, 5]}}}
EXACT: Mapping[str, Any] = {
    **POINTS,
    "reduce": {
        "exact_quantiles": True,
        "wear_power": ["mean", *(f"quantile {level}" for level in LEVELS)],
        "slip_phases": ["quantile 0.5"],
        "regime": ["share"],
    },
}


@pytest.fixture(scope="module")
def points() -> xr.Dataset:
    return sweep.run(POINTS, store=None)


@pytest.fixture(scope="module")
def cells(points: xr.Dataset) -> xr.Dataset:
    """All cells in one chunk, so that their points are at hand; the quantiles are the oracle's."""
    quantiles = sweep.run(EXACT, store=None)
    for name in ("wear_power", "slip_phases"):
        exact = [
            [oracle.quantile(row.tolist(), level) for level in LEVELS]
            for row in points[name].values
        ]
        np.testing.assert_array_equal(quantiles[f"{name}_quantile"], exact)
    return quantiles


@contextmanager
def bins(most: int) -> Iterator[None]:
    """Passes with at most that many bins; if they are few, several passes are needed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(again, "MAX_COUNTED_VALUES", most)
        yield


@pytest.fixture
def few() -> Iterator[None]:
    with bins(8):
        yield


def exact(**tables: Any) -> dict[str, Any]:
    return {**EXACT, **tables}


def resumed(path: Path, document: Mapping[str, Any], **options: Any) -> xr.Dataset:
    dataset = sweep.run(document, store=path, **options)
    assert not Store.open(path).pieces.names()
    return dataset.load()


@pytest.mark.broad
@settings(max_examples=4, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    chunk_points=st.integers(50, 1100),
    workers=st.integers(1, 3),
    computed=st.integers(0, 50),
    backends=st.lists(st.sampled_from(["cpu", "gpu"]), min_size=2, max_size=2),
    most=st.sampled_from([8, 2**21]),
)
def test_chunks_workers_stops_and_backends_change_no_bit(
    cells: xr.Dataset,
    chunk_points: int,
    workers: int,
    computed: int,
    backends: list[str],
    most: int,
) -> None:
    """A run that is stopped in whichever pass, and another one that resumes it."""
    request = load(exact(run={"workers": workers, "chunk_points": chunk_points}))
    with bins(most):
        assert_resumed_bits(request, computed, backends, cells)


@pytest.mark.broad
def test_a_killed_run_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    """25 stretches of 40 points in each pass, of which those that were written are kept."""
    document = exact(run={"workers": 2, "chunk_points": 40})
    whole = tmp_path / "whole.zarr"
    sweep.run(document, store=whole)
    path, written = tmp_path / "killed.zarr", 0
    for count in (20, 24):
        now = chunks_of_a_killed_run(path, document, count)
        assert now >= written + count - 2  # another one may be killed while it writes
        written = now
    assert 25 < written < state(Store.open(path)).chunks_total == 50
    resumed(path, document)
    assert tree(path) == tree(whole)


def test_points_of_a_whole_chunk_are_computed_once(cells: xr.Dataset) -> None:
    """Their values are at hand. Others count twice, from the beginning of a run to its end."""
    for size, times in ((1000, 1), (200, 1), (77, 2)):
        results = MemoryResults(load(EXACT).sweep, chunk_points=size)
        assert remaining(results).points_total == remaining(results).points_left == 1000 * times
        assert remaining(results).points_again == 1000 * (times - 1)
        counts: list[tuple[int, int]] = []
        summary = run(results, report=lambda p, s=counts: s.append((p.points_done, p.points_total)))
        assert summary.points == 1000 * times
        assert {total for _, total in counts} == {1000 * times}
        assert counts == sorted(counts)
        assert counts[-1][0] == 1000 * times
        assert summary.counts == {Status.ok: 1000}
        xr.testing.assert_equal(results.dataset(), cells)


@pytest.mark.usefixtures("few")
def test_a_pass_keeps_no_more_than_its_bins(cells: xr.Dataset) -> None:
    """Whatever the number of values in them, which a third and a fourth pass tell apart."""
    results = MemoryResults(load(EXACT).sweep, chunk_points=77)
    sizes: list[int] = []

    class Watched(WrappedBackend):
        def compute(self, sweep: Sweep, points: Points, stop: Event | None = None) -> Computed:
            result = self.real.compute(sweep, points, stop)
            if points.again is not None:
                sizes.extend(len(a) for name, a in result.arrays.items() if name.endswith("bins"))
            return result

    summary = run(results, open_backend=lambda _: Watched(CpuBackend()))
    assert summary.points > 3 * 1000
    assert max(sizes) <= 8
    xr.testing.assert_equal(results.dataset(), cells)


class FailsAgain(WrappedBackend):
    """Fails in the second pass over some points."""

    def compute(self, sweep: Sweep, points: Points, stop: Event | None = None) -> Computed:
        power = points.columns["base_acceleration"].values[0]
        if points.again is not None and points.first == 100 and power == 15.0:
            raise RuntimeError("a bug")
        return self.real.compute(sweep, points, stop)


def test_points_that_fail_in_the_second_pass_count_as_failed(
    cells: xr.Dataset, tmp_path: Path
) -> None:
    document, path = exact(run={"chunk_points": 50, "workers": 1}), tmp_path / "a.zarr"
    kept, _ = api.compute(load(document), path, open_backend=lambda _: FailsAgain(CpuBackend()))
    dataset = kept.dataset().load()
    assert dataset.points_by_status.sel(status_class="failed").values.tolist() == [0, 0, 0, 0, 50]
    assert dataset.status.values.tolist() == [0, 0, 0, 0, Status.failed]
    expected = cells.wear_power_quantile.where(cells.base_acceleration != 15.0)
    np.testing.assert_array_equal(dataset.wear_power_quantile, expected)
    xr.testing.assert_equal(resumed(path, document, retry_failed=True), cells)


class Shifted(WrappedBackend):
    """Computes other values in the second pass over one cell, as another kernel would."""

    def compute(self, sweep: Sweep, points: Points, stop: Event | None = None) -> Computed:
        if points.again is None or points.columns["base_acceleration"].values.max() != 15.0:
            return self.real.compute(sweep, points, stop)
        friction = points.columns["friction"]
        other = type(friction)(friction.values * 1.5, friction.repeat)
        columns = {**points.columns, "friction": other}
        return self.real.compute(sweep, type(points)(**{**vars(points), "columns": columns}), stop)


def test_other_values_in_the_second_pass_end_the_run(cells: xr.Dataset, tmp_path: Path) -> None:
    """A quantile of neither is written; the next run repeats the first pass over the cell."""
    document, path = exact(run={"chunk_points": 50, "workers": 1}), tmp_path / "a.zarr"
    with pytest.raises(MachineError, match=r"other values of wear_power .* run the same sweep"):
        api.compute(load(document), path, open_backend=lambda _: Shifted(CpuBackend()))
    xr.testing.assert_equal(resumed(path, document), cells)


def test_what_a_pass_begins_with_is_damaged(cells: xr.Dataset, tmp_path: Path) -> None:
    """The first pass over the cell is repeated."""
    document, path = exact(run={"chunk_points": 50, "workers": 1}), tmp_path / "a.zarr"
    stop = Event()
    stopping = Stopping(stop, 23)
    api.compute(load(document), path, None, stop, open_backend=lambda _: stopping)
    kept = Store.open(path)
    begins = [name for name in kept.pieces.names() if name.endswith("/pass-1.200")]
    assert len(begins) == 5
    damage(kept, begins)
    xr.testing.assert_equal(resumed(path, document), cells)


def test_pieces_of_an_earlier_version_are_used(cells: xr.Dataset, tmp_path: Path) -> None:
    """It kept each value: a bin was a double, as a whole number in the order of the values."""
    request = load(exact(run={"chunk_points": 50}))
    kept = Store.create(tmp_path / "a.zarr", request.sweep, chunk_points=50, provenance={})
    results, backend = in_stretches(kept), CpuBackend()
    reduction = kept.sweep.reduction
    assert reduction is not None
    for chunk in results.pending():
        points_of_chunk = points_of(kept.sweep, chunk)
        arrays = backend.compute(kept.sweep.of_points, points_of_chunk).arrays
        piece = dict(Kept(reduction).of(arrays, 1, chunk.start[-1]))
        for name in ("wear_power", "slip_phases"):
            for part in ("cells", "bins", "counts"):
                del piece[f"{name}/leading_bits/{part}"]
            values, counts = np.unique(arrays[name].astype(float), return_counts=True)
            assert (values >= 0).all()
            piece[f"{name}/bits/cells"] = np.zeros(len(values), np.int64)
            piece[f"{name}/bits/bins"] = values.view(np.int64)
            piece[f"{name}/bits/counts"] = counts
        file = io.BytesIO()
        np.savez(file, **piece)
        kept.pieces.put(f"c.{chunk.index[0]}/0.{chunk.index[1]}", file.getvalue())
    assert remaining(kept).points_left == 1000  # of the second pass
    assert run(kept).points == 1000
    xr.testing.assert_equal(kept.dataset().load(), cells)


class Meanwhile(InStretches):
    """Results of which another process writes something after the first listing."""

    write_last: Callable[[], None]

    def pending(self) -> list[Chunk]:
        listed = super().pending()
        self.write_last()
        return listed

    def later(self) -> list[Chunk]:
        listed = super().later()
        self.write_last()
        return listed


def test_a_pass_that_ends_between_two_listings_is_not_counted_twice(tmp_path: Path) -> None:
    """Another process writes the last chunk of the first pass over a cell after the first one."""
    request = load(exact(run={"chunk_points": 50}))
    kept = Store.create(tmp_path / "a.zarr", request.sweep, chunk_points=50, provenance={})
    results, backend = InStretches(kept), CpuBackend()
    left = [chunk for chunk in results.pending() if chunk.index[0] == 0]

    def write() -> None:
        if left:
            chunk = left.pop(0)
            results.write(chunk, backend.compute(kept.sweep, points_of(kept.sweep, chunk)).arrays)

    while len(left) > 1:
        write()
    raced = Meanwhile(kept)
    raced.write_last = write
    pending, later = loop._left(raced, None)
    assert not left
    assert not {chunk.index for chunk in pending} & {chunk.index for chunk in later}


@pytest.mark.broad
def test_a_sample_grows_and_its_first_pass_is_kept(tmp_path: Path) -> None:
    """In stretches of 77 points, of which the last one is short, and of all 200 points."""
    longer = exact(sample={**SWEEP["sample"], "points": 260})
    whole = sweep.run(longer, store=None)
    for chunk_points, kept in ((77, 2 * 77), (200, 200)):
        path = tmp_path / f"{chunk_points}.zarr"
        sweep.run(EXACT, store=path, chunk_points=chunk_points)
        grown = Store.extend(path, load(longer).sweep)
        assert remaining(grown).points_left == 5 * (260 - kept + 260)
        assert run(grown).points == 5 * (260 - kept + 260)
        xr.testing.assert_equal(grown.dataset().load(), whole)
        assert not grown.pieces.names()


def test_shards_take_a_second_round(cells: xr.Dataset, tmp_path: Path) -> None:
    """The second pass over a cell begins when all shards have done their part of the first."""
    path = tmp_path / "a.zarr"
    request = load(exact(run={"chunk_points": 50, "workers": 1}))
    left: list[int] = []
    for shard in ((1, 2), (2, 2), (1, 2)):
        options = RunOptions(shard=shard, workers=1, chunk_points=50)
        run(Store.open(path) if left else api.open_store(request, path), options)
        left.append(remaining(Store.open(path)).points_left)
    assert left == [1500, 500, 0]
    xr.testing.assert_equal(Store.open(path).dataset().load(), cells)


@pytest.mark.usefixtures("quick_probe")
def test_shards_of_many_cells_take_one_round(tmp_path: Path) -> None:
    """Each has whole cells, here four, and so both passes over them."""
    axes = {"base_acceleration": {"linspace": [0.5, 15.0, 8]}}
    request = load(exact(axes=axes, run={"chunk_points": 50, "workers": 1}))
    path, left = tmp_path / "a.zarr", list[int]()
    for shard in ((2, 2), (1, 2)):
        options = RunOptions(shard=shard, workers=1, chunk_points=50)
        forecast = forecast_of(replace(request, options=options), path)
        assert forecast.points_pending == 1600
        run(Store.open(path) if left else api.open_store(request, path), options)
        left.append(remaining(Store.open(path)).points_left)
    assert left == [1600, 0]


@pytest.mark.usefixtures("quick_probe")
def test_commands_say_that_points_are_computed_twice(run: Run) -> None:
    """Before, during and after; and `sweep show`, what quantiles are."""
    Path("a.toml").write_text(text_of(exact(format=1)))
    again = "computed a second time, for exact quantiles"
    _, before, _ = run("run", "a.toml", "-o", "a.zarr", "--dry-run", "--chunk-points", "50")
    assert re.search(rf"points +2,000 pending; 1,000 of them {again}\n", before)
    _, shard, _ = run("run", "a.toml", "-o", "a.zarr", "--chunk-points", "50", "--shard", "1/2")
    assert "500 points now; 1,500 are pending in all" in shard
    assert f"500 points of this shard are {again}\n" in shard
    assert "next, when all shards have ended: sweep run a.toml" in shard
    _, status, _ = run("status", "a.zarr")
    assert (
        f"500 of 2,000 points done (25.0 %), 10 of 40 chunks\nof these, 1,000 are {again}" in status
    )
    _, left, _ = run("run", "a.toml", "-o", "a.zarr", "--dry-run")
    assert f"1,500 pending, of 2,000; 1,000 of them {again}" in left
    _, after, _ = run("run", "a.toml", "-o", "a.zarr")
    assert f"2,000 points (1,000 {again}), 1,500 of them now" in after
    assert re.search(r"quantiles +exact\n", run("show", "a.zarr")[1])
