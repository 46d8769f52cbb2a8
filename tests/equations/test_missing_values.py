"""Outputs without a value at points that are ok, by 0/0, and windows without a length."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.errors import ConfigError, StoreError
from sweep.file import load
from sweep.model.table import Status
from sweep.statistics import outputs
from sweep.statistics.outputs import OF_VALUES
from sweep.store import Store
from tests.command import Run
from tests.equations.examples import first_method, first_methods, model, points
from tests.equations.test_events import controls

# x = exp(-t), of which every output is 0/0 at k = 0, and at other k one of x.
DECAY = """
period = "2"
[parameters]
k = {}
[states]
x = { initial = "1" }
[derivatives]
x = "-x"
[outputs]
final = { final = "k*x/k" }
mean = { mean = "k*x/k" }
integral = { integral = "k*x/k" }
rms = { rms = "k*x/k" }
maximum = { maximum = "k*x/k" }
minimum = { minimum = "k*x/k" }
difference = { final = "x/k - x/k" }
"""
END = 2.0
RATIOS = (0.0, 1.0, -4.0)
EXPECTED = {
    "final": math.exp(-END),
    "mean": (1 - math.exp(-END)) / END,
    "integral": 1 - math.exp(-END),
    "rms": math.sqrt((1 - math.exp(-2 * END)) / 2 / END),
    "maximum": 1.0,
    "minimum": math.exp(-END),
    "difference": 0.0,
}


def decay(**tables: Any) -> dict[str, Any]:
    constants = {"window_end": END, "relative_tolerance": 1e-9}
    axes = {"k": {"values": list(RATIOS)}}
    return {"model": model(DECAY), "parameters": constants, "axes": axes, **tables}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A finished store, in which each point is a chunk."""
    sweep.run(decay(), store=tmp_path / "a.zarr", chunk_points=1)
    return tmp_path / "a.zarr"


def test_a_store_with_points_that_lack_values_is_read(store: Path, run: Run) -> None:
    dataset = sweep.open_results(store).load()
    assert (dataset.status == Status.ok).all()
    for name, value in EXPECTED.items():
        expected = [value if k else math.nan for k in RATIOS]
        np.testing.assert_allclose(dataset[name], expected, rtol=1e-7, err_msg=name)
    for command in ("show", "status --verify", "export -o a.csv", "plot -o a.png"):
        first, *rest = command.split()
        status, _, message = run(first, str(store), *rest)
        assert status == 0, message


@pytest.mark.parametrize("point", range(len(RATIOS)))
@pytest.mark.parametrize("part", [slice(None), [0, 1, 2], [2, 1, 0]])
def test_a_lost_file_is_no_missing_value(store: Path, point: int, part: slice | list[int]) -> None:
    """Whether or not the file contained a value, however it is read."""
    (store / "mean" / "c" / str(point)).unlink()
    dataset = sweep.open_results(store)
    with pytest.raises(StoreError, match="mean has no value at points that are done"):
        dataset["mean"][part].load()
    with pytest.raises(StoreError, match="mean has no value at points that are done"):
        dataset["mean"][point].load()
    others = [k for k in range(len(RATIOS)) if k != point]
    assert int(np.isfinite(dataset["mean"][others].values).sum()) == (1 if point else 2)
    assert math.isnan(dataset["final"].values[0])


def test_statistics_are_of_the_values_that_exist() -> None:
    over = {"over": ["k"]}
    names = {name: ["mean", "minimum", "maximum"] for name in EXPECTED}
    reduced = sweep.run(decay(reduce=over | names), store=None)
    for name, value in EXPECTED.items():
        for statistic in ("mean", "minimum", "maximum"):
            assert float(reduced[f"{name}_{statistic}"]) == pytest.approx(value, rel=1e-7), name


def moments(starts: list[float]) -> dict[str, Any]:
    """Statistics over walls of which motions reach some only, so that others have no moment."""
    wanted = 'moment = { at = "stop", mean = "t" }\nstops = { count = "stop" }'
    statistics = ["mean", "share above 9", "histogram 4", "sobol_indices"]
    return {
        "model": model(STOPPED.partition("mean =")[0] + wanted),
        "parameters": {"window_end": 10.0},
        "axes": {"window_start": {"values": starts}},
        "sample": {"method": "random", "points": 8, "seed": 1, "wall": {"uniform": [5, 15]}},
        "reduce": {"moment": statistics, "stops": ["mean", "share below 0.5"]},
    }


