"""Relations in the derivatives of a model, and the sides with which each is decided.

A comparison, abs, sign, min, max or floor whose argument moves makes a derivative jump or bend. The
kernel therefore holds the decision through a step, as a number, and ends steps where it changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sweep.equations.expressions import (
    ONE,
    ZERO,
    Call,
    Expression,
    Name,
    inlined,
    names_in,
    rational,
    walk,
)
from sweep.equations.functions import (
    CALLS,
    COMPARISONS,
    RATE,
    is_linear,
    is_ranged,
    negative,
    times,
)
from sweep.equations.system import Event, System

SIDE = "side "  # of the names of held numbers, in expressions
MAX_SIDES = 64


@dataclass(frozen=True, kw_only=True)
class Side(Event):
    """The event that a relation changes."""

    number: int  # of what it changes
    own: int  # 0: it holds the sign; of `floor`, 1: its lower end, -1: its upper
    nested: bool  # there are other sides inside

    @property
    def acts(self) -> bool:
        """It changes the motion."""
        return True


class Sides:
    """The relations of a model: `derivatives` with held sides, and what is watched for them."""

    def __init__(self, system: System) -> None:
        self._definitions = {each.name: each.value for each in system.definitions}
        # The names whose values change between events, and whether they are time or a state. States
        # whose derivative is 0 in every mode are not among them.
        self._moving = {"t": True}
        for name in system.signal_names:
            self._moving[name] = self._moving[RATE + name] = False
        for state in system.states:
            if any(rational(m.get(state.name, ONE)) != 0 for m in system.modes.values()):
                self._moving[state.name] = True
        # What is held, in the order of its numbers: "sign" or "floor" of an expression, and the
        # modes in whose derivatives it is.
        self._held_in: dict[tuple[str, Expression], dict[str, None]] = {}
        self._all_modes = list(system.modes)
        self._mode: str | None = None  # whose derivatives are read; None: nothing is added
        self.derivatives: dict[str, Mapping[str, Expression]] = {}
        for self._mode, rates in system.modes.items():
            held = {state: self._with_sides(rate) for state, rate in rates.items()}
            self.derivatives[self._mode] = held
        self._mode = None

    @property
    def hide_ranges(self) -> bool:
        """Whether an argument may leave its function's range without making a derivative NaN."""
        rates = [rate for mode in self.derivatives.values() for rate in mode.values()]
        held = [*filter(_has_side, rates), *(expression for _, expression in self._held_in)]
        return any(is_ranged(self.inlined(each)) for each in held)

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
            sides += (
                Side(when=w, number=number, own=own, nested=_has_side(expression), modes=modes)
                for own, w in ends.items()
            )
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
        return inlined(expression, self._definitions)

    def is_affine(self, expression: Expression) -> bool:
        """Whether it is affine in states and time while modes and sides stay."""
        return is_linear(
            self.inlined(expression),
            lambda part: not self.moves(part),
            lambda name: self._moving[name],
            chooses=True,
        )

    def is_smooth(self, expression: Expression) -> bool:
        """Whether it is a smooth function of the states alone, whose errors step control bounds."""
        full = self.inlined(expression)
        calls = (part for part in walk(full) if isinstance(part, Call))
        return all(self._moving.get(n, True) and n != "t" for n in names_in(full)) and not any(
            self.moves(call) and CALLS[call.function].bends not in ("", "end") for call in calls
        )

    def moves(self, expression: Expression) -> bool:
        """Whether it changes between events."""
        return not self._moving.keys().isdisjoint(names_in(self.inlined(expression)))

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
        side: Expression | None = None
        if function in COMPARISONS:
            if side := self._side_of(_difference(*arguments)):
                return Call(function, (side, ZERO))
        elif function in ("abs", "sign"):
            if side := self._side_of(arguments[0]):
                return side if function == "sign" else Call("*", (side, arguments[0]))
        elif function in ("min", "max"):
            best, *others = arguments
            for other in others:
                if side := self._side_of(_difference(best, other)):
                    first = Call("<=" if function == "min" else ">=", (side, ZERO))
                    best = Call("where", (first, best, other))
                else:
                    best = Call(function, (best, other))
            return best
        elif function == "floor":
            if side := self._number("floor", arguments[0]):
                return side
        else:
            return self._clipped(function, arguments, guarded=guarded)
        return Call(function, arguments)

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
            case Call("-", (a, b)) if a != b and ("sign", Call("-", (b, a))) in self._held_in:
                side = self._side_of(Call("-", (b, a)))
                return None if side is None else negative(side)
            case _:
                return self._number("sign", expression)

    def _number(self, kind: str, expression: Expression) -> Name | None:
        """The name of the number that is held for an expression; None if none is."""
        if not self.moves(expression):
            return None
        key = (kind, expression)
        if self._mode is None and (is_ranged(expression) or _has_side(expression)):
            # A held side would hide what is missing there, or that it stays at zero.
            return None
        if self._mode is not None:
            self._held_in.setdefault(key, {})[self._mode] = None
        return side_name(list(self._held_in).index(key)) if key in self._held_in else None

    def _clipped(
        self, function: str, arguments: tuple[Expression, ...], *, guarded: bool
    ) -> Expression:
        """A call whose argument stays in its function's range where a trial passes its guard."""
        first, *others = arguments
        limits = CALLS[function].limits
        if function == "**":
            exponent = rational(others[0])
            is_whole = exponent is not None and exponent.denominator == 1
            limits = (None, None) if is_whole else (ZERO, None)
        if guarded or _has_side(first):
            for extreme, limit in zip(("max", "min"), limits, strict=True):
                if limit is not None:
                    first = Call(extreme, (first, limit))
        return Call(function, (first, *others))


def side_name(number: int) -> Name:
    """The name of a held number in expressions."""
    return Name(f"{SIDE}{number}")


def _has_side(expression: Expression) -> bool:
    return any(name.startswith(SIDE) for name in names_in(expression))


def _difference(a: Expression, b: Expression) -> Expression:
    if rational(b) == 0:
        return a
    return negative(b) if rational(a) == 0 else Call("-", (a, b))
