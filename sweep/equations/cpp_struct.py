"""Members of `struct System` for the motion: rates and their derivatives, and where they end."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence

from sweep.equations.cpp_code import SIGNAL, Statements
from sweep.equations.expressions import ONE, Call, Expression, Name, walk
from sweep.equations.functions import RATE, derivative, is_ranged, size_of, where
from sweep.equations.output_kinds import KINDS, EventSum, Sums
from sweep.equations.sides import Sides, side_name
from sweep.equations.signals import DrawnSignal, Signal
from sweep.equations.switches import condition_name
from sweep.equations.system import Event, Rule, System
from sweep.model.elements import base, is_of, spelled

PREFIX = "u_"  # of user's names, so that none is a word of C++ or a name of ours
TABLE = "table_"  # of the structs of signals
LONG = 8  # states, of more of which kernels have loops
FEW = 2  # events, sides, kinks or holds, for each of which kernels have code of its own
DRAWN = "_drawn_"  # of the parameter with the address of a realisation, which users have not
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
        named = {rule.event for rule in rules if rule.event}
        # Beside events that act, the others take their turn in the order of the file. Where none
        # acts, they are only looked for if an output or the log of a trace needs them.
        self.events = [
            event
            for event in system.events
            if system.acting or traced or not named.isdisjoint((event.name, base(event.name)))
        ]
        self.definitions = {each.name: each.value for each in system.definitions}
        self.sides = Sides(system)
        of_all_outputs = Sums(self.sides)  # so that nothing depends on which are computed
        for rule in system.outputs:
            KINDS[rule.kind].result(of_all_outputs, rule)
        self.integrands = [self.sides.inlined(each) for each in of_all_outputs.integrands]
        self.holds = [self.sides.inlined(hold.condition) for hold in system.holds]
        extremes = (each for each in of_all_outputs.extremes if not self.sides.is_affine(each))
        self.bent = [self.sides.inlined(each) for each in extremes]
        self.sums = Sums(self.sides)
        self.jumps = sorted({t for signal in system.signals for t in signal.jumps if t > 0})
        sides = self.sides.watched
        self.watched: list[Event] = (
            [*self.events, *sides] if system.acting else [*sides, *self.events]
        )
        self.states = [state.name for state in system.states]
        self.modes = list(system.modes)
        self.switches = {each.name: each for each in system.automata}
        constants = {each.name: f"p.{spelled(PREFIX, each.name)}" for each in system.parameters}
        self.once = Statements({**constants, "pi": "pi"}, self.definitions, "c")
        with_kinks = (*self.integrands, *self.holds, *self.bent)
        parts = [part for each in with_kinks for part in walk(each)]
        floors = sum(isinstance(part, Call) and part.function == "floor" for part in parts)
        self._spelling = {
            **constants,
            "pi": "pi",
            "t": "t",
            **{name: f"y[{i}]" for i, name in enumerate(self.states)},
            **{RATE + name: f"f[{i}]" for i, name in enumerate(self.states)},
            **{SIZE + name: f"sizes[{i}]" for i, name in enumerate(self.states)},
            **{side_name(k).name: f"side[{k}]" for k in range(len(self.sides))},
            **{level_name(k).name: f"level[{k}]" for k in range(floors)},
            **{s.name: _signal("at", s) for s in system.signals},
            **{RATE + s.name: _signal("slope", s) for s in system.signals},
            **{RATE + RATE + s.name: _signal("bend", s) for s in system.signals},
            **{
                RATE * order + name: _drawn(s, i, order)
                for s in system.drawn
                for i, name in enumerate(s.elements)
                for order in range(3)
            },
            **{
                condition_name(name, value): f"(mode[{k}] == {i}.0)"
                for k, (name, switch) in enumerate(self.switches.items())
                for i, value in enumerate(switch.values)
            },
        }

    def code(self, phases: list[Expression] | None = None) -> Statements:
        """Statements inside a member of System; it adds the phases of waves that turn evenly."""
        return Statements(self._spelling, self.definitions, "x", self.once, phases)

    def vector(
        self,
        name: str,
        expressions: Sequence[Expression],
        arguments: str = "",
        *,
        size: str = "states",
        code: Statements | None = None,
        kind: str = "HD",
    ) -> str:
        """A member that returns one value for each state, or as many as `size` says."""
        code = code or self.code()
        values = [code.value(expression) for expression in expressions]
        sets = [f"of[{i}] = {value};" for i, value in enumerate(values)]
        head = f"Vector<{size}> {name}({arguments}) const"
        return function(head, [f"Vector<{size}> of;", *code.lines, *sets, "return of;"], kind)

    def numbered(self, name: str, expressions: Sequence[Expression], *vectors: str) -> str:
        """Members that return the expression of a number."""
        arguments = "".join(f", Vector<states> const& {each}" for each in vectors)
        bodies = map(self.returned, expressions)
        return choice(f"real {name}", MOTION + arguments, bodies, "return 0.0;")

    def along(self, name: str, expressions: Sequence[Expression]) -> Iterable[str]:
        """Members as of `numbered` for expressions and their rates along the dense motion.

        They take any type that has the states' values, so that those they need are computed.
        """
        at, bodies = "real t, Y const& y", map(self.returned, expressions)
        yield choice(f"real {name}", at, bodies, "return 0.0;", "class Y")
        bodies = [self.returned(self.rate(each)) for each in expressions]
        yield choice(
            f"real {name}_rate", f"{at}, F const& f", bodies, "return 0.0;", "class Y, class F"
        )

    def returned(self, expression: Expression | None) -> list[str]:
        """The statements that return an expression; without one, no statements."""
        if expression is None:
            return []
        code = self.code()
        value = code.value(expression)
        return [*code.lines, f"return {value};"]

    def is_ranged(self, *expressions: Expression) -> bool:
        """Whether an argument in them may leave its function's range."""
        return any(is_ranged(self.sides.inlined(each)) for each in expressions)

    def by_mode(self, state: str, *, held: bool = True) -> Expression:
        """The derivative of a state in whatever mode holds; with the sides that are `held`."""
        rates = self.sides.derivatives if held else self.system.modes
        *others, last = self.modes
        rate = rates[last][state]
        for mode in reversed(others):
            rate = where(Name(mode), rates[mode][state], rate)
        return rate

    def rate(self, expression: Expression) -> Expression:
        """The rate of change along the motion."""
        rates = {name: Name(RATE + name) for name in self.states}
        return derivative(self.sides.inlined(expression), {**rates, **self.by_time()})

    def by_time(self) -> dict[str, Expression]:
        """The rates of time and signals, and of the rates of signals that bend."""
        names = self.system.signal_names
        bent = [s.name for s in self.system.signals if s.table.interpolation == "cubic"]
        bent += [name for signal in self.system.drawn for name in signal.elements]
        rates = [*names, *(RATE + name for name in bent)]
        return {"t": ONE, **{name: Name(RATE + name) for name in rates}}

    def size(self, expression: Expression) -> Expression:
        """How large the terms of an expression of states, or of a rate, are."""
        rates = {RATE + name: Name(SIZE + name) for name in self.states}
        return size_of(self.sides.inlined(expression), rates)

    def typical_size(self, expression: Expression) -> Expression:
        """How large they are where each state has its scale; constant during a motion."""
        sizes = {state.name: state.scale for state in self.system.states}
        others = dict.fromkeys(self.system.signal_names, ONE)
        size = size_of(self.sides.inlined(expression), {**sizes, **others, "t": ONE})
        return size if not self.sides.moves(size) else ONE


