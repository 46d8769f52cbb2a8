"""A store as a lazy Dataset; every part is checked when it is read."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing  # of which xarray's guide to backends uses what is used here

from sweep.errors import StoreError, memory_error
from sweep.plan.recipes import outputs_in
from sweep.request import LEVEL, STRETCH
from sweep.spec import MISSING, Status
from sweep.store import extension, faults
from sweep.store.coordinates import (
    damaged,
    intact_coordinate,
    read_dimensions,
    refuse_damaged_metadata,
)
from sweep.store.derived_coordinates import with_derived
from sweep.store.derived_stores import BY, opened
from sweep.store.files import Files
from sweep.store.group import open_group, recipe_of
from sweep.store.layout import MISSING_LEVEL, ordered
from sweep.store.pass_folder import PassFolder
from sweep.store.place import files_of, is_url

Read = Callable[[Any], NDArray[Any]]  # of a key: integers, slices and index arrays, one a dimension


def open_results(path: str | Path) -> xr.Dataset:
    """The results in a store as a lazy Dataset, finished or not. Raises StoreError without any."""
    files = files_of(path)
    refuse_unreadable(files)
    with faults.opening(files):
        if (derived := opened(files)) is not None:
            return derived
        zarr = files.zarr()
        group = open_group(zarr)
        recipe = recipe_of(group)
        refuse_damaged_metadata(files, recipe)
        read_dimensions(group, recipe)
        # The types of xarray.open_dataset are incomplete.
        dataset: xr.Dataset = xr.open_dataset(  # pyright: ignore[reportUnknownMemberType]
            zarr,  # pyright: ignore[reportArgumentType]
            engine=CheckedZarr,
        )
        return ordered(with_derived(_chunked(dataset)))


def refuse_chunks_alone(files: Files) -> None:
    """Raise StoreError if there are chunks in a place that holds no store."""
    if any(name.startswith("c") for name in files.list("status")):
        raise StoreError(
            f"{str(files)!r} has chunks but no zarr.json, so it is not a store; name another path"
        )


def refuse_unreadable(files: Files) -> None:
    """Raise StoreError if there is no store, or one that is being extended."""
    path = str(files)
    if not files.exists():
        raise faults.no_store(path, PassFolder(path).last())
    if not is_url(path):
        faults.refuse_foreign_folder(Path(path))
    if extension.is_under_way(files):
        raise StoreError(
            f"{path!r} is being extended, or was when the extension was stopped; if it was, run "
            "the same `sweep extend` again"
        )


def _chunked(dataset: xr.Dataset) -> xr.Dataset:
    """The Dataset in the chunks of its results, which may divide the file of a long coordinate.

    A coordinate of at most STRETCH values is not divided: it is read on demand.
    """
    short = [name for name in dataset.coords if dataset[name].size <= STRETCH]
    chunks = dataset["status"].encoding["preferred_chunks"]
    return dataset.drop_vars(short).chunk(chunks).assign_coords(dataset[short].coords)


class CheckedZarr(BackendEntrypoint):
    """A store as xarray reads it, but that damaged parts raise StoreError when they are read.

    Damaged are parts that cannot be read, outputs without a value at a point that is ok, because
    then a file is missing, and coordinates without a value. Optional outputs are not checked so.
    """

    open_dataset_parameters = ("filename_or_obj", "drop_variables")

    def open_dataset(self, filename_or_obj: Any, *, drop_variables: Any = None) -> xr.Dataset:
        # The types of xarray.open_zarr are incomplete.
        dataset: xr.Dataset = xr.open_zarr(  # pyright: ignore[reportUnknownMemberType]
            filename_or_obj, consolidated=False, chunks=None, drop_variables=drop_variables
        )
        return _checked(dataset)


def _checked(dataset: xr.Dataset) -> xr.Dataset:
    derived, optional = _derived(dataset), _optional(dataset)
    status = _Results("status", dataset["status"].variable)
    lazy: dict[str, _Checked] = {"status": status}
    for name in map(str, dataset.variables):
        variable = dataset[name].variable
        if name in dataset.data_vars and name != "status":
            read = None if name in optional else status.read
            lazy[name] = _Results(name, variable, read, len(status.shape))
        elif name in dataset.coords and name not in dataset.xindexes:  # indexes are in memory
            lazy[name] = _Coordinate(name, variable, may_be_nan=name in derived)
    return dataset.assign({name: array.variable() for name, array in lazy.items()})


@contextmanager
def intact(name: str) -> Generator[None]:
    """Within, errors of reading an output or the status become a StoreError."""
    try:
        yield
    except (ValueError, RuntimeError, OSError) as error:  # of zarr, blosc and the disk
        if found := memory_error(error):
            raise found from error
        raise StoreError(
            f"{name} has a damaged chunk ({error}). `sweep status --verify` names it; "
            "then running its sweep computes it again"
        ) from error


class _Checked(BackendArray, ABC):
    """A variable whose parts are checked when they are read."""

    def __init__(self, name: str, variable: xr.Variable) -> None:
        self.name = name
        self.shape = variable.shape
        self.dtype = variable.dtype
        self._variable = variable

    def variable(self) -> xr.Variable:
        """The same variable, read through this."""
        lazy: Any = indexing.LazilyIndexedArray(self)
        stored = self._variable
        return xr.Variable(stored.dims, lazy, stored.attrs, stored.encoding)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        outer = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, outer, self.read)

    @abstractmethod
    def read(self, key: Any) -> NDArray[Any]:
        """A part; StoreError if it is damaged."""

    def _read(self, key: Any) -> NDArray[Any]:
        """A part as zarr reads it: a missing file gives the fill value."""
        return self._variable[key].values


class _Results(_Checked):
    """An output, or the status itself."""

    def __init__(
        self, name: str, variable: xr.Variable, status: Read | None = None, status_ndim: int = 0
    ) -> None:
        super().__init__(name, variable)
        self._missing = _missing(variable)
        self._status = status
        self._status_ndim = status_ndim

    def read(self, key: Any) -> NDArray[Any]:
        values = self._intact(key)
        if self._status is None or not (absent := _absent(values, self._missing)).any():
            return values
        ok = self._ok(key, absent.ndim)
        if not (absent & ok).any():
            return values
        values = self._intact(key)  # its chunk may have been written in the meantime
        lost = np.count_nonzero(_absent(values, self._missing) & ok)
        if lost:
            raise StoreError(
                f"{self.name} has no value at {lost:,} points that are done: a file of the store "
                "is missing. Run its sweep again to compute those chunks anew; "
                "`sweep status --verify` names them"
            )
        return values

    def _ok(self, key: Any, ndim: int) -> NDArray[np.bool_]:
        """Whether the points are ok, along all dimensions of the output."""
        assert self._status is not None
        ok = self._status(key[: self._status_ndim]) == Status.ok
        return ok.reshape(ok.shape + (1,) * (ndim - ok.ndim))

    def _intact(self, key: Any) -> NDArray[Any]:
        with intact(self.name):
            return self._read(key)


class _Coordinate(_Checked):
    """A parameter that is not a dimension's own coordinate, or the levels of refined points."""

    def __init__(self, name: str, variable: xr.Variable, *, may_be_nan: bool) -> None:
        super().__init__(name, variable)
        self._may_be_nan = may_be_nan

    def read(self, key: Any) -> NDArray[Any]:
        with intact_coordinate(self.name):
            values = self._read(key)
        missing = MISSING_LEVEL if self.name == LEVEL else MISSING["real"]
        if not self._may_be_nan and _absent(values, missing).any():
            raise damaged(self.name, "lacks a file")
        return values


