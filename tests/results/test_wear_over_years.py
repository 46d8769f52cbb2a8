"""Wear over years from Datasets made by hand: every value against the laws, point by point."""

from __future__ import annotations

import csv
import json
import math
import shutil
import tomllib
from contextlib import chdir
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.errors import ConfigError, SweepError, SweepWarning
from sweep.model.table import MISSING_FLAG, Status
from sweep.results import wear_over_years
from sweep.store import open_results, write_derived
from sweep.theory import wear as theory
from tests.command import Run

YEARS = [1.0, 2.0, 10.0]
TUBE: dict[str, Any] = {"geometry": "tube_flat", "radius": "11 mm", "length": "30 mm"}
SIZE = {"radius": 0.011, "length": 0.03}
ARCHARD: dict[str, Any] = {"law": "archard", "coefficient": "1.2e-13 1/Pa", "years": YEARS}
GRID = """
format = 1
model = "friction_oscillator"
outputs = ["wear_power"]
[parameters]
mass = 1
gravity = 10
angular_frequency = 6.283185307179586
window_start = 4
window_end = 12
[axes]
friction = { values = [0.1, 2.0] }
base_acceleration = { values = [1.5, 15.0] }
"""
WEAR = """
[wear]
law = "archard"
coefficient = "1.2e-13 1/Pa"
years = [1, 10]
geometry = "tube_flat"
radius = "11 mm"
length = "30 mm"
limit = "0.4 mm"
"""
CONFIG = GRID + WEAR
OPTIONS = ("--law", "archard", "--coefficient", "1.2e-13 1/Pa", "--years", "1,10")
SCAR = ("--geometry", "tube_flat", "--radius", "11 mm", "--length", "30 mm")
SAMPLE = (
    GRID[: GRID.index("friction = {")]
    + """
base_acceleration = { values = [1.0, 3.0, 15.0] }
[sample]
method = "sobol"
points = 256
seed = 1
friction = { lognormal = [0.1, 0.3] }
"""
)
ATTRIBUTES = {"model": "none", "title": "by hand", "recipe": "{}"}


def results(**variables: Any) -> xr.Dataset:
    """A Dataset as sweeps have it, over `friction` and other dimensions given by name."""
    arrays = {name: xr.Variable(*each) for name, each in variables.items()}
    size = next(iter(arrays.values())).sizes["friction"]
    arrays.setdefault("status", xr.Variable("friction", np.zeros(size, np.uint8)))
    return xr.Dataset(arrays, {"friction": np.arange(size) / 10, "mass": 2.0}, ATTRIBUTES)


def watts(values: Any) -> tuple[str, Any, dict[str, str]]:
    return "friction", np.array(values), {"units": "W"}


POWERS = [0.0, 1e-3, 4e-3, 0.02, 0.5, 30.0]


@pytest.mark.parametrize("law", [ARCHARD, {"law": "edf_mz", "years": YEARS}])
def test_every_point_and_time_is_what_the_law_gives(law: dict[str, Any]) -> None:
    wear = sweep.wear(results(wear_power=watts(POWERS)), **law, **TUBE, limit="0.4 mm")
    coefficient = {"coefficient": 1.2e-13} if law["law"] == "archard" else {}
    assert wear.wear_volume.dims == wear.wear_depth.dims == ("friction", "time")
    assert wear.time.values.tolist() == [31_536_000 * year for year in YEARS]
    assert wear.years.values.tolist() == YEARS
    for i, power in enumerate(POWERS):
        limit = theory.time_to_depth(law["law"], "tube_flat", power, 4e-4, **coefficient, **SIZE)
        assert wear.time_to_limit.values[i] == limit
        for j, seconds in enumerate(wear.time.values):
            volume = theory.volume(law["law"], power, seconds, **coefficient)
            depth = theory.depth("tube_flat", volume, **SIZE)
            assert wear.wear_volume.values[i, j] == volume
            np.testing.assert_array_equal(wear.wear_depth.values[i, j], depth)
            state = "worn_through" if np.isnan(depth) else "within_law"
            if law["law"] == "edf_mz" and power == 1e-3:
                state = "below_law"
            names = wear.wear_state.attrs["flag_meanings"].split()
            assert names[wear.wear_state.values[i, j]] == state, (power, seconds)
    assert "worn_through" in wear.wear_state.attrs["flag_meanings"]
    assert np.isnan(wear.wear_depth.values[-1, -1])  # 30 W for ten years leave no tube
    assert (wear.status == Status.ok).all()
    units = {name: wear[name].attrs.get("units") for name in wear.variables}
    assert units["wear_volume"] == "m^3"
    assert units["wear_depth"] == "m"
    assert units["time_to_limit"] == units["time"] == "s"


