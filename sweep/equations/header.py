"""The C++ header of a model from a file: its equations, events and outputs for kernels/systems/."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sweep.equations.code import SIGNAL, Code
from sweep.equations.derivatives import ONE, ZERO, derivative
from sweep.equations.expressions import Call, Expression, Name
from sweep.equations.sums import Sums
from sweep.equations.system import PERIOD, Event, Rule, System
from sweep.equations.tabulated import table_text

PREFIX = "u_"  # of user's names, so that none is a word of C++ or a name of ours
TABLE = "table_"  # of the structs of signals
RATE = "rate of "  # a state's name in derivatives along the motion
DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}
SCHEMES = {"rk4": "Rk4", "rk54": "Rk54", "dop853": "Dop853", "rodas4": "Rodas4"}
MOTION = "real t, Vector<states> const& y"  # what expressions depend on, in C++


def header_of(
    system: System, outputs: Collection[str], method: str, *, traced: bool = False
) -> str:
    """The text that stands where a shipped model has its header; only `outputs` are computed.

    With `traced`, the kernel also writes a log of the events.
    """
    rules = [rule for rule in system.outputs if rule.name in outputs]
    writer = Writer(system, rules, traced=traced, turns=method == "rk4")
    results = writer.results()  # first: it fills the sums
    members = [
        writer.vector("initial", [state.initial for state in system.states]),
        writer.vector("scales", [state.scale for state in system.states]),
        *writer.rates(),
        *(writer.jacobian() if method == "rodas4" else ()),
        *writer.event_members(),
        writer.outside(),
        *writer.integrals(),
        writer.record(),
        *writer.periods(),
        writer.window(),
        results,
        writer.observables(),
    ]
    return "\n".join(
        [
            '#include "systems/functions.h"',
            *(['#include "systems/signals.h"'] if system.signals else ()),
            *(table_text(f"{TABLE}{each.name}", each.table) for each in system.signals),
            '#include "systems/ring.h"',
            *(['#include "event_log.h"'] if traced else ()),
            "namespace equations {",
            "using systems::Vector;",
            *writer.numbers(),
            *(_event_rule(i, event, system) for i, event in enumerate(writer.events)),
            "struct System {",
            "Parameters const& p;",
            "real mode = 0.0;",
            *writer.constants(),  # last: all members have asked for theirs
            *members,
            "};",
            "HD Span span(Parameters const& p) {",
            "    auto window = System(p).window();",
            "    return {window.start, window.end};",
            "}",
            "}  // namespace equations",
            f'#include "systems/{method}.h"',
            '#include "systems/motion.h"',
            '#include "method.h"',
            f"namespace {method} {{",
            f"METHOD(systems::Motion<systems::{SCHEMES[method]}>)",
            "}",
            "",
        ]
    )


def acts(event: Event) -> bool:
    """Whether it changes the motion; the others are only seen, on the dense motion of a step."""
    return bool(event.sets or event.then or event.stop_after)


def _event_rule(number: int, event: Event, system: System) -> str:
    """What is known about an event when the kernel is compiled."""
    modes = [mode.name for mode in system.modes]
    fields = {
        "int direction": DIRECTIONS[event.direction],
        "int then": -1 if event.then is None else modes.index(event.then),
        "double stop_after": event.stop_after or 0,
        "bool at_entry": _flag(event.at_entry),
        "bool conditional": _flag(event.condition is not None),
        "bool sets": _flag(bool(event.sets)),
    }
    body = " ".join(f"static constexpr {name} = {value};" for name, value in fields.items())
    return f"template <> struct Rule<{number}> {{ {body} }};"


def _flag(on: bool) -> str:
    return str(on).lower()


class Writer:
    """Writes the parts of the header; what is constant per point gathers in `once`."""

    def __init__(
        self, system: System, rules: Sequence[Rule], *, traced: bool = False, turns: bool = False
    ) -> None:
        self.system = system
        self.traced = traced
        self.turns = turns  # waves turn evenly, from node to node of steps of constant length
        self.phases: list[Expression] = []  # of these waves; filled by the rates
        self.rules = rules  # of the outputs that are computed
        self.sums = Sums()
        acting = [event for event in system.events if acts(event)]
        named = {rule.event for rule in rules}
        seen = [event for event in system.events if not acts(event)]
        self.acting = len(acting)
        # Those that are only seen follow, if an output or the log of a trace needs them.
        self.events = [*acting, *(event for event in seen if traced or event.name in named)]
        self.definitions = {each.name: each.value for each in system.definitions}
        self.states = [state.name for state in system.states]
        self.modes = [mode.name for mode in system.modes]
        constants = {each.name: f"p.{PREFIX}{each.name}" for each in system.parameters}
        self.once = Code({**constants, "pi": "pi"}, self.definitions, "c")
        self._constants = frozenset((*constants, "pi"))
        self._spelling = {
            **constants,
            "pi": "pi",
            "t": "t",
            **{name: f"y[{i}]" for i, name in enumerate(self.states)},
            **{RATE + name: f"f[{i}]" for i, name in enumerate(self.states)},
            **{s.name: f"{SIGNAL}_at<{TABLE}{s.name}>(t)" for s in system.signals},
            **{RATE + s.name: f"{SIGNAL}_slope<{TABLE}{s.name}>(t)" for s in system.signals},
            **{name: f"(mode == {k}.0)" for k, name in enumerate(self.modes)},
        }

    def code(self, phases: list[Expression] | None = None) -> Code:
        """Statements inside a member of System; it adds the phases of waves that turn evenly."""
        return Code(self._spelling, self.definitions, "x", self.once, self._constants, phases)

    def numbers(self) -> Iterable[str]:
        """How many there are of everything, for the sizes of arrays."""
        counts = {
            "states": len(self.states),
            "events": self.acting,
            "observed": len(self.events) - self.acting,
            "integrals": len(self.sums.integrands),
            "extremes": len(self.sums.extremes),
            "counts": len(self.sums.counts),
            "event_sums": len(self.sums.of_events),
            "kinks": len(self._kinks()),
            "waves": len(self.phases),
        }
        yield from (f"constexpr int {name} = {count};" for name, count in counts.items())
        yield "struct Waves { Vector<waves> sine, cosine; };"
        yield "struct Moment { real t; Waves waves; };"
        entry = any(event.at_entry for event in self.system.events)
        kept = {rule.name: rule.keep or 1 for rule in self.rules if rule.kind == "values"}
        yield f"constexpr int most_kept = {max(kept.values(), default=0)};"
        yield f"constexpr bool periodic = {_flag(bool(self._sampled(PERIOD)))};"
        yield "struct Samples {"
        yield from (f"    systems::Ring<{keep}> {PREFIX}{name};" for name, keep in kept.items())
        clears = [f"{PREFIX}{name}.clear();" for name in kept]
        if self.traced:
            yield "    real logged;"
            clears.append("logged = 0.0;")
        yield _function("void clear()", clears)
        yield "};"
        yield f"constexpr double start_mode = {self.modes.index(self.system.start_mode)}.0;"
        yield f"constexpr bool entry_events = {_flag(entry)};"
        yield "template <int i> struct EventSum { static constexpr bool maximum = false; };"
        for i, each in enumerate(self.sums.of_events):
            if each.maximum:
                special = "{ static constexpr bool maximum = true; }"
                yield f"template <> struct EventSum<{i}> {special};"
        yield "template <int e> struct Rule;"

    def constants(self) -> Iterable[str]:
        """Members for what is constant per point, and the constructor that computes them."""
        assignments: list[str] = []
        for line in self.once.lines:
            if line.startswith("functions::"):
                assignments.append(line)
            elif " = " not in line:  # of sine and cosine
                yield line
            else:
                kind, rest = line.split(" ", 1)
                yield f"{kind} {rest.split(' ', 1)[0]};"
                assignments.append(rest)
        yield "HD explicit System(Parameters const& p) : p(p) {"
        yield from (f"    {line}" for line in assignments)
        yield "}"

    def vector(
        self,
        name: str,
        expressions: Sequence[Expression],
        given: str = "",
        *,
        size: str = "states",
        code: Code | None = None,
    ) -> str:
        """A member that returns one value for each state, or as many as `size` says."""
        code = code or self.code()
        values = [code.value(expression) for expression in expressions]
        sets = [f"of[{i}] = {value};" for i, value in enumerate(values)]
        head = f"Vector<{size}> {name}({given}) const"
        return _function(head, [f"Vector<{size}> of;", *code.lines, *sets, "return of;"])

    def rates(self) -> Iterable[str]:
        """The derivatives of the states in whatever mode holds, by time or by a moment's waves."""
        rates = [self._by_mode(name) for name in self.states]
        yield self.vector("rates", rates, MOTION)
        if self.turns:
            code = self.code(self.phases)
            code.lines.append("real t = now.t;")
            moment = "Moment const& now, Vector<states> const& y"
            yield self.vector("rates", rates, moment, code=code)
        slopes = [derivative(self._inlined(phase), {"t": ONE}) for phase in self.phases]
        turned = [Call("*", (slope, Name("t"))) for slope in slopes]
        yield self.vector("phases", self.phases, "real t", size="waves")
        yield self.vector("turns_in", turned, "real t", size="waves")

    def jacobian(self) -> Iterable[str]:
        """The partial derivatives of the rates by the states, and by time."""
        rates = [self._inlined(self._by_mode(name)) for name in self.states]
        code = self.code()
        sets = [
            f"rows[{i}][{j}] = {code.value(derivative(rate, {name: ONE}))};"
            for i, rate in enumerate(rates)
            for j, name in enumerate(self.states)
        ]
        head = f"void jacobian({MOTION}, Vector<states>* rows) const"
        yield _function(head, [*code.lines, *sets])
        by_time = [derivative(rate, self._by_time()) for rate in rates]
        yield self.vector("rates_by_time", by_time, MOTION)

    def event_members(self) -> Iterable[str]:
        """The expressions of the events, their rates, modes, conditions and `set`."""
        events = self.events
        yield self._numbered("when", [event.when for event in events])
        rates = [self._rate(event.when) for event in events]
        yield self._numbered("when_rate", rates, "f")
        modes = [[f"(mode == {self.modes.index(m)}.0)" for m in event.modes] for event in events]
        active = [[f"return {' | '.join(each) or 'true'};"] for each in modes]
        yield _choice("mask active()", active, "return true;")
        yield _choice(f"mask condition({MOTION})", map(self._condition, events), "return true;")
        yield _choice(f"Vector<states> after({MOTION})", map(self._after, events), "return y;")

    def _condition(self, event: Event) -> list[str]:
        if event.condition is None:
            return []
        code = self.code()
        value = code.value(event.condition)
        return [*code.lines, f"return {value};"]

    def _after(self, event: Event) -> list[str]:
        """The states right after the event, all from those right before."""
        code = self.code()
        values = {name: code.value(value) for name, value in event.sets.items()}
        sets = [f"next[{self.states.index(name)}] = {value};" for name, value in values.items()]
        return [*code.lines, "auto next = y;", *sets, "return next;"] if sets else []

    def outside(self) -> str:
        """Where an argument has left the range of its function."""
        code = self.code()
        for name in self.states:
            code.outside(self._by_mode(name))
        for event in self.events[: self.acting]:
            code.outside(event.when)
        ends = [
            f"outside = outside | functions::outside_signal<{TABLE}{signal.name}>(t);"
            for signal in self.system.signals
        ]
        lines = ["mask outside = false;", *ends, *code.lines, "return outside;"]
        return _function(f"mask outside({MOTION}) const", lines)

    def integrals(self) -> Iterable[str]:
        """What is integrated, whose extremes are sought, and where integrands have kinks."""
        yield self._numbered("integrand", self.sums.integrands)
        yield self._numbered("extreme", self.sums.extremes)
        yield self._numbered("extreme_rate", [self._rate(e) for e in self.sums.extremes], "f")
        yield self._numbered("kink", self._kinks())

    def record(self) -> str:
        """What is kept of each event, from the state right before it."""
        head = f"void record(Sums& sums, {MOTION}, mask here)"
        bodies = [self._recorded(event) for event in self.events]
        if self.traced:  # its only lane has the event
            for event, body in zip(self.events, bodies, strict=True):
                number = self.system.events.index(event)
                body.append(f"log_event(sums.samples.logged, t, {number});")
        return _choice(head, bodies, "", "class Sums")

    def _recorded(self, event: Event) -> list[str]:
        code = self.code()
        new = {
            f"sums.count[{i}]": "{0} + 1.0"
            for i, name in enumerate(self.sums.counts)
            if name == event.name
        }
        for i, each in enumerate(self.sums.of_events):
            if each.event == event.name:
                value = code.value(each.expression)
                rule = f"greatest({value}, {{0}})" if each.maximum else f"{{0}} + {value}"
                new[f"sums.of_events[{i}]"] = rule
        sets = [
            f"{sum_} = select(here, {rule.format(sum_)}, {sum_});" for sum_, rule in new.items()
        ]
        samples = self._samples(event.name, code)
        return [*code.lines, *sets, *samples]

    def _sampled(self, every: str) -> list[Rule]:
        return [rule for rule in self.rules if rule.kind == "values" and rule.every == every]

    def _samples(self, every: str, code: Code) -> list[str]:
        """Keep a value of each output that has one at every such event or period."""
        values = {r.name: code.value(r.expression or ZERO) for r in self._sampled(every)}
        return [f"sums.samples.{PREFIX}{name}.add({v}, here);" for name, v in values.items()]

    def periods(self) -> Iterable[str]:
        """The period, and the values taken at each."""
        period = self.once.value(self.system.period or ONE)
        yield _function("real period() const", [f"return {period};"])
        code = self.code()
        adds = self._samples(PERIOD, code)
        head = f"void sample(Sums& sums, {MOTION}, mask here) const"
        yield "template <class Sums>\n" + _function(head, [*code.lines, *adds])

    def window(self) -> str:
        """Start and end of the window, in the unit of time."""
        by_time = "return {p.window_start, p.window_end};"
        if self.system.period is None:
            lines = [by_time]
        else:
            period = self.once.value(self.system.period)
            lines = [
                "if constexpr (parameter_set == ParameterSet::by_cycles)",
                f"    return {{p.start_cycle * {period}, p.end_cycle * {period}}};",
                "else",
                f"    {by_time}",
            ]
        return "struct Window { real start, end; };\n" + _function("Window window() const", lines)

    def results(self) -> str:
        """The outputs, from the sums and the last state."""
        code = self.code()
        sets = [self._output(rule, code) for rule in self.rules]
        head = f"Outputs outputs(Sums const& sums, {MOTION}, real length) const"
        body = ["Outputs out;", *code.lines, *sets, "return out;"]
        return "template <class Sums>\n" + _function(head, body)

    def _output(self, rule: Rule, code: Code) -> str:
        name = f"{PREFIX}{rule.name}"
        if rule.kind == "values":
            return f"sums.samples.{name}.write(out.{name});"
        return f"out.{name} = {self.sums.result(rule, code)};"

    def observables(self) -> str:
        """The states, the definitions and the mode, at one moment."""
        code = self.code()
        values = {
            **{name: f"y[{i}]" for i, name in enumerate(self.states)},
            **{each.name: code.value(each.value) for each in self.system.definitions},
            **({"mode": "mode"} if self.system.mode_names else {}),
        }
        sets = [f"seen.{PREFIX}{name} = {value};" for name, value in values.items()]
        head = f"Observables observables({MOTION}) const"
        return _function(head, ["Observables seen;", *code.lines, *sets, "return seen;"])

    def _numbered(self, name: str, expressions: Sequence[Expression], *more: str) -> str:
        """A member template that returns the expression of a number."""
        bodies: list[list[str]] = []
        for expression in expressions:
            code = self.code()
            value = code.value(expression)
            bodies.append([*code.lines, f"return {value};"])
        given = "".join(f", Vector<states> const& {each}" for each in more)
        return _choice(f"real {name}({MOTION}{given})", bodies, "return 0.0;")

    def _kinks(self) -> list[Expression]:
        """Those of all outputs of the model, so that none depends on which others are computed."""
        if not self.sums.integrands:
            return []
        whole = Sums()
        for rule in self.system.outputs:
            if rule.kind != "values":
                whole.result(rule, self.code())
        return whole.kinks(map(self._inlined, whole.integrands), self.code())

    def _by_mode(self, state: str) -> Expression:
        """The derivative of a state in whatever mode holds."""
        *others, last = self.system.modes
        expression = last.derivatives[state]
        for mode in reversed(others):
            here = mode.derivatives[state]
            if here != expression:
                expression = Call("where", (Name(mode.name), here, expression))
        return expression

    def _rate(self, expression: Expression) -> Expression:
        """The rate of change along the motion."""
        rates = {name: Name(RATE + name) for name in self.states}
        return derivative(self._inlined(expression), {**rates, **self._by_time()})

    def _by_time(self) -> dict[str, Expression]:
        """The rates of time and signals."""
        return {"t": ONE, **{s.name: Name(RATE + s.name) for s in self.system.signals}}

    def _inlined(self, expression: Expression) -> Expression:
        """The expression without definitions."""
        match expression:
            case Name(name) if name in self.definitions:
                return self._inlined(self.definitions[name])
            case Call(function, arguments):
                return Call(function, tuple(self._inlined(each) for each in arguments))
            case _:
                return expression


def _choice(head: str, bodies: Iterable[Sequence[str]], otherwise: str, more: str = "") -> str:
    """A member template with one body for each number, where it is not empty."""
    lines = [
        line
        for number, body in enumerate(bodies)
        if body
        for line in (f"if constexpr (i == {number}) {{", *body, "} else")
    ]
    template = f"template <int i{', ' * bool(more)}{more}>"
    return f"{template}\n{_function(f'{head} const', [*lines, '{', otherwise, '}'])}"


def _function(head: str, lines: Iterable[str]) -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"HD {head} {{\n{body}\n}}"
