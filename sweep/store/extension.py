"""A store made longer along its axes, what is computed kept, at whatever moment it is stopped.

Everything that changes but the chunks (metadata and coordinates) is made beside the store first and
moved to a name of its own at once: from then on the extension is under way, and whoever does it
again does the same. Readers refuse a store while its extension is under way.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from sweep.errors import StoreError
from sweep.plan import chunk_at, chunks, refuse_many_chunks
from sweep.spec import Axis, Sweep
from sweep.store import durable
from sweep.store.creation import build
from sweep.store.differences import differences, same
from sweep.store.listing import key

# The status' shape says whether its ragged end is still to be removed, the group's what it is.
LAST = ("status/zarr.json", "zarr.json")


def grown(stored: Sweep, asked: Sweep) -> Sweep:
    """The sweep asked for, its values those stored as far as they go.

    Raises StoreError with every difference but that axes go on where those of the store end.
    """
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
    scratch = path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")
    try:
        build(scratch, sweep, chunk_shape, provenance, _separator(path))
        durable.sync_tree(scratch)
        scratch.rename(_prepared(path))
        durable.sync_folder(path.parent)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def finish(path: Path) -> None:
    """No extension is under way any more; one that is, is done, and may have been begun before."""
    prepared = _prepared(path)
    if not prepared.exists():
        return
    _reopen_what_grows(path, prepared)
    for file in sorted(_files(prepared), key=_order):
        durable.write(path / file, [(prepared / file).read_bytes()], durable=True)
    leftover = path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")
    prepared.rename(leftover)
    durable.sync_folder(path.parent)
    shutil.rmtree(leftover, ignore_errors=True)


def refuse_if_under_way(path: Path) -> None:
    """StoreError if the store is being extended, or was when that was stopped."""
    if _prepared(path).exists():
        raise StoreError(
            f"{str(path)!r} is being extended, or was when that was stopped; "
            "if so, run the same `sweep extend` again"
        )


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
    for name, values in there.columns.items():
        first = here.columns[name][: there.size]
        if not same(values, first):
            differing = int(np.argmax(~np.isclose(first, values, rtol=1e-9, atol=0)))
            yield (
                f"axis {there.name}: value {differing + 1} of {name} is "
                f"{float(values[differing])!r} in the store, {float(first[differing])!r} in this "
                "sweep; it can only go on behind its last value"
            )


def _joined(there: Axis, here: Axis) -> Axis:
    columns = {
        name: np.concatenate((values, here.columns[name][there.size :]))
        for name, values in there.columns.items()
    }
    return replace(here, columns=columns)


def _reopen_what_grows(path: Path, prepared: Path) -> None:
    """Removes the status of every chunk at the old ragged end; nothing the second time."""
    old, new = _shape(path), _shape(prepared)
    step, separator = _chunk_shape(path), _separator(path)
    folders: set[Path] = set()
    for chunk in chunks(old, step):
        if chunk.shape != chunk_at(chunk.index, new, step).shape:
            file = path / "status" / key(chunk.index, separator)
            file.unlink(missing_ok=True)
            folders.add(file.parent)
    for folder in folders:
        if folder.exists():
            durable.sync_folder(folder)


def _shape(store: Path) -> tuple[int, ...]:
    return tuple(cast("list[int]", _status(store)["shape"]))


def _chunk_shape(store: Path) -> tuple[int, ...]:
    grid = cast("Mapping[str, Mapping[str, list[int]]]", _status(store)["chunk_grid"])
    return tuple(grid["configuration"]["chunk_shape"])


def _separator(store: Path) -> str:
    names = cast("Mapping[str, Mapping[str, str]]", _status(store)["chunk_key_encoding"])
    return names["configuration"]["separator"]


def _status(store: Path) -> Mapping[str, object]:
    return json.loads((store / "status" / "zarr.json").read_text(encoding="utf-8"))


def _files(folder: Path) -> Iterator[Path]:
    return (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())


def _order(file: Path) -> tuple[int, str]:
    name = file.as_posix()
    return LAST.index(name) if name in LAST else -1, name


def _prepared(path: Path) -> Path:
    return path.with_name(f".{path.name}.extension")
