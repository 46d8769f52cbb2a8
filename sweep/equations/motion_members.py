"""Members of `struct System` for the motion: rates and their derivatives, where they end, events.

Events: when they happen, what they change and leave behind.
"""

from __future__ import annotations

from collections.abc import Iterable

from sweep.equations.derivatives import ONE, derivative
from sweep.equations.expressions import Call, Name
from sweep.equations.members import MOTION, TABLE, Writer, choice, flag, function
from sweep.equations.output_members import samples
from sweep.equations.system import Event, System

DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}


def rates(writer: Writer) -> Iterable[str]:
    """The derivatives of the states in whatever mode holds, by time or by a moment's waves."""
    rates = [writer.by_mode(name) for name in writer.states]
    yield writer.vector("rates", rates, MOTION)
    if writer.turns:
        code = writer.code(writer.phases)
        code.lines.append("real t = now.t;")
        moment = "Moment const& now, Vector<states> const& y"
        yield writer.vector("rates", rates, moment, code=code)
        writer.arithmetic = not any("functions::" in line for line in code.lines)
    slopes = [derivative(writer.inlined(phase), {"t": ONE}) for phase in writer.phases]
    turned = [Call("*", (slope, Name("t"))) for slope in slopes]
    yield writer.vector("phases", writer.phases, "real t", size="waves")
    yield writer.vector("turns_in", turned, "real t", size="waves")


def jacobian(writer: Writer) -> Iterable[str]:
    """The partial derivatives of the rates by the states, and by time."""
    rates = [writer.inlined(writer.by_mode(name)) for name in writer.states]
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


def outside(writer: Writer) -> str:
    """Where an argument has left the range of its function."""
    code = writer.code()
    for name in writer.states:
        code.outside(writer.by_mode(name))
    for event in writer.events[: writer.acting]:
        code.outside(event.when)
    ends = [
        f"outside = outside | functions::outside_signal<{TABLE}{signal.name}>(t);"
        for signal in writer.system.signals
    ]
    lines = ["mask outside = false;", *ends, *code.lines, "return outside;"]
    return function(f"mask outside({MOTION}) const", lines)


def event_rule(number: int, event: Event, system: System) -> str:
    """What is known about an event when the kernel is compiled."""
    modes = [mode.name for mode in system.modes]
    fields = {
        "int direction": DIRECTIONS[event.direction],
        "int then": -1 if event.then is None else modes.index(event.then),
        "double stop_after": event.stop_after or 0,
        "bool at_entry": flag(event.at_entry),
        "bool conditional": flag(event.condition is not None),
        "bool sets": flag(bool(event.sets)),
    }
    body = " ".join(f"static constexpr {name} = {value};" for name, value in fields.items())
    return f"template <> struct Rule<{number}> {{ {body} }};"


def event_members(writer: Writer) -> Iterable[str]:
    """The expressions of the events, their rates, modes, conditions and `set`."""
    events = writer.events
    yield writer.numbered("when", [event.when for event in events])
    rates = [writer.rate(event.when) for event in events]
    yield writer.numbered("when_rate", rates, "f")
    modes = [[f"(mode == {writer.modes.index(m)}.0)" for m in event.modes] for event in events]
    active = [[f"return {' | '.join(each) or 'true'};"] for each in modes]
    yield choice("mask active()", active, "return true;")
    conditions = [writer.returned(event.condition) for event in events]
    yield choice(f"mask condition({MOTION})", conditions, "return true;")
    after = [_after(writer, event) for event in events]
    yield choice(f"Vector<states> after({MOTION})", after, "return y;")


def record(writer: Writer) -> str:
    """What is kept of each event, from the state right before it."""
    head = f"void record(Sums& sums, {MOTION}, mask here)"
    bodies = [_recorded(writer, event) for event in writer.events]
    if writer.traced:  # its only lane has the event
        for event, body in zip(writer.events, bodies, strict=True):
            number = writer.system.events.index(event)
            body.append(f"log_event(sums.samples.logged, t, {number});")
    return choice(head, bodies, "", "class Sums")


def _after(writer: Writer, event: Event) -> list[str]:
    """The states right after the event, all from those right before."""
    code = writer.code()
    values = {name: code.value(value) for name, value in event.sets.items()}
    sets = [f"next[{writer.states.index(name)}] = {value};" for name, value in values.items()]
    return [*code.lines, "auto next = y;", *sets, "return next;"] if sets else []


def _recorded(writer: Writer, event: Event) -> list[str]:
    code = writer.code()
    new = {
        f"sums.count[{i}]": "{0} + 1.0"
        for i, name in enumerate(writer.sums.counts)
        if name == event.name
    }
    for i, each in enumerate(writer.sums.of_events):
        if each.event == event.name:
            value = code.value(each.expression)
            rule = f"greatest({value}, {{0}})" if each.maximum else f"{{0}} + {value}"
            new[f"sums.of_events[{i}]"] = rule
    sets = [f"{sum_} = select(here, {rule.format(sum_)}, {sum_});" for sum_, rule in new.items()]
    kept = samples(writer, event.name, code)  # adds to the lines of `code`
    return [*code.lines, *sets, *kept]
