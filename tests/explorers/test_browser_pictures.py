"""Which picture the page shows, its scale and units, and its borders, in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sweep
from sweep.explorers import explore
from sweep.pictures.colours import LINES
from sweep.store.datasets import write_derived
from tests.explorers.sweeps import SWEEP
from tests.explorers.tab import MARKS, Tab, bits

pytest.importorskip("ziglang")
pytest.importorskip("playwright.sync_api")

pytestmark = MARKS
Opened = Callable[..., Tab]
CURVES = (
    "map.view.curves.map(({ label, x, y, colour }) => ({ label, x: [...x], y: [...y], colour }))"
)
FEW_LINES = {
    **SWEEP,
    "parameters": {**SWEEP["parameters"], "wall_stiffness": 7.0},
    "axes": {
        "stiffness": {"values": [0.5, 1.0, 2.0]},
        "energy": {"geomspace": [1e-2, 1e2, 60]},
    },
}
RUBBING = {
    "format": 1,
    "model": "friction_oscillator",
    "outputs": ["wear_power"],
    "parameters": {"mass": 1.0, "gravity": 10.0, "angular_frequency": 6.28,
                   "window_start": 4.0, "window_end": 12.0},
    "axes": {"friction": {"linspace": [0.1, 0.3, 3]}, "base_acceleration": {"values": [9, 12]}},
}  # fmt: skip


def test_few_values_of_an_axis_are_lines_over_the_longer_one(
    opened: Opened, tmp_path: Path
) -> None:
    ds = sweep.run(FEW_LINES, store=tmp_path / "few.zarr").load()
    tab = opened(explore(tmp_path / "few.zarr", tmp_path / "few.html"))
    curves = tab.value(CURVES)
    assert [each["label"] for each in curves] == ["0.5", "1", "2"]
    assert [each["colour"] for each in curves] == list(LINES[:3])
    assert "stiffness [N/m]:" in tab.text("#legend")
    for row, curve in enumerate(curves):
        np.testing.assert_allclose(curve["x"], np.log(ds.energy.values))
        np.testing.assert_allclose(curve["y"], ds.frequency.values[row], rtol=2**-23)
    tab.click(0.5, 0.05)  # nearest to the upper line, that of the stiffest spring
    assert tab.exact_rows("point")["stiffness"][0] == "2.0"
    tab.page.select_option("#picture", "map")
    assert tab.value("map.view.curves") is None
    tab.page.select_option("#picture", "lines")
    tab.page.focus("#map")
    tab.page.keyboard.press("ArrowDown")
    assert tab.value("explorer.state.point.stiffness") == 1.0


@pytest.mark.parametrize(("n_values", "picture"), [(12, "lines"), (13, "map")])
def test_up_to_twelve_values_are_lines(
    opened: Opened, tmp_path: Path, n_values: int, picture: str
) -> None:
    axes = {**FEW_LINES["axes"], "stiffness": {"linspace": [0.5, 2, n_values]}}
    results = sweep.run({**FEW_LINES, "axes": axes}, store=None)
    tab = opened(explore(results, tmp_path / "some.html"))
    assert tab.value("kindNow()") == picture


@pytest.mark.broad
def test_several_values_over_two_axes_are_a_bifurcation_map(opened: Opened, tmp_path: Path) -> None:
    table = {"format": 1, "model": "forced_impact", "method": "rk54", "outputs": ["x_samples"],
             "parameters": {"damping": 0.05, "gap": 0.02, "start_cycle": 20.0, "end_cycle": 28.0},
             "axes": {"omega": {"linspace": [3, 8, 20]},
                      "restitution": {"values": [0.5, 0.8]}}}  # fmt: skip
    ds = sweep.run(table, store=tmp_path / "impacts.zarr").load()
    tab = opened(explore(tmp_path / "impacts.zarr", tmp_path / "impacts.html"))
    assert tab.value("kindNow()") == "values"
    assert tab.value("explorer.state.y") == -1
    slider = tab.page.locator("#sliders input")
    for index in (0, 1):
        slider.fill(str(index))
        tab.settle()
        shown = np.array([each["y"] for each in tab.value(CURVES)], float)
        expected = ds.x_samples.isel(restitution=index).transpose(..., "omega").values
        np.testing.assert_allclose(shown, expected, rtol=2**-23)


def test_wear_is_drawn_over_years_in_a_readable_unit(opened: Opened, tmp_path: Path) -> None:
    wear = sweep.wear(
        sweep.run(RUBBING, store=None), law="archard", coefficient=1e-17, years=[1, 2, 5]
    )
    write_derived(wear, tmp_path / "wear.zarr")
    tab = opened(explore(tmp_path / "wear.zarr", tmp_path / "wear.html"))
    assert tab.text("#caption") == "wear volume [mm³]"
    assert tab.value("map.view.x.label") == "time in service [years]"
    middle = tab.value("axes[1].values[explorer.state.at[1]]")
    curves = tab.value(CURVES)
    assert [each["label"] for each in curves] == ["0.1", "0.2", "0.3"]
    for curve, friction in zip(curves, wear.friction.values, strict=True):
        volumes = wear.wear_volume.sel(friction=friction, base_acceleration=middle)
        assert curve["x"] == [1, 2, 5]
        np.testing.assert_allclose(curve["y"], volumes.values, rtol=2**-23)
    tab.click(0.9, 0.1, "stored")
    at = tab.value("explorer.state.point")
    volume = float(wear.wear_volume.sel(at).isel(time=-1))
    assert tab.rows("stored")["wear volume (after 5 years)"] == [f"{1e9 * volume:.4g}", "mm³"]


def test_values_over_decades_have_a_logarithmic_scale(opened: Opened, tmp_path: Path) -> None:
    """The largest displacement of an oscillator grows like the root of its energy."""
    table = {**FEW_LINES, "outputs": ["maximum"]}
    tab = opened(explore(sweep.run(table, store=None), tmp_path / "decades.html"))
    tab.unfold()
    assert not tab.value("map.view.scale.log")  # two decades
    table["axes"] = {**table["axes"], "energy": {"geomspace": [1e-8, 1e2, 60]}}
    tab = opened(explore(sweep.run(table, store=None), tmp_path / "decades.html"))
    assert tab.value("map.view.scale.log")
    assert tab.page.is_checked("#log")
    tab.unfold()
    tab.page.uncheck("#log")
    assert not tab.value("map.view.scale.log")


@pytest.mark.parametrize(
    ("first", "last"), [(1.0, 1.00004), (-3e-7, 5e-7), (99_990, 100_020), (0.0, 1e6)]
)
def test_ticks_differ_and_are_where_they_say(
    opened: Opened, tmp_path: Path, first: float, last: float
) -> None:
    tab = opened(explore(sweep.run(FEW_LINES, store=None), tmp_path / "few.html"))
    ticks = tab.value(f"ticks(plain, [{first}, {last}], 6)")
    texts = [each["text"] for each in ticks]
    assert len({*texts}) == len(texts) >= 3
    for each in ticks:
        text = re.sub(r"(?:^|·)10(?=[⁻⁰¹²³⁴⁵⁶⁷⁸⁹])", "e", each["text"].replace("−", "-"))
        text = text.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
        value = float(f"1{text}" if text.startswith("e") else text)
        assert value == pytest.approx(each["value"], abs=2e-3 * (last - first))


def test_a_unit_can_be_chosen(opened: Opened, tmp_path: Path) -> None:
    ds = sweep.run(RUBBING, store=None)
    tab = opened(explore(ds, tmp_path / "units.html"))
    tab.page.select_option("#output-unit", "mW")
    tab.page.select_option("#upwards-unit", "g_n")
    assert tab.text("#caption") == "wear power [mW]"
    assert "base acceleration [g_n]:" in tab.text("#legend")
    labels = [float(each["label"]) for each in tab.value(CURVES)]
    np.testing.assert_allclose(labels, ds.base_acceleration / 9.80665, rtol=1e-3)
    again = opened(tmp_path / "units.html", f"#{tab.page.url.partition('#')[2]}")
    assert again.text("#caption") == "wear power [mW]"


def test_borders_between_classes_are_smooth(opened: Opened, tmp_path: Path) -> None:
    """Of a circle on a coarse grid: within half a cell, without the steps of cells."""
    tab = opened(explore(sweep.run(FEW_LINES, store=None), tmp_path / "few.html"))
    n, radius, centre = 40, 15.3, 19.4
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    inside = np.hypot(i - centre, j - centre) < radius
    classes = json.dumps(inside.astype(int).ravel().tolist())
    (line,) = tab.value(f"classBorders({classes}, {n}, {n})")
    line = np.array(line)
    distances = np.hypot(*(line - centre).T)
    assert abs(distances - radius).max() < 0.5  # half a cell
    assert (line[0] == line[-1]).all()
    along = np.diff(line, axis=0)
    turns = np.angle(np.exp(1j * np.diff(np.angle(along[:, 0] + 1j * along[:, 1]))))
    assert np.abs(turns[np.hypot(*along[1:].T) > 0.2]).max() < 0.5  # steps turn by pi/2
    angles = np.unwrap(np.arctan2(*(line - centre).T[::-1]))
    assert abs(abs(angles[-1] - angles[0]) - 2 * np.pi) < 1e-9  # once around


def test_a_fixed_parameter_that_moves_computes_the_map_anew(opened: Opened, tmp_path: Path) -> None:
    """With the bits of a run with the values of `--set`; a point and its command follow."""
    table = {**SWEEP, "axes": {**SWEEP["axes"], "wall_stiffness": {"values": [7.0]}}}
    sweep.run(table, store=tmp_path / "impact.zarr")
    tab = opened(explore(tmp_path / "impact.zarr", tmp_path / "impact.html"))
    tab.unfold()
    tab.click(0.5, 0.5)
    before = tab.exact_rows("figures")["frequency"][0]
    tab.page.fill("[data-number=mass]", "1.2")
    tab.page.press("[data-number=mass]", "Enter")
    tab.settle()
    assert "Not the stored sweep: mass = 1.2 kg" in tab.text("#fixed-note")
    assert tab.copied("#copy-set", "values copied") == "--set mass=1.2"
    ds = sweep.run({**table, "parameters": {**table["parameters"], "mass": 1.2}}, store=None)
    assert (tab.computed("frequency") == bits(ds.frequency.values[:, :, 0])).all()
    tab.wait_for("document.querySelector('#trace').textContent.endsWith('--at mass=1.2')")
    tab.wait_for(f"document.querySelector('#figures').textContent.includes('{before}') === false")
    traced = sweep.trace(tmp_path / "impact.zarr", tab.traced())
    for name, values in tab.motion().items():
        np.testing.assert_array_equal(values, bits(traced[name].values))
    again = opened(tmp_path / "impact.html", f"#{tab.page.url.partition('#')[2]}")
    again.settle()
    assert "mass = 1.2 kg" in again.text("#fixed-note")
    tab.page.click("#unchanged")
    tab.settle()
    assert not tab.page.is_visible("#fixed-note")
    assert "the stored map" in tab.text("#state")


def test_the_map_follows_a_slider_that_does_not_rest(opened: Opened, tmp_path: Path) -> None:
    """A coarse map is finished even if the slider has moved on, and the last one is complete."""
    table = {**SWEEP, "axes": {**SWEEP["axes"], "wall_stiffness": {"values": [7.0]}}}
    tab = opened(explore(sweep.run(table, store=None), tmp_path / "moving.html"))
    tab.unfold()
    shown = tab.value(
        """(async () => {
          const slider = document.querySelector('[data-fixed=mass]');
          const seen = new Set();
          for (let k = 0; k < 200 && seen.size < 3; k++) {
            slider.value = 200 + (k % 100);
            slider.dispatchEvent(new Event('input'));
            await new Promise((after) => setTimeout(after, 15));
            if (coarse) seen.add(coarse.key);
          }
          return seen.size;
        })()"""
    )
    assert shown == 3
    tab.settle()
    tab.wait_for("explorer.computed !== null && explorer.computed.key === viewKey()")
    mass = tab.value("explorer.state.fixed.mass")
    ds = sweep.run({**table, "parameters": {**table["parameters"], "mass": mass}}, store=None)
    assert (tab.computed("frequency") == bits(ds.frequency.values[:, :, 0])).all()


def test_the_slider_of_a_fixed_parameter_keeps_within_its_range(
    opened: Opened, tmp_path: Path
) -> None:
    tab = opened(explore(sweep.run(FEW_LINES, store=None), tmp_path / "few.html"))
    tab.unfold()
    for position, mass in (("0", 0.1), ("200", 1.0), ("400", 10.0)):
        tab.page.fill("[data-fixed=mass]", position)
        assert tab.value("explorer.state.fixed.mass ?? 1") == mass
    tab.page.fill("[data-fixed=gap]", "0")
    gap = tab.value("explorer.state.fixed.gap")
    assert gap == pytest.approx(0.07)
    tab.settle()
    sides: Any = tab.value("[explorer.computed.x.values.length, explorer.computed.y.values.length]")
    assert sides == [60, 3]
