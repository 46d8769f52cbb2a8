"""The table [refine]: where a grid is refined, and how finely."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from sweep.config.problems import Check, Problem, check_names, in_table
from sweep.config.schema import RefineTable, TopLevel, checked
from sweep.config.sweep_file import has_several
from sweep.refine.mesh import halved, is_geometric
from sweep.refine.refiner import MAX_REFINED_POINTS
from sweep.request import POINT, Axis, Refinement, Sweep
from sweep.spec import Parameter
from sweep.wording import listed
from sweep.work import Values

MAX_REFINED_AXES = 4  # a cell with more axes has too many neighbours
MAX_REFINED_VALUES = 2**24  # along an axis, at the finest level
MAX_POSITIONS = 2**62  # of points at the finest level, which are numbered in 64 bits


def refinement_of(top: TopLevel, sweep: Sweep | None) -> Check[Refinement | None]:
    """The refinement that [refine] asks for; None without that table.

    Without a sweep, whose problems come first, only the table itself is checked.
    """
    if top.refine is None:
        return None
    table, wrong = checked(RefineTable, top.refine)
    yield from in_table("refine", wrong)
    if "levels" not in top.refine:
        yield Problem("refine", "levels", "missing; give how often a cell may be halved")
    names = [table.output] if isinstance(table.output, str) else list(table.output or ())
    yield from _check_outputs(top.refine, names, sweep)
    yield from _check_grid(top, sweep)
    if sweep is not None:
        if "tolerance" not in wrong:
            yield from _check_tolerance(top.refine, names, sweep)
        if POINT not in sweep.dimensions and not any(map(has_several, top.axes.values())):
            yield from _check_axes(sweep, table.levels or 0)
    return Refinement(tuple(names), table.levels or 0, table.tolerance)


def _check_outputs(raw: Mapping[str, object], names: list[str], sweep: Sweep | None) -> Check[None]:
    known, cure = names, "name one or more outputs"
    wrong = {"status": "'status' always counts; remove it here"}
    if sweep is not None:
        known = [output.name for output in sweep.outputs]
        cure = f"name one or more of {listed(known)}"
        for output in sweep.model.outputs:
            if output.name not in known:
                wrong[output.name] = f"{output.name!r} is not computed; add it to outputs"
        for output in sweep.outputs:
            if output.inner_shape:
                several = "has several values at each point; name an output that has one"
                wrong[output.name] = f"{output.name!r} {several}"
    if raw.get("output") in (None, []):
        yield Problem("refine", "output", f"{'empty' if 'output' in raw else 'missing'}; {cure}")
    yield from check_names("refine", "output", names, known, wrong)


def _check_grid(top: TopLevel, sweep: Sweep | None) -> Check[None]:
    if top.sample is not None and (top.reduce is None or not top.axes):
        message = "a [sample] has no cells to halve; replace it by [axes], or remove [refine]"
        yield Problem("refine", "", message)
    elif groups := [name for name, raw in top.axes.items() if has_several(raw)]:
        message = "several parameters along one axis cannot be halved; give each an axis of its own"
        for name in groups:
            yield Problem(f"axes.{name}", "", f"{message}, or remove [refine]")
    elif sweep is not None and sweep.reduction is not None and not sweep.axes:
        yield Problem("refine", "", "[reduce] leaves no axis; reduce over fewer axes")
    elif not top.axes:
        yield Problem("refine", "", "there is no axis; give the coarse grid under [axes]")
    elif len(top.axes) > MAX_REFINED_AXES:
        message = f"{len(top.axes)} axes are more than the {MAX_REFINED_AXES} that can be refined"
        yield Problem("refine", "", f"{message}; make some of them constant")


def _check_tolerance(raw: Mapping[str, object], names: list[str], sweep: Sweep) -> Check[None]:
    kinds = {output.name: output.kind for output in sweep.outputs}
    known = [name for name in names if name in kinds]
    measured = [name for name in known if kinds[name] != "flag"]
    if measured and "tolerance" not in raw:
        share = f"the share of its range by which {listed(measured)} may vary in a cell"
        yield Problem("refine", "tolerance", f"missing; give {share}, such as 0.05")
    if known and not measured and "tolerance" in raw:
        what = f"{listed(known)} is a flag" if len(known) == 1 else f"{listed(known)} are flags"
        yield Problem("refine", "tolerance", f"{what}, which need no tolerance; remove it")


def _check_axes(sweep: Sweep, levels: int) -> Check[None]:
    table = {parameter.name: parameter for parameter in sweep.inputs}
    fine = True
    for axis in sweep.axes[:MAX_REFINED_AXES]:
        for name in axis.columns:
            if name in table and (fault := _axis_fault(axis, table[name], levels)):
                yield Problem("axes", name, fault)
                fine = False
    positions = math.prod(((axis.size - 1) << levels) + 1 for axis in sweep.axes)
    if (n_points := math.prod(sweep.shape)) > MAX_REFINED_POINTS:
        message = f"a coarse grid of {n_points:,} points is more than {MAX_REFINED_POINTS:,}"
        yield Problem("refine", "", f"{message}; give shorter axes and more levels")
    elif fine and positions >= MAX_POSITIONS:
        message = f"the finest grid would have {float(positions):.3g} points; give fewer levels"
        yield Problem("refine", "levels", message)


@np.errstate(over="ignore", invalid="ignore")  # some parameters may be infinite
def _axis_fault(axis: Axis, parameter: Parameter, levels: int) -> str:
    """Why an axis cannot be halved this often; "" if it can."""
    values = axis.columns[parameter.name][:]
    if len(values) == 1:
        return "it has one value, so there is nothing to halve; move it to [parameters]"
    if not _is_monotonic(values):
        return "its values rise and fall; for [refine] they must only rise, or only fall"
    count = ((len(values) - 1) << levels) + 1
    if count > MAX_REFINED_VALUES:
        most = f"more than {MAX_REFINED_VALUES:,}"
        return f"{levels} levels make {count:,} values, {most}; give fewer levels"
    finest = halved(values, levels, geometric=is_geometric(axis.recipe))
    index = parameter.first_outside(finest)
    if index is not None:
        value = float(finest[index])
        return f"halved {levels} times, it takes {value!r}; it has to be {parameter.requirement}"
    if not _is_monotonic(finest):
        return f"halved {levels} times, neighbouring values are equal; give fewer levels"
    return ""


def _is_monotonic(values: Values) -> bool:
    steps = np.diff(values)
    return bool(np.all(steps > 0) or np.all(steps < 0))
