"""A sweep of 10⁹ points by two worker processes: memory, creating the store, scan at a restart.

Wear power and regime of SDND104's mass over its window, as float32, in chunks of the default size.
Memory is the resident memory of all processes of the run, read ten times a second; shared pages
count once per process. The same sum is subtracted for processes that only import the modules that
driver and workers had imported when they opened their backends.

The scan is everything that a restart does before it computes: it looks for leftovers of killed
writers, torn chunks and pending chunks. Its time is measured in stores of 10⁵ chunks, half of them
done. Their files are empty and in memory, since only names are read.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import psutil
import zarr

from sweep.api import open_store, run_in_store, with_options
from sweep.backends import Backend, open_backend
from sweep.config import Request, load
from sweep.plan.chunking import chunk_counts
from sweep.store import Store
from tests.benchmarks.engine_share import engine_share
from tests.benchmarks.record import Figure

SIDES, QUICK_SIDES = (31_250, 32_000), (3125, 3200)
WORKERS = 2
SAMPLE_SECONDS = 0.1
MOST_MEMORY = 1000  # MB, beyond what imports take
MOST_CREATION = 2.0  # s
MOST_SCAN = 1.0  # s for 10**5 chunks
SCANNED = 10**5  # chunks
STAY_SECONDS = 3.0  # of processes that import, for all to be there at once


def measure(quick: bool) -> list[Figure]:
    sides = QUICK_SIDES if quick else SIDES
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as name:
        folder = Path(name)
        arguments = (*map(str, sides), str(folder / "billion.zarr"))
        figures, peak, processes = watched(__spec__.name, "run", *arguments)
        size = sum(f.stat().st_size for f in (folder / "billion.zarr").rglob("*") if f.is_file())
        scan = _scan_seconds(Store.open(folder / "billion.zarr"))
        imports = memory_of_imports(folder)
        scanned = list(scans(SCANNED // 100 if quick else SCANNED, folder))
    n = sides[0] * sides[1]
    chunks = figures["chunks"]
    return [
        Figure("points", n, "points"),
        Figure("store made", figures["creation"], "s", at_most=MOST_CREATION),
        Figure("computing", figures["wall"], "s", note=f"{chunks} chunks, {WORKERS} workers"),
        Figure("speed", n / figures["wall"], "points/s"),
        Figure("engine share", figures["share"], ""),
        Figure("resident memory at its peak", peak, "MB", note=f"{processes} processes"),
        Figure("of that, imports", imports, "MB"),
        Figure("beyond imports", peak - imports, "MB", at_most=MOST_MEMORY),
        Figure("written", size / 1e6, "MB", note=f"{size / n:.2f} bytes a point"),
        Figure("scan of the restart", scan, "s", note=f"{chunks} chunks"),
        *scanned,
    ]


def run(rows: str, columns: str, store: str) -> None:
    """Run the sweep in this process and print its figures as JSON."""
    run_request(_request((int(rows), int(columns))), store)


def run_request(request: Request, store: str) -> None:
    """Run a request by worker processes and print its figures; modules are noted beside."""
    request = with_options(request, cluster="local", workers=WORKERS)
    open_store(request, Path(store).with_name("compiled.zarr"))  # nothing is compiled any more
    modules = Path(store).with_name("modules")
    modules.mkdir()
    began = time.perf_counter()
    made = open_store(request, store)
    creation = time.perf_counter() - began
    summary = run_in_store(made, request, open_backend=Opening(str(modules)))
    assert summary.points == math.prod(made.sweep.grid)
    figures = {"creation": creation, "wall": summary.wall_seconds, "chunks": summary.chunks}
    print(json.dumps({**figures, "share": engine_share(summary)}))


@dataclass(frozen=True)
class Opening:
    """Open a backend, and write the modules that its process has imported into a folder."""

    folder: str

    def __call__(self, name: str) -> Backend:
        backend = open_backend(name)
        names = sorted(name for name in sys.modules if name != "__main__")
        Path(self.folder, f"{os.getpid()}.json").write_text(json.dumps(names), encoding="utf-8")
        return backend


def memory_of_imports(folder: Path) -> float:
    """MB of processes that import what those of a run in this folder have imported."""
    return watched(__spec__.name, "imports", *map(str, (folder / "modules").iterdir()))[1]


def imports(*noted: str) -> None:
    """Start a process per note that imports its modules; all stay until the last has done so."""
    command = [sys.executable, "-m", "tests.benchmarks.billion", "imports"]
    others = [subprocess.Popen([*command, note], stdout=subprocess.PIPE) for note in noted[1:]]
    for name in json.loads(Path(noted[0]).read_text(encoding="utf-8")):
        with suppress(ImportError):
            import_module(name)
    print("{}", flush=True)
    for other in others:
        assert other.stdout is not None
        other.stdout.readline()
    time.sleep(STAY_SECONDS)
    for other in others:
        other.wait()


def _request(sides: tuple[int, int], *more: str) -> Request:
    overrides = (
        f"friction = {{ geomspace = [0.01, 1.0, {sides[0]}] }}",
        f"base_acceleration = {{ linspace = [0.5, 15.0, {sides[1]}] }}",
        'outputs = ["wear_power", "regime"]',
        'dtype = "float32"',
    )
    return with_options(load("wear_power", (*overrides, *more)), backend="cpu")


def watched(module: str, *arguments: str) -> tuple[dict, float, int]:
    """The output of a process of a module, its peak memory in MB and number of processes."""
    command = [sys.executable, "-m", module, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with _sampled(process.pid) as peak:
        text, errors = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{arguments[0]} exits {process.returncode}: {errors}")
    return json.loads(text), peak["bytes"] / 1e6, int(peak["processes"])


@contextmanager
def _sampled(pid: int) -> Iterator[dict[str, float]]:
    """Record the peak resident memory of a process and all its children within the context."""
    peak = {"bytes": 0.0, "processes": 0.0}
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(SAMPLE_SECONDS):
            sizes = list(_resident(pid))
            peak["bytes"] = max(peak["bytes"], sum(sizes))
            peak["processes"] = max(peak["processes"], len(sizes))

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        yield peak
    finally:
        ended.set()
        sampler.join()


def _resident(pid: int) -> Iterator[int]:
    try:
        first = psutil.Process(pid)
        every = [first, *first.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for process in every:
        try:
            yield process.memory_info().rss
        except psutil.NoSuchProcess:
            pass


def scans(n: int, folder: Path) -> Iterator[Figure]:
    """Scans of n chunks in rows, as in sweeps of two axes, and of chunks in a square."""
    side = math.isqrt(n)
    for name, sides in (("in rows", (n, 16)), ("in a square", (side, 16 * (n // side)))):
        request = with_options(_request(sides), chunk_points=16)
        store = open_store(request, folder / f"{name}.zarr")
        _half_done(store)
        seconds = _scan_seconds(store) * SCANNED / store.n_chunks
        note = f"measured with {store.n_chunks:,} chunks"
        yield Figure(f"scan of 1e5 chunks {name}", seconds, "s", at_most=MOST_SCAN, note=note)


def _half_done(store: Store) -> None:
    """Make the files of all chunks, but of every other one no status."""
    group = zarr.open_group(store.path, mode="r")
    counts = chunk_counts(store.sweep.shape, store.chunk_shape)
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
    store.clean()
    store.torn()
    store.pending()
    return time.perf_counter() - began


if __name__ == "__main__":
    {"run": run, "imports": imports}[sys.argv[1]](*sys.argv[2:])
