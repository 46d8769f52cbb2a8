"""Sweeps with [reduce]: statistics of the stored points, the same bits however they are run."""

from __future__ import annotations

import json
import math
import signal
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
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
from sweep.backends import Backend, Computed, Stopped
from sweep.backends.cpu import CpuBackend
from sweep.backends.gpu import GpuBackend
from sweep.config import Request, load
from sweep.engine.loop import run
from sweep.errors import StoreError
from sweep.options import RunOptions
from sweep.plan import chunking, point_columns
from sweep.request import Sweep
from sweep.sampling.drawing import columns_of
from sweep.spec import Status
from sweep.statistics.partial import Kept
from sweep.store import MemoryResults, Store, in_stretches
from sweep.store.pieces import to_bytes
from sweep.store.upkeep import reopen
from sweep.summary import state
from sweep.work import Points
from tests.backends.wrapped import WrappedBackend
from tests.command import environment
from tests.config.test_sample import PARAMETERS
from tests.forked import CHECKOUT, run_python
from tests.gpu.twin import TwinDevice
from tests.oracles import statistics as oracle
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

# Kills its own process when it is about to write the n-th stretch.
RUNNER = """
import json, os, signal, sys, sweep
from sweep.store.in_stretches import InStretches
write, left = InStretches.write, int(sys.argv[3])
def counted(self, *arguments):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, *arguments)
InStretches.write = counted
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

    def compute(self, sweep: Sweep, points: Points, stop: Event | None = None) -> Computed:
        self._left -= 1
        if self._left < 0:
            self._run.set()
            raise Stopped
        return self.real.compute(sweep, points, stop)


def assert_resumed_bits(
    request: Request, computed: int, backends: list[str], expected: xr.Dataset
) -> None:
    """A run is stopped after so many chunks, and another one, on another backend, resumes it."""

    def opened(name: str) -> Backend:
        return CpuBackend() if name == "cpu" else GpuBackend(TwinDevice(memory=1 << 14))

    with TemporaryDirectory() as folder:
        path, stop = Path(folder, "a.zarr"), Event()
        stopping = Stopping(stop, computed, opened(backends[0]))
        api.compute(request, path, None, stop, open_backend=lambda _: stopping)
        kept, _ = api.compute(request, path, open_backend=lambda _: opened(backends[1]))
        xr.testing.assert_equal(kept.dataset().load(), expected)
        assert not kept.pieces.names()


def chunks_of_a_killed_run(path: Path, document: Mapping[str, Any], count: int) -> int:
    """How many chunks are done once a run has killed itself at its n-th stretch."""
    command = ["-c", RUNNER, str(path), json.dumps(document), str(count)]
    done = run_python(command, cwd=CHECKOUT, env=environment())
    assert done.returncode == -signal.SIGKILL
    return state(Store.open(path)).chunks_done


def damage(kept: Store, names: Iterable[str]) -> None:
    """Overwrite the end of these pieces."""
    for name in names:
        content = kept.pieces.read(name)
        assert content is not None
        kept.pieces.put(name, content[:-200] + bytes(200))


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
    results = MemoryResults(load(reduced()).sweep, chunk_points=1400)
    run(results, RunOptions(workers=1), open_backend=lambda _: GpuBackend(twin))
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
        chunk = chunking.chunk_at((0,), whole.grid, whole.grid)
        GpuBackend(twin, budget=1000).compute(whole, point_columns.points(whole, chunk))
        return twin.sent

    without = [text for text in STATISTICS["wear_power"] if not text.startswith("quantile")]
    few, many = (sent(2**n, wear_power=without, regime=["share"]) for n in (8, 12))
    assert few == many < 2**11
    few, many = (sent(2**n, wear_power=["quantile 0.5"]) for n in (12, 16))
    bins_of_an_octave = 2**7
    assert many - few < 24 * bins_of_an_octave


def test_a_killed_run_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    """Every stretch that was written is kept: 60 in all, of 50 points."""
    document = reduced(run={"workers": 2, "chunk_points": 50})
    whole = tmp_path / "whole.zarr"
    sweep.run(document, store=whole)
    path, written = tmp_path / "killed.zarr", 0
    for count in (2, 9, 20):
        now = chunks_of_a_killed_run(path, document, count)
        assert now >= written + count - 2  # another worker may be killed while it writes
        written = now
    assert Store.open(path).pieces.names()
    sweep.run(document, store=path)
    assert not Store.open(path).pieces.names()
    assert tree(path) == tree(whole)


@pytest.mark.broad
def test_cells_that_a_kill_left_complete_are_completed(tmp_path: Path) -> None:
    """Two processes may each find the other's piece missing; no stretch is computed again."""
    document = reduced(run={"chunk_points": 50})
    kept = Store.create(tmp_path / "a.zarr", load(document).sweep, chunk_points=50, provenance={})
    results = in_stretches(kept)
    backend = CpuBackend()
    for chunk in results.pending():
        piece = backend.compute(kept.sweep, point_columns.points(kept.sweep, chunk)).arrays
        cell, number = chunk.index[:-1], chunk.index[-1]
        name = f"c.{cell[0]}.{cell[1]}/0.{number}"
        kept.pieces.put(name, to_bytes(piece))
    summary = run(kept)
    assert summary.points == 0
    xr.testing.assert_equal(kept.dataset().load(), sweep.run(document, store=None))
    assert not kept.pieces.names()


@pytest.mark.broad
def test_a_damaged_piece_is_computed_again(tmp_path: Path) -> None:
    document, path = reduced(run={"chunk_points": 50, "workers": 1}), tmp_path / "a.zarr"
    stop = Event()
    stopping = Stopping(stop, 3)
    api.compute(load(document), path, None, stop, open_backend=lambda _: stopping)
    kept = Store.open(path)
    names = kept.pieces.names()
    assert names
    damage(kept, names)
    statistics = sweep.run(document, store=path)
    xr.testing.assert_equal(statistics.load(), sweep.run(document, store=None))


