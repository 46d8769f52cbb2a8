"""Errors of results against others at the same points: by hand, from runs, and in pictures."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.engine.loop import run as run_engine
from sweep.errors import SweepError
from sweep.model.shipped import configs_folder
from sweep.model.table import MISSING_FLAG, Status
from sweep.pictures import figures
from sweep.pictures.comparison import compare_slice, reference_sweep
from sweep.pictures.cuts import cut
from sweep.pictures.relative_errors import errors, spread
from sweep.pictures.scales import decades
from sweep.request.sweeps import Axis
from sweep.store import Arrays
from tests.command import Run
from tests.pictures.test_plots import figure_of_slice, legend_of

MOREAU = {
    "model": "friction_oscillator",
    "method": "moreau",
    "outputs": ["wear_power", "regime"],
    "parameters": {
        "mass": 1.0, "gravity": 10.0, "friction": 0.1, "angular_frequency": 2 * math.pi,
        "window_start": 4.0, "window_end": 6.0,
    },
    "axes": {"step": {"values": [1e-4, 1e-3, 1e-2]}, "base_acceleration": {"values": [0.9, 3, 9]}},
}  # fmt: skip
FLAG = {"flag_values": [0, 1, 2], "flag_meanings": "stick stick_slip slip_slip"}


def dataset(
    power: Sequence[Sequence[float]],
    status: Sequence[Sequence[int]],
    regime: Sequence[Sequence[int]] | None = None,
    steps: Sequence[float] = (0.1, 0.2),
) -> xr.Dataset:
    """A Dataset over step and friction, or over friction alone if `steps` is empty."""
    dims = ("step", "friction") if steps else ("friction",)
    coordinates = {"step": list(steps)} if steps else {}
    variables = {
        "wear_power": (dims, np.asarray(power, dtype=float), {"units": "W"}),
        "status": (dims, np.asarray(status, dtype=np.uint8)),
    }
    if regime is not None:
        variables["regime"] = (dims, np.asarray(regime, dtype=np.uint8), FLAG)
    return xr.Dataset(variables, {"friction": [1.0, 2.0, 3.0], **coordinates}, {"method": "tried"})


RESULTS = dataset(
    [[1.5, -2.0, 0.0], [0.5, math.nan, 4.0]], [[0, 0, 0], [0, 2, 0]], [[0, 1, 2], [1, 255, 1]]
)
REFERENCE = dataset(
    [[1.0, -4.0, 0.0], [1.0, 7.0, 0.0]], [[0, 0, 0], [0, 0, 0]], [[0, 1, 1], [1, 2, 1]]
)


def test_error_by_hand() -> None:
    """Relative to each reference; where that is 0, to the greatest of the points that are ok: 4.

    The reference of 7 is of a point that is not, so that it is no scale.
    """
    relative_error = errors(RESULTS, REFERENCE)["wear_power_error"]
    assert relative_error.dims == ("step", "friction")
    np.testing.assert_array_equal(relative_error.values, [[0.5, 0.5, 0.0], [0.5, math.nan, 1.0]])
    assert relative_error.attrs["long_name"] == "relative error of wear_power, tried against tried"
    assert relative_error.attrs["units"] == "1"


def test_error_of_a_flag_says_whether_classes_differ() -> None:
    classes_differ = errors(RESULTS, REFERENCE)["regime_error"]
    assert classes_differ.dtype == np.uint8
    np.testing.assert_array_equal(classes_differ.values, [[0, 0, 1], [0, MISSING_FLAG, 0]])
    assert classes_differ.attrs["flag_meanings"] == "same different"


@pytest.mark.parametrize("order", [("step", "friction"), ("friction", "step")])
def test_a_reference_without_an_axis_is_broadcast(order: tuple[str, str]) -> None:
    reference = dataset([1.0, -4.0, 8.0], [0, 0, 3], steps=())
    differences = errors(RESULTS.transpose(*order), reference)
    assert differences["wear_power_error"].dims == differences["status"].dims == order
    differences = differences.transpose("step", "friction")
    expected = [[0.5, 0.5, math.nan], [0.5, math.nan, math.nan]]
    np.testing.assert_array_equal(differences["wear_power_error"].values, expected)
    np.testing.assert_array_equal(differences["status"].values, [[0, 0, 3], [0, 2, 3]])


def test_errors_against_zeros_only_are_infinite() -> None:
    differences = errors(dataset([[0, 1, 0], [0, 0, 0]], np.zeros((2, 3))), 0 * REFERENCE)
    relative_error = differences["wear_power_error"].values
    np.testing.assert_array_equal(relative_error, [[0, math.inf, 0], [0, 0, 0]])


def test_errors_have_methods_and_joint_status() -> None:
    differences = errors(RESULTS, REFERENCE.assign_attrs(method="exact", revision=3))
    assert set(differences.data_vars) == {"wear_power_error", "regime_error", "status"}
    np.testing.assert_array_equal(differences["status"].values, RESULTS["status"].values)
    attributes = {
        name: differences.attrs[name] for name in ("method", "against", "against_revision")
    }
    assert attributes == {"method": "tried", "against": "exact", "against_revision": 3}


def test_spread_by_hand() -> None:
    differences = errors(RESULTS, REFERENCE)
    powers = spread(differences, "wear_power_error")
    assert (powers.points, powers.median, powers.worst) == (5, 0.5, 1.0)
    worst = {name: float(value) for name, value in powers.where.items()}
    assert worst == {"step": 0.2, "friction": 3.0}
    flags = spread(differences, "regime_error")
    assert (flags.points, flags.median, flags.worst) == (5, 0.0, 1.0)
    failed = REFERENCE.assign(status=REFERENCE["status"] + 1)
    nothing = spread(errors(RESULTS, failed), "wear_power_error")
    assert nothing.points == 0
    assert math.isnan(nothing.worst)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (REFERENCE.assign_coords(friction=[1.0, 2.0, 4.0]), "reference have different points"),
        (REFERENCE.isel(friction=[0, 1]), "results and reference have different points"),
        (REFERENCE.expand_dims(mass=[1.0, 2.0]), "has axes that the results lack: mass"),
    ],
)
def test_other_points_are_refused(reference: xr.Dataset, message: str) -> None:
    with pytest.raises(SweepError, match=message):
        errors(RESULTS, reference)


def test_a_parameter_that_is_no_coordinate_is_refused() -> None:
    """The reference would be computed at the default of 0."""
    results = RESULTS.assign(damping=xr.full_like(RESULTS["wear_power"], 2.0))
    with pytest.raises(SweepError, match=r"no output 'damping' to compare: .*set_coords"):
        errors(results, REFERENCE.assign_coords(damping=0.0))


def test_decades() -> None:
    assert decades(np.array([0.0, 3e-5, 2e-3, math.nan, math.inf])) == pytest.approx((1e-5, 1e-2))
    assert decades(np.array([0.01])) == pytest.approx((1e-2, 1e-1))
    assert decades(np.array([0.0, math.nan])) == (1e-16, 1.0)


@pytest.fixture(scope="module")
def moreau() -> xr.Dataset:
    return sweep.run(MOREAU, store=None)


def test_compare_runs_the_other_method(moreau: xr.Dataset) -> None:
    """Compare with a run of the exact method that is broadcast here."""
    table = dict(MOREAU, method="exact", axes={"base_acceleration": {"values": [0.9, 3, 9]}})
    expected = sweep.run(table, store=None)["wear_power"].values
    relative_error = sweep.compare(moreau)["wear_power_error"]
    assert np.all(relative_error.values[:, 0] == 0)  # stuck for good, and exactly
    by_hand = np.abs(moreau["wear_power"].values[:, 1:] / expected[1:] - 1)
    np.testing.assert_allclose(relative_error.values[:, 1:], by_hand, rtol=0, atol=1e-15)


def test_the_error_falls_with_the_step(moreau: xr.Dataset) -> None:
    """Moreau's scheme is of order 1 in slip, as reversals lie anywhere within a step."""
    differences = sweep.compare(moreau)
    slips = differences["wear_power_error"].values[:, 1:]
    assert np.all(np.diff(slips, axis=0) > 0)
    assert np.all(slips[0] < 1e-3)
    assert np.all(slips[0] < 0.05 * slips[2])
    assert differences.attrs["against"] == "exact"


