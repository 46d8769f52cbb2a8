"""Indices and tables of a model's file whose numbers are in CSV files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from sweep.errors import FaultError
from sweep.file.csv_table import named_table
from sweep.file.keys import CSV_FILE
from sweep.file.sweep_file import is_table
from sweep.model.table import Parameter
from sweep.text.reader import Faults, Key, Table, dotted, is_text, whole_key
from sweep.text.wording import written

FIRST = {"first": whole_key(1, 10**6)}
COLUMNS = {
    "column": Key("the name of a column", is_text),
    "columns": Key("a list of names of columns", lambda _: None, item=is_text),
}


def with_index_tables(tables: dict[str, object], folder: Path, faults: Faults) -> dict[str, object]:
    """The tables of a model's file with the numbers of rows and columns of CSV files."""
    indices, numbers = tables.get("indices"), tables.get("tables")
    if is_table(indices):
        indices = {name: _index(indices, name, folder, faults) for name in indices}
        tables = {**tables, "indices": indices}
    if is_table(numbers):
        sizes = _sizes(indices if is_table(indices) else {})
        read = {name: _table(numbers, name, folder, faults, sizes) for name in numbers}
        tables = {**tables, "tables": read}
    return tables


def _index(indices: Mapping[str, object], name: str, folder: Path, faults: Faults) -> object:
    """The number of rows of a file, at most the `first` ones; other indices as they are."""
    raw = indices[name]
    if not is_table(raw) or "file" not in raw:
        return raw
    entry = Table({name: raw}, "indices", faults, dotted).entry(name)
    given = entry.values({**CSV_FILE, **FIRST})
    entry.close()
    file = None if entry.is_faulty else entry.read("", named_table, given, folder)
    if file is None:
        return raw
    if not file.rows:
        entry.fault("", f"file {given['file']!r} has no rows below its header", "add rows")
        return raw
    return min(len(file.rows), given["first"] or len(file.rows))


def _sizes(indices: Mapping[str, object]) -> dict[str, int]:
    """The lengths of the indices that are known."""
    sizes: dict[str, int] = {}
    for name, raw in indices.items():
        if type(raw) is int:
            sizes[name] = raw
        elif isinstance(raw, list):
            sizes[name] = len(cast("list[object]", raw))
        elif is_table(raw) and str(raw.get("same_as")) in sizes:
            sizes[name] = sizes[str(raw["same_as"])]
    return sizes


def _table(
    numbers: Mapping[str, object],
    name: str,
    folder: Path,
    faults: Faults,
    sizes: Mapping[str, int],
) -> object:
    """A table with its numbers in place of the columns of a file."""
    raw = numbers[name]
    if not is_table(raw) or not raw.keys() & {"file", *COLUMNS}:
        return raw
    keys = (*CSV_FILE, *COLUMNS)
    own = {key: raw[key] for key in (*keys, "values") if key in raw}
    entry = Table({name: own}, "tables", faults, dotted).entry(name)
    given = entry.values({**CSV_FILE, **COLUMNS})
    rest = {key: value for key, value in raw.items() if key not in own}
    over = raw.get("over")
    names = [*map(str, cast("list[object]", over))] if isinstance(over, list) else [str(over)]
    unit = str(raw.get("unit", "1"))
    parameter = Parameter(name=name, symbol=name, unit=unit, meaning="")
    if not entry.is_faulty:
        values = entry.read("", _values, given, names, sizes, parameter, folder, "values" in own)
        if values is not None:
            return {**rest, "values": values}
    return {**rest, **own}


def _values(
    given: Mapping[str, Any],
    over: Sequence[str],
    sizes: Mapping[str, int],
    parameter: Parameter,
    folder: Path,
    has_values: bool,
) -> object:
    """The numbers of one column, or of several; FaultError if keys do not belong together."""
    column, columns = given["column"], given["columns"]
    if has_values or given["file"] is None or (column is None) == (columns is None):
        cure = 'write file = "...", and column = "..." or columns = ["...", "..."]'
        what = "the keys of its numbers do not belong together"
        raise FaultError(what, f"{cure}, or values = [...]")
    if len(over) != (1 if columns is None else 2):
        key, count = ("column", "one index") if columns is None else ("columns", "two indices")
        raise FaultError(f"{key} is for a table over {count}", "write values = [...]")
    rows = sizes.get(over[-1])
    file = named_table(given, folder)
    names = [column] if columns is None else columns
    read = [file.column(each, parameter).tolist()[:rows] for each in names]
    if rows is not None and len(read[0]) < rows:
        what = f"file {written(given['file'])} has {len(read[0])} rows, but {over[-1]} has {rows}"
        raise FaultError(what, "give as many rows, or a shorter index")
    return read[0] if columns is None else read
