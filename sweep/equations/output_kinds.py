"""The kinds of outputs: a row for each, and the numbers that a motion accumulates for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from sweep.equations.expressions import ONE, ZERO, Call, Expression, Name
from sweep.equations.functions import Kind, negative
from sweep.equations.sides import Sides
from sweep.equations.system import PERIOD, Rule

Item = TypeVar("Item")
TIME = Name("t")


@dataclass(frozen=True)
class EventSum:
    """What is kept of an expression right before each occurrence of an event.

    Or, with an `interval` of 1 or -1, of the time since the last occurrence or its negative.
    """

    event: str
    expression: Expression
    take: Literal["sum", "maximum", "last"] = "sum"
    interval: int = 0


@dataclass
class Sums:
    """The numbers that a motion accumulates, each once; filled by asking for their C++."""

    sides: Sides
    integrands: list[Expression] = field(default_factory=list[Expression])
    extremes: list[Expression] = field(default_factory=list[Expression])  # as maxima
    counts: list[str] = field(default_factory=list[str])  # events
    of_events: list[EventSum] = field(default_factory=list[EventSum])
    starts: list[Expression] = field(default_factory=list[Expression])
    of_samples: list[tuple[str, Expression]] = field(
        default_factory=list[tuple[str, Expression]]
    )  # signals, and what is summed at their samples

    def integral(self, expression: Expression) -> str:
        """The C++ of an integral over the window."""
        return _sum("integral", self.integrands, self.sides.held(expression))

    def maximum(self, expression: Expression) -> str:
        """The C++ of the largest value in the window."""
        return _sum("extreme", self.extremes, expression)

    def count(self, event: str) -> str:
        """The C++ of how often an event happens in the window."""
        return _sum("count", self.counts, event)

    def at_events(self, each: EventSum) -> str:
        """The C++ of what is kept over the occurrences of an event."""
        return _sum("of_events", self.of_events, each)

    def at_start(self, expression: Expression) -> str:
        """The C++ of the value at the start of the window."""
        return _sum("start", self.starts, expression)

    def at_samples(self, signal: str, expression: Expression) -> str:
        """The C++ of the sum of an expression over the samples of a signal."""
        return _sum("of_samples", self.of_samples, (signal, expression))

    @property
    def sampled(self) -> list[str]:
        """The signals at whose samples something is summed."""
        return list(dict.fromkeys(signal for signal, _ in self.of_samples))


def _sum(name: str, items: list[Item], item: Item) -> str:
    """The C++ of the sum for an item of a list, to which it is added if it is new."""
    if item not in items:
        items.append(item)
    return f"sums.{name}[{items.index(item)}]"


@dataclass(frozen=True, kw_only=True)
class OutputKind:
    """What an output of a kind is of, and its C++ if it follows from sums."""

    of: Kind | None = "number"  # None: of an event alone
    per_time: int = 0  # its expression is in its unit over so many powers of that of time
    has_unit: bool = True
    is_whole: bool = False  # its values are whole numbers
    # The C++ of an output that follows from sums:
    in_window: Callable[[Sums, Expression], str] | None = None
    at_event: Callable[[Sums, str, Expression], str] | None = None
    at_samples: Callable[[Sums, str, Expression], str] | None = None
    taken: Mapping[str, Callable[[Sums, str], str]] = field(  # of intervals, by `take`
        default_factory=dict[str, Callable[[Sums, str], str]]
    )
    # From sums and the last value, which alone is the output of other kinds:
    at_end: Callable[[Sums, Expression, str], str] = lambda _, __, last: last

    def result(self, sums: Sums, rule: Rule) -> str | None:
        """The C++ of an output that follows from sums; None if the last value is needed."""
        expression = rule.expression or ZERO
        if self.at_samples and rule.signal:
            return self.at_samples(sums, rule.signal, expression)
        if rule.take and rule.event:
            return self.taken[rule.take](sums, rule.event)
        if self.at_event and rule.event:
            return self.at_event(sums, rule.event, expression)
        return self.in_window(sums, expression) if self.in_window else None


def _share(sums: Sums, condition: Expression) -> str:
    part = sums.integral(Call("where", (condition, ONE, ZERO)))
    return f"functions::min({part} / length, 1.0)"  # lengths of steps are rounded


def _maximum_at(sums: Sums, event: str, expression: Expression) -> str:
    extreme = sums.at_events(EventSum(event, expression, "maximum"))
    return f"select({extreme} == -systems::largest, missing(), {extreme})"


def _of_intervals(
    take: Literal["sum", "maximum", "last"], text: str, sign: int = 1
) -> Callable[[Sums, str], str]:
    """The C++ of what `text` makes of something kept of intervals, of which there has to be one."""

    def result(sums: Sums, event: str) -> str:
        count = sums.count(event)
        kept = sums.at_events(EventSum(event, TIME, take, sign))
        sums.at_events(EventSum(event, TIME, "last"))  # from which the next interval counts
        return f"select({count} > 1.0, {text.format(kept=kept, count=count)}, missing())"

    return result


KINDS: Mapping[str, OutputKind] = {
    "mean": OutputKind(
        in_window=lambda sums, each: f"{sums.integral(each)} / length",
        at_event=lambda sums, event, each: (
            f"{sums.at_events(EventSum(event, each))} / {sums.count(event)}"
        ),
    ),
    "integral": OutputKind(in_window=Sums.integral, per_time=1),
    "minimum": OutputKind(in_window=lambda sums, each: f"-{sums.maximum(negative(each))}"),
    "maximum": OutputKind(in_window=Sums.maximum, at_event=_maximum_at),
    "rms": OutputKind(
        in_window=lambda sums, each: f"sqrt({sums.integral(Call('*', (each, each)))} / length)"
    ),
    "final": OutputKind(),
    "rate": OutputKind(
        per_time=-1, at_end=lambda sums, each, last: f"({last} - {sums.at_start(each)}) / length"
    ),
    "share": OutputKind(of="condition", has_unit=False, in_window=_share),
    "count": OutputKind(
        of=None,
        has_unit=False,
        is_whole=True,
        at_event=lambda sums, event, _: sums.count(event),
    ),
    "sum": OutputKind(
        at_event=lambda sums, event, each: sums.at_events(EventSum(event, each)),
        at_samples=Sums.at_samples,
    ),
    "interval": OutputKind(
        of=None,
        taken={
            "mean": _of_intervals("sum", "{kept} / ({count} - 1.0)"),
            "minimum": _of_intervals("maximum", "-{kept}", -1),
            "maximum": _of_intervals("maximum", "{kept}"),
            "last": _of_intervals("last", "{kept}"),
        },
    ),
    PERIOD: OutputKind(has_unit=False, is_whole=True),  # after which values repeat
    "values": OutputKind(),  # the last of several values
}
AT_EVENTS = [key for key, kind in KINDS.items() if kind.of and kind.at_event]
