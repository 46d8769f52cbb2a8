"""Maps of refined sweeps: the same borders as a full grid, with far fewer points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
from matplotlib.collections import QuadMesh

import sweep
from sweep.errors import SweepError
from sweep.file import load
from sweep.pictures import plots
from sweep.pictures.cuts import cut
from sweep.results.refined import cells_of, on_grid
from sweep.theory import friction_oscillator as theory
from tests.engine.test_refinement import AXES, PARAMETERS, document, plain

MIN_SAVING = 20  # the full grid has at least that many times the points


@pytest.fixture(scope="module")
def refined() -> xr.Dataset:
    """The shipped refined sweep."""
    return sweep.run("wear_power_refined", store=None)


@pytest.fixture(scope="module")
def gridded(refined: xr.Dataset) -> xr.Dataset:
    """The same, interpolated on the grid of its finest level."""
    return on_grid(refined)


@pytest.fixture(scope="module")
def full(gridded: xr.Dataset) -> xr.Dataset:
    """That grid, computed at every point."""
    coarse = load("wear_power_refined").sweep.axes
    axes = {axis.name: {"values": gridded[axis.name].values.tolist()} for axis in coarse}
    return sweep.run(
        {
            "model": "friction_oscillator",
            "outputs": ["wear_power", "regime"],
            "parameters": dict(load("wear_power").sweep.constants),
            "axes": axes,
        },
        store=None,
    )


def test_the_shipped_sweep_is_as_fine_as_wear_power_and_covers_the_same_ranges(
    full: xr.Dataset,
) -> None:
    wear_power = load("wear_power").sweep
    assert load("wear_power_refined").sweep.constants == wear_power.constants
    for axis in wear_power.axes:
        values, whole = full[axis.name].values, axis.columns[axis.name]
        assert values.size >= whole.size
        assert (values[0], values[-1]) == (whole[0], whole[-1])


def test_twenty_times_fewer_points_find_the_same_regimes(
    refined: xr.Dataset, gridded: xr.Dataset, full: xr.Dataset
) -> None:
    """At all 525,825 points of the full grid, those next to borders included."""
    assert full["regime"].size >= load("wear_power").sweep.n_points
    assert full["regime"].size >= MIN_SAVING * refined.sizes["point"]
    assert set(np.unique(full["regime"])) == {0, 1, 2}
    np.testing.assert_array_equal(gridded["regime"].values, full["regime"].values)
    np.testing.assert_array_equal(gridded["status"].values, full["status"].values)


def test_every_border_cell_is_among_the_finest(refined: xr.Dataset, full: xr.Dataset) -> None:
    """A cell of the full grid whose corners differ is one of the refined sweep's finest cells."""
    regime = full["regime"].values.astype(int)
    corners = np.stack([regime[:-1, :-1], regime[1:, :-1], regime[:-1, 1:], regime[1:, 1:]])
    border = set(np.flatnonzero(np.ptp(corners, axis=0)).tolist())
    finest = set(cells_of(refined).mesh.cells[-1].tolist())
    assert len(border) > 2000
    assert border <= finest


def test_the_regimes_of_wear_power_itself(gridded: xr.Dataset, full: xr.Dataset) -> None:
    """At the 512 x 1024 points of configs/wear_power.toml, which lie between those of the map.

    The regime of a point is that of its cell's corners; where they differ, the cell is on a border.
    """
    whole = sweep.run("wear_power", store=None)
    below = [
        np.clip(np.searchsorted(gridded[n].values, whole[n].values, "right") - 1, 0,
                gridded[n].size - 2)
        for n in ("friction", "base_acceleration")
    ]  # fmt: skip
    codes = gridded["regime"].values.astype(int)
    corners = np.stack([codes[np.ix_(below[0] + i, below[1] + j)] for i in (0, 1) for j in (0, 1)])
    agree = np.ptp(corners, axis=0) == 0
    assert np.count_nonzero(~agree) < 0.006 * agree.size
    np.testing.assert_array_equal(corners[0][agree], whole["regime"].values[agree])


