"""Files of results: netCDF, CSV and Parquet with a row per point, zarr for traces, and texts."""

from __future__ import annotations

import importlib
import itertools
import json
import os
import shutil
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.model.table import MISSING_COUNT
from sweep.points.recipes import model_of
from sweep.results.summary import (
    blocks,
    coded,
    coordinates,
    flag_names,
    labels,
    refuse_no_results,
    row_dimensions,
)
from sweep.store import durable, open_results
from sweep.store.datasets import settled, write_zarr
from sweep.store.disk_faults import making, unwritable
from sweep.store.layout import as_stored, encoding_of, is_count
from sweep.text.wording import install

if TYPE_CHECKING:
    import xarray as xr

ROWS_AT_ONCE = 2**14  # formatted together; each value takes some hundred bytes of memory


def export(results: xr.Dataset | str | Path, path: str | Path, *, comments: bool = False) -> Path:
    """Write results, a Dataset or the path of a store, to a file: .nc, .csv or .parquet.

    Returns the file's path. An existing file is replaced once the new one is complete. The units,
    constants and provenance of a CSV file are in NAME.csv.txt next to it or, with
    `comments`, in lines with # at its head. Raises SweepError for an unknown suffix, a path that
    cannot be written or a Dataset without results, and MachineError if the disk is full.
    """
    return export_as(FORMATS, results, path, comments=comments)


def export_as(
    formats: Mapping[str, Writer],
    results: xr.Dataset | str | Path,
    path: str | Path,
    *,
    comments: bool = False,
) -> Path:
    """As `export`, with other writers by suffix: FORMATS or TRACE_FORMATS."""
    dataset = settled(open_results(results)) if isinstance(results, str | Path) else results
    refuse_no_results(dataset)
    dataset = coded(dataset)
    path = Path(path)
    write = formats.get(path.suffix.lower())
    if write is None:
        raise SweepError(f"{str(path)!r} has an unknown suffix: use {' or '.join(formats)}")
    if write is write_zarr and os.path.lexists(path):
        raise SweepError(f"{str(path)!r} exists: remove it, or choose another name")
    if path.is_dir():
        raise SweepError(f"{str(path)!r} is a folder: give the path of a file")
    beside = path.with_name(f"{path.name}.txt")
    with _whole(path) as scratch:
        if write is not write_csv:
            write(dataset, scratch)
        elif comments:
            write_csv(dataset, scratch, _comment_lines(dataset))
            beside.unlink(missing_ok=True)
        else:
            write_csv(dataset, scratch)
            beside.write_text(_comment_lines(dataset), encoding="utf-8", newline="\n")
    return path


