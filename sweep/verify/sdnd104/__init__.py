"""SDND104: the wear power of a mass rubbing under harmonic seismic excitation (Code_Aster)."""

from __future__ import annotations

from sweep.verify.document import Document
from sweep.verify.record import Check, Record
from sweep.verify.sdnd104 import causes, motion, tables
from sweep.verify.sdnd104.figures import Figures, compute
from sweep.verify.sdnd104.published import (
    CONSTANTS,
    EDITION_2017,
    FOLDER,
    NEWER_VERSIONS,
    SLIPPING,
    SPRING,
    SYSTEM,
    TANGENTIAL_STIFFNESS,
    USED_STIFFNESS,
    WINDOW_ENDS,
    reference,
)

TITLES = {
    tables.reference: "Reference values (section 2.1)",
    tables.columns: "Code_Aster's columns (section 4.1), window [4, 12] s, exact sine",
    tables.since: "EULER at constant h = 1e-4 s, as published with newer versions",
    tables.windows: "Every method over both windows, mean over time, exact sine",
    tables.equal_steps: "Equal steps of 3e-5 s (section 3.1), exact sine",
    tables.earlier: "The columns of the edition of 2003, exact sine",
    causes.shares: "Composition of EULER's value (h = 1e-4 s)",
    causes.stiffness: "Tangential stiffness (section 3.1): EULER, h = 1e-4 s, 8 blocks",
    causes.stability: "Longest stable steps in stick with critical damping, and largest stable K_T",
    causes.instability: "EULER at the K_T called unstable, h = 1e-4 s, mean over time",
    causes.tabulated: "The excitation from a table of 10000 intervals in 12 s",
    causes.unexplained: "Two column values that no variant reproduces",
    causes.greatest: "Greatest differences from the reference (section 4.1)",
    causes.powers: "Wear power and friction power, [4, 12] s, no spring",
    causes.closed_forms: "Closed forms (section 2)",
    causes.reversals: "Slip-slip, a₀ = 15 m/s²: the instants at which the slip changes direction",
}


def compare() -> Record:
    """Every figure of the document beside ours; takes half a minute."""
    return record_of(compute())


def record_of(figures: Figures) -> Record:
    """The record of these figures."""
    document = Document(FOLDER)
    computed = document.tables(TITLES.items(), figures)
    in_stick = Check("every method: no wear at a₀ = 0.99 m/s²", _power_in_stick(figures), 0.0, "W")
    checks = [*document.checks(computed), in_stick]
    return document.record(computed, checks, _fields(figures), motion.pictures(figures.motions))


def _fields(figures: Figures) -> dict[str, float]:
    """Figures that the notes quote and no table has."""
    mass = SYSTEM["mass"]
    named = figures.power("euler", 1.01, contact=TANGENTIAL_STIFFNESS)
    sprung = {a0: figures.exact_power(a0, SPRING) / figures.exact_power(a0) for a0 in SLIPPING}
    powers = [p for s in ("adapt_ordre2", "rk32") for p in causes.variants(figures, s, 1.01)]
    newer = {a0: NEWER_VERSIONS[a0]["euler"] for a0 in SLIPPING}
    return {
        "power_ratio": figures.exact_power(15.0) / figures.exact_output("friction_power", 15.0),
        "named_error": 100 * (named / newer[1.01] - 1),
        "stable_below": CONSTANTS["stable_below"],
        "named_bound": 2 / (TANGENTIAL_STIFFNESS / mass) ** 0.5,
        "used_bound": 2 / (USED_STIFFNESS / mass) ** 0.5,
        "spring_15": sprung[15.0] - 1,
        "spring_1_5": sprung[1.5] - 1,
        "spring_1_01": sprung[1.01] - 1,
        "least_variant": min(powers),
        "greatest_variant": max(powers),
        "adapt_difference": 100 * abs(EDITION_2017[15.0]["adapt_ordre2"] / reference(15.0) - 1),
        "ours_since": max(abs(figures.power("euler", a0) / newer[a0] - 1) for a0 in SLIPPING),
        "drifting_since": max(abs(figures.drifting[a0] / newer[a0] - 1) for a0 in SLIPPING),
    }


def _power_in_stick(figures: Figures) -> float:
    """The greatest wear power [W] at 0.99 m/s², of every method and variant."""
    a0 = 0.99
    schemes = (float(f.sel(base_acceleration=a0).max()) for f in figures.schemes.values())
    others = (
        power(a0, spring, end)
        for power in (figures.exact_power, figures.moreau_power)
        for spring in (0.0, SPRING)
        for end in WINDOW_ENDS
    )
    return max(*schemes, *others)
