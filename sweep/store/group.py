"""The zarr group of a store as it is read: its arrays, coordinates, sweep and files of chunks.

Of an output, a file may be missing while its chunk has no status: zarr reads missing values then. A
coordinate has all of its files. Whatever else is missing is damage, named when it is read.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.abc.store import Store as ZarrStore
from zarr.storage import FsspecStore, LocalStore, WrapperStore

from sweep.errors import StoreError, machine_error
from sweep.model.table import Status, every_parameter
from sweep.points.chunking import chunk_counts, chunks
from sweep.points.recipes import along_axes, fingerprint, from_recipe, model_of, plain
from sweep.request.chunk import Chunk, Values
from sweep.request.sweeps import VALUES_IN_MEMORY, AnySweep, LongValues
from sweep.store import layout
from sweep.store.disk_faults import (
    damaged_coordinate,
    gone,
    intact,
    reading,
    refuse_device,
    refuse_foreign_group,
    writing,
)
from sweep.store.location import is_url
from sweep.store.store_files import Files, beside

if TYPE_CHECKING:
    from zarr.abc.buffer import Buffer, BufferPrototype
    from zarr.abc.store import ByteRequest

CHUNK = re.compile(r"(.+)/c((?:[/.]\d+)*)")  # the key of a chunk's file: its array, its indices
MAX_FOLDERS = 1000  # for the chunks of one array
NOTE = "damaged.json"  # of damaged chunks, next to the store


class Stored:
    """A stored coordinate whose values are read on demand."""

    def __init__(self, array: zarr.Array[Any], name: str) -> None:
        self._array, self._name = array, name

    def __len__(self) -> int:
        return self._array.shape[0]

    def __getitem__(self, part: slice, /) -> Values:
        with intact(self._name, is_coordinate=True):
            return np.asarray(self._array[part], dtype=np.float64)


class Readable(WrapperStore[ZarrStore]):
    """The files of a store as zarr reads them; those that may not be read are named."""

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        if not isinstance(self._store, LocalStore):
            return await self._store.get(key, prototype, byte_range)
        file = self._store.root / key
        with suppress(FileNotFoundError, NotADirectoryError), reading(file):
            refuse_device(file)
            return await self._store.get(key, prototype, byte_range)
        return None


class Whole(Readable):
    """The files of results as zarr reads them; those that are lost are named, too."""

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        content = await super().get(key, prototype, byte_range)
        if content is not None or (chunk := CHUNK.fullmatch(key)) is None:
            return content
        if not await self._must_exist(chunk[1], chunk[2], prototype):
            return None
        content = await super().get(key, prototype, byte_range)  # it may be there by now
        if content is None:
            raise StoreError(
                f"{chunk[1]} has no value at points that are done: a file of the store is missing. "
                "Run its sweep again to compute those chunks anew; `sweep status --verify` names "
                "them"
            )
        return content

    async def _must_exist(self, name: str, place: str, prototype: BufferPrototype) -> bool:
        """Whether a chunk of an output has a status. StoreError for a chunk of a coordinate."""
        if name == "status":
            return False
        metadata = [await self.get(f"{n}/zarr.json", prototype) for n in (name, "status")]
        own, status = (json.loads(each.to_bytes() if each else b"{}") for each in metadata)
        along, grid = (tuple(each.get("dimension_names") or ()) for each in (own, status))
        others = status.get("attributes", {}).get("coordinates", "").split()
        if name in (*along, *others) or along[: len(grid)] != grid:
            raise damaged_coordinate(name, "lacks a file", is_single=not along)
        index = re.findall(r"[/.]\d+", place)[: len(grid)]
        return await self._store.exists(f"status/c{''.join(index)}")


def as_zarr(files: Files, kind: type[Readable] = Whole) -> ZarrStore:
    """The same files for zarr, which only reads them."""
    if is_url(location := str(files)):
        return kind(FsspecStore.from_url(location, read_only=True))
    return kind(LocalStore(location, read_only=True))


def open_group(files: Files) -> zarr.Group:
    """The group of a store. Raises StoreError if another program has made it."""
    # The types of zarr.open_group are incomplete.
    group = zarr.open_group(  # pyright: ignore[reportUnknownMemberType]
        as_zarr(files), mode="r", use_consolidated=False
    )
    refuse_foreign_group(group.attrs)
    return group


def array_of(group: zarr.Group, name: str) -> zarr.Array[Any]:
    """One of its arrays."""
    array = group[name]
    if not isinstance(array, zarr.Array):
        raise TypeError(f"{name} is not an array")
    return array


def file_shape(array: zarr.Array[Any]) -> tuple[int, ...]:
    """The shape of the part of an array that one file holds."""
    return array.shards or array.chunks


def sweep_of(group: zarr.Group) -> AnySweep:
    """The sweep that the store was made for."""
    made_from = recipe_of(group)
    columns = {name: _coordinate(group, name) for name in along_axes(made_from)}
    return from_recipe(made_from, {**columns, **_reduced(group, made_from)})


def recipe_of(group: zarr.Group) -> Mapping[str, Any]:
    """The recipe of the store's sweep. Raises ValueError if it was changed."""
    made_from = json.loads(str(group.attrs["recipe"]))
    if fingerprint(made_from) != group.attrs["fingerprint"]:
        raise ValueError("its recipe does not match its fingerprint")
    return made_from


