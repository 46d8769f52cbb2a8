"""The tables [axes] and [axes.NAME]: one parameter along a dimension, or several."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeGuard

from sweep.config.axes import axis, declared_size
from sweep.config.problems import Check, Problem, readable
from sweep.config.schema import AxisTable, TopLevel, correct
from sweep.config.sweep_file import Document, Table, has_several, is_table
from sweep.equations.names import name_fault
from sweep.plan.chunking import MAX_SWEEP_POINTS
from sweep.request import Axis
from sweep.spec import Output, Parameter
from sweep.wording import shown

Raw = Mapping[str, object]
Known = Mapping[str, Parameter]
FORM = "{name} = {{ values = [...] }} or {{ linspace = [first, last, count] }}"


def _is_group(raw: object, name: str, known: Known) -> TypeGuard[Table]:
    """Whether an entry of [axes] is a table of several parameters along one dimension."""
    return has_several(raw) or (raw == {} and name not in known)


def parameters_on(axes: Raw, known: Known) -> list[str]:
    """The parameters that are along axes, in the order of the file."""
    return [
        parameter
        for name, raw in axes.items()
        for parameter in (raw if _is_group(raw, name, known) else [name])
    ]


def axes_of(
    document: Document,
    top: TopLevel,
    known: Known,
    unknown: Mapping[str, str],
    sample: Axis | None,
    outputs: Iterable[Output],
) -> Check[tuple[Axis, ...]]:
    """The axes in the order of the file, then that of the sample, which is in every cell.

    `unknown` has a message for each name that is no parameter.
    """
    sampled = [sample] if sample else []
    sizes = [*map(declared_size, top.axes.values()), *(each.size for each in sampled)]
    n_points = math.prod(sizes)
    is_too_large = n_points > MAX_SWEEP_POINTS  # known before the values fill the memory
    axes: list[Axis] = []
    for name, raw in top.axes.items():
        place, entries = "axes", {name: raw}
        if is_group := _is_group(raw, name, known):
            place, entries = f"axes.{name}", raw
            for fault in _name_faults(name, raw, known, outputs):
                yield Problem(place, "", fault)
        columns = yield from _columns(
            document, top, place, entries, known, unknown, reads=not is_too_large
        )
        if is_group:
            columns = yield from _together(name, entries, columns)
        axes += columns
    axes += sampled
    n_points = n_points if is_too_large else math.prod(axis.size for axis in axes)
    if n_points > MAX_SWEEP_POINTS:
        cure = "give shorter axes" + (", or a smaller sample" if sampled else "")
        message = f"{n_points:,} points are more than {MAX_SWEEP_POINTS:,}; {cure}"
        yield Problem("axes", "", message)
    return tuple(axes)


def _columns(
    document: Document,
    top: TopLevel,
    place: str,
    entries: Raw,
    known: Known,
    unknown: Mapping[str, str],
    *,
    reads: bool,
) -> Check[list[Axis]]:
    """An axis for each correct entry of the table at `place`; none unless it `reads` values."""
    varied = parameters_on(top.axes, known)
    axes: list[Axis] = []
    for name, raw in entries.items():
        if name in unknown:
            yield Problem(place, name, unknown[name])
        elif name in top.parameters:
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
                reading = readable(place, name, axis, table, known[name], document.folder)
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
    elif fault := name_fault(name, in_sweeps=True):
        yield fault
    for output in outputs:
        if name == output.name or name.startswith(f"{output.name}_"):
            yield f"results have names like this for the output {output.name}; choose another name"
            return
