"""The table [sample]: points drawn from distributions of parameters, or the rows of a CSV file."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sweep.config.columns import in_range, read_csv
from sweep.config.draft import Draft, Sample
from sweep.config.problems import Check, Problem, finished, in_table, readable
from sweep.config.quantities import number, refuse_outside, warn_of_turns
from sweep.config.reduce_table import wants_indices
from sweep.config.schema import DistributionTable, SampleTable, checked, only_form
from sweep.config.sweep_file import SAMPLE_KEYS, is_table
from sweep.errors import FaultError
from sweep.request import FOR_INDICES, POINT, Axis, LongValues
from sweep.sampling.distributions import DISTRIBUTIONS, Margin, Role, fault
from sweep.sampling.drawing import columns_of
from sweep.sampling.sequences import MAX_DIMENSIONS, MAX_LATIN_HYPERCUBE_POINTS, METHODS
from sweep.sampling.stretches import Drawn
from sweep.spec import Parameter
from sweep.wording import listed, nearest, shown
from sweep.work import Values

SEEDED = ("random", "latin_hypercube")  # without a seed, Sobol's sequence is not scrambled
MIN_SCRAMBLINGS = 8  # from which errors are estimated
EXAMPLE = "write {name} = {{ uniform = [least, greatest] }}, or another distribution"
PLAIN_NUMBER = Parameter(name="", symbol="", unit="1", meaning="")


def sample_of(draft: Draft, raw: Mapping[str, object]) -> Check[Sample]:
    """The sample of [sample]."""
    sample = yield from _sample(draft, raw)
    for table, names in {"parameters": draft.top.parameters, "axes": draft.on_axes}.items():
        for name in sample.names:
            if name in names:
                yield Problem("sample", name, f"also given under [{table}]; keep one of the two")
    return sample


def _sample(draft: Draft, raw: Mapping[str, object]) -> Check[Sample]:
    known = draft.known
    table, wrong = checked(SampleTable, {key: raw[key] for key in raw if key in SAMPLE_KEYS})
    ranges = {key: value for key, value in raw.items() if key not in SAMPLE_KEYS}
    problems = list(in_table("sample", wrong | draft.unknown(ranges, SAMPLE_KEYS)))
    if raw.get("file") is not None:
        rows, more = finished(_rows(draft, table, raw))
        yield from (*problems, *more)
        if rows is None or "columns" in wrong:
            return Sample((*(table.columns or ()), *ranges), None, table.columns is not None)
        names, axis = rows
        is_correct = axis.columns and not (problems or more)
        return Sample(tuple(dict.fromkeys((*names, *ranges))), axis if is_correct else None)
    margins, more = finished(_margins(draft, table, raw, ranges))
    yield from (*problems, *more)
    if problems or more or not margins:
        return Sample(tuple(ranges), None)
    for_indices = wants_indices(draft.top.reduce)
    recipe = _recipe(table, margins) | ({FOR_INDICES: True} if for_indices else {})
    columns = columns_of(recipe, [name for name in margins if known[name].whole])
    for name, column in columns.items():
        yield from readable("sample", name, _refuse_drawn, column, margins[name], known[name])
    return Sample(tuple(ranges), Axis(POINT, columns, recipe))


def _recipe(table: SampleTable, margins: Mapping[str, Margin]) -> dict[str, object]:
    numbers = {"seed": table.seed, "scramblings": table.scramblings}
    return {
        "method": table.method,
        "points": table.points,
        **{name: value for name, value in numbers.items() if value is not None},
        **{name: {margin.form: list(margin.arguments)} for name, margin in margins.items()},
    }


def _check_drawing(draft: Draft, table: SampleTable, raw: Mapping[str, object]) -> Check[None]:
    """Problems of a sample that is drawn: what is missing, and what is too large."""
    if raw.get("method") is None:
        yield Problem("sample", "method", f"missing; choose one of {listed(METHODS)}")
    if raw.get("points") is None:
        yield Problem("sample", "points", "missing; give the number of points to draw")
    if "columns" in raw:
        yield Problem("sample", "columns", "only for a sample from a file; remove it")
    if table.method in SEEDED and "seed" not in raw:
        cure = "give a whole number, which makes the points reproducible"
        yield Problem("sample", "seed", f"missing; {cure}")
    if set(raw) <= set(SAMPLE_KEYS) and not draft.document.fixed_parameters():
        yield Problem("sample", "", f"there is no parameter; {EXAMPLE.format(name='friction')}")
    if table.method == "latin_hypercube" and (table.points or 0) > MAX_LATIN_HYPERCUBE_POINTS:
        limit = f"latin_hypercube draws at most {MAX_LATIN_HYPERCUBE_POINTS:,}"
        cure = 'method = "sobol" spreads more points evenly'
        yield Problem("sample", "points", f"{table.points:,} is too many: {limit}; {cure}")
    if len(raw) > MAX_DIMENSIONS:
        message = f"{len(raw):,} parameters are more than {MAX_DIMENSIONS:,}; remove some"
        yield Problem("sample", "", message)
    yield from _check_scramblings(table, raw)


def _check_scramblings(table: SampleTable, raw: Mapping[str, object]) -> Check[None]:
    count, n_points = table.scramblings or 1, table.points or 0
    if count == 1:
        return
    if count < MIN_SCRAMBLINGS:
        message = f"{count} are too few to estimate an error from"
        cure = f"give at least {MIN_SCRAMBLINGS}, or remove it for one"
        yield Problem("sample", "scramblings", f"{message}; {cure}")
    if table.method in SEEDED:
        message = f'only Sobol\'s sequence is scrambled; use method = "sobol", not {table.method!r}'
        yield Problem("sample", "scramblings", message)
    elif "seed" not in raw:
        yield Problem("sample", "seed", "missing; scramblings follow from a seed, so give one")
    if n_points % count:
        fewer, more = n_points // count * count, -(-n_points // count) * count
        near = " or ".join(f"{each:,}" for each in (fewer, more) if each)
        message = f"{n_points:,} is not a multiple of the {count} scramblings; give {near}"
        yield Problem("sample", "points", message)


def _margins(
    draft: Draft, table: SampleTable, raw: Mapping[str, object], ranges: Mapping[str, object]
) -> Check[dict[str, Margin]]:
    """The correct ones of the ranges."""
    yield from _check_drawing(draft, table, raw)
    known = draft.known
    margins: dict[str, Margin] = {}
    for name in (name for name in ranges if name in known):
        margin = yield from readable("sample", name, read_margin, ranges[name], known[name])
        if margin is not None:
            margins[name] = margin
    return margins


def read_margin(raw: object, parameter: Parameter) -> Margin:
    """The distribution in a table; FaultError, whose text says what to do, if it is none."""
    how = EXAMPLE.format(name=parameter.name)
    if not is_table(raw):
        raise FaultError(f"{shown(raw)} is not a table; {how}")
    table, wrong = checked(DistributionTable, raw)
    if wrong:
        raise FaultError("; ".join(f"{key}: {text}" for key, text in wrong.items()))
    form = only_form(table, tuple(DISTRIBUTIONS), how)
    roles = DISTRIBUTIONS[form].arguments
    entries: list[object] = getattr(table, form)
    if len(entries) != len(roles):
        raise FaultError(f"{form} takes [{listed(roles)}], not {len(entries)} entries")
    arguments = _arguments(form, list(zip(roles.items(), entries, strict=True)), parameter)
    if problem := fault(form, arguments):
        raise FaultError(problem)
    return Margin(form, arguments, parameter.whole)


def _arguments(
    form: str, entries: Sequence[tuple[tuple[str, Role], object]], parameter: Parameter
) -> tuple[float, ...]:
    """The arguments of a distribution in SI units, each of the kind that its role says."""
    ranged = [(name, entry) for (name, role), entry in entries if role == "value"]
    values = dict(zip(dict(ranged), in_range(ranged, parameter).tolist(), strict=True))
    wrong: list[str] = []
    for (name, role), entry in entries:
        try:
            if role != "value":
                values[name] = _amount(entry, role, parameter)
            elif not math.isfinite(values[name]):
                raise FaultError(f"{form} needs a finite number")
        except FaultError as error:
            wrong.append(f"{name}: {error}")
    if wrong:
        raise FaultError("; ".join(wrong))
    return tuple(values[name] for (name, _), _ in entries)


def _amount(entry: object, role: Role, parameter: Parameter) -> float:
    """A number that need not be in the parameter's range; FaultError if it cannot be used."""
    value = number(entry, PLAIN_NUMBER if role == "plain" else replace(parameter, infinite=False))
    warn_of_turns([entry], PLAIN_NUMBER if role == "plain" else parameter)
    if role != "number" and not value > 0:
        raise FaultError(f"{shown(entry)} is out of range; it has to be above 0")
    return value


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
        cure = f"give a narrower distribution, or one with ends: {bounded}"
        raise FaultError(f"{error}; {cure}") from None


