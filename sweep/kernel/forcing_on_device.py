"""Tables of realisations in the memory of a device, filled there for each batch of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sweep.kernel.device import Memory, Program, Queue
from sweep.kernel.forcing import Forcing, draws_of, fitting, values_at
from sweep.kernel.sorting import Uploaded
from sweep.request.chunk import Column, Points, Values

SHARE = 4  # of the memory of a batch: one in so many bytes is for tables


@dataclass(frozen=True)
class DeviceTables:
    """The tables of the points of one call."""

    forcings: tuple[Forcing, ...]
    points: Points

    def count(self, first: int, count: int, memory: int) -> int:
        """How many points from `first` on, at most `count`, have tables that fit their share."""
        part = np.arange(first, first + count, dtype=np.intp)
        return next(fitting(self.forcings, self.points, part, memory // SHARE)).size

    def uploaded(
        self, queue: Queue, program: Program, first: int, count: int
    ) -> tuple[dict[str, Uploaded], list[Memory]]:
        """The columns with the addresses of these points' tables, and all memory that they need."""
        part = np.arange(first, first + count, dtype=np.intp)
        columns: dict[str, Uploaded] = {}
        kept: list[Memory] = []
        for each in self.forcings:
            values = values_at(self.points, each, part)
            addresses, memory = _filled(queue, program, each, values)
            column = Column(np.empty(self.points.n_points))  # of which the device has a part
            kept += [*memory, queue.upload(addresses)]
            columns[each.column] = Uploaded(column, kept[-1], 0, first, count)
        return columns, kept


def _filled(
    queue: Queue, program: Program, forcing: Forcing, values: Values
) -> tuple[Values, list[Memory]]:
    """The addresses of tables that the device begins to fill, and the memory that this needs."""
    draws = draws_of(values)
    count = len(draws.realisations)
    tables = queue.empty(max(forcing.signal.table_bytes * count, 1))
    kept = {"tables": tables, "turns": queue.empty(forcing.turns_bytes)}
    arrays = {**forcing.constants(), "draws": draws.realisations if count else np.zeros(1)}
    kept |= {name: queue.upload(array) for name, array in arrays.items()}
    request: Any = forcing.request(count, **{name: each.address for name, each in kept.items()})
    arguments: list[Memory] = []
    for stage in range(forcing.n_stages if count else 0):
        request.stage = stage
        arguments.append(queue.upload(np.frombuffer(bytes(request), np.uint8)))
        units = forcing.n_units(stage, count)
        queue.start(program, "tribosweep_forcing", arguments[-1], units)
    return draws.addresses(tables.address, forcing.signal.table_bytes), [*kept.values(), *arguments]
