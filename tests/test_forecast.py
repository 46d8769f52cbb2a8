"""Before a run: kernels compiled ahead, and forecasts compared with what a run takes."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
import tracemalloc
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

import sweep
import sweep.forecast
from sweep.api import with_options
from sweep.backends import Computed, Stopped
from sweep.config import Request, load
from sweep.engine.driver import open_store, run_in_store
from sweep.engine.ledger import failed_arrays
from sweep.errors import MachineError, StoreError
from sweep.forecast import forecast, forecast_of, probe
from sweep.options import RunOptions
from sweep.plan.chunking import chunk_shape, chunks
from sweep.plan.point_columns import points, variant_sets
from sweep.request import Sweep
from sweep.shipped import configs_folder
from sweep.work import Points
from tests.command import Run

SMOKE = str(configs_folder() / "smoke" / "wear_power.toml")


class Paced:
    """A backend that takes a fixed time per point, and records the points it gets."""

    name = description = "paced"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.batches: list[Points] = []
        # Of each thread, because a sleep may last longer: points and seconds.
        self.done: defaultdict[int, NDArray[np.float64]] = defaultdict(lambda: np.zeros(2))

    def prepare(self, _: Sweep, points: Points) -> None:
        self.batches.append(points)

    def compute(self, _: Sweep, points: Points, stop: Event | None = None) -> Computed:
        self.batches.append(points)
        began = time.perf_counter()
        end = began + points.n_points * self.seconds
        while time.perf_counter() < end:
            if stop is not None and stop.is_set():
                raise Stopped
            time.sleep(0.001)
        self.done[threading.get_ident()] += points.n_points, time.perf_counter() - began
        return Computed({}, 0.0)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep.forecast, "PROBE_SECONDS", 0.1)
    monkeypatch.setattr(sweep.forecast, "MAX_PROBE_SECONDS", 0.2)


def probe_with(backend: Paced, monkeypatch: pytest.MonkeyPatch) -> None:
    """Probe this backend, whichever the options name."""
    monkeypatch.setattr(sweep.forecast, "open_backend", lambda _name: backend)


def request_for(*overrides: str, **options: object) -> Request:
    return with_options(load("wear_power", overrides), **options)


@pytest.mark.usefixtures("quick")
def test_the_probe_measures_the_rate_of_all_workers() -> None:
    for workers in (1, 3):
        backend = Paced(1e-4)
        rate = probe(request_for().sweep, backend, workers)
        assert rate is not None
        paces = [points / seconds for points, seconds in backend.done.values()]
        assert len(paces) == workers
        assert 0.4 < rate / sum(paces) <= 1  # what the probe does besides takes time


@pytest.mark.usefixtures("quick_probe")
def test_the_first_few_points_may_take_longer_than_the_probe() -> None:
    rate = probe(request_for().sweep, Paced(0.2 / sweep.forecast.BLOCK), 1)
    assert rate == pytest.approx(sweep.forecast.BLOCK / 0.2, rel=0.5)


@pytest.mark.usefixtures("quick")
def test_the_forecast_of_points_too_slow_for_the_probe_has_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe_with(Paced(1.0), monkeypatch)
    began = time.perf_counter()
    result = forecast_of(request_for(workers=2), tmp_path / "a.zarr")
    assert time.perf_counter() - began < 30  # a batch takes 64 s
    assert result.points_pending == result.points_total
    assert result.points_per_second is result.seconds is None


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", ["wear_power", "wear_power_sample", "sdnd104"])
def test_the_probe_takes_points_of_the_sweep_from_all_over_it(name: str) -> None:
    swept, backend = load(name).sweep, Paced(1e-6)
    probe(swept, backend, 1)
    for axis in swept.axes:
        for parameter, values in axis.columns.items():
            values_of_batches = np.concatenate(
                [batch.columns[parameter].values for batch in backend.batches]
            )
            assert np.isin(values_of_batches, values).all()
            shares = (
                np.histogram(np.searchsorted(np.sort(values), values_of_batches), 4)[0]
                / values_of_batches.size
            )
            assert shares == pytest.approx([0.25] * 4, abs=0.1)
    assert len({batch.variants for batch in backend.batches}) == 1


def test_one_point_is_probed() -> None:
    single = request_for("friction=0.1", "base_acceleration=15").sweep
    assert probe(single, Paced(1e-3), 1)


def peak_of_memory(request: Request, path: Path) -> int:
    """The most bytes that a run into a new store holds at a time."""
    tracemalloc.start()
    run_in_store(open_store(request, path), request)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return used


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "overrides",
    [
        (),
        pytest.param(("dtype=float32",), marks=pytest.mark.broad),
        pytest.param(('outputs=["wear_power", "friction_power"]',), marks=pytest.mark.broad),
    ],
)
def test_disk_and_memory_are_bounds_that_a_run_keeps(
    overrides: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "a.zarr"
    request = request_for(*overrides, workers=1, chunk_points=2**17)
    result = forecast_of(request, path)
    assert not path.exists()
    run_in_store(open_store(request, tmp_path / "first.zarr"), request)  # imports all modules
    # Of two runs, since Python's table of interned strings doubles in one of them at most.
    used = min(peak_of_memory(request, each) for each in (path, tmp_path / "second.zarr"))
    assert (
        result.bytes_of_memory / 3 < used < 1.2 * result.bytes_of_memory + 2e6
    )  # for zarr's objects
    on_disk = sum(512 * file.stat().st_blocks for file in path.rglob("*") if file.is_file())
    assert result.bytes_on_disk / 10 < on_disk <= result.bytes_on_disk
    assert (result.points_total, result.points_pending, result.chunks_pending) == (2**19, 2**19, 4)
    again = forecast_of(request, path)
    assert (again.points_pending, again.bytes_on_disk, again.seconds) == (0, 0, 0.0)


@pytest.mark.usefixtures("quick")
def test_the_forecast_of_an_existing_store_counts_pending_chunks_only(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    request = request_for(chunk_points=2**17)
    store = open_store(request, path)
    chunk, other = store.pending()[:2]
    for each in (chunk, other):
        store.write(each, failed_arrays(store, each))
    assert forecast_of(request_for(), path).chunks_pending == 2
    assert forecast_of(request_for(retry_failed=True), path).chunks_pending == 4
    (path / "wear_power" / "c" / "0" / "0").unlink()
    assert forecast_of(request_for(), path).chunks_pending == 3
    with pytest.raises(StoreError, match="another sweep"):
        forecast_of(request_for("mass=2"), path)


@pytest.mark.usefixtures("quick")
def test_a_dry_run_prints_a_forecast_and_writes_nothing(run: Run, tmp_path: Path) -> None:
    status, out, err = run("run", SMOKE, "--dry-run")
    assert (status, err) == (0, "")
    for piece in (
        "points   35 pending",
        "chunks   1 with up to 35",
        "results/wear_power.zarr",
        "time",
    ):
        assert piece in out
    status, out, _ = run("run", SMOKE, "--dry-run", "--json")
    result = json.loads(out)
    assert (status, result["points_total"], result["fits"]) == (0, 35, True)
    assert result["seconds"] == pytest.approx(35 / result["points_per_second"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("quick_probe")
def test_the_forecast_of_a_shard_counts_its_own_chunks_only(run: Run, tmp_path: Path) -> None:
    """Five rows of seven points, one chunk each: the shards have rows 0, 3; 1, 4; and 2."""
    options = ("-o", "a.zarr", "--chunk-points", "7")
    whole = json.loads(run("run", SMOKE, *options, "--dry-run", "--json")[1])
    for exists in (False, True):
        forecasts: list[dict[str, object]] = []
        for i in (1, 2, 3):
            shard = (*options, "--shard", f"{i}/3")
            assert f"shard    {i} of 3" in run("run", SMOKE, *shard, "--dry-run")[1]
            forecasts.append(json.loads(run("run", SMOKE, *shard, "--dry-run", "--json")[1]))
        assert [each["chunks_pending"] for each in forecasts] == [2, 2, 1]
        assert [each["points_pending"] for each in forecasts] == [14, 14, 7]
        assert [each["shard"] for each in forecasts] == [[1, 3], [2, 3], [3, 3]]
        for each in forecasts:
            assert each["points_total"] == 35
            pace = each["points_per_second"]
            assert each["seconds"] == pytest.approx(each["points_pending"] / pace)
            assert exists or each["bytes_on_disk"] < whole["bytes_on_disk"]
        open_store(with_options(load(SMOKE), chunk_points=7), tmp_path / "a.zarr")
    assert run("run", SMOKE, *options, "--shard", "2/3")[0] == 0
    left = json.loads(run("run", SMOKE, *options, "--dry-run", "--json", "--shard", "2/3")[1])
    assert (left["points_pending"], left["bytes_on_disk"]) == (0, 0)
    assert json.loads(run("run", SMOKE, *options, "--dry-run", "--json")[1])["points_pending"] == 21


@pytest.mark.usefixtures("quick")
def test_a_dry_run_for_too_small_a_disk_has_status_3(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = SimpleNamespace(total=10**6, used=0, free=10**6)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: free)
    status, out, err = run("run", "wear_power", "--dry-run")
    assert status == MachineError.exit_status == 3
    assert "1 MB free" in out
    assert "results/wear_power.zarr' has 1 MB free and this run may need 5.4" in err
    assert json.loads(run("run", "wear_power", "--dry-run", "--json")[1])["fits"] is False
    assert run("run", SMOKE, "--dry-run")[0] == 0


@pytest.fixture
def processors() -> Iterator[int]:
    """The number of processors that this thread may use: two, if there are two."""
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("only Linux binds a process to processors")
    usable = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(usable)[:2])
    yield min(len(usable), 2)
    os.sched_setaffinity(0, usable)


class OnProcessors(Paced):
    """A backend of threads; each takes its time whatever the others do, as on a processor each."""

    name = "cpu"


@pytest.mark.usefixtures("quick")
def test_more_workers_than_processors_are_no_faster(
    tmp_path: Path, processors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = OnProcessors(1e-4)
    probe_with(backend, monkeypatch)
    request = request_for(workers=64, chunk_points=2**12)
    estimate = forecast_of(request, tmp_path / "a.zarr")
    assert len(backend.done) == processors
    assert estimate.points_per_second == pytest.approx(processors / 1e-4, rel=0.6)
    assert (estimate.workers, estimate.processors) == (64, processors)


@pytest.mark.usefixtures("quick", "processors")
def test_the_forecast_of_slurm_jobs_counts_their_cores(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("dask_jobqueue")
    slurm = {"jobs": 8, "cores": 3}
    request = request_for(cluster="slurm", slurm=slurm, chunk_points=2**12)
    probe_with(OnProcessors(1e-4), monkeypatch)
    estimate = forecast_of(request, tmp_path / "a.zarr")
    assert (estimate.workers, estimate.processors, estimate.elsewhere) == (24, 24, True)
    assert estimate.points_per_second == pytest.approx(24 / 1e-4, rel=0.6)
    _, out, _ = run("run", "wear_power", "--dry-run", "--cluster", "slurm", "--workers", "4")
    assert "4 on 4 cores of SLURM jobs" in out


LONG_STEPS = ("method=moreau", "step=0.2")


@pytest.mark.usefixtures("quick")
def test_a_dry_run_says_which_points_will_have_no_value_and_why(run: Run) -> None:
    _, out, _ = run("run", "sdnd104", "--dry-run", *(f"--set={each}" for each in LONG_STEPS))
    (line,) = (line for line in out.splitlines() if "outside_validity" in line)
    assert "75.0 % of the points probed" in line
    assert "tenth of the period" in line
    assert "lifts off" not in line  # another cause


SPRUNG = ("stiffness={ values = [0, 3] }", "vertical_acceleration={ values = [0, 1] }")


@pytest.mark.parametrize("n", [1, 3, 4, 5, 12, 100])
@pytest.mark.parametrize("name", ["wear_power", "wear_power_sample", "sdnd104"])
def test_variant_sets_are_those_of_the_chunks(name: str, n: int) -> None:
    few = {"wear_power": SPRUNG, "wear_power_sample": ("sample.points=30",), "sdnd104": SPRUNG}
    small = ("friction={ values = [0.1, 0.2] }", "base_acceleration={ values = [15] }")
    swept = load(name, [*few[name], *(small if name == "wear_power" else ())]).sweep
    shape = chunk_shape(swept, n)
    variants = variant_sets(swept, shape)
    every = {points(swept, chunk).variants for chunk in chunks(swept.grid.shape, shape)}
    assert len(variants) == len(set(variants))
    assert set(variants) == every


@pytest.mark.broad
def test_compile_fills_the_cache_with_all_that_a_run_needs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIBOSWEEP_CACHE_DIR", str(tmp_path / "kernels"))
    arguments = (SMOKE, "--set", "vertical_acceleration={ values = [0, 3] }", "--chunk-points", "1")
    status, out, err = run("compile", *arguments)
    assert (status, err) == (0, "")
    assert f"friction_oscillator, method exact: 2 kernels in {tmp_path / 'kernels'}" in out
    libraries = sorted((tmp_path / "kernels").iterdir())
    assert Counter(path.suffix for path in libraries) == {".so": 2, ".sha256": 2}
    assert run("run", *arguments, "-o", "a.zarr")[0] == 0
    assert sorted((tmp_path / "kernels").iterdir()) == libraries
    with monkeypatch.context() as bare:  # a node without a compiler that shares the cache
        bare.delenv("TRIBOSWEEP_CXX", raising=False)
        bare.setenv("PATH", str(tmp_path))
        bare.setitem(sys.modules, "ziglang", None)
        status, _, err = run("run", *arguments, "-o", "b.zarr")
        assert status == 0, err
        status, _, err = run("run", SMOKE, "-o", "c.zarr", "--set", "damping=1")
        assert status == 3
        assert "sweep compile" in err
        bare.setenv("TRIBOSWEEP_CXX", "/none")
        status, _, err = run("compile", SMOKE, "--set", "damping=1")
        assert (status, "TRIBOSWEEP_CXX" in err) == (3, True)
        assert sorted((tmp_path / "kernels").iterdir()) == libraries
    first, other = (sweep.open_results(tmp_path / name) for name in ("a.zarr", "b.zarr"))
    assert first["wear_power"].values.tobytes() == other["wear_power"].values.tobytes()
    result = json.loads(run("compile", *arguments, "--json")[1])
    variants = [set(kernel["variants"]) for kernel in result["kernels"]]
    assert {"no_shaking"} in [extra - variants[0] for extra in variants]


@pytest.mark.usefixtures("quick")
def test_forecast_of_a_sweep_in_memory_is_of_its_options() -> None:
    swept = load(SMOKE).sweep
    shape = chunk_shape(swept, 7)
    pending = list(chunks(swept.grid.shape, shape))
    options = RunOptions(workers=9)
    result = forecast(swept, pending, shape, options, Path("nowhere/a.zarr"), is_made=False)
    assert (result.workers, result.chunk_points, result.chunks_pending) == (5, 7, 5)
    assert replace(result, bytes_free=result.bytes_on_disk).fits
    assert not replace(result, bytes_free=result.bytes_on_disk - 1).fits
    done = forecast(swept, [], shape, options, Path("nowhere/a.zarr"), is_made=True)
    assert (done.workers, done.seconds, done.points_total) == (1, 0.0, 35)


@pytest.mark.usefixtures("quick")
def test_the_forecast_includes_file_blocks_and_axis_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small files take a block each; axis values are in a new store and in memory."""
    request = with_options(load(SMOKE), chunk_points=1)
    path = tmp_path / "a.zarr"
    result = forecast_of(request, path).bytes_on_disk
    run_in_store(open_store(request, path), request)
    files = [file.stat().st_size for file in path.rglob("*") if file.is_file()]
    assert sum(-(-size // 4096) * 4096 for size in files) <= result
    long = request_for(
        "friction={ linspace = [0.1, 0.2, 3_000_000] }", "base_acceleration=15"
    ).sweep
    some = list(chunks(long.grid.shape, (2**16,)))[:2]
    probe_with(Paced(1e-6), monkeypatch)
    by = {
        (workers, is_made): forecast(
            long, some, (2**16,), RunOptions(workers=workers), path, is_made=is_made
        )
        for workers in (1, 2)
        for is_made in (False, True)
    }
    values = 8 * 3_000_000
    assert values < by[1, False].bytes_on_disk - by[1, True].bytes_on_disk < 1.1 * values
    one, two = by[1, True].bytes_of_memory, by[2, True].bytes_of_memory
    assert one > values
    assert two - one == one - values > 2**16 * 8 * len(long.outputs)


@pytest.mark.usefixtures("quick")
@pytest.mark.skipif(sys.platform == "win32", reason="no shell scripts")
def test_each_gpu_with_a_chunk_counts_as_fast_as_the_probed_one(
    nvidia_smi: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three GPUs, which compute two chunks each at a time, or more."""
    nvidia_smi("".join(f"GPU {i}: NVIDIA H200 (UUID: GPU-{i})\n" for i in range(3)))
    probe_with(Paced(1e-3), monkeypatch)
    swept = load(SMOKE).sweep
    pending = list(chunks(swept.grid.shape, (1, 7)))
    for n_chunks, workers, threads in ((5, 5, 6), (2, 2, 2), (1, 1, 1)):
        some = pending[:n_chunks]
        result = forecast(swept, some, (1, 7), RunOptions(gpus="all"), "a.zarr", is_made=False)
        assert result.workers == workers
        assert result.points_per_second is not None
        assert 0.5 < result.points_per_second / (threads * 1e3) < 1.05


def test_the_forecast_for_a_url_has_no_free_space() -> None:
    swept = load(SMOKE).sweep
    result = forecast(swept, [], swept.grid.shape, RunOptions(), "memory://a.zarr", is_made=False)
    assert result.bytes_free is None
    assert result.fits