def test_a_selection_of_results_can_be_compared(moreau: xr.Dataset) -> None:
    part = moreau.isel(base_acceleration=1, step=[0, 2])
    part_error, whole_error = (sweep.compare(each)["wear_power_error"] for each in (part, moreau))
    assert part_error.dims == ("step",)
    np.testing.assert_array_equal(part_error.values, whole_error.values[[0, 2], 1])


def test_an_empty_selection_has_nothing_to_compare(moreau: xr.Dataset) -> None:
    with pytest.raises(SweepError, match="these results have no points"):
        sweep.compare(moreau.isel(step=[]))


def test_an_axis_of_two_parameters_can_be_compared(moreau: xr.Dataset) -> None:
    """An axis of listed points, which sweep files do not offer."""
    single = reference_sweep(moreau, "moreau")
    columns = {"friction": np.array([0.1, 0.2, 0.1]), "base_acceleration": np.array([3, 9, 0.9])}
    constants = {name: v for name, v in single.constants.items() if name not in columns}
    samples = Axis("sample", columns, {"values": []})
    listed = replace(single, constants=constants, axes=(single.axes[0], samples))
    results = Arrays(listed)
    run_engine(results)
    reference = reference_sweep(results.dataset(), "exact")
    assert reference.grid.shape == (3,)
    assert reference.axes[0].columns["friction"].tolist() == [0.1, 0.2, 0.1]
    differences, grid = sweep.compare(results.dataset()), sweep.compare(moreau)
    assert differences["wear_power_error"].dims == ("step", "sample")
    np.testing.assert_array_equal(
        differences["wear_power_error"].values[:, [2, 0]], grid["wear_power_error"].values[:, :2]
    )


