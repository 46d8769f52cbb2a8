"""A parameter as a table over time: `base_acceleration = { file = "quake.csv", ... }`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sweep.config.draft import Draft
from sweep.config.time_tables import read_table
from sweep.request import STRETCH, Axis, TimeSeries
from sweep.spec import Excitation, Model, ParameterSet
from sweep.wording import listed


def excitation_of(draft: Draft) -> TimeSeries | None:
    """The table over time of the model's excitation in [parameters]."""
    model, method, excitation = draft.model, draft.method, draft.excitation
    if model is None or excitation is None:
        return None
    name = excitation.parameter
    if method is not None and method.name not in excitation.methods:
        able = listed(list(excitation.methods))
        what = f"method {method.name} needs a sinusoid"
        draft.parameters.fault(name, what, f"a table is possible with method {able}")
    parameter = next(each for each in model.parameters if each.name == name)
    unbounded = replace(parameter, minimum=-math.inf)
    return read_table(draft.parameters, name, unbounded, draft.document.folder)


def check_excitation(
    draft: Draft,
    excitation: Excitation,
    names: Sequence[str],
    parameter_set: ParameterSet | None,
) -> None:
    """Check that no parameter is given that samples leave no meaning."""
    name = excitation.parameter
    for each in excitation.kernel:
        if each in names:
            what = f"{name} is a table, not a sinusoid"
            draft.table_of(each).fault(each, what, "remove this")
    if draft.model and parameter_set and parameter_set.name != excitation.parameter_set:
        sets = {each.name: each for each in draft.model.parameter_sets}
        needed = listed([p.name for p in sets[excitation.parameter_set].parameters])
        draft.parameters.fault(name, "a table has no cycles", f"give {needed} instead of cycles")


def check_length(
    draft: Draft,
    excitation: Excitation,
    table: TimeSeries,
    constants: Mapping[str, float],
    axes: Sequence[Axis],
) -> None:
    """Check that the table does not end before the motion, as far as its end is known."""
    name = excitation.end
    ends = [np.max(axis.columns[name][:STRETCH]) for axis in axes if name in axis.columns]
    end = max([*ends, constants.get(name, -math.inf)])
    if end > table.times[-1]:
        what = f"its last sample is at {table.times[-1]!r} s, before {name} = {float(end)!r} s"
        draft.parameters.fault(excitation.parameter, what, "give more samples")


def check_signals(draft: Draft, model: Model, constants: Mapping[str, float]) -> None:
    """Check that no signal of a model from a file ends before the motion.

    An end along an axis is left to the status of each point.
    """
    if not model.text:
        return
    from sweep.equations.motion_end import early_signals
    from sweep.equations.system_file import system_of_text

    unit = "" if model.clock.unit == "1" else f" {model.clock.unit}"
    name = "window_end" if "window_end" in constants else "end_cycle"
    for signal, last, end in early_signals(system_of_text(model.text), constants):
        what = f"the motion ends at {end:.15g}{unit}, the samples of {signal} at {last!r}{unit}"
        draft.parameters.fault(name, what, "give more samples, or an earlier end")
