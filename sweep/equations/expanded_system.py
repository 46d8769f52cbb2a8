"""A system as written, with indices, as one of scalar names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from sweep.equations.expansion import Expander, Places
from sweep.equations.expressions import ZERO, Call, Expression, Name
from sweep.equations.functions import SUBSCRIPT
from sweep.equations.model_indices import Index, combinations
from sweep.equations.parsing import parse
from sweep.equations.switches import with_conditions
from sweep.equations.system import (
    MODE,
    PERIOD,
    Choice,
    Definition,
    Event,
    Hold,
    Line,
    Rule,
    State,
    Switch,
    System,
    event_place,
)
from sweep.errors import Fault, FaultError
from sweep.model.elements import base, places_of
from sweep.model.table import Parameter
from sweep.text.reader import dotted


def expanded_system(written: System, *, has_numbers: bool) -> tuple[System, tuple[Fault, ...]]:
    """The system of scalar names, and what is wrong with its indices.

    If it `has_numbers`, those of tables stand in its expressions; otherwise their names, which have
    units, and it has the tables' elements.
    """
    builder = _Builder(written, has_numbers=has_numbers)
    system = builder.system()
    return system, tuple(builder.faults.values())


@dataclass
class _Builder:
    """Builds the system; gathers lines and faults, one of each place and column."""

    written: System
    has_numbers: bool
    lines: list[Line] = field(default_factory=list[Line])
    faults: dict[tuple[str, str], Fault] = field(default_factory=dict[tuple[str, str], Fault])

    def __post_init__(self) -> None:
        written = self.written
        self.indices: Mapping[str, Index] = {index.name: index for index in written.indices}
        self.expander = Expander(
            self.indices,
            written.over,
            {table.name: table for table in written.tables},
            frozenset([*(name for name, *_ in written.named()), "t", "pi"]),
            frozenset(each.name for each in (*written.outputs, *written.events, *written.holds)),
            self.has_numbers,
        )
        self.by_place = {line.place: line for line in written.lines}
        self.switch_values = {MODE: written.mode_names} if written.mode_names else {}
        for switch in written.switches:
            for name, _ in self.elements(switch.name):
                self.switch_values[name] = switch.values

    def system(self) -> System:
        """The whole system."""
        written, expand = self.written, self.expander
        event_places: dict[str, str] = {}
        events = tuple(self.events(event_places))
        tables = () if self.has_numbers else written.tables
        return replace(
            written,
            period=None if written.period is None else self.line("period", written.period, {}),
            parameters=tuple(self.parameters()),
            states=tuple(self.states()),
            definitions=tuple(self.definitions()),
            modes={
                mode: self.rates(f"modes.{mode}" if mode else "derivatives", rates)
                for mode, rates in written.modes.items()
            },
            drawn=tuple(
                replace(each, elements=tuple(expand.elements(each.name))) for each in written.drawn
            ),
            switches=tuple(self.switches()),
            holds=tuple(self.holds()),
            events=events,
            outputs=tuple(self.rules()),
            lines=tuple(self.lines),  # last: all have been expanded
            indices=(),
            tables=tuple(
                replace(table, name=name, over=(), values=(value,))
                for table in tables
                for name, value in zip(expand.elements(table.name), table.values, strict=True)
            ),
            over={},
            only={},
            written=written,
            event_places=event_places,
        )

    def elements(self, name: str) -> Iterator[tuple[str, Places]]:
        """Each element of an entry, and the values of its indices."""
        for places in combinations(self.written.over.get(name, ()), self.indices):
            yield self.expander.named(name, places), places

    def fault(self, place: str, error: FaultError) -> None:
        """Add a fault, unless the place and column have one."""
        column = error.what.partition(":")[0]
        self.faults.setdefault((place, column), Fault(place, error.what, error.cure))

    def line(self, place: str, expression: Expression, places: Places) -> Expression:
        """The expression of a line where its indices have these values; 0 if it is faulty."""
        try:
            expanded = self.expander.expanded(expression, places)
            expanded = with_conditions(expanded, self.switch_values)
        except FaultError as error:
            self.fault(place, error)
            return ZERO
        if line := self.by_place.get(place):
            unit_of = self.expander.elements(line.unit_of)[0] if line.unit_of else ""
            self.lines.append(replace(line, expression=expanded, unit_of=unit_of))
        return expanded

    def parameters(self) -> Iterator[Parameter]:
        """The parameters, one for each element."""
        for each in self.written.parameters:
            for name, _ in self.elements(each.name):
                symbol = name.replace(each.name, each.symbol, 1)
                meaning = _meaning(each.meaning, name)
                yield replace(each, name=name, symbol=symbol, meaning=meaning)

    def states(self) -> Iterator[State]:
        """The states."""
        for each in self.written.states:
            place = f"states.{each.name}"
            for name, places in self.elements(each.name):
                yield State(
                    name=name,
                    unit=each.unit,
                    initial=self.line(f"{place}.initial", each.initial, places),
                    scale=self.line(f"{place}.scale", each.scale, places),
                    meaning=_meaning(each.meaning, name),
                )

    def definitions(self) -> Iterator[Definition]:
        """The definitions."""
        for each in self.written.definitions:
            place = f"definitions.{each.name}.value"
            for name, places in self.elements(each.name):
                value, meaning = self.line(place, each.value, places), _meaning(each.meaning, name)
                yield replace(each, name=name, value=value, meaning=meaning)

    def rates(self, place: str, rates: Mapping[str, Expression]) -> Mapping[str, Expression]:
        """The derivatives in one mode; a line is written once for a state over indices."""
        return {
            name: self.line(dotted(place, state), rate, places)
            for state, rate in rates.items()
            for name, places in self.elements(state)
        }

    def events(self, event_places: dict[str, str]) -> Iterator[Event]:
        """The events, but those that `only` leaves out, and the place of each in the file."""
        for number, each in enumerate(self.written.events, 1):
            place = event_place(number, each)
            for name, places in self.elements(each.name):
                if not self.is_wanted(f"{place}.only", self.written.only.get(each.name), places):
                    continue
                event_places[name] = place
                condition = each.condition
                if condition is not None:
                    condition = self.line(f"{place}.if", condition, places)
                inside = each.inside
                if inside is not None:
                    inside = self.line(f"{place}.in", inside, places)
                yield replace(
                    each,
                    name=name,
                    inside=inside,
                    when=self.line(f"{place}.when", each.when, places),
                    condition=condition,
                    sets=self.sets(f"{place}.set", each.sets, places),
                    switches=self.choices(f"{place}.set", each.switches, places),
                    rest=self.choices(f"{place}.rest", each.rest, places),
                )

    def switches(self) -> Iterator[Switch]:
        """The switches."""
        for each in self.written.switches:
            place = f"switches.{each.name}.start"
            for name, places in self.elements(each.name):
                yield replace(each, name=name, start=self.choice(place, each.start, places))

    def holds(self) -> Iterator[Hold]:
        """The conditions of a right model."""
        for each in self.written.holds:
            place = f"holds.{each.name}.condition"
            for name, places in self.elements(each.name):
                condition = self.line(place, each.condition, places)
                meaning = _meaning(each.meaning, name)
                yield Hold(name=name, condition=condition, meaning=meaning)

    def choices(
        self, place: str, choices: Mapping[str, Choice], places: Places
    ) -> Mapping[str, Choice]:
        """What switches become: their own elements, or those that subscripts name."""
        expanded: dict[str, Choice] = {}
        for key, choice in choices.items():
            try:
                name = key if key == MODE else self.expander.target(_named(key), places)
                expanded[name] = self.choice(dotted(place, key), choice, places)
            except FaultError as error:
                self.fault(dotted(place, key), error)
        return expanded

    def choice(self, place: str, choice: Choice, places: Places) -> Choice:
        """The values that a switch takes, with their conditions."""
        return {
            value: None if each is None else self.line(dotted(place, value), each, places)
            for value, each in choice.items()
        }

    def is_wanted(self, place: str, only: Expression | None, places: Places) -> bool:
        """Whether `only` keeps the element of an event."""
        try:
            return only is None or self.expander.decided(only, places)
        except FaultError as error:
            self.fault(place, error)
            return False

    def sets(
        self, place: str, sets: Mapping[str, Expression], places: Places
    ) -> Mapping[str, Expression]:
        """What an event sets: its own element of each state, or those that subscripts name."""
        expanded: dict[str, Expression] = {}
        for key, value in sets.items():
            try:
                name = self.expander.target(_named(key), places)
                if name in expanded:
                    raise FaultError(f"{name} is also set by another key", "keep one of them")
                expanded[name] = self.line(dotted(place, key), value, places)
            except FaultError as error:
                cure = error.cure.replace("guard it, as in where(", 'write only = "')
                cure = cure.replace(", ..., 0)", '"')
                self.fault(dotted(place, key), FaultError(error.what, cure))
        return expanded

    def rules(self) -> Iterator[Rule]:
        """The outputs, one for each element."""
        for each in self.written.outputs:
            place = f"outputs.{each.name}"
            for name, places in self.elements(each.name):
                expression, event = each.expression, each.event
                if expression is not None:
                    expression = self.line(f"{place}.{each.kind}", expression, places)
                own = {"count": "count", "interval": "interval"}
                key = "every" if each.every else own.get(each.kind, "at")
                event = None if event is None else self.event(f"{place}.{key}", event, places)
                yield replace(
                    each,
                    name=name,
                    expression=expression,
                    repeats=tuple(
                        self.line(f"{place}.{each.kind}", part, places) for part in each.repeats
                    ),
                    event=event,
                    every=each.every if each.every in (None, PERIOD) else event,
                )

    def event(self, place: str, event: str, places: Places) -> str:
        """The event that an output names: one element, that of its own indices, or all of them."""
        over = self.written.over.get(event, ())
        try:
            if "[" in event or (over and {*over} <= places.keys()):
                return self.expander.target(_named(event), places)
            if not places.keys().isdisjoint(over):
                cure = f"give the output over = [{', '.join(over)}], or name one element"
                raise FaultError(f"{event} has the indices {', '.join(over)}", cure)
        except FaultError as error:
            self.fault(place, error)
        return event


def _named(text: str) -> Expression:
    """The name, or element, that a key or a value is; 0 if it was found faulty before."""
    if "[" not in text:
        return Name(text)
    named = parse(text, is_indexed=True)
    if not isinstance(named, Call) or named.function != SUBSCRIPT:
        raise FaultError(f"{text!r} is not an element", f"write {base(text)}[...]")
    return named


def _meaning(meaning: str, name: str) -> str:
    places = places_of(name)
    return f"{meaning} ({', '.join(places)})" if places else meaning
