"""One point and each of its items, observed while they advance: entry_trace_items.h."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import numpy as np

from sweep.backends.tracer import Seen, TraceLibrary
from sweep.errors import SweepError
from sweep.source import Kernel
from sweep.spec import Values

MAX_STATES = 10**8  # items times moments


class Trace(ctypes.Structure):
    """The Trace of entry_trace_items.h."""

    _fields_ = (
        ("samples", ctypes.c_int64),
        ("budget", ctypes.c_int64),
        ("resuming", ctypes.c_int64),
        ("status", ctypes.c_int64),
        ("parameters", ctypes.c_void_p),
        ("times", ctypes.c_void_p),
        ("places", ctypes.c_void_p),
        ("items", ctypes.c_void_p),
        ("rows", ctypes.c_void_p),
        ("sums", ctypes.c_void_p),
        ("trail", ctypes.c_void_p),
    )


class ItemsTracer(TraceLibrary):
    """A point of a kernel that sums over items and can show each of them."""

    def __init__(self, kernel: Kernel, values: Mapping[str, float]) -> None:
        """Compile the kernel; `values` are those of its parameters, in SI units."""
        super().__init__(kernel, values, Trace, "entry_trace_items.h and items_tracer.py")
        self._items = int(values[kernel.method.items])
        self._name = kernel.method.items

    def look(self, times: Values, budget: int | None = None) -> Seen:
        """What is seen of the point and its items at `times`, ascending.

        `budget` fixes the units of work of each call into the kernel, for tests. SweepError if
        the states would take too much memory.
        """
        states = times.size * self._items
        if states > MAX_STATES:
            raise SweepError(
                f"{self._items:,} {self._name} at {times.size:,} moments are {states:,} states, "
                f"more than {MAX_STATES:,}: take fewer {self._name} or samples"
            )
        times = np.ascontiguousarray(times, np.float64)
        rows, trail = self._rows(times), self._trail()
        items = np.full((times.size, self._items, self._integer("item_row_size")), np.nan)
        places = np.empty(self._items)
        sums = np.zeros(times.size * self._integer("sum_bytes") // 8)
        trace = Trace(samples=times.size, status=-1)
        trace.parameters, trace.times = self._address, times.ctypes.data
        trace.places, trace.items, trace.rows = (
            array.ctypes.data for array in (places, items, rows)
        )
        trace.sums, trace.trail = sums.ctypes.data, trail.ctypes.data
        self._run(trace, budget)
        if trace.status:
            rows[:], items[:] = np.nan, np.nan
        seen = 0 if trace.status else times.size
        return Seen(rows, seen, int(trace.status), items, places)
