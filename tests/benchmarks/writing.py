"""The rate at which a store writes chunks, to that of raw files of the same bytes.

A raw file is opened, written, closed and renamed into its place. Both are written in turn, into one
folder, and removed after each, so that both have the same memory and disk before them. In three
ways: to memory that the system has at hand, the fastest that files can be, where only processor
time counts; a series of chunks and then all of their files synced, as the disk takes them in a long
run; and each file synced and its folder too, as a durable store does.

The store compresses and sums up besides. Its chunks are of random bits, which nothing can compress,
of 2**19 float64 and of twice as many, the most that are one block of a file, with a status. The
wear power of a real chunk, which shrinks, is told without a bound.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from sweep.api import provenance
from sweep.backends import open_backend
from sweep.plan import points
from sweep.spec import Chunk
from sweep.store import Store
from tests.benchmarks.engine_share import CHUNK_POINTS, request_of
from tests.benchmarks.record import Figure

LEAST_RATIO = 0.70
SIZES = (1, 2)  # × 2**19 float64: 4 MB and 8 MB


@dataclass(frozen=True)
class Times:
    """Seconds of one chunk written by the store and as raw files, and how many bytes that is."""

    store: float
    raw: float
    size: int


@dataclass(frozen=True)
class Way:
    """How chunks are written: so many before any is synced, and by which clock."""

    words: str
    clock: Callable[[], float] = time.perf_counter
    durable: bool = False
    series: int = 0  # 0: one chunk, and nothing is synced after it


WAYS = (
    Way("in the system's memory", clock=time.thread_time),
    Way("a series, then synced", series=16),
    Way("each synced", durable=True),
)


def measure(quick: bool) -> list[Figure]:
    repeats = 20 if quick else 60
    figures: list[Figure] = []
    for way in WAYS:
        few = max(repeats // 4, 5) if way.series else repeats
        for factor in SIZES:
            size = factor * CHUNK_POINTS
            times = list(_times(_random_bits(size), factor, way, few))
            name = f"random bits, {size * 8 // 2**20} MB, {way.words}"
            figures += _figures(name, times, LEAST_RATIO)
        times = list(_times(_wear_power(), 1, way, few))
        figures += _figures(f"wear power, 4 MB, {way.words}", times, None)
    return figures


def _figures(name: str, times: list[Times], bound: float | None) -> Iterator[Figure]:
    ratios = [each.raw / each.store for each in times]
    low, high = np.quantile(ratios, [0.25, 0.75])
    note = f"half of them {low:.2f} to {high:.2f}; {times[0].size / 1e6:.1f} MB at once"
    yield Figure(f"{name}: to raw files", median(ratios), "", at_least=bound, note=note)
    for kind, seconds in (
        ("store", [t.store for t in times]),
        ("raw files", [t.raw for t in times]),
    ):
        rate = times[0].size / median(seconds) / 1e6
        yield Figure(f"{name}: {kind}", rate, "MB/s")


def _times(values: NDArray[np.float64], factor: int, way: Way, repeats: int) -> Iterator[Times]:
    n = max(way.series, 1)
    request = request_of(n * factor, ("wear_power",))
    arrays = {"wear_power": values, "status": np.zeros(values.size, np.uint8)}
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as name:
        folder = Path(name)
        store = Store.create(
            folder / "map.zarr",
            request.sweep,
            chunk_points=values.size,
            provenance=provenance(request),
            durable=way.durable,
        )
        chunks = store.pending()[:n]
        contents = _contents(store, chunks[0], arrays) * n
        places = [folder / f"raw{i}" for i in range(len(contents))]

        def write_store() -> None:
            for chunk in chunks:
                store.write(chunk, arrays)
            if way.series:
                _sync(_files(store))

        def write_raw() -> None:
            for place, content in zip(places, contents, strict=True):
                _write(place, content, way.durable)
            if way.series:
                _sync(places)

        writers = {"store": write_store, "raw": write_raw}
        order = cycle([("store", "raw"), ("raw", "store")])
        for _ in range(repeats):
            taken = {name: _seconds(writers[name], way.clock) for name in next(order)}
            yield Times(taken["store"], taken["raw"], sum(map(len, contents)))
            for file in (*_files(store), *places):
                file.unlink()


def _contents(store: Store, chunk: Chunk, arrays: dict[str, NDArray]) -> list[bytes]:
    """What the files of a chunk hold; they are gone afterwards."""
    store.write(chunk, arrays)
    files = list(_files(store))
    contents = [file.read_bytes() for file in files]
    for file in files:
        file.unlink()
    return contents


def _files(store: Store) -> list[Path]:
    return [file for name in ("wear_power", "status") for file in _chunk_files(store.path / name)]


def _chunk_files(array: Path) -> Iterator[Path]:
    return (file for file in array.rglob("*") if file.is_file() and file.name != "zarr.json")


def _write(place: Path, content: bytes, durable: bool) -> None:
    scratch = place.with_suffix(".partial")
    with scratch.open("wb") as file:
        file.write(content)
        if durable:
            os.fsync(file.fileno())
    scratch.replace(place)
    if durable:
        _sync([place.parent])


def _sync(paths: list[Path]) -> None:
    for path in paths:
        file = os.open(path, os.O_RDONLY)
        os.fsync(file)
        os.close(file)


def _seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    began = clock()
    work()
    return clock() - began


def _random_bits(size: int) -> NDArray[np.float64]:
    bits = np.random.default_rng(11).integers(0, 2**64, size, dtype=np.uint64)
    return bits.view(np.float64)


def _wear_power() -> NDArray[np.float64]:
    request = request_of(1, ("wear_power",))
    whole = Chunk((0, 0), (0, 0), request.sweep.shape)
    computed = open_backend("cpu").compute(request.sweep, points(request.sweep, whole))
    return computed.arrays["wear_power"]
