"""What is summed over the window for the outputs of a model from a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from sweep.equations.code import Code
from sweep.equations.derivatives import ONE, ZERO, negative
from sweep.equations.expressions import Call, Expression
from sweep.equations.system import Rule

Item = TypeVar("Item")


@dataclass(frozen=True)
class EventSum:
    """The sum, or the maximum, of an expression right before each occurrence of an event."""

    event: str
    maximum: bool
    expression: Expression


@dataclass
class Sums:
    """The numbers that a motion accumulates, each once; filled by asking for results."""

    integrands: list[Expression] = field(default_factory=list[Expression])
    extremes: list[Expression] = field(default_factory=list[Expression])  # as maxima
    counts: list[str] = field(default_factory=list[str])  # events
    of_events: list[EventSum] = field(default_factory=list[EventSum])

    def result(self, rule: Rule, code: Code) -> str:
        """The C++ of an output, after the statements that `code` has."""
        expression = rule.expression or ZERO
        event = rule.event or ""
        match rule.kind:
            case "mean":
                return f"{self._integral(expression)} / length"
            case "integral":
                return self._integral(expression)
            case "rms":
                square = self._integral(Call("*", (expression, expression)))
                return f"sqrt({square} / length)"
            case "share":
                return f"{self._integral(Call('where', (expression, ONE, ZERO)))} / length"
            case "maximum":
                return self._extreme(expression)
            case "minimum":
                return f"-{self._extreme(negative(expression))}"
            case "final":
                return code.value(expression)
            case "count":
                return _sum("count", self.counts, event)
            case "event_mean":
                total = self._of_event(event, False, expression)
                return f"{total} / {_sum('count', self.counts, event)}"
            case "event_sum":
                return self._of_event(event, False, expression)
            case "event_maximum":
                extreme = self._of_event(event, True, expression)
                return f"select({extreme} == -systems::largest, missing(), {extreme})"
            case "values":
                raise AssertionError("several values of a point are no sum")

    def _integral(self, expression: Expression) -> str:
        return _sum("integral", self.integrands, expression)

    def _extreme(self, expression: Expression) -> str:
        return _sum("extreme", self.extremes, expression)

    def _of_event(self, event: str, maximum: bool, expression: Expression) -> str:
        return _sum("of_events", self.of_events, EventSum(event, maximum, expression))


def _sum(name: str, items: list[Item], item: Item) -> str:
    """The C++ of the sum for an item of a list, to which it is added if it is new."""
    if item not in items:
        items.append(item)
    return f"sums.{name}[{items.index(item)}]"
