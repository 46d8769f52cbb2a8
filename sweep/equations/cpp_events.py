"""Members of `struct System` for events, what they change and leave behind, switches and holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sweep.equations.cpp_code import Statements
from sweep.equations.cpp_struct import FEW, MOTION, PREFIX, Writer, choice, function, table
from sweep.equations.expressions import ONE, ZERO, Call, Expression, Name, Number, text_of
from sweep.equations.functions import add, derivative, negative, over, subtract, times
from sweep.equations.sides import Side
from sweep.equations.switches import number_of
from sweep.equations.system import DIRECTIONS, HOLD, Choice, Event

MANY = 8  # texts of events and sides, with more of which a GPU calls what is rarely done

RULE = (
    "int direction, bool switches, int rest, int stop_after, bool acts, bool at_entry, int entry, "
    "bool by_mode, bool conditional, bool sets, bool straight, bool smooth, bool ranged, "
    "bool ranged_action, int next_same, int side, int own, bool nested"
)  # of C++; -1: none


def calls_events(writer: Writer) -> bool:
    """Whether a GPU calls what is rarely done: compiled into all that calls it, it takes minutes.

    Events at entry are taken in four places, others in one.
    """
    places = 4 if any(event.at_entry for event in writer.system.events) else 1
    return len(writer.watched) * places > MANY


def event_rules(writer: Writer) -> str:
    """What is known about each event when the kernel is compiled."""
    signless = [
        None if isinstance(each, Side) else _without_sign(writer.sides.inlined(each.when))
        for each in writer.watched
    ]
    rests = [number for number, event in enumerate(writer.watched) if event.rest]
    entries = [number for number, event in enumerate(writer.watched) if event.at_entry]
    rows: list[dict[str, int]] = []
    for number, event in enumerate(writer.watched):
        side = event if isinstance(event, Side) else None
        later = range(number + 1, len(signless))
        same = [] if side else [i for i in later if signless[i] == signless[number]]
        row = {
            "direction": DIRECTIONS[event.direction],
            "switches": bool(event.choices or event.rest),
            "rest": rests.index(number) if event.rest else -1,
            "stop_after": event.stop_after or 0,
            "acts": event.acts,
            "at_entry": event.at_entry,
            "entry": entries.index(number) if event.at_entry else -1,
            "by_mode": bool(writer.system.mode_names) and event.inside is None,
            "conditional": event.condition is not None,
            "sets": bool(event.sets),
            "straight": writer.sides.is_affine(event.when),
            "smooth": writer.sides.is_smooth(event.when),
            "ranged": writer.is_ranged(event.when),
            "ranged_action": writer.is_ranged(*_action(event)),
            "next_same": same[0] if same else -1,
            "side": side.number if side else -1,
            "own": side.own if side else 0,
            "nested": side is not None and side.nested,
        }
        rows.append(row)
    return table("Rule", "rules", RULE, rows)


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
    whens = [each.when for each in writer.watched]
    yield from writer.along("when", whens)
    rates = [writer.rate(each) for each in whens]
    yield writer.numbered("when_size", [writer.size(each) for each in whens])
    scales = [writer.returned(writer.typical_size(each)) for each in whens]
    yield choice("real when_scale", "", scales, "return 1.0;")
    yield writer.numbered("when_rate_size", [*map(writer.size, rates)], "f", "sizes")
    yield from _of_all(writer, rates)
    sizes = [writer.size(writer.by_mode(name)) for name in writer.states]
    yield writer.vector("rate_sizes", sizes, MOTION)
    yield choice(
        "mask active", "", [_returned_active(writer, e) for e in writer.watched], "return true;"
    )
    conditions = [writer.returned(event.condition) for event in writer.watched]
    yield choice("mask condition", MOTION, conditions, "return true;")
    ranges = [_outside_action(writer, event) for event in writer.watched]
    yield choice("mask outside_action", MOTION, ranges, "return false;")
    after = [_after(writer, event) for event in writer.watched]
    yield choice("Vector<states> after", MOTION, after, "return y;")
    switched = [_switched(writer, event.choices) for event in writer.watched]
    yield choice("Vector<switches> switched", MOTION, switched, "return mode;")
    rested = [_switched(writer, event.rest) for event in writer.watched]
    yield choice("Vector<switches> rested", MOTION, rested, "return mode;")
    at_zero = [_at_zero(writer, event) if event.rest else [] for event in writer.watched]
    yield choice("Vector<states> at_zero", MOTION, at_zero, "return y;")


def _of_all(writer: Writer, rates: list[Expression]) -> Iterable[str]:
    """What is needed of all that is watched at once: common parts are computed once."""
    kind = "SELDOM" if len(writer.watched) > FEW else "HD"
    whens = [each.when for each in writer.watched]
    straight = [each if writer.sides.is_affine(each) else ZERO for each in whens]
    yield writer.vector("all_when", whens, MOTION, size="seen", kind=kind)
    yield writer.vector("all_straight", straight, MOTION, size="seen", kind=kind)
    arguments = f"{MOTION}, Vector<states> const& f"
    yield writer.vector("all_when_rate", rates, arguments, size="seen", kind=kind)
    sizes = [writer.size(each) for each in whens]
    yield writer.vector("all_when_size", sizes, MOTION, size="seen", kind=kind)
    code = writer.code()
    active = [_active(writer, event, code) for event in writer.watched]
    sets = [f"of[{number}] = {value};" for number, value in enumerate(active)]
    lines = ["Masks<seen> of;", *code.lines, *sets, "return of;"]
    yield function("Masks<seen> all_active() const", lines, kind)


def _action(event: Event) -> list[Expression]:
    """What is computed where its expression crosses zero: the condition, and `set` if it holds."""
    choices = [
        Call("where", (condition, ONE, ZERO))
        for choice in event.choices.values()
        for condition in choice.values()
        if condition is not None
    ]
    sets = [*event.sets.values(), *choices]
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


def _active(writer: Writer, event: Event, code: Statements) -> str:
    """Whether switches let an event happen."""
    if event.inside is not None:
        return code.value(event.inside)
    modes = [f"(mode[0] == {writer.modes.index(mode)}.0)" for mode in event.modes]
    return " | ".join(modes) or "true"


def _returned_active(writer: Writer, event: Event) -> list[str]:
    code = writer.code()
    value = _active(writer, event, code)
    return [*code.lines, f"return {value};"]


def _switched(writer: Writer, choices: Mapping[str, Choice]) -> list[str]:
    """The switches right after the event, all from what is right before."""
    code = writer.code()
    numbers = {name: list(writer.switches).index(name) for name in choices}
    sets = [
        f"next[{numbers[name]}] = {code.value(number_of(each, writer.switches[name]))};"
        for name, each in choices.items()
    ]
    return [*code.lines, "auto next = mode;", *sets, "return next;"] if sets else []


def _at_zero(writer: Writer, event: Event) -> list[str]:
    """The nearest states at which the event's expression is zero: one step of Newton's method.

    Distances are relative to the states' scales.
    """
    code, when = writer.code(), writer.sides.inlined(event.when)
    slopes = {each.name: derivative(when, {each.name: ONE}) for each in writer.system.states}
    square = {each.name: times(each.scale, each.scale) for each in writer.system.states}
    ways = {name: times(slope, square[name]) for name, slope in slopes.items() if slope != ZERO}
    length: Expression = ZERO
    for name, way in ways.items():
        length = add(length, times(way, slopes[name]))
    sets = [
        f"next[{writer.states.index(name)}] = "
        f"{code.value(subtract(Name(name), over(times(when, way), length)))};"
        for name, way in ways.items()
    ]
    return [*code.lines, "auto next = y;", *sets, "return next;"] if sets else []


def hold_members(writer: Writer) -> Iterable[str]:
    """The number of the first hold that is violated, by states and their rates; else -1."""
    holds, code = writer.system.holds, writer.code()
    lines = ["real first = -1.0;"]
    for number, hold in reversed([*enumerate(holds)]):
        kept = code.value(_kept(writer, writer.sides.inlined(hold.condition)))
        lines.append(f"first = select({kept}, first, {number}.0);")
    head = f"real violated_hold({MOTION}, Vector<states> const& f) const"
    kind = "SELDOM" if len(holds) > FEW else "HD"
    yield function(head, [*code.lines, *lines, "return first;"], kind)
    sets = [f"out.{PREFIX}{HOLD} = number;"] if writer.system.names_hold else []
    yield function("void name_hold(Outputs& out, real number) const", sets)


OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "==", "and": "or"}


def _kept(writer: Writer, condition: Expression, *, negated: bool = False) -> Expression:
    """The condition with the width of zero in its favour; false where it has no value.

    That width is as in `events.h`: how exactly a time can be located, and roundings of terms.
    """
    if not isinstance(condition, Call):
        return Call("not", (condition,)) if negated else condition
    function, arguments = condition.function, condition.arguments
    if function == "not":
        return _kept(writer, arguments[0], negated=not negated)
    if negated:
        function = {**OPPOSITE, "or": "and"}[function]
    if function in ("and", "or"):
        parts = [_kept(writer, each, negated=negated) for each in arguments]
        return Call(function, tuple(parts))
    difference = Call("-", arguments)
    if function == "!=" or not writer.sides.moves(difference):
        return Call(function, arguments)
    location = Call("*", (Number(8e-15), Name("t")))
    rate = Call("abs", (writer.rate(difference),))
    rounding = Call("*", (Number(8 * 2.0**-53), writer.size(difference)))
    width = Call("+", (rounding, Call("*", (location, rate))))
    below = Call("<=", (difference, width))
    above = Call(">=", (difference, negative(width)))
    if function == "==":
        return Call("and", (below, above))
    return below if "<" in function else above


def starts(writer: Writer) -> Iterable[str]:
    """Sets all switches as the motion starts, one after the other."""
    code = writer.code()
    for number, switch in enumerate(writer.switches.values()):
        value = code.value(number_of(switch.start, switch))
        code.lines.append(f"mode[{number}] = {value};")
    yield function(f"void start({MOTION})", code.lines)