def test_points_without_a_power_have_no_wear() -> None:
    """A failed point keeps its status; a negative power is outside the validity of every law."""
    status = ("friction", np.array([0, Status.diverged, 0, Status.pending], np.uint8))
    powers = watts([0.1, math.nan, -1e-3, math.nan])
    wear = sweep.wear(results(wear_power=powers, status=status), **ARCHARD, **TUBE, limit=1e-4)
    expected = [Status.ok, Status.diverged, Status.outside_validity, Status.pending]
    assert wear.status.values.tolist() == expected
    for name in ("wear_volume", "wear_depth", "time_to_limit"):
        assert np.isfinite(wear[name].values[0]).all()
        assert np.isnan(wear[name].values[1:]).all(), name
    assert (wear.wear_state.values[1:] == MISSING_FLAG).all()


def test_lazy_results_stay_lazy_and_parts_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = results(wear_power=watts(np.geomspace(1e-4, 1, 50)))
    options = {**ARCHARD, **TUBE, "limit": 1e-4, "coefficient": "uniform 1e-13 2e-13"}
    whole = sweep.wear(dataset, **options)
    monkeypatch.setattr(wear_over_years, "PART", 20)
    lazy = sweep.wear(dataset.chunk(friction=7), **options)
    assert lazy.wear_depth_quantile.chunks is not None
    xr.testing.assert_identical(lazy.load(), whole)


def test_several_powers_and_powers_over_an_index_keep_their_dimensions() -> None:
    """Each is worn as if it were alone; a point at which one of them is negative has no wear."""
    supports = np.array([[0.1, 0.2, 0.0], [0.3, 4.0, 0.05]]).T
    both = results(
        upper=(("friction", "support"), supports, {"units": "W"}),
        lower=(("friction", "support"), supports[::-1] - [[0], [0.3], [0]], {"units": "W"}),
    )
    options = {**ARCHARD, **TUBE, "limit": 1e-3}
    wear = sweep.wear(both, **options, power=["upper", "lower"])
    assert wear.wear_depth.dims == ("friction", "power", "support", "time")
    assert wear["power"].values.tolist() == ["upper", "lower"]
    for name in ("upper", "lower"):
        alone = sweep.wear(both, **options, power=name)
        assert alone.wear_depth.dims == ("friction", "support", "time")
        for output in ("wear_volume", "wear_depth", "time_to_limit", "wear_state"):
            found = wear[output].sel(power=name).isel(friction=[0, 2])
            np.testing.assert_array_equal(found, alone[output].isel(friction=[0, 2]))
            each = wear[output].isel(friction=1)
            assert (each == MISSING_FLAG if output == "wear_state" else np.isnan(each)).all()
    assert wear.status.values.tolist() == [0, Status.outside_validity, 0]
    expected = theory.volume("archard", 4.0, 31_536_000.0, coefficient=1.2e-13)
    assert wear.wear_volume.sel(power="lower").values[1, 1, 0] != expected
    shares = reduced()[1].assign(
        other_quantile=(("friction", "quantile"), np.ones((3, 3)), {"units": "W"})
    )
    with pytest.raises(SweepError, match=r"shares of wear_power .*one power at a time"):
        sweep.wear(shares, **options, power=["wear_power", "other"])


def test_energies_of_cycles_wear_as_powers_of_seconds_do() -> None:
    energies = ("friction", np.array([0.5, 2.0, 0.0]), {"units": "J"})
    law = {"law": "archard", "coefficient": 1.2e-13}
    wear = sweep.wear(
        results(work=energies), **law, **TUBE, power="work", cycles=[1e6, 1e8], limit=1e-4
    )
    assert wear.wear_depth.dims == ("friction", "cycles")
    assert wear["cycles"].values.tolist() == [1e6, 1e8]
    volume = 1.2e-13 * np.outer([0.5, 2.0, 0.0], [1e6, 1e8])
    np.testing.assert_allclose(wear.wear_volume, volume, rtol=1e-15)
    scar = theory.scar_volume("tube_flat", 1e-4, **SIZE)
    cycles = [scar / (1.2e-13 * 0.5), scar / (1.2e-13 * 2.0), math.inf]
    np.testing.assert_allclose(wear.cycles_to_limit, cycles, rtol=1e-14)
    with pytest.raises(SweepError, match=r"work is in J.*has to be in W"):
        sweep.wear(results(work=energies), **law, power="work", years=1)
    with pytest.raises(ConfigError, match="edf_mz is a law of the time in service; give years"):
        sweep.wear(results(work=energies), law="edf_mz", power="work", cycles=1e6)


