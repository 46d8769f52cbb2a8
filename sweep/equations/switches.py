"""Switches in expressions: a comparison of a switch with one of its values is one name.

Values are no names of their own, so that two switches may share one. The condition that a model is
in a mode, `mode == fly`, has the name of the mode, `fly`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sweep.equations.expressions import ZERO, Call, Expression, Name, Number
from sweep.equations.functions import where
from sweep.equations.system import MODE, Choice, Event, Switch, System
from sweep.errors import FaultError
from sweep.text.wording import nearest, written


def condition_name(switch: str, value: str) -> str:
    """The name of the condition that a switch has a value."""
    return value if switch == MODE else f"{switch} == {value}"


def conditions_of(switch: Switch) -> list[str]:
    """The names of the conditions that a switch has each of its values."""
    return [condition_name(switch.name, value) for value in switch.values]


def with_conditions(expression: Expression, values: Mapping[str, Sequence[str]]) -> Expression:
    """The expression with names for comparisons of switches, whose `values` are given by name.

    FaultError if a switch is compared with a name that is none of its values.
    """
    match expression:
        case Call("==" | "!=" as sign, (Name(a), Name(b))) if a in values or b in values:
            switch, value = (a, b) if a in values else (b, a)
            if value not in values[switch]:
                what = f"{written(value)} is no value of {switch}"
                cure = nearest(value[:64], values[switch])
                raise FaultError(f"column {expression.column}: {what}", cure)
            name = Name(condition_name(switch, value), expression.column)
            return name if sign == "==" else Call("not", (name,), expression.column)
        case Call(function, arguments):
            parts = tuple(with_conditions(each, values) for each in arguments)
            return Call(function, parts, expression.column)
        case _:
            return expression


def number_of(choice: Choice, switch: Switch) -> Expression:
    """The number, from 0, of the value that a switch takes."""
    number: Expression = ZERO
    for value, condition in reversed([*choice.items()]):
        own = Number(float(switch.values.index(value)))
        number = own if condition is None else where(condition, own, number)
    return number


def never_left(system: System) -> Iterator[str]:
    """The conditions of modes and switches that no event ends once they hold."""
    for switch in system.automata:
        for value in switch.values if len(switch.values) > 1 else ():
            if not any(_may_leave(event, switch, value) for event in system.events):
                yield condition_name(switch.name, value)


def _may_leave(event: Event, switch: Switch, value: str) -> bool:
    """Whether an event may happen where a switch has a value, and then changes it or stops."""
    becomes = {*event.choices.get(switch.name, {}), *event.rest.get(switch.name, {})}
    if not (becomes - {value} or event.stop_after):
        return False
    if switch.name == MODE and event.modes:
        return value in event.modes
    known = {condition_name(switch.name, each): each == value for each in switch.values}
    return event.inside is None or _truth(event.inside, known) is not False


def _truth(condition: Expression, known: Mapping[str, bool]) -> bool | None:
    """Whether a condition of switches holds, as far as those that are known tell; else None."""
    match condition:
        case Name(name):
            return known.get(name)
        case Call("not", (part,)):
            truth = _truth(part, known)
            return None if truth is None else not truth
        case Call("and" | "or" as function, parts):
            decisive, truths = function == "or", [_truth(part, known) for part in parts]
            return decisive if decisive in truths else None if None in truths else not decisive
        case _:
            return None
