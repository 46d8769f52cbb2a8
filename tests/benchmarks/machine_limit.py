"""An estimate of the highest speed of a kernel on this processor, by counting its operations.

The kernel's own source runs with a `real` that counts its operations (counted.h), in blocks of as
many lanes as the machine's build and in the same order, so that lanes that wait for the slowest
count too. The rates of each kind of vector operation on one core are measured (rates.h). The
shortest time is the longest of three: all operations except divisions and roots, at the rate of
alternating fused multiply-adds and additions; products and fused multiply-adds at their own rate;
divisions and roots, which have their own unit. Compilers merge operations and add moves, which
changes the count by a few percent.
"""

from __future__ import annotations

import ctypes
import functools
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sweep.backends.compiler import compile_library, find_compiler
from sweep.backends.cpu import CpuBackend, Library, Target
from sweep.request import Sweep
from sweep.source import Kernel, flat_text, kernel_text
from sweep.work import Points
from tests.benchmarks.record import Figure

HERE = Path(__file__).parent
KINDS = ("sum", "product", "fused", "quotient", "root", "comparison", "choice", "logic")
DIVIDER = ("quotient", "root")  # kinds that have their own unit
MULTIPLIER = ("product", "fused")
RATES = ("fused", "mixed", "quotient", "root")
PACK = 4  # twice this many vectors hide the time from one operation to the next
ROUNDS = 2_000_000


@dataclass(frozen=True)
class Limit:
    """The vector operations of a batch of points on one core, and their shortest time."""

    operations: dict[str, int]  # kind -> vector operations
    rates: dict[str, float]  # vector operations a second of a kind alone
    vectors: int  # of points

    @property
    def seconds(self) -> float:
        plain = sum(n for kind, n in self.operations.items() if kind not in DIVIDER)
        multiplier = sum(self.operations[kind] for kind in MULTIPLIER) / self.rates["fused"]
        divider = sum(self.operations[kind] / self.rates[kind] for kind in DIVIDER)
        return max(plain / self.rates["mixed"], multiplier, divider)


def limit(sweep: Sweep, points: Points) -> Limit:
    """The limit of a sweep's kernel on these points, in the order and blocks of this machine."""
    rates, width = _rates()
    backend = _Counting(width)
    outputs = backend.compute(sweep, points).arrays
    for name, values in CpuBackend().compute(sweep, points).arrays.items():
        np.testing.assert_array_equal(outputs[name], values)  # it is the same computation
    return Limit(backend.operations, rates, -(-points.n_points // width))


def share_of_limit(name: str, sweep: Sweep, points: Points, seconds: float) -> Figure:
    """The share of its limit that a kernel reaches, by the time that it takes for these points."""
    return Figure(f"{name}: share of the limit", limit(sweep, points).seconds / seconds, "")


class _Counting(CpuBackend):
    """The CPU backend with a kernel that counts its operations."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self._width = width
        self._counts: ctypes.Array[ctypes.c_int64] | None = None

    @property
    def operations(self) -> dict[str, int]:
        """Vector operations of each kind."""
        return dict(zip(KINDS, map(int, self._counts or ()), strict=True))

    def library(self, kernel: Kernel) -> Library:
        if kernel not in self._libraries:
            flags = Target(width=self._width, pack=kernel.pack).flags
            path = compile_library(_counting(kernel_text(kernel)), find_compiler(), flags)
            library = ctypes.CDLL(str(path))
            library.tribosweep_counts.restype = ctypes.POINTER(ctypes.c_int64 * len(KINDS))
            self._counts = library.tribosweep_counts().contents
            ctypes.memset(self._counts, 0, ctypes.sizeof(self._counts))
            self._libraries[kernel] = Library(library, kernel)
        return self._libraries[kernel]


def _counting(text: str) -> str:
    """A kernel's text with counted.h in place of the backend's part of portable.h."""
    portable = flat_text("portable.h")
    counted = (HERE / "counted.h").read_text(encoding="utf-8")
    shared = portable.partition("#undef FOR\n")[2]
    return counted.replace("#pragma once", "") + shared + text.removeprefix(portable)


@functools.cache
def _rates() -> tuple[dict[str, float], int]:
    """Vector operations per second of each kind, and the doubles in a vector."""
    text = flat_text("portable.h") + (HERE / "rates.h").read_text(encoding="utf-8")
    library = ctypes.CDLL(str(compile_library(text, find_compiler(), (f"-DSWEEP_PACK={PACK}",))))
    width = library.tribosweep_width()
    return {kind: _rate(library[kind], PACK * width) for kind in RATES}, width


def _rate(function: ctypes._NamedFuncPointer, lanes: int) -> float:
    function.restype = ctypes.c_int64
    numbers = np.linspace(0.25, 0.75, 3 * lanes)
    best = 0.0
    for _ in range(5):
        began = time.thread_time()
        done = function(numbers.ctypes, ctypes.c_int64(ROUNDS))
        best = max(best, done / (time.thread_time() - began))
    return best
