"""An estimate of the highest speed of a kernel on this processor, by counting its operations.

The kernel's own source runs with a `real` that counts its operations (counted.h), in blocks of as
many lanes as the machine's build, so that lanes that wait for the slowest count too. The rates of
each kind of vector operation on one core are measured (rates.h). The shortest time is the longest
of three: all operations except divisions and roots, at the rate of alternating fused multiply-adds
and additions; products and fused multiply-adds at their own rate; divisions and roots, which have
their own unit. Compilers merge operations and add moves, which changes the count by a few percent.
"""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sweep.backends.compiler import compile_library, find_compiler
from sweep.backends.cpu import CpuBackend, Library, Target
from sweep.request import Sweep
from sweep.source import flat_text, kernel_of, kernel_text
from sweep.work import Points

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
    """The limit of a sweep's kernel on these points, in the blocks of this machine's build."""
    rates, width = _rates()
    kernel = kernel_of(sweep, points.variants)
    target = Target(width=width, pack=kernel.method.pack)
    path = compile_library(_counting(kernel_text(kernel)), find_compiler(), target.flags)
    library = ctypes.CDLL(str(path))
    library.tribosweep_counts.restype = ctypes.POINTER(ctypes.c_int64 * len(KINDS))
    counts = library.tribosweep_counts().contents
    ctypes.memset(counts, 0, ctypes.sizeof(counts))
    arrays = dict(CpuBackend().compute(sweep, points).arrays)
    expected = {name: values.copy() for name, values in arrays.items()}
    Library(path, kernel).run(points, sweep.outputs, arrays, None, None)
    for name, values in expected.items():
        np.testing.assert_array_equal(arrays[name], values)  # it is the same computation
    operations = dict(zip(KINDS, map(int, counts), strict=True))
    return Limit(operations, rates, -(-points.n_points // width))


def _counting(text: str) -> str:
    """A kernel's text with counted.h in place of the backend's part of portable.h."""
    portable = flat_text("portable.h")
    counted = (HERE / "counted.h").read_text(encoding="utf-8")
    shared = portable.partition("#undef FOR\n")[2]
    return counted.replace("#pragma once", "") + shared + text.removeprefix(portable)


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
