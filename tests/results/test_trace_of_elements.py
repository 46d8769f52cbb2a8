"""Traces of models with indices: a dimension for each, beside the same model written out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.collections import QuadMesh
from matplotlib.text import Text

import sweep
from sweep.pictures.traces import plot_trace

# Two masses slide to rest; the second starts faster. `stage` depends on the element after it.
INDEXED: dict[str, Any] = {
    "format": 1,
    "name": "sliders",
    "title": "sliders on rough planes",
    "indices": {"slider": ["slow", "fast"], "pair": 2},
    "tables": {"start": {"over": "slider", "values": [1, 2], "unit": "m/s"}},
    "parameters": {"grip": {"over": "slider", "minimum": 0, "default": 1, "unit": "m/s^2"}},
    "states": {
        "v": {"over": "slider", "initial": "start", "unit": "m/s", "scale": "1"},
    },
    "switches": {"contact": {"over": "slider", "values": ["slip", "stick"], "start": "slip"}},
    "definitions": {
        "stage": {
            "over": "slider",
            "value": "where(slider == slow, stage[fast] + v, 2*v)",
            "unit": "m/s",
        },
        "share": {"over": ["slider", "pair"], "value": "v*(1 + pair)", "unit": "m/s"},
    },
    "derivatives": {"v": "where(contact == stick, 0, -grip)"},
    "events": [
        {
            "name": "arrest",
            "over": "slider",
            "in": "contact == slip",
            "when": "v",
            "direction": "falling",
            "set": {"contact": "stick", "v": "0"},
        }
    ],
    "outputs": {"mean_v": {"over": "slider", "mean": "v", "unit": "m/s"}},
}
REQUEST = {"model": INDEXED, "method": "rk54", "parameters": {"grip": 0.5, "window_end": 6.0}}


def trace(**more: Any) -> xr.Dataset:
    return sweep.trace(REQUEST, **more)


def test_elements_are_along_their_index() -> None:
    ds = trace(samples=601)
    assert ds["v"].dims == ("time", "slider")
    assert ds["share"].dims == ("time", "slider", "pair")
    assert ds["slider"].values.tolist() == ["slow", "fast"]
    assert ds["pair"].values.tolist() == [0, 1]
    t = ds["time"].values
    for name, start in (("slow", 1.0), ("fast", 2.0)):  # v = start - grip t until it rests
        expected = np.maximum(start - 0.5 * t, 0.0)
        np.testing.assert_allclose(ds["v"].sel(slider=name), expected, atol=1e-12)
        rests = ds["contact"].sel(slider=name).values == 1
        away = np.abs(t - 2 * start) > 1e-9
        np.testing.assert_array_equal(rests[away], (t > 2 * start)[away])
    slow, fast = (ds["v"].sel(slider=name).values for name in ("slow", "fast"))
    np.testing.assert_array_equal(ds["stage"].sel(slider="slow").values, 2 * fast + slow)
    np.testing.assert_array_equal(ds["stage"].sel(slider="fast").values, 2 * fast)
    np.testing.assert_array_equal(ds["share"].sel(slider="fast", pair=1).values, 2 * fast)


def test_a_point_without_motion_has_the_dimensions_too() -> None:
    parameters = {**INDEXED["parameters"], "cycle": {"unit": "s"}}
    model = {**INDEXED, "period": "cycle", "parameters": parameters}
    cycles = {"grip": 0.5, "cycle": 0.0, "start_cycle": 1.0, "end_cycle": 2.0}
    ds = sweep.trace({"model": model, "method": "rk54", "parameters": cycles}, samples=5)
    assert int(ds["status"]) != 0
    assert ds["v"].shape == (1, 2)
    assert ds["share"].shape == (1, 2, 2)
    assert np.isnan(ds["v"]).all()


def test_files_have_a_column_for_each_element(tmp_path: Path) -> None:
    ds = trace(samples=11)
    sweep.export(ds, tmp_path / "trace.csv")
    columns = pd.read_csv(tmp_path / "trace.csv", comment="#")
    np.testing.assert_array_equal(columns["v_fast"], ds["v"].sel(slider="fast"))
    expected = ds["share"].sel(slider="slow", pair=1)
    np.testing.assert_array_equal(columns["share_slow_1"], expected)


def test_pictures_have_a_line_for_each_element_and_a_map_of_a_switch() -> None:
    figure = plot_trace(trace(samples=61))
    by_label = {axes.get_ylabel().split(" ")[0]: axes for axes in figure.axes}
    lines = by_label["v"].get_lines()
    named = {
        name: [text.get_text() for text in legend.get_texts()]
        for name, axes in by_label.items()
        if (legend := axes.get_legend()) is not None
    }  # what a panel above has named is not repeated
    of_both = [f"{slider}, {pair}" for slider in ("slow", "fast") for pair in (0, 1)]
    assert named == {
        "v": ["slow", "fast", "arrest"], "share": of_both, "slider": ["slip", "stick"],
    }  # fmt: skip
    assert len([line for line in lines if len(line.get_xdata()) == 61]) == 2
    (mesh,) = (each for each in by_label["slider"].collections if isinstance(each, QuadMesh))
    assert np.asarray(mesh.get_array()).shape == (2, 61)
    assert [text.get_text() for text in by_label["slider"].get_yticklabels()] == ["slow", "fast"]
    heading = " ".join(text.get_text() for text in figure.findobj(Text))
    assert "Motion of sliders on rough planes" in heading
    assert "grip\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.5" in heading
    assert "grip[" not in heading
