"""Whether the units of a model from a file agree in every line.

A literal 0 fits any unit, other numbers have none, and a radian counts as 1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from fractions import Fraction

from sweep.equations.expressions import Call, Expression, Name, Number, cut, rational
from sweep.equations.functions import CALLS
from sweep.equations.output_kinds import KINDS
from sweep.equations.system import Line, System
from sweep.errors import Fault, FaultError
from sweep.units import (
    NO_DIMENSION,
    Dimensions,
    dimensions,
    product,
    read_unit,
    unit_text,
)
from sweep.wording import written

UnitDimensions = Dimensions | None  # None: fits any unit


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
            faults.append(Fault(f"outputs.{rule.name}.unit", what, "remove it"))
    for line in (each for each in system.lines if each.place not in faulty):
        line_unit = units[line.unit_of] if line.unit_of else None
        cure = _entry_cure(line, line_unit, time)
        if line.place == f"states.{line.unit_of}.scale" and rational(line.expression) is not None:
            line_unit = None  # a plain number is in the state's unit
        if line.per_time and line_unit is not None:
            line_unit = None if time is None else product(line_unit, time, -1)
        check = _Check(units)
        check.needs(line.expression, line_unit, cure=cure)
        faults += [Fault(line.place, what, cure) for what, cure in check.found]
    return tuple(faults)


def _entry_cure(
    line: Line, unit: UnitDimensions, time: UnitDimensions
) -> Callable[[Dimensions], str]:
    """What to do about the dimensions of a line if its entry, an output or definition, has no unit.

    `unit` is that of the entry.
    """
    role = line.place.partition("s.")[0]
    is_own = line.place.startswith(f"{role}s.{line.unit_of}.")
    is_bare = is_own and role in ("output", "definition") and unit == NO_DIMENSION
    factor = time if line.per_time and time else NO_DIMENSION

    def cure(found: Dimensions) -> str:
        own = product(found, factor)
        return f'add unit = "{unit_text(own)}" to the {role}' if _has_text(own) else ""

    return cure if is_bare else lambda _: ""


def _number_cure(number: Expression, unit: Dimensions) -> str:
    """What to do with a number beside something with a unit."""
    if rational(number) is None or not _has_text(unit):
        return ""
    entry = f"with the unit {unit_text(unit)} and a default"
    return f"give {cut(number)} a name in [parameters], {entry}"


def _has_text(unit: Dimensions) -> bool:
    """Whether an entry can have the unit."""
    return all(exponent.denominator == 1 for exponent in unit)


def dimensions_of(text: str) -> Dimensions:
    """The dimensions of a coherent SI unit, without angles; FaultError if it is none."""
    unit = read_unit(text)
    if unit.factor != 1:
        cure = f'write "{unit_text(unit.dimensions)}", and values in it'
        raise FaultError(f"{written(text)} is not a coherent SI unit", cure)
    return product(unit.dimensions, dimensions({"rad": unit.dimensions[-1]}), -1)


class _Check:
    """The dimensions of one line's expressions, and what does not agree in it."""

    def __init__(self, names: dict[str, UnitDimensions]) -> None:
        self.names = names
        self.found: list[tuple[str, str]] = []  # what is wrong, and the cure

    def needs(
        self,
        expression: Expression,
        needed: UnitDimensions,
        of: str = "",
        cure: Callable[[Dimensions], str] = lambda _: "",
    ) -> None:
        """Add a fault if the expression has another unit than the one needed.

        `cure` has what to do, from the unit that the expression has.
        """
        unit = self.of(expression)
        if unit is not None and needed is not None and unit != needed:
            requirement = f"{of} needs {_unit(needed)}" if of else f"{_unit(needed)} is needed"
            what = f"{cut(expression)} has {_unit(unit)}, but {requirement}"
            self._add(expression, what, _number_cure(expression, needed) or cure(unit))

    def _add(self, part: Expression, what: str, cure: str = "") -> None:
        self.found.append((f"column {part.column}: {what}", cure))

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
            case Call("where", (condition, *branches)):
                self.of(condition)
                return self._common(expression, branches)
            case Call(function, arguments) if CALLS[function].units == "none":
                for argument in arguments:
                    self.needs(argument, NO_DIMENSION, f"{function}()")
                return NO_DIMENSION
            case Call(function, arguments):
                unit = self._common(expression, arguments)
                return NO_DIMENSION if CALLS[function].units == "alike" else unit

    def _common(
        self, call: Call, arguments: tuple[Expression, ...] | list[Expression]
    ) -> UnitDimensions:
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
        self.needs(exponent, NO_DIMENSION, "an exponent")
        if unit not in (None, NO_DIMENSION):
            what = f"{cut(base)} has {_unit(unit)}, but an exponent that is not a plain number"
            self._add(base, f"{what} needs a base without unit")
        return NO_DIMENSION


def _unit(unit: Dimensions) -> str:
    return "no unit" if unit == NO_DIMENSION else f"the unit {unit_text(unit)}"
