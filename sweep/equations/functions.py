"""The functions and operators of expressions: a row for each.

The C++ of a function is `functions::NAME` in kernels/systems/functions.h; of one whose argument
may be outside its range, also `functions::outside_NAME`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sweep.equations.algebra import ONE, ZERO, add, bounded, negative, over, subtract, times
from sweep.equations.expressions import Call, Expression, Number

Kind = Literal["number", "condition"]
LEAST_NORMAL = Number(2.2250738585072014e-308)


@dataclass(frozen=True, kw_only=True)
class Function:
    """All that is known of a function or operator, whatever its arguments."""

    least: int = 1  # arguments
    most: int | None = 1  # None: any number
    argument: Kind = "number"
    value: Kind = "number"
    # Of the arguments and the value; "alike": the arguments have the same one.
    units: Literal["none", "alike", "alike and of the value"] = "none"
    # With one argument: the derivative, from the argument and the value.
    slope: Callable[[Expression, Expression], Expression] | None = None
    is_ranged: bool = False  # an argument may be outside its range
    # Of that range, where a derivative has to be a number beyond it.
    limits: tuple[Expression | None, Expression | None] = (None, None)
    # Where it bends or jumps: arguments of "zero", "equal" or "whole" ones, or at the "end" of
    # its range.
    bends: Literal["", "zero", "equal", "whole", "end"] = ""
    elsewhere: tuple[str, ...] = ()  # names that other programs give it


def _slope_of_asin(a: Expression, _: Expression) -> Expression:
    return bounded(ONE, Call("sqrt", (subtract(ONE, times(a, a)),)))


TWO = Function(least=2, most=2)
ALIKE = replace(TWO, units="alike and of the value")
COMPARISON = replace(TWO, value="condition", units="alike", bends="equal")
LOGICAL = Function(least=2, most=None, argument="condition", value="condition", units="alike")
EXTREME = replace(ALIKE, most=None, bends="equal")

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
    "asin": Function(
        slope=_slope_of_asin,
        is_ranged=True,
        limits=(negative(ONE), ONE),
        bends="end",
        elsewhere=("arcsin",),
    ),
    "acos": Function(
        slope=lambda a, acos: negative(_slope_of_asin(a, acos)),
        is_ranged=True,
        limits=(negative(ONE), ONE),
        bends="end",
        elsewhere=("arccos",),
    ),
    "atan": Function(slope=lambda a, _: over(ONE, add(ONE, times(a, a))), elsewhere=("arctan",)),
    "sinh": Function(slope=lambda a, _: Call("cosh", (a,))),
    "cosh": Function(slope=lambda a, _: Call("sinh", (a,))),
    "tanh": Function(slope=lambda _, tanh: subtract(ONE, times(tanh, tanh))),
    "exp": Function(slope=lambda _, exp: exp),
    "log": Function(
        slope=lambda a, _: over(ONE, a),
        is_ranged=True,
        limits=(LEAST_NORMAL, None),
        elsewhere=("ln",),
    ),
    "sqrt": Function(
        slope=lambda _, root: bounded(Number(0.5), root),
        is_ranged=True,
        limits=(ZERO, None),
        bends="end",
    ),
    "abs": Function(
        slope=lambda a, _: Call("sign", (a,)),
        units="alike and of the value",
        bends="zero",
        elsewhere=("fabs",),
    ),
    "sign": Function(slope=lambda _, __: ZERO, units="alike", bends="zero", elsewhere=("sgn",)),
    "floor": Function(slope=lambda _, __: ZERO, bends="whole"),
    "atan2": replace(TWO, units="alike", bends="zero", elsewhere=("arctan2",)),
    "hypot": replace(ALIKE, bends="zero"),
    "min": EXTREME,
    "max": EXTREME,
    "where": Function(least=3, most=3),  # where(condition, a, b)
}

CALLS: Mapping[str, Function] = {**OPERATORS, **FUNCTIONS}


def kind_of_argument(function: str, index: int) -> Kind:
    """The kind of the argument at `index` of a function or operator."""
    if function == "where" and index == 0:
        return "condition"
    return CALLS[function].argument
