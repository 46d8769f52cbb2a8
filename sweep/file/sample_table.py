"""The table [sample]: points drawn from distributions of parameters, or the rows of a CSV file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from sweep.errors import FaultError
from sweep.file.csv_table import CsvTable, named_table
from sweep.file.draft import Draft, Sample
from sweep.file.keys import CSV_FILE, HOW_READ, SAMPLE
from sweep.file.margins import EXAMPLE, distribution_in, read_margin
from sweep.file.quantities import refuse_outside
from sweep.file.reduce_table import wants_indices
from sweep.file.sweep_file import sample_keys
from sweep.model.table import Parameter
from sweep.request.chunk import Values
from sweep.request.sweeps import FOR_INDICES, POINT, Axis, LongValues
from sweep.sampling.distributions import DISTRIBUTIONS, Margin
from sweep.sampling.drawing import MAX_DIMENSIONS, MAX_LATIN_HYPERCUBE_POINTS, METHODS, columns_of
from sweep.sampling.long_values import Drawn
from sweep.text.reader import Table
from sweep.text.wording import listed, meant_cure, nearest_name, written

SEEDED = ("random", "latin_hypercube")  # without a seed, Sobol's sequence is not scrambled
MIN_SCRAMBLINGS = 8  # from which errors are estimated


def sample_of(draft: Draft) -> Sample:
    """The sample of the table [sample], if there is one."""
    table = draft.sample
    if table is None:
        return Sample()
    keys = sample_keys(table.mapping)
    given = table.values({key: SAMPLE.keys[key] for key in keys})
    names = [key for key in table.mapping if key not in keys]
    if table.has("file"):
        return _of_file(draft, table, given, names)
    known = [name for name in names if draft.may_have(name)]
    return Sample(tuple(names), _drawn(draft, table, given, known))


def _drawn(
    draft: Draft, table: Table, given: Mapping[str, Any], names: Sequence[str]
) -> Axis | None:
    """The axis of points that are drawn, if nothing is wrong with them."""
    _check_drawing(draft, table, given)
    known, margins = draft.known or {}, dict[str, Margin]()
    for name in names:
        if draft.known is None:
            table.read(name, distribution_in, table.mapping[name], name)
        elif margin := table.read(name, read_margin, table.mapping[name], known[name]):
            margins[name] = margin
    if table.is_faulty or not margins:
        return None
    for_indices = draft.reduce is not None and wants_indices(draft.reduce.mapping)
    recipe = _recipe(given, margins) | ({FOR_INDICES: True} if for_indices else {})
    columns = columns_of(recipe, [name for name in margins if known[name].whole])
    for name, column in columns.items():
        table.read(name, _refuse_drawn, column, margins[name], known[name])
    return Axis(POINT, columns, recipe)


def _recipe(given: Mapping[str, Any], margins: Mapping[str, Margin]) -> dict[str, object]:
    how = {key: given[key] for key in ("method", "points", "seed", "scramblings")}
    return {
        **{key: value for key, value in how.items() if value is not None},
        **{name: {margin.form: list(margin.arguments)} for name, margin in margins.items()},
    }


def _check_drawing(draft: Draft, table: Table, given: Mapping[str, Any]) -> None:
    """Check a sample that is drawn: what is missing, and what is too large."""
    n_points, method = given["points"] or 0, given["method"]
    if not table.has("method"):
        table.missing("method", f"choose one of {listed(METHODS)}")
    if not table.has("points"):
        table.missing("points", "give the number of points to draw")
    for key in (*HOW_READ, "columns"):
        if key in given and key in table.mapping:
            table.fault(key, "only for a sample from a file", "remove it")
    if method in SEEDED and not table.has("seed"):
        table.missing("seed", "give a whole number, which makes the points reproducible")
    if {*table.mapping} <= {*given} and not draft.document.fixed_parameters():
        table.fault("", "there is no parameter", EXAMPLE.format(name="friction"))
    if method == "latin_hypercube" and n_points > MAX_LATIN_HYPERCUBE_POINTS:
        limit = f"latin_hypercube draws at most {MAX_LATIN_HYPERCUBE_POINTS:,}"
        cure = 'method = "sobol" spreads more points evenly'
        table.fault("points", f"{n_points:,} is too many: {limit}", cure)
    if len(table.mapping) > MAX_DIMENSIONS:
        what = f"{len(table.mapping):,} parameters are more than {MAX_DIMENSIONS:,}"
        table.fault("", what, "remove some")
    _check_scramblings(table, method, given["scramblings"] or 1, n_points)
    table.known.update(dict.fromkeys(table.mapping))
    table.close()


def _check_scramblings(table: Table, method: str | None, count: int, n_points: int) -> None:
    if count == 1:
        return
    if count < MIN_SCRAMBLINGS:
        what = f"{count} are too few to estimate an error from"
        table.fault("scramblings", what, f"give at least {MIN_SCRAMBLINGS}, or remove it for one")
    if method in SEEDED:
        cure = f'use method = "sobol", not {method!r}'
        table.fault("scramblings", "only Sobol's sequence is scrambled", cure)
    elif not table.has("seed"):
        table.missing("seed", "scramblings follow from a seed, so give one")
    if n_points % count:
        fewer, more = n_points // count * count, -(-n_points // count) * count
        near = " or ".join(f"{each:,}" for each in (fewer, more) if each)
        what = f"{n_points:,} is not a multiple of the {count} scramblings"
        table.fault("points", what, f"give {near}")


def _refuse_drawn(column: LongValues, margin: Margin, parameter: Parameter) -> None:
    """Raise FaultError if a value is out of the parameter's range.

    For points that are drawn when they are read, the extreme values are checked.
    """
    if not DISTRIBUTIONS[margin.form].unbounded:
        return
    if isinstance(column, Drawn):
        values, what = column.ends(), "a point may be {value!r}"
    else:
        values, what = column[:], "point {i} would be {value!r}"
    try:
        refuse_outside(values, parameter, lambda i: what.format(i=i + 1, value=float(values[i])))
    except FaultError as error:
        bounded = listed(["truncated_normal", "triangular", "uniform"])
        cure = f"{error.cure}; give a narrower distribution, or one with ends: {bounded}"
        raise FaultError(error.what, cure) from None


def _of_file(draft: Draft, table: Table, given: Mapping[str, Any], ranges: Sequence[str]) -> Sample:
    """The sample in a file, with the names of its columns, faulty or not.

    Columns that options have fixed are left out.
    """
    for key in table.mapping:
        if key not in (*CSV_FILE, "columns") or key in ranges:
            table.fault(key, "cannot be combined with file, whose rows are the points")
    if given["columns"] is not None:
        table.names("columns", given["columns"], None, {})
    can_read = not any(table.has(key) and given.get(key) is None for key in CSV_FILE)
    file = table.read("file", named_table, given, draft.document.folder) if can_read else None
    are_columns_known = given["columns"] is not None
    if file is None or (table.has("columns") and not are_columns_known):
        return Sample((*(given["columns"] or ()), *ranges), None, are_columns_known)
    fixed = draft.document.fixed_parameters()
    # Of `gap[lower]`, the brackets have a label and no unit.
    known = draft.known or {}
    headers = [each.text if each.text in known else each.name for each in file.headers]
    columns_named = headers if given["columns"] is None else given["columns"]
    names = [name for name in columns_named if name not in fixed]
    if not names and not fixed:
        table.fault("columns", "empty", "name at least one, or remove it for all columns")
    columns = _columns(draft, table, file, names)
    values = [
        name.encode() + b"\0" + each.astype("<f8").tobytes() for name, each in columns.items()
    ]
    digest = hashlib.sha256(b"".join(values)).hexdigest()
    axis = Axis(POINT, columns, {"file": {"sha256": digest, "count": len(file.rows)}})
    is_correct = columns and not table.is_faulty
    return Sample(tuple(dict.fromkeys((*names, *ranges))), axis if is_correct else None)


def _columns(draft: Draft, table: Table, file: CsvTable, names: Sequence[str]) -> dict[str, Values]:
    """The correct ones of the columns with these names, in order of their names."""
    if draft.known is None:
        return {}
    columns: dict[str, Values] = {}
    for name in sorted({*names}):
        if name not in draft.known:
            what = f"the column {written(name)} of {str(file.path)!r} is not a parameter"
            meant = nearest_name(name, draft.known)
            table.faults.meant.update([meant] if meant else [])
            cure = "to use only some of the columns, name them: columns = [...]"
            table.fault("file", what, f"{meant_cure(meant, draft.known)}; {cure}")
            continue
        column = table.read(name, file.column, name, draft.known[name])
        if column is not None:
            columns[name] = column
    return columns