def test_parameters_of_the_other_method(moreau: xr.Dataset) -> None:
    """Its defaults apply to parameters that are not given; NaN stands for a derived default."""
    reference = reference_sweep(moreau, "euler", {"tangential_stiffness": 1e6, "step": 1e-4})
    assert reference.grid.dimensions == ("base_acceleration",)
    assert reference.constants["step"] == 1e-4
    assert math.isnan(reference.constants["tangential_damping"])
    assert reference.constants["blocks"] == 1
    differences = sweep.compare(moreau, "euler", {"tangential_stiffness": 1e6, "step": 1e-4})
    assert differences.attrs["against"] == "euler"


@pytest.mark.parametrize(
    ("method", "parameters", "message"),
    [
        ("exakt", {}, "there is no method 'exakt' to compare with; did you mean 'exact'?"),
        ("exact", {"step": 1.0}, "method 'exact' takes no 'step'"),
        ("euler", {}, "method 'euler' needs tangential_stiffness"),
        ("euler", {}, "which these results lack: give it among its parameters"),
        ("exact", {"mass": -1.0}, "cannot take mass = -1.0 from these results: above 0 kg"),
        ("moreau", {"step": None}, "step: None is not a number"),
        ("moreau", {"step": [1e-5]}, "step: [1e-05] is not a number"),
        ("moreau", {"step": "2 kg"}, "step: '2 kg' has the wrong dimension"),
        ("moreau", [1], "Give values by name, as a dict"),
        ("moreau", {3: 1}, "takes no 3"),
        (3, {}, "3 is not the name of a method"),
        (RESULTS, {}, 'such as compare(results, "exact")'),
    ],
)
def test_incomparable_results_are_refused(
    moreau: xr.Dataset, method: Any, parameters: Any, message: str
) -> None:
    with pytest.raises(SweepError, match=re.escape(message)):
        sweep.compare(moreau, method, parameters)


