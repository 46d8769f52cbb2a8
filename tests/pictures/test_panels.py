"""Panels: what pictures show, read from frozen data before anything is drawn."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import xarray as xr

from sweep.model.table import Status
from sweep.pictures.cuts import cut
from sweep.pictures.figures import colours_of_hues
from sweep.pictures.panels import Panel
from sweep.pictures.plots import panel_of
from sweep.pictures.view import View
from tests.pictures.test_plots import BASE_ACCELERATION, FRICTION, asymptotic_dataset


@pytest.fixture(scope="module")
def surface() -> xr.Dataset:
    return asymptotic_dataset({"friction": FRICTION, "base_acceleration": BASE_ACCELERATION})


def drawn(dataset: xr.Dataset, **view: str) -> Panel:
    return panel_of({"": cut(dataset, None, {}, view=View(**view))})


def test_a_map_is_a_mesh_with_borders_and_regions(surface: xr.Dataset) -> None:
    panel = drawn(surface)
    methods = [mark.method for mark in panel.marks]
    assert methods == ["pcolormesh", "add_patch", "plot", "plot", "plot"]
    assert (panel.x.label, panel.x.scale, panel.y.scale) == ("friction μ", "log", "linear")
    assert panel.x.limits[0] < FRICTION[0] < FRICTION[-1] < panel.x.limits[1]
    x, y, values = panel.marks[0].data
    np.testing.assert_array_equal(values, surface["wear_power"].T)
    assert (x.size, y.size) == (FRICTION.size + 1, BASE_ACCELERATION.size + 1)
    assert panel.colours.label == "mean of N|v| over the window [W]"
    assert list(panel.regions.names.values()) == ["stick", "stick_slip", "slip_slip"]
    with pytest.raises(FrozenInstanceError):
        panel.title = "another"


def test_lines_have_a_hue_each(surface: xr.Dataset) -> None:
    panel = drawn(surface, x="base_acceleration", hue="friction")
    assert {mark.method for mark in panel.marks} == {"plot"}
    assert len({mark.hue for mark in panel.marks}) == len(panel.marks) == 8
    assert [text for text, _ in panel.notes] == ["8 of 60 values of friction drawn"]
    colours = colours_of_hues([panel, panel])
    assert list(colours) == [mark.hue for mark in panel.marks]
    assert len({*colours.values()}) == 8


def test_points_without_a_value_are_hatched_behind_a_line() -> None:
    statuses = np.zeros(80, np.uint8)
    statuses[3:5] = Status.failed
    panel = drawn(asymptotic_dataset({"base_acceleration": BASE_ACCELERATION}, statuses))
    hatched = [mark for mark in panel.marks if "hatch" in mark.style]
    assert [(mark.method, mark.within) for mark in hatched] == [("fill_between", "height")]
    assert np.count_nonzero(hatched[0].style["where"]) == 4  # both ends of two cells