def _signal(kind: str, signal: Signal) -> str:
    """The C++ of a signal, its rate or that one's rate; up to a jump, of the part before it."""
    time = "least(t, until)" if signal.jumps else "t"
    return f"{SIGNAL}_{kind}<{TABLE}{signal.name}>({time})"


def choice(
    head: str, parameters: str, bodies: Iterable[Sequence[str]], otherwise: str, more: str = ""
) -> str:
    """Members with a body for each number, and one that takes any number.

    Of a number whose body is empty, and of others, they do what `otherwise` says. `parameters`
    follow the number.
    """
    template = f"template <{more}>\n" if more else ""
    names = [parameter.split()[-1] for parameter in parameters.split(", ") if parameter]
    separator = ", " * bool(names)
    members: list[str] = []
    cases: list[str] = []
    for number, body in enumerate(bodies):
        index = f"systems::Index<{number}>"
        lines = body or [otherwise]
        members.append(template + function(f"{head}({index}{separator}{parameters}) const", lines))
        if body:
            call = f"{head.split()[-1]}({index}{{}}{separator}{', '.join(names)})"
            cases.append(f"case {number}: return {call};")
    switch = ["switch (i) {", *cases, "}"] if cases else []
    any_number = f"{head}(int i{separator}{parameters}) const"
    members.append(template + function(any_number, [*switch, otherwise], "SELDOM"))
    return "\n".join(members)


def _drawn(signal: DrawnSignal, element: int, order: int) -> str:
    """The C++ of an element of a signal by draw, or of its derivative of an order."""
    table = f"{TABLE}{signal.name}"
    return f"{SIGNAL}_drawn<{order}, {table}, {element}>(p.{DRAWN}{signal.name}, t)"


