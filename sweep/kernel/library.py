"""Compiled kernels, loaded into this process, and the C structs they are called with."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

from sweep.errors import CompileError, MachineError
from sweep.kernel.backend import Stopped

SLICE_SECONDS = 0.1  # how long a call into a kernel should last, so that a stop takes effect soon
FIRST_BUDGET = 1000  # units of work in the first call, before their cost is known
TYPES = {"int64": ctypes.c_int64, "address": ctypes.c_void_p}


def fields_of(*rows: str) -> list[tuple[str, Any]]:
    """The fields of a struct, from rows of a type ("int64" or "address") and names."""
    split = (row.split() for row in rows)
    return [(name, TYPES[kind]) for kind, *names in split for name in names]


class ColumnStruct(ctypes.Structure):
    """The Column of block_cpu.h and block_gpu.h."""

    _fields_ = fields_of("address values", "int64 repeat count")


def request_struct(n_columns: int, n_outputs: int, *rows: str) -> type[Any]:
    """A Request struct: the rows of fields_of(), then the columns and the outputs' addresses."""
    arrays = [("columns", ColumnStruct * n_columns), ("outputs", ctypes.c_void_p * n_outputs)]
    return type("Request", (ctypes.Structure,), {"_fields_": [*fields_of(*rows), *arrays]})


def check_layout(kernel_bytes: int, struct: type[ctypes.Structure], files: str) -> None:
    """CompileError unless a struct has the same size in the kernel and in Python.

    `files` names the two files that define it.
    """
    if kernel_bytes != ctypes.sizeof(struct):
        raise CompileError(
            f"the {struct.__name__} of the kernel has {kernel_bytes} bytes, that of this program "
            f"{ctypes.sizeof(struct)}: {files} differ in layout. Reinstall tribosweep"
        )


def load_library(path: Path) -> ctypes.CDLL:
    """A shared library of the cache; MachineError if this process may not load it."""
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise MachineError(
            f"the compiled kernel {str(path)!r} cannot be loaded ({error}): set "
            "TRIBOSWEEP_CACHE_DIR to a folder from which programs may be run"
        ) from error


def integer_of(library: ctypes.CDLL, entry: str) -> int:
    """The 64-bit integer that an entry without arguments returns."""
    function = getattr(library, entry)
    function.restype = ctypes.c_int64
    return int(function())


def run_in_slices(
    entry: Any,
    request: Any,
    unfinished: Callable[[], bool],
    budget: int | None,
    stop: Event | None = None,
) -> float:
    """Call a kernel's entry while work is unfinished; the seconds spent in calls.

    `budget` fixes the units of work of each call; by default a call lasts about SLICE_SECONDS.
    Stopped between two calls once `stop` is set.
    """
    work, total = budget or FIRST_BUDGET, 0.0
    while unfinished():
        if stop is not None and stop.is_set():
            raise Stopped
        request.budget = work
        began = time.perf_counter()
        entry(ctypes.byref(request))
        seconds = time.perf_counter() - began
        total += seconds
        if budget is None and seconds < SLICE_SECONDS / 2:
            work = min(work * 4, 1 << 60)
        elif budget is None and seconds > SLICE_SECONDS * 2:
            work = max(work // 2, 1)
    return total
