"""C++ for expressions: every common part once, products added by `fma`, whole powers as products.

The rules are fixed, since bits depend on them: REVISION changes with any that changes a bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sweep.equations.expressions import (
    Call,
    Expression,
    Name,
    Number,
    inlined,
    names_in,
    rational,
    whole_power,
)
from sweep.equations.functions import COMPARISONS, has_range, is_linear

REVISION = 11
SIGNAL = "functions::signal"  # how the C++ of a signal begins


@dataclass(eq=False)
class Statements:
    """Statements that compute expressions, in order.

    `spell` gives the C++ of a name, `definitions` the expressions of others. Parts with
    names of `outer` alone are constant: if there is one, it computes them once per point. With
    `phases`, sine and cosine of what grows evenly with time are taken from `now.waves`, and their
    arguments are added to `phases`.
    """

    spell: Mapping[str, str]
    definitions: Mapping[str, Expression]
    prefix: str
    outer: Statements | None = None
    phases: list[Expression] | None = None
    lines: list[str] = field(default_factory=list[str])
    known: dict[Expression, str] = field(default_factory=dict[Expression, str])

    def value(self, expression: Expression) -> str:
        """The C++ of the expression's value: a variable, a name or a literal."""
        if expression not in self.known:
            self.known[expression] = self._compute(expression)
        return self.known[expression]

    def _compute(self, part: Expression) -> str:
        match part:
            case Number(value):
                return f"{value!r}"
            case Name(name) if name in self.definitions:
                return self.value(self.definitions[name])
            case Name(name):
                spelled = self.spell[name]
                return self._new("real", spelled) if spelled.startswith(SIGNAL) else spelled
            case _:
                outer = self._constant(part)
                return self._call(part) if outer is None else outer.value(part)

    def _constant(self, part: Expression) -> Statements | None:
        """Where a part is computed that is the same throughout a motion; None if it is not."""
        if self.outer is None:
            return None
        for name in names_in(part):
            value = self.definitions.get(name)
            if name not in self.outer.spell and (value is None or not self._constant(value)):
                return None
        return self.outer

    def _new(self, kind: str, text: str) -> str:
        name = f"{self.prefix}{len(self.known)}_{len(self.lines)}"
        self.lines.append(f"{kind} {name} = {text};")
        return name

    def _call(self, part: Call) -> str:
        function, arguments = part.function, part.arguments
        match function, arguments:
            case "**", (base, exponent):
                return self._power(base, exponent)
            case "sin" | "cos", (angle,):
                return self._turn(function, angle)
            case "not", (condition,):
                return self._new("mask", f"~{self.value(condition)}")
            case "and" | "or", _:
                sign = " & " if function == "and" else " | "
                return self._new("mask", sign.join(map(self.value, arguments)))
            case _, (a, b) if function in COMPARISONS:
                return self._new("mask", f"{self._real(a)} {function} {self._real(b)}")
            case "min" | "max", (first, *others):
                best = self._real(first)
                values = [self._real(other) for other in others]
                for value in values:
                    best = self._new("real", f"functions::{function}({best}, {value})")
                return best
            case _:
                return self._new("real", self._formula(function, arguments))

    def _formula(self, function: str, arguments: tuple[Expression, ...]) -> str:
        match function, arguments:
            case "+" | "-", (a, b):
                return self._sum(function, a, b)
            case "*", (a, b):
                return f"{self._real(a)} * {self.value(b)}"
            case "/", (a, b) if outer := self._constant(b):
                reciprocal = outer.value(Call("/", (Number(1.0), b)))
                return f"{self._real(a)} * {reciprocal}"
            case "/", (a, b):
                return f"{self._real(a)} / {self._real(b)}"
            case "negative", (a,):
                return f"-{self._real(a)}"
            case "where", (condition, _, _):
                condition, a, b = (self.value(argument) for argument in arguments)
                value = f"select({condition}, {a}, {b})"
                # A comparison with NaN is false, which must not decide.
                if outside := list(self._outside(arguments[0], "")):
                    value = f"functions::within({' | '.join(outside)}, {value})"
                return value
            case _:
                return f"functions::{function}({', '.join(map(self._real, arguments))})"

    def _real(self, expression: Expression) -> str:
        """The value as a real, where C++ would take a literal for a double."""
        value = self.value(expression)
        return f"real({value})" if isinstance(expression, Number) or value == "pi" else value

    def _sum(self, sign: str, a: Expression, b: Expression) -> str:
        """A sum, with `fma` if one part is a product: the left one first."""
        minus = "-" if sign == "-" else ""
        if (product := self._product(a)) is not None:
            return f"fma({product[0]}, {product[1]}, {minus}{self._real(b)})"
        if (product := self._product(b)) is not None:
            return f"fma({minus}{product[0]}, {product[1]}, {self._real(a)})"
        return f"{self._real(a)} {sign} {self._real(b)}"

    def _product(self, part: Expression) -> tuple[str, str] | None:
        """The factors of a product that is not constant."""
        while isinstance(part, Name) and part.name in self.definitions:
            part = self.definitions[part.name]
        if not isinstance(part, Call) or self._constant(part):
            return None
        if part.function == "*":
            return self._real(part.arguments[0]), self._real(part.arguments[1])
        if part.function == "**" and rational(part.arguments[1]) == 2:
            base = self._real(part.arguments[0])
            return base, base
        return None

    def _power(self, base: Expression, exponent: Expression) -> str:
        whole = whole_power(exponent)
        if whole is not None:
            return self._whole_power(base, whole)
        if rational(exponent) == Fraction(1, 2):
            return self.value(Call("sqrt", (base,)))
        name, x, y = _power_function(exponent), self._real(base), self._real(exponent)
        return self._new("real", f"functions::{name}({x}, {y})")

    def _whole_power(self, base: Expression, exponent: int) -> str:
        if exponent < 0:
            return self._new("real", f"1.0 / {self._whole_power(base, -exponent)}")
        if exponent == 0:
            return "1.0"
        square, product = self._real(base), ""
        while True:
            if exponent % 2:
                product = self._new("real", f"{product} * {square}") if product else square
            exponent //= 2
            if not exponent:
                return product
            square = self._new("real", f"{square} * {square}")

    def _turn(self, function: str, angle: Expression) -> str:
        """Sine and cosine come together, of an angle that grows evenly from the waves."""
        if self.phases is not None and is_linear(
            inlined(angle, self.definitions),
            lambda part: self._constant(part) is not None,
            {"t"}.__contains__,
        ):
            if angle not in self.phases:
                self.phases.append(angle)
            wave = {"sin": "sine", "cos": "cosine"}[function]
            return f"now.waves.{wave}[{self.phases.index(angle)}]"
        value = self._real(angle)  # its own statements first: names count them
        name = f"{self.prefix}{len(self.known)}_{len(self.lines)}"
        self.lines.append(f"real {name}s, {name}c;")
        self.lines.append(f"functions::sincos({value}, {name}s, {name}c);")
        self.known[Call("sin", (angle,))] = f"{name}s"
        self.known[Call("cos", (angle,))] = f"{name}c"
        return f"{name}{function[0]}"

    def outside(self, expression: Expression) -> None:
        """Adds the lanes in which an argument has left its function's range to `outside`."""
        for term in self._outside(expression, ""):
            self.lines.append(f"outside = outside | {term};")

    def _outside(self, expression: Expression, inside: str) -> Iterator[str]:
        """Masks of these lanes, each after the statements that it needs.

        `inside` is the mask of the lanes in which this part counts: the branch of `where` that is
        taken, and what follows in `and` and `or` if what stands before leaves the answer open.
        """
        if isinstance(expression, Name) and expression.name in self.definitions:
            yield from self._outside(self.definitions[expression.name], inside)
        if not isinstance(expression, Call):
            return
        function, arguments = expression.function, expression.arguments
        if function == "where":
            condition, a, b = arguments
            yield from self._outside(condition, inside)
            mask = self.value(condition)
            yield from self._outside(a, _both(inside, mask))
            yield from self._outside(b, _both(inside, f"~{mask}"))
            return
        for argument in arguments:
            yield from self._outside(argument, inside)
            if function in ("and", "or") and argument is not arguments[-1]:
                sign = "~" if function == "or" else ""
                inside = _both(inside, f"{sign}{self.value(argument)}")
        if has_range(expression):
            name = _power_function(arguments[1]) if function == "**" else function
            values = ", ".join(self._real(argument) for argument in arguments)
            yield _both(inside, f"functions::outside_{name}({values})")


def _power_function(exponent: Expression) -> str:
    """The function for a power that is no product; of a whole power, a negative base has one."""
    value = rational(exponent)
    if value is None or value.denominator != 1:
        return "pow"
    return "odd_pow" if value % 2 else "even_pow"


def _both(inside: str, mask: str) -> str:
    return f"({inside} & {mask})" if inside else mask
