"""The passes of a refined sweep: stores of their own beside its store, gone when that is done."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from sweep.store.place import is_url, local, place_of


class PassFolder:
    """NAME.zarr.passes beside NAME.zarr, with 0.zarr, 1.zarr ... in it."""

    def __init__(self, store: str | Path) -> None:
        self._store = str(store).rstrip("/") if is_url(store) else str(local(store))
        self._path = f"{self._store}.passes"

    def __getitem__(self, number: int) -> str:
        """Where a pass is kept."""
        return f"{self._path}/{number}.zarr"

    def exists(self) -> bool:
        """Whether the first pass has been begun."""
        return place_of(self[0]).exists()

    def lock(self) -> AbstractContextManager[None]:
        """The store and its passes held alone while within; StoreError at once if held."""
        return place_of(self._store).lock()

    def remove(self, *, start: int = 0) -> None:
        """Removes the passes from one on, the last first; from 0 on, the whole folder at once."""
        if start == 0:
            place_of(self._path).destroy()
            return
        last = start
        while place_of(self[last]).exists():
            last += 1
        for number in reversed(range(start, last)):
            place_of(self[number]).destroy()

    def remove_store(self) -> None:
        """Removes the store that the passes are for."""
        place_of(self._store).destroy()
