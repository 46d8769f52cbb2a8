"""Points and steps per second on this machine's GPU: `python -m tests.benchmarks.gpu [FOLDER]`.

After each measurement gpu-DEVICE.json is written into FOLDER (default: results/benchmarks). It has,
in this order: the speed of the main methods, in launches alone ("kernel") and of a whole call
("call"), where points are sorted also without that; maps (`gpu_maps.py`) of 10⁹ points by one
thread, and by two so that copies overlap computing; maps and samples through the engine if its
dependencies are installed; the speed of the other methods; a map with --gpus.

NumPy and CuPy are needed. Times are medians with a warm kernel. A failure is recorded in place of
its figures, and the others follow. With --go-on only what earlier processes have not measured is
measured.
"""

from __future__ import annotations

import json
import platform
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from sweep.errors import LostDeviceError, SweepError
from sweep.kernel.backend import Backend
from sweep.kernel.cupy_device import CupyDevice, find_gpu
from sweep.kernel.gpu import GpuBackend
from sweep.kernel.sorting import sorting
from tests.benchmarks.gpu_maps import BILLION_LIMIT, BILLION_SIDE, samples, stored_map, whole_map
from tests.benchmarks.gpu_works import MAIN, Work, as_they_come, sdnd104, works

RESULTS = Path(__file__).parents[2] / "results" / "benchmarks"
REPEATS = 5
LONG = 1.0  # s, of a call that is measured once
LARGE_SIDE = 2**11  # of a map in one call
STORING_THREADS = (4, 8, 14)
GO_ON = "--go-on"
BILLION, SAMPLES = "SDND104 into a store, 2³⁰ points", "10¹¹ samples of SDND104, reduced"

Figures = dict[str, Any]
Measurement = tuple[str, str, Callable[[], Figures]]  # section, name, and how it is measured


def measurements(backend: Backend, every: Iterable[Work]) -> Iterator[Measurement]:
    """All measurements of the works on a GPU, in order of importance."""
    each = tuple(every)
    first, main, others = each[0], each[:MAIN], each[MAIN:]
    for work in main:
        yield "kernels", work.name, lambda work=work: measured(work, backend)
    large = sdnd104(LARGE_SIDE)
    yield "maps", "SDND104 in one call of 2²² points", lambda: measured(large, backend)
    yield "maps", "SDND104 in chunks, one thread", lambda: whole_map(backend, first, 1)
    yield "maps", "SDND104 in chunks, two threads", lambda: whole_map(backend, first, 2)
    for threads in STORING_THREADS:
        name = f"SDND104 into a store, {threads} threads"
        yield "maps", name, lambda threads=threads: stored_map(workers=threads)
    options = {"workers": max(STORING_THREADS), "time_limit": BILLION_LIMIT}
    yield "maps", BILLION, lambda: stored_map(BILLION_SIDE, **options)
    yield "maps", SAMPLES, samples
    for work in others:
        yield "kernels", work.name, lambda work=work: measured(work, backend)
    yield "maps", "SDND104 into a store, --gpus", lambda: stored_map(backend="auto", gpus="all")


def measured(work: Work, backend: Backend) -> Figures:
    """The figures of one method."""
    began = time.perf_counter()
    backend.prepare(work.sweep, work.points.variants)
    compiling = time.perf_counter() - began
    computed = backend.compute(work.sweep, work.points)
    kernel, call = _medians(work, backend)
    n = work.points.n_points
    figures: Figures = {
        "points": n,
        "ok": int(np.count_nonzero(computed.arrays["status"] == 0)),
        "compiling_seconds": compiling,
        "kernel_points_per_second": n / kernel,
        "call_points_per_second": n / call,
    }
    if work.steps:
        figures["kernel_steps_per_second"] = work.steps / kernel
    if sorting(work.sweep.method, work.points):
        kernel, call = _medians(as_they_come(work), backend)
        figures["unsorted_kernel_points_per_second"] = n / kernel
        figures["unsorted_call_points_per_second"] = n / call
    return figures


def _medians(work: Work, backend: Backend) -> tuple[float, float]:
    """The medians of _both() after a call that warms up, which tells how many there is time for."""
    _, seconds = _both(work, backend)
    repeats = REPEATS if seconds < LONG else 1
    kernel, call = zip(*(_both(work, backend) for _ in range(repeats)), strict=True)
    return median(kernel), median(call)


def _both(work: Work, backend: Backend) -> tuple[float, float]:
    """The seconds that one call takes in launches and as a whole."""
    began = time.perf_counter()
    computed = backend.compute(work.sweep, work.points)
    return computed.kernel_seconds, time.perf_counter() - began


def machine(device: CupyDevice) -> Figures:
    """The device, the versions and the date of the figures."""
    facts = device.facts
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "device": {**asdict(facts), "double_rate": facts.double_rate},
        "system": platform.platform(),
    }


def record(path: Path, about: Mapping[str, Any], queue: Iterator[Measurement]) -> int:
    """Measure everything, store each result in the file at once, and return the number of failures.

    Figures that the file already has are not measured again. LostDeviceError if a measurement loses
    the GPU; it is recorded as the result of that measurement.
    """
    kept: Figures = {**about, "kernels": {}, "maps": {}}
    if path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
    failed = 0
    for section, name, measure in queue:
        if name in kept[section]:
            continue
        lost: LostDeviceError | None = None
        kept[section][name] = {"error": "the process ended before it did"}
        _keep(path, kept)
        try:
            figures = measure()
        except Exception as error:  # of one measurement: others may succeed
            figures = {"error": f"{type(error).__name__}: {error}"}
            failed += 1
            lost = error if isinstance(error, LostDeviceError) else None
        kept[section][name] = figures
        _keep(path, kept)
        print(f"{name:56} {_summary(figures)}", flush=True)
        if lost:
            raise lost
    return failed


def _keep(path: Path, figures: Figures) -> None:
    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def _summary(figures: Figures) -> str:
    shown = {name: v if isinstance(v, str) else f"{v:.4g}" for name, v in figures.items()}
    return ", ".join(f"{name} {value}" for name, value in shown.items())


def figures_path(folder: Path, device: CupyDevice) -> Path:
    """The file of a device's figures."""
    name = re.sub(r"[^a-z0-9]+", "-", device.facts.name.lower()).strip("-")
    return folder / f"gpu-{name}.json"


def main() -> int:
    """Measure everything, or with --go-on what is not recorded yet."""
    folders = [each for each in sys.argv[1:] if each != GO_ON]
    folder = Path(folders[0]) if folders else RESULTS
    try:
        device = find_gpu()
    except SweepError as error:
        print(f"nothing is measured: {error}", file=sys.stderr)
        return 3
    path = figures_path(folder, device)
    print(device.facts)
    if GO_ON not in sys.argv:
        path.unlink(missing_ok=True)
    queue = measurements(GpuBackend(device), works())
    try:
        failed = record(path, machine(device), queue)
    except LostDeviceError:
        print(f"the GPU is lost to this process; {GO_ON} measures what is left")
        return 4
    print(f"kept in {path}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
