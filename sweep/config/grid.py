"""The tables [axes] and [axes.NAME]: one parameter along a dimension, or several.

Values along an axis are evenly spaced, geometric, listed, or read from a CSV file.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from sweep.config.columns import in_range, read_csv
from sweep.config.draft import Draft
from sweep.config.problems import Check, Problem, readable
from sweep.config.quantities import refuse_outside
from sweep.config.schema import AxisTable, correct, only_form
from sweep.config.sweep_file import has_several, is_table
from sweep.equations.names import name_fault
from sweep.errors import FaultError
from sweep.plan.chunking import MAX_SWEEP_POINTS
from sweep.request import Axis, Sweep
from sweep.spec import Output, Parameter
from sweep.wording import shown
from sweep.work import Values

FORMS = ("linspace", "geomspace", "values", "file")
MAX_AXIS_VALUES = 10**8  # 0.8 GB

Raw = Mapping[str, object]
Known = Mapping[str, Parameter]
FORM = "{name} = {{ values = [...] }} or {{ linspace = [first, last, count] }}"


def axes_of(draft: Draft, sample: Axis | None) -> Check[tuple[Axis, ...]]:
    """The axes in the order of the file, then that of the sample, which is in every cell."""
    sampled = [sample] if sample else []
    sizes = [*map(declared_size, draft.top.axes.values()), *(each.size for each in sampled)]
    n_points = math.prod(sizes)
    is_too_large = n_points > MAX_SWEEP_POINTS  # known before the values fill the memory
    unknown = draft.unknown(draft.on_axes)
    axes: list[Axis] = []
    for name, raw in draft.top.axes.items():
        place, entries = "axes", {name: raw}
        if is_group := draft.is_group(raw, name):
            place, entries = f"axes.{name}", raw
            for fault in _name_faults(name, raw, draft.known, draft.model.outputs):
                yield Problem(place, "", fault)
        columns = yield from _columns(draft, unknown, place, entries, reads=not is_too_large)
        if is_group:
            columns = yield from _together(name, entries, columns)
        for axis in columns:
            is_kept = draft.document.is_stored and ("axes", axis.name) not in draft.document.places
            if not is_kept and (fault := _repetition(axis)):
                yield Problem(place, axis.name, fault)
            else:
                axes.append(axis)
    axes += sampled
    n_points = n_points if is_too_large else math.prod(axis.size for axis in axes)
    if n_points > MAX_SWEEP_POINTS:
        cure = "give shorter axes" + (", or a smaller sample" if sampled else "")
        message = f"{n_points:,} points are more than {MAX_SWEEP_POINTS:,}; {cure}"
        yield Problem("axes", "", message)
    return tuple(axes)


def at_numbers(sweep: Sweep, numbers: Mapping[str, object]) -> Check[Sweep]:
    """The sweep cut at these places along axes without values of their own."""
    constants, axes = dict(sweep.constants), list[Axis]()
    for axis in sweep.axes:
        number = numbers.get(axis.name)
        if number is None:
            axes.append(axis)
        elif type(number) is int and 0 <= number < axis.size:
            constants |= {n: float(v[number : number + 1][0]) for n, v in axis.columns.items()}
        else:
            own = " ".join(f"--at {name}=..." for name in axis.columns)
            message = f"choose one by its number, from 0 to {axis.size - 1:,}, or give {own}"
            yield Problem("axes", axis.name, message)
    return replace(sweep, constants=constants, axes=tuple(axes))


def _columns(
    draft: Draft, unknown: Mapping[str, str], place: str, entries: Raw, *, reads: bool
) -> Check[list[Axis]]:
    """An axis for each correct entry of the table at `place`; none unless it `reads` values.

    `unknown` has a message for each name that is not a parameter.
    """
    varied = draft.on_axes
    axes: list[Axis] = []
    for name, raw in entries.items():
        if name in unknown:
            yield Problem(place, name, unknown[name])
        elif name in draft.top.parameters:
            yield Problem(place, name, "also given under [parameters]; keep one of the two")
        elif varied.count(name) > 1:
            yield Problem(place, name, "given along several axes; keep one of them")
        elif not is_table(raw):
            message = f"{shown(raw)} is not a table; write {FORM.format(name=name)}"
            constant = "" if place == "axes" else ", or move it to [parameters] if it is constant"
            yield Problem(place, name, message + constant)
        elif reads:
            table = yield from correct(AxisTable, raw, place, name)
            if table is not None:
                parameter, folder = draft.known[name], draft.document.folder
                reading = readable(place, name, axis, table, parameter, folder)
                if (read := (yield from reading)) is not None:
                    axes.append(read)
    return axes


def _together(name: str, raw: Raw, columns: list[Axis]) -> Check[list[Axis]]:
    """The axis of several parameters in a list, which is empty if there are problems."""
    if len(columns) < len(raw) or not columns:
        return []
    if len({each.size for each in columns}) > 1:
        sizes = ", ".join(f"{each.name} {each.size:,}" for each in columns)
        message = f"its parameters have different numbers of values: {sizes}; give as many for each"
        yield Problem(f"axes.{name}", "", message)
        return []
    ordered = sorted(columns, key=lambda each: each.name)
    values = {each.name: each.columns[each.name] for each in ordered}
    return [Axis(name, values, {each.name: each.recipe for each in ordered})]


def _name_faults(name: str, raw: Raw, known: Known, outputs: Iterable[Output]) -> Iterator[str]:
    """What is wrong with the name of a dimension of several parameters, or with an empty one."""
    if not raw:
        yield f"empty; give the parameters along it: {FORM.format(name='mass')}"
    if name in known:
        if name not in raw:
            yield f"{name} is a parameter that is not in this table; choose another name"
    elif error := name_fault(name, in_sweeps=True):
        yield str(error)
    for output in outputs:
        if name == output.name or name.startswith(f"{output.name}_"):
            yield f"results have names like this for the output {output.name}; choose another name"
            return


def axis(table: AxisTable, parameter: Parameter, folder: Path) -> Axis:
    """The axis that a table describes, in SI units and within the parameter's range.

    Paths of files start from `folder`. Raises FaultError, whose text says what to do.
    """
    values, recipe = _values(table, parameter, folder)
    size = len(values)
    refuse_outside(
        values, parameter, lambda i: f"value {i + 1} of {size} would be {float(values[i])!r}"
    )
    return Axis(parameter.name, {parameter.name: values}, recipe)


def _repetition(axis: Axis) -> str:
    """What is wrong if the axis has a value twice, which could not be selected by its coordinate.

    The values of cases are not what they are selected by. Stores of earlier versions may have such
    axes; they are read as they are.
    """
    values = axis.columns.get(axis.name, ())
    is_spaced = {*axis.recipe} <= {*SPACED}
    ordered: Values = np.asarray(values) if is_spaced else np.sort(np.asarray(values))
    repeated = np.flatnonzero(ordered[1:] == ordered[:-1])
    if not repeated.size:
        return ""
    closer = "give a smaller count, or ends further apart"
    cure = closer if is_spaced else "give each value once"
    return f"the value {float(ordered[repeated[0]])!r} occurs twice; {cure}"


def declared_size(raw: object) -> int:
    """The number of values of an axis, before they are made; 1 if it is unknown."""
    if has_several(raw):
        return max(map(declared_size, raw.values()))
    table = raw if is_table(raw) else {}
    if isinstance(values := table.get("values"), list):
        return max(len(cast("list[object]", values)), 1)
    for spacing in map(table.get, SPACED):
        count = cast("list[object]", spacing)[-1] if isinstance(spacing, list) and spacing else None
        if type(count) is int and 1 <= count <= MAX_AXIS_VALUES:
            return count
    return 1


def _values(
    table: AxisTable, parameter: Parameter, folder: Path
) -> tuple[Values, dict[str, object]]:
    example = "for example { linspace = [first, last, count] } or { values = [...] }"
    only_form(table, FORMS, example)
    if table.column is not None and table.file is None:
        raise FaultError("column is only for file; remove it")
    for form, spaced in SPACED.items():
        if (entries := getattr(table, form)) is not None:
            return _spaced(form, spaced, entries, parameter)
    if table.values is not None:
        if not table.values:
            raise FaultError("values is empty; give at least one value")
        values = in_range([(f"value {i}", v) for i, v in enumerate(table.values, 1)], parameter)
        return values, {"values": values.tolist()}
    if table.column is None:
        raise FaultError('file needs a column: { file = "...", column = "..." }')
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
        raise FaultError(f"{form} takes [first, last, count], not {len(entries)} entries")
    ends = in_range([("first", entries[0]), ("last", entries[1])], parameter)
    first, last = float(ends[0]), float(ends[1])
    count = entries[2]
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_AXIS_VALUES:
        required = f"it has to be a whole number from 1 to {MAX_AXIS_VALUES:,}"
        raise FaultError(f"the count of {form} is {shown(count)}; {required}")
    if count == 1 and first != last:
        raise FaultError(f"{form} with a count of 1 omits {last!r}; give a count of 2 or more")
    with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported by refuse_outside
        return spaced(first, last, count), {form: [first, last, count]}


def _geometric(first: float, last: float, count: int) -> Values:
    """Values with equal ratios; NumPy returns both ends exactly."""
    if not (min(first, last) > 0 or max(first, last) < 0):
        raise FaultError(
            f"geomspace from {first!r} to {last!r} is undefined: both ends must have the same "
            "sign and not be 0; use linspace or values"
        )
    return np.geomspace(first, last, count)


SPACED = {"linspace": np.linspace, "geomspace": _geometric}
