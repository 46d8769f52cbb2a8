"""Points of the MDR contact: random ones, and the reference cases."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.oracles import mdr_contact as oracle

REFERENCE = Path(__file__).parent / "reference" / "mdr_contact.json"

Columns = dict[str, NDArray[np.float64]]


def random_points(n: int, seed: int, largest_beta: float = 1e3) -> Columns:
    """Dimensionless points of every regime and many profiles, some of them nearly in phase."""
    rng = np.random.default_rng(seed)
    phase = rng.uniform(-np.pi, np.pi, n)
    phase[::10] = rng.choice([-1.0, 1.0], len(phase[::10])) * 10 ** rng.uniform(
        -5, -1, len(phase[::10])
    )
    return {
        "beta": 10 ** rng.uniform(-4, np.log10(largest_beta), n),
        "delta": 10 ** rng.uniform(-4, 0.9, n),
        "phase": phase,
        "profile_exponent": rng.choice([0.6, 1.0, 1.5, 2.0, 2.0, 4.0], n),
    }


def reference_cases() -> tuple[Columns, Columns]:
    """Parameters and results of the reference cases."""
    cases = json.loads(REFERENCE.read_text())
    columns = {key: np.array([case[key] for case in cases]) for key in cases[0]}
    columns["profile_exponent"] = columns.pop("exponent")
    names = ("beta", "delta", "phase", "profile_exponent")
    return {name: columns.pop(name) for name in names}, columns


def slipping_share(points: Columns) -> NDArray[np.float64]:
    """The share of the contact that does not stick for good, by the closed form of its edge."""
    beta, delta = (np.asarray(points[name], np.float64) for name in ("beta", "delta"))
    turn = np.exp(1j * np.asarray(points["phase"]))
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = 0.5 * (np.abs(turn - beta) + np.abs(turn + beta)) * delta / beta
    depth = np.where(np.isinf(beta), delta, depth)
    exponent = 1 / np.asarray(points["profile_exponent"])
    return 1 - (np.maximum(1 - depth, 0) / (1 + delta)) ** exponent


def enough_springs(points: Columns, least: float) -> NDArray[np.float64]:
    """As many that some more can slip than a time-stepping method asks for, and at least these."""
    return np.maximum(least, np.ceil(25 / slipping_share(points)))


def oracle_energy(points: Columns, tolerance: float = 1e-12) -> oracle.Energy:
    """The oracle's W̄ and its error."""
    return oracle.normalized_energy(
        points["beta"], points["delta"], points["phase"], points["profile_exponent"], tolerance
    )
