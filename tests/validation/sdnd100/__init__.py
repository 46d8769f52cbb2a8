"""SDND100: free oscillation of a mass on a rough plane (Code_Aster)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.validation.comparison import Ours, Row, computed, constants, figures

SYSTEM = constants("sdnd100/system.csv")
ALONG_AXIS = np.sqrt(0.5)  # the motion is along 45°, the figures are one component


def compute() -> Ours:
    turns = [*_turns()]
    return Ours({"turns": turns, "times": turns})


def _turns() -> Iterator[Row]:
    """The turns, with the closed form (u₀ − 2iμN/k) cos 45° at t = iπ√(m/k)."""
    outputs = ("extremes", "turn_times")
    results = computed("sdnd100/sliding_mass.toml", "dop853", outputs, SYSTEM, {})
    extremes, times = (results[name].to_numpy().ravel() for name in outputs)
    step = 2 * SYSTEM["friction_force"] / SYSTEM["stiffness"]
    half_period = np.pi * np.sqrt(SYSTEM["mass"] / SYSTEM["stiffness"])
    for number, published in figures("sdnd100/extremes.csv", int).items():
        left = SYSTEM["initial_displacement"] - number * step
        yield {
            "turn": f"{number}",
            **published,
            "exact": float((-1) ** number * left * ALONG_AXIS),
            "ours": float(extremes[number - 1] * ALONG_AXIS),
            "time": float(times[number - 1]),
            "exact_time": float(number * half_period),
        }