@pytest.mark.parametrize("output", ["regime", "wear_power"])
def test_the_title_and_the_errors_name_the_parameters_of_the_reference(
    moreau: xr.Dataset, output: str
) -> None:
    """They did so only if the results had a flag that was not the output."""
    results = moreau.isel(step=0)[["status", *dict.fromkeys([output, "wear_power"])]]
    parameters = {"step": "1 ms", "mass": 2, "stiffness": 0}
    shown = compare_slice(cut(results, output, {}), "moreau", parameters)
    of_results, of_reference = shown.heading()[1].splitlines()
    assert of_reference == "against moreau with mass = 2 kg, stiffness = 0 N/m, step = 1 ms"
    assert of_results.startswith("m\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}1\N{NO-BREAK SPACE}kg, ")
    assert of_reference.endswith(shown.dataset.attrs["against_parameters"])
    differences = sweep.compare(results, "moreau", parameters)
    assert differences.attrs["against_parameters"] == shown.dataset.attrs["against_parameters"]
    assert "against_parameters" not in sweep.compare(results, "exact").attrs


def test_borders_of_the_reference_are_named_after_it(moreau: xr.Dataset) -> None:
    legend = legend_of(figure_of_slice(compare_slice(cut(moreau.isel(step=0), None, {}), "exact")))
    assert any(text.startswith("regime of exact: ") for text in legend), legend


def test_statistics_and_wear_are_not_compared(moreau: xr.Dataset) -> None:
    worn = moreau.rename(wear_power="wear_power_mean")[["wear_power_mean", "status"]]
    with pytest.raises(SweepError, match="compare the sweep that statistics or wear come from"):
        sweep.compare(worn, "exact")
    beside = moreau.assign(wear_depth=moreau.wear_power)
    with pytest.raises(SweepError, match="wear_depth is no output of the model"):
        compare_slice(cut(beside, "wear_depth", {}), "exact")


def test_what_are_no_results_of_a_sweep_is_refused(moreau: xr.Dataset) -> None:
    number: Any = 3
    for results in (RESULTS, number):
        with pytest.raises(SweepError, match="these are not results of a sweep"):
            sweep.compare(results, "moreau")
    with pytest.raises(SweepError, match="these results lack the status"):
        sweep.compare(moreau[["wear_power"]])


SMOKE = str(configs_folder() / "smoke" / "step_size.toml")


@pytest.mark.parametrize("method", ["euler", "moreau"])
def test_error_map_smoke(method: str) -> None:
    """Cells are coloured where the error is not 0, and hatched where the step is too long."""
    differences = (
        sweep.run(SMOKE.replace("step_size", "step_size_moreau"), store=None)
        if method == "moreau"
        else sweep.run(SMOKE, ["tolerance=inf"], store=None)
    )
    shown = compare_slice(cut(differences, None, {}), "exact")
    figure = figure_of_slice(shown)
    axes, bar = figure.axes
    assert (axes.get_xscale(), axes.get_yscale(), bar.get_yscale()) == ("log", "log", "log")
    assert bar.get_ylabel() == f"relative error of wear power, {method} against exact"
    (mesh,) = (c for c in axes.collections if hasattr(c, "get_coordinates"))
    drawn = np.ma.filled(mesh.get_array(), math.nan).T
    low, _ = mesh.get_clim()
    values = shown.dataset["wear_power_error"].values
    missing = differences["status"].values != Status.ok
    assert np.array_equal(np.isnan(drawn), missing)
    assert np.array_equal(drawn < low, values == 0)
    legend = legend_of(figure)
    assert f"error 0: {np.count_nonzero(values == 0)} points" in legend
    diverged = np.count_nonzero(differences["status"].values == Status.diverged)
    assert (f"no value: {diverged} diverged" in legend) == (diverged > 0) == (method != "moreau")


def test_errors_as_lines_are_on_a_logarithmic_scale(moreau: xr.Dataset) -> None:
    """One line per acceleration, interrupted where the error is 0."""
    figure = figure_of_slice(compare_slice(cut(moreau, None, {}), "exact"))
    (axes,) = figure.axes
    assert axes.get_yscale() == "log"
    assert "error 0: 3 points" in legend_of(figure)


