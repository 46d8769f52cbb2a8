"""Pictures of wear: their contents, read from the matplotlib figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.errors import SweepError
from sweep.model.table import Status
from sweep.pictures.wear_pictures import SAMPLE_LEVELS
from tests.engine.test_refinement import document
from tests.pictures.test_plots import heading_of, legend_of

YEARS = [1.0, 2.0, 5.0, 10.0]
SCAR: dict[str, Any] = {
    "law": "archard", "years": YEARS, "geometry": "tube_flat", "radius": 0.011, "length": 0.03,
    "limit": "0.4 mm",
}  # fmt: skip


def results(shape: tuple[int, ...], dims: tuple[str, ...], powers: Any = None) -> xr.Dataset:
    powers = np.linspace(0.001, 0.02, int(np.prod(shape))) if powers is None else powers
    variables = {
        "wear_power": (dims, np.reshape(powers, shape), {"units": "W"}),
        "status": (dims, np.zeros(shape, np.uint8)),
    }
    along = {name: np.arange(n) / 10 for name, n in zip(dims, shape, strict=True)}
    coordinates = {name: values for name, values in along.items() if name != "point"}
    attributes = {"model": "by_hand", "title": "by hand", "recipe": "{}"}
    return xr.Dataset(variables, coordinates, attributes)


def test_depth_over_years_for_values_of_the_longest_axis() -> None:
    worn = sweep.wear(results((3, 20), ("friction", "speed")), **SCAR, coefficient=1e-15)
    figure = sweep.plot(worn, at={"friction": 0.17})
    (axes,) = figure.axes
    assert axes.get_ylabel() == "depth of the scar [µm]"
    assert axes.get_xlabel() == "time in service [years]"
    assert heading_of(figure)[0] == "Depth of the scar, by hand at friction = 0.2"
    assert sum(label.startswith("speed = ") for label in legend_of(figure)) == 8
    assert legend_of(figure)[-2:] == ["limit 400 µm", "8 of 20 values of speed drawn"]
    depths = worn.wear_depth.isel(friction=2, speed=0).values * 1e6
    curve, dots = axes.lines[0], axes.lines[1]
    np.testing.assert_array_equal(dots.get_ydata(), depths)
    assert curve.get_xydata()[0].tolist() == [0, 0]
    at_years = np.interp(YEARS, *np.transpose(curve.get_xydata()))
    np.testing.assert_allclose(at_years, depths, rtol=1e-3)


def test_quantiles_are_bands_and_a_worn_tube_has_a_cross() -> None:
    spread = {"coefficient": "lognormal 1e-13 0.5 1/Pa", "quantiles": [0.05, 0.25, 0.5, 0.75, 0.95]}
    worn = sweep.wear(results((2,), ("friction",), [0.01, 0.5]), **SCAR, **spread)
    figure = sweep.plot(worn)
    (axes,) = figure.axes
    assert len(axes.collections) == 4  # two bands for each of two values
    assert legend_of(figure)[-2:] == ["quantiles 0.05 to 0.95", "quantiles 0.25 to 0.75"]
    assert [line.get_marker() for line in axes.lines].count("x") == 1
    assert legend_of(figure)[-3] == "last time before it is worn through"
    top = max(path.vertices[:, 1].max() for band in axes.collections for path in band.get_paths())
    assert top == pytest.approx(22)  # mm: the whole tube, once the upper quantile is through


def test_a_line_that_is_worn_through_before_the_first_year_says_so() -> None:
    worn = sweep.wear(results((2,), ("friction",), [0.01, 50.0]), **SCAR, coefficient=1e-13)
    drawn = legend_of(sweep.plot(worn))
    assert drawn[:2] == ["friction = 0", f"friction = 0.1 (worn through by year {YEARS[0]:g})"]
    assert "last time before it is worn through" not in drawn


def test_a_sample_is_drawn_by_its_quantiles() -> None:
    powers = np.random.default_rng(1).uniform(0.001, 0.03, 400)
    worn = sweep.wear(results((400,), ("point",), powers), **SCAR, coefficient=1e-14)
    (axes,) = sweep.plot(worn).axes
    depths = np.sort(worn.wear_depth.values, axis=0)
    expected = depths[int(np.ceil(0.5 * 400)) - 1] * 1e6  # µm
    assert SAMPLE_LEVELS[2] == 0.5
    np.testing.assert_allclose(axes.lines[1].get_ydata(), expected, rtol=1e-14)
    assert len(axes.collections) == 2


def test_lines_of_points_say_where_they_are() -> None:
    points = results((3,), ("point",)).assign_coords(friction=("point", [0.1, 0.2, 0.3]))
    passes = '{"axes": [{"recipe": {"refine": {}, "pass": 1}}]}'
    worn = sweep.wear(points.assign_attrs(recipe=passes), **SCAR, coefficient=1e-15)
    drawn = legend_of(sweep.plot(worn))[:3]
    assert drawn == ["friction = 0.1", "friction = 0.2", "friction = 0.3"]
    title, _ = heading_of(sweep.plot(worn, at={"point": 1}))
    assert title == "Depth of the scar, by hand at point = 1 (friction = 0.2)"


def test_a_legend_of_long_labels_is_within_the_picture() -> None:
    named = {"coefficient_of_friction": ("point", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])}
    points = results((6,), ("point",)).assign_coords(named)
    points = points.assign_coords(base_acceleration_of_plane=points["coefficient_of_friction"] / 7)
    passes = '{"axes": [{"recipe": {"refine": {}, "pass": 1}}]}'
    figure = sweep.plot(sweep.wear(points.assign_attrs(recipe=passes), **SCAR, coefficient=1e-15))
    figure.draw_without_rendering()
    assert figure.legends[0].get_window_extent().x0 >= 0


def test_years_to_a_limit_are_a_map_with_contours() -> None:
    powers = np.linspace(0, 0.02, 400)  # the first is never worn
    worn = sweep.wear(results((20, 20), ("friction", "speed"), powers), **SCAR, coefficient=1e-14)
    figure = sweep.plot(worn, "time_to_limit")
    axes, bar = figure.axes
    assert bar.get_ylabel() == "years to a depth of 0.4 mm (up to 100)"
    mesh = axes.collections[0]
    years = worn.time_to_limit.values.T / 31_536_000
    shown = mesh.get_array().reshape(years.shape)
    finite = np.isfinite(years)
    np.testing.assert_allclose(shown[finite], np.minimum(years[finite], 100), rtol=1e-14)
    assert "time to limit = inf: 1 point" in "".join(legend_of(figure))
    contoured = {text.get_text() for text in axes.texts}
    assert {"10", "20", "50"} <= contoured


def test_infinite_years_are_hatched_and_counted_on_refined_maps_too() -> None:
    """Of the points that are computed, not of the grid that is drawn."""
    worn = sweep.wear(sweep.run(document(), store=None), **SCAR, coefficient=1e-16)
    n_infinite = int(np.isinf(worn.time_to_limit).sum())
    assert 0 < n_infinite < worn.time_to_limit.size
    figure = sweep.plot(worn, "time_to_limit")
    assert f"time to limit = inf: {n_infinite:,} points" in legend_of(figure)
    drawn = np.ma.masked_invalid(figure.axes[0].collections[0].get_array())
    assert drawn.mask.sum() > 0


def test_the_quantile_of_a_map_is_chosen() -> None:
    spread = {"coefficient": "lognormal 1e-14 0.5 1/Pa"}
    worn = sweep.wear(results((20, 20), ("friction", "speed")), **SCAR, **spread)
    figure = sweep.plot(worn, "time_to_limit_of_quantile", at={"quantile": 0.9})
    assert "at quantile = 0.95" in heading_of(figure)[0]


def test_what_cannot_be_drawn() -> None:
    worn = sweep.wear(results((3, 4), ("friction", "speed")), **SCAR, coefficient=1e-14)
    with pytest.raises(SweepError, match=r"no output 'wear_depht'.*did you mean 'wear_depth'"):
        sweep.plot(worn, "wear_depht")
    with pytest.raises(SweepError, match=r"no axis 'frictoin'.*did you mean 'friction'"):
        sweep.plot(worn, at={"frictoin": 1})
    with pytest.raises(SweepError, match=r"friction = 0.5 is outside the axis.* from 0 to 0.2"):
        sweep.plot(worn, at={"friction": 0.5})
    assert sweep.plot(worn, "wear_volume").axes[0].get_ylabel() == "worn volume [mm³]"
    assert sweep.plot(worn, "wear_state", at={"time": 31_536_000.0}).axes
    spread = {"coefficient": "lognormal 1e-14 0.5 1/Pa"}
    several = sweep.wear(results((6,), ("point",)), **SCAR, **spread)
    with pytest.raises(SweepError, match="no point has a wear, or each has several"):
        sweep.plot(several)


def test_years_to_a_limit_over_one_axis_have_no_classes_of_another_shape(tmp_path: Path) -> None:
    """The state of the tube has the dimension `time`, which these years do not have."""
    worn = sweep.wear(results((20,), ("friction",)), **SCAR, coefficient=1e-13)
    assert "time" in worn.wear_state.dims
    figure = sweep.plot(worn, "time_to_limit", path=tmp_path / "years.png")
    assert figure.axes[0].get_ylabel() == "years to a depth of 0.4 mm"
    assert (tmp_path / "years.png").stat().st_size > 1000


def test_lines_of_long_times_leave_the_picture() -> None:
    """In place of markers at 100 years, where no point is."""
    powers = np.array([[0.0, 2e-4, 2e-3, 2e-2], [0.0, 1e-4, 1e-3, 1e-2]])
    worn = sweep.wear(results((2, 4), ("friction", "speed"), powers), **SCAR, coefficient=1e-13)
    years = worn.time_to_limit.values / 31_536_000
    assert np.isinf(years[:, 0]).all()
    assert years[1, 1] > 100 > years[1, 3]
    figure = sweep.plot(worn, "time_to_limit", x="speed", hue="friction")
    (axes,) = figure.axes
    for line, expected in zip(axes.lines, years, strict=True):
        known = np.isfinite(expected)
        np.testing.assert_allclose(line.get_ydata()[known], expected[known], rtol=1e-14)
    assert axes.get_ylim()[1] == 100
    note = "time to limit = inf: 2 points"
    (box,) = (each for each in figure.legends[0].get_patches() if each.get_label() == note)
    assert not box.get_hatch()


def test_points_without_a_value_have_no_line_and_are_counted() -> None:
    powers = results((12,), ("friction",))
    powers["status"][[0, 3, 4, 11]] = [2, 1, 2, 2]
    worn = sweep.wear(powers, **SCAR, coefficient=1e-15)
    figure = sweep.plot(worn)
    names = legend_of(figure)
    drawn = [float(name.split(" = ")[1]) for name in names if name.startswith("friction = ")]
    assert len(drawn) == 8
    assert not {0.0, 0.3, 0.4, 1.1} & set(drawn)
    assert not any(name.endswith("values of friction drawn") for name in names)
    (count,) = (name for name in names if name.startswith("no value: "))
    statuses = {Status(1).name.replace("_", " "): 1, Status(2).name.replace("_", " "): 3}
    assert all(f"{n} {status}" in count for status, n in statuses.items())
    assert all(np.isfinite(line.get_ydata()).all() for line in figure.axes[0].lines)
    with pytest.raises(SweepError, match=r"no point has a wear \(1 "):
        sweep.plot(worn, at={"friction": 0.3})


def test_points_of_a_sample_without_a_value_are_counted() -> None:
    powers = results((400,), ("point",))
    powers["status"][:7] = 2
    names = legend_of(sweep.plot(sweep.wear(powers, **SCAR, coefficient=1e-14)))
    assert f"no value: 7 {Status(2).name.replace('_', ' ')}" in names


def test_wear_over_years_is_drawn_as_chosen() -> None:
    """With axes of lines and panels, units, limits and scales, like other pictures."""
    worn = sweep.wear(results((3, 20), ("friction", "speed")), **SCAR, coefficient=1e-15)
    lines = sweep.plot(worn, hue="friction", unit={"wear_depth": "mm"}, title="Worn")
    (axes,) = lines.axes
    assert legend_of(lines)[:3] == ["friction = 0", "friction = 0.1", "friction = 0.2"]
    assert (axes.get_ylabel(), heading_of(lines)) == ("depth of the scar [mm]", ("Worn", ""))
    panels = sweep.plot(worn, col="friction", limits={"wear_depth": (0, "1 mm")})
    titles = [axes.get_title(loc="left") for axes in panels.axes if axes.get_visible()]
    assert titles == ["friction = 0", "friction = 0.1", "friction = 0.2"]
    depths = worn.wear_depth.isel(friction=1, speed=0).values * 1e6
    np.testing.assert_allclose(panels.axes[1].lines[1].get_ydata(), depths)
    assert panels.axes[0].get_ylim() == pytest.approx((0, 1000))
    assert sweep.plot(worn, log=["wear_depth"]).axes[0].get_yscale() == "log"
    with pytest.raises(SweepError, match="`limits` names time, which is not drawn"):
        sweep.plot(worn, limits={"time": (0, 1)})


SUPPORTED: dict[str, Any] = {
    "format": 1,
    "name": "supported",
    "indices": {"support": ["lower", "upper"]},
    "parameters": {"load": {"over": "support", "unit": "W"}},
    "states": {"x": {"unit": "s", "initial": "0"}},
    "derivatives": {"x": "1"},
    "outputs": {"wear_power": {"over": "support", "final": "load", "unit": "W"}},
}


def test_quantiles_of_a_sweep_with_wear_are_bands_by_support() -> None:
    """All supports in one panel, or each in its own, on a scale that holds every band."""
    uncertain = {
        "coefficient": {"lognormal": [1e-15, 0.5]},
        "load[lower]": {"uniform": [0.01, 0.1]},
    }
    statistics = ["quantile 0.05", "quantile 0.5", "quantile 0.95", "share above 0.4 mm"]
    ds = sweep.run(
        {
            "model": SUPPORTED,
            "parameters": {"window_end": 1.0, "load[upper]": 0.2},
            "sample": {"method": "sobol", "points": 64, "seed": 1, **uncertain},
            "wear": SCAR,
            "reduce": {"wear_power": ["mean"], "wear_depth": statistics},
        },
        store=None,
        progress=False,
    )
    depths = 1e6 * ds.wear_depth_quantile  # support, time, quantile
    figure = sweep.plot(ds)
    (axes,) = figure.axes
    assert legend_of(figure) == [
        "support = lower", "support = upper", "limit 400 µm", "quantiles 0.05 to 0.95",
    ]  # fmt: skip
    for band, dots, own in zip(axes.collections, axes.lines[1::2], depths.values, strict=False):
        np.testing.assert_allclose(dots.get_ydata(), own[:, 1])
        edges = band.get_paths()[0].vertices
        np.testing.assert_allclose(edges[edges[:, 0] == YEARS[-1]][:, 1].max(), own[-1, 2])
    panels = sweep.plot(ds, col="support", unit={"wear_depth_quantile": "µm"}).axes
    assert [axes.get_title(loc="left") for axes in panels] == [
        "support = lower", "support = upper",
    ]  # fmt: skip
    assert all(axes.get_ylim()[1] > float(depths.max()) for axes in panels)
    assert all(axes.get_ylim()[0] == 0 for axes in panels)
    shares = sweep.plot(ds, "wear_depth_share_above", at={"years": 10})
    assert [text.get_text() for text in shares.axes[0].get_xticklabels()] == ["lower", "upper"]
