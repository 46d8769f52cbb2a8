"""Reads a model's file: a mapping of TOML's types becomes a System, or all its faults are told."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from sweep.equations.canonical import canonical_text
from sweep.equations.checks import faults_across, in_order
from sweep.equations.entries import (
    definition,
    event,
    mode_at,
    modes_in,
    parameter,
    signal,
    state,
)
from sweep.equations.names import name_fault
from sweep.equations.rules import rule, test
from sweep.equations.system import FORMAT, System
from sweep.equations.tables import Findings, Table, TooManyFaultsError
from sweep.errors import ConfigError, Fault
from sweep.wording import shown

TIME_UNITS = ("s", "1")
MAX_PARAMETERS, MAX_STATES, MAX_DEFINITIONS, MAX_SIGNALS = 256, 32, 128, 16
MAX_EVENTS, MAX_OUTPUTS, MAX_TESTS = 64, 64, 1000

Check = Callable[[System, Collection[str]], Iterable[Fault]]


def read_system(
    mapping: Mapping[str, object], source: str = "the model given", *, is_stored: bool = False
) -> System:
    """The model in a mapping (what tomllib makes of a file); ConfigError with all its faults.

    Units are not checked here but by `line_units`. `source` is how the error refers to the mapping;
    `is_stored` as of Findings.
    """
    system, faults = examine(mapping, is_stored=is_stored)
    if system is None:
        raise ConfigError(source, faults)
    return system


def system_of_text(text: str) -> System:
    """The model of a canonical text, as a store has it."""
    return read_system(tomllib.loads(text), "the model in the store", is_stored=True)


def examine(
    mapping: Mapping[str, object], also: Check | None = None, *, is_stored: bool = False
) -> tuple[System | None, tuple[Fault, ...]]:
    """The model in a mapping, None if there are faults, and the faults: all, if below 100.

    `also` finds more of them in the system as far as it can be read. It gets the places of the
    other faults, too, to leave out what follows from them. `is_stored` as of Findings.
    """
    findings = Findings(is_stored=is_stored)
    try:
        top = Table(mapping, "", findings)
        system = _system(top)
        top.close()
        for fault in faults_across(system, is_stored=is_stored) if system.states else ():
            findings.add(fault)
        if also is not None and system.states:
            for fault in also(system, {fault.place for fault in findings.faults}):
                findings.add(fault)
    except TooManyFaultsError:
        return None, tuple(findings.faults)
    if findings.faults:
        return None, tuple(findings.faults)
    system = replace(system, definitions=in_order(system.definitions))
    return replace(system, text=canonical_text(system)), ()


def _system(top: Table) -> System:
    _check_format(top)
    name = top.text("name", example="belt")
    if name and (fault := name_fault(name)):
        top.fault("name", fault)
    period = None
    if top.has("period"):
        period = top.expression("period", scope="constant", unit_of="t")
    parameters = top.named("parameters", MAX_PARAMETERS, parameter, in_sweeps=True)
    empty = "missing; a model has at least one state"
    states = top.named("states", MAX_STATES, state, empty=empty)
    state_names = [each.name for each in states]
    modes = modes_in(top, state_names)
    mode_names = [mode.name for mode in modes if mode.name]
    events = top.tables("events", MAX_EVENTS, lambda table: event(table, state_names, mode_names))
    event_names = [each.name for each in events]
    outputs = top.named(
        "outputs",
        MAX_OUTPUTS,
        lambda name, table: rule(name, table, event_names, period is not None),
        in_sweeps=True,
        empty="missing; a model has at least one output",
    )
    return System(
        name=name,
        title=top.text("title", default=name.replace("_", " ")),
        source=top.text("source", default=""),
        period=period,
        time_unit=top.choice("time_unit", TIME_UNITS, "s"),
        parameters=parameters,
        states=states,
        definitions=top.named("definitions", MAX_DEFINITIONS, definition),
        signals=top.named("signals", MAX_SIGNALS, signal),
        modes=modes,
        start_mode=mode_at(top, "start_mode", mode_names) or next(iter(mode_names), ""),
        events=events,
        outputs=outputs,
        tests=top.tables(
            "tests", MAX_TESTS, lambda table: test(table, parameters, outputs, period is not None)
        ),
        lines=tuple(top.findings.lines),  # last: all have been read
    )


def _check_format(top: Table) -> None:
    version = top.get("format")
    if version is None:
        top.missing("format", f"write format = {FORMAT}")
    elif not isinstance(version, int) or isinstance(version, bool) or version != FORMAT:
        message = f"{shown(version)} is unknown; this version reads {FORMAT}"
        top.fault("format", f"{message}; write format = {FORMAT}")
