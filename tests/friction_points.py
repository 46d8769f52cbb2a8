"""Points of the friction oscillator under the names of the oracles and of the project."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.oracles.friction_scan import random_points

NAMES = {
    "m": "mass",
    "g": "gravity",
    "mu": "friction",
    "k": "stiffness",
    "c": "damping",
    "a0": "base_acceleration",
    "w": "angular_frequency",
    "av": "vertical_acceleration",
    "phi": "phase",
    "t0": "window_start",
    "t1": "window_end",
}

REFERENCE = Path(__file__).parent / "reference" / "friction_oscillator.json"

# SDND104 on [4, 12] s but for the acceleration.
SDND104 = {
    "mass": 1.0,
    "gravity": 10.0,
    "friction": 0.1,
    "angular_frequency": 6.283185307179586,
    "window_start": 4.0,
    "window_end": 12.0,
}


def ours(short: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """Parameters under the oracles' short names, under the project's."""
    return {NAMES[name]: np.asarray(values) for name, values in short.items()}


def theirs(parameters: Mapping[str, NDArray[np.float64]], i: int) -> dict[str, float]:
    """Point i under the oracles' names."""
    return {short: float(parameters[name][i]) for short, name in NAMES.items()}


def random_parameters(n: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Random points of every kind: free, sprung, damped, shaken."""
    return ours(random_points(n, seed))


def reference_cases() -> tuple[dict[str, NDArray[np.float64]], dict[str, NDArray[np.float64]]]:
    """Parameters and results of the 50 reference cases."""
    cases = json.loads(REFERENCE.read_text())
    columns = {key: np.array([case[key] for case in cases]) for key in cases[0]}
    parameters = {name: columns.pop(short) for short, name in NAMES.items()}
    return parameters, columns
