"""The entries of a model's file: names, expressions, parameters, states, definitions, signals."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import cast

import numpy as np

from sweep.equations.expressions import Expression, Number
from sweep.equations.functions import FUNCTIONS, Kind, literal
from sweep.equations.model_indices import Index, over_of
from sweep.equations.parsing import parse
from sweep.equations.schemes import CONTROLS
from sweep.equations.signals import Signal
from sweep.equations.switches import with_conditions
from sweep.equations.system import Definition, Line, Scope, State
from sweep.equations.tabulated import table_fault
from sweep.errors import FaultError
from sweep.model.table import Parameter
from sweep.model.time_series import Interpolation, TimeSeries
from sweep.model.windows import IN_CYCLES, IN_TIME
from sweep.text.reader import Faults, Table, TooManyFaultsError, finite, finite_numbers, near
from sweep.text.wording import written

MAX_CHARACTERS = 200_000  # of all expressions of a file
INTERPOLATIONS: tuple[Interpolation, ...] = ("linear", "cubic", "previous")

MAX_NAME_LENGTH = 64
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
RESERVED = {
    **{name: "a function" for name, row in FUNCTIONS.items() if row.is_reserved},
    "t": "the time",
    "pi": "a number",
    "time": "the axis of traces",
    "mode": "the mode in traces",
    "event": "the events in traces",
    "status": "the status of a point",
    **dict.fromkeys((*IN_TIME.names, *IN_CYCLES.names), "a parameter of every model"),
    **dict.fromkeys(chain.from_iterable(CONTROLS.values()), "a parameter of methods"),
}
# In sweep files and results: keys of tables that also have parameters, and dimensions.
RESERVED_IN_SWEEPS = (
    "format", "model", "method", "outputs", "dtype", "parameters", "axes", "sample", "refine",
    "run", "derived", "reduce", "points", "seed", "file", "column", "columns", "scramblings",
    "values", "linspace", "geomspace", "over", "point", "level", "quantile", "threshold",
    "parameter", "points_by_status", "status_class",
)  # fmt: skip


def name_fault(name: str, in_sweeps: bool = False) -> FaultError | None:
    """What is wrong with a name; None if nothing is.

    `in_sweeps`: it is a parameter or an output, so that sweep files and results have it too.
    """
    if not NAME.fullmatch(name):
        rule = "a letter of a to z or A to Z, then letters, digits and underscores"
        return FaultError(f"{written(name)} is not a name", f"write {rule}")
    if len(name) > MAX_NAME_LENGTH:
        cure = f"at most {MAX_NAME_LENGTH} are allowed"
        return FaultError(f"{written(name)} has {len(name):,} characters", cure)
    what = RESERVED.get(name)
    if keyword.iskeyword(name):
        what = "a word of the language of expressions"
    elif what is None and in_sweeps and name in RESERVED_IN_SWEEPS:
        what = "a name with a meaning of its own in sweep files or results"
    return FaultError(f"{name!r} is {what}", "choose another name") if what else None


def name_fault_in_sweeps(name: str) -> FaultError | None:
    """What is wrong with the name of a parameter or an output."""
    return name_fault(name, in_sweeps=True)


@dataclass
class ModelFaults(Faults):
    """What is found while a model's file is read: faults and expressions."""

    lines: list[Line] = field(default_factory=list[Line])
    characters: int = 0  # of all expressions
    # Those of each switch, by name; the modes are those of MODE.
    switch_values: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    is_stored: bool = False  # the file is the text in a store, which may exceed limits of files
    indices: dict[str, Index] = field(default_factory=dict[str, Index])
    over: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])  # by name
    only: dict[str, Expression] = field(default_factory=dict[str, Expression])  # by event