def test_errors_that_are_all_0_are_drawn_as_lines(moreau: xr.Dataset, tmp_path: Path) -> None:
    """Compare a method with itself; warnings from matplotlib are errors in tests."""
    figure = figure_of_slice(compare_slice(cut(moreau, None, {}), "moreau"))
    figures.save(figure, tmp_path / "a.png")
    (axes,) = figure.axes
    lines = [line.get_ydata() for line in axes.get_lines()]
    np.testing.assert_array_equal(lines, np.zeros((3, 3)))
    low, high = axes.get_ylim()
    assert low < 0 < high
    assert "error 0: 9 points" in legend_of(figure)


def test_plot_against_prints_median_and_worst_also_as_json(run: Run) -> None:
    assert run("run", SMOKE, "-o", "a.zarr")[0] == 0
    status, out, err = run("plot", "a.zarr", "--against", "exact")
    assert status == 0
    assert err.startswith("0 of 10 points, 0.0 %")  # progress, as of `sweep run`
    first, second, path = out.splitlines()
    differences = sweep.compare("a.zarr")
    values = differences["wear_power_error"].values
    assert f"euler against exact: median {np.nanmedian(values):.3g}, worst" in first
    assert f"worst {np.nanmax(values):.3g} at step = " in first
    diverged = np.count_nonzero(differences["step"].values > 2.76e-4) * values.shape[1]
    assert second == f"{values.size - diverged} points, {diverged} diverged"
    assert path == "a_against_exact.png"
    arguments = ("--against", "exact", "--at", "step=2e-5", "-o", "b.svg", "--json")
    _, out, err = run("plot", "a.zarr", "regime", *arguments)
    printed = json.loads(out)
    assert err == ""
    assert (printed["output"], printed["file"], printed["points"]) == ("regime_error", "b.svg", 10)
    assert (printed["method"], printed["against"], printed["no_value"]) == ("euler", "exact", {})
    assert set(printed["where"]) == {"base_acceleration"}
    assert Path("b.svg").read_text().startswith("<?xml")
    assert json.loads(run("plot", "a.zarr", "--json")[1]) == {
        "output": "wear_power", "file": "a.png",
    }  # fmt: skip
    status, _, err = run("plot", "a.zarr", "--against", "exakt")
    assert (status, "did you mean 'exact'?" in err) == (2, True)


def test_elements_of_an_index_have_errors(tmp_path: Path, run: Run) -> None:
    """Two decays by steps of constant length: by rk4 the error of a step is (rate h)^5/120."""
    model = {
        "format": 1,
        "name": "decays",
        "indices": {"body": ["slow", "fast"]},
        "tables": {"rate": {"over": "body", "values": [1, 2], "unit": "1/s"}},
        "parameters": {"start": {}},
        "states": {"x": {"over": "body", "initial": "start"}},
        "derivatives": {"x": "-rate*x"},
        "outputs": {"last": {"over": "body", "final": "x"}},
    }
    request = {
        "model": model,
        "method": "rk4",
        "parameters": {"window_end": 1.0, "step": 0.125},
        "axes": {"start": [1.0, 2.0]},
    }
    path = tmp_path / "decays.zarr"
    ds = sweep.run(request, store=path, progress=False).load()
    errors = sweep.compare(ds, "dop853", {"relative_tolerance": 1e-13})
    assert errors["last_error"].dims == ("start", "body")
    for place, rate in enumerate((1.0, 2.0)):
        h = rate * 0.125
        stepped = (1 - h + h**2 / 2 - h**3 / 6 + h**4 / 24) ** 8
        expected = abs(stepped / math.exp(-rate) - 1)
        np.testing.assert_allclose(errors["last_error"].values[:, place], expected, rtol=1e-4)
    against = ("--against", "dop853", "--set", "relative_tolerance=1e-13")
    for choice in (("--at", "body=fast"), ("--hue", "body")):
        picture = tmp_path / f"{choice[1]}.png"
        status, out, _ = run("plot", str(path), "last", *against, *choice, "-o", str(picture))
        assert status == 0
        assert "2 points" in out if choice[0] == "--at" else "4 points" in out
        assert picture.exists()
