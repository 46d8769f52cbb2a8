"""Upkeep of a store: damaged and failed chunks, lost constants, leftovers, its [wear] table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from sweep.errors import StoreError
from sweep.model.table import Status
from sweep.request.chunk import Chunk
from sweep.request.options import RunOptions
from sweep.request.sweeps import MAX_EXACT_POINTS, VALUES_IN_MEMORY, Reduced
from sweep.store import disk_faults, durable, extension, layout
from sweep.store.blocks import Blocks, target_of
from sweep.store.creation import coordinate_files
from sweep.store.group import as_zarr, key, note
from sweep.store.location import is_url
from sweep.store.store import Store
from sweep.store.target import InFiles

EARLIER = "status/pieces"  # where earlier versions kept what they had computed of a cell


def make_ready(
    store: Store,
    options: RunOptions,
    wear: Mapping[str, object] | None,
    notify: Callable[[str], None],
) -> None:
    """Clean and repair a store that is held, and make pending what is to be computed again.

    [wear] of the sweep file is kept, in place of another, so that the store suffices to resume.
    Raises StoreError if the store was extended before it was held.
    """
    shard = options.shard
    extension.refuse_grown(store.files, store.sweep.grid.shape, store.attributes)
    if wear and wear_table(store) != wear:
        note(store.files, store.attributes, layout.WEAR, json.dumps(wear))
    if shard is None:  # no other run can be at work
        clean(store)
    else:
        remove_merged_blocks(store)
    for variable, value in _damaged_constants(store):
        for name, content in coordinate_files(variable, value).items():
            store.files.put(name, content)
        notify(f"rebuilt '{store.location}/{variable.name}' from the recipe of the store")
    if isinstance(store.sweep, Reduced):
        _leave_earlier_pieces(store, store.sweep, notify)
    reopen(store, store.own(store.chunk_files.torn(), shard))
    if options.retry_failed:
        reopen(store, store.own(failed(store), shard))
        if isinstance(target := target_of(store), Blocks):
            target.reopen(target.own(target.failed(), shard))


def _leave_earlier_pieces(store: Store, sweep: Reduced, notify: Callable[[str], None]) -> None:
    """Remove what an earlier version has kept of cells that it had begun, with a notice.

    StoreError if cells that are to be sorted are too large, which earlier versions allowed.
    """
    if sweep.exact_quantiles and sweep.size > MAX_EXACT_POINTS and store.pending():
        raise StoreError(
            f"exact quantiles: a cell has {sweep.size:,} points, and {MAX_EXACT_POINTS:,} can be "
            "sorted at once; without exact_quantiles, in a store of its own, the sweep can be "
            "completed"
        )
    pieces = InFiles(store.files, EARLIER)
    if names := pieces.names():
        notify(
            "an earlier version had begun cells of this store; their points are computed again, "
            "since this one divides them otherwise"
        )
    for name in names:
        pieces.remove(name)


def verify(store: Store) -> list[Chunk]:
    """The chunks that count as done and are damaged. Reads the whole store.

    A chunk is damaged if a file is missing or fails its checksum, or if a status is pending; a
    chunk that is not done is damaged if a folder is in the place of a file. Raises StoreError if a
    coordinate is damaged.
    """
    for axis in store.sweep.grid.axes:
        for values, start in product(axis.columns.values(), range(0, axis.size, VALUES_IN_MEMORY)):
            values[start : start + VALUES_IN_MEMORY]  # raises StoreError if damaged
    dataset = store.dataset()
    dataset[[name for name in dataset.coords if not dataset[name].ndim]].load()
    files = store.chunk_files
    blocked = [chunk for chunk in store.pending() if files.folders(chunk)]
    damaged = [chunk for chunk in store.done() if not files.is_whole(chunk)]
    if damaged:
        done = {chunk.index for chunk in store.done()}  # a run may have reopened some of them
        damaged = [c for c in damaged if c.index in done and not files.is_whole(c)]
    return sorted((*damaged, *blocked), key=lambda chunk: chunk.index)


def failed(store: Store) -> list[Chunk]:
    """The done chunks with a point that has the status `failed`. Reads every status."""
    return [chunk for chunk in store.done() if Status.failed in store.counts([chunk])]


def reopen(store: Store, chunks: Iterable[Chunk]) -> None:
    """Make chunks pending again; their outputs stay until they are written anew.

    Points may follow from what will be computed. Raises StoreError if there are any chunks and
    this program has another kernel, unless accepted.
    """
    chunks = list(chunks)
    if chunks and not store.receipts.accepted:
        store.made_by.refuse_other_code()
    if chunks:
        note(store.files, store.attributes, layout.ENDS, None)
    for chunk in chunks:
        store.files.remove(store.chunk_files.key("status", chunk))


def is_complete(store: Store) -> bool:
    """Whether every chunk is done and nothing is known to be damaged."""
    return not (store.chunk_files.torn() or _damaged_constants(store) or store.pending())


def _damaged_constants(store: Store) -> list[tuple[layout.Variable, NDArray[Any]]]:
    """The parameters with one value that a store lacks, and their values, from its recipe."""
    coordinates = layout.coordinates(store.sweep)
    single = [(v, np.asarray(a, v.dtype)) for v, a in coordinates if not v.dimensions]
    with disk_faults.writing(store.files):
        return [each for each in single if not _holds(store, *each)]


def _holds(store: Store, variable: layout.Variable, value: NDArray[Any]) -> bool:
    """Whether a store has this value of a parameter, whichever version has written it."""
    if not store.files.exists(f"{variable.name}/c"):
        return False
    try:
        # The types of zarr.open_array are incomplete.
        array = zarr.open_array(  # pyright: ignore[reportUnknownMemberType]
            as_zarr(store.files), path=variable.name, mode="r"
        )
        return np.asarray(array[...]).tobytes() == value.tobytes()
    except (KeyError, TypeError, ValueError, RuntimeError, FileNotFoundError, IsADirectoryError):
        return False  # of zarr, for a file that is missing, torn, damaged, a folder or a pipe


def clean(store: Store) -> None:
    """Remove what killed processes have left: scratch files, an applied extension, merged blocks.

    Call it only while holding the lock: it also removes scratch files of living processes.
    """
    if not is_url(store.location):  # objects at a URL appear whole
        with disk_faults.writing(store.files):
            durable.clean(store.path)
            if not extension.is_under_way(store.files):
                extension.forget(store.files)
    remove_merged_blocks(store)


def remove_merged_blocks(store: Store) -> None:
    """Remove the blocks that a killed run, or two at once, have left of finished cells.

    Other runs may be reading them to merge the cell, too, which they then leave as it is.
    """
    if not isinstance(store.sweep, Reduced):
        return
    # Listed before the cells: a cell that is done after its blocks were there needs none of them.
    listed = store.blocks.names()
    done = {key(cell.index, ".") for cell in store.done()} if listed else ()
    for name in listed:
        if name.partition("/")[0] in done:
            store.blocks.remove(name)


def wear_table(store: Store) -> Mapping[str, object]:
    """[wear] of the sweep file; {} if it had none."""
    return json.loads(store.attributes.get(layout.WEAR, "{}"))
