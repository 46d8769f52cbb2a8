"""The events of a traced motion, against the closed form of a belt."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.kernel.source import kernel_of
from sweep.kernel.tracer import Tracer
from sweep.model.table import Status
from sweep.pictures.trace_files import save
from sweep.pictures.traces import MAX_EVENTS, plot_trace
from sweep.results.summary import trace_contents

BELT = {
    "mass": 1.0, "stiffness": 1.0, "belt_speed": 0.2, "static_force": 1.0, "kinetic_force": 0.7,
    "relative_tolerance": 1e-12, "window_start": 20.0, "window_end": 40.0,
}  # fmt: skip
SLIP_TIME = 2 * math.pi - 2 * math.atan2(1.0 - 0.7, 0.2)  # until the mass is as fast as the belt
STICK_TIME = 2 * (1.0 - 0.7) / 0.2
RELEASES = [1.0 / 0.2 + i * (SLIP_TIME + STICK_TIME) for i in range(5)]
EVENTS = [(t + late, n) for t in RELEASES for late, n in ((0, "release"), (SLIP_TIME, "capture"))]


def belt(start: float, end: float = 40.0, samples: int = 50) -> xr.Dataset:
    request = {"model": "belt", "method": "dop853", "parameters": BELT}
    return sweep.trace(request, start=start, end=end, samples=samples)


@pytest.mark.parametrize(("start", "end", "samples"), [(0.0, 40.0, 2), (10.0, 30.0, 50)])
def test_events_from_the_first_to_the_last_time_are_listed(
    start: float, end: float, samples: int
) -> None:
    """All of those between two samples, too."""
    listed = json.loads(belt(start, end, samples).attrs["events"])
    expected = [event for event in EVENTS if start <= event[0] <= end]
    assert [name for _, name in listed] == [name for _, name in expected]
    times = [time for time, _ in listed]
    np.testing.assert_allclose(times, [time for time, _ in expected], rtol=1e-9)


def test_budgets_and_samples_change_no_bit_of_the_events() -> None:
    request = {"model": "belt", "method": "dop853", "parameters": BELT}
    point = sweep.load(request).sweep
    tracer = Tracer(kernel_of(point), point.constants)
    whole = tracer.look(np.linspace(0.0, 40.0, 50)).events
    assert whole is not None
    assert len(whole) == len(EVENTS)
    for budget, samples in ((1, 50), (7, 3), (None, 500)):
        again = tracer.look(np.linspace(0.0, 40.0, samples), budget).events
        np.testing.assert_array_equal(again, whole)


def test_a_picture_marks_every_event_in_every_panel() -> None:
    dataset = belt(0.0)
    times = [time for time, _ in json.loads(dataset.attrs["events"])]
    panels = [axes for axes in plot_trace(dataset).axes if axes.get_ylabel()]
    assert len(panels) > 1
    for axes in panels:
        marks = [line for line in axes.lines if len(line.get_xdata()) == 2]
        assert [float(line.get_xdata()[0]) for line in marks] == times
    legend = panels[0].get_legend()
    assert legend is not None
    assert {"release", "capture"} <= {text.get_text() for text in legend.get_texts()}
    many = dataset.assign_attrs(events=json.dumps([[1.0, "release"]] * (MAX_EVENTS + 1)))
    for axes in plot_trace(many).axes:
        assert not [line for line in axes.lines if len(line.get_xdata()) == 2]


def test_files_of_a_trace_have_its_events(tmp_path: Path) -> None:
    dataset = belt(0.0)
    with xr.open_dataset(save(dataset, tmp_path / "x.nc")) as read:
        assert read.attrs["events"] == dataset.attrs["events"]
    save(dataset, tmp_path / "x.csv")
    text = (tmp_path / "x.csv.txt").read_text()
    assert f"# events: {dataset.attrs['events']}\n" in text


def test_a_model_without_events_has_no_list_of_them() -> None:
    decay = {
        "format": 1, "name": "decay", "title": "decay",
        "states": {"x": {"initial": "1"}}, "derivatives": {"x": "-x"}, "time_unit": "1",
        "outputs": {"left": {"final": "x", "meaning": "what is left"}},
    }  # fmt: skip
    dataset = sweep.trace({"model": decay, "parameters": {"window_end": 1.0}})
    np.testing.assert_allclose(dataset["x"][-1], math.exp(-1.0), rtol=1e-5)
    assert "events" not in dataset.attrs


def test_a_motion_whose_impacts_accumulate_has_its_values_up_to_there() -> None:
    """A ball with e = 1/2 falls for 1 s and comes to rest at 1 + 2*(1/2 + 1/4 + ...) = 3 s."""
    point = {"gravity": 2.0, "drop_height": 1.0, "restitution": 0.5, "window_end": 10.0}
    request = {"model": "bouncing_ball", "parameters": point}
    for end, last in ((None, 3.0), (2.5, 2.5)):
        motion = sweep.trace(request, end=end, samples=1001)
        assert motion.status == Status.not_converged
        heights = trace_contents(motion).ranges["height"]
        assert (heights.least, heights.greatest) == (pytest.approx(0, abs=1e-3), 1.0)
        seen = np.isfinite(motion["height"].values)
        assert motion["time"].values[seen].max() == pytest.approx(last, abs=0.011)


def test_impacts_that_accumulate_at_a_stop_away_from_zero_come_to_rest_at_once() -> None:
    """The driving force presses the mass against its stop for a time, where its bounces end.

    Processor time does not depend on other processes; with 10^6 impacts it was 20 s. The mass rests
    until the force falls below that of the spring.
    """
    point = {"damping": 0.02, "gap": 0.3, "restitution": 0.7, "omega": 0.2, "end_cycle": 20.0}
    begin = time.process_time()
    motion = sweep.trace({"model": "forced_impact", "parameters": point}, samples=1001)
    assert time.process_time() - begin < 4.0
    assert motion.status == Status.ok
    leaves = np.array([at for at, name in json.loads(motion.attrs["events"]) if name == "leave"])
    assert len(leaves) > 10
    np.testing.assert_allclose(np.cos(0.2 * leaves), 0.3, rtol=1e-9)
    assert (np.sin(0.2 * leaves) > 0).all()  # the force falls
