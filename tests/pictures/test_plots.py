"""Pictures of sweeps: their contents, read from the matplotlib figure."""

from __future__ import annotations

import inspect
import tomllib

import numpy as np
import pytest
import xarray as xr
from cycler import cycler
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch

import sweep
from sweep.errors import SweepError
from sweep.model.shipped import configs_folder, shipped_configs
from sweep.model.table import MISSING_FLAG, Status
from sweep.model.tables import models
from sweep.model.tables.friction_oscillator import EXACT, MODEL, OUTPUTS, WINDOW
from sweep.pictures import cuts, plots
from sweep.pictures.colours import LINES
from sweep.pictures.comparison import compare_slice
from sweep.pictures.figures import WIDTH
from sweep.pictures.plots import draw_slices
from sweep.pictures.scales import edges, leaves_zeros_apart, scale, spans_decades
from sweep.pictures.view import View
from sweep.request.sweeps import Axis, Sweep
from sweep.store import Arrays
from sweep.theory import friction_oscillator as theory
from sweep.theory.mdr_contact import slip_depth

CONSTANTS = {
    "mass": 1.0, "gravity": 10.0, "friction": 0.1, "stiffness": 0.0, "damping": 0.0,
    "base_acceleration": 15.0, "angular_frequency": 2 * np.pi, "vertical_acceleration": 0.0,
    "phase": 0.0, "window_start": 4.0, "window_end": 12.0,
}  # fmt: skip
FRICTION = np.geomspace(0.01, 1.0, 60)
BASE_ACCELERATION = np.linspace(0.5, 15.0, 80)
MAP = {"friction": FRICTION, "base_acceleration": BASE_ACCELERATION}
BORDERS = (
    "border of stick, μg/a₀ = 1",
    "border of slip without rest, μg/a₀ = 2/√(π²+4)",
)
DRAWN_OUTPUTS = tuple(output for output in OUTPUTS if output.name in ("wear_power", "regime"))


def asymptotic_dataset(axes, statuses=Status.ok, **constants):
    """A Dataset shaped as by a store, with the outputs of the steady motion."""
    columns = {name: np.asarray(values, dtype=float) for name, values in axes.items()}
    fixed = {name: v for name, v in (CONSTANTS | constants).items() if name not in columns}
    requested = Sweep(
        model=MODEL, method=EXACT, parameter_set=WINDOW, constants=fixed, outputs=DRAWN_OUTPUTS,
        axes=tuple(Axis(n, {n: v}, {"values": v.tolist()}) for n, v in columns.items()),
    )  # fmt: skip
    results = Arrays(requested)
    grid = dict(zip(columns, np.meshgrid(*columns.values(), indexing="ij"), strict=True))
    values = {name: np.broadcast_to(grid.get(name, fixed.get(name)), requested.grid.shape)
              for name in CONSTANTS}  # fmt: skip
    power = theory.asymptotic_wear_power(
        *(values[name] for name in
          ("mass", "gravity", "friction", "base_acceleration", "angular_frequency"))
    )  # fmt: skip
    regime = theory.regime(values["friction"], values["gravity"], values["base_acceleration"])
    status = np.broadcast_to(statuses, requested.grid.shape)
    ok = status == Status.ok
    for chunk in results.pending():
        arrays = {
            "wear_power": np.where(ok, power, np.nan),
            "regime": np.where(ok, regime, MISSING_FLAG),
            "status": status,
        }
        results.write(chunk, {name: a[chunk.slices].ravel() for name, a in arrays.items()})
    return results.dataset()


@pytest.fixture(scope="module")
def surface():
    return asymptotic_dataset(MAP)


@pytest.fixture(scope="module")
def flawed():
    """Six points have diverged, and one has failed."""
    statuses = np.zeros((60, 80), dtype=np.uint8)
    statuses[10:12, 70:73] = Status.diverged
    statuses[20, 75] = Status.failed
    return asymptotic_dataset(MAP, statuses)


def figure_of_slice(shown):
    """The figure of a slice."""
    return draw_slices({"": shown})


