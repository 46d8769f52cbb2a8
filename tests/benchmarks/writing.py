"""The rate at which a store writes chunks, relative to raw files of the same bytes.

A raw file is opened, written, closed and renamed into place. All files are written in turn into one
folder and removed after each round, so that memory and disk are in the same state. There are three
ways: into the page cache, where only processor time counts; a series of chunks whose files are
synced at the end, as in a long run; each file and its folder synced, as in a durable store.

The store also computes checksums and compresses values that shrink. The bound is for values that do
not: chunks of random bits with a status, of 2**19 float64 and of twice as many, the most that are
one block of a file. The wear power of a real chunk is reported without a bound, since the store
compresses it, while the raw files hold bytes that are compressed already.

The store allocates space for a file before writing it. Raw files that do so too are reported
without a bound, to show what the store itself costs.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, cycle, permutations
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from sweep.backends import open_backend
from sweep.engine.driver import provenance
from sweep.plan.point_columns import points
from sweep.store import Store
from sweep.store.durable import reserve as reserve_room
from sweep.work import Chunk
from tests.benchmarks.engine_share import CHUNK_POINTS, request_of
from tests.benchmarks.record import Figure

LEAST_RATIO = 0.70
RAW = ("raw", "reserved")  # files of the same bytes: plain, and with room found beforehand
SIZES = (1, 2)  # × 2**19 float64: 4 MB and 8 MB


@dataclass(frozen=True)
class Times:
    """Seconds to write one chunk by the store and as raw files, and its number of bytes."""

    store: float
    raw: float
    reserved: float  # raw files that room is found for beforehand
    size: int


@dataclass(frozen=True)
class Way:
    """How chunks are written: the number before a sync, and the clock."""

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
    for words, ratios, least in (
        ("raw files", [each.raw / each.store for each in times], bound),
        ("raw files with room reserved", [each.reserved / each.store for each in times], None),
    ):
        low, high = np.quantile(ratios, [0.25, 0.75])
        note = f"half of them {low:.2f} to {high:.2f}; {times[0].size / 1e6:.1f} MB at once"
        yield Figure(f"{name}: to {words}", median(ratios), "", at_least=least, note=note)
    for kind, seconds in (
        ("store", [t.store for t in times]),
        ("raw files", [t.raw for t in times]),
        ("raw files with room reserved", [t.reserved for t in times]),
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
        kinds = {kind: [folder / f"{kind}{i}" for i in range(len(contents))] for kind in RAW}

        def write_store() -> None:
            for chunk in chunks:
                store.write(chunk, arrays)
            if way.series:
                _sync(_files(store))

        def write_raw(kind: str) -> None:
            for place, content in zip(kinds[kind], contents, strict=True):
                _write(place, content, durable=way.durable, reserve=kind == "reserved")
            if way.series:
                _sync(kinds[kind])

        writers = {"store": write_store, **{kind: partial(write_raw, kind) for kind in RAW}}
        order = cycle(permutations(writers))
        for _ in range(repeats):
            taken = {kind: _seconds(writers[kind], way.clock) for kind in next(order)}
            yield Times(**taken, size=sum(map(len, contents)))
            for file in (*_files(store), *chain(*kinds.values())):
                file.unlink()


def _contents(store: Store, chunk: Chunk, arrays: dict[str, NDArray]) -> list[bytes]:
    """The contents of the files of a chunk, which are removed."""
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


def _write(place: Path, content: bytes, *, durable: bool, reserve: bool) -> None:
    scratch = place.with_suffix(".partial")
    with scratch.open("wb") as file:
        if reserve:
            reserve_room(file.fileno(), len(content))
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
