"""Checks of a model's file across its entries: names, kinds, units, the order of definitions.

Of units, a literal 0 fits any, other numbers have none, and a radian counts as 1.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from sweep.equations.expressions import (
    ZERO,
    Call,
    Expression,
    Name,
    Number,
    cut,
    inlined,
    names_in,
    rational,
    walk,
)
from sweep.equations.functions import CALLS, Kind
from sweep.equations.output_kinds import KINDS
from sweep.equations.rates import rate_faults, written_out
from sweep.equations.sides import MAX_SIDES, Sides
from sweep.equations.switches import conditions_of
from sweep.equations.system import Definition, Line, System
from sweep.errors import Fault, FaultError
from sweep.model.elements import base
from sweep.text.units import NO_DIMENSION, Dimensions, dimensions, product, read_unit, unit_text
from sweep.text.wording import listed, nearest, written

MAX_KEPT = 4096  # values a point of all outputs, which a kernel holds on its stack
MAX_INLINED = 5_000  # parts of a line with its definitions in place of their names
NUMBER: Kind = "number"
CONDITION: Kind = "condition"
KIND_OF: Mapping[str, Kind] = {  # of names in expressions, by what they are
    **dict.fromkeys(("a parameter", "a state", "a definition", "a signal", "a table"), NUMBER),
    "a mode": CONDITION,
}
UnitDimensions = Dimensions | None  # None: fits any unit


def faults_across(system: System, *, is_stored: bool) -> Iterator[Fault]:
    """What is wrong although each entry is well formed; `is_stored` as of ModelFaults."""
    yield from _faulty_lines(system)
    readable = {line.place for line in system.lines}
    circles = [*_circles(system.definitions)]
    long = [] if circles or is_stored else [*_long_lines(system)]
    yield from (*circles, *long)
    if not circles and not long:
        yield from _early_switches(system, readable)
        yield from _constant_events(system, readable)
        wrong = [*rate_faults(system)]
        yield from wrong
        if not wrong and (number := len(Sides(written_out(system)))) > MAX_SIDES:
            place = "modes" if system.mode_names else "derivatives"
            what = f"{number} comparisons, abs, sign, min, max and floor change during the motion"
            yield Fault(place, f"{what}, but at most {MAX_SIDES} may", "use modes for some")
    if system.values_kept > MAX_KEPT and not is_stored:
        kept = f"{system.values_kept:,} values of a point are kept in all"
        yield Fault("outputs", f"{kept}, but at most {MAX_KEPT:,} can be", "give a smaller keep")
    for state in system.states:
        place, scale = f"states.{base(state.name)}.scale", rational(state.scale)
        if place in readable and scale is not None and scale <= 0:
            yield Fault(place, "a scale has to be above 0")


def clashes(system: System) -> Iterator[Fault]:
    """A fault for each name that another one has before it.

    Only a mode and an event may share a name. Parameters and outputs must differ in more than upper
    and lower case, because results may lie in a file system that ignores it.
    """
    first: dict[str, list[str]] = {}
    in_sweeps: dict[str, str] = {}
    for name, role, place, _ in system.named():
        others = first.setdefault(name, [])
        if others and {role, *others} != {"a mode", "an event"}:
            cure = "names have to differ: choose another one"
            yield Fault(place, f"{name!r} is also {listed(dict.fromkeys(others))}", cure)
        others.append(role)
        if role in ("a parameter", "an output", "an index"):
            similar = in_sweeps.setdefault(name.lower(), name)
            if similar != name:
                what = f"differs from {similar!r} only in upper and lower case"
                yield Fault(place, what, "rename one")


def _faulty_lines(system: System) -> Iterator[Fault]:
    """A fault for each unknown name, and for each part that is of the wrong kind."""
    names = [each.name for each in (*system.parameters, *system.tables)]
    constants: dict[str, Kind] = dict.fromkeys(["pi", *names], NUMBER)
    kinds: dict[str, Kind] = {**constants, "t": NUMBER}
    roles = {"t": "the time", "pi": "a number"}
    for name, role, *_ in system.named():
        roles.setdefault(name, role)
        if role in KIND_OF:
            kinds[name] = KIND_OF[role]
    conditions: dict[str, Kind] = dict.fromkeys(_conditions(system), CONDITION)
    kinds.update(conditions)
    roles.update(dict.fromkeys(conditions.keys() - roles.keys(), "a switch"))
    scopes = {"constant": constants, "switches": conditions, "motion": kinds}
    values = {each.name: each.values for each in system.switches if each.values}
    for line in system.lines:
        known = scopes[line.scope]
        for name, part in names_in(line.expression).items():
            place = f"column {part.column}: "
            if name in roles and name not in known:
                what = f"{place}{name!r} is {roles[name]}, which cannot stand here"
                is_switch = line.scope != "constant" and name in values
                cure = f"write {name} == {values[name][0]}" if is_switch else ""
                yield Fault(line.place, what, cure)
            elif name not in known:
                own = next((each for each in values if name in values[each]), None)
                similar = nearest(name[:64], dict.fromkeys(map(base, known)))
                cure = f"write {own} == {name}" if own else similar
                yield Fault(line.place, f"{place}{written(name)} is unknown", cure)
        yield from _wrong_kinds(line, known)


def _wrong_kinds(line: Line, known: Mapping[str, Kind]) -> Iterator[Fault]:
    """A fault for each part of an expression that is a condition or a number in place of the other.

    `known` are the names that may stand there.
    """
    parts: list[tuple[Expression, Kind, str]] = [(line.expression, line.kind, "here")]
    for call in walk(line.expression):
        if isinstance(call, Call):
            for index, argument in enumerate(call.arguments):
                is_first_of_where = call.function == "where" and index == 0
                wanted = "condition" if is_first_of_where else CALLS[call.function].argument
                parts.append((argument, wanted, f"in {cut(call)}"))
    for part, wanted, place in parts:
        kind = known.get(part.name, NUMBER) if isinstance(part, Name) else NUMBER
        kind = CALLS[part.function].value if isinstance(part, Call) else kind
        if kind == wanted:
            continue
        cure = f"compare it, as in {cut(part)} > 0"
        if kind == "condition":
            crosses = place == "here" and re.fullmatch(r"events\[.*\.when", line.place)
            cure = f"write {_crossing(part) if crosses else f'where({cut(part)}, 1, 0)'}"
        what = f"{cut(part)} is a {kind}, but a {wanted} is needed {place}"
        yield Fault(line.place, f"column {part.column}: {what}", cure)


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
    """A fault for each definition that leads back to itself, with the shortest way."""
    own = {definition.name for definition in definitions}
    uses = {d.name: [n for n in names_in(d.value) if n in own] for d in definitions}
    for name in uses:
        paths, seen = [[name]], set[str]()
        for path in paths:  # to which longer ones are added
            if path[1:] and path[-1] == name:
                what = f"defined by itself: {' uses '.join(path)}"
                yield Fault(f"definitions.{base(name)}.value", what, "write it without")
                break
            new = [each for each in uses[path[-1]] if each not in seen]
            seen.update(new)
            paths += [[*path, each] for each in new]


def _long_lines(system: System) -> Iterator[Fault]:
    """A fault for each line that is too long with its definitions in place of their names."""
    sizes: dict[str, int] = {}
    lines = [("", each.place, each.expression) for each in system.lines]
    defined = [
        (each.name, f"definitions.{base(each.name)}.value", each.value)
        for each in in_order(system.definitions)
    ]
    own = {place for _, place, _ in defined}
    for name, place, value in (*defined, *(each for each in lines if each[1] not in own)):
        parts = list(walk(value))
        used = [part.name for part in parts if isinstance(part, Name)]
        sizes[name] = len(parts) + sum(sizes.get(each, 1) - 1 for each in used)
        if sizes[name] > MAX_INLINED:
            what = f"{sizes[name]:,} parts with the definitions that it uses"
            yield Fault(place, what, f"at most {MAX_INLINED:,} are allowed")
            sizes[name] = 1  # what uses it is not to blame


def _conditions(system: System) -> Iterator[str]:
    """The names of all conditions of switches and modes."""
    for switch in system.automata:
        yield from conditions_of(switch)


def _early_switches(system: System, readable: Collection[str]) -> Iterator[Fault]:
    """A fault for each start of a switch that depends on itself or on one that starts later."""
    definitions = {each.name: each.value for each in system.definitions}
    later = set(_conditions(system))
    for switch in system.automata:
        for value, condition in switch.start.items():
            place = f"switches.{switch.name}.start.{value}"
            names = names_in(inlined(condition or ZERO, definitions))
            if place in readable and (early := [name for name in names if name in later]):
                what = f"{early[0]} is not known yet: switches start in the order of the file"
                yield Fault(place, what, "use states, or switches above")
        later -= {*conditions_of(switch)}


def _constant_events(system: System, readable: Collection[str]) -> Iterator[Fault]:
    """A fault for each event whose expression, at one of the readable places, never changes."""
    constants = {"pi", *(parameter.name for parameter in system.parameters)}
    constants -= {each.name for each in system.states}
    constants -= {*system.signal_names}
    known = {
        each.name: each.value
        for each in system.definitions
        if f"definitions.{base(each.name)}.value" in readable
    }
    for index, event in enumerate(system.events, 1):
        place = f"{system.event_place(index, event)}.when"
        if place in readable and names_in(inlined(event.when, known)).keys() <= constants:
            what = f"{cut(event.when)} never changes, so it never crosses zero"
            yield Fault(place, what, "use a state or t")


def unit_faults(system: System, faulty: Collection[str]) -> tuple[Fault, ...]:
    """Each unit that is not coherent SI, and each line whose units do not agree.

    The message has the unit found and the one needed. `faulty` are the places of the system's other
    faults: lines there are not checked, and names whose unit is unknown for them have any unit.
    """
    faults: list[Fault] = []
    time = None if "time_unit" in faulty else dimensions_of(system.time_unit)
    units: dict[str, UnitDimensions] = {"t": time, "pi": NO_DIMENSION}
    for name, _, place, text in system.named():
        if text is not None:
            is_known = name not in units and not {place, f"{place}.unit"} & {*faulty}
            try:
                units[name] = dimensions_of(text) if is_known else None
            except FaultError as error:
                units[name] = None
                faults.append(Fault(f"{place}.unit", error.what, error.cure))
    for rule in system.outputs:
        if not KINDS[rule.kind].has_unit and units[rule.name] not in (None, NO_DIMENSION):
            what = f"{written(rule.unit)}: a {rule.kind} has no unit"
            faults.append(Fault(f"outputs.{base(rule.name)}.unit", what, "remove it"))
    for line in (each for each in system.lines if each.place not in faulty):
        needed = units[line.unit_of] if line.unit_of else None
        role = line.place.partition("s.")[0]
        is_bare = role in ("output", "definition") and needed == NO_DIMENSION
        if (
            line.place == f"states.{base(line.unit_of)}.scale"
            and rational(line.expression) is not None
        ):
            needed = None  # a plain number is in the state's unit
        if line.per_time and needed is not None:
            needed = None if time is None else product(needed, time, -line.per_time)
        check = _Units(units)
        unit, cure = check.of(line.expression), ""
        if is_bare and unit is not None:
            own = product(unit, time, line.per_time) if time else unit
            cure = f'add unit = "{unit_text(own)}" to the {role}' if _has_text(own) else ""
        check.compare(line.expression, unit, needed, cure=cure)
        faults += [Fault(line.place, what, cure) for what, cure in check.found]
    return tuple(faults)


def dimensions_of(text: str) -> Dimensions:
    """The dimensions of a coherent SI unit, without angles; FaultError if it is none."""
    unit = read_unit(text)
    if unit.factor != 1:
        cure = f'write "{unit_text(unit.dimensions)}", and values in it'
        raise FaultError(f"{written(text)} is not a coherent SI unit", cure)
    return product(unit.dimensions, dimensions({"rad": unit.dimensions[-1]}), -1)


class _Units:
    """The dimensions of one line's expressions, and what does not agree in it."""

    def __init__(self, names: dict[str, UnitDimensions]) -> None:
        self.names = names
        self.found: list[tuple[str, str]] = []  # what is wrong, and the cure

    def _add(self, part: Expression, what: str, cure: str = "") -> None:
        self.found.append((f"column {part.column}: {what}", cure))

    def compare(
        self,
        part: Expression,
        unit: UnitDimensions,
        needed: UnitDimensions,
        of: str = "",
        cure: str = "",
    ) -> None:
        """Add a fault if the unit of a part is not the one needed."""
        if unit is not None and needed is not None and unit != needed:
            requirement = f"{of} needs {_unit(needed)}" if of else f"{_unit(needed)} is needed"
            what = f"{cut(part)} has {_unit(unit)}, but {requirement}"
            self._add(part, what, _number_cure(part, needed) or cure)

    def of(self, expression: Expression) -> UnitDimensions:
        """The dimensions of an expression."""
        match expression:
            case Number(value):
                return NO_DIMENSION if value else None
            case Name(name):
                return self.names.get(name, NO_DIMENSION)  # a mode, which is a condition
            case Call("*" | "/" as operator, (left, right)):
                a, b = self.of(left), self.of(right)
                if a is None or b is None:
                    return None
                return product(a, b, 1 if operator == "*" else -1)
            case Call("**", (base, exponent)):
                return self._of_power(base, exponent)
            case Call("sqrt", (argument,)):
                unit = self.of(argument)
                return None if unit is None else product(NO_DIMENSION, unit, Fraction(1, 2))
            case Call("rate", (argument,)):
                unit, time = self.of(argument), self.names["t"]
                return None if unit is None or time is None else product(unit, time, -1)
            case Call("where", (condition, *branches)):
                self.of(condition)
                return self._common(expression, branches)
            case Call(function, arguments) if CALLS[function].units == "none":
                for argument in arguments:
                    self.compare(argument, self.of(argument), NO_DIMENSION, f"{function}()")
                return NO_DIMENSION
            case Call(function, arguments):
                unit = self._common(expression, arguments)
                return NO_DIMENSION if CALLS[function].units == "alike" else unit

    def _common(self, call: Call, arguments: Sequence[Expression]) -> UnitDimensions:
        """The dimensions that all of the arguments have; None after a fault."""
        first: UnitDimensions = None
        first_argument: Expression = call
        for argument in arguments:
            unit = self.of(argument)
            if first is None:
                first, first_argument = unit, argument
            elif unit is not None and unit != first:
                what = f"{cut(call)} combines {_unit(first)} and {_unit(unit)}, which have to agree"
                cure = _number_cure(argument, first) or _number_cure(first_argument, unit)
                self._add(argument, what, cure)
                return None
        return first

    def _of_power(self, base: Expression, exponent: Expression) -> UnitDimensions:
        unit, fraction = self.of(base), rational(exponent)
        if fraction is not None:
            return None if unit is None else product(NO_DIMENSION, unit, fraction)
        self.compare(exponent, self.of(exponent), NO_DIMENSION, "an exponent")
        if unit not in (None, NO_DIMENSION):
            what = f"{cut(base)} has {_unit(unit)}, but an exponent that is not a plain number"
            self._add(base, f"{what} needs a base without unit")
        return NO_DIMENSION


def _number_cure(number: Expression, unit: Dimensions) -> str:
    """What to do with a number beside something with a unit."""
    if rational(number) is None or not _has_text(unit):
        return ""
    entry = f"with the unit {unit_text(unit)} and a default"
    return f"give {cut(number)} a name in [parameters], {entry}"


def _has_text(unit: Dimensions) -> bool:
    """Whether an entry can have the unit."""
    return all(exponent.denominator == 1 for exponent in unit)


def _unit(unit: Dimensions) -> str:
    return "no unit" if unit == NO_DIMENSION else f"the unit {unit_text(unit)}"
