"""The values along an axis: evenly spaced, geometric, listed, or read from a CSV file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from sweep.config.columns import in_range, read_csv
from sweep.config.quantities import UnreadableError, first_outside, requirement
from sweep.config.schema import AxisTable
from sweep.spec import Axis, Parameter, Values
from sweep.wording import listed, shown

FORMS = ("linspace", "geomspace", "values", "file")
MAX_AXIS_VALUES = 10**8  # along one axis; 0.8 GB


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
        values = in_range([(f"value {i}", v) for i, v in enumerate(table.values, 1)], parameter)
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
    ends = in_range([("first", asked[0]), ("last", asked[1])], parameter)
    first, last = float(ends[0]), float(ends[1])
    count = asked[2]
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_AXIS_VALUES:
        what = f"a whole number from 1 to {MAX_AXIS_VALUES:,}"
        raise UnreadableError(f"{form} has the count {shown(count)}; it has to be {what}")
    if count == 1 and first != last:
        raise UnreadableError(f"{form} with a count of 1 would leave out {last!r}; give 2 or more")
    return spaced(first, last, count), {form: [first, last, count]}


def _even(first: float, last: float, count: int) -> Values:
    with np.errstate(over="ignore", invalid="ignore"):  # ends too far apart: found afterwards
        return np.linspace(first, last, count)


def _geometric(first: float, last: float, count: int) -> Values:
    """Equal ratios; both ends are exact, which NumPy takes care of."""
    if not (min(first, last) > 0 or max(first, last) < 0):
        raise UnreadableError(
            f"geomspace from {first!r} to {last!r} cannot be: its ends are both above zero, "
            "or both below; use linspace or values"
        )
    return np.geomspace(first, last, count)


def _from_file(table: AxisTable, parameter: Parameter, folder: Path) -> Values:
    if table.column is None:
        raise UnreadableError('file needs the name of a column: { file = "...", column = "..." }')
    return read_csv(folder / str(table.file)).column(table.column, parameter)