def test_a_wall_is_worn_through_at_its_thickness() -> None:
    thick = sweep.wear(results(wear_power=watts(POWERS)), **ARCHARD, **TUBE)
    wear = sweep.wear(results(wear_power=watts(POWERS)), **ARCHARD, **TUBE, wall="1.09 mm")
    np.testing.assert_array_equal(wear.wear_depth, thick.wear_depth)
    through = (wear.wear_depth >= 1.09e-3) | np.isnan(wear.wear_depth)
    assert 0 < through.sum() < through.size
    np.testing.assert_array_equal(wear.wear_state == 2, through)
    with pytest.raises(ConfigError, match=r"limit: 0\.002 m is more than the wall, 0.001 m"):
        sweep.wear(results(wear_power=watts(POWERS)), **ARCHARD, **TUBE, wall=1e-3, limit=2e-3)


def test_the_command_takes_several_powers_and_a_wall(run: Run) -> None:
    powers = ["wear_power", "friction_power"]
    Path("a.toml").write_text(CONFIG.replace('outputs = ["wear_power"]', f"outputs = {powers}"))
    more = ("--set", f"wear.power={json.dumps(powers)}", "--set", "wear.wall=1 mm")
    assert run("run", "a.toml", "-o", "a.zarr", *more)[0] == 0
    command = ("wear", "a.zarr", *OPTIONS, *SCAR, "--limit", "0.4 mm", "--wall", "1 mm")
    status, _, err = run(*command, "--power", ",".join(powers), "-o", "b.zarr")
    assert (status, err) == (0, "")
    by_command = open_results("b.zarr").load()
    assert by_command.wear_depth.dims == ("friction", "base_acceleration", "power", "time")
    xr.testing.assert_identical(open_results("a_wear.zarr").load(), by_command)
    assert run("plot", "b.zarr")[0] == run("show", "b.zarr")[0] == 0
    assert run("plot", "b.zarr", "time_to_limit")[0] == 0


# --- Uncertain coefficients ---


def test_quantiles_of_an_uncertain_coefficient() -> None:
    """A lognormal coefficient: its quantiles are median · exp(σ z), with z from elsewhere."""
    text = {**ARCHARD, "coefficient": "lognormal 1.2e-13 0.5 1/Pa", "quantiles": [0.9, 0.1, 0.5]}
    table = {**text, "coefficient": {"lognormal": ["1.2e-13 1/Pa", 0.5]}}
    dataset = results(wear_power=watts([0.0, 0.01, 0.5]))
    wear = sweep.wear(dataset, **text, **TUBE, limit="0.1 mm")
    xr.testing.assert_identical(wear, sweep.wear(dataset, **table, **TUBE, limit="0.1 mm"))
    assert wear["quantile"].values.tolist() == [0.1, 0.5, 0.9]
    assert wear.wear_depth_quantile.dims == ("friction", "quantile", "time")
    assert "wear_depth" not in wear
    for i, level in enumerate([0.1, 0.5, 0.9]):
        coefficient = 1.2e-13 * math.exp(0.5 * NormalDist().inv_cdf(level))
        one = sweep.wear(dataset, **{**ARCHARD, "coefficient": coefficient}, **TUBE, limit=1e-4)
        names = {
            "wear_volume_quantile": "wear_volume",
            "wear_depth_quantile": "wear_depth",
            "time_to_limit_of_quantile": "time_to_limit",
        }
        for name, alone in names.items():
            ours, other = wear[name].isel(quantile=i).values, one[alone].values
            np.testing.assert_allclose(ours, other, rtol=1e-13)


# --- Reduced results ---


