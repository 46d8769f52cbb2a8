"""Pictures of statistics: what is drawn, read from the figure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
from matplotlib.collections import QuadMesh

import sweep
from sweep.errors import SweepError
from sweep.pictures.plots import plot
from sweep.pictures.view import View
from tests.pictures.test_plots import heading_of
from tests.statistics.test_reduced_sweeps import SWEEP, ishigami, reduced

AXES = {
    "base_acceleration": {"linspace": [0.5, 15.0, 12]},
    "vertical_acceleration": {"linspace": [0.0, 5.0, 10]},
}


@pytest.fixture(scope="module")
def one_axis() -> xr.Dataset:
    return sweep.run(reduced(axes={"base_acceleration": {"linspace": [0.5, 15.0, 12]}}), store=None)


@pytest.fixture(scope="module")
def two_axes() -> xr.Dataset:
    return sweep.run(reduced(axes=AXES), store=None)


def axes_of(*arguments: Any, **more: Any) -> Any:
    return plot(*arguments, **more).axes[0]


def map_on(axes: Any) -> np.ndarray:
    (mesh,) = (each for each in axes.collections if isinstance(each, QuadMesh))
    return np.asarray(mesh.get_array())


def test_a_mean_has_a_band_between_quantiles(one_axis: xr.Dataset) -> None:
    axes = axes_of(one_axis)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), one_axis.wear_power_mean)
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.max() == one_axis.wear_power_quantile.sel(quantile=0.95).max()
    assert axes.collections[0].get_label() == "5 % to 95 % of the points"
    assert axes.lines[0].get_label() == "mean"


def test_statistics_with_several_values_are_lines(one_axis: xr.Dataset) -> None:
    axes = axes_of(one_axis, "regime_share")
    labels = [line.get_label() for line in axes.lines]
    assert labels == [f"regime class = {each}" for each in ("stick", "stick_slip", "slip_slip")]
    slip = one_axis.regime_share.sel(regime_class="slip_slip")
    np.testing.assert_array_equal(axes.lines[2].get_ydata(), slip)


def test_lines_over_labels_may_be_chosen(one_axis: xr.Dataset) -> None:
    chosen_axes, default_axes = (
        plot(one_axis, "wear_power_quantile", **vars(view)).axes[0]
        for view in (View(hue="quantile"), View())
    )
    assert [line.get_label() for line in chosen_axes.lines] == [
        line.get_label() for line in default_axes.lines
    ]


def test_a_map_is_of_one_of_several_values(two_axes: xr.Dataset) -> None:
    at = {"quantile": 0.95}
    figure = plot(two_axes, "wear_power_quantile", at=at)
    expected = two_axes.wear_power_quantile.sel(at).T
    np.testing.assert_array_equal(map_on(figure.axes[0]), expected)
    assert "at quantile = 0.95" in heading_of(figure)[0]
    named = {"regime_class": "slip_slip", "base_acceleration": "3 m/s²"}
    figure = plot(two_axes, "regime_share", at=named)
    assert "regime class = slip_slip" in heading_of(figure)[0]
    with pytest.raises(SweepError, match="regime_class has no 'slip'"):
        axes_of(two_axes, "regime_share", at={"regime_class": "slip"})


def test_the_share_beyond_a_limit_is_a_map(two_axes: xr.Dataset) -> None:
    """Its only threshold need not be named."""
    axes = axes_of(two_axes, "wear_power_share_above")
    expected = two_axes.wear_power_share_above.sel(wear_power_threshold=2.0)
    np.testing.assert_array_equal(map_on(axes), expected.T)


def test_sobol_indices_are_maps_of_a_parameter() -> None:
    drawn = {**SWEEP["sample"], "points": 16, "phase": {"uniform": [0, 6]}}
    reduce = {"wear_power": ["sobol_indices"]}
    document = {**SWEEP, "outputs": [*reduce], "axes": AXES, "sample": drawn, "reduce": reduce}
    dataset = sweep.run(document, store=None)
    drawn_on = axes_of(dataset, "wear_power_total_order", at={"parameter": "phase"})
    expected = dataset.wear_power_total_order.sel(parameter="phase").T
    np.testing.assert_allclose(map_on(drawn_on), expected, atol=1e-6)  # logarithmic


def test_a_single_cell_is_drawn_as_bars(one_axis: xr.Dataset) -> None:
    at = {"base_acceleration": 3.0}
    cell = one_axis.sel(at, method="nearest")
    axes = axes_of(one_axis, "regime_share", at=at)
    assert [bar.get_height() for bar in axes.patches] == cell.regime_share.values.tolist()
    axes = axes_of(one_axis, "wear_power_histogram", at=at)
    assert [bar.get_height() for bar in axes.patches] == cell.wear_power_histogram.values.tolist()
    start, width = float(cell.wear_power_histogram_start), float(cell.wear_power_histogram_width)
    assert [bar.get_x() for bar in axes.patches] == [start + width * i for i in range(8)]
    assert axes.get_xlabel() == "wear power [W]"


def test_a_histogram_is_of_one_cell(one_axis: xr.Dataset, two_axes: xr.Dataset) -> None:
    """Every cell has bins of its own, so bins of the same number have nothing in common."""
    with pytest.raises(SweepError, match=r"choose it by .*base_acceleration.*at"):
        plot(one_axis, "wear_power_histogram")
    at = {"base_acceleration": 3.0}
    with pytest.raises(SweepError, match=r"choose it by .*vertical_acceleration.*at"):
        plot(two_axes, "wear_power_histogram", at=at)
    axes = axes_of(two_axes, "wear_power_histogram", at={**at, "vertical_acceleration": 1.0})
    assert len(axes.patches) == 8


def test_sobol_indices_are_bars_of_both_orders() -> None:
    dataset = ishigami(256, 8, 1, "sobol_indices")
    axes = axes_of(dataset, "f_total_order")
    heights = [bar.get_height() for bar in axes.patches]
    expected = [*dataset.f_first_order.values, *dataset.f_total_order.values]
    assert heights == pytest.approx(expected)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["x1", "x2", "x3"]
    assert len(axes.containers) == 4  # bars and their errors, of each order


def test_bars_have_the_chosen_unit_scale_and_limits(one_axis: xr.Dataset) -> None:
    at = {"base_acceleration": 3.0}
    cell = one_axis.sel(at, method="nearest").wear_power_quantile
    limits = {"wear_power_quantile": (0.5, 4e3)}
    view = View(unit={"wear_power_quantile": "mW", "quantile": "%"}, limits=limits)
    axes = axes_of(one_axis, "wear_power_quantile", at=at, **vars(view))
    heights = [bar.get_height() for bar in axes.patches]
    np.testing.assert_allclose(heights, 1e3 * cell.values)
    assert axes.get_ylabel().endswith("[mW]")
    assert axes.get_ylim() == limits["wear_power_quantile"]
    ticks = [float(text.get_text()) for text in axes.get_xticklabels()]
    np.testing.assert_allclose(ticks, 100 * cell["quantile"].values)
    view = View(log=("wear_power_quantile",))
    axes = axes_of(one_axis, "wear_power_quantile", at=at, **vars(view))
    assert axes.get_yscale() == "log"
    assert axes.get_ylim()[0] < min(h for h in (bar.get_height() for bar in axes.patches) if h > 0)


def test_the_axis_of_a_histogram_is_named_as_its_output(one_axis: xr.Dataset) -> None:
    at = {"base_acceleration": 3.0}
    cell = one_axis.sel(at, method="nearest")
    start, width = float(cell.wear_power_histogram_start), float(cell.wear_power_histogram_width)
    view = View(
        unit={"wear_power": "mW"},
        limits={"wear_power": (1.0, 2e3), "wear_power_histogram": (0.5, 5.0)},
        log=("wear_power_histogram",),
    )
    figure = plot(one_axis, "wear_power_histogram", at=at, **vars(view))
    (axes,) = figure.axes
    lefts = [1e3 * (start + width * i) for i in range(8)]
    np.testing.assert_allclose([bar.get_x() for bar in axes.patches], lefts)
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], 1e3 * width)
    assert axes.get_xlabel() == "wear power [mW]"
    assert (axes.get_xlim(), axes.get_ylim()) == ((1.0, 2e3), (0.5, 5.0))
    assert axes.get_yscale() == "log"
    assert not figure.legends  # bins without a point are no points of value 0
    with pytest.raises(SweepError, match="did you mean 'wear_power'"):
        plot(one_axis, "wear_power_histogram", at=at, unit={"wear_power_bin": "mW"})


@pytest.mark.parametrize("view", [View(log=("quantile",)), View(limits={"quantile": (0, 1)})])
def test_evenly_spaced_bars_have_neither_scale_nor_limits(one_axis: xr.Dataset, view: View) -> None:
    with pytest.raises(SweepError, match=r"quantile.*evenly spaced.*leave it out"):
        plot(one_axis, "wear_power_quantile", at={"base_acceleration": 3.0}, **vars(view))


def test_a_histogram_of_a_cell_without_values_is_drawn_empty(one_axis: xr.Dataset) -> None:
    empty = one_axis.copy()
    for end in ("start", "width"):
        empty[f"wear_power_histogram_{end}"] = np.nan * one_axis[f"wear_power_histogram_{end}"]
    figure = plot(empty, "wear_power_histogram", at={"base_acceleration": 3.0})
    figure.draw_without_rendering()
    assert figure.axes[0].get_xlabel() == "wear power [W]"
