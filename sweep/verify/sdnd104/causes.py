"""What lies behind the document's figures: tables of one cause each."""

from __future__ import annotations

from sweep.theory.friction_oscillator import CRITICAL_RATIO, asymptotic_wear_power
from sweep.verify.record import Cell, Column, Table
from sweep.verify.sdnd104 import published
from sweep.verify.sdnd104.figures import SCHEMES, Figures
from sweep.verify.sdnd104.published import (
    AMPLITUDES,
    COLUMNS,
    NAMES,
    REFERENCE,
    SPRING,
    SYSTEM,
    TANGENTIAL_STIFFNESS,
)
from sweep.verify.sdnd104.shared_columns import (
    AMPLITUDE,
    SCHEME,
    Rows,
    difference_column,
    power_column,
    relative,
    relative_column,
)


def shares(figures: Figures) -> Table:
    """What EULER's printed value is made of."""

    def rows() -> Rows:
        for a0 in AMPLITUDES:
            exact, sprung = figures.exact_power(a0), figures.exact_power(a0, SPRING)
            mean, blocks = figures.power("euler", a0, blocks=1), figures.power("euler", a0)
            yield a0, exact, sprung - exact, mean - sprung, mean, blocks - mean, blocks

    return Table(
        "shares",
        "What EULER's value is made of (h = 1e-4 s)",
        (
            AMPLITUDE,
            power_column("exact", "exact, no spring", 14),
            difference_column("spring", "+ spring"),
            difference_column("law_and_scheme", "+ penalised law and scheme"),
            power_column("time_mean", "= mean over time"),
            difference_column("gaps", "+ gaps between the 8 blocks"),
            power_column("printed", "= as printed"),
        ),
        tuple(rows()),
    )


def stiffness(figures: Figures) -> Table:
    """The K_T that the document names, and the one that its results are of."""

    def rows() -> Rows:
        for place, a0 in enumerate(AMPLITUDES):
            printed = published.EULER_SINCE[place]
            named = figures.power("euler", a0, contact=TANGENTIAL_STIFFNESS)
            used = figures.power("euler", a0)
            yield a0, printed, named, relative(named, printed), used, relative(used, printed)

    return Table(
        "stiffness",
        "Tangential stiffness (section 3.1): EULER, h = 1e-4 s, 8 blocks",
        (
            AMPLITUDE,
            power_column("published", "Code_Aster"),
            power_column("named", "ours, K_T = 900000 N/m"),
            relative_column("named_relative", "from Code_Aster"),
            power_column("used", "ours, K_T = 9e6 N/m"),
            relative_column("used_relative", "from Code_Aster"),
        ),
        tuple(rows()),
    )


def tabulated(figures: Figures) -> Table:
    """The excitation read from 10000 intervals of 12 s."""

    def rows() -> Rows:
        for place, a0 in enumerate(AMPLITUDES):
            exact, table = figures.exact_power(a0), figures.tabulated[a0]
            yield a0, "exact", exact, table, relative(table, exact), None, None
            for scheme in ("euler", "devogelaere"):
                sine, table = figures.power(scheme, a0), figures.tabulated_schemes[scheme, a0]
                printed = COLUMNS[scheme][place]
                shifted = relative(table, sine), printed, relative(table, printed)
                yield (a0, NAMES[scheme], sine, table, *shifted)

    return Table(
        "tabulated",
        "The excitation from a table of 10000 intervals in 12 s",
        (
            AMPLITUDE,
            SCHEME,
            power_column("sine", "with the sine"),
            power_column("table", "with the table"),
            relative_column("shift", "shift"),
            Column("document", "Code_Aster's column", "W", 6),
            relative_column("from_column", "with the table from column"),
        ),
        tuple(rows()),
    )


def unexplained(figures: Figures) -> Table:
    """The column values that no variant gives."""

    def rows() -> Rows:
        for scheme in ("adapt_ordre2", "rk32"):
            printed, values = COLUMNS[scheme][2], variants(figures, scheme, AMPLITUDES[2])
            nearest = min(values, key=lambda value: abs(value - printed))
            yield (
                AMPLITUDES[2], NAMES[scheme], printed, min(values), max(values),
                float(len(values)), relative(nearest, printed), relative(printed, REFERENCE[2]),
            )  # fmt: skip

    return Table(
        "unexplained",
        "Two column values that no variant gives",
        (
            AMPLITUDE,
            SCHEME,
            Column("document", "Code_Aster's column", "W", 6),
            Column("least", "least of ours", "W", 6),
            Column("greatest", "greatest of ours", "W", 6),
            Column("variants", "variants", "1", 4),
            relative_column("nearest", "nearest from column"),
            relative_column("document_from_reference", "column from reference"),
        ),
        tuple(rows()),
    )


