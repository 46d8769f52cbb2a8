"""A GPU through CuPy. No other module imports CuPy, and this one only when a GPU is requested.

Everything else works without CuPy and without a driver.
"""

from __future__ import annotations

import ctypes
import importlib
import queue
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import CompileError, DeviceError, SweepError
from sweep.kernel.device import Sizes
from sweep.kernel.gpu import OPTIONS, check_sizes, options_for
from sweep.kernel.gpu_discovery import (
    driver_version,
    has_cupy,
    install_cupy,
    kernel_cache_error,
    no_cupy,
)
from sweep.kernel.sorting import WARP
from sweep.kernel.source import Kernel, KernelTexts, flat_text, realisations

QUEUES = 2  # while one computes, the other copies
FIRST = -1  # the priority of their streams; 0: that of the others
MAX_BATCH_BYTES = 1 << 33  # of a queue: no batch needs more
BLOCK = 64  # threads; smaller blocks fill a multiprocessor of a data-centre GPU no better
SIZES = "tribosweep_sizes"  # the entry that reports the sizes of a kernel
COPIERS = 4  # threads that copy values into pinned memory: one alone is slower than the bus
PIECE = 1 << 18  # values that one of them copies at once
UNPINNED = ", without pinned memory"  # as its copies are slower, receipts say so

# Fused multiply-adds of doubles per clock and multiprocessor, by compute capability (CUDA C++
# Programming Guide, throughput of native arithmetic instructions).
DOUBLES_PER_CLOCK = {
    (6, 0): 32, (6, 1): 4, (6, 2): 4, (7, 0): 32, (7, 2): 32, (7, 5): 2, (8, 0): 32, (8, 6): 2,
    (8, 7): 2, (8, 9): 2, (9, 0): 64, (10, 0): 64, (12, 0): 2,
}  # fmt: skip

TRIAL = """
extern "C" __global__ void tribosweep_trial(double* values) {
    values[threadIdx.x] = lane(sqrt(real(values[threadIdx.x])), 0);
}
"""


def find_gpu(number: int = 0) -> CupyDevice:
    """A GPU that has run a trial kernel, since a GPU that is found may still be unusable.

    DeviceError says what is missing and how to get it.
    """
    cupy, device = _cupy(), None
    try:
        device = CupyDevice(cupy, number)
        device.try_kernel()
    except SweepError:
        raise
    except Exception as error:  # of CuPy: the GPU is busy or broken, NVRTC is missing or too new
        which = str(device.facts) if device else f"GPU {number}"
        cure = f"End other programs that use it, or install the CuPy that fits it: {install_cupy()}"
        raise DeviceError(f"{which} cannot be used: {_explained(error, cure)}") from error
    return device


def count_gpus() -> int:
    """The number of GPUs that CuPy finds; DeviceError as for find_gpu()."""
    return int(_cupy().cuda.runtime.getDeviceCount())


def _cupy() -> Any:
    """CuPy, if it finds a device."""
    if not has_cupy():
        raise DeviceError(no_cupy())
    try:
        cupy: Any = importlib.import_module("cupy")
    except Exception as error:  # a broken installation may raise anything
        raise DeviceError(f"CuPy does not import: {_explained(error, install_cupy())}") from error
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # of a type that only CuPy defines
        raise DeviceError(
            f"no GPU answers: {_named(error)}. Install or update the NVIDIA driver, or the CuPy "
            f"that fits it: {install_cupy()}"
        ) from error
    if not count:
        raise DeviceError("no GPU answers: CuPy finds no device. Check CUDA_VISIBLE_DEVICES")
    return cupy


