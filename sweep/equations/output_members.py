"""Members of `struct System` for outputs and observables, and what is summed for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from sweep.equations.algebra import ONE, ZERO
from sweep.equations.code import Statements
from sweep.equations.derivatives import derivative
from sweep.equations.expressions import Call, Expression, walk, whole_power
from sweep.equations.functions import CALLS
from sweep.equations.members import (
    MOTION,
    PREFIX,
    Writer,
    constants,
    flag,
    function,
    level_name,
    result_of,
)
from sweep.equations.system import PERIOD, Rule


def integrals(writer: Writer) -> Iterable[str]:
    """What is integrated, whose extremes are sought, and where integrands have kinks."""
    yield writer.numbered("integrand", writer.sums.integrands)
    yield writer.numbered("extreme", writer.sums.extremes)
    yield writer.numbered("extreme_rate", [writer.rate(e) for e in writer.sums.extremes], "f")
    kinks = [kink.when for kink in kinks_of(writer)]
    yield writer.numbered("kink", kinks)
    yield writer.numbered("kink_rate", [*map(writer.rate, kinks)], "f")


@dataclass(frozen=True)
class Kink:
    """What changes its sign where an integrand has a kink or a jump."""

    when: Expression
    level: int = -1  # the number of the `floor` whose ends it is
    own: int = 0  # of its lower end 1, of its upper -1


def kink_rules(writer: Writer) -> Iterable[str]:
    """What is known about each kink when the kernel is compiled."""
    for number, kink in enumerate(kinks_of(writer)):
        straight = writer.sides.is_affine(kink.when)
        fields: dict[str, str | int] = {
            "bool straight": flag(straight),
            "bool ranged": flag(not straight and writer.is_ranged(kink.when)),
            "int level": kink.level,
            "int own": kink.own,
        }
        yield constants("KinkRule", number, fields)


def kinks_of(writer: Writer) -> list[Kink]:
    """All kinks of the model's integrands, but those of relations whose sides are held."""
    signs, floors = _signs_and_floors(writer)
    kinks = [Kink(each) for each in signs]
    for number, each in enumerate(floors):
        held = level_name(number)
        kinks.append(Kink(Call("-", (each, held)), number, 1))
        kinks.append(Kink(Call("-", (each, Call("+", (held, ONE)))), number, -1))
    return kinks


def _signs_and_floors(writer: Writer) -> tuple[list[Expression], list[Expression]]:
    """What changes its sign, or passes a whole number, where an integrand has a kink or a jump."""
    sign_changes: dict[Expression, None] = {}
    floors: dict[Expression, None] = {}
    integrands = map(writer.sides.inlined, writer.integrands)
    for part in chain.from_iterable(map(walk, integrands)):
        if not isinstance(part, Call):
            continue
        arguments, bends = part.arguments, CALLS[part.function].bends
        if bends == "zero":
            # Of atan2, a cut where y passes 0; of both, what happens where both pass it.
            sign_changes.update(dict.fromkeys(arguments))
        elif bends == "equal":
            best, *others = arguments
            for other in others:
                sign_changes[Call("-", (best, other))] = None
                best = Call(part.function, (best, other))
        elif bends == "whole":
            floors[arguments[0]] = None
        elif bends == "end" or (part.function == "**" and whole_power(arguments[1]) is None):
            # Of sqrt(x**2), where its argument touches the end of its range.
            sign_changes[_rate(writer, arguments[0])] = None
    changing, passing = (
        [expression for expression in group if writer.sides.moves(expression)]
        for group in (sign_changes, floors)
    )
    return changing, passing


def _rate(writer: Writer, expression: Expression) -> Expression:
    """The rate of change along the motion, from time and states alone."""
    rates = {name: writer.by_mode(name) for name in writer.states}
    return derivative(expression, {**rates, **writer.by_time()})


def periods(writer: Writer) -> Iterable[str]:
    """The period, and the values taken at each."""
    period = writer.once.value(writer.system.period or ONE)
    yield function("real period() const", [f"return {period};"])
    code = writer.code()
    adds = samples(writer, PERIOD, code)
    head = f"void sample(Sums& sums, {MOTION}, mask here) const"
    yield "template <class Sums>\n" + function(head, [*code.lines, *adds])


def window(writer: Writer) -> str:
    """Start and end of the window, in the unit of time."""
    by_time = "return {p.window_start, p.window_end};"
    if writer.system.period is None:
        lines = [by_time]
    else:
        period = writer.once.value(writer.system.period)
        lines = [
            "if constexpr (parameter_set == ParameterSet::by_cycles)",
            f"    return {{p.start_cycle * {period}, p.end_cycle * {period}}};",
            "else",
            f"    {by_time}",
        ]
    return "struct Window { real start, end; };\n" + function("Window window() const", lines)


def results(writer: Writer) -> str:
    """The outputs, from the sums and the last state."""
    code = writer.code()
    sets = [_output(writer, rule, code) for rule in writer.rules]
    head = f"Outputs outputs(Sums const& sums, {MOTION}, real length) const"
    body = ["Outputs out;", *code.lines, *sets, "return out;"]
    return "template <class Sums>\n" + function(head, body)


def observables(writer: Writer) -> str:
    """The states, the definitions and the mode, at one moment."""
    code = writer.code()
    values = {
        **{name: f"y[{i}]" for i, name in enumerate(writer.states)},
        **{each.name: code.value(each.value) for each in writer.system.definitions},
        **({"mode": "mode"} if writer.system.mode_names else {}),
    }
    sets = [f"seen.{PREFIX}{name} = {value};" for name, value in values.items()]
    head = f"Observables observables({MOTION}) const"
    return function(head, ["Observables seen;", *code.lines, *sets, "return seen;"])


def sampled(writer: Writer, every: str) -> list[Rule]:
    """The outputs that have a value at every such event or period."""
    return [rule for rule in writer.rules if rule.kind == "values" and rule.every == every]


def samples(writer: Writer, every: str, code: Statements) -> list[str]:
    """Statements that keep a value of each such output."""
    values = {r.name: code.value(r.expression or ZERO) for r in sampled(writer, every)}
    return [f"sums.samples.{PREFIX}{name}.add({v}, here);" for name, v in values.items()]


def _output(writer: Writer, rule: Rule, code: Statements) -> str:
    name = f"{PREFIX}{rule.name}"
    if rule.kind == "values":
        return f"sums.samples.{name}.write(out.{name});"
    result = result_of(rule, writer.sums) or code.value(rule.expression or ZERO)
    return f"out.{name} = {result};"
