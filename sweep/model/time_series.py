"""Quantities that are tables over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Interpolation = Literal["linear", "cubic"]


@dataclass(frozen=True)
class TimeSeries:
    """A quantity over time: samples, between which it is linear or a natural cubic spline."""

    times: tuple[float, ...]  # s, ascending
    values: tuple[float, ...]  # in the unit of the parameter
    interpolation: Interpolation = "linear"
