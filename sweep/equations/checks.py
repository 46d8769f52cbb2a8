"""Checks of a model's file across its entries: names, expressions, the order of definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sweep.equations.expressions import Expression, Kind, names_in, rational
from sweep.equations.kinds import faults_in
from sweep.equations.names import clashes
from sweep.equations.system import Definition, Signal, State, System, event_place
from sweep.equations.tables import Line
from sweep.errors import Fault
from sweep.wording import listed

ALWAYS = {"t": "the time", "pi": "a number"}


def faults_across(system: System, lines: Sequence[Line]) -> Iterator[Fault]:
    """What is wrong although each entry is well formed; `lines` are all expressions."""
    yield from (Fault(place, message) for place, message in clashes(_named(system)))
    yield from _faulty_lines(system, lines)
    yield from _circles(system.definitions)
    yield from _constant_events(system)
    for state in system.states:
        scale = rational(state.scale)
        if scale is not None and scale <= 0:
            yield Fault(f"states.{state.name}.scale", "a scale has to be above 0")


def _named(system: System) -> Iterator[tuple[str, str, str]]:
    """Each name, what it is, and its place."""
    yield from ((p.name, "a parameter", f"parameters.{p.name}") for p in system.parameters)
    yield from ((s.name, "a state", f"states.{s.name}") for s in system.states)
    yield from ((d.name, "a definition", f"definitions.{d.name}") for d in system.definitions)
    yield from ((s.name, "a signal", f"signals.{s.name}") for s in system.signals)
    yield from ((name, "a mode", f"modes.{name}") for name in system.mode_names)
    for index, event in enumerate(system.events, 1):
        if event.name:
            yield event.name, "an event", f"{event_place(index, event)}.name"
    for output in system.outputs:
        yield output.name, "an output", f"outputs.{output.name}"
        if output.keep is not None:
            yield f"{output.name}_index", "an output", f"outputs.{output.name}"


def _faulty_lines(system: System, lines: Sequence[Line]) -> Iterator[Fault]:
    constants: dict[str, Kind] = {"pi": "number"}
    constants.update((parameter.name, "number") for parameter in system.parameters)
    known: dict[str, Kind] = {**constants, "t": "number"}
    known.update((each.name, "number") for each in _moving(system))
    known.update((name, "condition") for name in system.mode_names)
    roles = {**ALWAYS, **{name: role for name, role, _ in reversed([*_named(system)])}}
    for line in lines:
        scope = constants if line.scope == "constant" else known
        for message in faults_in(line.expression, line.kind, scope, roles):
            yield Fault(line.place, message)


def _moving(system: System) -> Iterator[State | Definition | Signal]:
    yield from (*system.states, *system.definitions, *system.signals)


def in_order(definitions: Sequence[Definition]) -> tuple[Definition, ...]:
    """The definitions, each after those that it uses, otherwise in the given order.

    Definitions that use each other in a circle stand in some order.
    """
    by_name = {definition.name: definition for definition in definitions}
    ordered: dict[str, Definition] = {}
    entered: set[str] = set()
    pending = list(reversed(definitions))
    while pending:
        definition = pending[-1]
        entered.add(definition.name)
        used = [by_name[name] for name in names_in(definition.value) if name in by_name]
        below = [each for each in used if each.name not in entered]
        if below:
            pending.append(below[0])
        else:
            ordered.setdefault(definition.name, pending.pop())
    return tuple(ordered.values())


def _circles(definitions: Sequence[Definition]) -> Iterator[Fault]:
    """A fault for each definition that leads back to itself."""
    own = {definition.name for definition in definitions}
    uses = {d.name: [n for n in names_in(d.value) if n in own] for d in definitions}
    for name in uses:
        if path := _path(name, uses):
            message = f"defined by itself: {' uses '.join(path)}; write it without"
            yield Fault(f"definitions.{name}.value", message)


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


def _constant_events(system: System) -> Iterator[Fault]:
    """A fault for each event whose expression never changes."""
    uses = {definition.name: definition.value for definition in system.definitions}
    moving = {"t", *system.mode_names, *(e.name for e in (*system.states, *system.signals))}
    known = moving | {parameter.name for parameter in system.parameters} | {"pi"} | uses.keys()
    for index, event in enumerate(system.events, 1):
        names = _all_names(event.when, uses)
        if event.name and names <= known and not names & moving:
            message = f"{listed(names) if names else 'a number'} never changes"
            place = event_place(index, event)
            yield Fault(f"{place}.when", f"{message}, so it never crosses zero; use a state or t")


def _all_names(expression: Expression, uses: Mapping[str, Expression]) -> set[str]:
    """The names that an expression depends on, also by definitions."""
    names, pending = set[str](), [expression]
    while pending:
        for name in names_in(pending.pop()):
            if name not in names and name in uses:
                pending.append(uses[name])
            names.add(name)
    return names
