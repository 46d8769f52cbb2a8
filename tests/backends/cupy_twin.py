"""A stand-in for the part of CuPy that the backend uses, on this machine's processor.

It compiles the GPU's text as tests/gpu/twin.py does, so that its results are real. Copies and
launches on a stream are done only when the stream is synchronized, as late as CUDA allows: the
memory that they use must live until then. Names and arguments are those of CuPy 14. Arrays and
their functions are those of device_arrays.py.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.backends.device_arrays import DeviceArray, Library
from tests.gpu.twin import compiled, launchable

MULTIPROCESSORS = 3
THREADS_OF_ONE = 64
MEMORY = 1 << 28
ATTRIBUTES = {13: 1_980_000, 16: MULTIPROCESSORS, 39: THREADS_OF_ONE}


class OutOfMemoryError(MemoryError):
    """The exception of CuPy's memory pool."""


class CUDARuntimeError(RuntimeError):
    """The exception of CuPy's calls of CUDA's runtime."""


class CUDADriverError(RuntimeError):
    """The exception of CuPy's calls of CUDA's driver."""


class Stream:
    """Work that is done when the stream is synchronized."""

    def __init__(self, *, non_blocking: bool = False, priority: int = 0) -> None:
        self.non_blocking, self.priority = non_blocking, priority
        self.pending: list[Callable[[], object]] = []
        self._lock = threading.Lock()
        self._outer: list[Stream | None] = []  # of the one thread that may enter it at a time

    def __enter__(self) -> Stream:
        self._outer.append(getattr(_CURRENT, "stream", None))
        _CURRENT.stream = self
        return self

    def __exit__(self, *_: object) -> None:
        _CURRENT.stream = self._outer.pop()

    def synchronize(self) -> None:
        self._work_off()

    def _work_off(self, until: Event | None = None) -> None:
        with self._lock:
            while self.pending and not (until and until.done):
                self.pending.pop(0)()

    def wait_event(self, event: Event) -> None:
        self.pending.append(event._await)


_CURRENT = threading.local()


class Event:
    """A moment in a stream."""

    def __init__(self, *, block: bool = False) -> None:
        self._block = block
        self._happened = threading.Event()
        self.seconds = 0.0

    def record(self, stream: Stream) -> None:
        self._stream = stream
        stream.pending.append(self._happen)

    def _happen(self) -> None:
        self.seconds = time.perf_counter()
        self._happened.set()

    @property
    def done(self) -> bool:
        return self._happened.is_set()

    def _await(self) -> None:
        if not self.done:
            self._stream._work_off(until=self)
        assert self.done

    def synchronize(self) -> None:
        self._stream.synchronize()


class MemoryPointer:
    """Memory of the device, filled with garbage.

    Pending work of a stream does not keep it from returning to the pool.
    """

    def __init__(self, n_bytes: int, gpu: Gpu) -> None:
        self._bytes = np.full(n_bytes, 0xA5, np.uint8)
        self._gpu, self._n_bytes = gpu, n_bytes
        self.ptr = self._bytes.ctypes.data
        gpu.used += n_bytes

    def __del__(self) -> None:
        self._gpu.used -= self._n_bytes

    def __add__(self, offset: int) -> MemoryPointer:
        part = MemoryPointer(0, self._gpu)
        part._bytes = self._bytes[offset:]
        part.ptr = part._bytes.ctypes.data
        return part

    def copy_from_host_async(self, mem: ctypes.c_void_p, size: int, stream: Stream) -> None:
        own = self._own(size)
        stream.pending.append(lambda: ctypes.memmove(own.ctypes.data, mem, size))

    def copy_to_host_async(self, mem: ctypes.c_void_p, size: int, stream: Stream) -> None:
        own = self._own(size)
        stream.pending.append(lambda: ctypes.memmove(mem, own.ctypes.data, size))

    def memset_async(self, value: int, size: int, stream: Stream) -> None:
        own = self._own(size)
        stream.pending.append(lambda: ctypes.memset(own.ctypes.data, value, size))

    def _own(self, size: int) -> NDArray[np.uint8]:
        assert size <= self._bytes.size
        return self._bytes


class Array:
    """An array in memory of the device, after the work of the current stream."""

    def __new__(cls, shape: tuple[int], dtype: Any, memptr: MemoryPointer) -> DeviceArray:
        if stream := getattr(_CURRENT, "stream", None):
            stream.synchronize()
        values = memptr._own(shape[0] * np.dtype(dtype).itemsize)
        return DeviceArray(values.view(dtype)[: shape[0]])


class Function:
    """An entry of a module."""

    def __init__(self, library: ctypes.CDLL, name: str, gpu: Gpu) -> None:
        self.kernel = SimpleNamespace(ptr=id(self))
        self._run = getattr(library, name.replace("tribosweep", "twin"))
        self._gpu = gpu
        self._is_loaded = False

    def __call__(self, grid: tuple[int], block: tuple[int], args: tuple[Any]) -> None:
        (argument,) = args
        address = argument if type(argument) is int else argument._values.ctypes.data
        assert 0 < block[0] <= 1024
        self._gpu.launches += 1
        if self._gpu.fails_from <= self._gpu.launches:
            self._gpu.is_lost = True
        self._gpu.check()
        if self._gpu.is_full:
            raise CUDARuntimeError("CUDA_ERROR_OUT_OF_MEMORY: out of memory")

        def run() -> None:
            began = time.perf_counter()
            time.sleep(0.0 if self._is_loaded else self._gpu.loading)
            self._is_loaded = True
            self._run(ctypes.c_void_p(address), ctypes.c_int64(grid[0]), ctypes.c_uint32(block[0]))
            self._gpu.spans.append((began, time.perf_counter()))

        stream = getattr(_CURRENT, "stream", None)
        stream.pending.append(run) if stream else run()


