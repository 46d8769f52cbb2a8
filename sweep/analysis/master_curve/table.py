"""Tables of numbers from CSV files, faults named by line."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sweep.config.wording import shown
from sweep.errors import SweepError
from sweep.spec import Status

Values = NDArray[np.float64]
Columns = dict[str, Values]

CONSTANT = re.compile(r"# (\w+) = (\S+)")  # as `sweep export` writes it


def read_table(path: Path) -> tuple[Columns, list[int]]:
    """The columns of a CSV file, all of numbers, and the line of each row.

    Lines of `#` are comments, but for the constants in them that `sweep export` writes: these are
    columns too. A column `status` may hold names. Columns NAME_name, which it writes beside flags,
    are left out. The separator is a comma, semicolon or tab. SweepError names the line of what is
    no number.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SweepError(f"{str(path)!r} cannot be read: {error}") from error
    numbered = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip()]
    constants = [CONSTANT.match(line) for _, line in numbered if line.startswith("#")]
    content = [(i, line) for i, line in numbered if not line.startswith("#")]
    if len(content) < 2:
        raise SweepError(f"{str(path)!r} has no points: a line of names and a row a point")
    separator = max(",;\t", key=content[0][1].count)
    rows = list(csv.reader((line for _, line in content), delimiter=separator))
    names = [name.strip() for name in rows[0]]
    lines = [i for i, _ in content[1:]]
    for line, row in zip(lines, rows[1:], strict=True):
        if len(row) != len(names):
            raise SweepError(
                f"{str(path)!r}, line {line}: {len(row)} values for {len(names)} names"
            )
    columns = {n: _numbers(path, n, [row[k] for row in rows[1:]], lines)
               for k, n in enumerate(names) if not n.endswith("_name")}  # fmt: skip
    for match in filter(None, constants):
        number = _number(match[2])
        if number is not None:
            columns.setdefault(match[1], np.full(len(lines), number))
    return columns, lines


def _numbers(path: Path, name: str, texts: Sequence[str], lines: Sequence[int]) -> Values:
    named = {each.name: float(each) for each in Status} if name == "status" else {}
    found = [named.get(text.strip(), _number(text)) for text in texts]
    for line, text, number in zip(lines, texts, found, strict=True):
        if number is None:
            raise SweepError(f"{str(path)!r}, line {line}: {name} = {shown(text)} is no number")
    return np.array(found, dtype=np.float64)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