def reduced(number: int = 101) -> tuple[np.ndarray, xr.Dataset]:
    """Powers of points in three cells, and their statistics as reduced sweeps name them."""
    random = np.random.default_rng(3)
    powers = np.abs(random.normal(0.05, 0.05, (3, number))) * [[1.0], [3.0], [0.2]]
    levels, thresholds = np.array([0.05, 0.5, 0.95]), np.array([0.002, 0.06])
    ranks = np.ceil(levels * number).astype(int) - 1
    quantiles = np.sort(powers, axis=1)[:, ranks]
    above = (powers[:, :, None] > thresholds).mean(axis=1)
    below = (powers[:, :, None] < thresholds).mean(axis=1)
    shares = ("friction", "wear_power_threshold")
    unit, share = {"units": "W"}, {"units": "1"}
    dataset = results(
        wear_power_mean=watts(powers.mean(axis=1)),
        wear_power_standard_deviation=watts(powers.std(axis=1)),
        wear_power_minimum=watts(powers.min(axis=1)),
        wear_power_maximum=watts(powers.max(axis=1)),
        wear_power_quantile=(("friction", "quantile"), quantiles, unit),
        wear_power_share_above=(shares, above, share),
        wear_power_share_below=(shares, below, share),
    ).assign_coords(
        {"quantile": levels, "wear_power_threshold": ("wear_power_threshold", thresholds, unit)}
    )
    return powers, dataset


