"""Lists of values in a parameter's range, and the columns of CSV files."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sweep.config.quantities import as_written, number, warn_of_turns
from sweep.errors import FaultError
from sweep.spec import Parameter
from sweep.wording import nearest, written
from sweep.work import Values

MAX_SHOWN = 3  # wrong entries of a list
CONSTANT = re.compile(r"# (\w+) = (\S+)")  # as `sweep export` writes it


def in_range(entries: Sequence[tuple[str, object]], parameter: Parameter) -> Values:
    """The entries (name for messages, value) as numbers in the parameter's range."""
    values: dict[int, float] = {}
    wrong: list[tuple[str, FaultError]] = []
    for index, (name, entry) in enumerate(entries):
        try:
            values[index] = number(entry, parameter)
        except FaultError as error:
            wrong.append((name, error))
    numbers, indices = np.array([*values.values()], dtype=np.float64), [*values]
    if (outside := parameter.first_outside(numbers)) is not None:
        name, entry = entries[indices[outside]]
        cure = f"it has to be {parameter.requirement}"
        wrong.append((name, FaultError(f"{written(entry)} is out of range", cure)))
    if wrong:
        raise together(wrong)
    warn_of_turns((entry for _, entry in entries), parameter)
    return numbers


def together(wrong: Sequence[tuple[str, FaultError]]) -> FaultError:
    """One fault of several named entries, of which three are shown."""
    listed = wrong[:MAX_SHOWN]
    messages = [f"{name}: {error.what}" if name else error.what for name, error in listed]
    cures = [error.cure for _, error in listed]
    more = [f"and {len(wrong) - MAX_SHOWN} more"] if len(wrong) > MAX_SHOWN else []
    if len({*cures}) == 1:
        return FaultError("; ".join([*messages, *more]), cures[0])
    cured = [
        f"{what} ({cure})" if cure else what for what, cure in zip(messages, cures, strict=True)
    ]
    return FaultError("; ".join([*cured, *more]))


@dataclass(frozen=True)
class CsvFile:
    """A CSV file with a header, without blank lines and lines that begin with #."""

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[int, list[str]], ...]  # line number and cells
    comments: tuple[str, ...] = ()  # lines that begin with #

    def column(self, name: str, parameter: Parameter) -> Values:
        """A column's values; FaultError, which names file and lines, if any is wrong."""
        place = f"file {str(self.path)!r}"
        if self.header.count(name) != 1:
            where = f"{place}: column {name!r}"
            if name in self.header:
                raise FaultError(f"{where} occurs more than once", "rename one")
            raise FaultError(f"{where} is missing", nearest(name, self.header))
        if not self.rows:
            raise FaultError(f"{place}: there are no values below the header", "add rows")
        index = self.header.index(name)
        cells = [(f"line {line}", _cell(row, index)) for line, row in self.rows]
        try:
            return in_range(cells, parameter)
        except FaultError as error:
            raise FaultError(f"{place}, {error.what}", error.cure) from None

    def constants(self) -> dict[str, float]:
        """Numbers in comments, or in those of NAME.csv.txt beside it, as `sweep export` writes."""
        beside = self.path.with_name(f"{self.path.name}.txt")
        described = beside.read_text("utf-8").splitlines() if beside.is_file() else []
        constants: dict[str, float] = {}
        for match in filter(None, map(CONSTANT.match, (*self.comments, *described))):
            number = plain_number(match[2])
            if number is not None:
                constants.setdefault(match[1], number)
        return constants

    def refuse_ragged(self) -> None:
        """FaultError if two columns have the same name or a row lacks cells."""
        place = repr(str(self.path))
        twice = [name for k, name in enumerate(self.header) if name in self.header[:k]]
        if twice:
            raise FaultError(f"{place}: two columns are called {twice[0]!r}", "rename one")
        for line, row in self.rows:
            if len(row) != len(self.header):
                cells = f"{len(row)} cells, but the header has {len(self.header)}"
                cure = "give each row all cells, empty ones too"
                raise FaultError(f"{place}, line {line}: {cells}", cure)

    def numbers(self, name: str, words: Mapping[str, float]) -> Values:
        """A column of plain numbers or `words`, NaN in empty cells, of a file that is not ragged.

        FaultError with the line of a cell that is neither.
        """
        index = self.header.index(name)
        values: list[float] = []
        for line, row in self.rows:
            value = words.get(row[index].strip(), plain_number(row[index]))
            if value is None:
                what = f"{name} = {written(row[index])} is not a number"
                has_comma = plain_number(row[index].replace(",", ".")) is not None
                cure = "write decimals with a point: 0.5" if has_comma else ""
                raise FaultError(f"{str(self.path)!r}, line {line}: {what}", cure)
            values.append(value)
        return np.array(values, dtype=np.float64)


def plain_number(text: str) -> float | None:
    """The number that a text is, NaN if it is blank; None for any other text."""
    try:
        return float(text) if text.strip() else math.nan
    except ValueError:
        return None


def read_csv(path: Path, separators: str = ",") -> CsvFile:
    """The cells of a file; FaultError, which names it, if it cannot be read.

    If there are several separators, the most frequent one in the header separates columns.
    """
    place = f"file {str(path)!r}"
    try:
        if path.exists() and not path.is_file():  # a device may have no end
            raise FaultError(f"{place} is not a file", "name a CSV file")
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [line if line.strip() else "\n" for line in file]  # a blank line has no cells
        comments = tuple(line for line in lines if line.startswith("#"))
        header_line = next((each for each in lines if each.strip() and each[0] != "#"), "")
        separator = max(separators, key=header_line.count)
        reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
        rows = [(reader.line_num, row) for row in reader if row and not row[0].startswith("#")]
    except UnicodeDecodeError:
        raise FaultError(f"{place} is not UTF-8 text", "save it as UTF-8") from None
    except FaultError:
        raise
    except (OSError, ValueError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FaultError(f"{place} cannot be read: {reason}") from None
    if not rows:
        raise FaultError(f"{place} is empty", "name the columns in its first line")
    header = tuple(name.strip() for name in rows[0][1])
    for name, mark in {"semicolons": ";", "tabs": "\t"}.items():
        if len(header) == 1 and mark in header[0]:
            cure = "save it with commas between columns and decimal points in numbers"
            raise FaultError(f"{place}: columns are separated by {name}", cure)
    for line, row in rows:
        if any(cell.strip() for cell in row[len(header) :]):
            cells = f"{len(row)} cells, but the header has {len(header)}"
            cure = "commas separate cells, so write decimals with a point: 0.5"
            raise FaultError(f"{place}, line {line}: {cells}", cure)
    return CsvFile(path, header, tuple(rows[1:]), comments)


def _cell(row: Sequence[str], index: int) -> object:
    return as_written(row[index].strip() if index < len(row) else "")
