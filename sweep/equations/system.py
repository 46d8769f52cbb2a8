"""A model from a file as frozen data: a system of first-order equations with modes and events."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, cast

from sweep.equations.expressions import Call, Expression, Name, Number, text_of
from sweep.equations.functions import Kind
from sweep.equations.model_indices import Index, NumberTable, nested
from sweep.equations.signals import DrawnSignal, Signal
from sweep.model.elements import base
from sweep.model.table import Parameter
from sweep.text.toml_text import assignments

FORMAT = 1  # of the files that this version reads
SAMPLES_OF = "samples of "  # what `at` says before the name of a signal
HOLD = "_hold"  # an output that no file has: the number of the violated hold, from 0, or -1
PERIOD = "period"  # what `every` says for values at whole periods

# Of parameters and pi alone, of modes and switches alone, or of all names.
Scope = Literal["constant", "switches", "motion"]
Direction = Literal["rising", "falling", "both"]
DIRECTIONS: Mapping[Direction, int] = {"rising": 1, "falling": -1, "both": 0}  # of the change


@dataclass(frozen=True)
class Line:
    """An expression of the file and what it has to be."""

    place: str
    expression: Expression
    kind: Kind
    scope: Scope
    unit_of: str  # the entry that has its unit, or "t"; "": it may have any
    per_time: int  # in that unit over so many powers of that of time


@dataclass(frozen=True, kw_only=True)
class State:
    """A quantity that the equations advance in time."""

    name: str
    unit: str
    initial: Expression  # of parameters; in SI units
    scale: Expression  # of parameters; its typical size, for step control
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A named expression."""

    name: str
    value: Expression
    unit: str
    meaning: str


MODE = "mode"  # the switch that the modes are
# The value that a switch takes: the first whose condition holds; None always does, and is the last.
Choice = Mapping[str, Expression | None]


@dataclass(frozen=True, kw_only=True)
class Switch:
    """What has one of a few values, which events change."""

    name: str
    values: tuple[str, ...]
    start: Choice


@dataclass(frozen=True, kw_only=True)
class Hold:
    """What has to hold all the time for the model to be right."""

    name: str
    condition: Expression
    meaning: str  # of its violation


@dataclass(frozen=True, kw_only=True)
class Event:
    """What happens where an expression crosses zero."""

    name: str = ""
    modes: tuple[str, ...] = ()  # in which it happens; empty: in all
    inside: Expression | None = None  # `in` as a condition of switches
    when: Expression
    direction: Direction = "both"
    then: str | None = None  # the mode from then on
    condition: Expression | None = None  # `if` in the file
    # State right after -> expression right before.
    sets: Mapping[str, Expression] = field(default_factory=dict[str, Expression])
    # What switches become; that of modes only if it is no single `then`.
    switches: Mapping[str, Choice] = field(default_factory=dict[str, Choice])
    rest: Mapping[str, Choice] = field(default_factory=dict[str, Choice])  # where it accumulates
    stop_after: int | None = None  # the occurrence that ends the motion, from 1
    at_entry: bool = False  # also fires where `in` turns true with the expression past zero

    @property
    def acts(self) -> bool:
        """Whether it changes the motion; where none does, they are seen on the dense motion."""
        return bool(self.sets or self.choices or self.stop_after)

    @property
    def choices(self) -> Mapping[str, Choice]:
        """What switches become where it happens, the modes among them."""
        return {**({MODE: {self.then: None}} if self.then else {}), **self.switches}


def event_place(number: int, event: Event) -> str:
    """Where the event with a number, from 1, stands in its file: `events[2] 'capture'`."""
    return f"events[{number}] {event.name!r}"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """How one output follows from the motion in the window."""

    name: str
    kind: str  # of `output_kinds`
    expression: Expression | None = None  # a condition in a share; None in a count
    event: str | None = None  # what is counted or at which values are taken
    unit: str
    meaning: str
    every: str | None = None  # of values: "period" or the name of the event
    keep: int | None = None  # of values: how many, the last ones
    take: str | None = None  # of an interval: of the times between events
    signal: str | None = None  # at whose samples a sum is taken
    repeats: tuple[Expression, ...] = ()  # of a period: what repeats after it
    most: int | None = None  # of a period
    tolerance: float | None = None  # of a period: as a share of scale and magnitude


@dataclass(frozen=True, kw_only=True)
class Test:
    """A point and what it must give: |found - expected| <= absolute + relative |expected|."""

    __test__ = False  # for pytest

    at: Mapping[str, float]  # parameters and controls of the method
    method: str | None  # None: the default
    status: str  # "ok", or the status that the point must have
    expect: Mapping[str, float | tuple[float, ...]]  # outputs; of values, all that are kept
    relative: float
    absolute: float


