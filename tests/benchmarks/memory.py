"""Peak memory of runs of 10⁸ and 10⁶ points: it must not grow with the sweep.

Each run is a separate process that writes a store in a temporary folder: wear power and regime of
SDND104's mass over one cycle, as float32. Memory is the resident memory of the process and all its
children, read ten times a second; shared pages count once per process.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from sweep.api import open_store, run_in_store
from sweep.config import Request, load
from tests.benchmarks.engine_share import engine_share
from tests.benchmarks.record import Figure

MOST_GROWTH = 300  # MB
SMALL_SIDE, LARGE_SIDE, QUICK_SIDE = 1000, 10_000, 3000
SAMPLE_SECONDS = 0.1


@dataclass(frozen=True)
class Watched:
    """What a process prints of its run, and what the run needs."""

    figures: dict[str, Any]
    peak: float  # MB
    processes: int
    written: int  # bytes of the store


def measure(quick: bool) -> list[Figure]:
    side = QUICK_SIDE if quick else LARGE_SIDE
    small, large = (watched(__spec__.name, str(each)) for each in (SMALL_SIDE, side))
    grown = f"{SMALL_SIDE**2:.0e} to {side**2:.0e} points"
    return [
        Figure("peak of the small run", small.peak, "MB"),
        Figure("peak of the large run", large.peak, "MB", note=f"{large.figures['wall']:.0f} s"),
        Figure("growth", large.peak - small.peak, "MB", at_most=MOST_GROWTH, note=grown),
    ]


def run(side: str, store: str) -> None:
    """Run a sweep of side × side points in this process and print its figures."""
    overrides = (
        f"friction = {{ geomspace = [0.01, 1.0, {side}] }}",
        f"base_acceleration = {{ linspace = [0.5, 15.0, {side}] }}",
        "window_start = 0.0",
        "window_end = 1.0",
        'dtype = "float32"',
    )
    run_request(load("wear_power", overrides), store)


def run_request(request: Request, store: str) -> None:
    """Run a request into a store and print its figures as JSON."""
    open_store(request, Path(store).with_name("compiled.zarr"))  # nothing is compiled any more
    began = time.perf_counter()
    made = open_store(request, store)
    creation = time.perf_counter() - began
    summary = run_in_store(made, request)
    assert summary.points == math.prod(made.sweep.grid)
    figures = {"creation": creation, "wall": summary.wall_seconds, "chunks": summary.chunks}
    print(json.dumps({**figures, "share": engine_share(summary)}))


def watched(module: str, *arguments: str) -> Watched:
    """Run a process of a module, whose last argument is a store in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as folder:
        store = Path(folder, "run.zarr")
        command = [sys.executable, "-m", module, *arguments, str(store)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(command, **pipes, text=True)
        with _sampled(process.pid) as peak:
            text, errors = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{module} exits {process.returncode}: {errors}")
        written = sum(file.stat().st_size for file in store.rglob("*") if file.is_file())
    return Watched(json.loads(text), peak["bytes"] / 1e6, int(peak["processes"]), written)


@contextmanager
def _sampled(pid: int) -> Iterator[dict[str, float]]:
    """Record the peak resident memory of a process and all its children within the context."""
    peak = {"bytes": 0.0, "processes": 0.0}
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(SAMPLE_SECONDS):
            sizes = list(_resident(pid))
            peak["bytes"] = max(peak["bytes"], sum(sizes))
            peak["processes"] = max(peak["processes"], len(sizes))

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        yield peak
    finally:
        ended.set()
        sampler.join()


def _resident(pid: int) -> Iterator[int]:
    try:
        first = psutil.Process(pid)
        every = [first, *first.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for process in every:
        try:
            yield process.memory_info().rss
        except psutil.NoSuchProcess:
            pass


if __name__ == "__main__":
    run(*sys.argv[1:])
