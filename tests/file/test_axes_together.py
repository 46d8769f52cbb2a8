"""[axes.NAME]: several parameters along one dimension, against runs of each of its points."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.errors import ConfigError, StoreError, SweepError
from sweep.file import load
from sweep.pictures import cuts, plots
from sweep.results.exporting import export
from sweep.store import Store
from tests.file.documents import faults

CONSTANTS = {"gravity": 10, "window_start": 4, "window_end": 12, "angular_frequency": 6.25}
CASE: dict[str, object] = {
    "mass": {"values": [1, "2 kg", 3]},
    "friction": {"linspace": [0.3, 0.1, 3]},
}
AXES: dict[str, object] = {"base_acceleration": {"linspace": [1, 9, 5]}, "case": CASE}
WHOLE: dict[str, object] = {
    "model": "friction_oscillator", "outputs": ["wear_power", "regime"],
    "parameters": CONSTANTS, "axes": AXES,
}  # fmt: skip


@pytest.fixture(scope="module")
def results() -> xr.Dataset:
    return sweep.run(WHOLE, store=None)


def test_parameters_vary_together(results: xr.Dataset) -> None:
    assert dict(results.sizes) == {"base_acceleration": 5, "case": 3}
    assert results["mass"].dims == results["friction"].dims == ("case",)
    assert results["mass"].values.tolist() == [1, 2, 3]
    for i, (mass, friction) in enumerate(zip((1, 2, 3), results["friction"].values, strict=True)):
        alone = {"parameters": {**CONSTANTS, "mass": mass, "friction": friction}}
        axes = {"base_acceleration": AXES["base_acceleration"]}
        line = sweep.run({**WHOLE, **alone, "axes": axes}, store=None)
        for name in ("wear_power", "regime", "status"):
            np.testing.assert_array_equal(results[name][:, i], line[name])


def test_an_axis_may_have_the_name_of_one_of_its_parameters() -> None:
    axes = {"mass": {"mass": {"values": [1, 2]}, "friction": {"values": [0.1, 0.2]}}}
    parameters = {**CONSTANTS, "base_acceleration": 5}
    dataset = sweep.run({**WHOLE, "axes": axes, "parameters": parameters}, store=None)
    assert dataset.indexes["mass"].tolist() == [1, 2]
    assert dataset["friction"].dims == ("mass",)


def test_a_store_of_it_resumes_shows_and_grows(results: xr.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    dataset = sweep.run(WHOLE, store=path, chunk_points=2)
    xr.testing.assert_identical(dataset.drop_attrs().load(), results.drop_attrs())
    again = load(path)
    assert not Store.create(path, again.sweep, provenance={}).made_by.differences(again.sweep)
    assert not Store.open(path).made_by.differences(load(WHOLE).sweep)
    other = {**CASE, "friction": {"linspace": [0.3, 0.2, 3]}}
    gist = r"axis case, friction: .*0\.1, 3.* in the store, .*0\.2, 3"
    with pytest.raises(StoreError, match=gist):
        sweep.run({**WHOLE, "axes": {**AXES, "case": other}}, store=path)
    longer = {"mass": {"values": [1, 2, 3, 5]}, "friction": {"values": [0.3, 0.2, 0.1, 0.7]}}
    grown = Store.extend(path, load({**WHOLE, "axes": {**AXES, "case": longer}}).sweep)
    assert grown.sweep.grid.shape == (5, 4)
    export(dataset, tmp_path / "a.csv")
    rows = [line for line in (tmp_path / "a.csv").read_text().splitlines() if line[0] != "#"]
    assert rows[0].startswith("base_acceleration,friction,mass,wear_power")
    assert rows[2].startswith("1.0,0.2,2.0,")


def test_options_change_it(tmp_path: Path) -> None:
    fixed = load(WHOLE, ["mass=4"]).sweep
    assert fixed.constants["mass"] == 4
    assert [set(axis.columns) for axis in fixed.axes] == [{"base_acceleration"}, {"friction"}]
    assert load(WHOLE, ["mass=4", "friction=0.1"]).sweep.grid.dimensions == ("base_acceleration",)
    pair = "case={ mass = { values = [7] }, friction = { values = [0.5] } }"
    assert load(WHOLE, [f"axes.{pair}"]).sweep.grid.shape == (5, 1)
    at = {"mass": 2, "friction": 0.1, "base_acceleration": 3}
    traced = sweep.trace(WHOLE, at, samples=5)
    assert {name: float(traced[name]) for name in at} == at
    with pytest.raises(SweepError, match=r"one value of base_acceleration, friction \(at\)"):
        sweep.trace(WHOLE, {"mass": 2}, samples=5)


def test_values_may_come_from_a_file(tmp_path: Path) -> None:
    """As in a table of measured cases, a value may be in several of them."""
    (tmp_path / "cases.csv").write_text("m,mu\n1,0.3\n2,0.3\n2,0.1\n")
    file = str(tmp_path / "cases.csv")
    case = {"mass": {"file": file, "column": "m"}, "friction": {"file": file, "column": "mu"}}
    dataset = sweep.run({**WHOLE, "axes": {**AXES, "case": case}}, store=tmp_path / "a.zarr")
    assert dataset["mass"].values.tolist() == [1, 2, 2]
    with pytest.raises(ConfigError, match="the values of case were read from a file"):
        load(tmp_path / "a.zarr")


def test_it_is_drawn_as_panels(results: xr.Dataset) -> None:
    figure = plots.plot(results, col="case")
    drawn = [axes.get_title(loc="left") for axes in figure.axes if axes.get_visible()]
    titles = [title.replace("\n", " ") for title in drawn]  # three side by side are narrow
    pairs = ((1, 0.3), (2, 0.2), (3, 0.1))
    assert titles == [
        f"case = {i} (friction μ = {mu}, mass m = {mass} kg)" for i, (mass, mu) in enumerate(pairs)
    ]
    for i, axes in enumerate(figure.axes[:3]):
        np.testing.assert_array_equal(axes.lines[0].get_ydata(), results["wear_power"][:, i])
    with pytest.raises(SweepError, match="no uncut axis 'case'"):
        plots.plot(results, at={"mass": 2}, col="case")


def test_a_number_for_it_is_one_fault() -> None:
    """Its parameters stay, so that none is missing."""
    (fault,) = faults(WHOLE, "case=2")
    assert "give mass=..., friction=..." in fault
    assert load(WHOLE, at=["mass=2", "friction=0.1", "base_acceleration=3"]).sweep.n_points == 1


def test_one_case_is_traced_by_its_number() -> None:
    at = {"base_acceleration": 9, "mass": 2, "friction": 0.2}
    expected = sweep.trace(WHOLE, at, samples=9)
    xr.testing.assert_identical(
        sweep.trace(WHOLE, {"base_acceleration": 9, "case": 1}, samples=9), expected
    )
    for wrong in (3, -1, True, 0.5, "two"):
        with pytest.raises(ConfigError, match=r"case.*number, from 0 to 2, or give.*mass"):
            sweep.trace(WHOLE, {"base_acceleration": 9, "case": wrong})
    with pytest.raises(SweepError, match=r"case has the numbers 0 to 2 \(friction, mass\)"):
        sweep.trace(WHOLE, {"base_acceleration": 9})


def test_it_is_drawn_as_lines_and_cut_by_its_parameters(results: xr.Dataset) -> None:
    labels = [str(line.get_label()) for line in plots.plot(results).axes[0].get_lines()]
    pairs = ((1, 0.3), (2, 0.2), (3, 0.1))
    assert labels == [f"friction μ = {mu}, mass m = {mass} kg" for mass, mu in pairs]
    shown = cuts.cut(results, None, {"mass": 2.9})
    assert shown.cuts == {"case": "2 (friction μ = 0.1, mass m = 3 kg)"}
    np.testing.assert_array_equal(shown.values, results["wear_power"][:, 2])
    assert cuts.cut(results, None, {"case": 0}).cuts == {
        "case": "0 (friction μ = 0.3, mass m = 1 kg)"
    }
    with pytest.raises(SweepError, match="friction and mass are both along case: cut it by one"):
        cuts.cut(results, None, {"mass": 1, "friction": 0.3})


BROKEN: list[tuple[Mapping[str, object], str]] = [
    ({"case": {"mass": {"values": []}}}, "[axes.case] mass: values is empty; give at least one"),
    ({"case": {"mass": {"value": [1]}}}, "[axes.case] mass: value: there is no such key; did you"),
    ({"point": {"mass": {"values": [1]}}}, "[axes.point]: 'point' is a name with a meaning of its"),
    ({"wear_power": {"mass": {"values": [1]}}}, "[axes.wear_power]: results have names like this"),
    ({"mass": {"mass": {"values": [1, 2, 2]}, "friction": {"values": [0.1, 0.2, 0.3]}}},
     "[axes.mass] mass: the value 2.0 occurs twice; give each value once"),
    ({"a": {"mass": {"linspace": [1, 2, 10**8]}}, "b": {"friction": {"linspace": [0, 1, 10**8]}}},
     "[axes]: 10,000,000,000,000,000 points are more than"),
]  # fmt: skip


@pytest.mark.parametrize(("axes", "gist"), BROKEN)
def test_a_fault_is_reported_with_its_cure(axes: Mapping[str, object], gist: str) -> None:
    parameters = {**CONSTANTS, "base_acceleration": 1}
    found = faults({**WHOLE, "axes": axes, "parameters": parameters})
    assert any(gist in fault for fault in found)


def test_it_cannot_be_refined() -> None:
    (fault,) = faults({**WHOLE, "refine": {"output": "regime", "levels": 2}})
    assert fault.startswith("[axes.case]: several parameters along one axis cannot be halved")
