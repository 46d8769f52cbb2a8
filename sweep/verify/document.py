"""Builds a document's record from the files in its folder and the rows that its module computes.

record.md     title, source, then the notes as bullets; a field `{table|row|column:3}` cites a
              cell of a table with three significant digits, `{name:.2f}` any other figure
tables.csv    name and title of each table, and the name of its rows: figures by name
columns.csv   the columns of each table; `figure` is what of the row it shows: its name, if it is
              not the column's, `ours - theirs` for a difference, or `ours / theirs` for a relative
              difference, both also between columns further left
checks.csv    claims: a cell, or another figure by name, differs from `target` by at most `bound`
others        published figures, read by `figures` and `constants`

A row is cited by its first cells, as printed: `columns|15|EULER|ours`. In a check, `*` stands for
any cell, and the greatest difference counts.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sweep.config.columns import read_csv
from sweep.verify.record import Cell, Check, Column, Picture, Record, Row, Table
from sweep.verify.writing import cell_text, number

Key = TypeVar("Key")
Rows = Mapping[str, Sequence[Row]]  # by the name that tables.csv has; not all figures are shown


def record_of(
    folder: Path,
    rows: Rows,
    others: Mapping[str, float] | None = None,
    pictures: Iterable[Picture] = (),
) -> Record:
    """The record of the document in a folder, whose name is the folder's.

    `others` are figures that notes and checks cite by name, because no table has them.
    """
    text = (folder / "record.md").read_text(encoding="utf-8")
    title, source, notes = text.split("\n\n", 2)
    tables = _tables(folder, rows)
    cited = _Cited(tables, others or {})
    return Record(
        name=folder.name,
        title=title.removeprefix("# "),
        source=" ".join(source.split()),
        tables=tables,
        notes=tuple(
            cited.format(" ".join(note.split())) for note in notes.removeprefix("- ").split("\n- ")
        ),
        checks=tuple(_check(cells, cited) for _, cells in csv_rows(folder / "checks.csv")),
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
    file.refuse_ragged()
    if not file.rows:
        raise ValueError(f"{path.name}: no rows below the header")
    return [
        (f"{path.name}, line {line}", dict(zip(file.header, cells, strict=True)))
        for line, cells in file.rows
    ]


def _tables(folder: Path, rows: Rows) -> tuple[Table, ...]:
    columns: dict[str, dict[Column, str]] = {}
    for _, cells in csv_rows(folder / "columns.csv"):
        columns.setdefault(cells["table"], {})[_column(cells)] = cells["figure"]
    tables: list[Table] = []
    for _, cells in csv_rows(folder / "tables.csv"):
        shown = columns[cells["name"]]
        printed_rows = tuple(_shown(row, shown) for row in rows[cells["rows"]])
        tables.append(Table(cells["name"], cells["title"], tuple(shown), printed_rows))
    return tuple(tables)


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


def _check(cells: Mapping[str, str], cited: _Cited) -> Check:
    target, bound = float(cells["target"]), float(cells["bound"])
    deviation = max(abs(value - target) for value in cited.numbers(cells["cell"]))
    return Check(cells["claim"], deviation, bound, cells["unit"], float(cells["resolution"] or 0))


class _Cited(string.Formatter):
    """Figures by address: `table|row|column`, or the name of one that no table has."""

    def __init__(self, tables: Sequence[Table], others: Mapping[str, float]) -> None:
        self.tables, self.others = {table.name: table for table in tables}, others

    def numbers(self, address: str) -> list[float]:
        """The figures at an address; KeyError if there are none, or one is not a number."""
        if "|" not in address:
            return [self.others[address]]
        name, *keys, column = address.split("|")
        table = self.tables[name]
        cells = [row[column] for row in table.rows if _has(row, keys, table.columns)]
        numbers = [float(cell) for cell in cells if isinstance(cell, (int, float))]
        if not cells or len(numbers) < len(cells):
            raise KeyError(f"{address}: {len(cells)} such cells, {len(numbers)} of them numbers")
        return numbers

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        del args, kwargs
        (value,) = self.numbers(field_name)
        return value, field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec.isdigit():
            return number(value, int(format_spec))
        return super().format_field(value, format_spec)


def _has(row: Row, keys: Sequence[str], columns: Sequence[Column]) -> bool:
    """Whether the row's first cells are printed like this."""
    texts = (cell_text(row[column.name], column) for column in columns)
    return all(key in ("*", text) for key, text in zip(keys, texts, strict=False))
