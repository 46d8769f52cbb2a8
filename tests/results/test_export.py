"""Exported results are read back to the same bits, or are not there at all."""

from __future__ import annotations

import csv
import errno
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sweep
import sweep.results.summary
from sweep.errors import MachineError, SweepError
from sweep.model.table import Status
from sweep.results.exporting import export
from sweep.store import Store
from tests.command import Run, in_little_room
from tests.points.test_chunking import sweep_over
from tests.store.test_store import SWEEP, create, finish, results_of


@pytest.fixture(params=["float64", "float32"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    store = create(tmp_path / "a.zarr", replace(SWEEP, dtype=request.param))
    finish(store)
    return store


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def test_netcdf_holds_the_same_dataset(store: Store, tmp_path: Path) -> None:
    path = export(store.dataset(), tmp_path / "new" / "a.nc")
    expected = store.dataset().load()
    expected.attrs["compiler_flags"] = "-O3"  # netCDF tells no list of one from its entry
    with xr.open_dataset(path, engine="h5netcdf") as read:
        xr.testing.assert_identical(read.load(), expected)
        assert read["wear_power"].attrs["units"] == "W"


def test_netcdf_is_read_by_the_c_library_too(store: Store, tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4", reason="optional: another reader of netCDF")
    with netcdf.Dataset(export(store.dataset(), tmp_path / "a.nc")) as read:
        assert read["wear_power"].units == "W"
        expected = store.dataset()["status"].values
        np.testing.assert_array_equal(np.asarray(read["status"][:]), expected)


@pytest.mark.parametrize("name", ["a.nc", "a.csv"])
def test_no_point_that_a_run_writes_meanwhile_is_ok_without_its_values(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """One output is read before a chunk is written, another and the status after."""
    store = create(tmp_path / "a.zarr")
    first, *others = store.pending()
    store.write(first, results_of(SWEEP, first))
    early_dataset = store.dataset().load()
    for chunk in others:
        store.write(chunk, results_of(SWEEP, chunk))
    whole = store.dataset().load()
    read = whole.assign(wear_power=early_dataset["wear_power"]).chunk(friction=4)
    monkeypatch.setattr("sweep.results.exporting.open_results", lambda _: read)
    assert run("export", "a.zarr", "-o", name)[0] == 0
    status = whole["status"].values.copy()
    status[4:][status[4:] == Status.ok] = Status.pending
    if name == "a.csv":
        statuses = [int(row["status"]) for row in rows(tmp_path / name)]
        np.testing.assert_array_equal(statuses, status.ravel())
        return
    with xr.open_dataset(tmp_path / name, engine="h5netcdf") as exported:
        np.testing.assert_array_equal(exported["status"], status)
        for output, missing in (("slip_phases", np.nan), ("regime", 255)):
            expected = np.where(status == Status.pending, missing, whole[output])
            np.testing.assert_array_equal(exported[output], expected)
            assert exported[output].dtype == whole[output].dtype
        np.testing.assert_array_equal(exported["wear_power"][:4], whole["wear_power"][:4])


@pytest.mark.usefixtures("block_points")
@pytest.mark.parametrize("block_points", [1, 10, 2**20], indirect=True)
def test_csv_has_every_point_in_order_with_the_same_bits(store: Store, tmp_path: Path) -> None:
    dataset = store.dataset()
    read = rows(export(dataset, tmp_path / "a.csv"))
    assert list(read[0]) == [
        "friction", "base_acceleration", "wear_power", "slip_phases", "regime", "regime_name",
        "status", "status_name",
    ]  # fmt: skip
    for name in ("wear_power", "slip_phases", "regime", "status"):
        texts = [row[name] or "nan" for row in read]  # a missing count is empty
        column = np.array(texts).astype(dataset[name].dtype)
        np.testing.assert_array_equal(column, dataset[name].values.ravel())
    grid = np.meshgrid(*(dataset[str(name)].values for name in dataset.sizes), indexing="ij")
    for name, values in zip(dataset.sizes, grid, strict=True):
        assert [float(row[str(name)]) for row in read] == values.ravel().tolist()
    assert {(row["status"], row["status_name"]) for row in read} == {("0", "ok"), ("2", "diverged")}
    assert {row["regime_name"] for row in read if row["regime"] == "255"} == {""}


def test_csv_says_in_comments_what_its_numbers_are(store: Store, tmp_path: Path) -> None:
    path = export(store.dataset(), tmp_path / "a.csv", comments=True)
    lines = path.read_text("utf-8").splitlines()
    comments = [line for line in lines if line.startswith("#")]
    assert lines[: len(comments)] == comments
    for expected in (
        "# model: friction_oscillator",
        f"# fingerprint: {store.dataset().attrs['fingerprint']}",
        "# gravity = 10.0 [m/s^2] acceleration that presses the mass onto the plane",
        "# column wear_power: [W] mean of N|v| over the window",
        "# column base_acceleration: [m/s^2] amplitude of the plane's acceleration",
    ):
        assert expected in comments
    assert any("2 slip_slip" in line for line in comments)
    sentence = SWEEP.model.sentences[Status.diverged]
    assert any(f"diverged: {sentence}" in line for line in comments)


def test_pandas_reads_csv_without_options_and_comments_are_beside_it(
    store: Store, tmp_path: Path
) -> None:
    pandas = pytest.importorskip("pandas")
    dataset = store.dataset()
    read = pandas.read_csv(export(dataset, tmp_path / "a.csv"))
    np.testing.assert_array_equal(
        read["wear_power"].to_numpy().astype(dataset["wear_power"].dtype),
        dataset["wear_power"].values.ravel(),
    )
    assert set(read["status_name"]) == {"ok", "diverged"}
    column_text = (tmp_path / "a.csv.txt").read_text("utf-8")
    whole = export(dataset, tmp_path / "a.csv", comments=True).read_text("utf-8")
    assert whole.startswith(column_text)
    assert not (tmp_path / "a.csv.txt").exists()  # it would be of another export


def test_points_that_where_leaves_out_are_pending(store: Store, tmp_path: Path) -> None:
    """`where` makes floats of status and flags, with NaN where points are left out."""
    dataset = store.dataset().load()
    kept = dataset["wear_power"] > dataset["wear_power"].median()
    written = rows(export(dataset.where(kept), tmp_path / "a.csv"))
    expected = np.where(kept.values, dataset["status"].values, Status.pending).ravel()
    assert [int(row["status"]) for row in written] == expected.tolist()
    assert {row["regime"]: row["regime_name"] for row in written}["255"] == ""
    counts = sweep.results.summary.contents(dataset.where(kept)).counts
    assert counts[Status.pending] == np.count_nonzero(~kept)
    sweep.plot(dataset.where(kept), "regime", path=tmp_path / "a.png")
    assert (tmp_path / "a.png").exists()


def test_parquet_holds_the_same_columns(store: Store, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="optional: the extra parquet")
    dataset = store.dataset()
    store_path = tmp_path / "a.zarr"
    table = parquet.read_table(sweep.export(store_path, tmp_path / "a.parquet"))
    assert table.num_rows == SWEEP.n_points
    assert table["wear_power"].type.to_pandas_dtype() == dataset["wear_power"].dtype
    np.testing.assert_array_equal(table["wear_power"], dataset["wear_power"].values.ravel())
    assert "[W] mean of N|v|" in table.schema.metadata[b"tribosweep"].decode()


def test_without_pyarrow_parquet_says_what_to_install(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SweepError, match=r"pip install .*(pyarrow|parquet)"):
        export(store.dataset(), tmp_path / "a.parquet")
    assert list(tmp_path.glob("*.parquet")) == []


def test_a_single_point_is_one_row(tmp_path: Path) -> None:
    store = create(tmp_path / "a.zarr", sweep_over())
    finish(store)
    (tmp_path / "a.csv").write_text("of an earlier export")
    (row,) = rows(export(store.dataset(), tmp_path / "a.csv"))
    assert float(row["wear_power"]) == store.dataset()["wear_power"].item()


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    dataset = create(tmp_path / "a.zarr").dataset()
    (tmp_path / "file").touch()
    (tmp_path / "folder.csv").mkdir()
    for name, words in {
        "a.xls": "'.*a.xls' .*: use .nc or .csv",
        "csv": "unknown suffix",
        "folder.csv": "is a folder",
        "file/a.csv": "choose another path",
    }.items():
        with pytest.raises(SweepError, match=words):
            export(dataset, tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {"a.zarr", "file", "folder.csv"}


def test_a_scratch_file_that_cannot_even_be_looked_for_is_an_error_in_words(tmp_path: Path) -> None:
    """The name is short enough, that of the scratch file is not."""
    dataset = create(tmp_path / "a.zarr").dataset()
    with pytest.raises(SweepError, match=r"cannot write '.*a\.csv'"):
        export(dataset, tmp_path / f"{'a' * 240}.csv")
    assert {path.name for path in tmp_path.iterdir()} == {"a.zarr"}


@pytest.mark.parametrize("kind", ["output", "without status", "number"])
def test_what_has_no_results_is_refused(kind: str, store: Store, tmp_path: Path) -> None:
    dataset = store.dataset()
    without = dataset.drop_vars("status")
    kinds = {"output": dataset["status"], "without status": without, "number": 3}
    argument: Any = kinds[kind]
    for refuses in (lambda what: export(what, tmp_path / "x.csv"), sweep.results.summary.contents):
        with pytest.raises(SweepError, match="pass the Dataset that"):
            refuses(argument)
    assert not list(tmp_path.glob("*x*"))


def test_netcdf_is_refused_beforehand_where_the_disk_is_too_small(tmp_path: Path) -> None:
    """For 10^12 times the same results; they take no more memory."""
    large = create(tmp_path / "a.zarr").dataset().expand_dims(sample=10**12)
    with pytest.raises(MachineError, match=r"needs [\d,]{19,} bytes, and the disk has .* free"):
        export(large, tmp_path / "a.nc")
    assert {path.name for path in tmp_path.iterdir()} == {"a.zarr"}


@pytest.mark.parametrize("name", ["a.csv", "a.png"])
def test_a_read_only_disk_is_named_and_no_scratch_file(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    finish(create(Path("a.zarr")))
    read_only = OSError(errno.EROFS, os.strerror(errno.EROFS), ".a.be7ead.csv")

    def refuse(*_: Any, **__: Any) -> None:
        raise read_only

    monkeypatch.setattr(Path, "mkdir", refuse)
    status, _, err = run("plot" if name == "a.png" else "export", "a.zarr", "-o", name)
    assert status == MachineError.exit_status
    assert f"cannot write '{name}': the file system is read-only; mount it for writing" in err
    assert "be7ead" not in err


def test_a_full_disk_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    """The limit on the size of files stands for the full disk: the same error, another number."""
    create(tmp_path / "a.zarr")
    (tmp_path / "a.csv").write_text("old")
    done = in_little_room(1000, "export", "a.zarr", "-o", "a.csv", folder=tmp_path)
    assert done.returncode == MachineError.exit_status
    assert "cannot write 'a.csv': the file would be larger than this process may" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "a.csv").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"a.zarr", "a.csv"}
