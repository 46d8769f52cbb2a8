"""The window over which outputs are taken: its ends in time, or counted in periods.

A motion starts at time 0 and ends with its window, if no event ends it before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sweep.model.table import Parameter, ParameterSet, Relation

ROUNDING = 1e-12  # relative, of an end in time that is computed from a period


@dataclass(frozen=True)
class Window:
    """The two parameters that give a window."""

    start: str
    end: str
    unit: str

    @property
    def names(self) -> tuple[str, str]:
        return self.start, self.end

    @property
    def relation(self) -> Relation:
        """The end has to be after the start."""
        return Relation(lesser=self.start, greater=self.end, reason="the window is empty")

    def parameter_set(
        self,
        name: str,
        *,
        symbols: tuple[str, str],
        meanings: tuple[str, str],
        default_start: float | None = None,
    ) -> ParameterSet:
        """The parameters in the words of a model."""
        start = Parameter(name=self.start, symbol=symbols[0], unit=self.unit, minimum=0,
                          default=default_start, meaning=meanings[0])  # fmt: skip
        end = Parameter(name=self.end, symbol=symbols[1], unit=self.unit, minimum=0,
                        open_minimum=True, meaning=meanings[1])  # fmt: skip
        return ParameterSet(name=name, parameters=(start, end))


IN_TIME = Window("window_start", "window_end", "s")
IN_CYCLES = Window("start_cycle", "end_cycle", "1")
WINDOWS = (IN_TIME, IN_CYCLES)
RELATIONS = tuple(window.relation for window in WINDOWS)


def end_in_time(values: Mapping[str, Any], period: Any | None) -> Any | None:
    """The end in time; None if it is unknown.

    One that is computed from a period is lowered by more than its rounding, so that it is not after
    a time that it equals.
    """
    if IN_TIME.end in values:
        return values[IN_TIME.end]
    if period is None or IN_CYCLES.end not in values:
        return None
    return values[IN_CYCLES.end] * period * (1 - ROUNDING)


def end_in_cycles(values: Mapping[str, Any], angular_frequency: Any) -> Any:
    """The end in periods of this angular frequency; 0 if it is unknown."""
    if IN_CYCLES.end in values:
        return values[IN_CYCLES.end]
    return angular_frequency * values.get(IN_TIME.end, 0.0) / (2 * math.pi)


def period_of(values: Mapping[str, float], first: float, last: float) -> float | None:
    """The period of a window from `first` to `last` in time; None if it is not in periods."""
    if not values.keys() >= {*IN_CYCLES.names}:
        return None
    return (last - first) / (values[IN_CYCLES.end] - values[IN_CYCLES.start])
