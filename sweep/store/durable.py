"""Files that are whole or not there, and that outlive a power cut where that is asked for."""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from zarr.storage import LocalStore

if TYPE_CHECKING:
    from zarr.core.buffer import Buffer

    from sweep.store.encoding import Piece


LEAST_RESERVED = 2**16  # bytes
MOST_AT_ONCE = 2**31 - 1  # bytes: macOS refuses more, and Python cuts off what os.write has alone


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
        write(f"{self.root}/{key}", [value.to_bytes()], durable=True)


def write(path: str, pieces: Sequence[Piece], *, durable: bool, below: str | None = None) -> None:
    """The file whole or not at all, whatever happens; with `durable` on the disk on return.

    Folders on the way are made; FileNotFoundError instead if there is nothing at `below`.
    """
    # Named as zarr's own scratch files, so that it is found among what killed writers leave.
    scratch = f"{path}.{os.urandom(16).hex()}.partial"
    filled = (view for view in map(memoryview, pieces) if view.nbytes)
    left = [view.cast("B") for view in filled]  # so that lengths are in bytes
    opened, made = _created(scratch, below)
    try:
        try:
            _reserve(opened, sum(map(len, left)))
            _write_all(opened, left)
            if durable:  # before its name is, and that too
                os.fsync(opened)
        finally:
            os.close(opened)
        os.replace(scratch, path)  # noqa: PTH105 (to make a path of it takes longer)
    except BaseException:
        with suppress(OSError):  # a disk that fails may keep it; the first error says why
            Path(scratch).unlink()
        raise
    if durable:
        for folder in (Path(path).parent, *made):
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


def _created(path: str, below: str | None) -> tuple[int, list[Path]]:
    """A new file, open, and the parents of the folders that had to be made for it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        return os.open(path, flags, 0o666), []
    except FileNotFoundError:
        if below is not None and not os.path.lexists(below):
            raise
        folder = Path(path).parent
        missing = [place for place in (folder, *folder.parents) if not place.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o666), [place.parent for place in missing]


def _reserve(opened: int, size: int) -> None:
    """Room for so many bytes, found at once, not page by page: by a fifth sooner written.

    Where the file system cannot, nothing: what glibc's posix_fallocate would then do takes longer
    than the writing. Nor is an error told that the writing is sure to meet.
    """
    if size >= LEAST_RESERVED and (fallocate := _fallocate()):
        fallocate(opened, 0, 0, size)


@cache
def _fallocate() -> Callable[[int, int, int, int], int] | None:
    """Linux's call, which Python does not have.

    musl from 1.2.4 on has no fallocate64; fallocate takes 64 bits there, and on every 64-bit Linux.
    """
    if sys.platform != "linux":
        return None
    names = ("fallocate64", "fallocate") if sys.maxsize > 2**32 else ("fallocate64",)
    system = ctypes.CDLL(None)
    function = next((getattr(system, name) for name in names if hasattr(system, name)), None)
    if function is not None:
        function.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
    return function


def _write_all(opened: int, left: list[memoryview]) -> None:
    """All bytes of them, or OSError: the system takes less where there is little room."""
    while left:
        # A file system takes one call of 4 MB faster than three, by a tenth.
        vectored = hasattr(os, "writev")  # not on Windows
        written = os.writev(opened, _at_once(left)) if vectored else os.write(opened, left[0])
        while left and written >= len(left[0]):
            written -= len(left.pop(0))
        if left:
            left[0] = left[0][written:]


def _at_once(left: Sequence[memoryview]) -> list[memoryview]:
    """As many of the first bytes as one call may be given."""
    room = MOST_AT_ONCE
    chosen: list[memoryview] = []
    for piece in left:
        chosen.append(piece[:room])
        room -= len(chosen[-1])
        if not room:
            break
    return chosen


def _sync(path: Path) -> None:
    # Windows syncs only what is open for writing.
    file = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