@dataclass(frozen=True)
class Facts:
    """The properties of a GPU."""

    name: str
    capability: tuple[int, int]
    multiprocessors: int
    clock: float  # Hz, 0 if unknown
    memory: int  # bytes
    threads: int  # at once
    driver: str  # its version, or "unknown"
    cuda: str  # the newest version that the driver supports
    runtime: str  # the version of CUDA that CuPy uses
    cupy: str

    @property
    def double_rate(self) -> float:
        """Instructions on doubles per second at the clock; 0 if unknown."""
        return DOUBLES_PER_CLOCK.get(self.capability, 0) * self.multiprocessors * self.clock

    def __str__(self) -> str:
        rate = f"{self.double_rate:.2g} FP64 instructions/s" if self.double_rate else "FP64 unknown"
        return (
            f"{self.name}, compute capability {self.capability[0]}.{self.capability[1]}, "
            f"{self.memory / 2**30:.0f} GiB, {rate}, driver {self.driver} for CUDA {self.cuda}, "
            f"CuPy {self.cupy} with CUDA {self.runtime}"
        )


class CupyDevice:
    """A GPU behind CuPy."""

    def __init__(self, cupy: Any, number: int = 0) -> None:
        self.library = cupy
        # First: without a GPU this is what says why, in CuPy's words.
        self._device = cupy.cuda.Device(number)
        self.to_host = cupy.asnumpy
        self._programs: dict[Kernel, CupyProgram] = {}
        self._others: dict[str, CupyEntries] = {}  # by text
        self._texts = KernelTexts()
        self._compiling = threading.Lock()
        self._queues: queue.SimpleQueue[CupyQueue] = queue.SimpleQueue()
        self._copiers = ThreadPoolExecutor(COPIERS)
        self.facts = self._facts()
        self.threads = self.facts.threads
        self.description = f"{self.facts.name}, CUDA {self.facts.cuda}, CuPy {self.facts.cupy}"
        with self._here():
            turns = Turns(cupy.cuda.Stream(non_blocking=True))
            for _ in range(QUEUES):
                stream = cupy.cuda.Stream(non_blocking=True, priority=FIRST)
                self._queues.put(CupyQueue(cupy, stream, turns, self._joined))

    @contextmanager
    def _here(self) -> Generator[None]:
        """A context in which the device is the current one of this thread.

        CuPy itself makes current only a device of another number. The thread may have no CUDA
        context yet, and then a module that another thread has loaded finds no function.
        """
        with self.library.cuda.Device(self._device.id) as device:
            device.use()
            yield

    def _facts(self) -> Facts:
        runtime = self.library.cuda.runtime
        capability = self._device.compute_capability
        multiprocessors = self._attribute("MultiProcessorCount")
        return Facts(
            name=runtime.getDeviceProperties(self._device.id)["name"].decode(),
            capability=(int(capability[:-1]), int(capability[-1])),  # "90", "120"
            multiprocessors=multiprocessors,
            clock=1e3 * self._attribute("ClockRate", 0),
            memory=self._device.mem_info[1],
            threads=multiprocessors * self._attribute("MaxThreadsPerMultiProcessor"),
            driver=driver_version() or "unknown",
            cuda=_version(runtime.driverGetVersion()),
            runtime=_version(runtime.runtimeGetVersion()),
            cupy=self.library.__version__,
        )

    def _attribute(self, name: str, default: int | None = None) -> int:
        """An attribute of the device; `default`, if any, where CUDA does not provide it.

        Queried one by one: CuPy's own query of all attributes fails if any one of them does.
        """
        runtime = self.library.cuda.runtime
        try:
            number = getattr(runtime, f"cudaDevAttr{name}")
            return int(runtime.deviceGetAttribute(number, self._device.id))
        except Exception:  # of CuPy, or the name no longer exists
            if default is None:
                raise
            return default

    @property
    def memory(self) -> int:
        free = self._device.mem_info[0]
        return min(int(free) // (2 * QUEUES), MAX_BATCH_BYTES)

    def address(self, array: Any) -> int:
        return int(array.data.ptr)

    def load(self, kernel: Kernel) -> CupyProgram:
        if kernel in self._programs:
            return self._programs[kernel]
        with self._compiling, self._here():
            if kernel not in self._programs:
                text = self._texts.text(kernel, "gpu")
                self._programs[kernel] = CupyProgram(
                    self.library, kernel, text, self.facts.multiprocessors
                )
            return self._programs[kernel]

    def entry(self, text: str, name: str) -> CupyEntries:
        if text in self._others:
            return self._others[text]
        with self._compiling, self._here():
            if text not in self._others:
                n = self.facts.multiprocessors
                self._others[text] = CupyEntries(self.library, text, OPTIONS, [name], n)
            return self._others[text]

    @contextmanager
    def queue(self) -> Generator[CupyQueue]:
        chosen = self._queues.get()
        try:
            with self._here(), chosen.stream:
                yield chosen
        finally:
            self._queues.put(chosen)

    def host_array(self, length: int, dtype: Any) -> NDArray[Any]:
        empty_pinned: Any = importlib.import_module("cupyx").empty_pinned
        n_bytes = length * np.dtype(dtype).itemsize
        try:  # CuPy's pool hands out again what has the same size only
            block: NDArray[Any] = empty_pinned(1 << max(n_bytes - 1, 1).bit_length(), np.uint8)
            return block[:n_bytes].view(dtype)
        except Exception:  # of CUDA: the system allows no more pinned memory
            self.description = self.description.removesuffix(UNPINNED) + UNPINNED
            return np.empty(length, dtype)

    def _joined(self, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """The parts one after another, in pinned memory if possible."""
        whole = self.host_array(sum(part.size for part in parts), parts[0].dtype)
        if whole.size <= PIECE:
            return np.concatenate(parts, out=whole)
        copies: list[Future[None]] = []
        end = 0
        for part in parts:
            place, end = whole[end : end + part.size], end + part.size
            for first in range(0, part.size, PIECE):
                piece = slice(first, first + PIECE)
                copies.append(self._copiers.submit(np.copyto, place[piece], part[piece]))
        for each in copies:
            each.result()
        return whole

    def answers(self) -> bool:
        try:
            self.try_kernel()
        except Exception:  # after a fault of a kernel every call fails
            return False
        return True

    def try_kernel(self) -> None:
        """Compile and run a minimal kernel; any exception of CuPy if that fails."""
        text = f"{flat_text('portable.h')}\n{TRIAL}"
        with self._here():
            values = self.library.asarray(np.array([4.0, 9.0]))
            module = self.library.RawModule(code=text, options=OPTIONS)
            module.get_function("tribosweep_trial")((1,), (2,), (values,))
            roots = self.library.asnumpy(values).tolist()
        if roots != [2.0, 3.0]:
            raise ArithmeticError(f"a trial kernel returns {roots}, not [2.0, 3.0]")


class CupyEntries:
    """Entries of a text, compiled by NVRTC and loaded."""

    def __init__(
        self, cupy: Any, text: str, options: Sequence[str], names: Sequence[str], n: int
    ) -> None:
        """`n` is the number of multiprocessors. CompileError if the text does not compile."""
        self._cupy = cupy
        self._multiprocessors = n
        module = cupy.RawModule(code=text, options=(*options,))
        names = [f"tribosweep_{name}" for name in names]
        try:
            self._entries = {name: module.get_function(name) for name in names}
        except Exception as error:  # of CuPy: it does not compile, or NVRTC is missing
            raise CompileError(
                f"the kernel does not compile for the GPU: {_named(error)}"
            ) from error

    def start(self, entry: str, address: int, threads: int) -> None:
        """Start an entry on the current stream, its threads spread over all multiprocessors."""
        block = BLOCK if threads >= BLOCK * self._multiprocessors else WARP
        self._entries[entry]((-(-threads // block),), (block,), (address,))


class CupyProgram(CupyEntries):
    """A kernel."""

    def __init__(self, cupy: Any, kernel: Kernel, text: str, multiprocessors: int) -> None:
        self.kernel = kernel
        names = ["sizes", "run", *(["sum", "finish"] if kernel.method.items else [])]
        names += ["forcing"] if realisations(kernel.model) else []
        super().__init__(cupy, text, options_for(kernel), names, multiprocessors)
        sizes = cupy.zeros(4, np.int64)
        self._entries[SIZES]((1,), (1,), (sizes,))
        self.sizes = Sizes(*cupy.asnumpy(sizes).tolist())
        check_sizes(self.sizes, kernel)
        self._warm_up()

    def _warm_up(self) -> None:
        """Launch every entry once on no points.

        At the first launch CUDA loads an entry and allocates its stacks. If that time were counted,
        a unit of work would be considered expensive from then on.
        """
        request = self._cupy.zeros(self.sizes.request_bytes, np.uint8)
        for name, function in self._entries.items():
            if name != SIZES:
                function((1,), (BLOCK,), (request,))
        self._cupy.asnumpy(request)  # waits for the launches


@dataclass
class CupyMemory:
    """A piece of CuPy's memory pool, and the array that is being copied into it."""

    pointer: Any
    n_bytes: int
    source: NDArray[Any] | None = None

    @property
    def address(self) -> int:
        return int(self.pointer.ptr)


@dataclass
class Turns:
    """The stream in which the launches of all queues run one after another.

    So no launch waits for another while it is measured. Budgets are learnt from its time, to which
    what runs beside it adds a little: copies, and the many short operations that draw, sort and
    reduce points. Their streams go first, or each would wait for all threads of a launch.
    """

    stream: Any
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class CupyQueue:
    """A stream; callers make it the current one first."""

    library: Any
    stream: Any
    turns: Turns
    joined: Callable[[Sequence[NDArray[Any]]], NDArray[Any]]

    def empty(self, n_bytes: int) -> CupyMemory:
        try:
            return CupyMemory(self.library.cuda.alloc(n_bytes), n_bytes)
        except self.library.cuda.memory.OutOfMemoryError as error:
            raise self._out_of_memory(error) from error

    def upload(self, *parts: NDArray[Any]) -> CupyMemory:
        whole = self.joined(parts)
        memory = self.empty(whole.nbytes)
        address = ctypes.c_void_p(whole.ctypes.data)
        memory.pointer.copy_from_host_async(address, whole.nbytes, self.stream)
        memory.source = whole  # still being read when this returns
        return memory

    def clear(self, memory: Any) -> None:
        memory.pointer.memset_async(0, memory.n_bytes, self.stream)

    def launch(self, program: Any, entry: str, argument: Any, threads: int) -> float:
        ready, began, ended = (self.library.cuda.Event(block=True) for _ in range(3))
        ready.record(self.stream)
        with self._has_memory(), self.turns.lock, self.turns.stream as stream:
            stream.wait_event(ready)
            began.record(stream)
            program.start(entry, argument.address, threads)
            ended.record(stream)
        self.stream.wait_event(ended)  # so that wait() waits for launches, too
        with self._has_memory():
            ended.synchronize()
        return float(self.library.cuda.get_elapsed_time(began, ended)) / 1e3

    def start(self, program: Any, entry: str, argument: Any, threads: int) -> None:
        with self._has_memory():
            program.start(entry, argument.address, threads)

    @contextmanager
    def _has_memory(self) -> Generator[None]:
        """A context in which CUDA's errors of memory, for threads' stacks, become MemoryError."""
        try:
            yield
        except Exception as error:  # of CuPy; only the message says which kind
            if "OUT_OF_MEMORY" in str(error) or "MemoryAllocation" in str(error):
                raise self._out_of_memory(error) from error
            raise

    def download(self, memory: Any, into: NDArray[Any]) -> None:
        address = ctypes.c_void_p(into.ctypes.data)
        memory.pointer.copy_to_host_async(address, into.nbytes, self.stream)

    def wait(self) -> None:
        self.stream.synchronize()

    def array(self, memory: Any, length: int, dtype: Any, offset: int = 0) -> Any:
        return self.library.ndarray((length,), dtype, memory.pointer + offset)

    def _out_of_memory(self, error: Exception) -> MemoryError:
        """Free unused memory of the pool: the driver needs memory too, for threads' stacks."""
        self.library.get_default_memory_pool().free_all_blocks()
        return MemoryError(str(error))


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _explained(error: Exception, cure: str) -> str:
    """An error of CuPy, and how to mend it."""
    return str(kernel_cache_error(error) or f"{_named(error)}. {cure}")


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".strip()
