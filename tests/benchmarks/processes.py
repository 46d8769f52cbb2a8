"""Two worker processes compared with two threads that only call the kernel.

Speed-up = speed of two over speed of one, in points per second: for `--cluster local` into a store,
from the start of the workers to the last receipt, and for kernel calls on the same chunks. All four
are measured in turn in each repetition, and the speed-ups are compared within a repetition. Other
programs slow two workers more than one.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from sweep.api import with_options
from sweep.engine.driver import open_store, run_in_store
from sweep.engine.ledger import Summary
from sweep.file import Request
from sweep.kernel.opening import open_backend
from sweep.points.chunking import chunk_shape, chunks
from sweep.points.columns import points
from sweep.request.chunk import Chunk
from tests.benchmarks.engine_share import CHUNK_POINTS, TWO, engine_share, prepare, request_of
from tests.benchmarks.record import Figure

RATIO = "speed-up of processes to that of threads"
LEAST_RATIO = 0.95
MOST_SHARE = 0.10
CHUNKS, QUICK_CHUNKS = 128, 12  # 10 s for two


def measure(quick: bool) -> list[Figure]:
    n_chunks, repeats = (QUICK_CHUNKS, 1) if quick else (CHUNKS, 5)
    request = request_of(n_chunks, TWO)
    prepare(request)
    taken: dict[str, list[float]] = {}
    for _ in range(repeats):
        for name, value in _once(request).items():
            taken.setdefault(name, []).append(value)
    return [_figure(name, values) for name, values in taken.items()]


def _once(request: Request) -> dict[str, float]:
    bare = {n: _bare(request, n) for n in (1, 2)}
    runs = {n: _processes(request, n) for n in (1, 2)}
    threads = bare[2] / bare[1]
    processes = runs[1].wall_seconds / runs[2].wall_seconds
    return {
        "bare threads: speed-up of 2": threads,
        "worker processes: speed-up of 2": processes,
        RATIO: processes / threads,
        "1 worker process: engine share": engine_share(runs[1]),
        "2 worker processes: engine share": engine_share(runs[2]),
    }


def _figure(name: str, values: list[float]) -> Figure:
    spread = f"{min(values):.4g} to {max(values):.4g} in {len(values)}"
    at_most = MOST_SHARE if name.endswith("engine share") else None
    at_least = LEAST_RATIO if name == RATIO else None
    return Figure(name, median(values), "", at_most=at_most, at_least=at_least, note=spread)


def _processes(request: Request, n: int) -> Summary:
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as folder:
        store = open_store(request, Path(folder, "processes.zarr"))
        return run_in_store(store, with_options(request, cluster="local", workers=n))


def _bare(request: Request, n: int) -> float:
    """Points per second of kernel calls by that many threads, each with its share of the chunks."""
    sweep = request.sweep
    every = list(chunks(sweep.grid.shape, chunk_shape(sweep, CHUNK_POINTS)))
    with ThreadPoolExecutor(n) as executor:
        began = time.perf_counter()
        list(executor.map(_computing(request), [every[i::n] for i in range(n)]))
        return sweep.n_points / (time.perf_counter() - began)


def _computing(request: Request) -> Callable[[list[Chunk]], None]:
    backend = open_backend("cpu")

    def compute(some: list[Chunk]) -> None:
        for chunk in some:
            backend.compute(request.sweep, points(request.sweep, chunk))

    return compute
