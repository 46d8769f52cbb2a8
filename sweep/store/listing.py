"""Which chunk files an array has, by their names alone."""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path

MOST_FOLDERS = 1000  # of the chunks of one array, beside one another
SCRATCH_FILE = re.compile(r".*\.[0-9a-f]{32}\.partial")  # zarr's, until it is renamed


def separator(counts: tuple[int, ...]) -> str:
    """What parts the places in the name of a chunk's file: "/" is for folders, if they are few.

    Chunks of whole rows would else have a folder each, which to list takes ten times as long.
    """
    return "/" if math.prod(counts[:-1]) <= MOST_FOLDERS else "."


def key(index: tuple[int, ...], separator: str) -> str:
    """The name of a chunk's file, as zarr's default encoding has it: c/3/0, or c.3.0."""
    return separator.join(("c", *map(str, index)))


def listed(
    array: Path, counts: tuple[int, ...], separator: str
) -> Iterator[tuple[tuple[int, ...], bool]]:
    """The index of every chunk, in C order, and whether it has a file; all else is ignored.

    One listing of each folder; 10**5 chunks take about 0.1 s.
    """
    if separator != "/":
        return _flat(_names(os.fspath(array)), counts, separator)
    folder = array / "c"
    if not counts:
        return iter([((), folder.is_file())])
    return _walk(os.fspath(folder), counts, ())


def scratch_files(store: Path) -> Iterator[Path]:
    """The files that a writer has begun and not yet renamed."""
    for folder, _, names in os.walk(store):
        for name in names:
            if name.endswith(".partial") and SCRATCH_FILE.fullmatch(name):
                yield Path(folder, name)


def _flat(
    names: set[str], counts: tuple[int, ...], separator: str
) -> Iterator[tuple[tuple[int, ...], bool]]:
    name = separator.join(("c", *["%d"] * len(counts)))  # as key() has it, and faster
    for index in itertools.product(*map(range, counts)):
        yield index, name % index in names


def _walk(
    folder: str, counts: tuple[int, ...], above: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], bool]]:
    inner, zeros = "/0" * (len(counts) - 1), (0,) * (len(counts) - 1)
    names = _names(folder, files=not inner)
    alone = set(counts[1:]) <= {1}  # looking for one name is faster than listing a folder of one
    for i in range(counts[0]):
        if alone:
            file = f"{folder}/{i}{inner}"
            there = str(i) in names and (not inner or os.path.isfile(file))  # noqa: PTH113 (as fast)
            yield (*above, i, *zeros), there
        else:
            yield from _walk(f"{folder}/{i}", counts[1:], (*above, i))


def _names(folder: str, *, files: bool = True) -> set[str]:
    """The names of the files in a folder, or of the folders."""
    try:
        with os.scandir(folder) as entries:
            return {entry.name for entry in entries if entry.is_dir() != files}
    except (FileNotFoundError, NotADirectoryError):
        return set()
