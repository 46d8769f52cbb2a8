"""Launches of kernels/reduction_gpu.h, by which statistics/ reduces points on a device."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.kernel.device import Device, Memory, Queue
from sweep.kernel.source import flat_text
from sweep.statistics.launches import Reduction

ENTRY = "tribosweep_reduce"


@dataclass(frozen=True)
class Place:
    """A place in memory."""

    address: int


@dataclass(frozen=True)
class DeviceLauncher:
    """The Launcher of statistics/ for a queue of a device."""

    device: Device
    queue: Queue
    sent: list[Memory] = field(default_factory=list[Memory])  # which copies read until they end

    @property
    def library(self) -> Any:
        return self.queue.library

    def address(self, array: Any) -> int:
        return self.device.address(array)

    def upload(self, values: NDArray[Any]) -> Any:
        self.sent.append(self.queue.upload(values))
        return self.queue.array(self.sent[-1], values.size, values.dtype)

    def to_host(self, array: Any) -> NDArray[Any]:
        return self.device.to_host(array)

    def reduce(self, requests: Sequence[Reduction], n_parameters: int) -> None:
        entries = self.device.entry(reduction_text(n_parameters), "reduce")
        content = np.frombuffer(b"".join(map(bytes, requests)), np.uint8)
        self.sent.append(self.queue.upload(content))
        address, size = self.sent[-1].address, ctypes.sizeof(Reduction)
        for i, request in enumerate(requests):
            self.queue.start(entries, ENTRY, Place(address + i * size), request.threads)


@functools.cache
def reduction_text(n_parameters: int) -> str:
    """The text for a device, for Sobol' indices of so many parameters (0: none)."""
    same = f"static_assert(sizeof(Reduction) == {ctypes.sizeof(Reduction)}, "
    same += '"reduction_gpu.h and statistics/launches.py differ in layout");'
    parameters = f"constexpr int n_parameters = {n_parameters};"
    return "\n".join([parameters, flat_text("reduction_gpu.h"), same])
