"""Results in other formats: netCDF, CSV with a row a point, and zarr for what is not in a store."""

from __future__ import annotations

import json
import os
import shutil
import uuid
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from sweep.errors import MachineError, SweepError
from sweep.summary import blocks, coordinates, refuse_no_results

if TYPE_CHECKING:
    import xarray as xr

ROWS_AT_ONCE = 2**14  # turned into text; some hundred bytes of memory a value


def export(
    dataset: xr.Dataset, path: str | Path, formats: Mapping[str, Writer] | None = None
) -> Path:
    """The results as a file, of the format that the end of its name says: .nc or .csv.

    A file that is there is replaced, once the new one is whole. Raises SweepError for another end,
    a place that cannot be or what has no results, MachineError if the disk is full. `formats` are
    those to choose from: FORMATS, or TRACE_FORMATS.
    """
    refuse_no_results(dataset)
    path = Path(path)
    formats = FORMATS if formats is None else formats
    write = formats.get(path.suffix.lower())
    if write is None:
        known = " or ".join(formats)
        raise SweepError(f"{str(path)!r} names no format by its end: use {known}")
    if write is _write_zarr and os.path.lexists(path):
        raise SweepError(f"{str(path)!r} is there already; remove it, or name another")
    if path.is_dir():
        raise SweepError(f"{str(path)!r} is a folder; name a file in it")
    with _whole(path) as scratch:
        write(dataset, scratch)
    return path


@contextmanager
def _whole(path: Path) -> Generator[Path]:
    """A scratch file beside `path` that takes its place at the end; gone if anything went wrong."""
    scratch = path.with_name(f".{path.stem}.{uuid.uuid4().hex}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield scratch
            scratch.replace(path)
        finally:
            if scratch.is_dir():
                shutil.rmtree(scratch, ignore_errors=True)
            scratch.unlink(missing_ok=True)
    except (PermissionError, NotADirectoryError, FileExistsError) as error:
        raise SweepError(f"{str(path)!r} cannot be written: {error}; name another") from error
    except OSError as error:
        raise MachineError(f"{str(path)!r} cannot be written: {error}; nothing is left") from error


def _write_netcdf(dataset: xr.Dataset, path: Path) -> None:
    """With units and attributes, in netCDF-4 whose chunks are those of the store."""
    bare = dataset.drop_encoding()
    free = shutil.disk_usage(path.parent).free
    if bare.nbytes > free:  # HDF5 does not report a full disk, it crashes over it
        raise OSError(f"it needs {bare.nbytes:,} bytes, and the disk has {free:,} left")
    encoding: dict[str, dict[str, Any]] = {str(name): {"_FillValue": None} for name in bare.coords}
    for name, variable in bare.data_vars.items():
        if variable.chunks:
            encoding[str(name)] = {"chunksizes": tuple(sizes[0] for sizes in variable.chunks)}
    bare.to_netcdf(path, engine="h5netcdf", encoding=encoding)


def _write_csv(dataset: xr.Dataset, path: Path) -> None:
    """Comment lines with units and provenance, one of names, then a row a point in C order.

    A flag and the status have two columns: the code as stored, and its name.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        for line in _comments(dataset):
            file.write(f"# {line}\n")
        for i, block in enumerate(blocks(dataset)):
            block.load()
            columns = _columns(block)
            if i == 0:
                file.write(",".join(columns) + "\n")
            _write_rows(file, columns)


def _write_zarr(dataset: xr.Dataset, path: Path) -> None:
    """A folder of zarr's format 3 that plain xarray.open_zarr opens."""
    encoding: dict[str, dict[str, Any]] = {str(name): {"_FillValue": None} for name in dataset}
    with warnings.catch_warnings():  # it is not yet in the standard, and readers warn without
        warnings.filterwarnings("ignore", "Consolidated metadata")
        dataset.drop_encoding().to_zarr(path, zarr_format=3, consolidated=True, encoding=encoding)


Writer = Callable[[Any, Path], None]
FORMATS: Mapping[str, Writer] = {".nc": _write_netcdf, ".csv": _write_csv}
TRACE_FORMATS: Mapping[str, Writer] = {
    ".nc": _write_netcdf,
    ".zarr": _write_zarr,
    ".csv": _write_csv,
}


def _comments(dataset: xr.Dataset) -> Iterator[str]:
    for name, value in dataset.attrs.items():
        yield f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
    for name, constant in coordinates(dataset)[1].items():
        yield f"{name} = {float(constant)!r} {_described(constant)}"
    for name, variable in dataset.variables.items():
        if variable.ndim or name in dataset.data_vars:
            yield f"column {name}: {_described(variable)}"
    comment = dataset["status"].attrs.get("comment")
    if comment:
        yield f"status {comment}"


def _described(variable: Any) -> str:
    unit, meaning = (str(variable.attrs.get(key, "")) for key in ("units", "long_name"))
    if "flag_meanings" not in variable.attrs:
        return f"[{unit}] {meaning}"
    names = str(variable.attrs["flag_meanings"]).split()
    codes = zip(variable.attrs["flag_values"], names, strict=True)
    return f"{meaning} ({', '.join(f'{code} {name}' for code, name in codes)})"


def _columns(block: xr.Dataset) -> dict[str, NDArray[Any]]:
    """Every column of a block in memory, each of one value a point."""
    like = max(block.data_vars.values(), key=lambda variable: variable.ndim)
    names = coordinates(block)[0]
    columns: dict[str, NDArray[Any]] = {}
    for name in (*names, *map(str, block.data_vars)):
        variable = block[name]
        columns[name] = variable.broadcast_like(like).transpose(*like.dims).values.ravel()
        if "flag_meanings" in variable.attrs:
            columns[f"{name}_name"] = _flag_names(variable)[columns[name]]
    return columns


def _flag_names(flag: xr.DataArray) -> NDArray[Any]:
    """The name of each of the 256 codes, empty where a code has none."""
    meanings = str(flag.attrs["flag_meanings"]).split()
    names = np.full(256, "", dtype=f"<U{max(map(len, meanings))}")
    names[np.asarray(flag.attrs["flag_values"])] = meanings
    return names


def _write_rows(file: TextIO, columns: Mapping[str, NDArray[Any]]) -> None:
    """Numbers as the shortest text that is read back to the same bits."""
    length = len(next(iter(columns.values())))
    for start in range(0, length, ROWS_AT_ONCE):
        part = [values[start : start + ROWS_AT_ONCE] for values in columns.values()]
        texts = (values.astype(str).tolist() for values in part)
        file.write("".join(",".join(row) + "\n" for row in zip(*texts, strict=True)))
