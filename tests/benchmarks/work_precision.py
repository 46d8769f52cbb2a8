"""Work and precision: points of Lorenz per second at a given error, beside SciPy, heyoka, diffrax.

Tolerances are varied; the speed at an error is interpolated between those that lie around it, both
in logarithms. The error is the median over points of the largest of x, y, z at t = 10, relative to
SciPy's DOP853 with the smallest tolerance it has. Times are processor time of all threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from tests.benchmarks.record import Figure
from tests.benchmarks.speeds import computing
from tests.cases.files import file_case

END = 10.0
ERRORS = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
TOLERANCES = tuple(10.0**-e for e in (3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
OURS = ("rk54", "dop853")
N_SCIPY = 8  # points that SciPy computes
Solver = Callable[[np.ndarray], np.ndarray]  # rho -> x, y, z at the end


def measure(quick: bool) -> list[Figure]:
    count, tolerances = (64, TOLERANCES[2:9:3]) if quick else (2048, TOLERANCES)
    rho = np.linspace(0.5, 21.0, count)
    some = np.linspace(0, count - 1, N_SCIPY).astype(int)
    exact = _by_scipy(1e-13)(rho[some])
    speeds: dict[str, dict[float, float]] = {}
    for name, solver_of, points in _solvers(rho, some):
        curve = [_measured(solver_of(tol), points, some, exact) for tol in tolerances]
        speeds[name] = dict(_at_errors(curve))
    figures: list[Figure] = []
    for error in ERRORS:
        here = {name: each[error] for name, each in speeds.items() if error in each}
        figures += [Figure(f"error {error:g}: {n}", s, "points/s") for n, s in here.items()]
        own, others = ({n: s for n, s in here.items() if (n in OURS) == ours} for ours in (1, 0))
        if own and others:
            other = max(others, key=lambda name: others[name])
            ratio = max(own.values()) / others[other]
            name = f"error {error:g}: ours to {other}"
            figures.append(Figure(name, ratio, "times", note="the fastest other"))
    return figures


def _solvers(rho: np.ndarray, some: Any) -> Iterator[tuple[str, Callable[[float], Solver], Any]]:
    for method in OURS:
        yield method, lambda tol, method=method: _by_ours(method, tol), rho
    yield "SciPy DOP853", _by_scipy, rho[some]
    for name in ("heyoka", "diffrax"):
        if find_spec(name):
            peer = import_module(f"tests.benchmarks.peers.systems_{name}")
            yield name, lambda tol, peer=peer: _ended(peer.lorenz(tol)), rho
        else:
            print(f"left out: {name} is not installed")


def _ended(solve: Callable[[np.ndarray, float], np.ndarray]) -> Solver:
    return lambda rho: solve(rho, END)


def _by_ours(method: str, tolerance: float) -> Solver:
    outputs = ("final_x", "final_y", "final_z")
    controls = {"relative_tolerance": tolerance, "window_end": END}

    prepared: dict[int, Callable[[], Any]] = {}  # by number of points

    def solve(rho: np.ndarray) -> np.ndarray:
        if len(rho) not in prepared:
            case = file_case("lorenz", method, {"rho": rho, **controls}, outputs)
            prepared[len(rho)] = computing(case)
        arrays = prepared[len(rho)]()
        return np.stack([arrays[name] for name in outputs], axis=1)

    return solve


def _by_scipy(tolerance: float) -> Solver:
    def rates(_t: float, y: Any, rho: float) -> list[float]:
        return [10.0 * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - (8 / 3) * y[2]]

    def solve(rho: np.ndarray) -> np.ndarray:
        ends = [
            solve_ivp(rates, (0.0, END), [1.0, 1.0, 1.0], "DOP853", args=(each,),
                      rtol=max(tolerance, 3e-14), atol=tolerance).y[:, -1]
            for each in rho
        ]  # fmt: skip
        return np.array(ends)

    return solve


def _measured(solve: Solver, rho: np.ndarray, some: Any, exact: np.ndarray) -> tuple[float, float]:
    """The error, and the points per second; compiled by a first call."""
    solution = solve(rho)
    times = []
    for _ in range(3):
        began = time.process_time()
        solve(rho)
        times.append(time.process_time() - began)
    solution = solution if len(solution) == len(exact) else solution[some]
    error = median(np.max(np.abs(solution - exact) / (1.0 + np.abs(exact)), axis=1))
    return error, len(rho) / median(times)


def _at_errors(curve: list[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """The speed at each error that lies between two of the curve."""
    curve = sorted(curve)
    errors, speeds = (np.log([each[i] for each in curve]) for i in (0, 1))
    for error in ERRORS:
        if errors[0] <= np.log(error) <= errors[-1]:
            yield error, float(np.exp(np.interp(np.log(error), errors, speeds)))
