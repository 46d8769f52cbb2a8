"""The demo, from the command to its end: 524,288 points computed, stored and drawn.

Each step is a process of its own, as `make demo` runs it. The first run has an empty cache and
compiles the kernel.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from tests.benchmarks.record import Figure


def measure(quick: bool) -> list[Figure]:
    repeats = 1 if quick else 5
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as name:
        folder = Path(name)
        environment = {**os.environ, "TRIBOSWEEP_CACHE_DIR": str(folder / "cache")}
        first = _run(folder / "first.zarr", environment)
        stores = [folder / f"{i}.zarr" for i in range(repeats)]
        again = [_run(store, environment) for store in stores]
        plot = ("plot", str(folder / "first.zarr"), "-o", str(folder / "first.png"))
        plots = [_seconds(plot, environment) for _ in range(repeats)]
    return [
        Figure("sweep run wear_power, first", first, "s", note="the kernel compiled"),
        Figure("sweep run wear_power", median(again), "s"),
        Figure("sweep plot", median(plots), "s"),
    ]


def _run(store: Path, environment: Mapping[str, str]) -> float:
    return _seconds(("run", "wear_power", "-o", str(store)), environment)


def _seconds(arguments: tuple[str, ...], environment: Mapping[str, str]) -> float:
    command = [sys.executable, "-m", "sweep", *arguments]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    seconds = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(f"{command} exits {done.returncode}: {done.stderr}")
    return seconds
