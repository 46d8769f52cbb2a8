"""The paper's regions, case, and fits beside what is exact."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sweep.analysis.master_curve import Quotient
from sweep.theory import mdr_contact as theory
from sweep.verify.hanisch2020.figures import SMALL, Figures
from sweep.verify.hanisch2020.published import PHASE
from sweep.verify.record import Cell, Column, Table

Rows = Iterator[tuple[Cell, ...]]

SYMBOLS = {"xi": "W̄δ over ξ", "beta": "W̄ over β"}
ROUNDING = 1e-12  # a standard error below it is none


def borders(figures: Figures) -> Table:
    """Eq. 24: where its regions meet, and the true features near by; δ → 0, φ = 90°."""
    del figures
    slip, stick = 1 / math.sqrt(8), 0.25

    def rows() -> Rows:
        for name, x, right in (
            ("I meets II", slip, float(_over_xi(slip))),
            ("greatest energy", 0.625, float(_over_xi(0.625))),
            ("a stick core appears", 1.0, float(_over_xi(1.0))),
        ):
            paper = float(theory.three_regions(x * SMALL, SMALL, PHASE)) * SMALL
            yield name, "ξ", x, paper, right, paper / right - 1
        for name, x in (("II meets III", stick), ("least energy", 1 / math.sqrt(2))):
            paper = float(theory.three_regions(x, SMALL, PHASE))
            right = float(theory.universal_surface(x, PHASE))
            yield name, "β", x, paper, right, paper / right - 1

    return Table(
        "borders",
        "The three regions of eq. 24, small δ, φ = 90° (W̄δ over ξ = β/δ, W̄ over β)",
        (
            Column("place", "place"),
            Column("variable", "variable"),
            Column("x", "its value", "1", 6),
            Column("paper", "eq. 24", "1", 6),
            Column("exact", "exact", "1", 6),
            Column("relative", "relative", "1", 4),
        ),
        tuple(rows()),
    )


def cases(figures: Figures) -> Table:
    """Fig. 2 and other phases."""

    def rows() -> Rows:
        for beta, delta, phase, exact in figures.cases:
            paper = float(theory.three_regions(beta, delta, phase))
            surface = float(theory.universal_surface(beta, phase))
            yield (
                beta, delta, math.degrees(phase), exact, surface, paper, paper / exact - 1,
                paper / exact,
            )  # fmt: skip

    return Table(
        "cases",
        "Single contacts: that of Fig. 2, and other phases",
        (
            Column("beta", "β", "1", 6),
            Column("delta", "δ", "1", 6),
            Column("phase", "φ", "deg", 6),
            Column("exact", "exact W̄", "1", 6),
            Column("surface", "universal surface, δ → 0", "1", 6),
            Column("paper", "eq. 24", "1", 6),
            Column("relative", "eq. 24, relative", "1", 4),
            Column("times", "eq. 24 over exact", "1", 4),
        ),
        tuple(rows()),
    )


def fits(figures: Figures) -> Table:
    """Every formula for the transitions against the exact energies."""

    def rows() -> Rows:
        for each in figures.compared:
            found = each.distance
            yield (
                SYMBOLS[each.variable], each.label, str(each.n_coefficients), found.greatest,
                found.where, found.rms,
            )  # fmt: skip

    return Table(
        "fits",
        "The transitions: 0 < ξ < 4 for small δ, and β > 0.1 at φ = 90°",
        (
            Column("curve", "curve"),
            Column("formula", "formula"),
            Column("n_coefficients", "coefficients"),
            Column("worst", "greatest relative error", "1", 3),
            Column("where", "at", "1", 3),
            Column("rms", "rms", "1", 3),
        ),
        tuple(rows()),
    )


def coefficients(figures: Figures) -> Table:
    """Of our least-squares fits, with standard errors."""

    def rows() -> Rows:
        for name, curve in figures.curves.items():
            for piece in curve.pieces:
                rational = piece.rational
                assert isinstance(rational, Quotient)
                sides = (
                    ("P", rational.numerator, rational.numerator_errors),
                    ("Q", rational.denominator, rational.denominator_errors),
                )
                prefactor = {1: "x", -1: "1/x"}[piece.power]
                argument = "√(1 − 1/x)" if piece.has_core else "x"
                form = f"{prefactor} P(t)/Q(t), t = {argument}"
                for side, numbers, errors in sides:
                    for k, (number, error) in enumerate(zip(numbers, errors, strict=True)):
                        shown = error if error > ROUNDING * abs(number) else None
                        yield (
                            SYMBOLS[name], f"{piece.low:g} to {piece.high:g}", form,
                            f"{side}{k}", number, shown,
                        )  # fmt: skip

    return Table(
        "coefficients",
        "Our least-squares fits, x being ξ or β; a standard error of – is rounding",
        (
            Column("curve", "curve"),
            Column("range", "range"),
            Column("form", "form"),
            Column("coefficient", "coefficient"),
            Column("value", "value", "1", 6),
            Column("error", "standard error", "1", 2),
        ),
        tuple(rows()),
    )


def readings(figures: Figures) -> Table:
    """What the damaged copies leave open, and what it does."""
    plus = ("eq. 25: + before 0.5866 (right: −)", figures.misread)
    constants = (
        (f"eq. 27: last constant {label} (right: −4.0017e-6)", change)
        for label, change in figures.changes.items()
    )
    return Table(
        "readings",
        "Readings of damaged copies",
        (
            Column("reading", "reading"),
            Column("change", "eq. 25: relative error; eq. 27: relative change", "1", 3),
        ),
        (plus, *constants),
    )


def _over_xi(x: float) -> float:
    return 3 / 8 * float(theory.constant_load_energy(x))
