"""Hanisch, Richter, Li 2020: energy dissipated in a rubbing contact, and its master curves."""

from __future__ import annotations

from sweep.verify.hanisch2020 import tables
from sweep.verify.hanisch2020.figures import Figures, compute
from sweep.verify.hanisch2020.pictures import pictures
from sweep.verify.hanisch2020.published import SOURCE
from sweep.verify.hanisch2020.remarks import checks, notes
from sweep.verify.record import Record


def compare() -> Record:
    """Every figure of the paper beside ours; some seconds, compilation included."""
    return record_of(compute())


def record_of(figures: Figures) -> Record:
    """The record that those figures make."""
    makers = (tables.borders, tables.cases, tables.fits, tables.coefficients, tables.readings)
    return Record(
        name="hanisch2020",
        title="Hanisch, Richter, Li 2020: energy dissipated in a rubbing contact",
        source=SOURCE,
        tables=tuple(maker(figures) for maker in makers),
        notes=notes(figures),
        checks=checks(figures),
        pictures=pictures(figures),
    )
