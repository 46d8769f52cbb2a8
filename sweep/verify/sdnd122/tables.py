"""The document's frequencies, energies and multipliers beside ours."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sweep.theory import impact_oscillator as theory
from sweep.verify.record import Cell, Column, Table
from sweep.verify.sdnd122 import published
from sweep.verify.sdnd122.figures import HARMONICS, Figures
from sweep.verify.sdnd122.published import COMPUTED, ENERGIES, FREQUENCIES, SYSTEM

Rows = Iterator[tuple[Cell, ...]]
MODELS = ("A", "B", "C")
ENERGY = Column("energy", "energy", "J", 12)


def pairs(figures: Figures) -> Table:
    """Sections 3.3, 4.3 and 5.3."""

    def rows() -> Rows:
        for i, (energy, printed) in enumerate(zip(ENERGIES, FREQUENCIES, strict=True)):
            right = float(figures.right[i])
            its_energy = float(theory.energy_at(**SYSTEM, frequency=printed))
            formula = float(figures.formula[i])
            yield (
                MODELS[i], energy, printed, formula, right, printed - right, printed / right - 1,
                its_energy, its_energy / energy - 1,
            )  # fmt: skip

    return Table(
        "pairs",
        "The document's three pairs",
        (
            Column("model", "model"),
            ENERGY,
            Column("document", "document", "Hz", 5),
            Column("formula", "its formula", "Hz", 10),
            Column("right", "right formula", "Hz", 10),
            Column("difference", "document − right", "Hz", 4),
            Column("relative", "relative", "1", 4),
            Column("energy_of_document", "energy of the document's frequency", "J", 6),
            Column("energy_relative", "relative to its energy", "1", 4),
        ),
        tuple(rows()),
    )


def methods(figures: Figures) -> Table:
    """The same energies, as computed."""

    def rows() -> Rows:
        for i, energy in enumerate(ENERGIES):
            exact, newmark = float(figures.exact[i]), float(figures.newmark[i])
            balance = float(figures.balance[HARMONICS[-1]][i])
            alike = float(figures.as_code_aster[HARMONICS[0]][i])
            yield (
                MODELS[i], energy, exact, newmark, newmark / exact - 1, balance,
                balance / exact - 1, alike, COMPUTED[i], alike - COMPUTED[i],
                COMPUTED[i] / exact - 1,
            )  # fmt: skip

    return Table(
        "methods",
        "The same energies by every method, and Code_Aster's own computed frequencies",
        (
            Column("model", "model"),
            ENERGY,
            Column("exact", "exact", "Hz", 12),
            Column("newmark", "newmark, 1000 steps", "Hz", 10),
            Column("newmark_relative", "relative to exact", "1", 4),
            Column("harmonic_balance", "harmonic balance, 40, mean energy", "Hz", 10),
            Column("harmonic_balance_relative", "relative to exact", "1", 4),
            Column("as_code_aster", "harmonic balance as Code_Aster", "Hz", 9),
            Column("code_aster", "Code_Aster", "Hz", 6),
            Column("difference", "that − Code_Aster", "Hz", 3),
            Column("code_aster_relative", "Code_Aster relative to exact", "1", 4),
        ),
        tuple(rows()),
    )


def harmonics(figures: Figures) -> Table:
    """Where Code_Aster's difference comes from."""

    def rows() -> Rows:
        for count in HARMONICS:
            values = figures.as_code_aster[count][2], figures.balance[count][2]
            instant, mean = (float(value / figures.right[2] - 1) for value in values)
            yield float(count), instant, mean

    return Table(
        "harmonics",
        "Harmonic balance at the third energy: frequency relative to the right one",
        (
            Column("harmonics", "harmonics", "1", 3),
            Column("instant", "energy at T/4, rounded law (Code_Aster)", "1", 3),
            Column("mean", "mean energy, true law", "1", 3),
        ),
        tuple(rows()),
    )


def ranges(figures: Figures) -> Table:
    """Section 2.2."""

    def rows() -> Rows:
        for i, (energy, frequency) in enumerate(
            zip(published.STABLE_ENERGIES, published.STABLE_FREQUENCIES, strict=True)
        ):
            yield (
                ("lower", "upper")[i], energy, float(figures.range_frequencies[i]), frequency,
                float(figures.range_energies[i]),
            )  # fmt: skip

    return Table(
        "ranges",
        "The document's two ranges of stability (section 2.2)",
        (
            Column("end", "end"),
            Column("energy", "document's energy", "J", 3),
            Column("its_frequency", "frequency of that energy", "Hz", 6),
            Column("frequency", "document's frequency", "Hz", 5),
            Column("its_energy", "energy of that frequency", "J", 6),
        ),
        tuple(rows()),
    )


TITLES = {
    "exact": "exact",
    "newmark": "newmark, 1000 points, mean stiffness around each",
    "sampled": "newmark, 1000 points, stiffness sampled at each (Code_Aster)",
    "harmonic_balance": "harmonic balance, 40 harmonics",
}


def multipliers(figures: Figures) -> Table:
    """Floquet's multipliers over the range of energies."""

    def rows() -> Rows:
        for name, title in TITLES.items():
            moduli = figures.moduli[name]
            trace = np.abs(figures.traces[name] - 2).max() if name in figures.traces else None
            unstable = float(np.mean(moduli >= published.STABLE_BELOW))
            yield title, float(moduli.max()), unstable, trace if trace is None else float(trace)

    return Table(
        "multipliers",
        "Floquet multipliers at 2001 energies of 6.2 to 6.9 mJ",
        (
            Column("method", "method"),
            Column("greatest", "greatest size", "1", 6),
            Column("unstable", "share not below 1.01", "1", 4),
            Column("trace", "greatest deviation of the trace from 2", "1", 2),
        ),
        tuple(rows()),
    )
