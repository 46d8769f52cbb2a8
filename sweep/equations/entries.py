"""The entries of a model's file: parameters, states, definitions, modes and events."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np

from sweep.equations.expressions import Expression
from sweep.equations.names import name_fault
from sweep.equations.system import Definition, Direction, Event, Mode, Signal, State
from sweep.equations.tables import Table, near
from sweep.equations.tabulated import table_fault
from sweep.ranges import first_outside
from sweep.request import Interpolation
from sweep.request import Table as TimeTable
from sweep.spec import Parameter
from sweep.wording import shown

MAX_PARAMETERS, MAX_STATES, MAX_DEFINITIONS, MAX_MODES, MAX_EVENTS = 256, 32, 128, 16, 64
MAX_SIGNALS = 16
INTERPOLATIONS: tuple[Interpolation, ...] = ("linear", "cubic")
MAX_OCCURRENCES = 2**31 - 1  # of an event, counted as int32
DIRECTIONS: tuple[Direction, ...] = ("rising", "falling", "both")


def named_tables(table: Table, most: int, what: str, in_sweeps: bool = False) -> dict[str, Table]:
    """The tables in a table by their names, which are checked."""
    found: dict[str, Table] = {}
    for name, raw in table.entries(most, what).items():
        entry = Table(raw, table.place_of(name), table.findings)
        found[name] = entry
        if fault := name_fault(name, in_sweeps):
            entry.fault("", fault)
    return found


def meaning_of(table: Table, name: str) -> str:
    """What an entry means; by default, its name in words."""
    return table.text("meaning", default=name.replace("_", " "))


def parameters_in(table: Table) -> tuple[Parameter, ...]:
    """The parameters in [parameters]."""
    tables = named_tables(table, MAX_PARAMETERS, "parameters", in_sweeps=True)
    return tuple(_parameter(name, entry) for name, entry in tables.items())


def _parameter(name: str, table: Table) -> Parameter:
    least, most = _bound(table, "minimum", -math.inf), _bound(table, "maximum", math.inf)
    parameter = Parameter(
        name=name,
        symbol=table.text("symbol", default=name),
        unit=table.text("unit", default="1"),
        meaning=meaning_of(table, name),
        minimum=least,
        maximum=most,
        open_minimum=table.flag("open_minimum") and math.isfinite(least),
        open_maximum=table.flag("open_maximum") and math.isfinite(most),
        whole=table.flag("whole"),
        default=table.number("default"),
    )
    is_open = parameter.open_minimum or parameter.open_maximum
    if least > most or (least == most and is_open):
        table.fault("maximum", f"{most!r}: no value lies between it and minimum = {least!r}")
    elif parameter.default is not None and not is_allowed(parameter.default, parameter):
        table.fault("default", f"{parameter.default!r} is outside the parameter's own range")
    table.close()
    return parameter


def _bound(table: Table, key: str, unbounded: float) -> float:
    if table.get(key) == unbounded:
        return unbounded
    bound = table.number(key)
    return unbounded if bound is None else bound


def is_allowed(value: float, parameter: Parameter) -> bool:
    """Whether a value lies in the range of a parameter."""
    return first_outside(np.array([value]), parameter) is None


def states_in(table: Table) -> tuple[State, ...]:
    """The states in [states]."""
    tables = named_tables(table, MAX_STATES, "states")
    if not table.raw:
        table.fault("", "missing; a model has at least one state")
    return tuple(_state(name, entry) for name, entry in tables.items())


def _state(name: str, table: Table) -> State:
    state = State(
        name=name,
        unit=table.text("unit", default="1"),
        initial=table.expression("initial", scope="constant"),
        scale=table.expression("scale", scope="constant", default="1"),
        meaning=meaning_of(table, name),
    )
    table.close()
    return state


def definitions_in(table: Table) -> tuple[Definition, ...]:
    """The definitions in [definitions], in the order of the file."""
    tables = named_tables(table, MAX_DEFINITIONS, "definitions")
    return tuple(_definition(name, entry) for name, entry in tables.items())


def _definition(name: str, table: Table) -> Definition:
    definition = Definition(
        name=name,
        value=table.expression("value"),
        unit=table.text("unit", default="1"),
        meaning=meaning_of(table, name),
    )
    table.close()
    return definition


def signals_in(table: Table) -> tuple[Signal, ...]:
    """The tables over time in [signals], whose samples are in the model."""
    tables = named_tables(table, MAX_SIGNALS, "signals")
    return tuple(_signal(name, entry) for name, entry in tables.items())


def _signal(name: str, table: Table) -> Signal:
    times, values = _samples(table, "times"), _samples(table, "values")
    signal = Signal(
        name=name,
        table=TimeTable(times, values, table.choice("interpolation", INTERPOLATIONS, "linear")),
        unit=table.text("unit", default="1"),
        meaning=meaning_of(table, name),
    )
    if times and values and (fault := table_fault(times, values)):
        table.fault("times", fault)
    table.close()
    return signal


def _samples(table: Table, key: str) -> tuple[float, ...]:
    value = table.get(key)
    entries = cast("list[object]", value) if isinstance(value, list) else []
    numbers = [float(e) for e in entries if isinstance(e, (int, float)) and math.isfinite(e)]
    if value is None:
        table.missing(key, f"write {key} = [...], or file, time and column")
    elif not entries or len(numbers) < len(entries):
        table.fault(key, "not a list of finite numbers")
    return tuple(numbers)


def modes_in(top: Table, states: Sequence[str]) -> tuple[Mode, ...]:
    """The modes in [modes], or the one of [derivatives], which has no name."""
    if top.has("modes") == top.has("derivatives"):
        cure = "write either [derivatives] or a table [modes.NAME] for each mode"
        top.fault("derivatives", f"{'given twice' if top.has('modes') else 'missing'}; {cure}")
        return ()
    if top.has("derivatives"):
        return (Mode(name="", derivatives=_derivatives(top.table("derivatives"), states)),)
    table = top.table("modes")
    tables = named_tables(table, MAX_MODES, "modes")
    if not table.raw:
        table.fault("", "empty; write a table [modes.NAME] for each mode")
    return tuple(
        Mode(name=name, derivatives=_derivatives(entry, states)) for name, entry in tables.items()
    )


def _derivatives(table: Table, states: Sequence[str]) -> dict[str, Expression]:
    """The derivative of each state, in the order of the states."""
    for name in table.raw:
        if states and name not in states:
            table.fault(name, f"{shown(name)} is not a state; {near(name, states)}")
    for name in states:
        if not table.has(name):
            table.missing(name, f'write {name} = "...", its derivative with respect to t')
    return {name: table.expression(name) for name in states if table.has(name)}


def events_in(top: Table, states: Sequence[str], modes: Sequence[str]) -> tuple[Event, ...]:
    """The events in [[events]]."""
    return tuple(_event(each, states, modes) for each in top.tables("events", MAX_EVENTS))


def _event(table: Table, states: Sequence[str], modes: Sequence[str]) -> Event:
    name = table.text("name", example="impact")
    if name and (fault := name_fault(name) or _period_fault(name)):
        table.fault("name", fault)
    event = Event(
        name=name,
        modes=_modes_of_event(table, modes),
        when=table.expression("when"),
        direction=table.choice("direction", DIRECTIONS, None),
        then=_mode(table, "then", modes),
        condition=table.expression("if", "condition") if table.has("if") else None,
        sets=_sets(table, states),
        stop_after=_stop(table),
        at_entry=table.flag("at_entry"),
    )
    table.close()
    return event


def _period_fault(name: str) -> str | None:
    taken = "'period' stands for whole periods in outputs; choose another name"
    return taken if name == "period" else None


def _modes_of_event(table: Table, modes: Sequence[str]) -> tuple[str, ...]:
    value = table.get("in")
    names = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else [value]
    if value is None:
        return ()
    if not names:
        table.fault("in", "empty; remove it for all modes")
    for name in names:
        _check_mode(table, "in", name, modes)
    if len({shown(name) for name in names}) < len(names):
        table.fault("in", "a mode is listed twice")
    return tuple(name for name in modes if name in names)


def _mode(table: Table, key: str, modes: Sequence[str]) -> str | None:
    value = table.get(key)
    if value is None:
        return None
    _check_mode(table, key, value, modes)
    return value if isinstance(value, str) else None


def _check_mode(table: Table, key: str, name: object, modes: Sequence[str]) -> None:
    if not modes:
        table.fault(key, "this model has no modes; write [modes.NAME] in place of [derivatives]")
    elif name not in modes:
        table.fault(key, f"{shown(name)} is not a mode; {near(name, modes)}")


def _sets(table: Table, states: Sequence[str]) -> dict[str, Expression]:
    """The states that an event sets, in the order of the states."""
    sets = table.table("set")
    for name in sets.raw:
        if states and name not in states:
            sets.fault(name, f"{shown(name)} is not a state; {near(name, states)}")
    return {name: sets.expression(name) for name in states if sets.has(name)}


def _stop(table: Table) -> int | None:
    """The occurrence of an event that ends the motion; None if none does."""
    after = table.whole("stop_after", 1, MAX_OCCURRENCES)
    if table.has("stop") and table.has("stop_after"):
        table.fault("stop", "given with stop_after; keep one of the two")
    return 1 if table.flag("stop") else after


def start_mode_in(top: Table, modes: Sequence[str]) -> str:
    """The mode at t = 0: the first one unless `start_mode` names another."""
    return _mode(top, "start_mode", modes) or (modes[0] if modes else "")
