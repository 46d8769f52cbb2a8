"""Reads a model's file: a mapping of TOML's types becomes a System, or all its faults are told."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

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
from sweep.equations.line_units import unit_faults
from sweep.equations.names import name_fault, name_fault_in_sweeps
from sweep.equations.rules import rule, test
from sweep.equations.system import FORMAT, System
from sweep.equations.tables import MAX_FAULTS, Lines, ModelTable
from sweep.errors import ConfigError, Fault
from sweep.reader import Faults, TooManyFaultsError
from sweep.wording import written

TIME_UNITS = ("s", "1")
MAX_PARAMETERS, MAX_STATES, MAX_DEFINITIONS, MAX_SIGNALS = 256, 32, 128, 16
MAX_EVENTS, MAX_OUTPUTS, MAX_TESTS = 64, 64, 1000


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
    faults = Faults(MAX_FAULTS)
    try:
        top = ModelTable(mapping, "", faults, Lines(is_stored=is_stored))
        system = _system(top)
        top.close()
        if system.states:
            faults.add_all(faults_across(system, is_stored=is_stored))
        if system.states and not is_stored:
            faults.add_all(unit_faults(system, {fault.where for fault in faults.found}))
    except TooManyFaultsError:
        return None, faults.in_order()
    if faults.found:
        return None, faults.in_order()
    system = replace(system, definitions=in_order(system.definitions))
    return replace(system, text=canonical_text(system)), ()


def _system(top: ModelTable) -> System:
    _check_format(top)
    name = top.text("name", example="belt")
    if name and (error := name_fault(name)):
        top.fault("name", error.what, error.cure)
    period = None
    if top.has("period"):
        period = top.expression("period", scope="constant", unit_of="t")
    parameters = top.named("parameters", MAX_PARAMETERS, parameter, name_fault_in_sweeps)
    cure = "a model has at least one state"
    states = top.named("states", MAX_STATES, state, name_fault, cure)
    state_names = [each.name for each in states]
    modes = modes_in(top, state_names)
    mode_names = [mode.name for mode in modes if mode.name]
    events = top.tables("events", MAX_EVENTS, lambda table: event(table, state_names, mode_names))
    event_names = [each.name for each in events]
    outputs = top.named(
        "outputs",
        MAX_OUTPUTS,
        lambda name, table: rule(name, table, event_names, period is not None),
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
        signals=top.named("signals", MAX_SIGNALS, signal, name_fault),
        modes=modes,
        start_mode=mode_at(top, "start_mode", mode_names) or next(iter(mode_names), ""),
        events=events,
        outputs=outputs,
        tests=top.tables(
            "tests", MAX_TESTS, lambda table: test(table, parameters, outputs, period is not None)
        ),
        lines=tuple(top.lines.found),  # last: all have been read
    )


def _check_format(top: ModelTable) -> None:
    version = top.get("format")
    if version is None:
        top.missing("format", f"write format = {FORMAT}")
    elif not isinstance(version, int) or isinstance(version, bool) or version != FORMAT:
        what = f"{written(version)} is unknown: this version reads {FORMAT}"
        top.fault("format", what, f"write format = {FORMAT}")
