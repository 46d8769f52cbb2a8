"""The rows of the tables: the paper's regions, case and fits beside the exact energies."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sweep.analysis.master_curve import Quotient
from sweep.theory import mdr_contact as theory
from sweep.verify.document import Rows
from sweep.verify.hanisch2020.coefficients import PHASE
from sweep.verify.hanisch2020.energies import CASES, SMALL, Figures, constant_load_energy
from sweep.verify.record import Row

SYMBOLS = {"xi": "W̄δ over ξ", "beta": "W̄ over β"}
ROUNDING = 1e-12  # a relative standard error below this is rounding


def rows(figures: Figures) -> Rows:
    """The rows of all tables."""
    functions = (borders, cases, cycles, fits, coefficients, readings)
    return {each.__name__: [*each(figures)] for each in functions}


def borders(_: Figures) -> Iterator[Row]:
    """Where the regions of eq. 24 meet, and the true features nearby."""
    for place, xi in {
        "I meets II": 1 / math.sqrt(8),
        "greatest energy": 0.625,
        "a stick core appears": 1.0,
    }.items():
        paper = float(theory.three_regions(xi * SMALL, SMALL, PHASE)) * SMALL
        exact = float(constant_load_energy(xi))
        yield {"place": place, "variable": "ξ", "x": xi, "paper": paper, "exact": exact}
    for place, beta in {"II meets III": 0.25, "least energy": 1 / math.sqrt(2)}.items():
        paper = float(theory.three_regions(beta, SMALL, PHASE))
        exact = float(theory.universal_surface(beta, PHASE))
        yield {"place": place, "variable": "β", "x": beta, "paper": paper, "exact": exact}


def cases(figures: Figures) -> Iterator[Row]:
    """Fig. 2 and other phases."""
    for (beta, delta, phase), exact in figures.cases.items():
        paper = float(theory.three_regions(beta, delta, phase))
        yield {
            "beta": beta,
            "delta": delta,
            "phase": math.degrees(phase),
            "exact": exact,
            "surface": float(theory.universal_surface(beta, phase)),
            "paper": paper,
            "times": paper / exact,
        }


def cycles(figures: Figures) -> Iterator[Row]:
    """The first cycles of the contact of Fig. 2."""
    exact = figures.cases[CASES[0]]
    for number, (energy, slipping) in enumerate(
        zip(figures.cycles.energies, figures.cycles.slipping, strict=True), start=1
    ):
        yield {
            "cycle": str(number),
            "energy": energy,
            "second": figures.cycles.energies[1],
            "exact": exact,
            "slipping": slipping,
        }


def fits(figures: Figures) -> Iterator[Row]:
    """Every formula for the transitions compared with the exact energies."""
    for each in figures.compared:
        yield {
            "curve": SYMBOLS[each.variable],
            "formula": each.label,
            "n_coefficients": str(each.n_coefficients),
            "worst": each.distance.greatest,
            "where": None if each.minimax else each.distance.where,
            "rms": each.distance.rms,
        }


def coefficients(figures: Figures) -> Iterator[Row]:
    """Coefficients of our least-squares fits, with standard errors."""
    for name, curve in figures.curves.items():
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
                        "curve": SYMBOLS[name],
                        "range": f"{piece.low:g} to {piece.high:g}",
                        "form": f"{prefactor} P(t)/Q(t), t = {argument}",
                        "coefficient": f"{side}{k}",
                        "value": value,
                        "error": error if error > ROUNDING * abs(value) else None,
                    }


def readings(figures: Figures) -> Iterator[Row]:
    """What the damaged copies leave open, and how much it matters."""
    for reading, change in figures.readings.items():
        yield {"reading": reading, "change": change}
