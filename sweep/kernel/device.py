"""The interface of a device, and the structs that its kernels are called with.

The GPU backend uses a device only through these protocols, so that its handling of batches, budgets
and memory can be tested on a machine without one.
"""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from sweep.kernel.library import request_struct
from sweep.kernel.source import Kernel

GROUP = 64  # items that are added before they enter the tree: tree_sum.h's group_size


@dataclass(frozen=True)
class Sizes:
    """The sizes of a kernel, as write_sizes of block_gpu.h reports them."""

    state_bytes: int
    request_bytes: int
    lanes: int  # items a thread
    fields: int  # doubles that each item contributes to a sum; 0: the kernel has no items


class Memory(Protocol):
    """Memory of a device, freed with this object."""

    @property
    def address(self) -> int: ...


class Entries(Protocol):
    """Entries of a text that is compiled for a device and loaded there, for a queue to run."""

    def start(self, entry: str, address: int, threads: int) -> None: ...


class Program(Entries, Protocol):
    """A kernel."""

    kernel: Kernel
    sizes: Sizes


class Queue(Protocol):
    """Work of one host thread: done in order, concurrently with that of other queues."""

    @property
    def library(self) -> Any:
        """The library of the device's arrays, as that of the device."""
        ...

    def empty(self, n_bytes: int) -> Memory:
        """New memory; MemoryError if the device has too little."""
        ...

    def upload(self, *parts: NDArray[Any]) -> Memory:
        """New memory with these arrays of one type, one after another, in one copy."""
        ...

    def clear(self, memory: Memory) -> None:
        """Set every byte to 0."""
        ...

    def launch(self, program: Entries, entry: str, argument: Memory, threads: int) -> float:
        """Run one of the entries, wait for it, and return the seconds it took."""
        ...

    def start(self, program: Entries, entry: str, argument: Memory, threads: int) -> None:
        """Begin one of the entries, which is short; complete after wait()."""
        ...

    def download(self, memory: Memory, into: NDArray[Any]) -> None:
        """Begin to copy from the start of `memory`; complete after wait()."""
        ...

    def wait(self) -> None: ...

    def array(self, memory: Memory, length: int, dtype: Any, offset: int = 0) -> Any:
        """`memory` from a byte on as an array of the device's library, after the work so far."""
        ...


class Device(Protocol):
    """Where kernels are compiled, loaded and run."""

    description: str
    threads: int  # that run at once, at most
    library: Any  # of the device's arrays: functions of NumPy's names

    @property
    def memory(self) -> int:
        """Bytes that one queue should use at most."""
        ...

    def to_host(self, array: Any) -> NDArray[Any]:
        """A copy of an array of the library as one of NumPy; one of NumPy as it is."""
        ...

    def address(self, array: Any) -> int:
        """Where an array of the library begins."""
        ...

    def load(self, kernel: Kernel) -> Program: ...

    def entry(self, text: str, name: str) -> Entries:
        """A text that is no kernel, with one entry tribosweep_NAME."""
        ...

    def queue(self) -> AbstractContextManager[Queue]:
        """A queue for this thread alone; waits until one is free."""
        ...

    def host_array(self, length: int, dtype: Any) -> NDArray[Any]:
        """An array for downloads, in pinned memory if possible."""
        ...

    def answers(self) -> bool:
        """Whether it still computes: after some errors every further call fails."""
        ...


@functools.cache
def request_type(n_columns: int, n_outputs: int) -> type[Any]:
    """The Request of block_gpu.h for a kernel with that many columns and outputs."""
    rows = (
        "int64 first points budget resuming",
        "address unfinished under_way states status order",
        "int64 first_group groups groups_of_a_point",
        "address parts sums",
    )
    return request_struct(n_columns, n_outputs, *rows)
