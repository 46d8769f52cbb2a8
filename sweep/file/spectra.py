"""Spectra of a model's signals by draw that are in CSV files."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from sweep.equations.checks import dimensions_of
from sweep.errors import FaultError
from sweep.file.csv_table import named_table
from sweep.file.keys import CSV_FILE
from sweep.file.quantities import as_written
from sweep.file.sweep_file import is_table
from sweep.model.table import Parameter
from sweep.text.reader import Faults, Table, dotted
from sweep.text.units import NO_DIMENSION, product, unit_text

FREQUENCY = Parameter(name="frequency", symbol="f", unit="Hz", meaning="", minimum=0.0)
PER_UNIT_OF_TIME = Parameter(name="frequency", symbol="f", unit="1", meaning="", minimum=0.0)


def with_spectra(tables: dict[str, object], folder: Path, faults: Faults) -> dict[str, object]:
    """The tables of a model's file with the rows of spectra that are in files."""
    signals = tables.get("signals")
    if not is_table(signals):
        return tables
    has_time = tables.get("time_unit", "s") == "s"
    read = dict(signals)
    for name, raw in signals.items():
        spectrum = raw.get("spectrum") if is_table(raw) else None
        if isinstance(spectrum, str):
            spectrum = {"file": spectrum}
        if is_table(raw) and is_table(spectrum) and "file" in spectrum:
            entry = Table({"spectrum": spectrum}, f"signals.{name}", faults, dotted)
            rows = _rows(entry.entry("spectrum"), str(raw.get("unit", "1")), folder, has_time)
            read[name] = {key: value for key, value in raw.items() if key != "spectrum"}
            if rows:
                read[name] = {**raw, "spectrum": rows}
    return {**tables, "signals": read}


def _rows(entry: Table, unit: str, folder: Path, has_time: bool) -> dict[str, Any] | None:
    """The first column of a file as frequencies, and the others as densities; None if faulty."""
    given = entry.values(CSV_FILE)
    entry.close()
    file = None if entry.is_faulty else entry.read("", named_table, given, folder)
    if file is None:
        return None
    if len(file.names) < 2:
        what = f"file {given['file']!r} has one column"
        entry.fault("", what, "frequencies come first, then a column of densities or more")
        return None
    if all(isinstance(as_written(name), float) for name in file.names):
        what = f"file {given['file']!r} begins with numbers"
        entry.fault("", what, "name the columns in its first line, as in f [Hz],S [N^2/Hz]")
        return None
    density = Parameter(
        name="density", symbol="S", unit=_per_frequency(unit, has_time), meaning="", minimum=0.0
    )
    first, *others = file.names
    frequencies = entry.read("", file.column, first, FREQUENCY if has_time else PER_UNIT_OF_TIME)
    columns = [entry.read("", file.column, each, density) for each in others]
    if frequencies is None or any(column is None for column in columns):
        return None
    lists = [column.tolist() for column in columns if column is not None]
    return {"frequencies": frequencies.tolist(), "densities": lists}


def _per_frequency(unit: str, has_time: bool) -> str:
    """The unit of densities of a signal: its square, per frequency."""
    with suppress(FaultError):  # of the signal's unit, which is told where the model is read
        signal = dimensions_of(unit)
        time = dimensions_of("s") if has_time else NO_DIMENSION
        return unit_text(product(product(signal, signal), time))
    return "1"