def test_thresholds_are_columns_of_a_table(tmp_path: Path) -> None:
    found = sweep.wear(reduced()[1], **ARCHARD, **TUBE)
    sweep.export(found, tmp_path / "wear.csv")
    with (tmp_path / "wear.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    depths = found.wear_depth_threshold.sel(wear_power_threshold=0.06)
    expected = np.tile(depths, found.sizes["friction"])
    assert [float(line["wear_depth_threshold_0.06"]) for line in lines] == expected.tolist()


@pytest.mark.parametrize("law", [ARCHARD, {"law": "edf_mz", "years": YEARS}])
def test_statistics_of_powers_become_those_of_the_wear(law: dict[str, Any]) -> None:
    """Against the statistics of every point's own wear."""
    powers, dataset = reduced()
    wear = sweep.wear(dataset, **law, **TUBE, limit="0.05 mm")
    coefficient = {"coefficient": 1.2e-13} if law["law"] == "archard" else {}
    seconds = wear.time.values
    volumes = theory.volume(law["law"], powers[..., None], seconds, **coefficient)
    depths = theory.depth("tube_flat", volumes, **SIZE)
    wears = {"volume": volumes, "depth": np.where(np.isnan(depths), np.inf, depths)}
    ranks = np.ceil(wear["quantile"].values * powers.shape[1]).astype(int) - 1
    for kind, values in wears.items():
        expected = {
            "minimum": values.min(axis=1),
            "maximum": values.max(axis=1),
            "quantile": np.sort(values, axis=1)[:, ranks],
        }
        for name, each in expected.items():
            known = np.where(np.isinf(each), np.nan, each)  # worn through
            np.testing.assert_array_equal(wear[f"wear_{kind}_{name}"], known)
        limits = wear[f"wear_{kind}_threshold"]
        assert limits.dims == ("wear_power_threshold", "time")
        for i, j in np.ndindex(limits.shape):
            if np.isnan(limits.values[i, j]):  # all lower powers have the same wear
                assert (law["law"], i) == ("edf_mz", 0)
                continue
            above = (values[:, :, j] > limits.values[i, j]).mean(axis=1)
            below = (values[:, :, j] < limits.values[i, j]).mean(axis=1)
            np.testing.assert_array_equal(wear[f"wear_{kind}_share_above"][:, i], above)
            np.testing.assert_array_equal(wear[f"wear_{kind}_share_below"][:, i], below)
    times = theory.time_to_depth(law["law"], "tube_flat", powers, 5e-5, **coefficient, **SIZE)
    np.testing.assert_array_equal(wear.time_to_limit_of_maximum, times.min(axis=1))
    np.testing.assert_array_equal(wear.time_to_limit_of_minimum, times.max(axis=1))
    backwards = np.sort(times, axis=1)[:, ::-1]
    np.testing.assert_array_equal(wear.time_to_limit_of_quantile, backwards[:, ranks])
    assert not any("mean" in str(name) or "deviation" in str(name) for name in wear)


REDUCED = """
[reduce]
exact_quantiles = true
wear_power = ["mean", "minimum", "maximum", "quantile 0.05", "quantile 0.5", "share above 0.1 W"]
"""


def test_a_sweep_that_is_reduced_has_the_wear_of_its_points(run: Run) -> None:
    Path("points.toml").write_text(SAMPLE + WEAR)
    Path("reduced.toml").write_text(SAMPLE + REDUCED + WEAR)
    points = sweep.run("points.toml", store=None)
    status, _, _ = run("run", "reduced.toml", "-o", "r.zarr")
    assert status == 0
    wear = open_results("r_wear.zarr").load()
    depths = points.wear_depth.transpose("base_acceleration", "point", "time").values
    depths = np.where(points.wear_state.transpose(*wear.wear_depth_minimum.dims[:1], "point",
                      "time").values == 2, np.inf, depths)  # fmt: skip
    ranks = np.ceil(wear["quantile"].values * 256).astype(int) - 1
    for name, expected in {
        "minimum": depths.min(axis=1),
        "maximum": depths.max(axis=1),
        "quantile": np.sort(depths, axis=1)[:, ranks],
    }.items():
        known = np.where(np.isinf(expected), np.nan, expected)
        np.testing.assert_array_equal(wear[f"wear_depth_{name}"], known)
    limits = wear.wear_depth_threshold.values[0]
    above = (depths > limits).mean(axis=1)[:, 0]
    np.testing.assert_array_equal(wear.wear_depth_share_above.values[:, 0], above)


def test_means_are_refused() -> None:
    _, dataset = reduced()
    reduced_dataset = dataset[["wear_power_mean", "wear_power_standard_deviation", "status"]]
    with pytest.raises(SweepError, match=r"wear of wear_power_mean, .* is unknown.*\[reduce\]"):
        sweep.wear(reduced_dataset, **ARCHARD)
    with pytest.raises(SweepError, match="coefficient is uncertain, too"):
        sweep.wear(dataset, **{**ARCHARD, "coefficient": "lognormal 1e-13 0.5 1/Pa"})


# --- Faults ---

FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"law": None}, "law: missing; choose one of archard, edf_mz"),
    ({"law": "archart"}, "law: 'archart' is not a law of wear; did you mean 'archard'"),
    ({"law": 3}, "law: 3 is not the name of a law"),
    ({"coefficient": None}, "coefficient: missing; give it in 1/Pa"),
    ({"coefficient": "1.2e-13 kg"}, "coefficient: '1.2e-13 kg' has the wrong dimension"),
    ({"coefficient": 0}, "coefficient: 0 is out of range; it has to be above 0"),
    ({"coefficient": "lognormall 1e-13 0.5"}, "coefficient: .*did you mean 'lognormal'"),
    ({"coefficient": "lognormal 1e-13"}, "coefficient: lognormal takes .*, not 1 entries"),
    ({"coefficient": "lognormal 1e-13 0.5 kg"}, "coefficient: .*wrong dimension"),
    ({"coefficient": "normal 1e-13 1e-13"}, "coefficient: at the quantile 0.05 it would be -"),
    ({"exponent": 1.2}, "exponent: archard has no such coefficient"),
    ({"years": None}, "years: missing"),
    ({"years": []}, "years: empty"),
    ({"years": [1, -2]}, "years: .*each has to be above 0"),
    ({"years": [2, 1]}, "years: .*they have to ascend"),
    ({"years": "1,two"}, "years: '1,two' is not a list of numbers"),
    ({"years": [1, math.inf]}, "years: .*finite"),
    ({"quantiles": [0.5]}, "quantiles: only for an uncertain coefficient"),
    ({"coefficient": "uniform 1e-14 1e-13", "quantiles": [0, 1]}, "quantiles: .*above 0 and below"),
    ({"geometry": "tube_flatt"}, "geometry: .*did you mean 'tube_flat'"),
    ({"geometry": None}, "radius: needs a geometry"),
    ({"radius": None}, "radius: missing; give it in m"),
    ({"radius": "11 kg"}, "radius: '11 kg' has the wrong dimension"),
    ({"length": 0}, "length: 0 is out of range"),
    ({"angle": 0.1}, "angle: tube_flat has none; remove it, or use tube_flat_inclined"),
    ({"geometry": "tube_flat_inclined"}, "angle: missing"),
    ({"geometry": "tube_flat_inclined", "angle": "100 degree"}, "angle: .*below 1.5708 rad"),
    ({"hole_radius": 1}, "hole_radius: tube_flat has none; remove it, or use tube_hole"),
    ({"geometry": "tube_hole"}, "hole_radius: missing"),
    ({"geometry": "tube_hole", "hole_radius": 0.01}, "hole_radius: 0.01 m is less than the radius"),
    ({"geometry": "tube_hole", "hole_radius": 1, "small": True}, "small: tube_hole has no formula"),
    ({"small": "yes"}, "small: 'yes' is not true or false"),
    ({"limit": "23 mm"}, "limit: 0.023 m is more than the diameter of the tube, 0.022 m"),
    ({"limit": -1e-3}, "limit: -0.001 is out of range"),
    ({"limits": 1e-3}, "limits: there is no such key; did you mean 'limit'"),
]


