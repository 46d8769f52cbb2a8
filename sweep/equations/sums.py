"""What is summed over the window for the outputs of a model from a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from sweep.equations.code import Code
from sweep.equations.derivatives import ONE, ZERO, negative
from sweep.equations.expressions import COMPARISONS, Call, Expression, walk
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
                return self._count(event)
            case "event_mean":
                return f"{self._of_event(event, False, expression)} / {self._count(event)}"
            case "event_sum":
                return self._of_event(event, False, expression)
            case "event_maximum":
                found = self._of_event(event, True, expression)
                return f"select({found} == -systems::largest, missing(), {found})"
            case "values":
                raise AssertionError("several values of a point are no sum")

    def kinks(self, integrands: Iterable[Expression], code: Code) -> list[Expression]:
        """What changes its sign where one of the integrands has a kink or a jump."""
        found: dict[Expression, None] = {}
        for integrand in integrands:
            for part in walk(integrand):
                match part:
                    case Call("abs" | "sign", (a,)):
                        found[a] = None
                    case Call("min" | "max", (first, *others)):
                        found.update({Call("-", (first, other)): None for other in others})
                    case Call(function, (a, b)) if function in COMPARISONS:
                        found[Call("-", (a, b))] = None
                    case _:
                        pass
        return [expression for expression in found if not code.is_constant(expression)]

    def _integral(self, expression: Expression) -> str:
        return f"sums.integral[{_index(self.integrands, expression)}]"

    def _extreme(self, expression: Expression) -> str:
        return f"sums.extreme[{_index(self.extremes, expression)}]"

    def _count(self, event: str) -> str:
        return f"sums.count[{_index(self.counts, event)}]"

    def _of_event(self, event: str, maximum: bool, expression: Expression) -> str:
        place = _index(self.of_events, EventSum(event, maximum, expression))
        return f"sums.of_events[{place}]"


def _index(items: list[Item], item: Item) -> int:
    """The place of an item in a list, to which it is added if it is new."""
    if item not in items:
        items.append(item)
    return items.index(item)
