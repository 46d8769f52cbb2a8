"""A store as a lazy Dataset; every part is checked when it is read."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing  # what is used of it is in xarray's API reference and guides

from sweep.errors import StoreError
from sweep.plan.recipes import outputs_in
from sweep.request import LEVEL, STRETCH
from sweep.spec import MISSING, Status
from sweep.store import extension, faults, lock, stored_counts
from sweep.store.chunk_files import ChunkFiles
from sweep.store.derived_coordinates import with_derived
from sweep.store.derived_stores import BY, opened
from sweep.store.faults import damaged_coordinate, intact
from sweep.store.group import (
    array_of,
    as_zarr,
    open_group,
    read_dimensions,
    recipe_of,
    refuse_damaged_constants,
)
from sweep.store.layout import ENDS, MISSING_LEVEL, ordered
from sweep.store.place import GROUP, is_url
from sweep.store.store_files import Files, files_of

MAX_WAIT_SECONDS = 5.0  # for an extension, which takes a run a fraction of a second

Opened = TypeVar("Opened")


def open_results(path: str | Path) -> xr.Dataset:
    """The results in a store as a lazy Dataset, finished or not. Raises StoreError without any.

    Of a store that may grow, coordinates are in memory: their files are replaced when it does.
    """
    files = files_of(path)

    def read() -> xr.Dataset:
        if (derived := opened(files)) is not None:
            return derived
        group = open_group(files)
        recipe = recipe_of(group)
        refuse_damaged_constants(files, group)
        read_dimensions(group, recipe)
        # The types of xarray.open_dataset are incomplete.
        dataset: xr.Dataset = xr.open_dataset(  # pyright: ignore[reportUnknownMemberType]
            files,  # pyright: ignore[reportArgumentType]
            engine=CheckedZarr,
        )
        if LEVEL in dataset.coords and ENDS not in dataset.attrs:
            dataset = dataset.assign_coords(dataset.coords.to_dataset().load().coords)
        return ordered(with_derived(_chunked(dataset)))

    return opening(files, read)


def opening(files: Files, read: Callable[[], Opened]) -> Opened:
    """What is read of a store, as it is before or after an extension that happens meanwhile."""
    while True:
        refuse_unreadable(files)
        group = files.read(GROUP)
        try:
            with faults.opening(files):
                return read()
        except StoreError:
            if files.read(GROUP) == group and not extension.is_under_way(files):
                raise


def refuse_unreadable(files: Files) -> None:
    """Raise StoreError if there is no store, or one whose extension does not end."""
    path = str(files)
    if not files.exists():
        raise faults.no_store(path)
    if not is_url(path):
        faults.refuse_foreign_folder(Path(path))
    wait_for_extension(files)
    if extension.is_under_way(files):
        raise StoreError(
            f"{path!r} is being extended, or was when the extension was stopped; if it was, run "
            f"the same `sweep extend` again, or resume with `sweep run {shlex.quote(path)}`"
        )


def wait_for_extension(files: Files) -> None:
    """Wait some seconds for an extension to end, unless nobody holds the store to complete it."""
    path, end = str(files), time.monotonic() + MAX_WAIT_SECONDS
    while extension.is_under_way(files) and time.monotonic() < end:
        if not is_url(path) and not lock.holders(path):
            return
        time.sleep(0.02)


def _chunked(dataset: xr.Dataset) -> xr.Dataset:
    """The Dataset in the chunks of its results, which may divide the file of a long coordinate.

    A coordinate of at most STRETCH values is not divided: it is read on demand.
    """
    short = [name for name in dataset.coords if dataset[name].size <= STRETCH]
    chunks = dataset["status"].encoding["preferred_chunks"]
    return dataset.drop_vars(short).chunk(chunks).assign_coords(dataset[short].coords)


class CheckedZarr(BackendEntrypoint):
    """A store as xarray reads it, but that damaged parts raise StoreError when they are read.

    Damaged are parts that cannot be read, outputs of which a chunk that is done lacks its file, and
    coordinates without a value.
    """

    open_dataset_parameters = ("filename_or_obj", "drop_variables")

    def open_dataset(self, filename_or_obj: Any, *, drop_variables: Any = None) -> xr.Dataset:
        files: Files = filename_or_obj
        # The types of xarray.open_zarr are incomplete.
        dataset: xr.Dataset = xr.open_zarr(  # pyright: ignore[reportUnknownMemberType]
            as_zarr(files),  # pyright: ignore[reportArgumentType]
            consolidated=False,
            chunks=None,
            mask_and_scale=False,  # counts are decoded once they are checked
            drop_variables=drop_variables,
        )
        return _checked(dataset, files)


def _checked(dataset: xr.Dataset, files: Files) -> xr.Dataset:
    derived, group = _derived(dataset), open_group(files)
    arrays = {str(name): array_of(group, str(name)) for name in dataset.data_vars}
    chunks = ChunkFiles(files, arrays)
    status = _Checked("status", dataset["status"].variable, None)
    lazy = {"status": status}
    for name in map(str, dataset.variables):
        variable = dataset[name].variable
        if name in dataset.data_vars and name != "status":
            lazy[name] = _Checked(name, variable, _missing(variable), status, chunks)
        elif name in dataset.coords and name not in dataset.xindexes:  # indexes are in memory
            of_kind = MISSING_LEVEL if name == LEVEL else MISSING["real"]
            missing = None if name in derived else of_kind
            lazy[name] = _Checked(name, variable, missing, is_coordinate=True)
    return dataset.assign({name: array.variable() for name, array in lazy.items()})


class _Checked(BackendArray):
    """A variable whose parts are checked when they are read.

    `missing` is the value of points in missing files. An output may have it where the `status` is
    not ok or its file exists, a coordinate nowhere; None: it is not looked for.
    """

    def __init__(
        self,
        name: str,
        variable: xr.Variable,
        missing: float | None,
        status: _Checked | None = None,
        chunks: ChunkFiles | None = None,
        *,
        is_coordinate: bool = False,
    ) -> None:
        self.name = name
        self.shape = variable.shape
        self._is_count = stored_counts.holds_counts(variable)
        self.dtype = np.dtype(np.float64) if self._is_count else variable.dtype
        self._variable = variable
        self._missing = missing
        self._status = status
        self._chunks = chunks
        self._is_coordinate = is_coordinate

    def variable(self) -> xr.Variable:
        """The same variable, read through this."""
        lazy: Any = indexing.LazilyIndexedArray(self)
        stored = self._variable
        encoding, attributes = dict(stored.encoding), stored_counts.without_fill_value(stored.attrs)
        if self._is_count:
            encoding |= stored_counts.encoding_of(cast("np.dtype[Any]", stored.dtype))
        return xr.Variable(stored.dims, lazy, attributes, encoding)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        outer = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, outer, self._read)

    def _read(self, key: Any) -> NDArray[Any]:
        """A part as xarray decodes it; StoreError if it is damaged."""
        values = self._checked(key)
        return stored_counts.decoded(values) if self._is_count else values

    def _checked(self, key: Any) -> NDArray[Any]:
        """A part as it is stored; StoreError if it is damaged."""
        values = self._intact(key)
        if self._missing is None or not (absent := _absent(values, self._missing)).any():
            return values
        if self._status is None or self._chunks is None:
            raise damaged_coordinate(self.name, "lacks a file", is_single=not self.shape)
        grid = self._status.shape
        indices = [_indices(k, n) for k, n in zip(key, grid, strict=False)]
        ok = self._status._intact(key[: len(grid)]) == Status.ok
        ok = ok.reshape([len(each) for each in indices])
        absent = absent.reshape(*ok.shape, -1).any(axis=-1)
        if not (absent & ok).any():
            return values
        values = self._intact(key)  # its chunk may have been written in the meantime
        absent = _absent(values, self._missing).reshape(*ok.shape, -1).any(axis=-1)
        lost = np.count_nonzero(self._chunks.lost(self.name, indices, absent & ok))
        if lost:
            raise StoreError(
                f"{self.name} has no value at {lost:,} points that are done: a file of the store "
                "is missing. Run its sweep again to compute those chunks anew; "
                "`sweep status --verify` names them"
            )
        return values

    def _intact(self, key: Any) -> NDArray[Any]:
        """A part as zarr reads it: a missing file gives the fill value."""
        is_single = not self.shape
        with intact(self.name, is_coordinate=self._is_coordinate, is_single=is_single):
            return self._variable[key].values


def _indices(key: Any, size: int) -> NDArray[np.int64]:
    """What a slice, a number or an array of numbers chooses along a dimension of this size."""
    return np.arange(*key.indices(size)) if isinstance(key, slice) else np.atleast_1d(key) % size


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
    filled: dict[str, xr.DataArray] = {}
    for name, output in outputs.items():
        filled[name] = output.where(~lost, output.dtype.type(_missing(output.variable)))
        filled[name].encoding = output.encoding
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
