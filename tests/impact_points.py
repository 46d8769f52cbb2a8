"""Points of the impact oscillator: SDND122's, and random ones of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.points import compute

MODEL = "impact_oscillator"
SDND122 = {"mass": 1.0, "stiffness": 10.0, "wall_stiffness": 50.0, "gap": 0.01}
ENERGIES = [6.50108331624e-3, 6.5812965423810e-3, 6.47656819016e-3]
RIGHT = ["0.6466310406", "0.6470147154", "0.6465124272"]  # Hz
NAMES = {
    "mass": "m",
    "stiffness": "k",
    "wall_stiffness": "K",
    "gap": "e",
    "energy": "E",
}


def found_by(method: str, parameters: Any, **how: Any) -> dict[str, NDArray[Any]]:
    return compute(parameters, model=MODEL, method=method, **how)


def random_parameters(n: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Stops from none to K/k = 1e12, energies from far below grazing to a thousand times that.

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
    """Point i under the oracle's names."""
    return {short: float(parameters[name][i]) for name, short in NAMES.items()}
