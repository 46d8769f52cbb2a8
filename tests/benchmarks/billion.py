"""A sweep of 10⁹ points by two worker processes: memory, creating the store, scan at a restart.

Wear power and regime of SDND104's mass over its window, as float32, in chunks of the default size.
Memory is compared with that of a sweep of 10⁶ points.

The scan is everything that a restart does before it computes: it looks for leftovers of killed
writers, torn chunks and pending chunks. Its time is measured in stores of 10⁵ chunks, half of them
done. Their files are empty and in memory, since only names are read.
"""

from __future__ import annotations

import itertools
import math
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import zarr

from sweep.api import with_options
from sweep.engine.driver import open_store
from sweep.file import Request, load
from sweep.points.chunking import chunk_counts
from sweep.store import Store
from sweep.store.upkeep import clean
from tests.benchmarks.memory import MOST_GROWTH, run_request, watched
from tests.benchmarks.record import Figure

SIDES, QUICK_SIDES, SMALL_SIDES = (31_250, 32_000), (3125, 3200), (1000, 1024)
WORKERS = 2
MOST_CREATION = 2.0  # s
MOST_SCAN = 1.0  # s for 10**5 chunks
SCANNED = 10**5  # chunks


def measure(quick: bool) -> list[Figure]:
    sides = QUICK_SIDES if quick else SIDES
    small, large = (watched(__spec__.name, *map(str, each)) for each in (SMALL_SIDES, sides))
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as name:
        scanned = list(scans(SCANNED // 100 if quick else SCANNED, Path(name)))
    n, figures, grown = math.prod(sides), large.figures, large.peak - small.peak
    note = f"{figures['chunks']} chunks, {WORKERS} workers"
    processes, size = f"{large.processes} processes", f"{large.written / n:.2f} bytes a point"
    return [
        Figure("points", n, "points"),
        Figure("store made", figures["creation"], "s", at_most=MOST_CREATION),
        Figure("computing", figures["wall"], "s", note=note),
        Figure("speed", n / figures["wall"], "points/s"),
        Figure("engine share", figures["share"], ""),
        Figure("resident memory at its peak", large.peak, "MB", note=processes),
        Figure("growth", grown, "MB", at_most=MOST_GROWTH, note="beyond a run of 10⁶ points"),
        Figure("written", large.written / 1e6, "MB", note=size),
        *scanned,
    ]


def run(rows: str, columns: str, store: str) -> None:
    """Run the sweep in this process and print its figures."""
    request = _request((int(rows), int(columns)))
    run_request(with_options(request, cluster="local", workers=WORKERS), store)


def _request(sides: tuple[int, int]) -> Request:
    overrides = (
        f"friction = {{ geomspace = [0.01, 1.0, {sides[0]}] }}",
        f"base_acceleration = {{ linspace = [0.5, 15.0, {sides[1]}] }}",
        'outputs = ["wear_power", "regime"]',
        'dtype = "float32"',
    )
    return with_options(load("wear_power", overrides), backend="cpu")


def scans(n: int, folder: Path) -> Iterator[Figure]:
    """Scans of n chunks in rows, as in sweeps of two axes, and of chunks in a square."""
    side = math.isqrt(n)
    for name, sides in (("in rows", (n, 16)), ("in a square", (side, 16 * (n // side)))):
        request = with_options(_request(sides), chunk_points=16)
        store = open_store(request, folder / f"{name}.zarr")
        _half_done(store)
        seconds = _scan_seconds(store) * SCANNED / store.n_chunks
        note, bound = (
            f"measured with {store.n_chunks:,} chunks",
            MOST_SCAN if n == SCANNED else None,
        )
        yield Figure(f"scan of 1e5 chunks {name}", seconds, "s", at_most=bound, note=note)


def _half_done(store: Store) -> None:
    """Make the files of all chunks, but of every other one no status."""
    group = zarr.open_group(store.path, mode="r")
    counts = chunk_counts(store.sweep.grid.shape, store.chunk_shape)
    for name in ("wear_power", "regime", "status"):
        array = group[name]
        assert isinstance(array, zarr.Array)
        for i, index in enumerate(itertools.product(*map(range, counts))):
            if i % 2 or name != "status":
                file = store.path / name / array.metadata.encode_chunk_key(index)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch()


def _scan_seconds(store: Store) -> float:
    began = time.perf_counter()
    clean(store)
    store.chunk_files.torn()
    store.pending()
    return time.perf_counter() - began


if __name__ == "__main__":
    run(*sys.argv[1:])
