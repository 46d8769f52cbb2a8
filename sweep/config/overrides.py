"""Changes of a sweep file by `name=value` texts: `--set`, and `--at`, which fixes parameters."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, cast

from sweep.config.axes import FORMS
from sweep.config.sweep_file import (
    SAMPLE_KEYS,
    TABLES,
    TOP_LEVEL_KEYS,
    Document,
    Table,
    has_several,
    is_table,
)
from sweep.errors import Fault
from sweep.wording import nearest, shown

AXIS_FORMS = frozenset(FORMS)

Flag = Literal["--set", "--at"]


class Override(NamedTuple):
    """One `name=value`: the entry it changes, and the option as the user wrote it."""

    table: str  # "": the top level
    key: str
    value: object
    option: str  # "--set friction"


def overridden(
    document: Document, overrides: Sequence[str], at: Sequence[str]
) -> tuple[Document, list[Fault]]:
    """The document with every change that is correct, and a fault for each one that is not."""
    faults: list[Fault] = []
    arguments: tuple[tuple[str, Flag, object], ...] = (
        ("overrides", "--set", overrides),
        ("at", "--at", at),
    )
    for argument, flag, texts in arguments:
        for text in _several(texts):
            if not isinstance(text, str):
                faults.append(Fault(argument, f'{shown(text)} is not text such as "friction=0.2"'))
                continue
            try:
                document = _changed(document, _parsed(document, text, flag))
            except ValueError as error:
                place = f"{flag} {text if text.isprintable() else shown(text)}"
                faults.append(Fault(place, str(error)))
    return document, faults


def _several(texts: object) -> Iterable[object]:
    """The texts; a single one stands for a list of one."""
    if isinstance(texts, Iterable) and not isinstance(texts, str):
        return cast(Iterable[object], texts)
    return [texts]


def _parsed(document: Document, text: str, flag: Flag) -> Override:
    """ValueError, whose text says what to do, if it is not a change of the document."""
    name, equals, value_text = text.partition("=")
    name = name.strip()
    table, _, key = name.rpartition(".")
    if not table and key not in TOP_LEVEL_KEYS:
        table = "parameters"
    if not equals or not key:
        raise ValueError(f"write {flag} name=value")
    _refuse_entry(flag, name, table)
    if flag == "--at" and any((each, key) in document.places for each in TABLES[:3]):
        raise ValueError("given twice, but a point has one value of each parameter")
    return Override(table, key, _value(value_text.strip()), f"{flag} {name}")


def _refuse_entry(flag: Flag, name: str, table: str) -> None:
    if flag == "--at" and table != "parameters":
        raise ValueError(f"--at gives values of parameters; write --set {name}=...")
    if name in TABLES:
        raise ValueError(f"this is a whole table; set one entry of it: --set {name}.name=value")
    if table.startswith("axes."):
        form = f"{table[5:]}={{ linspace = [first, last, count] }}"
        raise ValueError(f"set an axis as a whole: --set '{form}'")
    if table.startswith("sample."):
        form = f"{table[7:]}={{ uniform = [least, greatest] }}"
        raise ValueError(f"set a range as a whole: --set '{form}'")
    if table not in ("", *TABLES):
        raise ValueError(f"there is no table {shown(table)}; {nearest(table, TABLES)}")


def _value(text: str) -> object:
    """The text as a TOML value, or unchanged where the shell has removed its quotes."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        if text != "" and text[0] not in "[{\"'" and text.isprintable():
            return text
        parsed = {}
    if list(parsed) != ["value"]:
        raise ValueError(f"{shown(text)} is not a TOML value")
    return parsed["value"]


def _changed(document: Document, override: Override) -> Document:
    table, key, value, option = override
    tables = document.tables
    is_entry = table == "sample" and key in SAMPLE_KEYS
    if table in ("parameters", "axes", "sample", "derived") and not is_entry:
        tables, table = _with_parameter(tables, override)
    else:
        tables = _with_entry(tables, table, key, value)
    return replace(document, tables=tables, places={**document.places, (table, key): option})


def _with_parameter(tables: Table, override: Override) -> tuple[Table, str]:
    """The tables with the parameter varied if its value is a table, else constant; and where.

    It varies along an axis if its value has the form of one or the user asks for it, and otherwise
    in a sample if the document has one. Its entries in the other tables are removed.
    """
    name = override.key
    value = override.value
    is_axis = has_several(value) or (is_table(value) and not AXIS_FORMS.isdisjoint(value))
    by_form = "sample" in tables and not is_axis
    in_sample = override.table == "sample" or (override.table == "parameters" and by_form)
    varied = "sample" if in_sample else "axes"
    is_over_time = is_table(value) and not {"time", "times"}.isdisjoint(value)
    table = varied if is_table(value) and not is_over_time else "parameters"
    if override.table == "derived":
        table = "derived"
    for other in {"parameters", "axes", "sample", "derived"} - {table}:
        entries = tables.get(other)
        if is_table(entries) and not (other == "sample" and name in SAMPLE_KEYS):
            kept = {key: value for key, value in entries.items() if key != name}
            tables = {**tables, other: kept}
    tables = _without_in_groups(tables, name)
    return _with_entry(tables, table, name, value), table


def _without_in_groups(tables: Table, name: str) -> Table:
    """The tables without the parameter in [axes.NAME]; a table that has no other goes."""
    axes = tables.get("axes")
    if not is_table(axes):
        return tables
    kept = {
        axis: {key: value for key, value in raw.items() if key != name} if has_several(raw) else raw
        for axis, raw in axes.items()
    }
    emptied = {axis for axis, raw in axes.items() if has_several(raw) and not kept[axis]}
    return {**tables, "axes": {axis: raw for axis, raw in kept.items() if axis not in emptied}}


def _with_entry(tables: Table, table: str, key: str, value: object) -> Table:
    if not table:
        return {**tables, key: value}
    entries = tables.get(table, {})
    return {**tables, table: {**entries, key: value}} if is_table(entries) else tables
