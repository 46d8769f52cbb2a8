"""The values along an axis: evenly spaced, geometric, listed, or read from a CSV file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import numpy as np

from sweep.config.columns import in_range, read_csv
from sweep.config.problems import UnreadableError
from sweep.config.quantities import refuse_outside
from sweep.config.schema import AxisTable, only_form
from sweep.config.sweep_file import has_several, is_table
from sweep.request import Axis
from sweep.spec import Parameter
from sweep.wording import shown
from sweep.work import Values

FORMS = ("linspace", "geomspace", "values", "file")
MAX_AXIS_VALUES = 10**8  # 0.8 GB


def axis(table: AxisTable, parameter: Parameter, folder: Path) -> Axis:
    """The axis that a table describes, in SI units and within the parameter's range.

    Paths of files start from `folder`. Raises UnreadableError, whose text says what to do.
    """
    values, recipe = _values(table, parameter, folder)
    size = len(values)
    refuse_outside(
        values, parameter, lambda i: f"value {i + 1} of {size} would be {float(values[i])!r}"
    )
    if table.values is not None or table.file is not None:
        distinct, counts = np.unique(values, return_counts=True)
        if distinct.size < values.size:  # it could not be selected by its coordinate
            value = float(distinct[np.argmax(counts > 1)])
            raise UnreadableError(f"the value {value!r} occurs twice; give each value once")
    return Axis(parameter.name, {parameter.name: values}, recipe)


def declared_size(raw: object) -> int:
    """The number of values of an axis, before they are made; 1 if it is unknown."""
    if has_several(raw):
        return max(map(declared_size, raw.values()))
    table = raw if is_table(raw) else {}
    if isinstance(values := table.get("values"), list):
        return max(len(cast("list[object]", values)), 1)
    for spacing in (table.get("linspace"), table.get("geomspace")):
        count = cast("list[object]", spacing)[-1] if isinstance(spacing, list) and spacing else 1
        if type(count) is int and 1 <= count <= MAX_AXIS_VALUES:
            return count
    return 1


def _values(
    table: AxisTable, parameter: Parameter, folder: Path
) -> tuple[Values, dict[str, object]]:
    example = "for example { linspace = [first, last, count] } or { values = [...] }"
    only_form(table, FORMS, example)
    if table.column is not None and table.file is None:
        raise UnreadableError("column is only for file; remove it")
    for form, spaced in SPACED.items():
        if (entries := getattr(table, form)) is not None:
            return _spaced(form, spaced, entries, parameter)
    if table.values is not None:
        if not table.values:
            raise UnreadableError("values is empty; give at least one value")
        values = in_range([(f"value {i}", v) for i, v in enumerate(table.values, 1)], parameter)
        return values, {"values": values.tolist()}
    if table.column is None:
        raise UnreadableError('file needs a column: { file = "...", column = "..." }')
    values = read_csv(folder / str(table.file)).column(table.column, parameter)
    digest = hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()
    return values, {"file": {"sha256": digest, "count": len(values)}}


def _spaced(
    form: str,
    spaced: Callable[[float, float, int], Values],
    entries: Sequence[object],
    parameter: Parameter,
) -> tuple[Values, dict[str, object]]:
    if len(entries) != 3:
        raise UnreadableError(f"{form} takes [first, last, count], not {len(entries)} entries")
    ends = in_range([("first", entries[0]), ("last", entries[1])], parameter)
    first, last = float(ends[0]), float(ends[1])
    count = entries[2]
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_AXIS_VALUES:
        required = f"it has to be a whole number from 1 to {MAX_AXIS_VALUES:,}"
        raise UnreadableError(f"the count of {form} is {shown(count)}; {required}")
    if count == 1 and first != last:
        raise UnreadableError(f"{form} with a count of 1 omits {last!r}; give a count of 2 or more")
    with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported by refuse_outside
        return spaced(first, last, count), {form: [first, last, count]}


def _geometric(first: float, last: float, count: int) -> Values:
    """Values with equal ratios; NumPy returns both ends exactly."""
    if not (min(first, last) > 0 or max(first, last) < 0):
        raise UnreadableError(
            f"geomspace from {first!r} to {last!r} is undefined: both ends must have the same "
            "sign and not be 0; use linspace or values"
        )
    return np.geomspace(first, last, count)


SPACED = {"linspace": np.linspace, "geomspace": _geometric}
