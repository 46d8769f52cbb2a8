"""Files that are written whole or not at all, and survive a power cut if that is requested.

Until they are whole, files and folders have scratch names, by which leftovers are found.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import shutil
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path

WRITER_ACTIVE = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT)  # somebody writes into the folder
MAX_WAIT_SECONDS = 2.0  # for such a writer
_SCRATCH_FILE = re.compile(r".*\.[0-9a-f]{32}\.partial")  # zarr's scratch files are named so, too


def write(path: str, *content: bytes, durable: bool, required: str | None = None) -> None:
    """Write a file, given in parts, whole or not at all; if durable, it is on the disk on return.

    Missing folders are made, unless the file `required` is missing: FileNotFoundError then.
    """
    scratch = f"{path}.{os.urandom(16).hex()}.partial"
    opened, changed_folders = _created(scratch, required)
    try:
        try:
            for part in content:
                _write_all(opened, memoryview(part))
            if durable:  # the content reaches the disk before the name does
                os.fsync(opened)
        finally:
            os.close(opened)
        os.replace(scratch, path)  # noqa: PTH105 (making a Path takes longer)
    except BaseException:
        with suppress(OSError):  # a failing disk may keep it; the first error is the one to raise
            os.unlink(scratch)  # noqa: PTH108
        raise
    if durable:
        for folder in (Path(path).parent, *changed_folders):
            sync_folder(folder)


def scratch_beside(path: Path) -> Path:
    """A new scratch name next to a path."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")


def clean(store: Path) -> None:
    """Remove what killed processes have left in a store, and next to it."""
    for folder, _, names in itertools.chain(os.walk(store), os.walk(f"{store}.log")):
        for name in names:
            if name.endswith(".partial") and _SCRATCH_FILE.fullmatch(name):
                Path(folder, name).unlink(missing_ok=True)
    name = re.escape(store.name)  # also of what is prepared for an extension
    beside = re.compile(rf"\.({name}|\.{name}\.extension)\.[0-9a-f]{{32}}\.partial")
    for scratch in store.parent.glob(".*.partial"):
        if beside.fullmatch(scratch.name):
            discard(scratch)


def discard(folder: Path) -> None:
    """Remove a folder as far as possible.

    zarr writes several files at once and raises the first error while others are still written. So
    a file may appear in a folder that is being removed; removing is then tried again.
    """
    end = time.monotonic() + MAX_WAIT_SECONDS
    while folder.exists():
        try:
            shutil.rmtree(folder)
        except OSError as error:
            if error.errno not in WRITER_ACTIVE or time.monotonic() > end:
                shutil.rmtree(folder, ignore_errors=True)
                return
            time.sleep(0.01)


def sync_tree(folder: Path) -> None:
    """Wait until a folder and everything in it is on the disk."""
    for place, _, names in os.walk(folder):
        for name in names:
            _sync(Path(place, name))
        sync_folder(Path(place))


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk; Windows cannot do that."""
    if sys.platform != "win32":
        _sync(folder)


def _created(path: str, required: str | None) -> tuple[int, list[Path]]:
    """A new open file, and the folders in which other folders had to be made for it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        return os.open(path, flags, 0o666), []
    except FileNotFoundError:
        if required is not None and not os.path.lexists(required):
            raise
        folder = Path(path).parent
        missing = [place for place in (folder, *folder.parents) if not place.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o666), [place.parent for place in missing]


def _write_all(opened: int, view: memoryview) -> None:
    """Write all bytes; the system may take fewer per call, for example on a nearly full disk."""
    while view:
        view = view[os.write(opened, view) :]


def _sync(path: Path) -> None:
    # Windows can only sync a file that is open for writing.
    file = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
