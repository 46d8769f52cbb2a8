"""The work measured on a GPU: sweeps of documents, schemes at constant step, random points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sweep.file.model_file import read_model
from sweep.request.chunk import Column, Points
from sweep.request.sweeps import Sweep
from tests.cases import case_at, cases, sweep_of
from tests.cases.files import file_case
from tests.cases.impact_oscillator import SDND122

Values = NDArray[np.float64]

MAIN = 4  # works, in which the kernels differ most
PENDULUM = {
    "format": 1,
    "name": "pendulum",
    "title": "damped pendulum under a constant torque",
    "time_unit": "1",
    "parameters": {
        "damping": {"default": 0.1},
        "torque": {"default": 0.5},
        "start_angle": {},
        "start_rate": {},
    },
    "states": {"angle": {"initial": "start_angle"}, "rate": {"initial": "start_rate"}},
    "derivatives": {"angle": "rate", "rate": "torque - damping*rate - sin(angle)"},
    "outputs": {"end_angle": {"final": "angle"}, "end_rate": {"final": "rate"}},
}


@dataclass(frozen=True)
class Work:
    """Points to be timed, and the total number of their steps (0: not counted)."""

    name: str
    sweep: Sweep
    points: Points
    steps: float = 0.0


def works(n_random: int = 2**18) -> Iterator[Work]:
    """All work that is measured, of random points that many for each method.

    The first MAIN tell most.
    """
    side, n, steps = 1024, 2**20, 20_000
    yield sdnd104(side)
    yield stepping("euler", n, steps)
    yield contacts(side)
    yield springs("time_stepping", 2**16)
    yield lorenz(4_147_200, 1000)
    yield valves(30_720)
    yield valves(2**18)
    yield stops(2**17)
    yield from (pendulums(100_000, method) for method in ("rk54", "dop853"))
    for method, evaluations in (("moreau", 1), ("devogelaere", 2), ("rk54", 6)):
        yield stepping(method, n, steps // evaluations)
    yield springs("time_stepping_2", 2**16)
    yield balances(2**17)
    for case in cases(n_random):
        if not case.points.variants:
            yield Work(f"{case.name.replace('-', ' ')}, random points", case.sweep, case.points)


def as_they_come(work: Work) -> Work:
    """The work by a method that does not say which points are alike, so that none are sorted."""
    method = replace(work.sweep.method, kinds=(), cost=())
    return replace(work, sweep=replace(work.sweep, method=method))


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
    """A scheme at constant step without spring, damper and shaking; all points share a clock."""
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


def contacts(side: int) -> Work:
    """A sphere's contacts over β and phase."""
    grid = {"beta": np.geomspace(0.01, 100.0, side), "phase": np.linspace(0.0, 3.0, side)}
    return Work("mdr_contact exact, sphere", *_grid("mdr_contact", "exact", grid, {"delta": 0.3}))


def springs(method: str, n: int) -> Work:
    """Contacts in which all springs slip, so that none is skipped."""
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


def balances(n: int) -> Work:
    """Balanced motions of SDND122's oscillator, from grazing to a gap of a twentieth."""
    values = {name: np.array([value]) for name, value in SDND122.items()}
    values |= {"energy": 5e-4 / np.linspace(0.05, 0.99, n) ** 2, "harmonics": np.array([40.0])}
    sweep = sweep_of(values, "impact_oscillator", "harmonic_balance")
    points = Points(n_points=n, columns=_columns(sweep, values))
    return Work("impact_oscillator harmonic_balance, 40 harmonics", sweep, points)


def lorenz(n: int, steps: int) -> Work:
    """Lorenz systems of different rho; the published benchmark of MPGOS has 4,147,200."""
    step = 0.01
    values = {"rho": np.linspace(0.0, 21.0, n), "step": step, "window_end": steps * step}
    case = file_case("lorenz", "rk4", values, ("final_x",))
    return Work("lorenz rk4, final x", case.sweep, case.points, float(n) * steps)


def valves(n: int) -> Work:
    """Valves of different flow to their 1056th maximum; the benchmark of MPGOS has 30,720."""
    values = {"flow": np.linspace(0.2, 10.0, n), "relative_tolerance": 1e-10, "window_end": 1e5}
    case = file_case("relief_valve", "rk54", values, ("maxima",))
    return Work(f"relief_valve rk54, last maxima of {n:,}", case.sweep, case.points)


def stops(n: int) -> Work:
    """The bifurcation map of configs/forced_impact_map.toml with so many frequencies."""
    values = {"damping": 0.05, "gap": 0.02, "restitution": 0.8, "omega": np.linspace(3.0, 8.0, n)}
    values |= {"start_cycle": 300.0, "end_cycle": 364.0, "relative_tolerance": 1e-9}
    case = file_case("forced_impact", "rk54", values, ("x_samples", "impacts"))
    return Work("forced_impact rk54, bifurcation map", case.sweep, case.points)


def pendulums(n: int, method: str) -> Work:
    """Pendulums from random states, as in pybasin's case study, with which it compares solvers."""
    random, model = np.random.default_rng(7), read_model(PENDULUM, Path())
    values = {
        "start_angle": np.pi / 6 + random.uniform(-np.pi, np.pi, n),
        "start_rate": random.uniform(-10.0, 10.0, n),
        "window_end": np.array([1000.0]),
        "relative_tolerance": np.array([1e-8]),
    }
    chosen = next(each for each in model.methods if each.name == method)
    case = case_at("pendulum", model, chosen, values, n)
    return Work(f"pendulum {method}, to t = 1000", case.sweep, case.points)


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
