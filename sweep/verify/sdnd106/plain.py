"""Central differences with Code_Aster's penalized friction law, in plain Python.

In stick, a spring and a critical damper hold the first mass; beyond the static limit it slips
against the kinetic force, until spring and damper could hold it again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping


def central_differences(
    system: Mapping[str, float], numerics: Mapping[str, float], times: Iterable[float]
) -> dict[tuple[str, float], float]:
    """The figures of the test at these times, linear between the steps; SI units."""
    m, k, h = system["mass"], system["stiffness"], numerics["step"]
    contact = numerics["tangential_stiffness"]
    damping = 2 * math.sqrt(contact * m)
    x1 = x2 = v1 = held_at = 0.0  # the velocities are those half a step later
    v2 = h / 2 * system["load"] / m
    stuck = True
    rows = [(0.0, 0.0, 0.0)]  # positions of both masses, velocity of the first
    for n in range(1, round(max(times := tuple(times)) / h) + 2):
        x1, x2 = x1 + h * v1, x2 + h * v2
        holding = -contact * (x1 - held_at) - damping * v1
        limit = system["static_force"] if stuck else system["kinetic_force"]
        stuck = abs(holding) <= limit
        friction = holding if stuck else math.copysign(system["kinetic_force"], holding)
        if not stuck:
            held_at = x1 + friction / contact
        spring = k * (x2 - x1)
        first, second = (spring + friction) / m, (_load(system, numerics, n * h) - spring) / m
        rows.append((x1, x2, v1 + h / 2 * first))
        v1, v2 = v1 + h * first, v2 + h * second
    names = ("rubbing_position", "pulled_position", "rubbing_speed")
    return {
        (name, time): _between([row[i] for row in rows], time / h)
        for i, name in enumerate(names)
        for time in times
    }


def _load(system: Mapping[str, float], numerics: Mapping[str, float], time: float) -> float:
    """The force on the second mass; the step at its end still has it, as in the test."""
    left = 1 - (time - system["load_time"]) / numerics["unload_time"]
    return system["load"] * min(max(left, 0.0), 1.0)


def _between(values: list[float], place: float) -> float:
    before = min(int(place), len(values) - 2)
    return values[before] + (values[before + 1] - values[before]) * (place - before)
