"""Parameters derived from others: their expressions, and values with the same bits everywhere."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import cache, reduce
from typing import Any

import numpy as np

from sweep.equations.expressions import (
    MAX_POWER,
    Call,
    Expression,
    Name,
    Number,
    names_in,
    text_of,
    walk,
    whole_power,
)
from sweep.equations.functions import FUNCTIONS, Function
from sweep.equations.parsing import parse
from sweep.errors import FaultError
from sweep.model.elements import element
from sweep.theory import mdr_contact

CONVERSIONS = {"mdr_indentation": Function(least=4, most=4)}  # closed forms of sweep.theory
# What has the same bits on every machine; so have whole powers.
VALUES: Mapping[str, Any] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "negative": operator.neg,
    "abs": abs,
    "mdr_indentation": mdr_contact.indentation,
}
EXTREMES: Mapping[str, Callable[[Any, Any], Any]] = {"min": operator.lt, "max": operator.gt}
CONSTANTS = {"pi": math.pi}


@cache
def derivation(text: str) -> Expression:
    """The expression of a derived parameter; FaultError if it is faulty.

    It is also if its bits would depend on the machine.
    """
    expression = _with_elements(parse(text, {**FUNCTIONS, **CONVERSIONS}, is_indexed=True))
    for part in walk(expression):
        if not isinstance(part, Call):
            continue
        if part.function not in ("**", "sqrt", *EXTREMES, *VALUES):
            known = "+ - * / ** sqrt abs min max"
            raise FaultError(
                f"column {part.column}: {part.function!r} is not one of {known}, whose bits are "
                "the same on every machine"
            )
        if part.function == "**" and whole_power(part.arguments[1]) is None:
            raise FaultError(
                f"column {part.column}: the power is not a whole number from -{MAX_POWER} to "
                f"{MAX_POWER}",
                "write sqrt(...) for a root",
            )
    return expression


def _with_elements(expression: Expression) -> Expression:
    """The expression with names of elements, such as `gap[lower]`, in place of subscripts."""
    match expression:
        case Call("[]", (Name(name), *places)):
            return Name(element(name, map(text_of, places)), expression.column)
        case Call(function, arguments):
            return Call(function, tuple(map(_with_elements, arguments)), expression.column)
        case _:
            return expression


def inputs(text: str) -> list[str]:
    """The parameters in a derivation, in the order of appearance."""
    return [name for name in names_in(derivation(text)) if name not in CONSTANTS]


def in_order(derived: Mapping[str, str]) -> list[str]:
    """The derived parameters, each after those that it is derived from.

    Those in a cycle, and those derived from them, are left out.
    """
    left = {name: set(inputs(text)) & set(derived) for name, text in derived.items()}
    ordered: list[str] = []
    while ready := sorted(name for name, needed in left.items() if needed <= set(ordered)):
        ordered += ready
        left = {name: needed for name, needed in left.items() if name not in ready}
    return ordered


def value_of(text: str, values: Mapping[str, Any], xp: Any = np) -> Any:
    """The value of a derivation: a number or an array, broadcast from its inputs.

    Infinite or NaN where a division by 0 or the like gives that. The values may be arrays of a
    library `xp` if the derivation has no closed form.
    """
    derived, known = derivation(text), {**CONSTANTS, **values}
    with np.errstate(all="ignore"):
        values = {name: xp.asarray(known[name], np.float64) for name in names_in(derived)}
        return _value(derived, values, xp)


def _value(expression: Expression, values: Mapping[str, Any], xp: Any) -> Any:
    match expression:
        case Number(value):
            return np.float64(value)
        case Name(name):
            return values[name]
        case Call("**", (base, exponent)):
            return _raised(_value(base, values, xp), whole_power(exponent) or 0)
        case Call(function, arguments):
            parts = [_value(argument, values, xp) for argument in arguments]
            if function == "sqrt":
                return xp.sqrt(*parts)
            if function in EXTREMES:
                is_nearer = EXTREMES[function]  # if equal the first: zeros may have a sign
                return reduce(lambda a, b: xp.where(is_nearer(b, a), b, a), parts)
            return VALUES[function](*parts)


def _raised(base: Any, power: int) -> Any:
    """The power by repeated squaring; of a negative power the reciprocal."""
    if power == 0:
        return np.ones_like(base)
    power_of_base, square, left = base, base, abs(power) - 1
    while left:
        if left % 2:
            power_of_base = power_of_base * square
        left //= 2
        square = square * square if left else square
    return 1.0 / power_of_base if power < 0 else power_of_base
