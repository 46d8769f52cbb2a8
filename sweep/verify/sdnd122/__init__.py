"""SDND122: the non-linear mode of a mass that strikes an elastic stop (Code_Aster)."""

from __future__ import annotations

import numpy as np

from sweep.verify.document import Document
from sweep.verify.record import Record
from sweep.verify.sdnd122 import tables
from sweep.verify.sdnd122.figures import Figures, compute
from sweep.verify.sdnd122.published import CODE_ASTER, FOLDER, PAIRS


def compare() -> Record:
    """Every figure of the document beside ours; about 10 s, compilation included."""
    return record_of(compute())


def record_of(figures: Figures) -> Record:
    """The record of these figures."""
    return Document(FOLDER).plain_record(vars(tables), figures, _fields(figures))


def _fields(figures: Figures) -> dict[str, float]:
    """Extremes that the notes quote and no table has."""
    printed = np.array([pair["frequency"] for pair in PAIRS.values()])
    computed = np.array([pair["computed"] for pair in PAIRS.values()])
    too_low, above = 1 - printed / figures.right, computed / printed - 1
    rest = computed / figures.right - 1
    return {
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
