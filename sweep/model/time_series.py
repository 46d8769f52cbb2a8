"""Quantities that are tables over time."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Interpolation = Literal["linear", "cubic", "previous"]


@dataclass(frozen=True)
class TimeSeries:
    """A quantity over time: samples, between which it is linear or a natural cubic spline.

    Where two samples have one time it jumps; with "previous" it keeps the value of the last sample.
    """

    times: tuple[float, ...]  # s, ascending
    values: tuple[float, ...]  # in the unit of the parameter
    interpolation: Interpolation = "linear"


def jumps(table: TimeSeries) -> tuple[float, ...]:
    """The times at which a table jumps."""
    if table.interpolation == "previous":
        return table.times[1:]
    return tuple(a for a, b in pairwise(table.times) if a == b)
