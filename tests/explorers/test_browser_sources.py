"""Pages of every kind of source in a browser: samples, statistics, models and sweeps from files."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.explorers import explore
from sweep.model.elements import base, places_of
from sweep.model.shipped import configs_folder, shipped_configs
from tests.explorers.sweeps import BORDERS, REDUCED, SWEEP
from tests.explorers.tab import FEW, MARKS, Tab, bits
from tests.file.test_substitutes import SPHERE

pytest.importorskip("ziglang")
pytest.importorskip("playwright.sync_api")

pytestmark = MARKS
Opened = Callable[..., Tab]


def test_the_points_of_a_sample_are_dots_that_can_be_computed(
    opened: Opened, tmp_path: Path
) -> None:
    table = {key: SWEEP[key] for key in ("format", "model", "outputs")}
    table["parameters"] = {**SWEEP["parameters"], "wall_stiffness": 7.0}
    table["sample"] = {
        "method": "sobol", "points": 64, "energy": {"loguniform": [0.01, 100.0]},
        "stiffness": {"uniform": [0.5, 3.0]},
    }  # fmt: skip
    ds = sweep.run(table, store=tmp_path / "sample.zarr")
    tab = opened(explore(tmp_path / "sample.zarr", tmp_path / "sample.html"))
    tab.click(0.5, 0.5)
    energy = float(tab.exact_rows("point")["energy"][0])
    (place,) = np.flatnonzero(ds.energy.values == energy)
    assert tab.rows("figures")["frequency"][0] == f"{float(ds.frequency[place]):.12g}"
    assert "64 of 64 points" in tab.text("#state")
    tab.page.mouse.move(*tab.at(0.5, 0.5))
    assert f"energy {energy:.4g} J" in tab.text("#readout")
    with tab.downloaded("#save-csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["stiffness [N/m]"]) for row in rows] == ds.stiffness.values.tolist()
    stored = [float(row["frequency [Hz]"]) for row in rows]
    np.testing.assert_allclose(stored, ds.frequency.values, rtol=1e-6)
    longest = max(len(row["frequency [Hz]"]) for row in rows)
    assert longest <= len("0.012345678")  # not more than is known


def test_points_that_the_page_cannot_compute_are_shown_as_stored(
    opened: Opened, tmp_path: Path
) -> None:
    forces, phases = {"linspace": [100, 400, 4]}, {"linspace": [0, 1, 3]}
    table = {**SPHERE, "axes": {"normal_force": forces, "phase": phases}}
    table["outputs"] = ["dissipated_energy"]
    table["parameters"] = {k: v for k, v in SPHERE["parameters"].items() if k != "phase"}
    ds = sweep.run(table, store=tmp_path / "sphere.zarr")
    tab = opened(explore(tmp_path / "sphere.zarr", tmp_path / "sphere.html"))
    tab.click(0.9, 0.1, "stored")
    assert "a function that runs in Python" in tab.text("#sentence")
    assert tab.text("#trace") == ""  # `exact` of contacts has no motion
    assert tab.rows("point")["normal force"] == ["400", "N"]
    shown = float(tab.exact_rows("stored")["dissipated energy"][0])
    assert shown == pytest.approx(float(ds.dissipated_energy[-1, -1]), rel=1e-6)


def test_statistics_are_a_map_and_points_behind_them_are_computed(
    opened: Opened, tmp_path: Path
) -> None:
    ds = sweep.run(REDUCED, store=tmp_path / "reduced.zarr").load()
    tab = opened(explore(tmp_path / "reduced.zarr", tmp_path / "reduced.html"))
    assert "the stored map, 12 × 5 points" in tab.text("#state")
    tab.page.select_option("#output", "frequency_quantile")
    tab.page.locator("#sliders label", has_text="quantile").locator("input").fill("1")
    tab.page.mouse.move(*tab.at(0.95, 0.1))
    greatest = float(ds.frequency_quantile[-1, -1, 1])
    shown = re.search(r"frequency quantile (\S+) Hz", tab.text("#readout"))
    assert shown
    assert float(shown[1]) == pytest.approx(greatest, rel=1e-3)
    tab.page.locator("#sliders label", has_text="computed at point").locator("input").fill("7")
    tab.click(0.95, 0.1)
    at = tab.traced()
    trace = sweep.trace(tmp_path / "reduced.zarr", at)
    rows = tab.exact_rows("observables")["displacement"]
    assert rows[0] == f"{float(trace.displacement.min()):.6g}"
    share = tab.rows("stored")["stable share (stable)"][0]
    assert float(share) == pytest.approx(float(ds.stable_share[-1, -1, 1]), rel=1e-6)
    tab.page.select_option("#output", "frequency")
    tab.settle()
    (tmp_path / "points.toml").write_text(tab.value("windowFile()"))
    points = sweep.run(tmp_path / "points.toml", store=None)
    assert float(points.wall_stiffness) == at["wall_stiffness"]
    assert (tab.computed("frequency") == bits(points.frequency.values)).all()


def test_theory_borders_are_drawn_over_any_two_axes(opened: Opened, tmp_path: Path) -> None:
    """Slip begins at a0 = mu g with g = 10 m, whichever sides the map has."""
    (tmp_path / "plan.toml").write_text(BORDERS)
    tab = opened(explore(tmp_path / "plan.toml", tmp_path / "plan.html"))
    friction, acceleration = np.linspace(0.1, 1, 16), np.linspace(0.5, 15, 20)
    for chosen, sides, index in (("#across", [2, 1], 0), ("#upwards", [1, 2], 1)):
        tab.page.select_option(chosen, "2")
        tab.settle()
        assert tab.value("[explorer.state.x, explorer.state.y]") == sides
        tab.page.locator("#sliders input").fill(str(index))
        tab.settle()
        assert "theory: border of stick, μg/a₀ = 1" in tab.text("#legend")
        (line,) = tab.value(
            "theory().find(({ label }) => label === 'border of stick, μg/a₀ = 1').lines"
        )
        places = dict(zip(sides, np.transpose(line), strict=True))
        mu = np.interp(places[1], np.arange(16), friction)
        a0 = np.interp(places[2], np.arange(20), acceleration)
        np.testing.assert_allclose(a0, mu * 10 * (1 + index), atol=1e-2)
    tab.unfold()
    tab.page.uncheck("#borders")
    assert "theory" not in tab.text("#legend")
    tab.page.select_option("#across", "0")
    assert "left out over mass and friction" in tab.text("#notes")


@pytest.mark.broad
def test_a_model_from_a_file_is_compiled_into_its_page(opened: Opened, tmp_path: Path) -> None:
    """Zoomed, with an output of several values, and its TOML brings its model along."""
    path = tmp_path / "belt.toml"
    path.write_text(
        'format = 1\nmodel = "belt"\n[parameters]\nmass = 1.0\nstiffness = 1.0\n'
        "kinetic_force = 0.7\nwindow_end = 50.0\n[axes]\n"
        "belt_speed = { linspace = [0.1, 0.9, 15] }\nstatic_force = { linspace = [0.8, 2.0, 13] }\n"
    )
    sweep.run(path, store=tmp_path / "belt.zarr")
    tab = opened(explore(tmp_path / "belt.zarr", tmp_path / "belt.html"))
    tab.value(FEW)
    tab.drag((0.3, 0.3), (0.6, 0.7))
    window = tmp_path / "window.toml"
    window.write_text(tab.value("windowFile()"))
    ds = sweep.run(window, store=None)
    assert ds.amplitude.shape == (12, 9)
    assert (tab.computed("amplitude") == bits(ds.amplitude.values)).all()
    tab.click(0.5, 0.5)


def test_a_sweep_that_was_not_run_is_computed_with_its_derived_parameters(
    opened: Opened, tmp_path: Path
) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(
        'format = 1\nmodel = "impact_oscillator"\n[parameters]\nmass = 1.0\ngap = 0.7\n'
        "stiffness = 1.3\n[derived]\n"
        'wall_stiffness = "2*stiffness**3/max(mass, 0.3) + sqrt(abs(-energy))/3"\n'
        "[axes]\nenergy = { linspace = [0.1, 4.0, 50] }\n"
    )
    tab = opened(explore(path, tmp_path / "plan.html"))
    tab.settle()
    ds = sweep.run(path, store=None)
    assert (tab.computed("frequency")[:, 0] == bits(ds.frequency.values)).all()
    tab.click(0.5, 0.5)
    assert f"sweep trace {path} --at energy=" in tab.text("#trace")


@pytest.mark.broad
@pytest.mark.parametrize("name", sorted(shipped_configs()))
def test_every_shipped_sweep_has_a_page_whose_motion_is_that_of_trace(
    opened: Opened, tmp_path: Path, name: str
) -> None:
    """Of few points; where a method or a point has no motion, the page has a sentence."""
    store = tmp_path / f"{name}.zarr"
    sweep.run(configs_folder() / "smoke" / f"{name}.toml", store=store)
    tab = opened(explore(store, tmp_path / "page.html"))
    if tab.page.is_visible("#map"):
        tab.page.mouse.click(*tab.at(0.6, 0.4))
    tab.wait_for_figures("figures", "stored")
    if not tab.value("explorer.motion"):
        assert tab.text("#sentence").split(".")[0] not in ("", "Computed in")
        return
    at = tab.traced()
    ds = sweep.trace(store, at)
    for observable, values in tab.motion().items():
        series = values.view(np.float64)
        np.testing.assert_array_equal(bits(series), bits(_observed(ds, observable)))


def _observed(trace: xr.Dataset, name: str) -> np.ndarray:
    """An observable of a trace, or the element with a name such as x[3]."""
    values = trace[base(name)]
    labels = [list(map(str, trace[dim].values)) for dim in values.dims[1:]]
    places = [along.index(place) for along, place in zip(labels, places_of(name), strict=True)]
    return values.values[(slice(None), *places)]


def test_elements_of_an_index_are_rows_a_slider_and_lines_of_one_chart(
    opened: Opened, tmp_path: Path
) -> None:
    """Two masses that slide to rest, the second at twice the speed."""
    model = {
        "name": "sliders",
        "indices": {"slider": ["slow", "fast"]},
        "tables": {"start": {"over": "slider", "values": [1, 2], "unit": "m/s"}},
        "parameters": {"grip": {"minimum": 0, "unit": "m/s^2"}, "push": {"unit": "m/s^2"}},
        "states": {"v": {"over": "slider", "initial": "start", "unit": "m/s", "scale": "1"}},
        "derivatives": {"v": "push - grip"},
        "outputs": {"last_v": {"over": "slider", "final": "v", "unit": "m/s"}},
    }
    request = {
        "model": {"format": 1, **model},
        "method": "rk54",
        "parameters": {"window_end": 2.0},
        "axes": {"grip": {"linspace": [0.0, 1.0, 16]}, "push": {"linspace": [0.0, 1.0, 16]}},
    }
    ds = sweep.run(request, store=tmp_path / "sliders.zarr").load()
    tab = opened(explore(tmp_path / "sliders.zarr", tmp_path / "sliders.html"))
    tab.click(0.5, 0.5)
    rows = tab.exact_rows("figures")
    at = {name: cells[0] for name, cells in tab.exact_rows("point").items() if name in ds.dims}
    point = ds["last_v"].sel({name: float(value) for name, value in at.items()}, method="nearest")
    for name in ("slow", "fast"):
        assert float(rows[f"last v ({name})"][0]) == pytest.approx(float(point.sel(slider=name)))
    assert tab.text("#sliders").split()[0] == "slider"
    assert tab.value("panelsOf(explorer.motion.observed).map((each) => each.length)") == [2]
    tab.page.locator("#sliders input").fill("1")
    assert "fast" in tab.text("#caption")


def test_a_point_of_a_sweep_with_wear_is_computed_and_its_depths_are_lines_over_years(
    opened: Opened, tmp_path: Path
) -> None:
    """The kernel has no column for parameters of the wear, which stand among its own."""
    model = {
        "name": "rubbed",
        "indices": {"support": ["lower", "upper"]},
        "parameters": {
            "load": {"over": "support", "unit": "N"},
            "rate": {"unit": "1/s"},
            "grip": {"unit": "N s/m", "default": 100},
        },
        "states": {"slip": {"over": "support", "unit": "m", "initial": "0"}},
        "derivatives": {"slip": "cos(rate*t)*load/grip"},
        "outputs": {"wear_power": {"over": "support", "mean": "load*abs(slip)*rate", "unit": "W"}},
    }
    drawn = {"load[lower]": {"uniform": [1, 2]}, "coefficient": {"lognormal": [1e-14, 0.5]}}
    request = {
        "model": {"format": 1, **model},
        "method": "rk54",
        "parameters": {"window_end": 2.0, "load[upper]": 3.0, "rate": 4.0},
        "sample": {"method": "sobol", "points": 16, "seed": 1, **drawn},
        "wear": {
            "law": "archard", "years": [1, 2, 4, 8, 16, 32], "geometry": "tube_flat",
            "radius": "11 mm", "length": "30 mm", "limit": "0.4 mm",
        },
        "reduce": {"wear_depth": ["quantile 0.05", "quantile 0.5", "quantile 0.95"]},
    }  # fmt: skip
    ds = sweep.run(request, store=tmp_path / "worn.zarr", progress=False).load()
    tab = opened(explore(tmp_path / "worn.zarr", tmp_path / "worn.html"))
    tab.wait_for_figures("figures")
    at = {name: float(cells[0]) for name, cells in tab.exact_rows("point").items() if name != "at"}
    trace = sweep.trace(tmp_path / "worn.zarr", at)
    motion = tab.motion()
    for support in ("lower", "upper"):
        expected = bits(trace["slip"].sel(support=support).values)
        np.testing.assert_array_equal(motion[f"slip[{support}]"], expected)
    assert tab.value("panelsOf(explorer.motion.observed)[0].length") == 2
    charts = tab.value("motion.lastSpreads.map(({x, lines}) => [[...x.values], lines])")
    assert [years for years, _ in charts] == [[1, 2, 4, 8, 16, 32]] * 2
    for (_, lines), support in zip(charts, ("lower", "upper"), strict=True):
        for line, level in zip(lines, (0.05, 0.5, 0.95), strict=True):
            assert line["label"] == f"wear depth quantile ({support}, quantile {level:g})"
            depths = ds["wear_depth_quantile"].sel(support=support, quantile=level)
            np.testing.assert_allclose(line["values"], depths, rtol=2**-8)
    assert "but not the wear" in tab.text("body")


FORCED = """
format = 1
method = "rk54"
parameters.relative_tolerance = 1e-6
axes.draw = { values = [0, 1, 2, 3, 4, 5, 6, 7] }
axes.window_end = { values = [0.1, 0.2, 0.3, 0.4] }
[model]
format = 1
name = "forced"
parameters.draw = {}
indices.place = 2
states.x = { over = "place", unit = "m", initial = "0" }
derivatives.x = "wind"
outputs.last = { final = "x[0] - x[1]", unit = "m" }
[model.definitions.shown]
over = "place"
value = "wind"
unit = "m/s"
[model.signals.wind]
over = "place"
spectrum = { frequencies = [0.0, 5.0], densities = [[2.0, 0.0]] }
duration = 20.0
rate = RATE
draw = "draw"
seed = 4
amplitudes = "normal"
correlation = [[1.0, 0.5], [0.5, 1.0]]
unit = "m/s"
"""


@pytest.mark.parametrize("rate", ["50.0", pytest.param("2e4", marks=pytest.mark.broad)])
def test_points_under_signals_by_draw_have_the_bits_of_a_run(
    opened: Opened, tmp_path: Path, rate: str
) -> None:
    """At the higher rate a realisation takes 16 MB, so that the page makes few at once."""
    path = tmp_path / "plan.toml"
    path.write_text(FORCED.replace("RATE", rate))
    ds = sweep.run(path, store=tmp_path / "plan.zarr", progress=False)
    tab = opened(explore(path, tmp_path / "plan.html"))
    tab.settle()
    assert (tab.computed("last") == bits(ds["last"].values)).all()
    tab.click(0.9, 0.9)
    at = tab.traced()
    trace = sweep.trace(tmp_path / "plan.zarr", at)
    motion = tab.motion()
    assert (motion["shown[1]"] == bits(trace["shown"].sel(place=1).values)).all()