def refuse_damaged_coordinates(group: zarr.Group, recipe: Mapping[str, Any]) -> None:
    """Raise StoreError if xarray would leave out a coordinate, or not say what is wrong with it.

    On opening it reads the values of all dimensions, which one with several parameters, such as
    that of a sample, does not have. It leaves out a parameter of one value whose metadata is
    damaged.
    """
    for axis in recipe["axes"]:
        name = axis["name"]
        if name in axis["parameters"]:
            Stored(array_of(group, name), name)[:]
    names = str(array_of(group, "status").attrs.get("coordinates", "")).split()
    for name in set(names) - {*along_axes(recipe), *recipe.get("derived", ())}:
        with intact(name, is_coordinate=True, is_single=True):
            array_of(group, name)


def _reduced(group: zarr.Group, recipe: Mapping[str, Any]) -> Mapping[str, LongValues]:
    """The values along reduced axes: kept ones, or those of a sample, which are drawn."""
    columns: dict[str, LongValues] = {}
    for axis in recipe.get("reduce", {}).get("axes", ()):
        places = {name: f"{layout.REDUCED}/{name}" for name in axis["parameters"]}
        if all(place in group for place in places.values()):
            for name, place in places.items():
                columns[name] = Stored(array_of(group, place), name)[:]
        else:
            from sweep.sampling.drawing import columns_of

            whole_numbers = [p.name for p in every_parameter(model_of(recipe)) if p.whole]
            columns |= columns_of(plain(axis["recipe"]), whole_numbers)
    return columns


def _coordinate(group: zarr.Group, name: str) -> LongValues:
    stored = Stored(array_of(group, name), name)
    return stored if len(stored) > VALUES_IN_MEMORY else stored[:]


def damaged_constants(files: Files, sweep: AnySweep) -> list[tuple[layout.Variable, NDArray[Any]]]:
    """The parameters with one value that a store lacks, and their values, from its recipe."""
    coordinates = layout.coordinates(sweep)
    single = [(v, np.asarray(a, v.dtype)) for v, a in coordinates if not v.dimensions]
    with writing(files):
        return [each for each in single if not _holds(files, *each)]


def _holds(files: Files, variable: layout.Variable, value: NDArray[Any]) -> bool:
    """Whether a store has this value of a parameter, whichever version has written it."""
    if not files.exists(f"{variable.name}/c"):
        return False
    try:
        # The types of zarr.open_array are incomplete.
        array = zarr.open_array(  # pyright: ignore[reportUnknownMemberType]
            as_zarr(files), path=variable.name, mode="r"
        )
        return np.asarray(array[...]).tobytes() == value.tobytes()
    except (KeyError, TypeError, ValueError, RuntimeError, FileNotFoundError, IsADirectoryError):
        return False  # of zarr, for a file that is missing, torn, damaged, a folder or a pipe


