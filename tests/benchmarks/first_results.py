"""Processor seconds until the first result of models with many events, with nothing compiled.

`python -m tests.benchmarks.first_results` prints them: those of a process and all that it starts,
the compiler among them. Other programs make a processor slower, so the machine has to be idle.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks import record
from tests.benchmarks.record import Figure
from tests.cases.large import five_modes, tube_on_one_support

MOST = 6.0  # s
MODELS = {
    "five modes, 10 events": (five_modes, {"w": 1.3, "window_end": 20.0}),
    "tube, 19 states, 6 events": (
        tube_on_one_support,
        {"force": 50.0, "angular_frequency": 150.0, "window_end": 0.1},
    ),
}
RUN = "import json, sys, sweep; sweep.run(json.load(sys.stdin), store=None)"
REPEATS = 5


def measure() -> list[Figure]:
    return [
        _figure(name, {"format": 1, "model": model(), "parameters": values})
        for name, (model, values) in MODELS.items()
    ]


def _figure(name: str, document: Mapping[str, Any]) -> Figure:
    taken = sorted(_first(document) for _ in range(REPEATS))
    seconds, wall = taken[len(taken) // 2]
    return Figure(name, seconds, "s", at_most=MOST, note=f"{wall:.1f} s of time")


def _first(document: Mapping[str, Any]) -> tuple[float, float]:
    """Processor seconds and seconds of a run in a process of its own with an empty cache."""
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as folder:
        cache = Path(folder, "cache")
        environment = {**os.environ, "TRIBOSWEEP_CACHE_DIR": str(cache)}
        before, began = _children(), time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", RUN], input=json.dumps(document), text=True, check=True,
            env=environment,
        )  # fmt: skip
        return _children() - before, time.perf_counter() - began


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    record.show("first_results", measure())
