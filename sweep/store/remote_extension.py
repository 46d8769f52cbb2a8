"""A store at a URL made longer along its axes, at whatever moment that is stopped.

Nothing is renamed there. What changes but the chunks is put beside the store first, the metadata of
its group last: while that object is there, the extension is under way, readers refuse the store,
and whoever extends it again does the same. Two that extend it differently at once are not told
apart.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sweep.plan import refuse_many_chunks
from sweep.spec import Sweep
from sweep.store.creation import build
from sweep.store.extension import GROUP, STATUS, cut_off, in_order, separator_of
from sweep.store.objects import found, put, remove


def begin(
    system: Any,
    root: str,
    sweep: Sweep,
    chunk_shape: tuple[int, ...],
    provenance: Mapping[str, object],
) -> None:
    """The extension is under way; SweepError if it makes too many chunks."""
    refuse_many_chunks(sweep.shape, chunk_shape)
    _clear(system, root)  # of what one that never was under way has left
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder, "store.zarr")
        build(built, sweep, chunk_shape, provenance, separator_of(_status(system, root)))
        files = (file.relative_to(built) for file in built.rglob("*") if file.is_file())
        for name in in_order(files):
            put(system, f"{_prepared(root)}/{name}", Path(built, name).read_bytes())


def finish(system: Any, root: str) -> None:
    """No extension is under way any more; one that is, is done, and may have been begun before."""
    if not is_under_way(system, root):
        return
    prepared = _prepared(root)
    for key in cut_off(_status(system, root), _status(system, prepared)):
        remove(system, f"{root}/status/{key}")
    files = (Path(key).relative_to(prepared) for key in found(system, prepared))
    for name in in_order(files):
        put(system, f"{root}/{name}", system.cat_file(f"{prepared}/{name}"))
    forget(system, root)


def forget(system: Any, root: str) -> None:
    """Removes the extension, if there is one, of a store that is no longer there."""
    remove(system, f"{_prepared(root)}/{GROUP}")
    _clear(system, root)


def is_under_way(system: Any, root: str) -> bool:
    """Whether the store is being extended, or was when that was stopped."""
    system.invalidate_cache()
    return bool(system.exists(f"{_prepared(root)}/{GROUP}"))


def shape(system: Any, root: str) -> tuple[int, ...]:
    """As long as the store's axes are now."""
    return tuple(_status(system, root)["shape"])


def _status(system: Any, root: str) -> Mapping[str, Any]:
    return json.loads(system.cat_file(f"{root}/{STATUS}"))


def _clear(system: Any, root: str) -> None:
    for key in found(system, _prepared(root)):
        remove(system, key)


def _prepared(root: str) -> str:
    return f"{root}.extension"
