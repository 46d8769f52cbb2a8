"""Points of the friction oscillator: random ones, fixed ones, and those of documents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sweep.model.tables.friction_oscillator import CONSTANT, MODEL, SCHEMES, STEP
from tests.cases import Values, spread

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

REFERENCE = Path(__file__).parents[1] / "reference" / "friction_oscillator.json"

# SDND104 on [4, 12] s without the acceleration.
SDND104 = {
    "mass": 1.0,
    "gravity": 10.0,
    "friction": 0.1,
    "angular_frequency": 6.283185307179586,
    "window_start": 4.0,
    "window_end": 12.0,
}

PENALISED = tuple(scheme.name for scheme in SCHEMES)
CONTROLLED = tuple(scheme.name for scheme in SCHEMES if CONSTANT not in scheme.parameters)
STEPPING = tuple(method.name for method in MODEL.methods if STEP in method.parameters)


def with_tolerances(tolerances: Mapping[str, float]) -> list[tuple[str, float]]:
    """Every scheme with step-size control and its tolerance; KeyError if one has none."""
    return [(scheme, tolerances[scheme]) for scheme in CONTROLLED]


TOLERANCES = {"adapt_ordre2": 0.3, "rk54": 1e-4, "rk32": 1e-4}
CODE_ASTER_TOLERANCES = with_tolerances({"adapt_ordre2": 1.0, "rk54": 1e-6, "rk32": 1e-5})


def random_points(method: str, n: int, *, alike: bool = False, edges: bool = False) -> Values:
    """Free and sprung, damped and shaken points; one in 25 is outside the range of validity.

    Windows are given in seconds and in cycles.
    """
    if edges and method == "exact" and not alike:
        values = random_parameters(n, seed=3)
        cycles = values["angular_frequency"] / (2 * np.pi)
        start, end = values["window_start"] * cycles, values["window_end"] * cycles
        return {**values, "start_cycle": start, "end_cycle": end}
    random = np.random.default_rng(11)
    omega, gravity = random.uniform(1, 30, n), random.uniform(5, 15, n)
    if alike:
        omega[:] = omega[0]
    base, mass = random.uniform(1, 30, n), random.uniform(0.1, 3, n)
    sprung, damped, shaken = (random.random(n) < 0.5 for _ in range(3))
    period = 2 * np.pi / omega
    start_cycle = random.uniform(0, 2, 1 if alike else n)
    shaking = gravity * random.uniform(-0.9, 0.9, n) * shaken
    shaking[::25] = 1.5 * gravity[::25]
    values = {
        "mass": mass,
        "gravity": gravity,
        "friction": base / gravity * random.uniform(0.03, 1.2, n),
        "stiffness": mass * (random.uniform(0.1, 5, n) * omega) ** 2 * sprung,
        "damping": mass * omega * random.uniform(0.01, 0.5, n) * damped,
        "base_acceleration": base,
        "angular_frequency": omega,
        "vertical_acceleration": shaking,
        "phase": random.uniform(-3, 3, n),
    }
    length = random.uniform(0.5, 3, n)
    start = period * start_cycle
    values |= {"window_start": start, "window_end": start + period * length}
    values |= {"start_cycle": start_cycle, "end_cycle": start_cycle + length}
    return values if method == "exact" else values | _controls(values, method, n, edges=edges)


def _controls(values: Values, method: str, n: int, *, edges: bool) -> Values:
    """Some steps are unstable; one point in 20 may take too few of them.

    With `edges` the tolerances are of every size, and infinite at four points in ten.
    """
    random = np.random.default_rng(14)
    period = 2 * np.pi / values["angular_frequency"]
    step = period / random.uniform(40, 400, 1 if np.ptp(period) == 0 else n)
    if method == "moreau":
        return {"step": step}
    stiffness = values["mass"] / step**2 * 10 ** random.uniform(-3, 0.3, n)
    controls = {
        "step": step,
        "tangential_stiffness": stiffness,
        "blocks": random.choice([1.0, 2.0, 5.0], n),
        "maximum_step": 3 * step,
        "maximum_steps": np.where(random.random(n) < 0.05, 20.0, 1e4 if edges else 1e5),
    }
    if method in CONTROLLED:
        tolerance = np.array([TOLERANCES[method]])
        if edges:
            tolerance = tolerance * 10 ** random.uniform(-2, 1, n)
            tolerance[random.random(n) < 0.4] = np.inf
        controls["tolerance"] = tolerance
    return controls


def fixed_points() -> Values:
    """Free, sprung, damped, shaken, with all of these, outside of validity, and never slipping."""
    i = np.arange(62.0)
    kind = i - 6.0 * np.floor(i / 6.0)
    held = i >= 60
    start = spread(i, 17, 0.0, 3.0)
    sprung = (kind == 1) | (kind == 4) | (kind == 5)
    damped = (kind == 2) | (kind == 4)
    shaken = (kind == 3) | (kind == 4)
    return {
        "mass": spread(i, 7, 0.5, 2.0),
        "gravity": np.where(held, 10.0, spread(i, 11, 5.0, 12.0)),
        "friction": spread(i, 13, 0.02, 0.6),
        "stiffness": np.where(sprung, spread(i, 19, 0.001, 60.0), 0.0),
        "damping": np.where(damped, spread(i, 23, 0.001, 3.0), 0.0),
        "base_acceleration": np.where(held, 1e-300 * (i - 60.0), spread(i, 29, 0.5, 15.0)),
        "angular_frequency": spread(i, 31, 1.0, 9.0),
        "vertical_acceleration": np.where(
            held, 9.0, np.where(shaken, spread(i, 37, 0.1, 5.5), 0.0)
        ),
        "phase": np.where(shaken, spread(i, 41, -3.0, 3.0), 0.0),
        "window_start": start,
        "window_end": start + spread(i, 43, 0.0, 6.0),
        # Controls of the time-stepping methods, some of them beyond the limit of stability.
        "step": spread(i, 47, 2e-4, 2e-3),
        "tangential_stiffness": spread(i, 53, 1e4, 2e6),
        "blocks": 1.0 + np.floor(spread(i, 59, 0.0, 5.0)),
    }


def ours(short: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """Rename parameters from the oracles' short names to the names of the project."""
    return {NAMES[name]: np.asarray(values) for name, values in short.items()}


def theirs(parameters: Mapping[str, NDArray[np.float64]], i: int) -> dict[str, float]:
    """Point i with the names of the oracles."""
    return {short: float(parameters[name][i]) for short, name in NAMES.items()}


def random_parameters(n: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Random points of every kind: free, sprung, damped, shaken."""
    from tests.oracles import friction_scan  # needs numba, which a machine with a GPU may lack

    return ours(friction_scan.random_points(n, seed))


def stiff_parameters(n: int, seed: int = 5) -> dict[str, NDArray[np.float64]]:
    """Random points with springs or dampers so strong that free motions die within a slip."""
    rng = np.random.default_rng(seed)
    mass, omega = rng.uniform(0.1, 3, n), rng.uniform(1, 30, n)
    spring, damping = 10 ** rng.uniform(-2, 2.2, n), 10 ** rng.uniform(0.5, 2.5, n)
    damping[::5] = 2 * spring[::5] * (1 + 1e-9)  # nearly critical
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
