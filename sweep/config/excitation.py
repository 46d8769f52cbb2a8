"""A parameter as a table over time: `base_acceleration = { file = "quake.csv", ... }`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sweep.config.columns import in_range, read_csv
from sweep.config.problems import Check, Problem, finished, readable
from sweep.config.schema import ExcitationTable, TopLevel, correct, only_form
from sweep.config.sweep_file import Document, is_table
from sweep.equations.tabulated import table_fault
from sweep.errors import Fault, FaultError
from sweep.request import STRETCH, Axis, Table
from sweep.spec import Excitation, Method, Model, Parameter, ParameterSet
from sweep.wording import listed

TIME = Parameter(name="time", symbol="t", unit="s", meaning="time of a sample")
COLUMNS, SAMPLES = ("file", "time", "column"), ("times", "values")  # keys of a signal
EXAMPLE = '{ file = "quake.csv", time = "t", column = "a" }'


def has_table(top: TopLevel, model: Model) -> bool:
    """Whether the parameter of the model's excitation is a table."""
    return model.excitation is not None and is_table(top.parameters.get(model.excitation.parameter))


def excitation_of(
    document: Document, top: TopLevel, model: Model, method: Method | None
) -> Check[Table | None]:
    """The table of the excitation; None if there is none or it has problems."""
    if (excitation := model.excitation) is None:
        return None
    name = excitation.parameter
    if not is_table(raw := top.parameters.get(name)):
        return None
    if method is not None and method.name not in excitation.methods:
        able = listed(list(excitation.methods))
        message = f"method {method.name} needs a sinusoid; a table is possible with method {able}"
        yield Problem("parameters", name, message)
    table = yield from correct(ExcitationTable, raw, "parameters", name)
    if table is None:
        return None
    parameter = next(each for each in model.parameters if each.name == name)
    unbounded = replace(parameter, minimum=-math.inf)
    return (yield from readable("parameters", name, _table, table, unbounded, document.folder))


def _table(raw: ExcitationTable, parameter: Parameter, folder: Path) -> Table:
    only_form(raw, ("file", "times"), f"for example {EXAMPLE}")
    if raw.file is not None:
        if raw.time is None or raw.column is None or raw.values is not None:
            raise FaultError(f"file needs the names of two columns: {EXAMPLE}")
        file = read_csv(folder / raw.file)
        times, values = file.column(raw.time, TIME), file.column(raw.column, parameter)
    else:
        if raw.values is None or raw.time is not None or raw.column is not None:
            raise FaultError("times needs values: { times = [...], values = [...] }")
        times = in_range(_entries("time", raw.times or []), TIME)
        values = in_range(_entries("value", raw.values), parameter)
    if error := table_fault(times.tolist(), values.tolist()):
        raise error
    return Table(tuple(times.tolist()), tuple(values.tolist()), raw.interpolation)


def with_samples(
    tables: dict[str, object], folder: Path
) -> tuple[dict[str, object], tuple[Fault, ...]]:
    """The tables of a model's file with the samples of signals in files, or what is wrong there."""
    signals = tables.get("signals")
    if not is_table(signals):
        return tables, ()
    read, problems = finished(_with_samples(signals, folder))
    faults = tuple(Fault(f"signals.{problem.key}", problem.message) for problem in problems)
    return {**tables, "signals": read}, faults


def _with_samples(signals: dict[str, object], folder: Path) -> Check[dict[str, object]]:
    read = dict(signals)
    for name, raw in signals.items():
        if not is_table(raw) or "file" not in raw:
            continue
        columns = {key: raw[key] for key in (*COLUMNS, *SAMPLES) if key in raw}
        parameter = Parameter(name=name, symbol=name, unit=str(raw.get("unit", "1")), meaning="")
        table = yield from correct(ExcitationTable, columns, "signals", name)
        if table is None:
            continue
        samples = yield from readable("signals", name, _table, table, parameter, folder)
        if samples:
            rest = {key: value for key, value in raw.items() if key not in columns}
            read[name] = {**rest, "times": [*samples.times], "values": [*samples.values]}
    return read


def _entries(name: str, values: Sequence[object]) -> list[tuple[str, object]]:
    return [(f"{name} {i}", value) for i, value in enumerate(values, 1)]


def check_excitation(
    model: Model,
    excitation: Excitation,
    places: Mapping[str, str],
    parameter_set: ParameterSet | None,
) -> Check[None]:
    """Problems of parameters that samples leave no meaning; `places` has the table of each."""
    name = excitation.parameter
    for each in excitation.kernel:
        if each in places and each != name:
            yield Problem(places[each], each, f"{name} is a table, not a sinusoid; remove this")
    if parameter_set and parameter_set.name != excitation.parameter_set:
        needed = next(s for s in model.parameter_sets if s.name == excitation.parameter_set)
        names = listed([p.name for p in needed.parameters])
        yield Problem("parameters", name, f"a table has no cycles; give {names} instead of cycles")


def check_length(
    excitation: Excitation, table: Table, constants: Mapping[str, float], axes: Sequence[Axis]
) -> Check[None]:
    """A problem if the table ends before the motion, as far as its end is known."""
    name = excitation.end
    ends = [np.max(axis.columns[name][:STRETCH]) for axis in axes if name in axis.columns]
    end = max([*ends, constants.get(name, -math.inf)])
    if end > table.times[-1]:
        message = f"its last sample is at {table.times[-1]!r} s, before {name} = {float(end)!r} s"
        yield Problem("parameters", excitation.parameter, f"{message}; give more samples")


def check_signals(model: Model, constants: Mapping[str, float]) -> Check[None]:
    """A problem for each signal of a model from a file that ends before the motion.

    An end along an axis is left to the status of each point.
    """
    if not model.text:
        return
    from sweep.equations.windows import early_signals, system_of

    unit = "" if model.clock.unit == "1" else f" {model.clock.unit}"
    name = "window_end" if "window_end" in constants else "end_cycle"
    for signal, last, end in early_signals(system_of(model.text), constants):
        message = f"the motion ends at {end:.15g}{unit}, the samples of {signal} at {last!r}{unit}"
        yield Problem("parameters", name, f"{message}; give more samples, or an earlier end")
