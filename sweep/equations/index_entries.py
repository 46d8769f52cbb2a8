"""The tables [indices] and [tables] of a model's file."""

from __future__ import annotations

import math

from sweep.equations.entries import ModelTable, name_fault, name_fault_in_sweeps
from sweep.equations.model_indices import (
    MAX_ELEMENTS,
    MAX_INDICES,
    MAX_TABLES,
    Index,
    NumberTable,
    index_of,
    nested_numbers,
)


def indices_in(top: ModelTable) -> tuple[Index, ...]:
    """The indices in [indices]; the size of a faulty one is 0."""
    table, indices = top.table("indices"), top.reading.indices
    if len(table.mapping) > MAX_INDICES:
        table.fault("", f"{len(table.mapping):,} indices", f"at most {MAX_INDICES} are allowed")
        return ()
    if top.has("indices") and table.is_table and not table.mapping:
        table.fault("", "empty", "remove it, or write an index such as block = 10")
    for name in table.words:
        table.known[name] = None
        # Traces have the mode of a model with modes; others may have an index of that name.
        is_mode = name == "mode" and not top.has("modes")
        if not is_mode and (error := name_fault_in_sweeps(name)):
            table.fault(name, error.what, error.cure)
        else:
            index = table.read(name, index_of, name, table.mapping[name], indices)
            if index and _are_labels_clear(table, index):
                indices[name] = index
        indices.setdefault(name, Index(name=name, size=0))  # of unknown size
    table.close()
    return tuple(indices.values())


def _are_labels_clear(table: ModelTable, index: Index) -> bool:
    """Whether the labels are names, and none is that of an index."""
    for label in index.labels:
        error = name_fault(label)
        if label in table.mapping:
            table.fault(index.name, f"the label {label!r} is also an index", "rename one")
            return False
        if error and not index.same_as:
            table.fault(index.name, f"label: {error.what}", error.cure)
            return False
    return True


def tables_in(top: ModelTable) -> tuple[NumberTable, ...]:
    """The tables of numbers in [tables]."""
    tables = top.named("tables", MAX_TABLES, _table, name_fault)
    if sum(len(table.values) for table in tables) > MAX_ELEMENTS:
        what = f"more than {MAX_ELEMENTS:,} numbers in all"
        top.fault("tables", what, "give smaller tables")
    return tables


def _table(name: str, table: ModelTable) -> NumberTable:
    over = table.read_over(name)
    indices = [table.reading.indices[each] for each in over]
    if not table.has("over"):
        table.missing("over", "name the index or the list of indices of its values")
    if not table.has("values"):
        table.missing("values", "write values = [...], or file with column or columns")
    values: list[float] = []
    size = math.prod(index.size for index in indices)
    if size and indices and table.has("values"):
        values = table.read("values", nested_numbers, table.get("values"), indices) or []
    values = values or [0.0] * size
    return NumberTable(
        name=name, over=over, values=tuple(values), unit=table.unit(), meaning=table.meaning(name)
    )
