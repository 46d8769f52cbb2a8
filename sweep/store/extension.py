"""A store made longer along its axes, what is computed kept, at whatever moment it is stopped.

Everything that changes but the chunks (metadata and coordinates) is made beside the store first and
moved to a name of its own at once: from then on the extension is under way, and whoever does it
again does the same. Readers refuse a store while its extension is under way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sweep.errors import StoreError
from sweep.plan import chunk_at, chunks, refuse_many_chunks
from sweep.spec import Axis, LongValues, Sweep, Values
from sweep.store import durable, scratch
from sweep.store.creation import build
from sweep.store.differences import differences, unlike_values
from sweep.store.listing import key

# The status' shape says whether its ragged end is still to be removed, the group's what it is.
STATUS, GROUP = "status/zarr.json", "zarr.json"
LAST = (STATUS, GROUP)


def grown(stored: Sweep, asked: Sweep) -> Sweep:
    """The sweep asked for, its values those stored as far as they go.

    Raises StoreError with every difference but that axes go on where those of the store end.
    """
    if any(axis.is_refined for axis in stored.axes):
        raise StoreError("this store is refined, and what is refined cannot be extended")
    found = _differences(stored, asked)
    if found:
        raise StoreError(
            "this sweep is not the store's with longer axes:\n  "
            + "\n  ".join(found)
            + "\nrun it in a store of its own"
        )
    pairs = zip(stored.axes, asked.axes, strict=True)
    return replace(asked, axes=tuple(_joined(there, here) for there, here in pairs))


def begin(
    path: Path, sweep: Sweep, chunk_shape: tuple[int, ...], provenance: Mapping[str, object]
) -> None:
    """The extension is under way; SweepError if it makes too many chunks."""
    refuse_many_chunks(sweep.shape, chunk_shape)
    begun = scratch.beside(path)
    try:
        build(begun, sweep, chunk_shape, provenance, separator_of(_status(path)))
        durable.sync_tree(begun)
        begun.rename(_prepared(path))
        durable.sync_folder(path.parent)
    finally:
        scratch.discard(begun)


def finish(path: Path) -> None:
    """No extension is under way any more; one that is, is done, and may have been begun before."""
    prepared = _prepared(path)
    if not prepared.exists():
        return
    _reopen_what_grows(path, prepared)
    files = (file.relative_to(prepared) for file in prepared.rglob("*") if file.is_file())
    for name in in_order(files):
        durable.write(str(path / name), [(prepared / name).read_bytes()], durable=True)
    _discard(path)


def forget(path: Path) -> None:
    """Removes the extension, if there is one, of a store that is no longer there."""
    if is_under_way(path):
        _discard(path)


def is_under_way(path: Path) -> bool:
    """Whether the store is being extended, or was when that was stopped."""
    return _prepared(path).exists()


def shape(path: Path) -> tuple[int, ...]:
    """As long as the store's axes are now."""
    return tuple(_status(path)["shape"])


def in_order(files: Iterable[Path]) -> list[str]:
    """The files of a store, named from its root, as they are to be written: what says most last."""
    names = sorted(file.as_posix() for file in files)
    return sorted(names, key=lambda name: LAST.index(name) if name in LAST else -1)


def separator_of(status: Mapping[str, Any]) -> str:
    """What parts the places in the names of its chunks' files."""
    return status["chunk_key_encoding"]["configuration"]["separator"]


def cut_off(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """The key of every chunk at an old end that goes on, by the status' metadata then and now."""
    step = tuple(old["chunk_grid"]["configuration"]["chunk_shape"])
    for chunk in chunks(tuple(old["shape"]), step):
        if chunk.shape != chunk_at(chunk.index, tuple(new["shape"]), step).shape:
            yield key(chunk.index, separator_of(old))


def _differences(stored: Sweep, asked: Sweep) -> list[str]:
    def columns(sweep: Sweep) -> list[tuple[str, set[str]]]:
        return [(axis.name, set(axis.columns)) for axis in sweep.axes]

    if stored.model.name != asked.model.name or columns(stored) != columns(asked):
        return differences(stored, asked)
    found = differences(stored, replace(asked, axes=stored.axes))
    pairs = zip(stored.axes, asked.axes, strict=True)
    return [*found, *(text for there, here in pairs for text in _axis(there, here))]


def _axis(there: Axis, here: Axis) -> Iterator[str]:
    if here.size < there.size:
        yield f"axis {there.name}: {there.size:,} values in the store, {here.size:,} in this sweep"
        return
    for told in unlike_values(there, here):
        yield f"{told}; it can only go on behind its last value"


@dataclass(frozen=True, eq=False)
class Joined:
    """Values that are there already, and those that longer ones have behind them."""

    there: LongValues
    longer: LongValues

    def __len__(self) -> int:
        return len(self.longer)

    def __getitem__(self, part: slice, /) -> Values:
        start, stop, _ = part.indices(len(self))
        end = len(self.there)
        own = self.there[min(start, end) : min(stop, end)]
        return np.concatenate((own, self.longer[max(start, end) : max(stop, end)]))


def _joined(there: Axis, here: Axis) -> Axis:
    columns = {name: Joined(own, here.columns[name]) for name, own in there.columns.items()}
    return replace(here, columns=columns)


def _reopen_what_grows(path: Path, prepared: Path) -> None:
    """Removes the status of every chunk at the old ragged end; nothing the second time."""
    old, new = _status(path), _status(prepared)
    folders: set[Path] = set()
    for name in cut_off(old, new):
        file = path / "status" / name
        file.unlink(missing_ok=True)
        folders.add(file.parent)
    for folder in folders:
        if folder.exists():
            durable.sync_folder(folder)


def _discard(path: Path) -> None:
    leftover = scratch.beside(path)
    _prepared(path).rename(leftover)
    durable.sync_folder(path.parent)
    scratch.discard(leftover)


def _status(path: Path) -> Mapping[str, Any]:
    return json.loads((path / STATUS).read_text(encoding="utf-8"))


def _prepared(path: Path) -> Path:
    return path.with_name(f".{path.name}.extension")
