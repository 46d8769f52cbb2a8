"""Before a run: kernels compiled ahead, and forecasts compared with what a run takes."""

from __future__ import annotations

import json
import shutil
import sys
import threading
import time
import tracemalloc
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

import sweep
import sweep.results.forecast
from sweep.api import with_options
from sweep.engine.driver import open_store, run_in_store
from sweep.engine.ledger import failed_arrays
from sweep.errors import MachineError, StoreError
from sweep.file import Request, load
from sweep.kernel.backend import Computed, Stopped, Then
from sweep.model.shipped import configs_folder
from sweep.points.chunking import chunk_shape, chunks
from sweep.points.columns import points, variant_sets
from sweep.request.chunk import Points
from sweep.request.sweeps import Sweep
from sweep.results.forecast import forecast, timed
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

    def prepare(self, _: Sweep, variants: tuple[str, ...] = ()) -> None: ...

    def compute(
        self, _: Sweep, points: Points, stop: Event | None = None, then: Then | None = None
    ) -> Computed:
        del then
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
    monkeypatch.setattr(sweep.results.forecast, "TIMED_SECONDS", 0.2)
    for module in ("sweep.results.forecast", "sweep.cli.actions.dry_run"):
        monkeypatch.setattr(f"{module}.MAX_SECONDS", 0.4)


def time_with(backend: Paced, monkeypatch: pytest.MonkeyPatch, processors: int = 1) -> None:
    """Time this backend, whichever the options name, on a machine of so many processors."""
    monkeypatch.setattr(sweep.results.forecast, "open_backend", lambda _name: backend)
    monkeypatch.setattr(sweep.results.forecast, "usable_processors", lambda: processors)


def request_for(*overrides: str, **options: object) -> Request:
    return with_options(load("wear_power", overrides), **options)