class ChunkFiles:
    """A file for each chunk and each of these arrays; the status is the last of them."""

    def __init__(self, files: Files, arrays: dict[str, zarr.Array[Any]]) -> None:
        self._files = files
        self._arrays = arrays
        status = arrays["status"]
        self._shape = status.shards or status.chunks
        self.counts = chunk_counts(status.shape, self._shape)  # of chunks along each dimension
        metadata = cast("dict[str, Any]", status.metadata.to_dict())
        self._separator = separator_of(metadata)

    def key(self, name: str, chunk: Chunk) -> str:
        """The key of the file that holds a chunk of an array."""
        inner = (0,) * len(self._inner(name))
        return f"{name}/{key(chunk.index + inner, self._separator)}"

    def done(self) -> NDArray[np.bool_]:
        """Whether each chunk has a status, in C order. Raises MachineError if the store is gone."""
        listed = self._listed("status")
        if not self._files.exists():  # nothing is listed then
            raise gone(self._files)
        return listed

    def chunks(self, places: NDArray[np.bool_]) -> list[Chunk]:
        """The chunks that are marked, in C order."""
        return list(chunks(self._arrays["status"].shape, self._shape, places.tolist()))

    def torn(self) -> list[Chunk]:
        """The done chunks known to be damaged: those that lack a file, and those noted.

        Reads names, and the content of chunks that may be damaged.
        """
        suspect = named(self._noted(), self.counts, self._separator)
        done = self._listed("status")  # first: a chunk done in the meantime has its other files
        for name in self._arrays.keys() - {"status"}:
            suspect |= ~self._listed(name)
        return [chunk for chunk in self.chunks(done & suspect) if not self.is_whole(chunk)]

    def is_whole(self, chunk: Chunk) -> bool:
        """Whether all files are whole; the status comes first, as it is the one mostly missing."""
        return all(self._is_whole_file(name, chunk) for name in reversed(self._arrays))

    def folders(self, chunk: Chunk) -> list[str]:
        """Folders in the place of files of a chunk."""
        files = (f"{self._files}/{self.key(name, chunk)}" for name in self._arrays)
        return [file for file in files if Path(file).is_dir()]

    def damaged(self, chunk: Chunk) -> list[str]:
        """The files of a chunk that are damaged, or folders in their place."""
        names = [name for name in self._arrays if not self._is_whole_file(name, chunk)]
        return self.folders(chunk) or [f"{self._files}/{self.key(name, chunk)}" for name in names]

    def note_damage(self, chunks: Iterable[Chunk]) -> None:
        """Note damaged chunks for the next run, in place of those noted before.

        Reading every checksum takes as long as reading the store, so a run checks only these.
        """
        log = beside(self._files, "log")
        indices = [list(chunk.index) for chunk in chunks]
        if indices or log.exists(NOTE):
            log.put(NOTE, f"{json.dumps(indices)}\n".encode())

    def _noted(self) -> list[str]:
        """The names of the chunks in the note; none if there is no note or it cannot be read."""
        try:
            rows = json.loads(beside(self._files, "log").read(NOTE) or b"[]")
            return [key(row, self._separator) for row in rows]
        except (OSError, ValueError, TypeError, RecursionError):
            return []

    def _listed(self, name: str) -> NDArray[np.bool_]:
        """Whether each chunk of an array has a file, in C order."""
        return named(self._files.list(name), self.counts + self._inner(name), self._separator)

    def _inner(self, name: str) -> tuple[int, ...]:
        """The number of chunks along the dimensions of an array that the grid does not have: 1."""
        return (1,) * (self._arrays[name].ndim - len(self.counts))

    def _is_whole_file(self, name: str, chunk: Chunk) -> bool:
        if not self._files.exists(self.key(name, chunk)):
            return False  # zarr reads a missing file as the fill value
        try:
            part = np.asarray(self._arrays[name][chunk.slices])
        except (ValueError, RuntimeError, OSError) as error:  # checksum, decompression, disk
            if known_error := machine_error(error):
                raise known_error from error
            return False
        return name != "status" or not np.any(part == Status.pending)


def separator_for(counts: tuple[int, ...]) -> str:
    """The separator of the indices in a chunk's name: "/" makes folders, if they are few.

    Many chunks of whole rows would have a folder each, and listing them would take ten times as
    long.
    """
    return "/" if math.prod(counts[:-1]) <= MAX_FOLDERS else "."


def key(index: Iterable[int], separator: str) -> str:
    """The name of a chunk's file in zarr's default encoding: c/3/0 or c.3.0."""
    return separator.join(("c", *map(str, index)))


def named(names: Iterable[str], counts: tuple[int, ...], separator: str) -> NDArray[np.bool_]:
    """Whether each chunk, in C order, has its name among these; other names are ignored."""
    every = itertools.product("c", *(map(str, range(count)) for count in counts))
    is_named = map(set(names).__contains__, map(separator.join, every))
    return np.fromiter(is_named, np.bool_, math.prod(counts))


def separator_of(status: Mapping[str, Any]) -> str:
    """The separator of the indices in the names of chunks, from the metadata of the status."""
    return status["chunk_key_encoding"]["configuration"]["separator"]
