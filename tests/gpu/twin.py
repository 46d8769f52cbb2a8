"""The GPU's text compiled for this machine's processor, and a device that runs it.

Entries, structs and arithmetic are those of a GPU, from the CUDA branch of portable.h. Threads run
one after another, the last one first. Memory is filled with garbage, and can be made to run out.
"""

from __future__ import annotations

import ctypes
import functools
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.kernel.compiler import compile_library, find_compiler
from sweep.kernel.device import Memory, Sizes
from sweep.kernel.gpu import check_sizes, options_for
from sweep.kernel.library import load_library
from sweep.kernel.source import Kernel, kernel_text
from tests.kernel.device_arrays import DeviceArray, Library

# The built-in functions of NVRTC that kernels may use. A GPU would choose other functions of CUDA
# on doubles over those of elementary.h, so calls of them must not compile.
LIBRARY = {
    "double": """acos acosh asin asinh atan atanh cbrt cos cosh cospi erf erfc exp exp10 exp2 expm1
        fabs j0 j1 lgamma log log10 log1p log2 logb nearbyint rcbrt rint round rsqrt sin sinh sinpi
        tan tanh tgamma trunc y0 y1""",
    "double, double": "atan2 copysign fdim fmax fmin fmod hypot max min nextafter pow remainder",
}
DELETED = "\n".join(
    f"double {name}({arguments}) = delete;"
    for arguments, names in LIBRARY.items()
    for name in names.split()
)

PRELUDE = f"""
#define __CUDACC_RTC__
#define __device__
#define __noinline__ __attribute__((noinline))
#define __constant__
#define __global__
#define __forceinline__ inline __attribute__((always_inline))
struct Index {{ unsigned int x; }};
static thread_local Index blockIdx, blockDim, threadIdx;
static inline double __fma_rn(double a, double b, double c) {{ return __builtin_fma(a, b, c); }}
static inline double __dsqrt_rn(double a) {{ return __builtin_sqrt(a); }}
static inline long long __double_as_longlong(double a) {{
    return __builtin_bit_cast(long long, a);
}}
static inline double __longlong_as_double(long long a) {{ return __builtin_bit_cast(double, a); }}
static inline double fma(double a, double b, double c) {{ return __builtin_fma(a, b, c); }}
static inline double sqrt(double a) {{ return __builtin_sqrt(a); }}
static inline double abs(double a) {{ return __builtin_fabs(a); }}
static inline unsigned long long atomicAdd(unsigned long long* a, unsigned long long b) {{
    return (*a += b) - b;
}}
static inline long long atomicMin(long long* a, long long b) {{ return *a = b < *a ? b : *a; }}
static inline long long atomicMax(long long* a, long long b) {{ return *a = b > *a ? b : *a; }}
static inline double floor(double a) {{ return __builtin_floor(a); }}
{DELETED}
void sincos(double, double*, double*) = delete;
"""

LAUNCHER = """
extern "C" void twin_{entry}({argument}* argument, long long blocks, unsigned int threads) {{
    blockDim.x = threads;
    for (long long block = blocks; block-- > 0;)
        for (unsigned int thread = threads; thread-- > 0;) {{
            blockIdx.x = (unsigned int)block;
            threadIdx.x = thread;
            tribosweep_{entry}(argument);
        }}
}}
"""


ENTRY = re.compile(r'extern "C" __global__ void tribosweep_(\w+)\(([^*]+)\*')


def twin_text(kernel: Kernel) -> str:
    """The complete text of a kernel for the processor."""
    return launchable(kernel_text(kernel, "gpu"))


def launchable(text: str) -> str:
    """A GPU's text for the processor, and for each of its entries a loop over all threads."""
    launchers = [LAUNCHER.format(entry=name, argument=what) for name, what in ENTRY.findall(text)]
    return "\n".join([PRELUDE, text, *launchers])


def compiled(text: str, options: Iterable[str]) -> ctypes.CDLL:
    """The library of a text for the processor, with those of NVRTC's options that define names."""
    flags = [option for option in options if option.startswith("-D")]
    flags.append("-O1")  # compiles fast; no optimization of FLAGS changes a bit
    return load_library(compile_library(text, find_compiler(), flags))