@pytest.mark.parametrize(("changes", "message"), FAULTS)
def test_faults(changes: dict[str, Any], message: str) -> None:
    table = {**ARCHARD, **TUBE, **changes}
    options = {key: value for key, value in table.items() if value is not None}
    with pytest.raises(ConfigError, match=message):
        sweep.wear(results(wear_power=watts([1.0])), **options)


def test_an_unreadable_distribution_is_one_fault() -> None:
    uncertain = {"coefficient": {"lognormal": [1e-13]}, "quantiles": [0.5]}
    with pytest.raises(ConfigError) as caught:
        sweep.wear(results(wear_power=watts([1.0])), **{**ARCHARD, **uncertain})
    assert [fault.where for fault in caught.value.faults] == ["coefficient"]


def test_all_faults_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        sweep.wear(results(wear_power=watts([1.0])), law="x", years=[], radius="1 kg", limit=1)
    assert len(caught.value.faults) == 4


def test_results_that_have_no_wear_power() -> None:
    with pytest.raises(SweepError, match=r"no 'wear_power'.*name one of heat as .power."):
        sweep.wear(results(heat=watts([1.0])), **ARCHARD)
    with pytest.raises(SweepError, match=r"no 'wear_power'.*add an output in W"):
        sweep.wear(results(speed=("friction", [1.0], {"units": "m/s"})), **ARCHARD)
    with pytest.raises(SweepError, match="is in m/s; a wear power has to be in W"):
        sweep.wear(results(speed=("friction", [1.0], {"units": "m/s"})), **ARCHARD, power="speed")
    wear = sweep.wear(results(heat=watts([1.0])), **ARCHARD, power="heat")
    assert wear.wear_volume.values[0, 0] == theory.volume(
        "archard", 1.0, 31_536_000, coefficient=1.2e-13
    )


def test_points_that_where_leaves_out_have_no_wear_and_are_not_ok() -> None:
    dataset = results(wear_power=watts(POWERS))
    wear = sweep.wear(dataset.where(dataset["wear_power"] > 0.1), **ARCHARD)
    assert wear["status"].values.tolist() == [Status.pending] * 4 + [Status.ok] * 2
    np.testing.assert_array_equal(np.isnan(wear["wear_volume"][:, 0]), wear["status"] != 0)


# --- The store of wear, and the command ---


def test_a_store_of_wear_reads_as_it_was_written_and_is_never_run(run: Run) -> None:
    dataset = results(wear_power=watts([0.0, 0.5]))
    wear = sweep.wear(dataset, **ARCHARD, **TUBE, limit=1e-4)
    write_derived(wear, "w.zarr")
    xr.testing.assert_identical(open_results("w.zarr").load(), wear)
    assert list(open_results("w.zarr").data_vars) == list(wear.data_vars)
    write_derived(wear.isel(time=[0]), "w.zarr")  # in place of the other
    assert open_results("w.zarr").sizes["time"] == 1
    for command in (["status"], ["run", "wear_power", "-o"]):
        status, _, err = run(*command, "w.zarr")
        assert status == 2
        assert "computed from the results of another store" in err
    status, _, err = run("wear", "w.zarr", "--law", "edf_mz", "--years", "1")
    assert status == 2
    assert "no 'wear_power'" in err