def test_statistics_say_that_they_are_of_the_values_that_exist() -> None:
    """Except those of counts, which every point has, and the edges of bins."""
    dataset = sweep.run(moments([0.0]), store=None)
    meanings = {str(name): each.attrs["long_name"] for name, each in dataset.data_vars.items()}
    statistics = ["mean", "mean_error", "share_above", "histogram", "first_order", "total_order"]
    of_values = {name for name, text in meanings.items() if text.endswith(OF_VALUES)}
    assert of_values == {f"moment_{each}" for each in statistics}
    assert meanings["moment_mean"] == "mean of moment, of the points that have a value"
    assert meanings["stops_share_below"] == "share of points below a threshold of stops"
    happen = dataset["moment_histogram"].sum().item() / 8
    assert 0 < happen < 1
    assert dataset["stops_share_below"].item() == 1 - happen


def test_stores_made_before_statistics_said_so_continue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.zarr"
    with monkeypatch.context() as before:
        before.setattr(outputs, "OF_VALUES", "")
        sweep.run(moments([0.0, 1.0]), store=path, chunk_points=1)
    assert sweep.open_results(path)["moment_mean"].attrs["long_name"] == "mean of moment"
    (path / "status" / "c" / "1").unlink()
    assert len(Store.open(path).pending()) == 1
    sweep.run(moments([0.0, 1.0]), store=path)
    longer = moments([0.0, 1.0, 2.0])
    Store.extend(path, load(longer).sweep)
    assert len(Store.open(path).pending()) == 1
    dataset = sweep.run(longer, store=path).load()
    expected = sweep.run(longer, store=None)
    xr.testing.assert_equal(dataset, expected)
    for name in ("recipe", "fingerprint", "kernel_digest"):
        assert dataset.attrs[name] == expected.attrs[name]


WINDOWS = pytest.mark.parametrize(
    ("start", "end"), [("window_start", "window_end"), ("start_cycle", "end_cycle")]
)


@WINDOWS
def test_a_window_without_a_length_is_refused(start: str, end: str) -> None:
    for first, last in ((1.0, 1.0), (2.0, 1.0)):
        with pytest.raises(ConfigError, match=f"{start}.*the window is empty"):
            points(DECAY, "rk54", {"k": [1.0]}, **{start: first, end: last})


@first_method
@WINDOWS
def test_along_an_axis_a_window_without_a_length_is_outside_validity(
    method: str, start: str, end: str
) -> None:
    dataset = points(
        DECAY, method, {start: [0.0, 1.0, 2.0, 3.0]}, k=1.0, **{end: 2.0}, **controls(method)
    )
    outside = Status.outside_validity
    assert dataset.status.values.tolist() == [Status.ok, Status.ok, outside, outside]
    lacking(dataset)


# x = t, until it reaches `wall`.
STOPPED = """
[parameters]
wall = {}
[states]
x = { initial = "0" }
[derivatives]
x = "1"
[[events]]
name = "stop"
when = "x - wall"
direction = "rising"
stop = true
[outputs]
mean = { mean = "x" }
rms = { rms = "x" }
integral = { integral = "1" }
early = { share = "t < 2.5" }
minimum = { minimum = "x" }
maximum = { maximum = "x" }
final = { final = "x" }
stops = { count = "stop" }
"""


@first_methods
def test_a_motion_that_stops_before_the_window_is_outside_validity(method: str) -> None:
    walls = np.array([-1.0, 0.5, 1.999, 2.0, 2.25, 3.75, 9.75, 12.0])
    start, end = 2.0, 10.0
    steps = {"step": 0.003} if method == "rk4" else {"relative_tolerance": 1e-9}
    dataset = points(STOPPED, method, {"wall": walls}, window_start=start, window_end=end, **steps)
    last = np.where((walls > 0) & (walls < end), walls, end)  # below 0, nothing is crossed
    outside = last <= start
    expected_status = np.where(outside, Status.outside_validity, Status.ok)
    np.testing.assert_array_equal(dataset.status, expected_status)
    length = last - start
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = {
            "mean": (start + last) / 2,
            "rms": np.sqrt((last**3 - start**3) / 3 / length),
            "integral": length,
            "early": np.minimum(length, 0.5) / length,
            "minimum": start + 0 * last,
            "maximum": last,
            "final": last,
        }
    for name, values in expected.items():
        known = np.where(outside, np.nan, values)
        np.testing.assert_allclose(dataset[name], known, rtol=1e-7, err_msg=name)
    stops = np.where(outside, np.nan, last < end)
    np.testing.assert_array_equal(dataset["stops"], stops)


def lacking(dataset: xr.Dataset) -> None:
    """Every output has a value where the status is ok, and only there."""
    for name in dataset.data_vars:
        if name != "status":
            known = np.isfinite(dataset[name])
            np.testing.assert_array_equal(known, dataset.status == Status.ok, err_msg=str(name))
