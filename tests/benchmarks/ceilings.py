"""What no kernel and no map on this machine can exceed: operations on doubles, copies, files."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.backends.cupy_device import CupyDevice
from sweep.backends.gpu import OPTIONS

CHAINS = 8  # of operations that wait for each other, in a thread: enough to hide what one takes
BLOCK = 256
DOUBLES = """
extern "C" __global__ void tribosweep_doubles(double* values) {
    long long turns = (long long)values[0];
    double chains[CHAINS];
    for (int i = 0; i < CHAINS; ++i) chains[i] = threadIdx.x + i;
    for (long long turn = 0; turn < turns; ++turn)
        for (int i = 0; i < CHAINS; ++i) chains[i] = fma(chains[i], 0.999, 0.001);
    double sum = 0.0;
    for (int i = 0; i < CHAINS; ++i) sum += chains[i];
    values[1 + blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""
FIRST_TURNS = 1 << 16
LOAD_SECONDS = 2.0  # long enough for the clock to settle, and for nvidia-smi to answer
CLOCK = ("nvidia-smi", "--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits")
COPIED = 1 << 28  # bytes
WRITTEN = 1 << 26  # bytes of a file
FILES = 32
REPEATS = 5

Figures = dict[str, Any]


def doubles(device: CupyDevice, seconds: float = LOAD_SECONDS) -> Figures:
    """Fused multiply-adds per second in a loop of nothing else, and the clock meanwhile."""
    library = device.library
    blocks = device.threads // BLOCK * 2 or 1
    text = f"#define CHAINS {CHAINS}\n{DOUBLES}"
    function = library.RawModule(code=text, options=OPTIONS).get_function("tribosweep_doubles")
    values = np.zeros(1 + blocks * BLOCK)

    def run(turns: int, meanwhile: Callable[[], str] = str) -> tuple[float, str]:
        values[0] = turns
        with device.queue() as queue:
            memory = queue.upload(values)
            began, ended = (library.cuda.Event() for _ in range(2))
            began.record(queue.stream)
            function((blocks,), (BLOCK,), (memory.address,))
            ended.record(queue.stream)
            answer = meanwhile()
            ended.synchronize()
            queue.wait()
        return float(library.cuda.get_elapsed_time(began, ended)) / 1e3, answer

    run(1)  # loads it
    short, _ = run(FIRST_TURNS)
    turns = max(int(FIRST_TURNS * seconds / short), 1)
    took, clock = run(turns, _clock)
    rate = blocks * BLOCK * CHAINS * turns / took
    figures: Figures = {"doubles_per_second": rate, "clock_and_power": clock}
    if expected := device.facts.double_rate:
        figures["fraction_of_double_rate"] = rate / expected
    return figures


def _clock() -> str:
    """The clock of the multiprocessors in MHz and the power in W, as nvidia-smi says."""
    try:
        done = subprocess.run(CLOCK, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return f"unknown: {error}"
    return done.stdout.strip()


def copies(device: CupyDevice, n_bytes: int = COPIED) -> Figures:
    """Bytes per second to and from the device, from pinned and from pageable memory."""
    figures: Figures = {}
    host: dict[str, NDArray[np.uint8]] = {
        "pinned": device.host_array(n_bytes, np.uint8),
        "pageable": np.empty(n_bytes, np.uint8),
    }
    with device.queue() as queue:
        memory = queue.empty(n_bytes)
        for kind, array in host.items():
            array[:] = 1  # so that there is memory behind it
            address = ctypes.c_void_p(array.ctypes.data)
            times: list[tuple[float, float]] = []
            for _ in range(REPEATS):
                began = time.perf_counter()
                # Not queue.upload(), which copies into pinned memory first.
                memory.pointer.copy_from_host_async(address, n_bytes, queue.stream)
                queue.wait()
                between = time.perf_counter()
                queue.download(memory, array)
                queue.wait()
                times.append((between - began, time.perf_counter() - between))
            to_device, from_device = (median(each) for each in zip(*times, strict=True))
            figures[f"{kind}_bytes_per_second_to_device"] = n_bytes / to_device
            figures[f"{kind}_bytes_per_second_from_device"] = n_bytes / from_device
    return figures


def files(threads: int, n_bytes: int = WRITTEN, count: int = FILES) -> Figures:
    """Bytes per second into files of their own, by some threads."""
    content = np.random.default_rng(1).bytes(n_bytes)
    with (
        tempfile.TemporaryDirectory(prefix="tribosweep-") as folder,
        ThreadPoolExecutor(threads) as crew,
    ):
        began = time.perf_counter()
        list(crew.map(lambda i: (Path(folder) / str(i)).write_bytes(content), range(count)))
        took = time.perf_counter() - began
    return {"bytes_per_second": count * n_bytes / took}
