"""Pieces of cells that are not complete: named contents beside the status, and what names say.

In pass 0 a piece is called LEVEL.INDEX; that of a short stretch at the end is end.SIZE, with the
number of points of the cell. A later pass begins with pass-NUMBER.SIZE, all that is known before
it, and its pieces are called pass-NUMBER.SIZE.LEVEL.INDEX.

What is kept of a stretch of points is the content of one.
"""

from __future__ import annotations

import io
import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.statistics.partial import Partial
from sweep.store.files import Files

PIECES, NODES = "status/pieces", "status/nodes"  # in the array's folder; zarr lists neither

BEGINNING = b"tribosweep piece 1\n"
START = len(BEGINNING) + 4  # of what the checksum is of

Place = tuple[int, int]  # level, index

_NAME = re.compile(r"(\d+)\.(\d+)|end\.(\d+)|pass-(\d+)\.(\d+)(?:\.(\d+)\.(\d+))?")


class InMemory(dict[str, bytes]):
    """Pieces of results in memory: each is called CELL/PIECE."""

    def names(self, cell: str = "") -> list[str]:
        return [name for name in self if name.startswith(f"{cell}/" if cell else "")]

    def read(self, name: str) -> bytes | None:
        return self.get(name)

    def put(self, name: str, content: bytes) -> None:
        self[name] = content

    def remove(self, name: str) -> None:
        self.pop(name, None)


class InFiles:
    """Pieces of a store, in one of its folders."""

    def __init__(self, files: Files, folder: str) -> None:
        self._files = files
        self._folder = folder

    def names(self, cell: str = "") -> list[str]:
        """The names of all pieces, or of those of one cell; not of files that are being written."""
        within = f"{cell}/" if cell else ""
        names = self._files.list(f"{self._folder}/{cell}".rstrip("/"))
        return [within + name for name in names if not name.endswith(".partial")]

    def read(self, name: str) -> bytes | None:
        return self._files.read(f"{self._folder}/{name}")

    def put(self, name: str, content: bytes) -> None:
        self._files.put(f"{self._folder}/{name}", content)

    def remove(self, name: str) -> None:
        self._files.remove(f"{self._folder}/{name}")


Pieces = InMemory | InFiles


@dataclass(frozen=True)
class Known:
    """What is there of a cell that is not complete."""

    number: int = 0  # of the present pass over its points
    pieces: Sequence[Place] = ()  # of that pass
    nodes: int = 0  # stretches in the nodes, with which pass 0 begins

    def left(self, n_stretches: int) -> set[int]:
        """The stretches that are in no piece of the present pass."""
        missing = np.ones(n_stretches, np.bool_)
        missing[: self._first] = False
        for place in self.pieces:
            missing[_start(place) : _start(place) + (1 << place[0])] = False
        return set(np.flatnonzero(missing).tolist())

    def apart(self) -> list[Place]:
        """Pieces that share no stretch, in order: of a merged one and its parts, the merged one."""
        taken: set[Place] = set()
        for level, index in sorted(self.pieces, reverse=True):
            above = {(level + up, index >> up) for up in range(1, 64)}
            if not above & taken:
                taken.add((level, index))
        return sorted((each for each in taken if _start(each) >= self._first), key=_start)

    @property
    def _first(self) -> int:
        """The first stretch that is in a piece, not in the nodes."""
        return 0 if self.number else self.nodes


def known_cells(
    pieces: Pieces, nodes: Pieces | None, full: int, size: int, only: str = ""
) -> Mapping[str, Known]:
    """What is there of each cell of which anything is; with `only`, of one cell.

    `full` is the number of stretches that are not short, `size` that of the points of a cell.
    """
    numbers, sizes = dict[str, int](), dict[str, int]()
    places: dict[tuple[str, int], list[Place]] = {}  # by cell and pass
    for name in pieces.names(only):
        cell, _, piece = name.partition("/")
        number, place = _meaning_of(piece, full, size) or (-1, None)
        if place is not None:
            places.setdefault((cell, number), []).append(place)
        elif number > numbers.get(cell, 0):
            numbers[cell] = number
    for name in nodes.names(only) if nodes is not None else ():
        cell, _, n_stretches = name.partition("/")
        if n_stretches.isdigit() and int(n_stretches) <= full:
            sizes[cell] = max(sizes.get(cell, 0), int(n_stretches))
    cells = {*numbers, *sizes, *(cell for cell, _ in places)}
    present = {cell: numbers.get(cell, 0) for cell in cells}
    return {c: Known(n, places.get((c, n), ()), sizes.get(c, 0)) for c, n in present.items()}


def name_of(number: int, place: Place | None, full: int, size: int) -> str:
    """The name of a piece of a pass, or without a place of what the pass begins with."""
    if number:
        return f"pass-{number}.{size}" + ("" if place is None else "." + _in_words(place))
    if place is None or place[1] >= full:
        return f"end.{size}"
    return _in_words(place)


def to_bytes(partial: Partial) -> bytes:
    """A checksum, a list of the arrays, and their bytes.

    NumPy's npz takes ten times as long, and a run writes and reads pieces for every stretch.
    """
    arrays = [[name, array.dtype.str, array.shape] for name, array in partial.items()]
    listed = json.dumps(arrays).encode()
    content = b"".join([listed, b"\n", *(array.tobytes() for array in partial.values())])
    return BEGINNING + zlib.crc32(content).to_bytes(START - len(BEGINNING), "little") + content


def from_bytes(content: bytes) -> Partial:
    """The inverse of `to_bytes`; earlier versions wrote npz. Raises if the content is damaged."""
    if not content.startswith(BEGINNING):
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            return dict(stored)
    checksum = int.from_bytes(content[len(BEGINNING) : START], "little")
    if zlib.crc32(memoryview(content)[START:]) != checksum:
        raise ValueError("a piece has another checksum")
    end = content.index(b"\n", START)
    arrays, at = dict[str, NDArray[Any]](), end + 1
    for name, dtype, shape in json.loads(content[START:end]):
        array = np.frombuffer(content, dtype, math.prod(shape), at)
        arrays[name], at = array.reshape(shape).copy(), at + array.nbytes
    return arrays


def _meaning_of(name: str, full: int, size: int) -> tuple[int, Place | None] | None:
    """The inverse of `name_of`; None if the name says nothing of a cell of that size."""
    if not (match := _NAME.fullmatch(name)):
        return None
    level, index, end, number, size_of_pass, *place = match.groups()
    if level is not None:
        return 0, (int(level), int(index))
    if end is not None:
        return (0, (0, full)) if int(end) == size else None
    if int(size_of_pass) != size:
        return None
    return int(number), None if place[0] is None else (int(place[0]), int(place[1]))


def _start(place: Place) -> int:
    """The first stretch of a piece."""
    return place[1] << place[0]


def _in_words(place: Place) -> str:
    return "{}.{}".format(*place)
