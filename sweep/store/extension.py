"""Extension of a store along its axes: results are kept, and it can be stopped at any moment.

All files that change, metadata and coordinates, are first prepared next to the store. Once they are
complete, the extension is under way: readers refuse the store, and the next run or extension
applies the same files. Two different extensions of one URL at once are not told apart.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sweep.errors import StoreError
from sweep.points.chunking import chunk_at, chunks, refuse_many_chunks
from sweep.request.sweeps import AnySweep, Axis, Reduced, is_array
from sweep.store.creation import build
from sweep.store.differences import axes_over, differences, unlike_values
from sweep.store.disk_faults import gone
from sweep.store.group import key, separator_of
from sweep.store.location import GROUP, STATUS, in_order
from sweep.store.store_files import Files, attributes_of, beside


def grown(stored: AnySweep, longer: AnySweep) -> AnySweep:
    """The longer sweep, with the stored values where the store has them.

    An axis along which points are reduced may be longer, too, if it is the only one. Raises
    StoreError with every difference other than axes that continue behind their end.
    """
    if stored.grid.may_grow:
        raise StoreError(
            "a refined store cannot be extended: run the larger sweep in a store of its own"
        )
    sentences = _differences(stored, longer)
    if sentences:
        raise StoreError(
            "this sweep differs from the store's in more than longer axes:\n  "
            + "\n  ".join(sentences)
            + "\nrun it in a store of its own"
        )
    pairs = zip(stored.grid.axes, longer.grid.axes, strict=True)
    return longer.with_axes([_joined(own, other) for own, other in pairs])


def hint(stored: AnySweep, other: AnySweep, location: str) -> str:
    """How to bring another sweep into a store, if only its axes are longer; else ""."""
    try:
        longer = grown(stored, other)
    except StoreError:
        return ""
    if longer.computed_shape == stored.computed_shape:
        return ""
    extend = f"`sweep extend {shlex.quote(location)} FILE`"
    return f"only axes continue behind their end: use {extend} to keep what is computed; or "


def begin(
    files: Files, sweep: AnySweep, chunk_shape: tuple[int, ...], provenance: Mapping[str, object]
) -> None:
    """Prepare the extension; from then on it is under way. SweepError if it has too many chunks."""
    refuse_many_chunks(sweep.grid.shape, chunk_shape)
    forget(files)
    with _prepared(files).publish() as folder:
        build(folder, sweep, chunk_shape, provenance, separator_of(_status(files)))


def finish(files: Files) -> None:
    """Apply the extension that is under way, if there is one; it may have been applied in part."""
    if is_under_way(files):
        prepared = _prepared(files)
        every = _recipe_of_points(files) != _recipe_of_points(prepared)  # statistics of more points
        for name in _cut_chunks(_status(files), _status(prepared), every=every):
            files.remove(f"status/{name}")
        for key in in_order(prepared.list()):
            if (content := prepared.read(key)) is None:
                break  # somebody else has applied it, which can happen at a URL
            files.put(key, content)
    forget(files)


def forget(files: Files) -> None:
    """Remove what was prepared for an extension: it was applied, or its store does not exist."""
    prepared = _prepared(files)
    prepared.remove(GROUP)
    prepared.discard()


def is_under_way(files: Files) -> bool:
    """Whether the store is being extended, or was when the extension was stopped."""
    return _prepared(files).exists(GROUP)


def refuse_grown(files: Files, shape: tuple[int, ...], attributes: Mapping[str, Any]) -> None:
    """Raise StoreError if the store has another shape or fingerprint than when it was opened.

    It may have been extended while a run was waiting for the lock. MachineError if it is gone.
    """
    is_grown = is_under_way(files)  # first, as the shape changes before the extension is over
    if not is_grown:
        if not (status := _status(files)):
            raise gone(files)
        stored = tuple(status["shape"]), attributes_of(files).get("fingerprint")
        is_grown = stored != (shape, attributes["fingerprint"])
    if is_grown:
        raise StoreError(
            f"{str(files)!r} was extended during this run. Finished chunks are kept, except "
            "incomplete ones at its old end: run the longer sweep to continue"
        )


def _cut_chunks(old: Mapping[str, Any], new: Mapping[str, Any], *, every: bool) -> Iterator[str]:
    """The names of chunks cut short by an old end of an axis, from the metadata of the status."""
    step = tuple(old["chunk_grid"]["configuration"]["chunk_shape"])
    for chunk in chunks(tuple(old["shape"]), step):
        if every or chunk.shape != chunk_at(chunk.index, tuple(new["shape"]), step).shape:
            yield key(chunk.index, separator_of(old))


def _differences(stored: AnySweep, longer: AnySweep) -> list[str]:
    def columns(sweep: AnySweep) -> tuple[int, list[tuple[str, set[str]]]]:
        names = [(axis.name, set(axis.columns)) for axis in sweep.points.axes]
        return len(sweep.grid.axes), names

    is_other_model = stored.points.model.name != longer.points.model.name
    if is_other_model or columns(stored) != columns(longer):
        return differences(stored, longer)
    points = longer.points.with_axes(stored.points.axes)
    same = replace(longer, points=points) if isinstance(longer, Reduced) else points
    pairs = zip(stored.points.axes, longer.points.axes, strict=True)
    texts = [text for own, other in pairs for text in _axis(own, other)]
    over = [axis.size for axis in axes_over(stored)]
    if len(over) > 1 and over != [axis.size for axis in axes_over(longer)]:
        texts.append("points reduced over several axes at once cannot be more")
    return [*differences(stored, same), *texts]


def _axis(stored: Axis, longer: Axis) -> Iterator[str]:
    if longer.size < stored.size:
        yield (
            f"axis {stored.name}: {stored.size:,} values in the store, {longer.size:,} in this "
            "sweep, which needs those of the store as its first"
        )
        return
    methods = [axis.recipe.get("method") for axis in (stored, longer)]  # of drawing a sample
    if longer.size > stored.size and "latin_hypercube" in methods:
        yield (
            "a Latin hypercube cannot grow, because each of its points depends on their number; "
            'samples with method = "sobol" or "random" can'
        )
        return
    for difference in unlike_values(stored, longer):
        yield f"{difference}; new values can only follow the last stored one"


def _joined(stored: Axis, longer: Axis) -> Axis:
    """The longer axis, with the stored values first; those that are drawn are the same."""
    columns = {
        name: np.concatenate([stored.columns[name][:], values[stored.size :]])
        if is_array(values)
        else values
        for name, values in longer.columns.items()
    }
    return replace(longer, columns=columns)


def _recipe_of_points(files: Files) -> object:
    """The recipes of the axes along which points are reduced."""
    return json.loads(attributes_of(files).get("recipe", "{}")).get("reduce", {}).get("axes")


def _status(files: Files) -> Mapping[str, Any]:
    return json.loads(files.read(STATUS) or b"{}")


def _prepared(files: Files) -> Files:
    return beside(files, "extension", hidden=True)
