"""Points per second of every shipped sweep on one core, as `sweep bench` measures them.

The share of the limit is the kernel's, computing a tenth of a second's points from all over the
sweep: the median processor time of one thread.
"""

from __future__ import annotations

from collections.abc import Iterator

from sweep.api import with_options
from sweep.backends.cpu import CpuBackend
from sweep.config import load
from sweep.forecast import batch_of, speed_of
from sweep.shipped import shipped_configs
from tests.benchmarks.machine_limit import share_of_limit
from tests.benchmarks.record import Figure
from tests.benchmarks.timed import cpu_seconds

REPEATS = 3
COUNTED_SECONDS = 0.1
COUNTED_POINTS = (64, 2**16)  # at least and at most


def measure(quick: bool) -> list[Figure]:
    names = list(shipped_configs())
    return [figure for name in (names[-3:] if quick else names) for figure in _figures(name)]


def _figures(name: str) -> Iterator[Figure]:
    request = with_options(load(name), backend="cpu")
    speed = speed_of(request).points_per_second
    assert speed is not None
    yield Figure(name, speed, "points/s")
    sweep = request.sweep.of_points
    if sweep.method.kind == "kernel":
        least, most = COUNTED_POINTS
        points = batch_of(sweep, 0.0, min(max(int(COUNTED_SECONDS * speed), least), most))
        backend = CpuBackend()
        backend.prepare(sweep, points)
        seconds = cpu_seconds({"ours": lambda: backend.compute(sweep, points)}, REPEATS)["ours"]
        yield share_of_limit(name, sweep, points, seconds)
