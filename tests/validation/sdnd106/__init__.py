"""SDND106: two masses joined by a spring, of which one rubs (Code_Aster)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import xarray as xr

from tests.validation.comparison import Ours, Row, computed, constants, csv_rows
from tests.validation.sdnd106.closed_form import SYSTEM, State, motion

PUBLISHED = csv_rows("sdnd106/published.csv")
CODE_ASTER = constants("sdnd106/code_aster.csv")
NAMES = {
    "rubbing_position": "x₁ [m]",
    "rubbing_speed": "v₁ [m/s]",
    "pulled_position": "x₂ [m]",
}
STATES = dict(zip(NAMES, ("x1", "v1", "x2"), strict=True))  # of the closed form
TIMES = sorted({float(row["time"]) for row in PUBLISHED})  # s


def compute() -> Ours:
    ours = _computed({})
    arrests = ours["arrest_times"].to_numpy()[-1]
    arrest = {
        "event": "the first mass sticks for good",
        "exact": motion(SYSTEM["load_time"]).arrest,
        "ours": float(arrests[arrests == arrests][-1]),
    }
    figures = [*_figures(ours)]
    return Ours({"figures": figures, "ends": figures, "causes": figures, "arrests": [arrest]})


def _figures(ours: xr.Dataset) -> Iterator[Row]:
    """Every figure of the test: the force ends at once, in a microsecond, or half a step later."""
    ramp = {"load_time": SYSTEM["load_time"], "unload_time": CODE_ASTER["unload_time"]}
    later = {"load_time": SYSTEM["load_time"] + CODE_ASTER["step"] / 2}
    ramped, held = _computed(ramp), _computed(later)
    stepped = _by_central_differences()
    for row in PUBLISHED:
        name, time = row["figure"], float(row["time"])
        at, state = TIMES.index(time), State._fields.index(STATES[name])
        yield {
            "figure": NAMES[name],
            "time": time,
            "document": float(row["document"]),
            "code_aster": float(row["code_aster"]),
            "exact": motion(SYSTEM["load_time"]).at(time)[state],
            "ours": float(ours[name][at]),
            "ramped_exact": motion(**ramp).at(time)[state],
            "ramped": float(ramped[name][at]),
            "held_exact": motion(**later).at(time)[state],
            "held": float(held[name][at]),
            "stepped": stepped[name, time],
        }


def _computed(changes: Mapping[str, float]) -> xr.Dataset:
    """By the model in this folder, over the times."""
    parameters = {**SYSTEM, "relative_tolerance": 1e-12, **changes}
    outputs, axes = (*NAMES, "arrest_times"), {"window_end": TIMES}
    return computed("sdnd106/two_masses.toml", "dop853", outputs, parameters, axes)


def _by_central_differences() -> dict[tuple[str, float], float]:
    """The figures of the test by Code_Aster's penalized friction law, in plain Python.

    In stick, a spring and a critical damper hold the first mass; beyond the static limit it slips
    against the kinetic force, until spring and damper could hold it again. Figures are linear
    between the steps.
    """
    m, k, h = SYSTEM["mass"], SYSTEM["stiffness"], CODE_ASTER["step"]
    contact = CODE_ASTER["tangential_stiffness"]
    damping = 2 * math.sqrt(contact * m)
    x1 = x2 = v1 = held_at = 0.0  # the velocities are those half a step later
    v2 = h / 2 * SYSTEM["load"] / m
    stuck = True
    rows = [(0.0, 0.0, 0.0)]  # positions of both masses, velocity of the first
    for n in range(1, round(TIMES[-1] / h) + 2):
        x1, x2 = x1 + h * v1, x2 + h * v2
        holding = -contact * (x1 - held_at) - damping * v1
        limit = SYSTEM["static_force"] if stuck else SYSTEM["kinetic_force"]
        stuck = abs(holding) <= limit
        friction = holding if stuck else math.copysign(SYSTEM["kinetic_force"], holding)
        if not stuck:
            held_at = x1 + friction / contact
        spring = k * (x2 - x1)
        first, second = (spring + friction) / m, (_load(n * h) - spring) / m
        rows.append((x1, x2, v1 + h / 2 * first))
        v1, v2 = v1 + h * first, v2 + h * second
    names = ("rubbing_position", "pulled_position", "rubbing_speed")
    return {
        (name, time): float(np.interp(time / h, range(len(rows)), column))
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
        for time in TIMES
    }


def _load(time: float) -> float:
    """The force on the second mass; the step at its end still has it, as in the test."""
    left = 1 - (time - SYSTEM["load_time"]) / CODE_ASTER["unload_time"]
    return SYSTEM["load"] * min(max(left, 0.0), 1.0)
