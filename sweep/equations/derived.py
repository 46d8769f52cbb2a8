"""Parameters derived from others: their expressions, and values with the same bits everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from sweep.equations.expressions import (
    FUNCTIONS,
    Call,
    Expression,
    Name,
    Number,
    Signature,
    names_in,
    walk,
)
from sweep.equations.parsing import ExpressionError, parse

OPERATORS = ("+", "-", "*", "/", "**", "negative", "sqrt", "abs", "min", "max")
CONVERSIONS = {"mdr_indentation": Signature(4, 4)}  # closed forms of sweep.theory
MAX_POWER = 64
CONSTANTS = {"pi": math.pi}


@cache
def derivation(text: str) -> Expression:
    """The expression of a derived parameter; ExpressionError if it has more than OPERATORS."""
    expression = parse(text, {**FUNCTIONS, **CONVERSIONS})
    for part in walk(expression):
        if not isinstance(part, Call):
            continue
        if part.function not in (*OPERATORS, *CONVERSIONS):
            known = "+ - * / ** sqrt abs min max"
            raise ExpressionError(
                f"column {part.column}: {part.function!r} is not one of {known}, whose bits are "
                "the same on every machine"
            )
        if part.function == "**" and whole_power(part.arguments[1]) is None:
            raise ExpressionError(
                f"column {part.column}: the power is not a whole number from -{MAX_POWER} to "
                f"{MAX_POWER}; write sqrt(...) for a root"
            )
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
            if function in CONVERSIONS:
                return _converted(function, parts)
            found = parts[0]
            if len(parts) == 1:
                return _ONE[function](xp, found)
            for part in parts[1:]:
                found = _TWO[function](xp, found, part)
            return found


def _converted(function: str, arguments: list[Any]) -> Any:
    """The value of a closed form, with the same bits on every machine."""
    from sweep.theory import mdr_contact

    return {"mdr_indentation": mdr_contact.indentation}[function](*arguments)


def whole_power(exponent: Expression) -> int | None:
    """The whole number that an exponent is, within its bounds; else None."""
    match exponent:
        case Call("negative", (Number(value),)):
            value = -value
        case Number(value):
            pass
        case _:
            return None
    return int(value) if value.is_integer() and abs(value) <= MAX_POWER else None


def _raised(base: Any, power: int) -> Any:
    """The power by repeated squaring; of a negative power the reciprocal."""
    if power == 0:
        return np.ones_like(base)
    found, square, left = base, base, abs(power) - 1
    while left:
        if left % 2:
            found = found * square
        left //= 2
        square = square * square if left else square
    return 1.0 / found if power < 0 else found


_ONE: Mapping[str, Callable[[Any, Any], Any]] = {
    "negative": lambda _, a: -a,
    "sqrt": lambda xp, a: xp.sqrt(a),
    "abs": lambda _, a: abs(a),
}
_TWO: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "+": lambda _, a, b: a + b,
    "-": lambda _, a, b: a - b,
    "*": lambda _, a, b: a * b,
    "/": lambda _, a, b: a / b,
    "min": lambda xp, a, b: xp.where(b < a, b, a),  # if equal the first: zeros may have a sign
    "max": lambda xp, a, b: xp.where(b > a, b, a),
}
