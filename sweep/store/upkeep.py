"""Upkeep of a store: damaged and failed chunks, lost constants, leftovers, its [wear] table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import product

from sweep.request.chunk import Chunk
from sweep.request.options import RunOptions
from sweep.request.sweeps import VALUES_IN_MEMORY
from sweep.store import disk_faults, durable, extension, layout
from sweep.store.blocks import Blocks, target_of
from sweep.store.creation import coordinate_files
from sweep.store.group import damaged_constants
from sweep.store.location import is_url
from sweep.store.store import Store


def make_ready(
    store: Store,
    options: RunOptions,
    wear: Mapping[str, object] | None,
    notify: Callable[[str], None],
) -> None:
    """Repair a store that is held and clean, and make pending what is to be computed again.

    [wear] of the sweep file is kept, in place of another, so that the store suffices to resume.
    Raises StoreError if the store was extended before it was held.
    """
    store.refuse_grown()
    if wear and wear_table(store) != wear:
        store.note(layout.WEAR, json.dumps(wear))
    for variable, value in damaged_constants(store.files, store.sweep):
        for name, content in coordinate_files(variable, value).items():
            store.files.put(name, content)
        notify(f"rebuilt '{store.location}/{variable.name}' from the recipe of the store")
    if isinstance(target := target_of(store), Blocks):
        target.make_ready(options, notify)
    store.reopen(store.own(store.chunk_files.torn(), options.shard))
    if options.retry_failed:
        store.reopen(store.own(store.failed(), options.shard))


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


def is_complete(store: Store) -> bool:
    """Whether every chunk is done and nothing is known to be damaged."""
    return not (
        store.chunk_files.torn() or damaged_constants(store.files, store.sweep) or store.pending()
    )


def clean(store: Store) -> None:
    """Remove what killed processes have left: scratch files, and an extension that was applied.

    Call it only while holding the lock: it also removes scratch files of living processes. At a
    URL, which cannot be held, objects appear whole.
    """
    if not is_url(store.location):
        with disk_faults.writing(store.files):
            durable.clean(store.path)
            if not extension.is_under_way(store.files):
                extension.forget(store.files)


def wear_table(store: Store) -> Mapping[str, object]:
    """[wear] of the sweep file; {} if it had none."""
    return json.loads(store.attributes.get(layout.WEAR, "{}"))
