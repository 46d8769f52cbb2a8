"""Hanisch, Richter, Li 2020: energy dissipated in a rubbing contact, and its master curves.

Energies are normalized: W̄ over β, and W̄δ over ξ = β/δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.fits import (
    Choices,
    ContactEnergies,
    Degrees,
    Distance,
    MasterCurve,
    Quotient,
    distance,
    fit,
    from_dataset,
)
from sweep.fits.picture import draw_amplitudes, draw_fits, draw_phases
from sweep.fits.solve import ROUNDING
from sweep.pictures.figures import save
from sweep.pictures.traces import plot_trace
from sweep.theory import mdr_contact as theory
from tests.validation.comparison import Ours, Row, computed, constants, figures
from tests.validation.hanisch2020.cycles import Cycles, first_cycles

CONSTANTS = constants("hanisch2020/constants.csv")
COEFFICIENTS = figures("hanisch2020/coefficients.csv", int)  # by power, the highest first
READINGS = figures("hanisch2020/readings.csv")
PHASE = math.pi / 2  # of eq. 27, and of Figs. 2, 3 and 5
SMALL = 1e-6  # δ that stands for δ → 0; energies differ from the limit by at most 1/(4ξ)
INFINITE = 1e6  # β that stands for infinite friction; energies differ from that limit by 1/β²
POISSON_RATIO = 0.3
SYMBOLS = {"xi": "W̄δ over ξ", "beta": "W̄ over β"}
LIMITS = {"xi": (0.0, CONSTANTS["greatest_xi"]), "beta": (CONSTANTS["least_beta"], INFINITE)}
CASES = (  # single contacts by β, δ and φ in rad: that of Fig. 2, and other phases
    (CONSTANTS["figure_2_beta"], CONSTANTS["figure_2_delta"], PHASE),
    (1.2, SMALL, math.radians(153)),
    (1.07, SMALL, 0.05),
    (1.5, SMALL, 0.3),
    (1.5, SMALL, -0.3),
)
PUBLISHED = {  # label: number of coefficients, formula
    "xi": {
        "eq. 24, regions I and II": (
            0, lambda xi: theory.three_regions(xi * SMALL, SMALL, PHASE) * SMALL,
        ),
        "eq. 25": (CONSTANTS["n_coefficients_25"], theory.slip_transition),
    },
    "beta": {
        "eq. 24, regions II and III": (0, lambda beta: theory.three_regions(beta, SMALL, PHASE)),
        "eq. 27": (CONSTANTS["n_coefficients_27"], theory.stick_transition),
    },
}  # fmt: skip
FITS = {  # ours: label, and what is chosen in place of least squares
    "xi": {
        "ours, minimax": Choices(method="minimax"),
        "ours, degrees of the closed form": Choices(degrees=(Degrees(1, 0), Degrees(2, 3))),
        "best with the degrees of eq. 25": Choices(
            method="minimax", degrees=(Degrees(4, 5),), whole=True
        ),
    },
    "beta": {"ours, minimax": Choices(method="minimax")},
}

Values = NDArray[np.float64]


def compute() -> Ours:
    small = exact_energies(np.concatenate([_xi() * SMALL, _beta()]), (SMALL,), (PHASE,))
    curves = {name: fit(small, name, Choices(limits=limits)) for name, limits in LIMITS.items()}
    first = first_cycles(CONSTANTS["figure_2_beta"], CONSTANTS["figure_2_delta"], PHASE)
    cases = [*_cases()]
    rows = {
        "borders": [*_borders()],
        "cases": cases,
        "cycles": [*_cycles(first, cases[0]["exact"])],
        "fits": [row for name, curve in curves.items() for row in _fits(small, name, curve)],
        "coefficients": [
            row for name, curve in curves.items() for row in _coefficients(name, curve)
        ],
        "readings": [
            {"reading": reading, "change": _change(**row)} for reading, row in READINGS.items()
        ],
    }
    others = {
        "n_both": sum(curve.n_coefficients for curve in curves.values()),
        "greatest_loss": math.degrees(float(theory.greatest_loss_phase(0.5))),
        "depth": float(theory.slip_depth(3.0, PHASE)),
        "poisson_ratio": POISSON_RATIO,
        "right_ratio": float(theory.stiffness_ratio(POISSON_RATIO)),
        "wrong_ratio": float(theory.contact_modulus(1.0, POISSON_RATIO)) * 2 * (1 + POISSON_RATIO),
    }
    return Ours(rows, others, _pictures(first, curves))


def equation_25(xi: Values, sign: float = -1.0) -> Values:
    """W̄δ by eq. 25, with this sign before the coefficient of ξ² below the fraction line."""
    below = {**_polynomial("below_25"), 2: sign * abs(COEFFICIENTS[2]["below_25"])}
    return _quotient(_polynomial("above_25"), below, xi)


def equation_27(beta: Values, constant: float) -> Values:
    """W̄ by eq. 27, with this last constant in the numerator."""
    above = {**_polynomial("above_27"), 0: constant}
    return _quotient(above, _polynomial("below_27"), beta)


def _polynomial(side: str) -> dict[int, float]:
    return {power: row[side] for power, row in COEFFICIENTS.items()}


def _quotient(above: dict[int, float], below: dict[int, float], x: Values) -> Values:
    return np.polyval([*above.values()], x) / np.polyval([*below.values()], x)


# --- Exact energies ---


def exact_energies(
    beta: ArrayLike, deltas: Sequence[float], phases: Sequence[float]
) -> ContactEnergies:
    axes = {"delta": deltas, "phase": phases, "beta": np.asarray(beta).tolist()}
    several = {name: values for name, values in axes.items() if len(values) > 1}
    single = {name: values[0] for name, values in axes.items() if len(values) == 1}
    dataset = computed("mdr_contact", "exact", ["normalized_energy"], single, several)
    return from_dataset(dataset, "the exact energies")


def closed_form(xi: ArrayLike) -> Values:
    """W̄δ for small δ."""
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


# --- Rows of the tables ---


def _borders() -> Iterator[Row]:
    """Where the regions of eq. 24 meet, and the true features nearby."""
    for place, xi in {
        "I meets II": 1 / math.sqrt(8),
        "greatest energy": 0.625,
        "a stick core appears": 1.0,
    }.items():
        paper = float(theory.three_regions(xi * SMALL, SMALL, PHASE)) * SMALL
        exact = float(closed_form(xi))
        yield {"place": place, "variable": "ξ", "x": xi, "paper": paper, "exact": exact}
    for place, beta in {"II meets III": 0.25, "least energy": 1 / math.sqrt(2)}.items():
        paper = float(theory.three_regions(beta, SMALL, PHASE))
        exact = float(theory.universal_surface(beta, PHASE))
        yield {"place": place, "variable": "β", "x": beta, "paper": paper, "exact": exact}


def _cases() -> Iterator[Row]:
    """Fig. 2 and other phases."""
    for beta, delta, phase in CASES:
        yield {
            "beta": beta,
            "delta": delta,
            "phase": math.degrees(phase),
            "exact": float(exact_energies([beta], [delta], [phase]).energy[0]),
            "surface": float(theory.universal_surface(beta, phase)),
            "paper": float(theory.three_regions(beta, delta, phase)),
        }


def _cycles(first: Cycles, exact: object) -> Iterator[Row]:
    """The first cycles of the contact of Fig. 2, and its exact energy."""
    for i, (energy, slipping) in enumerate(zip(first.energies, first.slipping, strict=True)):
        yield {
            "cycle": str(i + 1),
            "energy": energy,
            "second": first.energies[1],
            "exact": exact,
            "slipping": slipping,
        }


def _fits(points: ContactEnergies, variable: str, ours: MasterCurve) -> Iterator[Row]:
    """Published formulas, our fits and the closed form, compared with the exact energies."""
    x = ours.x

    def row(label: str, n: float, error: Distance, minimax: bool = False) -> Row:
        return {
            "curve": SYMBOLS[variable],
            "formula": label,
            "n_coefficients": str(int(n)),
            "worst": error.greatest,
            "where": None if minimax else error.where,  # a minimax error is attained several times
            "rms": error.rms,
        }

    for label, (n, formula) in PUBLISHED[variable].items():
        yield row(label, n, distance(formula(x), ours.energy, x))
    yield row("ours, least squares", ours.n_coefficients, ours.error)
    for label, choices in FITS[variable].items():
        curve = fit(points, variable, choices)
        yield row(label, curve.n_coefficients, curve.error, choices.method == "minimax")
    assert ours.theory is not None
    yield row("closed form", 0, distance(ours.theory(x), ours.energy, x))


def _coefficients(variable: str, curve: MasterCurve) -> Iterator[Row]:
    """Coefficients of our least-squares fit, with standard errors."""
    for piece in curve.pieces:
        rational = piece.rational
        assert isinstance(rational, Quotient)
        prefactor = {1: "x", -1: "1/x"}[piece.power]
        argument = "√(1 − 1/x)" if piece.has_core else "x"
        sides = {
            "P": zip(rational.numerator, rational.numerator_errors, strict=True),
            "Q": zip(rational.denominator, rational.denominator_errors, strict=True),
        }
        for side, terms in sides.items():
            for k, (value, error) in enumerate(terms):
                yield {
                    "curve": SYMBOLS[variable],
                    "range": f"{piece.low:g} to {piece.high:g}",
                    "form": f"{prefactor} P(t)/Q(t), t = {argument}",
                    "coefficient": f"{side}{k}",
                    "value": value,
                    "error": error if error > ROUNDING * abs(value) else None,
                }


def _change(equation: float, value: float) -> float:
    """The greatest relative error of eq. 25 with this sign, or change of eq. 27 by a constant."""
    if equation == 25:
        xi = _xi()
        return distance(equation_25(xi, sign=value), closed_form(xi), xi).greatest
    beta = _beta()
    return distance(equation_27(beta, value), theory.stick_transition(beta), beta).greatest


def _pictures(first: Cycles, curves: Mapping[str, MasterCurve]) -> dict[str, Callable]:
    """The paper's Fig. 2 from springs in steps, the others from exact energies."""
    published = {
        variable: [(label, formula) for label, (_, formula) in formulas.items()][-1]
        for variable, formulas in PUBLISHED.items()
    }

    def figure_3(path: Path) -> Path:
        beta, deltas = np.geomspace(1e-5, 1e3, 241), (1e-4, 1e-3, 1e-2)
        return save(draw_amplitudes(exact_energies(beta, deltas, (PHASE,))), path)

    def figure_4(path: Path) -> Path:
        beta, angles = np.geomspace(1e-4, 1e3, 211), np.radians(np.linspace(0, 180, 13))
        return save(draw_phases(exact_energies(beta, (1e-2,), angles.tolist())), path)

    return {
        "hanisch2020_fig2.png": partial(plot_trace, first.map),
        "hanisch2020_fig3.png": figure_3,
        "hanisch2020_fig4.png": figure_4,
        "hanisch2020_fig5.png": lambda path: save(draw_fits([*curves.values()], published), path),
    }