@pytest.mark.broad
def test_failed_points_are_counted_and_retried(tmp_path: Path) -> None:
    class Failing(WrappedBackend):
        def compute(self, sweep: Sweep, points: Points, stop: Event | None = None) -> Computed:
            if points.first == 100 and float(points.columns["base_acceleration"].values[0]) == 15.0:
                raise RuntimeError("a bug")
            return self.real.compute(sweep, points, stop)

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
    again = sweep.run(document, store=path, retry_failed=True)
    xr.testing.assert_equal(again.load(), sweep.run(document, store=None))


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
        pytest.param(["point"], 20, 0, marks=pytest.mark.broad),  # 10 stretches for each cell
        (["point"], 77, 46),  # 2 stretches and a short one
        (["base_acceleration"], 1200, 0),
    ],
)
def test_a_sample_grows_and_its_nodes_are_kept(
    tmp_path: Path, over: list[str], chunk_points: int, again: int
) -> None:
    """Only the points of a short stretch at the old end are computed again."""
    path = tmp_path / "a.zarr"
    fewer = {**SWEEP["axes"], "base_acceleration": {"linspace": [0.5, 11.375, 4]}}
    short, longer = reduced(over, axes=fewer), reduced(over)
    if over == ["point"]:
        short, longer = longer, reduced(sample={**SWEEP["sample"], "points": 300})
    old, new = load(short).sweep, load(longer).sweep
    kept, _ = api.compute(load({**short, "run": {"chunk_points": chunk_points}}), path)
    assert in_stretches(kept).pending() == []
    grown = Store.extend(path, new)
    left = sum(chunk.n_points for chunk in in_stretches(grown).pending())
    cells = math.prod(new.shape)
    assert left == new.n_points - old.n_points + cells * again
    summary = run(grown)
    assert summary.points == left
    xr.testing.assert_equal(grown.dataset().load(), sweep.run(longer, store=None))
    assert not grown.pieces.names()
    reopen(grown, grown.done())
    assert run(grown).points == cells * (new.grid[-1] % grown.stretch)  # without the new nodes
    xr.testing.assert_equal(grown.dataset().load(), sweep.run(longer, store=None))


def test_a_sample_of_sobol_indices_grows(tmp_path: Path) -> None:
    """Rows of 5 points by 8 scramblings, in stretches of which the last is short."""
    short, longer = (of_ishigami(n, 8, 1, "sobol_indices", "mean") for n in (64, 160))
    api.compute(load({**short, "run": {"chunk_points": 100}}), tmp_path / "a.zarr")
    grown = Store.extend(tmp_path / "a.zarr", load(longer).sweep)
    assert grown.stretch == 120
    assert run(grown).points == 5 * 160 - 2 * 120
    xr.testing.assert_equal(grown.dataset().load(), sweep.run(longer, store=None))


@pytest.mark.broad
def test_a_stopped_run_can_be_extended(tmp_path: Path) -> None:
    """What is complete is kept, and so are pieces, except those of short stretches."""
    path = tmp_path / "a.zarr"
    kept = Store.create(path, load(reduced()).sweep, chunk_points=77, provenance={})
    results, backend = in_stretches(kept), CpuBackend()
    assert results.chunk_shape == (1, 1, 77)
    for chunk in results.pending():
        if chunk.index[:2] == (1, 0) or chunk.index in ((0, 0, 2), (0, 0, 0), (4, 1, 2)):
            results.write(
                chunk, backend.compute(kept.sweep, point_columns.points(kept.sweep, chunk)).arrays
            )
    longer = reduced(sample={**SWEEP["sample"], "points": 500})
    grown = Store.extend(path, load(longer).sweep, accept_revision=True)
    left = {chunk.index for chunk in in_stretches(grown).pending()}
    every = {chunk.index for chunk in chunking.chunks((5, 3, 500), (1, 1, 77))}
    assert every - left == {(0, 0, 0), (1, 0, 0), (1, 0, 1)}
    run(grown)
    xr.testing.assert_equal(grown.dataset().load(), sweep.run(longer, store=None))
    assert not grown.pieces.names()


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
    kept = api.open_store(request, tmp_path / "a.zarr")
    api.open_store(load(sampled_long(256)), tmp_path / "b.zarr")
    again = Store.open(kept.location).sweep
    assert again.reduction is not None
    assert request.sweep.reduction is not None
    (reopened_axis,), (axis,) = again.reduction.axes, request.sweep.reduction.axes
    part = slice(2**20 - 5, 2**20 + 5)
    for name, values in axis.columns.items():
        np.testing.assert_array_equal(reopened_axis.columns[name][part], values[part])
    sizes = [sum(map(len, tree(tmp_path / name).values())) for name in ("a.zarr", "b.zarr")]
    assert abs(sizes[0] - sizes[1]) < 16  # numbers of points have more digits or fewer
    assert len(in_stretches(kept).pending()) > 1


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
    reduction = whole.reduction
    assert reduction is not None
    (axis,) = reduction.axes
    backend, hits = CpuBackend(), Counter[str]()
    for seed in range(seeds):
        recipe = {**axis.recipe, "seed": seed}
        axes = (replace(axis, recipe=recipe, columns=columns_of(recipe)),)
        drawn = replace(whole, reduction=replace(reduction, axes=axes))
        points = point_columns.points(drawn, chunking.chunk_at((0,), drawn.grid, drawn.grid))
        statistics = Kept(reduction).statistics(backend.compute(drawn, points).arrays)
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