def _rows(
    draft: Draft, table: SampleTable, raw: Mapping[str, object]
) -> Check[tuple[tuple[str, ...], Axis] | None]:
    """The names of a file's columns, faulty or not, and an axis of the correct ones.

    Columns that options have fixed are left out. None if the file cannot be read.
    """
    for key in raw:
        if key not in ("file", "columns"):
            yield Problem("sample", key, "cannot be combined with file, whose rows are the points")
    if table.file is None:
        return None
    file = yield from readable("sample", "file", read_csv, draft.document.folder / table.file)
    if file is None:
        return None
    known, fixed = draft.known, draft.document.fixed_parameters()
    header = file.header if table.columns is None else tuple(table.columns)
    names = tuple(name for name in header if name not in fixed)
    if not names and not fixed:
        yield Problem("sample", "columns", "empty; name at least one, or remove it for all columns")
    columns: dict[str, Values] = {}
    digest = hashlib.sha256()
    for name in sorted(set(names)):
        if name not in known:
            message = f"the column {shown(name)} of {str(file.path)!r} is not a parameter"
            cure = "to use only some of the columns, name them: columns = [...]"
            yield Problem("sample", "file", f"{message}; {nearest(name, known)}; {cure}")
            continue
        column = yield from readable("sample", name, file.column, name, known[name])
        if column is not None:
            columns[name] = column
            digest.update(name.encode() + b"\0" + column.astype("<f8").tobytes())
    recipe = {"file": {"sha256": digest.hexdigest(), "count": len(file.rows)}}
    return names, Axis(POINT, columns, recipe)
