"""The values along an axis: evenly spaced, geometric, listed, or read from a CSV file."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

import numpy as np

from sweep.config.quantities import UnreadableError, first_outside, number, requirement
from sweep.config.tables import AxisTable
from sweep.config.wording import listed, nearest, shown
from sweep.spec import Axis, Parameter, Values

FORMS = ("linspace", "geomspace", "values", "file")
MOST_VALUES = 10**8  # along one axis; 0.8 GB


def axis(table: AxisTable, parameter: Parameter, folder: Path) -> Axis:
    """The axis that a table describes, its values in SI units and in the parameter's range.

    Files are looked for in `folder`. Raises UnreadableError, whose sentence says what would do.
    """
    values, recipe = _values(table, parameter, folder)
    if (index := first_outside(values, parameter)) is not None:
        which = f"value {index + 1} of {len(values)} would be {float(values[index])!r}"
        raise UnreadableError(f"{which}; it has to be {requirement(parameter)}")
    return Axis(parameter.name, {parameter.name: values}, recipe)


def _values(
    table: AxisTable, parameter: Parameter, folder: Path
) -> tuple[Values, dict[str, object]]:
    given = [form for form in FORMS if getattr(table, form) is not None]
    if len(given) != 1:
        found = f"there are {listed(given)}" if given else "there is none"
        raise UnreadableError(
            f"one of {listed(FORMS)} is needed and {found}: "
            "write { linspace = [first, last, count] }, { values = [...] } or the like"
        )
    if table.column is not None and table.file is None:
        raise UnreadableError("column goes with file; leave it out")
    if table.linspace is not None:
        return _spaced("linspace", _even, table.linspace, parameter)
    if table.geomspace is not None:
        return _spaced("geomspace", _geometric, table.geomspace, parameter)
    if table.values is not None:
        if not table.values:
            raise UnreadableError("values is empty; give at least one")
        values = _listed([(f"value {i}", v) for i, v in enumerate(table.values, 1)], parameter)
        return values, {"values": values.tolist()}
    values = _from_file(table, parameter, folder)
    digest = hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()
    return values, {"file": {"sha256": digest, "count": len(values)}}


def _spaced(
    form: str,
    spaced: Callable[[float, float, int], Values],
    asked: Sequence[object],
    parameter: Parameter,
) -> tuple[Values, dict[str, object]]:
    if len(asked) != 3:
        raise UnreadableError(f"{form} takes [first, last, count], not {len(asked)} entries")
    ends = _listed([("first", asked[0]), ("last", asked[1])], parameter)
    first, last = float(ends[0]), float(ends[1])
    count = asked[2]
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_VALUES:
        what = f"a whole number from 1 to {MOST_VALUES:,}"
        raise UnreadableError(f"{form} has the count {shown(count)}; it has to be {what}")
    if count == 1 and first != last:
        raise UnreadableError(f"{form} with a count of 1 would leave out {last!r}; give 2 or more")
    return spaced(first, last, count), {form: [first, last, count]}


def _even(first: float, last: float, count: int) -> Values:
    with np.errstate(over="ignore", invalid="ignore"):  # ends too far apart: found afterwards
        return np.linspace(first, last, count) + 0.0


def _geometric(first: float, last: float, count: int) -> Values:
    """Equal ratios, both ends exact."""
    if not (min(first, last) > 0 or max(first, last) < 0):
        raise UnreadableError(
            f"geomspace from {first!r} to {last!r} cannot be: its ends are both above zero, "
            "or both below; use linspace or values"
        )
    values = np.geomspace(first, last, count)
    values[0], values[-1] = first, last
    return values


def _listed(entries: Sequence[tuple[str, object]], parameter: Parameter) -> Values:
    """The entries (what to call it, value) as numbers in the parameter's range."""
    values: list[float] = []
    wrong: list[str] = []
    for name, entry in entries:
        try:
            values.append(number(entry, parameter))
        except UnreadableError as error:
            wrong.append(f"{name}: {error}")
    if wrong:
        more = f"; and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise UnreadableError("; ".join(wrong[:3]) + more)
    numbers = np.array(values, dtype=np.float64)
    if (index := first_outside(numbers, parameter)) is not None:
        name, entry = entries[index]
        asked = requirement(parameter)
        raise UnreadableError(f"{name}: {shown(entry)} is out of range; it has to be {asked}")
    return numbers


def _from_file(table: AxisTable, parameter: Parameter, folder: Path) -> Values:
    if table.column is None:
        raise UnreadableError('file needs the name of a column: { file = "...", column = "..." }')
    path = folder / str(table.file)
    if path.exists() and not path.is_file():  # a device has no end
        raise UnreadableError(f"file {str(path)!r} is not a file; name a CSV file")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            cells = _cells(file, table.column)
    except UnreadableError as error:
        raise UnreadableError(f"file {str(path)!r}: {error}") from None
    except UnicodeDecodeError:
        raise UnreadableError(f"file {str(path)!r} is not UTF-8 text; save it as UTF-8") from None
    except (OSError, ValueError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnreadableError(f"file {str(path)!r} cannot be read: {reason}") from None
    try:
        return _listed(cells, parameter)
    except UnreadableError as error:
        raise UnreadableError(f"file {str(path)!r}, {error}") from None


def _cells(file: TextIO, column: str) -> list[tuple[str, object]]:
    """The cells of a column, each with its line; blank lines and those after a # are skipped."""
    reader = csv.reader(file, skipinitialspace=True)
    rows = [(reader.line_num, row) for row in reader if row and not row[0].startswith("#")]
    if not rows:
        raise UnreadableError("it is empty; its first line has to name the columns")
    header = [name.strip() for name in rows[0][1]]
    if header.count(column) != 1:
        found = "twice" if column in header else f"not there; {nearest(column, header)}"
        raise UnreadableError(f"column {column!r} is {found}")
    index = header.index(column)
    if len(rows) == 1:
        raise UnreadableError("it has a header and no values")
    return [(f"line {line}", _cell(row, index)) for line, row in rows[1:]]


def _cell(row: Sequence[str], index: int) -> object:
    """A number where the cell is one; otherwise its text, which may be one with a unit."""
    text = row[index].strip() if index < len(row) else ""
    try:
        return text if "_" in text else float(text)
    except ValueError:
        return text
