"""Checks of a model's file across its entries: names, expressions, the order of definitions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from sweep.equations.expressions import (
    Call,
    Expression,
    Name,
    cut,
    names_in,
    rational,
    walk,
)
from sweep.equations.functions import CALLS, Kind, kind_of_argument
from sweep.equations.names import clashes
from sweep.equations.rules import MAX_KEPT
from sweep.equations.sides import MAX_SIDES, Sides
from sweep.equations.system import Definition, Line, System, event_place
from sweep.errors import Fault
from sweep.wording import nearest, written

ALWAYS = {"t": "the time", "pi": "a number"}
NUMBER: Kind = "number"
KINDS: Mapping[str, Kind] = {  # of names in expressions, by what they are
    **dict.fromkeys(("a parameter", "a state", "a definition", "a signal"), NUMBER),
    "a mode": "condition",
}


def faults_across(system: System, *, is_stored: bool) -> Iterator[Fault]:
    """What is wrong although each entry is well formed; `is_stored` as of Lines."""
    yield from clashes(system.named())
    yield from _faulty_lines(system)
    yield from _circles(system.definitions)
    readable = {line.place for line in system.lines}
    yield from _constant_events(system, readable)
    if system.values_kept > MAX_KEPT and not is_stored:
        kept = f"{system.values_kept:,} values of a point are kept in all"
        yield Fault("outputs", f"{kept}, but at most {MAX_KEPT:,} can be", "give a smaller keep")
    yield from _too_many_sides(system)
    for state in system.states:
        place, scale = f"states.{state.name}.scale", rational(state.scale)
        if place in readable and scale is not None and scale <= 0:
            yield Fault(place, "a scale has to be above 0")


def _faulty_lines(system: System) -> Iterator[Fault]:
    parameters = [parameter.name for parameter in system.parameters]
    constants: dict[str, Kind] = dict.fromkeys(["pi", *parameters], NUMBER)
    roles = dict(ALWAYS)
    known: dict[str, Kind] = {**constants, "t": NUMBER}
    for name, role, *_ in system.named():
        roles.setdefault(name, role)
        if role in KINDS:
            known[name] = KINDS[role]
    for line in system.lines:
        scope = constants if line.scope == "constant" else known
        for part, what, cure in _faults_in(line, scope, roles):
            yield Fault(line.place, f"column {part.column}: {what}", cure)


def _faults_in(
    line: Line, known: Mapping[str, Kind], roles: Mapping[str, str]
) -> Iterator[tuple[Expression, str, str]]:
    """For each unknown name and each part of the wrong kind: the part, what is wrong, the cure.

    `known` are the names that may stand here; `roles` are all of the file, with what they are.
    """
    for name, part in names_in(line.expression).items():
        if name in roles and name not in known:
            yield part, f"{name!r} is {roles[name]}, which cannot stand here", ""
        elif name not in known:
            yield part, f"{written(name)} is unknown", nearest(name[:64], known)
    for part, wanted, place in _parts(line):
        kind = known.get(part.name, NUMBER) if isinstance(part, Name) else NUMBER
        kind = CALLS[part.function].value if isinstance(part, Call) else kind
        if kind == wanted:
            continue
        cure = f"compare it, as in {cut(part)} > 0"
        if kind == "condition":
            crosses = place == "here" and re.fullmatch(r"events\[.*\.when", line.place)
            cure = f"write {_crossing(part) if crosses else f'where({cut(part)}, 1, 0)'}"
        yield part, f"{cut(part)} is a {kind}, but a {wanted} is needed {place}", cure


def _parts(line: Line) -> Iterator[tuple[Expression, Kind, str]]:
    """Each part of an expression, the kind that is needed there, and where that is."""
    yield line.expression, line.kind, "here"
    for call in walk(line.expression):
        if isinstance(call, Call):
            for index, argument in enumerate(call.arguments):
                yield argument, kind_of_argument(call.function, index), f"in {cut(call)}"


def _crossing(condition: Expression) -> str:
    """A number that rises through zero where the condition begins: leaving 0 is no crossing."""
    match condition:
        case Call(">" | ">=", (left, right)) | Call("<" | "<=", (right, left)):
            return cut(Call("-", (left, right)))
        case _:
            return f"where({cut(condition)}, 1, -1)"


def in_order(definitions: Sequence[Definition]) -> tuple[Definition, ...]:
    """The definitions, each after those that it uses, otherwise in the given order.

    None of them may lead back to itself.
    """
    by_name = {definition.name: definition for definition in definitions}
    ordered: dict[str, Definition] = {}

    def add(name: str) -> None:
        if name in by_name and name not in ordered:
            for used in names_in(by_name[name].value):
                add(used)
            ordered[name] = by_name[name]

    for name in by_name:
        add(name)
    return tuple(ordered.values())


def _circles(definitions: Sequence[Definition]) -> Iterator[Fault]:
    """A fault for each definition that leads back to itself."""
    own = {definition.name for definition in definitions}
    uses = {d.name: [n for n in names_in(d.value) if n in own] for d in definitions}
    for name in uses:
        if path := _path(name, uses):
            what = f"defined by itself: {' uses '.join(path)}"
            yield Fault(f"definitions.{name}.value", what, "write it without")


def _path(name: str, uses: Mapping[str, Sequence[str]]) -> list[str] | None:
    """The shortest way from a name back to itself; None if there is none."""
    paths = [[name]]
    seen: set[str] = set()
    for path in paths:
        for other in uses[path[-1]]:
            if other == name:
                return [*path, name]
            if other not in seen:
                seen.add(other)
                paths.append([*path, other])
    return None


def _constant_events(system: System, readable: Collection[str]) -> Iterator[Fault]:
    """A fault for each event whose expression, at one of the readable places, never changes."""
    uses = {definition.name: definition.value for definition in system.definitions}
    moving = {"t", *system.mode_names, *(e.name for e in (*system.states, *system.signals))}
    moving |= {name for name in uses if f"definitions.{name}.value" not in readable}  # perhaps
    known = moving | {parameter.name for parameter in system.parameters} | {"pi"} | uses.keys()
    for index, event in enumerate(system.events, 1):
        names, place = _all_names(event.when, uses), f"{event_place(index, event)}.when"
        if place in readable and names.keys() <= known and not names.keys() & moving:
            what = f"{cut(event.when)} never changes, so it never crosses zero"
            yield Fault(place, what, "use a state or t")


def _too_many_sides(system: System) -> Iterator[Fault]:
    """A fault if more relations stand in derivatives than a kernel holds sides of."""
    if [*_circles(system.definitions)]:
        return
    if (number := len(Sides(system))) > MAX_SIDES:
        place = "modes" if system.mode_names else "derivatives"
        what = f"{number} comparisons, abs, sign, min, max and floor change during the motion"
        yield Fault(place, f"{what}, but at most {MAX_SIDES} may", "use modes for some")


def _all_names(expression: Expression, uses: Mapping[str, Expression]) -> dict[str, None]:
    """The names that an expression depends on, also by definitions."""
    names, pending = dict[str, None](), [expression]
    while pending:
        for name in names_in(pending.pop()):
            if name not in names and name in uses:
                pending.append(uses[name])
            names[name] = None
    return names
