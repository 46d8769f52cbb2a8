"""The canonical text of a model from a file: TOML, one line for each entry.

Files that differ in comments, white space, default values written or left out, parentheses or the
order of keys within an entry have the same text. It holds all that a bit of a result or an
attribute in a store depends on; tests are not part of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from sweep.equations.expressions import Call, Name, Number, text_of
from sweep.equations.system import FORMAT, Definition, Event, Rule, Signal, State, System
from sweep.spec import Parameter
from sweep.toml_text import assignments

Entries = Mapping[str, object]  # None: left out


def canonical_text(system: System) -> str:
    """The text of a checked model, which `system_file.system_of_text` reads."""
    return "".join(f"{line}\n" for line in _lines(system))


def _lines(system: System) -> Iterator[str]:
    top = {
        "format": FORMAT,
        "name": system.name,
        "title": system.title,
        "source": system.source,
        "period": system.period,
        "time_unit": system.time_unit,
        "start_mode": system.start_mode or None,
    }
    yield from _assignments(top)
    yield from _section("parameters", ((p.name, _parameter(p)) for p in system.parameters))
    yield from _section("states", ((s.name, _own(s)) for s in system.states))
    yield from _section("definitions", ((d.name, _own(d)) for d in system.definitions))
    yield from _section("signals", ((s.name, _own(s)) for s in system.signals))
    for mode in system.modes:
        yield f"[modes.{mode.name}]" if mode.name else "[derivatives]"
        yield from _assignments(mode.derivatives)
    for event in system.events:
        yield "[[events]]"
        yield from _assignments(_event(event))
    yield from _section("outputs", ((rule.name, _rule(rule)) for rule in system.outputs))


def _section(name: str, entries: Iterable[tuple[str, Entries]]) -> Iterator[str]:
    """A table whose entries are tables, each on one line."""
    tables = dict(entries)
    if tables:
        yield f"[{name}]"
        yield from _assignments(tables)


def _assignments(table: Entries) -> Iterator[str]:
    return assignments({key: _value(value) for key, value in table.items()})


def _value(value: object) -> object:
    """The value with expressions as texts."""
    match value:
        case Number() | Name() | Call():
            return text_of(value)
        case Mapping():
            return {key: _value(entry) for key, entry in cast(Entries, value).items()}
        case _:
            return value


def _parameter(parameter: Parameter) -> Entries:
    bounds = {"minimum": parameter.minimum, "maximum": parameter.maximum}
    flags = ("open_minimum", "open_maximum", "whole")
    return {
        "unit": parameter.unit,
        **{key: bound for key, bound in bounds.items() if math.isfinite(bound)},
        **{key: True for key in flags if getattr(parameter, key)},
        "default": parameter.default,
        "symbol": parameter.symbol,
        "meaning": parameter.meaning,
    }


def _own(entry: State | Definition | Signal) -> Entries:
    """All but the name, in the order of the class; of a table, its columns."""
    table = vars(entry.table) if isinstance(entry, Signal) else {}
    return table | {
        key: value for key, value in vars(entry).items() if key not in ("name", "table")
    }


def _event(event: Event) -> Entries:
    return {
        "name": event.name,
        "in": event.modes or None,
        "when": event.when,
        "direction": event.direction,
        "then": event.then,
        "if": event.condition,
        "set": event.sets or None,
        "stop_after": event.stop_after,
        "at_entry": event.at_entry or None,
    }


def _rule(rule: Rule) -> Entries:
    if rule.kind == "count":
        how: Entries = {"count": rule.event}
    elif rule.kind == "values":
        how = {"values": rule.expression, "every": rule.every, "keep": rule.keep}
    else:
        how = {
            "at": rule.event,
            rule.kind: rule.expression,
        }
    return {**how, "unit": rule.unit, "meaning": rule.meaning}
