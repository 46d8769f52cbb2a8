"""What is begun beside its place or in it: how that is named, found again and removed."""

from __future__ import annotations

import errno
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

COMES_AND_GOES = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT)  # somebody writes into a folder
SECONDS = 2.0  # that a writer in the background is waited for
_FILE = re.compile(r".*\.[0-9a-f]{32}\.partial")  # zarr's, too, until it is renamed


def beside(path: Path) -> Path:
    """A new name for what shall lie at a path, or lay there."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")


def stores(path: Path) -> Iterator[Path]:
    """What killed makers and removers of a store or its passes have left beside its place."""
    left = re.compile(rf"\.{re.escape(path.name)}(\.passes)?\.[0-9a-f]{{32}}\.partial")
    yield from (each for each in path.parent.glob(".*.partial") if left.fullmatch(each.name))


def files(store: Path) -> Iterator[Path]:
    """The files that a writer has begun and not yet renamed."""
    for folder, _, names in os.walk(store):
        for name in names:
            if name.endswith(".partial") and _FILE.fullmatch(name):
                yield Path(folder, name)


def discard(folder: Path) -> None:
    """Removes a folder as far as that can be done.

    zarr writes several files at once, and tells of the first that fails while the others go on: so
    one may come into a folder that is being removed, which is then tried again.
    """
    end = time.monotonic() + SECONDS
    while folder.exists():
        try:
            shutil.rmtree(folder)
        except OSError as error:
            if error.errno not in COMES_AND_GOES or time.monotonic() > end:
                shutil.rmtree(folder, ignore_errors=True)
                return
            time.sleep(0.01)
