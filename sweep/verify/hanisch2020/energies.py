"""Our figures for the comparison: exact energies, and the paper's formulas and our fits at them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

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
from sweep.verify.hanisch2020.coefficients import (
    CONSTANTS,
    DELTA,
    DELTAS,
    PHASE,
    READINGS,
    Values,
    equation_25,
    equation_27,
)
from sweep.verify.hanisch2020.cycles import Cycles, first_cycles
from sweep.verify.runs import computed

SMALL = 1e-6  # δ that stands for δ → 0; energies differ from the limit by at most 1/(4ξ)
INFINITE = 1e6  # β that stands for infinite friction; energies differ from that limit by 1/β²
LIMITS = {"xi": (0.0, CONSTANTS["greatest_xi"]), "beta": (CONSTANTS["least_beta"], INFINITE)}
CLOSED_FORM_DEGREES = (Degrees(1, 0), Degrees(2, 3))  # they contain the closed form over ξ
EQUATION_25_DEGREES = Degrees(4, 5)  # of eq. 25 over ξ
CASES = (  # single contacts by β, δ and φ in rad: that of Fig. 2, and other phases
    (CONSTANTS["figure_2_beta"], CONSTANTS["figure_2_delta"], PHASE),
    (1.2, SMALL, math.radians(153)),
    (1.07, SMALL, 0.05),
    (1.5, SMALL, 0.3),
    (1.5, SMALL, -0.3),
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """A formula over one variable compared with the exact energies."""

    variable: str  # "xi" or "beta"
    label: str
    n_coefficients: int
    distance: Distance
    minimax: bool = False  # then the greatest error is attained at several places


@dataclass(frozen=True, eq=False)
class Figures:
    """Energies are normalized."""

    points: Points  # of small δ, at φ = 90°
    amplitudes: Points  # as in Fig. 3
    phases: Points  # as in Fig. 4
    curves: Mapping[str, MasterCurve]  # our least-squares fits, by variable
    compared: tuple[Comparison, ...]
    cases: Mapping[tuple[float, float, float], float]  # exact energies by case
    cycles: Cycles  # of the contact of Fig. 2
    readings: Mapping[str, float]  # greatest relative error of eq. 25, or change of eq. 27


def compute() -> Figures:
    """All figures; takes some seconds, compilation included."""
    points = _points(np.concatenate([_xi() * SMALL, _beta()]), (SMALL,), (PHASE,))
    curves = {name: fit(points, name, Choices(limits=limits)) for name, limits in LIMITS.items()}
    angles = np.radians(np.linspace(0, 180, 13)).tolist()
    return Figures(
        points=points,
        amplitudes=_points(np.geomspace(1e-5, 1e3, 241), DELTAS, (PHASE,)),
        phases=_points(np.geomspace(1e-4, 1e3, 211), (DELTA,), angles),
        curves=curves,
        compared=(*_over_xi(points, curves["xi"]), *_over_beta(points, curves["beta"])),
        cases={
            (beta, delta, phase): float(_points([beta], [delta], [phase]).energy[0])
            for beta, delta, phase in CASES
        },
        cycles=first_cycles(),
        readings={reading: _change(**row) for reading, row in READINGS.items()},
    )


def constant_load_energy(xi: ArrayLike) -> Values:
    """The closed form of W̄δ for small δ."""
    return 3 / 8 * theory.constant_load_energy(xi)


def _xi() -> Values:
    """Values in the range of eq. 25, dense where a stick core appears."""
    greatest = CONSTANTS["greatest_xi"]
    core_radius = np.linspace(0, math.sqrt(1 - 1 / greatest), 500)
    below = np.concatenate([np.geomspace(1e-3, 0.5, 200), np.linspace(0.5, 1, 300)])
    above = 1 / (1 - core_radius**2)
    return np.unique(np.concatenate([below, above[:-1], [greatest * (1 - 1e-9)]]))


def _beta() -> Values:
    return np.geomspace(CONSTANTS["least_beta"] * (1 + 1e-9), INFINITE, 1000)


def _points(
    beta: Values | Sequence[float], deltas: Sequence[float], phases: Sequence[float]
) -> Points:
    axes = {"delta": deltas, "phase": phases, "beta": list(beta)}
    several = {name: values for name, values in axes.items() if len(values) > 1}
    single = {name: values[0] for name, values in axes.items() if len(values) == 1}
    dataset = computed("mdr_contact", "exact", ["normalized_energy"], single, several)
    return from_dataset(dataset, "the exact energies")


def _over_xi(points: Points, ours: MasterCurve) -> list[Comparison]:
    x = ours.x
    published = {
        "eq. 24, regions I and II": (0, theory.three_regions(x * SMALL, SMALL, PHASE) * SMALL),
        "eq. 25": (CONSTANTS["n_coefficients_25"], theory.slip_transition(x)),
    }
    choices = {
        "ours, minimax": Choices(method="minimax"),
        "ours, degrees of the closed form": Choices(degrees=CLOSED_FORM_DEGREES),
        "best with the degrees of eq. 25": Choices(
            method="minimax", degrees=(EQUATION_25_DEGREES,), whole=True
        ),
    }
    return _comparisons(points, ours, published, choices)


def _over_beta(points: Points, ours: MasterCurve) -> list[Comparison]:
    x = ours.x
    published = {
        "eq. 24, regions II and III": (0, theory.three_regions(x, SMALL, PHASE)),
        "eq. 27": (CONSTANTS["n_coefficients_27"], theory.stick_transition(x)),
    }
    choices = {"ours, minimax": Choices(method="minimax")}
    return _comparisons(points, ours, published, choices)


def _comparisons(
    points: Points,
    ours: MasterCurve,
    published: Mapping[str, tuple[float, Values]],
    choices: Mapping[str, Choices],
) -> list[Comparison]:
    """Published formulas (number of coefficients, energies), our fits, and the closed form."""
    assert ours.theory is not None
    variable, formulas = ours.variable.name, {**published, "closed form": (0, ours.theory(ours.x))}
    compared = [
        Comparison(variable, label, int(n), distance(energy, ours.energy, ours.x))
        for label, (n, energy) in formulas.items()
    ]
    fits = [Comparison(variable, "ours, least squares", ours.n_coefficients, ours.error)]
    for label, choice in choices.items():
        curve = fit(points, variable, choice)
        minimax = choice.method == "minimax"
        fits.append(Comparison(variable, label, curve.n_coefficients, curve.error, minimax))
    return [*compared[:-1], *fits, compared[-1]]


def _change(equation: float, value: float) -> float:
    """The greatest relative error of eq. 25 with this sign, or change of eq. 27 by a constant."""
    if equation == 25:
        xi = _xi()
        return distance(equation_25(xi, sign=value), constant_load_energy(xi), xi).greatest
    beta = _beta()
    return distance(equation_27(beta, value), theory.stick_transition(beta), beta).greatest
