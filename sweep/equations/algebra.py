"""Sums, products and quotients of expressions, without parts that are 0 or 1."""

from __future__ import annotations

from sweep.equations.expressions import Call, Expression, Number

ZERO, ONE = Number(0.0), Number(1.0)


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


def choice(condition: Expression, a: Expression, b: Expression) -> Expression:
    """a where the condition holds, b elsewhere."""
    return a if a == b else Call("where", (condition, a, b))