def legend_of(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def heading_of(figure):
    """The title, and the line below it, each without line breaks."""
    title = " ".join(figure.get_suptitle().split())
    return title, " ".join(" ".join(text.get_text() for text in figure.artists).split())


def mesh_of(figure):
    (mesh,) = (c for c in figure.axes[0].collections if hasattr(c, "get_coordinates"))
    return mesh


def theory_of(axes):
    """The vertices of the lines of theory, by their label without "theory: "; NaN between lines."""
    drawn = {line.get_label(): line.get_xydata() for line in axes.get_lines()}
    of_theory = {label: drawn[label] for label in drawn if label.startswith("theory: ")}
    return {label.removeprefix("theory: "): line for label, line in of_theory.items()}


def computed_borders(axes):
    """The ends of the edges between cells of different classes, (n_edges, 2, 2)."""
    ends = [patch.get_path().vertices for patch in axes.patches if isinstance(patch, PathPatch)]
    return np.concatenate(ends).reshape(-1, 2, 2)


def within(figure):
    """Whether each axis label lies completely within the figure, by label."""
    figure.draw_without_rendering()
    page = figure.bbox
    return {
        label.get_text(): page.x0 <= box.x0 and box.x1 <= page.x1
        and page.y0 <= box.y0 and box.y1 <= page.y1
        for axes in figure.axes
        for label in (axes.xaxis.label, axes.yaxis.label)
        for box in [label.get_window_extent()]
        if label.get_text()
    }  # fmt: skip


def one_of_each_model() -> list[str]:
    """A shipped sweep of each model that has a table of its own."""
    model_of = {
        name: tomllib.loads((configs_folder() / "smoke" / f"{name}.toml").read_text())["model"]
        for name in shipped_configs()
    }
    names = {model: name for name, model in model_of.items()}
    return [names[model] for model in models()]


@pytest.mark.parametrize(
    "name",
    [
        name if name in one_of_each_model() else pytest.param(name, marks=pytest.mark.broad)
        for name in shipped_configs()
    ],
)
def test_labels_fit_on_the_figure(name):
    """Draw the output with the longest name, or its error unless the method is the first."""
    dataset = sweep.run(configs_folder() / "smoke" / f"{name}.toml", store=None)
    outputs = [output for output in dataset.data_vars if output != "status"]
    longest = max(outputs, key=lambda output: len(dataset[output].attrs["long_name"]))
    shown = cuts.cut(dataset, longest, {})
    model = models().get(dataset.attrs["model"])
    if model is not None and dataset.attrs["method"] != model.methods[0].name:
        shown = compare_slice(shown, model.methods[0].name)
    text_fits = within(figure_of_slice(shown))
    assert len(text_fits) >= 2
    assert all(text_fits.values()), text_fits


@pytest.mark.parametrize("status", [Status.ok, Status.outside_validity])
@pytest.mark.parametrize("shape", ["line", "map"])
def test_a_picture_without_values_says_so(surface, shape, status):
    dataset = surface.isel(friction=0) if shape == "line" else surface
    status_array = xr.full_like(dataset["status"], status)
    dataset = dataset.assign(wear_power=dataset["wear_power"] * np.nan, status=status_array)
    figure = plots.plot(dataset, "wear_power")
    (axes,) = figure.axes  # without a bar of colours
    assert "no values" in [text.get_text() for text in axes.texts]
    assert shape == "map" or not axes.get_yticks().size
    reasons = [label for label in legend_of(figure) if label.startswith("no value")]
    counted = [f"no value: {status_array.size:,} outside validity"]
    assert reasons == ([] if status is Status.ok else counted)


def test_labels_end_before_the_explanation(surface):
    meaning = "mean power; over the window: " + 20 * "and so on, "
    power = surface["wear_power"].assign_attrs(long_name=meaning, units="N m/s")
    figure = plots.plot(surface.assign(wear_power=power))
    assert figure.axes[1].get_ylabel() == "mean power [N·m/s]"
    longest = surface["wear_power"].assign_attrs(long_name=20 * "and so on, ")
    assert all(within(plots.plot(surface.assign(wear_power=longest))).values())


@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg"])
def test_missing_folders_are_created(surface, tmp_path, suffix):
    path = tmp_path / "new" / f"map{suffix}"
    plots.plot(surface, path=path)
    assert path.read_bytes()[:5] in (b"\x89PNG\r", b"%PDF-", b"<?xml")


def test_a_map_has_labels_units_and_scales(surface):
    figure = plots.plot(surface)
    axes, bar = figure.axes
    assert axes.get_xlabel() == "friction μ"
    assert axes.get_ylabel() == "base acceleration a₀ [m/s²]"
    assert bar.get_ylabel() == "mean of N|v| over the window [W]"
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    assert heading_of(figure) == (
        "Wear power of a mass rubbing on a shaken plane",
        "m = 1 kg, g = 10 m/s², ω = 6.28319 rad/s, t₀ = 4 s, t₁ = 12 s",
    )


def test_a_map_has_values_in_the_right_cells(surface):
    mesh = mesh_of(plots.plot(surface))
    assert mesh.get_rasterized()
    corners = np.asarray(mesh.get_coordinates())
    assert mesh.get_array().shape == (80, 60)
    assert np.array_equal(mesh.get_array(), surface["wear_power"].values.T)
    inner = np.sqrt(FRICTION[:-1] * FRICTION[1:])  # cells meet halfway between two points
    assert corners[0, 1:-1, 0] == pytest.approx(inner)
    assert corners[1:-1, 0, 1] == pytest.approx(
        (BASE_ACCELERATION[:-1] + BASE_ACCELERATION[1:]) / 2
    )


def test_borders_agree_with_theory(surface):
    """Those computed, within a cell of one or the other; those of theory, to the fine grid."""
    axes = plots.plot(surface).axes[0]
    friction, a0 = computed_borders(axes).mean(axis=1).T
    step, growth = BASE_ACCELERATION[1] - BASE_ACCELERATION[0], FRICTION[1] / FRICTION[0]
    limits = np.array([1 / theory.CRITICAL_RATIO, 1.0])[:, None]
    slack = step + 10 * friction * limits * (growth - 1)
    assert np.all(np.any(np.abs(a0 - 10 * friction * limits) <= slack, axis=0))
    drawn = theory_of(axes)
    assert list(drawn) == [*BORDERS]
    for line, limit in zip(drawn.values(), limits[::-1], strict=True):
        friction, a0 = line[~np.isnan(line[:, 0])].T
        np.testing.assert_allclose(a0, 10 * friction * limit, rtol=1e-3)


def test_computed_borders_run_along_the_edges_of_cells(surface):
    """On a logarithmic axis they used to step at the arithmetic mean of two points."""
    axes = plots.plot(surface).axes[0]
    sides, heights = edges(FRICTION, "log"), edges(BASE_ACCELERATION, "linear")
    regime = surface["regime"].values.astype(float)
    drawn = {tuple(np.round(ends.ravel(), 9)) for ends in computed_borders(axes)}
    expected = {
        (sides[i + 1], heights[j], sides[i + 1], heights[j + 1])
        for i, j in np.argwhere(regime[1:] != regime[:-1])
    } | {
        (sides[i], heights[j + 1], sides[i + 1], heights[j + 1])
        for i, j in np.argwhere(regime[:, 1:] != regime[:, :-1])
    }
    assert drawn == {tuple(np.round(ends, 9)) for ends in expected}
    corners = np.asarray(mesh_of(plots.plot(surface)).get_coordinates())
    np.testing.assert_allclose(corners[0, :, 0], sides)


def test_no_border_is_drawn_next_to_points_without_a_value(flawed):
    missing = np.isin(flawed["status"].values, (Status.diverged, Status.failed))
    flawed = flawed.assign(regime=flawed["regime"].copy(data=np.where(missing, 0, 1)))
    assert not [p for p in plots.plot(flawed).axes[0].patches if isinstance(p, PathPatch)]


def test_theory_is_drawn_on_a_fine_grid_of_its_own():
    """With three deltas, xi = (R_A + R_B)/2 used to hang in arcs between them."""
    axes = {"beta": {"geomspace": [0.05, 10, 15]}, "delta": {"values": [0.2, 0.5, 0.8]}}
    document = {"model": "mdr_contact", "parameters": {"phase": "60 degree"}, "axes": axes}
    axes = plots.plot(sweep.run(document, store=None), y="delta").axes[0]
    beta, delta = theory_of(axes)[
        r"border of partial slip, ξ = ($R_\mathrm{A}$ + $R_\mathrm{B}$)/2"
    ][:-1].T
    np.testing.assert_allclose(beta / delta, slip_depth(beta, np.radians(60)), rtol=1e-3)
    assert (delta.min(), delta.max()) == pytest.approx((0.05, 0.95), abs=0.01)
    assert delta.size > 100


def test_theory_follows_derived_parameters():
    """Gravity is N/m here, which is no straight line between four masses."""
    parameters = {"normal_force": 10, "friction": 0.5, "angular_frequency": "1 turn/s"}
    document = {
        "model": "friction_oscillator",
        "parameters": {**parameters, "start_cycle": 4, "end_cycle": 8},
        "axes": {
            "mass": {"values": [1, 2, 4, 10]},
            "base_acceleration": {"linspace": [0.5, 8, 12]},
        },
    }
    axes = plots.plot(sweep.run(document, store=None), y="base_acceleration").axes[0]
    mass, a0 = theory_of(axes)[BORDERS[0]][:-1].T
    np.testing.assert_allclose(a0 * mass, 5.0, rtol=1e-3)


def test_classes_are_named_inside_their_regions(surface):
    """All four corners of each name are in the region; on the border before."""
    figure = plots.plot(surface)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    codes = {
        text.get_text(): {
            int(theory.regime(friction, 10, acceleration))
            for friction, acceleration in axes.transData.inverted().transform(
                text.get_window_extent().corners()
            )
        }
        for text in axes.texts
    }
    assert codes == {"stick": {0}, "stick-slip": {1}, "slip-slip": {2}}


@pytest.mark.parametrize("mirrored", [False, True])
def test_names_of_classes_stay_within_the_map(surface, mirrored):
    """In a strip so narrow that only a number fits, which the legend explains."""
    classes = np.ones((60, 80))
    classes[:2] = 0
    turned = classes[::-1] if mirrored else classes
    figure = plots.plot(surface.assign(regime=surface["regime"].copy(data=turned)))
    figure.draw_without_rendering()
    axes = figure.axes[0]
    assert {text.get_text() for text in axes.texts} == {"1", "stick-slip"}
    assert "1: stick" in legend_of(figure)
    for text in axes.texts:
        box, room = text.get_window_extent(), axes.get_window_extent()
        assert room.x0 < box.x0 < box.x1 < room.x1


def test_no_legend_of_borders_without_borders():
    """All points are of one class."""
    every = asymptotic_dataset({"base_acceleration": np.linspace(5.0, 15.0, 80)})
    figure = plots.plot(every)
    assert legend_of(figure) == ["regime: slip-slip"]


@pytest.mark.parametrize(
    ("constants", "of_theory"),
    [
        ({}, [f"theory: {border}" for border in BORDERS]),
        ({"damping": 3.0}, []),
        ({"stiffness": 3.0}, ["theory: border of motion without stops"]),
    ],
    ids=["plain", "damped: theory does not apply", "with a spring: Den Hartog's"],
)
def test_the_legend_has_computed_borders_and_those_of_theory(constants, of_theory):
    figure = plots.plot(asymptotic_dataset(MAP, **constants))
    assert legend_of(figure) == ["borders of regime, computed", *of_theory]


def test_no_borders_of_theory_for_unknown_models(surface):
    for name in ("unheard of", "unheard_of"):
        axes = plots.plot(surface.assign_attrs(model=name)).axes[0]
        assert not theory_of(axes)
        assert len(computed_borders(axes))


def test_points_without_a_value_are_hatched_and_counted(flawed):
    figure = plots.plot(flawed)
    missing = flawed["status"].values.T != 0
    assert np.array_equal(np.ma.getmaskarray(mesh_of(figure).get_array()), missing)
    assert figure.axes[0].patch.get_hatch()
    assert legend_of(figure)[-1] == "no value: 6 diverged, 1 failed"


def test_a_flag_has_one_colour_per_class(surface):
    figure = plots.plot(surface, "regime")
    assert [text.get_text() for text in figure.axes[1].get_yticklabels()] == [
        "stick", "stick-slip", "slip-slip",
    ]  # fmt: skip


def test_a_line_over_one_axis_with_borders():
    a0 = np.linspace(0.5, 3.0, 101)
    axes = plots.plot(asymptotic_dataset({"base_acceleration": a0})).axes[0]
    (line,) = axes.get_lines()
    assert np.array_equal(line.get_xdata(), a0)
    assert line.get_ydata() == pytest.approx(
        theory.asymptotic_wear_power(1, 10, 0.1, a0, 2 * np.pi)
    )
    assert axes.get_ylabel() == "mean of N|v| over the window [W]"
    labels = {each.get_label(): each for each in axes.collections}
    one, critical = (
        [segment[0, 0] for segment in labels[f"theory: {name}"].get_segments()] for name in BORDERS
    )
    assert one == pytest.approx([1.0])
    assert critical == pytest.approx([1 / theory.CRITICAL_RATIO])
    shaded = [labels[f"regime: {name}"] for name in ("stick", "stick-slip", "slip-slip")]
    boxes = [each.get_paths()[0].get_extents() for each in shaded]
    ends = [boxes[0].x1, boxes[1].x0, boxes[1].x1, boxes[2].x0]
    assert ends == pytest.approx([1, 1, *2 * [1 / theory.CRITICAL_RATIO]], abs=0.025)
    assert not axes.texts  # a name would hide a part of the line


def test_gaps_in_a_line_are_hatched():
    a0 = np.linspace(0.5, 3.0, 101)
    statuses = np.where((a0 > 2) & (a0 < 2.2), Status.not_converged, Status.ok)
    figure = plots.plot(asymptotic_dataset({"base_acceleration": a0}, statuses))
    hatched = [c for c in figure.axes[0].collections if c.get_hatch()]
    (box,) = (c.get_paths()[0].get_extents() for c in hatched)
    assert (box.x0, box.x1) == pytest.approx((2.0125, 2.1875))
    assert legend_of(figure)[-1] == "no value: 7 not converged"


def test_gaps_among_several_lines_are_counted_without_a_hatch():
    """There is no hatch to explain: the legend used to show one."""
    statuses = np.zeros((3, 59), int)
    statuses[1, 20:30] = Status.diverged
    axes = {"friction": [0.1, 0.2, 0.4], "base_acceleration": np.arange(1, 60)}
    figure = plots.plot(asymptotic_dataset(axes, statuses))
    assert legend_of(figure)[-1] == "no value: 10 diverged"
    assert not figure.legends[0].get_patches()[-1].get_hatch()
    assert not [c for c in figure.axes[0].collections if c.get_hatch()]


def test_a_long_heading_is_broken_where_the_picture_ends(surface):
    title = 12 * "Wear power of a mass rubbing on a shaken plane, "
    figure = plots.plot(surface, title=title)
    figure.draw_without_rendering()
    assert heading_of(figure) == (title.strip(), "")
    (text,) = figure.texts
    assert text.get_window_extent().x1 <= figure.bbox.x1
    assert text.get_window_extent().y0 >= figure.axes[0].get_window_extent().y1


def test_the_style_is_ours_whatever_is_set(surface):
    with rc_context({"font.size": 20, "axes.prop_cycle": cycler(color=["red"])}):
        figure = plots.plot(surface.isel(friction=slice(0, 40, 20)))
    axes = figure.axes[0]
    assert [line.get_color() for line in axes.get_lines()[:2]] == list(LINES[:2])
    assert axes.xaxis.label.get_size() == 8
    assert figure.get_figwidth() == WIDTH


def test_a_short_axis_becomes_one_line_per_value():
    dataset = asymptotic_dataset(
        {"friction": [0.1, 0.2, 0.4], "base_acceleration": np.arange(1, 60)}
    )
    figure = plots.plot(dataset)
    assert len(figure.axes[0].get_lines()) == 3
    assert legend_of(figure) == [f"friction μ = {each}" for each in (0.1, 0.2, 0.4)]
    for line, friction in zip(figure.axes[0].get_lines(), (0.1, 0.2, 0.4), strict=True):
        powers = theory.asymptotic_wear_power(1, 10, friction, np.arange(1, 60), 2 * np.pi)
        assert line.get_ydata() == pytest.approx(powers)


@pytest.fixture(scope="module")
def volume():
    return asymptotic_dataset(
        {
            "mass": [1.0, 2.0, 3.0, 4.0, 5.0],
            "friction": np.linspace(0.1, 1, 12),
            "base_acceleration": np.linspace(1, 9, 10),
        }
    )


def test_a_third_axis_is_cut_at_its_middle_and_the_title_says_so(volume):
    figure = plots.plot(volume)
    title = heading_of(figure)[0]
    assert title == "Wear power of a mass rubbing on a shaken plane at mass m = 3 kg"
    assert np.array_equal(mesh_of(figure).get_array(), volume["wear_power"].values[2].T)


def test_axes_are_cut_at_the_nearest_value(volume):
    shown = cuts.cut(volume, None, {"mass": 4.2, "friction": 0.1})
    assert shown.cuts == {"mass": "4 kg", "friction": "0.1"}
    assert np.array_equal(shown.values, volume["wear_power"].values[3, 0])


def test_a_cut_outside_an_axis_is_refused(volume):
    for mass in (99.0, 0.9):
        with pytest.raises(SweepError, match="outside the axis"):
            plots.plot(volume, at={"mass": mass})
    for mass in (1.0, 1.3, 5.0, 5.0 + 1e-13):  # rounding, as by units
        plots.plot(volume, at={"mass": mass})


def test_a_single_point_is_refused():
    refused = r"nothing to draw: there is a single point, wear_power = 15\.1146 W"
    line = asymptotic_dataset({"mass": [1.0, 2.0]})
    for dataset, at in (
        (asymptotic_dataset({}), {}),
        (line.isel(mass=[0]), {}),
        (line, {"mass": 1.1}),
    ):
        with pytest.raises(SweepError, match=refused):
            plots.plot(dataset, at=at)


def test_points_at_infinity_are_left_out_and_counted():
    """A mass that cannot slip: infinite friction is valid, but not on an axis."""
    endless = np.append(FRICTION[::4], np.inf)
    cases = {"base_acceleration": BASE_ACCELERATION}, {"base_acceleration": [15.0]}
    for other, points in zip(cases, (80, 1), strict=True):
        dataset = asymptotic_dataset({"friction": endless, **other})
        figure = plots.plot(dataset)
        labels = [text.get_text() for text in figure.legends[0].get_texts()]
        assert f"not drawn: {points} with friction = inf" in labels
        left, right = figure.axes[0].get_xlim()
        assert left < endless[0] < endless[-2] < right < 1.5
        assert plots.plot(dataset.isel(friction=slice(0, -1))).axes[0].get_xlim() == (left, right)
    dataset = asymptotic_dataset({"friction": endless, **cases[0]})
    cut_slice = cuts.cut(dataset, "wear_power", {"friction": np.inf})
    assert cut_slice.cuts == {"friction": "inf"}
    assert not cut_slice.values.any()


SPHERE = {
    "youngs_modulus": "210 GPa",
    "poisson_ratio": 0.3,
    "radius": "10 mm",
    "indentation": "1 um",
    "phase": 1,
}
CONSTANT_LOAD = {
    "model": "mdr_contact",
    "parameters": {**SPHERE, "tangential_amplitude": "0.5 um", "normal_amplitude": 0},
    "axes": {"friction": {"linspace": [0.05, 1, 8]}},
}


def test_an_output_that_is_infinite_everywhere_is_not_the_default():
    dataset = sweep.run(CONSTANT_LOAD, store=None)
    figure = plots.plot(dataset)
    assert heading_of(figure)[0].startswith("Dissipated energy of a rubbing contact")
    assert "instead of normalized energy, which is infinite" in legend_of(figure)
    of_infinite_output = plots.plot(dataset, "normalized_energy")
    assert "normalized energy = inf: 8 points" in legend_of(of_infinite_output)


def test_counts_of_a_thinned_picture_are_of_all_points(monkeypatch):
    """Every third of 6,000 values of friction is drawn: there are at most 2,048 on an axis."""
    statuses = np.where(np.arange(6000)[:, None] < 900, Status.failed, Status.ok)
    axes = {
        "friction": np.geomspace(0.01, 1.0, 6000),
        "base_acceleration": np.linspace(0.5, 15.0, 10),
    }
    dataset = asymptotic_dataset(axes, statuses)
    assert "no value: 9,000 failed" in legend_of(plots.plot(dataset, "wear_power"))
    monkeypatch.setattr(cuts, "MAX_COUNTED", 100)
    assert "no value: 3,000 failed of 20,000 points drawn" in legend_of(
        plots.plot(dataset, "wear_power")
    )


def test_a_status_is_drawn_by_name(flawed):
    axes, bar = plots.plot(flawed, "status").axes
    codes = np.asarray(axes.collections[0].get_array())
    np.testing.assert_array_equal(codes, np.searchsorted([0, 2, 254], flawed["status"]).T)
    assert [text.get_text() for text in bar.get_yticklabels()] == ["ok", "diverged", "failed"]
    line = plots.plot(flawed.isel(base_acceleration=75), "status").axes[0]
    assert [text.get_text() for text in line.get_yticklabels()] == ["ok", "failed"]
    np.testing.assert_array_equal(np.flatnonzero(line.get_lines()[0].get_ydata()), [20])
    with pytest.raises(SweepError, match="a status has no error"):
        compare_slice(cuts.cut(flawed, "status", {}), "euler")


def test_a_map_over_many_decades_shows_whole_cells():
    friction, acceleration = np.geomspace(1e-4, 100, 13), np.geomspace(0.1, 1e6, 15)
    dataset = asymptotic_dataset({"friction": friction, "base_acceleration": acceleration})
    axes = plots.plot(dataset).axes[0]
    assert axes.get_xlim() == pytest.approx((1e-4 / 10**0.25, 100 * 10**0.25))
    assert axes.get_ylim() == pytest.approx((0.1 / 10**0.25, 1e6 * 10**0.25))


def test_a_value_between_missing_ones_is_visible():
    statuses = np.full(100, Status.failed)
    statuses[[0, 1, 2, 50, 99]] = Status.ok
    dataset = asymptotic_dataset({"friction": np.linspace(0.01, 1, 100)}, statuses)
    line = plots.plot(dataset).axes[0].get_lines()[0]
    assert line.get_marker() == "."
    assert list(line.get_markevery()) == [50, 99]
    np.testing.assert_array_equal(line.get_ydata(), dataset.wear_power)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": 3}, "expected the xarray.Dataset of a sweep, not int"),
        ({"source": "a.zarr"}, "no store '.*a.zarr'"),
        ({"output": 3}, "output=3 is not the name of an output"),
        ({"at": ["friction"]}, "Give values by name, as a dict"),
        ({"at": {"friction": "much"}}, "at friction: 'much' is not a number"),
        ({"at": {"friction": None}}, "friction cannot be cut at None; give a number"),
        ({"at": {"friction": [0.1, 0.2]}}, r"friction cannot be cut at \[0.1, 0.2\]"),
        *(
            ({"at": {"friction": value}}, f"friction cannot be cut at {value}; give a number")
            for value in (np.nan, np.inf, -np.inf)
        ),
        ({"over": "friction"}, "over='friction' is not a list of names"),
        ({"output": "wear_powr"}, "no output 'wear_powr': did you mean 'wear_power'"),
        ({"output": "slip"}, "no output 'slip': choose one of wear_power, regime, status"),
        ({"at": {"fricton": 0.1}}, "no axis 'fricton': did you mean 'friction'"),
        ({"path": "map.bmpx"}, r"'map.bmpx' has no suffix of a picture format: use one of .*\.png"),
        ({"path": "map"}, "'map' has no suffix of a picture format"),
    ],
)
def test_bad_requests_are_refused_with_a_cure(surface, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SweepError, match=message):
        plots.plot(**{"source": surface, **arguments})
    assert not list(tmp_path.iterdir())


