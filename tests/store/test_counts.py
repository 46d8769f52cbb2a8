"""Missing counts are NaN wherever results are read, and integers wherever they are written."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr

import sweep
from sweep.explorers.page_contents import _stored_output
from sweep.file import load
from sweep.model.table import MISSING_FLAG, Status
from sweep.request.sweeps import Axis
from sweep.results.refined import on_grid
from sweep.results.summary import contents, state
from sweep.store import Arrays, Store, open_results
from sweep.store.datasets import settled
from tests.points.test_chunking import sweep_over
from tests.store.test_store import SWEEP, create, finish, results_of, tree

WHOLE = np.arange(SWEEP.n_points).reshape(SWEEP.grid.shape)
IS_LOST = WHOLE % 11 == 5  # as results_of has it

REFINED = {
    "format": 1,
    "model": "friction_oscillator",
    "outputs": ["slip_phases", "wear_power"],
    "parameters": {"mass": 1.0, "gravity": 10.0, "angular_frequency": 6.0,
                   "window_start": 4.0, "window_end": 12.0},
    "axes": {"friction": {"linspace": [0.1, 0.9, 4]},
             "base_acceleration": {"linspace": [0.5, 15.0, 5]}},
    "refine": {"output": "slip_phases", "levels": 2, "tolerance": 0.1},
}  # fmt: skip


def assert_read(dataset: xr.Dataset) -> None:
    """The counts of SWEEP are numbers or NaN, so that sums and means leave missing ones out."""
    phases = dataset.slip_phases
    assert phases.dtype == np.float64
    assert "_FillValue" not in phases.attrs
    np.testing.assert_array_equal(phases, np.where(IS_LOST, np.nan, WHOLE))
    assert phases.sum() == WHOLE[~IS_LOST].sum()
    assert phases.mean() == WHOLE[~IS_LOST].mean()
    assert dataset.regime.dtype == dataset.status.dtype == np.uint8
    assert (dataset.regime.values[IS_LOST] == MISSING_FLAG).all()
    assert (dataset.status.values[IS_LOST] == Status.diverged).all()


def as_before(path: Path) -> None:
    """Make the metadata of a store what they were before counts had a `_FillValue`."""
    changed = 0
    for file in (path / "zarr.json", path / "slip_phases" / "zarr.json"):
        document = json.loads(file.read_text())
        inline = document.get("consolidated_metadata", {}).get("metadata", {})
        array = inline.get("slip_phases", document)
        changed += array["attributes"].pop("_FillValue") == -1
        file.write_text(json.dumps(document, indent=2))
    assert changed == 2


def test_counts_are_integers_on_the_disk_and_numbers_or_nan_elsewhere(store: Store) -> None:
    finish(store)
    array = zarr.open_array(store.path / "slip_phases", mode="r")
    assert (array.dtype, array.fill_value, array.attrs["_FillValue"]) == (np.int32, -1, -1)
    np.testing.assert_array_equal(array[...], np.where(IS_LOST, -1, WHOLE))
    memory = Arrays(SWEEP)
    finish(memory)
    for dataset in (xr.open_zarr(store.path), open_results(store.path), memory.dataset()):
        assert_read(dataset)
    assert_read(settled(open_results(store.path)))


def test_old_stores_read_resume_and_extend_alike(tmp_path: Path) -> None:
    new, old = create(tmp_path / "new.zarr"), create(tmp_path / "old.zarr")
    for store in (new, old):
        chunk = store.pending()[0]
        store.write(chunk, results_of(SWEEP, chunk))
    as_before(old.path)
    assert_alike(open_results(old.path), open_results(new.path))  # with pending points
    finish(create(old.path))
    finish(new)
    assert_read(open_results(old.path))
    files = tree(new.path)
    metadata = {"zarr.json", "slip_phases/zarr.json"}
    assert {n for n, content in tree(old.path).items() if content != files[n]} == metadata
    friction, acceleration = SWEEP.axes
    values = np.append(acceleration.columns["base_acceleration"][:], 20.0)
    column = {"base_acceleration": values}
    longer = sweep_over(friction, Axis("base_acceleration", column, {"values": values.tolist()}))
    for store in (old, new):
        extended = Store.extend(store.path, longer)
        assert extended.pending()
        for chunk in extended.pending():
            extended.write(chunk, results_of(longer, chunk))
    assert tree(old.path) == tree(new.path)


def assert_alike(one: xr.Dataset, other: xr.Dataset) -> None:
    xr.testing.assert_identical(one.load(), other.load())
    for name in one.variables:
        encodings = [each[name].encoding for each in (one, other)]
        wanted = [[e.get("dtype"), e.get("_FillValue")] for e in encodings]
        assert wanted[0] == wanted[1], name


@pytest.fixture(params=["store", "memory"])
def source(request: pytest.FixtureRequest, store: Store) -> Path | xr.Dataset:
    """What SWEEP is exported from."""
    if request.param == "store":
        return store.path
    memory = Arrays(SWEEP)
    finish(memory)
    return memory.dataset()


EXPORTED = [None if lost else n for n, lost in enumerate(IS_LOST.ravel())]


def test_exported_counts_are_whole_numbers(source: Path | xr.Dataset, tmp_path: Path) -> None:
    with sweep.export(source, tmp_path / "a.csv").open(encoding="utf-8") as file:
        texts = [row["slip_phases"] for row in csv.DictReader(file)]
    assert texts == ["" if n is None else str(n) for n in EXPORTED]
    path = sweep.export(source, tmp_path / "a.nc")
    with xr.open_dataset(path, mask_and_scale=False) as raw:
        assert raw.slip_phases.dtype == np.int32
        np.testing.assert_array_equal(raw.slip_phases, np.where(IS_LOST, -1, WHOLE))
    with xr.open_dataset(path) as dataset:
        assert_read(dataset)


def test_counts_in_parquet_are_integers_or_null(source: Path | xr.Dataset, tmp_path: Path) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet", reason="optional: the extra parquet")
    table = parquet.read_table(sweep.export(source, tmp_path / "a.parquet"))
    assert str(table.schema.field("slip_phases").type) == "int32"
    assert table["slip_phases"].to_pylist() == EXPORTED


def test_a_mean_of_counts_is_exported_as_it_is(store: Store, tmp_path: Path) -> None:
    finish(store)
    mean = store.dataset().isel(friction=slice(0, 2)).mean("friction", keep_attrs=True)
    status = store.dataset().status.isel(friction=0, drop=True)
    path = sweep.export(mean.drop_vars("regime").assign(status=status), tmp_path / "a.csv")
    with path.open(encoding="utf-8") as file:
        assert next(csv.DictReader(file))["slip_phases"] == "3.5"


def test_statistics_leave_missing_counts_out(store: Store) -> None:
    finish(store)
    phases = contents(store.dataset()).ranges["slip_phases"]
    assert (phases.least, phases.greatest) == (0, WHOLE[~IS_LOST].max())
    assert phases.mean == WHOLE[~IS_LOST].mean()


def test_cells_that_are_not_done_have_no_numbers_of_points(tmp_path: Path) -> None:
    request = load({
        **{name: REFINED[name] for name in ("format", "model")},
        "outputs": ["wear_power"],
        "parameters": REFINED["parameters"],
        "axes": {"base_acceleration": {"linspace": [5.0, 15.0, 4]}},
        "sample": {"method": "random", "points": 10, "seed": 1,
                   "friction": {"uniform": [0.1, 0.3]}},
        "reduce": {"wear_power": ["mean", "histogram 3"]},
    })  # fmt: skip
    path = tmp_path / "a.zarr"
    store = Store.create(path, request.sweep, chunk_points=10, provenance={})
    sweep.run(path)
    store.reopen(store.done()[-1:])
    for name in ("points_by_status", "wear_power_histogram", "wear_power_mean"):
        last = path / name / "c" / "3"
        (last / "0" if last.is_dir() else last).unlink()
    dataset = open_results(path)
    for name in ("points_by_status", "wear_power_histogram"):
        assert dataset[name].dtype == np.float64
        sums = dataset[name].sum(dataset[name].dims[1:], skipna=False)
        np.testing.assert_array_equal(sums, [10, 10, 10, np.nan])
    counted = contents(dataset).counts
    assert counted == {Status.ok: 30, Status.pending: 1}
    assert all(type(n) is int for n in counted.values())
    assert state(store).points_done == 30


def test_a_refined_sweep_stores_the_counts_of_its_passes(tmp_path: Path) -> None:
    dataset = sweep.run(REFINED, store=tmp_path / "a.zarr")
    raw = zarr.open_array(tmp_path / "a.zarr" / "slip_phases", mode="r")
    assert raw.dtype == np.int32
    np.testing.assert_array_equal(raw[...], dataset.slip_phases)
    assert dataset.equals(sweep.run(REFINED, store=None))
    whole = on_grid(dataset.load()).slip_phases.values  # the nearest ones between points
    assert (whole % 1 == 0).all()
    assert set(whole.ravel().tolist()) <= set(dataset.slip_phases.values.tolist())


@pytest.mark.parametrize("refined", [False, True])
def test_explorers_and_pictures_know_a_count(refined: bool, store: Store) -> None:
    finish(store)
    dataset = on_grid(sweep.run(REFINED, store=None)) if refined else settled(store.dataset())
    kinds = {n: _stored_output(dataset[n], dataset.status.dims)["kind"] for n in dataset.data_vars}
    assert (kinds["slip_phases"], kinds["wear_power"]) == ("count", "real")
