"""Contacts per second of mdr_contact exact on one core, compared with our scalar build.

The grids are over friction (beta) and phase. At random points all parameters differ, so that lanes
wait for their neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sweep.models import models
from tests.benchmarks.record import Figure
from tests.benchmarks.speeds import Speed, figures, scalar_build
from tests.points import Values, case_at

SIDES = (128, 256)
QUICK_SIDES = (32, 64)
LEAST_SPHERES = 5e5  # contacts a second on one core
LEAST_PROFILES = 1e5
OUTPUTS = ("normalized_energy", "regime")


def measure(quick: bool) -> list[Figure]:
    return figures(_speeds(QUICK_SIDES if quick else SIDES), quick)


def _speeds(sides: tuple[int, int]) -> Iterator[Speed]:
    model = models()["mdr_contact"]
    exact = next(method for method in model.methods if method.name == "exact")
    count = sides[0] * sides[1]
    for name, least, values in (
        ("sphere", LEAST_SPHERES, _grid(sides, delta=0.2)),
        ("sphere, contact lost", LEAST_SPHERES, _grid(sides, delta=2.0)),
        ("cone", LEAST_PROFILES, _grid(sides, delta=0.2, profile_exponent=1.0)),
        ("profile of power 3", LEAST_PROFILES, _grid(sides, delta=0.2, profile_exponent=3.0)),
        ("random", LEAST_PROFILES, _random(count)),
    ):
        case = case_at(name, model, exact, values, count, outputs=OUTPUTS)
        yield Speed(case, count, "contacts", least, scalar_build(case))


def _grid(sides: tuple[int, int], **constants: float) -> Values:
    beta, phase = np.meshgrid(
        np.geomspace(0.01, 100, sides[0]), np.linspace(-3.1, 3.1, sides[1]), indexing="ij"
    )
    fixed = {name: np.full(1, value) for name, value in constants.items()}
    return {"beta": beta.ravel(), "phase": phase.ravel(), **fixed}


def _random(count: int) -> Values:
    rng = np.random.default_rng(3)
    return {
        "beta": 10 ** rng.uniform(-2, 2, count),
        "phase": rng.uniform(-3, 3, count),
        "delta": 10 ** rng.uniform(-3, 0.5, count),
        "profile_exponent": rng.choice([1.0, 2.0, 2.5, 4.0], count),
    }
