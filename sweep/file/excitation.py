"""A parameter as a table over time: `base_acceleration = { file = "quake.csv", ... }`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sweep.equations.model import signal_ends
from sweep.equations.system_file import system_of_text
from sweep.file.draft import Draft
from sweep.file.time_tables import read_table
from sweep.model.table import Model, ParameterSet
from sweep.model.time_series import TimeSeries
from sweep.model.windows import IN_CYCLES, IN_TIME
from sweep.request.sweeps import VALUES_IN_MEMORY, Axis
from sweep.text.reader import Table
from sweep.text.wording import listed


def excitation_of(
    draft: Draft, model: Model, given: Mapping[str, Table], parameter_set: ParameterSet | None
) -> tuple[TimeSeries | None, dict[str, float]]:
    """The table over time of the model's excitation in [parameters], and what samples replace.

    These are parameters of a sinusoid, which have no meaning then: none may be `given`.
    """
    method, excitation = draft.method, draft.excitation
    if excitation is None:
        return None, {}
    name = excitation.parameter
    parameters = {each.name: each for each in model.parameters}
    if method is not None and method.name not in excitation.methods:
        able = listed(list(excitation.methods))
        what = f"method {method.name} needs a sinusoid"
        draft.parameters.fault(name, what, f"a table is possible with method {able}")
    if parameter_set and parameter_set.name != excitation.parameter_set:
        sets = {each.name: each for each in model.parameter_sets}
        needed = listed([p.name for p in sets[excitation.parameter_set].parameters])
        draft.parameters.fault(name, "a table has no cycles", f"give {needed} instead of cycles")
    free = dict[str, float]()
    for each in excitation.kernel:
        if each in given:
            given[each].fault(each, f"{name} is a table, not a sinusoid", "remove this")
        else:
            default = parameters[each].default
            free[each] = math.nan if default is None else float(default)
    unbounded = replace(parameters[name], minimum=-math.inf)
    return read_table(draft.parameters, name, unbounded, draft.document.folder), free


def check_ends(
    draft: Draft,
    model: Model,
    table: TimeSeries | None,
    constants: Mapping[str, float],
    axes: Sequence[Axis],
) -> None:
    """Check that samples do not end before the motion, as far as its end is known.

    For a signal of a model from a file, an end along an axis is left to the status of each point.
    """
    if model.excitation and table:
        name = model.excitation.end
        ends = [
            np.max(axis.columns[name][:VALUES_IN_MEMORY]) for axis in axes if name in axis.columns
        ]
        end = max([*ends, constants.get(name, -math.inf)])
        if end > table.times[-1]:
            what = f"its last sample is at {table.times[-1]!r} s, before {name} = {float(end)!r} s"
            draft.parameters.fault(model.excitation.parameter, what, "give more samples")
    if model.text:
        _check_signals(draft.parameters, model, constants)


def _check_signals(parameters: Table, model: Model, constants: Mapping[str, float]) -> None:
    unit = "" if model.clock.unit == "1" else f" {model.clock.unit}"
    name = IN_TIME.end if IN_TIME.end in constants else IN_CYCLES.end
    for signal, last, end in signal_ends(system_of_text(model.text), constants):
        if end > last:
            what = f"the motion ends at {end:.15g}{unit}, the samples of {signal} at {last!r}{unit}"
            parameters.fault(name, what, "give more samples, or an earlier end")
