"""The table [sample]: points drawn in ranges of parameters, or read from the rows of a CSV file.

The points have one dimension, `point`. Parameters take the dimensions of the sequence in the order
of their names, so that their order in a file has no effect. Many points are drawn only when they
are read.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from sweep.config.columns import CsvFile, in_range, read_csv
from sweep.config.problems import Check, Problem, UnreadableError, finished, in_table, readable
from sweep.config.schema import RangeTable, SampleTable, checked, only_form
from sweep.config.sequences import (
    BLOCK,
    MAX_DIMENSIONS,
    MAX_LATIN_HYPERCUBE_POINTS,
    METHODS,
    Sequence,
    sequence,
)
from sweep.config.sweep_file import SAMPLE_KEYS, Document, is_table
from sweep.spec import POINT, STRETCH, Axis, LongValues, Parameter, Values
from sweep.wording import listed, nearest, shown

SEEDED = ("random", "latin_hypercube")  # without a seed, Sobol's sequence is not scrambled
HOW = "write {name} = {{ uniform = [least, greatest] }} or {{ loguniform = [...] }}"


@dataclass(frozen=True)
class Margin:
    """The distribution of one parameter: uniform between two values, or in their logarithms."""

    form: str
    least: float
    greatest: float
    whole: bool

    def values(self, unit: Values) -> Values:
        """The values for numbers in [0, 1), all within the ends."""
        top = self.greatest + 1 if self.whole else self.greatest
        if self.form == "loguniform":
            low, high = math.log(self.least), math.log(top)
            values = np.exp(low + (high - low) * unit)
        else:
            values = self.least + (top - self.least) * unit
        values = np.floor(values) if self.whole else values
        return np.clip(values, self.least, self.greatest) + 0.0


class Drawing:
    """The columns of a sample, drawn stretch by stretch; the last one stays for other columns."""

    def __init__(self, unit: Sequence, margins: Mapping[str, Margin]) -> None:
        """`margins` are in the order of the sequence's dimensions."""
        self._unit, self._margins = unit, margins
        self._place = (0, 0)
        self._columns: Mapping[str, Values] = {}
        self._lock = threading.Lock()

    def column(self, name: str, start: int, stop: int) -> Values:
        with self._lock:
            if not self._columns or self._place != (start, stop):
                self._columns, self._place = self._drawn(start, stop), (start, stop)
            return self._columns[name]

    def _drawn(self, start: int, stop: int) -> dict[str, Values]:
        columns = {name: np.empty(stop - start) for name in self._margins}
        for first in range(start, stop, BLOCK):
            last = min(first + BLOCK, stop)
            rows = self._unit.rows(first, last)
            for i, (name, margin) in enumerate(self._margins.items()):
                columns[name][first - start : last - start] = margin.values(rows[:, i])
        return columns


@dataclass(frozen=True, eq=False)
class Drawn:
    """One column of a drawing."""

    drawing: Drawing
    name: str
    n_points: int

    def __len__(self) -> int:
        return self.n_points

    def __getitem__(self, part: slice, /) -> Values:
        start, stop, _ = part.indices(self.n_points)
        return self.drawing.column(self.name, start, max(start, stop))


@dataclass(frozen=True)
class Sample:
    """The parameters that [sample] names, and its axis unless there are problems."""

    names: tuple[str, ...]
    axis: Axis | None
    is_complete: bool = True  # False: more parameters may be in a file that cannot be read


def sample_of(
    document: Document,
    raw: Mapping[str, object],
    known: Mapping[str, Parameter],
    unknown: Callable[[Iterable[str]], dict[str, str]],
) -> Check[Sample]:
    """The sample; `unknown` gives a message for each name that is no parameter."""
    table, wrong = checked(SampleTable, {key: raw[key] for key in raw if key in SAMPLE_KEYS})
    ranges = {key: value for key, value in raw.items() if key not in SAMPLE_KEYS}
    problems = list(in_table("sample", wrong | unknown(ranges)))
    if raw.get("file") is not None:
        rows, more = finished(_rows(document, table, raw, known))
        yield from (*problems, *more)
        if rows is None or "columns" in wrong:
            return Sample((*(table.columns or ()), *ranges), None, table.columns is not None)
        names = tuple(dict.fromkeys((*rows.names, *ranges)))
        is_correct = rows.columns and not (problems or more)
        return Sample(names, Axis(POINT, rows.columns, rows.recipe) if is_correct else None)
    margins, more = finished(_margins(document, table, raw, ranges, known))
    yield from (*problems, *more)
    if problems or more or not margins:
        return Sample(tuple(ranges), None)
    recipe: dict[str, object] = {"method": table.method, "points": table.points}
    if table.seed is not None:
        recipe["seed"] = table.seed
    recipe |= {name: {m.form: [m.least, m.greatest]} for name, m in margins.items()}
    return Sample(tuple(ranges), Axis(POINT, _draw(table, margins), recipe))


