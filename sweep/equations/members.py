"""What members of `struct System` are written with: names in C++, sums over the window, shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from sweep.equations.algebra import ONE, ZERO
from sweep.equations.code import SIGNAL, Statements, is_ranged
from sweep.equations.derivatives import derivative, size_of
from sweep.equations.expressions import Call, Expression, Name, names_in, walk
from sweep.equations.output_kinds import KINDS, Sums
from sweep.equations.sides import Sides, side_name
from sweep.equations.system import Event, Rule, System

PREFIX = "u_"  # of user's names, so that none is a word of C++ or a name of ours
TABLE = "table_"  # of the structs of signals
RATE = "rate of "  # a state's name in derivatives along the motion
SIZE = "size of rate of "  # of what is added to make that rate
MOTION = "real t, Vector<states> const& y"  # what expressions depend on, in C++


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
        self.numbered_events: list[Event] = (
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
        return derivative(self.sides.inlined(expression), {**rates, **self.by_time()})

    def by_time(self) -> dict[str, Expression]:
        """The rates of time and signals."""
        return {"t": ONE, **{s.name: Name(RATE + s.name) for s in self.system.signals}}

    def size(self, expression: Expression) -> Expression:
        """How large the terms of an expression of states, or of a rate, are."""
        rates = {RATE + name: Name(SIZE + name) for name in self.states}
        return size_of(self.sides.inlined(expression), rates)

    def typical_size(self, expression: Expression) -> Expression:
        """How large they are where each state has its scale; constant during a motion."""
        sizes = {state.name: state.scale for state in self.system.states}
        others = {signal.name: ONE for signal in self.system.signals}
        size = size_of(self.sides.inlined(expression), {**sizes, **others, "t": ONE})
        return size if not self.sides.moves(size) else ONE

    def _floors(self) -> int:
        parts = chain.from_iterable(walk(self.sides.inlined(each)) for each in self.integrands)
        return sum(isinstance(part, Call) and part.function == "floor" for part in parts)

    def _integrands_of_all_outputs(self) -> list[Expression]:
        """Those of any output of the model, so that nothing depends on which are computed."""
        sums = Sums(self.sides)
        for rule in self.system.outputs:
            result_of(rule, sums)
        return sums.integrands


def result_of(rule: Rule, sums: Sums) -> str | None:
    """The C++ of an output that follows from sums; None if it follows from states alone."""
    kind, expression = KINDS[rule.kind], rule.expression or ZERO
    if kind.at_event and rule.event:
        return kind.at_event(sums, rule.event, expression)
    return kind.in_window(sums, expression) if kind.in_window else None


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


def constants(struct: str, number: int, fields: Mapping[str, str | int]) -> str:
    """The specialization of a struct for a number, with constants."""
    body = " ".join(f"static constexpr {name} = {value};" for name, value in fields.items())
    return f"template <> struct {struct}<{number}> {{ {body} }};"


def flag(on: bool) -> str:
    """The C++ of a bool."""
    return str(on).lower()
