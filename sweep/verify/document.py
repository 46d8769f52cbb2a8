"""Builds a document's record from the files in its folder and the rows that its module computes.

record.md     title, source, then the notes as bullets; a field `{table|row|column:3}` cites a
              cell of a table with three significant digits, `{name:.2f}` any other figure
tables.csv    name and title of each table, and the function that yields its rows: figures by name
columns.csv   the columns of each table; `figure` is what of the row it shows: its name, if it is
              not the column's, `ours - theirs` for a difference, or `ours / theirs` for a relative
              difference, both also between columns further left
checks.csv    claims: a cell differs from `target` by at most `bound`
others        published figures, read by `figures` and `constants`

A row is cited by its first cells, as printed: `columns|15|EULER|ours`. In a check, `*` stands for
any cell, and the greatest difference counts.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sweep.config.columns import read_csv
from sweep.verify.record import Cell, Check, Column, Picture, Record, Row, Table
from sweep.verify.writing import cell_text, number

Key = TypeVar("Key")
Figures = TypeVar("Figures")  # all that a document's tables are made of


@dataclass(frozen=True)
class Document:
    """A folder with the files above; the document's name is the folder's."""

    folder: Path

    def tables(
        self, functions: Mapping[str, Callable[[Figures], Iterable[Row]]], figures: Figures
    ) -> tuple[Table, ...]:
        """The tables, whose rows these functions yield; they may yield more than is shown."""
        columns: dict[str, dict[Column, str]] = {}
        for _, cells in csv_rows(self.folder / "columns.csv"):
            columns.setdefault(cells["table"], {})[_column(cells)] = cells["figure"]
        tables: list[Table] = []
        for _, cells in csv_rows(self.folder / "tables.csv"):
            shown = columns[cells["name"]]
            rows = tuple(_shown(row, shown) for row in functions[cells["rows"]](figures))
            tables.append(Table(cells["name"], cells["title"], tuple(shown), rows))
        return tuple(tables)

    def checks(self, tables: Sequence[Table]) -> list[Check]:
        """The checks of checks.csv on the cells of these tables."""
        checks: list[Check] = []
        for _, cells in csv_rows(self.folder / "checks.csv"):
            target, bound = float(cells["target"]), float(cells["bound"])
            differences = [abs(value - target) for value in _numbers(tables, cells["cell"])]
            resolution = float(cells["resolution"] or 0)
            checks.append(Check(cells["claim"], max(differences), bound, cells["unit"], resolution))
        return checks

    def plain_record(
        self,
        functions: Mapping[str, Callable[[Figures], Iterable[Row]]],
        figures: Figures,
        fields: Mapping[str, float] | None = None,
    ) -> Record:
        """The record of a document without checks or pictures of its own."""
        tables = self.tables(functions, figures)
        return self.record(tables, self.checks(tables), fields or {})

    def record(
        self,
        tables: Sequence[Table],
        checks: Iterable[Check],
        fields: Mapping[str, float],
        pictures: Sequence[Picture] = (),
    ) -> Record:
        """The record; `fields` are figures that the notes quote and no table has."""
        text = (self.folder / "record.md").read_text(encoding="utf-8")
        title, source, notes = text.split("\n\n", 2)
        formatter = _Formatter(tables)
        return Record(
            name=self.folder.name,
            title=title.removeprefix("# "),
            source=" ".join(source.split()),
            tables=tuple(tables),
            notes=tuple(
                formatter.vformat(" ".join(note.split()), (), fields)
                for note in notes.removeprefix("- ").split("\n- ")
            ),
            checks=tuple(checks),
            pictures=tuple(pictures),
        )


def figures(path: Path, key: Callable[[str], Key]) -> dict[Key, dict[str, float]]:
    """Published numbers by row and column; `key` makes a row's key of its first cell.

    ValueError, which names the file and the line, if a cell is missing or no number, or if two
    rows have the same key.
    """
    rows: dict[Key, dict[str, float]] = {}
    for place, cells in csv_rows(path):
        (_, first), *others = cells.items()
        try:
            row_key, row = key(first), {name: float(text) for name, text in others}
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
        if row_key in rows:
            raise ValueError(f"{place}: {first!r} has a row already")
        rows[row_key] = row
    return rows


def constants(path: Path) -> dict[str, float]:
    """The numbers of a file with the columns `name` and `value`; ValueError as for `figures`."""
    return {name: row["value"] for name, row in figures(path, str).items()}


def csv_rows(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Each row's place, for messages, and its cells by column; ValueError as for `figures`."""
    file = read_csv(path)
    rows: list[tuple[str, dict[str, str]]] = []
    for line, cells in file.rows:
        place = f"{path.name}, line {line}"
        if len(cells) != len(file.header) or len(set(file.header)) != len(file.header):
            raise ValueError(f"{place}: {len(cells)} cells for the columns {file.header}")
        rows.append((place, dict(zip(file.header, cells, strict=True))))
    if not rows:
        raise ValueError(f"{path.name}: no rows below the header")
    return rows


def _column(cells: Mapping[str, str]) -> Column:
    return Column(
        cells["name"],
        cells["title"],
        cells["unit"],
        int(cells["digits"] or 0),
        float(cells["resolution"] or 0),
    )


def _shown(row: Row, figures: Mapping[Column, str]) -> Row:
    """The cells of the columns that show these figures of the row."""
    cells: dict[str, Cell] = {}
    for column, figure in figures.items():
        first, *rest = (figure or column.name).split(" ")
        if not rest:
            cells[column.name] = row[first]
            continue
        known = {**row, **cells}
        cells[column.name] = _difference(known[first], rest[0], known[rest[1]])
    return cells


def _difference(value: Cell, operator: str, other: Cell) -> float | None:
    """value - other, or value / other - 1; None if that is undefined."""
    if not isinstance(value, (int, float)) or not isinstance(other, (int, float)):
        return None
    if operator == "-":
        return value - other
    return value / other - 1 if other else None


def _numbers(tables: Iterable[Table], address: str) -> list[float]:
    """The cells at `table|row|column`; KeyError if there are none or one is no number."""
    name, *keys, column = address.split("|")
    cells = [
        row[column]
        for table in tables
        if table.name == name
        for row in table.rows
        if all(
            key in ("*", cell_text(row[c.name], c))
            for key, c in zip(keys, table.columns, strict=False)
        )
    ]
    numbers = [float(cell) for cell in cells if isinstance(cell, (int, float))]
    if not cells or len(numbers) < len(cells):
        raise KeyError(f"{address}: {len(cells)} such cells, {len(numbers)} of them numbers")
    return numbers


class _Formatter(string.Formatter):
    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        del args
        if "|" not in field_name:
            return kwargs[field_name], field_name
        (value,) = _numbers(self.tables, field_name)
        return value, field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec.isdigit():
            return number(value, int(format_spec))
        return super().format_field(value, format_spec)
