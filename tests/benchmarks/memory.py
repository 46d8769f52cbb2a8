"""Peak memory of runs of 10⁸ and 10⁶ points: it must not grow with the sweep.

Each run is a separate process that writes a store in a temporary folder: wear power and regime of
SDND104's mass over one cycle, as float32.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from sweep.api import open_store, run_in_store
from sweep.config import load
from tests.benchmarks.record import Figure

MOST_GROWTH = 300  # MB
SMALL_SIDE, LARGE_SIDE, QUICK_SIDE = 1000, 10_000, 3000


def measure(quick: bool) -> list[Figure]:
    small, _ = _peak(SMALL_SIDE)
    side = QUICK_SIDE if quick else LARGE_SIDE
    large, seconds = _peak(side)
    grown = f"{SMALL_SIDE**2:.0e} to {side**2:.0e} points"
    return [
        Figure("peak of the small run", small, "MB"),
        Figure("peak of the large run", large, "MB", note=f"{seconds:.0f} s"),
        Figure("growth", large - small, "MB", at_most=MOST_GROWTH, note=grown),
    ]


def run(side: int, folder: str) -> None:
    """A sweep of side × side points into a folder; prints its peak in MB and its seconds."""
    overrides = (
        f"friction = {{ geomspace = [0.01, 1.0, {side}] }}",
        f"base_acceleration = {{ linspace = [0.5, 15.0, {side}] }}",
        "window_start = 0.0",
        "window_end = 1.0",
        'dtype = "float32"',
    )
    request = load("wear_power", overrides)
    summary = run_in_store(open_store(request, Path(folder, "memory.zarr")), request)
    assert summary.points == side**2
    print(json.dumps([_own_peak(), summary.wall_seconds]))


def _peak(side: int) -> tuple[float, float]:
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as folder:
        command = [sys.executable, "-m", "tests.benchmarks.memory", str(side), folder]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    peak, seconds = json.loads(done.stdout)
    return peak, seconds


def _own_peak() -> float:
    """This process's peak resident memory in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage() says there includes the process this was forked from
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


if __name__ == "__main__":
    run(int(sys.argv[1]), sys.argv[2])
