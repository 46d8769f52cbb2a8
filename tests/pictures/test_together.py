"""Several stores, methods or values of an axis in one picture, read from the figure."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

import sweep
from sweep.errors import SweepError
from sweep.pictures import plots
from sweep.pictures.view import View
from tests.command import Run
from tests.pictures.test_plots import asymptotic_dataset, heading_of, legend_of, within

ACCELERATION = np.linspace(1.0, 15.0, 40)
FRICTION = np.geomspace(0.05, 0.5, 12)
MASS = (1.0, 2.0, 4.0)
STEP = ("--set", "step=1e-3")


@pytest.fixture(scope="module")
def volume() -> xr.Dataset:
    return asymptotic_dataset(
        {"mass": MASS, "friction": FRICTION, "base_acceleration": ACCELERATION}
    )


def renamed(dataset: xr.Dataset, method: str, factor: float) -> xr.Dataset:
    """The results as if of another method, with other values."""
    power = dataset["wear_power"].copy(data=factor * dataset["wear_power"].values)
    return dataset.assign(wear_power=power).assign_attrs(method=method)


def drawn(figure: Figure) -> list[QuadMesh]:
    """The maps of all panels; the last axes are those of the colour bar."""
    parts = [each for axes in figure.axes[:-1] for each in axes.collections]
    return [each for each in parts if isinstance(each, QuadMesh)]


def test_methods_are_lines_of_one_panel(volume: xr.Dataset) -> None:
    one = volume.isel(mass=0, friction=3)
    figure = plots.plot([one, renamed(one, "euler", 1.5)])
    (axes,) = figure.axes
    assert legend_of(figure) == ["exact", "euler"]
    first, second = (line.get_ydata() for line in axes.get_lines())
    np.testing.assert_array_equal(first, one["wear_power"])
    np.testing.assert_array_equal(second, 1.5 * one["wear_power"].values)
    assert [line.get_linestyle() for line in axes.get_lines()] == ["-", "--"]  # one may be below
    assert heading_of(figure)[0] == "Wear power of a mass rubbing on a shaken plane"
    assert heading_of(figure)[1].startswith("m = 1 kg, ")


def test_maps_of_several_stores_share_one_scale(volume: xr.Dataset) -> None:
    one = volume.isel(mass=0)
    figure = plots.plot([one, renamed(one, "euler", 3.0)])
    first, second = drawn(figure)
    top = 3.0 * float(one["wear_power"].max())
    assert first.get_clim() == second.get_clim()
    assert first.get_clim()[1] == pytest.approx(top)
    np.testing.assert_array_equal(first.get_array(), one["wear_power"].T)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["exact", "euler", ""]  # the last is the colour bar
    assert [axes.get_xlabel() for axes in figure.axes[:2]] == ["friction μ", "friction μ"]
    figure.draw_without_rendering()
    (legend,) = figure.legends
    lowest = min(axes.get_tightbbox().y0 for axes in figure.axes)
    assert legend.get_window_extent().y1 <= lowest


def test_an_axis_has_a_panel_for_each_value(volume: xr.Dataset) -> None:
    figure = plots.plot(volume, col="mass")
    for mesh, mass in zip(drawn(figure), MASS, strict=True):
        np.testing.assert_array_equal(mesh.get_array(), volume["wear_power"].sel(mass=mass).T)
        assert mesh.get_clim()[1] == pytest.approx(float(volume["wear_power"].max()))
    in_grams = plots.plot(volume, col="mass", unit={"mass": "g"})
    for each, values in (
        (figure, ("1 kg", "2 kg", "4 kg")),
        (in_grams, ("1000 g", "2000 g", "4000 g")),
    ):
        titles = [axes.get_title(loc="left") for axes in each.axes[:3]]
        assert titles == [f"mass m = {value}" for value in values]
    assert "m = " not in "".join(heading_of(figure))
    many = plots.plot(volume, at={"mass": 1}, col="friction")
    assert len(many.axes) == 9
    assert many.axes[8].get_title(loc="left") == "friction μ = 0.5"
    assert "9 of 12 values of friction drawn" in legend_of(many)
    assert not any("values of mass" in text for text in legend_of(figure))


def test_rows_and_columns_have_a_panel_for_each_pair(volume: xr.Dataset) -> None:
    figure = plots.plot(volume.isel(friction=slice(2)), row="friction", col="mass")
    panels = figure.axes
    columns = {round(axes.get_position().x0, 6) for axes in panels}
    assert (len(panels), len(columns)) == (6, 3)
    for i, axes in enumerate(panels):
        (line,) = (each for each in axes.get_lines() if len(each.get_xdata()) == ACCELERATION.size)
        expected = volume["wear_power"].isel(friction=i // 3, mass=i % 3)
        np.testing.assert_array_equal(line.get_ydata(), expected)
        assert f"mass m = {MASS[i % 3]:g} kg" in " ".join(axes.get_title(loc="left").split())
    stacked = plots.plot(volume.isel(friction=0), row="mass")
    assert len({round(axes.get_position().x0, 6) for axes in stacked.axes}) == 1


def test_a_picture_for_one_column_is_half_as_wide_with_the_same_letters(volume: xr.Dataset) -> None:
    one = volume.isel(mass=0)
    page, column = (plots.plot(one, size=size) for size in ("page", "column"))
    assert column.get_figwidth() == pytest.approx(page.get_figwidth() / 2, rel=0.05)
    sizes = {each.axes[0].xaxis.label.get_size() for each in (page, column)}
    assert sizes == {8.0}
    column.draw_without_rendering()
    assert all(within(column).values())
    (legend,) = column.legends
    assert legend.get_window_extent().x1 <= column.bbox.x1
    with pytest.raises(SweepError, match=r"size='wide' is not one of page.* column"):
        View(size="wide")


def test_a_value_has_one_colour_in_all_panels(volume: xr.Dataset) -> None:
    """It is that of the legend; each panel used to begin with the first colour."""
    one = volume.isel(friction=0)
    figure = plots.plot([one.isel(mass=[0, 1]), one.isel(mass=[1, 2])], hue="mass")
    (legend,) = figure.legends
    keys = {line.get_label(): line.get_color() for line in legend.get_lines()}
    drawn_lines = [line for axes in figure.axes for line in axes.get_lines()]
    assert len(set(keys.values())) == 3
    assert all(keys[line.get_label()] == line.get_color() for line in drawn_lines)


def test_names_of_classes_stand_in_their_regions_in_each_panel(volume: xr.Dataset) -> None:
    """Also in a map that is smaller than another, whose limits it shares."""
    one = volume.isel(mass=0)
    small = one.isel(base_acceleration=slice(12))
    reversed_limits = plots.plot([one, small]).axes[0].get_ylim()
    figure = plots.plot([small, one])
    assert figure.axes[0].get_ylim() == reversed_limits  # those of the larger map
    figure.draw_without_rendering()
    for text in figure.axes[0].texts:
        place = text.get_transform().transform(text.get_position())
        assert figure.axes[0].transData.inverted().transform(place)[1] < ACCELERATION[12]


def test_panels_share_the_unit(volume: xr.Dataset) -> None:
    """By itself the second would be in µW."""
    one = volume.isel(mass=0, friction=slice(10), base_acceleration=slice(25, None))
    small = renamed(one, "euler", 1e-5)
    figure = plots.plot([one, small])
    np.testing.assert_allclose(drawn(figure)[1].get_array(), small["wear_power"].T, rtol=1e-12)
    assert figure.axes[-1].get_ylabel() == "mean of N|v| over the window [W]"
    alone = plots.plot(small).axes[-1]
    assert alone.get_ylabel() == "mean of N|v| over the window [µW]"


def test_panels_name_the_values_in_which_they_differ(volume: xr.Dataset) -> None:
    """Each of the results is cut at its own middle."""
    figure = plots.plot([volume, volume.isel(mass=[0])])
    titles = [axes.get_title(loc="left") for axes in figure.axes[:2]]
    assert [title.replace("\N{NO-BREAK SPACE}", " ") for title in titles] == [
        "results 1: m = 2 kg",
        "results 2: m = 1 kg",
    ]
    assert "m = " not in "".join(heading_of(figure))


def test_a_picture_of_no_points_is_refused(volume: xr.Dataset) -> None:
    for axis in ("friction", "mass"):
        with pytest.raises(SweepError, match=f"no values along {axis}"):
            plots.plot(volume.isel({axis: []}))


@pytest.mark.parametrize(
    ("view", "at", "cure"),
    [
        ({"col": "mas"}, {}, "did you mean 'mass'"),
        ({"col": "mass"}, {"mass": 1}, "no uncut axis 'mass'"),
        ({"col": "mass", "x": "mass"}, {}, "choose another axis"),
    ],
)
def test_panels_take_axes(volume: xr.Dataset, view: dict, at: dict, cure: str) -> None:
    with pytest.raises(SweepError, match=cure):
        plots.plot(volume, at=at, **view)


def test_results_that_differ_too_much_are_refused(volume: xr.Dataset) -> None:
    with pytest.raises(SweepError, match="cut the axes that some lack"):
        plots.plot([volume, volume.isel(friction=0, drop=True)])
    with pytest.raises(SweepError, match="at most 9"):
        plots.plot([volume] * 10)
    with pytest.raises(SweepError, match="status is drawn of one store"):
        plots.plot([volume, volume], "status")
    with pytest.raises(SweepError, match="the list of results is empty"):
        plots.plot([])


def test_limits_are_written_as_other_quantities(volume: xr.Dataset) -> None:
    limits = {"friction": ("15%", "40 %"), "wear_power": ("1mW", 5)}
    view = View(x="friction", limits=limits, unit={"wear_power": "W"})
    figure = plots.plot(volume, at={"mass": 1}, **vars(view))
    assert figure.axes[0].get_xlim() == pytest.approx((0.15, 0.4))
    (mesh, *_) = drawn(figure)
    assert mesh.get_clim() == pytest.approx((0.001, 5))
    faults = {"1 m": "wrong dimension", "a lot": "is not a number", float("inf"): "is not a finite"}
    for wrong, why in faults.items():
        with pytest.raises(SweepError, match=f"limits of wear_power: .*{why}"):
            plots.plot(volume, at={"mass": 1}, limits={"wear_power": (0, wrong)})


def test_python_and_the_command_line_draw_stores_together(run: Run, tmp_path: Path) -> None:
    setup = ("--set", "base_acceleration={ linspace = [1, 15, 12] }", "--set", "friction=0.1")
    assert run("run", "wear_power", *setup, "-o", "a.zarr")[0] == 0
    more = ("--set", "gravity=9", "--set", "friction=0.2")
    assert run("run", "wear_power", *setup[:2], *more, "-o", "b.zarr")[0] == 0
    status, out, err = run("plot", "a.zarr", "b.zarr", "wear_power", "--unit", "wear_power=mW")
    assert (status, out, err) == (0, "a_b_wear_power.png\n", "")
    summary = json.loads(run("plot", "a.zarr", "b.zarr", "--against", "moreau", *STEP, "--json")[1])
    assert (summary["output"], list(summary["panels"])) == ("wear_power_error", ["a", "b"])
    assert summary["panels"]["b"]["points"] == 12
    path = tmp_path / "c.png"
    stores = [tmp_path / "a.zarr", tmp_path / "b.zarr"]
    both = sweep.plot(stores, "wear_power", log=["wear_power"], title="both", path=path)
    assert heading_of(both) == ("both", "")
    assert path.stat().st_size > 1000
    figure = plots.plot(stores)
    first, second = (text.replace("\N{NO-BREAK SPACE}", " ") for text in legend_of(figure)[:2])
    assert first == "a: g = 10 m/s², μ = 0.1"
    assert second == "b: g = 9 m/s², μ = 0.2"
    assert "g = " not in " ".join(heading_of(figure))  # each has another one
    assert heading_of(figure)[1].startswith("m = 1 kg, ")
    with pytest.raises(SweepError, match=r"plot takes no lim=\.\.\.; did you mean 'limits'"):
        sweep.plot(stores, lim={})