def test_the_command_writes_a_store_that_other_commands_read(run: Run) -> None:
    Path("a.toml").write_text(GRID)
    dataset = sweep.run("a.toml", store="results/a.zarr")
    status, out, err = run("wear", "results/a.zarr", *OPTIONS, *SCAR, "--limit", "0.4 mm")
    assert (status, err) == (0, "")
    assert "wear_depth" in out
    assert "next: sweep plot results/a_wear.zarr" in out
    kept = open_results("results/a_wear.zarr")
    table = {"law": "archard", "coefficient": 1.2e-13, "years": [1, 10], "limit": "0.4 mm"}
    xr.testing.assert_identical(kept.load(), sweep.wear(dataset, **table, **TUBE).load())
    status, out, _ = run("show", "results/a_wear.zarr", "--json")
    shown = {each["name"]: each for each in json.loads(out)["outputs"]}
    assert shown["time_to_limit"]["infinite"] == 2  # at friction 2 it sticks
    status, _, err = run("export", "results/a_wear.zarr", "-o", "a.csv")
    rows = [line for line in Path("a.csv").read_text().splitlines() if line[0] != "#"]
    assert rows[0].startswith("friction,base_acceleration,time,years,wear_volume,")
    assert len(rows) == 1 + 8
    status, out, err = run("wear", "results/a.zarr", "--law", "archert", "--hole-radius", "x")
    assert (status, out) == (2, "")
    assert "--law: 'archert' is not a law of wear" in err
    assert "--years: missing" in err
    assert "--hole-radius: needs a geometry" in err
    status, out, err = run("wear", "results/a.zarr", *OPTIONS, "-o", "results/a.zarr")
    assert status == 2
    assert "was not computed from other results" in err
    with chdir("results/a.zarr"):
        assert run("wear", ".", *OPTIONS)[0] == 0
    assert not list(Path("results/a.zarr").glob("*_wear.zarr"))
    assert "wear_depth" not in open_results("results/a_wear.zarr")


# --- [wear] in a sweep file ---


def test_wear_in_a_sweep_file_is_that_of_the_command(run: Run) -> None:
    Path("a.toml").write_text(CONFIG)
    in_memory = sweep.run("a.toml", store=None)
    status, out, _ = run("run", "a.toml", "-o", "a.zarr")
    assert status == 0
    assert "wear over years: a_wear.zarr" in out
    status, _, _ = run("wear", "a.zarr", *OPTIONS, *SCAR, "--limit", "0.4 mm", "-o", "b.zarr")
    assert status == 0
    from_run, by_command = open_results("a_wear.zarr"), open_results("b.zarr")
    xr.testing.assert_identical(from_run.load(), by_command.load())
    again = sweep.run("a.toml", store="a.zarr")
    for name in ("wear_power", "wear_volume", "wear_state", "wear_depth", "time_to_limit"):
        np.testing.assert_array_equal(in_memory[name], again[name])
        if name != "wear_power":
            np.testing.assert_array_equal(again[name], from_run[name])


def test_a_large_inclination_is_warned_of_once(run: Run) -> None:
    inclined = {**ARCHARD, **TUBE, "geometry": "tube_flat_inclined", "angle": 0.2}
    with pytest.warns(SweepWarning, match="0.2 rad.* 1.36 % too large") as caught:
        wear = sweep.wear(results(wear_power=watts(POWERS)), **inclined, limit="0.4 mm")
    assert len(caught) == 1
    limit = theory.time_to_depth(
        "archard", "tube_flat_inclined", POWERS, 4e-4, coefficient=1.2e-13, angle=0.2, **SIZE
    )
    np.testing.assert_array_equal(wear.time_to_limit, limit)
    Path("a.toml").write_text(CONFIG.replace('"tube_flat"', '"tube_flat_inclined"\nangle = 0.2'))
    status, _, err = run("run", "a.toml", "-o", "a.zarr")
    assert status == 0
    assert err.count(f"warning: {caught[0].message}") == err.count("tube_flat_inclined") == 1


def test_wear_of_refined_results(run: Run) -> None:
    """Summaries weigh points by the area of their cells; the map is that of the grid."""
    table = CONFIG.replace("values = [0.1, 2.0]", "linspace = [0.1, 2.0, 5]").replace(
        "values = [1.5, 15.0]", "linspace = [1.5, 15.0, 5]"
    )
    refined = '[refine]\noutput = "wear_power"\nlevels = 1\ntolerance = 0.2\n'
    Path("r.toml").write_text(table + refined)
    assert run("run", "r.toml", "-o", "r.zarr")[0] == 0
    status, out, _ = run("show", "r_wear.zarr", "--json")
    summary = json.loads(out)
    assert (status, summary["weighted_by"]) == (0, "cell area")
    assert len({each["name"] for each in summary["outputs"]} & {"wear_depth", "wear_state"}) == 2
    for output in ("time_to_limit", "wear_state"):
        assert run("plot", "r_wear.zarr", output)[0] == 0


