"""The tables [axes] and [axes.NAME]: one parameter along a dimension, or several.

Values along an axis are evenly spaced, geometric, listed, or read from a CSV file.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from sweep.equations.entries import name_fault_in_sweeps
from sweep.errors import FaultError
from sweep.file.csv_table import named_table
from sweep.file.draft import Draft, Sample
from sweep.file.keys import AXIS, AXIS_FORMS, HOW_READ, only_form
from sweep.file.quantities import in_range, refuse_outside, together
from sweep.file.sweep_file import has_several, is_table
from sweep.model.table import Parameter
from sweep.points.chunking import MAX_SWEEP_POINTS
from sweep.request.chunk import Values
from sweep.request.sweeps import Axis, Sweep
from sweep.text.reader import Table
from sweep.text.wording import listed, written

MAX_AXIS_VALUES = 10**8  # 0.8 GB
FORM = "{name} = {{ values = [...] }} or {{ linspace = [first, last, count] }}"
EXAMPLE = "for example { linspace = [first, last, count] } or { values = [...] }"


def axes_of(draft: Draft, sample: Sample) -> tuple[Axis, ...]:
    """The correct axes in the order of the file; that of the sample, in every cell, is last."""
    sampled = [sample.axis] if sample.axis else []
    sizes = [declared_size(raw) for raw in draft.axes.mapping.values()]
    n_points = math.prod([*sizes, *(axis.size for axis in sampled)])
    is_too_large = n_points > MAX_SWEEP_POINTS  # known before the values fill the memory
    made = [_axis_named(draft, name, reads=not is_too_large) for name in draft.along]
    axes = [*(axis for axis in made if axis is not None), *sampled]
    n_points = n_points if is_too_large else math.prod(axis.size for axis in axes)
    if n_points > MAX_SWEEP_POINTS:
        what = f"{n_points:,} points are more than {MAX_SWEEP_POINTS:,}"
        draft.axes.fault(
            "", what, "give shorter axes" + (", or a smaller sample" if sampled else "")
        )
    return tuple(axes)


def at_numbers(draft: Draft, axes: Sequence[Axis], sweep: Sweep | None) -> Sweep | None:
    """The sweep cut at the numbers of points along axes without values of their own."""
    constants, left = dict[str, float](), list[Axis]()
    for axis in axes:
        number = draft.document.numbers.get(axis.name)
        if number is None:
            left.append(axis)
        elif type(number) is int and 0 <= number < axis.size:
            constants |= {n: float(v[number : number + 1][0]) for n, v in axis.columns.items()}
        else:
            own = listed(f"{name}=..." for name in axis.columns)
            what = f"{written(number)} is not the number of one of its points"
            cure = f"choose a number, from 0 to {axis.size - 1:,}, or give {own}"
            draft.axes.fault(axis.name, what, cure)
    if sweep is None:
        return None
    return replace(sweep, constants={**sweep.constants, **constants}, axes=tuple(left))


def _axis_named(draft: Draft, name: str, *, reads: bool) -> Axis | None:
    """The axis of an entry of [axes], unless it is faulty.

    If it does not `read` values, they are only checked as far as they are written in the file.
    """
    table, names = draft.along[name], draft.names_along(name)
    made = [_axis_at(draft, table, each, reads=reads) for each in names if draft.may_have(each)]
    columns = [each for each in made if each]
    if table is not draft.axes:
        _check_name(draft, table, name)
    if len(columns) < len(names) or not columns:
        return None
    if len({each.size for each in columns}) > 1:
        sizes = ", ".join(f"{each.name} {each.size:,}" for each in columns)
        what = f"its parameters have different numbers of values: {sizes}"
        table.fault("", what, "give as many for each")
        return None
    axis = columns[0]
    if table is not draft.axes:
        ordered = sorted(columns, key=lambda each: each.name)
        values = {each.name: each.columns[each.name] for each in ordered}
        axis = Axis(name, values, {each.name: each.recipe for each in ordered})
    is_kept = draft.document.is_stored and ("axes", name) not in draft.document.places
    if not is_kept and (error := _repetition(axis)):
        table.fault(name, error.what, error.cure)
        return None
    return axis


def _check_name(draft: Draft, table: Table, name: str) -> None:
    """Check the name of a dimension of several parameters, and that it is not empty."""
    if not table.mapping:
        table.fault("", "empty", f"give the parameters along it: {FORM.format(name='mass')}")
    if name in (draft.known or {}):
        if name not in table.mapping:
            what = f"{name} is a parameter that is not in this table"
            table.fault("", what, "choose another name")
    elif error := name_fault_in_sweeps(name):
        table.fault("", error.what, error.cure)
    for output in draft.model.outputs if draft.model else ():
        if name in (index.name for index in output.over):
            table.fault("", f"{name} is an index of the model", "choose another name")
            return
        if name == output.name or name.startswith(f"{output.name}_"):
            what = f"results have names like this for the output {output.name}"
            table.fault("", what, "choose another name")
            return


def _axis_at(draft: Draft, table: Table, name: str, *, reads: bool) -> Axis | None:
    """The axis of one parameter of a table."""
    if not is_table(raw := table.mapping[name]):
        constant = ", or move it to [parameters] if it is constant"
        cure = f"write {FORM.format(name=name)}" + ("" if table is draft.axes else constant)
        table.fault(name, f"{written(raw)} is not a table", cure)
        return None
    entry = table.entry(name)
    given = entry.values(AXIS.keys)
    entry.close()
    parameter = draft.known[name] if draft.known else None
    if entry.is_faulty:
        return None
    if parameter is None or not reads:
        entry.read("", _check_written, given, parameter)
        return None
    return entry.read("", axis, given, parameter, draft.document.folder)


def axis(given: Mapping[str, Any], parameter: Parameter, folder: Path) -> Axis:
    """The axis that a table describes, in SI units and within the parameter's range.

    Paths of files start from `folder`. Raises FaultError.
    """
    values, recipe = _values(given, parameter, folder)
    size = len(values)
    refuse_outside(
        values, parameter, lambda i: f"value {i + 1} of {size} would be {float(values[i])!r}"
    )
    return Axis(parameter.name, {parameter.name: values}, recipe)


def _repetition(axis: Axis) -> FaultError | None:
    """What is wrong if the axis has a value twice, which could not be selected by its coordinate.

    The values of cases are not what they are selected by. Stores of earlier versions may have such
    axes; they are read as they are.
    """
    values = axis.columns.get(axis.name, ())
    is_spaced = {*axis.recipe} <= {*SPACED}
    ordered: Values = np.asarray(values) if is_spaced else np.sort(np.asarray(values))
    repeated = np.flatnonzero(ordered[1:] == ordered[:-1])
    if not repeated.size:
        return None
    closer = "give a smaller count, or ends further apart"
    cure = closer if is_spaced else "give each value once"
    return FaultError(f"the value {float(ordered[repeated[0]])!r} occurs twice", cure)


def declared_size(raw: object) -> int:
    """The number of values of an axis, before they are made; 1 if it is unknown."""
    if has_several(raw):
        return max(map(declared_size, raw.values()))
    table = raw if is_table(raw) else {}
    if isinstance(values := table.get("values"), list):
        return max(len(cast("list[object]", values)), 1)
    for spacing in map(table.get, SPACED):
        count = cast("list[object]", spacing)[-1] if isinstance(spacing, list) and spacing else None
        if _is_count(count):
            return cast(int, count)
    return 1


def check_form(given: Mapping[str, Any]) -> str:
    """The form in which an axis is given; FaultError if its keys do not belong together."""
    form = only_form(given, AXIS_FORMS, EXAMPLE)
    for key in ("column", *HOW_READ):
        if given.get(key) is not None and form != "file":
            raise FaultError(f"{key} is only for file", "remove it")
    if form == "file" and given.get("column") is None:
        raise FaultError("file needs a column", 'write { file = "...", column = "..." }')
    if form == "values" and not given["values"]:
        raise FaultError("values is empty", "give at least one value")
    if form in SPACED and len(given[form]) != 3:
        raise FaultError(f"{form} takes [first, last, count], not {len(given[form])} entries")
    return form


def _check_written(given: Mapping[str, Any], parameter: Parameter | None) -> None:
    """Check an axis without making values that are not in the file."""
    form = check_form(given)
    if form in SPACED and parameter is None and (error := _count_fault(form, given[form])):
        raise error
    if form in SPACED and parameter is not None:
        _ends(form, given[form], parameter)
    if form == "values" and parameter is not None:
        _listed(given[form], parameter)


def _listed(entries: Sequence[object], parameter: Parameter) -> Values:
    return in_range([(f"value {i}", entry) for i, entry in enumerate(entries, 1)], parameter)


def _values(
    given: Mapping[str, Any], parameter: Parameter, folder: Path
) -> tuple[Values, dict[str, object]]:
    form = check_form(given)
    if form in SPACED:
        return _spaced(form, given[form], parameter)
    if form == "values":
        values = _listed(given[form], parameter)
        return values, {"values": values.tolist()}
    values = named_table(given, folder).column(given["column"], parameter)
    digest = hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()
    return values, {"file": {"sha256": digest, "count": len(values)}}


def _spaced(
    form: str, entries: Sequence[object], parameter: Parameter
) -> tuple[Values, dict[str, object]]:
    first, last = _ends(form, entries, parameter)
    count = cast(int, entries[2])
    if count == 1 and first != last:
        raise FaultError(f"{form} with a count of 1 omits {last!r}", "give a count of 2 or more")
    with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported by refuse_outside
        return SPACED[form](first, last, count), {form: [first, last, count]}


def _ends(form: str, entries: Sequence[object], parameter: Parameter) -> tuple[float, float]:
    """The ends of an axis; FaultError if they or its count are wrong, with all that is."""
    wrong: list[tuple[str, FaultError]] = []
    ends: Values = np.zeros(2)
    try:
        ends = in_range([("first", entries[0]), ("last", entries[1])], parameter)
    except FaultError as error:
        wrong.append(("", error))
    if error := _count_fault(form, entries):
        wrong.append(("", error))
    if wrong:
        raise together(wrong)
    return float(ends[0]), float(ends[1])


def _count_fault(form: str, entries: Sequence[object]) -> FaultError | None:
    if _is_count(entries[2]):
        return None
    cure = f"it has to be a whole number from 1 to {MAX_AXIS_VALUES:,}"
    return FaultError(f"the count of {form} is {written(entries[2])}", cure)


def _is_count(value: object) -> bool:
    return type(value) is int and 1 <= value <= MAX_AXIS_VALUES


def _geometric(first: float, last: float, count: int) -> Values:
    """Values with equal ratios; NumPy returns both ends exactly."""
    if not (min(first, last) > 0 or max(first, last) < 0):
        what = f"geomspace from {first!r} to {last!r} is undefined"
        why = "both ends must have the same sign and not be 0"
        raise FaultError(f"{what}: {why}", "use linspace or values")
    return np.geomspace(first, last, count)


SPACED: Mapping[str, Callable[[float, float, int], Values]] = {
    "linspace": np.linspace,
    "geomspace": _geometric,
}
