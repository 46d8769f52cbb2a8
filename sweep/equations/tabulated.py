"""Tables over time: checked samples, the second derivatives of a spline, their C++."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise

from sweep.errors import FaultError
from sweep.model.time_series import TimeSeries

MAX_SAMPLES = 10**5
FOREVER = sys.float_info.max


def table_fault(
    times: Sequence[float], values: Sequence[float], *, may_jump: bool = False
) -> FaultError | None:
    """What is wrong with the samples of a table; None if nothing is.

    With `may_jump`, two of them inside it may have one time.
    """
    if len(times) != len(values):
        return FaultError(f"{len(times):,} times and {len(values):,} values", "give as many")
    if not 2 <= len(times) <= MAX_SAMPLES:
        return FaultError(f"{len(times):,} samples", f"give 2 to {MAX_SAMPLES:,}")
    for number, (a, b) in enumerate(pairwise(times), 2):
        is_inside = 2 < number < len(times)
        if b == a and may_jump and not is_inside:
            what = f"it jumps at {a!r} s, at its first or last sample"
            return FaultError(what, "a jump needs samples before and after it")
        if b == a and may_jump and times[number - 3] == a:
            return FaultError(f"three samples are at {a!r} s", "a jump has two: keep these")
        if b < a or (b == a and not may_jump):
            where = f"sample {number} is at {b!r} s, after one at {a!r} s"
            return FaultError(f"times do not increase: {where}", "sort the samples by time")
    if times[0] > 0:
        what = f"it begins at {times[0]!r} s, but the motion at 0 s"
        return FaultError(what, "give earlier samples")
    return None


def table_text(name: str, table: TimeSeries) -> str:
    """The struct of a table for kernels/tables.h.

    It is in an unnamed namespace: otherwise a static array of an inline function would be one
    for all libraries that a process loads.
    """
    cubic = table.interpolation == "cubic"
    table = _stairs(table) if table.interpolation == "previous" else table
    columns = {
        "time": table.times,
        "value": table.values,
        "bend": bends(table) if cubic else (0.0,),
    }
    lines = [
        "namespace {",
        f"struct {name} {{",
        f"static constexpr int64 samples = {len(table.times)};",
        f"static constexpr bool cubic = {str(cubic).lower()};",
    ]
    for column, values in columns.items():
        numbers = ",\n".join(map(repr, values))
        body = f"static const double values[] = {{\n{numbers}}};\nreturn values[i];"
        lines.append(f"HD static double {column}(int64 i) {{\n{body}\n}}")
    return "\n".join([*lines, "};", "}"]) + "\n"


def _stairs(table: TimeSeries) -> TimeSeries:
    """The linear table of one that keeps the value of its last sample.

    Its sample at the end of time makes the value after the last jump one of an interval.
    """
    times = [table.times[0], *(t for t in table.times[1:] for _ in range(2)), FOREVER]
    values = [value for value in table.values for _ in range(2)]
    return TimeSeries(tuple(times), tuple(values))


def jumps_text(name: str, times: Sequence[float]) -> str:
    """The struct of a table whose samples, after one before any motion, are at these times."""
    return table_text(name, TimeSeries((-1.0, *times), (0.0,) * (len(times) + 1)))


def bends(table: TimeSeries) -> list[float]:
    """The second derivatives of natural cubic splines between jumps, at the samples."""
    ends = [i for i, (a, b) in enumerate(pairwise(table.times), 1) if a == b]
    parts = pairwise([0, *ends, len(table.times)])
    return [bend for a, b in parts for bend in _bends(table.times[a:b], table.values[a:b])]


def _bends(t: Sequence[float], y: Sequence[float]) -> list[float]:
    """The second derivatives of a natural cubic spline at its samples: Thomas' algorithm."""
    steps = [b - a for a, b in pairwise(t)]
    slopes = [(b - a) / h for (a, b), h in zip(pairwise(y), steps, strict=True)]
    upper, right = [0.0], [0.0]
    for i in range(1, len(steps)):
        pivot = 2 * (steps[i - 1] + steps[i]) - steps[i - 1] * upper[-1]
        jump = 6 * (slopes[i] - slopes[i - 1])
        right.append((jump - steps[i - 1] * right[-1]) / pivot)
        upper.append(steps[i] / pivot)
    second_derivatives = [0.0]
    for i in range(len(steps) - 1, -1, -1):
        second_derivatives.append(right[i] - upper[i] * second_derivatives[-1])
    return second_derivatives[::-1]
