"""Kernels on this machine's processor: compiled at run time, loaded by ctypes, SIMD over points."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Event
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sweep.errors import CompileError
from sweep.kernel.backend import Computed, Then
from sweep.kernel.compiler import (
    Compiler,
    NoCompilerError,
    compile_library,
    compiled_library,
    find_compiler,
    processor_name,
)
from sweep.kernel.forcing import Forcing, Tables, by_draw, forcings_of, some_of, values_at
from sweep.kernel.library import (
    ColumnStruct,
    check_layout,
    integer_of,
    load_library,
    request_struct,
    run_in_slices,
)
from sweep.kernel.sorting import parts
from sweep.kernel.source import Kernel, KernelTexts, kernel_of
from sweep.model.table import array_types, planes
from sweep.request.chunk import Column, Points
from sweep.request.sweeps import Sweep


@dataclass(frozen=True)
class CpuTarget:
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

    def __init__(self, target: CpuTarget | None = None, budget: int | None = None) -> None:
        """`budget` fixes the units of work of each call into the kernel, for tests."""
        self._target = target or CpuTarget()
        self._budget = budget
        self._libraries: dict[Kernel, Library] = {}
        self._texts = KernelTexts()

    @functools.cached_property
    def _compiler(self) -> Compiler:
        """Looked up when the first kernel is loaded."""
        return self._target.compiler or find_compiler()

    @property
    def description(self) -> str:
        try:
            return f"{processor_name()}, {self._compiler.version}"
        except CompileError:  # cached kernels need none
            return processor_name()

    def prepare(self, sweep: Sweep, variants: tuple[str, ...] = ()) -> None:
        self.library(kernel_of(sweep, variants))

    def compute(
        self, sweep: Sweep, points: Points, stop: Event | None = None, then: Then | None = None
    ) -> Computed:
        library = self.library(kernel_of(sweep, points.variants))
        types = array_types(sweep.outputs)
        arrays = {name: np.empty(points.n_points, each) for name, each in types.items()}
        if forcings := forcings_of(sweep.model):
            seconds = library.run_by_draw(forcings, points, arrays, stop, self._budget)
            return Computed(arrays, seconds).followed(then)
        seconds = 0.0
        for place, part, order in parts(sweep.method, points):
            part_arrays = {name: values[place] for name, values in arrays.items()}
            seconds += library.run(part, part_arrays, stop, self._budget)
            if order is not None:
                for values in part_arrays.values():
                    values[order] = values.copy()
        return Computed(arrays, seconds).followed(then)

    def library(self, kernel: Kernel) -> Library:
        """The kernel, compiled and loaded once, from its text at the first call.

        One backend computes with one code: an edit of a header takes effect in the next backend.
        """
        if kernel not in self._libraries:
            pack = self._target.pack or self._usual_pack(kernel)
            flags = replace(self._target, pack=pack).flags
            self._libraries[kernel] = self._load(kernel, self._texts.text(kernel), flags)
        return self._libraries[kernel]

    def _usual_pack(self, kernel: Kernel) -> int | None:
        """One vector in flight is compiled several times sooner than the fastest number."""
        with suppress(CompileError):  # which is reported where it is compiled
            if {"-O0", "-O1"} & {*self._compiler.command}:  # kernels soon rather than fast
                return 1
        return kernel.pack

    def _load(self, kernel: Kernel, text: str, flags: tuple[str, ...]) -> Library:
        """The kernel compiled here or, without a compiler, one in the cache."""
        try:
            compiler = self._compiler
        except NoCompilerError as error:
            for cached_flags in (flags, replace(self._target, pack=1).flags):
                path = compiled_library(text, cached_flags)
                if path is not None:
                    return Library(load_library(path), kernel)
            raise NoCompilerError(
                f"{error}; or run `sweep compile` on a machine with a compiler, the same processor "
                "and the same kernel cache"
            ) from None
        return Library(load_library(compile_library(text, compiler, flags)), kernel)


class Library:
    """A compiled kernel, loaded."""

    def __init__(self, loaded: ctypes.CDLL, kernel: Kernel) -> None:
        self._loaded = loaded
        self.names = tuple(parameter.name for parameter in kernel.parameters)
        self.state_bytes = integer_of(loaded, "tribosweep_state_bytes")
        self.lanes = integer_of(loaded, "tribosweep_lanes")
        self.outputs = tuple(output.name for output in planes(kernel.outputs))
        self.request_type = request_type(len(self.names), len(self.outputs))
        request_bytes = integer_of(loaded, "tribosweep_request_bytes")
        check_layout(request_bytes, self.request_type, "block_cpu.h and cpu.py")
        self._run = loaded.tribosweep_run
        self._run.restype = None

    def run_by_draw(
        self,
        forcings: Sequence[Forcing],
        points: Points,
        arrays: Mapping[str, NDArray[Any]],
        stop: Event | None,
        budget: int | None,
    ) -> float:
        """As `run`, part by part, each with the tables of its draws."""
        seconds, tables = 0.0, Tables(self._loaded)
        for part in by_draw(forcings, points):
            columns = {
                each.column: Column(tables.addresses(each, values_at(points, each, part)))
                for each in forcings
            }
            of_part = {name: np.empty(part.size, each.dtype) for name, each in arrays.items()}
            seconds += self.run(some_of(points, part, columns), of_part, stop, budget)
            for name, values in of_part.items():
                arrays[name][part] = values
        return seconds

    def run(
        self,
        points: Points,
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
        columns = [np.ascontiguousarray(points.columns[name].values) for name in self.names]
        for i, (name, values) in enumerate(zip(self.names, columns, strict=True)):
            column = ColumnStruct(values.ctypes.data, points.columns[name].repeat, len(values))
            request.columns[i] = column
        for i, name in enumerate(self.outputs):
            request.outputs[i] = arrays[name].ctypes.data
        return run_in_slices(self._run, request, lambda: request.next < request.stop, budget, stop)


def request_type(n_columns: int, n_outputs: int) -> type[Any]:
    """The Request of block_cpu.h for a kernel with that many columns and outputs."""
    rows = ("int64 next stop budget resuming", "address state status")
    return request_struct(n_columns, n_outputs, *rows)
