"""The files of a store, in a folder of this machine or at a URL.

Everything about a store is written once, on the operations of its `Files`, the only ones that
differ. `LocalFiles` says what each of them does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sweep.errors import MachineError
from sweep.store.local import LocalFiles
from sweep.store.place import GROUP, is_url, local, refuse_no_path
from sweep.store.remote import RemoteFiles

Files = LocalFiles | RemoteFiles

MIN_MEMORY = 1_000_000_000  # bytes of addresses: 0.7e9 was too little for zarr, 0.9e9 enough


def files_of(path: str | Path, *, durable: bool = False) -> Files:
    """The files at a path or URL, whatever is there. Raises StoreError if it is neither."""
    refuse_no_path(path)
    refuse_little_memory()
    if is_url(path):
        return RemoteFiles(str(path))
    return LocalFiles(local(path), durable=durable)


def beside(files: Files, suffix: str, *, hidden: bool = False) -> Files:
    """The files next to others, below NAME.suffix; in a folder what is hidden is durable, too."""
    root = str(files)
    if is_url(root):  # objects have no hidden names
        return files_of(f"{root}.{suffix}")
    name = f"{'.' if hidden else ''}{Path(root).name}.{suffix}"
    return LocalFiles(Path(root).with_name(name), durable=hidden, is_store=False)


def attributes_of(files: Files) -> Mapping[str, Any]:
    """The attributes of a store; none without metadata. Raises ValueError if that is damaged."""
    return json.loads(files.read(GROUP) or b"{}").get("attributes", {})


def anything_at(path: str | Path) -> bool:
    """Whether there is a store or anything else."""
    return files_of(path).exists() if is_url(path) else os.path.lexists(local(path))


def refuse_little_memory() -> None:
    """Raise MachineError under a limit of memory with which zarr cannot start its threads.

    It would wait for them for ever.
    """
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:  # Windows has no such limits
        return
    limit = getrlimit(RLIMIT_AS)[0]
    if limit != RLIM_INFINITY and limit < MIN_MEMORY:
        raise MachineError(
            f"this process may use {limit / 1e6:,.0f} MB of memory, and a store needs "
            f"{MIN_MEMORY / 1e6:,.0f} MB; raise its limit, as by `ulimit -v unlimited`"
        )
