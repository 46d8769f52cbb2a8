"""Export of results: netCDF, CSV with one row per point, and zarr for traces."""

from __future__ import annotations

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

from sweep.errors import MachineError, SweepError
from sweep.spec import index_name
from sweep.store.derived import write_zarr
from sweep.summary import blocks, coordinates, refuse_no_results

if TYPE_CHECKING:
    import xarray as xr

ROWS_AT_ONCE = 2**14  # formatted together; each value takes some hundred bytes of memory


def export(
    dataset: xr.Dataset, path: str | Path, formats: Mapping[str, Writer] | None = None
) -> Path:
    """Write the results to a file in the format of its suffix, and return its path.

    An existing file is replaced once the new one is complete. `formats` maps suffixes to writers:
    FORMATS (the default) or TRACE_FORMATS. Raises SweepError for an unknown suffix, a path that
    cannot be written or a Dataset without results, and MachineError if the disk is full.
    """
    refuse_no_results(dataset)
    path = Path(path)
    formats = FORMATS if formats is None else formats
    write = formats.get(path.suffix.lower())
    if write is None:
        raise SweepError(f"{str(path)!r} has an unknown suffix: use {' or '.join(formats)}")
    if write is write_zarr and os.path.lexists(path):
        raise SweepError(f"{str(path)!r} exists: remove it, or choose another name")
    if path.is_dir():
        raise SweepError(f"{str(path)!r} is a folder: give the path of a file")
    with _whole(path) as scratch:
        write(dataset, scratch)
    return path


@contextmanager
def _whole(path: Path) -> Generator[Path]:
    """A scratch file beside `path`, renamed to it at the end, or removed after an error."""
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
        raise SweepError(f"cannot write {str(path)!r}: {error}; choose another path") from error
    except OSError as error:
        raise MachineError(
            f"cannot write {str(path)!r}: {error}; nothing was written. Free some space, or choose "
            "a path on another disk"
        ) from error


def _write_netcdf(dataset: xr.Dataset, path: Path) -> None:
    """Write netCDF-4 with units and attributes, in the chunks of the store."""
    bare = dataset.drop_encoding()
    free = shutil.disk_usage(path.parent).free
    if bare.nbytes > free:  # on a full disk HDF5 crashes
        raise OSError(f"the file needs {bare.nbytes:,} bytes, and the disk has {free:,} free")
    encoding: dict[str, dict[str, Any]] = {str(name): {"_FillValue": None} for name in bare.coords}
    for name, variable in bare.data_vars.items():
        if variable.chunks:
            encoding[str(name)] = {"chunksizes": tuple(sizes[0] for sizes in variable.chunks)}
    bare.to_netcdf(path, engine="h5netcdf", encoding=encoding)


def _write_csv(dataset: xr.Dataset, path: Path) -> None:
    """Write comments with units and provenance, a header, and one row per point in C order.

    A flag and the status have two columns each: the stored code and its name. An output with
    several values at each point has a column for each: NAME_0, NAME_1, ...
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        for line in _comments(_one_value_each(dataset)):
            file.write(f"# {line}\n")
        for i, block in enumerate(blocks(dataset)):
            block.load()
            columns = _columns(_one_value_each(block))
            if i == 0:
                file.write(",".join(columns) + "\n")
            _write_rows(file, columns)


Writer = Callable[[Any, Path], None]
FORMATS: Mapping[str, Writer] = {".nc": _write_netcdf, ".csv": _write_csv}
TRACE_FORMATS: Mapping[str, Writer] = {
    ".nc": _write_netcdf,
    ".zarr": write_zarr,
    ".csv": _write_csv,
}


def _one_value_each(dataset: xr.Dataset) -> xr.Dataset:
    """The Dataset with a variable NAME_i in place of value i of an output with several values."""
    import xarray as xr

    variables: dict[str, xr.DataArray] = {}
    for name, variable in dataset.data_vars.items():
        index = index_name(str(name))
        if index in variable.dims:
            parts = {f"{name}_{i}": variable.isel({index: i}) for i in range(variable.sizes[index])}
            variables |= {_unused(part, dataset): values for part, values in parts.items()}
        else:
            variables[str(name)] = variable
    return xr.Dataset(variables, dataset.coords, dataset.attrs)


def _unused(name: str, dataset: xr.Dataset) -> str:
    """The name, with underscores added until no other variable has it."""
    return _unused(f"{name}_", dataset) if name in dataset.variables else name


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
    """The columns of a block in memory, each with one value per point."""
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
    """The name of each of the 256 codes; empty for unused ones."""
    meanings = str(flag.attrs["flag_meanings"]).split()
    names = np.full(256, "", dtype=f"<U{max(map(len, meanings))}")
    names[np.asarray(flag.attrs["flag_values"])] = meanings
    return names


def _write_rows(file: TextIO, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write each number as the shortest text that reads back to the same bits."""
    length = len(next(iter(columns.values())))
    for start in range(0, length, ROWS_AT_ONCE):
        part = [values[start : start + ROWS_AT_ONCE] for values in columns.values()]
        texts = (values.astype(str).tolist() for values in part)
        file.write("".join(",".join(row) + "\n" for row in zip(*texts, strict=True)))
