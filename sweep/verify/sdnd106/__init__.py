"""SDND106: two masses joined by a spring, of which one rubs (Code_Aster)."""

from __future__ import annotations

from sweep.verify.document import Document
from sweep.verify.record import Record
from sweep.verify.sdnd106 import tables
from sweep.verify.sdnd106.figures import FOLDER, Figures, compute


def compare() -> Record:
    """Every figure of the test beside ours; takes some seconds, compilation included."""
    return record_of(compute())


def record_of(figures: Figures) -> Record:
    """The record of these figures."""
    return Document(FOLDER).plain_record(vars(tables), figures)
