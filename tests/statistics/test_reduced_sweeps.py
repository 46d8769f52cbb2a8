"""Sweeps with [reduce]: statistics of the stored points, the same bits however they are run."""

from __future__ import annotations

import errno
import functools
import json
import math
import os
import signal
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy import stats

import sweep
from sweep import api
from sweep.engine.driver import open_store, run_in_store
from sweep.engine.ledger import failed_arrays
from sweep.engine.loop import run
from sweep.errors import MachineError, StoreError
from sweep.file import Request, load
from sweep.kernel.backend import Backend, Computed, Stopped, Then
from sweep.kernel.cpu import CpuBackend
from sweep.kernel.gpu import GpuBackend
from sweep.model.table import Status
from sweep.points import chunking, columns
from sweep.request.chunk import Chunk, Points
from sweep.request.options import RunOptions
from sweep.request.sweeps import AnySweep, Reduced, Sweep
from sweep.results.summary import state
from sweep.sampling.drawing import columns_of
from sweep.statistics.counts import reduced_counts
from sweep.statistics.partial import Kept
from sweep.store import Arrays, Blocks, Store, remaining, target_of
from sweep.store.target import EARLIER, InFiles
from tests.command import environment
from tests.file.test_sample import PARAMETERS
from tests.forked import CHECKOUT, run_python
from tests.gpu.twin import TwinDevice
from tests.kernel.wrapped import WrappedBackend
from tests.oracles import statistics as oracle
from tests.store.injected import fail_writing
from tests.store.test_store import tree

OUTPUTS = ["wear_power", "slip_phases", "regime"]
SWEEP: Mapping[str, Any] = {
    "model": "friction_oscillator",
    "outputs": OUTPUTS,
    "parameters": PARAMETERS,
    "axes": {
        "base_acceleration": {"linspace": [0.5, 15.0, 5]},
        "vertical_acceleration": {"values": [0.0, 2.0, 11.0]},
    },
    "sample": {"method": "sobol", "points": 200, "seed": 1, "friction": {"uniform": [0.05, 0.4]}},
}
STATISTICS = {
    "wear_power": [
        "mean",
        "standard_deviation",
        "minimum",
        "maximum",
        "quantile 0.05",
        "quantile 0.95",
        "share above 2 W",
        "histogram 8",
    ],
    "slip_phases": ["mean", "maximum"],
    "regime": ["share"],
}

# Kills its own process when it is about to put or remove a file for the n-th time, or a thread is.
RUNNER = """
import itertools, json, os, signal, sys, sweep
from sweep.store.store_files import LocalFiles
calls, n = itertools.count(1), int(sys.argv[3])
def counted(method):
    def call(self, key, *arguments):
        if key.startswith("status") and next(calls) == n:
            os.kill(os.getpid(), signal.SIGKILL)
        return method(self, key, *arguments)
    return call
LocalFiles.put, LocalFiles.remove = counted(LocalFiles.put), counted(LocalFiles.remove)
sweep.run(json.loads(sys.argv[2]), store=sys.argv[1])
"""


def reduced(over: list[str] | None = None, **tables: Any) -> dict[str, Any]:
    table = {**({"over": over} if over else {}), **STATISTICS}
    return {**SWEEP, "reduce": table, **tables}


class Stopping(WrappedBackend):
    """Stops the run once it has computed so many chunks."""

    def __init__(self, stop: Event, after: int, real: Backend | None = None) -> None:
        super().__init__(real or CpuBackend())
        self._run, self._left = stop, after

    def compute(
        self, sweep: Sweep, points: Points, stop: Event | None = None, then: Then | None = None
    ) -> Computed:
        self._left -= 1
        if self._left < 0:
            self._run.set()
            raise Stopped
        return self.real.compute(sweep, points, stop, then)


def assert_resumed_bits(
    request: Request, computed: int, backends: list[str], expected: xr.Dataset
) -> None:
    """A run is stopped after so many chunks, and another one, on another backend, resumes it."""

    def backend_of(name: str) -> Backend:
        return CpuBackend() if name == "cpu" else GpuBackend(TwinDevice(memory=1 << 14))

    with TemporaryDirectory() as folder:
        path, stop = Path(folder, "a.zarr"), Event()
        stopping = Stopping(stop, computed, backend_of(backends[0]))
        api.compute(request, path, None, stop, open_backend=lambda _: stopping)
        kept, _ = api.compute(request, path, open_backend=lambda _: backend_of(backends[1]))
        xr.testing.assert_equal(kept.dataset().load(), expected)
        assert not kept.blocks.names()


def kill(path: Path, document: Mapping[str, Any], count: int) -> bool:
    """Whether a run killed itself at its n-th change of a file beside the status; else it ends."""
    command = ["-c", RUNNER, str(path), json.dumps(document), str(count)]
    done = run_python(command, cwd=CHECKOUT, env=environment())
    assert done.returncode in (0, -signal.SIGKILL)
    return done.returncode != 0


def opened(document: Mapping[str, Any], path: Path, chunk_points: int) -> tuple[Store, Blocks]:
    """A new store, and its blocks."""
    kept = Store.create(path, load(document).sweep, chunk_points=chunk_points, provenance={})
    return kept, Blocks(kept)


