"""The functions and operators of expressions: a row for each, and derivatives of what calls them.

The C++ of a function is `functions::NAME` in kernels/systems/functions.h; of one whose argument
may be outside its range, also `functions::outside_NAME`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from sweep.equations.expressions import (
    ONE,
    ZERO,
    Call,
    Expression,
    Name,
    Number,
    rational,
    walk,
    whole_power,
)

Kind = Literal["number", "condition"]
Slope = Callable[[Expression, Expression], Expression]  # the derivative from argument and value
LEAST_NORMAL = Number(2.2250738585072014e-308)
BELOW_ONE = Number(0.9999999999999999)  # the greatest such number


@dataclass(frozen=True, kw_only=True)
class Function:
    """All that is known of a function or operator, whatever its arguments."""

    least: int = 1  # arguments
    most: int | None = 1  # None: any number
    argument: Kind = "number"
    value: Kind = "number"
    # Of the arguments and the value; "alike": the arguments have the same one.
    units: Literal["none", "alike", "alike and of the value"] = "none"
    slope: Slope = lambda _, __: ZERO  # with one argument
    is_ranged: bool = False  # an argument may be outside its range
    is_reserved: bool = True  # no entry of a file has its name; files may be older than the others
    # Of that range, where a derivative has to be a number beyond it.
    limits: tuple[Expression | None, Expression | None] = (None, None)
    # Where it bends or jumps: arguments of "zero", "equal" or "whole" ones, or at the "end" of
    # its range.
    bends: Literal["", "zero", "equal", "whole", "end"] = ""


def _arc(slope: Slope) -> Function:
    return Function(
        slope=slope, is_ranged=True, limits=(Call("negative", (ONE,)), ONE), bends="end"
    )


def _slope_of_asin(a: Expression, _: Expression) -> Expression:
    return bounded(ONE, _root(subtract(ONE, times(a, a))))


def _root(a: Expression) -> Expression:
    return Call("sqrt", (a,))


TWO = Function(least=2, most=2)
ALIKE = replace(TWO, units="alike and of the value")
COMPARISON = replace(TWO, value="condition", units="alike", bends="equal")
LOGICAL = Function(least=2, most=None, argument="condition", value="condition", units="alike")
EXTREME = replace(ALIKE, most=None, bends="equal")

RATE_CALL = "rate"
RATE = "rate of "  # a name in derivatives along the motion: of a state or a signal
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")

OPERATORS: Mapping[str, Function] = {
    "+": ALIKE,
    "-": ALIKE,
    "*": TWO,
    "/": TWO,
    "**": TWO,
    "negative": Function(units="alike and of the value"),
    **dict.fromkeys(COMPARISONS, COMPARISON),
    "and": LOGICAL,
    "or": LOGICAL,
    "not": replace(LOGICAL, least=1, most=1),
}

FUNCTIONS: Mapping[str, Function] = {
    "sin": Function(is_ranged=True, slope=lambda a, _: Call("cos", (a,))),
    "cos": Function(is_ranged=True, slope=lambda a, _: negative(Call("sin", (a,)))),
    "tan": Function(is_ranged=True, slope=lambda _, tan: add(ONE, times(tan, tan))),
    "asin": _arc(_slope_of_asin),
    "acos": _arc(lambda a, acos: negative(_slope_of_asin(a, acos))),
    "atan": Function(slope=lambda a, _: over(ONE, add(ONE, times(a, a)))),
    "sinh": Function(slope=lambda a, _: Call("cosh", (a,))),
    "cosh": Function(slope=lambda a, _: Call("sinh", (a,))),
    "tanh": Function(slope=lambda _, tanh: subtract(ONE, times(tanh, tanh))),
    "asinh": Function(
        slope=lambda a, _: over(ONE, _root(add(times(a, a), ONE))), is_reserved=False
    ),
    "acosh": Function(
        slope=lambda a, _: bounded(ONE, _root(times(subtract(a, ONE), add(a, ONE)))),
        is_ranged=True,
        limits=(ONE, None),
        bends="end",
        is_reserved=False,
    ),
    "atanh": Function(
        slope=lambda a, _: over(ONE, times(subtract(ONE, a), add(ONE, a))),
        is_ranged=True,
        limits=(Call("negative", (BELOW_ONE,)), BELOW_ONE),
        is_reserved=False,
    ),
    "exp": Function(slope=lambda _, exp: exp),
    "log": Function(slope=lambda a, _: over(ONE, a), is_ranged=True, limits=(LEAST_NORMAL, None)),
    "sqrt": Function(
        slope=lambda _, root: bounded(Number(0.5), root),
        is_ranged=True,
        limits=(ZERO, None),
        bends="end",
    ),
    "abs": Function(
        slope=lambda a, _: Call("sign", (a,)), units="alike and of the value", bends="zero"
    ),
    "sign": Function(units="alike", bends="zero"),
    "floor": Function(bends="whole"),
    "atan2": replace(TWO, units="alike", bends="zero"),
    "hypot": replace(ALIKE, bends="zero"),
    "min": EXTREME,
    "max": EXTREME,
    "where": Function(least=3, most=3),  # where(condition, a, b)
    RATE_CALL: Function(is_reserved=False),  # along the motion, written out by `rates`
}

CALLS: Mapping[str, Function] = {**OPERATORS, **FUNCTIONS}

# Calls that stand only in models with [indices], whose expansion replaces them: `x[i, j]`, the
# length of an index, and reductions along one, each of pairs of its values.
SUBSCRIPT, SIZE = "[]", "size"
REDUCTIONS: Mapping[str, str] = {"sum": "+", "product": "*", "minimum": "min", "maximum": "max"}


# Sums, products and quotients without parts that are 0 or 1.


def literal(value: float) -> Expression:
    """A number, which may be negative."""
    return Number(value) if value >= 0 else Call("negative", (Number(-value),))


def add(a: Expression, b: Expression) -> Expression:
    """a + b."""
    if a == ZERO:
        return b
    return a if b == ZERO else Call("+", (a, b))


def subtract(a: Expression, b: Expression) -> Expression:
    """a - b."""
    if b == ZERO:
        return a
    return negative(b) if a == ZERO else Call("-", (a, b))


def negative(a: Expression) -> Expression:
    """-a."""
    if isinstance(a, Call) and a.function == "negative":
        return a.arguments[0]
    return a if a == ZERO else Call("negative", (a,))


def times(a: Expression, b: Expression) -> Expression:
    """a b."""
    if ZERO in (a, b):
        return ZERO
    if a == ONE:
        return b
    return a if b == ONE else Call("*", (a, b))


def over(a: Expression, b: Expression) -> Expression:
    """a/b; 0 if a is."""
    return a if a == ZERO or b == ONE else Call("/", (a, b))


def bounded(a: Expression, b: Expression) -> Expression:
    """a/b; 0 where b is."""
    return ZERO if a == ZERO else unless(Call("==", (b, ZERO)), over(a, b))


def unless(condition: Expression, value: Expression) -> Expression:
    """The value, or 0 where a condition holds: a Jacobian needs a number there."""
    return Call("where", (condition, ZERO, value))


def where(condition: Expression, a: Expression, b: Expression) -> Expression:
    """a where the condition holds, b elsewhere."""
    return a if a == b else Call("where", (condition, a, b))


def has_range(call: Call) -> bool:
    """Whether it is a function that has a range, or a power that is no product."""
    if call.function == "**":
        return whole_power(call.arguments[1]) is None
    return CALLS[call.function].is_ranged


def is_ranged(expression: Expression) -> bool:
    """Whether an argument in the expression may leave its function's range."""
    return any(isinstance(part, Call) and has_range(part) for part in walk(expression))


