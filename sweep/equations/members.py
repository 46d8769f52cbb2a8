"""What members of `struct System` are written with: names in C++, sums over the window, shapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from sweep.equations.algebra import ONE, ZERO, negative
from sweep.equations.code import SIGNAL, Statements, is_ranged
from sweep.equations.derivatives import derivative, size_of
from sweep.equations.expressions import Call, Expression, Name, names_in, walk
from sweep.equations.sides import Side, Sides, side_name
from sweep.equations.system import Event, Rule, System

PREFIX = "u_"  # of user's names, so that none is a word of C++ or a name of ours
TABLE = "table_"  # of the structs of signals
RATE = "rate of "  # a state's name in derivatives along the motion
SIZE = "size of rate of "  # of what is added to make that rate
MOTION = "real t, Vector<states> const& y"  # what expressions depend on, in C++

Item = TypeVar("Item")


def level_name(number: int) -> Name:
    """The name of the whole number that a `floor` in an integrand has along a part of a step."""
    return Name(f"level {number}")


class Writer:
    """Writes the parts of the header; what is constant per point gathers in `once`."""

    def __init__(
        self, system: System, rules: Sequence[Rule], *, traced: bool = False, turns: bool = False
    ) -> None:
        self.system = system
        self.traced = traced
        self.turns = turns  # waves turn evenly, from node to node of steps of constant length
        self.phases: list[Expression] = []  # of these waves; filled by the rates
        self.arithmetic = True  # whether rates call no function; set by the rates
        self.rules = rules  # of the outputs that are computed
        named = {rule.event for rule in rules}
        # Beside events that act, the others take their turn in the order of the file. Where none
        # acts, they are only looked for if an output or the log of a trace needs them.
        self.events = [e for e in system.events if system.acting or traced or e.name in named]
        self.definitions = {each.name: each.value for each in system.definitions}
        self.sides = Sides(system)
        self.sums = Sums(self.sides)
        self.integrands = self._integrands_of_all_outputs()
        sides = self.sides.watched
        self.numbered_events: list[Event | Side] = (
            [*self.events, *sides] if system.acting else [*sides, *self.events]
        )
        self.states = [state.name for state in system.states]
        self.modes = [mode.name for mode in system.modes]
        constants = {each.name: f"p.{PREFIX}{each.name}" for each in system.parameters}
        self.once = Statements({**constants, "pi": "pi"}, self.definitions, "c")
        unvarying = {*constants, "pi"}
        for name, value in self.definitions.items():  # each follows those that it uses
            if names_in(value).keys() <= unvarying:
                unvarying.add(name)
        self._constants = frozenset(unvarying)
        self._spelling = {
            **constants,
            "pi": "pi",
            "t": "t",
            **{name: f"y[{i}]" for i, name in enumerate(self.states)},
            **{RATE + name: f"f[{i}]" for i, name in enumerate(self.states)},
            **{SIZE + name: f"sizes[{i}]" for i, name in enumerate(self.states)},
            **{side_name(k).name: f"side[{k}]" for k in range(len(self.sides))},
            **{level_name(k).name: f"level[{k}]" for k in range(self._floors())},
            **{s.name: f"{SIGNAL}_at<{TABLE}{s.name}>(t)" for s in system.signals},
            **{RATE + s.name: f"{SIGNAL}_slope<{TABLE}{s.name}>(t)" for s in system.signals},
            **{name: f"(mode == {k}.0)" for k, name in enumerate(self.modes)},
        }

    def code(self, phases: list[Expression] | None = None) -> Statements:
        """Statements inside a member of System; it adds the phases of waves that turn evenly."""
        return Statements(self._spelling, self.definitions, "x", self.once, self._constants, phases)

    def vector(
        self,
        name: str,
        expressions: Sequence[Expression],
        arguments: str = "",
        *,
        size: str = "states",
        code: Statements | None = None,
    ) -> str:
        """A member that returns one value for each state, or as many as `size` says."""
        code = code or self.code()
        values = [code.value(expression) for expression in expressions]
        sets = [f"of[{i}] = {value};" for i, value in enumerate(values)]
        head = f"Vector<{size}> {name}({arguments}) const"
        return function(head, [f"Vector<{size}> of;", *code.lines, *sets, "return of;"])

    def numbered(self, name: str, expressions: Sequence[Expression], *vectors: str) -> str:
        """A member template that returns the expression of a number."""
        arguments = "".join(f", Vector<states> const& {each}" for each in vectors)
        bodies = map(self.returned, expressions)
        return choice(f"real {name}({MOTION}{arguments})", bodies, "return 0.0;")

    def returned(self, expression: Expression | None) -> list[str]:
        """The statements that return an expression; without one, no statements."""
        if expression is None:
            return []
        code = self.code()
        value = code.value(expression)
        return [*code.lines, f"return {value};"]

    def is_ranged(self, *expressions: Expression) -> bool:
        """Whether an argument in them may leave its function's range."""
        return any(is_ranged(each, self.definitions) for each in expressions)

    def by_mode(self, state: str, *, held: bool = True) -> Expression:
        """The derivative of a state in whatever mode holds; with the sides that are `held`."""
        derivatives = {mode.name: mode.derivatives for mode in self.system.modes}
        if held:
            derivatives = self.sides.derivatives
        *others, last = self.modes
        expression = derivatives[last][state]
        for mode in reversed(others):
            here = derivatives[mode][state]
            if here != expression:
                expression = Call("where", (Name(mode), here, expression))
        return expression

    def rate(self, expression: Expression) -> Expression:
        """The rate of change along the motion."""
        rates = {name: Name(RATE + name) for name in self.states}
        return derivative(self.inlined(expression), {**rates, **self.by_time()})

    def by_time(self) -> dict[str, Expression]:
        """The rates of time and signals."""
        return {"t": ONE, **{s.name: Name(RATE + s.name) for s in self.system.signals}}

    def inlined(self, expression: Expression) -> Expression:
        """The expression without definitions."""
        return self.sides.inlined(expression)

    def size(self, expression: Expression) -> Expression:
        """How large the terms of an expression of states, or of a rate, are."""
        rates = {RATE + name: Name(SIZE + name) for name in self.states}
        return size_of(self.inlined(expression), rates)

    def typical_size(self, expression: Expression) -> Expression:
        """How large they are where each state has its scale; constant during a motion."""
        sizes = {state.name: state.scale for state in self.system.states}
        others = {signal.name: ONE for signal in self.system.signals}
        size = size_of(self.inlined(expression), {**sizes, **others, "t": ONE})
        return size if not self.sides.moves(size) else ONE

    def _floors(self) -> int:
        parts = chain.from_iterable(walk(self.inlined(each)) for each in self.integrands)
        return sum(isinstance(part, Call) and part.function == "floor" for part in parts)

    def _integrands_of_all_outputs(self) -> list[Expression]:
        """Those of any output of the model, so that nothing depends on which are computed."""
        sums = Sums(self.sides)
        code = Statements({}, {}, "")
        for rule in self.system.outputs:
            if rule.kind not in ("values", "final"):
                sums.result(rule, code)
        return sums.integrands


