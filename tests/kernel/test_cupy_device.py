"""What no GPU can be made to show of the device between the backend and CuPy.

The rest of it is tested on a GPU: test_on_gpu.py.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sweep.kernel.cupy_device import PIECE, CupyDevice, CupyMemory, CupyQueue, Facts, Turns

ATTRIBUTES = {13: 1_980_000, 16: 132, 39: 2048}


def facts(capability: str = "90", unsupported: int = 0) -> Facts:
    """Those of a GPU that CUDA describes so, without one of its attributes."""

    def attribute(number: int, _device: int) -> int:
        if number == unsupported:
            raise RuntimeError("cudaErrorNotSupported: operation not supported")
        return ATTRIBUTES[number]

    runtime = SimpleNamespace(
        cudaDevAttrClockRate=13,
        cudaDevAttrMultiProcessorCount=16,
        cudaDevAttrMaxThreadsPerMultiProcessor=39,
        deviceGetAttribute=attribute,
        getDeviceProperties=lambda _device: {"name": b"a GPU"},
        driverGetVersion=lambda: 13000,
        runtimeGetVersion=lambda: 13010,
    )
    device: Any = object.__new__(CupyDevice)
    device.library = SimpleNamespace(cuda=SimpleNamespace(runtime=runtime), __version__="14.2.0")
    device._device = SimpleNamespace(id=0, compute_capability=capability, mem_info=(0, 1 << 36))
    return device._facts()


def test_the_facts_are_those_of_cuda() -> None:
    assert facts().threads == 132 * 2048
    assert facts().double_rate == 64 * 132 * 1.98e9
    assert str(facts()).startswith("a GPU, compute capability 9.0, 64 GiB, 1.7e+13 FP64")
    assert str(facts()).endswith("for CUDA 13.0, CuPy 14.2.0 with CUDA 13.1")
    # CuPy reports this one as text; it is not among the attributes.
    assert (facts("75").capability, facts("120").capability) == ((7, 5), (12, 0))


def test_without_a_clock_the_rate_is_unknown() -> None:
    assert facts(unsupported=13).double_rate == facts(unsupported=13).clock == 0
    assert "FP64 unknown" in str(facts(unsupported=13))
    with pytest.raises(RuntimeError, match="cudaErrorNotSupported"):
        facts(unsupported=16)


# Memory of the host.


@pytest.fixture
def device() -> CupyDevice:
    """All that memory of the host needs of one."""
    plain = object.__new__(CupyDevice)
    plain.description = "a GPU"
    plain._copiers = ThreadPoolExecutor(2)
    return plain


def with_pinned(monkeypatch: pytest.MonkeyPatch, empty_pinned: Any) -> None:
    monkeypatch.setitem(sys.modules, "cupyx", SimpleNamespace(empty_pinned=empty_pinned))


def test_pinned_memory_has_sizes_that_are_used_again(
    device: CupyDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CuPy's pool keeps every size that was ever asked for."""
    sizes = list[int]()

    def empty_pinned(shape: int, dtype: Any) -> NDArray[Any]:
        sizes.append(shape)
        return np.empty(shape, dtype)

    with_pinned(monkeypatch, empty_pinned)
    for length in range(1, 3000, 7):
        array = device.host_array(length, np.float64)
        assert (array.dtype, array.shape) == (np.float64, (length,))
        assert sizes[-1] >= array.nbytes
    assert len(sizes) == 429
    assert len({*sizes}) <= 13
    assert device.description == "a GPU"


def test_plain_memory_is_used_if_no_more_can_be_pinned(
    device: CupyDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(shape: int, dtype: Any) -> NDArray[Any]:
        raise RuntimeError("cudaErrorMemoryAllocation: out of memory")

    with_pinned(monkeypatch, refuse)
    for _ in range(2):
        array = device.host_array(5, np.int32)
        assert (array.dtype, array.shape) == (np.int32, (5,))
        assert device.description == "a GPU, without pinned memory"  # which receipts have


def test_parts_are_joined_in_their_order(
    device: CupyDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many of them by several threads."""
    with_pinned(monkeypatch, np.empty)
    for sizes in ((3, 1), (5, PIECE, 2 * PIECE + 7, 0, 11)):
        parts = [np.random.default_rng(size).random(size) for size in sizes]
        np.testing.assert_array_equal(device._joined(parts), np.concatenate(parts))


# Memory of the device.


class OutOfMemoryError(Exception):
    """CuPy's, of its pool."""


class Full:
    """A queue of a GPU whose memory is full, and what happens to CuPy's pool."""

    def __init__(self, error: Exception) -> None:
        self.freed = 0

        def fail(*_: Any) -> None:
            raise error

        def free_all_blocks() -> None:
            self.freed += 1

        memory = SimpleNamespace(OutOfMemoryError=OutOfMemoryError)
        event = SimpleNamespace(record=lambda _stream: None)
        library = SimpleNamespace(
            cuda=SimpleNamespace(alloc=fail, memory=memory, Event=lambda **_: event),
            get_default_memory_pool=lambda: SimpleNamespace(free_all_blocks=free_all_blocks),
        )
        self.program = SimpleNamespace(start=fail)
        self.queue = CupyQueue(library, None, Turns(Stream()), np.empty)

    def start(self) -> None:
        """As what draws and rounds."""
        self.queue.start(self.program, "tribosweep_draw", Address(), 1)

    def launch(self) -> None:
        self.queue.launch(self.program, "tribosweep_run", Address(), 1)

    def empty(self) -> None:
        self.queue.empty(1)


class Stream:
    """A stream that a launch makes the current one."""

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def wait_event(self, event: Any) -> None:
        pass


class Address(CupyMemory):
    """Memory at an address that nothing reads."""

    def __init__(self) -> None:
        super().__init__(SimpleNamespace(ptr=0), 0)


NO_STACKS = RuntimeError("CUDA_ERROR_OUT_OF_MEMORY: out of memory")


@pytest.mark.parametrize(
    ("work", "error"),
    [
        (Full.empty, OutOfMemoryError("Out of memory allocating 1 bytes")),
        (Full.start, NO_STACKS),
        (Full.launch, NO_STACKS),
    ],
)
def test_the_pool_frees_its_memory_if_there_is_too_little(work: Any, error: Exception) -> None:
    """The driver needs some too, for the stacks of threads; batches are halved after that."""
    full = Full(error)
    with pytest.raises(MemoryError, match=r"ut of memory"):
        work(full)
    assert full.freed == 1


def test_another_error_of_a_launch_is_no_lack_of_memory() -> None:
    full = Full(RuntimeError("cudaErrorIllegalAddress: an illegal memory access"))
    with pytest.raises(RuntimeError, match="IllegalAddress"):
        full.launch()
    assert full.freed == 0
