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


def stiff_parameters(n: int, seed: int = 5) -> dict[str, NDArray[np.float64]]:
    """Random points with springs or dampers so strong that free motions die within a slip."""
    rng = np.random.default_rng(seed)
    mass, omega = rng.uniform(0.1, 3, n), rng.uniform(1, 30, n)
    spring, damping = 10 ** rng.uniform(-2, 2.2, n), 10 ** rng.uniform(0.5, 2.5, n)
    damping[::5] = 2 * spring[::5] * (1 + 1e-9)  # critical, all but
    damping[1::9] = 0.05 * spring[1::9]
    gravity, base = np.full(n, 9.81), rng.uniform(1, 30, n)
    start = 2 * np.pi / omega * rng.uniform(0, 1, n)
    return {
        "mass": mass,
        "gravity": gravity,
        "friction": base / gravity * rng.uniform(0.03, 0.99, n),
        "stiffness": mass * (spring * omega) ** 2,
        "damping": damping * mass * omega,
        "base_acceleration": base,
        "angular_frequency": omega,
        "vertical_acceleration": gravity * rng.uniform(-0.8, 0.8, n) * (rng.random(n) < 0.4),
        "phase": rng.uniform(-3, 3, n),
        "window_start": start,
        "window_end": start + 2 * np.pi / omega * rng.uniform(0.5, 1.7, n),
    }


def reference_cases() -> tuple[dict[str, NDArray[np.float64]], dict[str, NDArray[np.float64]]]:
    """Parameters and results of the 50 reference cases."""
    cases = json.loads(REFERENCE.read_text())
    columns = {key: np.array([case[key] for case in cases]) for key in cases[0]}
    parameters = {name: columns.pop(short) for short, name in NAMES.items()}
    return parameters, columns
