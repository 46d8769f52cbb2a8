"""Points reduced to statistics: time beside the bare kernel, and memory of 10⁹ points.

Each cell has 2²⁰ random frictions of SDND104's mass, whose wear power is reduced to 7 statistics:
mean, standard deviation, minimum, maximum, two quantiles and a share. The bare kernel computes the
same points and drops them. Times are medians of the processor time of one thread, measured in turn,
for one cell in the blocks of a run.

The long run reduces 10⁹ points, 1000 cells of 10⁶, by two worker processes. Its memory must not
grow beyond that of a run with a tenth of the cells.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from sweep.api import with_options
from sweep.file import Request, load
from sweep.kernel.cpu import CpuBackend
from sweep.points.columns import points
from sweep.request.chunk import Points
from sweep.request.sweeps import Reduced
from sweep.statistics.partial import Kept
from sweep.store import Arrays, target_of
from tests.benchmarks.billion import WORKERS
from tests.benchmarks.memory import run_request, watched
from tests.benchmarks.record import Figure
from tests.benchmarks.speeds import cpu_seconds

STATISTICS = ["mean", "standard_deviation", "minimum", "maximum"]
STATISTICS += ["quantile 0.05", "quantile 0.95", "share above 2 W"]
CELL, QUICK_CELL = 2**20, 2**16
MOST_TIME = 1.1  # times the bare kernel
CELLS, QUICK_CELLS = 1000, 20
MOST_GROWTH = 100  # MB
MOST_DISK = 100_000  # bytes a cell, of 10⁶ points


def measure(quick: bool) -> list[Figure]:
    return [*_times(quick), *_long_run(quick)]


def run(cells: str, cell_points: str, store: str) -> None:
    """Run a sweep over so many base accelerations in this process; print its figures as JSON."""
    axis = {"linspace": [0.5, 15.0, int(cells)]}
    request = _request(axis, int(cell_points))
    run_request(with_options(request, cluster="local", workers=WORKERS), store)


def _request(accelerations: dict[str, Any], cell_points: int) -> Request:
    """A sweep over an axis of base accelerations, with so many frictions at each."""
    drawn = {"method": "sobol", "points": cell_points, "seed": 1}
    document: dict[str, Any] = {
        "model": "friction_oscillator",
        "outputs": ["wear_power"],
        "parameters": {
            "mass": 1.0,
            "gravity": 10.0,
            "angular_frequency": "1 turn/s",
            "window_start": 4.0,
            "window_end": 12.0,
        },
        "axes": {"base_acceleration": accelerations},
        "sample": {**drawn, "friction": {"lognormal": [0.1, 0.5]}},
        "reduce": {"wear_power": STATISTICS},
    }
    return with_options(load(document), backend="cpu")


def _times(quick: bool) -> Iterator[Figure]:
    size, repeats = (QUICK_CELL, 3) if quick else (CELL, 9)
    bound = None if quick else MOST_TIME  # of large cells
    for acceleration in (3.0, 15.0):
        sweep = _request({"values": [acceleration]}, size).sweep
        assert isinstance(sweep, Reduced)
        seconds, note = _seconds(sweep, repeats)
        name = f"a0 = {acceleration:g} m/s²"
        yield Figure(f"{name}: bare kernel", size / seconds["bare"], "points/s")
        ratio = seconds["reduced"] / seconds["bare"]
        yield Figure(f"{name}: reduced to bare", ratio, "times", at_most=bound, note=note)


def _seconds(sweep: Reduced, repeats: int) -> tuple[dict[str, float], str]:
    """The time of a cell's points, and how they are cut."""
    chunks = target_of(Arrays(sweep)).pending()
    blocks = [points(sweep, chunk) for chunk in chunks]
    backend = CpuBackend()
    backend.prepare(sweep.points, blocks[0].variants)
    work = {
        "bare": lambda: [backend.compute(sweep.points, each) for each in blocks],
        "reduced": lambda: _cell(backend, sweep, blocks),
    }
    return cpu_seconds(work, repeats), f"blocks of {chunks[0].n_points:,} points"


def _cell(backend: CpuBackend, sweep: Reduced, blocks: Sequence[Points]) -> object:
    """The statistics of a cell."""
    kept = Kept(sweep)
    partials = [backend.compute(sweep.points, each, then=kept.then(each)).arrays for each in blocks]
    return kept.statistics(functools.reduce(kept.merged, partials))


def _long_run(quick: bool) -> Iterator[Figure]:
    cells, size = (QUICK_CELLS, QUICK_CELL) if quick else (CELLS, 10**6)
    fewer, every = (watched(__spec__.name, str(n), str(size)) for n in (cells // 10, cells))
    title, figures = f"{cells:,} cells", every.figures
    note = f"{figures['chunks']} chunks, {every.processes} processes"
    yield Figure(f"{title}: speed", cells * size / figures["wall"], "points/s", note=note)
    grown = every.peak - fewer.peak
    yield Figure(f"{title}: growth of memory", grown, "MB", at_most=MOST_GROWTH)
    bound = None if quick else MOST_DISK
    yield Figure(f"{title}: disk", every.written / cells, "bytes a cell", at_most=bound)


if __name__ == "__main__":
    run(*sys.argv[1:])
