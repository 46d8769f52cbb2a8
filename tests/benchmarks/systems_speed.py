"""Speed of models from text files on one core, beside numba with points side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sweep.backends.cpu import CpuBackend
from sweep.source import kernel_of
from tests.benchmarks.peers import systems_numba
from tests.benchmarks.record import Figure
from tests.benchmarks.speeds import SIMD_NUMBA, Peer, Speed, figures
from tests.points import Case, Values
from tests.points.files import file_case

RK4_BOUNDS = {8: 5e8, 4: 2.5e8}  # steps a second, by doubles in a vector
STEP, END = 1e-3, 10.0
TOLERANCE = 1e-8
AGREEMENT = 1e-5  # of final states: a thousand times the tolerance, which long transients amplify
# Hegedűs et al., 30,720 systems.
PUBLISHED_VALVES = "published: MPGOS, Titan Black 3793; odeint, a core of an i7-4820K 25.6"
CHOOSING = "rk54 choosing its steps"


def measure(quick: bool) -> list[Figure]:
    return figures(_speeds(quick), quick)


def _speeds(quick: bool) -> Iterator[Speed]:
    count = 1024 if quick else 4096
    yield _lorenz_rk4(count)
    rho = np.linspace(0.5, 21.0, count)
    yield _choosing(
        "lorenz", {"rho": rho}, np.ones(3), np.full(count, 10.0), rho, np.full(count, 8.0 / 3.0)
    )
    force = np.linspace(0.1, 0.3, count)
    fixed = {"damping": 0.3, "linear": -1.0, "cubic": 1.0, "omega": 1.2, "start_x": 1.0}
    yield _choosing(
        "duffing",
        {"force": force, **{name: np.full(1, value) for name, value in fixed.items()}},
        np.array([1.0, 0.0, 0.0]),
        *(np.full(count, 0.3), force, np.full(count, 1.2)),
    )
    yield _relief_valve(16 if quick else 128)


def _lorenz_rk4(count: int) -> Speed:
    rho = np.linspace(0.5, 21.0, count)
    sigma, beta = np.full(count, 10.0), np.full(count, 8.0 / 3.0)
    values = {"rho": rho, "step": STEP, "window_end": END}
    case = replace(file_case("lorenz", "rk4", values, ("final_x",)), name="lorenz, rk4")
    kernel = kernel_of(case.sweep)
    width = CpuBackend().library(kernel).lanes // kernel.pack
    peer = Peer(
        SIMD_NUMBA,
        lambda: {"final_x": systems_numba.lorenz_rk4(sigma, rho, beta, END, STEP)},
        at_most=1e-9,
        floor=1.0,
        at_least=1.0,
    )
    return Speed(case, count * END / STEP, "steps", RK4_BOUNDS.get(width), peer)


def _choosing(model: str, values: Values, *peer_values: np.ndarray) -> Speed:
    """With steps that the scheme chooses."""
    controls = {"relative_tolerance": TOLERANCE, "window_end": END}
    case = file_case(model, "rk54", {**controls, **values}, ("final_x",))
    case = replace(case, name=f"{model}, {CHOOSING}")
    theirs = systems_numba.CHOOSING[model]
    peer = Peer(
        SIMD_NUMBA,
        lambda: {"final_x": theirs(*peer_values, END, TOLERANCE)},
        at_most=AGREEMENT,
        floor=1.0,
        at_least=1.0,
    )
    return Speed(case, case.points.n_points, peer=peer)


def _relief_valve(count: int) -> Speed:
    """The published benchmark with events: 1056 maxima of a valve's displacement."""
    values = {"flow": np.linspace(0.2, 10.0, count), "relative_tolerance": 1e-10, "window_end": 1e5}
    case: Case = file_case("relief_valve", "rk54", values, ("impacts",))
    return Speed(replace(case, name="relief_valve, rk54"), count, note=PUBLISHED_VALVES)