def _check_drawing(
    document: Document, table: SampleTable, raw: Mapping[str, object]
) -> Check[None]:
    """Problems of a sample that is drawn: what is missing, and what is too large."""
    if "method" not in raw:
        yield Problem("sample", "method", f"missing; choose one of {listed(METHODS)}")
    if "points" not in raw:
        yield Problem("sample", "points", "missing; give the number of points to draw")
    if "columns" in raw:
        yield Problem("sample", "columns", "only for a sample from a file; remove it")
    if table.method in SEEDED and "seed" not in raw:
        cure = "give a whole number, which makes the points reproducible"
        yield Problem("sample", "seed", f"missing; {cure}")
    if set(raw) <= set(SAMPLE_KEYS) and not document.fixed_parameters():
        yield Problem("sample", "", f"there is no parameter; {HOW.format(name='friction')}")
    if table.method == "latin_hypercube" and (table.points or 0) > MAX_LATIN_HYPERCUBE_POINTS:
        limit = f"latin_hypercube draws at most {MAX_LATIN_HYPERCUBE_POINTS:,}"
        cure = 'method = "sobol" spreads more points evenly'
        yield Problem("sample", "points", f"{table.points:,} is too many: {limit}; {cure}")
    if len(raw) > MAX_DIMENSIONS:
        message = f"{len(raw):,} parameters are more than {MAX_DIMENSIONS:,}; remove some"
        yield Problem("sample", "", message)


def _draw(table: SampleTable, margins: Mapping[str, Margin]) -> Mapping[str, LongValues]:
    """The columns; those of many points are drawn only when they are read."""
    margins = {name: margins[name] for name in sorted(margins)}
    method, n_points = str(table.method), table.points or 0
    drawing = Drawing(sequence(method, n_points, max(len(margins), 1), table.seed), margins)
    columns = {name: Drawn(drawing, name, n_points) for name in margins}
    if n_points <= STRETCH or method == "latin_hypercube":
        return {name: column[:] for name, column in columns.items()}
    return columns


def _margins(
    document: Document,
    table: SampleTable,
    raw: Mapping[str, object],
    ranges: Mapping[str, object],
    known: Mapping[str, Parameter],
) -> Check[dict[str, Margin]]:
    """The correct ones of the ranges."""
    yield from _check_drawing(document, table, raw)
    margins: dict[str, Margin] = {}
    for name in (name for name in ranges if name in known):
        margin = yield from readable("sample", name, _margin, ranges[name], known[name])
        if margin is not None:
            margins[name] = margin
    return margins


def _margin(raw: object, parameter: Parameter) -> Margin:
    how = HOW.format(name=parameter.name)
    if not is_table(raw):
        raise UnreadableError(f"{shown(raw)} is not a table; {how}")
    table, wrong = checked(RangeTable, raw)
    if wrong:
        raise UnreadableError("; ".join(f"{key}: {text}" for key, text in wrong.items()))
    form = only_form(table, ("uniform", "loguniform"), how)
    ends: list[object] = getattr(table, form)
    if len(ends) != 2:
        raise UnreadableError(f"{form} takes [least, greatest], not {len(ends)} entries")
    least, greatest = in_range([("least", ends[0]), ("greatest", ends[1])], parameter).tolist()
    if not math.isfinite(greatest - least):
        raise UnreadableError(f"{form} from {least!r} to {greatest!r} is infinitely wide")
    if not least < greatest:
        cure = "give the smaller value first; a single value goes under [parameters]"
        raise UnreadableError(f"{form} from {least!r} to {greatest!r} is empty: {cure}")
    if form == "loguniform" and least <= 0:
        raise UnreadableError(f"loguniform from {least!r}: give ends above 0, or use uniform")
    return Margin(form, least, greatest, parameter.whole)


@dataclass(frozen=True)
class Rows:
    """The columns of a CSV file whose rows are the points."""

    names: tuple[str, ...]  # of all its columns, faulty or not
    columns: Mapping[str, Values]
    recipe: Mapping[str, object]


def _rows(
    document: Document,
    table: SampleTable,
    raw: Mapping[str, object],
    known: Mapping[str, Parameter],
) -> Check[Rows | None]:
    """The file's columns except those that options have fixed; None if it cannot be read."""
    for key in raw:
        if key not in ("file", "columns"):
            yield Problem("sample", key, "cannot be combined with file, whose rows are the points")
    if table.file is None:
        return None
    file = yield from readable("sample", "file", read_csv, document.folder / table.file)
    if file is None:
        return None
    fixed = document.fixed_parameters()
    header = file.header if table.columns is None else tuple(table.columns)
    names = tuple(name for name in header if name not in fixed)
    if not names and not fixed:
        yield Problem("sample", "columns", "empty; name at least one, or remove it for all columns")
    columns = yield from _columns(file, names, known)
    digest = hashlib.sha256()
    for name, values in columns.items():
        digest.update(name.encode() + b"\0" + values.astype("<f8").tobytes())
    recipe = {"file": {"sha256": digest.hexdigest(), "count": len(file.rows)}}
    return Rows(names, columns, recipe)


def _columns(
    file: CsvFile, names: Iterable[str], known: Mapping[str, Parameter]
) -> Check[dict[str, Values]]:
    columns: dict[str, Values] = {}
    for name in sorted(set(names)):
        if name not in known:
            message = f"the column {shown(name)} of {str(file.path)!r} is not a parameter"
            cure = "to use only some of the columns, name them: columns = [...]"
            yield Problem("sample", "file", f"{message}; {nearest(name, known)}; {cure}")
            continue
        column = yield from readable("sample", name, file.column, name, known[name])
        if column is not None:
            columns[name] = column
    return columns
