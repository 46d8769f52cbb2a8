"""Tables over time: checked samples, the second derivatives of a spline, their C++."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sweep.errors import FaultError
from sweep.model.time_series import TimeSeries

MAX_SAMPLES = 10**5


def table_fault(times: Sequence[float], values: Sequence[float]) -> FaultError | None:
    """What is wrong with the samples of a table; None if nothing is."""
    if len(times) != len(values):
        return FaultError(f"{len(times):,} times and {len(values):,} values", "give as many")
    if not 2 <= len(times) <= MAX_SAMPLES:
        return FaultError(f"{len(times):,} samples", f"give 2 to {MAX_SAMPLES:,}")
    for number, (a, b) in enumerate(pairwise(times), 2):
        if b <= a:
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


def bends(table: TimeSeries) -> list[float]:
    """The second derivatives of the natural cubic spline at its samples: Thomas' algorithm."""
    t, y = table.times, table.values
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
