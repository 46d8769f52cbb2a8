"""What is computed at once, as frozen data: chunks, and the parameters of their points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]  # (n_values,)


class LongValues(Protocol):
    """Values of a parameter along an axis: an array, or a source of any part of them."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> Values: ...


@dataclass(frozen=True)
class Chunk:
    """One block of a sweep's grid, and one chunk file of each stored array."""

    index: tuple[int, ...]  # in the grid of chunks
    start: tuple[int, ...]  # first point per dimension
    shape: tuple[int, ...]  # points per dimension (fewer at the end of an axis)

    @property
    def n_points(self) -> int:
        return math.prod(self.shape)

    @property
    def slices(self) -> tuple[slice, ...]:
        return tuple(slice(a, a + n) for a, n in zip(self.start, self.shape, strict=True))


@dataclass(frozen=True)
class Task:
    """Adjacent chunks that one worker gets at once."""

    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, eq=False)
class Column:
    """A parameter in a chunk: the value of point i is values[(i // repeat) % len(values)].

    Random values need not be drawn where a device draws them.
    """

    source: LongValues
    repeat: int = 1

    def __len__(self) -> int:
        return len(self.source)

    @cached_property
    def values(self) -> Values:
        """All values, which are drawn now if they are not in memory."""
        return self.source[:]

    def at(self, points: NDArray[np.intp]) -> Values:
        """The values at these points, by index."""
        return self.values[points // self.repeat % len(self.values)]


@dataclass(frozen=True, eq=False, kw_only=True)
class Points:
    """The points that a backend computes, with each parameter of the sweep as a column."""

    n_points: int
    # Parameter name -> column, in the order of Sweep.parameters, then those of the stage.
    columns: Mapping[str, Column]
    variants: tuple[str, ...] = ()  # names of the method's variants that apply here
    cells: int = 0  # of a reduced sweep: as many points of each cell, one cell after another
    first: int = 0  # the index in its cell of the first point of each
