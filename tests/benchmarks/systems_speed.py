"""Speed of models from text files on one core, beside numba with points side by side.

Times are medians of the processor time of one thread, measured in turn.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np

from sweep.backends.cpu import CpuBackend
from sweep.config.model_file import read_model
from sweep.equations.header import header_of
from sweep.equations.system_file import system_of_text
from tests.benchmarks.machine_limit import share_of_limit
from tests.benchmarks.peers import systems_numba
from tests.benchmarks.record import Figure
from tests.benchmarks.timed import cpu_seconds
from tests.points.files import file_case

RK4_BOUNDS = {8: 5e8, 4: 2.5e8}  # steps a second, by doubles in a vector
STEP, END = 1e-3, 10.0
TOLERANCE = 1e-8
AGREEMENT = 1e-5  # of final states: a thousand times the tolerance, which long transients amplify
# Hegedűs et al., 30,720 systems.
PUBLISHED_VALVES = "published: MPGOS, Titan Black 3793; odeint, a core of an i7-4820K 25.6"


def measure(quick: bool) -> list[Figure]:
    count, repeats = (1024, 3) if quick else (4096, 7)
    return [
        *_rk4(count, repeats),
        *_choosing("lorenz", count, repeats),
        *_choosing("duffing", count, repeats),
        *_valve(16 if quick else 128),
        *_first_result(repeats),
    ]


def _valve(count: int) -> Iterator[Figure]:
    """The published benchmark with events: 1056 maxima of a valve's displacement."""
    flow = np.linspace(0.2, 10.0, count)
    controls = {"relative_tolerance": 1e-10, "window_end": 1e5}
    valve = ("relief_valve", "rk54", "impacts", {"flow": flow})
    ours, _ = _ours(*valve, **controls)
    seconds = cpu_seconds({"ours": ours}, 1)
    yield Figure("relief_valve, rk54", count / seconds["ours"], "points/s", note=PUBLISHED_VALVES)
    yield _share("relief_valve, rk54", valve, controls, seconds)


def _first_result(repeats: int) -> Iterator[Figure]:
    """From the file of Lorenz to the first result by rk54, beyond that with a cached kernel."""
    generator, compiled, cached = [], [], []
    for _ in range(repeats):
        with (
            TemporaryDirectory() as folder,
            mock.patch.dict(os.environ, TRIBOSWEEP_CACHE_DIR=folder),
        ):
            began = time.perf_counter()
            table = read_model("lorenz", Path())
            header_of(system_of_text(table.text), ["final_x"], "rk54")
            generator.append(time.perf_counter() - began)
            compiled.append(_seconds_of_a_point())
            cached.append(_seconds_of_a_point())
    yield Figure("lorenz, rk54: file to C++", median(generator), "s", at_most=0.2)
    beyond = median(compiled) - median(cached)
    yield Figure("lorenz, rk54: first result beyond a cached kernel", beyond, "s", at_most=5.0)


def _seconds_of_a_point() -> float:
    began = time.perf_counter()
    ours, _ = _ours("lorenz", "rk54", "final_x", {"rho": 10.0}, window_end=1.0)
    ours()
    return time.perf_counter() - began


def _rk4(count: int, repeats: int) -> Iterator[Figure]:
    rho = np.linspace(0.5, 21.0, count)
    sigma, beta = np.full(count, 10.0), np.full(count, 8.0 / 3.0)
    lorenz = ("lorenz", "rk4", "final_x", {"rho": rho})
    controls = {"step": STEP, "window_end": END}
    ours, width = _ours(*lorenz, **controls)
    theirs = lambda: systems_numba.lorenz_rk4(sigma, rho, beta, END, STEP)  # noqa: E731
    theirs()
    seconds = cpu_seconds({"ours": ours, "numba": theirs}, repeats)
    speed = count * END / STEP / seconds["ours"]
    yield Figure("lorenz, rk4", speed, "steps/s", at_least=RK4_BOUNDS.get(width))
    yield from _beside("lorenz, rk4", seconds, ours(), theirs(), 1e-9)
    yield _share("lorenz, rk4", lorenz, controls, seconds)


def _choosing(model: str, count: int, repeats: int) -> Iterator[Figure]:
    controls = {"relative_tolerance": TOLERANCE, "window_end": END}
    if model == "lorenz":
        rho = np.linspace(0.5, 21.0, count)
        varied = {"rho": rho}
        start, parameters = np.ones(3), (np.full(count, 10.0), rho, np.full(count, 8.0 / 3.0))
    else:
        force = np.linspace(0.1, 0.3, count)
        controls |= {"damping": 0.3, "linear": -1.0, "cubic": 1.0, "omega": 1.2, "start_x": 1.0}
        varied = {"force": force}
        start = np.array([1.0, 0.0, 0.0])
        parameters = (np.full(count, 0.3), force, np.full(count, 1.2))
    case = (model, "rk54", "final_x", varied)
    ours, _ = _ours(*case, **controls)
    peer = systems_numba.CHOOSING[model]
    theirs = lambda: peer(start, *parameters, END, TOLERANCE)  # noqa: E731
    theirs()
    seconds = cpu_seconds({"ours": ours, "numba": theirs}, repeats)
    name = f"{model}, rk54 choosing its steps"
    yield Figure(name, count / seconds["ours"], "points/s")
    yield from _beside(name, seconds, ours(), theirs(), AGREEMENT)
    yield _share(name, case, controls, seconds)


def _share(
    name: str,
    case: tuple[str, str, str, dict[str, Any]],
    controls: dict[str, float],
    seconds: dict[str, float],
) -> Figure:
    model, method, output, varied = case
    chosen = file_case(model, method, {**controls, **varied}, (output,))
    return share_of_limit(name, chosen.sweep, chosen.points, seconds["ours"])


def _beside(
    name: str, seconds: dict[str, float], ours: Any, theirs: Any, agreement: float
) -> Iterator[Figure]:
    ratio = seconds["numba"] / seconds["ours"]
    yield Figure(f"{name}: ours to SIMD-blocked numba", ratio, "times", at_least=1.0)
    error = float(np.max(np.abs(ours - theirs) / (1.0 + np.abs(theirs))))
    yield Figure(f"{name}: difference from numba", error, "", at_most=agreement)


def _ours(
    model: str, method: str, output: str, varied: dict[str, Any], **fixed: float
) -> tuple[Callable[[], Any], int]:
    """A function that computes the points, and the doubles in a vector of this machine."""
    compute = computing(model, method, (output,), varied, **fixed)
    width = 8 if "avx512f" in Path("/proc/cpuinfo").read_text(encoding="utf-8") else 4
    return (lambda: compute()[output]), width


def computing(
    model: str, method: str, outputs: tuple[str, ...], varied: dict[str, Any], **fixed: float
) -> Callable[[], Any]:
    """A function that computes the points of a shipped model file."""
    chosen, backend = file_case(model, method, {**fixed, **varied}, outputs), CpuBackend()
    backend.prepare(chosen.sweep, chosen.points)
    return lambda: backend.compute(chosen.sweep, chosen.points).arrays