def test_a_figure_is_returned_and_saved_only_at_a_path(surface, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figure = plots.plot(surface, "regime")
    assert isinstance(figure, Figure)
    assert not list(tmp_path.iterdir())
    with pytest.raises(SweepError, match=r"'map.png' is a third argument: .*path='map.png'"):
        plots.plot(surface, "regime", "map.png")


@pytest.mark.parametrize(("old", "new"), [("lines", "hue"), ("facet", "col")])
def test_former_names_are_refused_with_the_present_ones(surface, old, new):
    with pytest.raises(SweepError, match=rf"plot takes no {old}=\.\.\.: write {new}="):
        plots.plot(surface, **{old: "friction"})


def test_keywords_stand_in_the_signature():
    names = inspect.signature(plots.plot).parameters
    assert {"x", "y", "hue", "col", "row", "log", "limits", "unit", "title", "path"} <= set(names)
    assert plots.plot(asymptotic_dataset({"friction": FRICTION}), x=None, title=None)


def test_a_path_that_cannot_be_written_is_a_sweep_error(surface, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SweepError, match=r"map.png': a file stands .*, or choose another path"):
        plots.plot(surface, path=tmp_path / "file" / "map.png")


@pytest.fixture(scope="module")
def sample(surface):
    points = surface.stack(point=["friction", "base_acceleration"]).reset_index("point")
    names = ("friction", "base_acceleration")
    return points.assign_coords(
        {name: ("point", points[name].values, points[name].attrs) for name in names}
    )


def test_a_sample_is_drawn_as_dots_over_two_parameters(sample):
    axes = plots.plot(sample, over=["base_acceleration", "friction"]).axes[0]
    (dots,) = axes.collections
    places = np.array([sample["base_acceleration"], sample["friction"]]).T
    assert np.array_equal(dots.get_offsets(), places)
    assert np.array_equal(dots.get_array(), sample["wear_power"])
    assert axes.get_ylabel() == "friction μ"
    assert axes.get_xlabel() == "base acceleration a₀ [m/s²]"


def test_parameters_of_a_sample_are_drawn_in_another_unit(sample):
    """They are no coordinates of a dimension, unlike the values of an axis."""
    view = View(unit={"friction": "%", "base_acceleration": "mm/s^2"})
    axes = plots.plot(sample, over=["base_acceleration", "friction"], **vars(view)).axes[0]
    assert axes.get_xlabel() == "base acceleration a₀ [mm/s²]"
    places = np.array([1e3 * sample["base_acceleration"], 100 * sample["friction"]]).T
    np.testing.assert_allclose(axes.collections[0].get_offsets(), places)
    line = plots.plot(sample, over=["friction"], unit={"friction": "%"}).axes[0].lines[0]
    assert line.get_linestyle() == "None"
    np.testing.assert_allclose(np.sort(line.get_xdata()), np.sort(100 * sample["friction"].values))


def test_the_scale_of_a_sample_is_that_of_its_distribution():
    """In a sweep that has an axis besides, too."""
    distributions = {
        "friction": {"loguniform": [0.1, 0.5]},
        "base_acceleration": {"uniform": [5, 9]},
    }
    document = {
        "model": "friction_oscillator",
        "parameters": {"angular_frequency": 6.28, "gravity": 10, "start_cycle": 4, "end_cycle": 8},
        "outputs": ["wear_power"],
        "axes": {"mass": {"values": [1.0, 2.0]}},
        "sample": {"method": "random", "points": 20, "seed": 1, **distributions},
    }
    drawn = sweep.run(document, store=None)
    axes = plots.plot(drawn, over=list(distributions)).axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    with pytest.raises(SweepError, match="drawn over friction here, and mass is another axis"):
        plots.plot(drawn, over=["friction"], hue="mass")


def test_points_of_a_sample_without_a_value_are_crosses():
    statuses = np.zeros((5, 4), int)
    statuses[2, 1] = Status.diverged
    axes = {"friction": FRICTION[:5], "base_acceleration": BASE_ACCELERATION[:4]}
    grid = asymptotic_dataset(axes, statuses)
    points = grid.stack(point=["friction", "base_acceleration"]).reset_index("point")
    figure = plots.plot(points)
    (dots,), (crosses,) = figure.axes[0].collections, figure.axes[0].get_lines()
    assert len(dots.get_offsets()) == 19
    assert crosses.get_xydata().tolist() == [[FRICTION[2], BASE_ACCELERATION[1]]]
    assert "no value: 1 diverged" in legend_of(figure)
    (handle,) = figure.legends[0].get_lines()
    assert (handle.get_marker(), handle.get_color()) == (crosses.get_marker(), crosses.get_color())


def test_a_sample_of_one_parameter_is_an_axis():
    one = asymptotic_dataset({"friction": FRICTION[::-1]})
    drawn = plots.plot(one.rename_dims(friction="point").reset_index("friction"))
    expected = plots.plot(one)
    for figure in (drawn, expected):
        assert figure.axes[0].get_lines()[0].get_linestyle() == "-"
    line, right = (figure.axes[0].get_lines()[0].get_xydata() for figure in (drawn, expected))
    assert np.array_equal(line, right)


def test_a_sample_cannot_be_cut(sample, surface):
    with pytest.raises(SweepError, match=r"friction is sampled.*draw over it.*export"):
        cuts.cut(sample, None, {"friction": 0.1})
    with pytest.raises(SweepError, match="did you mean 'friction'"):
        cuts.cut(sample, None, {}, ["frction"])
    with pytest.raises(SweepError, match="one or two parameters"):
        cuts.cut(sample, None, {}, ["friction", "friction"])
    with pytest.raises(SweepError, match="leave it out"):
        cuts.cut(surface, None, {}, ["friction"])


def test_a_sample_beside_axes_is_drawn_at_the_cell_where_these_are_cut(sample):
    grid = xr.concat([sample, sample.assign(wear_power=2 * sample["wear_power"])], "mass")
    grid = grid.assign_coords(mass=("mass", [1.0, 3.0], {"units": "kg"}))
    shown = cuts.cut(grid, None, {"mass": 1.2})
    assert shown.cuts == {"mass": "1 kg"}
    assert np.array_equal(shown.values, sample["wear_power"])
    assert np.array_equal(cuts.cut(grid, None, {}).values, 2 * sample["wear_power"])


def test_axes_without_values_are_drawn_by_number(surface):
    line = plots.plot(surface.isel(base_acceleration=3).drop_vars("friction"))
    line = line.axes[0].get_lines()[0]
    assert line.get_linestyle() == "None"
    assert line.get_xdata().tolist() == list(range(60))


def test_long_axes_are_thinned_and_unsorted_ones_sorted():
    shown = cuts.cut(asymptotic_dataset({"friction": np.linspace(1, 0, 70_000)}), None, {})
    friction = shown.axes[0].values
    assert friction.size <= cuts.MAX_DRAWN_VALUES[1]
    assert np.all(np.diff(friction) > 0)
    assert np.array_equal(
        shown.values, theory.asymptotic_wear_power(1, 10, friction, 15, 2 * np.pi)
    )


def test_scales_of_axes():
    assert scale(np.geomspace(1e-3, 1e3, 7)) == "log"
    assert scale(np.geomspace(1, 2, 2000)) == "log"
    assert scale(np.linspace(1, 2, 2000)) == "linear"
    assert scale(np.linspace(1, 2, 2000) ** 2) == "linear"
    assert scale(np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0])) == "log"
    assert scale(np.array([0.1, 1.0, 5.0, 100.0, 1e4])) == "log"
    assert scale(np.array([1.0, 2.0, 3.0, 4.0, 6.0])) == "linear"
    rng = np.random.default_rng(3)
    assert scale(np.sort(rng.uniform(0.001, 10, 500))) == "linear"
    assert scale(np.sort(10 ** rng.uniform(-3, 1, 500))) == "log"
    assert scale(np.array([-1.0, 1.0, 10.0])) == "linear"
    assert scale(np.array([1.0, 10.0])) == "linear"
    assert edges(np.array([1.0, 10.0, 100.0])) == pytest.approx(10.0 ** np.arange(-0.5, 3))
    assert edges(np.array([1.0, 2.0, 4.0, 5.0])).tolist() == [0.5, 1.5, 3.0, 4.5, 5.5]


