"""[sample] beside [axes]: the same points in every cell, against a run of each cell by itself."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.errors import StoreError, SweepError
from sweep.file import load
from sweep.store import Store
from sweep.store.upkeep import verify
from tests.file.documents import PARAMETERS, faults
from tests.file.test_sample import SOBOL, document

AXES: dict[str, object] = {
    "mass": {"values": [1, 2.5]},
    "angular_frequency": {"linspace": [5, 7, 3]},
}
CONSTANTS = {name: value for name, value in PARAMETERS.items() if name not in AXES}
GRID = document(SOBOL, axes=AXES, parameters=CONSTANTS, outputs=["wear_power", "regime"])


@pytest.fixture(scope="module")
def grid() -> xr.Dataset:
    return sweep.run(GRID, store=None)


def test_each_cell_holds_the_results_of_the_sample_by_itself(grid: xr.Dataset) -> None:
    assert dict(grid.sizes) == {"mass": 2, "angular_frequency": 3, "point": 64}
    assert grid["friction"].dims == grid["base_acceleration"].dims == ("point",)
    for cell in (grid.isel(mass=i, angular_frequency=j) for i in range(2) for j in range(3)):
        own = {name: float(cell[name]) for name in AXES}
        alone = sweep.run({**GRID, "axes": {}, "parameters": CONSTANTS | own}, store=None)
        for name in (*SOBOL, "wear_power", "regime", "status"):
            if name in grid.variables:
                np.testing.assert_array_equal(cell[name], alone[name], strict=True)


@pytest.mark.parametrize("chunk_points", [7, 100])
def test_no_chunking_changes_a_bit(grid: xr.Dataset, tmp_path: Path, chunk_points: int) -> None:
    dataset = sweep.run(GRID, store=tmp_path / "a.zarr", chunk_points=chunk_points)
    xr.testing.assert_identical(dataset.drop_attrs().load(), grid.drop_attrs())


def test_points_of_a_file_are_in_every_cell(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("friction,base_acceleration\n0.1,2\n0.4,9\n")
    rows = {"file": str(tmp_path / "points.csv")}
    dataset = sweep.run({**GRID, "sample": rows}, store=tmp_path / "a.zarr")
    assert dict(dataset.sizes) == {"mass": 2, "angular_frequency": 3, "point": 2}
    assert dataset["friction"].values.tolist() == [0.1, 0.4]
    again = sweep.run({**GRID, "sample": rows}, store=tmp_path / "a.zarr")
    xr.testing.assert_identical(dataset.load(), again.load())


def test_a_stopped_run_is_resumed_by_workers_and_shards(grid: xr.Dataset, tmp_path: Path) -> None:
    stop = Event()
    path = tmp_path / "a.zarr"
    sweep.run(GRID, store=path, chunk_points=16, report=lambda _: stop.set(), stop=stop)
    for shard in ("1/2", "2/2"):
        sweep.run(GRID, store=path, chunk_points=16, shard=shard, workers=2)
    store = Store.open(path)
    assert not store.pending()
    assert not verify(store)
    xr.testing.assert_identical(store.dataset().drop_attrs().load(), grid.drop_attrs())
    assert not Store.create(path, load(GRID).sweep, provenance={}).pending()


def test_axes_and_sample_grow_together(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    sweep.run(GRID, store=path, chunk_points=20)
    longer = {**GRID, "sample": {**SOBOL, "points": 100}}
    longer["axes"] = AXES | {"mass": {"values": [1, 2.5, 4]}}
    store = Store.extend(path, load(longer).sweep)
    assert store.sweep.grid.shape == (3, 3, 100)
    assert len(store.pending()) < store.n_chunks
    sweep.run(longer, store=path)
    expected = sweep.run(longer, store=None)
    xr.testing.assert_identical(store.dataset().drop_attrs().load(), expected.drop_attrs())


def test_a_latin_hypercube_cannot_grow(tmp_path: Path) -> None:
    drawn = {**SOBOL, "method": "latin_hypercube"}
    Store.create(tmp_path / "a.zarr", load({**GRID, "sample": drawn}).sweep, provenance={})
    more = load({**GRID, "sample": {**drawn, "points": 65}}).sweep
    with pytest.raises(StoreError, match="a Latin hypercube cannot grow, because"):
        Store.extend(tmp_path / "a.zarr", more, accept_revision=True)
    longer = load({**GRID, "sample": drawn, "axes": AXES | {"mass": {"values": [1, 2.5, 4]}}})
    grown = Store.extend(tmp_path / "a.zarr", longer.sweep, accept_revision=True)
    assert grown.sweep.grid.shape == (3, 3, 64)


def test_one_point_of_a_cell_is_traced() -> None:
    with pytest.raises(SweepError, match=r"value of mass, .*point.* \(at\)"):
        sweep.trace(GRID, samples=5)
    numbered = sweep.trace(GRID, {"mass": 2, "angular_frequency": 6, "point": 3}, samples=5)
    drawn = sweep.run(GRID, store=None).isel(point=3)
    assert all(float(numbered[n]) == float(drawn[n]) for n in ("friction", "base_acceleration"))
    at = {"mass": 2, "angular_frequency": 6, "friction": 0.1, "base_acceleration": 15}
    traced = sweep.trace(GRID, at, samples=5)
    assert {name: float(traced[name]) for name in at} == at


@pytest.mark.parametrize(
    ("changed", "gist"),
    [
        ({"axes": AXES | {"friction": {"values": [0.1]}}}, "friction: also given under"),
        ({"refine": {"output": "regime", "levels": 1}}, "[refine]: a [sample] has no cells"),
        ({"axes": {n: {"linspace": [1, 2, 10**5]} for n in AXES}}, "or a smaller sample"),
    ],
)
def test_what_cannot_be_in_cells_is_refused(changed: dict[str, object], gist: str) -> None:
    assert any(gist in fault for fault in faults({**GRID, **changed}))
