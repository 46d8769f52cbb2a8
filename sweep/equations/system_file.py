"""Reads a model's file: a mapping of TOML's types becomes a System, or all its faults are told."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from sweep.equations.checks import MAX_KEPT, clashes, faults_across, in_order, unit_faults
from sweep.equations.drawn_entries import drawn, is_drawn
from sweep.equations.entries import (
    ModelFaults,
    ModelTable,
    definition,
    is_allowed,
    name_fault,
    name_fault_in_sweeps,
    parameter,
    signal,
    state,
)
from sweep.equations.event_entries import (
    A_MODE,
    AN_EVENT,
    event,
    hold,
    modes_in,
    switch,
    values_of_switches,
)
from sweep.equations.expanded_system import expanded_system
from sweep.equations.expressions import text_of
from sweep.equations.index_entries import indices_in, tables_in
from sweep.equations.model_indices import Index, nested_numbers
from sweep.equations.output_kinds import AT_EVENTS, KINDS
from sweep.equations.parsing import parse
from sweep.equations.rules import interval_rule, period_rule, signal_sampled, taken_at
from sweep.equations.schemes import CONTROLS
from sweep.equations.signals import MAX_TABLE_BYTES, SAMPLE_BYTES, DrawnSignal, Signal, as_draw
from sweep.equations.system import FORMAT, PERIOD, Rule, System, Test
from sweep.errors import ConfigError, Fault
from sweep.model.elements import base
from sweep.model.table import Parameter, Status
from sweep.model.windows import IN_CYCLES, IN_TIME
from sweep.text.reader import TooManyFaultsError, finite_numbers
from sweep.text.wording import listed, written

TIME_UNITS = ("s", "1")
MAX_FAULTS = 100  # after which reading ends
MAX_PARAMETERS, MAX_STATES, MAX_DEFINITIONS, MAX_SIGNALS = 256, 64, 128, 16
MAX_EVENTS, MAX_OUTPUTS, MAX_TESTS = 64, 64, 1000
MAX_SWITCHES, MAX_HOLDS = 64, 64
MAX_EXPANDED = 4096  # entries of a table with one for each value of an index
MAX_KEPT_IN_STORES = 65_536  # of an output; stores of earlier versions are still read


@lru_cache(maxsize=4)  # of texts that may have many samples
def system_of_text(text: str) -> System:
    """The model of a canonical text, as a store has it; ConfigError if it is not."""
    system, faults = examine(tomllib.loads(text), is_stored=True)
    if system is None:
        raise ConfigError("the model in the store", faults)
    return system


def examine(
    mapping: Mapping[str, object], *, is_stored: bool = False
) -> tuple[System | None, tuple[Fault, ...]]:
    """The model in a mapping, None if there are faults, and the faults: all, if below 100.

    `mapping` is what tomllib makes of a file, or of a text in a store, whose units have been
    checked before.
    """
    faults = ModelFaults(MAX_FAULTS, is_stored=is_stored)
    try:
        top = ModelTable(mapping, "", faults)
        system = _system(top)
        top.close()
        if system.states:
            _check(system, faults)
    except TooManyFaultsError:
        return None, faults.in_order()
    if faults.found:
        return None, faults.in_order()
    if system.indices:
        system, _ = expanded_system(system, has_numbers=True)
    return replace(system, definitions=in_order(system.definitions)), ()


def _check(written: System, faults: ModelFaults) -> None:
    """Add what is wrong across entries."""
    is_stored = faults.is_stored
    faults.add_all(clashes(written))
    if not written.indices:
        faults.add_all(faults_across(written, is_stored=is_stored))
        if not is_stored:
            faults.add_all(unit_faults(written, {fault.where for fault in faults.found}))
        return
    too_many = [*_too_many(written)]
    faults.add_all(too_many)
    if too_many or not all(index.size for index in written.indices):
        return
    system, found = expanded_system(written, has_numbers=False)
    faults.add_all(found)
    if (count := len(system.events)) > MAX_EVENTS:
        faults.add("events", *_exceeds("events", count, MAX_EVENTS))
    faulty = {fault.where for fault in faults.found}
    across = [
        each for each in faults_across(system, is_stored=is_stored) if each.where not in faulty
    ]
    faults.add_all(_once(across))
    if not is_stored:
        faults.add_all(_once(unit_faults(system, {fault.where for fault in faults.found})))


def _once(faults: Iterable[Fault]) -> Iterable[Fault]:
    """The first fault of each place and column: elements of a line have it as well."""
    once: dict[tuple[str, str], Fault] = {}
    for each in faults:
        once.setdefault((each.where, each.what.partition(":")[0]), each)
    return once.values()


def _too_many(written: System) -> Iterator[Fault]:
    """A fault for each table that has too many entries, one for each value of an index."""
    limits = {
        "states": MAX_STATES,
        **dict.fromkeys(("parameters", "definitions", "events", "outputs"), MAX_EXPANDED),
    }
    for key, most in limits.items():
        count = sum(math.prod(written.sizes_over(each.name)) for each in getattr(written, key))
        if count > most:
            yield Fault(key, *_exceeds(key, count, most))


def _exceeds(key: str, count: int, most: int) -> tuple[str, str]:
    what = f"{count:,} {key} in all, one for each value of an index"
    return what, f"at most {most:,} are allowed"


def _system(top: ModelTable) -> System:
    version = top.get("format")
    if version is None:
        top.missing("format", f"write format = {FORMAT}")
    elif type(version) is not int or version != FORMAT:
        what = f"{written(version)} is unknown: this version reads {FORMAT}"
        top.fault("format", what, f"write format = {FORMAT}")
    name = top.name_of("belt")
    indices, tables = indices_in(top), tables_in(top)
    top.reading.switch_values = values_of_switches(top)
    period = None
    if top.has("period"):
        period = top.expression("period", scope="constant", unit_of="t")
    parameters = top.named("parameters", MAX_PARAMETERS, parameter, name_fault_in_sweeps)
    cure = "a model has at least one state"
    states = top.named("states", MAX_STATES, state, name_fault, cure)
    state_names = [each.name for each in states]
    modes = modes_in(top, state_names)
    mode_names = list(filter(None, modes))
    events = top.tables("events", MAX_EVENTS, lambda table: event(table, state_names, mode_names))
    event_names = [each.name for each in events]
    all_signals = top.named(
        "signals",
        MAX_SIGNALS,
        lambda name, table: (
            drawn(name, table, parameters, tables) if is_drawn(table) else signal(name, table)
        ),
        name_fault,
    )
    signals = tuple(each for each in all_signals if isinstance(each, Signal))
    by_draw = tuple(each for each in all_signals if isinstance(each, DrawnSignal))
    _check_tables(top, by_draw)
    draws = {each.draw for each in by_draw}
    parameters = tuple(as_draw(each) if each.name in draws else each for each in parameters)
    signal_names = [each.name for each in signals]
    outputs = top.named(
        "outputs",
        MAX_OUTPUTS,
        lambda name, table: _rule(name, table, event_names, signal_names, period is not None),
        name_fault_in_sweeps,
        "a model has at least one output",
    )
    return System(
        name=name,
        title=top.text("title", default=name.replace("_", " ")),
        source=top.text("source", default=""),
        period=period,
        time_unit=top.choice("time_unit", TIME_UNITS, "s"),
        parameters=parameters,
        states=states,
        definitions=top.named("definitions", MAX_DEFINITIONS, definition, name_fault),
        signals=signals,
        drawn=by_draw,
        modes=modes,
        switches=top.named("switches", MAX_SWITCHES, switch, name_fault),
        names_hold=top.reading.is_stored and top.flag("names_hold"),
        holds=top.named("holds", MAX_HOLDS, hold, name_fault),
        start_mode=top.reference("start_mode", mode_names, *A_MODE) or next(iter(mode_names), ""),
        events=events,
        outputs=outputs,
        tests=top.tables(
            "tests", MAX_TESTS, lambda table: _test(table, parameters, outputs, period is not None)
        ),
        lines=tuple(top.reading.lines),  # last: all have been read
        indices=indices,
        tables=tables,
        over=top.reading.over,
        only=top.reading.only,
    )


def _check_tables(top: ModelTable, signals: Sequence[DrawnSignal]) -> None:
    """Add a fault if realisations of all signals together take too much memory."""
    sizes = {name: index.size for name, index in top.reading.indices.items()}
    over = top.reading.over
    counts = [math.prod(sizes[index] for index in over.get(each.name, ())) for each in signals]
    total = sum(each.n_samples * n for each, n in zip(signals, counts, strict=True))
    if len(signals) > 1 and total > (most := MAX_TABLE_BYTES // SAMPLE_BYTES):
        what = f"{total:,} samples of all elements of signals by draw"
        top.fault("signals", what, f"at most {most:,} are allowed: give lower rates")


def _rule(
    name: str,
    table: ModelTable,
    events: Sequence[str],
    signals: Sequence[str],
    has_period: bool,
) -> Rule:
    """The rule of an output in [outputs]."""
    keys = [key for key in KINDS if table.has(key)]
    unit, meaning = table.unit(), table.meaning(name)
    table.read_over(name)
    if len(keys) != 1:
        what = f"{listed(keys)} exclude each other" if keys else "nothing is computed"
        table.fault("", what, f"write one of {listed(KINDS)}")
        return Rule(name=name, kind="mean", unit=unit, meaning=meaning)
    (key,) = keys
    kind = KINDS[key]
    expression = event = every = keep = at_samples = None
    if key == "values":
        every, event = taken_at(table, events, has_period)
        keep = _kept(table)
    elif key == PERIOD:
        return period_rule(name, table, events, has_period, unit, meaning)
    elif kind.taken:
        return interval_rule(name, table, events, unit, meaning)
    elif kind.of is None:
        event = _event(table, key, events)
    elif kind.at_samples and (at_samples := signal_sampled(table, signals)) is not None:
        pass
    elif table.has("at"):
        event = _event(table, "at", events)
        if kind.at_event is None:
            table.fault(key, "not known at events", f"write one of {listed(AT_EVENTS)}")
    elif kind.at_event and not kind.in_window:
        table.fault(key, f"a {key} is taken at events", 'write at = "..." beside it')
    if kind.of is not None:
        unit_from = name if kind.has_unit else ""
        expression = table.expression(key, kind.of, unit_of=unit_from, per_time=kind.per_time)
    return Rule(
        name=name,
        kind=key,
        expression=expression,
        event=event,
        unit=unit,
        meaning=meaning,
        every=every,
        keep=keep,
        signal=at_samples,
    )


def _kept(table: ModelTable) -> int | None:
    """How many values are kept."""
    keep = table.whole("keep", 1, MAX_KEPT_IN_STORES if table.reading.is_stored else MAX_KEPT)
    if not table.has("keep"):
        table.missing("keep", "write keep = 64 for the last 64 values")
    return keep


def _event(table: ModelTable, key: str, events: Sequence[str]) -> str | None:
    """The event at a key, or an element of one, such as `touch[lower]`."""
    value = table.get(key)
    element = value if isinstance(value, str) and "[" in value else None
    if element and table.reading.indices and base(element) in events:
        named = table.read(key, parse, element, is_indexed=True)
        return None if named is None else text_of(named)
    return table.reference(key, events, *AN_EVENT)


def _test(
    table: ModelTable, parameters: Sequence[Parameter], outputs: Sequence[Rule], has_period: bool
) -> Test:
    """A test in [[tests]]."""
    methods = tuple(CONTROLS)
    method = table.choice("method", methods, methods[0]) if table.has("method") else None
    statuses = tuple(s.name for s in Status if s < Status.failed)
    status = table.choice("status", statuses, "ok")
    expect = _expected(table.table("expect"), outputs)
    if status == "ok" and not table.has("expect"):
        table.missing("expect", "write expect = { NAME = ... } with the values of outputs")
    elif status != "ok" and table.has("expect"):
        table.fault("expect", f"outputs of a point that is {status} are missing", "remove it")
    tolerances = {key: table.number(key, 0.0) or 0.0 for key in ("relative", "absolute")}
    for key, value in tolerances.items():
        if value < 0:
            table.fault(key, f"{value!r} is negative", "give a tolerance of at least 0")
    if expect and not (table.has("relative") or table.has("absolute")):
        table.missing("relative", "write relative = 1e-9 or absolute = ..., in SI units")
    at = table.table("at")
    values = dict(_values(at, parameters, method, has_period))
    for each in parameters:
        has_elements = each.name in map(base, at.words)
        if each.default is None and each.name not in at.faults.meant and not has_elements:
            at.missing(each.name, "the parameter has no default")
    if method and "step" in CONTROLS[method] and not at.has("step"):
        at.missing("step", f"write the length of the steps of {method}")
    if not (at.has(IN_TIME.end) or at.has(IN_CYCLES.end)):
        at.missing(IN_TIME.end, "write how long the motion lasts")
    at.close("{key} is not a parameter")
    return Test(at=values, method=method, status=status, expect=expect, **tolerances)


def _values(
    at: ModelTable, parameters: Sequence[Parameter], method: str | None, has_period: bool
) -> Iterator[tuple[str, float]]:
    """The values of parameters and controls at which the model is tested."""
    own = {parameter.name: parameter for parameter in parameters}
    controls = CONTROLS[method] if method else [c for each in CONTROLS.values() for c in each]
    elements = [key for key in at.words if base(key) in at.reading.over and base(key) in own]
    known = (*own, *elements, *IN_TIME.names, *(IN_CYCLES.names if has_period else ()), *controls)
    at.known.update(dict.fromkeys(known))
    for name in at.mapping:
        if name in IN_CYCLES.names and not has_period:
            at.known[name] = None
            at.fault(name, "the model has no period", "write window_start and window_end")
        elif name not in known:
            continue  # `close` tells
        elif (
            value := at.number(name, unit=own[base(name)].unit if base(name) in own else "1")
        ) is not None:
            if base(name) in own and not is_allowed(value, own[base(name)]):
                at.fault(name, f"{value!r} is outside the parameter's range")
            yield name, value


def _expected(
    table: ModelTable, outputs: Sequence[Rule]
) -> Mapping[str, float | tuple[float, ...]]:
    expect: dict[str, float | tuple[float, ...]] = {}
    kept = {output.name: output.keep for output in outputs}
    indices = table.reading.indices
    table.known.update(dict.fromkeys(kept))
    table.close("{key} is not an output")
    for name, value in table.mapping.items():
        if name not in kept:
            continue
        if over := table.reading.over.get(name):
            along = [indices[each] for each in over]
            if not all(index.size for index in along):
                continue
            if (keep := kept[name]) is not None:
                along.append(Index(name="keep", size=keep))
            expect[name] = tuple(table.read(name, nested_numbers, value, along) or ())
        elif kept[name] is None:
            expect[name] = table.number(name) or 0.0
        else:
            expect[name] = numbers = finite_numbers(value)
            if len(numbers) != kept[name]:
                table.fault(name, f"{written(value)} is not a list of {kept[name]} numbers")
    return expect