def test_borders_are_where_the_closed_forms_have_them(refined: xr.Dataset) -> None:
    """The cells that contain a border of the closed forms are the finest cells that differ."""
    cells = cells_of(refined)
    values = refined["regime"].values[np.argsort(cells.points)].astype(int)
    known = np.sort(cells.points)
    friction, acceleration = cells.axes.values()
    for level in range(cells.mesh.levels + 1):
        corners = cells.mesh.corners(level)
        places = np.unravel_index(corners, cells.mesh.shape)
        differ = np.ptp(values[np.searchsorted(known, corners)], axis=1) > 0
        parameters = {
            "friction": friction[places[0]], "gravity": 10.0,
            "base_acceleration": acceleration[places[1]],
        }  # fmt: skip
        expected = np.zeros(len(corners), bool)
        touched = np.zeros(len(corners), bool)
        for line in theory.boundaries(parameters).values():
            expected |= (line.min(axis=1) < 0) & (line.max(axis=1) > 0)
            touched |= np.abs(line).min(axis=1) < 1e-12  # a corner is on the border, to rounding
        np.testing.assert_array_equal(differ[~touched], expected[~touched])
        assert np.count_nonzero(touched) <= 4
        assert differ.any() == (level == cells.mesh.levels)


def test_a_map_is_drawn_without_the_status_too(refined: xr.Dataset) -> None:
    (whole,), (alone,) = (
        [each for each in plots.plot(ds).axes[0].collections if isinstance(each, QuadMesh)]
        for ds in (refined, refined[["wear_power"]])
    )
    np.testing.assert_array_equal(alone.get_array(), whole.get_array())


def test_values_between_points_are_interpolated_in_their_cell(refined: xr.Dataset) -> None:
    """A function linear along each axis, by index on the finest grid, is reproduced exactly."""
    cells = cells_of(refined)
    x, y = np.unravel_index(cells.points, cells.mesh.shape)
    known = refined.assign(wear_power=("point", 3.0 + x / 8 - y / 4 + x * y / 1024))
    across, up = np.meshgrid(*(np.arange(n) for n in cells.mesh.shape), indexing="ij")
    expected = 3.0 + across / 8 - up / 4 + across * up / 1024
    np.testing.assert_array_equal(on_grid(known)["wear_power"].values, expected)  # dyadic: exact
    coarser = on_grid(known, 2)["wear_power"].values
    np.testing.assert_array_equal(coarser, expected[::8, ::8])


def test_beside_an_infinite_value_all_values_between_are_infinite(refined: xr.Dataset) -> None:
    """As the time to a limit of wear is, on whichever side of a cell the mass sticks."""
    cells = cells_of(refined)
    x, y = np.unravel_index(cells.points, cells.mesh.shape)
    coarse = 1 << cells.mesh.levels
    for sticks in (x >= 4 * coarse, x <= 4 * coarse):
        known = refined.assign(wear_power=("point", np.where(sticks, np.inf, 1.0 + y)))
        values = on_grid(known)["wear_power"].values
        assert not np.isnan(values).any()
        there = np.zeros(cells.mesh.shape, bool)
        there.ravel()[cells.points[sticks]] = True
        assert np.isinf(values[there]).all()
        assert np.isinf(values[-1 if sticks[x.argmax()] else 0]).all()


def test_interpolation_errors_are_small_for_a_smooth_output(
    gridded: xr.Dataset, full: xr.Dataset
) -> None:
    error = np.abs(gridded["wear_power"].values - full["wear_power"].values)
    assert error.max() < 0.01 * full["wear_power"].values.max()


def test_a_missing_value_stays_in_its_cell_and_is_counted_as_computed() -> None:
    axes = {"vertical_acceleration": {"linspace": [0.0, 20.0, 3]},
            "base_acceleration": {"linspace": [1.0, 9.0, 3]}}  # fmt: skip
    requested = document(axes=axes, parameters={**PARAMETERS, "friction": 0.1})
    dataset = sweep.run(requested, store=None)
    grid = on_grid(dataset)
    lifts_off = grid["vertical_acceleration"].values >= 10.0
    assert np.isnan(grid["wear_power"].values[lifts_off]).all()
    assert np.isfinite(grid["wear_power"].values[~lifts_off]).all()
    n_missing = int((dataset["status"].values != 0).sum())
    texts = [text.get_text() for text in plots.plot(dataset).legends[0].get_texts()]
    assert f"no value: {n_missing} outside validity" in texts


