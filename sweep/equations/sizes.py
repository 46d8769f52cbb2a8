"""How large the terms of an expression are, by which its roundings are measured."""

from __future__ import annotations

from collections.abc import Mapping

from sweep.equations.derivatives import ONE, SLOPES, add, times
from sweep.equations.expressions import Call, Expression, Name, Number, whole_power


def size_of(expression: Expression, sizes: Mapping[str, Expression]) -> Expression:
    """An upper bound of what is added and subtracted to make the value of an expression.

    A rounding error of the value is at most a few units of 2^-53 of it. `sizes` are those of names;
    that of another name is its magnitude.
    """
    match expression:
        case Number():
            return expression
        case Name(name):
            return sizes.get(name, Call("abs", (expression,)))
        case Call("+" | "-", (a, b)):
            return add(size_of(a, sizes), size_of(b, sizes))
        case Call("*", (a, b)):
            return times(size_of(a, sizes), size_of(b, sizes))
        case Call("/", (a, b)):
            above = times(size_of(a, sizes), size_of(b, sizes))
            return Call("/", (above, Call("*", (b, b))))
        case Call("**", (a, b)) if (whole_power(b) or 0) > 0:
            return Call("**", (size_of(a, sizes), b))
        case Call("**", (_, b)):
            return times(Call("abs", (expression,)), add(ONE, size_of(b, sizes)))
        case Call("where", (condition, a, b)):
            return Call("where", (condition, size_of(a, sizes), size_of(b, sizes)))
        case Call("min" | "max" | "hypot", arguments):
            return Call("max", tuple(size_of(each, sizes) for each in arguments))
        case Call("negative" | "abs", (a,)):
            return size_of(a, sizes)
        case Call("sign" | "floor" | "atan2"):
            return Call("abs", (expression,))
        case Call(function, (a,)):
            slope = Call("abs", (SLOPES[function](a, expression),))
            return add(Call("abs", (expression,)), times(slope, size_of(a, sizes)))
        case _:
            raise AssertionError(expression)
