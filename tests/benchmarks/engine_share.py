"""The share of the workers' time that a run into a store spends outside of the kernel.

Engine share = 1 − kernel seconds/(workers × wall seconds). It is measured for SDND104's mass over
friction and base acceleration where every point slips, in chunks of 2**19 points, and for method
euler in chunks of about 0.3 s; kernels are compiled beforehand. The wall time is that of the whole
run. Other programs make the kernel seem slower and the share smaller, so the note gives the share
of the workers' processors that was ours: near 100 % on an idle machine. For worker processes see
`processes`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from sweep.api import with_options
from sweep.engine.driver import open_store, run_in_store
from sweep.engine.ledger import Summary
from sweep.file import Request, load
from sweep.kernel.opening import open_backend
from sweep.points.columns import variants_of
from sweep.store import Arrays
from tests.benchmarks.record import Figure

CHUNK_POINTS = 2**19
EULER_CHUNK = 15_360  # points, of about 0.3 s
WORKERS = (1, 2)
MOST = 0.10  # with two outputs
MOST_OF_EULER = 0.05  # in chunks of 0.2 s or more
TWO = ("wear_power", "regime")


@dataclass(frozen=True)
class Run:
    """The summary of a run and the processor time that it got."""

    summary: Summary
    processor_seconds: float

    @property
    def ours(self) -> float:
        """The share of the workers' processors that this process got."""
        return self.processor_seconds / (self.summary.workers * self.summary.wall_seconds)


def measure(quick: bool) -> list[Figure]:
    chunks, repeats = (4, 1) if quick else (16, 5)
    two = request_of(chunks, TWO)
    every = request_of(chunks, tuple(output.name for output in two.sweep.model.outputs))
    figures: list[Figure] = []
    for name, request, bound in (
        ("two outputs", two, MOST),
        ("all outputs", every, None),
        ("euler", _euler(4 if quick else 24), MOST_OF_EULER),
    ):
        prepare(request)
        for workers in WORKERS:
            here = with_options(request, workers=workers)
            runs = [_run(here) for _ in range(repeats)]
            figures += _figures(f"{name}, {_counted(workers, 'worker')}", runs, bound)
    return figures


def _euler(chunks: int) -> Request:
    """Time stepping over SDND104's window, 120,000 steps per point."""
    accelerations = f"{{ linspace = [1.2, 15.0, {chunks * EULER_CHUNK}] }}"
    request = load("step_size", ("step = 1e-4", f"base_acceleration = {accelerations}"))
    return with_options(request, backend="cpu", chunk_points=EULER_CHUNK)


def request_of(chunks: int, outputs: tuple[str, ...]) -> Request:
    """A request of `chunks` chunks in which every point slips."""
    overrides = (
        f"friction = {{ geomspace = [0.01, 0.045, {512 * chunks}] }}",
        "base_acceleration = { linspace = [0.5, 15.0, 1024] }",
        f"outputs = {list(outputs)}",
    )
    request = load("wear_power", overrides)
    return with_options(request, backend="cpu", chunk_points=CHUNK_POINTS)


def prepare(request: Request) -> None:
    """Compile the kernel, if it is not in the cache."""
    chunk_points = request.options.chunk_points
    chunk = Arrays(request.sweep, chunk_points=chunk_points).pending()[0]
    open_backend("cpu").prepare(request.sweep, variants_of(request.sweep, chunk))


def _run(request: Request) -> Run:
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as folder:
        store = open_store(request, Path(folder, "share.zarr"))
        began = time.process_time()
        summary = run_in_store(store, request)
        return Run(summary, time.process_time() - began)


def engine_share(summary: Summary) -> float:
    """The share of the workers' time that was not spent in kernels."""
    busy = summary.workers * summary.wall_seconds
    return 1 - summary.kernel_seconds / busy if busy else 0.0


def _figures(name: str, runs: list[Run], bound: float | None) -> Iterator[Figure]:
    shares = [engine_share(run.summary) for run in runs]
    ours = median(run.ours for run in runs)
    spread = f"{min(shares):.3f} to {max(shares):.3f} in {_counted(len(shares), 'run')}"
    note = f"{spread}, {ours:.0%} of the processors ours"
    yield Figure(f"{name}: engine share", median(shares), "", at_most=bound, note=note)
    speed = median(run.summary.points / run.summary.wall_seconds for run in runs)
    yield Figure(f"{name}: speed", speed, "points/s")


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
