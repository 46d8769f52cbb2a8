"""Scratch files and folders: their names, and how leftovers are found and removed."""

from __future__ import annotations

import errno
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

WRITER_ACTIVE = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT)  # somebody writes into the folder
MAX_WAIT_SECONDS = 2.0  # for such a writer
_FILE = re.compile(r".*\.[0-9a-f]{32}\.partial")  # zarr's scratch files are named so, too


def beside(path: Path) -> Path:
    """A new scratch name next to a path."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")


def stores(path: Path) -> Iterator[Path]:
    """Scratch folders that killed processes have left next to a store, also of its passes."""
    pattern = re.compile(rf"\.{re.escape(path.name)}(\.passes)?\.[0-9a-f]{{32}}\.partial")
    yield from (each for each in path.parent.glob(".*.partial") if pattern.fullmatch(each.name))


def files(store: Path) -> Iterator[Path]:
    """Scratch files in a store that were not renamed."""
    for folder, _, names in os.walk(store):
        for name in names:
            if name.endswith(".partial") and _FILE.fullmatch(name):
                yield Path(folder, name)


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
