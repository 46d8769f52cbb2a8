"""SDND106: two masses joined by a spring, of which one rubs (Code_Aster).

The first mass rubs, a force pulls the second one. SI units.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.linalg import expm
from scipy.optimize import brentq

from tests.validation.comparison import Ours, computed, constants, csv_rows

SYSTEM = constants("sdnd106/system.csv")
CODE_ASTER = constants("sdnd106/code_aster.csv")
NAMES = {
    "rubbing_position": "x₁ [m]",
    "rubbing_speed": "v₁ [m/s]",
    "pulled_position": "x₂ [m]",
}
TIMES = (0.02, 0.15, 0.339965)  # s, of the test
LONGEST_SLIP = 0.15  # s, after the force has ended

Values = NDArray[np.float64]


def compute() -> Ours:
    """The force ends at once, in a microsecond as in the test, or half a step later."""
    load_time, later = SYSTEM["load_time"], SYSTEM["load_time"] + CODE_ASTER["step"] / 2
    loads = {
        ("ours", "exact"): {"load_time": load_time},
        ("ramped", "ramped_exact"): {
            "load_time": load_time, "unload_time": CODE_ASTER["unload_time"],
        },
        ("held", "held_exact"): {"load_time": later},
    }  # fmt: skip
    results = {ours: _computed(load) for (ours, _), load in loads.items()}
    motions = {exact: motion(**load) for (_, exact), load in loads.items()}
    stepped = _by_central_differences()
    figures = [
        {
            "figure": NAMES[name := row["figure"]],
            "time": (time := float(row["time"])),
            "document": float(row["document"]),
            "code_aster": float(row["code_aster"]),
            **{ours: float(each[name].sel(window_end=time)) for ours, each in results.items()},
            **{exact: each.at(time, [*NAMES].index(name)) for exact, each in motions.items()},
            "stepped": stepped[name, time],
        }
        for row in csv_rows("sdnd106/published.csv")
    ]
    arrests = results["ours"]["arrest_times"].to_numpy()[-1]
    arrest = {
        "event": "the first mass sticks for good",
        "exact": motions["exact"].begins[-1],
        "ours": float(arrests[arrests == arrests][-1]),
    }
    return Ours({"figures": figures, "ends": figures, "causes": figures, "arrests": [arrest]})


def _computed(changes: Mapping[str, float]) -> xr.Dataset:
    """By the model in this folder, over the times."""
    parameters = {**SYSTEM, "relative_tolerance": 1e-12, **changes}
    outputs, axes = (*NAMES, "arrest_times"), {"window_end": TIMES}
    return computed("sdnd106/two_masses.toml", "dop853", outputs, parameters, axes)


# --- Closed form: between events the state z = (x₁, v₁, x₂, v₂, force, 1) obeys z' = A z ---


class Motion(NamedTuple):
    """The phases of the motion: stick, slip while the force acts, ends and has ended, stick."""

    begins: tuple[float, ...]
    phases: tuple[Callable[[float], Values], ...]  # state by time since the phase began

    def at(self, time: float, state: int | slice = slice(4)) -> Values:
        phase = bisect_right(self.begins, time) - 1
        return self.phases[phase](time - self.begins[phase])[state]


def motion(load_time: float, unload_time: float = 0.0) -> Motion:
    """The motion under a force that is whole for `load_time`, then falls evenly to 0."""
    force, friction = SYSTEM["load"], SYSTEM["kinetic_force"]
    own_frequency = math.sqrt(SYSTEM["stiffness"] / SYSTEM["mass"])
    release = math.acos(1 - SYSTEM["static_force"] / force) / own_frequency
    rate = force / unload_time if unload_time else 0.0
    stuck = _flow(np.array([0, 0, 0, 0, force, 1.0]))
    loaded = _flow(stuck(release), friction)
    unloading = _flow(loaded(load_time - release), friction, rate)
    free = _flow(unloading(unload_time) * [1, 1, 1, 1, 0, 1], friction)
    slip_left = brentq(lambda t: free(t)[1], 0, LONGEST_SLIP, xtol=1e-16, rtol=1e-15)
    begins = (0.0, release, load_time, load_time + unload_time)
    at_rest = free(slip_left) * [1, 0, 1, 1, 1, 1]
    return Motion(
        (*begins, begins[-1] + slip_left), (stuck, loaded, unloading, free, _flow(at_rest))
    )


def _flow(
    start: Values, friction: float | None = None, unload_rate: float = 0.0
) -> Callable[[float], Values]:
    """The state by time since the start: in slip against the friction, or in stick."""
    m, k = SYSTEM["mass"], SYSTEM["stiffness"]
    matrix = np.zeros((6, 6))
    matrix[2, 3] = 1
    matrix[3] = [k / m, 0, -k / m, 0, 1 / m, 0]
    matrix[4, 5] = -unload_rate
    if friction is not None:
        matrix[0, 1] = 1
        matrix[1] = [-k / m, 0, k / m, 0, 0, -friction / m]
    return lambda time: expm(matrix * time) @ start


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
