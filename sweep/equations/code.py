"""C++ for expressions: every common part once, products added by `fma`, whole powers as products.

The rules are fixed, since bits depend on them: REVISION changes with any that changes a bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sweep.equations.expressions import (
    Call,
    Expression,
    Name,
    Number,
    names_in,
    rational,
    walk,
    whole_power,
)
from sweep.equations.functions import CALLS, COMPARISONS

REVISION = 10
SIGNAL = "functions::signal"  # how the C++ of a signal begins


class Statements:
    """Statements that compute expressions, in order.

    `spell` gives the C++ of a name, `definitions` the expressions of others. Parts that have only
    `constants` are computed by `outer`, once per point, if there is one. With `phases`, sine and
    cosine of what grows evenly with time are taken from `now.waves`, and their arguments are added
    to `phases`.
    """

    def __init__(
        self,
        spell: Mapping[str, str],
        definitions: Mapping[str, Expression],
        prefix: str,
        outer: Statements | None = None,
        constants: frozenset[str] = frozenset(),
        phases: list[Expression] | None = None,
    ) -> None:
        self.lines: list[str] = []
        self._spell = spell
        self._definitions = definitions
        self._prefix = prefix
        self._outer = outer
        self._constants = constants  # names that are constant per point
        self._phases = phases
        self._known: dict[Expression, str] = {}

    def value(self, expression: Expression) -> str:
        """The C++ of the expression's value: a variable, a name or a literal."""
        if expression not in self._known:
            self._known[expression] = self._compute(expression)
        return self._known[expression]

    def _compute(self, part: Expression) -> str:
        if isinstance(part, Number):
            return f"{part.value!r}"
        if isinstance(part, Name):
            if part.name in self._definitions:
                return self.value(self._definitions[part.name])
            spelled = self._spell[part.name]
            return self._new("real", spelled) if spelled.startswith(SIGNAL) else spelled
        if self._outer is not None and self.is_constant(part):
            return self._outer.value(part)
        return self._call(part)

    def is_constant(self, expression: Expression) -> bool:
        """Whether the expression is the same throughout a motion."""
        return names_in(expression).keys() <= self._constants

    def _grows_evenly(self, part: Expression) -> bool:
        """Whether it is linear in time, with a slope that is constant per point."""
        rule = Linear(self._definitions, self.is_constant, {"t"}.__contains__)
        return not self.is_constant(part) and rule.holds(part)

    def _new(self, kind: str, text: str) -> str:
        name = f"{self._prefix}{len(self._known)}_{len(self.lines)}"
        self.lines.append(f"{kind} {name} = {text};")
        return name

    def _call(self, part: Call) -> str:
        function, arguments = part.function, part.arguments
        match function:
            case "+" | "-":
                return self._new("real", self._sum(function, *arguments))
            case "*":
                return self._new("real", f"{self._real(arguments[0])} * {self.value(arguments[1])}")
            case "/":
                return self._new("real", self._quotient(*arguments))
            case "**":
                return self._power(*arguments)
            case "negative":
                return self._new("real", f"-{self._real(arguments[0])}")
            case "sin" | "cos":
                return self._turn(function, arguments[0])
            case "where":
                condition, a, b = (self.value(argument) for argument in arguments)
                value = f"select({condition}, {a}, {b})"
                # A comparison with NaN is false, which must not decide.
                if outside := list(self._outside(arguments[0], "")):
                    value = f"functions::within({' | '.join(outside)}, {value})"
                return self._new("real", value)
            case "not":
                return self._new("mask", f"~{self.value(arguments[0])}")
            case "and" | "or":
                sign = " & " if function == "and" else " | "
                return self._new("mask", sign.join(self.value(a) for a in arguments))
            case _ if function in COMPARISONS:
                a, b = arguments
                return self._new("mask", f"{self._real(a)} {function} {self._real(b)}")
            case "min" | "max":
                return self._chain(function, arguments)
            case _:
                values = ", ".join(self._real(argument) for argument in arguments)
                return self._new("real", f"functions::{function}({values})")

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
        while isinstance(part, Name) and part.name in self._definitions:
            part = self._definitions[part.name]
        if not isinstance(part, Call) or (self._outer is not None and self.is_constant(part)):
            return None
        if part.function == "*":
            return self._real(part.arguments[0]), self._real(part.arguments[1])
        if part.function == "**" and rational(part.arguments[1]) == 2:
            base = self._real(part.arguments[0])
            return base, base
        return None

    def _quotient(self, a: Expression, b: Expression) -> str:
        """A quotient; by a constant, the product with its reciprocal."""
        if self._outer is not None and self.is_constant(b):
            reciprocal = self._outer.value(Call("/", (Number(1.0), b)))
            return f"{self._real(a)} * {reciprocal}"
        return f"{self._real(a)} / {self._real(b)}"

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
        """Sine and cosine come together."""
        if self._phases is not None and self._grows_evenly(angle):
            if angle not in self._phases:
                self._phases.append(angle)
            wave = {"sin": "sine", "cos": "cosine"}[function]
            return f"now.waves.{wave}[{self._phases.index(angle)}]"
        value = self._real(angle)  # its own statements first: names count them
        name = f"{self._prefix}{len(self._known)}_{len(self.lines)}"
        self.lines.append(f"real {name}s, {name}c;")
        self.lines.append(f"functions::sincos({value}, {name}s, {name}c);")
        self._known[Call("sin", (angle,))] = f"{name}s"
        self._known[Call("cos", (angle,))] = f"{name}c"
        return f"{name}{function[0]}"

    def _chain(self, function: str, arguments: tuple[Expression, ...]) -> str:
        first, *others = (self._real(argument) for argument in arguments)
        for other in others:
            first = self._new("real", f"functions::{function}({first}, {other})")
        return first

    def outside(self, expression: Expression) -> None:
        """Adds the lanes in which an argument has left its function's range to `outside`."""
        for term in self._outside(expression, ""):
            self.lines.append(f"outside = outside | {term};")

    def _outside(self, expression: Expression, inside: str) -> Iterator[str]:
        """Masks of these lanes, each after the statements that it needs.

        `inside` is the mask of the lanes in which this part counts: the branch of `where` that is
        taken, and what follows in `and` and `or` if what stands before leaves the answer open.
        """
        if isinstance(expression, Name) and expression.name in self._definitions:
            yield from self._outside(self._definitions[expression.name], inside)
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
        if _has_range(expression):
            name = _power_function(arguments[1]) if function == "**" else function
            values = ", ".join(self._real(argument) for argument in arguments)
            yield _both(inside, f"functions::outside_{name}({values})")


