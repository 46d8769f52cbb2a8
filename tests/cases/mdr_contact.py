"""Points of the MDR contact: random ones, fixed ones, and the reference cases."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.cases import Values, spread
from tests.oracles import mdr_contact as oracle

REFERENCE = Path(__file__).parents[1] / "reference" / "mdr_contact.json"

Columns = dict[str, NDArray[np.float64]]


def random_points(method: str, n: int, *, alike: bool = False, edges: bool = False) -> Values:
    """Points of every regime and several profiles.

    With `edges` they include motion in phase, no friction, infinite friction, and contacts about to
    be lost.
    """
    random = np.random.default_rng(12)
    values = {
        "beta": 10 ** random.uniform(-3, 3, n),
        "delta": 10 ** random.uniform(-3, 0.9, n),
        "phase": random.uniform(-np.pi, np.pi, n),
        "profile_exponent": random.choice([0.6, 1.0, 1.5, 2.0, 2.0, 4.0], n),
    }
    if edges:
        values["phase"][::40] = 0.0
        values["beta"][7::40] = np.inf
        values["beta"][8::40] = 0.0
        values["delta"][9::40] = 1.0
    return values if method == "exact" else values | _controls(values, n, edges=edges)


def _controls(values: Values, n: int, *, edges: bool) -> Values:
    """Springs that fill groups of lanes and others; steps that fill segments and others.

    At about one point in five too few springs may slip. At most others where they would be too few,
    contact is lost, so that all slip.
    """
    random = np.random.default_rng(15)
    springs = random.choice([20.0, 21.0, 63.0, 64.0, 65.0, 128.0, 200.0, 331.0], n)
    few = (slipping_share(values) * springs < 21) & (random.random(n) < 0.8)
    controls = {
        "delta": np.where(few, random.uniform(1, 8, n), values["delta"]),
        "springs": springs,
        "steps_per_cycle": random.choice([8.0, 64.0, 65.0, 100.0, 301.0], n),
    }
    return controls | ({"cycles": random.choice([2.0, 3.0], n)} if edges else {})


def fixed_points() -> Values:
    """Sixty points: spheres, cones, other profiles; every regime, limit and status.

    At `rare` 3, β is about 1e7 and δ about 70.
    """
    i = np.arange(60.0)
    kind = i - 6.0 * np.floor(i / 6.0)
    rare = i - 20.0 * np.floor(i / 20.0)
    friction = spread(i, 13, 0.01, 0.9) * spread(i, 17, 0.01, 1.0)
    normal = np.where(kind == 3, spread(i, 19, 1e-5, 4e-5), spread(i, 19, 1e-8, 1e-5))
    normal = np.where(rare == 3, 1e-3, normal)
    friction = np.where(rare == 3, 1e4, friction)
    exponent = np.where(kind == 0, 1.0, np.where(kind == 4, spread(i, 23, 0.6, 12.0), 2.0))
    return {
        "phase": np.where(rare == 5, 0.0, spread(i, 41, -3.0, 7.0)),
        "youngs_modulus": spread(i, 7, 1e9, 2e11),
        "poisson_ratio": spread(i, 11, -0.3, 0.5),
        "profile_coefficient": np.where(exponent == 1.0, 0.01, spread(i, 29, 1.0, 100.0)),
        "profile_exponent": exponent,
        "indentation": spread(i, 31, 1e-5, 2e-5),
        "normal_amplitude": np.where(rare >= 18, 0.0, normal),
        "tangential_amplitude": np.where(
            (rare == 7) | (rare == 19), 0.0, spread(i, 37, 1e-7, 6e-6)
        ),
        "friction": np.where(rare == 9, np.inf, np.where(rare == 11, 0.0, friction)),
    }


def dimensionless_points(n: int, seed: int, largest_beta: float = 1e3) -> Columns:
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
    """The share of the contact that ever slips, from the closed form of its edge."""
    beta, delta = (np.asarray(points[name], np.float64) for name in ("beta", "delta"))
    turn = np.exp(1j * np.asarray(points["phase"]))
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = 0.5 * (np.abs(turn - beta) + np.abs(turn + beta)) * delta / beta
    depth = np.where(np.isinf(beta), delta, depth)
    exponent = 1 / np.asarray(points["profile_exponent"])
    return 1 - (np.maximum(1 - depth, 0) / (1 + delta)) ** exponent


def enough_springs(points: Columns, least: float) -> NDArray[np.float64]:
    """At least `least` springs, and enough that more slip than a time-stepping method needs."""
    return np.maximum(least, np.ceil(25 / slipping_share(points)))


def oracle_energy(points: Columns, tolerance: float = 1e-12) -> oracle.Energy:
    """The oracle's W̄ and its error."""
    return oracle.normalized_energy(
        points["beta"], points["delta"], points["phase"], points["profile_exponent"], tolerance
    )
