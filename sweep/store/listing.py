"""The names of chunk files, and which chunks of an array have one."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

MAX_FOLDERS = 1000  # for the chunks of one array
INDEX = "(?:0|[1-9][0-9]{0,8})"
BETWEEN_NAMES = "\0"  # no file name contains it


def separator(counts: tuple[int, ...]) -> str:
    """The separator of the indices in a chunk's name: "/" makes folders, if they are few.

    Many chunks of whole rows would have a folder each, and listing them would take ten times as
    long.
    """
    return "/" if math.prod(counts[:-1]) <= MAX_FOLDERS else "."


def key(index: tuple[int, ...], separator: str) -> str:
    """The name of a chunk's file in zarr's default encoding: c/3/0 or c.3.0."""
    return separator.join(("c", *map(str, index)))


def named(names: Collection[str], counts: tuple[int, ...], separator: str) -> NDArray[np.bool_]:
    """Whether each chunk, in C order, has its name among these; other names are ignored."""
    if not counts:
        return np.array([key((), separator) in names])
    there = np.zeros(counts, np.bool_)
    _mark(there, names, key((), separator) + separator, separator)
    return there.ravel()


def marked(indices: Collection[tuple[int, ...]], counts: tuple[int, ...]) -> NDArray[np.bool_]:
    """Whether each chunk, in C order, has its index among these."""
    every = itertools.product(*map(range, counts))
    return np.fromiter(map(indices.__contains__, every), np.bool_, math.prod(counts))


def _mark(there: NDArray[np.bool_], names: Collection[str], prefix: str, separator: str) -> None:
    """Mark every chunk that is named: a prefix, then its indices as `key` writes them.

    One expression finds all names; looking up the name of each chunk takes twice as long.
    """
    indices = re.escape(separator).join([INDEX] * there.ndim)
    text = BETWEEN_NAMES.join(("", *names, ""))
    found = re.findall(f"{BETWEEN_NAMES}{re.escape(prefix)}({indices})(?={BETWEEN_NAMES})", text)
    flat = np.fromstring(" ".join(found).replace(separator, " "), np.intp, sep=" ")
    places = flat.reshape(-1, there.ndim)
    there[tuple(places[(places < there.shape).all(axis=1)].T)] = True