def function(head: str, lines: Iterable[str], kind: str = "HD") -> str:
    """A member function."""
    body = "\n".join(f"    {line}" for line in lines)
    return f"{kind} {head} {{\n{body}\n}}"


def table(struct: str, name: str, fields: str, rows: Sequence[Mapping[str, int]]) -> str:
    """A struct and an array of it, with at least one row, for constants looked up by number.

    What is the same in all rows is a constant of the struct: compilers leave out what it rules out.
    `fields` has a type and a name for each.
    """
    declared = {field.split()[-1]: field for field in fields.split(", ")}
    rows = rows or [dict.fromkeys(declared, 0)]
    values = {declared[name]: [f"{row[name]:d}" for row in rows] for name in declared}
    same = {field: texts[0] for field, texts in values.items() if len({*texts}) == 1}
    members = [
        f"static constexpr {field} = {same[field]};" if field in same else f"{field};"
        for field in values
    ]
    body = ", ".join(
        f"{{{', '.join(texts[i] for field, texts in values.items() if field not in same)}}}"
        for i in range(len(rows))
    )
    return f"struct {struct} {{ {' '.join(members)} }};\nTABLE {struct} {name}[] = {{{body}}};"


def rates(writer: Writer) -> Iterable[str]:
    """The derivatives of the states in whatever mode holds, by time or by a moment's waves."""
    rates = [writer.by_mode(name) for name in writer.states]
    kind = "SELDOM" if len(rates) > LONG else "HD"  # a step has them several times
    yield writer.vector("rates", rates, MOTION, kind=kind)
    if writer.turns:
        code = writer.code(writer.phases)
        code.lines.append("real t = now.t;")
        moment = "Moment const& now, Vector<states> const& y"
        yield writer.vector("rates", rates, moment, code=code)
        writer.arithmetic = not any("functions::" in line for line in code.lines)
    slopes = [derivative(writer.sides.inlined(phase), {"t": ONE}) for phase in writer.phases]
    turned = [Call("*", (slope, Name("t"))) for slope in slopes]
    yield writer.vector("phases", writer.phases, "real t", size="waves")
    yield writer.vector("turns_in", turned, "real t", size="waves")


def jacobian(writer: Writer) -> Iterable[str]:
    """The partial derivatives of the rates by the states, and by time."""
    rates = [writer.sides.inlined(writer.by_mode(name)) for name in writer.states]
    code = writer.code()
    sets = [
        f"rows[{i}][{j}] = {code.value(derivative(rate, {name: ONE}))};"
        for i, rate in enumerate(rates)
        for j, name in enumerate(writer.states)
    ]
    head = f"void jacobian({MOTION}, Vector<states>* rows) const"
    yield function(head, [*code.lines, *sets])
    by_time = [derivative(rate, writer.by_time()) for rate in rates]
    yield writer.vector("rates_by_time", by_time, MOTION)


def ends(writer: Writer) -> Iterable[str]:
    """Where an argument has left its function's range, and when a signal has its next sample."""
    code = writer.code()
    for state in writer.system.states:
        code.outside(writer.by_mode(state.name, held=False))
        code.outside(state.scale)
    for event in writer.system.events:
        if event.acts:
            code.outside(event.when)
    tables = [f"{TABLE}{signal.name}" for signal in writer.system.signals]
    gone = [f"outside = outside | functions::outside_signal<{each}>(t);" for each in tables]
    gone += [
        f"outside = outside | functions::outside_drawn<{TABLE}{s.name}>(p.{DRAWN}{s.name}, t);"
        for s in writer.system.drawn
    ]
    lines = ["mask outside = false;", *gone, *code.lines, "return outside;"]
    yield function(f"mask outside({MOTION}) const", lines)
    nexts = [f"next = least(next, functions::sample_after<{each}>(t));" for each in tables]
    # A spline is smooth, so steps need not end at its samples; but none passes over a period.
    nexts += [
        f"next = least(next, t + {s.duration / len(s.harmonic_amplitudes)!r});"
        for s in writer.system.drawn
    ]
    lines = [f"real next = {sys.float_info.max!r};", *nexts, "return next;"]
    yield function("real next_sample(real t) const", lines)


def sums_of(writer: Writer, event: Event) -> dict[str, EventSum | None]:
    """What is summed of the event; None: how often it happens."""
    counts = enumerate(writer.sums.counts)
    sums = enumerate(writer.sums.of_events)
    return {
        **{f"sums.count[{i}]": None for i, name in counts if is_of(event.name, name)},
        **{f"sums.of_events[{i}]": each for i, each in sums if is_of(event.name, each.event)},
    }
