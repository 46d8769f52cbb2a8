"""SDND122: the non-linear mode of a mass that strikes an elastic stop (Code_Aster)."""

from __future__ import annotations

from sweep.verify.record import Record
from sweep.verify.sdnd122 import tables
from sweep.verify.sdnd122.figures import Figures, compute
from sweep.verify.sdnd122.published import SOURCE
from sweep.verify.sdnd122.remarks import checks, notes


def compare() -> Record:
    """Every figure of the document beside ours; some 10 s, compilation included."""
    return record_of(compute())


def record_of(figures: Figures) -> Record:
    """The record that those figures make."""
    makers = (tables.pairs, tables.methods, tables.harmonics, tables.ranges, tables.multipliers)
    return Record(
        name="sdnd122",
        title="SDND122: free oscillation of a mass against an elastic stop",
        source=SOURCE,
        tables=tuple(maker(figures) for maker in makers),
        notes=notes(figures),
        checks=checks(figures),
    )
