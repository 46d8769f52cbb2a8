"""Methods of which a point may take long have small chunks, so that all workers have some."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

import sweep
import sweep.results.forecast
from sweep.engine import loop
from sweep.engine.loop import run
from sweep.file import load
from sweep.kernel.backend import Backend, Computed, Then
from sweep.kernel.gpu import GpuBackend
from sweep.kernel.opening import open_backend
from sweep.model.table import Method
from sweep.model.tables import mdr_contact
from sweep.model.tables.impact_oscillator import HARMONIC_BALANCE
from sweep.points.chunking import chunk_counts, chunk_shape, points_of_more_chunks, work_shape
from sweep.points.columns import points
from sweep.points.recipes import recipe
from sweep.request.chunk import Points
from sweep.request.options import RunOptions
from sweep.request.sweeps import AnySweep, Request, Sweep
from sweep.store import Arrays, Store, target_of
from tests.cases.files import model_of_file
from tests.command import Run
from tests.gpu.twin import TwinDevice
from tests.kernel.wrapped import WrappedBackend
from tests.points.test_chunking import grid

LORENZ = {
    "format": 1,
    "model": "lorenz",
    "outputs": ["final_x", "reversals"],
    "parameters": {"window_start": 0.0, "window_end": 2.0, "relative_tolerance": 1e-6},
}


def along(table: Mapping[str, object], **sizes: int) -> Request:
    """The request for so many values of each parameter."""
    axes = {name: {"linspace": [0.5, 1.5, size]} for name, size in sizes.items()}
    return load({**table, "axes": axes})


def work_of(chosen: AnySweep) -> tuple[int, int]:
    """The points of a whole chunk and the number of chunks."""
    shape = work_shape(chosen)
    return math.prod(shape), math.prod(chunk_counts(chosen.computed_shape, shape))


def slow(method: str, *shape: int) -> Sweep:
    """A sweep of this shape, which takes no memory, by the method of this name."""
    methods = [*model_of_file("lorenz").methods, *mdr_contact.METHODS, HARMONIC_BALANCE]
    (chosen,) = (each for each in methods if each.name == method)
    return replace(grid(*shape), method=chosen)


@pytest.mark.parametrize(
    ("method", "shape", "expected"),
    [
        ("rk54", (), (1, 1)),
        ("rk54", (384,), (48, 8)),
        ("rk54", (24, 16), (48, 8)),
        ("rk54", (10_000,), (48, 209)),
        ("rk54", (200_000,), (768, 261)),
        ("rk54", (1_000_000,), (3888, 258)),
        ("rk54", (10**9,), (2**19, 1908)),
        ("time_stepping", (384,), (128, 3)),
        ("time_stepping_2", (200_000,), (768, 261)),
        ("harmonic_balance", (2**9, 2**9), (1024, 256)),
    ],
)
def test_a_slow_method_has_256_chunks_or_more_of_whole_vectors(
    method: str, shape: tuple[int, ...], expected: tuple[int, int]
) -> None:
    assert work_of(slow(method, *shape)) == expected


def test_an_output_with_several_values_has_fewer_points_in_its_largest_chunks() -> None:
    many = replace(along({**LORENZ, "outputs": ["z_peaks"]}, rho=2).sweep, axes=grid(10**8).axes)
    assert work_of(many) == (2**14, 6104)


def test_chunks_of_fast_methods_are_as_they_were() -> None:
    assert [work_of(grid(n)) for n in (384, 200_000, 10**6, 10**7)] == [
        (384, 1),
        (2**16, 4),
        (2**16, 16),
        (2**17, 77),
    ]


def reduced(points: int, cells: int = 1, **table: object) -> AnySweep:
    axes = {"sigma": {"linspace": [9.0, 11.0, cells]}} if cells > 1 else {}
    sample = {"method": "sobol", "points": points, "seed": 1, "rho": {"uniform": [0.5, 21.0]}}
    reduce = {"final_x": ["mean", "quantile 0.5"], **table}
    outputs = {"outputs": ["final_x"], "axes": axes}
    return load({**LORENZ, **outputs, "sample": sample, "reduce": reduce}).sweep


def test_a_cell_of_slow_points_is_computed_by_several_workers() -> None:
    assert work_of(reduced(200_000)) == (768, 261)
    assert work_of(reduced(384)) == (48, 8)
    assert work_shape(reduced(100, cells=2000)) == (8, 100)  # whole cells


def test_a_cell_of_exact_quantiles_stays_whole() -> None:
    """Its points are sorted at once."""
    assert work_of(reduced(200_000, exact_quantiles=True)) == (200_000, 1)
    assert work_shape(reduced(200_000, cells=3, exact_quantiles=True)) == (1, 200_000)


@pytest.mark.parametrize(
    ("points", "workers", "expected"),
    [(384, 1, None), (384, 2, None), (384, 128, 1), (200_000, 128, None), (10**6, 1000, 250)],
)
def test_the_chunks_for_more_workers(points: int, workers: int, expected: int | None) -> None:
    """The result gives each two chunks or more, if there are as many points."""
    chosen = slow("rk54", points)
    _, n_chunks = work_of(chosen)
    assert points_of_more_chunks(points, n_chunks, workers) == expected
    if expected is not None:
        more = math.prod(chunk_counts(chosen.grid.shape, chunk_shape(chosen, expected)))
        assert min(2 * workers, points) <= more


def test_one_point_has_no_smaller_chunks() -> None:
    assert points_of_more_chunks(1, 1, 128) is None
    assert points_of_more_chunks(7, 7, 128) is None


def test_the_recipe_of_a_sweep_does_not_have_its_chunks() -> None:
    chosen = along(LORENZ, rho=384).sweep
    other = replace(chosen, method=replace(chosen.method, least_chunk=Method.least_chunk))
    assert work_of(other) != work_of(chosen)
    assert recipe(other) == recipe(chosen)


def bits_of(chosen: Sweep, chunk_points: int | None = None) -> dict[str, bytes]:
    results = Arrays(chosen, chunk_points=chunk_points)
    run(target_of(results), RunOptions(workers=2))
    return {str(n): v.values.tobytes() for n, v in results.dataset().data_vars.items()}


@pytest.mark.parametrize("chunk_points", [1, 32, 1024])
def test_any_chunks_give_the_same_bits(chunk_points: int) -> None:
    chosen = along(LORENZ, sigma=5, rho=70).sweep
    assert bits_of(chosen, chunk_points) == bits_of(chosen)


def test_a_reduced_sweep_has_the_same_bits_in_any_chunks() -> None:
    chosen = reduced(1000)
    assert work_of(chosen) == (48, 21)
    assert bits_of(chosen, 1000) == bits_of(chosen)


def test_a_refined_sweep_has_the_same_bits_in_any_chunks(tmp_path: Path) -> None:
    table = {
        **LORENZ,
        "axes": {"rho": {"linspace": [5.0, 25.0, 60]}},
        "refine": {"output": "reversals", "levels": 2, "tolerance": 0.1},
    }
    usual = sweep.run(table, store=tmp_path / "a.zarr")
    large = sweep.run(table, store=tmp_path / "b.zarr", chunk_points=2**10)
    assert usual.status.encoding["chunks"] == (48,)
    assert usual.status.size > 60
    assert usual.equals(large)


def test_a_store_with_larger_chunks_keeps_them(tmp_path: Path) -> None:
    """It opens, is resumed and extended with the chunks that it was made with."""
    chosen = along(LORENZ, rho=384).sweep
    axis = chosen.axes[0]
    shorter = {name: values[:300] for name, values in axis.columns.items()}
    short = replace(chosen, axes=(replace(axis, columns=shorter, recipe={"values": 0}),))
    long = replace(chosen, axes=(replace(axis, recipe={"values": 1}),))
    path = tmp_path / "a.zarr"
    made = Store.create(path, short, chunk_points=100)
    done = made.pending()[0]
    arrays = open_backend().compute(short, points(short, done)).arrays
    made.write(done, arrays)
    resumed = Store.create(path, short)
    assert (resumed.chunk_shape, len(resumed.pending())) == ((100,), 2)
    run(resumed)
    extended = Store.extend(path, long)
    assert (extended.chunk_shape, len(extended.pending())) == ((100,), 1)
    run(extended)
    results = extended.dataset()
    assert {n: results[n].values.tobytes() for n in ("final_x", "status")} == {
        n: v for n, v in bits_of(long).items() if n in ("final_x", "status")
    }


class Counted(WrappedBackend):
    """A backend that notes the points of each of its calls."""

    def __init__(self, real: Backend, name: str) -> None:
        super().__init__(real)
        self.name, self.calls = name, list[int]()

    def compute(
        self, sweep: Sweep, points: Points, stop: Event | None = None, then: Then | None = None
    ) -> Computed:
        self.calls.append(points.n_points)
        return self.real.compute(sweep, points, stop, then)


def test_a_gpu_joins_the_small_chunks() -> None:
    chosen = along(LORENZ, rho=2000).sweep
    backend = Counted(GpuBackend(TwinDevice()), "gpu")
    results = Arrays(chosen)
    assert len(results.pending()) == 42
    run(results, RunOptions(workers=1), open_backend=lambda _: backend)
    assert backend.calls[0] == 48  # alone, which shows how many are computed in time
    assert sum(backend.calls) == 2000
    assert len(backend.calls) <= 6
    found = {str(n): v.values.tobytes() for n, v in results.dataset().data_vars.items()}
    assert found == bits_of(chosen)


TOO_FEW = "too few to keep"


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "FEW_CHUNKS_SECONDS", 0.0)
    monkeypatch.setattr(sweep.results.forecast, "FEW_CHUNKS_SECONDS", 0.0)
    monkeypatch.setattr(sweep.results.forecast, "TIMED_SECONDS", 0.1)


def notes_of(chosen: Sweep, options: RunOptions, name: str = "cpu") -> list[str]:
    backend, notes = Counted(open_backend(), name), list[str]()
    run(Arrays(chosen), options, notify=notes.append, open_backend=lambda _: backend)
    return notes


@pytest.mark.usefixtures("at_once")
def test_a_long_run_with_too_few_chunks_says_so_once() -> None:
    chosen = along(LORENZ, rho=384).sweep
    (note,) = notes_of(chosen, RunOptions(workers=8))
    assert note.startswith("8 chunks are too few to keep 8 workers busy: ")
    assert "`chunk_points` of 12 or less" in note
    (note,) = notes_of(along(LORENZ, rho=4).sweep, RunOptions(workers=2))
    assert note.startswith("1 chunk is too few to keep 2 workers busy: ")


@pytest.mark.usefixtures("at_once")
def test_enough_chunks_are_not_spoken_of() -> None:
    chosen = along(LORENZ, rho=384).sweep
    assert notes_of(chosen, RunOptions(workers=4)) == []
    assert notes_of(along(LORENZ, rho=4).sweep, RunOptions(workers=1)) == []
    assert notes_of(chosen, RunOptions(workers=8), "gpu") == []  # which joins chunks


def test_a_short_run_does_not_speak_of_its_chunks() -> None:
    assert notes_of(along(LORENZ, rho=4).sweep, RunOptions(workers=2)) == []


def test_run_and_dry_run_name_the_option(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "a.toml").write_text(
        'format = 1\nmodel = "lorenz"\noutputs = ["final_x"]\n'
        "[parameters]\nwindow_end = 2.0\n[axes]\nrho = { linspace = [1, 9, 384] }\n"
    )
    few, enough = ("run", "a.toml", "--workers", "8"), ("run", "a.toml", "--workers", "2")
    assert TOO_FEW not in run(*few, "--dry-run")[1]  # it takes no second
    request.getfixturevalue("at_once")
    assert "--chunk-points 12 or less" in run(*few, "--dry-run")[1]
    assert TOO_FEW not in run(*enough, "--dry-run")[1]
    assert "`chunk_points` of 12 or less" in run(*few)[2]
    assert TOO_FEW not in run(*enough, "-o", "b.zarr")[2]
