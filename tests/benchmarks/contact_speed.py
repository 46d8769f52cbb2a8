"""Contacts per second of mdr_contact exact on one core, and the million points of master_surface.

Times are medians of the processor time of one thread, measured in turn, except the last one. The
grids are over friction (beta) and phase. At random points all parameters differ, so that lanes wait
for their neighbours. The command runs all of master_surface, with its store, on two workers.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sweep.backends.cpu import CpuBackend, Target
from sweep.request import Sweep
from sweep.work import Column, Points
from tests.benchmarks.exact_speed import order_figure
from tests.benchmarks.machine_limit import limit, share_of_limit
from tests.benchmarks.record import Figure
from tests.benchmarks.timed import cpu_seconds
from tests.points import sweep_of

SIDES = (128, 256)
QUICK_SIDES = (32, 64)
LEAST_SPHERES = 5e5  # contacts a second on one core
LEAST_PROFILES = 1e5
LONGEST = 30.0  # s, of master_surface
OUTPUTS = ("normalized_energy", "regime")


def measure(quick: bool) -> list[Figure]:
    sides, repeats = (QUICK_SIDES, 3) if quick else (SIDES, 7)
    grids = {
        "sphere": (_grid(sides, delta=0.2), LEAST_SPHERES),
        "sphere, contact lost": (_grid(sides, delta=2.0), LEAST_SPHERES),
        "cone": (_grid(sides, delta=0.2, profile_exponent=1.0), LEAST_PROFILES),
        "profile of power 3": (_grid(sides, delta=0.2, profile_exponent=3.0), LEAST_PROFILES),
        "random": (_random(sides[0] * sides[1]), LEAST_PROFILES),
    }
    work: dict[str, Callable[[], object]] = {n: _ours(grid) for n, (grid, _) in grids.items()}
    scalar = Target(width=1, pack=1)
    work |= {f"{n}, scalar build": _ours(grid, scalar) for n, (grid, _) in grids.items()}
    seconds = cpu_seconds(work, repeats)
    count = sides[0] * sides[1]
    figures = [
        Figure(name, count / seconds[name], "contacts/s", at_least=bound)
        for name, (_, bound) in grids.items()
    ]
    for name, (grid, _) in grids.items():
        ratio = seconds[f"{name}, scalar build"] / seconds[name]
        figures.append(Figure(f"{name}: ours to scalar build", ratio, "times"))
        figures.append(share_of_limit(name, *_case(grid), seconds[name]))
    least = limit(*_case(grids["sphere"][0]))
    operations = sum(least.operations.values()) / least.vectors
    return [
        *figures,
        order_figure("random", *_case(grids["random"][0]), repeats),
        Figure("sphere: vector operations per contact", operations, ""),
        *([] if quick else [_master_surface()]),
    ]


Parameters = Mapping[str, NDArray[np.float64]]


def _grid(sides: tuple[int, int], **constants: float) -> Parameters:
    beta, phase = np.meshgrid(
        np.geomspace(0.01, 100, sides[0]), np.linspace(-3.1, 3.1, sides[1]), indexing="ij"
    )
    fixed = {name: np.full(1, value) for name, value in constants.items()}
    return {"beta": beta.ravel(), "phase": phase.ravel(), **fixed}


def _random(count: int) -> Parameters:
    rng = np.random.default_rng(3)
    return {
        "beta": 10 ** rng.uniform(-2, 2, count),
        "phase": rng.uniform(-3, 3, count),
        "delta": 10 ** rng.uniform(-3, 0.5, count),
        "profile_exponent": rng.choice([1.0, 2.0, 2.5, 4.0], count),
    }


def _case(parameters: Parameters) -> tuple[Sweep, Points]:
    sweep = sweep_of(parameters, model="mdr_contact", outputs=OUTPUTS)
    defaults = {p.name: np.array([p.default], np.float64) for p in sweep.parameters}
    columns = {name: Column(parameters.get(name, defaults[name])) for name in defaults}
    return sweep, Points(n_points=len(parameters["beta"]), columns=columns)


def _ours(parameters: Parameters, target: Target | None = None) -> Callable[[], object]:
    backend = CpuBackend(target)
    sweep, points = _case(parameters)
    backend.prepare(sweep, points)
    return lambda: backend.compute(sweep, points)


def _master_surface() -> Figure:
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as folder:
        store = Path(folder, "surface.zarr")
        command = [sys.executable, "-m", "sweep", "run", "master_surface", "-o", str(store)]
        began = time.perf_counter()
        subprocess.run([*command, "--workers", "2"], check=True, capture_output=True)
        seconds = time.perf_counter() - began
    return Figure("master_surface, a million contacts", seconds, "s", at_most=LONGEST)