def test_logarithmic_colours_only_for_positive_values_over_decades():
    assert spans_decades(np.array([1e-4, 1.0]))
    assert not spans_decades(np.array([1e-2, 1.0]))
    assert not spans_decades(np.array([0.0, 1e-9, 1.0]))
    assert not spans_decades(np.array([]))


def test_zeros_beside_values_over_decades():
    """Arbitrarily small values beside a border of rest are ignored."""
    over_decades = np.geomspace(1e-3, 10, 50)
    assert leaves_zeros_apart(np.append(over_decades, [0.0, np.nan]))
    assert not leaves_zeros_apart(over_decades)
    assert not leaves_zeros_apart(np.append(over_decades, [0.0, -1e-9]))
    assert not leaves_zeros_apart(np.array([0.0, 1e-12, *np.linspace(0.1, 1.0, 50)]))
    assert not leaves_zeros_apart(np.array([0.0, np.nan]))


def test_a_map_with_zeros_has_a_logarithmic_scale_for_the_rest():
    friction, base_acceleration = np.linspace(0.02, 0.5, 40), np.geomspace(1e-2, 1e3, 60)
    axes = {"friction": friction, "base_acceleration": base_acceleration}
    statuses = np.zeros((40, 60), np.uint8)
    statuses[3, 50] = Status.failed
    dataset = asymptotic_dataset(axes, statuses)
    figure = plots.plot(dataset)
    assert figure.axes[1].get_yscale() == "log"
    mesh = mesh_of(figure)
    drawn = np.ma.filled(mesh.get_array(), np.nan).T
    low, high = mesh.get_clim()
    values = dataset["wear_power"].values
    assert low <= np.quantile(values[values > 0], 0.01)
    assert high >= np.nanmax(values)
    assert np.array_equal(np.isnan(drawn), np.isnan(values))
    assert np.array_equal(drawn < low, values == 0)
    assert np.array_equal(drawn[values > low], values[values > low])
    assert f"wear power = 0: {np.count_nonzero(values == 0):,} points" in legend_of(figure)


def test_a_line_with_zeros_has_a_logarithmic_scale_for_the_rest():
    dataset = asymptotic_dataset({"base_acceleration": np.geomspace(1e-2, 1e3, 200)})
    figure = plots.plot(dataset)
    assert figure.axes[0].get_yscale() == "log"
    none = np.count_nonzero(dataset["wear_power"] == 0)
    assert f"wear power = 0: {none} points" in legend_of(figure)
    near = asymptotic_dataset({"base_acceleration": np.linspace(0.5, 15.0, 200)})
    assert plots.plot(near).axes[0].get_yscale() == "linear"
