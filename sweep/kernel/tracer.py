"""One point, and perhaps each of its items, observed while it advances."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.kernel.compiler import compile_library, find_compiler
from sweep.kernel.cpu import CpuTarget
from sweep.kernel.forcing import Tables, forcings_of
from sweep.kernel.library import (
    check_layout,
    fields_of,
    integer_of,
    load_library,
    run_in_slices,
)
from sweep.kernel.source import Kernel, kernel_text
from sweep.request.chunk import Values

MAX_STATES = 10**8  # items times moments
MAX_EVENTS = 10**4  # that a trace has


class Trace(ctypes.Structure):
    """The Trace of entry_trace.h."""

    _fields_ = fields_of(
        "int64 next stop budget resuming status",
        "address parameters times rows trail events",
        "int64 event_room",
    )


class ItemsTrace(ctypes.Structure):
    """The Trace of entry_trace_items.h."""

    _fields_ = fields_of(
        "int64 samples budget resuming status",
        "address parameters times places items rows sums trail",
    )


@dataclass(frozen=True)
class Span:
    """When a point's motion begins, and the default first and last moment of its trace, in s."""

    begin: float
    first: float
    last: float


@dataclass(frozen=True)
class Seen:
    """What was observed of a point, and its status at the end."""

    rows: NDArray[np.float64]  # (n_times, 1 + n_observables): the moment seen, the observables
    n_seen: int  # rows that were seen; rows after an end that is not ok are NaN
    status: int
    items: NDArray[np.float64] | None = None  # (n_times, n_items, n_item_observables)
    places: NDArray[np.float64] | None = None  # (n_items,): where the items are
    events: NDArray[np.float64] | None = None  # (n_events, 2): time, number; the first MAX_EVENTS


class Tracer:
    """A kernel compiled for tracing, loaded, and the parameters of its one point."""

    def __init__(self, kernel: Kernel, values: Mapping[str, float]) -> None:
        """Compile the kernel; `values` are those of its parameters, in SI units."""
        self._item_name = kernel.method.items
        self._n_items = int(values.get(kernel.method.items, 0))
        if self._item_name:
            struct, header, flags = ItemsTrace, "entry_trace_items.h", ()
        else:
            struct, header, flags = Trace, "entry_trace.h", CpuTarget(width=1, pack=1).flags
        text = kernel_text(kernel, "trace")
        self._library = load_library(compile_library(text, find_compiler(), flags))
        values = {**values}
        if forcings := forcings_of(kernel.model):
            self._tables = Tables(self._library)  # which the kernel reads
            for each in forcings:
                draw = np.array([values[each.signal.draw]])
                values[each.column] = float(self._tables.addresses(each, draw)[0])
        self._parameters = np.array([values[p.name] for p in kernel.parameters], np.float64)
        check_layout(self._integer("trace_bytes"), struct, f"{header} and tracer.py")

    def span(self) -> Span:
        """The beginning of the motion, and the moments that a trace spans by default."""
        times = np.empty(3)
        addresses = (self._parameters.ctypes.data, times.ctypes.data)
        self._library.tribosweep_span(*map(ctypes.c_void_p, addresses))
        return Span(*times.tolist())

    def look(self, times: Values, budget: int | None = None) -> Seen:
        """What is seen of the point, and of its items, at `times`.

        These are in s, ascending, from its span's begin to its last. The point is then taken to its
        end, which gives its status. `budget` fixes the units of work of each call into the kernel,
        for tests; by default a call returns within about SLICE_SECONDS, so that an interrupt takes
        effect. SweepError if the states of the items would take too much memory.
        """
        times = np.ascontiguousarray(times, np.float64)
        if self._item_name:
            return self._look_at_items(times, budget)
        rows, trace = self._rows(times), Trace(stop=times.size, event_room=MAX_EVENTS)
        events = np.full((MAX_EVENTS, 2), np.nan)
        self._run(trace, budget, times=times, rows=rows, events=events)
        happened = events[~np.isnan(events[:, 0])]
        return Seen(rows, int(trace.stop), int(trace.status), events=happened)

    def _look_at_items(self, times: Values, budget: int | None) -> Seen:
        states, name = times.size * self._n_items, self._item_name
        if states > MAX_STATES:
            raise SweepError(
                f"{self._n_items:,} {name} at {times.size:,} moments are {states:,} states, "
                f"more than {MAX_STATES:,}: take fewer {name} or samples"
            )
        rows = self._rows(times)
        items = np.full((times.size, self._n_items, self._integer("item_row_size")), np.nan)
        places = np.empty(self._n_items)
        sums = np.zeros(times.size * self._integer("sum_bytes") // 8)
        trace = ItemsTrace(samples=times.size)
        self._run(trace, budget, times=times, places=places, items=items, rows=rows, sums=sums)
        n_seen = times.size
        if trace.status:
            rows[:], items[:], n_seen = np.nan, np.nan, 0
        return Seen(rows, n_seen, int(trace.status), items, places)

    def _run(self, trace: Any, budget: int | None, **arrays: NDArray[np.float64]) -> None:
        """Take the point to its end; the kernel reads and fills the arrays."""
        trail = np.empty(self._integer("trail_bytes") // 8 + 8)  # the state between calls
        for name, array in {**arrays, "parameters": self._parameters, "trail": trail}.items():
            setattr(trace, name, array.ctypes.data)
        trace.status = -1
        run_in_slices(self._library.tribosweep_trace, trace, lambda: trace.status < 0, budget)

    def _integer(self, name: str) -> int:
        return integer_of(self._library, f"tribosweep_{name}")

    def _rows(self, times: Values) -> NDArray[np.float64]:
        """The array of the point's observables, all NaN."""
        return np.full((times.size, self._integer("row_size")), np.nan)
