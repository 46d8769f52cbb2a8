"""What is launched of kernels/reduction_gpu.h, and over which points."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sweep.statistics import tree


class Step(IntEnum):
    """The Step of reduction_gpu.h: what a launch does."""

    COUNT, EXTREMES, MOMENTS, INDICES, MARK, COUNT_BINS, NUMBER_BINS, ORDER, HISTOGRAM = range(9)


class Condition(IntEnum):
    """The Kind of reduction_gpu.h: which values count."""

    IS_OK, IS_ABOVE, IS_BELOW, HAS_CODE, HAS_STATUS = range(5)


TYPES = {"real": 0, "count": 1, "flag": 2}  # the Type of reduction_gpu.h
WARP, LEAVES_OF_A_THREAD, LEVELS_AT_ONCE = 32, 32, 5

Arrays = Mapping[str, NDArray[Any]]  # output name, or "status" -> (n_points,)
Device = Any  # an array of the device's library
Runs = list[tuple[int, int]]  # the first point of each part of the cells, and how many it has


class Reduction(ctypes.Structure):
    """The Reduction of reduction_gpu.h."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in (
            "step", "threads", "groups", "cells", "length", "stride", "scramblings", "type",
            "optional", "finite", "level", "width", "next_width", "n", "shift", "subnormal",
            "middle",
        )),
        *((n, ctypes.c_void_p) for n in ("values", "status", "ranges", "input", "output", "nodes")),
    ]  # fmt: skip


class Then(Protocol):
    """What is made of the arrays of points where they are computed, in place of these."""

    def __call__(self, arrays: Mapping[str, Any], launcher: Launcher | None = None) -> Arrays:
        """What is made of arrays of the host, or of the device that has this launcher."""
        ...


class Launcher(Protocol):
    """What reductions need of a device."""

    @property
    def library(self) -> Any:
        """The library of the device's arrays: functions of NumPy's names."""
        ...

    def address(self, array: Device) -> int: ...

    def upload(self, values: NDArray[Any]) -> Device:
        """An array of the device with these numbers, of 8 bytes each."""
        ...

    def to_host(self, array: Device) -> NDArray[Any]: ...

    def reduce(self, requests: Sequence[Reduction], n_parameters: int) -> None:
        """Begin these launches, one after another, of the text for so many parameters."""
        ...


@dataclass(frozen=True)
class Division:
    """How the points of some cells in memory of a device are divided."""

    launcher: Launcher
    status: Device  # (cells * points of each,)
    cells: int
    runs: Runs
    tables: dict[bytes, Device] = field(default_factory=dict[bytes, Device])

    @property
    def n_rows(self) -> int:
        return len(self.runs) * self.cells

    def leaves(self, points: int) -> list[tuple[int, int]]:
        """The first leaf, of so many points, and the number of leaves of each part."""
        return [(first // points, -(-count // points)) for first, count in self.runs]

    def table(self, rows: NDArray[np.int64]) -> Device:
        """A table on the device, which outputs share."""
        content = rows.tobytes()
        if content not in self.tables:
            self.tables[content] = self.launcher.upload(rows.ravel())
        return self.tables[content]

    def ranges(self, points: int) -> Device:
        """The Range of each part, of leaves of so many points."""
        leaves = self.leaves(points)
        nodes = itertools.accumulate((len(tree.covering(*each)) for each in leaves), initial=0)
        starts = (first - self.runs[0][0] for first, _ in self.runs)
        rows = zip(starts, leaves, nodes, strict=False)
        return self.table(np.array([(start, *each, n) for start, each, n in rows], np.int64))

    def by_part(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Results of rows by part: (parts, cells, ...)."""
        return rows.reshape(len(self.runs), self.cells, -1)


@dataclass(frozen=True)
class PlaneValues:
    """The values of an output at the points."""

    division: Division
    values: Device  # (cells * points of each,)
    kind: str  # of the output
    optional: bool
    stride: int  # every so many points of a cell are reduced, or make up a row for Sobol' indices

    @property
    def xp(self) -> Any:
        return self.division.launcher.library

    def request(self, step: Step, scramblings: int = 1, **fields: Any) -> Reduction:
        """A launch over all leaves; arrays of the device are given as their addresses."""
        division, address = self.division, self.division.launcher.address
        most = max(count for _, count in division.leaves(self.stride * scramblings))
        groups = -(-most // (WARP * LEAVES_OF_A_THREAD)) * WARP
        fields = {"groups": groups, **fields}
        return Reduction(
            step=step,
            threads=division.n_rows * scramblings * fields["groups"],
            cells=division.cells,
            length=sum(count for _, count in division.runs),
            stride=self.stride,
            scramblings=scramblings,
            type=TYPES[self.kind],
            optional=int(self.optional),
            values=address(self.values),
            status=address(division.status),
            ranges=address(division.ranges(self.stride * scramblings)),
            **{n: v if isinstance(v, int) else address(v) for n, v in fields.items()},
        )