def write(blocks: Blocks, some: Iterable[Chunk]) -> None:
    """Compute and write these blocks."""
    backend = CpuBackend()
    for block in some:
        points = columns.points(blocks.sweep, block)
        then = blocks.kept.then(points)
        blocks.write(block, backend.compute(blocks.sweep.points, points, then=then).arrays)


def damage(kept: Store, names: Iterable[str]) -> None:
    """Overwrite the end of these blocks."""
    for name in names:
        content = kept.blocks.read(name)
        assert content is not None
        kept.blocks.put(name, content[:-200] + bytes(200))


@pytest.fixture(scope="module")
def points() -> xr.Dataset:
    """Every point; those with too much vertical shaking are outside validity."""
    return sweep.run(SWEEP, store=None)


@pytest.fixture(scope="module")
def cells() -> xr.Dataset:
    return sweep.run(reduced(), store=None)


@pytest.mark.parametrize(
    "over",
    [["point"], ["base_acceleration"], ["vertical_acceleration", "point"], list(SWEEP["axes"])],
)
def test_statistics_are_those_of_the_stored_points(points: xr.Dataset, over: list[str]) -> None:
    statistics = sweep.run(reduced(over), store=None, chunk_points=77)
    kept = [name for name in points.status.dims if name not in over]
    assert list(statistics.status.dims) == kept
    ok = points.status == Status.ok
    power = points.wear_power
    count = ok.sum(over)
    np.testing.assert_array_equal(statistics.status == Status.ok, count > 0)
    np.testing.assert_allclose(statistics.wear_power_mean, power.mean(over), rtol=1e-13, atol=0)
    np.testing.assert_array_equal(statistics.wear_power_minimum, power.min(over))
    np.testing.assert_array_equal(statistics.wear_power_maximum, power.max(over))
    above = (power > 2).sum(over) / count.where(count > 0)
    np.testing.assert_array_equal(
        statistics.wear_power_share_above.sel(wear_power_threshold=2), above
    )
    deviation = power.std(over, ddof=1)
    np.testing.assert_allclose(
        statistics.wear_power_standard_deviation, deviation, rtol=1e-9, atol=0
    )
    phases = points.slip_phases.where(ok).max(over)
    np.testing.assert_array_equal(statistics.slip_phases_maximum, phases)
    names = points.regime.attrs["flag_meanings"].split()
    for code, name in enumerate(names):
        share = ((points.regime == code) & ok).sum(over) / count.where(count > 0)
        np.testing.assert_array_equal(statistics.regime_share.sel(regime_class=name), share)
    for status in (Status.ok, Status.outside_validity):
        by_status = statistics.points_by_status.sel(status_class=status.name)
        np.testing.assert_array_equal(by_status, (points.status == status).sum(over))
    rows = power.stack(cell=[*kept], sample=over) if kept else power.stack(sample=over)
    flat = np.atleast_2d(rows.transpose(..., "sample").values)
    quantiles = np.atleast_2d(statistics.wear_power_quantile.stack(cell=kept).T) if kept else None
    quantiles = statistics.wear_power_quantile.values[None] if quantiles is None else quantiles
    for row, own in zip(flat, quantiles, strict=True):
        values = row[~np.isnan(row)].tolist()
        exact = [oracle.quantile(values, q) if values else np.nan for q in ("0.05", "0.95")]
        np.testing.assert_allclose(own, exact, rtol=2**-8)


@pytest.mark.broad
@settings(max_examples=4, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    chunk_points=st.integers(150, 4000),
    workers=st.integers(1, 3),
    computed=st.integers(0, 40),
    backends=st.lists(st.sampled_from(["cpu", "gpu"]), min_size=2, max_size=2),
)
def test_chunks_workers_stops_and_backends_change_no_bit(
    cells: xr.Dataset, chunk_points: int, workers: int, computed: int, backends: list[str]
) -> None:
    """A run that is stopped after some chunks, and another one that resumes it."""
    request = load(reduced(run={"workers": workers, "chunk_points": chunk_points}))
    assert_resumed_bits(request, computed, backends, cells)


@pytest.mark.parametrize(("bound", "on_host"), [(None, False), (36_000, False), (18_000, True)])
def test_a_device_changes_no_bit(cells: xr.Dataset, bound: int | None, on_host: bool) -> None:
    """Points are reduced there, in smaller launches if they must, or on the host.

    They leave the device only where it has too little memory for the 14 bytes of each of 1,800. One
    worker alone uses it: of two, one might hold all of a small memory while the other asks for the
    least that a launch needs.
    """
    twin = TwinDevice(memory=1 << 14, bound=bound)
    results = Arrays(load(reduced()).sweep, chunk_points=1400)
    run(target_of(results), RunOptions(workers=1), open_backend=lambda _: GpuBackend(twin))
    xr.testing.assert_equal(results.dataset(), cells)
    assert bool(twin.refused) == (bound is not None)
    assert (twin.sent >= 14 * 3000) == on_host
    assert twin.used == 0


def test_no_point_leaves_a_device() -> None:
    """What is sent is as much for 16 times the points, but for bins of quantiles."""

    def sent(points: int, **statistics: list[str]) -> int:
        twin = TwinDevice()
        document = {**sampled_long(points), "outputs": [*statistics], "reduce": statistics}
        whole = load(document, ["base_acceleration=15"]).sweep  # powers of a few octaves
        points_of_cell, then = one_cell(whole)
        GpuBackend(twin, budget=1000).compute(whole.points, points_of_cell, then=then)
        return twin.sent

    without = [text for text in STATISTICS["wear_power"] if not text.startswith("quantile")]
    few, many = (sent(2**n, wear_power=without, regime=["share"]) for n in (8, 12))
    assert few == many < 2**11
    few, many = (sent(2**n, wear_power=["quantile 0.5"]) for n in (12, 16))
    bins_of_an_octave = 2**7
    assert many - few < 24 * bins_of_an_octave