def settled(dataset: xr.Dataset) -> xr.Dataset:
    """The same results, with points pending whose outputs were read before a run wrote them.

    The outputs may be older than the status where a run writes meanwhile. Lazy arrays stay lazy.
    What was computed from other results is returned as it is: no run writes there.
    """
    if BY in dataset.attrs:
        return dataset
    outputs = {str(name): dataset[name] for name in dataset.data_vars if name != "status"}
    status = dataset["status"]
    lost = status == Status.pending
    optional = _optional(dataset)
    for output in (output for name, output in outputs.items() if name not in optional):
        missing = _missing(output.variable)
        absent = output.isnull() if np.isnan(missing) else output == missing
        absent = absent.any([name for name in output.dims if name not in status.dims])
        lost = lost | (absent & (status == Status.ok))
    filled = {
        name: output.where(~lost, output.dtype.type(_missing(output.variable)))
        for name, output in outputs.items()
    }
    pending = status.where(~lost, status.dtype.type(Status.pending))
    return dataset.assign({**filled, "status": pending})


def _missing(variable: xr.Variable) -> float:
    """The value of an output at points that are not ok."""
    kind = "flag" if "flag_meanings" in variable.attrs else "count"
    return MISSING["real" if variable.dtype.kind == "f" else kind]


def _absent(values: NDArray[Any], missing: float) -> NDArray[np.bool_]:
    return np.isnan(values) if np.isnan(missing) else values == missing


def _optional(dataset: xr.Dataset) -> set[str]:
    """The outputs that a point which is ok may lack, or have fewer values of."""
    return {output.name for output in outputs_in(dataset.attrs) if output.optional}


def _derived(dataset: xr.Dataset) -> set[str]:
    """The constant parameters that the kernel derives; their stored value is NaN."""
    constants = json.loads(dataset.attrs["recipe"])["constants"]
    return {name for name, value in constants.items() if value == float("nan").hex()}
