"""What a user chooses of a picture, read from the matplotlib figure."""

from __future__ import annotations

import numpy as np
import pytest

import sweep
from sweep.analysis import plots
from sweep.analysis.view import View, symbol_text
from sweep.errors import SweepError
from sweep.shipped import configs_folder
from tests.analysis.test_plots import (
    BASE_ACCELERATION,
    FRICTION,
    asymptotic_dataset,
    contours_of,
    legend_of,
)
from tests.command import Run


@pytest.fixture(scope="module")
def surface():
    return asymptotic_dataset({"friction": FRICTION, "base_acceleration": BASE_ACCELERATION})


def mesh_of(figure):
    (mesh,) = (c for c in figure.axes[0].collections if hasattr(c, "get_coordinates"))
    return mesh


def test_the_axes_of_a_map_may_be_exchanged(surface):
    view = View(x="base_acceleration", y="friction")
    figure, before = plots.draw(surface, view=view), plots.draw(surface)
    assert figure.axes[0].get_xlabel() == before.axes[0].get_ylabel()
    assert figure.axes[0].get_yscale() == before.axes[0].get_xscale() == "log"
    drawn, transposed = (mesh_of(each).get_array() for each in (figure, before))
    np.testing.assert_array_equal(drawn, transposed.T)
    assert len(contours_of(figure.axes[0])) == len(contours_of(before.axes[0]))


def test_lines_over_a_chosen_axis_for_values_of_another(surface):
    view = View(x="base_acceleration", lines="friction", log=("wear_power",))
    figure = plots.draw(surface, view=view)
    (axes,) = figure.axes
    lines = [line for line in axes.lines if len(line.get_xdata()) == BASE_ACCELERATION.size]
    assert len(lines) == plots.MAX_LINES
    np.testing.assert_array_equal(lines[0].get_xdata(), BASE_ACCELERATION)
    np.testing.assert_array_equal(lines[0].get_ydata(), surface["wear_power"][0])
    np.testing.assert_array_equal(lines[-1].get_ydata(), surface["wear_power"][-1])
    assert legend_of(figure)[0] == "friction = 0.01"
    assert axes.get_yscale() == "log"


def test_units_scale_values_labels_and_borders(surface):
    units = {"friction": "%", "wear_power": "mW", "base_acceleration": "g_n"}
    figure, before = plots.draw(surface, view=View(units=units)), plots.draw(surface)
    axes, bar = figure.axes
    assert axes.get_xlabel().endswith("μ [%]")
    assert axes.get_ylabel().endswith("[g_n]")
    assert bar.get_ylabel().endswith("[mW]")
    np.testing.assert_allclose(axes.get_xlim(), np.multiply(before.axes[0].get_xlim(), 100))
    height = np.divide(before.axes[0].get_ylim(), 9.80665)
    np.testing.assert_allclose(axes.get_ylim(), height)
    np.testing.assert_allclose(mesh_of(figure).get_array(), 1e3 * mesh_of(before).get_array())
    borders, in_si = (contours_of(each.axes[0])[-1].get_paths()[0] for each in (figure, before))
    np.testing.assert_allclose(borders.vertices[:, 0], 100 * in_si.vertices[:, 0])


def test_only_the_axis_upwards_may_be_chosen(surface):
    figure = plots.draw(surface, view=View(y="friction"))
    assert figure.axes[0].get_ylabel().endswith("μ")


def test_names_of_classes_outside_the_limits_leave_room_for_the_map(surface):
    figure = plots.draw(surface, view=View(limits={"base_acceleration": (0.5, 0.6)}))
    figure.draw_without_rendering()  # a warning that nothing fits is an error
    assert figure.axes[0].get_position().height > 0.5


def test_limits_and_title(surface):
    limits = {"friction": (0.1, 0.5), "wear_power": (1.0, 10.0)}
    view = View(limits=limits, log=("wear_power", "base_acceleration"), title="a title")
    figure = plots.draw(surface, view=view)
    axes, bar = figure.axes
    assert axes.get_xlim() == (0.1, 0.5)
    assert axes.get_yscale() == bar.get_yscale() == "log"
    assert mesh_of(figure).get_clim() == (1.0, 10.0)
    assert axes.get_title(loc="left") == "a title"


@pytest.mark.parametrize(
    ("view", "cure"),
    [
        ({"x": "mass"}, "choose one of friction, base_acceleration"),
        ({"log": ("regime",)}, "choose one of friction, base_acceleration, wear_power"),
        ({"limits": {"frction": (0, 1)}}, "did you mean 'friction'"),
        ({"units": {"friction": "kg"}}, "cannot be shown in 'kg'"),
        ({"units": {"wear_power": "Watt"}}, "unknown unit 'Watt'"),
        ({"y": "friction", "lines": "friction"}, "one of the two"),
        ({"x": "friction", "y": "friction"}, "chosen twice"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_a_cure(surface, view, cure):
    with pytest.raises(SweepError, match=cure):
        plots.draw(surface, view=View(**view))


def test_symbols_of_tables():
    written = ("mu", "a0", "Delta_z", "K_T", "omega", "phi", "R")
    assert [symbol_text(each) for each in written] == ["μ", "a₀", "Δz", "KT", "ω", "φ", "R"]


def test_the_command_line_chooses_the_same(run: Run):
    smoke = str(configs_folder() / "smoke" / "wear_power.toml")
    run("run", smoke, "-o", "a.zarr")
    options = ("--x", "base_acceleration", "--lines", "friction", "--log", "wear_power")
    more = ("--unit", "friction=%", "--limits", "base_acceleration=1:3", "--title", "t")
    assert run("plot", "a.zarr", *options, "-o", "a.png")[::2] == (0, "")
    status, _, err = run("plot", "a.zarr", "--limits", "friction=3", "-o", "b.png")
    assert (status, "such as 0.1:0.5" in err) == (2, True)
    assert run("plot", "a.zarr", "--y", "friction", *more, "-o", "b.png")[::2] == (0, "")


def test_an_error_may_be_against_a_method_whose_controls_the_store_lacks(run: Run):
    smoke = str(configs_folder() / "smoke" / "wear_power.toml")
    run("run", smoke, "-o", "a.zarr")
    status, _, err = run("plot", "a.zarr", "--against", "moreau", "-o", "a.png")
    assert (status, "step" in err) == (2, True)
    controls = ("--set", "step=1e-3")
    status, out, _ = run("plot", "a.zarr", "--against", "moreau", *controls, "-o", "a.png")
    assert (status, "median" in out) == (0, True)
    expected = float(sweep.compare("a.zarr", "moreau", {"step": 1e-3})["wear_power_error"].max())
    assert f"worst {expected:.3g}" in out
    assert run("plot", "a.zarr", *controls)[0] == 2
