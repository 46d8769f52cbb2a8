"""When the motion of a model from a file ends, as far as its parameters tell before it is computed.

Values are numbers, or arrays of one value for each point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sweep.equations.derived import inputs, value_of
from sweep.equations.expressions import text_of
from sweep.equations.system import PERIOD, System
from sweep.errors import FaultError
from sweep.windows import IN_CYCLES, end_in_time


def causes_in_window(system: System, values: Mapping[str, Any]) -> dict[str, Any]:
    """By sentence, where the period or the end of a signal takes a point outside validity."""
    causes: dict[str, Any] = {}
    period = _period(system, values)
    counts = IN_CYCLES.end in values or any(rule.every == PERIOD for rule in system.outputs)
    if period is not None and counts:
        causes["the period has to be above 0"] = ~(period > 0)
    for name, last, end in _ends(system, values):
        causes[f"{name} ends at {last!r} {system.time_unit}, before the motion"] = end > last
    return causes


def early_signals(
    system: System, values: Mapping[str, float]
) -> Iterator[tuple[str, float, float]]:
    """The signals that end before the motion: name, last sample, end of the motion."""
    return ((name, last, end) for name, last, end in _ends(system, values) if end > last)


def _ends(system: System, values: Mapping[str, Any]) -> Iterator[tuple[str, float, Any]]:
    """Each signal, its last sample and the end of the motion, if no event may end that before."""
    end = end_in_time(values, _period(system, values))
    if end is None or any(event.stop_after for event in system.events):
        return
    for signal in system.signals:
        yield signal.name, signal.table.times[-1], end


def _period(system: System, values: Mapping[str, Any]) -> Any:
    """The period; None without one, or if it has an input or a function whose value is unknown."""
    if system.period is None:
        return None
    text = text_of(system.period)
    try:
        return value_of(text, values) if values.keys() >= {*inputs(text)} else None
    except FaultError:
        return None
