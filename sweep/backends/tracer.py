"""One point, looked at while it advances: a kernel behind entry_trace.h, compiled for one lane."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.backends.compiler import compile_library, find_compiler
from sweep.backends.cpu import FIRST_BUDGET, SLICE_SECONDS, Target, load_library
from sweep.errors import CompileError
from sweep.source import Kernel, kernel_text
from sweep.spec import Values

ONE_LANE = Target(width=1, pack=1)


class Trace(ctypes.Structure):
    """Twin of entry_trace.h's Trace."""

    _fields_ = (
        ("next", ctypes.c_int64),
        ("stop", ctypes.c_int64),
        ("budget", ctypes.c_int64),
        ("resuming", ctypes.c_int64),
        ("status", ctypes.c_int64),
        ("parameters", ctypes.c_void_p),
        ("times", ctypes.c_void_p),
        ("rows", ctypes.c_void_p),
        ("trail", ctypes.c_void_p),
    )


@dataclass(frozen=True)
class Span:
    """When a point begins, and the first and last moment that its trace is of, in s."""

    begin: float
    first: float
    last: float


@dataclass(frozen=True)
class Seen:
    """What a trace saw, and how its point ended."""

    rows: NDArray[np.float64]  # (n_times, 1 + n_observables): the moment seen, the observables
    n_seen: int  # rows that were seen; the others, after an end that is not ok, are NaN
    status: int
    items: NDArray[np.float64] | None = None  # (n_times, n_items, n_item_observables)
    places: NDArray[np.float64] | None = None  # (n_items,): where the items are


class Tracer:
    """A point of a kernel that has time_of and look."""

    def __init__(self, kernel: Kernel, values: Mapping[str, float]) -> None:
        """Compiles what it needs; `values` are those of the kernel's parameters, in SI units."""
        text = kernel_text(kernel, "trace")
        path = compile_library(text, find_compiler(), ONE_LANE.flags)
        self._library = load_library(path)
        self._parameters = np.array([values[p.name] for p in kernel.parameters], np.float64)
        if self._integer("trace_bytes") != ctypes.sizeof(Trace):
            raise CompileError(f"{str(path)!r}: entry_trace.h and tracer.py differ in layout")

    def span(self) -> Span:
        """What a trace is of if nothing else is asked for."""
        times = np.empty(3)
        self._library.tribosweep_span(
            ctypes.c_void_p(self._parameters.ctypes.data), ctypes.c_void_p(times.ctypes.data)
        )
        return Span(*times.tolist())

    def look(self, times: Values, budget: int | None = None) -> Seen:
        """What is there to be seen at `times`: in s, ascending, from the span's begin to its last.

        The point is then taken to its end, which tells its status. `budget` fixes the units of
        work of each call into the kernel, for tests; else one returns within about SLICE_SECONDS,
        so that an interrupt is heard.
        """
        times = np.ascontiguousarray(times, np.float64)
        rows = np.full((times.size, self._integer("row_size")), np.nan)
        trail = np.empty(self._integer("trail_bytes") // 8 + 8)
        trace = Trace(stop=times.size, status=-1)
        trace.parameters = self._parameters.ctypes.data
        trace.times, trace.rows = times.ctypes.data, rows.ctypes.data
        trace.trail = trail.ctypes.data
        work = budget or FIRST_BUDGET
        while trace.status < 0:
            trace.budget = work
            began = time.perf_counter()
            self._library.tribosweep_trace(ctypes.byref(trace))
            if budget is None:
                work = next_budget(work, time.perf_counter() - began)
        return Seen(rows, int(trace.stop), int(trace.status))

    def _integer(self, name: str) -> int:
        function = getattr(self._library, f"tribosweep_{name}")
        function.restype = ctypes.c_int64
        return int(function())


def next_budget(work: int, seconds: float) -> int:
    """Units of work for the next call, after one that took so long."""
    if seconds < SLICE_SECONDS / 2:
        return min(work * 4, 1 << 60)
    return max(work // 2, 1) if seconds > SLICE_SECONDS * 2 else work
