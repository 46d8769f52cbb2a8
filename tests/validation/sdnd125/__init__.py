"""SDND125: a mass is shaken between two others and strikes them (Code_Aster). SI units."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import xarray as xr

from tests.oracles.linear_contacts import Contact, Motion, follow, row, start, structure
from tests.validation.comparison import Ours, Row, computed, constants, figures

SYSTEM = constants("sdnd125/system.csv")
OMEGA = 2 * math.pi * SYSTEM["frequency"]
MASSES = np.diag([SYSTEM[f"{body}_mass"] for body in ("left", "middle", "right")])
SIDES = {"left": [1.0, -1.0, 0.0], "right": [0.0, 1.0, -1.0]}  # the approach by displacement
OUTPUTS = ("force", "left_touches", "left_parts", "right_touches", "right_parts")
END = 1.0  # s, of the test
STEP = 1e-6  # s, of Code_Aster
CLOSEST_LOOK = 2e-4  # s; a contact takes 2 ms


def compute() -> Ours:
    ((time, published),) = figures("sdnd125/published.csv", float).items()
    parameters = {**SYSTEM, "relative_tolerance": 1e-12}
    axes = {"window_end": [time, END]}
    results = computed("sdnd125/three_masses.toml", "dop853", OUTPUTS, parameters, axes)
    exact = motion()
    force = {
        "time": time,
        **published,
        "exact": float(contact("left").force @ exact.at(time)),
        "ours": float(results["force"].sel(window_end=time)),
        "stepped": _by_code_aster(time),
    }
    return Ours({"forces": [force], "contacts": [*_contacts(results, exact)]})


def _contacts(results: xr.Dataset, exact: Motion) -> Iterator[Row]:
    """When the contacts begin and end."""
    times = results.sel(window_end=END)
    for number, side in enumerate(SIDES):
        ours = zip(
            times[f"{side}_touches"].to_numpy(), times[f"{side}_parts"].to_numpy(), strict=True
        )
        for closure, (touch, part) in zip(exact.closures(number), ours, strict=False):
            for event, our_time, exact_time in zip(
                ("begins", "ends"), (touch, part), closure, strict=True
            ):
                yield {
                    "contact": side,
                    "event": event,
                    "exact": exact_time,
                    "ours": float(our_time),
                }


# --- The exact motion, from contact to contact ---


def contact(side: str) -> Contact:
    approach = row(SIDES[side], constant=-SYSTEM["gap"])
    push = np.linalg.solve(MASSES, SIDES[side])
    stiffness = SYSTEM[f"{side}_contact_stiffness"]
    return Contact([approach], stiffness * approach, row(np.zeros(3), -push))


def motion() -> Motion:
    springs = np.diag([SYSTEM["stiffness"], 0, SYSTEM["stiffness"]])
    load = np.array([0, SYSTEM["load"], 0])
    matrix = structure(MASSES, np.zeros((3, 3)), springs, load, OMEGA)
    contacts = [contact(side) for side in SIDES]
    return follow(matrix, contacts, start(np.zeros(3), np.zeros(3)), END, CLOSEST_LOOK)


def _by_code_aster(end: float) -> float:
    """The force of the left contact by central differences, whose time is a sum of steps."""
    gap, k, load = SYSTEM["gap"], SYSTEM["stiffness"], SYSTEM["load"]
    left, right = (SYSTEM[f"{side}_contact_stiffness"] for side in SIDES)
    m1, m2, m3 = np.diag(MASSES).tolist()
    x1 = x2 = x3 = v1 = v2 = v3 = time = force = 0.0  # the velocities half a step before
    for _ in range(round(end / STEP) + 1):
        force, other = left * max(x1 - x2 - gap, 0.0), right * max(x2 - x3 - gap, 0.0)
        v1 += STEP * (-k * x1 - force) / m1
        v2 += STEP * (load * math.sin(OMEGA * time) + force - other) / m2
        v3 += STEP * (other - k * x3) / m3
        x1, x2, x3 = x1 + STEP * v1, x2 + STEP * v2, x3 + STEP * v3
        time += STEP
    return force
