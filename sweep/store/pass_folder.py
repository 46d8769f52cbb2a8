"""The passes of a refined sweep: stores next to its store, removed when that is complete."""

from __future__ import annotations

import itertools
from contextlib import AbstractContextManager
from pathlib import Path

from sweep.store.place import files_of, is_url, local


class PassFolder:
    """The folder NAME.zarr.passes next to NAME.zarr, which holds 0.zarr, 1.zarr and so on."""

    def __init__(self, store: str | Path) -> None:
        self._store = str(store).rstrip("/") if is_url(store) else str(local(store))
        self._path = f"{self._store}.passes"

    def __getitem__(self, number: int) -> str:
        """The path or URL of a pass."""
        return f"{self._path}/{number}.zarr"

    def exists(self) -> bool:
        """Whether the first pass has begun."""
        return self._has(0)

    def last(self) -> str | None:
        """The path or URL of the last pass that has begun, if there is one."""
        begun = itertools.takewhile(self._has, itertools.count())
        return next((self[number] for number in reversed(list(begun))), None)

    def _has(self, number: int) -> bool:
        return files_of(self[number]).exists()

    def lock(self) -> AbstractContextManager[None]:
        """Within, hold the store and its passes. Raises StoreError at once if they are held."""
        return files_of(self._store).lock()

    def remove(self, *, start: int = 0) -> None:
        """Remove the passes from `start` on, the last one first; from 0 on, all at once."""
        if start == 0:
            files_of(self._path).discard()
            return
        begun = list(itertools.takewhile(self._has, itertools.count(start)))
        for number in reversed(begun):
            files_of(self[number]).discard()

    def remove_store(self) -> None:
        """Remove the store that the passes lead to."""
        files_of(self._store).discard()
