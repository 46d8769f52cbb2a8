"""Expressions in models from files: numbers, names and calls of known functions."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True)
class Number:
    """A literal: finite and not negative."""

    value: float
    column: int = field(default=1, compare=False, repr=False)  # in its text, from 1


@dataclass(frozen=True)
class Name:
    """A parameter, state, definition or mode, or `t` or `pi`."""

    name: str
    column: int = field(default=1, compare=False, repr=False)


@dataclass(frozen=True)
class Call:
    """A function or operator of `functions`, applied to its arguments."""

    function: str
    arguments: tuple[Expression, ...]
    column: int = field(default=1, compare=False, repr=False)


Expression = Number | Name | Call
ZERO, ONE = Number(0.0), Number(1.0)


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all its parts, each before its own parts, from left to right."""
    pending = [expression]
    while pending:
        part = pending.pop()
        yield part
        if isinstance(part, Call):
            pending.extend(reversed(part.arguments))


def names_in(expression: Expression) -> dict[str, Name]:
    """Every name in the expression, at its first place, in the order of appearance."""
    names: dict[str, Name] = {}
    for part in walk(expression):
        if isinstance(part, Name):
            names.setdefault(part.name, part)
    return names


def inlined(expression: Expression, definitions: Mapping[str, Expression]) -> Expression:
    """The expression with those of definitions in place of their names."""
    match expression:
        case Name(name) if name in definitions:
            return inlined(definitions[name], definitions)
        case Call(function, arguments):
            return Call(function, tuple(inlined(each, definitions) for each in arguments))
        case _:
            return expression


LARGEST = Fraction(sys.float_info.max)
MAX_BITS = 2**12  # of the numerator and denominator of a power


def rational(expression: Expression) -> Fraction | None:
    """The exact value of an expression of decimal numbers, arithmetic and unary minus; else None.

    None also for a division by zero, a value beyond the range of doubles, and a power that is not
    whole.
    """
    match expression:
        case Number(value):
            return Fraction(repr(value))
        case Call("negative", (argument,)):
            value = rational(argument)
            return None if value is None else -value
        case Call("+" | "-" | "*" | "/" | "**" as sign, (left, right)):
            a, b = rational(left), rational(right)
            if a is None or b is None or (sign == "/" and b == 0):
                return None
            results = {"+": a + b, "-": a - b, "*": a * b, "/": a / (b or 1)}
            value = _raised(a, b) if sign == "**" else results[sign]
            return value if value is not None and abs(value) <= LARGEST else None
        case _:
            return None


def _raised(base: Fraction, exponent: Fraction) -> Fraction | None:
    """A whole power, exactly; None if the power is not whole, does not exist or is very long."""
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if exponent.denominator != 1 or bits * abs(exponent) > MAX_BITS or (base == 0 > exponent):
        return None
    return Fraction(base ** int(exponent))


MAX_POWER = 64  # a whole power up to it is a product


def whole_power(exponent: Expression) -> int | None:
    """The whole number that an exponent is, if at most MAX_POWER in magnitude; else None."""
    value = rational(exponent)
    is_whole = value is not None and value.denominator == 1 and abs(value) <= MAX_POWER
    return int(value) if value is not None and is_whole else None


ATOM, NEGATIVE, COMPARES = 9, 7, 4
PRECEDENCE = {
    "or": 1, "and": 2, "not": 3, **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), COMPARES),
    "+": 5, "-": 5, "*": 6, "/": 6, "negative": NEGATIVE, "**": 8,
}  # fmt: skip


def text_of(expression: Expression) -> str:
    """The expression in Python's notation, without needless parentheses.

    Equal expressions have equal texts, and parsing the text gives the expression again.
    """

    def operand(part: Expression, least: int) -> str:
        """In parentheses if it binds less than `least`."""
        binds = PRECEDENCE.get(part.function, ATOM) if isinstance(part, Call) else ATOM
        return text_of(part) if binds >= least else f"({text_of(part)})"

    match expression:
        case Number(value):
            return str(int(value)) if value.is_integer() and value < 1e16 else repr(value)
        case Name(name):
            return name
        case Call("[]", (name, *places)):
            return f"{text_of(name)}[{', '.join(map(text_of, places))}]"
        case Call("negative", (argument,)):
            return f"-{operand(argument, NEGATIVE)}"
        case Call("not", (argument,)):
            return f"not {operand(argument, PRECEDENCE['not'])}"
        case Call("**", (base, exponent)):
            return f"{operand(base, ATOM)}**{operand(exponent, NEGATIVE)}"
        case Call("and" | "or" as function, arguments):
            return f" {function} ".join(operand(a, PRECEDENCE[function] + 1) for a in arguments)
        case Call(function, (left, right)) if function in PRECEDENCE:
            least = PRECEDENCE[function]
            sign = function if function in "*/" else f" {function} "
            return f"{operand(left, least + (least == COMPARES))}{sign}{operand(right, least + 1)}"
        case Call(function, arguments):
            return f"{function}({', '.join(map(text_of, arguments))})"


MAX_SHOWN = 60


def cut(expression: Expression) -> str:
    """The text of an expression as messages show it, without its end if it is long."""
    text = text_of(expression)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