class RawModule:
    """A compiled text."""

    gpu: Gpu

    def __init__(self, *, code: str, options: tuple[str, ...]) -> None:
        assert any(option.startswith("-std=") for option in options)
        self._code = code
        self._options = options

    def get_function(self, name: str) -> Function:
        if not hasattr(_CURRENT, "has_context"):
            raise CUDADriverError("CUDA_ERROR_INVALID_CONTEXT: invalid device context")
        return Function(compiled(launchable(self._code), self._options), name, self.gpu)


class Gpu:
    """One GPU, whose launches fail for good from `fails_from` on; others beside it are broken."""

    def __init__(
        self,
        memory: int = MEMORY,
        fails_from: int = sys.maxsize,
        loading: float = 0.0,
        count: int = 1,  # with the broken ones
    ) -> None:
        self.count = count
        self.memory = memory  # bytes of the largest allocation
        self.limit = 0  # bytes of all allocations together; 0: no limit
        self.used = 0
        self.fails_from = fails_from  # number of a launch, from 1
        self.loading = loading  # s that the first launch of an entry takes longer
        self.launches = 0
        self.spans: list[tuple[float, float]] = []  # of launches
        self.is_lost = False
        self.is_full = False  # no memory for the stacks of a launch until the pool is freed
        self.pinned = 0
        self.can_pin = True
        self.capability = "90"
        self.sent = 0  # bytes of arrays copied to the host
        self.unsupported: set[int] = set()  # attributes
        self.plain: list[None] = []  # calls that replace a pool by allocations of CUDA

    def check(self) -> None:
        if self.is_lost:
            raise CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory access")

    def modules(self) -> Mapping[str, ModuleType]:
        """The modules that `import cupy` and `import cupyx` return."""
        parts: dict[str, Any] = {
            "__version__": "14.2.0",
            "RawModule": type("RawModule", (RawModule,), {"gpu": self}),
            "asnumpy": self._asnumpy,
            "__getattr__": Library().__getattr__,
            "get_default_memory_pool": lambda: SimpleNamespace(
                free_all_blocks=self._free_all_blocks,
                set_limit=self._set_limit,
                total_bytes=lambda: self.used,
            ),
            "ndarray": Array,  # which xarray looks for, too
            "cuda": self._cuda(),
        }
        beside = {"empty_pinned": self._pinned}
        return {"cupy": _module("cupy", parts), "cupyx": _module("cupyx", beside)}

    def _pinned(self, shape: int, dtype: Any) -> NDArray[Any]:
        if not self.can_pin:
            raise CUDARuntimeError("cudaErrorMemoryAllocation: out of memory")
        self.pinned += 1
        return np.full(shape * np.dtype(dtype).itemsize, 0x5A, np.uint8).view(dtype)

    def _asnumpy(self, a: Any) -> NDArray[Any]:
        values = a.get() if isinstance(a, DeviceArray) else np.array(a)
        self.sent += values.nbytes
        return values

    def _free_all_blocks(self) -> None:
        self.is_full = False

    def _attribute(self, attrib: int, _device: int) -> int:
        if attrib in self.unsupported:
            raise CUDARuntimeError("cudaErrorNotSupported: operation not supported")
        return ATTRIBUTES[attrib]

    def _set_limit(self, size: int) -> None:
        self.limit = size

    def _alloc(self, size: int) -> MemoryPointer:
        self.check()
        if size > self.memory or 0 < self.limit < self.used + size:
            raise OutOfMemoryError(f"Out of memory allocating {size:,} bytes")
        return MemoryPointer(size, self)

    def _cuda(self) -> SimpleNamespace:
        runtime = SimpleNamespace(
            CUDARuntimeError=CUDARuntimeError,
            cudaDevAttrClockRate=13,
            cudaDevAttrMultiProcessorCount=16,
            cudaDevAttrMaxThreadsPerMultiProcessor=39,
            deviceGetAttribute=self._attribute,
            getDeviceCount=lambda: self.count,
            getDeviceProperties=lambda _number: {"name": b"twin of a GPU"},
            driverGetVersion=lambda: 13000,
            runtimeGetVersion=lambda: 13010,
        )
        driver = SimpleNamespace(
            occupancyMaxPotentialBlockSize=lambda _pointer, _shared, _limit: (2, min(_limit, 192))
        )
        return SimpleNamespace(
            Device=lambda device: Device(self, device),
            Event=Event,
            Stream=Stream,
            alloc=self._alloc,
            driver=driver,
            get_elapsed_time=lambda start_event, end_event: (
                1e3 * (end_event.seconds - start_event.seconds)
            ),
            memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            runtime=runtime,
            set_allocator=lambda allocator: self.plain.append(allocator),
            set_pinned_memory_allocator=lambda allocator: self.plain.append(allocator),
        )


class Device:
    """A device as CuPy describes it, and a context in which it is the current one."""

    def __init__(self, gpu: Gpu, number: int) -> None:
        if number:
            raise CUDARuntimeError("cudaErrorECCUncorrectable: uncorrectable ECC error encountered")
        self.id = number
        self._gpu = gpu

    @property
    def compute_capability(self) -> str:
        return self._gpu.capability

    @property
    def mem_info(self) -> tuple[int, int]:
        return self._gpu.memory, self._gpu.memory

    def use(self) -> Device:
        _CURRENT.has_context = True
        return self

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def install(monkeypatch: pytest.MonkeyPatch, gpu: Gpu) -> Gpu:
    """Make `import cupy` return the stand-in, on a machine with that GPU."""
    for name, module in gpu.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    return gpu


def _module(name: str, parts: Mapping[str, Any]) -> ModuleType:
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    vars(module).update(parts)
    return module
