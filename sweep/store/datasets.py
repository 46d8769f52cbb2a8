"""Datasets of stores: results, lazy and checked, and what was computed from them.

What was computed from results (`sweep wear`) is a store of its own, written whole, which no run
continues. Its attribute `derived_from` holds the attributes of those results, and `derived_by` what
they were computed with. If the store of those results lies in the same folder, `derived_when` names
it, and how many chunks were done.
"""

from __future__ import annotations

import json
import shlex
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from xarray.backends import BackendArray
from xarray.core import indexing  # what is used of it is in xarray's API reference and guides

from sweep.errors import StoreError, SweepError, warn
from sweep.model.table import MISSING, Status
from sweep.points.recipes import outputs_in
from sweep.request.sweeps import LEVEL, VALUES_IN_MEMORY
from sweep.store import disk_faults, extension, lock
from sweep.store.disk_faults import ORIGIN, intact
from sweep.store.group import (
    Readable,
    as_zarr,
    open_group,
    recipe_of,
    refuse_damaged_coordinates,
)
from sweep.store.layout import (
    ENDS,
    WEAR,
    decoded,
    encoding_of,
    holds_counts,
    ordered,
    with_derived,
    without_fill_value,
)
from sweep.store.location import GROUP, is_url
from sweep.store.store_files import Files, attributes_of, files_of

MAX_WAIT_SECONDS = 5.0  # for an extension, which takes a run a fraction of a second
Opened = TypeVar("Opened")
BY = "derived_by"
WHEN = "derived_when"  # an attribute with the name of the store of the results, and its chunks
NAMES = "variables"  # an attribute with their order, which zarr does not keep


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
        refuse_damaged_coordinates(group, recipe)
        # The types of xarray.open_zarr are incomplete.
        dataset: xr.Dataset = xr.open_zarr(  # pyright: ignore[reportUnknownMemberType]
            as_zarr(files),  # pyright: ignore[reportArgumentType]
            consolidated=False,
            chunks=None,
            mask_and_scale=False,  # counts are decoded once they are checked
        )
        names = map(str, dataset.variables.keys() - dataset.xindexes.keys())  # those are in memory
        dataset = dataset.assign({name: _checked(dataset, name) for name in names})
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
            with disk_faults.opening(files):
                return read()
        except StoreError:
            if files.read(GROUP) == group and not extension.is_under_way(files):
                raise


