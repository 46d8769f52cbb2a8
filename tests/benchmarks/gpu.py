"""Points and steps a second on this machine's GPU: `python -m tests.benchmarks.gpu [FOLDER]`.

Writes gpu-DEVICE.json into FOLDER, results/benchmarks if none is named: each kernel with its speed
in launches alone ("kernel") and from call to arrays ("call"), and beside it the CPU backend on one
core where there is a compiler. Where cuobjdump is, the instructions of the innermost loops are
counted from the machine code: with the device's rate of instructions on doubles they tell how much
of it is used. Needs NumPy and CuPy; times are of a warm kernel, medians.
"""

from __future__ import annotations

import json
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.backends.base import Backend
from sweep.backends.cpu import CpuBackend
from sweep.backends.cupy_device import CupyDevice, find_gpu
from sweep.backends.gpu import ITEMS_OF_A_THREAD, GpuBackend, options_for
from sweep.errors import SweepError
from sweep.source import kernel_of, kernel_text
from sweep.spec import Column, Points, Sweep
from tests.benchmarks import sass
from tests.gpu_points import cases
from tests.points import sweep_of

RESULTS = Path(__file__).parents[2] / "results" / "benchmarks"
REPEATS = 5
CPU_SHARE = 256  # the CPU is given every 256th point
MAP_POINTS = 10**9

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Work:
    """Points to be timed, and the steps that all of them take together (0: not counted)."""

    name: str
    sweep: Sweep
    points: Points
    steps: float = 0.0


