"""Figures over all points are those of NumPy, however the results are cut to be read."""

from __future__ import annotations

import math
import time
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sweep.results.summary
from sweep.cli.actions.contents import print_outputs
from sweep.cli.actions.status_action import flow_json, flow_of
from sweep.model.table import Status
from sweep.results.summary import blocks, contents, coordinates, state, trace_contents
from sweep.store import Store, remaining
from tests.engine.test_refinement import PARAMETERS, document, plain
from tests.pictures.test_plots import CONSTANT_LOAD
from tests.points.test_chunking import linear, sweep_over
from tests.store.test_store import SWEEP, create, finish

BLOCKS = (1, 10, 28, 40, 2**20)  # points at once: less than a row, a row and more, a chunk, all


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = create(tmp_path_factory.mktemp("summary") / "a.zarr")
    finish(store)
    return store


@pytest.mark.usefixtures("block_points")
@pytest.mark.parametrize("block_points", BLOCKS, indirect=True)
def test_contents_are_those_of_the_whole(store: Store) -> None:
    summary = contents(store.dataset())
    grid = np.arange(SWEEP.n_points)
    ok = grid % 11 != 5
    assert summary.counts == {Status.ok: ok.sum(), Status.diverged: (~ok).sum()}
    power, slips = summary.ranges["wear_power"], summary.ranges["slip_phases"]
    assert (power.least, power.greatest) == (math.sqrt(0.1), math.sqrt(grid[ok].max() + 0.1))
    assert power.mean == pytest.approx(np.sqrt(grid[ok] + 0.1).mean(), rel=1e-15)
    assert (slips.least, slips.mean, slips.greatest) == (0, grid[ok].mean(), grid[ok].max())
    shares = [np.mean(grid[ok] % 3 == code) for code in range(3)]
    assert summary.shares == {
        "regime": dict(zip(("stick", "stick_slip", "slip_slip"), shares, strict=True))
    }


@pytest.mark.parametrize("block_points", BLOCKS, indirect=True)
def test_blocks_hold_every_point_once_in_order_and_whole_chunks(
    store: Store, block_points: int
) -> None:
    dataset = store.dataset()
    parts = list(blocks(dataset))
    assert len(parts) == (1 if block_points >= SWEEP.n_points else store.n_chunks)
    together = np.concatenate([part["wear_power"].values.ravel() for part in parts])
    np.testing.assert_array_equal(together, dataset["wear_power"].values.ravel())
    for part in parts:
        assert part["status"].size <= max(block_points, math.prod(store.chunk_shape))
        assert part.sizes["friction"] % store.chunk_shape[0] == 0 or part is parts[-1]


def test_results_of_no_axis_are_one_block(tmp_path: Path) -> None:
    single = create(tmp_path / "a.zarr", sweep_over())
    finish(single)
    summary = contents(single.dataset())
    assert summary.counts == {Status.ok: 1}
    assert summary.shares["regime"] == {"stick": 1.0, "stick_slip": 0.0, "slip_slip": 0.0}


def test_a_store_without_a_finished_point_has_no_figures(tmp_path: Path) -> None:
    summary = contents(create(tmp_path / "a.zarr").dataset())
    span = summary.ranges["wear_power"]
    assert summary.counts == {Status.pending: SWEEP.n_points}
    assert all(math.isnan(value) for value in (span.least, span.mean, span.greatest))
    assert all(math.isnan(share) for share in summary.shares["regime"].values())


def line(friction: dict[str, Any], levels: int) -> dict[str, object]:
    """A sweep that is refined over friction alone."""
    refine = {"output": "regime", "levels": levels}
    parameters = {**PARAMETERS, "base_acceleration": 3}
    return document(refine, parameters=parameters, axes={"friction": friction})


