"""Derivatives of expressions, and how large the terms of an expression are.

The derivative of one that jumps is that of the branch that is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sweep.equations.algebra import (
    ONE,
    ZERO,
    add,
    bounded,
    choice,
    literal,
    negative,
    over,
    subtract,
    times,
    unless,
)
from sweep.equations.expressions import Call, Expression, Name, Number, rational, whole_power
from sweep.equations.functions import FUNCTIONS


def derivative(expression: Expression, of_names: Mapping[str, Expression]) -> Expression:
    """The derivative where each of the names changes at the rate that `of_names` has for it.

    All other names are constant. With the states' derivatives and 1 for `t` it is the rate along
    the motion; with 1 for one state, the partial derivative.
    """
    known: dict[Expression, Expression] = {}

    def rate(part: Expression) -> Expression:
        if part not in known:
            known[part] = _rate(part, rate, of_names)
        return known[part]

    return rate(expression)


Rate = Callable[[Expression], Expression]


def _rate(part: Expression, rate: Rate, of_names: Mapping[str, Expression]) -> Expression:
    match part:
        case Number():
            return ZERO
        case Name(name):
            return of_names.get(name, ZERO)
        case Call("+" | "-" as sign, (a, b)):
            return (add if sign == "+" else subtract)(rate(a), rate(b))
        case Call("negative", (a,)):
            return negative(rate(a))
        case Call("*", (a, b)):
            return add(times(rate(a), b), times(a, rate(b)))
        case Call("/", (a, b)):
            return over(subtract(rate(a), times(part, rate(b))), b)
        case Call("**", (a, b)):
            return _power(part, a, b, rate)
        case Call("where", (condition, a, b)):
            return choice(condition, rate(a), rate(b))
        case Call("min" | "max" as function, arguments):
            return _extreme(function, arguments, rate)
        case Call("atan2", (y, x)):
            above = subtract(times(x, rate(y)), times(y, rate(x)))
            return over(above, add(times(x, x), times(y, y)))
        case Call("hypot", (x, y)):
            return bounded(add(times(x, rate(x)), times(y, rate(y))), part)
        case Call(function, (a,)):
            inner = rate(a)
            return ZERO if inner == ZERO else times(_slope(function, a, part), inner)
        case _:
            raise AssertionError(part)


def _slope(function: str, argument: Expression, value: Expression) -> Expression:
    slope = FUNCTIONS[function].slope
    assert slope is not None
    return slope(argument, value)


def _power(part: Expression, base: Expression, exponent: Expression, rate: Rate) -> Expression:
    value = rational(exponent)
    if value is not None:
        lower = Call("**", (base, literal(float(value) - 1.0)))
        if 0 < value < 1:
            lower = unless(Call("==", (base, ZERO)), lower)
        slope = times(literal(float(value)), base if value == 2 else lower)
        return times(slope, rate(base))
    zero = Call("==", (base, ZERO))
    at_zero = Call("where", (Call("==", (exponent, ONE)), ONE, ZERO))
    lower = Call("where", (zero, at_zero, Call("**", (base, subtract(exponent, ONE)))))
    growth = unless(zero, times(part, Call("log", (base,))))
    return add(times(times(exponent, lower), rate(base)), times(rate(exponent), growth))


def _extreme(function: str, arguments: tuple[Expression, ...], rate: Rate) -> Expression:
    first, *others = arguments
    best, slope = first, rate(first)
    for other in others:
        nearer = Call("<" if function == "min" else ">", (other, best))
        slope = choice(nearer, rate(other), slope)
        best = Call(function, (best, other))
    return slope


def size_of(expression: Expression, sizes: Mapping[str, Expression]) -> Expression:
    """An upper bound of what is added and subtracted to make the value of an expression.

    A rounding error of the value is at most a few units of 2^-53 of it. `sizes` are those of names;
    that of another name is its magnitude.
    """
    magnitude = Call("abs", (expression,))
    match expression:
        case Number():
            return expression
        case Name(name):
            return sizes.get(name, magnitude)
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
            return times(magnitude, add(ONE, size_of(b, sizes)))
        case Call("where", (condition, a, b)):
            return Call("where", (condition, size_of(a, sizes), size_of(b, sizes)))
        case Call("min" | "max" | "hypot", arguments):
            return Call("max", tuple(size_of(each, sizes) for each in arguments))
        case Call("negative" | "abs", (a,)):
            return size_of(a, sizes)
        case Call("atan2"):
            return magnitude
        case Call(function, (a,)):
            slope = _slope(function, a, expression)
            if slope == ZERO:
                return magnitude
            return add(magnitude, times(Call("abs", (slope,)), size_of(a, sizes)))
        case _:
            raise AssertionError(expression)
