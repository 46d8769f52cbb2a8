"""Kinks of integrands, holds and extremes: where an expression bends or jumps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from sweep.equations.cpp_struct import FEW, MOTION, Writer, level_name, table
from sweep.equations.expressions import ONE, ZERO, Call, Expression, walk, whole_power
from sweep.equations.functions import CALLS, COMPARISONS, derivative

JUMPING = (*COMPARISONS, "sign", "floor", "atan2")


@dataclass(frozen=True)
class Kink:
    """What changes its sign where an integrand, a hold or an extreme has a kink or a jump."""

    when: Expression
    level: int = -1  # the number of the `floor` whose ends it is
    own: int = 0  # of its lower end 1, of its upper -1


Kinks = Mapping[str, Sequence[Kink]]  # by what has them, in the order of their numbers


def kinks_of(writer: Writer) -> Kinks:
    """The kinks of integrands, holds and extremes, in the order of their numbers."""
    groups: dict[str, Sequence[Kink]] = {}
    is_sought = not all(map(writer.sides.is_affine, writer.sums.extremes))
    for name, expressions in (
        ("kinks", writer.integrands),
        ("hold_kinks", writer.holds),
        ("extreme_kinks", writer.bent if is_sought else ()),
    ):
        groups[name] = _in_all(writer, expressions, n_levels(groups))
    return groups


def n_levels(kinks: Kinks) -> int:
    """The number of `floor`s among them."""
    return max((kink.level + 1 for kink in chain(*kinks.values())), default=0)


def _with_places(kinks: Kinks) -> Iterable[tuple[int, Sequence[Kink]]]:
    """The groups that have kinks, each with the number of its first."""
    first = 0
    for group in kinks.values():
        if group:
            yield first, group
        first += len(group)


def _in_all(writer: Writer, expressions: Iterable[Expression], level: int) -> list[Kink]:
    """All kinks of some of the model's expressions, but those of relations whose sides are held.

    They are where something changes its sign, or passes a whole number. `level` is the number of
    the first `floor`.
    """
    sign_changes: dict[Expression, None] = {}
    floors: dict[Expression, None] = {}
    for part in (part for each in expressions for part in walk(each)):
        if not isinstance(part, Call):
            continue
        arguments, bends = part.arguments, CALLS[part.function].bends
        if bends == "zero":
            # Of atan2, a cut where y passes 0; of both, what happens where both pass it.
            sign_changes.update(dict.fromkeys(arguments))
        elif bends == "equal":
            best, *others = arguments
            for other in others:
                sign_changes[Call("-", (best, other))] = None
                best = Call(part.function, (best, other))
        elif bends == "whole":
            floors[arguments[0]] = None
        elif bends == "end" or (part.function == "**" and whole_power(arguments[1]) is None):
            # Of sqrt(x**2), where its argument touches the end of its range.
            by_states = {name: writer.by_mode(name) for name in writer.states}
            rate = derivative(arguments[0], {**by_states, **writer.by_time()})
            sign_changes[rate] = None
    kinks = [Kink(each) for each in sign_changes if writer.sides.moves(each)]
    for number, each in enumerate(filter(writer.sides.moves, floors), level):
        held = level_name(number)
        kinks.append(Kink(Call("-", (each, held)), number, 1))
        kinks.append(Kink(Call("-", (each, Call("+", (held, ONE)))), number, -1))
    return kinks


def kink_members(writer: Writer, kinks: Kinks) -> Iterable[str]:
    """Each kink along a motion, and of each group those that are affine."""
    yield from writer.along("kink", [kink.when for kink in chain(*kinks.values())])
    for first, each in _with_places(kinks):
        is_straight = [kink.own == 0 and writer.sides.is_affine(kink.when) for kink in each]
        values = [k.when if on else ZERO for k, on in zip(each, is_straight, strict=True)]
        arguments = f"systems::Index<{first}>, {MOTION}"
        kind = "SELDOM" if len(each) > FEW else "HD"
        yield writer.vector("straight_kinks", values, arguments, size=f"{len(each)}", kind=kind)


def kink_rules(writer: Writer, kinks: Kinks) -> str:
    """What is known about each kink when the kernel is compiled."""
    rows: list[dict[str, int]] = []
    for kink in chain(*kinks.values()):
        straight = writer.sides.is_affine(kink.when)
        ranged = not straight and writer.is_ranged(kink.when)
        rows.append({"straight": straight, "ranged": ranged, "level": kink.level, "own": kink.own})
    fields = "bool straight, bool ranged, int level, int own"
    return table("KinkRule", "kink_rules", fields, rows)


def extreme_rules(writer: Writer) -> str:
    """What is known about each expression whose extremes are sought."""
    rows = [
        {"straight": writer.sides.is_affine(each), "jumps": _jumps_in_value(writer, each)}
        for each in writer.sums.extremes
    ]
    return table("ExtremeRule", "extreme_rules", "bool straight, bool jumps", rows)


def _jumps_in_value(writer: Writer, expression: Expression) -> bool:
    """Whether the value jumps where it has a kink."""
    return any(
        isinstance(part, Call) and part.function in JUMPING and writer.sides.moves(part)
        for part in walk(writer.sides.inlined(expression))
    )