def test_wear_is_written_anew_only_if_something_changed(run: Run) -> None:
    Path("a.toml").write_text(CONFIG)
    written = Path("a_wear.zarr/zarr.json")

    def when(*options: str) -> int:
        assert run("run", "a.toml", "-o", "a.zarr", *options)[0] == 0
        return written.stat().st_ino

    first = when()
    assert when() == first
    second = when("--set", "wear.limit=0.5 mm")
    assert second != first
    assert (
        open_results("a_wear.zarr")
        .time_to_limit.attrs["long_name"]
        .startswith("time until the depth is 0.0005 m")
    )


def test_a_store_resumed_without_its_file_has_wear(run: Run) -> None:
    """[wear] is kept in the store, in its last form; in an old store from the next run."""
    Path("old.toml").write_text(GRID)
    Path("a.toml").write_text(CONFIG)
    assert run("run", "old.toml", "-o", "a.zarr")[0] == 0
    assert run("run", "a.zarr")[0] == 0
    assert not Path("a_wear.zarr").exists()
    assert run("run", "a.toml", "-o", "a.zarr", "--set", "wear.years=[1, 2, 5]")[0] == 0
    Path("a.zarr/status/c/0/0").unlink()
    shutil.rmtree("a_wear.zarr")
    assert run("run", "a.zarr")[0] == 0
    assert open_results("a_wear.zarr").sizes["time"] == 3
    _, text, _ = run("show", "a.zarr", "--config")
    assert tomllib.loads(text)["wear"] == {**tomllib.loads(CONFIG)["wear"], "years": [1, 2, 5]}
    longer = "friction={ values = [0.1, 2.0, 3.0] }"
    assert run("extend", "a.zarr", "old.toml", "--set", longer)[0] == 0
    assert run("run", "a.zarr")[0] == 0
    assert open_results("a_wear.zarr").sizes["friction"] == 3


def test_wear_of_an_earlier_state_is_pointed_out(run: Run) -> None:
    Path("a.toml").write_text(GRID)
    law = ("wear", "a.zarr", "--law", "edf_mz", "--years", "1")
    assert run("run", "a.toml", "-o", "a.zarr", "--set", "run.chunk_points=1")[0] == 0
    assert run(*law)[0] == 0
    Path("a.zarr/status/c/0/0").unlink()
    assert "a.zarr': run `sweep wear" in run("show", "a_wear.zarr")[2]
    status, out, err = run(*law)
    assert (status, err) == (0, "")
    assert "1 of 4 points pending: not computed when the wear was" in out
    assert run("run", "a.zarr")[0] == 0
    assert run("plot", "a_wear.zarr")[2].count("made from an earlier state of") == 1
    assert run(*law)[0] == 0
    assert run("show", "a_wear.zarr")[2] == ""
    longer = "friction={ values = [0.1, 2.0, 3.0] }"
    assert run("extend", "a.zarr", "a.toml", "--set", longer)[0] == 0
    with pytest.warns(SweepWarning, match="made from an earlier state of .*a.zarr"):
        open_results("a_wear.zarr")
    assert run("run", "a.zarr")[0] == 0
    with pytest.warns(SweepWarning, match="made from an earlier state of .*a.zarr"):
        open_results("a_wear.zarr")
    Path("a.zarr").rename("b.zarr")
    open_results("a_wear.zarr")


WRONG = [
    ('law = "archard"', 'law = "archard"\npower = "regime"', "[wear] power: regime is not"),
    ('outputs = ["wear_power"]', 'outputs = ["slip_distance"]', "[wear] power: wear_power is not"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "change", "message"), WRONG)
def test_faults_of_the_table(run: Run, text: str, change: str, message: str) -> None:
    assert text in CONFIG
    Path("a.toml").write_text(CONFIG.replace(text, change))
    status, _, err = run("run", "a.toml")
    assert status == 2
    assert message in err