def is_linear(
    expression: Expression,
    is_constant: Callable[[Expression], bool],
    has_name: Callable[[str], bool],
    *,
    chooses: bool = False,
) -> bool:
    """Whether an expression is constant or linear in some names, with constant coefficients.

    It has no definitions. With `chooses`, `where` between linear branches is linear, too.
    """

    def holds(part: Expression) -> bool:
        match part:
            case _ if is_constant(part):
                return True
            case Name(name):
                return has_name(name)
            case Call("+" | "-" | "negative", arguments):
                return all(map(holds, arguments))
            case Call("*", (a, b)):
                return (is_constant(a) or is_constant(b)) and holds(a) and holds(b)
            case Call("/", (a, b)):
                return is_constant(b) and holds(a)
            case Call("where", (condition, a, b)) if chooses:
                return is_constant(condition) and holds(a) and holds(b)
            case _:
                return False

    return holds(expression)


def derivative(expression: Expression, of_names: Mapping[str, Expression]) -> Expression:
    """The derivative where each of the names changes at the rate that `of_names` has for it.

    All other names are constant. With the states' derivatives and 1 for `t` it is the rate along
    the motion; with 1 for one state, the partial derivative. Of what jumps, it is that of the
    branch that is taken.
    """

    @cache
    def rate(part: Expression) -> Expression:
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
                return _rate_of_power(part, a, b, rate)
            case Call("where", (condition, a, b)):
                return where(condition, rate(a), rate(b))
            case Call("min" | "max" as function, (best, *others)):
                slope = rate(best)
                for other in others:
                    nearer = Call("<" if function == "min" else ">", (other, best))
                    slope = where(nearer, rate(other), slope)
                    best = Call(function, (best, other))
                return slope
            case Call("atan2", (y, x)):
                above = subtract(times(x, rate(y)), times(y, rate(x)))
                return over(above, add(times(x, x), times(y, y)))
            case Call("hypot", (x, y)):
                return bounded(add(times(x, rate(x)), times(y, rate(y))), part)
            case Call(function, arguments):
                a, inner = arguments[0], rate(arguments[0])
                return ZERO if inner == ZERO else times(CALLS[function].slope(a, part), inner)

    return rate(expression)


def _rate_of_power(
    part: Expression,
    base: Expression,
    exponent: Expression,
    rate: Callable[[Expression], Expression],
) -> Expression:
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
        case Call(function, arguments):
            slope = CALLS[function].slope(arguments[0], expression)
            if slope == ZERO:
                return magnitude
            inner = size_of(arguments[0], sizes)
            return add(magnitude, times(Call("abs", (slope,)), inner))
