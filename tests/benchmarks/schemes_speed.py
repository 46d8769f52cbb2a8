"""Time steps and force evaluations per second of the schemes on one core, and of numba.

Times are medians of the processor time of one thread, measured in turn. The points have random
mass, friction and acceleration near SDND104, and all slip; "shared": the same frequency, step and
window, "per point": different ones, "shaken": with vertical shaking. Only requested steps count:
waiting for neighbours with shorter steps is lost time. The number of steps that a scheme with step
control tries is found by lowering maximum_steps until it is too low.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sweep.backends.cpu import CpuBackend
from sweep.request import Sweep
from sweep.theory.stability import SCHEMES
from sweep.work import Column, Points
from tests.benchmarks.machine_limit import limit, share_of_limit
from tests.benchmarks.peers import schemes_numba
from tests.benchmarks.peers.schemes_numba import SHARED, euler
from tests.benchmarks.record import Figure
from tests.benchmarks.timed import cpu_seconds
from tests.points import sweep_of

EVALUATIONS = {"euler": 1, "devogelaere": 2, "adapt_ordre2": 1, "rk32": 3, "rk54": 6, "moreau": 1}
CHOOSING = {"adapt_ordre2": 1.0, "rk32": 1e-5, "rk54": 1e-6}  # their tolerances, Code_Aster's
WEAR = ("wear_power", "regime")
EULER_BOUNDS = {"shared": 1e9, "per point": 8e8, "shaken": 6e8}  # steps a second
LEAST_OTHERS = 6e8  # force evaluations a second, at constant step
LEAST_CHOOSING = 1.5e8
AGREEMENT = 1e-11  # with numba, of the wear power
START, END = 0.5, 4.5  # s
STEP = 1e-4

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """Points of a method to be timed."""

    name: str
    sweep: Sweep
    points: Points
    parameters: Mapping[str, Values]

    @property
    def steps(self) -> float:
        return float(np.sum(np.broadcast_to(END / self.parameters["step"], self.points.n_points)))


def measure(quick: bool) -> list[Figure]:
    count, repeats = (256, 3) if quick else (768, 7)  # blocks of 64 lanes even in quarters
    figures = [*_euler(count, repeats)]
    for method in ("devogelaere", "adapt_ordre2", "rk32", "rk54", "moreau"):
        figures += _others(method, count // 2, repeats)
    for method in CHOOSING:
        figures += _choosing(method, count // 4, repeats)
        figures += _choosing_at_random(method, count, repeats)
    return figures


def _euler(count: int, repeats: int) -> Iterator[Figure]:
    cases = {kind: _case("euler", kind, count) for kind in EULER_BOUNDS}
    work: dict[str, Callable[[], object]] = {kind: _ours(case) for kind, case in cases.items()}
    peers = {"shared": SHARED["euler"], "per point": euler, "shaken": SHARED["shaken euler"]}
    for kind, peer in peers.items():
        work[f"numba, {kind}"] = _numba(peer, cases[kind], shared=kind != "per point")
    seconds = cpu_seconds(work, repeats)
    for kind, case in cases.items():
        speed = case.steps / seconds[kind]
        yield Figure(f"euler, {kind}", speed, "steps/s", at_least=EULER_BOUNDS[kind])
    least = limit(cases["shared"].sweep, cases["shared"].points)
    operations = sum(least.operations.values()) / least.vectors / (END / STEP)
    yield Figure("euler, shared: vector operations per step", operations, "")
    for kind, case in cases.items():
        yield from _beside(f"euler, {kind}", case, work, seconds, kind)


def _others(method: str, count: int, repeats: int) -> Iterator[Figure]:
    """At constant step."""
    cases = {kind: _case(method, kind, count) for kind in EULER_BOUNDS}
    work: dict[str, Callable[[], object]] = {kind: _ours(case) for kind, case in cases.items()}
    work["numba, shared"] = _numba(SHARED[method], cases["shared"], shared=True)
    seconds = cpu_seconds(work, repeats)
    for kind, case in cases.items():
        speed = EVALUATIONS[method] * case.steps / seconds[kind]
        yield Figure(f"{method}, {kind}", speed, "forces/s", at_least=LEAST_OTHERS)
    yield from _beside(f"{method}, shared", cases["shared"], work, seconds, "shared")


def _choosing(method: str, count: int, repeats: int) -> Iterator[Figure]:
    """With steps the scheme chooses, over random parameters."""
    case = _case(method, "per point", count, tolerance=CHOOSING[method])
    yield from _choosing_case(f"{method}, choosing its steps", case, repeats)


def _choosing_at_random(method: str, count: int, repeats: int) -> Iterator[Figure]:
    """Points with very different numbers of steps, so that lanes take new points."""
    for name, case in (
        ("at random", _random_case(method, count)),
        ("at random, of every kind", _random_case(method, count, every_kind=True)),
    ):
        yield from _choosing_case(f"{method}, choosing its steps {name}", case, repeats)


def _choosing_case(name: str, case: Case, repeats: int) -> Iterator[Figure]:
    """Speed, beside the limit and, where all points have the same longest step, numba."""
    method, longest = case.sweep.method.name, case.parameters["maximum_step"]
    work = {"ours": _ours(case)}
    if len(longest) == 1:
        control = (CHOOSING[method], float(longest[0]))
        work["numba"] = _numba(schemes_numba.CHOOSING[method], case, *control, shared=False)
    seconds = cpu_seconds(work, repeats)
    tries = _tries(case)
    speed = EVALUATIONS[method] * tries.sum() / seconds["ours"]
    spread = f"from {tries.min():,.0f} to {tries.max():,.0f} steps a point"
    yield Figure(name, speed, "forces/s", at_least=LEAST_CHOOSING, note=spread)
    if "numba" in work:
        ratio = seconds["numba"] / seconds["ours"]
        yield Figure(f"{name}: ours to SIMD-blocked numba", ratio, "times")
    yield share_of_limit(name, case.sweep, case.points, seconds["ours"])


def _beside(
    name: str,
    case: Case,
    work: Mapping[str, Callable[[], object]],
    seconds: Mapping[str, float],
    kind: str,
) -> Iterator[Figure]:
    """The speed relative to numba, which must compute the same."""
    ratio = seconds[f"numba, {kind}"] / seconds[kind]
    yield Figure(f"{name}: ours to SIMD-blocked numba", ratio, "times")
    yield share_of_limit(name, case.sweep, case.points, seconds[kind])
    yield _agreement(name, case, work[f"numba, {kind}"]())


def _case(method: str, kind: str, count: int, tolerance: float = math.inf) -> Case:
    rng = np.random.default_rng(1)
    one = np.ones(1)
    parameters: dict[str, Values] = {
        "mass": rng.uniform(0.5, 2, count),
        "gravity": 10.0 * one,
        "friction": rng.uniform(0.05, 0.3, count),
        "base_acceleration": rng.uniform(3.5, 15, count),
        "angular_frequency": 2 * np.pi * one,
        "window_start": START * one,
        "window_end": END * one,
        "step": STEP * one,
    }
    if kind == "per point":
        parameters["angular_frequency"] = rng.uniform(5, 8, count)
        parameters["step"] = STEP * rng.uniform(0.99, 1.0, count)
    if kind == "shaken":
        parameters["vertical_acceleration"] = rng.uniform(1, 5, count)
        parameters["phase"] = rng.uniform(-3, 3, count)
    if method != "moreau":
        parameters["tangential_stiffness"] = 9e6 * parameters["mass"]
        parameters["tolerance"] = tolerance * one
        parameters["maximum_step"] = STEP * one
    return _case_of(f"{method}, {kind}", method, parameters, count)


def _random_case(method: str, count: int, *, every_kind: bool = False) -> Case:
    """Five octaves of frequency; half of the points sprung, damped or shaken; any penalty."""
    rng = np.random.default_rng(3)
    one = np.ones(1)
    mass = rng.uniform(0.5, 2, count)
    parameters: dict[str, Values] = {
        "mass": mass,
        "gravity": 10.0 * one,
        "friction": rng.uniform(0.05, 0.3, count),
        "base_acceleration": rng.uniform(0.5, 15, count),
        "angular_frequency": rng.uniform(1, 31, count),
        "window_start": START * one,
        "window_end": END * one,
        "step": 10 * STEP * one,
        "maximum_step": 10 * STEP * one,
        "tangential_stiffness": 9e6 * mass,
        "tolerance": CHOOSING[method] * one,
    }
    if every_kind:
        half = rng.random(count) < 0.5
        longest = 10 ** rng.uniform(-4, -3, count)
        parameters |= {
            "friction": rng.uniform(0.05, 1, count),
            "stiffness": np.where(half, rng.uniform(0, 100, count), 0.0),
            "damping": np.where(half, rng.uniform(0, 2, count), 0.0),
            "vertical_acceleration": np.where(half, rng.uniform(0, 5, count), 0.0),
            "phase": rng.uniform(-3, 3, count),
            "step": longest * rng.uniform(0.3, 1, count),
            "maximum_step": longest,
            "tangential_stiffness": 10 ** rng.uniform(5, 7, count) * mass,
        }
    return _case_of(f"{method}, at random", method, parameters, count)


def _case_of(name: str, method: str, parameters: dict[str, Values], count: int) -> Case:
    sweep = sweep_of(parameters, method=method, outputs=WEAR)
    defaults = {p.name: np.array([p.default], np.float64) for p in sweep.parameters}
    columns = {name: Column((defaults | parameters)[name]) for name in defaults}
    return Case(name, sweep, _points(sweep, columns, count), parameters)


def _points(sweep: Sweep, columns: Mapping[str, Column], count: int) -> Points:
    """The points with all variants of the method that hold."""

    def holds(names: tuple[str, ...], value: float | None) -> bool:
        held = (columns[name].values for name in names if name in columns)
        return all(bool(np.all(v == (v[0] if value is None else value))) for v in held)

    variants = (v.name for v in sweep.method.variants if holds(v.parameters, v.value))
    return Points(n_points=count, columns=columns, variants=tuple(variants))


def _ours(case: Case) -> Callable[[], object]:
    backend = CpuBackend()
    backend.prepare(case.sweep, case.points)
    return lambda: backend.compute(case.sweep, case.points)


def _numba(
    peer: Callable[..., Values], case: Case, *extra: float, shared: bool
) -> Callable[[], Values]:
    arguments = schemes_numba.arguments(case.parameters, case.points.n_points, shared=shared)
    few = [each[:1] if isinstance(each, np.ndarray) else each for each in arguments]
    peer(*few, *extra)  # compiled before it is timed
    return lambda: peer(*arguments, *extra)


def _agreement(name: str, case: Case, theirs: object) -> Figure:
    ours = CpuBackend().compute(case.sweep, case.points).arrays["wear_power"]
    error = float(np.max(np.abs(ours - np.asarray(theirs)) / np.abs(ours)))
    return Figure(f"{name}: difference from numba", error, "", at_most=AGREEMENT)


def _tries(case: Case) -> Values:
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


assert set(EVALUATIONS) - {"moreau"} == set(SCHEMES)
