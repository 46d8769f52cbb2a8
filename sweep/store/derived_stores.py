"""Stores that hold what was computed from the results of another one.

They are whole Datasets, written at once, which no run continues. Their attribute `derived_from`
holds the attributes of those results, and `derived_by` what they were computed with. If the store
of those results lies in the same folder, `derived_when` names it, and how many chunks were done.
"""

from __future__ import annotations

import json
import shlex
import warnings
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import xarray as xr

from sweep.errors import StoreError, SweepError, warn
from sweep.store.faults import ORIGIN
from sweep.store.group import as_zarr
from sweep.store.layout import WEAR
from sweep.store.place import is_url
from sweep.store.store_files import Files, attributes_of, files_of

BY = "derived_by"
WHEN = "derived_when"  # an attribute with the name of the store of the results, and its chunks
NAMES = "variables"  # an attribute with their order, which zarr does not keep


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
        as_zarr(files), consolidated=False, chunks={}
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
