"""Outputs with several values at a point, and points that lack a value, through every reader."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep import api
from sweep.equations import checks, system_file
from sweep.equations.checks import MAX_KEPT
from sweep.equations.model import PACKED_VALUES, model_of_text
from sweep.errors import ConfigError, StoreError, SweepError
from sweep.file import load
from sweep.kernel import source
from sweep.kernel.cpu import CpuBackend, CpuTarget
from sweep.kernel.source import kernel_of
from sweep.pictures import plots
from sweep.results.exporting import export
from sweep.results.summary import contents, state
from sweep.store import Store
from sweep.store.upkeep import verify
from tests.equations.examples import model
from tests.pictures.test_plots import heading_of
from tests.results.test_export import rows

# x = speed t: the values once a period of 1 are 0, speed, 2 speed, ... until the motion ends.
CLOCK = """
format = 1
name = "clock"
time_unit = "1"
period = "1"
[parameters]
speed = { meaning = "rate of x" }
[states]
x = { initial = "0", meaning = "position" }
[derivatives]
x = "speed"
[[events]]
name = "passage"
when = "x - 5"
direction = "rising"
[outputs]
steps = { values = "x", every = "period", keep = 4, meaning = "last positions" }
passages = { count = "passage", meaning = "passages of 5" }
passed_at = { at = "passage", mean = "t", meaning = "time of the passage" }
x_end = { final = "x", meaning = "last position" }
kept = { values = "2*max(x, t) + speed", every = "passage", keep = 1, meaning = "of the passage" }
"""
KEPT = 4
SPEEDS, CYCLES = (1.0, 2.0), (1.0, 2.0, 3.0, 6.0, 7.0)


def request(cycles: tuple[float, ...] = CYCLES, **tables: Any) -> dict[str, Any]:
    return {
        "model": model(CLOCK),
        "method": "rk4",
        "parameters": {"step": 0.25},
        "axes": {"end_cycle": {"values": list(cycles)}, "speed": {"values": list(SPEEDS)}},
        **tables,
    }


def keeping(count: int) -> str:
    """The model with so many last positions, and no other last values."""
    return CLOCK.partition("kept =")[0].replace("keep = 4", f"keep = {count}")


def expected_steps() -> np.ndarray:
    """The last positions at t = 0, 1, 2, ..., oldest first; NaN where fewer came."""
    table = np.full((len(CYCLES), len(SPEEDS), KEPT), np.nan)
    for i, cycles in enumerate(CYCLES):
        times = np.arange(cycles + 1)[-KEPT:]
        table[i, :, : times.size] = np.multiply.outer(SPEEDS, times)
    return table


def passes() -> np.ndarray:
    return np.multiply.outer(CYCLES, SPEEDS) > 5


@pytest.fixture(scope="module")
def dataset() -> xr.Dataset:
    return sweep.run(request(), store=None)


def test_the_last_values_are_kept_oldest_first(dataset: xr.Dataset) -> None:
    assert dataset["steps"].dims == ("end_cycle", "speed", "steps_index")
    np.testing.assert_allclose(dataset["steps"], expected_steps(), rtol=1e-13)
    np.testing.assert_array_equal(dataset["passages"], passes())
    np.testing.assert_array_equal(np.isfinite(dataset["passed_at"]), passes())
    at_passage = np.where(passes(), np.add(10.0, SPEEDS), np.nan)  # x = 5 >= t there
    np.testing.assert_allclose(dataset["kept"].squeeze("kept_index"), at_passage, rtol=1e-12)


@pytest.fixture
def small_stacks() -> Iterator[None]:
    """Threads of 1 MiB, the least that systems give them."""
    usual = threading.stack_size(2**20)
    yield
    threading.stack_size(usual)


@pytest.mark.usefixtures("small_stacks")
@pytest.mark.parametrize("kept", [PACKED_VALUES, MAX_KEPT])
def test_as_many_values_as_are_allowed_fit_the_stack_of_a_thread(kept: int, tmp_path: Path) -> None:
    text = keeping(kept)
    asked = load(request((4099.0,), model=model(text), method="rk54", parameters={}))
    target = CpuTarget(pack=kernel_of(asked.sweep).pack)  # which is 1 in tests otherwise
    with ThreadPoolExecutor(1) as thread:  # starts its threads with that stack
        computed = thread.submit(
            api.compute, asked, tmp_path / "a.zarr", open_backend=lambda _: CpuBackend(target)
        )
        dataset = computed.result()[0].dataset()
    times = np.arange(4099 - kept + 1, 4100.0)
    expected = np.multiply.outer(SPEEDS, times)[None]
    np.testing.assert_allclose(dataset["steps"], expected, rtol=1e-12)


def test_a_store_of_an_earlier_version_with_more_values_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, text = tmp_path / "a.zarr", keeping(5000)
    with monkeypatch.context() as earlier:
        for module in (checks, system_file):
            earlier.setattr(module, "MAX_KEPT", 65_536)
        Store.create(path, load(request(model=model(text))).sweep, provenance={})
    model_of_text.cache_clear()
    store = Store.open(path)
    assert state(store).points_total == 10
    assert store.sweep.model.outputs[0].values == 5000
    with pytest.raises(ConfigError, match="5000 is not a whole number from 1 to 4,096"):
        load(path)


@pytest.mark.parametrize("target", get_args(source.Target))
def test_a_kernel_is_as_long_whatever_number_of_values_it_keeps(target: source.Target) -> None:
    """With a statement for each value compilers took a minute for a thousand of them."""
    few, many = (
        source.kernel_text(
            source.kernel_of(load(request(model=model(keeping(kept)))).sweep), target
        )
        for kept in (2, MAX_KEPT)
    )
    assert len(many.splitlines()) == len(few.splitlines())


def test_a_store_resumed_extended_and_opened_again_has_the_same_values(
    dataset: xr.Dataset, tmp_path: Path
) -> None:
    path = tmp_path / "a.zarr"
    sweep.run(request(CYCLES[:3]), store=path, chunk_points=1)
    for name in ("steps", "passages", "passed_at", "x_end", "kept", "status"):
        shutil.rmtree(path / name / "c" / "1")  # as if killed before these chunks
    assert len(Store.open(path).pending()) == 2
    sweep.run(request(CYCLES[:3]), store=path)
    longer = Store.extend(path, load(request()).sweep)
    assert len(longer.pending()) == 4
    completed = sweep.run(request(), store=path).load()
    assert not verify(Store.open(path))
    assert completed.sizes == dataset.sizes
    for name in dataset.data_vars:
        assert completed[name].values.tobytes() == dataset[name].values.tobytes()


def test_a_lost_file_of_several_values_is_damage_and_computed_again(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    sweep.run(request(), store=path, chunk_points=1)
    shutil.rmtree(path / "steps" / "c" / "4" / "1")
    with pytest.raises(StoreError, match="steps has no value at points that are done"):
        sweep.open_results(path).load()
    (damaged,) = verify(Store.open(path))
    assert damaged.index == (4, 1)
    repaired = sweep.run(request(), store=path)
    np.testing.assert_allclose(repaired["steps"], expected_steps(), rtol=1e-13)


def test_figures_are_of_the_values_that_exist(dataset: xr.Dataset) -> None:
    ranges, steps = contents(dataset).ranges, expected_steps()
    assert (ranges["steps"].least, ranges["steps"].greatest) == (0.0, 14.0)
    assert ranges["steps"].mean == pytest.approx(np.nanmean(steps), rel=1e-13)
    times = np.broadcast_to(5 / np.array(SPEEDS), passes().shape)[passes()]
    assert ranges["passed_at"].greatest == pytest.approx(5.0, rel=1e-12)
    assert ranges["passed_at"].mean == pytest.approx(times.mean(), rel=1e-12)


def test_csv_has_a_column_for_each_value(dataset: xr.Dataset, tmp_path: Path) -> None:
    read = rows(export(dataset, tmp_path / "a.csv"))
    assert len(read) == len(CYCLES) * len(SPEEDS)
    steps = [[float(row[f"steps_{i}"]) for i in range(KEPT)] for row in read]
    np.testing.assert_array_equal(steps, dataset["steps"].values.reshape(-1, KEPT))
    assert "steps" not in read[0]


def test_csv_keeps_an_output_whose_name_a_column_would_take(
    dataset: xr.Dataset, tmp_path: Path
) -> None:
    result = dataset.rename(x_end="steps_1")
    read = rows(export(result, tmp_path / "a.csv"))
    assert [float(row["steps_1"]) for row in read] == result["steps_1"].values.ravel().tolist()
    second = [float(row["steps_1_"]) for row in read]
    np.testing.assert_array_equal(second, result["steps"].values[..., 1].ravel())


def test_netcdf_and_the_command_export_read_a_store_whole(
    dataset: xr.Dataset, tmp_path: Path, run: Any
) -> None:
    sweep.run(request(), store=tmp_path / "a.zarr")
    for command in ("show", "export", "plot"):
        more = {"export": ("-o", "a.nc"), "plot": ("-o", "a.png")}.get(command, ())
        status, _, error = run(command, "a.zarr", *more)
        assert (status, error) == (0, "")
    with xr.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as read:
        for name in dataset.data_vars:
            np.testing.assert_array_equal(read[name], dataset[name])


def test_errors_leave_out_what_has_several_values(dataset: xr.Dataset) -> None:
    errors = sweep.compare(dataset, "dop853")
    assert "steps_error" not in errors
    assert float(errors["x_end_error"].max()) < 1e-12
    with pytest.raises(SweepError, match="several values at each point"):
        plots.plot(dataset, "steps", against="dop853")


def test_a_refined_sweep_has_the_values_at_all_its_points() -> None:
    refine = {"output": "passages", "levels": 2, "tolerance": 0.1}
    axes = {"end_cycle": {"values": [1, 9]}, "speed": {"values": [1, 2]}}
    refined = sweep.run({**request(), "axes": axes, "refine": refine}, store=None)
    assert refined.sizes["point"] > 9  # a border runs through the only cell
    last = np.sum(np.isfinite(refined["steps"].values), axis=1) - 1
    newest = np.take_along_axis(refined["steps"].values, last[:, None], axis=1)[:, 0]
    cycles = np.floor(refined["end_cycle"].values)
    np.testing.assert_allclose(newest, cycles * refined["speed"].values, rtol=1e-12)
    figure = plots.plot(refined, "steps")
    assert figure.axes[0].get_xlabel() == "end cycle n₁"


def test_several_values_decide_no_refinement() -> None:
    refine = {"output": "steps", "levels": 1, "tolerance": 0.1}
    with pytest.raises(SweepError, match="'steps' has several values at each point"):
        load(request(refine=refine))


def test_a_bifurcation_map_has_a_dot_for_each_value(dataset: xr.Dataset) -> None:
    figure = plots.plot(dataset, "steps", at={"speed": 2.0})
    (axes,) = figure.axes
    (dots,) = axes.get_lines()
    x, y = dots.get_data()
    expected = [
        (cycles, value)
        for cycles, values in zip(CYCLES, expected_steps()[:, 1], strict=True)
        for value in values[np.isfinite(values)]
    ]
    drawn_values = [(a, b) for a, b in zip(x, y, strict=True) if np.isfinite(b)]
    np.testing.assert_allclose(drawn_values, expected, rtol=1e-13)
    assert axes.get_xlabel() == "end cycle n₁"
    assert "speed = 2" in heading_of(figure)[0]


def test_a_sample_is_drawn_over_one_parameter() -> None:
    sample = {"method": "sobol", "points": 8, "seed": 1, "speed": {"uniform": [1, 2]},
              "end_cycle": {"uniform": [3, 6]}}  # fmt: skip
    tables = {"model": model(CLOCK), "method": "rk4", "parameters": {"step": 0.25}}
    sampled = sweep.run({**tables, "sample": sample}, store=None)
    (dots,) = plots.plot(sampled, "steps", over=["end_cycle"]).axes[0].get_lines()
    assert np.unique(dots.get_data()[0]).tolist() == sorted(sampled["end_cycle"].values)
    with pytest.raises(SweepError, match="over one parameter"):
        plots.plot(sampled, "steps", over=["speed", "end_cycle"])
