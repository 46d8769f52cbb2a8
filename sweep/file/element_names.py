"""Elements of parameters over indices in sweep files: `gap[0]` is `gap[lower]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sweep.file.overrides import OF_PARAMETERS
from sweep.file.sweep_file import Document, Entries, has_several, is_table
from sweep.model.elements import base, canonical
from sweep.model.table import Model
from sweep.text.reader import Faults


def with_element_names(document: Document, model: Model, faults: Faults) -> Document:
    """The document in which each element has one name; an option replaces what the file gives.

    A parameter that the file gives by two names is a fault.
    """
    elements = {e.parameters[0].name: [*e.derived] for e in model.substitutes if e.yields}
    tables, places = dict(document.tables), dict(document.places)
    for table in OF_PARAMETERS if elements else ():
        entries = tables.get(table)
        if is_table(entries):
            tables[table] = _renamed(document, table, entries, elements, faults)
    for (table, key), option in document.places.items():
        places[table, _name(key, elements)] = option
    return replace(document, tables=tables, places=places)


def _name(key: str, elements: Mapping[str, Sequence[str]]) -> str:
    return canonical(key, elements.get(base(key), ()))


def _renamed(
    document: Document,
    table: str,
    entries: Entries,
    elements: Mapping[str, Sequence[str]],
    faults: Faults,
) -> Entries:
    renamed: Entries = {}
    options = {_name(key, elements): key for each, key in document.places if each == table}
    for key, value in entries.items():
        name = _name(key, elements)
        if table == "axes" and has_several(value):
            value = _renamed(document, f"axes.{key}", value, elements, faults)
        if name in renamed and options.get(name) not in (key, None):
            continue  # the other name is that of an option
        if name in renamed and name not in options:
            where = document.place(table, key)
            faults.add(where, f"{key} and {name} are the same parameter", "keep one of them")
        renamed[name] = value
    return renamed
