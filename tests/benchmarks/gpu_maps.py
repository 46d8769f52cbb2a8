"""Maps and samples of up to 10¹¹ points on a GPU: chunk after chunk, and through the engine."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from sweep.kernel.backend import Backend
from tests.benchmarks.gpu_works import Work

POINTS = 10**9
LIMIT = 30.0  # s, of chunks without the engine
STORED_SIDE = 2**14  # of a map through the engine, which also writes
SMALL_SIDE = 2**6  # of the one before it, which imports and loads everything
BILLION_SIDE, BILLION_LIMIT = 2**15, 60.0  # s
SAMPLES, SAMPLES_OF_A_CHUNK, SAMPLING_LIMIT = 10**11, 2**24, 115.0  # s

Figures = dict[str, Any]


def whole_map(
    backend: Backend, work: Work, threads: int, points: int = POINTS, limit: float = LIMIT
) -> Figures:
    """`work` repeated until there are `points` points or `limit` seconds have passed.

    With two threads one chunk is copied while another is computed.
    """
    chunks = iter(range(-(-points // work.points.n_points)))
    began = time.perf_counter()

    def compute(_: int) -> list[float]:
        """The kernel seconds of each chunk that this thread computes."""
        seconds = []
        while time.perf_counter() - began < limit and next(chunks, None) is not None:
            seconds.append(backend.compute(work.sweep, work.points).kernel_seconds)
        return seconds

    with ThreadPoolExecutor(threads) as crew:
        seconds = [each for thread in crew.map(compute, range(threads)) for each in thread]
    took = time.perf_counter() - began
    done = len(seconds) * work.points.n_points
    return {
        "points": done,
        "kernel_seconds": sum(seconds),
        "seconds": took,
        "points_per_second": done / took,
    }


def stored_map(side: int = STORED_SIDE, backend: str = "gpu", **options: Any) -> Figures:
    """SDND104's map through the engine into a temporary store, with options of `sweep.run`."""
    if "gpus" not in options:  # whose processes import for themselves
        computed(map_document(SMALL_SIDE), SMALL_SIDE**2, backend=backend, workers=1)
    return computed(map_document(side), side**2, backend=backend, **options)


def samples(
    points: int = SAMPLES,
    chunk_points: int = SAMPLES_OF_A_CHUNK,
    time_limit: float = SAMPLING_LIMIT,
    backend: str = "gpu",
) -> Figures:
    """Random frictions of SDND104's mass, of which statistics alone are kept."""
    statistics = ["mean", "standard_deviation", "minimum", "maximum", "share above 2 W"]
    document = _document({"base_acceleration": 3.0})
    document["sample"] = {"method": "random", "points": points, "seed": 1}
    document["sample"]["friction"] = {"lognormal": [0.1, 0.5]}
    document["reduce"] = {"wear_power": statistics}
    options = {"backend": backend, "chunk_points": chunk_points, "time_limit": time_limit}
    return computed(document, points, **options)


def map_document(side: int) -> Figures:
    """The request of SDND104's wear power over friction and base acceleration."""
    axes = {
        "friction": {"geomspace": [0.01, 1.0, side]},
        "base_acceleration": {"linspace": [0.5, 15.0, side]},
    }
    return {**_document({}), "axes": axes}


def _document(further: Mapping[str, float]) -> Figures:
    fixed = {"mass": 1.0, "gravity": 10.0, "angular_frequency": 2 * np.pi}
    fixed |= {"window_start": 4.0, "window_end": 12.0}
    parameters = {**fixed, **further}
    return {"model": "friction_oscillator", "outputs": ["wear_power"], "parameters": parameters}


def computed(document: Mapping[str, Any], points: int, **options: Any) -> Figures:
    """The figures of a request of so many points, with options of `sweep.run`.

    `seconds` is the engine's own time, from when its workers are there; what comes before is in
    `starting_seconds`. `seconds_of_all` is extrapolated where a time limit ends the run. If
    dependencies of the engine are not installed, the name of the missing one.
    """
    try:
        import_module("zarr")
        api, file = import_module("sweep.api"), import_module("sweep.file")
    except ImportError as error:
        return {"not_measured": str(error)}
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as folder:
        began = time.perf_counter()
        request = api.with_options(file.load(document), **options)
        store, summary = api.compute(request, Path(folder) / "results.zarr")
        took = time.perf_counter() - began
        files = [each.stat() for each in Path(store.location).rglob("*") if each.is_file()]
    rate = summary.points / summary.wall_seconds
    return {
        "points": summary.points,
        "seconds": summary.wall_seconds,
        "starting_seconds": took - summary.wall_seconds,
        "kernel_seconds": summary.kernel_seconds,
        "points_per_second": rate,
        "seconds_of_all": points / rate,
        "stored_bytes": sum(each.st_size for each in files),
    }
