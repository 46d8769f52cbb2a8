"""What is compared with the paper: exact energies, its formulas and fits of ours at them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sweep.analysis.master_curve import (
    Choices,
    Degrees,
    Distance,
    MasterCurve,
    Points,
    distance,
    fit,
    from_dataset,
)
from sweep.theory import mdr_contact as theory
from sweep.verify.hanisch2020 import published
from sweep.verify.hanisch2020.published import BETA_FROM, PHASE, XI_RANGE, Values
from sweep.verify.runs import computed

SMALL = 1e-6  # δ that stands for none; energies differ from the limit by at most 1/(4ξ)
INFINITE = 1e6  # β that stands for infinite friction: energies differ from it by 1/β²
CLOSED = (Degrees(1, 0), Degrees(2, 3))  # degrees that hold the closed form over ξ
PAPER_25 = Degrees(4, 5)  # times ξ: those of eq. 25

Formula = Callable[[Values], Values]


@dataclass(frozen=True, eq=False)
class Compared:
    """A formula over one variable against the exact energies."""

    variable: str  # "xi" or "beta"
    label: str
    n_coefficients: int
    distance: Distance


@dataclass(frozen=True, eq=False)
class Figures:
    """Energies are normalized; phases in rad."""

    points: Points  # of vanishing δ, at φ = π/2
    amplitudes: Points  # as Fig. 3
    phases: Points  # as Fig. 4
    curves: dict[str, MasterCurve]  # ours, by variable
    compared: tuple[Compared, ...]
    cases: tuple[tuple[float, float, float, float], ...]  # β, δ, φ, exact
    misread: float  # greatest relative error of eq. 25 with a plus
    changes: dict[str, float]  # greatest relative change of eq. 27 with its last constant another


def compute() -> Figures:
    """All of it; some seconds, compilation included."""
    points = _points(np.concatenate([_xi() * SMALL, _beta()]), (SMALL,), (PHASE,))
    curves = {name: fit(points, name, Choices(limits=_limits(name))) for name in ("xi", "beta")}
    angles = np.radians(np.linspace(0, 180, 13))
    return Figures(
        points=points,
        amplitudes=_points(np.geomspace(1e-5, 1e3, 241), published.AMPLITUDES, (PHASE,)),
        phases=_points(np.geomspace(1e-4, 1e3, 211), (published.AMPLITUDE,), angles.tolist()),
        curves=curves,
        compared=(*_over_xi(points, curves["xi"]), *_over_beta(points, curves["beta"])),
        cases=tuple(_cases()),
        misread=_misread(),
        changes=_changes(),
    )


def between(points: Points, variable: str) -> tuple[Values, Values]:
    """x and energy of the points in the paper's range of a variable."""
    low, high = _limits(variable)
    x = points.beta / SMALL if variable == "xi" else points.beta
    energy = points.energy * SMALL if variable == "xi" else points.energy
    inside = (x >= low) & (x <= high)
    return x[inside], energy[inside]


def _limits(variable: str) -> tuple[float, float]:
    return XI_RANGE if variable == "xi" else (BETA_FROM, INFINITE)


def _xi() -> Values:
    """Within eq. 25's range, dense where a stick core appears."""
    core = np.linspace(0, math.sqrt(1 - 1 / XI_RANGE[1]), 500)
    below = np.concatenate([np.geomspace(1e-3, 0.5, 200), np.linspace(0.5, 1, 300)])
    inside = 1 / (1 - core**2)
    return np.unique(np.concatenate([below, inside[:-1], [XI_RANGE[1] * (1 - 1e-9)]]))


def _beta() -> Values:
    return np.geomspace(BETA_FROM * (1 + 1e-9), INFINITE, 1000)


def _points(beta: Values, deltas: Sequence[float], phases: Sequence[float]) -> Points:
    axes = {"delta": deltas, "phase": phases, "beta": beta.tolist()}
    several = {name: values for name, values in axes.items() if len(values) > 1}
    single = {name: values[0] for name, values in axes.items() if len(values) == 1}
    found = computed("mdr_contact", "exact", ["normalized_energy"], single, several)
    return from_dataset(found, "the exact energies")


def _over_xi(points: Points, ours: MasterCurve) -> list[Compared]:
    x, right = between(points, "xi")
    refitted = {
        "ours, least greatest error": Choices(method="minimax"),
        "ours, the closed form's degrees": Choices(degrees=CLOSED),
        "best of eq. 25's degrees": Choices(method="minimax", degrees=(PAPER_25,), whole=True),
    }
    found = [
        Compared("xi", "eq. 24, regions I and II", 0, distance(_regions(x), right, x)),
        Compared(
            "xi", "eq. 25", published.N_COEFFICIENTS["xi"],
            distance(theory.slip_transition(x), right, x),
        ),
        Compared("xi", "ours, least squares", ours.n_coefficients, ours.error),
    ]  # fmt: skip
    for label, choices in refitted.items():
        curve = fit(points, "xi", choices)
        found.append(Compared("xi", label, curve.n_coefficients, curve.error))
    closed = distance(3 / 8 * theory.constant_load_energy(x), right, x)
    return [*found, Compared("xi", "closed form", 0, closed)]


def _regions(x: Values) -> Values:
    """W̄δ of eq. 24 for small δ."""
    return theory.three_regions(x * SMALL, SMALL, PHASE) * SMALL


def _over_beta(points: Points, ours: MasterCurve) -> list[Compared]:
    x, right = between(points, "beta")
    best = fit(points, "beta", Choices(method="minimax"))
    formulas = [
        ("eq. 24, regions II and III", 0, theory.three_regions(x, SMALL, PHASE)),
        ("eq. 27", published.N_COEFFICIENTS["beta"], theory.stick_transition(x)),
    ]
    return [
        *(Compared("beta", name, n, distance(found, right, x)) for name, n, found in formulas),
        Compared("beta", "ours, least squares", ours.n_coefficients, ours.error),
        Compared("beta", "ours, least greatest error", best.n_coefficients, best.error),
        Compared(
            "beta", "closed form", 0, distance(theory.universal_surface(x, PHASE), right, x)
        ),
    ]  # fmt: skip


def _cases() -> list[tuple[float, float, float, float]]:
    """The case of Fig. 2, and cases of other phases."""
    wanted = [
        published.FIGURE_2,
        (1.2, SMALL, math.radians(153)),
        (1.07, SMALL, 0.05),
        (1.5, SMALL, 0.3),
        (1.5, SMALL, -0.3),
    ]
    return [
        (beta, delta, phase, float(_energy(beta, delta, phase))) for beta, delta, phase in wanted
    ]


def _energy(beta: float, delta: float, phase: float) -> float:
    parameters = {"delta": delta, "phase": phase}
    axes = {"beta": [beta]}
    found = computed("mdr_contact", "exact", ["normalized_energy"], parameters, axes)
    return float(found["normalized_energy"][0])


def _misread() -> float:
    xi = _xi()
    right = 3 / 8 * theory.constant_load_energy(xi)
    return distance(published.slip_transition_plus(xi), right, xi).greatest


def _changes() -> dict[str, float]:
    beta = _beta()
    right = theory.stick_transition(beta)
    constants = {"0": 0.0, "−4.0017e-5": -4.0017e-5, "−4.0017e-4": -4.0017e-4}
    return {
        label: distance(published.stick_transition_with(constant, beta), right, beta).greatest
        for label, constant in constants.items()
    }
