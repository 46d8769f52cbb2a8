"""The files of a store, in a folder of this machine or at a URL, and the passes of a refined one.

Everything about a store is written once, on the operations of its `Files`, the only ones that
differ. `LocalFiles` says what each of them does.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
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


class PassFolder:
    """The passes of a refined sweep: stores next to its store, removed when that is complete.

    They are 0.zarr, 1.zarr and so on in the folder NAME.zarr.passes next to NAME.zarr.
    """

    def __init__(self, store: str | Path) -> None:
        self._store = str(store).rstrip("/") if is_url(store) else str(local(store))
        self._path = f"{self._store}.passes"

    @classmethod
    def store_of(cls, path: str) -> str | None:
        """The store to which a path or URL of a pass leads; None for any other path."""
        match = re.fullmatch(r"(.+)\.passes[/\\]\d+\.zarr", path)
        return None if match is None else match[1]

    def __getitem__(self, number: int) -> str:
        """The path or URL of a pass."""
        return f"{self._path}/{number}.zarr"

    def exists(self, number: int = 0) -> bool:
        """Whether a pass has begun, by default the first."""
        return files_of(self[number]).exists()

    def last(self) -> str | None:
        """The path or URL of the last pass that has begun, if there is one."""
        begun = itertools.takewhile(self.exists, itertools.count())
        return next((self[number] for number in reversed(list(begun))), None)

    def lock(self) -> AbstractContextManager[None]:
        """Within, hold the store and its passes. Raises StoreError at once if they are held."""
        return files_of(self._store).lock()

    def remove(self, *, start: int = 0) -> None:
        """Remove the passes from `start` on, the last one first; from 0 on, all at once."""
        if start == 0:
            files_of(self._path).discard()
            return
        begun = list(itertools.takewhile(self.exists, itertools.count(start)))
        for number in reversed(begun):
            files_of(self[number]).discard()

    def remove_store(self) -> None:
        """Remove the store that the passes lead to."""
        files_of(self._store).discard()
