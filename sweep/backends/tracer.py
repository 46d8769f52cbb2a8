"""One point, looked at while it advances: a kernel behind entry_trace.h, compiled for one lane."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.backends.compiler import compile_library, find_compiler
from sweep.backends.cpu import FIRST_BUDGET, Target, load_library, next_budget
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


class TraceLibrary:
    """A kernel compiled to be looked at, loaded, and the parameters of its one point."""

    def __init__(
        self,
        kernel: Kernel,
        values: Mapping[str, float],
        twin: type[ctypes.Structure],
        twins: str,
        flags: Sequence[str] = (),
    ) -> None:
        """`twin` is the structure that calls take; `twins` names the files that describe it."""
        path = compile_library(kernel_text(kernel, "trace"), find_compiler(), flags)
        self._library = load_library(path)
        self._parameters = np.array([values[p.name] for p in kernel.parameters], np.float64)
        if self.integer("trace_bytes") != ctypes.sizeof(twin):
            raise CompileError(f"{str(path)!r}: {twins} differ in layout")

    @property
    def parameters(self) -> int:
        """The address of the parameters' values."""
        return self._parameters.ctypes.data

    def span(self) -> Span:
        """What a trace is of if nothing else is asked for."""
        times = np.empty(3)
        self._library.tribosweep_span(
            ctypes.c_void_p(self.parameters), ctypes.c_void_p(times.ctypes.data)
        )
        return Span(*times.tolist())

    def run(self, trace: Any, budget: int | None) -> None:
        """The point taken to its end: `budget` units of work a call, else what is soon done."""
        work = budget or FIRST_BUDGET
        while trace.status < 0:
            trace.budget = work
            began = time.perf_counter()
            self._library.tribosweep_trace(ctypes.byref(trace))
            if budget is None:
                work = next_budget(work, time.perf_counter() - began)

    def integer(self, name: str) -> int:
        """What the kernel tells of its sizes."""
        function = getattr(self._library, f"tribosweep_{name}")
        function.restype = ctypes.c_int64
        return int(function())


class Tracer:
    """A point of a kernel that has time_of and look."""

    def __init__(self, kernel: Kernel, values: Mapping[str, float]) -> None:
        """Compiles what it needs; `values` are those of the kernel's parameters, in SI units."""
        self._kernel = TraceLibrary(
            kernel, values, Trace, "entry_trace.h and tracer.py", ONE_LANE.flags
        )

    def span(self) -> Span:
        """What a trace is of if nothing else is asked for."""
        return self._kernel.span()

    def look(self, times: Values, budget: int | None = None) -> Seen:
        """What is there to be seen at `times`: in s, ascending, from the span's begin to its last.

        The point is then taken to its end, which tells its status. `budget` fixes the units of
        work of each call into the kernel, for tests; else one returns within about SLICE_SECONDS,
        so that an interrupt is heard.
        """
        times = np.ascontiguousarray(times, np.float64)
        rows = np.full((times.size, self._kernel.integer("row_size")), np.nan)
        trail = np.empty(self._kernel.integer("trail_bytes") // 8 + 8)
        trace = Trace(stop=times.size, status=-1)
        trace.parameters = self._kernel.parameters
        trace.times, trace.rows = times.ctypes.data, rows.ctypes.data
        trace.trail = trail.ctypes.data
        self._kernel.run(trace, budget)
        return Seen(rows, int(trace.stop), int(trace.status))