def test_a_killed_run_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    """Every block that was written is kept: 60 in all, of 50 points."""
    document = reduced(run={"workers": 2, "chunk_points": 50})
    whole = tmp_path / "whole.zarr"
    sweep.run(document, store=whole)
    path, written = tmp_path / "killed.zarr", 0
    for count in (3, 10, 21):
        assert kill(path, document, count)
        now = state(Store.open(path)).chunks_done
        # Of each cell, four blocks are put and removed, and its status and nodes put.
        assert now >= written + count // 3 - 2
        written = now
    assert 0 < written < 60
    sweep.run(document, store=path)
    assert not Store.open(path).blocks.names()
    assert tree(path) == tree(whole)


@pytest.mark.parametrize("extended", [False, True])
def test_a_kill_at_any_moment_of_a_merge_loses_nothing(tmp_path: Path, extended: bool) -> None:
    """One cell of two blocks and a short one, whose blocks, nodes and status come and go.

    With `extended`, it begins with the nodes of a smaller sample.
    """
    axes = {"base_acceleration": {"values": [3.0]}}
    document = reduced(axes=axes, run={"workers": 1, "chunk_points": 77})
    shorter = {**document, "sample": {**SWEEP["sample"], "points": 100}}
    whole = tmp_path / "whole.zarr"
    sweep.run(document, store=whole)
    expected = {name: content for name, content in tree(whole).items() if "/0" in name}
    sizes = [77, 46] if extended else [77, 77, 46]
    count, killed = 0, True
    while killed:
        count, path = count + 1, tmp_path / f"{count}.zarr"
        if extended:
            sweep.run(shorter, store=path)
            Store.extend(path, load(document).sweep)
        if killed := kill(path, document, count):
            resumed = Store.open(path)
            assert run(target_of(resumed)).points == sum(sizes[count - 1 :])
            Blocks(resumed).make_ready(RunOptions(), print)
        assert {n: c for n, c in tree(path).items() if "/0" in n} == expected
    assert count > 6


@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("moment", range(5))
def test_two_processes_may_merge_a_cell_at_once(
    cells: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int, extended: bool
) -> None:
    """While one reads blocks and removes them, another one begins and ends.

    With `extended`, the cell begins with nodes, which the other one replaces.
    """
    axes = {"base_acceleration": [0.5], "vertical_acceleration": [2.0]}
    document = reduced(axes=axes)
    shorter = {**document, "sample": {**SWEEP["sample"], "points": 100}}
    kept, blocks = opened(shorter if extended else document, tmp_path / "a.zarr", 77)
    if extended:
        write(blocks, blocks.pending())
        assert blocks.finish() == []
        longer = load(document).sweep
        kept = Store.extend(tmp_path / "a.zarr", longer, accept_revision=True)
        blocks = Blocks(kept)
    write(blocks, blocks.pending())
    other, left = Blocks(Store.open(tmp_path / "a.zarr")), [moment]

    def interrupted(self: InFiles, name: str, real: Callable[..., Any]) -> Any:
        left[0] -= 1
        if left[0] == -1:
            assert other.finish() == []
            assert kept.pending() == []
        return real(self, name)

    for method in ("read", "remove"):
        call = functools.partialmethod(interrupted, real=getattr(InFiles, method))
        monkeypatch.setattr(InFiles, method, call)
    assert blocks.finish() == []
    assert left[0] < 0
    assert (kept.pending(), kept.blocks.names()) == ([], [])
    expected = cells.isel(base_acceleration=[0], vertical_acceleration=[1])
    xr.testing.assert_equal(kept.dataset().load(), expected)


