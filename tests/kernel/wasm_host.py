"""WebAssembly modules of kernels, run in wasmtime as the page of an explorer runs them."""

from __future__ import annotations

import functools
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import wasmtime
from numpy.typing import NDArray

from sweep.kernel.tracer import Seen
from sweep.kernel.wasm import Module, module_bytes
from sweep.model.table import array_types, planes
from sweep.request.chunk import Points

CANONICAL = np.uint64(0x7FF8000000000000)  # the payload of NaN varies between engines
FOREVER = 1 << 60  # units of work


@functools.cache
def engine() -> wasmtime.Engine:
    config = wasmtime.Config()
    config.wasm_relaxed_simd = True
    return wasmtime.Engine(config)


class Host:
    """A module with its memory, from which blocks are only taken."""

    def __init__(self, module: Module) -> None:
        self.store = wasmtime.Store(engine())
        binary = wasmtime.Module(engine(), module_bytes(module))
        self.exports: Any = wasmtime.Instance(self.store, binary, []).exports(self.store)
        self._memory = self.exports["memory"]
        self._top = self.exports["__heap_base"].value(self.store)

    def call(self, name: str, *arguments: Any) -> Any:
        return self.exports[name](self.store, *arguments)

    def block(self, size: int, content: bytes = b"") -> int:
        """The address of a new block; the content stands at its beginning."""
        address = self._top
        self._top = (address + size + 15) & ~15
        missing = self._top - self._memory.data_len(self.store)
        if missing > 0:
            self._memory.grow(self.store, -(-missing // 65536))
        self._memory.write(self.store, content, address)
        return address

    def values(self, values: NDArray[Any]) -> int:
        return self.block(values.nbytes, values.tobytes())

    def read(self, address: int, n: int, dtype: Any) -> NDArray[Any]:
        size = n * np.dtype(dtype).itemsize
        array = np.frombuffer(self._memory.read(self.store, address, address + size), dtype)
        return canonical(array)


def canonical(values: NDArray[Any]) -> NDArray[Any]:
    """The same values, with every NaN the same."""
    if values.dtype != np.float64:
        return values
    return np.where(np.isnan(values), CANONICAL, values.view(np.uint64)).view(np.float64)


def computed(module: Module, points: Points, budget: int = FOREVER) -> Mapping[str, NDArray[Any]]:
    """The outputs and status of points, by the Request of block_cpu.h with pointers of 4 bytes."""
    host, n = Host(module), points.n_points
    types = array_types(module.kernel.outputs)
    addresses = {name: host.block(n * np.dtype(dtype).itemsize) for name, dtype in types.items()}
    state = host.block(host.call("tribosweep_state_bytes"))
    columns = b""
    for parameter in module.kernel.parameters:
        column = points.columns[parameter.name]
        values = np.ascontiguousarray(column.values, np.float64)
        columns += struct.pack("<Ixxxxqq", host.values(values), column.repeat, len(values))
    names = [plane.name for plane in planes(module.kernel.outputs)]
    outputs = struct.pack(f"<{len(names)}I", *(addresses[name] for name in names))
    head = struct.pack("<qqqqII", 0, n, budget, 0, state, addresses["status"])
    request = host.block(len(head + columns + outputs) + 4, head + columns + outputs)
    assert host.call("tribosweep_request_bytes") == (len(head + columns + outputs) + 7) & ~7
    while host.read(request, 1, np.int64)[0] < n:
        host._memory.write(host.store, struct.pack("<q", budget), request + 16)
        host.call("tribosweep_run", request)
    return {name: host.read(addresses[name], n, dtype) for name, dtype in types.items()}


def traced(module: Module, values: Mapping[str, float], times: NDArray[Any]) -> Seen:
    """What is seen of a point, by the Trace of entry_trace.h or that of entry_trace_items.h."""
    host, n_items = Host(module), int(values.get(module.kernel.method.items, 0))
    parameters = np.array([values[p.name] for p in module.kernel.parameters], np.float64)
    row = host.call("tribosweep_row_size")
    rows = host.block(8 * row * times.size)
    trail = host.block(host.call("tribosweep_trail_bytes"))
    inputs = (host.values(parameters), host.values(times))
    places = items = width = 0
    if module.kernel.method.items:
        width = host.call("tribosweep_item_row_size")
        places, items = host.block(8 * n_items), host.block(8 * times.size * n_items * width)
        sums = host.block(times.size * host.call("tribosweep_sum_bytes"))
        addresses, budget, status = (*inputs, places, items, rows, sums, trail), 8, 24
        packed = struct.pack("<qqqqIIIIIIIxxxx", times.size, FOREVER, 0, -1, *addresses)
    else:
        addresses, budget, status = (*inputs, rows, trail, host.block(0)), 16, 32
        packed = struct.pack("<qqqqqIIIIIxxxxq", 0, times.size, FOREVER, 0, -1, *addresses, 0)
    assert host.call("tribosweep_trace_bytes") == len(packed)
    trace = host.block(len(packed), packed)
    while host.read(trace + status, 1, np.int64)[0] < 0:
        host._memory.write(host.store, struct.pack("<q", FOREVER), trace + budget)
        host.call("tribosweep_trace", trace)
    return Seen(
        host.read(rows, times.size * row, np.float64).reshape(-1, row),
        times.size,
        int(host.read(trace + status, 1, np.int64)[0]),
        host.read(items, times.size * n_items * width, np.float64),
        host.read(places, n_items, np.float64),
    )