def refuse_unreadable(files: Files) -> None:
    """Raise StoreError if there is no store, or one whose extension does not end."""
    path = str(files)
    if not files.exists():
        raise disk_faults.no_store(path)
    if not is_url(path):
        disk_faults.refuse_foreign_folder(Path(path))
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

    A coordinate of at most VALUES_IN_MEMORY values is not divided: it is read on demand.
    """
    short = [name for name in dataset.coords if dataset[name].size <= VALUES_IN_MEMORY]
    chunks = dataset["status"].encoding["preferred_chunks"]
    return dataset.drop_vars(short).chunk(chunks).assign_coords(dataset[short].coords)


def _checked(dataset: xr.Dataset, name: str) -> xr.Variable:
    variable = dataset[name].variable
    return _Intact(name, variable, is_coordinate=name in dataset.coords).variable()


class _Intact(BackendArray):
    """A variable of a store, of which damage is named when it is read; counts are decoded."""

    def __init__(self, name: str, variable: xr.Variable, *, is_coordinate: bool) -> None:
        self.shape = variable.shape
        self._is_count = holds_counts(variable)
        self.dtype = np.dtype(np.float64) if self._is_count else variable.dtype
        self._variable = variable
        self._name = name
        self._is_coordinate = is_coordinate

    def variable(self) -> xr.Variable:
        """The same variable, read through this."""
        lazy: Any = indexing.LazilyIndexedArray(self)
        if self._is_coordinate:  # outputs are computed by Dask, which keeps nothing
            lazy = indexing.MemoryCachedArray(indexing.CopyOnWriteArray(lazy))
        stored = self._variable
        encoding, attributes = dict(stored.encoding), without_fill_value(stored.attrs)
        if self._is_count:
            encoding |= encoding_of(cast("np.dtype[Any]", stored.dtype))
        return xr.Variable(stored.dims, lazy, attributes, encoding)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        outer = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, outer, self._read)

    def _read(self, key: Any) -> NDArray[Any]:
        with intact(self._name, is_coordinate=self._is_coordinate, is_single=not self.shape):
            values = self._variable[key].values
        return decoded(values) if self._is_count else values


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


def _optional(dataset: xr.Dataset) -> set[str]:
    """The outputs that a point which is ok may lack, or have fewer values of."""
    return {output.name for output in outputs_in(dataset.attrs) if output.optional}


class Source(NamedTuple):
    """The store that something is computed from, and how many chunks are done before it is read."""

    location: str
    done_chunks: int


def source_at(path: str | Path) -> Source:
    """The state of the store at a path or URL."""
    files = files_of(path)
    names = (name for name in files.list("status") if not name.endswith(".partial"))
    return Source(str(files), sum(name.startswith("c") for name in names))


def write_derived(dataset: xr.Dataset, path: str | Path, source: Source | None = None) -> None:
    """Write what was computed from results to a path or URL, where a derived store is replaced.

    `dataset` has the attributes of the results and `derived_by`; they were read from `source`.
    StoreError if something else is there, and if it cannot be written.
    """
    files = files_of(path)
    if files.exists() and not is_derived(files):
        raise StoreError(
            f"{str(path)!r} exists and was not computed from other results: remove it, or choose "
            "another name"
        )
    kept = xr.Dataset(dataset.data_vars, dataset.coords, _attributes(dataset, files, source))
    with files.publish() as folder:
        write_zarr(kept, folder)
        files.discard()


def opened(files: Files) -> xr.Dataset | None:
    """The Dataset that `write_derived` was given, lazy; None if the store is another one."""
    if not is_derived(files):
        return None
    # The types of xarray.open_zarr are incomplete.
    dataset: xr.Dataset = xr.open_zarr(  # pyright: ignore[reportUnknownMemberType]
        as_zarr(files, Readable),  # xarray writes no file for a chunk of missing values
        consolidated=False,
        chunks={},
    )
    origin = json.loads(str(dataset.attrs[ORIGIN]))
    if WHEN in dataset.attrs:
        _warn_if_outdated(files, origin, **json.loads(str(dataset.attrs[WHEN])))
    ordered = {name: dataset.variables[name] for name in str(dataset.attrs[NAMES]).split()}
    coordinates = {name: ordered.pop(name) for name in list(ordered) if name in dataset.coords}
    return xr.Dataset(ordered, coordinates, {**origin, BY: dataset.attrs[BY]})


def wear_of(dataset: xr.Dataset) -> dict[str, Any] | None:
    """What a Dataset of wear was computed with, as `Wear` has it; None for any other Dataset."""
    return json.loads(str(dataset.attrs.get(BY, "{}"))).get("wear")


def is_derived(files: Files) -> bool:
    """Whether there is a store that `write_derived` has made."""
    try:
        return ORIGIN in attributes_of(files)
    except ValueError:
        return False


def is_current(dataset: xr.Dataset, path: str | Path, source: Source) -> bool:
    """Whether a store there was computed from the same results in the same way."""
    files = files_of(path)
    return is_derived(files) and attributes_of(files) == _attributes(dataset, files, source)


def write_zarr(dataset: xr.Dataset, path: Path) -> None:
    """Write a folder of zarr format 3, which plain xarray.open_zarr opens."""
    encoding: dict[str, dict[str, Any]] = {str(name): {"_FillValue": None} for name in dataset}
    with warnings.catch_warnings():  # not yet standard, but readers warn without it
        warnings.filterwarnings("ignore", "Consolidated metadata")
        dataset.drop_encoding().to_zarr(path, zarr_format=3, consolidated=True, encoding=encoding)


def _warn_if_outdated(files: Files, origin: Mapping[str, Any], store: str, chunks: int) -> None:
    """Warn if the store beside it, from which it was computed, has been extended or completed."""
    try:
        source = source_at(_beside(files, store))
        attributes = attributes_of(files_of(source.location))
    except (SweepError, ValueError):  # which says nothing about what was computed from it
        return
    if not attributes or (source.done_chunks, attributes.get("fingerprint")) == (
        chunks,
        origin.get("fingerprint"),
    ):
        return
    name = shlex.quote(source.location)
    cure = f"`sweep run {name}`" if WEAR in attributes else f"`sweep wear {name} ...`"
    warn(f"{str(files)!r} was made from an earlier state of {source.location!r}: run {cure} again")


def _beside(files: Files, name: str) -> str:
    """The path or URL of a store in the same folder."""
    location = str(files)
    if is_url(location):
        return f"{location.rpartition('/')[0]}/{name}"
    return str(Path(location).with_name(name))


def _attributes(dataset: xr.Dataset, files: Files, source: Source | None) -> dict[str, Any]:
    origin = {key: value for key, value in dataset.attrs.items() if key != BY}
    name = PurePath(source.location).name if source else ""
    when: dict[str, str] = {}
    if source and source.location == _beside(files, name):
        when = {WHEN: json.dumps({"store": name, "chunks": source.done_chunks})}
    return {
        **when,
        ORIGIN: json.dumps(origin, sort_keys=True),
        BY: dataset.attrs[BY],
        NAMES: _names(dataset),
    }


def _names(dataset: xr.Dataset) -> str:
    """The names of all variables: coordinates of dimensions first, constants last."""
    along = [str(name) for name in dataset.dims if name in dataset.coords]
    other_names = sorted(
        set(map(str, dataset.coords)) - set(along), key=lambda name: (-dataset[name].ndim, name)
    )
    return " ".join((*along, *other_names, *map(str, dataset.data_vars)))
