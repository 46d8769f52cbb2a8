"""The files of a store, in a local folder or at a URL: the only operations that differ.

Everything else about a store is written once, on these. A key is the path of a file relative to the
root, with slashes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from zarr.abc.store import Store as ZarrStore

    from sweep.store.encoding import Piece

GROUP = "zarr.json"  # metadata of the store
STATUS = "status/zarr.json"


class Files(Protocol):
    """The files below one root."""

    flush_seconds: float  # how long receipts are collected before they are appended

    def __str__(self) -> str:
        """The absolute path or URL of the root."""
        ...

    def read(self, key: str) -> bytes | None:
        """The content of a file; None if there is no such file."""
        ...

    def put(self, key: str, pieces: Sequence[Piece]) -> None:
        """Write a file whole or not at all; an existing one is replaced."""
        ...

    def remove(self, key: str) -> None:
        """Remove a file if it exists."""
        ...

    def list(self, folder: str = "") -> list[str]:
        """The keys of all files in a folder and those below it, relative to the folder."""
        ...

    def exists(self, key: str = "") -> bool:
        """Whether there is a file with content; without a key, whether the root is taken."""
        ...

    def publish(self) -> AbstractContextManager[Path]:
        """Within, an empty local folder to build in; on leaving, its files appear below the root.

        They appear all at once, or with the group's metadata last. If somebody else has published
        in the meantime, theirs are kept.
        """
        ...

    def discard(self) -> None:
        """Remove everything below the root, at once or with the group's metadata last."""
        ...

    def lock(
        self, shard: str | None = None, clean: Callable[[], None] | None = None
    ) -> AbstractContextManager[None]:
        """Within, hold the store, or one shard of it, as far as the place can.

        `clean` is called if no other shard is held. Raises StoreError if the store is held.
        """
        ...

    def holders(self) -> list[dict[str, Any]] | None:
        """Who holds the lock, or that of a shard: host, pid and time; None without locks."""
        ...

    def append(self, key: str, text: str) -> None:
        """Add lines to a file, or to a new one whose name begins with that of the file."""
        ...

    def clean(self) -> None:
        """Remove the scratch files that killed processes have left."""
        ...

    def beside(self, suffix: str, *, hidden: bool = False) -> Files:
        """The files next to the root, where NAME.suffix is. What is hidden is always durable."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """Within, a failure of the disk or network becomes a MachineError."""
        ...

    def creating(self) -> AbstractContextManager[None]:
        """The same while a store is being made; StoreError if the path is to blame."""
        ...

    def zarr(self) -> ZarrStore:
        """The same files for zarr, which only reads them."""
        ...


def in_order(keys: Iterable[str]) -> list[str]:
    """Keys in the order in which files are put in place: metadata of status and group last.

    The shape of the status tells whether an extension still has to remove cut chunks; the group
    tells whether there is a store.
    """
    last = (STATUS, GROUP)
    return sorted(keys, key=lambda key: (last.index(key) if key in last else -1, key))
