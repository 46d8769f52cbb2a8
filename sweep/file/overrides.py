"""Changes of a sweep file by `name=value` texts: overrides, and `at`, which fixes parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, cast

from sweep.errors import FaultError
from sweep.file.keys import AXIS_FORMS, TABLES, TOP_LEVEL
from sweep.file.quantities import value_of
from sweep.file.sweep_file import (
    Document,
    Entries,
    has_several,
    is_table,
    plain,
    sample_keys,
    with_values,
)
from sweep.request.sweeps import POINT
from sweep.text.reader import Faults
from sweep.text.toml_text import assignments
from sweep.text.wording import listed, nearest, written

OF_PARAMETERS = ("parameters", "axes", "sample", "derived")  # the tables that have parameters
WHOLE_ENTRIES = {
    "axes": ("an axis", "linspace = [first, last, count]"),
    "sample": ("a range", "uniform = [least, greatest]"),
}

Kind = Literal["override", "at"]  # of a change; how messages begin, in Python and in a shell
Changes = Sequence[str] | Mapping[str, object]  # name=value texts, or values by name


def overridden(document: Document, overrides: Changes, at: Changes, faults: Faults) -> Document:
    """The document with every change that is correct; each of the others is a fault."""
    changes: dict[Kind, tuple[str, object]] = {
        "override": ("overrides", overrides),
        "at": ("at", at),
    }
    for kind, (argument, texts) in changes.items():
        for text in _several(texts):
            if not isinstance(text, str):
                faults.add(argument, f'{written(text)} is not text such as "friction=0.2"')
                continue
            try:
                document = _changed(document, text, kind)
            except FaultError as error:
                where = f"{kind} {text if text.isprintable() else written(text)}"
                faults.add(where, error.what, error.cure)
    return document


def _several(texts: object) -> Iterable[object]:
    """The texts; a single one stands for a list of one, and values by name for their texts."""
    if isinstance(texts, Mapping):
        return [
            _text(str(key), value) for key, value in cast(Mapping[object, object], texts).items()
        ]
    if isinstance(texts, Iterable) and not isinstance(texts, str):
        return cast(Iterable[object], texts)
    return [texts]


def _text(name: str, value: object) -> object:
    """The text that gives an entry this value; the entry itself if TOML has no such value."""
    if isinstance(value, str):
        return f"{name}={value}"
    try:
        (line,) = assignments({"value": plain(value)})
    except (TypeError, ValueError):
        return {name: value}
    return f"{name}={line.partition(' = ')[2]}"


def _changed(document: Document, text: str, kind: Kind) -> Document:
    """The document with one change; FaultError if it is none."""
    name, equals, value_text = text.partition("=")
    name = name.strip()
    table, _, key = name.rpartition(".")
    if not table and key not in TOP_LEVEL:
        table = "parameters"
    if not equals or not key:
        raise FaultError("not name=value", "write name=value, such as friction=0.2")
    _refuse_entry(kind, name, table)
    value = value_of(value_text.strip())
    numbered = _along(document, key) or (key == POINT and "sample" in document.tables)
    if kind == "at" and numbered:
        places = {**document.places, ("axes", key): f"{kind} {text}"}
        return replace(document, numbers={**document.numbers, key: value}, places=places)
    if kind == "at" and any((each, key) in document.places for each in TABLES[:3]):
        raise FaultError("given twice: a point has one value of each parameter", "keep one")
    if kind == "at" and isinstance(value, list):
        raise FaultError(
            f"{written(cast(object, value))} is not one number",
            "a point has one value of each parameter",
        )
    if table == "parameters" and not is_table(value) and (names := _along(document, key)):
        own = listed(f"{each}=..." for each in names)
        what = f"{key} is an axis of several parameters, and has no values of its own"
        raise FaultError(what, f"give {own}")
    return _with_entry(document, table, key, value, f"{kind} {name}")


def _with_entry(document: Document, table: str, key: str, value: object, option: str) -> Document:
    """The document with the entry that an option gives, a parameter in the table that it needs."""
    tables = document.tables
    if table in OF_PARAMETERS and not (table == "sample" and key in sample_keys({key: value})):
        table = _table_for(value, table, is_sampled="sample" in tables)
        value = with_values(value) if table == "axes" else value
        tables = _without(tables, key, table)
    places = {**document.places, (table, key): option}
    if not table:
        tables = {**tables, key: value}
    elif is_table(entries := tables.get(table, {})):
        tables = {**tables, table: {**entries, key: value}}
    return replace(document, tables=tables, places=places)


def _refuse_entry(kind: Kind, name: str, table: str) -> None:
    if kind == "at" and table != "parameters":
        raise FaultError("a point has values of parameters", f"override {name}=... instead")
    if name in TABLES:
        raise FaultError("this is a whole table", f"set one entry of it: {name}.name=value")
    part, _, entry = table.partition(".")
    if entry and part in WHOLE_ENTRIES:
        what, form = WHOLE_ENTRIES[part]
        raise FaultError(f"a part of {what}", f"set {what} as a whole: '{entry}={{ {form} }}'")
    if table not in ("", *TABLES):
        raise FaultError(f"there is no table {written(table)}", nearest(table, TABLES))


def _along(document: Document, name: str) -> list[str]:
    """The parameters along an axis of several; none if there is no such axis."""
    axes = document.tables.get("axes")
    several = axes.get(name) if is_table(axes) else None
    return [*several] if has_several(several) and name not in several else []


def _table_for(value: object, table: str, *, is_sampled: bool) -> str:
    """The table of a parameter: varied if its value is a table, unless that is over time.

    It varies along an axis if its value has the form of one or the user asks for it, and otherwise
    in a sample if the document has one.
    """
    if table == "derived":
        return table
    if isinstance(value, list):
        return "axes"
    if not is_table(value) or not {"time", "times"}.isdisjoint(value):
        return "parameters"
    is_axis = has_several(value) or any(form in value for form in AXIS_FORMS)
    by_form = table == "parameters" and is_sampled and not is_axis
    return "sample" if table == "sample" or by_form else "axes"


def _without(tables: Entries, name: str, kept: str) -> Entries:
    """The tables without the parameter, except in the table `kept` if it has no axis of its own.

    It goes from every [axes.NAME], too, and of these one that has no other parameter goes.
    """
    for other in set(OF_PARAMETERS) - {kept}:
        entries = tables.get(other)
        if is_table(entries) and not (other == "sample" and name in sample_keys(entries)):
            tables = {**tables, other: {key: v for key, v in entries.items() if key != name}}
    if not is_table(axes := tables.get("axes")):
        return tables
    rest = {
        axis: {key: v for key, v in raw.items() if key != name} if has_several(raw) else raw
        for axis, raw in axes.items()
    }
    return {
        **tables,
        "axes": {axis: raw for axis, raw in rest.items() if raw or raw == axes[axis]},
    }
