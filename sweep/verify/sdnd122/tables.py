"""The document's frequencies, energies and multipliers beside ours, by column."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sweep.theory import impact_oscillator as theory
from sweep.verify.record import Row
from sweep.verify.sdnd122.figures import HARMONICS, Figures
from sweep.verify.sdnd122.published import CODE_ASTER, PAIRS, STABLE_RANGES, SYSTEM

METHODS = {
    "exact": "exact",
    "newmark": "newmark, 1000 points, mean stiffness around each",
    "sampled": "newmark, 1000 points, stiffness sampled at each (Code_Aster)",
    "harmonic_balance": "harmonic balance, 40 harmonics",
}


def pairs(figures: Figures) -> Iterator[Row]:
    """Sections 3.3, 4.3 and 5.3, and the same energies by every method."""
    for i, (model, pair) in enumerate(PAIRS.items()):
        yield {
            "model": model,
            "energy": pair["energy"],
            "document": pair["frequency"],
            "formula": float(figures.formula[i]),
            "right": float(figures.right[i]),
            "energy_of_document": float(theory.energy_at(**SYSTEM, frequency=pair["frequency"])),
            "exact": float(figures.exact[i]),
            "newmark": float(figures.newmark[i]),
            "harmonic_balance": float(figures.balance[HARMONICS[-1]][i]),
            "as_code_aster": float(figures.as_code_aster[HARMONICS[0]][i]),
            "code_aster": pair["computed"],
        }


def harmonics(figures: Figures) -> Iterator[Row]:
    """Where Code_Aster's difference comes from."""
    for count in HARMONICS:
        instant, mean = figures.as_code_aster[count][2], figures.balance[count][2]
        yield {
            "harmonics": float(count),
            "instant": float(instant / figures.right[2] - 1),
            "mean": float(mean / figures.right[2] - 1),
        }


def ranges(figures: Figures) -> Iterator[Row]:
    """Section 2.2."""
    for i, (end, printed) in enumerate(STABLE_RANGES.items()):
        yield {
            "end": end,
            "energy": printed["energy"],
            "its_frequency": float(figures.range_frequencies[i]),
            "frequency": printed["frequency"],
            "its_energy": float(figures.range_energies[i]),
        }


def multipliers(figures: Figures) -> Iterator[Row]:
    """Floquet's multipliers over the stable range of energies."""
    for name, title in METHODS.items():
        moduli, traces = figures.moduli[name], figures.traces.get(name)
        yield {
            "method": title,
            "greatest": float(moduli.max()),
            "unstable": float(np.mean(moduli >= CODE_ASTER["unstable_from"])),
            "trace": None if traces is None else float(np.abs(traces - 2).max()),
        }
