"""What a kernel on a device is called with, and what the GPU backend asks of a device.

A device is met through these protocols alone, so that all that decides about batches, budgets and
memory can be tested where there is none.
"""

from __future__ import annotations

import ctypes
import functools
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Event
from typing import Any, Protocol

from numpy.typing import NDArray

from sweep.backends.base import Computed
from sweep.backends.cpu import Column
from sweep.source import Kernel
from sweep.spec import Points, Sweep

GROUP = 64  # items that are added before they enter the tree: tree_sum.h's group_size


class OutOfMemory(Exception):
    """The device has not the memory that was asked for."""


@dataclass(frozen=True)
class Sizes:
    """What block_gpu.h's write_sizes tells of a kernel."""

    state_bytes: int
    request_bytes: int
    lanes: int  # items a thread
    fields: int  # doubles that an item adds; 0: the kernel has no items


class Memory(Protocol):
    """Memory of a device, freed with this object."""

    @property
    def address(self) -> int: ...


class Program(Protocol):
    """A kernel compiled for a device and loaded there."""

    @property
    def kernel(self) -> Kernel: ...

    @property
    def sizes(self) -> Sizes: ...


class Queue(Protocol):
    """Work of one thread of the host: done in order, beside that of other queues."""

    def empty(self, n_bytes: int) -> Memory:
        """OutOfMemory if there is not so much."""
        ...

    def upload(self, values: NDArray[Any]) -> Memory: ...

    def clear(self, memory: Memory) -> None:
        """Set every byte to 0."""
        ...

    def launch(self, program: Program, entry: str, argument: Memory, threads: int) -> float:
        """Run one of the kernel's entries, and wait: the seconds it took."""
        ...

    def download(self, memory: Memory, into: NDArray[Any]) -> None:
        """Begin to copy from the start of `memory`; done after wait()."""
        ...

    def wait(self) -> None: ...


class Device(Protocol):
    """Where kernels are compiled, loaded and run."""

    @property
    def description(self) -> str: ...

    @property
    def memory(self) -> int:
        """Bytes that one queue should not go beyond."""
        ...

    @property
    def threads(self) -> int:
        """How many threads run at once, at most."""
        ...

    def load(self, kernel: Kernel) -> Program: ...

    def queue(self) -> AbstractContextManager[Queue]:
        """A queue of this thread's own; waits where there are enough already."""
        ...

    def host_array(self, length: int, dtype: Any) -> NDArray[Any]:
        """An array that downloads go into, without a detour where that can be had."""
        ...

    def answers(self) -> bool:
        """Whether it still computes: there are errors after which no call ever works again."""
        ...

    def compute_arrays(self, sweep: Sweep, points: Points, stop: Event | None) -> Computed:
        """As Backend.compute(), of a method of kind "array"."""
        ...


@functools.cache
def request_type(n_columns: int, n_outputs: int) -> type[Any]:
    """Twin of block_gpu.h's Request for a kernel of that many columns and outputs."""
    fields = [
        ("first", ctypes.c_int64),
        ("points", ctypes.c_int64),
        ("budget", ctypes.c_int64),
        ("resuming", ctypes.c_int64),
        ("unfinished", ctypes.c_void_p),
        ("under_way", ctypes.c_void_p),
        ("states", ctypes.c_void_p),
        ("status", ctypes.c_void_p),
        ("first_group", ctypes.c_int64),
        ("groups", ctypes.c_int64),
        ("groups_of_a_point", ctypes.c_int64),
        ("parts", ctypes.c_void_p),
        ("sums", ctypes.c_void_p),
        ("columns", Column * n_columns),
        ("outputs", ctypes.c_void_p * n_outputs),
    ]
    return type("Request", (ctypes.Structure,), {"_fields_": fields})
