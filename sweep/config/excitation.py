"""A parameter as a table over time: `base_acceleration = { file = "quake.csv", ... }`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sweep.config.columns import in_range, read_csv
from sweep.config.schema import EXCITATION, only_form
from sweep.config.sweep_file import is_table
from sweep.equations.tabulated import table_fault
from sweep.reader import Faults, dotted
from sweep.reader import Table as Keys
from sweep.request import STRETCH, Axis, Table
from sweep.spec import Excitation, Method, Model, Parameter, ParameterSet
from sweep.wording import listed
from sweep.work import Values

TIME = Parameter(name="time", symbol="t", unit="s", meaning="time of a sample")
COLUMNS, SAMPLES = ("file", "time", "column"), ("times", "values")  # keys of a signal
EXAMPLE = '{ file = "quake.csv", time = "t", column = "a" }'


def excitation_of(
    parameters: Keys, model: Model, method: Method | None, folder: Path
) -> Table | None:
    """The table over time of the model's excitation in [parameters]."""
    if (excitation := model.excitation) is None:
        return None
    name = excitation.parameter
    if method is not None and method.name not in excitation.methods:
        able = listed(list(excitation.methods))
        what = f"method {method.name} needs a sinusoid"
        parameters.fault(name, what, f"a table is possible with method {able}")
    parameter = next(each for each in model.parameters if each.name == name)
    return _read(parameters, name, replace(parameter, minimum=-math.inf), folder)


def _read(table: Keys, key: str, parameter: Parameter, folder: Path) -> Table | None:
    """The table over time at a key of another table."""
    entry = table.entry(key)
    keys = dict(EXCITATION.keys)
    interpolation = {"interpolation": keys.pop("interpolation")}
    given = entry.values(keys)
    is_clear = not entry.is_faulty and entry.mapping.keys() <= EXCITATION.keys.keys()
    how = entry.values(interpolation)["interpolation"]
    entry.close()
    times, values = _samples(entry, given, parameter, folder) if is_clear else (None, None)
    if times is not None and (error := table_fault(times, times if values is None else values)):
        entry.fault("", error.what, error.cure)
    if entry.is_faulty or times is None or values is None:
        return None
    return Table(tuple(times), tuple(values), how)


def _samples(
    entry: Keys, given: Mapping[str, Any], parameter: Parameter, folder: Path
) -> tuple[list[float] | None, list[float] | None]:
    """The times and values of a table that gives them, or names a file with them."""
    form = entry.read("", only_form, given, ("file", "times"), f"for example {EXAMPLE}")
    has = {key for key, value in given.items() if value is not None}
    times: Values | None = None
    values: Values | None = None
    if form == "file" and has == {"file", "time", "column"}:
        if file := entry.read("", read_csv, folder / given["file"]):
            times = entry.read("", file.column, given["time"], TIME)
            values = entry.read("", file.column, given["column"], parameter)
    elif form == "file":
        entry.fault("", "file needs the names of two columns", f"write {EXAMPLE}")
    elif form and has == {"times", "values"}:
        times = entry.read("", in_range, _entries("time", given["times"]), TIME)
        values = entry.read("", in_range, _entries("value", given["values"]), parameter)
    elif form:
        entry.fault("", "times needs values", "write { times = [...], values = [...] }")
    return None if times is None else times.tolist(), None if values is None else values.tolist()


def with_samples(tables: dict[str, object], folder: Path, faults: Faults) -> dict[str, object]:
    """The tables of a model's file with the samples of signals that are in files."""
    signals = tables.get("signals")
    if not is_table(signals):
        return tables
    read = dict(signals)
    for name, raw in signals.items():
        if is_table(raw) and "file" in raw:
            columns = {key: raw[key] for key in (*COLUMNS, *SAMPLES) if key in raw}
            unit = str(raw.get("unit", "1"))
            parameter = Parameter(name=name, symbol=name, unit=unit, meaning="")
            table = Keys({name: columns}, "signals", faults, dotted)
            if samples := _read(table, name, parameter, folder):
                rest = {key: value for key, value in raw.items() if key not in columns}
                read[name] = {**rest, "times": [*samples.times], "values": [*samples.values]}
    return {**tables, "signals": read}


def _entries(name: str, values: Sequence[object]) -> list[tuple[str, object]]:
    return [(f"{name} {i}", value) for i, value in enumerate(values, 1)]


def check_excitation(
    model: Model,
    excitation: Excitation,
    parameters: Keys,
    places: Mapping[str, Keys],
    parameter_set: ParameterSet | None,
) -> None:
    """Check that no parameter is given that samples leave no meaning; `places` has their tables."""
    name = excitation.parameter
    for each in excitation.kernel:
        if each in places and each != name:
            places[each].fault(each, f"{name} is a table, not a sinusoid", "remove this")
    if parameter_set and parameter_set.name != excitation.parameter_set:
        needed = next(s for s in model.parameter_sets if s.name == excitation.parameter_set)
        names = listed([p.name for p in needed.parameters])
        parameters.fault(name, "a table has no cycles", f"give {names} instead of cycles")


def check_length(
    excitation: Excitation,
    table: Table,
    parameters: Keys,
    constants: Mapping[str, float],
    axes: Sequence[Axis],
) -> None:
    """Check that the table does not end before the motion, as far as its end is known."""
    name = excitation.end
    ends = [np.max(axis.columns[name][:STRETCH]) for axis in axes if name in axis.columns]
    end = max([*ends, constants.get(name, -math.inf)])
    if end > table.times[-1]:
        what = f"its last sample is at {table.times[-1]!r} s, before {name} = {float(end)!r} s"
        parameters.fault(excitation.parameter, what, "give more samples")


def check_signals(model: Model, parameters: Keys, constants: Mapping[str, float]) -> None:
    """Check that no signal of a model from a file ends before the motion.

    An end along an axis is left to the status of each point.
    """
    if not model.text:
        return
    from sweep.equations.windows import early_signals, system_of

    unit = "" if model.clock.unit == "1" else f" {model.clock.unit}"
    name = "window_end" if "window_end" in constants else "end_cycle"
    for signal, last, end in early_signals(system_of(model.text), constants):
        what = f"the motion ends at {end:.15g}{unit}, the samples of {signal} at {last!r}{unit}"
        parameters.fault(name, what, "give more samples, or an earlier end")
