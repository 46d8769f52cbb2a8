"""Time steps and force evaluations per second of the schemes on one core, and of numba.

The points have random mass, friction and acceleration near SDND104, and all slip; "shared": the
same frequency, step and window, "per point": different ones, "shaken": with vertical shaking. Only
requested steps count: waiting for neighbours with shorter steps is lost time. The number of steps
that a scheme with step control tries is found by lowering maximum_steps until it is too low.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sweep.kernel.cpu import CpuBackend
from sweep.model.table import Method
from sweep.request.chunk import Column
from sweep.theory.stability import SCHEMES
from tests.benchmarks.peers import schemes_numba
from tests.benchmarks.record import Figure
from tests.benchmarks.speeds import Peer, Speed, case_of, figures, numba
from tests.cases import Case

EVALUATIONS = {"euler": 1, "devogelaere": 2, "adapt_ordre2": 1, "rk32": 3, "rk54": 6, "moreau": 1}
CHOOSING = {"adapt_ordre2": 1.0, "rk32": 1e-5, "rk54": 1e-6}  # their tolerances, Code_Aster's
WEAR = ("wear_power", "regime")
EULER_BOUNDS = {"shared": 1e9, "per point": 8e8, "shaken": 6e8}  # steps a second
LEAST_OTHERS = 6e8  # force evaluations a second, at constant step
LEAST_CHOOSING = 1.5e8
AGREEMENT = 1e-11  # with numba, of the wear power
AGREEMENT_CHOOSING = 1e-3  # where rounding affects the length of the next step
START, END = 0.5, 4.5  # s
STEP = 1e-4
Values = dict[str, Any]  # of parameters: numbers, or an array with one for each point
assert set(EVALUATIONS) - {"moreau"} == set(SCHEMES)


def measure(quick: bool) -> list[Figure]:
    return figures(_speeds(256 if quick else 768), quick)  # blocks of 64 lanes even in quarters


def _speeds(count: int) -> Iterator[Speed]:
    for method in EVALUATIONS:
        for kind in EULER_BOUNDS:
            yield _constant(method, kind, count if method == "euler" else count // 2)
    for method, tolerance in CHOOSING.items():
        name = f"{method}, choosing its steps"
        near = _near_sdnd104(method, "per point", count // 4, tolerance)
        yield _choosing(name, method, near, count // 4)
        yield _choosing(f"{name} at random", method, _at_random(method, count), count)
        every = _at_random(method, count, every_kind=True)
        yield _choosing(f"{name} at random, of every kind", method, every, count)


def _constant(method: str, kind: str, count: int) -> Speed:
    values = _near_sdnd104(method, kind, count)
    case = _case(f"{method}, {kind}", method, values, count)
    steps = float(np.sum(np.broadcast_to(END / values["step"], count)))
    peer = None
    if kind == "shared" and method in schemes_numba.SHARED:
        peer = _numba(schemes_numba.SHARED[method], AGREEMENT, values, count)
    if method == "euler":
        return Speed(case, steps, "steps", EULER_BOUNDS[kind], peer)
    return Speed(case, EVALUATIONS[method] * steps, "forces", LEAST_OTHERS, peer)


def _choosing(name: str, method: str, values: Values, count: int) -> Speed:
    """With steps that the scheme chooses; numba has the same longest step for all points."""
    case, longest = _case(name, method, values, count), values["maximum_step"]
    tries, peer = _tries(case), None
    if method == "rk32" and np.size(longest) == 1:
        control = (CHOOSING[method], float(longest))
        peer = _numba(schemes_numba.rk32_choosing, AGREEMENT_CHOOSING, values, count, *control)
    spread = f"from {tries.min():,.0f} to {tries.max():,.0f} steps a point"
    work = EVALUATIONS[method] * float(tries.sum())
    return Speed(case, work, "forces", LEAST_CHOOSING, peer, spread)


def _near_sdnd104(method: str, kind: str, count: int, tolerance: float = math.inf) -> Values:
    rng = np.random.default_rng(1)
    values: Values = {
        "mass": rng.uniform(0.5, 2, count),
        "gravity": 10.0,
        "friction": rng.uniform(0.05, 0.3, count),
        "base_acceleration": rng.uniform(3.5, 15, count),
        "angular_frequency": 2 * np.pi,
        "window_start": START,
        "window_end": END,
        "step": STEP,
    }
    if kind == "per point":
        values["angular_frequency"] = rng.uniform(5, 8, count)
        values["step"] = STEP * rng.uniform(0.99, 1.0, count)
    if kind == "shaken":
        values["vertical_acceleration"] = rng.uniform(1, 5, count)
        values["phase"] = rng.uniform(-3, 3, count)
    if method != "moreau":
        values["tangential_stiffness"] = 9e6 * values["mass"]
        values["tolerance"] = tolerance
        values["maximum_step"] = STEP
    return values


def _at_random(method: str, count: int, *, every_kind: bool = False) -> Values:
    """Five octaves of frequency, so that points have very different numbers of steps.

    With `every_kind`, half of them are sprung, damped or shaken, with any penalty.
    """
    rng = np.random.default_rng(3)
    mass = rng.uniform(0.5, 2, count)
    values: Values = {
        "mass": mass,
        "gravity": 10.0,
        "friction": rng.uniform(0.05, 0.3, count),
        "base_acceleration": rng.uniform(0.5, 15, count),
        "angular_frequency": rng.uniform(1, 31, count),
        "window_start": START,
        "window_end": END,
        "step": 10 * STEP,
        "maximum_step": 10 * STEP,
        "tangential_stiffness": 9e6 * mass,
        "tolerance": CHOOSING[method],
    }
    if every_kind:
        half = rng.random(count) < 0.5
        longest = 10 ** rng.uniform(-4, -3, count)
        values |= {
            "friction": rng.uniform(0.05, 1, count),
            "stiffness": np.where(half, rng.uniform(0, 100, count), 0.0),
            "damping": np.where(half, rng.uniform(0, 2, count), 0.0),
            "vertical_acceleration": np.where(half, rng.uniform(0, 5, count), 0.0),
            "phase": rng.uniform(-3, 3, count),
            "step": longest * rng.uniform(0.3, 1, count),
            "maximum_step": longest,
            "tangential_stiffness": 10 ** rng.uniform(5, 7, count) * mass,
        }
    return values


def _case(name: str, method: str, values: Values, count: int) -> Case:
    """The points with all variants of the method that hold."""
    case = case_of(name, "friction_oscillator", method, values, count, WEAR)
    return replace(case, points=replace(case.points, variants=_variants(case.sweep.method, case)))


def _variants(method: Method, case: Case) -> tuple[str, ...]:
    def holds(names: tuple[str, ...], value: float | None) -> bool:
        held = (case.points.columns[n].values for n in names if n in case.points.columns)
        return all(bool(np.all(v == (v[0] if value is None else value))) for v in held)

    return tuple(v.name for v in method.variants if holds(v.parameters, v.value))


def _numba(
    solve: Callable[..., np.ndarray], at_most: float, values: Values, count: int, *control: float
) -> Peer:
    arguments = schemes_numba.arguments(values, count, shared=not control)
    return numba("wear_power", partial(solve, *arguments, *control), at_most)


def _tries(case: Case) -> np.ndarray:
    """Steps tried at each point: the smallest maximum_steps that is sufficient."""
    count = case.points.n_points
    too_few, enough = np.zeros(count), np.full(count, 2.0**20)
    backend = CpuBackend()
    while np.any(enough - too_few > 1):
        maximum_steps = np.floor((too_few + enough) / 2)
        columns = dict(case.points.columns) | {"maximum_steps": Column(maximum_steps)}
        result = backend.compute(case.sweep, replace(case.points, columns=columns))
        done = result.arrays["status"] == 0
        enough = np.where(done, maximum_steps, enough)
        too_few = np.where(done, too_few, maximum_steps)
    return enough