def variants(figures: Figures, scheme: str, a0: float) -> list[float]:
    """Ours at every step, tolerance, blocks and window; and with the shift of the table [W]."""
    found = figures.schemes[scheme].sel(base_acceleration=a0).values.ravel().tolist()
    return [power * scale for scale in (1.0, 1 + figures.shift(a0)) for power in found]


def greatest(figures: Figures) -> Table:
    """The last column of section 4.1 against what its other columns give."""

    def rows() -> Rows:
        for place, a0 in enumerate(AMPLITUDES[:3]):
            exact = REFERENCE[place]
            theirs = {s: abs(COLUMNS[s][place] / exact - 1) for s in SCHEMES}
            ours = {s: abs(figures.power(s, a0) / exact - 1) for s in SCHEMES}
            widest, widest_ours = (max(each, key=lambda s: each[s]) for each in (theirs, ours))
            yield (
                a0, published.GREATEST[place], 100 * theirs[widest], NAMES[widest],
                100 * ours[widest_ours], NAMES[widest_ours],
            )  # fmt: skip
        yield AMPLITUDES[3], published.GREATEST[3], 0.0, None, _stick(figures), None

    return Table(
        "greatest",
        "Greatest differences from the reference (section 4.1)",
        (
            AMPLITUDE,
            Column("document", "document", "%", 3),
            Column("columns", "of its columns", "%", 3),
            Column("widest", "by"),
            Column("ours", "of ours, 8 blocks", "%", 3),
            Column("widest_ours", "by"),
        ),
        tuple(rows()),
    )


def _stick(figures: Figures) -> float:
    return max(figures.power(scheme, AMPLITUDES[3]) for scheme in SCHEMES)


def powers(figures: Figures) -> Table:
    """N|v| and μN|v|, which the document's words and integrals mix."""

    def rows() -> Rows:
        for a0, printed in zip(AMPLITUDES, REFERENCE, strict=True):
            wear, friction = figures.exact_power(a0), figures.friction_power(a0)
            yield a0, printed, wear, friction, friction / wear if wear else None

    return Table(
        "powers",
        "Wear power and friction power, [4, 12] s, no spring",
        (
            AMPLITUDE,
            Column("document", "document's table", "W", 10),
            power_column("wear_power", "mean of N|v|"),
            power_column("friction_power", "mean of μN|v|"),
            Column("ratio", "ratio", "1", 12),
        ),
        tuple(rows()),
    )


def closed_forms(figures: Figures) -> Table:
    """Section 2: the critical ratio, the asymptote, and stick-slip's strictly periodic motion."""
    rows: tuple[tuple[Cell, ...], ...] = (
        ("η* = 2/√(π² + 4)", "1", published.CRITICAL_RATIO, CRITICAL_RATIO, None),
        (
            "wear power, slip-slip, asymptotic, a₀ = 15 m/s²", "W",
            published.ASYMPTOTIC, steady(15.0), None,
        ),
        (
            "wear power, stick-slip, a₀ = 1.5 m/s²", "W",
            REFERENCE[1], steady(1.5), figures.exact_power(1.5),
        ),
        (
            "wear power, stick-slip, a₀ = 1.01 m/s²", "W",
            REFERENCE[2], steady(1.01), figures.exact_power(1.01),
        ),
        (
            "wear power on [4, 11.99] s, a₀ = 15 m/s²", "W",
            published.PROSE_REFERENCE, None, figures.exact_power(15.0, end=11.99),
        ),
    )  # fmt: skip
    return Table(
        "closed_forms",
        "Closed forms (section 2)",
        (
            Column("quantity", "quantity"),
            Column("unit", "unit"),
            Column("document", "document", "1", 12),
            Column("closed_form", "closed form", "1", 14),
            Column("exact", "exact", "1", 14),
        ),
        rows,
    )


def steady(a0: float) -> float:
    """Mean wear power [W] of the steady motion, in closed form."""
    mass, gravity, friction = (SYSTEM[name] for name in ("mass", "gravity", "friction"))
    return float(asymptotic_wear_power(mass, gravity, friction, a0, SYSTEM["angular_frequency"]))
