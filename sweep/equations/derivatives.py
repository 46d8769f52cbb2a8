"""Derivatives of expressions; of one that jumps, the derivative of the branch that is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sweep.equations.expressions import Call, Expression, Name, Number, rational

ZERO, ONE = Number(0.0), Number(1.0)


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
            return _choice(condition, rate(a), rate(b))
        case Call("min" | "max" as function, arguments):
            return _extreme(function, arguments, rate)
        case Call("atan2", (y, x)):
            above = subtract(times(x, rate(y)), times(y, rate(x)))
            return over(above, add(times(x, x), times(y, y)))
        case Call("hypot", (x, y)):
            return bounded(add(times(x, rate(x)), times(y, rate(y))), part)
        case Call(function, (a,)) if function in SLOPES:
            inner = rate(a)
            return ZERO if inner == ZERO else times(SLOPES[function](a, part), inner)
        case _:
            raise AssertionError(part)


def _power(part: Expression, base: Expression, exponent: Expression, rate: Rate) -> Expression:
    value = rational(exponent)
    if value is not None:
        lower = Call("**", (base, _literal(float(value) - 1.0)))
        if 0 < value < 1:
            lower = _unless(Call("==", (base, ZERO)), lower)
        slope = times(_literal(float(value)), base if value == 2 else lower)
        return times(slope, rate(base))
    zero = Call("==", (base, ZERO))
    at_zero = Call("where", (Call("==", (exponent, ONE)), ONE, ZERO))
    lower = Call("where", (zero, at_zero, Call("**", (base, subtract(exponent, ONE)))))
    growth = _unless(zero, times(part, Call("log", (base,))))
    return add(times(times(exponent, lower), rate(base)), times(rate(exponent), growth))


def _unless(infinite: Expression, slope: Expression) -> Expression:
    """The slope, or 0 where it is infinite: a Jacobian needs a number there."""
    return Call("where", (infinite, ZERO, slope))


def _literal(value: float) -> Expression:
    return Number(value) if value >= 0 else Call("negative", (Number(-value),))


def _extreme(function: str, arguments: tuple[Expression, ...], rate: Rate) -> Expression:
    first, *others = arguments
    best, slope = first, rate(first)
    for other in others:
        nearer = Call("<" if function == "min" else ">", (other, best))
        slope = _choice(nearer, rate(other), slope)
        best = Call(function, (best, other))
    return slope


def _choice(condition: Expression, a: Expression, b: Expression) -> Expression:
    return a if a == b else Call("where", (condition, a, b))


SLOPES: Mapping[str, Callable[[Expression, Expression], Expression]] = {
    "sin": lambda a, _: Call("cos", (a,)),
    "cos": lambda a, _: negative(Call("sin", (a,))),
    "tan": lambda _, tan: add(ONE, times(tan, tan)),
    "asin": lambda a, _: bounded(ONE, Call("sqrt", (subtract(ONE, times(a, a)),))),
    "acos": lambda a, _: negative(bounded(ONE, Call("sqrt", (subtract(ONE, times(a, a)),)))),
    "atan": lambda a, _: over(ONE, add(ONE, times(a, a))),
    "sinh": lambda a, _: Call("cosh", (a,)),
    "cosh": lambda a, _: Call("sinh", (a,)),
    "tanh": lambda _, tanh: subtract(ONE, times(tanh, tanh)),
    "exp": lambda _, exp: exp,
    "log": lambda a, _: over(ONE, a),
    "sqrt": lambda _, root: bounded(Number(0.5), root),
    "abs": lambda a, _: Call("sign", (a,)),
    "sign": lambda _, __: ZERO,
    "floor": lambda _, __: ZERO,
}


def add(a: Expression, b: Expression) -> Expression:
    """a + b; without a part that is 0."""
    if a == ZERO:
        return b
    return a if b == ZERO else Call("+", (a, b))


def subtract(a: Expression, b: Expression) -> Expression:
    """a - b; without a part that is 0."""
    if b == ZERO:
        return a
    return negative(b) if a == ZERO else Call("-", (a, b))


def negative(a: Expression) -> Expression:
    """-a; 0 stays as it is."""
    if isinstance(a, Call) and a.function == "negative":
        return a.arguments[0]
    return a if a == ZERO else Call("negative", (a,))


def times(a: Expression, b: Expression) -> Expression:
    """a b; 0 if one of them is, and without factors that are 1."""
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
    return ZERO if a == ZERO else _unless(Call("==", (b, ZERO)), over(a, b))