@dataclass(frozen=True)
class Linear:
    """Whether expressions are linear in some names, with coefficients that are constant."""

    definitions: Mapping[str, Expression]
    is_constant: Callable[[Expression], bool]
    has_name: Callable[[str], bool]
    chooses: bool = False  # `where` between linear branches is linear, too

    def holds(self, expression: Expression) -> bool:
        """Whether an expression is; one that is constant is, too."""
        match expression:
            case _ if self.is_constant(expression):
                return True
            case Name(name) if name in self.definitions:
                return self.holds(self.definitions[name])
            case Name(name):
                return self.has_name(name)
            case Call("+" | "-" | "negative", arguments):
                return all(map(self.holds, arguments))
            case Call("*", (a, b)):
                some_is_constant = self.is_constant(a) or self.is_constant(b)
                return some_is_constant and self.holds(a) and self.holds(b)
            case Call("/", (a, b)):
                return self.is_constant(b) and self.holds(a)
            case Call("where", (condition, a, b)) if self.chooses:
                return self.is_constant(condition) and self.holds(a) and self.holds(b)
            case _:
                return False


def is_ranged(expression: Expression, definitions: Mapping[str, Expression]) -> bool:
    """Whether an argument in the expression may leave its function's range."""
    calls = (part for part in walk(expression) if isinstance(part, Call))
    used = (definitions[name] for name in names_in(expression) if name in definitions)
    return any(map(_has_range, calls)) or any(is_ranged(each, definitions) for each in used)


def _power_function(exponent: Expression) -> str:
    """The function for a power that is no product; of a whole power, a negative base has one."""
    value = rational(exponent)
    if value is None or value.denominator != 1:
        return "pow"
    return "odd_pow" if value % 2 else "even_pow"


def _has_range(call: Call) -> bool:
    """Whether it is a function that has one, or a power that is no product."""
    if call.function == "**":
        return whole_power(call.arguments[1]) is None
    return CALLS[call.function].is_ranged


def _both(inside: str, mask: str) -> str:
    return f"({inside} & {mask})" if inside else mask
