"""CSV files from outside: columns by name, with their units and the lines of their cells."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sweep.errors import FaultError, warn
from sweep.file.quantities import (
    as_written,
    has_unit,
    in_range,
    needs_conversion,
    number,
)
from sweep.model.table import Parameter
from sweep.request.chunk import Values
from sweep.text.units import rewritten
from sweep.text.wording import nearest, written

CONSTANT = re.compile(r"# (\w+) = (\S+)")  # as `sweep export` writes it
NAME_AND_UNIT = re.compile(r"(.*\S)\s*(?:\[([^\[\]]*)\]|\(([^()]*)\))")
NO_UNIT = ("", "-")  # in brackets, of a plain number
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
DECIMAL_MARKS = (".", ",")
QUOTED = re.compile(r'"[^"]*"')
PADDING = re.compile(r"\t*([,;])\t*")  # tabs beside another separator


class Header(NamedTuple):
    """The head of a column."""

    text: str  # "Weg [mm]"
    name: str  # "Weg"
    unit: str | None  # "mm"


@dataclass(frozen=True)
class CsvTable:
    """A CSV file with a header, without blank lines and lines that begin with #."""

    path: Path
    headers: tuple[Header, ...]
    rows: tuple[tuple[int, list[str]], ...]  # line number and cells
    decimal: str
    comments: tuple[str, ...]  # lines that begin with #

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, without units."""
        return tuple(header.name for header in self.headers)

    def column(self, name: str, parameter: Parameter) -> Values:
        """A column's values in SI units; FaultError, which names file and lines, if any is wrong.

        A column that is named with its unit is not converted.
        """
        index, unit = self._found(name, parameter)
        if not self.rows:
            raise FaultError(f"{self._place}: there are no values below the header", "add rows")
        cells = [
            (f"line {line}", self._entry(row[index] if index < len(row) else "", unit))
            for line, row in self.rows
        ]
        try:
            return in_range(cells, parameter)
        except FaultError as error:
            raise FaultError(f"{self._place}, {error.what}", error.cure) from None

    def numbers(
        self, name: str, unit: str = "1", words: Mapping[str, float] | None = None
    ) -> Values:
        """A column of any numbers in an SI unit or `words`, NaN in empty cells.

        For a file that is not ragged. FaultError with the line of a cell that is neither.
        """
        parameter = Parameter(name=name, symbol=name, unit=unit, meaning="")
        index, column_unit = self._found(name, parameter)
        values: list[float] = []
        for line, row in self.rows:
            text = row[index].strip()
            entry = (words or {}).get(text, self._entry(text, column_unit) if text else math.nan)
            try:
                values.append(entry if isinstance(entry, float) else number(entry, parameter))
            except FaultError as error:
                what = f"{self._place}, line {line}: {name} = {error.what}"
                raise FaultError(what, error.cure) from None
        return np.array(values, dtype=np.float64)

    def constants(self) -> dict[str, float]:
        """Numbers in comments, or in those of NAME.csv.txt beside it, as `sweep export` writes."""
        beside = self.path.with_name(f"{self.path.name}.txt")
        described = beside.read_text("utf-8").splitlines() if beside.is_file() else []
        constants: dict[str, float] = {}
        for match in filter(None, map(CONSTANT.match, (*self.comments, *described))):
            value = as_written(match[2])
            if isinstance(value, float):
                constants.setdefault(match[1], value)
        return constants

    def refuse_ragged(self) -> None:
        """FaultError if two columns have the same header or a row lacks cells."""
        texts = [header.text for header in self.headers]
        twice = [text for k, text in enumerate(texts) if text in texts[:k]]
        if twice:
            raise FaultError(f"{self._place}: two columns are called {twice[0]!r}", "rename one")
        for line, row in self.rows:
            if len(row) != len(texts):
                cells = f"{len(row)} cells, but the header has {len(texts)}"
                cure = "give each row all cells, empty ones too"
                raise FaultError(f"{self._place}, line {line}: {cells}", cure)

    @property
    def _place(self) -> str:
        return f"file {str(self.path)!r}"

    def _found(self, name: str, parameter: Parameter) -> tuple[int, str | None]:
        """The index of a column and the unit in which its plain numbers are, None for SI.

        FaultError if there is no such column or its unit does not suit the parameter.
        """
        named_in_full = [k for k, header in enumerate(self.headers) if header.text == name]
        found = named_in_full or [k for k, each in enumerate(self.headers) if each.name == name]
        if len(found) != 1:
            where = f"{self._place}: column {name!r}"
            if found:
                raise FaultError(f"{where} occurs more than once", "rename one")
            raise FaultError(f"{where} is missing", nearest(name, self.names))
        text, short, unit = self.headers[found[0]]
        if unit is None:
            return found[0], None
        try:
            is_converted = needs_conversion(unit, parameter, text)
        except FaultError as error:
            if named_in_full:
                return found[0], None
            raise FaultError(f"{self._place}, header: {error.what}", error.cure) from None
        if not named_in_full:
            return found[0], unit
        if is_converted:
            taken_for = "plain numbers" if parameter.unit == "1" else parameter.unit
            cure = f"name it {short!r} to convert it from {unit}"
            warn(f"{self._place}: column {text!r} is taken for {taken_for}; {cure}")
        return found[0], None

    def _entry(self, cell: str, unit: str | None) -> object:
        """What a cell contains: a number, text with a unit or of any kind, or what is wrong."""
        text = cell.strip()
        if self.decimal == ",":
            if "." in text:
                cure = 'decimal = ",": write 1234,5 for 1234.5'
                return FaultError(f"{written(text)} has a point", cure)
            text = text.replace(",", ".") if text.count(",") == 1 else text
        elif "," in text and rewritten(text):
            cure = 'give decimal = ",", or write decimals with a point: 0.5'
            return FaultError(f"{written(text)} is not a number", cure)
        value = as_written(text)
        if unit is None or (isinstance(value, float) and not math.isfinite(value)):
            return value
        if has_unit(text):
            cure = "give it in one of the two places"
            return FaultError(f"{written(text)} has a unit, and so has the header", cure)
        if isinstance(value, str):
            cure = f"write a plain number, in {unit} as the header says"
            return FaultError(f"{written(text)} is not a number", cure)
        return text if unit == "1" else f"{text} {unit}"


def csv_table(path: Path, decimal: str = ".", skip: int = 0) -> CsvTable:
    """The cells of a file; FaultError, which names it, if it cannot be read.

    Columns are separated by commas, semicolons or tabs, whichever the header has most of; commas
    that are decimal marks do not separate. The header comes after `skip` lines.
    """
    if decimal not in DECIMAL_MARKS:
        raise FaultError(f"decimal is {written(decimal)}", 'give "." or ","')
    if skip < 0:
        raise FaultError(f"skip is {skip}", "give the number of lines before the header, from 0")
    place, every = f"file {str(path)!r}", _lines(path)
    lines = every[skip:]
    texts = [line for line in lines if line.strip() and line.lstrip(' "')[:1] != "#"]
    separator = _separator(texts, decimal, place)
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    try:
        rows = [(skip + reader.line_num, row) for row in reader if row and row[0][:1] != "#"]
    except csv.Error as error:
        raise FaultError(f"{place} cannot be read: {error}") from None
    if not rows and skip and any(line.strip() for line in every):
        what = f"{place} has no header below the first {skip:,} of its {len(every):,} lines"
        raise FaultError(what, "give a smaller skip")
    if not rows:
        raise FaultError(f"{place} is empty", "name the columns in its first line")
    headers = _headers(rows[0][1])
    for line, row in rows:
        if any(cell.strip() for cell in row[len(headers) :]):
            cells = f"{len(row)} cells, but the header has {len(headers)}"
            cure = f"{SEPARATORS[separator]} separate cells, so name each column in the header"
            if separator == ",":
                cure = (
                    "commas separate cells, so write decimals with a point: 0.5, or give "
                    'decimal = "," and separate cells by semicolons'
                )
            raise FaultError(f"{place}, line {line}: {cells}", cure)
    comments = tuple(line for line in lines if line.startswith("#"))
    return CsvTable(path, headers, tuple(rows[1:]), decimal, comments)


def named_table(given: Mapping[str, Any], folder: Path) -> CsvTable:
    """The file that the keys of a table name, which may say how it is read."""
    return csv_table(folder / given["file"], given.get("decimal") or ".", given.get("skip") or 0)


def _lines(path: Path) -> list[str]:
    """The lines of a file, of which blank ones have no cells."""
    place = f"file {str(path)!r}"
    try:
        if path.exists() and not path.is_file():  # a device may have no end
            raise FaultError(f"{place} is not a file", "name a CSV file")
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [line if line.strip() else "\n" for line in file]
    except UnicodeDecodeError:
        raise FaultError(f"{place} is not UTF-8 text", "save it as UTF-8") from None
    except FaultError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FaultError(f"{place} cannot be read: {reason}") from None


def _separator(lines: Sequence[str], decimal: str, place: str) -> str:
    """What separates the cells of a file, from its header, the first of its lines."""
    bare, *others = [PADDING.sub(r"\1", QUOTED.sub("", line)) for line in lines] or [""]
    separators = [mark for mark in SEPARATORS if mark != decimal]
    separator = max(separators, key=bare.count)
    if decimal == "," in bare and separator not in bare:
        if any(separator in line for line in others):
            what = f"{place}: its first line, {written(lines[0].strip())}, is no header"
            raise FaultError(what, "give the number of lines above the header as skip")
        cure = 'separate them by semicolons, or remove decimal = ","'
        raise FaultError(f"{place}: columns are separated by commas", cure)
    return separator


def _headers(cells: Sequence[str]) -> tuple[Header, ...]:
    """The heads of columns; a name that is the whole head of another column has no unit."""
    texts = [cell.strip() for cell in cells]
    headers: list[Header] = []
    for text in texts:
        match = NAME_AND_UNIT.fullmatch(text)
        if match is None or match[1] in texts:
            headers.append(Header(text, text, None))
        else:
            unit = (match[2] if match[3] is None else match[3]).strip()
            headers.append(Header(text, match[1], "1" if unit in NO_UNIT else unit))
    return tuple(headers)
