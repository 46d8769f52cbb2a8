"""Impact oscillators per second on one core: exact, Newmark and harmonic balance.

Exact: the grid of the backbone sweep. Newmark: 1000 steps per period at SDND122's energies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sweep.config import load
from sweep.plan.point_columns import points
from sweep.work import Chunk
from tests.benchmarks.record import Figure
from tests.benchmarks.speeds import Speed, figures, scalar_build
from tests.points import Case

LEAST_EXACT = 2e7  # points a second on one core
LEAST_NEWMARK = 1.2e5  # of about 2500 steps


def measure(quick: bool) -> list[Figure]:
    return figures(_speeds(quick), quick)


def _speeds(quick: bool) -> Iterator[Speed]:
    sides = (40, 20, 20) if quick else (200, 100, 50)
    three = _case(
        "exact, three outputs",
        "backbone",
        f"axes.energy = {{ geomspace = [1e-5, 1.0, {sides[0]}] }}",
        f"axes.wall_stiffness = {{ geomspace = [0.1, 1e4, {sides[1]}] }}",
        f"axes.gap = {{ linspace = [0.0, 0.049, {sides[2]}] }}",
    )
    yield Speed(three, three.points.n_points)
    every = replace(three.sweep, outputs=three.sweep.model.outputs)
    case = Case("exact", every, three.points)
    yield Speed(case, case.points.n_points, at_least=LEAST_EXACT, peer=scalar_build(case))
    count = 512 if quick else 4096
    energies = f"axes.energy = {{ linspace = [6.2e-3, 6.9e-3, {count}] }}"
    chosen = ("method = 'newmark'", "steps_per_period = 1000", energies)
    case = _case("newmark", "sdnd122", *chosen)
    yield Speed(case, count, at_least=LEAST_NEWMARK, peer=scalar_build(case))
    count = 64 if quick else 512
    energies = f"axes.energy = {{ geomspace = [4e-4, 0.1, {count}] }}"
    for harmonics in (5, 20, 40):
        chosen = ("method = 'harmonic_balance'", f"harmonics = {harmonics}", energies)
        yield Speed(_case(f"harmonic balance: {harmonics} harmonics", "sdnd122", *chosen), count)


def _case(name: str, config: str, *changes: str) -> Case:
    sweep = load(config, changes).sweep
    start = (0,) * len(sweep.shape)
    return Case(name, sweep, points(sweep, Chunk(start, start, sweep.shape)))
