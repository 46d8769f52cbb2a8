"""Relations in the derivatives of a model, and the sides with which each is decided.

A comparison, abs, sign, min, max or floor whose argument moves makes a derivative jump or bend. The
kernel therefore holds the decision through a step, as a number, and ends steps where it changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sweep.equations.algebra import ONE, ZERO, negative, times
from sweep.equations.code import Linear, is_ranged
from sweep.equations.expressions import (
    Call,
    Expression,
    Name,
    names_in,
    rational,
    walk,
)
from sweep.equations.functions import CALLS, COMPARISONS
from sweep.equations.system import Event, System

SIDE = "side "  # of the names of held numbers, in expressions
MAX_SIDES = 64


@dataclass(frozen=True, kw_only=True)
class Side(Event):
    """The event that a relation changes."""

    number: int  # of what it changes
    own: int  # 0: it holds the sign; of `floor`, 1: its lower end, -1: its upper

    @property
    def acts(self) -> bool:
        """It changes the motion."""
        return True


class Sides:
    """The relations of a model: `derivatives` with held sides, and what is watched for them."""

    def __init__(self, system: System) -> None:
        self._definitions = {each.name: each.value for each in system.definitions}
        self._moving = moving_names(system)
        # What is held, in the order of its numbers: "sign" or "floor" of an expression, and the
        # modes in whose derivatives it is.
        self._held_in: dict[tuple[str, Expression], dict[str, None]] = {}
        self._all_modes = [mode.name for mode in system.modes]
        self._mode: str | None = None  # whose derivatives are read; None: nothing is added
        self.derivatives: dict[str, Mapping[str, Expression]] = {}
        for mode in system.modes:
            self._mode = mode.name
            self.derivatives[mode.name] = {
                state: self._with_sides(value) for state, value in mode.derivatives.items()
            }
        self._mode = None

    @property
    def hide_ranges(self) -> bool:
        """Whether an argument may leave its function's range without making a derivative NaN."""
        rates = [rate for mode in self.derivatives.values() for rate in mode.values()]
        held = [*filter(_has_side, rates), *(expression for _, expression in self._held_in)]
        return any(is_ranged(each, self._definitions) for each in held)

    def __len__(self) -> int:
        return len(self._held_in)

    @property
    def watched(self) -> list[Side]:
        """What is watched; a relation inside another stands before it."""
        sides: list[Side] = []
        for number, ((kind, expression), own_modes) in enumerate(self._held_in.items()):
            modes = tuple(own_modes) if len(own_modes) < len(self._all_modes) else ()
            held = side_name(number)
            ends = {0: expression}
            if kind == "floor":
                above = Call("+", (held, ONE))
                ends = {1: Call("-", (expression, held)), -1: Call("-", (expression, above))}
            sides += (Side(when=w, number=number, own=own, modes=modes) for own, w in ends.items())
        return sides

    def held(self, expression: Expression) -> Expression:
        """An integrand, with the sides of relations that stand in derivatives, too.

        They are then watched in all modes.
        """
        held = self._with_sides(expression)
        names = names_in(held)
        for number, modes in enumerate(self._held_in.values()):
            if side_name(number).name in names:
                modes.update(dict.fromkeys(self._all_modes))
        return held

    def inlined(self, expression: Expression) -> Expression:
        """The expression without definitions."""
        match expression:
            case Name(name) if name in self._definitions:
                return self.inlined(self._definitions[name])
            case Call(function, arguments):
                return Call(function, tuple(self.inlined(each) for each in arguments))
            case _:
                return expression

    def is_affine(self, expression: Expression) -> bool:
        """Whether it is affine in states and time while modes and sides stay."""
        rule = Linear(
            self._definitions,
            lambda each: not self.moves(each),
            lambda name: self._moving[name],
            chooses=True,
        )
        return rule.holds(expression)

    def is_smooth(self, expression: Expression) -> bool:
        """Whether it is a smooth function of the states alone, whose errors step control bounds."""
        full = self.inlined(expression)
        calls = (part for part in walk(full) if isinstance(part, Call))
        return all(self._moving.get(n, True) and n != "t" for n in names_in(full)) and not any(
            self.moves(call) and CALLS[call.function].bends not in ("", "end") for call in calls
        )

    def moves(self, expression: Expression) -> bool:
        """Whether it changes between events."""
        return any(
            name in self._moving
            or (name in self._definitions and self.moves(self._definitions[name]))
            for name in names_in(expression)
        )

    def _with_sides(self, expression: Expression) -> Expression:
        held = self._held(self.inlined(expression), guarded=False)
        return held if _has_side(held) else expression

    def _held(self, part: Expression, *, guarded: bool) -> Expression:
        """With relations replaced. `guarded`: its value counts only while a side is held."""
        if not isinstance(part, Call):
            return part
        function = part.function
        if function == "where":
            condition = self._held(part.arguments[0], guarded=guarded)
            within = guarded or _has_side(condition)
            a, b = (self._held(each, guarded=within) for each in part.arguments[1:])
            return Call("where", (condition, a, b))
        arguments = tuple(self._held(each, guarded=guarded) for each in part.arguments)
        whole = Call(function, arguments)
        if function in COMPARISONS:
            side = self._side_of(_difference(*arguments))
            return whole if side is None else Call(function, (side, ZERO))
        if function in ("abs", "sign"):
            side = self._side_of(arguments[0])
            if side is None:
                return whole
            return side if function == "sign" else Call("*", (side, arguments[0]))
        if function in ("min", "max"):
            return self._extreme(function, arguments)
        if function == "floor":
            number = self._number("floor", arguments[0])
            return whole if number is None else side_name(number)
        return self._clipped(whole, guarded=guarded)

    def _extreme(self, function: str, arguments: tuple[Expression, ...]) -> Expression:
        best, *others = arguments
        for other in others:
            side = self._side_of(_difference(best, other))
            if side is None:
                best = Call(function, (best, other))
            else:
                first = Call("<=" if function == "min" else ">=", (side, ZERO))
                best = Call("where", (first, best, other))
        return best

    def _side_of(self, expression: Expression) -> Expression | None:
        """The held sign of an expression; None if it is not held."""
        match expression:
            case Call("negative", (a,)):
                side = self._side_of(a)
                return None if side is None else negative(side)
            case Call("*", (a, b)):
                signs = [
                    self._side_of(each) if self.moves(each) else Call("sign", (each,))
                    for each in (a, b)
                ]
                if self.moves(expression) and signs[0] is not None and signs[1] is not None:
                    return times(signs[0], signs[1])
                return None
            case Call("/", (a, b)) if not self.moves(b):
                side = self._side_of(a)
                return None if side is None else times(side, Call("sign", (b,)))
            case Call("-", (a, b)) if ("sign", Call("-", (b, a))) in self._held_in:
                side = self._side_of(Call("-", (b, a)))
                return None if side is None else negative(side)
            case _:
                number = self._number("sign", expression)
                return None if number is None else side_name(number)

    def _number(self, kind: str, expression: Expression) -> int | None:
        """The number that is held for an expression; None if none is."""
        if not self.moves(expression):
            return None
        key = (kind, expression)
        if self._mode is None and is_ranged(expression, self._definitions):
            return None  # what is missing there, a held side would hide
        if self._mode is not None:
            self._held_in.setdefault(key, {})[self._mode] = None
        return list(self._held_in).index(key) if key in self._held_in else None

    def _clipped(self, call: Call, *, guarded: bool) -> Expression:
        """A call whose argument stays in its function's range where a trial passes its guard."""
        function, (first, *others) = call.function, call.arguments
        limits = CALLS[function].limits
        if function == "**" and not _is_whole(others[0]):
            limits = (ZERO, None)
        if limits == (None, None) or not (guarded or _has_side(first)):
            return call
        for extreme, limit in zip(("max", "min"), limits, strict=True):
            if limit is not None:
                first = Call(extreme, (first, limit))
        return Call(function, (first, *others))


def moving_names(system: System) -> dict[str, bool]:
    """The names whose values change between events, and whether they are time or a state.

    States whose derivative is 0 in every mode are not among them.
    """
    names = {"t": True, **{signal.name: False for signal in system.signals}}
    for state in system.states:
        if any(rational(m.derivatives.get(state.name, ONE)) != 0 for m in system.modes):
            names[state.name] = True
    return names


def side_name(number: int) -> Name:
    """The name of a held number in expressions."""
    return Name(f"{SIDE}{number}")


def _has_side(expression: Expression) -> bool:
    return any(name.startswith(SIDE) for name in names_in(expression))


def _difference(a: Expression, b: Expression) -> Expression:
    if rational(b) == 0:
        return a
    return negative(a=b) if rational(a) == 0 else Call("-", (a, b))


def _is_whole(exponent: Expression) -> bool:
    value = rational(exponent)
    return value is not None and value.denominator == 1