class TwinMemory:
    """A piece of the stand-in's memory, freed with this object."""

    def __init__(self, device: TwinDevice, n_bytes: int) -> None:
        self.bytes = np.full(n_bytes, 0xA5, np.uint8)
        self._device = device
        device.used += n_bytes
        device.most_used = max(device.most_used, device.used)

    def __del__(self) -> None:
        self._device.used -= self.bytes.size

    @property
    def address(self) -> int:
        return self.bytes.ctypes.data


class TwinEntries:
    """Entries of a text, compiled and loaded."""

    def __init__(self, text: str, options: Iterable[str]) -> None:
        self.library = compiled(text, options)

    def start(self, entry: str, address: int, threads: int) -> None:
        run = getattr(self.library, entry.replace("tribosweep", "twin"))
        block = 96 if threads > 96 else 32
        blocks = -(-threads // block)
        run(ctypes.c_void_p(address), ctypes.c_int64(blocks), ctypes.c_uint32(block))


class TwinProgram(TwinEntries):
    """A kernel, compiled and loaded."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(twin_text(kernel), options_for(kernel))
        self.kernel = kernel
        sizes = np.zeros(4, np.int64)
        self.start("tribosweep_sizes", sizes.ctypes.data, 1)
        self.sizes = Sizes(*sizes.tolist())
        check_sizes(self.sizes, kernel)


class TwinDevice:
    """A stand-in for a GPU; its memory may be limited to `bound` bytes."""

    description = "twin"
    threads = 64

    def __init__(self, memory: int = 1 << 24, bound: int | None = None) -> None:
        self.memory = memory  # bytes that it reports as available to a queue
        self.bound = bound  # bytes that exist
        self.used = self.most_used = 0
        self.launches: list[tuple[str, int]] = []
        self.refused = 0
        self.open = 0
        self.sent = 0  # bytes that have left it
        self.library = Library()

    def to_host(self, array: Any) -> NDArray[Any]:
        if not isinstance(array, DeviceArray):
            return array
        values = array.get()
        self.sent += values.nbytes
        return values

    def address(self, array: DeviceArray) -> int:
        return array._values.ctypes.data

    def load(self, kernel: Kernel) -> TwinProgram:
        return _program(kernel)

    def entry(self, text: str, name: str) -> TwinEntries:
        assert f"tribosweep_{name}(" in text
        return _entry(text)

    @contextmanager
    def queue(self) -> Iterator[TwinDevice]:
        self.open += 1
        try:
            yield self
        finally:
            self.open -= 1

    def answers(self) -> bool:
        return True

    def host_array(self, length: int, dtype: Any) -> NDArray[Any]:
        return np.full(length * np.dtype(dtype).itemsize, 0x5A, np.uint8).view(dtype)

    def empty(self, n_bytes: int) -> TwinMemory:
        if self.bound is not None and self.used + n_bytes > self.bound:
            self.refused += 1
            raise MemoryError(f"{n_bytes:,} bytes were asked for")
        return TwinMemory(self, n_bytes)

    def upload(self, *parts: NDArray[Any]) -> TwinMemory:
        values = np.concatenate(parts)
        memory = self.empty(values.nbytes)
        memory.bytes[:] = values.view(np.uint8)
        return memory

    def clear(self, memory: Memory) -> None:
        assert isinstance(memory, TwinMemory)
        memory.bytes[:] = 0

    def launch(self, program: Any, entry: str, argument: Memory, threads: int) -> float:
        self.launches.append((entry, threads))
        began = time.perf_counter()
        program.start(entry, argument.address, threads)
        return time.perf_counter() - began

    def start(self, program: Any, entry: str, argument: Memory, threads: int) -> None:
        self.launch(program, entry, argument, threads)

    def download(self, memory: Memory, into: NDArray[Any]) -> None:
        assert isinstance(memory, TwinMemory)
        into.view(np.uint8)[:] = memory.bytes[: into.nbytes]
        self.sent += into.nbytes

    def wait(self) -> None:
        pass

    def array(self, memory: Memory, length: int, dtype: Any, offset: int = 0) -> DeviceArray:
        assert isinstance(memory, TwinMemory)
        n_bytes = length * np.dtype(dtype).itemsize
        return DeviceArray(memory.bytes[offset : offset + n_bytes].view(dtype))


@functools.cache
def _program(kernel: Kernel) -> TwinProgram:
    return TwinProgram(kernel)


@functools.cache
def _entry(text: str) -> TwinEntries:
    return TwinEntries(launchable(text), ())
