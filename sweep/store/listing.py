"""Which chunk files an array has, by their names alone."""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Collection
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MOST_FOLDERS = 1000  # of the chunks of one array, beside one another
INDEX = "(?:0|[1-9][0-9]{0,8})"
NO_NAME_HAS = "\0"


def separator(counts: tuple[int, ...]) -> str:
    """What parts the places in the name of a chunk's file: "/" is for folders, if they are few.

    Chunks of whole rows would else have a folder each, which to list takes ten times as long.
    """
    return "/" if math.prod(counts[:-1]) <= MOST_FOLDERS else "."


def key(index: tuple[int, ...], separator: str) -> str:
    """The name of a chunk's file, as zarr's default encoding has it: c/3/0, or c.3.0."""
    return separator.join(("c", *map(str, index)))


def listed(array: Path, counts: tuple[int, ...], separator: str) -> NDArray[np.bool_]:
    """Whether each chunk has a file, in C order of the chunks; all else is ignored.

    One listing of each folder; 10**5 chunks take about 0.1 s.
    """
    if separator != "/":
        return named(_names(os.fspath(array)), counts, separator)
    there = np.zeros(counts, np.bool_)
    _walk(f"{array}/c", there)
    return there.ravel()


def named(names: Collection[str], counts: tuple[int, ...], separator: str) -> NDArray[np.bool_]:
    """Whether the name of each chunk, in C order, is one of some; other names are ignored."""
    if not counts:
        return np.array([key((), separator) in names])
    there = np.zeros(counts, np.bool_)
    _mark(there, names, key((), separator) + separator, separator)
    return there.ravel()


def marked(indices: Collection[tuple[int, ...]], counts: tuple[int, ...]) -> NDArray[np.bool_]:
    """Whether the index of each chunk, in C order, is one of some."""
    every = itertools.product(*map(range, counts))
    return np.fromiter(map(indices.__contains__, every), np.bool_, math.prod(counts))


def _walk(folder: str, there: NDArray[np.bool_]) -> None:
    """Marks every place that has a file, in a folder for each dimension but the last."""
    if not there.ndim:
        there[()] = os.path.isfile(folder)  # noqa: PTH113 (as fast)
        return
    if there.ndim == 1:
        _mark(there, _names(folder), "", "/")
        return
    folders = set(_names(folder, files=False))
    alone = "/0" * (there.ndim - 1) if set(there.shape[1:]) <= {1} else ""
    for i in range(len(there)):
        if not alone:
            _walk(f"{folder}/{i}", there[i])
        elif str(i) in folders:  # looking for one name is faster than listing a folder of one
            there[i] = os.path.isfile(f"{folder}/{i}{alone}")  # noqa: PTH113 (as fast)


def _mark(there: NDArray[np.bool_], names: Collection[str], prefix: str, separator: str) -> None:
    """Marks every place that is named: behind a prefix its indices, as `key` writes them.

    All names at once, by one expression: to look for every name among them takes twice as long.
    """
    indices = re.escape(separator).join([INDEX] * there.ndim)
    text = NO_NAME_HAS.join(("", *names, ""))
    found = re.findall(f"{NO_NAME_HAS}{re.escape(prefix)}({indices})(?={NO_NAME_HAS})", text)
    flat = np.fromstring(" ".join(found).replace(separator, " "), np.intp, sep=" ")
    places = flat.reshape(-1, there.ndim)
    there[tuple(places[(places < there.shape).all(axis=1)].T)] = True


def _names(folder: str, *, files: bool = True) -> list[str]:
    """The names of the files in a folder, or of the folders."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir() != files]
    except (FileNotFoundError, NotADirectoryError):
        return []
