"""One point, observed while it advances: a kernel behind entry_trace.h, compiled for one lane."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.backends.compiler import find_compiler
from sweep.backends.cpu import FIRST_BUDGET, Target, next_budget
from sweep.backends.library import check_layout, compile_and_load, integer_of, load_library
from sweep.source import Kernel, kernel_text
from sweep.spec import Values

ONE_LANE = Target(width=1, pack=1)
ENTRIES = ("tribosweep_trace", "tribosweep_span", "tribosweep_trace_bytes")


class Trace(ctypes.Structure):
    """The Trace of entry_trace.h."""

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


class TraceLibrary:
    """A kernel compiled for tracing, loaded, and the parameters of its one point."""

    def __init__(
        self,
        kernel: Kernel,
        values: Mapping[str, float],
        trace_type: type[ctypes.Structure],
        files: str,
        flags: Sequence[str] = (),
    ) -> None:
        """`trace_type` is the struct of a call; `files` names the two files that define it."""
        text = kernel_text(kernel, "trace")
        self._library = compile_and_load(
            text, find_compiler(), flags, lambda path: load_library(path, ENTRIES)
        )
        self._parameters = np.array([values[p.name] for p in kernel.parameters], np.float64)
        check_layout(self._integer("trace_bytes"), trace_type, files)

    @property
    def _address(self) -> int:
        """The address of the parameters' values."""
        return self._parameters.ctypes.data

    def span(self) -> Span:
        """The beginning of the motion, and the moments that a trace spans by default."""
        times = np.empty(3)
        self._library.tribosweep_span(
            ctypes.c_void_p(self._address), ctypes.c_void_p(times.ctypes.data)
        )
        return Span(*times.tolist())

    def _run(self, trace: Any, budget: int | None) -> None:
        """Take the point to its end, in calls of `budget` units of work or else short ones."""
        work = budget or FIRST_BUDGET
        while trace.status < 0:
            trace.budget = work
            began = time.perf_counter()
            self._library.tribosweep_trace(ctypes.byref(trace))
            if budget is None:
                work = next_budget(work, time.perf_counter() - began)

    def _integer(self, name: str) -> int:
        return integer_of(self._library, f"tribosweep_{name}")

    def _rows(self, times: Values) -> NDArray[np.float64]:
        """The array of the point's observables, all NaN."""
        return np.full((times.size, self._integer("row_size")), np.nan)

    def _trail(self) -> NDArray[np.float64]:
        """Room for the state of the point between calls."""
        return np.empty(self._integer("trail_bytes") // 8 + 8)


class Tracer(TraceLibrary):
    """A point of a kernel that has time_of and look."""

    def __init__(self, kernel: Kernel, values: Mapping[str, float]) -> None:
        """Compile the kernel; `values` are those of its parameters, in SI units."""
        super().__init__(kernel, values, Trace, "entry_trace.h and tracer.py", ONE_LANE.flags)

    def look(self, times: Values, budget: int | None = None) -> Seen:
        """What is seen of the point at `times`: in s, ascending, from its span's begin to its last.

        The point is then taken to its end, which gives its status. `budget` fixes the units of work
        of each call into the kernel, for tests; by default a call returns within about
        SLICE_SECONDS, so that an interrupt takes effect.
        """
        times = np.ascontiguousarray(times, np.float64)
        rows, trail = self._rows(times), self._trail()
        trace = Trace(stop=times.size, status=-1)
        trace.parameters = self._address
        trace.times, trace.rows = times.ctypes.data, rows.ctypes.data
        trace.trail = trail.ctypes.data
        self._run(trace, budget)
        return Seen(rows, int(trace.stop), int(trace.status))
