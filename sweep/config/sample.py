"""The table [sample]: points drawn in ranges of parameters, or read from the rows of a CSV file.

They lie along one dimension, `point`. Parameters take the sequence's dimensions in the order of
their names, so that the order in which a file has them changes nothing. Where there are many
points, none is drawn before it is asked for.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from sweep.config.columns import CsvFile, in_range, read_csv
from sweep.config.draft import SAMPLE_KEYS, Draft, is_table
from sweep.config.quantities import UnreadableError
from sweep.config.schema import MarginTable, SampleTable, checked
from sweep.config.sequences import (
    BLOCK,
    MAX_DIMENSIONS,
    MAX_LATIN_HYPERCUBE_POINTS,
    METHODS,
    Sequence,
    sequence,
    unit_columns,
)
from sweep.spec import POINT, STRETCH, Axis, LongValues, Parameter, Values
from sweep.wording import listed, nearest, shown

SEEDED = ("random", "latin_hypercube")  # Sobol's sequence is one without a seed
HOW = "write {name} = {{ uniform = [least, greatest] }} or {{ loguniform = [...] }}"


@dataclass(frozen=True)
class Margin:
    """How one parameter is distributed: between two values, evenly or evenly in its logarithm."""

    form: str
    least: float
    greatest: float
    whole: bool

    def values(self, unit: Values) -> Values:
        """The values that numbers in [0, 1) stand for, all within the ends."""
        top = self.greatest + 1 if self.whole else self.greatest
        if self.form == "loguniform":
            low, high = math.log(self.least), math.log(top)
            values = np.exp(low + (high - low) * unit)
        else:
            values = self.least + (top - self.least) * unit
        values = np.floor(values) if self.whole else values
        return np.clip(values, self.least, self.greatest) + 0.0


class Drawing:
    """The columns of a sample, drawn by stretches; the last one is kept for the other columns."""

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
    """What [sample] says: the parameters it names, faulty or not, and the axis if it has none."""

    names: tuple[str, ...]
    axis: Axis | None
    is_complete: bool = True  # the names are all; else it has a file that nobody could read


def sample_of(
    draft: Draft,
    raw: Mapping[str, object],
    known: Mapping[str, Parameter],
    unknown: Callable[[str], str],
) -> Sample:
    """The sample of a table; its faults are noted in the draft.

    `unknown` says what to do about a name that no parameter has.
    """
    table, wrong = checked(SampleTable, {key: raw[key] for key in raw if key in SAMPLE_KEYS})
    draft.note("sample", wrong)
    ranges = {key: value for key, value in raw.items() if key not in SAMPLE_KEYS}
    before = len(draft.faults) - len(wrong)
    for name in ranges:
        if name not in known:
            draft.fault("sample", name, unknown(name))
    if raw.get("file") is not None:
        _refuse_beside_file(draft, raw)
        if (file := _opened(draft, table)) is None or "columns" in wrong:
            return Sample((*(table.columns or ()), *ranges), None, table.columns is not None)
        names, rows, recipe = _of_file(draft, table, file, known)
        names = tuple(dict.fromkeys((*names, *ranges)))
        columns: Mapping[str, LongValues] = rows
    else:
        _check_drawing(draft, table, raw)
        margins = _margins(draft, ranges, known)
        names = tuple(ranges)
        recipe = _drawing(table)
        recipe |= {name: {m.form: [m.least, m.greatest]} for name, m in margins.items()}
        columns = {} if len(draft.faults) > before else _draw(table, margins)
    if len(draft.faults) > before or not columns:
        return Sample(names, None)
    return Sample(names, Axis(POINT, columns, recipe))


def _refuse_beside_file(draft: Draft, raw: Mapping[str, object]) -> None:
    for key in raw:
        if key not in ("file", "columns"):
            draft.fault("sample", key, "this does not go with file, whose rows are the points")


def _check_drawing(draft: Draft, table: SampleTable, raw: Mapping[str, object]) -> None:
    """A fault for each thing that is missing, or too much of a thing, where points are drawn."""
    if "method" not in raw:
        draft.fault("sample", "method", f"it is missing; known are {listed(METHODS)}")
    if "points" not in raw:
        draft.fault("sample", "points", "it is missing; give how many points to draw")
    if "columns" in raw:
        draft.fault("sample", "columns", "this goes with file; leave it out")
    if table.method in SEEDED and "seed" not in raw:
        draft.fault("sample", "seed", "it is missing; give a whole number, for the same points")
    if set(raw) <= set(SAMPLE_KEYS) and not _overridden(draft):
        draft.fault("sample", "", f"there is no parameter; {HOW.format(name='friction')}")
    if table.method == "latin_hypercube" and (table.points or 0) > MAX_LATIN_HYPERCUBE_POINTS:
        message = (
            f"{table.points:,} is too many: latin_hypercube has at most "
            f'{MAX_LATIN_HYPERCUBE_POINTS:,}; method = "sobol" spreads more of them evenly'
        )
        draft.fault("sample", "points", message)
    if len(raw) > MAX_DIMENSIONS:
        draft.fault("sample", "", f"{len(raw):,} parameters are more than {MAX_DIMENSIONS:,}")


def _drawing(table: SampleTable) -> dict[str, object]:
    drawing: dict[str, object] = {"method": table.method, "points": table.points}
    return drawing if table.seed is None else {**drawing, "seed": table.seed}


def _draw(table: SampleTable, margins: Mapping[str, Margin]) -> dict[str, LongValues]:
    """The columns; those of many points draw themselves."""
    margins = {name: margins[name] for name in sorted(margins)}
    method, n_points = str(table.method), table.points or 0
    if n_points <= STRETCH or method == "latin_hypercube":
        unit = unit_columns(method, n_points, max(len(margins), 1), table.seed)
        return {name: each.values(unit[i]) for i, (name, each) in enumerate(margins.items())}
    drawing = Drawing(sequence(method, n_points, max(len(margins), 1), table.seed), margins)
    return {name: Drawn(drawing, name, n_points) for name in margins}


def _margins(
    draft: Draft, ranges: Mapping[str, object], known: Mapping[str, Parameter]
) -> dict[str, Margin]:
    margins: dict[str, Margin] = {}
    for name, raw in ranges.items():
        if name not in known:
            continue
        try:
            margins[name] = _margin(raw, known[name])
        except UnreadableError as error:
            draft.fault("sample", name, str(error))
    return margins


def _margin(raw: object, parameter: Parameter) -> Margin:
    how = HOW.format(name=parameter.name)
    if not is_table(raw):
        raise UnreadableError(f"{shown(raw)} is not a table; {how}")
    table, wrong = checked(MarginTable, raw)
    if wrong:
        raise UnreadableError("; ".join(f"{key}: {text}" for key, text in wrong.items()))
    given = {key: ends for key, ends in table.model_dump().items() if ends is not None}
    if len(given) != 1:
        found = f"there are {listed(given)}" if given else "there is none"
        raise UnreadableError(f"one of uniform, loguniform is needed and {found}: {how}")
    ((form, ends),) = given.items()
    if len(ends) != 2:
        raise UnreadableError(f"{form} takes [least, greatest], not {len(ends)} entries")
    least, greatest = in_range([("least", ends[0]), ("greatest", ends[1])], parameter).tolist()
    if not math.isfinite(greatest - least):
        raise UnreadableError(f"{form} from {least!r} to {greatest!r} is without bound")
    if not least < greatest:
        cure = "give the lesser first; one value stands under [parameters]"
        raise UnreadableError(f"{form} from {least!r} to {greatest!r} is empty: {cure}")
    if form == "loguniform" and least <= 0:
        raise UnreadableError(f"loguniform from {least!r} cannot be: give ends above 0, or uniform")
    return Margin(form, least, greatest, parameter.whole)


def _opened(draft: Draft, table: SampleTable) -> CsvFile | None:
    """The CSV file of a sample; None if there is none to be read, which is a fault."""
    try:
        return read_csv(draft.folder / table.file) if table.file is not None else None
    except UnreadableError as error:
        draft.fault("sample", "file", str(error))
        return None


def _of_file(
    draft: Draft, table: SampleTable, file: CsvFile, known: Mapping[str, Parameter]
) -> tuple[tuple[str, ...], dict[str, Values], dict[str, object]]:
    """The names, columns and recipe of a CSV file; less what options have given one value."""
    names = file.header if table.columns is None else tuple(table.columns)
    names = tuple(name for name in names if name not in _overridden(draft))
    if not names and not _overridden(draft):
        draft.fault("sample", "columns", "it is empty; name at least one, or leave it out for all")
    columns = _columns(draft, file, names, known)
    digest = hashlib.sha256()
    for name, values in columns.items():
        digest.update(name.encode() + b"\0" + values.astype("<f8").tobytes())
    recipe: dict[str, object] = {"file": {"sha256": digest.hexdigest(), "count": len(file.rows)}}
    return names, columns, recipe


def _columns(
    draft: Draft, file: CsvFile, names: Iterable[str], known: Mapping[str, Parameter]
) -> dict[str, Values]:
    columns: dict[str, Values] = {}
    for name in sorted(set(names)):
        if name not in known:
            cure = "name those that are parameters: columns = [...]"
            message = f"the column {shown(name)} of {str(file.path)!r} is no parameter"
            draft.fault("sample", "file", f"{message}; {nearest(name, known)}; or {cure}")
            continue
        try:
            columns[name] = file.column(name, known[name])
        except UnreadableError as error:
            draft.fault("sample", name, str(error))
    return columns


def _overridden(draft: Draft) -> set[str]:
    """The parameters that options have given one value."""
    return {name for table, name in draft.overridden if table == "parameters"}