@pytest.mark.parametrize("levels", [-1, 1.5, "2"])
def test_impossible_levels_are_refused(refined: xr.Dataset, levels: Any) -> None:
    with pytest.raises(SweepError, match=r"levels=.* is not a whole number of 0 or above"):
        on_grid(refined, levels)


def test_a_grid_of_one_and_three_axes() -> None:
    three = {**AXES, "phase": {"linspace": [0.0, 3.0, 3]}}
    for axes, levels in (({"base_acceleration": AXES["base_acceleration"]}, 4), (three, 1)):
        parameters = PARAMETERS if len(axes) > 1 else {**PARAMETERS, "friction": 0.3}
        refine = {"output": "regime", "levels": levels}
        requested = document(refine, axes=axes, parameters=parameters)
        grid = on_grid(sweep.run(requested, store=None))
        values = {name: {"values": grid[name].values.tolist()} for name in axes}
        whole = sweep.run({**plain(requested), "axes": values}, store=None)
        np.testing.assert_array_equal(grid["regime"].values, whole["regime"].values)


def test_results_that_are_not_refined_have_no_cells(full: xr.Dataset, refined: xr.Dataset) -> None:
    with pytest.raises(SweepError, match="not the points of a refined sweep"):
        on_grid(full)
    with pytest.raises(SweepError, match="not the points of a refined sweep"):
        cells_of(refined.drop_vars("level"))
    coarse, part = refined["level"].values == 0, refined.isel(point=slice(0, -1))
    for less in (part, refined.isel(point=coarse).isel(point=slice(1, None))):
        with pytest.raises(
            SweepError, match=r"some points of the refined sweep are missing.*`over`"
        ):
            plots.plot(less)
        plots.plot(less, over=["friction", "base_acceleration"])
    assert len(cells_of(refined.isel(point=coarse)).mesh.cells[0]) == 16 * 32


def test_the_map_is_the_grid_with_its_cells(refined: xr.Dataset, gridded: xr.Dataset) -> None:
    figure = plots.plot(refined, "regime")
    axes = figure.axes[0]
    (mesh,) = (each for each in axes.collections if hasattr(each, "get_coordinates"))
    np.testing.assert_array_equal(mesh.get_array(), gridded["regime"].values.T)
    boxes = next(each for each in axes.collections if type(each).__name__ == "PolyCollection")
    assert len(boxes.get_paths()) == sum(map(len, cells_of(refined).mesh.cells))
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "cells of 16,231 points, interpolated within" in texts
    assert "theory: border of stick, μg/a₀ = 1" in texts
    assert axes.get_xscale() == "log"


def test_a_map_too_fine_for_paper_is_thinned() -> None:
    """To every fourth value here, because 2,048 is the limit."""
    dataset = sweep.run(document({"output": "regime", "levels": 9}), store=None)
    cells = cells_of(dataset)
    shown_slice = cut(dataset, "regime", {})
    assert cells.mesh.shape == (2049, 4097)
    for axis in shown_slice.axes:
        np.testing.assert_array_equal(axis.values, cells.axes[str(axis.name)][::4])
    corner = shown_slice.dataset.isel(friction=0, base_acceleration=0)
    assert (corner["regime"], corner["friction"]) == (2, 0.01)


def test_one_axis_is_a_line_through_the_points() -> None:
    axes = {"friction": AXES["friction"]}
    requested = document(axes=axes, parameters={**PARAMETERS, "base_acceleration": 3.0})
    dataset = sweep.run(requested, store=None)
    figure = plots.plot(dataset, "wear_power")
    line = figure.axes[0].get_lines()[0]
    np.testing.assert_array_equal(line.get_xdata(), np.sort(dataset["friction"].values))
    assert figure.axes[0].get_xscale() == "log"


def test_three_axes_are_cut() -> None:
    axes = {**AXES, "phase": {"linspace": [0.0, 3.0, 3]}}
    dataset = sweep.run(document({"output": "regime", "levels": 1}, axes=axes), store=None)
    figure = plots.plot(dataset, "regime", at={"phase": 0.8})
    assert figure.get_suptitle().strip().endswith("at phase φ = 0.75 rad")
