"""Peak memory of runs of 10⁸ and 10⁶ points: it must not grow with the sweep.

Each run is a separate process that writes a store in a temporary folder: wear power and regime of
SDND104's mass over one cycle, as float32. Memory is the resident memory of the process and all its
children, read ten times a second; shared pages count once per process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from sweep.engine.driver import open_store, run_in_store
from sweep.file import Request, load
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
    assert summary.points == made.sweep.n_points
    figures = {"creation": creation, "wall": summary.wall_seconds, "chunks": summary.chunks}
    print(json.dumps({**figures, "share": engine_share(summary)}))


def watched(module: str, *arguments: str) -> Watched:
    """Run a process of a module, whose last argument is a store in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as folder:
        store, printed = Path(folder, "run.zarr"), Path(folder, "printed.json")
        command = [sys.executable, "-m", module, *arguments, str(store)]
        with printed.open("wb") as file:
            process = subprocess.Popen(command, stdout=file)
        peak, processes = 0, 0
        while process.poll() is None:
            sizes = list(_resident(process.pid))
            peak, processes = max(peak, sum(sizes)), max(processes, len(sizes))
            time.sleep(SAMPLE_SECONDS)
        if process.returncode:
            raise RuntimeError(f"{module} exits {process.returncode}")
        written = sum(file.stat().st_size for file in store.rglob("*") if file.is_file())
        figures = json.loads(printed.read_text(encoding="utf-8"))
    return Watched(figures, peak / 1e6, processes, written)


def _resident(pid: int) -> Iterator[int]:
    """The bytes of a process and of all its children, of which any may have ended."""
    with suppress(psutil.NoSuchProcess):
        first = psutil.Process(pid)
        for process in [first, *first.children(recursive=True)]:
            yield process.memory_info().rss


if __name__ == "__main__":
    run(*sys.argv[1:])
