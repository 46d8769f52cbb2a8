"""The entries of signals by draw in a model's file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import cast

from sweep.equations.entries import ModelTable, is_allowed
from sweep.equations.model_indices import Index, NumberTable, nested, nested_numbers
from sweep.equations.signals import (
    LARGEST_DRAW,
    LARGEST_SEED,
    MAX_TABLE_BYTES,
    SAMPLE_BYTES,
    SAMPLES_PER_PERIOD,
    Correlation,
    DrawnSignal,
    Law,
    Matrix,
    as_draw,
    n_samples,
    triangular,
)
from sweep.errors import FaultError
from sweep.model.table import Parameter
from sweep.text.reader import finite_numbers, near
from sweep.text.wording import written

LAWS: tuple[Law, ...] = ("fixed", "normal")
SPECTRUM = '"psd.csv", or { frequencies = [...], densities = [[...]] }'
DRAW = f"{{ whole = true, minimum = 0, maximum = {LARGEST_DRAW} }}"
MIN_ROWS, MAX_ROWS = 2, 10**5  # of a spectrum
ROUNDING = 1e-12  # of correlations that a program computes from covariances


def is_drawn(table: ModelTable) -> bool:
    """Whether an entry of [signals] is a signal by draw."""
    return not table.mapping.keys().isdisjoint(("spectrum", "draw"))


def drawn(
    name: str, table: ModelTable, parameters: Sequence[Parameter], tables: Sequence[NumberTable]
) -> DrawnSignal:
    """A signal by draw in [signals]; where it is faulty, one that has no meaning."""
    over = [table.reading.indices[each] for each in table.read_over(name)]
    size = math.prod(index.size for index in over)
    frequencies, densities = _spectrum(table, size)
    duration = _positive(table, "duration", "the period of the signal, in the unit of time")
    rate = _positive(table, "rate", "the number of samples per unit of time")
    if duration and rate:
        _check_rate(table, duration, rate, size)
    if rate and frequencies and rate < SAMPLES_PER_PERIOD * frequencies[-1] * (1 - 1e-12):
        what = f"{rate!r} is below {SAMPLES_PER_PERIOD} times the highest frequency of the spectrum"
        least = SAMPLES_PER_PERIOD * frequencies[-1]
        table.fault("rate", what, f"give at least {least:.15g}")
    signal = DrawnSignal(
        name=name,
        frequencies=frequencies or (0.0, 1.0),
        densities=densities or ((1.0, 1.0),),
        duration=duration or 1.0,
        rate=rate or 1.0,
        draw=_draw(table, parameters),
        seed=table.whole("seed", 0, LARGEST_SEED) or 0,
        amplitudes=table.choice("amplitudes", LAWS, "fixed"),
        correlation=_correlation(table, over, tables),
        unit=table.unit(),
        meaning=table.meaning(name),
        elements=(name,),
    )
    if frequencies and duration and not signal.amplitudes_of_columns.any():
        what = "no multiple of 1/duration has any power"
        table.fault("spectrum", what, "give a longer duration, or another spectrum")
    return signal


def _spectrum(table: ModelTable, size: int) -> tuple[tuple[float, ...], Matrix]:
    """The rows of a spectrum for `size` elements; none if they are faulty."""
    if not table.has("spectrum"):
        table.missing("spectrum", f"write spectrum = {SPECTRUM}")
        return (), ()
    entry = table.table("spectrum")
    for key in ("frequencies", "densities"):
        if not entry.has(key):
            entry.missing(key, f"write spectrum = {SPECTRUM}")
    entry.close()
    if entry.is_faulty:
        return (), ()
    rows = table.read("spectrum", _rows, entry.mapping, size)
    return rows or ((), ())


def _rows(entry: Mapping[str, object], size: int) -> tuple[tuple[float, ...], Matrix]:
    """Frequencies and densities; FaultError if they are no spectrum."""
    frequencies = finite_numbers(entry["frequencies"])
    count = len(frequencies)
    if not frequencies:
        what = "frequencies is not a list of finite numbers"
        raise FaultError(what, "write frequencies = [0.0, 50.0]")
    if not MIN_ROWS <= count <= MAX_ROWS:
        raise FaultError(f"{count:,} rows", f"give {MIN_ROWS} to {MAX_ROWS:,}")
    if frequencies[0] < 0:
        raise FaultError(f"the frequency {frequencies[0]!r} is negative", "give one side")
    for number, (a, b) in enumerate(pairwise(frequencies), 2):
        if b <= a:
            what = f"frequencies do not increase: row {number} has {b!r}, after {a!r}"
            raise FaultError(what, "sort the rows by frequency")
    densities = _columns(entry["densities"])
    if len(densities) not in (1, size):
        counts = "1 column" if size == 1 else f"1 column, or {size} for the values of its index"
        raise FaultError(f"{len(densities)} columns of densities", f"give {counts}")
    for number, column in enumerate(densities, 1):
        where = f"column {number} of densities"
        if len(column) != count:
            what = f"{where} has {len(column):,} numbers, and there are {count:,} frequencies"
            raise FaultError(what, "give as many")
        if (least := min(column)) < 0:
            raise FaultError(f"{where} has the negative value {least!r}", "give densities above 0")
    return frequencies, densities


def _columns(raw: object) -> Matrix:
    """Columns of densities, of which one may be written without its own list."""
    if plain := finite_numbers(raw):
        return (plain,)
    parts = cast("Sequence[object]", raw) if isinstance(raw, (list, tuple)) else ()
    columns = tuple(map(finite_numbers, parts))
    if not columns or not all(columns):
        what = "densities is not a list of lists of finite numbers"
        raise FaultError(what, "write densities = [[0.0, 1.5]]")
    return columns


def _positive(table: ModelTable, key: str, meaning: str) -> float | None:
    """A number above 0; None, with a fault, if it is none."""
    value = table.number(key)
    if not table.has(key):
        table.missing(key, f"write {key} = ..., {meaning}")
    elif value is not None and value <= 0:
        table.fault(key, f"{value!r} is not above 0", f"give {meaning}")
        return None
    return value


def _check_rate(table: ModelTable, duration: float, rate: float, size: int) -> None:
    """Add a fault if one realisation takes too much memory."""
    most = MAX_TABLE_BYTES // SAMPLE_BYTES
    count = duration * rate * size
    if not count <= most or n_samples(duration, rate) * size > most:
        what = f"duration times rate gives {count:.4g} samples of all elements"
        cure = "or a shorter duration" if size == 1 else "a shorter duration or fewer elements"
        table.fault("rate", what, f"at most {most:,} are allowed: give a lower rate, {cure}")


def _draw(table: ModelTable, parameters: Sequence[Parameter]) -> str:
    """The name of the parameter that chooses the realisation."""
    name = table.text("draw", example="draw")
    known = {each.name: each for each in parameters}
    if not name:
        return ""
    if name not in known:
        given = near(name, known) if known else ""
        cure = f"write {name} = {DRAW} in [parameters]"
        cure = f"{given} Or {cure}" if given.startswith("did you mean") else cure
        table.fault("draw", f"{written(name)} is not a parameter", cure)
    elif name in table.reading.over:
        table.fault("draw", f"{name} has an index", "name a parameter without over")
    elif known[name].unit != "1":
        table.fault("draw", f"{name} has the unit {known[name].unit}", "a draw has none")
    else:
        ranged = as_draw(known[name])
        default = ranged.minimum if ranged.default is None else ranged.default
        if ranged.minimum > ranged.maximum or not is_allowed(default, ranged):
            what = f"{name} has a range or a default that is no draw"
            table.fault("draw", what, f"write {name} = {DRAW}")
    return name


def _correlation(
    table: ModelTable, over: Sequence[Index], tables: Sequence[NumberTable]
) -> Matrix | Correlation | None:
    """The correlations of the elements: a matrix, the name of a table of one, or a length."""
    raw = table.get("correlation")
    if raw is None:
        return None
    if len(over) != 1:
        cure = 'write over = "...", or remove it'
        table.fault("correlation", "the signal is not over one index", cure)
        return None
    (index,) = over
    if not index.size:
        return None
    if isinstance(raw, Mapping):
        return _by_length(table, index, tables)
    numbers = table.read("correlation", _numbers, raw, [index, index], tables)
    matrix = cast("Matrix", numbers and nested(numbers, [index.size] * 2))
    matrix = tuple(map(tuple, matrix)) if matrix else None
    if matrix and table.read("correlation", _checked, matrix) is None:
        return None
    return matrix


def _by_length(
    table: ModelTable, index: Index, tables: Sequence[NumberTable]
) -> Correlation | None:
    entry = table.table("correlation")
    length = _positive(entry, "length", "the distance at which the correlation has fallen to 1/e")
    if not entry.has("positions"):
        entry.missing("positions", f"write positions = [...], or name a table over {index.name}")
    entry.close()
    positions = None
    if entry.has("positions"):
        positions = entry.read("positions", _numbers, entry.get("positions"), [index], tables)
    return Correlation(length=length, positions=tuple(positions)) if length and positions else None


def _numbers(raw: object, over: Sequence[Index], tables: Sequence[NumberTable]) -> list[float]:
    """Numbers over indices, in lists or in a table of the model; FaultError if they are none."""
    if not isinstance(raw, str):
        return nested_numbers(raw, over)
    known = {each.name: each for each in tables}
    if raw not in known:
        cure = near(raw, known) if known else "write the numbers"
        raise FaultError(f"{written(raw)} is not a table", cure)
    values, size = known[raw].values, math.prod(index.size for index in over)
    if len(known[raw].over) != len(over) or len(values) != size:
        words = " by ".join(str(index.size) for index in over)
        raise FaultError(f"table {raw} does not have {words} numbers", "name one that has")
    return [*values]


def _checked(matrix: Matrix) -> Matrix:
    """The matrix; FaultError if it is none of correlations."""
    for i, row in enumerate(matrix):
        if abs(row[i] - 1) > ROUNDING:
            what = f"the diagonal has {row[i]!r} in row {i + 1}"
            raise FaultError(what, "an element's correlation with itself is 1")
        for j in range(i):
            if abs(row[j] - matrix[j][i]) > ROUNDING:
                other = f"row {j + 1} has {matrix[j][i]!r}"
                what = f"not symmetric: row {i + 1} has {row[j]!r} where {other}"
                raise FaultError(what, "give one correlation for each pair")
    triangular(matrix)
    return matrix