@pytest.mark.usefixtures("quick")
def test_the_time_is_that_of_all_threads_and_of_no_more_than_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread sleeps for each of its points, whatever the others do."""
    for workers, processors, threads in ((1, 3, 1), (3, 3, 3), (64, 2, 2)):
        backend = Paced(1e-4)
        time_with(backend, monkeypatch, processors)
        result = forecast(request_for(workers=workers, chunk_points=2**12), tmp_path / "a.zarr")
        assert (result.workers, len(backend.done)) == (workers, threads)
        assert result.points_per_second == pytest.approx(threads / 1e-4, rel=0.4)
        assert result.seconds == pytest.approx(2**19 / threads * 1e-4, rel=0.6)


@pytest.mark.parametrize(("seconds", "at_least"), [(0.3, 1.0), (3.0, 1.0), (0.02, 16.0)])
def test_slow_points_are_timed_as_far_as_two_seconds_go_and_one_at_least(
    seconds: float, at_least: float
) -> None:
    backend, began = Paced(seconds), time.perf_counter()
    rate = timed(request_for().sweep, backend, 1)
    assert time.perf_counter() - began < max(seconds, 2.0) + 1.0
    assert rate == pytest.approx(1 / seconds, rel=0.2)
    assert max(batch.n_points for batch in backend.batches) >= at_least


@pytest.mark.usefixtures("quick")
def test_the_forecast_of_a_point_that_takes_too_long_has_no_time(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    time_with(Paced(1.0), monkeypatch)
    began = time.perf_counter()
    result = json.loads(run("run", "wear_power", "--dry-run", "--json")[1])
    assert time.perf_counter() - began < 5
    assert result["points_pending"] == result["points_total"]
    assert result["points_per_second"] is result["seconds"] is None
    assert "unknown: a point takes more than 0.4 s" in run("run", "wear_power", "--dry-run")[1]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", ["wear_power", "wear_power_sample", "sdnd104"])
def test_the_timed_points_are_from_all_over_the_sweep(name: str) -> None:
    swept, backend = load(name).sweep, Paced(1e-6)
    timed(swept, backend, 1)
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


def test_a_single_point_is_timed() -> None:
    single = request_for("friction=0.1", "base_acceleration=15").sweep
    assert timed(single, Paced(1e-3), 1)


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
    result = forecast(request, path)
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
    again = forecast(request, path)
    assert (again.points_pending, again.bytes_on_disk, again.seconds) == (0, 0, 0.0)


@pytest.mark.usefixtures("quick")
def test_the_forecast_of_an_existing_store_counts_pending_chunks_only(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    request = request_for(chunk_points=2**17)
    store = open_store(request, path)
    chunk, other = store.pending()[:2]
    for each in (chunk, other):
        store.write(each, failed_arrays(store, each))
    assert forecast(request_for(), path).chunks_pending == 2
    assert forecast(request_for(retry_failed=True), path).chunks_pending == 4
    (path / "wear_power" / "c" / "0" / "0").unlink()
    assert forecast(request_for(), path).chunks_pending == 3
    with pytest.raises(StoreError, match="another sweep"):
        forecast(request_for("mass=2"), path)


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
            forecasts.append(json.loads(run("run", SMOKE, *shard, "--dry-run", "--json")[1]))
        assert [each["chunks_pending"] for each in forecasts] == [2, 2, 1]
        assert [each["points_pending"] for each in forecasts] == [14, 14, 7]
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


@pytest.mark.usefixtures("quick")
def test_slurm_changes_no_figure_but_how_many_chunks_keep_all_cores_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sweep.results.forecast, "timed", lambda _sweep, _backend, threads: 10.0 * threads
    )
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10**9))
    here = forecast(request_for(workers=2), tmp_path / "a.zarr")
    slurm = {"jobs": 8, "cores": 3}
    there = forecast(request_for(workers=2, cluster="slurm", slurm=slurm), tmp_path / "a.zarr")
    assert (here.seconds, here.chunk_points_to_use_all) == (2**19 / 20, None)
    assert replace(there, chunk_points_to_use_all=None) == here
    # Two chunks for each core of the jobs, of which `workers` is the number.
    assert there.chunk_points_to_use_all == 2**19 // (2 * 2 * 2 * 3)


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
def test_there_are_no_more_workers_than_chunks() -> None:
    request = with_options(load(SMOKE), workers=9, chunk_points=7)
    result = forecast(request, Path("nowhere/a.zarr"))
    assert (result.workers, result.chunk_points, result.chunks_pending) == (5, 7, 5)
    assert replace(result, bytes_free=result.bytes_on_disk).fits
    assert not replace(result, bytes_free=result.bytes_on_disk - 1).fits


@pytest.mark.usefixtures("quick")
def test_the_forecast_includes_file_blocks_and_axis_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small files take a block each; axis values are in a new store and in memory."""
    request = with_options(load(SMOKE), chunk_points=1)
    path = tmp_path / "a.zarr"
    result = forecast(request, path).bytes_on_disk
    run_in_store(open_store(request, path), request)
    files = [file.stat().st_size for file in path.rglob("*") if file.is_file()]
    assert sum(-(-size // 4096) * 4096 for size in files) <= result
    time_with(Paced(1e-6), monkeypatch)
    long = ("friction={ linspace = [0.1, 0.2, 3_000_000] }", "base_acceleration=15")
    one, two = (request_for(*long, workers=n, chunk_points=2**16) for n in (1, 2))
    path = tmp_path / "long.zarr"
    new, of_two = forecast(one, path), forecast(two, path)
    open_store(one, path)
    values = 8 * 3_000_000
    assert values < new.bytes_on_disk - forecast(one, path).bytes_on_disk < 1.1 * values
    at_work = of_two.bytes_of_memory - new.bytes_of_memory
    assert at_work == new.bytes_of_memory - values > 2**16 * 8 * len(one.sweep.outputs)


@pytest.mark.usefixtures("quick")
@pytest.mark.skipif(sys.platform == "win32", reason="no shell scripts")
def test_each_gpu_with_a_chunk_counts_as_fast_as_the_timed_one(
    nvidia_smi: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three GPUs, which compute two chunks each at a time, or more."""
    nvidia_smi("".join(f"GPU {i}: NVIDIA H200 (UUID: GPU-{i})\n" for i in range(3)))
    time_with(Paced(1e-3), monkeypatch, processors=8)
    for chunk_points, workers, threads in ((7, 5, 6), (21, 2, 2), (35, 1, 1)):
        request = with_options(load(SMOKE), gpus="all", chunk_points=chunk_points)
        result = forecast(request, "a.zarr")
        assert result.workers == workers
        assert result.points_per_second is not None
        assert 0.5 < result.points_per_second / (threads * 1e3) < 1.05


def test_the_forecast_for_a_url_has_no_free_space() -> None:
    result = forecast(load(SMOKE), "memory://a.zarr")
    assert result.bytes_free is None
    assert result.fits
