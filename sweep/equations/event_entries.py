"""The entries of a model's file that say what happens: modes, switches, events and holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sweep.equations.entries import NAME, ModelTable, name_fault
from sweep.equations.expressions import ZERO, Call, Expression, Name
from sweep.equations.functions import SUBSCRIPT
from sweep.equations.parsing import parse
from sweep.equations.system import DIRECTIONS, MODE, PERIOD, Choice, Event, Hold, Switch
from sweep.model.elements import base
from sweep.text.reader import near
from sweep.text.wording import written

MAX_MODES = 16  # and values of a switch
MAX_OCCURRENCES = 2**31 - 1  # of an event, counted as int32
ALWAYS = "true"  # the condition of the last value of a choice

A_MODE = ("a mode", "write [modes.NAME] in place of [derivatives]")
AN_EVENT = ("an event", "write [[events]]")


def modes_in(top: ModelTable, states: Sequence[str]) -> dict[str, dict[str, Expression]]:
    """The modes in [modes], or the one of [derivatives], which has no name."""
    if top.has("modes") == top.has("derivatives"):
        cure = "write either [derivatives] or a table [modes.NAME] for each mode"
        top.fault("derivatives", "given twice" if top.has("modes") else "missing", cure)

    def mode(name: str, table: ModelTable) -> tuple[str, dict[str, Expression]]:
        rates = _by_state(table, states, per_time=1)
        for state in states:
            if not table.has(state) and not name:
                table.missing(state, f'write {state} = "...", its derivative with respect to t')
        table.close("{key} is not a state")
        return name, {state: rates.get(state, ZERO) for state in states}

    if top.has("modes"):
        cure = "write a table [modes.NAME] for each mode"
        return dict(top.named("modes", MAX_MODES, mode, name_fault, cure))
    return dict([mode("", top.table("derivatives"))] if top.has("derivatives") else [])


def values_of_switches(top: ModelTable) -> dict[str, tuple[str, ...]]:
    """The values of each switch, the modes among them, as far as they can be read."""

    def names(of: object) -> tuple[str, ...]:
        items = cast("Sequence[object]", of) if isinstance(of, (list, tuple, Mapping)) else ()
        return tuple(each for each in items if isinstance(each, str))

    tables: Any = top.mapping.get("switches")
    raw = cast("Mapping[str, Any]", tables) if isinstance(tables, Mapping) else dict[str, Any]()
    switches = {
        name: names(cast("Mapping[str, Any]", table).get("values"))
        for name, table in raw.items()
        if isinstance(table, Mapping)
    }
    modes = names(top.mapping.get("modes"))
    return {**({MODE: modes} if modes else {}), **switches}


def switch(name: str, table: ModelTable) -> Switch:
    """A switch in [switches]."""
    table.read_over(name)
    raw: Any = table.get("values")
    items = cast("Sequence[Any]", raw) if isinstance(raw, (list, tuple)) else ()
    values = tuple(each for each in items if isinstance(each, str))
    if raw is None:
        table.missing("values", 'write values = ["open", "closed"]')
    elif not values or len(values) < len(items) or len({*values}) < len(values):
        what = f"{written(cast('object', raw))} is not a list of different names"
        table.fault("values", what, 'write values = ["open", "closed"]')
    elif len(values) > MAX_MODES:
        table.fault("values", f"{len(values):,} values", f"at most {MAX_MODES} are allowed")
    for error in filter(None, map(name_fault, values)):
        table.fault("values", error.what, error.cure)
    first: Choice = dict.fromkeys(values[:1])
    return Switch(
        name=name,
        values=values,
        start=_choice(table, "start", name, values) if table.has("start") else first,
    )


def _choice(table: ModelTable, key: str, switch: str, values: Sequence[str]) -> Choice:
    """The value that a switch takes: one of its values, or a table of them with conditions."""
    value = table.get(key)
    if isinstance(value, str):
        if value not in values:
            table.fault(key, f"{written(value)} is no value of {switch}", near(value, values))
        return {value: None}
    if not isinstance(value, Mapping):
        cure = f'write {key} = "{values[0] if values else "open"}"'
        table.fault(key, f"{written(value)} is no value of {switch}", cure)
        return {}
    conditions = table.table(key)
    conditions.known.update(dict.fromkeys(values))
    conditions.close(f"{{key}} is no value of {switch}")
    choice: dict[str, Expression | None] = {
        each: None if conditions.get(each) == ALWAYS else conditions.expression(each, "condition")
        for each in conditions.mapping
        if each in values
    }
    if not conditions.is_faulty:
        *others, last = choice.values() if choice else (ZERO,)
        cure = f'give "{ALWAYS}" to the last one only'
        if last is not None:
            conditions.fault("", "it may be that no condition holds", cure)
        elif None in others:
            conditions.fault("", f'what follows "{ALWAYS}" is never taken', cure)
    return choice


def _choices(table: ModelTable) -> dict[str, Choice]:
    """What switches become, in their order; other keys of the table are known before."""
    known = table.reading.switch_values
    table.known.update(dict.fromkeys(known))
    named = {name: name for name in known if table.has(name)}
    if table.reading.indices:
        named |= {key: base(key) for key in table.words if _is_element(table, key, [*known])}
    return {key: _choice(table, key, name, known[name]) for key, name in named.items()}


def hold(name: str, table: ModelTable) -> Hold:
    """A condition of a right model in [holds]."""
    table.read_over(name)
    condition = table.expression("condition", "condition")
    return Hold(name=name, condition=condition, meaning=table.meaning(name))


def _by_state(table: ModelTable, states: Sequence[str], per_time: int = 0) -> dict[str, Expression]:
    """The expression of each state that has one, in the order of the states."""
    table.known.update(dict.fromkeys(states or table.mapping))
    defined = {name: name for name in states if table.has(name)}
    if not per_time and table.reading.indices:
        defined |= {key: base(key) for key in table.words if _is_element(table, key, states)}
    return {
        key: table.expression(key, unit_of=name, per_time=per_time) for key, name in defined.items()
    }


def _is_element(table: ModelTable, key: str, states: Sequence[str]) -> bool:
    """Whether a key of `set` names elements of a state, such as `v[block + 1]`."""
    if "[" not in key or base(key).strip() not in states:
        return False
    table.known[key] = None
    name = table.read(key, parse, key, is_indexed=True)
    return isinstance(name, Call) and name.function == SUBSCRIPT


def event(table: ModelTable, states: Sequence[str], modes: Sequence[str]) -> Event:
    """An event in [[events]]."""
    name = table.name_of("impact")
    if name == PERIOD:
        what = "'period' stands for whole periods in outputs"
        table.fault("name", what, "choose another name")
    over = table.read_over(name)
    if table.has("only"):
        table.reading.only[name] = table.expression("only", "condition")
        if not over:
            table.fault("only", "the event has no index", 'write over = "..."')
    sets = table.table("set")
    own_modes, inside = _modes_of_event(table, modes)
    then = table.reference("then", modes, *A_MODE)
    becomes = _choices(sets)
    if then is not None and MODE in becomes:
        sets.fault(MODE, "given with then", "keep one of the two")
    if [*becomes.get(MODE, {}).values()] == [None]:
        (then,) = becomes.pop(MODE)
    event = Event(
        name=name,
        modes=own_modes,
        inside=inside,
        when=table.expression("when"),
        direction=table.choice("direction", tuple(DIRECTIONS), None),
        then=then,
        condition=table.expression("if", "condition") if table.has("if") else None,
        sets=_by_state(sets, states),
        switches=becomes,
        rest=_rest(table, modes),
        stop_after=table.whole("stop_after", 1, MAX_OCCURRENCES) or int(table.flag("stop")) or None,
        at_entry=table.flag("at_entry"),
    )
    if table.has("stop") and table.has("stop_after"):
        table.fault("stop", "given with stop_after", "keep one of the two")
    if event.rest and not event.sets and not event.choices:
        table.fault("rest", "nothing accumulates, because nothing is set", "write set = { ... }")
    has_switches = table.reading.switch_values
    sets.close(f"{{key}} is not a state{' or a switch' if has_switches else ''}")
    return event


def _rest(table: ModelTable, modes: Sequence[str]) -> Mapping[str, Choice]:
    """What switches become where occurrences accumulate."""
    if isinstance(table.get("rest"), str):
        cure = "write rest = { SWITCH = ... }"
        mode = table.reference("rest", modes, "a mode", cure)
        return {MODE: {mode or "": None}}
    if not table.has("rest"):
        return {}
    rest = table.table("rest")
    choices = _choices(rest)
    rest.close("{key} is not a switch")
    if rest.is_table and not rest.mapping:
        rest.fault("", "empty", 'write the mode of rest, or { SWITCH = "..." }')
    return choices


def _modes_of_event(
    table: ModelTable, modes: Sequence[str]
) -> tuple[tuple[str, ...], Expression | None]:
    """The modes in which an event happens, or the condition of switches."""
    value, switches = table.get("in"), table.reading.switch_values
    if isinstance(value, str) and not NAME.fullmatch(value):
        condition = table.expression("in", "condition", scope="switches")
        if isinstance(condition, Name) and condition.name in modes:
            return (condition.name,), None
        return (), condition
    if value is not None and not modes and switches:
        own = next((name for name, values in switches.items() if value in values), None)
        condition = f"{own} == {value}" if own else f"{next(iter(switches))} == ..."
        table.fault("in", f"{written(value)} is not a condition", f'write in = "{condition}"')
        return (), None
    names = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else [value]
    if value is None:
        return (), None
    if not names:
        table.fault("in", "empty", "remove it for all modes")
    for name in names:
        table.refer("in", name, modes, *A_MODE)
    if len({written(name) for name in names}) < len(names):
        table.fault("in", "a mode is listed twice", "list it once")
    return tuple(name for name in modes if name in names), None
