"""The duration of the demo: 524,288 points computed, stored and drawn.

Each step is a separate process, as in `make demo`. The first run has an empty cache and compiles
the kernel.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from tests.benchmarks.record import Figure
from tests.benchmarks.timed_commands import seconds, with_cache


def measure(quick: bool) -> list[Figure]:
    repeats = 1 if quick else 5
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as name:
        folder = Path(name)
        environment = with_cache(folder / "cache")
        first = _run(folder / "first.zarr", environment)
        stores = [folder / f"{i}.zarr" for i in range(repeats)]
        again = [_run(store, environment) for store in stores]
        plot = ("plot", str(folder / "first.zarr"), "-o", str(folder / "first.png"))
        plots = [seconds(plot, environment).wall for _ in range(repeats)]
    return [
        Figure("sweep run wear_power, first", first, "s", note="the kernel compiled"),
        Figure("sweep run wear_power", median(again), "s"),
        Figure("sweep plot", median(plots), "s"),
    ]


def _run(store: Path, environment: Mapping[str, str]) -> float:
    return seconds(("run", "wear_power", "-o", str(store)), environment).wall
