"""Kernels on this machine's processor: compiled at run time, loaded by ctypes, SIMD over points."""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sweep.arrays import array_method
from sweep.backends.arrays import compute_arrays
from sweep.backends.base import Computed, Stopped
from sweep.backends.compiler import (
    Compiler,
    NoCompilerError,
    compiled_library,
    find_compiler,
    processor_name,
)
from sweep.backends.library import (
    ColumnStruct,
    ForeignLibraryError,
    check_layout,
    compile_and_load,
    integer_of,
    load_library,
    request_struct,
)
from sweep.errors import CompileError
from sweep.source import Kernel, kernel_of, kernel_text
from sweep.spec import Output, Points, Sweep, array_types

SLICE_SECONDS = 0.1  # how long a call into a kernel should last, so that a stop takes effect soon
FIRST_BUDGET = 1000  # units of work in the first call, before their cost is known
ENTRIES = (
    "tribosweep_state_bytes",
    "tribosweep_lanes",
    "tribosweep_request_bytes",
    "tribosweep_run",
)


@dataclass(frozen=True)
class Target:
    """What a kernel is compiled for; None: what suits the machine and the method."""

    compiler: Compiler | None = None
    width: Literal[1, 2, 4, 8] | None = None  # doubles in a vector
    pack: int | None = None  # vectors in flight

    @property
    def flags(self) -> tuple[str, ...]:
        chosen = (("SWEEP_WIDTH", self.width), ("SWEEP_PACK", self.pack))
        return tuple(f"-D{name}={value}" for name, value in chosen if value is not None)


class CpuBackend:
    """The CPU backend; one call of compute() uses one processor core."""

    name = "cpu"

    def __init__(self, target: Target | None = None, budget: int | None = None) -> None:
        """`budget` fixes the units of work of each call into the kernel, for tests."""
        self._target = target or Target()
        self._budget = budget
        self._libraries: dict[Kernel, Library] = {}

    @functools.cached_property
    def _compiler(self) -> Compiler:
        """Looked up when the first kernel is compiled: an array method needs no compiler."""
        return self._target.compiler or find_compiler()

    @property
    def description(self) -> str:
        try:
            return f"{processor_name()}, {self._compiler.version}"
        except CompileError:  # array methods need none
            return processor_name()

    def prepare(self, sweep: Sweep, points: Points) -> None:
        if sweep.method.kind == "array":
            array_method(sweep.model, sweep.method)
            return
        self.library(kernel_of(sweep, points.variants))

    def compute(self, sweep: Sweep, points: Points, stop: Event | None = None) -> Computed:
        if sweep.method.kind == "array":
            return compute_arrays(np, sweep, points, stop)
        library = self.library(kernel_of(sweep, points.variants))
        types = array_types(sweep.outputs)
        arrays = {name: np.empty(points.n_points, dtype) for name, dtype in types.items()}
        seconds = library.run(points, sweep.outputs, arrays, stop, self._budget)
        return Computed(arrays, seconds)

    def library(self, kernel: Kernel) -> Library:
        """The kernel, compiled and loaded once, from its text at the first call.

        So one backend computes with one text. An edit of a header takes effect in the next backend.
        """
        if kernel not in self._libraries:
            self._libraries[kernel] = self._load(kernel)
        return self._libraries[kernel]

    def _load(self, kernel: Kernel) -> Library:
        flags = replace(self._target, pack=self._target.pack or kernel.method.pack).flags
        text = kernel_text(kernel)
        try:
            compiler = self._compiler
        except NoCompilerError as error:
            return _load_compiled(text, flags, kernel, str(error))
        return compile_and_load(text, compiler, flags, lambda path: Library(path, kernel))


def _load_compiled(text: str, flags: tuple[str, ...], kernel: Kernel, problem: str) -> Library:
    """The library that `sweep compile` has put into the cache, by whatever compiler."""
    path = compiled_library(text, flags)
    try:
        if path is not None:
            return Library(path, kernel)
    except ForeignLibraryError:
        pass
    raise NoCompilerError(
        f"{problem}; or run `sweep compile` on a machine with a compiler, the same processor and "
        "the same kernel cache"
    )


class Library:
    """A compiled kernel, loaded."""

    def __init__(self, path: Path, kernel: Kernel) -> None:
        loaded = load_library(path, ENTRIES)
        self.names = tuple(parameter.name for parameter in kernel.parameters)
        self.state_bytes = integer_of(loaded, "tribosweep_state_bytes")
        self.lanes = integer_of(loaded, "tribosweep_lanes")
        self.request_type = request_type(len(kernel.parameters), len(kernel.outputs))
        request_bytes = integer_of(loaded, "tribosweep_request_bytes")
        check_layout(request_bytes, self.request_type, "block_cpu.h and cpu.py")
        self._run = loaded.tribosweep_run
        self._run.restype = None

    def run(
        self,
        points: Points,
        outputs: tuple[Output, ...],
        arrays: Mapping[str, NDArray[Any]],
        stop: Event | None,
        budget: int | None,
    ) -> float:
        """Fill `arrays` and return the seconds spent inside the kernel."""
        state = np.empty(self.state_bytes // 8 + 8, np.float64)
        request = self.request_type()
        request.stop = points.n_points
        request.state = state.ctypes.data
        request.status = arrays["status"].ctypes.data
        kept = [np.ascontiguousarray(points.columns[name].values) for name in self.names]
        for i, (name, values) in enumerate(zip(self.names, kept, strict=True)):
            column = ColumnStruct(values.ctypes.data, points.columns[name].repeat, len(values))
            request.columns[i] = column
        for i, output in enumerate(outputs):
            request.outputs[i] = arrays[output.name].ctypes.data
        return self._call_in_slices(request, stop, budget)

    def _call_in_slices(self, request: Any, stop: Event | None, budget: int | None) -> float:
        work = budget or FIRST_BUDGET
        total = 0.0
        while request.next < request.stop:
            if stop is not None and stop.is_set():
                raise Stopped
            request.budget = work
            began = time.perf_counter()
            self._run(ctypes.byref(request))
            seconds = time.perf_counter() - began
            total += seconds
            if budget is None:
                work = next_budget(work, seconds)
        return total


def next_budget(work: int, seconds: float) -> int:
    """Units of work for the next call into a kernel, after a call with `work` took `seconds`."""
    if seconds < SLICE_SECONDS / 2:
        return min(work * 4, 1 << 60)
    return max(work // 2, 1) if seconds > SLICE_SECONDS * 2 else work


def request_type(n_columns: int, n_outputs: int) -> type[Any]:
    """The Request of block_cpu.h for a kernel with that many columns and outputs."""
    fields = [
        ("next", ctypes.c_int64),
        ("stop", ctypes.c_int64),
        ("budget", ctypes.c_int64),
        ("resuming", ctypes.c_int64),
        ("state", ctypes.c_void_p),
        ("status", ctypes.c_void_p),
    ]
    return request_struct(fields, n_columns, n_outputs)
