"""Points of the impact oscillator: random ones, fixed ones, and those of SDND122."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.cases import Values, compute, spread

MODEL = "impact_oscillator"
SDND122 = {"mass": 1.0, "stiffness": 10.0, "wall_stiffness": 50.0, "gap": 0.01}
ENERGIES = [6.50108331624e-3, 6.5812965423810e-3, 6.47656819016e-3]
RIGHT = ["0.6466310406", "0.6470147154", "0.6465124272"]  # Hz
NAMES = {"mass": "m", "stiffness": "k", "wall_stiffness": "K", "gap": "e", "energy": "E"}


def random_points(method: str, n: int, *, alike: bool = False, edges: bool = False) -> Values:
    """Stops of every stiffness; energies below grazing and up to a thousand times that.

    With `edges`, some have no stop, an all but rigid one, or no gap.
    """
    random = np.random.default_rng(13)
    stiffness, gap = 10 ** random.uniform(-2, 4, n), 10 ** random.uniform(-4, 0, n)
    values = {
        "mass": 10 ** random.uniform(-2, 2, n),
        "stiffness": stiffness,
        "wall_stiffness": stiffness * 10 ** random.uniform(-3, 6, n),
        "gap": gap,
        "energy": stiffness * gap**2 / 2 * 10 ** random.uniform(-1, 3, n),
    }
    if edges:
        values = random_parameters(n, seed=11)
        if method == "newmark":  # its steps must resolve the contact
            stiffest = 1e3 * values["stiffness"]
            values["wall_stiffness"] = np.minimum(values["wall_stiffness"], stiffest)
    if method == "exact":
        return values
    random = np.random.default_rng(16)
    if method == "newmark":
        steps = random.choice([50.0, 200.0, 333.0], n)
        return values | {
            "steps_per_period": np.floor(10 ** random.uniform(0.9, 2.6, n)) if edges else steps
        }
    return values | _harmonic_balance(values, random, n)


def _harmonic_balance(values: Values, random: np.random.Generator, n: int) -> Values:
    """Of 25 points one has no motion, one underflows, one has too hard a stop for cosines.

    The others' stops are not so hard that rounding alone moves an output by 1e-10.
    """
    gap, energy, stiffness = values["gap"].copy(), values["energy"].copy(), values["stiffness"]
    wall = np.minimum(values["wall_stiffness"], 1e4 * stiffness)
    gap[::25], energy[1::25] = -1.0, 1e-150
    wall[2::25], energy[2::25] = 1e12 * stiffness[2::25], 10 * (stiffness * gap**2)[2::25]
    harmonics, regularization = (random.choice(of, n) for of in ([1.0, 5.0, 12.0, 40.0], [0, 5e-5]))
    harmonics[2::25], regularization[2::25] = 40.0, 0.0
    return {
        "wall_stiffness": wall,
        "gap": gap,
        "energy": energy,
        "harmonics": harmonics,
        "regularization": regularization,
        "energy_instant": random.choice([np.inf, 0.0, 0.25], n),
    }


def fixed_points() -> Values:
    """Sixty points: below grazing and above it, without stop or gap, and outside of validity."""
    i = np.arange(60.0)
    kind = i - 6.0 * np.floor(i / 6.0)
    stiffness, gap = spread(i, 7, 0.5, 20.0), np.where(kind == 1, 0.0, spread(i, 11, 0.01, 0.1))
    grazing = stiffness * gap * gap / 2.0
    wall = spread(i, 13, 0.1, 300.0)
    return {
        "mass": spread(i, 17, 0.5, 2.0),
        "stiffness": stiffness,
        "wall_stiffness": np.where(kind == 2, 0.0, np.where(i == 59.0, 1e14, wall)),
        "gap": gap,
        "energy": np.where(kind == 1, 0.01, grazing * spread(i, 23, 0.2, 12.0)),
    }


def found_by(method: str, parameters: Any, **how: Any) -> dict[str, NDArray[Any]]:
    return compute(parameters, model=MODEL, method=method, **how)


def random_parameters(n: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Stops from K/k = 0 to 1e12, energies from far below grazing to a thousand times that.

    None is within a percent of grazing, where an integrator's events become blurred.
    """
    rng = np.random.default_rng(seed)
    k, e = 10 ** rng.uniform(-2, 4, n), 10 ** rng.uniform(-4, 0, n)
    K = k * 10 ** rng.uniform(-3, 6, n)
    K[::20], K[1::20], e[2::20] = 0.0, 1e12 * k[1::20], 0.0
    barely = rng.random(n) < 0.3
    ratio = np.where(barely, 1 + 10 ** rng.uniform(-2, -1, n), 10 ** rng.uniform(-1, 3, n))
    return {
        "mass": 10 ** rng.uniform(-2, 2, n),
        "stiffness": k,
        "wall_stiffness": K,
        "gap": e,
        "energy": np.where(e > 0, k * e**2 / 2 * ratio, k),
    }


def theirs(parameters: dict[str, NDArray[np.float64]], i: int) -> dict[str, float]:
    """Point i with the names of the oracle."""
    return {short: float(parameters[name][i]) for name, short in NAMES.items()}