@dataclass(frozen=True, kw_only=True)
class System:
    """A model from a file, checked; `text` is its identity."""

    name: str
    title: str
    source: str
    period: Expression | None  # of parameters; what start_cycle and end_cycle count
    time_unit: str
    parameters: tuple[Parameter, ...]
    states: tuple[State, ...]
    definitions: tuple[Definition, ...]  # each after those that it uses
    modes: Mapping[str, Mapping[str, Expression]]  # rates of all states; if there is one mode: ""
    start_mode: str
    events: tuple[Event, ...]
    outputs: tuple[Rule, ...]
    signals: tuple[Signal, ...] = ()
    drawn: tuple[DrawnSignal, ...] = ()  # signals by draw, numbered in the order of the file
    switches: tuple[Switch, ...] = ()
    holds: tuple[Hold, ...] = ()
    names_hold: bool = False  # a violated hold ends the motion well, and HOLD is its number
    tests: tuple[Test, ...] = field(default=(), compare=False)  # no part of the model's identity
    lines: tuple[Line, ...] = field(default=(), compare=False, repr=False)  # all its expressions
    indices: tuple[Index, ...] = ()
    tables: tuple[NumberTable, ...] = ()
    over: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    only: Mapping[str, Expression] = field(default_factory=dict[str, Expression])  # by event
    written: System | None = None  # with indices: what this one was expanded from
    event_places: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)

    @cached_property
    def text(self) -> str:
        """The canonical text: TOML, one line for each entry, which `system_of_text` reads.

        Files that differ in comments, white space, default values written or left out, parentheses
        or the order of keys within an entry have the same text. It holds all that a bit of a result
        or an attribute in a store depends on; tests are not part of it.
        """
        return "".join(f"{line}\n" for line in _lines(self.written or self))

    @property
    def as_written(self) -> System:
        """The system as its file has it, with indices."""
        return self.written or self

    def sizes_over(self, name: str) -> list[int]:
        """The lengths of the indices of a name."""
        sizes = {index.name: index.size for index in self.indices}
        return [sizes[index] for index in self.over.get(name, ())]

    def event_place(self, number: int, event: Event) -> str:
        """Where the event with a number, from 1, stands in the file."""
        return self.event_places.get(event.name) or event_place(number, event)

    @property
    def mode_names(self) -> tuple[str, ...]:
        """The names that are conditions in expressions; none in a model without modes."""
        return tuple(filter(None, self.modes))

    @property
    def automata(self) -> tuple[Switch, ...]:
        """All switches, of which the modes are the first."""
        modes = Switch(name=MODE, values=self.mode_names, start={self.start_mode: None})
        return (*([modes] if self.mode_names else []), *self.switches)

    @property
    def signal_names(self) -> tuple[str, ...]:
        """The names of all signals in expressions."""
        drawn = (name for signal in self.drawn for name in signal.elements)
        return (*(signal.name for signal in self.signals), *drawn)

    @property
    def acting(self) -> bool:
        """Whether steps end at events: one acts on the motion, or signals jump over their zeros."""
        jumps = any(signal.jumps for signal in self.signals)
        return jumps or any(event.acts or event.at_entry for event in self.events)

    @property
    def values_kept(self) -> int:
        """How many values of a point the outputs keep that have several."""
        periods = sum(2 * (output.most or 0) * len(output.repeats) for output in self.outputs)
        return periods + sum(output.keep or 0 for output in self.outputs)

    def named(self) -> Iterator[tuple[str, str, str, str | None]]:
        """Each name, what it is, its place, and its unit if such an entry has one."""
        yield from (
            (index.name, "an index", f"indices.{index.name}", None) for index in self.indices
        )
        groups = {
            "a parameter": self.parameters,
            "a state": self.states,
            "a definition": self.definitions,
            "a signal": self.signals,
            "a table": self.tables,
        }
        for role, entries in groups.items():
            table = role.removeprefix("a ") + "s"
            yield from ((e.name, role, f"{table}.{base(e.name)}", e.unit) for e in entries)
        for signal in self.drawn:
            place = f"signals.{signal.name}"
            yield from ((name, "a signal", place, signal.unit) for name in signal.elements)
        yield from ((name, "a mode", f"modes.{name}", None) for name in self.mode_names)
        yield from ((e.name, "a switch", f"switches.{e.name}", None) for e in self.switches)
        yield from ((e.name, "a hold", f"holds.{e.name}", None) for e in self.holds)
        for number, event in enumerate(self.events, 1):
            if event.name:
                yield event.name, "an event", f"{self.event_place(number, event)}.name", None
        for output in self.outputs:
            place = f"outputs.{base(output.name)}"
            yield output.name, "an output", place, output.unit
            if output.keep is not None:
                yield f"{output.name}_index", "an output", place, None


