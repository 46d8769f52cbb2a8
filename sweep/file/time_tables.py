"""Tables over time: in a sweep file one for a parameter, in a model's file those of signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sweep.equations.tabulated import table_fault
from sweep.file.csv_table import named_table
from sweep.file.keys import CSV_FILE, EXCITATION, HOW_READ, only_form
from sweep.file.quantities import in_range
from sweep.file.sweep_file import is_table
from sweep.model.table import Parameter
from sweep.model.time_series import TimeSeries
from sweep.request.chunk import Values
from sweep.text.reader import Faults, Table, dotted

TIME = Parameter(name="time", symbol="t", unit="s", meaning="time of a sample")
COLUMNS, SAMPLES = (*CSV_FILE, "time", "column"), ("times", "values")  # keys of a signal
EXAMPLE = '{ file = "quake.csv", time = "t", column = "a" }'


def read_table(
    table: Table, key: str, parameter: Parameter, folder: Path, *, may_jump: bool = False
) -> TimeSeries | None:
    """The table over time at a key of another table; with `may_jump`, that of a signal."""
    entry = table.entry(key)
    keys = dict(EXCITATION.keys)
    interpolation = {"interpolation": keys.pop("interpolation")}
    given = entry.values(keys)
    is_clear = not entry.is_faulty and entry.mapping.keys() <= EXCITATION.keys.keys()
    how = entry.values(interpolation)["interpolation"]
    entry.close()
    times, values = _samples(entry, given, parameter, folder) if is_clear else (None, None)
    if times is not None:
        error = table_fault(times, times if values is None else values, may_jump=may_jump)
        if error:
            entry.fault("", error.what, error.cure)
    if entry.is_faulty or times is None or values is None:
        return None
    return TimeSeries(tuple(times), tuple(values), how)


def _samples(
    entry: Table, given: Mapping[str, Any], parameter: Parameter, folder: Path
) -> tuple[list[float] | None, list[float] | None]:
    """The times and values of a table that gives them, or names a file with them."""
    form = entry.read("", only_form, given, ("file", "times"), f"for example {EXAMPLE}")
    has = {key for key, value in given.items() if value is not None}
    read_as = [key for key in HOW_READ if key in has]
    has -= {*HOW_READ}
    times: Values | None = None
    values: Values | None = None
    if form == "file" and has == {"file", "time", "column"}:
        if file := entry.read("", named_table, given, folder):
            times = entry.read("", file.column, given["time"], TIME)
            values = entry.read("", file.column, given["column"], parameter)
    elif form and form != "file" and read_as:
        entry.fault("", f"{read_as[0]} is only for file", "remove it")
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
            table = Table({name: columns}, "signals", faults, dotted)
            if samples := read_table(table, name, parameter, folder, may_jump=True):
                rest = {key: value for key, value in raw.items() if key not in columns}
                read[name] = {**rest, "times": [*samples.times], "values": [*samples.values]}
    return {**tables, "signals": read}


def _entries(name: str, values: Sequence[object]) -> list[tuple[str, object]]:
    return [(f"{name} {i}", value) for i, value in enumerate(values, 1)]
