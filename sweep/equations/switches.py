"""Switches in expressions: a comparison of a switch with one of its values is one name.

Values are no names of their own, so that two switches may share one. The condition that a model is
in a mode, `mode == fly`, has the name of the mode, `fly`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sweep.equations.expressions import ZERO, Call, Expression, Name, Number
from sweep.equations.functions import where
from sweep.equations.system import MODE, Choice, Switch
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
