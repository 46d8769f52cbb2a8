"""SDND104: the wear power of a mass rubbing under harmonic seismic excitation (Code_Aster)."""

from __future__ import annotations

from sweep.verify import document
from sweep.verify.record import Record
from sweep.verify.sdnd104 import motion, wear_power_tables
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
from sweep.verify.sdnd104.wear_powers import Figures, compute


def compare() -> Record:
    """Every figure of the document beside ours; takes half a minute."""
    return record_of(compute())


def record_of(figures: Figures) -> Record:
    """The record of these figures."""
    rows = wear_power_tables.rows(figures)
    return document.record_of(FOLDER, rows, _others(figures), motion.pictures(figures.motions))


def _others(figures: Figures) -> dict[str, float]:
    """Figures that the notes and a check cite and no table has."""
    mass = SYSTEM["mass"]
    named = figures.power("euler", 1.01, contact=TANGENTIAL_STIFFNESS)
    sprung = {a0: figures.exact_power(a0, SPRING) / figures.exact_power(a0) for a0 in SLIPPING}
    powers = [
        p for s in ("adapt_ordre2", "rk32") for p in wear_power_tables.variants(figures, s, 1.01)
    ]
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
        "power_in_stick": _power_in_stick(figures),
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