@dataclass(frozen=True)
class EventSum:
    """The sum, or the maximum, of an expression right before each occurrence of an event."""

    event: str
    maximum: bool
    expression: Expression


@dataclass
class Sums:
    """The numbers that a motion accumulates, each once; filled by asking for results."""

    sides: Sides
    integrands: list[Expression] = field(default_factory=list[Expression])
    extremes: list[Expression] = field(default_factory=list[Expression])  # as maxima
    counts: list[str] = field(default_factory=list[str])  # events
    of_events: list[EventSum] = field(default_factory=list[EventSum])

    def result(self, rule: Rule, code: Statements) -> str:
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
                part = self._integral(Call("where", (expression, ONE, ZERO)))
                return f"functions::min({part} / length, 1.0)"  # lengths of steps are rounded
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
        return _sum("integral", self.integrands, self.sides.held(expression))

    def _extreme(self, expression: Expression) -> str:
        return _sum("extreme", self.extremes, expression)

    def _of_event(self, event: str, maximum: bool, expression: Expression) -> str:
        return _sum("of_events", self.of_events, EventSum(event, maximum, expression))


def _sum(name: str, items: list[Item], item: Item) -> str:
    """The C++ of the sum for an item of a list, to which it is added if it is new."""
    if item not in items:
        items.append(item)
    return f"sums.{name}[{items.index(item)}]"


def choice(head: str, bodies: Iterable[Sequence[str]], otherwise: str, more: str = "") -> str:
    """A member template with one body for each number, where it is not empty."""
    lines = [
        line
        for number, body in enumerate(bodies)
        if body
        for line in (f"if constexpr (i == {number}) {{", *body, "} else")
    ]
    template = f"template <int i{', ' * bool(more)}{more}>"
    return f"{template}\n{function(f'{head} const', [*lines, '{', otherwise, '}'])}"


def function(head: str, lines: Iterable[str]) -> str:
    """A member function."""
    body = "\n".join(f"    {line}" for line in lines)
    return f"HD {head} {{\n{body}\n}}"


def flag(on: bool) -> str:
    """The C++ of a bool."""
    return str(on).lower()
