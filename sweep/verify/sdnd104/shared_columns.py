"""Columns that several tables have, and what fills them."""

from __future__ import annotations

from collections.abc import Iterator

from sweep.verify.record import Cell, Column

Rows = Iterator[tuple[Cell, ...]]

AMPLITUDE = Column("base_acceleration", "a₀", "m/s²", 4)
SCHEME = Column("method", "method")


def relative(value: float, other: float) -> float | None:
    """By how much the value differs from the other, in shares of that; None where that is 0."""
    return value / other - 1 if other else None


def power_column(name: str, title: str, digits: int = 12) -> Column:
    """Wear powers; those of `exact` are worth 14 digits."""
    return Column(name, title, "W", digits)


def difference_column(name: str, title: str) -> Column:
    """Differences of wear powers."""
    return Column(name, title, "W", 4)


def relative_column(name: str, title: str) -> Column:
    """Relative differences."""
    return Column(name, title, "1", 4)