def works() -> Iterator[Work]:
    """What is measured."""
    side = 1024
    yield sdnd104(side)
    for method, evaluations in (("euler", 1), ("moreau", 1), ("devogelaere", 2), ("rk54", 6)):
        yield stepping(method, 2**20, 20_000 // evaluations)
    grid = {"beta": np.geomspace(0.01, 100.0, side), "phase": np.linspace(0.0, 3.0, side)}
    yield Work("mdr_contact exact, sphere", *_grid("mdr_contact", "exact", grid, {"delta": 0.3}))
    for method in ("time_stepping", "time_stepping_2"):
        yield springs(method, 2**16)
    for case in cases(2**18):
        if not case.points.variants:
            yield Work(f"{case.name.replace('-', ' ')}, random points", case.sweep, case.points)


def sdnd104(side: int) -> Work:
    """SDND104's wear power over friction and base acceleration."""
    grid = {
        "friction": np.geomspace(0.01, 1.0, side),
        "base_acceleration": np.linspace(0.5, 15.0, side),
    }
    fixed = {"mass": 1.0, "gravity": 10.0, "angular_frequency": 2 * np.pi}
    fixed |= {"window_start": 4.0, "window_end": 12.0}
    sweep, points = _grid("friction_oscillator", "exact", grid, fixed, ("wear_power",))
    points = replace(points, variants=("no_spring", "no_damping", "no_shaking"))
    return Work("friction_oscillator exact, wear power of SDND104", sweep, points)


def stepping(method: str, n: int, steps: int) -> Work:
    """A scheme at constant step, without spring, damper and shaking, all points on one clock."""
    random = np.random.default_rng(3)
    h = 1e-4
    values: dict[str, Values] = {
        "mass": random.uniform(0.5, 2.0, n),
        "gravity": np.array([10.0]),
        "friction": random.uniform(0.02, 0.1, n),
        "base_acceleration": random.uniform(5.0, 15.0, n),
        "angular_frequency": np.array([2 * np.pi]),
        "window_start": np.array([0.25 * steps * h]),
        "window_end": np.array([steps * h]),
        "step": np.array([h]),
    }
    if method != "moreau":
        values |= {"tangential_stiffness": np.array([9e5]), "tolerance": np.array([np.inf])}
    sweep = sweep_of(values, "friction_oscillator", method, ("wear_power",))
    variants = tuple(variant.name for variant in sweep.method.variants)
    points = Points(n_points=n, columns=_columns(sweep, values), variants=variants)
    return Work(f"friction_oscillator {method}, one clock", sweep, points, float(n) * steps)


def springs(method: str, n: int) -> Work:
    """Contacts all of whose springs slip, so that none is left out."""
    steps, count, cycles = 1000, 1024, 2
    values = {
        "beta": np.linspace(0.3, 0.6, n),
        "delta": np.array([1.5]),
        "phase": np.array([1.0]),
        "steps_per_cycle": np.array([float(steps)]),
        "springs": np.array([float(count)]),
        "cycles": np.array([float(cycles)]),
    }
    sweep = sweep_of(values, "mdr_contact", method, ("normalized_energy",))
    points = Points(n_points=n, columns=_columns(sweep, values))
    done = float(n) * steps * count * cycles
    return Work(f"mdr_contact {method}, {count} springs", sweep, points, done)


def _grid(
    model: str,
    method: str,
    axes: Mapping[str, Values],
    fixed: Mapping[str, float],
    outputs: tuple[str, ...] | None = None,
) -> tuple[Sweep, Points]:
    (first, slow), (second, fast) = axes.items()
    sweep = sweep_of({**axes, **fixed}, model, method, outputs)
    columns = _columns(sweep, {name: np.array([value]) for name, value in fixed.items()} | axes)
    columns |= {first: Column(slow, len(fast)), second: Column(fast)}
    return sweep, Points(n_points=len(slow) * len(fast), columns=columns)


def _columns(sweep: Sweep, values: Mapping[str, Values]) -> dict[str, Column]:
    return {
        p.name: Column(values[p.name] if p.name in values else np.array([p.default], np.float64))
        for p in sweep.parameters
    }


def measured(work: Work, device: CupyDevice, backend: Backend) -> dict[str, Any]:
    """One kernel's figures."""
    began = time.perf_counter()
    backend.prepare(work.sweep, work.points)
    compiling = time.perf_counter() - began
    computed = backend.compute(work.sweep, work.points)
    kernel = median(_times(lambda: backend.compute(work.sweep, work.points).kernel_seconds))
    call = median(_times(lambda: _seconds(lambda: backend.compute(work.sweep, work.points))))
    n = work.points.n_points
    found: dict[str, Any] = {
        "points": n,
        "ok": int(np.count_nonzero(computed.arrays["status"] == 0)),
        "compiling_seconds": compiling,
        "kernel_points_per_second": n / kernel,
        "call_points_per_second": n / call,
    }
    if work.steps:
        found["kernel_steps_per_second"] = work.steps / kernel
        found |= _loops(work, device)
    return found | _on_cpu(work)


def _loops(work: Work, device: CupyDevice) -> dict[str, Any]:
    """What the kernel's innermost loops take, by its machine code; some do several steps a turn."""
    if not sass.available():
        return {}
    kernel = kernel_of(work.sweep, work.points.variants)
    text = kernel_text(kernel, "gpu")
    found = sass.loops(_cubin(text, options_for(kernel, text), device))
    lanes = ITEMS_OF_A_THREAD if kernel.method.items else 1
    return {"items_of_a_thread": lanes, "loops": [asdict(loop) for loop in found]}


def _cubin(text: str, options: tuple[str, ...], device: CupyDevice) -> bytes:
    nvrtc: Any = import_module("cupy").cuda.nvrtc
    major, minor = device.facts.capability
    program = nvrtc.createProgram(text, "kernel.cu", (), ())
    nvrtc.compileProgram(program, (*options, f"-arch=sm_{major}{minor}"))
    code = bytes(nvrtc.getCUBIN(program))
    return code + bytes(-len(code) % 4)  # CuPy 14.2 takes the last byte for a text's NUL


def _on_cpu(work: Work) -> dict[str, Any]:
    """The CPU backend on one core, on every 256th point; nothing where it has no compiler."""
    n = max(work.points.n_points // CPU_SHARE, 64)
    index = np.arange(n) * (work.points.n_points // n)
    columns = {
        name: Column(c.values[index // c.repeat % len(c.values)] if len(c.values) > 1 else c.values)
        for name, c in work.points.columns.items()
    }
    points, backend = replace(work.points, n_points=n, columns=columns), CpuBackend()
    try:
        backend.prepare(work.sweep, points)
    except SweepError:
        return {}
    seconds = _seconds(lambda: backend.compute(work.sweep, points))
    if seconds < 0.5:
        seconds = median(_times(lambda: _seconds(lambda: backend.compute(work.sweep, points))))
    return {"one_core_points_per_second": n / seconds, "one_core": backend.description}


def whole_map(backend: Backend, limit: float = 30.0) -> dict[str, Any]:
    """SDND104's map in chunks of 2**20 points until there are 10**9, or until `limit` seconds."""
    work = sdnd104(1024)
    began, kernel, done = time.perf_counter(), 0.0, 0
    while done < MAP_POINTS and time.perf_counter() - began < limit:
        kernel += backend.compute(work.sweep, work.points).kernel_seconds
        done += work.points.n_points
    return {"points": done, "kernel_seconds": kernel, "seconds": time.perf_counter() - began}


def _times(measure: Callable[[], float]) -> list[float]:
    return [measure() for _ in range(REPEATS)]


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS
    try:
        device = find_gpu()
    except SweepError as error:
        print(f"nothing is measured: {error}", file=sys.stderr)
        return 3
    backend = GpuBackend(device)
    record: dict[str, Any] = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "device": {**asdict(device.facts), "double_rate": device.facts.double_rate},
        "system": platform.platform(),
        "kernels": {},
    }
    name = re.sub(r"[^a-z0-9]+", "-", device.facts.name.lower()).strip("-")
    path = folder / f"gpu-{name}.json"
    print(device.facts)
    for work in works():
        found = record["kernels"][work.name] = measured(work, device, backend)
        steps = found.get("kernel_steps_per_second")
        print(
            f"{work.name:52} {found['kernel_points_per_second']:.3g} points/s in kernels, "
            f"{found['call_points_per_second']:.3g} in calls"
            + (f", {steps:.3g} steps/s" if steps else ""),
            flush=True,
        )
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    record["map of 1e9 points"] = whole_map(backend)
    print("map:", record["map of 1e9 points"])
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"kept in {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
