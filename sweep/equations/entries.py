"""The entries of a model's file: parameters, states, definitions, modes and events."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np

from sweep.equations.expressions import Expression
from sweep.equations.names import name_fault
from sweep.equations.system import PERIOD, Definition, Direction, Event, Mode, Signal, State
from sweep.equations.tables import ModelTable
from sweep.equations.tabulated import table_fault
from sweep.reader import finite_numbers, near
from sweep.request import Interpolation, TimeSeries
from sweep.spec import Parameter
from sweep.wording import written

MAX_MODES = 16
INTERPOLATIONS: tuple[Interpolation, ...] = ("linear", "cubic")
MAX_OCCURRENCES = 2**31 - 1  # of an event, counted as int32
DIRECTIONS: tuple[Direction, ...] = ("rising", "falling", "both")


def unit_of(table: ModelTable) -> str:
    """The unit of an entry; by default none."""
    return table.text("unit", default="1")


def meaning_of(table: ModelTable, name: str) -> str:
    """What an entry means; by default, its name in words."""
    return table.text("meaning", default=name.replace("_", " "))


def parameter(name: str, table: ModelTable) -> Parameter:
    """A parameter in [parameters]."""
    unit = unit_of(table)
    least = _bound(table, "minimum", -math.inf, unit)
    most = _bound(table, "maximum", math.inf, unit)
    parameter = Parameter(
        name=name,
        symbol=table.text("symbol", default=name),
        unit=unit,
        meaning=meaning_of(table, name),
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


def _bound(table: ModelTable, key: str, unbounded: float, unit: str) -> float:
    bound = None if table.get(key) == unbounded else table.number(key, unit=unit)
    return unbounded if bound is None else bound


def is_allowed(value: float, parameter: Parameter) -> bool:
    """Whether a value lies in the range of a parameter."""
    return parameter.first_outside(np.array([value])) is None


def state(name: str, table: ModelTable) -> State:
    """A state in [states]."""
    return State(
        name=name,
        unit=unit_of(table),
        initial=table.expression("initial", scope="constant", unit_of=name),
        scale=table.expression("scale", scope="constant", default="1", unit_of=name),
        meaning=meaning_of(table, name),
    )


def definition(name: str, table: ModelTable) -> Definition:
    """A definition in [definitions]."""
    value = table.expression("value", unit_of=name)
    return Definition(name=name, value=value, unit=unit_of(table), meaning=meaning_of(table, name))


def signal(name: str, table: ModelTable) -> Signal:
    """A table over time in [signals], whose samples are in the model."""
    times, values = _samples(table, "times"), _samples(table, "values")
    signal = Signal(
        name=name,
        table=TimeSeries(times, values, table.choice("interpolation", INTERPOLATIONS, "linear")),
        unit=unit_of(table),
        meaning=meaning_of(table, name),
    )
    if times and values and (error := table_fault(times, values)):
        table.fault("times", error.what, error.cure)
    return signal


def _samples(table: ModelTable, key: str) -> tuple[float, ...]:
    value = table.get(key)
    samples = finite_numbers(value)
    if value is None:
        table.missing(key, f"write {key} = [...], or file, time and column")
    elif not samples:
        table.fault(key, "not a list of finite numbers", f"write {key} = [0.0, 0.5]")
    return samples


def modes_in(top: ModelTable, states: Sequence[str]) -> tuple[Mode, ...]:
    """The modes in [modes], or the one of [derivatives], which has no name."""
    if top.has("modes") == top.has("derivatives"):
        cure = "write either [derivatives] or a table [modes.NAME] for each mode"
        top.fault("derivatives", "given twice" if top.has("modes") else "missing", cure)
    if not (top.has("modes") or top.has("derivatives")):
        return ()

    def mode(name: str, table: ModelTable) -> Mode:
        return Mode(name=name, derivatives=_derivatives(table, states))

    if not top.has("modes"):
        return (mode("", top.table("derivatives")),)
    cure = "write a table [modes.NAME] for each mode"
    return top.named("modes", MAX_MODES, mode, name_fault, cure)


def _derivatives(table: ModelTable, states: Sequence[str]) -> dict[str, Expression]:
    """The derivative of each state, in the order of the states; each state needs one."""
    derivatives = _by_state(table, states, per_time=True)
    for name in states:
        if not table.has(name):
            table.missing(name, f'write {name} = "...", its derivative with respect to t')
    table.close("{key} is not a state")
    return derivatives


def _by_state(
    table: ModelTable, states: Sequence[str], per_time: bool = False
) -> dict[str, Expression]:
    """The expression of each state that has one, in the order of the states."""
    table.known.update(dict.fromkeys(states or table.mapping))
    defined = [name for name in states if table.has(name)]
    return {name: table.expression(name, unit_of=name, per_time=per_time) for name in defined}


def event(table: ModelTable, states: Sequence[str], modes: Sequence[str]) -> Event:
    """An event in [[events]]."""
    name = table.text("name", example="impact")
    if name == PERIOD:
        what = "'period' stands for whole periods in outputs"
        table.fault("name", what, "choose another name")
    elif name and (error := name_fault(name)):
        table.fault("name", error.what, error.cure)
    sets = table.table("set")
    event = Event(
        name=name,
        modes=_modes_of_event(table, modes),
        when=table.expression("when"),
        direction=table.choice("direction", DIRECTIONS, None),
        then=mode_at(table, "then", modes),
        condition=table.expression("if", "condition") if table.has("if") else None,
        sets=_by_state(sets, states),
        stop_after=_stop(table),
        at_entry=table.flag("at_entry"),
    )
    sets.close("{key} is not a state")
    return event


def _modes_of_event(table: ModelTable, modes: Sequence[str]) -> tuple[str, ...]:
    value = table.get("in")
    names = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else [value]
    if value is None:
        return ()
    if not names:
        table.fault("in", "empty", "remove it for all modes")
    for name in names:
        _check_mode(table, "in", name, modes)
    if len({written(name) for name in names}) < len(names):
        table.fault("in", "a mode is listed twice", "list it once")
    return tuple(name for name in modes if name in names)


def mode_at(table: ModelTable, key: str, modes: Sequence[str]) -> str | None:
    """The mode that a key names; None if the key is missing."""
    value = table.get(key)
    if value is not None:
        _check_mode(table, key, value, modes)
    return value if isinstance(value, str) else None


def _check_mode(table: ModelTable, key: str, name: object, modes: Sequence[str]) -> None:
    if not modes:
        cure = "write [modes.NAME] in place of [derivatives]"
        table.fault(key, "this model has no modes", cure)
    elif name not in modes:
        table.fault(key, f"{written(name)} is not a mode", near(name, modes))


def _stop(table: ModelTable) -> int | None:
    """The occurrence of an event that ends the motion; None if none does."""
    after = table.whole("stop_after", 1, MAX_OCCURRENCES)
    if table.has("stop") and table.has("stop_after"):
        table.fault("stop", "given with stop_after", "keep one of the two")
    return 1 if table.flag("stop") else after
