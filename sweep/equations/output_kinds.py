"""The kinds of outputs: a row for each, and the numbers that a motion accumulates for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from sweep.equations.expressions import ONE, ZERO, Call, Expression
from sweep.equations.functions import Kind, negative
from sweep.equations.sides import Sides

Item = TypeVar("Item")


@dataclass(frozen=True)
class EventSum:
    """The sum, or the maximum, of an expression right before each occurrence of an event."""

    event: str
    is_maximum: bool
    expression: Expression


@dataclass
class Sums:
    """The numbers that a motion accumulates, each once; filled by asking for their C++."""

    sides: Sides
    integrands: list[Expression] = field(default_factory=list[Expression])
    extremes: list[Expression] = field(default_factory=list[Expression])  # as maxima
    counts: list[str] = field(default_factory=list[str])  # events
    of_events: list[EventSum] = field(default_factory=list[EventSum])

    def integral(self, expression: Expression) -> str:
        """The C++ of an integral over the window."""
        return _sum("integral", self.integrands, self.sides.held(expression))

    def maximum(self, expression: Expression) -> str:
        """The C++ of the largest value in the window."""
        return _sum("extreme", self.extremes, expression)

    def count(self, event: str) -> str:
        """The C++ of how often an event happens in the window."""
        return _sum("count", self.counts, event)

    def at_events(self, event: str, expression: Expression, *, is_maximum: bool = False) -> str:
        """The C++ of the sum or maximum of an expression over the occurrences of an event."""
        return _sum("of_events", self.of_events, EventSum(event, is_maximum, expression))


def _sum(name: str, items: list[Item], item: Item) -> str:
    """The C++ of the sum for an item of a list, to which it is added if it is new."""
    if item not in items:
        items.append(item)
    return f"sums.{name}[{items.index(item)}]"


@dataclass(frozen=True, kw_only=True)
class OutputKind:
    """What an output of a kind is of, and its C++ if it follows from sums."""

    of: Kind | None = "number"  # None: of an event alone
    per_time: bool = False  # its expression is in its unit over that of time
    has_unit: bool = True
    in_window: Callable[[Sums, Expression], str] | None = None  # the C++
    at_event: Callable[[Sums, str, Expression], str] | None = None  # the C++

    def result(self, sums: Sums, expression: Expression | None, event: str | None) -> str | None:
        """The C++ of an output that follows from sums; None if it follows from states alone."""
        if self.at_event and event:
            return self.at_event(sums, event, expression or ZERO)
        return self.in_window(sums, expression or ZERO) if self.in_window else None


def _share(sums: Sums, condition: Expression) -> str:
    part = sums.integral(Call("where", (condition, ONE, ZERO)))
    return f"functions::min({part} / length, 1.0)"  # lengths of steps are rounded


def _maximum_at(sums: Sums, event: str, expression: Expression) -> str:
    extreme = sums.at_events(event, expression, is_maximum=True)
    return f"select({extreme} == -systems::largest, missing(), {extreme})"


KINDS: Mapping[str, OutputKind] = {
    "mean": OutputKind(
        in_window=lambda sums, each: f"{sums.integral(each)} / length",
        at_event=lambda sums, event, each: f"{sums.at_events(event, each)} / {sums.count(event)}",
    ),
    "integral": OutputKind(in_window=Sums.integral, per_time=True),
    "minimum": OutputKind(in_window=lambda sums, each: f"-{sums.maximum(negative(each))}"),
    "maximum": OutputKind(in_window=Sums.maximum, at_event=_maximum_at),
    "rms": OutputKind(
        in_window=lambda sums, each: f"sqrt({sums.integral(Call('*', (each, each)))} / length)"
    ),
    "final": OutputKind(),  # the last value
    "share": OutputKind(of="condition", has_unit=False, in_window=_share),
    "count": OutputKind(of=None, has_unit=False, at_event=lambda sums, event, _: sums.count(event)),
    "sum": OutputKind(at_event=Sums.at_events),
    "values": OutputKind(),  # the last of several values
}
AT_EVENTS = [key for key, kind in KINDS.items() if kind.of and kind.at_event]
