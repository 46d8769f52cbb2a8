"""Members of `struct System` for the motion: rates and their derivatives, where they end, events.

Events: when they happen, what they change and leave behind.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from sweep.equations.algebra import ONE, ZERO
from sweep.equations.derivatives import derivative
from sweep.equations.expressions import Call, Expression, Name, text_of
from sweep.equations.members import MOTION, TABLE, Writer, choice, constants, flag, function
from sweep.equations.output_kinds import EventSum
from sweep.equations.output_members import samples
from sweep.equations.sides import Side
from sweep.equations.system import Event

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


def outside(writer: Writer) -> str:
    """Where an argument has left the range of its function."""
    code = writer.code()
    for state in writer.system.states:
        code.outside(writer.by_mode(state.name, held=False))
        code.outside(state.scale)
    for event in writer.system.events:
        if event.acts:
            code.outside(event.when)
    ends = [
        f"outside = outside | functions::outside_signal<{TABLE}{signal.name}>(t);"
        for signal in writer.system.signals
    ]
    lines = ["mask outside = false;", *ends, *code.lines, "return outside;"]
    return function(f"mask outside({MOTION}) const", lines)


def next_sample(writer: Writer) -> str:
    """The first time after `t` at which a signal has a sample."""
    tables = (f"{TABLE}{signal.name}" for signal in writer.system.signals)
    nexts = [f"next = least(next, functions::sample_after<{each}>(t));" for each in tables]
    lines = [f"real next = {sys.float_info.max!r};", *nexts, "return next;"]
    return function("real next_sample(real t) const", lines)


def event_rule(writer: Writer, number: int) -> str:
    """What is known about an event when the kernel is compiled."""
    event = writer.numbered_events[number]
    side = event if isinstance(event, Side) else None
    fields: dict[str, str | int] = {
        "int direction": DIRECTIONS[event.direction],
        "int then": -1 if event.then is None else writer.modes.index(event.then),
        "int stop_after": event.stop_after or 0,
        "bool acts": flag(event.acts),
        "bool at_entry": flag(event.at_entry),
        "bool conditional": flag(event.condition is not None),
        "bool sets": flag(bool(event.sets)),
        "bool straight": flag(writer.sides.is_affine(event.when)),
        "bool smooth": flag(writer.sides.is_smooth(event.when)),
        "bool ranged": flag(writer.is_ranged(event.when)),
        "bool ranged_action": flag(writer.is_ranged(*_action(event))),
        "int next_same": -1 if side else _next_same(writer, number),
        "int side": side.number if side else -1,
        "int own": side.own if side else 0,
    }
    return constants("Rule", number, fields)


def _next_same(writer: Writer, number: int) -> int:
    """The next event whose expression is that of an event, or its negative; -1 if there is none."""
    keys = [
        None if isinstance(each, Side) else _without_sign(writer.sides.inlined(each.when))
        for each in writer.numbered_events
    ]
    return next((i for i in range(number + 1, len(keys)) if keys[i] == keys[number]), -1)


def _without_sign(expression: Expression) -> str:
    """One text for an expression and its negative: -a and a, a - b, b - a and -(a - b)."""
    match expression:
        case Call("negative", (inner,)):
            return _without_sign(inner)
        case Call("-", (a, b)):
            return min(text_of(expression), text_of(Call("-", (b, a))))
        case _:
            return text_of(expression)


def event_members(writer: Writer) -> Iterable[str]:
    """The expressions of what is watched, their rates, modes, conditions and `set`."""
    watched = writer.numbered_events
    yield writer.numbered("when", [each.when for each in watched])
    rates = [writer.rate(each.when) for each in watched]
    yield writer.numbered("when_rate", rates, "f")
    yield writer.numbered("when_size", [writer.size(each.when) for each in watched])
    scales = [writer.returned(writer.typical_size(each.when)) for each in watched]
    yield choice("real when_scale()", scales, "return 1.0;")
    yield writer.numbered("when_rate_size", [*map(writer.size, rates)], "f", "sizes")
    sizes = [writer.size(writer.by_mode(name)) for name in writer.states]
    yield writer.vector("rate_sizes", sizes, MOTION)
    modes = [[f"(mode == {writer.modes.index(m)}.0)" for m in each.modes] for each in watched]
    active = [[f"return {' | '.join(each) or 'true'};"] for each in modes]
    yield choice("mask active()", active, "return true;")
    conditions = [writer.returned(event.condition) for event in watched]
    yield choice(f"mask condition({MOTION})", conditions, "return true;")
    ranges = [_outside_action(writer, event) for event in watched]
    yield choice(f"mask outside_action({MOTION})", ranges, "return false;")
    after = [_after(writer, event) for event in watched]
    yield choice(f"Vector<states> after({MOTION})", after, "return y;")


def record(writer: Writer) -> str:
    """What is kept of each event, from the state right before it."""
    head = f"void record(Sums& sums, {MOTION}, mask here)"
    bodies = [_recorded(writer, event) for event in writer.numbered_events]
    for body, event in zip(bodies, writer.numbered_events, strict=True):
        if writer.traced and not isinstance(event, Side):  # its only lane has the event
            number = writer.system.events.index(event)
            body.append(f"log_event(sums.samples.logged, t, {number});")
    return choice(head, bodies, "", "class Sums")


def forget(writer: Writer) -> str:
    """Makes what is summed of an event NaN, where it cannot be said whether it happens."""
    bodies = [
        [f"{sum_} = select(here, missing(), {sum_});" for sum_ in _sums_of(writer, event)]
        for event in writer.numbered_events
    ]
    return choice("void forget(Sums& sums, mask here)", bodies, "", "class Sums")


def _action(event: Event) -> list[Expression]:
    """What is computed where its expression crosses zero: the condition, and `set` if it holds."""
    sets = list(event.sets.values())
    if event.condition is None:
        return sets
    return [event.condition, *(Call("where", (event.condition, each, ZERO)) for each in sets)]


def _outside_action(writer: Writer, event: Event) -> list[str]:
    """Where an argument of its action leaves its range."""
    code, action = writer.code(), _action(event)
    if not writer.is_ranged(*action):
        return []
    for each in action:
        code.outside(each)
    return ["mask outside = false;", *code.lines, "return outside;"]


def _after(writer: Writer, event: Event) -> list[str]:
    """The states right after the event, all from those right before."""
    code = writer.code()
    values = {name: code.value(value) for name, value in event.sets.items()}
    sets = [f"next[{writer.states.index(name)}] = {value};" for name, value in values.items()]
    return [*code.lines, "auto next = y;", *sets, "return next;"] if sets else []


def _sums_of(writer: Writer, event: Event) -> dict[str, EventSum | None]:
    """What is summed of the event; None: how often it happens."""
    counts = enumerate(writer.sums.counts)
    sums = enumerate(writer.sums.of_events)
    return {
        **{f"sums.count[{i}]": None for i, name in counts if name == event.name},
        **{f"sums.of_events[{i}]": each for i, each in sums if each.event == event.name},
    }


def _recorded(writer: Writer, event: Event) -> list[str]:
    code = writer.code()
    sets: list[str] = []
    for name, each in _sums_of(writer, event).items():
        value = "1.0" if each is None else code.value(each.expression)
        new = f"{name} + {value}"
        if each is not None and each.is_maximum:
            new = f"functions::max({value}, {name})"
        sets.append(f"{name} = select(here, {new}, {name});")
    kept = samples(writer, event.name, code)  # adds to the lines of `code`
    return [*code.lines, *sets, *kept]