def test_figures_of_refined_points_on_a_line_are_integrals() -> None:
    """By the trapezoidal rule; between values of a geometric axis, steps of the logarithm."""
    refined = sweep.run(line({"geomspace": [0.01, 1.0, 5]}, levels=6), store=None)
    summary = contents(refined)
    ordered = refined.sortby("friction")
    place = np.log(ordered["friction"].values)
    whole = place[-1] - place[0]
    power = np.trapezoid(ordered["wear_power"].values, place) / whole
    mixed = np.trapezoid((ordered["regime"].values == 1).astype(float), place) / whole
    assert summary.weighted_by == "cell area"
    assert summary.ranges["wear_power"].mean == pytest.approx(power, rel=1e-13)
    assert summary.shares["regime"]["stick_slip"] == pytest.approx(mixed, rel=1e-13)
    assert np.mean(ordered["regime"].values == 1) > 1.2 * mixed  # what counting points would give


def test_figures_of_a_refined_map_are_those_of_the_grid() -> None:
    def grid(n: int) -> dict[str, object]:
        acceleration = {"linspace": [0.5, 15.0, n]}
        axes = {"friction": {"geomspace": [0.01, 1.0, n]}, "base_acceleration": acceleration}
        return document(axes=axes)

    refined = sweep.run(grid(9), store=None)
    full = contents(sweep.run(plain(grid(8 * 8 + 1)), store=None))
    summary = contents(refined)
    for regime, share in full.shares["regime"].items():
        assert summary.shares["regime"][regime] == pytest.approx(share, abs=0.02)
    mean = full.ranges["wear_power"].mean
    assert summary.ranges["wear_power"].mean == pytest.approx(mean, rel=0.02)
    assert float(refined["wear_power"].mean()) < 0.7 * mean  # what counting points would give


def test_refined_points_count_by_their_cells_if_these_are_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole = sweep.run(line({"linspace": [0.01, 1.0, 5]}, levels=2), store=None)
    print_outputs(whole, contents(whole))
    assert "area" in capsys.readouterr().out
    some = whole.isel(point=slice(1, None))
    summary = contents(some)
    assert summary.weighted_by == "points"
    assert summary.ranges["wear_power"].mean == pytest.approx(float(some["wear_power"].mean()))


def test_infinite_values_are_counted_explained_and_left_out_of_the_figures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    dataset = sweep.run(CONSTANT_LOAD, store=None)
    summary = contents(dataset)
    span = summary.ranges["normalized_energy"]
    assert span.infinite == 8
    assert math.isnan(span.mean)
    print_outputs(dataset, summary)
    lines = capsys.readouterr().out.splitlines()
    (line,) = (line for line in lines if "normalized_energy" in line)
    assert "infinite wherever" in line
    assert "without normal amplitude" in line
    dataset["normalized_energy"][0] = 2.0
    span = contents(dataset).ranges["normalized_energy"]
    assert (span.least, span.mean, span.greatest, span.infinite) == (2.0, 2.0, 2.0, 7)


@pytest.mark.broad
@pytest.mark.usefixtures("block_points")
@pytest.mark.parametrize("block_points", [2**15], indirect=True)
def test_memory_is_that_of_a_block(tmp_path: Path) -> None:
    sweep_ = sweep_over(linear("friction", 0.0, 1.0, 512), linear("mass", 1.0, 2.0, 2048))
    large = create(tmp_path / "a.zarr", sweep_, 2**15)
    finish(large)
    small = create(tmp_path / "b.zarr")
    finish(small)
    contents(small.dataset())  # what is imported late is not counted
    tracemalloc.start()
    contents(large.dataset())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < sweep_.n_points * 8 / 4  # a quarter of one output


NOON = 1_700_000_000.0  # s since 1970


def receipt(
    seconds_ago: float, pid: int, points: int, seconds: float = 2.0, now: float = NOON
) -> dict[str, object]:
    written = datetime.fromtimestamp(now - seconds_ago, UTC).isoformat()
    return {"time": written, "host": "there", "pid": pid, "points": points, "seconds": seconds}


def test_status_and_watch_report_the_same_rate(tmp_path: Path) -> None:
    """That of all processes which have written recently, not of an earlier run.

    Their clocks are fast, so the rate does not depend on the moment when it is reported.
    """
    store, now = create(tmp_path / "a.zarr"), time.time() + 10
    for seconds_ago, pid, points in ((5000, 9, 10**9), (18, 1, 100), (8, 2, 50), (0, 1, 9)):
        store.append_receipt(receipt(seconds_ago, pid, points, now=now))
    with store.lock():  # without a run that holds it, nobody is writing
        shown = state(store)
        watched = flow_json(remaining(store), flow_of(store), [], {})
    assert shown.points_per_second == watched["points_per_second"] == pytest.approx(159 / 20)
    assert shown.seconds_left == watched["seconds_left"]


