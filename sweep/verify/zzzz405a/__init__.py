"""ZZZZ405A: worn volumes and depths by POST_USURE (Code_Aster)."""

from __future__ import annotations

from pathlib import Path

from sweep.verify.document import Document
from sweep.verify.record import Record
from sweep.verify.zzzz405a import tables
from sweep.verify.zzzz405a.figures import Figures, compute

FOLDER = Path(__file__).parent


def compare() -> Record:
    """Every figure of the test for a tube beside ours; takes no time."""
    return record_of(compute())


def record_of(figures: Figures) -> Record:
    """The record of these figures."""
    return Document(FOLDER).plain_record(vars(tables), figures)
