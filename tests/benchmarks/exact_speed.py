"""Wear powers per second of method exact on one core, compared with numba or our scalar build.

The grids have SDND104's mass, frequency and window over friction and base acceleration; two of them
also have a spring and a damper, or vertical shaking. The random points are of every kind, so that
neighbours have little in common. That is the worst case for SIMD over points, and unlike any grid.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from sweep.config import load
from sweep.plan.point_columns import points
from sweep.work import Chunk, Column, Points
from tests.benchmarks.peers import exact_numba
from tests.benchmarks.record import Figure
from tests.benchmarks.speeds import (
    SCALAR_NUMBA,
    Outputs,
    Peer,
    Speed,
    figures,
    scalar_build,
    values_at_points,
)
from tests.points import Case, sweep_of
from tests.points.friction_oscillator import random_parameters

WEAR = ("wear_power", "regime")
SIDES = (512, 1024)
QUICK_SIDES = (64, 256)
LEAST_SPEED = 1e6  # wear powers a second on one core, over SDND104's window
AGREEMENT = 1e-12  # with numba, of the wear power or of 1e-6 m g a0/ω
OF_SCALE = ("mass", "gravity", "base_acceleration", "angular_frequency")
OF_PEER = (*OF_SCALE, "friction", "window_start", "window_end")


def measure(quick: bool) -> list[Figure]:
    return figures(_speeds(QUICK_SIDES if quick else SIDES), quick)


def _speeds(sides: tuple[int, int]) -> Iterator[Speed]:
    for name, most_friction in (
        ("SDND104 grid", 1.0),
        ("all slip", 0.045),  # friction × gravity stays below every acceleration
    ):
        case = _grid(name, most_friction, sides)
        yield Speed(case, case.points.n_points, at_least=LEAST_SPEED, peer=_numba(case))
    fewer = (sides[0] // 2, sides[1] // 2)
    for case in (
        _grid("sprung grid", 1.0, fewer, "stiffness = 2.0", "damping = 0.1"),
        _grid("shaken grid", 1.0, fewer, "vertical_acceleration = 3.0", "phase = 1.0"),
        _random("random", math.prod(fewer)),
        _sample("sample", math.prod(fewer)),
    ):
        yield Speed(case, case.points.n_points, peer=scalar_build(case))


def _grid(name: str, most_friction: float, sides: tuple[int, int], *changes: str) -> Case:
    axes = (
        f"friction = {{ geomspace = [0.01, {most_friction}, {sides[0]}] }}",
        f"base_acceleration = {{ linspace = [0.5, 15.0, {sides[1]}] }}",
    )
    sweep = load("wear_power", (*axes, *changes)).sweep
    return Case(name, sweep, points(sweep, Chunk((0, 0), (0, 0), sweep.shape)))


def _random(name: str, count: int) -> Case:
    parameters = random_parameters(count, seed=7)
    columns = {parameter: Column(values) for parameter, values in parameters.items()}
    sweep = sweep_of(parameters, outputs=WEAR)
    return Case(name, sweep, Points(n_points=count, columns=columns))


def _sample(name: str, count: int) -> Case:
    """SDND104 with an uncertain friction and a random base acceleration."""
    sample = {
        "method": "random",
        "points": count,
        "seed": 1,
        "friction": {"lognormal": [0.1, 0.3]},
        "base_acceleration": {"uniform": [0.5, 15.0]},
    }
    fixed = load("wear_power", ("friction=0.1", "base_acceleration=1")).sweep.constants
    parameters = {key: value for key, value in fixed.items() if key not in sample}
    described = {"model": "friction_oscillator", "outputs": list(WEAR)}
    sweep = load({**described, "parameters": parameters, "sample": sample}).sweep
    return Case(name, sweep, points(sweep, Chunk((0,), (0,), sweep.shape)))


def _numba(case: Case) -> Peer:
    values = dict(zip(OF_PEER, values_at_points(case, *OF_PEER), strict=True))
    m, g, a0, omega = (values[name] for name in OF_SCALE)

    def solve() -> Outputs:
        return dict(zip(WEAR, exact_numba.wear_powers(**values), strict=True))

    return Peer(SCALAR_NUMBA, solve, AGREEMENT, floor=1e-6 * m * g * a0 / omega)