class ModelTable(Table):
    """A table of a model's file."""

    @property
    def reading(self) -> ModelFaults:
        """What is found in the whole file."""
        return cast("ModelFaults", self.faults)

    def expression(
        self,
        key: str,
        kind: Kind = "number",
        scope: Scope = "motion",
        default: str | None = None,
        unit_of: str = "",
        per_time: int = 0,
    ) -> Expression:
        """An expression, written as text or as a number; 0 if it is missing or wrong.

        `kind`, `scope`, `unit_of` and `per_time` are those of its `Line`.
        """
        value = default if self.get(key) is None else self.get(key)
        expression: Expression | None = None
        if value is None:
            self.missing(key, f'write {key} = "..."')
        elif (number := finite(value)) is not None:
            expression = literal(number)
        elif not isinstance(value, str):
            self.fault(key, f"{written(value)} is not an expression", "write it in quotes")
        else:
            expression = self.read(key, self._parsed, value)
            self.reading.characters += len(value) if expression else 0
        if expression is None:
            return Number(0.0)
        line = Line(self.place_of(key), expression, kind, scope, unit_of, per_time)
        self.reading.lines.append(line)
        if self.reading.characters > MAX_CHARACTERS:
            what = f"more than {MAX_CHARACTERS:,} characters of all expressions"
            self.fault(key, what, "use fewer")
            raise TooManyFaultsError
        return expression

    def _parsed(self, text: str) -> Expression:
        if self.reading.indices:  # conditions follow from the expanded expressions
            return parse(text, is_indexed=True)
        return with_conditions(parse(text), self.reading.switch_values)

    def name_of(self, example: str) -> str:
        """The name that the table has as an entry."""
        name = self.text("name", example=example)
        if name and (error := name_fault(name)):
            self.fault("name", error.what, error.cure)
        return name

    def reference(self, key: str, names: Sequence[str], role: str, cure: str) -> str | None:
        """The name at a key, which has a role such as `a mode`; None if there is none."""
        value = self.get(key)
        if value is not None:
            self.refer(key, value, names, role, cure)
        return value if isinstance(value, str) else None

    def refer(self, key: str, name: object, names: Sequence[str], role: str, cure: str) -> None:
        """Add a fault if a name is none of those with a role; `cure` says what would give any."""
        if not names:
            self.fault(key, f"this model has no {role.split()[1]}s", cure)
        elif name not in names:
            self.fault(key, f"{written(name)} is not {role}", near(name, names))

    @property
    def words(self) -> list[str]:
        """The keys that are text: in a mapping from Python, others may be anything."""
        return [key for key in self.mapping if isinstance(cast("object", key), str)]

    def read_over(self, name: str) -> tuple[str, ...]:
        """The indices of an entry with a name, for each of whose values it stands."""
        over = over_of(self, self.reading.indices)
        if over and name:
            self.reading.over[name] = over
        return over

    def unit(self) -> str:
        """The unit of an entry; by default none."""
        return self.text("unit", default="1")

    def meaning(self, name: str) -> str:
        """What an entry means; by default, its name in words."""
        return self.text("meaning", default=name.replace("_", " "))


def parameter(name: str, table: ModelTable) -> Parameter:
    """A parameter in [parameters]."""
    table.read_over(name)
    unit = table.unit()

    def bound(key: str, unbounded: float) -> float:
        value = None if table.get(key) == unbounded else table.number(key, unit=unit)
        return unbounded if value is None else value

    least, most = bound("minimum", -math.inf), bound("maximum", math.inf)
    parameter = Parameter(
        name=name,
        symbol=table.text("symbol", default=name),
        unit=unit,
        meaning=table.meaning(name),
        minimum=least,
        maximum=most,
        open_minimum=table.flag("open_minimum") and math.isfinite(least),
        open_maximum=table.flag("open_maximum") and math.isfinite(most),
        whole=table.flag("whole"),
        default=table.number("default", unit=unit),
    )
    is_open = parameter.open_minimum or parameter.open_maximum
    if least > most or (least == most and is_open):
        what = f"{most!r}: no value lies between it and minimum = {least!r}"
        table.fault("maximum", what, "give a larger one")
    elif parameter.default is not None and not is_allowed(parameter.default, parameter):
        what = f"{parameter.default!r} is outside the parameter's own range"
        table.fault("default", what, "give another one, or a wider range")
    return parameter


def is_allowed(value: float, parameter: Parameter) -> bool:
    """Whether a value lies in the range of a parameter."""
    return parameter.first_outside(np.array([value])) is None


def state(name: str, table: ModelTable) -> State:
    """A state in [states]."""
    table.read_over(name)
    return State(
        name=name,
        unit=table.unit(),
        initial=table.expression("initial", scope="constant", unit_of=name),
        scale=table.expression("scale", scope="constant", default="1", unit_of=name),
        meaning=table.meaning(name),
    )


def definition(name: str, table: ModelTable) -> Definition:
    """A definition in [definitions]."""
    table.read_over(name)
    value = table.expression("value", unit_of=name)
    return Definition(name=name, value=value, unit=table.unit(), meaning=table.meaning(name))


def signal(name: str, table: ModelTable) -> Signal:
    """A table over time in [signals], whose samples are in the model."""

    def samples(key: str) -> tuple[float, ...]:
        numbers = finite_numbers(table.get(key))
        if not table.has(key):
            table.missing(key, f"write {key} = [...], or file, time and column")
        elif not numbers:
            table.fault(key, "not a list of finite numbers", f"write {key} = [0.0, 0.5]")
        return numbers

    times, values = samples("times"), samples("values")
    series = TimeSeries(times, values, table.choice("interpolation", INTERPOLATIONS, "linear"))
    if times and values and (error := table_fault(times, values, may_jump=True)):
        table.fault("times", error.what, error.cure)
    return Signal(name=name, table=series, unit=table.unit(), meaning=table.meaning(name))