# Of events, where files name them so.
KEYS = {"modes": "in", "inside": "in", "condition": "if", "sets": "set"}
OMITTED: tuple[object, ...] = (None, (), {}, math.inf, -math.inf)
PARAMETER_KEYS = (
    *("unit", "minimum", "maximum", "open_minimum", "open_maximum", "whole"),
    *("default", "symbol", "meaning"),
)


def _lines(system: System) -> Iterator[str]:
    top = {key: getattr(system, key) for key in ("name", "title", "source", "period", "time_unit")}
    start_mode = system.start_mode or None
    names_hold = system.names_hold or None
    head = {"format": FORMAT, **top, "start_mode": start_mode, "names_hold": names_hold}
    yield from _assignments(head)
    if system.indices:
        yield "[indices]"
        yield from _assignments({index.name: index.entry for index in system.indices})
    if system.tables:
        yield "[tables]"
        yield from _assignments({each.name: _numbers(system, each) for each in system.tables})
    for key in ("parameters", "states", "definitions", "signals", "switches"):
        own = (*getattr(system, key), *(system.drawn if key == "signals" else ()))
        entries = {e.name: {"over": _over(system, e.name), **_entry(e)} for e in own}
        if entries:
            yield f"[{key}]"
            yield from _assignments(entries)
    for mode, rates in system.modes.items():
        yield f"[modes.{mode}]" if mode else "[derivatives]"
        yield from _assignments(rates)
    for event in system.events:
        yield "[[events]]"
        over, only = _over(system, event.name), system.only.get(event.name)
        yield from _assignments({"name": event.name, "over": over, "only": only, **_entry(event)})
    yield "[outputs]"
    rules = {e.name: {"over": _over(system, e.name), **_rule(e)} for e in system.outputs}
    yield from _assignments(rules)

    if system.holds:
        yield "[holds]"
        holds = {
            e.name: {
                "over": _over(system, e.name), "condition": e.condition, "meaning": e.meaning,
            }
            for e in system.holds
        }  # fmt: skip
        yield from _assignments(holds)


def _over(system: System, name: str) -> str | tuple[str, ...] | None:
    over = system.over.get(name)
    return over[0] if over and len(over) == 1 else over


def _numbers(system: System, table: NumberTable) -> Mapping[str, object]:
    values = nested(table.values, system.sizes_over(table.name))
    over = _over(system, table.name)
    return {"over": over, "values": values, "unit": table.unit, "meaning": table.meaning}


def _assignments(table: Mapping[str, object]) -> Iterator[str]:
    return assignments({key: _value(value) for key, value in table.items()})


def _value(value: object) -> object:
    """The value with expressions as texts."""
    match value:
        case Number() | Name() | Call():
            return text_of(value)
        case tuple():
            return tuple(map(_value, cast("tuple[object, ...]", value)))
        case Mapping():
            entries = cast("Mapping[str, object]", value)
            return {key: _value(entry) for key, entry in entries.items()}
        case _:
            return value


def _choice(choice: Choice) -> object:
    """A choice as files write it."""
    if len(choice) == 1:
        return next(iter(choice))
    return {value: "true" if each is None else each for value, each in choice.items()}


def _entry(
    entry: Parameter | State | Definition | Signal | DrawnSignal | Switch | Event,
) -> Mapping[str, object]:
    """What an entry has but its name: no flags that are off, and no bounds that are infinite."""
    values: Mapping[str, Any] = entry.entry if isinstance(entry, DrawnSignal) else vars(entry)
    if isinstance(entry, Parameter):
        values = {key: values[key] for key in PARAMETER_KEYS}
    elif isinstance(entry, Signal):
        values = vars(entry.table) | values
    elif isinstance(entry, Switch):
        values = values | {"start": _choice(entry.start)}
    elif isinstance(entry, Event):
        becomes = {name: _choice(each) for name, each in entry.switches.items()}
        rest = {name: _choice(each) for name, each in entry.rest.items()}
        values = values | {
            "sets": {**entry.sets, **becomes},
            "switches": None,
            "rest": rest[MODE] if list(rest) == [MODE] else rest,
        }
    return {
        KEYS.get(key, key): value
        for key, value in values.items()
        if key not in ("name", "table") and value is not False and value not in OMITTED
    }


def _rule(rule: Rule) -> Mapping[str, object]:
    at = rule.event if rule.expression and not rule.every and not rule.take else None
    return {
        "at": f"{SAMPLES_OF}{rule.signal}" if rule.signal else at,
        rule.kind: rule.repeats or (rule.event if rule.take else rule.expression or rule.event),
        "take": rule.take,
        "every": rule.every,
        "keep": rule.keep,
        "most": rule.most,
        "tolerance": rule.tolerance,
        "unit": rule.unit,
        "meaning": rule.meaning,
    }
