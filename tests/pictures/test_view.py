"""What a user chooses of a picture, read from the matplotlib figure."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.errors import SweepError
from sweep.model.shipped import configs_folder
from sweep.pictures import map_panels, plots
from sweep.pictures.figures import figure_of
from sweep.pictures.labels import (
    point_text,
    quantities,
    quantity,
    readable,
    symbol_text,
    title_of,
)
from sweep.pictures.panels import Panel, PanelAxis, Regions
from sweep.pictures.scales import without_rounding
from sweep.pictures.slices import MAX_LINES
from sweep.pictures.view import View
from sweep.text.units import factor, printed
from tests.command import Run
from tests.file.test_sample import PARAMETERS
from tests.pictures.test_plots import (
    BASE_ACCELERATION,
    BORDERS,
    FRICTION,
    SPHERE,
    asymptotic_dataset,
    computed_borders,
    heading_of,
    legend_of,
    mesh_of,
    theory_of,
)


@pytest.fixture(scope="module")
def surface():
    return asymptotic_dataset({"friction": FRICTION, "base_acceleration": BASE_ACCELERATION})


def test_the_axes_of_a_map_may_be_exchanged(surface):
    view = View(x="base_acceleration", y="friction")
    figure, before = plots.plot(surface, **vars(view)), plots.plot(surface)
    assert figure.axes[0].get_xlabel() == before.axes[0].get_ylabel()
    assert figure.axes[0].get_yscale() == before.axes[0].get_xscale() == "log"
    drawn, transposed = (mesh_of(each).get_array() for each in (figure, before))
    np.testing.assert_array_equal(drawn, transposed.T)
    edges, exchanged = (computed_borders(each.axes[0]) for each in (before, figure))
    assert {*map(tuple, exchanged.mean(axis=1))} == {*map(tuple, edges.mean(axis=1)[:, ::-1])}


def test_lines_over_a_chosen_axis_for_values_of_another(surface):
    view = View(x="base_acceleration", hue="friction", log=("wear_power",))
    figure = plots.plot(surface, **vars(view))
    (axes,) = figure.axes
    lines = [line for line in axes.lines if len(line.get_xdata()) == BASE_ACCELERATION.size]
    assert len(lines) == MAX_LINES
    np.testing.assert_array_equal(lines[0].get_xdata(), BASE_ACCELERATION)
    np.testing.assert_array_equal(lines[0].get_ydata(), surface["wear_power"][0])
    np.testing.assert_array_equal(lines[-1].get_ydata(), surface["wear_power"][-1])
    assert legend_of(figure)[0] == "friction μ = 0.01"
    assert f"8 of {FRICTION.size} values of friction drawn" in legend_of(figure)
    assert axes.get_yscale() == "log"


def test_units_scale_values_labels_and_borders(surface):
    units = {"friction": "%", "wear_power": "mW", "base_acceleration": "g_n"}
    figure, before = plots.plot(surface, unit=units), plots.plot(surface)
    axes, bar = figure.axes
    assert axes.get_xlabel().endswith("μ [%]")
    assert axes.get_ylabel().endswith("[g_n]")
    assert bar.get_ylabel().endswith("[mW]")
    np.testing.assert_allclose(axes.get_xlim(), np.multiply(before.axes[0].get_xlim(), 100))
    height = np.divide(before.axes[0].get_ylim(), 9.80665)
    np.testing.assert_allclose(axes.get_ylim(), height)
    np.testing.assert_allclose(mesh_of(figure).get_array(), 1e3 * mesh_of(before).get_array())
    for borders_of in (computed_borders, lambda axes: theory_of(axes)[BORDERS[0]]):
        borders, in_si = (borders_of(each.axes[0]) for each in (figure, before))
        np.testing.assert_allclose(borders[..., 0], 100 * in_si[..., 0])


def test_only_the_axis_upwards_may_be_chosen(surface):
    figure = plots.plot(surface, y="friction")
    assert figure.axes[0].get_ylabel().endswith("μ")


def test_names_of_classes_outside_the_limits_leave_room_for_the_map(surface):
    figure = plots.plot(surface, limits={"base_acceleration": (0.5, 0.6)})
    figure.draw_without_rendering()  # a warning that nothing fits is an error
    assert figure.axes[0].get_position().height > 0.5


def test_limits_and_title(surface):
    limits = {"friction": (0.1, 0.5), "wear_power": (1.0, 10.0)}
    view = View(limits=limits, log=("wear_power", "base_acceleration"), title="a title")
    figure = plots.plot(surface, **vars(view))
    axes, bar = figure.axes
    assert axes.get_xlim() == (0.1, 0.5)
    assert axes.get_yscale() == bar.get_yscale() == "log"
    assert mesh_of(figure).get_clim() == (1.0, 10.0)
    assert heading_of(figure) == ("a title", "")


@pytest.mark.parametrize(
    ("view", "cure"),
    [
        ({"x": "mass"}, "choose one of friction, base_acceleration"),
        ({"log": ("regime",)}, "choose one of friction, base_acceleration, wear_power"),
        ({"limits": {"frction": (0, 1)}}, "did you mean 'friction'"),
        ({"unit": {"friction": "kg"}}, "cannot be shown in 'kg'"),
        ({"unit": {"wear_power": "Watt"}}, "unknown unit 'Watt'"),
        ({"limits": {"friction": (0, 1)}}, "is not above 0, which a logarithmic scale"),
        (
            {"limits": {"wear_power": (0, 1)}, "log": ("wear_power",)},
            "is not above 0, which a logarithmic scale",
        ),
        ({"y": "friction", "hue": "friction"}, "one of the two"),
        ({"x": "friction", "y": "friction"}, "chosen twice"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_a_cure(surface, view, cure):
    with pytest.raises(SweepError, match=cure):
        plots.plot(surface, **view)


def test_symbols_of_tables():
    written = ("mu", "a0", "Delta_z", "K_T", "t_0", "omega", "phi", "R")
    expected = ["μ", "a₀", "Δz", r"$K_\mathrm{T}$", "t₀", "ω", "φ", "R"]
    assert [symbol_text(each) for each in written] == expected


def test_elements_that_are_equal_are_written_once() -> None:
    """Also where the symbol is typeset: what was left of it could not be."""
    texts = (r"$F_\mathrm{s[0]}$", r"$F_\mathrm{s[1]}$", "v[0]", "v[1]")
    names = ("force[0]", "force[1]", "v[0]", "v[1]")
    values = (2.0, 2.0, 1.0, 3.0)
    coordinates = {
        name: xr.Variable((), value, {"symbol": text, "units": "1"})
        for name, value, text in zip(names, values, texts, strict=True)
    }
    written = point_text(xr.Dataset(coords=coordinates)).replace("\N{NO-BREAK SPACE}", " ")
    assert written == r"$F_\mathrm{s}$ = 2, v[0] = 1, v[1] = 3"


def test_a_parameter_without_a_symbol_is_named_once() -> None:
    model = {
        "format": 1,
        "name": "decay",
        "parameters": {"decay_rate": {"unit": "1/s"}, "omega_max": {"unit": "1/s"}},
        "states": {"x": {"initial": "1"}},
        "derivatives": {"x": "-(decay_rate + omega_max)*x"},
        "outputs": {"final": {"final": "x"}},
    }
    axes = {"decay_rate": {"values": [1, 2]}, "omega_max": {"values": [1, 2]}}
    document = {"model": model, "parameters": {"window_end": 1}, "axes": axes}
    found = sweep.run(document, store=None, progress=False)
    drawn_on = plots.plot(found, x="decay_rate", hue="omega_max").axes[0]
    assert drawn_on.get_xlabel() == "decay rate [1/s]"
    drawn_on = plots.plot(found, x="omega_max", hue="decay_rate").axes[0]
    assert drawn_on.get_xlabel() == r"omega max $ω_\mathrm{max}$ [1/s]"


def test_the_command_line_chooses_the_same(run: Run):
    smoke = str(configs_folder() / "smoke" / "wear_power.toml")
    run("run", smoke, "-o", "a.zarr")
    options = ("--x", "base_acceleration", "--hue", "friction", "--log", "wear_power")
    more = ("--unit", "friction=%", "--limits", "base_acceleration=1:3", "--title", "t")
    assert run("plot", "a.zarr", *options, "-o", "a.png")[::2] == (0, "")
    for old, new in (("lines", "hue"), ("facet", "col")):
        status, _, err = run("plot", "a.zarr", f"--{old}", "friction")
        assert (status, f"there is no --{old}: write --{new} friction" in err) == (2, True)
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
    status, _, err = run("plot", "a.zarr", "--at", "friction=1_0", "-o", "b.png")
    assert (status, "friction = 10 is outside the axis" in err) == (2, True)


def named(codes, names, limits=((0, 1), (0, 1)), crossed_by=()):
    """The place, in shares of the panel, and the rotation of each text on a map of classes."""
    x, y = (np.linspace(0, 1, size + 1) for size in codes.shape)
    regions = Regions(x, y, codes, dict(enumerate(names)), crossed_by)
    panel = Panel(*(PanelAxis(limits=ends) for ends in limits), [], regions=regions)
    figure = figure_of([panel], ("", ""))
    texts = {text.get_text(): text for text in figure.axes[0].texts}
    places = {name: (*text.get_position(), text.get_rotation()) for name, text in texts.items()}
    return places, legend_of(figure)


def test_a_name_is_written_where_its_region_has_most_room():
    codes = np.full((120, 120), np.nan)
    codes[10:70, 20:40] = 0  # a wide band, beside a high one
    codes[80:90, :] = 1
    places, _ = named(codes, ["wide", "high_band"])
    assert places["wide"] == pytest.approx((40 / 120, 30 / 120, 0), abs=0.02)
    assert places["high-band"] == pytest.approx((85 / 120, 0.5, 90), abs=0.02)


def test_a_name_keeps_clear_of_lines():
    line = np.column_stack([np.linspace(0, 1, 400), np.full(400, 0.5)])
    places, _ = named(np.zeros((120, 120)), ["all"], crossed_by=[line])
    assert abs(places["all"][1] - 0.5) > 0.04


def test_regions_beyond_the_limits_have_no_room():
    codes = np.zeros((4, 4))
    codes[2:] = 1
    places, legend = named(codes, ["left", "right"], limits=((0, 0.4), (0, 2)))
    assert list(places) == ["left"]
    assert places["left"][1] == pytest.approx(0.25, abs=0.02)  # of the map, whose end is at 0.5
    assert not legend


@pytest.mark.parametrize(
    ("values", "unit", "shown"),
    [
        ([5e-7, 2e-6], "m", ("µm", 1e6)),
        ([0.5, 20.0], "m", ("m", 1.0)),
        ([2.1e11], "Pa", ("GPa", 1e-9)),
        ([1e-3, 2e-3], "kg", ("g", 1e3)),
        ([1e-5, 3e-5], "N s/m", ("µN s/m", 1e6)),
        ([1e-5, 3e-5], "m^3", ("m^3", 1.0)),
        ([1e-5, 3e-5], "1", ("1", 1.0)),
        ([1e6], "s", ("s", 1.0)),
        ([1e-9, 1e-3], "J", ("J", 1.0)),  # over decades, ticks are powers of ten
        ([0.0, np.nan], "J", ("J", 1.0)),
        ([-3e-3, 1e-4, np.inf], "W", ("mW", 1e3)),
    ],
)
def test_units_are_readable(values, unit, shown):
    readable_unit, factor = readable(np.array(values), unit)
    assert (readable_unit, factor) == (shown[0], pytest.approx(shown[1], rel=1e-15))


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        ("1", ""), ("um", "µm"), ("kg m^2", "kg·m²"), ("N m s/rad", "N·m·s/rad"), ("m^-2", "m⁻²"),
        ("kg*m**2", "kg·m²"), ("uN s/m", "µN·s/m"), ("turn/s", "turn/s"), ("1/um", "1/µm"),
    ],
)  # fmt: skip
def test_units_are_printed_as_such_and_can_be_read_again(unit, text):
    assert printed(unit) == text
    assert not text or "⁻" in text or factor(text, unit) == 1


@pytest.mark.parametrize("unit", ["um", "µm"])
def test_a_chosen_unit_is_printed_as_such(contact, unit):
    view = View(unit={"tangential_amplitude": unit})
    axes = plots.plot(contact, "dissipated_energy", at={"friction": 0.5}, **vars(view)).axes[0]
    assert axes.get_xlabel() == "tangential amplitude Δx [µm]"


def test_values_of_one_axis_share_a_unit():
    gaps = xr.DataArray([0.0, 0.006, 0.012], dims="gap", attrs={"units": "m"})
    assert quantities(gaps) == ["0 m", "0.006 m", "0.012 m"]
    assert quantities((gaps / 1000).assign_attrs(units="m")) == ["0 µm", "6 µm", "12 µm"]
    assert quantity(gaps[1]) == "6 mm"


def test_a_line_in_small_units_is_drawn_in_readable_ones(contact):
    figure = plots.plot(contact, "dissipated_energy", at={"friction": 0.5})
    axes = figure.axes[0]
    assert axes.get_xlabel() == "tangential amplitude Δx [µm]"
    assert axes.get_ylabel() == "energy dissipated per cycle [µJ]"
    (line,) = axes.get_lines()
    energies = contact["dissipated_energy"].sel(friction=0.5)
    np.testing.assert_allclose(line.get_xdata(), 1e6 * contact["tangential_amplitude"], rtol=1e-15)
    np.testing.assert_allclose(line.get_ydata(), 1e6 * energies, rtol=1e-15)
    assert "E = 210 GPa, ν = 0.3, d₀ = 1 µm, Δz = 500 nm" in heading_of(figure)[1]


@pytest.fixture(scope="module")
def contact():
    axes = {
        "tangential_amplitude": {"linspace": ["0.1 um", "1 um", 12]},
        "friction": {"values": [0.2, 0.5]},
    }
    parameters = {**SPHERE, "normal_amplitude": "0.5 um"}
    return sweep.run({"model": "mdr_contact", "parameters": parameters, "axes": axes}, store=None)


def test_definitions_stand_in_labels():
    parameters = {"phase": 1.5, "delta": 0.01}
    axes = {"beta": {"geomspace": [20, 90, 12]}}
    document = {"model": "mdr_contact", "parameters": parameters, "axes": axes}
    figure = plots.plot(sweep.run(document, store=None))
    axes = figure.axes[0]
    assert axes.get_xlabel() == "β = μκΔz/Δx"
    assert "(16/3) G* a₀ δ/n Δx²" in axes.get_ylabel().replace("\n", " ")
    figure.draw_without_rendering()
    ticks = [label.get_text() for label in axes.get_xticklabels(which="both") if label.get_text()]
    assert "60" in ticks
    assert not [text for text in ticks if "10^" in text]  # 6×10¹ before


def test_rounding_is_drawn_as_a_constant():
    """A modulus of 1 + 1e-8 at some energies, whose error is that of rounding."""
    dataset = sweep.run(configs_folder() / "sdnd122.toml", store=None)
    axes = plots.plot(dataset, "floquet_modulus").axes[0]
    low, high = axes.get_ylim()
    assert low == pytest.approx(0.95, abs=1e-6)
    assert high == pytest.approx(1.05, abs=1e-6)
    assert without_rounding(np.array([1.0, 1.001])) == (1.0, 1.001)


def test_outliers_do_not_set_the_scale_of_a_sample(sample):
    figure = plots.plot(sample)
    dots = figure.axes[0].collections[0]
    low, high = dots.get_clim()
    usual = sample["wear_power"].values[5:]
    assert (low, high) == pytest.approx((usual.min(), usual.max()), rel=0.02)
    assert figure.axes[1].get_ylabel() == "mean of N|v| over the window [W]"
    assert dots.get_sizes()[0] >= 10  # about 4 points wide; 1 before
    assert f"{map_panels.MAX_DOTS:,} of 20,000 points drawn" in legend_of(figure)


@pytest.fixture(scope="module")
def sample():
    document = {
        "model": "friction_oscillator",
        "parameters": PARAMETERS,
        "sample": {
            "method": "random",
            "points": 20_000,
            "seed": 1,
            "friction": {"uniform": [0.1, 0.2]},
            "base_acceleration": {"uniform": [10, 15]},
        },
    }
    dataset = sweep.run(document, store=None)
    power = dataset["wear_power"].values.copy()
    power[:5] = 1e3
    return dataset.assign(wear_power=dataset["wear_power"].copy(data=power))


@pytest.mark.parametrize(
    ("system", "title"),
    [
        ("mass on a spring", "Path of a mass on a spring"),
        ("oscillator with a stop", "Path of an oscillator with a stop"),
        ("two blocks on a belt", "Path of two blocks on a belt"),
        ("gears with backlash", "Path of gears with backlash"),
        ("chain of blocks", "Path of a chain of blocks"),
    ],
)
def test_titles_have_the_article_of_their_noun(system: str, title: str) -> None:
    assert title_of(xr.Dataset(attrs={"title": system}), "path") == title
