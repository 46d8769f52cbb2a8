"""Tables of numbers from CSV files; errors name the line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sweep.config.columns import read_csv
from sweep.config.problems import UnreadableError
from sweep.errors import SweepError
from sweep.spec import Status
from sweep.wording import shown

Values = NDArray[np.float64]

SEPARATORS = ",;\t"
CONSTANT = re.compile(r"# (\w+) = (\S+)")  # as `sweep export` writes it


@dataclass(frozen=True)
class Table(Mapping[str, Values]):
    """Columns of numbers; those of a file are converted when they are first used."""

    size: int
    columns: Mapping[str, Values | Sequence[str]]
    place: str = ""  # path of the file
    lines: Sequence[int] = ()  # line number of each row
    _read: dict[str, Values] = field(default_factory=dict[str, Values], compare=False)

    def __getitem__(self, name: str) -> Values:
        """A column, NaN in empty cells; SweepError with the line of a cell that is not a number."""
        if name not in self._read:
            self._read[name] = self._numbers(name)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def refuse(self, wrong: NDArray[np.bool_], name: str, why: str) -> None:
        """Raise SweepError with the line of the first wrong row, if there is one."""
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
                hint = "; write decimals with a point: 0.5" if _is_number_with_comma(text) else ""
                raise SweepError(
                    f"{self.place!r}, line {line}: {name} = {shown(text)} is not a number{hint}"
                )
        return np.array(found, dtype=np.float64)


def read_table(path: Path) -> Table:
    """The columns of a CSV file, which commas, semicolons or tabs separate.

    Constants in its comments, as `sweep export` writes them, are columns too. A column `status` may
    hold names. Columns NAME_name, which `sweep export` writes beside flags, are left out.
    SweepError for a file that cannot be read, rows of unequal length, two columns of one name.
    """
    if not path.exists():
        raise SweepError(f"there is no file {str(path)!r}; name another, or a store")
    try:
        file = read_csv(path, SEPARATORS)
    except UnreadableError as error:
        raise SweepError(str(error)) from error
    if not file.rows:
        raise SweepError(f"{str(path)!r} has no points: write a line of names and a row per point")
    twice = [name for k, name in enumerate(file.header) if name in file.header[:k]]
    if twice:
        raise SweepError(f"{str(path)!r}: two columns are called {twice[0]!r}: rename one")
    for line, row in file.rows:
        if len(row) != len(file.header):
            raise SweepError(
                f"{str(path)!r}, line {line}: {len(row)} cells, but the header has "
                f"{len(file.header)}: give each row all cells, empty ones too"
            )
    columns: dict[str, Values | Sequence[str]] = {
        name: [row[k] for _, row in file.rows]
        for k, name in enumerate(file.header)
        if not name.endswith("_name")
    }
    for match in filter(None, map(CONSTANT.match, file.comments)):
        number = _number(match[2])
        if number is not None:
            columns.setdefault(match[1], np.full(len(file.rows), number))
    return Table(len(file.rows), columns, str(path), [line for line, _ in file.rows])


def _is_number_with_comma(text: str) -> bool:
    return _number(text.replace(",", ".")) is not None


def _number(text: str) -> float | None:
    try:
        return float(text) if text.strip() else math.nan
    except ValueError:
        return None
