"""The table [refine]: where a grid is computed more finely, and how fine it may get."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from sweep.config.draft import Draft
from sweep.config.quantities import first_outside, requirement
from sweep.config.schema import Document, RefineTable, checked
from sweep.refine.mesh import halved, is_geometric
from sweep.refine.refiner import MAX_REFINED_POINTS
from sweep.spec import Axis, Parameter, Refinement, Sweep, Values
from sweep.wording import listed, nearest, shown

MAX_REFINED_AXES = 4  # a cell of more has too many neighbours
MAX_REFINED_VALUES = 2**24  # along an axis at the finest level
MAX_POSITIONS = 2**62  # of the finest level, numbered in 64 bits


def refinement_of(draft: Draft, document: Document, sweep: Sweep | None) -> Refinement | None:
    """What [refine] asks for, None without it; its faults are noted in the draft.

    Without a sweep, which has faults of its own then, only the table itself is looked at.
    """
    if document.refine is None:
        return None
    table, wrong = checked(RefineTable, document.refine)
    draft.note("refine", wrong)
    if "levels" not in document.refine:
        draft.fault("refine", "levels", "it is missing; give how often a cell may be halved")
    names = [table.output] if isinstance(table.output, str) else list(table.output or ())
    _check_outputs(draft, document.refine, names, sweep)
    _check_grid(draft, document)
    if sweep is not None:
        if "tolerance" not in wrong:
            _check_tolerance(draft, document.refine, names, sweep)
        if document.sample is None:
            _check_axes(draft, sweep, table.levels or 0)
    return Refinement(tuple(names), table.levels or 0, table.tolerance)


def _check_outputs(
    draft: Draft, raw: Mapping[str, object], names: list[str], sweep: Sweep | None
) -> None:
    known = [output.name for output in sweep.outputs] if sweep else []
    if raw.get("output") in (None, []):
        cure = f"name one or more of {listed(known)}" if sweep else "name an output, or several"
        what = "empty" if "output" in raw else "missing"
        draft.fault("refine", "output", f"it is {what}; {cure}")
    for name in dict.fromkeys(names):
        if name == "status":
            draft.fault("refine", "output", "'status' always counts; leave it out")
        elif names.count(name) > 1:
            draft.fault("refine", "output", f"{name!r} is named {names.count(name)} times")
        elif sweep and name in {output.name for output in sweep.model.outputs} - set(known):
            draft.fault("refine", "output", f"{name!r} is not computed; add it to outputs")
        elif sweep and name not in known:
            draft.fault("refine", "output", f"{shown(name)} is unknown; {nearest(name, known)}")


def _check_grid(draft: Draft, document: Document) -> None:
    if document.sample is not None:
        message = "a [sample] has no cells to be halved; give [axes] in its place, or leave it out"
        draft.fault("refine", "", message)
    elif not document.axes:
        draft.fault("refine", "", "there is no axis; give the coarse grid under [axes]")
    elif len(document.axes) > MAX_REFINED_AXES:
        message = (
            f"{len(document.axes)} axes are more than the {MAX_REFINED_AXES} that can be refined"
        )
        draft.fault("refine", "", message)


def _check_tolerance(
    draft: Draft, raw: Mapping[str, object], names: list[str], sweep: Sweep
) -> None:
    kinds = {output.name: output.kind for output in sweep.outputs}
    known = [name for name in names if name in kinds]
    measured = [name for name in known if kinds[name] != "flag"]
    if measured and "tolerance" not in raw:
        message = f"it is missing; give the share of its span that {listed(measured)} may vary by"
        draft.fault("refine", "tolerance", f"{message} in a cell, such as 0.05")
    if known and not measured and "tolerance" in raw:
        what = f"{listed(known)} is a flag" if len(known) == 1 else f"{listed(known)} are flags"
        draft.fault("refine", "tolerance", f"{what}, and changes or does not; leave it out")


def _check_axes(draft: Draft, sweep: Sweep, levels: int) -> None:
    table = {parameter.name: parameter for parameter in sweep.parameters}
    fine = True
    for axis in sweep.axes[:MAX_REFINED_AXES]:
        for name in axis.columns.keys() & table.keys():
            fault = _axis_fault(axis, table[name], levels)
            if fault:
                draft.fault("axes", name, fault)
                fine = False
    positions = math.prod(((axis.size - 1) << levels) + 1 for axis in sweep.axes)
    if sweep.n_points > MAX_REFINED_POINTS:
        message = f"a coarse grid of {sweep.n_points:,} points is more than {MAX_REFINED_POINTS:,}"
        draft.fault("refine", "", f"{message}; give shorter axes and more levels")
    elif fine and positions >= MAX_POSITIONS:
        message = f"the finest grid would have {float(positions):.3g} points; give fewer levels"
        draft.fault("refine", "levels", message)


def _axis_fault(axis: Axis, parameter: Parameter, levels: int) -> str:
    """What keeps an axis from being halved so often; "" if nothing does."""
    values = axis.columns[parameter.name][:]
    with np.errstate(over="ignore", invalid="ignore"):  # inf is a value of some
        return _fault_of(values, axis, parameter, levels)


def _fault_of(values: Values, axis: Axis, parameter: Parameter, levels: int) -> str:
    steps = np.diff(values)
    if not steps.size:
        return "it has one value, and [refine] halves between two; put it under [parameters]"
    if not (np.all(steps > 0) or np.all(steps < 0)):
        return "its values go up and down; for [refine] they have to rise, or to fall"
    count = (steps.size << levels) + 1
    if count > MAX_REFINED_VALUES:
        most = f"more than {MAX_REFINED_VALUES:,}"
        return f"{levels} levels make {count:,} values of it, {most}; give fewer"
    finest = halved(values, levels, geometric=is_geometric(axis.recipe))
    index = first_outside(finest, parameter)
    if index is not None:
        value = float(finest[index])
        return f"halved {levels} times it takes {value!r}; it has to be {requirement(parameter)}"
    gaps = np.diff(finest)
    if not (np.all(gaps > 0) or np.all(gaps < 0)):
        return f"halved {levels} times, neighbours are one number; give fewer levels"
    return ""
