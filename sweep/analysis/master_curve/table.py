"""Tables of numbers from CSV files, faults named by line."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.spec import Status
from sweep.wording import shown

Values = NDArray[np.float64]

COMMAS = "; commas part values, so that decimals have a point: 0.5"
CONSTANT = re.compile(r"# (\w+) = (\S+)")  # as `sweep export` writes it


@dataclass(frozen=True)
class Table(Mapping[str, Values]):
    """Columns of numbers, those of a file read when they are asked for."""

    size: int
    columns: Mapping[str, Values | Sequence[str]]
    place: str = ""  # of a file
    lines: Sequence[int] = ()  # of the rows in it
    _read: dict[str, Values] = field(default_factory=dict[str, Values], compare=False)

    def __getitem__(self, name: str) -> Values:
        """SweepError with the line of what is no number; NaN where there is nothing."""
        if name not in self._read:
            self._read[name] = self._numbers(name)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def refuse(self, wrong: NDArray[np.bool_], name: str, why: str) -> None:
        """SweepError with the line of the first row that is wrong, if one is."""
        if wrong.any():
            k = int(np.argmax(wrong))
            line = f", line {self.lines[k]}" if self.lines else ""
            raise SweepError(f"{self.place!r}{line}: {name} = {self[name][k]:g} {why}")

    def _numbers(self, name: str) -> Values:
        texts = self.columns[name]
        if isinstance(texts, np.ndarray):
            return texts
        named = {each.name: float(each) for each in Status} if name == "status" else {}
        found = [named.get(text.strip(), _number(text)) for text in texts]
        for line, text, number in zip(self.lines, texts, found, strict=True):
            if number is None:
                hint = "; write decimals with a point: 0.5" if _is_a_number_with_comma(text) else ""
                raise SweepError(
                    f"{self.place!r}, line {line}: {name} = {shown(text)} is no number{hint}"
                )
        return np.array(found, dtype=np.float64)


def read_table(path: Path) -> Table:
    """The columns of a CSV file.

    Lines of `#` are comments, but for the constants in them that `sweep export` writes: these are
    columns too. A column `status` may hold names. Columns NAME_name, which it writes beside flags,
    are left out. The separator is a comma, semicolon or tab. SweepError for rows that are no rows,
    and for two columns of one name.
    """
    numbered = [(i, line) for i, line in enumerate(_text(path).splitlines(), 1) if line.strip()]
    constants = [CONSTANT.match(line) for _, line in numbered if line.startswith("#")]
    content = [(i, line) for i, line in numbered if not line.startswith("#")]
    if len(content) < 2:
        raise SweepError(f"{str(path)!r} has no points: a line of names and a row a point")
    separator = max(",;\t", key=content[0][1].count)
    rows = list(csv.reader((line for _, line in content), delimiter=separator))
    names = [name.strip() for name in rows[0]]
    lines = [i for i, _ in content[1:]]
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise SweepError(
            f"{str(path)!r}, line {content[0][0]}: two columns are {twice[0]!r}: rename one"
        )
    for line, row in zip(lines, rows[1:], strict=True):
        if len(row) != len(names):
            raise SweepError(
                f"{str(path)!r}, line {line}: {len(row)} values for {len(names)} names"
                f"{COMMAS if separator == ',' and len(row) > len(names) else ''}"
            )
    columns: dict[str, Values | Sequence[str]] = {
        name: [row[k] for row in rows[1:]]
        for k, name in enumerate(names)
        if not name.endswith("_name")
    }
    for match in filter(None, constants):
        number = _number(match[2])
        if number is not None:
            columns.setdefault(match[1], np.full(len(lines), number))
    return Table(len(lines), columns, str(path), lines)


def _is_a_number_with_comma(text: str) -> bool:
    return _number(text.replace(",", ".")) is not None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise SweepError(f"there is no file {str(path)!r}; name another, or a store") from error
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SweepError(f"{str(path)!r} cannot be read: {reason}") from error


def _number(text: str) -> float | None:
    try:
        return float(text) if text.strip() else math.nan
    except ValueError:
        return None
