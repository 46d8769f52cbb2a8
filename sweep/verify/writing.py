"""A record as Markdown and as JSON: numbers with the digits of their column, no times, no hosts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sweep.exporting import write_texts
from sweep.verify.record import Cell, Check, Column, Record, Table

CHECK_COLUMNS = (
    Column("claim", "claim"),
    Column("found", "found", "1", 2),
    Column("bound", "bound", "1", 2),
    Column("unit", "unit"),
    Column("holds", "holds"),
)


def save(record: Record, folder: Path) -> list[Path]:
    """Write NAME.md, NAME.json and the pictures, replacing existing files; return their paths.

    SweepError if they cannot be written.
    """
    texts = {f"{record.name}.md": markdown(record), f"{record.name}.json": json_text(record)}
    written = write_texts(folder, texts)
    for picture in record.pictures:
        picture.draw(folder / picture.name)
    return [*written, *(folder / picture.name for picture in record.pictures)]


def markdown(record: Record) -> str:
    """The whole record, for readers."""
    parts = [f"# {record.title}", f"Source: {record.source}.", record.verdict]
    parts += [f"![{each.caption}]({each.name})" for each in record.pictures]
    for table in record.tables:
        parts += [f"## {table.title}", _markdown_table(table)]
    parts += ["## Checks", _markdown_table(check_table(record.checks))]
    parts += ["## Notes", "\n".join(f"- {note}" for note in record.notes)]
    return "\n\n".join(parts) + "\n"


def json_text(record: Record) -> str:
    """The whole record, for programs."""
    return json.dumps(as_json(record), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_json(record: Record) -> dict[str, Any]:
    """The record as plain values; numbers rounded as their column says, NaN as None."""
    return {
        "name": record.name,
        "title": record.title,
        "source": record.source,
        "holds": record.holds,
        "verdict": record.verdict,
        "checks": _rows(check_table(record.checks)),
        "tables": [_table(table) for table in record.tables],
        "notes": list(record.notes),
        "pictures": [{"file": each.name, "caption": each.caption} for each in record.pictures],
    }


def check_table(checks: Iterable[Check]) -> Table:
    """The checks as a table."""
    rows = tuple(
        {
            "claim": each.claim,
            "found": _resolved(each.value, each.resolution),
            "bound": each.bound,
            "unit": each.unit,
            "holds": "yes" if each.holds else "NO",
        }
        for each in checks
    )
    return Table("checks", "Checks", CHECK_COLUMNS, rows)


def heads(table: Table) -> list[str]:
    """The columns' titles, each with its unit."""
    return [f"{c.title} ({c.unit})" if c.unit not in ("", "1") else c.title for c in table.columns]


def cells(table: Table) -> list[list[str]]:
    """The rows as texts."""
    return [[cell_text(row[c.name], c) for c in table.columns] for row in table.rows]


def number(value: float, digits: int) -> str:
    """A number with that many significant digits, without trailing zeros: 2.26e-4, 15.2671."""
    if value == 0 or not math.isfinite(value):
        return f"{abs(value) if value == 0 else value:g}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = int(exponent)
    if -4 < power < 7:
        return _trimmed(f"{value:.{max(digits - 1 - power, 0)}f}")
    return f"{_trimmed(mantissa)}e{power}"


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def cell_text(cell: Cell, column: Column) -> str:
    """A cell as it is printed in Markdown and on the terminal."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    return number(_resolved(cell, column.resolution), column.digits)


def _resolved(value: float, resolution: float) -> float:
    """The nearest multiple of the resolution; the value itself if that is 0."""
    if resolution == 0 or not math.isfinite(value):
        return value
    return round(value / resolution) * resolution


def _markdown_table(table: Table) -> str:
    rules = ["---" if column.unit == "" else "--:" for column in table.columns]
    lines: list[Sequence[str]] = [heads(table), rules, *cells(table)]
    rows = ([cell.replace("|", r"\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _table(table: Table) -> dict[str, Any]:
    columns = [{"name": c.name, "title": c.title, "unit": c.unit} for c in table.columns]
    return {"name": table.name, "title": table.title, "columns": columns, "rows": _rows(table)}


def _rows(table: Table) -> list[dict[str, Cell]]:
    return [{c.name: _value(row[c.name], c) for c in table.columns} for row in table.rows]


def _value(cell: Cell, column: Column) -> Cell:
    if cell is None or isinstance(cell, str):
        return cell
    value = _resolved(cell, column.resolution)
    return float(f"{value:.{column.digits - 1}e}") if math.isfinite(value) else None