def write_texts(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write texts by file name into a folder and return the paths; existing files are replaced.

    SweepError if the folder cannot be written to, MachineError if the disk is full or read-only.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            durable.write(str(folder / name), text.encode(), durable=False)
    except OSError as error:
        raise unwritable(folder, error, "another folder") from error
    return [folder / name for name in texts]


@contextmanager
def _whole(path: Path) -> Generator[Path]:
    """A scratch file beside `path`, renamed to it at the end, or removed after an error."""
    scratch = path.with_name(f".{path.stem}.{uuid.uuid4().hex}{path.suffix}")
    with making(path):
        try:
            yield scratch
            scratch.replace(path)
        finally:
            if scratch.is_dir():
                shutil.rmtree(scratch, ignore_errors=True)
            scratch.unlink(missing_ok=True)


def _write_netcdf(dataset: xr.Dataset, path: Path) -> None:
    """Write netCDF-4 with units and attributes, in the chunks of the store."""
    bare = dataset.drop_encoding()
    free = shutil.disk_usage(path.parent).free
    if bare.nbytes > free:  # on a full disk HDF5 crashes
        raise OSError(
            f"the file needs {bare.nbytes:,} bytes, and the disk has {free:,} free; free some space"
        )
    encoding: dict[str, dict[str, Any]] = {str(name): {"_FillValue": None} for name in bare.coords}
    for name, variable in bare.data_vars.items():
        if variable.chunks:
            encoding[str(name)] = {"chunksizes": tuple(sizes[0] for sizes in variable.chunks)}
        if is_count(dataset[name]):
            of_counts = encoding_of(dataset[name].encoding["dtype"])
            encoding[str(name)] = {**encoding.get(str(name), {}), **of_counts}
    bare.to_netcdf(path, engine="h5netcdf", encoding=encoding)


def write_csv(dataset: xr.Dataset, path: Path, comments: str = "") -> None:
    """Write comments, a header, and one row per point in C order.

    A flag and the status have two columns each: the stored code and its name. Counts are whole
    numbers, empty where one is missing. An output with several values at each point has a column
    for each: NAME_0, NAME_1, ...
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(comments)
        for i, columns in enumerate(_tables(dataset)):
            if i == 0:
                file.write(",".join(columns) + "\n")
            _write_rows(file, columns)


def write_parquet(dataset: xr.Dataset, path: Path) -> None:
    """Write the columns of the CSV file as Parquet, with the comments in the schema's metadata."""
    try:
        library: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        cure = install("parquet")
        raise SweepError(f"Parquet needs pyarrow, which is missing: {cure}") from error
    notes = {"tribosweep": _comment_lines(dataset)}
    tables = (library.table(each).replace_schema_metadata(notes) for each in _tables(dataset))
    first = next(tables)
    with parquet.ParquetWriter(path, first.schema) as writer:
        for table in itertools.chain([first], tables):
            writer.write_table(table)


Writer = Callable[[Any, Path], None]
FORMATS: Mapping[str, Writer] = {".nc": _write_netcdf, ".csv": write_csv, ".parquet": write_parquet}
TRACE_FORMATS: Mapping[str, Writer] = {".nc": _write_netcdf, ".zarr": write_zarr, ".csv": write_csv}


def _one_value_each(dataset: xr.Dataset) -> xr.Dataset:
    """The Dataset with a variable NAME_i in place of value i of an output with several values.

    For statistics, i is the label: wear_power_quantile_0.95, regime_share_slip.
    """
    import xarray as xr

    variables: dict[str, xr.Variable] = {}
    for name, variable in dataset.data_vars.items():
        variables |= _parts(str(name), variable, dataset)
    described: dict[str, xr.Variable] = {}
    for name in (each for each in dataset.coords if each not in labels(dataset)):
        described |= _parts(str(name), dataset[name], dataset)
    return xr.Dataset(variables, described, dataset.attrs)


def _parts(name: str, variable: xr.DataArray, dataset: xr.Dataset) -> dict[str, xr.Variable]:
    """The variable with one value at each point, or its parts with the label in their names."""
    several = [each for each in variable.dims if each not in row_dimensions(dataset)]
    parts = {name: variable.variable}
    for inner in several:
        names = variable[inner].values.tolist()
        parts = {
            f"{part}_{label}": values.isel({inner: i})
            for part, values in parts.items()
            for i, label in enumerate(names)
        }
    return {_unused(part, dataset): values for part, values in parts.items()} if several else parts


def _unused(name: str, dataset: xr.Dataset) -> str:
    """The name, with underscores added until no other variable has it."""
    return _unused(f"{name}_", dataset) if name in dataset.variables else name


def _comment_lines(dataset: xr.Dataset) -> str:
    """Comment lines (#): attributes, constants with values, and the meaning of each column."""
    dataset = _one_value_each(dataset)
    lines = [
        f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
        for name, value in dataset.attrs.items()
    ]
    for name, constant in coordinates(dataset)[1].items():
        lines.append(f"{name} = {float(constant)!r} {_described(constant)}")
    for name, variable in dataset.variables.items():
        if variable.ndim or name in dataset.data_vars:
            lines.append(f"column {name}: {_described(variable)}")
    lines += _sentences(dataset)
    return "".join(f"# {line}\n" for line in lines)


def _sentences(dataset: xr.Dataset) -> Iterator[str]:
    """What each status means in the model of these results."""
    recipe = json.loads(dataset.attrs.get("recipe", "{}"))
    if "model" in recipe:
        for status, sentence in sorted(model_of(recipe).sentences.items()):
            yield f"status {status.name}: {sentence}"
    comment = dataset["status"].attrs.get("comment", "")
    if comment and not comment.startswith("ok: "):  # the same in stores of earlier versions
        yield f"status: {comment}"


def _described(variable: Any) -> str:
    unit, meaning = (str(variable.attrs.get(key, "")) for key in ("units", "long_name"))
    codes = ", ".join(f"{code} {name}" for code, name in flag_names(variable).items())
    return f"{meaning} ({codes})" if codes else f"[{unit}] {meaning}"


def _tables(dataset: xr.Dataset) -> Iterator[dict[str, NDArray[Any]]]:
    """The columns of each block, which is then in memory, with one value per point."""
    for block in blocks(dataset):
        yield _columns(_one_value_each(block.load()))


def _columns(block: xr.Dataset) -> dict[str, NDArray[Any]]:
    like = max(block.data_vars.values(), key=lambda variable: variable.ndim)
    names = coordinates(block)[0]
    columns: dict[str, NDArray[Any]] = {}
    for name in (*names, *map(str, block.data_vars)):
        variable = block[name]
        columns[name] = _column(variable, like)
        if meanings := flag_names(variable):
            names_of_codes = np.array([meanings.get(code, "") for code in range(256)])
            columns[f"{name}_name"] = names_of_codes[columns[name]]
    return columns


def _column(variable: xr.DataArray, like: xr.DataArray) -> NDArray[Any]:
    """The values at the points of `like`; counts as integers, masked where one is missing."""
    stored = variable.copy(data=as_stored(variable))
    values = stored.broadcast_like(like).transpose(*like.dims).values.ravel()
    return np.ma.masked_equal(values, MISSING_COUNT) if is_count(variable) else values


def _write_rows(file: TextIO, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write each number as the shortest text that reads back to the same bits."""
    length = len(next(iter(columns.values())))
    for start in range(0, length, ROWS_AT_ONCE):
        part = [values[start : start + ROWS_AT_ONCE] for values in columns.values()]
        texts = (_texts(values).tolist() for values in part)
        file.write("".join(",".join(row) + "\n" for row in zip(*texts, strict=True)))


def _texts(values: NDArray[Any]) -> NDArray[np.str_]:
    """The values as texts; empty where one is masked."""
    texts = np.ma.getdata(values).astype(str)
    texts[np.ma.getmaskarray(values)] = ""
    return texts
