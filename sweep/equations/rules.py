"""The outputs of a model's file and its tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from sweep.equations.entries import is_allowed, meaning_of, unit_of
from sweep.equations.names import CONTROLS, CYCLES, WINDOW
from sweep.equations.output_kinds import AT_EVENTS, KINDS
from sweep.equations.system import PERIOD, Rule, Test
from sweep.equations.tables import ModelTable
from sweep.reader import finite_numbers, near
from sweep.spec import Parameter, Status
from sweep.wording import listed, written

MAX_KEPT = 4096  # values a point of all outputs, which a kernel holds on its stack
MAX_KEPT_IN_STORES = 65_536  # of an output; stores of earlier versions are still read


def rule(name: str, table: ModelTable, events: Sequence[str], has_period: bool) -> Rule:
    """The rule of an output in [outputs]."""
    keys = [key for key in KINDS if table.has(key)]
    unit, meaning = unit_of(table), meaning_of(table, name)
    if len(keys) != 1:
        what = f"{listed(keys)} exclude each other" if keys else "nothing is computed"
        table.fault("", what, f"write one of {listed(KINDS)}")
        return Rule(name=name, kind="mean", unit=unit, meaning=meaning)
    (key,) = keys
    kind = KINDS[key]
    expression = event = every = keep = None
    if key == "values":
        every, event, keep = _samples(table, events, has_period)
    elif kind.of is None:
        event = _event(table, key, events)
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
    )


def _event(table: ModelTable, key: str, events: Sequence[str]) -> str | None:
    value = table.get(key)
    if not events:
        table.fault(key, "this model has no events", "write [[events]]")
    elif value not in events:
        table.fault(key, f"{written(value)} is not an event", near(value, events))
    return value if isinstance(value, str) else None


def _samples(
    table: ModelTable, events: Sequence[str], has_period: bool
) -> tuple[str | None, str | None, int | None]:
    """When values are taken, the event that says so if one does, and how many are kept."""
    most = MAX_KEPT_IN_STORES if table.lines.is_stored else MAX_KEPT
    keep = table.whole("keep", 1, most)
    if not table.has("keep"):
        table.missing("keep", "write keep = 64 for the last 64 values")
    every = table.get("every")
    if every is None:
        table.missing("every", f'write every = "{PERIOD}" or the name of an event')
    elif every == PERIOD and not has_period:
        cure = 'write period = "..." at the top of the file'
        table.fault("every", "the model has no period", cure)
    elif every != PERIOD:
        return cast("str | None", every), _event(table, "every", events), keep
    return PERIOD, None, keep


def test(
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
    for parameter in parameters:
        is_known = parameter.default is not None or parameter.name in at.faults.meant
        if not is_known and not at.has(parameter.name):
            at.missing(parameter.name, "the parameter has no default")
    if method and "step" in CONTROLS[method] and not at.has("step"):
        at.missing("step", f"write the length of the steps of {method}")
    if not (at.has(WINDOW[1]) or at.has(CYCLES[1])):
        at.missing(WINDOW[1], "write how long the motion lasts")
    at.close("{key} is not a parameter")
    return Test(at=values, method=method, status=status, expect=expect, **tolerances)


def _values(
    at: ModelTable, parameters: Sequence[Parameter], method: str | None, has_period: bool
) -> Iterator[tuple[str, float]]:
    """The values of parameters and controls at which the model is tested."""
    own = {parameter.name: parameter for parameter in parameters}
    controls = CONTROLS[method] if method else tuple(c for each in CONTROLS.values() for c in each)
    known = (*own, *WINDOW, *(CYCLES if has_period else ()), *controls)
    at.known.update(dict.fromkeys(known))
    for name in at.mapping:
        if name in CYCLES and not has_period:
            at.known[name] = None
            at.fault(name, "the model has no period", "write window_start and window_end")
        elif name not in known:
            continue  # `close` tells
        elif (value := at.number(name, unit=own[name].unit if name in own else "1")) is not None:
            if name in own and not is_allowed(value, own[name]):
                at.fault(name, f"{value!r} is outside the parameter's range")
            yield name, value


def _expected(
    table: ModelTable, outputs: Sequence[Rule]
) -> Mapping[str, float | tuple[float, ...]]:
    expect: dict[str, float | tuple[float, ...]] = {}
    kept = {output.name: output.keep for output in outputs}
    table.known.update(dict.fromkeys(kept))
    table.close("{key} is not an output")
    for name, value in table.mapping.items():
        if name not in kept:
            continue
        if kept[name] is None:
            expect[name] = table.number(name) or 0.0
        else:
            expect[name] = numbers = finite_numbers(value)
            if len(numbers) != kept[name]:
                table.fault(name, f"{written(value)} is not a list of {kept[name]} numbers")
    return expect
