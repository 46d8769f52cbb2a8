"""A document's figures beside ours, as frozen data: tables, notes, checks, pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Cell = str | float | None  # None: there is no such figure
Row = Mapping[str, Cell]  # by column name


@dataclass(frozen=True)
class Column:
    """One column of a table. `name` is its key in rows and in JSON, `title` its printed heading."""

    name: str
    title: str
    unit: str = ""  # empty: text
    digits: int = 12  # significant digits of its numbers, in every output format
    resolution: float = 0.0  # numbers are rounded to its multiples: differences below are rounding


@dataclass(frozen=True)
class Table:
    """Figures of one kind; each row has one cell per column."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Check:
    """A claim about our figures: it holds if `value` is at most `bound`, both in `unit`."""

    claim: str
    value: float
    bound: float
    unit: str = "1"
    resolution: float = 0.0  # as in Column, for `value`

    @property
    def holds(self) -> bool:
        """Whether the claim holds; for NaN it does not."""
        return self.value <= self.bound


@dataclass(frozen=True)
class Picture:
    """A picture that goes with the text: `draw` writes it to a path, always the same bytes."""

    name: str  # file name with its suffix
    caption: str
    draw: Callable[[Path], object]


@dataclass(frozen=True)
class Record:
    """What a document says and what we find. `name` is the stem of the files written."""

    name: str
    title: str
    source: str
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    checks: tuple[Check, ...]
    pictures: tuple[Picture, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return all(check.holds for check in self.checks)

    @property
    def verdict(self) -> str:
        """A sentence that says how many checks hold."""
        failed = sum(not check.holds for check in self.checks)
        if failed:
            return f"{failed} of {len(self.checks)} checks do not hold."
        return f"All {len(self.checks)} checks hold."
