"""The table [refine]: where a grid is refined, and how finely."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sweep.errors import FaultError
from sweep.file.draft import Draft
from sweep.file.keys import REFINE
from sweep.model.table import Output, Parameter
from sweep.points.mesh import halved, is_geometric
from sweep.request.chunk import Values
from sweep.request.sweeps import MAX_REFINED_POINTS, AnySweep, Axis, Refinement
from sweep.text.reader import Table
from sweep.text.wording import listed

MAX_REFINED_AXES = 4  # a cell with more axes has too many neighbours
MAX_REFINED_VALUES = 2**24  # along an axis, at the finest level
MAX_POSITIONS = 2**62  # of points at the finest level, which are numbered in 64 bits


def refinement_of(
    draft: Draft, axes: Sequence[Axis], results: Sequence[Output] | None, sweep: AnySweep | None
) -> Refinement | None:
    """The refinement that [refine] asks for; None without that table.

    `axes` are the correct ones of the sweep, `results` its outputs, None if they are unknown.
    """
    if (table := draft.top.optional("refine")) is None:
        return None
    given = table.values(REFINE.keys)
    if not table.has("levels"):
        table.missing("levels", "give how often a cell may be halved")
    output = given["output"]
    names = [output] if isinstance(output, str) else [*(output or ())]
    _check_outputs(draft, table, names, results)
    _check_tolerance(table, names, results or ())
    table.close()
    _check_grid(draft, table, sweep)
    if draft.sample is None and not draft.groups:
        _check_axes(draft, table, axes, given["levels"] or 0)
    return Refinement(tuple(names), given["levels"] or 0, given["tolerance"])


def _check_outputs(
    draft: Draft, table: Table, names: list[str], results: Sequence[Output] | None
) -> None:
    known = None if results is None else [output.name for output in results]
    wrong = {"status": ("'status' always counts", "remove it here")}
    for output in draft.model.outputs if draft.model and known is not None else ():
        if output.name not in (known or ()):
            wrong[output.name] = (f"{output.name!r} is not computed", "add it to outputs")
    for output in results or ():
        if output.inner_shape:
            what = f"{output.name!r} has several values at each point"
            wrong[output.name] = (what, "name an output that has one")
    cure = f"name one or more of {listed(known)}" if known else "name one or more outputs"
    if not table.has("output"):
        table.missing("output", cure)
    elif table.mapping["output"] == []:
        table.fault("output", "empty", cure)
    table.names("output", names, known, wrong)


def _check_grid(draft: Draft, table: Table, sweep: AnySweep | None) -> None:
    entries = draft.axes.mapping
    if draft.sample is not None and (draft.reduce is None or not entries):
        what = "a [sample] has no cells to halve"
        table.fault("", what, "replace it by [axes], or remove [refine]")
    elif draft.groups:
        cure = "give each an axis of its own, or remove [refine]"
        for axis in draft.groups.values():
            axis.fault("", "several parameters along one axis cannot be halved", cure)
    elif sweep is not None and not sweep.grid.axes and entries:
        table.fault("", "[reduce] leaves no axis", "reduce over fewer axes")
    elif not entries:
        table.fault("", "there is no axis", "give the coarse grid under [axes]")
    elif len(entries) > MAX_REFINED_AXES:
        what = f"{len(entries)} axes are more than the {MAX_REFINED_AXES} that can be refined"
        table.fault("", what, "make some of them constant")


def _check_tolerance(table: Table, names: list[str], results: Sequence[Output]) -> None:
    kinds = {output.name: output.kind for output in results}
    known = [name for name in names if name in kinds]
    measured = [name for name in known if kinds[name] != "flag"]
    if measured and not table.has("tolerance"):
        share = f"the share of its range by which {listed(measured)} may vary in a cell"
        table.missing("tolerance", f"give {share}, such as 0.05")
    if known and not measured and table.has("tolerance"):
        what = f"{listed(known)} is a flag" if len(known) == 1 else f"{listed(known)} are flags"
        table.fault("tolerance", f"{what}, which need no tolerance", "remove it")


def _check_axes(draft: Draft, table: Table, axes: Sequence[Axis], levels: int) -> None:
    known = draft.known or {}
    for axis in axes[:MAX_REFINED_AXES]:
        for name in axis.columns:
            draft.axes.read(name, _check_axis, axis, known[name], levels)
    positions = math.prod(((axis.size - 1) << levels) + 1 for axis in axes)
    if (n_points := math.prod(axis.size for axis in axes)) > MAX_REFINED_POINTS:
        what = f"a coarse grid of {n_points:,} points is more than {MAX_REFINED_POINTS:,}"
        table.fault("", what, "give shorter axes and more levels")
    elif not draft.axes.is_faulty and positions >= MAX_POSITIONS:
        what = f"the finest grid would have {float(positions):.3g} points"
        table.fault("levels", what, "give fewer levels")


@np.errstate(over="ignore", invalid="ignore")  # some parameters may be infinite
def _check_axis(axis: Axis, parameter: Parameter, levels: int) -> None:
    """Raise FaultError if an axis cannot be halved this often."""
    values, fewer = axis.columns[parameter.name][:], "give fewer levels"
    if len(values) == 1:
        cure = "move it to [parameters]"
        raise FaultError("it has one value, so there is nothing to halve", cure)
    if not _is_monotonic(values):
        raise FaultError(
            "its values rise and fall", "for [refine] they must only rise, or only fall"
        )
    count = ((len(values) - 1) << levels) + 1
    if count > MAX_REFINED_VALUES:
        most = f"more than {MAX_REFINED_VALUES:,}"
        raise FaultError(f"{levels} levels make {count:,} values, {most}", fewer)
    finest = halved(values, levels, geometric=is_geometric(axis.recipe))
    index = parameter.first_outside(finest)
    if index is not None:
        what = f"halved {levels} times, it takes {float(finest[index])!r}"
        raise FaultError(what, f"it has to be {parameter.requirement}")
    if not _is_monotonic(finest):
        raise FaultError(f"halved {levels} times, neighbouring values are equal", fewer)


def _is_monotonic(values: Values) -> bool:
    steps = np.diff(values)
    return bool(np.all(steps > 0) or np.all(steps < 0))
