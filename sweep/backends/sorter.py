"""The order of a batch's points, made on a device by its array library: alike ones in one warp."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sweep.backends.alike import Sorting, sorting
from sweep.backends.device import Memory, OutOfMemory, Queue
from sweep.spec import Method
from sweep.work import Column, Points

WARP = 32  # threads of a GPU that wait for each other
ORDER_BYTES = 8  # of a point, while it is computed
SORT_BYTES = 96  # of a point, while the order is made: rounded up from what CuPy takes
LEAST_SORT_BYTES = 1 << 14  # of a few points: each array of CuPy takes 512 bytes or more


@dataclass(frozen=True)
class Uploaded:
    """Values of a column in memory of the device."""

    column: Column
    memory: Memory
    start: int  # index in the column of the first one
    length: int  # number of values


@dataclass(frozen=True)
class Sorter:
    """Sorts points on a device whose arrays are those of `library`."""

    sorting: Sorting
    library: Any

    def order(
        self, queue: Queue, uploaded: Mapping[str, Uploaded], first: int, count: int
    ) -> Memory:
        """The order of `count` points from `first` on, as int64; OutOfMemory if it does not fit."""
        order = queue.empty(ORDER_BYTES * count)
        # CuPy before 14.2 sorts wrongly if it gets no memory for that (its issue 9894). So what it
        # takes is allocated and freed here, and its pool has it then.
        queue.empty(max(SORT_BYTES * count, LEAST_SORT_BYTES))
        try:
            names = self.sorting.names
            values = {name: self._values(queue, uploaded[name], first, count) for name in names}
            made = self.sorting.order(values, count, self.library)
            queue.array(order, count, np.int64)[:] = made
        except MemoryError as error:  # of the library
            raise OutOfMemory(str(error)) from error
        return order

    def _values(self, queue: Queue, given: Uploaded, first: int, count: int) -> Any:
        """The values at the points, or the one that all points share."""
        values = queue.array(given.memory, given.length, np.float64)
        repeat, n_values = given.column.repeat, len(given.column.values)
        if n_values == 1 or (repeat == 1 and (given.start, given.length) == (first, count)):
            return values
        at = self.library.arange(first, first + count)
        return values[at // repeat % n_values - given.start]


def sorter_of(method: Method, points: Points, library: Any) -> Sorter | None:
    """What sorts these points; None if they are computed as they come.

    The items of a point have warps of their own, so that these points need no order.
    """
    chosen = None if method.items else sorting(method, points)
    return None if chosen is None else Sorter(chosen, library)
