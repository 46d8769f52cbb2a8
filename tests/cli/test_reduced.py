"""Commands on a store of statistics: run, status, show, extend, export and plot."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from tests.command import Run

FILE = """
format = 1
model = "friction_oscillator"
outputs = ["wear_power", "regime"]
[parameters]
mass = 1.0
gravity = 10.0
angular_frequency = 6.25
window_start = 4.0
window_end = 12.0
[axes]
base_acceleration = { linspace = [0.5, 15.0, 5] }
[sample]
method = "sobol"
points = 64
seed = 1
friction = { uniform = [0.05, 0.4] }
[reduce]
wear_power = ["mean", "quantile 0.05", "quantile 0.95", "share above 2 W"]
regime = ["share"]
"""


@pytest.mark.broad
def test_every_command_knows_statistics(run: Run) -> None:
    file, store = "a.toml", "a.zarr"
    Path(file).write_text(FILE)  # `run` works in an empty folder
    status, out, errors = run("run", file, "-o", store, "--chunk-points", "128")
    assert status == 0, errors
    assert "320 points" in out
    assert "mean of wear power" in out
    status, out, _ = run("status", store, "--json")
    assert status == 0
    assert json.loads(out)["points_done"] == 320
    status, out, _ = run("status", store, "--verify")
    assert status == 0
    status, out, _ = run("show", store)
    assert "wear_power_share_above" in out
    status, out, _ = run("show", store, "--config")
    assert 'over = ["point"]' in out
    Path("again.toml").write_text(out)
    assert run("run", "again.toml", "-o", store)[0] == 0  # the same sweep

    status, out, _ = run("extend", store, file, "--set", "sample.points=100")
    assert status == 0
    assert "320 of 500 points done" in out
    assert run("run", file, "-o", store, "--set", "sample.points=100")[0] == 0
    dataset = xr.open_zarr(store).load()
    assert dataset.points_by_status.sel(status_class="ok").values.tolist() == [100] * 5

    assert run("export", store, "-o", "a.csv")[0] == 0
    with Path("a.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    columns = {
        "wear_power_mean": dataset.wear_power_mean,
        "wear_power_quantile_0.95": dataset.wear_power_quantile.sel(quantile=0.95),
        "regime_share_slip_slip": dataset.regime_share.sel(regime_class="slip_slip"),
    }
    for name, values in columns.items():
        np.testing.assert_array_equal([float(row[name]) for row in rows], values)
    assert run("export", store, "-o", "a.nc")[0] == 0
    with xr.open_dataset("a.nc") as exported:
        np.testing.assert_array_equal(exported.wear_power_quantile, dataset.wear_power_quantile)

    next(path for path in Path(store, "status", "c").iterdir()).unlink()
    for command in ("status", "show"):
        out = run(command, store)[1]
        assert "of 5 cells pending: not computed yet" in out  # cells, not points
        assert "points pending" not in out


def test_what_a_picture_lacks_is_said(run: Run) -> None:
    Path("a.toml").write_text(FILE)
    assert run("run", "a.toml", "-o", "a.zarr")[0] == 0
    for arguments, gist in {
        "wear_power": "wear_power_mean",
        "regime_share --at regime_class=slip": "did you mean 'slip_slip'",
        "--as histogram": "this sweep keeps statistics in place of points; draw its axes",
    }.items():
        status, _, errors = run("plot", "a.zarr", *arguments.split())
        assert (status, gist in errors) == (2, True), errors
