"""A store as a lazy Dataset: every part is checked when it is read, whoever reads it."""

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
from xarray.backends import BackendArray
from xarray.core import indexing

from sweep.errors import StoreError
from sweep.spec import LEVEL, MISSING, STRETCH, Status
from sweep.store.coordinates import damaged, read_dimensions
from sweep.store.faults import opening
from sweep.store.group import open_group
from sweep.store.layout import MISSING_LEVEL, ordered
from sweep.store.place import place_of, refuse_what_is_not_to_be_read

Read = Callable[[Any], NDArray[Any]]  # of a key: integers, slices and index arrays, one a dimension


def open_results(path: str | Path) -> xr.Dataset:
    """The results in a store as a lazy Dataset, finished or not; StoreError if there are none."""
    place = place_of(path)
    refuse_what_is_not_to_be_read(place)
    with opening(place):
        files = place.files()
        read_dimensions(open_group(files))
        # The types of xarray.open_zarr are not complete.
        dataset: xr.Dataset = xr.open_zarr(  # pyright: ignore[reportUnknownMemberType]
            files, consolidated=False, chunks=None
        )
        return ordered(_chunked(checked(dataset)))


def _chunked(dataset: xr.Dataset) -> xr.Dataset:
    """The Dataset in the chunks of its results, in one of which a coordinate's file may not lie.

    A coordinate of no more than a stretch has no chunks: it is read when it is asked for.
    """
    short = [name for name in dataset.coords if dataset[name].size <= STRETCH]
    chunks = dataset["status"].encoding["preferred_chunks"]
    return dataset.drop_vars(short).chunk(chunks).assign_coords(dataset[short].coords)


def checked(dataset: xr.Dataset) -> xr.Dataset:
    """The same Dataset, lazy as it was; StoreError from each part that is damaged, when it is read.

    Damaged is what cannot be read, an output without a value at a point that is ok, for then a file
    of its chunk is missing, and a coordinate without one.
    """
    derived = _derived(dataset)
    status = _Results("status", dataset["status"].variable)
    lazy: dict[str, _Checked] = {"status": status}
    for name in map(str, dataset.variables):
        variable = dataset[name].variable
        if name in dataset.data_vars and name != "status":
            lazy[name] = _Results(name, variable, status.read)
        elif name in dataset.coords and name not in dataset.xindexes:  # those are read already
            lazy[name] = _Coordinate(name, variable, may_be_nan=name in derived)
    return dataset.assign({name: array.variable() for name, array in lazy.items()})


@contextmanager
def intact(name: str) -> Generator[None]:
    """Within, StoreError from what is read of a result and damaged."""
    try:
        yield
    except (ValueError, RuntimeError) as error:  # as zarr and blosc tell of it
        raise StoreError(
            f"{name} has a damaged chunk ({error}). `sweep status --verify` names it; "
            "then running its sweep computes it again"
        ) from error


class _Checked(BackendArray, ABC):
    """A variable of which every part read is checked."""

    def __init__(self, name: str, variable: xr.Variable) -> None:
        self.name = name
        self.shape = variable.shape
        self.dtype = variable.dtype
        self._variable = variable

    def variable(self) -> xr.Variable:
        """The variable as it was, but that what is read goes through this."""
        lazy: Any = indexing.LazilyIndexedArray(self)
        data: Any = indexing.MemoryCachedArray(indexing.CopyOnWriteArray(lazy))  # as xarray has it
        return self._variable.copy(data=data)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        outer = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, outer, self.read)

    @abstractmethod
    def read(self, key: Any) -> NDArray[Any]:
        """A part, intact; StoreError where it is damaged."""

    def _read(self, key: Any) -> NDArray[Any]:
        """As zarr reads it: a missing file as the fill value."""
        return self._variable[key].values


class _Results(_Checked):
    """An output, or the status itself."""

    def __init__(self, name: str, variable: xr.Variable, status: Read | None = None) -> None:
        super().__init__(name, variable)
        self._missing = _missing(variable)
        self._status = status

    def read(self, key: Any) -> NDArray[Any]:
        values = self._intact(key)
        if self._status is None or not (absent := _absent(values, self._missing)).any():
            return values
        ok = self._status(key) == Status.ok
        if not (absent & ok).any():
            return values
        values = self._intact(key)  # its chunk may have been written since
        lost = np.count_nonzero(_absent(values, self._missing) & ok)
        if lost:
            raise StoreError(
                f"{self.name} has no value at {lost:,} points that are done: a file of the store "
                "is missing. Running its sweep again computes those chunks anew; "
                "`sweep status --verify` names them"
            )
        return values

    def _intact(self, key: Any) -> NDArray[Any]:
        with intact(self.name):
            return self._read(key)


class _Coordinate(_Checked):
    """A parameter that is no dimension's own, or the levels of refined points."""

    def __init__(self, name: str, variable: xr.Variable, *, may_be_nan: bool) -> None:
        super().__init__(name, variable)
        self._may_be_nan = may_be_nan

    def read(self, key: Any) -> NDArray[Any]:
        try:
            values = self._read(key)
        except (ValueError, RuntimeError) as error:
            raise damaged(self.name, f"cannot be read ({error})") from error
        missing = MISSING_LEVEL if self.name == LEVEL else MISSING["real"]
        if not self._may_be_nan and _absent(values, missing).any():
            raise damaged(self.name, "lacks a file")
        return values


def settled(dataset: xr.Dataset) -> xr.Dataset:
    """The same results, pending where outputs were read before a run wrote them and status after.

    What is read of `checked` may be such; what is lazy stays so.
    """
    outputs = {str(name): dataset[name] for name in dataset.data_vars if name != "status"}
    status = dataset["status"]
    lost = status == Status.pending
    for output in outputs.values():
        missing = _missing(output.variable)
        absent = output.isnull() if np.isnan(missing) else output == missing
        lost = lost | (absent & (status == Status.ok))
    filled = {
        name: output.where(~lost, output.dtype.type(_missing(output.variable)))
        for name, output in outputs.items()
    }
    pending = status.where(~lost, status.dtype.type(Status.pending))
    return dataset.assign({**filled, "status": pending})


def _missing(variable: xr.Variable) -> float:
    """What an output has at a point that is not ok."""
    kind = "flag" if "flag_meanings" in variable.attrs else "count"
    return MISSING["real" if variable.dtype.kind == "f" else kind]


def _absent(values: NDArray[Any], missing: float) -> NDArray[np.bool_]:
    return np.isnan(values) if np.isnan(missing) else values == missing


def _derived(dataset: xr.Dataset) -> set[str]:
    """The single parameters that the kernel finds: they are NaN."""
    constants = json.loads(dataset.attrs["recipe"])["constants"]
    return {name for name, value in constants.items() if value == float("nan").hex()}
