"""Results over `point` in several chunks: every command, and the figures of results in memory.

Their coordinates lie in files of more points than a chunk has, or beyond a stretch in several.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sweep.request.sweeps
from sweep.results.refined import cells_of
from sweep.store import open_results
from tests.command import Run, json_lines
from tests.engine.test_refinement import TOML
from tests.store.short_parts import shorten

HEAD = TOML.partition("[axes]")[0].replace('"regime"', '"slip_phases", "regime"')

SAMPLE = """
[sample]
method            = "sobol"
points            = 600
seed              = 3
friction          = { loguniform = [0.01, 1.0] }
base_acceleration = { uniform = [0.5, 15.0] }
"""

REFINED = """
[axes]
friction          = { geomspace = [0.01, 1.0, 9] }
base_acceleration = { linspace = [0.5, 15.0, 9] }

[refine]
output = "regime"
levels = 3
"""

CONTACTS = """
format  = 1
model   = "mdr_contact"
outputs = ["normalized_energy"]

[parameters]
delta = 1e-6
phase = "90 deg"

[sample]
method = "sobol"
points = 160
beta   = { loguniform = [1e-8, 4e-6] }
"""

VALUES_IN_MEMORY = 256  # in place of 2**20: coordinates longer than that are read by parts
STORE = "many.zarr"
CHUNK_POINTS = 250

KINDS = {"sample": HEAD + SAMPLE, "long sample": HEAD + SAMPLE, "refined": HEAD + REFINED}


@pytest.fixture(scope="module", params=KINDS)
def computed_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, xr.Dataset]]:
    """A folder with `many.zarr`, computed in chunks of 250, and its results computed in memory."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "many.toml").write_text(KINDS[request.param])
    computed = sweep.run(folder / "many.toml", store=None)
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "long sample":
            shorten(patch, VALUES_IN_MEMORY)
        sweep.run(folder / "many.toml", store=folder / STORE, chunk_points=CHUNK_POINTS)
        n_chunks = -(-computed.sizes["point"] // CHUNK_POINTS)
        assert len(list((folder / STORE / "status" / "c").iterdir())) == n_chunks > 2
        yield folder, computed


@pytest.fixture
def results(
    computed_store: tuple[Path, xr.Dataset], run: Run, monkeypatch: pytest.MonkeyPatch
) -> xr.Dataset:
    """What `many.zarr` in the working directory holds."""
    assert run
    folder, computed = computed_store
    monkeypatch.chdir(folder)
    return computed


@pytest.mark.broad
@pytest.mark.parametrize(
    "computed_store",
    ["long sample", *(pytest.param(k, marks=pytest.mark.broad) for k in ("refined", "sample"))],
    indirect=True,
)
def test_every_command_takes_it(results: xr.Dataset, run: Run) -> None:
    n = results.sizes["point"]
    assert run("run", "many.toml", "-o", STORE)[0] == 0
    assert f"{n:,} of {n:,} points done (100.0 %)" in run("status", STORE)[1]
    assert "no chunk is damaged" in run("status", STORE, "--verify")[1]
    assert run("plot", STORE, "-o", "a.png")[0] == 0
    assert run("plot", STORE, "-o", "b.png", "--over", "friction")[0] == 0
    assert run("plot", STORE, "-o", "c.png", "--against", "exact")[0] == 0
    for name in ("a.nc", "a.csv"):
        assert run("export", STORE, "-o", name)[0] == 0
    with xr.open_dataset("a.nc", engine="h5netcdf") as read:
        assert_same_values(read, results)
    with Path("a.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    for name, values in results.variables.items():
        if values.ndim:
            column = np.array([row[str(name)] for row in rows]).astype(values.dtype)
            np.testing.assert_array_equal(column, values.values)


@pytest.mark.broad
def test_its_figures_are_those_of_all_points(results: xr.Dataset, run: Run) -> None:
    shown = json.loads(run("show", STORE, "--json")[1])
    summary = json_lines(run("run", "many.toml", "-o", STORE, "--json")[1])[-1]
    for statistics in (shown, summary):
        outputs: dict[str, Any] = {each["name"]: each for each in statistics["outputs"]}
        for name in ("wear_power", "slip_phases"):
            values = results[name].values
            least, mean, greatest = (outputs[name][key] for key in ("least", "mean", "greatest"))
            assert (least, greatest) == (values.min(), values.max())
            weights = cells_of(results).areas() if "level" in results else None
            assert mean == pytest.approx(np.average(values, weights=weights), rel=1e-12)
        assert statistics["status"]["ok"]["points"] == results.sizes["point"]


@pytest.mark.broad
def test_its_chunks_are_those_of_the_results(results: xr.Dataset) -> None:
    """As xarray needs them for work chunk by chunk."""
    lazy = open_results(STORE)
    n = results.sizes["point"]
    assert set(lazy.chunks["point"][:-1]) == {CHUNK_POINTS}
    assert sum(lazy.chunks["point"]) == n
    assert_same_values(lazy.map_blocks(lambda block: block), results)
    assert lazy["friction"].chunks is None or n > sweep.request.sweeps.VALUES_IN_MEMORY
    plain = xr.open_zarr(STORE)
    assert plain.chunks == lazy.chunks
    assert_same_values(plain.map_blocks(lambda block: block), results)


def assert_same_values(dataset: xr.Dataset, expected: xr.Dataset) -> None:
    assert set(dataset.variables) == set(expected.variables)
    for name, values in expected.variables.items():
        np.testing.assert_array_equal(dataset[str(name)].values, values.values)


@pytest.mark.broad
def test_a_fit_is_that_of_one_chunk(run: Run, tmp_path: Path) -> None:
    (tmp_path / "contacts.toml").write_text(CONTACTS)
    for name, points in (("one", 160), ("four", 40)):
        answer = run("run", "contacts.toml", "-o", f"{name}.zarr", "--chunk-points", str(points))
        assert answer[0] == 0, answer
        status, _, error = run("fit", f"{name}.zarr", "-o", name)
        assert status == 0, error
    one, four = (
        {file.name: file.read_text() for file in Path(name).glob("*.json")}
        for name in ("one", "four")
    )
    assert one
    assert [text.replace("four", "one") for text in four.values()] == list(one.values())
