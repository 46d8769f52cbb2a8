"""Files that are whole or not there, and that outlive a power cut where that is asked for."""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from collections.abc import Iterable
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING

from zarr.storage import LocalStore

if TYPE_CHECKING:
    from zarr.core.buffer import Buffer


class DurableStore(LocalStore):
    """A folder as zarr writes it, but every file is synced before it is renamed into its place.

    zarr's own writes are atomic for a process that is killed, not for a machine that loses power:
    a file system may keep the new name and lose what is behind it.
    """

    async def set(self, key: str, value: Buffer) -> None:
        await asyncio.to_thread(self._put, key, value)

    def set_sync(self, key: str, value: Buffer) -> None:
        self._put(key, value)

    def _put(self, key: str, value: Buffer) -> None:
        self._check_writable()
        write(self.root / key, [value.to_bytes()], durable=True)


def write(path: Path, pieces: Iterable[bytes | memoryview], *, durable: bool) -> None:
    """The file whole or not at all, whatever happens; with `durable` on the disk on return."""
    made = _make_folder(path.parent)
    # Named as zarr's own scratch files, so that it is found among what killed writers leave.
    scratch = path.with_suffix(f".{uuid.uuid4().hex}.partial")
    try:
        with scratch.open("wb", buffering=0) as file:
            for piece in pieces:
                _write_all(file, memoryview(piece))
            if durable:  # before its name is, and that too
                os.fsync(file.fileno())
        scratch.replace(path)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise
    if durable:
        for folder in (path.parent, *made):
            sync_folder(folder)


def sync_tree(folder: Path) -> None:
    """Every file and folder in a folder, and itself, on the disk when this returns."""
    for place, _, names in os.walk(folder):
        for name in names:
            _sync(Path(place, name))
        sync_folder(Path(place))


def sync_folder(folder: Path) -> None:
    """The names in a folder on the disk; nothing on Windows, which cannot."""
    if sys.platform != "win32":
        _sync(folder)


def _write_all(file: FileIO, left: memoryview) -> None:
    """All of it, or OSError: the system takes less where there is little room."""
    while left:
        left = left[file.write(left) :]


def _make_folder(folder: Path) -> list[Path]:
    """The parents of the folders that had to be made."""
    if folder.is_dir():
        return []
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return [place.parent for place in missing]


def _sync(path: Path) -> None:
    # Windows syncs only what is open for writing.
    file = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
