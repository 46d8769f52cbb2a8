"""One point and each of its items, looked at while they advance: behind entry_trace_items.h."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import numpy as np

from sweep.backends.tracer import Seen, Span, TraceLibrary
from sweep.errors import SweepError
from sweep.source import Kernel
from sweep.spec import Values

MOST_LOOKS = 10**8  # items times moments


class Trace(ctypes.Structure):
    """Twin of entry_trace_items.h's Trace."""

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


class ItemsTracer:
    """A point of a kernel that sums over items and can show each of them."""

    def __init__(self, kernel: Kernel, values: Mapping[str, float]) -> None:
        """Compiles what it needs; `values` are those of the kernel's parameters, in SI units."""
        twins = "entry_trace_items.h and items_tracer.py"
        self._kernel = TraceLibrary(kernel, values, Trace, twins)
        self._items = int(values[kernel.method.items])
        self._name = kernel.method.items

    def span(self) -> Span:
        """What a trace is of if nothing else is asked for."""
        return self._kernel.span()

    def look(self, times: Values, budget: int | None = None) -> Seen:
        """What is there to be seen of the point and its items at `times`, ascending.

        `budget` fixes the units of work of each call into the kernel, for tests. SweepError if
        there is more to see than memory should hold.
        """
        looks = times.size * self._items
        if looks > MOST_LOOKS:
            raise SweepError(
                f"{self._items:,} {self._name} at {times.size:,} moments are {looks:,} states, "
                f"more than {MOST_LOOKS:,}: take fewer {self._name} or samples"
            )
        times = np.ascontiguousarray(times, np.float64)
        rows = np.full((times.size, self._kernel.integer("row_size")), np.nan)
        items = np.full((times.size, self._items, self._kernel.integer("item_row_size")), np.nan)
        places = np.empty(self._items)
        sums = np.zeros(times.size * self._kernel.integer("sum_bytes") // 8)
        trail = np.empty(self._kernel.integer("trail_bytes") // 8 + 8)
        trace = Trace(samples=times.size, status=-1)
        trace.parameters, trace.times = self._kernel.parameters, times.ctypes.data
        trace.places, trace.items, trace.rows = (
            array.ctypes.data for array in (places, items, rows)
        )
        trace.sums, trace.trail = sums.ctypes.data, trail.ctypes.data
        self._kernel.run(trace, budget)
        if trace.status:
            rows[:], items[:] = np.nan, np.nan
        seen = 0 if trace.status else times.size
        return Seen(rows, seen, int(trace.status), items, places)