FAILED = {"chunk": [0], "error": "no points", "points": 1}
NO_CHUNK = {"time": "2026-01-01T00:00:00+00:00"}


@pytest.mark.parametrize(
    ("receipts", "rate"),
    [
        (
            [receipt(1000, 1, 10**9), receipt(4, 1, 100), receipt(2, 2, 100)]
            + [FAILED | receipt(0, 2, 100), NO_CHUNK],
            300 / 6,
        ),
        ([receipt(50, 1, 100), receipt(49, 2, 100), receipt(0, 3, 100)], 300 / 5),
        ([], None),
        ([receipt(0, 1, 100, seconds=0.0)], None),
    ],
    ids=["the last minute of writing", "without breaks", "nothing written", "a coarse clock"],
)
def test_the_rate_of_an_idle_store(
    tmp_path: Path, receipts: list[dict[str, object]], rate: float | None
) -> None:
    store = create(tmp_path / "a.zarr")
    for each in receipts:
        store.append_receipt(each)
    assert state(store).points_per_second == rate


def test_coordinates_are_axes_and_constants(store: Store) -> None:
    along, single = coordinates(store.dataset())
    assert list(along) == ["friction", "base_acceleration"]
    assert set(single) == set(SWEEP.constants)


def by_trapezia(times: list[float], values: list[float]) -> float:
    """The mean over the intervals with a finite value at both ends."""
    area = duration = 0.0
    for i in range(len(times) - 1):
        if math.isfinite(values[i]) and math.isfinite(values[i + 1]):
            area += (times[i + 1] - times[i]) * (values[i] + values[i + 1]) / 2
            duration += times[i + 1] - times[i]
    return area / duration


def test_means_of_a_trace_are_those_over_time() -> None:
    """At uneven times, where the motion ends early, and of several items."""
    times = [0.0, 0.5, 2.0, 2.25, 5.0]
    speed = [1.0, -2.0, math.inf, 4.0, 7.0]
    ended = [3.0, 1.0, 1.0, math.nan, math.nan]
    stuck = [0, 1, 1, 0, 255]
    flag = {"flag_values": [0, 1], "flag_meanings": "slipping stuck"}
    trace = xr.Dataset(
        {
            "speed": ("time", speed),
            "ended": ("time", ended),
            "alone": ("time", [math.nan, 6.0, math.nan, math.nan, 2.0]),
            "force": (("spring", "time"), [ended, [2.0] * 5]),
            "stuck": ("time", np.array(stuck, np.uint8), flag),
            "status": ((), np.uint8(0)),
        },
        {"time": times},
    )
    summary = trace_contents(trace)
    means = {name: span.mean for name, span in summary.ranges.items()}
    of_two = (2.0 * by_trapezia(times, ended) + 5.0 * 2.0) / 7.0
    assert means == {
        "speed": pytest.approx(by_trapezia(times, speed), rel=1e-15),
        "ended": pytest.approx(by_trapezia(times, ended), rel=1e-15),
        "alone": 4.0,
        "force": pytest.approx(of_two, rel=1e-15),
    }
    assert (summary.ranges["speed"].least, summary.ranges["speed"].greatest) == (-2.0, 7.0)
    assert summary.ranges["speed"].infinite == 1
    share = by_trapezia(times, [0.0, 1.0, 1.0, 0.0, math.nan])
    assert summary.shares["stuck"]["stuck"] == pytest.approx(share, rel=1e-15)
    assert sum(summary.shares["stuck"].values()) == pytest.approx(1.0, rel=1e-15)
    failed = trace_contents(trace.assign(status=np.uint8(2)))
    assert failed.counts == {Status.diverged: 1}
    seen = {name: span.mean for name, span in failed.ranges.items()}
    assert seen == means  # those before its end
