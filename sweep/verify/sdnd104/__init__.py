"""SDND104: the power of wear of a mass rubbing under harmonic seismic excitation (Code_Aster)."""

from __future__ import annotations

from sweep.verify.record import Record, Table
from sweep.verify.sdnd104 import causes, tables
from sweep.verify.sdnd104.checks import checks
from sweep.verify.sdnd104.figures import Figures, compute
from sweep.verify.sdnd104.notes import notes
from sweep.verify.sdnd104.published import SOURCE


def compare() -> Record:
    """Every figure of the document beside ours; half a minute."""
    return record_of(compute())


def record_of(figures: Figures) -> Record:
    """The record that those figures make."""
    return Record(
        name="sdnd104",
        title="SDND104: wear power of a mass rubbing on a shaken plane",
        source=SOURCE,
        tables=_tables(figures),
        notes=notes(figures),
        checks=checks(figures),
    )


def _tables(figures: Figures) -> tuple[Table, ...]:
    makers = (
        tables.reference,
        tables.columns,
        tables.since,
        tables.windows,
        tables.equal_steps,
        tables.earlier,
        causes.shares,
        causes.stiffness,
        causes.tabulated,
        causes.unexplained,
        causes.greatest,
        causes.powers,
        causes.closed_forms,
    )
    return tuple(maker(figures) for maker in makers)
