"""A document's figures beside ours, as frozen data: tables, notes, checks, pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Cell = str | float | None  # None: there is no such figure


@dataclass(frozen=True)
class Column:
    """One column of a table. `name` is its key in JSON, `title` its head on paper."""

    name: str
    title: str
    unit: str = ""  # empty: text
    digits: int = 12  # significant ones of its numbers, in every form


@dataclass(frozen=True)
class Table:
    """Figures of one kind; each row has a cell for each column."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"table {self.name}: a row is not of {len(self.columns)} cells")


@dataclass(frozen=True)
class Check:
    """What has to hold of our figures: `found` is at most `bound`, both in `unit`."""

    claim: str
    found: float
    bound: float
    unit: str = "1"

    @property
    def holds(self) -> bool:
        """Whether it does; NaN does not."""
        return self.found <= self.bound


@dataclass(frozen=True)
class Picture:
    """A picture beside the text: `draw` writes it to a path, the same bytes every time."""

    name: str  # of the file, with its end
    caption: str
    draw: Callable[[Path], object]


@dataclass(frozen=True)
class Record:
    """What a document says, and what we find. `name` is that of its files."""

    name: str
    title: str
    source: str
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    checks: tuple[Check, ...]
    pictures: tuple[Picture, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every check does."""
        return all(check.holds for check in self.checks)

    @property
    def verdict(self) -> str:
        """How many checks hold, in a sentence."""
        missed = sum(not check.holds for check in self.checks)
        if missed:
            return f"{missed} of {len(self.checks)} checks do not hold."
        return f"All {len(self.checks)} checks hold."