def test_a_kill_while_two_processes_merge_a_cell_loses_nothing(
    cells: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has merged it and removed its blocks, and the other one, which has read them, is killed.

    The last block is short, so that no nodes have its points.
    """
    axes = {"base_acceleration": [0.5], "vertical_acceleration": [2.0]}
    path = tmp_path / "a.zarr"
    kept, blocks = opened(reduced(axes=axes), path, 77)
    write(blocks, blocks.pending())
    other, write_statistics = Blocks(Store.open(path)), kept.write

    def write_second(cell: Chunk, arrays: Mapping[str, Any]) -> None:
        assert other.finish() == []
        write_statistics(cell, arrays)

    monkeypatch.setattr(kept, "write", write_second)
    with pytest.MonkeyPatch.context() as patched:
        fail_writing(
            patched, errno.ENOSPC, lambda path: "/wear_power_" in path and not kept.pending()
        )
        with pytest.raises(MachineError):
            blocks.finish()
    assert remaining(Store.open(path)).points_left == 0
    expected = cells.isel(base_acceleration=[0], vertical_acceleration=[1])
    xr.testing.assert_equal(kept.dataset().load(), expected)


def test_a_shard_removes_merged_blocks_while_another_one_runs(tmp_path: Path) -> None:
    """As a kill has left them that came when their cell was merged."""
    request = load(reduced(run={"chunk_points": 77}))
    kept, blocks = opened(reduced(), tmp_path / "a.zarr", 77)
    write(blocks, blocks.pending())
    left = {name: kept.blocks.read(name) for name in kept.blocks.names("c.1.1")}
    assert blocks.finish() == []
    for name, content in left.items():
        assert content is not None
        kept.blocks.put(name, content)
    with kept.lock((1, 2)):
        run_in_store(kept, replace(request, options=RunOptions(shard=(2, 2))))
    assert (len(left), kept.blocks.names()) == (3, [])


@pytest.mark.broad
def test_cells_that_a_kill_left_complete_are_completed(tmp_path: Path) -> None:
    """No block is computed again, and until then the store does not count as done."""
    document = reduced(run={"chunk_points": 50})
    kept, blocks = opened(document, tmp_path / "a.zarr", 50)
    write(blocks, blocks.pending())
    assert state(kept).chunks_done == 60 - 15  # the last block of each cell counts with its cell
    assert run(target_of(kept)).points == 0
    assert state(kept).chunks_done == 60
    xr.testing.assert_equal(kept.dataset().load(), sweep.run(document, store=None))
    assert not kept.blocks.names()


def test_damaged_blocks_and_nodes_are_computed_again(cells: xr.Dataset, tmp_path: Path) -> None:
    """Of a cell all at once; of nodes, all points before their end."""
    kept, blocks = opened(reduced(), tmp_path / "a.zarr", 20)
    write(blocks, blocks.pending())
    names = sorted(kept.blocks.names())
    damage(kept, [name for name in names if name.endswith(("-20", "-60", "-180"))])
    assert run(target_of(kept)).points == 3 * 15 * 20
    xr.testing.assert_equal(kept.dataset().load(), cells)
    assert kept.nodes.names("c.1.1") == ["c.1.1/10"]
    kept.nodes.put("c.1.1/10", b"damaged")
    longer = reduced(sample={**SWEEP["sample"], "points": 220})
    grown = Store.extend(tmp_path / "a.zarr", load(longer).sweep, accept_revision=True)
    assert run(target_of(grown)).points == 14 * 20 + 220
    xr.testing.assert_equal(grown.dataset().load(), sweep.run(longer, store=None))


class Failing(WrappedBackend):
    """Fails in one block of the cells with the largest acceleration, as long as it is `broken`."""

    broken = True

    def compute(
        self, sweep: Sweep, points: Points, stop: Event | None = None, then: Then | None = None
    ) -> Computed:
        power = float(points.columns["base_acceleration"].values[0])
        if self.broken and points.first == 100 and power == 15.0:
            raise RuntimeError("a bug")
        return self.real.compute(sweep, points, stop, then)


@pytest.mark.broad
def test_failed_points_are_counted_and_retried(tmp_path: Path) -> None:
    document = reduced(run={"chunk_points": 100, "workers": 1})
    path = tmp_path / "a.zarr"
    request = load(document)
    kept, _ = api.compute(request, path, open_backend=lambda _: Failing(CpuBackend()))
    dataset = kept.dataset().load()
    failed = dataset.points_by_status.sel(status_class="failed")
    assert failed.values.tolist() == [[0] * 3] * 4 + [[100] * 3]
    assert dataset.status.values.tolist() == [[0, 0, 3]] * 5
    counts = state(kept).counts
    assert counts[Status.failed] == 300
    assert not kept.nodes.names("c.4.0")  # with which the failed points would be kept
    again = sweep.run(document, store=path, retry_failed=True)
    xr.testing.assert_equal(again.load(), sweep.run(document, store=None))


@pytest.mark.parametrize("retry_failed", [False, True])
def test_failed_blocks_of_a_cell_that_is_not_done_are_retried(
    cells: xr.Dataset, tmp_path: Path, retry_failed: bool
) -> None:
    """As `fail_fast` leaves them; other blocks are kept."""
    kept, blocks = opened(reduced(), tmp_path / "a.zarr", 50)
    first, second, third, *_ = blocks.pending()
    write(blocks, [first, second])
    blocks.write(third, failed_arrays(blocks, third))
    request = api.with_options(load(reduced()), retry_failed=retry_failed)
    assert run_in_store(kept, request).points == 3000 - (100 if retry_failed else 150)
    if retry_failed:
        xr.testing.assert_equal(kept.dataset().load(), cells)
    else:
        assert state(kept).counts[Status.failed] == 50


@pytest.mark.parametrize("workers", [1, 3])
def test_shards_merge_what_all_of_them_have_computed(
    cells: xr.Dataset, tmp_path: Path, workers: int
) -> None:
    """Cells are divided among them, so that the last of them merges all."""
    path = tmp_path / "a.zarr"
    request = load(reduced(run={"chunk_points": 77}))
    shares = list[int]()
    for i in (3, 1, 2):
        options = RunOptions(shard=(i, 3), workers=workers, chunk_points=77)
        summary = run_in_store(open_store(request, path), replace(request, options=options))
        shares.append(summary.points)
    assert shares == [15 * 46, 15 * 77, 15 * 77]
    kept = Store.open(path)
    assert (kept.pending(), kept.blocks.names()) == ([], [])
    xr.testing.assert_equal(kept.dataset().load(), cells)


@pytest.mark.broad
def test_worker_processes_write_blocks(cells: xr.Dataset, tmp_path: Path) -> None:
    """The process that leads the run merges them."""
    path = tmp_path / "a.zarr"
    dataset = sweep.run(reduced(), store=path, cluster="local", workers=2, chunk_points=77)
    xr.testing.assert_equal(dataset.load(), cells)
    assert not Store.open(path).blocks.names()
    hosts = {receipt["pid"] for receipt in Store.open(path).receipts.read()}
    assert os.getpid() not in hosts


def test_a_store_at_a_url_resumes_and_grows(cells: xr.Dataset) -> None:
    url, stop = "memory://blocks.zarr", Event()
    request = load(reduced(run={"chunk_points": 77, "workers": 2}))
    api.compute(request, url, None, stop, open_backend=lambda _: Stopping(stop, 7))
    assert Store.open(url).blocks.names()
    left = remaining(Store.open(url)).points_left
    kept, summary = api.compute(request, url)
    assert summary.points == left < 3000
    xr.testing.assert_equal(kept.dataset().load(), cells)
    assert not kept.blocks.names()
    longer = reduced(sample={**SWEEP["sample"], "points": 220})
    grown = Store.extend(url, load(longer).sweep)
    assert run(target_of(grown)).points == 15 * (220 - 2 * 77)
    xr.testing.assert_equal(grown.dataset().load(), sweep.run(longer, store=None))


def test_long_blocks_are_computed_in_parts(
    cells: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a whole number of steps, so that there are few files; the bits are the same."""
    monkeypatch.setattr("sweep.store.blocks.MAX_BLOCKS", 4)
    monkeypatch.setattr("sweep.store.blocks.MAX_CHUNK_POINTS", 30)
    kept, blocks = opened(reduced(), tmp_path / "a.zarr", 20)  # ten steps in three blocks
    assert blocks.chunk_shape == (1, 1, 80)
    first = blocks.pending()[0]
    assert [part.shape[-1] for part in blocks.parts(first)] == [30, 30, 20]
    sizes = list[int]()

    class Watched(WrappedBackend):
        def compute(
            self, sweep: Sweep, points: Points, stop: Event | None = None, then: Then | None = None
        ) -> Computed:
            sizes.append(points.n_points)
            return self.real.compute(sweep, points, stop, then)

    run(target_of(kept), RunOptions(workers=2), open_backend=lambda _: Watched(CpuBackend()))
    assert sorted({*sizes}) == [10, 20, 30]
    xr.testing.assert_equal(kept.dataset().load(), cells)


def test_no_cell_has_more_than_4096_blocks() -> None:
    steps = [1, 2, 4095, 4096, 4097, 8192, 8193, 95_367]
    for n in steps:
        results = Arrays(load(sampled_long(n)).sweep, chunk_points=1)
        blocks = Blocks(results)
        assert blocks.chunk_shape[-1] in (1, 2, 4, 32)
        assert n / 2 < 2048 or 2048 <= len(blocks.pending()) <= 4096


def test_parts_of_a_block_that_failed_count_as_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a step is no part of several, however long `chunk_points` makes it."""
    monkeypatch.setattr("sweep.store.blocks.MAX_BLOCKS", 1)
    monkeypatch.setattr("sweep.store.blocks.MAX_CHUNK_POINTS", 30)
    _, blocks = opened(reduced(), tmp_path / "a.zarr", 60)
    (block, *_) = blocks.pending()
    assert [part.shape[-1] for part in blocks.parts(block)] == [60, 60, 60, 20]
    counts = blocks.kept.counts(failed_arrays(blocks, block))
    assert reduced_counts(counts) == {Status.failed: 200}


def test_blocks_of_an_earlier_version_are_computed_again_with_a_notice(
    cells: xr.Dataset, tmp_path: Path
) -> None:
    """It divided cells otherwise; a cell that was done stays."""
    document, path = reduced(run={"chunk_points": 50, "workers": 1}), tmp_path / "a.zarr"
    stopping = Stopping(stop := Event(), 6)
    kept, _ = api.compute(load(document), path, None, stop, open_backend=lambda _: stopping)
    for name in kept.blocks.names():
        kept.blocks.remove(name)
    earlier = InFiles(kept.files, EARLIER)
    earlier.put("c.0.1/1.0", b"what nobody reads")
    with pytest.warns(UserWarning, match="an earlier version had begun cells of this store"):
        dataset = sweep.run(document, store=path)
    xr.testing.assert_equal(dataset.load(), cells)
    assert earlier.names() == []
    sweep.run(document, store=path)  # warnings are errors


@pytest.mark.broad
def test_another_reduction_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    sweep.run(reduced(), store=path)
    for other in (SWEEP, reduced(["point", "base_acceleration"])):
        with pytest.raises(StoreError, match=r"(statistics|dimensions): "):
            sweep.run(other, store=path)


@pytest.mark.broad
def test_a_store_is_its_own_sweep_file(tmp_path: Path) -> None:
    one, other = tmp_path / "a.zarr", tmp_path / "b.zarr"
    sweep.run(reduced(), store=one)
    sweep.run(one, store=other)
    assert tree(one) == tree(other)


@pytest.mark.broad
def test_axes_of_a_reduced_store_grow(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    sweep.run(reduced(), store=path)
    longer = {**SWEEP["axes"], "vertical_acceleration": {"values": [0.0, 2.0, 11.0, 3.0]}}
    Store.extend(path, load(reduced(axes=longer)).sweep)
    statistics = sweep.run(reduced(axes=longer), store=path)
    xr.testing.assert_equal(statistics.load(), sweep.run(reduced(axes=longer), store=None))


@pytest.mark.broad
@pytest.mark.parametrize(
    ("over", "chunk_points", "again"),
    [
        (["point"], 4000, 0),  # all points of several cells in a chunk
        pytest.param(["point"], 20, 0, marks=pytest.mark.broad),  # 10 blocks for each cell
        (["point"], 77, 46),  # 2 blocks and a short one
        (["base_acceleration"], 1200, 0),
    ],
)
def test_a_sample_grows_and_its_nodes_are_kept(
    tmp_path: Path, over: list[str], chunk_points: int, again: int
) -> None:
    """Only the points of a short block at the old end are computed again."""
    path = tmp_path / "a.zarr"
    fewer = {**SWEEP["axes"], "base_acceleration": {"linspace": [0.5, 11.375, 4]}}
    short, longer = reduced(over, axes=fewer), reduced(over)
    if over == ["point"]:
        short, longer = longer, reduced(sample={**SWEEP["sample"], "points": 300})
    old, new = load(short).sweep, load(longer).sweep
    kept, _ = api.compute(load({**short, "run": {"chunk_points": chunk_points}}), path)
    assert target_of(kept).pending() == []
    grown = Store.extend(path, new)
    left = remaining(grown).points_left
    cells = math.prod(new.grid.shape)
    assert left == new.n_points - old.n_points + cells * again
    summary = run(target_of(grown))
    assert summary.points == left
    xr.testing.assert_equal(grown.dataset().load(), sweep.run(longer, store=None))
    assert not grown.blocks.names()
    grown.reopen(grown.done())
    assert run(target_of(grown)).points == cells * (
        new.computed_shape[-1] % grown.step
    )  # without the new nodes
    xr.testing.assert_equal(grown.dataset().load(), sweep.run(longer, store=None))


def test_a_sample_of_sobol_indices_grows(tmp_path: Path) -> None:
    """Rows of 5 points by 8 scramblings, in blocks of which the last is short."""
    short, longer = (of_ishigami(n, 8, 1, "sobol_indices", "mean") for n in (64, 160))
    api.compute(load({**short, "run": {"chunk_points": 100}}), tmp_path / "a.zarr")
    grown = Store.extend(tmp_path / "a.zarr", load(longer).sweep)
    assert grown.step == 120
    assert run(target_of(grown)).points == 5 * 160 - 2 * 120
    xr.testing.assert_equal(grown.dataset().load(), sweep.run(longer, store=None))


@pytest.mark.broad
@pytest.mark.parametrize(("most", "kept_of_first"), [(4096, 2), (2, 0)])
def test_a_stopped_run_can_be_extended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, kept_of_first: int
) -> None:
    """What is complete is kept, and so are blocks, unless they are longer from now on.

    In the first cell there are two blocks, in the fourth all three.
    """
    path = tmp_path / "a.zarr"
    monkeypatch.setattr("sweep.store.blocks.MAX_BLOCKS", 4)
    kept, blocks = opened(reduced(), path, 77)
    assert blocks.chunk_shape == (1, 1, 77)
    write(blocks, [b for b in blocks.pending() if b.index[:2] == (1, 0) or b.index in (
        (0, 0, 1), (0, 0, 0), (4, 1, 2)
    )])  # fmt: skip
    assert blocks.finish() == []
    assert len(kept.done()) == 1
    longer = reduced(sample={**SWEEP["sample"], "points": 500})
    monkeypatch.setattr("sweep.store.blocks.MAX_BLOCKS", most)
    grown = Store.extend(path, load(longer).sweep, accept_revision=True)
    left = Blocks(grown).pending()
    of_cell = [sum(b.n_points for b in left if b.index[:2] == cell) for cell in ((0, 0), (1, 0))]
    assert of_cell == [500 - 77 * kept_of_first, 500 - 2 * 77]
    assert sum(b.n_points for b in left) == 13 * 500 + sum(of_cell)
    run(target_of(grown))
    xr.testing.assert_equal(grown.dataset().load(), sweep.run(longer, store=None))
    assert not grown.blocks.names()


def test_what_cannot_grow_is_refused(tmp_path: Path) -> None:
    """With the difference named; a run in the store of a smaller sample says how to extend it."""
    longer = {"sample": {**SWEEP["sample"], "points": 500}}
    sweep.run(reduced(), store=tmp_path / "a.zarr")
    with pytest.raises(StoreError, match="only axes continue behind their end: use `sweep extend"):
        sweep.run(reduced(**longer), store=tmp_path / "a.zarr")
    other = {"sample": {**longer["sample"], "seed": 2}}
    with pytest.raises(StoreError, match=r"value 1 of friction is .* in the store"):
        Store.extend(tmp_path / "a.zarr", load(reduced(**other)).sweep)
    two = ["vertical_acceleration", "point"]
    sweep.run(reduced(two), store=tmp_path / "b.zarr")
    with pytest.raises(StoreError, match="points reduced over several axes at once cannot be more"):
        Store.extend(tmp_path / "b.zarr", load(reduced(two, **longer)).sweep)


@pytest.mark.broad
def test_a_statistic_is_refined(tmp_path: Path) -> None:
    axes = {"base_acceleration": {"linspace": [0.5, 15.0, 5]}}
    refine = {"output": "wear_power_mean", "levels": 2, "tolerance": 0.05}
    document = reduced(axes=axes, refine=refine)
    refined = sweep.run(document, store=tmp_path / "a.zarr", chunk_points=150)
    fine = sweep.run(reduced(axes={"base_acceleration": {"linspace": [0.5, 15.0, 17]}}), store=None)
    fine_statistics = fine.sel(base_acceleration=refined.base_acceleration)
    np.testing.assert_array_equal(refined.wear_power_mean, fine_statistics.wear_power_mean)
    np.testing.assert_array_equal(refined.regime_share, fine_statistics.regime_share)
    assert 5 < refined.sizes["point"] < 17


def test_a_cell_without_good_points_says_why(cells: xr.Dataset) -> None:
    """A cell without a point that is ok has a status that says why, and no statistics."""
    none = cells.isel(vertical_acceleration=2)
    assert (none.status == Status.outside_validity).all()
    assert none.wear_power_mean.isnull().all()
    assert none.wear_power_histogram.isnull().all()
    assert (none.points_by_status.sel(status_class="outside_validity") == 200).all()


def test_a_long_sample_is_drawn_again_where_its_store_is_opened(tmp_path: Path) -> None:
    """It is not stored: the disk is that of the cells."""
    request = load(sampled_long(2**20 + 4096))
    kept = open_store(request, tmp_path / "a.zarr")
    open_store(load(sampled_long(256)), tmp_path / "b.zarr")
    (reopened_axis,) = Store.open(kept.location).sweep.points.axes
    (axis,) = request.sweep.points.axes
    part = slice(2**20 - 5, 2**20 + 5)
    for name, values in axis.columns.items():
        np.testing.assert_array_equal(reopened_axis.columns[name][part], values[part])
    sizes = [sum(map(len, tree(tmp_path / name).values())) for name in ("a.zarr", "b.zarr")]
    assert abs(sizes[0] - sizes[1]) < 16  # numbers of points have more digits or fewer
    assert len(target_of(kept).pending()) > 1


def one_cell(whole: AnySweep) -> tuple[Points, Then]:
    """All points of a sweep of one cell, and what is kept of them."""
    assert isinstance(whole, Reduced)
    shape = whole.computed_shape
    points = columns.points(whole, chunking.chunk_at((0,), shape, shape))
    return points, Kept(whole).then(points)


def sampled_long(points: int) -> dict[str, Any]:
    sample = {**SWEEP["sample"], "points": points}
    return {
        **SWEEP,
        "axes": {},
        "parameters": {**SWEEP["parameters"], "base_acceleration": 3.0},
        "sample": sample,
        "reduce": STATISTICS,
    }


ISHIGAMI_FILE = """
format = 1
name = "ishigami"
title = "Ishigami's function"
time_unit = "1"
[parameters]
x1 = { unit = "1", meaning = "input" }
x2 = { unit = "1", meaning = "input" }
x3 = { unit = "1", meaning = "input" }
[states]
s = { unit = "1", initial = "0", meaning = "nothing" }
[derivatives]
s = "0"
[outputs.f]
final = "sin(x1) + 7*sin(x2)**2 + 0.1*x3**4*sin(x1)"
unit = "1"
meaning = "f"
"""
ISHIGAMI = tomllib.loads(ISHIGAMI_FILE)


def ishigami(points: int, scramblings: int, seed: int, *statistics: str) -> xr.Dataset:
    return sweep.run(of_ishigami(points, scramblings, seed, *statistics), store=None)


def of_ishigami(points: int, scramblings: int, seed: int, *statistics: str) -> dict[str, Any]:
    uniform = {"uniform": [-np.pi, np.pi]}
    sample = {"method": "sobol", "points": points, "seed": seed, "scramblings": scramblings}
    return {
        "model": ISHIGAMI,
        "method": "rk4",
        "parameters": {"window_end": 1, "step": 1},
        "sample": {**sample, **dict.fromkeys(("x1", "x2", "x3"), uniform)},
        "reduce": {"f": list(statistics)},
    }


def test_sobol_indices_of_ishigami(tmp_path: Path) -> None:
    """The function is that of a model in a text file."""
    (tmp_path / "ishigami.toml").write_text(ISHIGAMI_FILE)
    document = of_ishigami(2**16, 1, 1, "sobol_indices", "mean")
    indices = sweep.run({**document, "model": str(tmp_path / "ishigami.toml")}, store=None)
    first, total = oracle.ishigami_indices()
    assert indices.f_first_order.parameter.values.tolist() == ["x1", "x2", "x3"]
    np.testing.assert_allclose(indices.f_first_order, first, rtol=0, atol=0.01)
    np.testing.assert_allclose(indices.f_total_order, total, rtol=0, atol=0.01)
    assert indices.points_by_status.sum() == 5 * 2**16
    plain = ishigami(2**16, 1, 1, "mean")
    assert abs(float(plain.f_mean) - 3.5) < 1e-3  # the same mean a = 7 of a sin(x2)^2 gives: a/2
    assert abs(float(indices.f_mean) - 3.5) < 1e-3


@pytest.mark.broad
@pytest.mark.parametrize("seeds", [50, pytest.param(200, marks=pytest.mark.broad)])
@pytest.mark.parametrize("statistic", ["mean", "sobol_indices"])
def test_stated_intervals_cover(statistic: str, seeds: int) -> None:
    """Of intervals that state 95 %, by Student's t over 15 degrees, at least 90 % are right."""
    quantile = 2.131  # of Student's t, 97.5 %, 15 degrees of freedom
    first, total = oracle.ishigami_indices()
    expected = {"f_mean": [3.5], "f_first_order": first, "f_total_order": total}
    whole = load(of_ishigami(256 if statistic == "mean" else 2048, 16, 0, statistic)).sweep
    assert isinstance(whole, Reduced)
    (axis,) = whole.over
    backend, hits = CpuBackend(), Counter[str]()
    for seed in range(seeds):
        recipe = {**axis.recipe, "seed": seed}
        axes = (replace(axis, recipe=recipe, columns=columns_of(recipe)),)
        drawn = replace(whole, points=whole.points.with_axes(axes))
        points, then = one_cell(drawn)
        partial = backend.compute(drawn.points, points, then=then).arrays
        statistics = Kept(drawn).statistics(partial)
        for output in whole.outputs:
            pairs = zip(output.planes, expected.get(output.name, ()), strict=False)
            for plane, value in pairs:
                error = statistics[plane.replace(output.name, f"{output.name}_error")][0]
                hits[plane] += bool(abs(statistics[plane][0] - value) <= quantile * error)
    assert len(hits) == (1 if statistic == "mean" else 6)
    assert min(hits.values()) >= 0.9 * seeds, hits


DISTRIBUTIONS = [
    ({"uniform": [0.05, 0.4]}, stats.uniform(0.05, 0.35)),
    ({"loguniform": [0.05, 0.4]}, stats.loguniform(0.05, 0.4)),
    ({"normal": [0.3, 0.03]}, stats.norm(0.3, 0.03)),
    ({"lognormal": [0.1, 0.5]}, stats.lognorm(0.5, scale=0.1)),
    ({"truncated_normal": [0.3, 0.2, 0.1, 0.9]}, stats.truncnorm(-1, 3, 0.3, 0.2)),
    ({"triangular": [0.1, 0.2, 0.7]}, stats.triang(1 / 6, 0.1, 0.6)),
    ({"weibull": [0.2, 1.7]}, stats.weibull_min(1.7, scale=0.2)),
]


@pytest.mark.broad
@pytest.mark.parametrize(("distribution", "scipy_distribution"), DISTRIBUTIONS)
def test_means_are_integrals_over_the_distribution(
    distribution: dict[str, list[float]], scipy_distribution: Any
) -> None:
    """Gauss-Legendre quadrature over scipy's quantile function, in 200 panels."""
    nodes, weights = np.polynomial.legendre.leggauss(5)
    share = ((np.arange(200)[:, None] + (nodes + 1) / 2) / 200).ravel()
    friction = {"values": scipy_distribution.ppf(share).tolist()}
    base = {"base_acceleration": {"values": [3.0]}}
    document = {**SWEEP, "outputs": ["wear_power"], "axes": {**base, "friction": friction}}
    del document["sample"]
    at_nodes = sweep.run(document, store=None).wear_power.values
    mean = float(np.tile(weights / 2 / 200, 200) @ at_nodes.ravel())
    for method in ("random", "sobol"):
        drawn = {"method": method, "points": 4096, "seed": 5, "friction": distribution}
        scrambled = {"scramblings": 16} if method == "sobol" else {}
        kept = {"sample": {**drawn, **scrambled}, "reduce": {"wear_power": ["mean"]}}
        statistics = sweep.run({**document, "axes": base, **kept}, store=None)
        assert abs(float(statistics.wear_power_mean[0]) - mean) <= 4 * float(
            statistics.wear_power_mean_error[0]
        )


def test_outputs_with_several_values_are_reduced_one_by_one() -> None:
    """Of (x1 + 4) t at the ends of periods, of which the last values are missing at every point."""
    samples = {"values": "(x1 + 4)*t", "every": "period", "keep": 6, "unit": "1", "meaning": "g"}
    model = {**ISHIGAMI, "period": "1", "outputs": {"g": samples}}
    parameters = {"start_cycle": 0, "end_cycle": 3, "step": 0.5}
    document = {**of_ishigami(64, 1, 1, "mean"), "model": model, "parameters": parameters}
    kept = {"g": ["mean", "maximum", "quantile 0.5", "share above 1"]}
    statistics = sweep.run({**document, "reduce": kept}, store=None, chunk_points=20)
    del document["reduce"]
    values = sweep.run(document, store=None).g.values
    missing = np.isnan(values).all(axis=0)
    assert 2 <= missing.sum() <= 3
    np.testing.assert_array_equal(np.isnan(statistics.g_mean), missing)
    for i in np.flatnonzero(~missing):
        np.testing.assert_allclose(statistics.g_mean[i], values[:, i].mean(), rtol=1e-13)
        assert float(statistics.g_maximum[i]) == values[:, i].max()
        exact = oracle.quantile(values[:, i].tolist(), "0.5")
        np.testing.assert_allclose(statistics.g_quantile[i, 0], exact, rtol=2**-8)
        assert float(statistics.g_share_above[i, 0]) == (values[:, i] > 1).mean()
