"""Histograms and scatter matrices of samples, read from the figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import sweep
from sweep.errors import SweepError
from sweep.model.table import Status
from sweep.pictures import sample_pictures
from sweep.results.refined import on_grid
from tests.command import Run
from tests.engine.test_refinement import document
from tests.file.test_sample import PARAMETERS
from tests.pictures.test_plots import heading_of, legend_of

Values = NDArray[np.float64]
N = 400
random = np.random.default_rng(3)
FRICTION, FREQUENCY = random.uniform(0.1, 0.5, N), 10.0 ** random.uniform(-3, 3, N)


@pytest.fixture(scope="module")
def grid() -> xr.Dataset:
    """A sample in two cells, in each of which 40 points have no value."""
    power = np.stack([FRICTION, 10 * FRICTION])
    status = np.zeros((2, N), np.uint8)
    status[:, :40] = Status.diverged
    regime = (power > 0.3).astype(np.uint8)
    flag = {"flag_values": [0, 1], "flag_meanings": "stick slip"}
    return xr.Dataset(
        {
            "power": (("mass", "point"), np.where(status == 0, power, np.nan), {"units": "W"}),
            "regime": (("mass", "point"), np.where(status == 0, regime, 255).astype("u1"), flag),
            "status": (("mass", "point"), status),
        },
        {
            "mass": ("mass", [1.0, 2.0], {"units": "kg"}),
            "friction": ("point", FRICTION),
            "frequency": ("point", FREQUENCY, {"units": "Hz"}),
            "gravity": 10.0,
        },
        {"model": "m"},
    )


def test_bars_of_a_histogram_are_the_shares_of_points(grid: xr.Dataset) -> None:
    figure = sample_pictures.draw_as("histogram", grid, at={"mass": 1.2})
    (axes,) = figure.axes
    bars = [(bar.get_x(), bar.get_x() + bar.get_width(), bar.get_height()) for bar in axes.patches]
    values = FRICTION[40:]
    assert sum(height for *_, height in bars) == pytest.approx(1)
    for left, right, height in bars[:-1]:
        assert height == pytest.approx(np.mean((values >= left) & (values < right)))
    assert axes.get_lines()[0].get_xdata()[0] == pytest.approx(values.mean())
    title = "Power at mass = 1 kg (400 points, no value: 40 diverged)"
    assert heading_of(figure) == (title, "gravity = 10")
    other = sample_pictures.draw_as("histogram", grid, at={"mass": 1.9}).axes[0]
    assert other.get_lines()[0].get_xdata()[0] == pytest.approx(10 * values.mean())


def test_a_flag_has_a_bar_for_each_class(grid: xr.Dataset) -> None:
    (axes,) = sample_pictures.draw_as("histogram", grid, "regime", at={"mass": 1}).axes
    share = np.mean(FRICTION[40:] > 0.3)
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([1 - share, share])
    assert [text.get_text() for text in axes.get_xticklabels()] == ["stick", "slip"]


def by_place(figure: Figure) -> dict[tuple[int, int], Axes]:
    """The panels of a matrix of 3 by row and column; there are none above the diagonal."""
    return dict(zip(zip(*np.tril_indices(3), strict=True), figure.axes, strict=True))


def test_a_scatter_matrix_has_a_panel_for_each_pair(grid: xr.Dataset) -> None:
    figure = sample_pictures.draw_as("scatter_matrix", grid, at={"mass": 1})
    panels = by_place(figure)
    columns = [FRICTION, FREQUENCY, FRICTION]
    for i, j in ((1, 0), (2, 0), (2, 1)):
        dots = panels[i, j].collections[0].get_offsets()
        np.testing.assert_array_equal(dots, np.stack([columns[j], columns[i]], axis=1)[40:])
    (crosses,) = panels[1, 0].get_lines()
    np.testing.assert_array_equal(crosses.get_xydata(), np.stack([FRICTION, FREQUENCY], 1)[:40])
    assert not panels[2, 0].get_lines()
    assert legend_of(figure) == ["no value: 40 diverged"]
    (handle,) = figure.legends[0].get_lines()
    assert (handle.get_marker(), handle.get_color()) == (crosses.get_marker(), crosses.get_color())
    assert (panels[1, 0].get_xscale(), panels[1, 0].get_yscale()) == ("linear", "log")
    assert panels[1, 0].get_ylabel() == "frequency [Hz]"
    chosen = sample_pictures.draw_as("scatter_matrix", grid, over=["frequency"])
    assert len(chosen.axes) == 3


def test_values_of_a_scatter_matrix_have_the_units_of_its_labels(grid: xr.Dataset) -> None:
    """As on the axes of other pictures, both with a prefix."""
    small = grid.assign(power=grid.power.copy(data=1e-6 * grid.power.values))
    small = small.assign_coords(friction=("point", 1e-6 * FRICTION, {"units": "m"}))
    figure = sample_pictures.draw_as("scatter_matrix", small, "power", {"mass": 1}, ["friction"])
    bottom = figure.axes[1]
    assert (bottom.get_xlabel(), bottom.get_ylabel()) == ("friction [nm]", "power [nW]")
    dots = bottom.collections[0].get_offsets()
    np.testing.assert_allclose(dots, 1e3 * np.stack([FRICTION, FRICTION], axis=1)[40:])


def test_panels_of_a_column_and_of_a_row_share_their_axis(grid: xr.Dataset) -> None:
    """Also where the output has values at some points only, here at those of small friction."""
    power = np.where(FRICTION < 0.2, grid.power, np.nan)
    figure = sample_pictures.draw_as(
        "scatter_matrix", grid.assign(power=grid.power.copy(data=power)), at={"mass": 1}
    )
    panels = by_place(figure)
    for place, values in enumerate((FRICTION, FREQUENCY)):
        limits = [panels[i, place].get_xlim() for i in range(place, 3)]
        assert limits == limits[:1] * len(limits)
        assert limits[0][0] <= values.min() < values.max() <= limits[0][1]
    joined = panels[2, 0].get_shared_y_axes().joined
    assert [joined(panels[2, 0], panels[2, i]) for i in (1, 2)] == [True, False]
    assert panels[2, 1].get_xscale() == panels[1, 1].get_xscale() == "log"
    assert panels[1, 1].get_ylim()[0] == 0  # of a histogram, in a row of its own


def test_long_samples_are_thinned_and_say_so(grid: xr.Dataset) -> None:
    long = grid.isel(point=np.resize(np.arange(N), 20_000))
    figure = sample_pictures.draw_as("scatter_matrix", long)
    assert "(5,000 points drawn, " in figure.get_suptitle()


@pytest.mark.parametrize(
    "values", [[1.0], [2.0, 2.0, 2.0], [0.0], [], [1e-320, 1e-319], [1.0, np.nextafter(1.0, 2)]]
)
def test_any_values_have_bins(values: list[float]) -> None:
    ends = sample_pictures.bins(np.array(values))
    assert (np.diff(ends) > 0).all()
    assert np.histogram(values, ends)[0].sum() == len(values)


def test_what_cannot_be_drawn_is_refused(grid: xr.Dataset) -> None:
    with pytest.raises(SweepError, match="shows a sample, and this sweep has none"):
        sample_pictures.draw_as("histogram", grid.isel(point=0))
    with pytest.raises(SweepError, match="no sampled parameter 'mass': choose one of friction"):
        sample_pictures.draw_as("scatter_matrix", grid, over=["mass"])
    with pytest.raises(SweepError, match="no axis 'gravity'"):
        sample_pictures.draw_as("histogram", grid, at={"gravity": 1})
    with pytest.raises(SweepError, match="friction is sampled"):
        sample_pictures.draw_as("histogram", grid, at={"friction": 1})
    with pytest.raises(SweepError, match="a histogram is not drawn over friction"):
        sample_pictures.draw_as("histogram", grid, None, {}, ["friction"])
    with pytest.raises(SweepError, match="this sweep has no output 'powr'"):
        sample_pictures.draw_as("histogram", grid, "powr")


def test_the_command_draws_a_sample(tmp_path: Path, run: Run) -> None:
    drawn = {"friction": {"normal": [0.3, 0.02]}, "base_acceleration": {"uniform": [1, 9]}}
    sample = {"method": "sobol", "points": 64, **drawn}
    whole = {"model": "friction_oscillator", "outputs": ["wear_power"], "parameters": PARAMETERS}
    sweep.run({**whole, "sample": sample}, store="results/a.zarr")
    for shape in ("histogram", "scatter_matrix"):
        assert run("plot", "results/a.zarr", "--as", shape)[:2] == (0, f"results/a_{shape}.png\n")
        assert (tmp_path / f"results/a_{shape}.png").stat().st_size > 1000
    status, _, message = run("plot", "results/a.zarr", "--as", "histogram", "--against", "euler")
    assert status == 2
    assert "leave out other stores, --against" in message


def test_points_of_a_refined_sweep_weigh_as_much_as_their_cells() -> None:
    """Against the trapezoidal rule over the finest grid, whose values are interpolated in cells.

    The interpolation is linear along the axes, one of which is logarithmic; hence the tolerance.
    """
    dataset = sweep.run(document(), store=None)
    grid = on_grid(dataset)
    names = [str(name) for name in grid.wear_power.dims]
    assert list(grid.status.values.ravel()) == [0] * grid.status.size

    def of_map(values: Values) -> float:
        """The mean over the finest grid, linear in the places along each axis."""
        return float(np.trapezoid(np.trapezoid(values)) / np.prod(np.subtract(values.shape, 1)))

    (axes,) = sample_pictures.draw_as("histogram", dataset, "wear_power").axes
    assert len(names) == 2
    mean = axes.get_lines()[0].get_xdata()[0]
    assert mean == pytest.approx(of_map(grid.wear_power.values), rel=1e-4)
    assert mean != pytest.approx(float(dataset.wear_power.mean()), rel=0.01)
    assert axes.get_ylabel() == "share of the map"
    assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(1)
    part = dataset.isel(point=slice(0, -1))
    assert "computed" in sample_pictures.draw_as("histogram", part).axes[0].get_ylabel()
