"""SDND102: a mass on a shaken spring strikes a stop, or another such mass (Code_Aster).

Displacements are absolute, those of the mass relative to its support plus those of the support.
"""

from __future__ import annotations

import math

import numpy as np

from tests.oracles.linear_contacts import Contact, Motion, follow, row, start, structure
from tests.validation.comparison import Ours, computed, constants, figures

SYSTEM = constants("sdnd102/system.csv")
CODE_ASTER = constants("sdnd102/code_aster.csv")
OMEGA = 2 * math.pi * SYSTEM["frequency"]
CLOSEST_LOOK = 2e-4  # s; a contact takes 2 ms


def compute() -> Ours:
    published = figures("sdnd102/published.csv", float)
    stop, pair = _by_model("stop", [*published]), _by_model("pair", [*published])
    exact, in_millimetres = motion(SYSTEM["stop_gap"]), motion(SYSTEM["stop_gap"] / 1000)
    stepped = _by_central_differences()
    rows = [
        {
            "time": time,
            **published[time],
            "exact": displacement(exact, time),
            "stop": stop[i],
            "pair": pair[i],
            "stepped": stepped[round(time / CODE_ASTER["step"])],
            "in_millimetres": displacement(in_millimetres, time),
        }
        for i, time in enumerate(published)
    ]
    return Ours({"displacements": rows, "stepped": rows, "gaps": rows})


def _by_model(other: str, times: list[float]) -> list[float]:
    """By a model in this folder: a mass and a `stop`, or a `pair` of masses."""
    names = ("mass", "stiffness", "damping_ratio", "acceleration", "frequency")
    parameters = {
        **{name: SYSTEM[name] for name in names},
        "gap": SYSTEM[f"{other}_gap"],
        "contact_stiffness": SYSTEM[f"{other}_stiffness"],
        "relative_tolerance": 1e-12,
    }
    model, axes = f"sdnd102/shaken_{other}.toml", {"window_end": times}
    results = computed(model, "dop853", ["displacement"], parameters, axes)
    return results["displacement"].to_numpy().tolist()


def motion(gap: float) -> Motion:
    """The exact motion of the mass with the stop, from event to event."""
    m, k, contact = SYSTEM["mass"], SYSTEM["stiffness"], SYSTEM["stop_stiffness"]
    damping = 2 * SYSTEM["damping_ratio"] * math.sqrt(k * m)
    shaking = SYSTEM["acceleration"]
    closing = row([1.0], sine=-shaking / OMEGA**2, constant=-gap)
    stop = Contact([closing], -contact / m * closing, row([0.0], 1.0))
    matrix = structure(np.array([[m]]), [[damping]], [[k]], -m * shaking, OMEGA)
    return follow(matrix, [stop], start([0.0], [0.0]), 1.0, CLOSEST_LOOK)


def displacement(of: Motion, time: float) -> float:
    return float(of.at(time)[0]) - SYSTEM["acceleration"] * math.sin(OMEGA * time) / OMEGA**2


def _by_central_differences() -> list[float]:
    """The displacement at the steps of Code_Aster, whose shaking is linear between the samples."""
    m, k, contact = SYSTEM["mass"], SYSTEM["stiffness"], SYSTEM["stop_stiffness"]
    damping = 2 * SYSTEM["damping_ratio"] * math.sqrt(k * m)
    h, sampling = CODE_ASTER["step"], CODE_ASTER["sampling"]
    times, samples = np.arange(0.0, 1 + h / 2, h), np.arange(0.0, 1 + 2 * sampling, sampling)
    shaking = np.interp(times, samples, SYSTEM["acceleration"] * np.sin(OMEGA * samples))
    displacements: list[float] = []
    position = velocity = 0.0  # relative ones, the velocity half a step before
    for acceleration in shaking.tolist():
        displacements.append(position - acceleration / OMEGA**2)
        force = contact * max(displacements[-1] - SYSTEM["stop_gap"], 0.0)
        velocity += h * (-acceleration - (damping * velocity + k * position + force) / m)
        position += h * velocity
    return displacements
