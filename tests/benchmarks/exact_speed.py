"""Wear powers per second of method exact on one core, compared with our scalar build.

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
from tests.benchmarks.record import Figure
from tests.benchmarks.speeds import Speed, figures, scalar_build
from tests.points import Case, sweep_of
from tests.points.friction_oscillator import random_parameters

WEAR = ("wear_power", "regime")
SIDES = (512, 1024)
QUICK_SIDES = (64, 256)
LEAST_SPEED = 1e6  # wear powers a second on one core, over SDND104's window


def measure(quick: bool) -> list[Figure]:
    return figures(_speeds(QUICK_SIDES if quick else SIDES), quick)


def _speeds(sides: tuple[int, int]) -> Iterator[Speed]:
    fewer = (sides[0] // 2, sides[1] // 2)
    for case, least in (
        (_grid("SDND104 grid", 1.0, sides), LEAST_SPEED),
        # friction × gravity stays below every acceleration
        (_grid("all slip", 0.045, sides), LEAST_SPEED),
        (_grid("sprung grid", 1.0, fewer, "stiffness = 2.0", "damping = 0.1"), None),
        (_grid("shaken grid", 1.0, fewer, "vertical_acceleration = 3.0", "phase = 1.0"), None),
        (_random("random", math.prod(fewer)), None),
        (_sample("sample", math.prod(fewer)), None),
    ):
        yield Speed(case, case.points.n_points, at_least=least, peer=scalar_build(case))


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
