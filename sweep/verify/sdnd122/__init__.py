"""SDND122: the non-linear mode of a mass that strikes an elastic stop (Code_Aster)."""

from __future__ import annotations

import numpy as np

from sweep.theory import impact_oscillator as theory
from sweep.verify import document
from sweep.verify.record import Record, Row
from sweep.verify.sdnd122.frequencies import (
    CODE_ASTER,
    FOLDER,
    HARMONICS,
    PAIRS,
    STABLE_RANGES,
    SYSTEM,
    Figures,
    compute,
)

METHODS = {
    "exact": "exact",
    "newmark": "newmark, 1000 points, mean stiffness around each",
    "sampled": "newmark, 1000 points, stiffness sampled at each (Code_Aster)",
    "harmonic_balance": "harmonic balance, 40 harmonics",
}


def compare() -> Record:
    """Every figure of the document beside ours; about 10 s, compilation included."""
    return record_of(compute())


def record_of(figures: Figures) -> Record:
    """The record of these figures."""
    rows = {
        "pairs": [_pair(figures, i, model) for i, model in enumerate(PAIRS)],
        "harmonics": [_harmonics(figures, count) for count in HARMONICS],
        "ranges": [_range(figures, i, end) for i, end in enumerate(STABLE_RANGES)],
        "multipliers": [_multipliers(figures, method) for method in METHODS],
    }
    printed = np.array([pair["frequency"] for pair in PAIRS.values()])
    computed = np.array([pair["computed"] for pair in PAIRS.values()])
    too_low, above = 1 - printed / figures.right, computed / printed - 1
    rest = computed / figures.right - 1
    extremes = {
        "least_error": too_low.min(),
        "greatest_error": too_low.max(),
        "least_above": above.min(),
        "greatest_above": above.max(),
        "least_rest": rest.min(),
        "greatest_rest": rest.max(),
        "tolerance": CODE_ASTER["tolerance"],
        "interpolated": CODE_ASTER["interpolated"],
        "low_energy": figures.range_energies[0] * 1e3,
        "high_energy": figures.range_energies[1] * 1e3,
    }
    return document.record_of(FOLDER, rows, extremes)


def _pair(figures: Figures, i: int, model: str) -> Row:
    """Sections 3.3, 4.3 and 5.3, and the same energies by every method."""
    pair = PAIRS[model]
    return {
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


def _harmonics(figures: Figures, count: int) -> Row:
    """Where Code_Aster's difference comes from."""
    instant, mean = figures.as_code_aster[count][2], figures.balance[count][2]
    return {
        "harmonics": float(count),
        "instant": float(instant / figures.right[2] - 1),
        "mean": float(mean / figures.right[2] - 1),
    }


def _range(figures: Figures, i: int, end: str) -> Row:
    """Section 2.2."""
    its_frequency, its_energy = figures.range_frequencies[i], figures.range_energies[i]
    ours = {"its_frequency": float(its_frequency), "its_energy": float(its_energy)}
    return {"end": end, **STABLE_RANGES[end], **ours}


def _multipliers(figures: Figures, method: str) -> Row:
    """Floquet's multipliers over the stable range of energies."""
    moduli, traces = figures.moduli[method], figures.traces.get(method)
    return {
        "method": METHODS[method],
        "greatest": float(moduli.max()),
        "unstable": float(np.mean(moduli >= CODE_ASTER["unstable_from"])),
        "trace": None if traces is None else float(np.abs(traces - 2).max()),
    }
